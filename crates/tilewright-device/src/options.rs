//! What a plan leaves to whoever measures.

/// Choices that change how fast kernels are, never what they write.
///
/// ```
/// use tilewright_device::Options;
/// assert_eq!(Options::default().supertile(), 8);
/// assert_eq!(Options::default().with_supertile(1).supertile(), 1);
/// ```
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Options {
    supertile: u32,
}

impl Default for Options {
    fn default() -> Options {
        Options { supertile: 8 }
    }
}

impl Options {
    /// Blocks of a weave walk strips of this many tiles: neighbours in the destination first, then in the source, so that
    /// those of a square run at a time. With 1, they walk all neighbours in the destination first. More than 64 are 64.
    ///
    /// ```
    /// use tilewright_device::Options;
    /// assert_eq!(Options::default().with_supertile(0).supertile(), 1);
    /// ```
    pub fn with_supertile(self, tiles: u32) -> Options {
        Options { supertile: tiles.clamp(1, 64) }
    }

    /// The tiles across such a strip.
    ///
    /// ```
    /// assert_eq!(tilewright_device::Options::default().supertile(), 8);
    /// ```
    pub fn supertile(self) -> u32 {
        self.supertile
    }
}
