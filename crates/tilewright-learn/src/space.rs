//! [`Space`]: the coded values of every source element, one digit of its number a load.

use tilewright_core::Dtype;

use crate::{Code, Error, Sources};

/// The numbers of all source elements, in digits: load k holds digit k, and the last load holds a check digit.
///
/// The check digit mixes the bits of the number. A linear one would be kept by averages of neighbours.
///
/// ```
/// use tilewright_learn::{Sources, Space};
/// let space = Space::new(Sources::numbered([("w".into(), vec![1000, 1000])])?, 128)?;
/// // 128³ exceeds a million: three digits and the check.
/// assert_eq!(space.loads(), 4);
/// # Ok::<(), tilewright_learn::Error>(())
/// ```
#[must_use]
#[derive(Clone, Debug)]
pub struct Space {
    sources: Sources,
    shift: u32,
    digits: u32,
}

impl Space {
    /// Makes a space with digits below `radix`: 128, 16 or 4.
    ///
    /// # Errors
    /// [illegal](Error::is_illegal) for another radix.
    ///
    /// ```
    /// use tilewright_learn::{Sources, Space};
    /// let sources = Sources::numbered([("w".into(), vec![200])])?;
    /// assert_eq!(Space::new(sources.clone(), 16)?.loads(), 3);
    /// assert!(Space::new(sources, 10).unwrap_err().is_illegal());
    /// # Ok::<(), tilewright_learn::Error>(())
    /// ```
    pub fn new(sources: Sources, radix: u64) -> Result<Space, Error> {
        let shift = match radix {
            128 => 7,
            16 => 4,
            4 => 2,
            _ => return Err(Error::illegal(format!("a radix of {radix}; it is 128, 16 or 4"))),
        };
        let bits = 64 - (sources.end().max(2) as u64 - 1).leading_zeros();
        Ok(Space { sources, shift, digits: bits.div_ceil(shift) })
    }

    /// Makes the space for sources of these types, with the largest radix that all of them can code.
    ///
    /// # Errors
    /// Those of [`Code::of`].
    ///
    /// ```
    /// use tilewright_core::Dtype;
    /// use tilewright_learn::{Sources, Space};
    /// let sources = Sources::numbered([("q".into(), vec![64]), ("scale".into(), vec![2])])?;
    /// assert_eq!(Space::of(sources, &[Dtype::U4, Dtype::Bf16])?.radix(), 16);
    /// # Ok::<(), tilewright_learn::Error>(())
    /// ```
    pub fn of(sources: Sources, dtypes: &[Dtype]) -> Result<Space, Error> {
        let mut radix = 128;
        for dtype in dtypes {
            radix = radix.min(Code::of(*dtype)?.radix());
        }
        Space::new(sources, radix)
    }

    /// Returns the sources.
    ///
    /// ```
    /// use tilewright_learn::{Sources, Space};
    /// assert!(Space::new(Sources::new(vec![])?, 128)?.sources().list().is_empty());
    /// # Ok::<(), tilewright_learn::Error>(())
    /// ```
    pub fn sources(&self) -> &Sources {
        &self.sources
    }

    /// Returns the number of values of a digit.
    ///
    /// ```
    /// use tilewright_learn::{Sources, Space};
    /// assert_eq!(Space::new(Sources::new(vec![])?, 16)?.radix(), 16);
    /// # Ok::<(), tilewright_learn::Error>(())
    /// ```
    pub fn radix(&self) -> u64 {
        1 << self.shift
    }

    /// Returns the number of loads, that of the check digits included.
    ///
    /// ```
    /// use tilewright_learn::{Sources, Space};
    /// assert_eq!(Space::new(Sources::numbered([("w".into(), vec![100])])?, 128)?.loads(), 2);
    /// # Ok::<(), tilewright_learn::Error>(())
    /// ```
    pub fn loads(&self) -> u32 {
        self.digits + 1
    }

    /// Returns the digit of a number in a load.
    ///
    /// ```
    /// use tilewright_learn::{Sources, Space};
    /// let space = Space::new(Sources::numbered([("w".into(), vec![1000])])?, 128)?;
    /// assert_eq!((space.digit(130, 0), space.digit(130, 1)), (2, 1));
    /// # Ok::<(), tilewright_learn::Error>(())
    /// ```
    #[inline]
    pub fn digit(&self, id: i64, load: u32) -> u64 {
        match load < self.digits {
            true => (id as u64 >> (self.shift * load)) & (self.radix() - 1),
            false => self.check(id as u64),
        }
    }

    /// Returns a digit that sums, averages and mixed loads do not keep. It is never equal to all other digits: an element that
    /// has one value in all loads is a constant.
    #[inline]
    pub(crate) fn check(&self, id: u64) -> u64 {
        let mut h = id.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        h = (h ^ (h >> 32)).wrapping_mul(0xD6E8_FEB8_6659_FD93);
        let digit = (h ^ (h >> 32)) & (self.radix() - 1);
        let first = id & (self.radix() - 1);
        if digit == first { (digit + 1) & (self.radix() - 1) } else { digit }
    }

    /// Returns the bytes of a source in a load, row-major, little-endian. Types of 4 and of 2 bits fill bytes from the low
    /// bits.
    ///
    /// # Errors
    /// Those of [`Code::of`]; [illegal](Error::is_illegal) for a type with fewer digits than the space has;
    /// [out of range](Error::is_out_of_range) for a source that does not exist.
    ///
    /// ```
    /// use tilewright_core::Dtype;
    /// use tilewright_learn::{Sources, Space};
    /// let space = Space::new(Sources::numbered([("w".into(), vec![3])])?, 128)?;
    /// assert_eq!(space.coded(0, 0, Dtype::U8)?, [129, 130, 131]);
    /// # Ok::<(), tilewright_learn::Error>(())
    /// ```
    pub fn coded(&self, source: usize, load: u32, dtype: Dtype) -> Result<Vec<u8>, Error> {
        let code = Code::of(dtype)?;
        let source = self.sources.list().get(source).ok_or_else(|| {
            Error::out_of_range(format!("source {source} of {}", self.sources.list().len()))
        })?;
        if code.radix() < self.radix() {
            return Err(Error::illegal(format!(
                "{dtype} codes {} digits, not {}",
                code.radix(),
                self.radix()
            )));
        }
        let patterns = (source.first..source.end()).map(|id| code.pattern(self.digit(id, load)));
        Ok(bytes(patterns, code.bits(), source.size() as usize))
    }
}

/// Returns elements as little-endian bytes.
pub(crate) fn bytes(patterns: impl Iterator<Item = u64>, bits: u32, count: usize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity((count * bits as usize).div_ceil(8));
    if bits < 8 {
        let per = 8 / bits as usize;
        for (place, pattern) in patterns.enumerate() {
            match (place % per, bytes.last_mut()) {
                (k @ 1.., Some(last)) => *last |= (pattern as u8) << (k as u32 * bits),
                (_, _) => bytes.push(pattern as u8),
            }
        }
        return bytes;
    }
    for pattern in patterns {
        bytes.extend_from_slice(&pattern.to_le_bytes()[..bits as usize / 8]);
    }
    bytes
}

/// Iterates over the elements of 2 or 4 bits in bytes, from the low bits.
pub(crate) fn parts(bytes: &[u8], bits: u32) -> impl Iterator<Item = u64> {
    let part = move |byte: u8, shift| u64::from(byte >> shift) & ((1 << bits) - 1);
    bytes
        .iter()
        .flat_map(move |byte| (0..8).step_by(bits as usize).map(move |shift| part(*byte, shift)))
}
