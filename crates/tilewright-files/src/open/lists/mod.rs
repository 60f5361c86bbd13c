//! The lists of index tables that a SPEC names, in files of their own or in tensors of an opened file.

pub(crate) mod in_files;
pub(crate) mod of_input;
