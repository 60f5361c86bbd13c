//! Arguments of functions: integers, texts and layouts of Python as values of the library.

pub(crate) mod ask;
pub(crate) mod integer;
pub(crate) mod text;
