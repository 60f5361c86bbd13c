//! The bound on buffers: every byte this crate holds of tensors is allocated here, and counted.

use std::sync::atomic::{AtomicU64, Ordering};

use tilewright_core::{Counted, Remedy};
use tilewright_relayout::Buffer as Memory;

use crate::Error;

/// The least bound that is taken, in bytes.
pub(crate) const LEAST: u64 = 4096;

/// What is held of a tensor beside buffers, in bytes: its name, its layout, what happens to it and the header of a
/// result. Measured; a long name takes more, a layout that others have less.
const OF_TENSOR: u64 = 3 << 10;

/// What is held of tensors beside buffers and not counted, in bytes.
const UNCOUNTED: u64 = 64 << 20;

/// What a bound leaves for buffers beside what is held of this number of tensors, `held` tensors of input and result
/// together; an error, with what is needed, where that is too little.
pub(crate) fn beside(limit: u64, tensors: usize, held: usize) -> Result<u64, Error> {
    let held = (held as u64).saturating_mul(OF_TENSOR).saturating_sub(UNCOUNTED);
    limit.checked_sub(held).filter(|left| *left >= LEAST).ok_or_else(|| {
        let least = Some(held.saturating_add(LEAST));
        let tensors = Counted(tensors as u64, "tensor");
        let said = format!(
            "{tensors} need more than {limit} bytes of memory: their names and layouts take about {held} beside buffers"
        );
        Error::usage(said).with(&[Remedy::MoreMemory { least }])
    })
}

/// How many bytes of buffers may live at once, how many do, and the most that did.
#[derive(Debug)]
pub(crate) struct Budget {
    limit: u64,
    used: AtomicU64,
    peak: AtomicU64,
}

impl Budget {
    pub(crate) fn new(limit: u64) -> Budget {
        Budget { limit, used: AtomicU64::new(0), peak: AtomicU64::new(0) }
    }

    pub(crate) fn limit(&self) -> u64 {
        self.limit
    }

    /// The most bytes that lived at once so far.
    pub(crate) fn peak(&self) -> u64 {
        self.peak.load(Ordering::Relaxed)
    }

    /// Counts memory that is held elsewhere, until it is dropped; an error beyond the bound.
    pub(crate) fn held(&self, len: u64) -> Result<Held<'_>, Error> {
        self.claim(len)?;
        Ok(Held { len, budget: self })
    }

    /// A buffer of zeros; an error beyond the bound or if the system has no memory.
    pub(crate) fn buffer(&self, len: u64) -> Result<Buffer<'_>, Error> {
        let held = self.held(len)?;
        let bytes = match len {
            ..LARGE => Bytes::Short(zeros(len)?),
            _ => Bytes::Large(Memory::new(len).map_err(|_| Error::memory(len))?),
        };
        Ok(Buffer { bytes, _held: held })
    }

    /// Counts `len` bytes more, if they stay within the bound.
    fn claim(&self, len: u64) -> Result<(), Error> {
        let (relaxed, limit) = (Ordering::Relaxed, self.limit);
        let more = |used: u64| used.checked_add(len).filter(|used| *used <= limit);
        match self.used.fetch_update(relaxed, relaxed, more) {
            Ok(held) => {
                self.peak.fetch_max(held + len, relaxed);
                Ok(())
            }
            Err(held) => {
                let said = format!(
                    "{len} bytes of buffers beyond the {held} in use pass the bound of {limit}"
                );
                Err(Error::usage(said).with(&[Remedy::MoreMemory { least: None }]))
            }
        }
    }
}

/// A buffer of `len` zeros; an error if the system has no memory.
pub(crate) fn zeros(len: u64) -> Result<Vec<u8>, Error> {
    let size = usize::try_from(len).unwrap_or(usize::MAX);
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(size).map_err(|_| Error::memory(len))?;
    bytes.resize(size, 0);
    Ok(bytes)
}

/// Memory held elsewhere; given back when dropped.
#[derive(Debug)]
pub(crate) struct Held<'a> {
    len: u64,
    budget: &'a Budget,
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.budget.used.fetch_sub(self.len, Ordering::Relaxed);
    }
}

/// Buffers from this length on are given by the system page by page, as they are used: nobody waits for the zeros of
/// all of it.
const LARGE: u64 = 1 << 20;

/// The memory of a buffer.
#[derive(Debug)]
enum Bytes {
    Short(Vec<u8>),
    Large(Memory),
}

/// Counted bytes; given back when dropped.
#[derive(Debug)]
pub(crate) struct Buffer<'a> {
    bytes: Bytes,
    _held: Held<'a>,
}

impl std::ops::Deref for Buffer<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match &self.bytes {
            Bytes::Short(bytes) => bytes,
            Bytes::Large(bytes) => bytes,
        }
    }
}

impl std::ops::DerefMut for Buffer<'_> {
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

    #[test]
    fn buffers_are_counted_while_they_live() {
        let budget = Budget::new(100);
        {
            let first = budget.buffer(60).unwrap();
            assert_eq!(first.len(), 60);
            assert!(budget.buffer(41).unwrap_err().is_usage());
            let _second = budget.buffer(40).unwrap();
        }
        {
            let _list = budget.held(70).unwrap();
            assert!(budget.held(31).unwrap_err().is_usage() && budget.buffer(31).is_err());
            let _first = budget.buffer(30).unwrap();
        }
        assert_eq!((budget.used.load(Ordering::Relaxed), budget.peak()), (0, 100));
        assert!(budget.buffer(100).is_ok());
        assert!(budget.buffer(u64::MAX).is_err());
        // What the system does not have is no mistake of the asker.
        let error = Budget::new(u64::MAX).buffer(1 << 62).unwrap_err();
        assert!(
            error.is_io() && error.to_string().contains("4611686018427387904 bytes"),
            "{error}"
        );
    }
}
