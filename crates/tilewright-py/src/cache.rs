//! Plans that are made once and kept for whoever asks the same again.

use std::{
    collections::HashMap,
    hash::Hash,
    sync::{Arc, Mutex, PoisonError},
};

use pyo3::PyResult;

/// The most plans that are kept.
const MOST: usize = 256;

/// Plans by what decides them. The lock is never held while the interpreter is let go, so a fork finds it open.
pub(crate) struct Cache<K, V>(Mutex<Kept<K, V>>);

struct Kept<K, V> {
    plans: Option<HashMap<K, Entry<V>>>,
    clock: u64,
    hits: u64,
    misses: u64,
}

/// A plan, and when it was last used.
struct Entry<V> {
    plan: Arc<V>,
    used: u64,
}

impl<K: Eq + Hash, V> Cache<K, V> {
    /// A cache of no plans.
    pub(crate) const fn new() -> Cache<K, V> {
        Cache(Mutex::new(Kept { plans: None, clock: 0, hits: 0, misses: 0 }))
    }

    /// The plan of this key, made by `make` if it is not there.
    pub(crate) fn find_or(&self, key: K, make: impl FnOnce(&K) -> PyResult<V>) -> PyResult<Arc<V>> {
        if let Some(plan) = self.with(|kept| kept.find(&key)) {
            return Ok(plan);
        }
        let plan = Arc::new(make(&key)?);
        self.with(|kept| kept.keep(key, Arc::clone(&plan)));
        Ok(plan)
    }

    /// Hits, misses, the number of plans kept, and the most that are.
    pub(crate) fn info(&self) -> (u64, u64, usize, usize) {
        self.with(|kept| {
            let count = kept.plans.as_ref().map_or(0, HashMap::len);
            (kept.hits, kept.misses, count, MOST)
        })
    }

    /// Forgets all plans and counts from 0.
    pub(crate) fn clear(&self) {
        self.with(|kept| *kept = Kept { plans: None, clock: 0, hits: 0, misses: 0 });
    }

    /// Forgets all plans, but not how often they were of use.
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
            // The half that was not used for longest goes at once, so that a search is rare.
            let mut used: Vec<u64> = plans.values().map(|entry| entry.used).collect();
            used.sort_unstable();
            let middle = used[used.len() / 2];
            plans.retain(|_, entry| entry.used > middle);
        }
        plans.insert(key, Entry { plan, used: self.clock });
    }
}
