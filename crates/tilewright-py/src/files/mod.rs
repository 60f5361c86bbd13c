//! Work on files: open, load, save, convert, reshard, fingerprint.

pub(crate) mod convert;
pub(crate) mod fingerprint;
pub(crate) mod load;
pub(crate) mod open;
pub(crate) mod pieces;
pub(crate) mod reshard;
pub(crate) mod save;
