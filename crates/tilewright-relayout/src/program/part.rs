//! The part of two arrays that a program moves: all of it, or a box of coordinates with an origin in each array.

use tilewright_core::{Coord, TensorLayout};

/// A box: element `c` of the part, below the extents, has coordinate `src + c` in the source and `dst + c` in the
/// destination.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    pub(crate) src: Coord,
    pub(crate) dst: Coord,
    extents: Coord,
    is_part: bool,
}

impl Part {
    /// A whole array.
    pub(crate) fn whole(tensor: &TensorLayout) -> Part {
        Part::array(tensor.extents())
    }

    /// A whole array with these extents.
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

    /// Returns whether bytes outside the elements are left unchanged.
    pub(crate) fn is_part(&self) -> bool {
        self.is_part
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.extents().contains(&0)
    }
}

/// Returns a coordinate; arrays never have more dims than a coordinate has room for.
fn of(axes: &[u64]) -> Coord {
    Coord::new(axes).unwrap_or(Coord::EMPTY)
}
