//! A coordinate: one integer per axis; the coordinate of an index; and the limits that allow every value to be stored
//! without a heap.

use core::fmt;

/// A coordinate: one integer per axis or logical dim, at most [`MAX_MODES`] integers, without heap storage.
///
/// ```
/// use tilewright_core::Coord;
/// let coord = Coord::new(&[1, 5]).unwrap();
/// assert_eq!(coord.as_slice(), [1, 5]);
/// assert_eq!(coord.to_string(), "(1,5)");
/// assert!(Coord::new(&[0; 33]).unwrap_err().is_limit());
/// ```
#[must_use]
#[derive(Clone)]
pub struct Coord {
    axes: [u64; MAX_MODES],
    len: usize,
}

impl Coord {
    /// The coordinate of rank 0.
    pub const EMPTY: Coord = Coord { axes: [0; MAX_MODES], len: 0 };

    /// Returns `rank` zeros, at most [`MAX_MODES`].
    pub(crate) const fn origin(rank: usize) -> Coord {
        Coord { axes: [0; MAX_MODES], len: if rank < MAX_MODES { rank } else { MAX_MODES } }
    }

    /// Appends an integer; a coordinate of [`MAX_MODES`] integers is unchanged.
    pub(crate) const fn push(&mut self, x: u64) {
        if self.len < MAX_MODES {
            self.axes[self.len] = x;
            self.len += 1;
        }
    }

    /// Returns the integers, first axis first.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// let index = TensorLayout::row_major(&[4, 6]).unwrap().coord_of(15).unwrap();
    /// let [row, column] = index.as_slice() else { panic!("two dims") };
    /// assert_eq!((*row, *column), (2, 3));
    /// ```
    pub const fn as_slice(&self) -> &[u64] {
        self.axes.split_at(self.len).0
    }

    /// Returns whether this coordinate comes before `other`, of the same length, in row-major order.
    pub(crate) const fn is_before(&self, other: &Coord) -> bool {
        let mut axis = 0;
        while axis < self.len {
            if self.axes[axis] != other.axes[axis] {
                return self.axes[axis] < other.axes[axis];
            }
            axis += 1;
        }
        false
    }

    pub(crate) const fn as_mut_slice(&mut self) -> &mut [u64] {
        self.axes.split_at_mut(self.len).0
    }

    /// Returns a copy: `Clone::clone` as a `const fn`.
    ///
    /// ```
    /// use tilewright_core::{Coord, expect_const};
    /// const HERE: Coord = expect_const!(Coord::new(&[2, 3]));
    /// const THERE: Coord = HERE.copied();
    /// assert_eq!(HERE, THERE);
    /// ```
    pub const fn copied(&self) -> Coord {
        Coord { axes: self.axes, len: self.len }
    }
}

impl PartialEq for Coord {
    fn eq(&self, other: &Coord) -> bool {
        self.as_slice() == other.as_slice()
    }
}

impl Eq for Coord {}

impl fmt::Display for Coord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(")?;
        for (i, value) in self.as_slice().iter().enumerate() {
            write!(f, "{}{value}", if i == 0 { "" } else { "," })?;
        }
        f.write_str(")")
    }
}

crate::const_fn::debug_as_display!(Coord);

/// Iterates over the coordinate of a row-major index: the last dim is the fastest. Extents of 0 count as 1.
///
/// ```
/// assert!(tilewright_core::unravel_index(15, &[4, 6]).eq([2, 3]));
/// ```
#[doc(alias = "delinearize")]
pub fn unravel_index(index: u64, extents: &[u64]) -> impl Iterator<Item = u64> + '_ {
    let digit = move |dim: usize| {
        let mut inner = extents[dim + 1..].iter();
        let inner = inner.try_fold(1u64, |size, extent| size.checked_mul((*extent).max(1)));
        inner.map_or(0, |inner| index / inner % extents[dim].max(1))
    };
    (0..extents.len()).map(digit)
}

// The limits that allow every value to be stored without a heap.

/// The largest number of leaves of a [`Layout`](crate::Layout).
pub const MAX_MODES: usize = 32;

/// The deepest nesting of brackets.
pub const MAX_DEPTH: usize = 32;
