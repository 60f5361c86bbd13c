//! ZIP archives: their records, and the bounded reader of their list of entries. The formats `npz` and `pt` are archives.

mod archive;
mod records;

pub(super) use archive::{Archive, ArchiveEntry};
pub(super) use records::*;
