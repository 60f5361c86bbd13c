//! One extent and its stride.

/// One leaf of a layout: `extent` coordinates, `stride` elements apart.
///
/// Pairing the two is what makes an incongruent shape and stride impossible to write down.
///
/// ```
/// use tilewright_core::Mode;
/// let rows = Mode::new(8, 64);
/// assert_eq!((rows.extent(), rows.stride()), (8, 64));
/// assert_eq!(rows.to_string(), "8:64");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Mode {
    extent: u64,
    stride: i64,
}

impl Mode {
    /// `extent` coordinates, `stride` elements apart. Any pair is a mode; limits are checked where
    /// modes become a [`Layout`](crate::Layout).
    pub const fn new(extent: u64, stride: i64) -> Mode {
        Mode { extent, stride }
    }

    /// The number of coordinates.
    #[inline]
    pub const fn extent(self) -> u64 {
        self.extent
    }

    /// The distance between neighbours, in elements.
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
