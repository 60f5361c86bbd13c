//! Results that are whole or absent: temporary files, locks, journals and the renames that commit them.

pub(crate) mod access;
pub(crate) mod claim;
pub(crate) mod destination;
#[doc(hidden)]
pub mod disk;
#[cfg(test)]
pub(crate) mod faults;
pub(crate) mod journal;
pub(crate) mod lock;
pub(crate) mod mark;
pub(crate) mod new_folder;
pub(crate) mod set;
pub(crate) mod space;
pub(crate) mod stamp;
#[doc(hidden)]
pub mod store;
pub(crate) mod temporary;
pub(crate) mod upload;
