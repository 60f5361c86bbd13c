//! Zeroed memory for arrays, aligned to a page, with huge pages where the system has them.
//!
//! The first access to a fresh page costs more than the write itself, and a relayout touches many pages at once. So
//! large buffers ask for pages of 2 MiB before anything touches them. A buffer that is reused does not pay this cost
//! again.

use crate::Error;
use core::ops::{Deref, DerefMut};
use memmap2::MmapMut;

/// The bytes of a huge page. Shorter buffers do not ask for huge pages.
const HUGE: usize = 2 << 20;

/// Memory that begins on a cache line, or on a huge page (2 MiB) if it fills at least one.
///
/// ```
/// use tilewright_relayout::Buffer;
/// let mut buffer = Buffer::new(5).unwrap();
/// buffer[4] = 1;
/// assert_eq!(buffer[..], [0, 0, 0, 0, 1]);
/// assert!(Buffer::new(u64::MAX).unwrap_err().is_buffer());
/// ```
pub struct Buffer {
    /// `None` for a buffer without bytes.
    map: Option<MmapMut>,
    first: usize,
    len: usize,
}

impl Buffer {
    /// Returns a buffer of `bytes` zeros.
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
        Buffer::with_pages(bytes, Pages::Huge)
    }

    /// Returns a buffer of `bytes` zeros on small pages, as `malloc` gives them. It shows what huge pages gain.
    ///
    /// # Errors
    /// [buffer](Error::is_buffer) if the system has no such memory.
    ///
    /// ```
    /// use tilewright_relayout::Buffer;
    /// let buffer = Buffer::on_small_pages(3 << 20).unwrap();
    /// assert!(buffer.iter().all(|byte| *byte == 0));
    /// ```
    pub fn on_small_pages(bytes: u64) -> Result<Buffer, Error> {
        Buffer::with_pages(bytes, Pages::Small)
    }

    fn with_pages(bytes: u64, pages: Pages) -> Result<Buffer, Error> {
        let refused =
            || Error::buffer(format!("a buffer of {bytes} bytes does not fit the memory"));
        let len = usize::try_from(bytes).map_err(|_| refused())?;
        if len == 0 {
            return Ok(Buffer { map: None, first: 0, len });
        }
        // Maps begin at a page, which may be smaller than a huge page.
        let spare = if len < HUGE { 0 } else { HUGE };
        let all = len.checked_add(spare).ok_or_else(refused)?;
        let map = MmapMut::map_anon(all).map_err(|_| refused())?;
        let first = if spare == 0 { 0 } else { map.as_ptr().align_offset(HUGE) };
        #[cfg(target_os = "linux")]
        if spare > 0 {
            // This is a hint: without huge pages the buffer is slower but correct.
            let _ = map.advise(match pages {
                Pages::Huge => memmap2::Advice::HugePage,
                Pages::Small => memmap2::Advice::NoHugePage,
            });
        }
        #[cfg(not(target_os = "linux"))]
        let _ = pages;
        Ok(Buffer { map: Some(map), first, len })
    }
}

/// The pages that a buffer asks for.
#[derive(Clone, Copy)]
enum Pages {
    Huge,
    Small,
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
