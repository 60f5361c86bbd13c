//! Answers about one layout or two: offsets, pictures, padding, other notations, the layout between two buffers.

#[cfg(feature = "draw")]
pub(super) mod draw;
pub(super) mod index;
pub(super) mod infer;
#[cfg(feature = "relayout")]
pub(super) mod moved;
pub(super) mod padding;
pub(super) mod show;
pub(super) mod translate;
