//! Loaded code, kept in memory by device, text and length of its tables. Launches find their code here.
//!
//! Laws: a text with its tables is compiled once however many threads need it; at most the stated number of modules is loaded. No
//! module is unloaded before all are: a launch only queues, and the driver does not promise that unloading waits for
//! queued work.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use crate::{Error, key::CodeKey, raw::Loaded};

/// The name of a module: the device, the key of the text, and whether its tables are long.
pub(crate) type Name = (i32, CodeKey, bool);

/// The modules that are loaded.
#[derive(Debug)]
pub(crate) struct Modules {
    most: usize,
    kept: Mutex<HashMap<Name, Arc<Loaded>>>,
    /// Held by the thread that makes a module.
    making: Mutex<()>,
}

impl Modules {
    /// Makes an empty set of at most `most` modules.
    pub(crate) fn new(most: usize) -> Modules {
        Modules { most, kept: Mutex::default(), making: Mutex::default() }
    }

    /// Returns the module of this name, if it is loaded.
    pub(crate) fn find(&self, name: &Name) -> Option<Arc<Loaded>> {
        lock(&self.kept).get(name).cloned()
    }

    /// Returns the module of this name, and makes it if necessary; `limit` if no more may be loaded.
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
                "the code of {} kernels is loaded, which is the limit; raise it with `Settings::with_modules`",
                self.most
            );
            return Err(Error::limit(says));
        }
        let module = Arc::new(make()?);
        lock(&self.kept).insert(*name, module.clone());
        Ok(module)
    }

    /// Returns the number of loaded modules.
    pub(crate) fn len(&self) -> usize {
        lock(&self.kept).len()
    }
}

/// Locks a mutex. Poison is ignored, because no code panics between two related changes.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
