//! One extent and its stride.

/// One leaf of a layout: `extent` coordinates, `stride` elements apart.
///
/// Pairing the two is what makes an incongruent shape and stride impossible to write down.
///
/// Source of the notion: CUTLASS `include/cute/layout.hpp`, whose modes may be tuples themselves.
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
    /// `extent` coordinates, `stride` elements apart. Any pair is a mode; limits are checked where
    /// modes become a [`Layout`](crate::Layout).
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

    /// The number of coordinates.
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

    /// The distance between neighbours, in elements.
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

    /// `(extent − 1)·stride`: the offset of the last coordinate, 0 for an empty mode.
    pub(crate) const fn reach(self) -> i128 {
        if self.extent == 0 { 0 } else { (self.extent as i128 - 1) * self.stride as i128 }
    }
}

impl core::fmt::Display for Mode {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{}:{}", self.extent, self.stride)
    }
}
