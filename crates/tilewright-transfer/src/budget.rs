//! Bounds on buffers: the memory of tensors is allocated here, and counted.
//!
//! Law: the counted bytes of a budget and of its shares never exceed its limit.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use tilewright_relayout::Buffer as Pages;

use crate::Refused;

/// A bound on the bytes of buffers that exist at the same time. Clones share one count.
///
/// ```
/// use tilewright_transfer::Budget;
/// let budget = Budget::new(100);
/// let first = budget.buffer(60).unwrap();
/// assert!(budget.buffer(41).is_err());
/// drop(first);
/// assert_eq!(budget.buffer(100).unwrap().len(), 100);
/// assert_eq!(budget.peak(), 100);
/// ```
#[derive(Clone, Debug)]
pub struct Budget(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    limit: u64,
    counts: Mutex<Counts>,
    freed: Condvar,
    /// The bytes that this budget has reserved of another one.
    _of: Option<Reservation>,
}

#[derive(Debug, Default)]
struct Counts {
    used: u64,
    peak: u64,
}

impl Shared {
    fn counts(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Counts {
    fn take(&mut self, len: u64) {
        self.used += len;
        self.peak = self.peak.max(self.used);
    }
}

impl Budget {
    /// Returns a budget with a limit of `limit` bytes.
    ///
    /// ```
    /// assert_eq!(tilewright_transfer::Budget::new(100).limit(), 100);
    /// ```
    pub fn new(limit: u64) -> Budget {
        Budget::made(limit, None)
    }

    fn made(limit: u64, of: Option<Reservation>) -> Budget {
        let counts = Mutex::new(Counts::default());
        Budget(Arc::new(Shared { limit, counts, freed: Condvar::new(), _of: of }))
    }

    /// Returns the limit in bytes.
    ///
    /// ```
    /// assert_eq!(tilewright_transfer::Budget::new(7).limit(), 7);
    /// ```
    pub fn limit(&self) -> u64 {
        self.0.limit
    }

    /// Returns the largest number of bytes that existed at the same time so far.
    ///
    /// ```
    /// let budget = tilewright_transfer::Budget::new(100);
    /// drop(budget.buffer(30).unwrap());
    /// assert_eq!(budget.peak(), 30);
    /// ```
    pub fn peak(&self) -> u64 {
        self.0.counts().peak
    }

    /// Counts memory that is allocated elsewhere, until the result is dropped.
    ///
    /// # Errors
    /// [`Refused::Bound`] if the limit would be exceeded.
    ///
    /// ```
    /// let budget = tilewright_transfer::Budget::new(100);
    /// let _list = budget.reserve(70).unwrap();
    /// assert!(budget.reserve(31).is_err());
    /// ```
    pub fn reserve(&self, len: u64) -> Result<Reservation, Refused> {
        let mut counts = self.0.counts();
        let (used, limit) = (counts.used, self.0.limit);
        if used.checked_add(len).is_none_or(|all| all > limit) {
            return Err(Refused::Bound { len, used, limit });
        }
        counts.take(len);
        Ok(Reservation { len, of: self.0.clone() })
    }

    /// Waits until `len` bytes, at most the whole limit, are free, and returns a separate budget for them. A thread
    /// that still holds buffers of this budget could wait for itself, so it must drop them first.
    ///
    /// ```
    /// let budget = tilewright_transfer::Budget::new(100);
    /// let share = budget.share(60);
    /// assert!(share.buffer(60).is_ok() && share.buffer(61).is_err());
    /// assert!(budget.buffer(41).is_err());
    /// // More than all is all.
    /// drop(share);
    /// assert_eq!(budget.share(1000).limit(), 100);
    /// ```
    #[must_use]
    pub fn share(&self, len: u64) -> Budget {
        let len = len.min(self.0.limit);
        let full = |counts: &mut Counts| self.0.limit - counts.used < len;
        let waited = self.0.freed.wait_while(self.0.counts(), full);
        waited.unwrap_or_else(PoisonError::into_inner).take(len);
        Budget::made(len, Some(Reservation { len, of: self.0.clone() }))
    }

    /// Returns a buffer of zeros.
    ///
    /// # Errors
    /// [`Refused::Bound`] if the limit would be exceeded, [`Refused::System`] if the system refuses memory.
    ///
    /// ```
    /// let budget = tilewright_transfer::Budget::new(100);
    /// assert!(budget.buffer(9).unwrap().iter().all(|byte| *byte == 0));
    /// ```
    pub fn buffer(&self, len: u64) -> Result<Buffer, Refused> {
        let reserved = self.reserve(len)?;
        let bytes = match len {
            ..LARGE => Bytes::Short(zeros(len)?),
            _ => Bytes::Large(Pages::new(len).map_err(|_| Refused::System(len))?),
        };
        Ok(Buffer { bytes, _reserved: reserved })
    }

    /// Returns the buffer that is kept in `room`, with at least `len` bytes. A buffer that is too short is freed first.
    /// The new one has the next power of two as its length, at most `most` bytes, so that a growing buffer is allocated
    /// only a few times.
    ///
    /// # Errors
    /// Those of [`Budget::buffer`].
    ///
    /// ```
    /// use tilewright_transfer::Budget;
    /// let (budget, mut room) = (Budget::new(1000), None);
    /// assert_eq!(budget.grown(&mut room, 100, 1000).unwrap().len(), 128);
    /// assert_eq!(budget.grown(&mut room, 90, 1000).unwrap().len(), 128);
    /// assert_eq!(budget.grown(&mut room, 600, 700).unwrap().len(), 700);
    /// ```
    pub fn grown<'r>(
        &self,
        room: &'r mut Option<Buffer>,
        len: u64,
        most: u64,
    ) -> Result<&'r mut Buffer, Refused> {
        let kept = room.take().filter(|kept| kept.len() as u64 >= len);
        let kept = match kept {
            Some(kept) => kept,
            None => {
                let rounded = len.checked_next_power_of_two().unwrap_or(len).min(most).max(len);
                self.buffer(rounded)?
            }
        };
        Ok(room.insert(kept))
    }
}

/// Returns `len` zeros that no budget counts.
///
/// # Errors
/// [`Refused::System`] if the system refuses memory.
///
/// ```
/// assert_eq!(tilewright_transfer::zeros(3).unwrap(), [0; 3]);
/// assert!(tilewright_transfer::zeros(u64::MAX).is_err());
/// ```
pub fn zeros(len: u64) -> Result<Vec<u8>, Refused> {
    let size = usize::try_from(len).unwrap_or(usize::MAX);
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(size).map_err(|_| Refused::System(len))?;
    bytes.resize(size, 0);
    Ok(bytes)
}

/// Counted bytes that are allocated elsewhere; freed when dropped.
///
/// ```
/// let budget = tilewright_transfer::Budget::new(10);
/// let reserved = budget.reserve(10).unwrap();
/// drop(reserved);
/// assert!(budget.reserve(10).is_ok());
/// ```
#[derive(Debug)]
pub struct Reservation {
    len: u64,
    of: Arc<Shared>,
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.of.counts().used -= self.len;
        self.of.freed.notify_all();
    }
}

/// Buffers of at least this length get their pages from the system when these are first used, so that no thread waits
/// until all of it is zeroed.
const LARGE: u64 = 1 << 20;

/// The memory of a buffer.
#[derive(Debug)]
enum Bytes {
    Short(Vec<u8>),
    Large(Pages),
}

/// Counted bytes; freed when dropped.
///
/// ```
/// let mut buffer = tilewright_transfer::Budget::new(10).buffer(3).unwrap();
/// buffer[1] = 7;
/// assert_eq!(*buffer, [0, 7, 0]);
/// ```
#[derive(Debug)]
pub struct Buffer {
    bytes: Bytes,
    _reserved: Reservation,
}

impl std::ops::Deref for Buffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match &self.bytes {
            Bytes::Short(bytes) => bytes,
            Bytes::Large(bytes) => bytes,
        }
    }
}

impl std::ops::DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        match &mut self.bytes {
            Bytes::Short(bytes) => bytes,
            Bytes::Large(bytes) => bytes,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering};

    #[test]
    fn buffers_are_counted_while_they_live() {
        let budget = Budget::new(100);
        {
            let first = budget.buffer(60).unwrap();
            assert_eq!(first.len(), 60);
            assert!(budget.buffer(41).is_err());
            let _second = budget.buffer(40).unwrap();
        }
        {
            let _list = budget.reserve(70).unwrap();
            assert!(budget.reserve(31).is_err() && budget.buffer(31).is_err());
            let _first = budget.buffer(30).unwrap();
        }
        assert_eq!(budget.0.counts().used, 0);
        assert_eq!(budget.peak(), 100);
        assert!(budget.buffer(100).is_ok());
        assert!(budget.buffer(u64::MAX).is_err());
        assert_eq!(Budget::new(u64::MAX).buffer(1 << 62).unwrap_err(), Refused::System(1 << 62));
    }

    #[test]
    fn shares_never_pass_the_bound() {
        let (budget, now, most) = (Budget::new(100), AtomicU64::new(0), AtomicU64::new(0));
        std::thread::scope(|scope| {
            for thread in 0..6u64 {
                let (budget, now, most) = (&budget, &now, &most);
                scope.spawn(move || {
                    for turn in 0..200u64 {
                        let share = budget.share(1 + (thread * 37 + turn * 11) % 130);
                        let held = now.fetch_add(share.limit(), Ordering::SeqCst) + share.limit();
                        most.fetch_max(held, Ordering::SeqCst);
                        now.fetch_sub(share.limit(), Ordering::SeqCst);
                    }
                });
            }
        });
        assert_eq!(budget.0.counts().used, 0);
        assert!(most.into_inner() <= 100);
    }

    #[test]
    fn a_share_is_held_as_long_as_a_buffer_of_it() {
        let budget = Budget::new(100);
        let buffer = budget.share(80).buffer(10).unwrap();
        assert!(budget.reserve(21).is_err());
        drop(buffer);
        assert!(budget.reserve(100).is_ok());
    }
}
