//! Memory for arrays: zeroed, on a page, and on huge pages where the system has them.
//!
//! A fresh page costs more than what is written to it, and a relayout touches many pages at once: large
//! buffers ask for pages of 2 MiB before anything touches them. Made once and used again, a buffer costs
//! nothing.

use crate::Error;
use core::ops::{Deref, DerefMut};
use memmap2::MmapMut;

/// The bytes of a huge page. Shorter buffers ask for none.
const HUGE: usize = 2 << 20;

/// Bytes that begin on a cache line: of a huge page, if they fill one (2 MiB).
///
/// ```
/// use tilewright_relayout::Buffer;
/// let mut buffer = Buffer::new(5).unwrap();
/// buffer[4] = 1;
/// assert_eq!(buffer[..], [0, 0, 0, 0, 1]);
/// assert!(Buffer::new(u64::MAX).unwrap_err().is_buffer());
/// ```
pub struct Buffer {
    /// None where there are no bytes.
    map: Option<MmapMut>,
    first: usize,
    len: usize,
}

impl Buffer {
    /// A buffer of `bytes` zeros.
    ///
    /// # Errors
    /// [buffer](Error::is_buffer) if the system has no such memory.
    ///
    /// ```
    /// use tilewright_relayout::Buffer;
    /// let buffer = Buffer::new(3 << 20).unwrap();
    /// assert!(buffer.as_ptr().addr().is_multiple_of(2 << 20));
    /// assert!(Buffer::new(0).unwrap().is_empty());
    /// ```
    pub fn new(bytes: u64) -> Result<Buffer, Error> {
        let refused =
            || Error::buffer(format!("a buffer of {bytes} bytes; there is no such memory"));
        let len = usize::try_from(bytes).map_err(|_| refused())?;
        if len == 0 {
            return Ok(Buffer { map: None, first: 0, len });
        }
        // Maps begin at pages, which may be small ones.
        let spare = if len < HUGE { 0 } else { HUGE };
        let all = len.checked_add(spare).ok_or_else(refused)?;
        let map = MmapMut::map_anon(all).map_err(|_| refused())?;
        let first = if spare == 0 { 0 } else { map.as_ptr().align_offset(HUGE) };
        #[cfg(target_os = "linux")]
        if spare > 0 {
            // A wish; without huge pages the buffer is slower, and as good otherwise.
            let _ = map.advise(memmap2::Advice::HugePage);
        }
        Ok(Buffer { map: Some(map), first, len })
    }
}

impl Deref for Buffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.map.as_deref().map_or(&[], |map| &map[self.first..][..self.len])
    }
}

impl DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        let (first, len) = (self.first, self.len);
        self.map.as_deref_mut().map_or(&mut [], |map| &mut map[first..][..len])
    }
}

impl core::fmt::Debug for Buffer {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Buffer").field("len", &self.len).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_bytes_are_there_and_zero() {
        let long = [HUGE - 1, HUGE, HUGE + 1, 3 * HUGE + 5];
        for len in [0, 1, 63, 4096].into_iter().chain(long.into_iter().filter(|_| !cfg!(miri))) {
            let mut buffer = Buffer::new(len as u64).unwrap();
            assert!(buffer.len() == len && buffer.iter().all(|byte| *byte == 0));
            assert!(buffer.as_ptr().addr().is_multiple_of(64) || len == 0);
            buffer.fill(7);
            assert!(buffer.iter().all(|byte| *byte == 7));
        }
    }
}
