//! Recipes as texts: the TOML file that is read and written, patterns of names in it, and the table that people read.

pub(crate) mod globs;
pub(crate) mod parts;
pub(crate) mod pattern;
mod print;
mod read;
mod table;
pub(crate) mod toml_file;
