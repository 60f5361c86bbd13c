//! The layout algebra: one file per operation or family; its header states the law.

mod cast;
mod coalesce;
mod composition;
mod inverse;
mod make_layout;
pub(crate) mod nested;
mod tiling;

pub use crate::algebra::tiling::layout_tile::LayoutTv;
pub(crate) use coalesce::merge;
pub use composition::SEARCH_STATES;
pub use inverse::left_inverse::LeftInverse;
pub use make_layout::LayoutPart;
pub use nested::slice::Slicer;
pub use tiling::by_mode::Tiler;
pub use tiling::layout_tile::LayoutTile;
