//! The alignment of the first bytes of both arrays, the bytes that move together, and the choices of a plan that
//! measurements decide. A plan is made for one alignment and these choices.
//!
//! Bytes move together in one access and in one sector. All ways choose the width of accesses by them.

use crate::Error;

/// The distance of the first byte of either array from the previous multiple of 16: 0 for whole allocations, any value
/// for views.
///
/// ```
/// use tilewright_device::Alignment;
/// // A view of bytes that begins at the fourth.
/// let view = Alignment::new(3, 0).unwrap();
/// assert_eq!((view.src(), view.dst()), (3, 0));
/// assert_eq!(Alignment::of_addresses(0x7f03, 0x8000), view);
/// assert!(Alignment::new(0, 16).unwrap_err().is_mismatch());
/// ```
#[must_use]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Alignment {
    src: u8,
    dst: u8,
}

impl Alignment {
    /// Makes an alignment from the distances of source and destination, each from 0 to 15 bytes.
    ///
    /// # Errors
    /// [Mismatch](Error::is_mismatch) for more than 15.
    ///
    /// ```
    /// assert!(tilewright_device::Alignment::new(15, 15).is_ok());
    /// ```
    pub fn new(src: u8, dst: u8) -> Result<Alignment, Error> {
        if src > 15 || dst > 15 {
            return Err(Error::mismatch(format!(
                "pointers {src} and {dst} bytes past a multiple of 16; allowed are 0 to 15"
            )));
        }
        Ok(Alignment { src, dst })
    }

    /// Returns the alignment of two addresses.
    ///
    /// ```
    /// let at = tilewright_device::Alignment::of_addresses(256, 257);
    /// assert_eq!((at.src(), at.dst()), (0, 1));
    /// ```
    pub fn of_addresses(src: u64, dst: u64) -> Alignment {
        Alignment { src: (src % 16) as u8, dst: (dst % 16) as u8 }
    }

    /// Returns the distance of the source.
    ///
    /// ```
    /// assert_eq!(tilewright_device::Alignment::default().src(), 0);
    /// ```
    pub fn src(self) -> u8 {
        self.src
    }

    /// Returns the distance of the destination.
    ///
    /// ```
    /// assert_eq!(tilewright_device::Alignment::default().dst(), 0);
    /// ```
    pub fn dst(self) -> u8 {
        self.dst
    }
}

/// The bytes of the widest access.
pub(crate) const VECTOR: u64 = 16;

/// The bytes of a sector, which memory transfers together.
pub(crate) const SECTOR: u64 = 32;

/// Returns the largest power of two that divides both; the first argument is a power of two.
pub(crate) fn common(power: u64, number: u64) -> u64 {
    match number {
        0 => power,
        _ => power.min(1 << number.trailing_zeros()),
    }
}

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
