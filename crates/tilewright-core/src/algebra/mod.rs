//! The layout algebra: one file per operation or family; its header states the law.

mod alignment;
pub(crate) mod build;
mod by_mode;
mod cast;
mod coalesce;
mod compare;
mod complement;
mod composition;
pub(crate) mod coordinates;
mod cover;
mod digits;
mod divide;
mod domain_offset;
mod layout_tile;
mod layout_tv;
mod left_inverse;
mod longest;
mod make_layout;
mod max_common;
mod order;
mod product;
mod right_inverse;
mod shape_div;
mod slice;
mod structure;
mod tile_to_shape;
pub(crate) mod tuple_text;
pub(crate) mod walk;

pub use by_mode::Tiler;
pub(crate) use coalesce::merge;
pub use composition::SEARCH_STATES;
pub use layout_tile::LayoutTile;
pub use layout_tv::LayoutTv;
pub use left_inverse::LeftInverse;
pub use make_layout::LayoutPart;
pub use slice::Slicer;
