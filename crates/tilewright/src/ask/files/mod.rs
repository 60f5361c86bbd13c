//! Answers about files: their tensors, conversions, recipes, verification and fingerprints.

#[cfg(feature = "files")]
pub(super) mod convert;
#[cfg(feature = "files")]
pub(super) mod info;
#[cfg(feature = "files")]
pub(super) mod recipe;
#[cfg(feature = "files")]
pub(super) mod verify;
