//! The offsets within a cache line at which the two buffers of a case begin.

use std::{fmt, str::FromStr};

use crate::Error;

/// The upper bound of an offset, exclusive; buffers are longer by this number of bytes.
pub(crate) const SPARE: usize = 4096;

/// The bytes past a cache line at which source and destination begin.
///
/// Large arrays of `malloc` and NumPy begin 16 bytes past a line. In text, one number applies to both sides.
///
/// ```
/// use tilewright_bench::Offsets;
/// assert_eq!("16".parse::<Offsets>(), Ok(Offsets { src: 16, dst: 16 }));
/// assert_eq!("4,48".parse::<Offsets>()?.to_string(), "4,48");
/// assert_eq!(Offsets::default(), Offsets { src: 0, dst: 0 });
/// assert!("4096".parse::<Offsets>().unwrap_err().to_string().contains("0 to 4095"));
/// # Ok::<(), tilewright_bench::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Offsets {
    /// The offset of the source.
    pub src: usize,
    /// The offset of the destination.
    pub dst: usize,
}

impl fmt::Display for Offsets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{},{}", self.src, self.dst)
    }
}

impl FromStr for Offsets {
    type Err = Error;

    fn from_str(text: &str) -> Result<Offsets, Error> {
        let one = |text: &str| {
            let digits = Some(text.trim()).filter(|text| !text.starts_with('+'));
            let offset = digits.and_then(|text| text.parse().ok()).filter(|bytes| *bytes < SPARE);
            offset.ok_or_else(|| {
                Error::definition(format!(
                    "the offset {text:?} is not a number of bytes from 0 to {}, as in 16 or 16,48",
                    SPARE - 1
                ))
            })
        };
        let (src, dst) = text.split_once(',').unwrap_or((text, text));
        Ok(Offsets { src: one(src)?, dst: one(dst)? })
    }
}
