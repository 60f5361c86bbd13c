//! One extent and its stride.

/// One leaf of a layout: `extent` coordinates, `stride` elements apart.
///
/// Pairing the two makes it impossible to write an incongruent shape and stride.
///
/// Source: CUTLASS `include/cute/layout.hpp`, in which a mode may itself be a tuple.
///
/// ```
/// use tilewright_core::Mode;
/// let rows = Mode::new(8, 64);
/// assert_eq!((rows.extent(), rows.stride()), (8, 64));
/// assert_eq!(rows.to_string(), "8:64");
/// ```
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Mode {
    extent: u64,
    stride: i64,
}

impl Mode {
    /// Creates a mode of `extent` coordinates, `stride` elements apart. Any pair is a mode; limits are checked when modes
    /// become a [`Layout`](crate::Layout).
    ///
    /// ```
    /// use tilewright_core::{Layout, Mode};
    /// let rows = Mode::new(8, 64);
    /// assert_eq!(rows, Layout::parse("8:64").unwrap().modes()[0]);
    /// // Any pair is a mode, but not every mode is a layout.
    /// assert!(Layout::flat(&[Mode::new(3, i64::MAX)]).unwrap_err().is_overflow());
    /// ```
    pub const fn new(extent: u64, stride: i64) -> Mode {
        Mode { extent, stride }
    }

    /// Returns the number of coordinates.
    ///
    /// ```
    /// use tilewright_core::Layout;
    /// let rows = Layout::parse("(3,5):(8,1)").unwrap().modes()[0];
    /// assert_eq!(rows.extent(), 3);
    /// ```
    #[inline]
    pub const fn extent(self) -> u64 {
        self.extent
    }

    /// Returns the distance between neighbours, in elements.
    ///
    /// ```
    /// use tilewright_core::Layout;
    /// let modes = Layout::parse("(3,5,2):(-5,1,0)").unwrap();
    /// // Rows from the bottom up; the last axis repeats the same elements.
    /// let strides: Vec<i64> = modes.modes().iter().map(|mode| mode.stride()).collect();
    /// assert_eq!(strides, [-5, 1, 0]);
    /// ```
    #[inline]
    pub const fn stride(self) -> i64 {
        self.stride
    }

    /// Returns `(extent − 1)·stride`, the offset of the last coordinate; 0 for an empty mode.
    pub(crate) const fn reach(self) -> i128 {
        if self.extent == 0 { 0 } else { (self.extent as i128 - 1) * self.stride as i128 }
    }
}

impl core::fmt::Display for Mode {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{}:{}", self.extent, self.stride)
    }
}
