//! Operations on nested shapes and coordinates: brackets compared, parts taken out, coordinates spelled in any form.

mod compare;
pub(crate) mod coordinates;
pub(crate) mod slice;
mod structure;
pub(crate) mod tuple_text;
pub(crate) mod walk;
