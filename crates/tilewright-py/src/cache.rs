//! A cache of plans, each made once for equal requests. `relayout` and `copy_` use it.

use std::{
    collections::HashMap,
    hash::Hash,
    sync::{Arc, Mutex, PoisonError},
};

use pyo3::PyResult;

/// The largest number of plans that are kept.
const MOST: usize = 256;

/// Plans by their keys. The lock is never held while the GIL is released, so a forked child finds it unlocked.
pub(crate) struct Cache<K, V>(Mutex<Kept<K, V>>);

struct Kept<K, V> {
    plans: Option<HashMap<K, CachedPlan<V>>>,
    clock: u64,
    hits: u64,
    misses: u64,
}

/// A plan, and the time of its last use.
struct CachedPlan<V> {
    plan: Arc<V>,
    used: u64,
}

impl<K: Eq + Hash, V> Cache<K, V> {
    /// Returns an empty cache.
    pub(crate) const fn new() -> Cache<K, V> {
        Cache(Mutex::new(Kept { plans: None, clock: 0, hits: 0, misses: 0 }))
    }

    /// Returns the plan of this key; calls `make` if it is not in the cache.
    pub(crate) fn find_or(&self, key: K, make: impl FnOnce(&K) -> PyResult<V>) -> PyResult<Arc<V>> {
        if let Some(plan) = self.with(|kept| kept.find(&key)) {
            return Ok(plan);
        }
        let plan = Arc::new(make(&key)?);
        self.with(|kept| kept.keep(key, Arc::clone(&plan)));
        Ok(plan)
    }

    /// Returns the hits, the misses, the number of plans in the cache, and the largest number that it keeps.
    pub(crate) fn info(&self) -> (u64, u64, usize, usize) {
        self.with(|kept| {
            let count = kept.plans.as_ref().map_or(0, HashMap::len);
            (kept.hits, kept.misses, count, MOST)
        })
    }

    /// Removes all plans and resets the counts.
    pub(crate) fn clear(&self) {
        self.with(|kept| *kept = Kept { plans: None, clock: 0, hits: 0, misses: 0 });
    }

    /// Removes all plans, but keeps the counts.
    pub(crate) fn forget(&self) {
        self.with(|kept| kept.plans = None);
    }

    fn with<T>(&self, work: impl FnOnce(&mut Kept<K, V>) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl<K: Eq + Hash, V> Kept<K, V> {
    fn find(&mut self, key: &K) -> Option<Arc<V>> {
        self.clock += 1;
        match self.plans.as_mut().and_then(|plans| plans.get_mut(key)) {
            Some(entry) => {
                entry.used = self.clock;
                self.hits += 1;
                Some(Arc::clone(&entry.plan))
            }
            None => {
                self.misses += 1;
                None
            }
        }
    }

    fn keep(&mut self, key: K, plan: Arc<V>) {
        let plans = self.plans.get_or_insert_default();
        if plans.len() >= MOST {
            // The half with the oldest use is removed at once, so that this search is rare.
            let mut used: Vec<u64> = plans.values().map(|entry| entry.used).collect();
            used.sort_unstable();
            let middle = used[used.len() / 2];
            plans.retain(|_, entry| entry.used > middle);
        }
        plans.insert(key, CachedPlan { plan, used: self.clock });
    }
}
