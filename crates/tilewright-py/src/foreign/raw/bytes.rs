//! The range of bytes that contains the elements of an array.

use super::{BEYOND, Facts, Refusal};

/// The smallest range of bytes that holds every element.
#[derive(Debug)]
pub(crate) struct ByteRange {
    /// The lowest byte of any element.
    low: *const u8,
    len: usize,
}

impl ByteRange {
    /// Returns the bytes of an array whose element at coordinates 0 is at `data`. Nothing is read.
    pub(crate) fn of(data: *const u8, facts: &Facts) -> Result<ByteRange, Refusal> {
        if facts.itemsize == 0 {
            return Err(Refusal::new("dtype", "elements of no bytes"));
        }
        let (origin, len) = facts.reach().ok_or_else(|| Refusal::new("array", BEYOND))?;
        if data.is_null() && len > 0 {
            let says = "the array is only a description, without memory";
            return Err(Refusal::new("array", says));
        }
        let nowhere = std::ptr::NonNull::<u8>::dangling().as_ptr().cast_const();
        let low = if len == 0 { nowhere } else { lowest(data, origin, len)? };
        Ok(ByteRange { low, len })
    }

    /// Returns the address of the lowest byte.
    pub(crate) fn address(&self) -> usize {
        self.low.addr()
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Returns the bytes.
    ///
    /// # Safety
    /// Every element that the facts describe is readable, and so are the bytes between them; no code writes them for as long as
    /// the slice is used.
    pub(crate) unsafe fn read(&self) -> &[u8] {
        // SAFETY: `# Safety` of `read`: `Facts::reach` computed `low` and `len` as the smallest range that holds every
        // element, of at most `isize::MAX` bytes; where `len` is 0, `low` is not null.
        unsafe { std::slice::from_raw_parts(self.low, self.len) }
    }

    /// Returns the bytes for writing.
    ///
    /// # Safety
    /// As for [`ByteRange::read`]; in addition, they are writable, and no other code reads them meanwhile.
    pub(crate) unsafe fn write(&mut self) -> &mut [u8] {
        // SAFETY: `# Safety` of `write`, and `low` and `len` as in `read`.
        unsafe { std::slice::from_raw_parts_mut(self.low.cast_mut(), self.len) }
    }

    /// Returns whether two arrays have a byte in common.
    pub(crate) fn overlaps(&self, other: &ByteRange) -> bool {
        let (a, b) = (self.address(), other.address());
        self.len > 0 && other.len > 0 && a < b + other.len && b < a + self.len
    }
}

/// Returns the address of the lowest element, if all of `len` bytes from there on have addresses.
fn lowest(data: *const u8, origin: usize, len: usize) -> Result<*const u8, Refusal> {
    let low = data.addr().checked_sub(origin).filter(|low| *low > 0);
    let fits = low.is_some_and(|low| low.checked_add(len).is_some());
    fits.then(|| data.wrapping_sub(origin)).ok_or_else(|| Refusal::new("array", BEYOND))
}
