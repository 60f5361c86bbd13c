//! The fingerprint of a tensor's data that a file records beside the note of its layout, computed with the key that everyone has.
//!
//! Law: the record is the fingerprint of the source's data, summed by the source's layout. Data that are read from the
//! result by the result's layout have the same fingerprint only if every element moved to its place. A result records only
//! fingerprints that were computed from the data of its source, or compared with them.

use tilewright_core::TensorLayout;
use tilewright_fingerprint::{Array, Fingerprint, Key, Windows};

use crate::layout::element_layout::ElementLayout;

/// The prefix of Tilewright's keys of metadata.
pub(crate) const OWN: &str = "tilewright.";

/// The one key that every writer uses; its text is the name of a library.
const FORMAT: &str = "format";

/// Prefix of the metadata key under which the layout of a tensor is recorded; the tensor's name follows.
#[doc(hidden)]
pub const LAYOUT_KEY: &str = "tilewright.layout.";

/// The fingerprint of no data: the placeholder in the header until the data are known.
pub(crate) const NONE: &str = "0000000000000000";

/// The facts of a tensor's note in addition to its layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Recorded {
    /// The fingerprint of the data; older files do not record it.
    pub(crate) data: Option<Fingerprint>,
}

/// The record of a job's result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Record {
    /// Nothing.
    None,
    /// The record of the input, which is compared with the sum of the data that are read.
    Checked(Fingerprint),
    /// The sum of the data, once they are read.
    Summed,
}

impl Record {
    /// Returns true if the data are summed as they are read.
    pub(crate) fn is_read(self) -> bool {
        self != Record::None
    }
}

/// Parses the fingerprint of a note. Each fingerprint has exactly one spelling, so any changed bit is noticed.
pub(crate) fn parse(text: &str) -> Result<Fingerprint, String> {
    match text.parse::<Fingerprint>() {
        Ok(data) if data.to_string() == text => Ok(data),
        Ok(_) => Err(format!("{text:?}, which is not a lowercase fingerprint")),
        Err(error) => Err(error.to_string()),
    }
}

/// Returns true if the data of such an array get a record: its runs must be as long as its strides allow. A swizzle leaves runs
/// of a few elements, which take a hundred times as long; their sum is only computed to check an existing record.
pub(crate) fn is_summed(held: &ElementLayout) -> bool {
    let low = |layout: &TensorLayout| layout.layout().bounds().map_or(0, |(low, _)| low);
    // With index tables, the sum is over the gathered elements.
    let held = held.rows();
    let layout = held.layout();
    layout.is_strided() && low(layout) >= 0 && windows(held, 1, &Key::default()).is_ok()
}

/// Returns the windows of an array, of at most `most` bytes unless an element is longer.
pub(crate) fn windows<'a>(
    held: &'a ElementLayout,
    most: u64,
    key: &Key,
) -> Result<Windows<'a>, tilewright_fingerprint::Error> {
    let array = Array::new(held.layout(), held.dtype)?.bits(held.bits)?;
    array.order(held.order).windows(most, key)
}

/// Returns true if a name of a tensor may be a key in metadata that stands for another tensor: keys with another meaning may not.
pub(crate) fn may_stand(name: &str) -> bool {
    name != FORMAT && !name.starts_with(OWN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_fingerprint_has_one_spelling() {
        let text = "0123456789abcdef";
        assert_eq!(parse(text).unwrap().to_string(), text);
        assert_eq!(parse(NONE).unwrap(), Fingerprint::default());
        for bit in 0..8 * text.len() {
            let mut bytes = text.as_bytes().to_vec();
            bytes[bit / 8] ^= 1 << (bit % 8);
            let flipped = String::from_utf8_lossy(&bytes).into_owned();
            let read = parse(&flipped).ok();
            assert!(read.is_none_or(|read| read.to_string() == flipped), "{flipped}");
            assert_ne!(read, parse(text).ok(), "{flipped}");
        }
        for text in ["", "0", "0123456789ABCDEF", "1fffffffffffffff", "+123456789abcdef"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
