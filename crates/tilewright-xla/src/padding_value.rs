//! [`PaddingValue`]: the value of the padding of an array, as an enum of XLA's proto.

use tilewright_core::{Error, Fill};

/// The value of the elements that pad an array.
///
/// Source: XLA's `xla_data.proto` until 2018, `PaddingValue`.
///
/// ```
/// use tilewright_core::Fill;
/// use tilewright_xla::PaddingValue;
/// assert_eq!((PaddingValue::Zero.number(), PaddingValue::Zero.name()), (1, "ZERO_PAD"));
/// assert_eq!(Fill::from(PaddingValue::Lowest), Fill::Lowest);
/// assert_eq!(PaddingValue::try_from(Fill::One), Ok(PaddingValue::One));
/// // The enum has no value for a pattern of bits.
/// assert!(PaddingValue::try_from(Fill::Bits(0x7fc0)).unwrap_err().is_unsupported());
/// ```
#[must_use]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum PaddingValue {
    /// No promise.
    #[default]
    Invalid = 0,
    /// Zero.
    Zero = 1,
    /// One.
    One = 2,
    /// The lowest value of the element type.
    Lowest = 3,
    /// The highest value of the element type.
    Highest = 4,
    /// Arbitrary values.
    Unknown = 5,
}

/// Each value with its name and its fill, by number.
const ALL: [(PaddingValue, &str, Fill); 6] = [
    (PaddingValue::Invalid, "INVALID_PAD", Fill::Unspecified),
    (PaddingValue::Zero, "ZERO_PAD", Fill::Zero),
    (PaddingValue::One, "ONE_PAD", Fill::One),
    (PaddingValue::Lowest, "LOWEST_PAD", Fill::Lowest),
    (PaddingValue::Highest, "HIGHEST_PAD", Fill::Highest),
    (PaddingValue::Unknown, "UNKNOWN_PAD", Fill::Unknown),
];

impl PaddingValue {
    /// Returns the number in the proto.
    ///
    /// ```
    /// use tilewright_xla::PaddingValue;
    /// assert_eq!(PaddingValue::Unknown.number(), 5);
    /// ```
    pub const fn number(self) -> i32 {
        self as i32
    }

    /// Returns the name in the proto.
    ///
    /// ```
    /// use tilewright_xla::PaddingValue;
    /// assert_eq!(PaddingValue::Highest.name(), "HIGHEST_PAD");
    /// ```
    pub const fn name(self) -> &'static str {
        ALL[self as usize].1
    }

    /// Returns the value with this number in the proto.
    ///
    /// ```
    /// use tilewright_xla::PaddingValue;
    /// assert_eq!(PaddingValue::from_number(2), Some(PaddingValue::One));
    /// assert_eq!(PaddingValue::from_number(6), None);
    /// ```
    pub fn from_number(number: i32) -> Option<PaddingValue> {
        let at = usize::try_from(number).ok()?;
        ALL.get(at).map(|&(value, ..)| value)
    }
}

impl From<PaddingValue> for Fill {
    fn from(value: PaddingValue) -> Fill {
        ALL[value as usize].2
    }
}

/// # Errors
/// [unsupported](Error::is_unsupported) for a pattern of bits.
impl TryFrom<Fill> for PaddingValue {
    type Error = Error;

    fn try_from(fill: Fill) -> Result<PaddingValue, Error> {
        let found = ALL.iter().find(|(.., other)| *other == fill).map(|&(value, ..)| value);
        found.ok_or_else(|| {
            Error::unsupported(
                "`PaddingValue` cannot express a pattern of bits",
                [],
                "use zero, one, lowest, highest or unknown",
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_names_and_fills_come_back() {
        for (at, (value, name, fill)) in ALL.into_iter().enumerate() {
            assert_eq!((value.number(), value.name()), (at as i32, name));
            assert_eq!(PaddingValue::from_number(at as i32), Some(value));
            assert_eq!((Fill::from(value), PaddingValue::try_from(fill)), (fill, Ok(value)));
        }
        assert_eq!([-1, 6].map(PaddingValue::from_number), [None; 2]);
    }
}
