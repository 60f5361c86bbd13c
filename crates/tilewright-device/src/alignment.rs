//! The alignment of the first bytes of both arrays. A plan is made for one alignment.

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
