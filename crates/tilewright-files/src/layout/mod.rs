//! The layouts of arrays in files: element types, layouts with their tables, names, and the notes of files.

pub(crate) mod dtype;
pub(crate) mod element_layout;
pub(crate) mod gathered;
pub(crate) mod names;
pub(crate) mod note_file;
pub(crate) mod order;
pub(crate) mod quantisation;
pub(crate) mod record;
pub(crate) mod row_table;
