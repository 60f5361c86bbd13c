//! Reads the bytes of a header on demand.
//!
//! No number of the file is trusted: a length is compared with the file before memory is allocated for it, and no header is
//! longer than [`LONGEST`].

use std::ops::Range;

use crate::{Error, convert::budget::zeros, error, open::source::Source};

/// The longest header that is read, in bytes: a vocabulary of a million tokens takes about 40 MB.
pub(super) const LONGEST: u64 = 1 << 28;

/// The least number of bytes of one read.
const STEP: u64 = 1 << 16;

/// The beginning of a file, and the position up to which it was parsed.
pub(super) struct Reader<'a> {
    source: &'a Source,
    head: Vec<u8>,
    at: u64,
}

impl<'a> Reader<'a> {
    pub(super) fn new(source: &'a Source) -> Reader<'a> {
        Reader { source, head: Vec::new(), at: 0 }
    }

    /// Returns the position up to which the file was parsed, in bytes.
    pub(super) fn at(&self) -> u64 {
        self.at
    }

    /// Returns the bytes that were parsed.
    pub(super) fn into_head(mut self) -> Vec<u8> {
        self.head.truncate(self.at as usize);
        self.head.shrink_to_fit();
        self.head
    }

    pub(super) fn bytes(&self, range: &Range<usize>) -> &[u8] {
        self.head.get(range.clone()).unwrap_or_default()
    }

    /// Returns the range of the next `len` bytes; an error names `what` if the file has fewer.
    pub(super) fn take(&mut self, len: u64, what: &str) -> Result<Range<usize>, Error> {
        let wrong = |said: String| Err(error::corrupt(self.source.path(), said));
        let (at, rest) = (self.at, self.source.len().saturating_sub(self.at));
        if len > rest {
            return wrong(format!(
                "the file is cut off: in the GGUF header {what} takes {len} bytes at byte {at}, where the file has {rest}"
            ));
        }
        let end = at + len;
        if end > LONGEST {
            return wrong(format!(
                "a GGUF header of {end} bytes or more; at most {LONGEST} are read"
            ));
        }
        if end > self.head.len() as u64 {
            self.grow(end)?;
        }
        self.at = end;
        Ok(at as usize..end as usize)
    }

    /// Reads on, at least up to byte `end`.
    fn grow(&mut self, end: u64) -> Result<(), Error> {
        let had = self.head.len();
        let len = end.max(2 * had as u64).max(STEP).min(self.source.len()).min(LONGEST);
        let mut head = zeros(len)?;
        let (old, new) = head.split_at_mut(had);
        old.copy_from_slice(&self.head);
        self.source.read(new, had as u64)?;
        self.head = head;
        Ok(())
    }

    pub(super) fn u32(&mut self, what: &str) -> Result<u32, Error> {
        let range = self.take(4, what)?;
        Ok(number(self.bytes(&range)) as u32)
    }

    pub(super) fn u64(&mut self, what: &str) -> Result<u64, Error> {
        let range = self.take(8, what)?;
        Ok(number(self.bytes(&range)))
    }

    /// Reads a count of items of at least `least` bytes each, and checks that the file is long enough for them.
    pub(super) fn count(&mut self, least: u64, what: &str) -> Result<u64, Error> {
        let count = self.u64(what)?;
        let rest = self.source.len().saturating_sub(self.at);
        if count.checked_mul(least).is_none_or(|bytes| bytes > rest) {
            let said =
                format!("GGUF header: {what} is {count}, where the file has {rest} bytes left");
            return Err(error::corrupt(self.source.path(), said));
        }
        Ok(count)
    }

    /// Reads a length, and returns the range of the bytes of that length after it.
    pub(super) fn string(&mut self, what: &str) -> Result<Range<usize>, Error> {
        let len = self.u64(what)?;
        self.take(len, what)
    }

    /// Reads a string as [`Reader::string`] does, and checks that it is UTF-8.
    pub(super) fn text(&mut self, what: &str) -> Result<Range<usize>, Error> {
        let range = self.string(what)?;
        match std::str::from_utf8(self.bytes(&range)) {
            Ok(_) => Ok(range),
            Err(error) => {
                let (path, at) = (self.source.path(), range.start);
                Err(error::corrupt(path, format!("GGUF header: {what} at byte {at}: {error}")))
            }
        }
    }
}

/// Returns the number in up to eight bytes, little-endian.
pub(super) fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}
