//! Recipes as texts: the TOML file that is read and written, and the table that people read.

mod print;
mod read;
pub(crate) mod toml_file;
