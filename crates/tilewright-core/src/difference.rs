//! Where two layouts differ.

use crate::Coord;

/// A coordinate that two layouts send to different offsets.
///
/// ```
/// use tilewright_core::{Difference, TensorLayout};
/// // NCHW against NHWC: which element moves first?
/// let nchw = TensorLayout::row_major(&[1, 2, 2, 2]).unwrap();
/// let nhwc = TensorLayout::ordered(&[1, 2, 2, 2], &[1, 3, 2, 0]).unwrap();
/// let Difference { coord, left, right } = nchw.first_difference(&nhwc).unwrap().unwrap();
/// assert_eq!((coord.to_string(), left, right), ("(0,0,0,1)".into(), 1, 2));
/// ```
#[must_use]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The logical coordinate: of all that differ, the first in row-major order.
    pub coord: Coord,
    /// Its offset in the one layout, in elements.
    pub left: i64,
    /// Its offset in the other, in elements.
    pub right: i64,
}
