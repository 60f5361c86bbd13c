//! The layout algebra: one file per operation or family; its header states the law.

mod cast;
mod coalesce;
mod composition;
mod inverse {
    //! Inverses of layouts, the offsets that a layout leaves out, and the elements that two layouts keep in one order.

    pub(crate) mod cover;
    pub(crate) mod left_inverse;
    mod max_common;
    mod right_inverse;
}
mod make_layout;
pub(crate) mod nested {
    //! Operations on nested shapes and coordinates: brackets compared, parts taken out, coordinates spelled in any form.

    mod compare;
    pub(crate) mod coordinates;
    pub(crate) mod slice;
    mod structure;
    pub(crate) mod walk;
}
mod tiling {
    //! Layouts of tiles: division by a tile, repetition of one, and tiles shared by threads.

    pub(crate) mod by_mode;
    pub(crate) mod divide;
    pub(crate) mod layout_tile;
    mod product;
}

pub use crate::algebra::tiling::layout_tile::LayoutTv;
pub(crate) use coalesce::merge;
pub use composition::SEARCH_STATES;
pub use inverse::left_inverse::LeftInverse;
pub use make_layout::LayoutPart;
pub use nested::slice::Slicer;
pub use tiling::{by_mode::Tiler, layout_tile::LayoutTile};
