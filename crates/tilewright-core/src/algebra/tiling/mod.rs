//! Layouts of tiles: division by a tile, repetition of one, and tiles shared by threads.

pub(crate) mod by_mode;
pub(crate) mod divide;
pub(crate) mod layout_tile;
mod product;
