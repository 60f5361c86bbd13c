//! Loaded code, kept in memory by device and text.
//!
//! Laws: a text is compiled once however many threads ask for it; no more modules are kept than was said, and the
//! one that was asked for least recently goes first. Who launches holds its module, so one that goes is unloaded behind its last launch.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use crate::{error::Error, key::Key, raw::Loaded};

/// Which module: the device, and the key of the text.
pub(crate) type Name = (i32, Key);

/// The modules that are kept.
#[derive(Debug)]
pub(crate) struct Modules {
    most: usize,
    kept: Mutex<Kept>,
    /// Held by the one who makes a module.
    making: Mutex<()>,
}

#[derive(Debug, Default)]
struct Kept {
    modules: HashMap<Name, (u64, Arc<Loaded>)>,
    asked: u64,
}

impl Modules {
    /// None yet, and at most so many.
    pub(crate) fn new(most: usize) -> Modules {
        Modules { most, kept: Mutex::default(), making: Mutex::default() }
    }

    /// The module of this name, if it is loaded.
    pub(crate) fn find(&self, name: &Name) -> Option<Arc<Loaded>> {
        let mut kept = lock(&self.kept);
        kept.asked += 1;
        let asked = kept.asked;
        let (last, module) = kept.modules.get_mut(name)?;
        *last = asked;
        Some(module.clone())
    }

    /// The module of this name, made if it is not loaded.
    pub(crate) fn find_or(
        &self,
        name: &Name,
        make: impl FnOnce() -> Result<Loaded, Error>,
    ) -> Result<Arc<Loaded>, Error> {
        let _making = lock(&self.making);
        if let Some(found) = self.find(name) {
            return Ok(found);
        }
        let module = Arc::new(make()?);
        // Dropped behind the lock, for it may be the last reference.
        let _gone = lock(&self.kept).add(*name, module.clone(), self.most);
        Ok(module)
    }

    /// How many are kept.
    pub(crate) fn len(&self) -> usize {
        lock(&self.kept).modules.len()
    }
}

impl Kept {
    /// Adds a module, and gives the one that has to go.
    fn add(&mut self, name: Name, module: Arc<Loaded>, most: usize) -> Option<Arc<Loaded>> {
        let gone = (self.modules.len() >= most).then(|| {
            let oldest = self.modules.iter().min_by_key(|(_, (last, _))| *last);
            oldest.map(|(name, _)| *name).and_then(|name| self.modules.remove(&name))
        });
        self.asked += 1;
        self.modules.insert(name, (self.asked, module));
        gone.flatten().map(|(_, module)| module)
    }
}

/// What a mutex guards: nothing here panics between two changes that belong together.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
