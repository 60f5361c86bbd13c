//! Arrays used by moves on a device, kept alive until the moves are done.

use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;
use tilewright::cuda::Mark;

/// Arrays, and the end of the work that uses them.
type InUse = (Arc<Mark>, Vec<Py<PyAny>>);

static HELD: Mutex<Vec<InUse>> = Mutex::new(Vec::new());

/// Keeps arrays alive until `mark` is done.
pub(crate) fn hold(mark: &Arc<Mark>, arrays: Vec<Py<PyAny>>) {
    let_go();
    if !arrays.is_empty() {
        HELD.lock().unwrap_or_else(PoisonError::into_inner).push((mark.clone(), arrays));
    }
}

/// Releases the arrays whose work is done, so that their memory can be reused for new arrays.
pub(crate) fn let_go() {
    let mut held = HELD.lock().unwrap_or_else(PoisonError::into_inner);
    let (done, wait) = held.drain(..).partition(|(mark, _)| mark.is_done().unwrap_or(false));
    *held = wait;
    drop(held);
    // Released arrays run code of their libraries, which may call this function again.
    let _: Vec<InUse> = done;
}
