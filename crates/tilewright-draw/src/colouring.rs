//! Assigns colours to elements: one for each tile, or, without tiles, one for each line. All pictures of arrays use it.
//!
//! Law: the colour is a function of the coordinate alone, so an element has the same colour in every panel of a
//! picture.

use tilewright_core::TensorLayout;

use crate::{Key, Paint, palette::HUES, subject::join};

/// The colours of the elements of an array.
#[derive(Clone, Debug)]
pub(crate) struct Colouring {
    dims: Vec<TiledDim>,
    kind: ColouringKind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum ColouringKind {
    /// A colour for each of the largest tiles; the smallest alternate in tint.
    Tiles,
    /// A colour for each coordinate of this dim.
    Lines(usize),
    /// One colour.
    One,
}

/// The tiles of a dim.
#[derive(Clone, Debug)]
struct TiledDim {
    extent: u64,
    /// The sizes of tiles along it, inner first.
    cuts: Vec<u64>,
    /// The stride of its outermost mode.
    stride: u64,
    /// The change of the colour from one tile to the next.
    step: u64,
}

impl Colouring {
    pub(crate) fn new(layout: &TensorLayout) -> Colouring {
        let mut dims: Vec<TiledDim> =
            (0..layout.rank()).map(|dim| TiledDim::new(layout, dim)).collect();
        let inner = layout.rank().saturating_sub(2)..layout.rank();
        let long = inner.clone().filter(|&dim| dims[dim].extent > 1);
        let kind = if dims[inner.clone()].iter().any(|dim| !dim.cuts.is_empty()) {
            ColouringKind::Tiles
        } else if inner.len() < 2 {
            ColouringKind::One
        } else {
            long.max_by_key(|&dim| (dims[dim].stride, !dim))
                .map_or(ColouringKind::One, ColouringKind::Lines)
        };
        steps(&mut dims);
        Colouring { dims, kind }
    }

    pub(crate) fn is_tiled(&self) -> bool {
        self.kind == ColouringKind::Tiles
    }

    /// Returns the sizes of tiles along a dim, inner first.
    pub(crate) fn cuts(&self, dim: usize) -> &[u64] {
        self.dims.get(dim).map_or(&[], |dim| &dim.cuts)
    }

    /// Returns the colour of an element.
    pub(crate) fn paint(&self, coord: &[u64]) -> Paint {
        let pairs = self.dims.iter().zip(coord);
        match self.kind {
            ColouringKind::Tiles => {
                let hue = pairs.clone().map(|(dim, x)| dim.tile(*x) % 8 * dim.step).sum::<u64>();
                let light = pairs.map(|(dim, x)| dim.alternate(*x)).sum::<u64>() % 2 == 1;
                Paint::Colour { hue: (hue % u64::from(HUES)) as u8, light }
            }
            ColouringKind::Lines(dim) => Paint::colour(coord.get(dim).copied().unwrap_or(0)),
            ColouringKind::One => Paint::colour(0),
        }
    }

    /// Returns the meaning of the colours.
    pub(crate) fn legend(&self) -> Vec<Key> {
        let rank = self.dims.len();
        let key = match self.kind {
            ColouringKind::Tiles => {
                let tiles = self.dims.iter().map(|dim| dim.tile(dim.extent.saturating_sub(1)) + 1);
                let size = self.tile(|dim| dim.cuts.last());
                Key::each(&format!("tile of {size}"), tiles.fold(1, u64::saturating_mul))
            }
            ColouringKind::Lines(dim) => {
                let line = if dim + 1 == rank { "column" } else { "row" };
                Key::each(&format!("{line}, dim {dim}"), self.dims[dim].extent)
            }
            ColouringKind::One => return Vec::new(),
        };
        let mut keys = vec![key];
        if self.kind == ColouringKind::Tiles && self.dims.iter().any(|dim| dim.cuts.len() > 1) {
            let paints = [false, true].map(|light| Paint::Colour { hue: 0, light });
            let text = format!(
                "tiles within, of {}, alternate in tint",
                self.tile(|dim| dim.cuts.first())
            );
            keys.push(Key { paints: paints.into(), text });
        }
        keys
    }

    /// Returns the size of a tile as `4×4`; a dim without tiles is whole.
    fn tile<'a>(&'a self, size: impl Fn(&'a TiledDim) -> Option<&'a u64>) -> String {
        let sizes: Vec<u64> =
            self.dims.iter().map(|dim| size(dim).copied().unwrap_or(dim.extent)).collect();
        join(&sizes).replace(',', "×")
    }
}

impl TiledDim {
    fn new(layout: &TensorLayout, dim: usize) -> TiledDim {
        let extent = layout.extents()[dim];
        let modes = if layout.is_strided() { layout.layout().axis(dim) } else { None };
        let modes: Vec<_> = modes.unwrap_or(&[]).iter().filter(|mode| mode.extent() != 1).collect();
        let sizes = modes.iter().scan(1u64, |size, mode| {
            *size = size.saturating_mul(mode.extent());
            Some(*size)
        });
        let cuts = sizes.take(modes.len().saturating_sub(1)).filter(|&size| size > 0).collect();
        let stride = modes.last().map_or(0, |mode| mode.stride().unsigned_abs());
        TiledDim { extent, cuts, stride, step: 0 }
    }

    /// Returns the number of the tile that contains a coordinate.
    fn tile(&self, x: u64) -> u64 {
        self.cuts.last().map_or(0, |size| x / size)
    }

    /// Returns the parity of the smallest tile, if there are tiles of tiles.
    fn alternate(&self, x: u64) -> u64 {
        if self.cuts.len() > 1 { x / self.cuts[0] % 2 } else { 0 }
    }
}

/// Numbers the tiles in the order of memory, as far as neighbours get different colours.
fn steps(dims: &mut [TiledDim]) {
    let mut order: Vec<usize> = (0..dims.len()).filter(|&d| !dims[d].cuts.is_empty()).collect();
    tilewright_core::sort_short(&mut order, |&dim| (dims[dim].stride, dim));
    let (mut count, hues) = (1, u64::from(HUES));
    for dim in order {
        dims[dim].step = if count % hues == 0 { 3 } else { count % hues };
        count = count % hues * (dims[dim].tile(dims[dim].extent.saturating_sub(1)) + 1) % hues;
    }
}

#[cfg(test)]
mod tests {
    use tilewright_core::Layout;

    use super::*;

    fn colouring(text: &str) -> Colouring {
        Colouring::new(&TensorLayout::of(&Layout::parse(text).unwrap()))
    }

    #[test]
    fn tiles_count_in_the_order_of_memory() {
        let colours = colouring("((4,2),(4,3)):((4,16),(1,32))");
        let hue = |i, j| match colours.paint(&[i, j]) {
            Paint::Colour { hue, light: false } => hue,
            other => panic!("{other:?}"),
        };
        assert_eq!([hue(0, 0), hue(3, 3), hue(4, 0), hue(0, 4), hue(7, 11)], [0, 0, 1, 2, 5]);
        assert_eq!(colours.legend()[0].text, "one colour per tile of 4×4");
    }

    #[test]
    fn neighbouring_tiles_differ() {
        for rows in 2..20 {
            for columns in 2..20 {
                let text = format!("((2,{rows}),(2,{columns})):((1,4),(2,{}))", 4 * rows);
                let colours = colouring(&text);
                for i in 0..rows {
                    for j in 0..columns {
                        let here = colours.paint(&[2 * i, 2 * j]);
                        let (below, right) = ([2 * i + 2, 2 * j], [2 * i, 2 * j + 2]);
                        assert!(i + 1 == rows || here != colours.paint(&below), "{text}");
                        assert!(j + 1 == columns || here != colours.paint(&right), "{text}");
                    }
                }
            }
        }
    }

    #[test]
    fn without_tiles_what_lies_together_has_one_colour() {
        assert_eq!(colouring("(4,3):(3,1)").legend()[0].text, "one colour per row, dim 0");
        assert_eq!(colouring("(4,3):(1,4)").legend()[0].text, "one colour per column, dim 1");
        assert!(colouring("12:1").legend().is_empty());
        let key = |text| colouring(text).legend()[0].clone();
        assert_eq!(key("(4,3):(3,1)").paints, [0, 1, 2, 3].map(Paint::colour));
        let many = key("(9,3):(3,1)");
        assert_eq!(
            (many.paints.len(), many.text.as_str()),
            (8, "one colour per row, dim 0, these 8 in turn")
        );
        let nested = colouring("((2,4,2),(4,8,2)):((128,4,256),(1,16,512))");
        assert_eq!(nested.paint(&[2, 0]), Paint::Colour { hue: 0, light: true });
        assert_eq!(nested.paint(&[2, 4]), Paint::colour(0));
        assert_eq!(nested.paint(&[8, 0]), Paint::colour(1));
    }
}
