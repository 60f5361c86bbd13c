//! [`Key`]: the seed of the weights of a fingerprint.

use std::{fmt, str::FromStr};

use crate::{
    Error,
    field::{BITS, Field, PRIME},
    siphash::siphash,
};

/// The seed from which the weights of a fingerprint are drawn: 128 bits.
///
/// Fingerprints of different keys are unrelated. The default key is public and equal for everybody: it finds accidents.
/// To detect data that was made to agree on purpose, use a key that others do not know.
///
/// ```
/// use tilewright_fingerprint::Key;
/// // The characters of "tilewright data1".
/// assert_eq!(Key::default().to_string(), "74696c65777269676874206461746131");
/// assert_eq!("ff".parse::<Key>().unwrap(), Key::new(255));
/// assert!("0x12".parse::<Key>().is_err());
/// ```
#[must_use]
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Key(u128);

impl Key {
    /// Returns the key with this number.
    ///
    /// ```
    /// use tilewright_fingerprint::Key;
    /// assert_eq!(Key::new(1).to_string(), "00000000000000000000000000000001");
    /// ```
    pub const fn new(number: u128) -> Key {
        Key(number)
    }

    /// Returns the pseudo-random hash of bytes under this key.
    pub(crate) fn hash(&self, bytes: &[u8]) -> u64 {
        siphash([self.0 as u64, (self.0 >> 64) as u64], bytes)
    }

    /// Returns a uniform element of the field, for one value of one digit of a dim.
    pub(crate) fn element(&self, dim: u32, digit: u8, value: u8) -> Field {
        let [a, b, c, d] = dim.to_le_bytes();
        // 61 bits of the hash have 2^61 values, but the field has 2^61 - 1 elements; the value 2^61 - 1 is drawn again.
        let draw = |again: u16| {
            let [e, f] = again.to_le_bytes();
            self.hash(&[a, b, c, d, digit, value, e, f]) & ((1 << BITS) - 1)
        };
        (0..)
            .map(draw)
            .find(|drawn| *drawn < PRIME)
            .map_or(Field::ONE, |drawn| Field::of(drawn.into()))
    }
}

impl Default for Key {
    fn default() -> Key {
        Key(u128::from_be_bytes(*b"tilewright data1"))
    }
}

/// 32 hexadecimal digits.
impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key({self})")
    }
}

/// 1 to 32 hexadecimal digits; leading zeros may be left out.
impl FromStr for Key {
    type Err = Error;

    fn from_str(text: &str) -> Result<Key, Error> {
        let digits = text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let number = u128::from_str_radix(text, 16).ok().filter(|_| digits);
        number.map(Key).ok_or_else(|| {
            let shown: String = text.chars().take(40).collect();
            Error::new(
                "parse",
                format!("{shown:?} is not a key; a key is 1 to 32 hexadecimal digits"),
            )
        })
    }
}
