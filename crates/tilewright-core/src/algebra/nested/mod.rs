//! Operations on nested shapes and coordinates: brackets compared, parts taken out, coordinates spelled in any form.

pub(crate) mod build;
mod compare;
pub(crate) mod coordinates;
mod domain_offset;
mod shape_div;
pub(crate) mod slice;
mod structure;
pub(crate) mod tuple_text;
pub(crate) mod walk;
