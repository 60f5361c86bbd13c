//! Messages on uploads that are left in stores: those that could not be aborted, and those that may have begun without an answer.

use std::{
    mem,
    sync::{Mutex, PoisonError},
};

static LEFT: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Notes what an upload has left in a store, once.
pub(crate) fn note_left(said: String) {
    let mut left = LEFT.lock().unwrap_or_else(PoisonError::into_inner);
    if !left.contains(&said) {
        left.push(said);
    }
}

/// Returns messages on the uploads that could not be aborted since the last call, or may have begun without an answer.
///
/// ```
/// assert!(tilewright_remote::unaborted().is_empty());
/// ```
#[must_use]
pub fn unaborted() -> Vec<String> {
    mem::take(&mut *LEFT.lock().unwrap_or_else(PoisonError::into_inner))
}
