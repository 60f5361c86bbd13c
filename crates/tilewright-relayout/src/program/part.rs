//! What of two arrays a program moves: all of it, or a box of coordinates with an origin on either side.

use tilewright_core::{Coord, TensorLayout};

/// Element `c` of the part, below the extents, has coordinate `src + c` in the source and `dst + c` in the
/// destination.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    pub(crate) src: Coord,
    pub(crate) dst: Coord,
    extents: Coord,
    is_part: bool,
}

impl Part {
    /// All of an array.
    pub(crate) fn whole(tensor: &TensorLayout) -> Part {
        Part::array(tensor.extents())
    }

    /// All of an array of these extents.
    pub(crate) fn array(extents: &[u64]) -> Part {
        let (zeros, extents) = (vec![0; extents.len()], of(extents));
        Part { src: of(&zeros), dst: of(&zeros), extents, is_part: false }
    }

    /// A part of arrays of this rank.
    pub(crate) fn new(src: &[u64], dst: &[u64], extents: &[u64]) -> Part {
        Part { src: of(src), dst: of(dst), extents: of(extents), is_part: true }
    }

    pub(crate) fn extents(&self) -> &[u64] {
        self.extents.as_slice()
    }

    /// Whether bytes outside the elements are left alone.
    pub(crate) fn is_part(&self) -> bool {
        self.is_part
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.extents().contains(&0)
    }
}

/// A coordinate of no more numbers than an array has dims.
fn of(axes: &[u64]) -> Coord {
    Coord::new(axes).unwrap_or(Coord::EMPTY)
}
