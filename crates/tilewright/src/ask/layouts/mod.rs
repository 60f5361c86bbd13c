//! Answers about one layout or two: offsets, pictures, padding, other notations, the layout between two buffers.

pub(super) mod index;
pub(super) mod infer;
pub(super) mod padding;
pub(super) mod show;
pub(super) mod translate;
