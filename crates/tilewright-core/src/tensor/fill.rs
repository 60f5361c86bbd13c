//! The value of padding.

use core::{fmt, str::FromStr};

use crate::ParseError;

/// The value promised for storage elements that hold no logical element.
///
/// The bit pattern depends on the element type; see [`Dtype::fill_bits`](crate::Dtype::fill_bits). The text of a fill is
/// `0`, `one`, `lowest`, `highest`, `unknown`, or `0x` and hex digits.
///
/// Source of all but `Bits`: XLA's `xla_data.proto` until 2018, `PaddingValue`.
///
/// ```
/// use tilewright_core::Fill;
/// assert_eq!(Fill::default(), Fill::Unspecified);
/// assert!(!Fill::Unspecified.is_promised() && Fill::Zero.is_promised());
/// assert_eq!("0x7fc0".parse(), Ok(Fill::Bits(0x7fc0)));
/// assert_eq!("zero".parse::<Fill>().unwrap_err().nearest(), Some("0"));
/// ```
#[must_use]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Fill {
    /// No promise; written as zero.
    #[default]
    Unspecified,
    /// Zero.
    Zero,
    /// One.
    One,
    /// The lowest value of the type (for reductions by maximum): −∞ where the type has it.
    Lowest,
    /// The highest value of the type (for reductions by minimum): +∞ where the type has it.
    Highest,
    /// Promised to be arbitrary (XLA's `UNKNOWN_PAD`); written as zero.
    Unknown,
    /// This bit pattern, in the low bits.
    Bits(u128),
}

impl Fill {
    /// Returns whether a reader may rely on the value.
    ///
    /// ```
    /// use tilewright_core::Fill;
    /// // A reduction over a padded row may include zeros that are promised, but not values that only happen to be written.
    /// assert!(Fill::Zero.is_promised() && Fill::Bits(0x7fc0).is_promised());
    /// assert!(!Fill::Unspecified.is_promised() && !Fill::Unknown.is_promised());
    /// ```
    pub const fn is_promised(self) -> bool {
        match self {
            Fill::Unspecified | Fill::Unknown => false,
            Fill::Zero | Fill::One | Fill::Lowest | Fill::Highest | Fill::Bits(_) => true,
        }
    }
}

/// Writes the text that parsing reads back, or `unspecified`, which parsing does not accept.
impl fmt::Display for Fill {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Fill::Unspecified => "unspecified",
            Fill::Zero => "0",
            Fill::One => "one",
            Fill::Lowest => "lowest",
            Fill::Highest => "highest",
            Fill::Unknown => "unknown",
            Fill::Bits(bits) => return write!(f, "{bits:#x}"),
        })
    }
}

impl FromStr for Fill {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Fill, ParseError> {
        Ok(match text {
            "0" => Fill::Zero,
            "one" => Fill::One,
            "lowest" => Fill::Lowest,
            "highest" => Fill::Highest,
            "unknown" => Fill::Unknown,
            _ => Fill::Bits(hex(text).ok_or_else(|| no_fill(text))?),
        })
    }
}

fn hex(text: &str) -> Option<u128> {
    let digits = text.strip_prefix("0x").filter(|digits| !digits.starts_with('+'))?;
    u128::from_str_radix(digits, 16).ok()
}

fn no_fill(text: &str) -> ParseError {
    let message = "expected a fill: 0, one, lowest, highest, unknown or 0x and up to 32 hex digits";
    ParseError::new((0, text.len()), message, []).with_nearest(match text {
        "zero" => "0",
        "1" => "one",
        "min" => "lowest",
        "max" => "highest",
        _ => "",
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    #[test]
    fn texts_are_read_back() {
        let fills = [Fill::Zero, Fill::One, Fill::Lowest, Fill::Highest, Fill::Unknown];
        for fill in fills.into_iter().chain([Fill::Bits(0), Fill::Bits(u128::MAX)]) {
            assert_eq!(fill.to_string().parse(), Ok(fill));
        }
        for wrong in ["", "unspecified", "none", "0x", "0x+1", "0X1", " 0", "2"] {
            assert_eq!(wrong.parse::<Fill>().unwrap_err().span(), (0, wrong.len()), "{wrong}");
        }
    }
}
