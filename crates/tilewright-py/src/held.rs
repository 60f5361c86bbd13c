//! Arrays that moves on a device use, kept until these are done.

use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;
use tilewright::cuda::Mark;

/// Arrays with the end of the work that uses them.
type Held = (Arc<Mark>, Vec<Py<PyAny>>);

static HELD: Mutex<Vec<Held>> = Mutex::new(Vec::new());

/// Keeps arrays until `mark` is done.
pub(crate) fn hold(mark: &Arc<Mark>, arrays: Vec<Py<PyAny>>) {
    let_go();
    if !arrays.is_empty() {
        HELD.lock().unwrap_or_else(PoisonError::into_inner).push((mark.clone(), arrays));
    }
}

/// Lets arrays go whose work is done: their memory may be what a new array takes.
pub(crate) fn let_go() {
    let mut held = HELD.lock().unwrap_or_else(PoisonError::into_inner);
    let (done, wait) = held.drain(..).partition(|(mark, _)| mark.is_done().unwrap_or(false));
    *held = wait;
    drop(held);
    // Arrays that go run code of their libraries, which may come here again.
    let _: Vec<Held> = done;
}
