//! A coordinate at which two layouts differ.

use crate::Coord;

/// A coordinate that two layouts send to different offsets.
///
/// ```
/// use tilewright_core::{Difference, TensorLayout};
/// // NCHW against NHWC: the first element that moves.
/// let nchw = TensorLayout::row_major(&[1, 2, 2, 2]).unwrap();
/// let nhwc = TensorLayout::ordered(&[1, 2, 2, 2], &[1, 3, 2, 0]).unwrap();
/// let Difference { coord, left, right } = nchw.first_difference(&nhwc).unwrap().unwrap();
/// assert_eq!((coord.to_string(), left, right), ("(0,0,0,1)".into(), 1, 2));
/// ```
#[must_use]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The logical coordinate: the first in row-major order of all that differ.
    pub coord: Coord,
    /// The offset in the first layout, in elements.
    pub left: i64,
    /// The offset in the second layout, in elements.
    pub right: i64,
}
