//! The formats that users added to the catalogue of this process.

use std::sync::{PoisonError, RwLock};

use super::Format;

/// The formats that were added; they are kept until the process ends.
static OWN: RwLock<Vec<&'static Format>> = RwLock::new(Vec::new());

/// The formats that users added.
pub(crate) fn formats() -> Vec<&'static Format> {
    OWN.read().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Returns whether a format is a user's, so that its name means nothing elsewhere.
pub(crate) fn is_own(format: &Format) -> bool {
    formats().iter().any(|own| std::ptr::eq(*own, format))
}

/// Adds formats behind those that are there.
#[cfg(feature = "formats")]
pub(crate) fn keep(more: &[&'static Format]) {
    OWN.write().unwrap_or_else(PoisonError::into_inner).extend(more);
}

/// Leaves the first `count` formats.
#[cfg(feature = "formats")]
pub(crate) fn leave(count: usize) {
    OWN.write().unwrap_or_else(PoisonError::into_inner).truncate(count);
}
