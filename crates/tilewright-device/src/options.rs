//! Choices of a plan that measurements decide.

/// Choices that change the speed of kernels, never their results.
///
/// ```
/// use tilewright_device::Options;
/// assert_eq!(Options::default().supertile(), 2);
/// assert_eq!(Options::default().with_supertile(1).supertile(), 1);
/// ```
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Options {
    supertile: u32,
}

impl Default for Options {
    fn default() -> Options {
        Options { supertile: 2 }
    }
}

impl Options {
    /// Sets the width of strips of tiles that blocks of a transpose walk: neighbours in the destination first, then in the
    /// source, so that the blocks of a square run at the same time. With 1, they walk all neighbours in the destination
    /// first. Values above 64 count as 64.
    ///
    /// ```
    /// use tilewright_device::Options;
    /// assert_eq!(Options::default().with_supertile(0).supertile(), 1);
    /// ```
    pub fn with_supertile(self, tiles: u32) -> Options {
        Options { supertile: tiles.clamp(1, 64) }
    }

    /// Returns the number of tiles across such a strip.
    ///
    /// ```
    /// assert_eq!(tilewright_device::Options::default().supertile(), 2);
    /// ```
    pub fn supertile(self) -> u32 {
        self.supertile
    }
}
