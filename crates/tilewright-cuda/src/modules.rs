//! Loaded code, kept in memory by device and text.
//!
//! Laws: a text is compiled once however many threads ask for it; no more modules are loaded than was said. None is
//! unloaded before all are: a launch only queues, and the driver does not promise that unloading waits for what is queued.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use crate::{
    error::{Error, Kind},
    key::Key,
    raw::Loaded,
};

/// Which module: the device, and the key of the text.
pub(crate) type Name = (i32, Key);

/// The modules that are kept.
#[derive(Debug)]
pub(crate) struct Modules {
    most: usize,
    kept: Mutex<HashMap<Name, Arc<Loaded>>>,
    /// Held by the one who makes a module.
    making: Mutex<()>,
}

impl Modules {
    /// None yet, and at most `most`.
    pub(crate) fn new(most: usize) -> Modules {
        Modules { most, kept: Mutex::default(), making: Mutex::default() }
    }

    /// The module of this name, if it is loaded.
    pub(crate) fn find(&self, name: &Name) -> Option<Arc<Loaded>> {
        lock(&self.kept).get(name).cloned()
    }

    /// The module of this name, made if it is not loaded; `limit` where no more may be loaded.
    pub(crate) fn find_or(
        &self,
        name: &Name,
        make: impl FnOnce() -> Result<Loaded, Error>,
    ) -> Result<Arc<Loaded>, Error> {
        let _making = lock(&self.making);
        if let Some(found) = self.find(name) {
            return Ok(found);
        }
        if self.len() >= self.most {
            let says = format!(
                "the code of {} kernels is loaded, which is the most; give more by `Settings::with_modules`",
                self.most
            );
            return Err(Error::new(Kind::Limit, says));
        }
        let module = Arc::new(make()?);
        lock(&self.kept).insert(*name, module.clone());
        Ok(module)
    }

    /// How many are kept.
    pub(crate) fn len(&self) -> usize {
        lock(&self.kept).len()
    }
}

/// What a mutex guards: nothing here panics between two changes that belong together.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
