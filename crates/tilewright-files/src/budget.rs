//! The bound on buffers: every byte this crate holds of tensors is allocated here, and counted.

use std::cell::Cell;

use crate::Error;

/// The least bound that is taken, in bytes.
pub(crate) const LEAST: u64 = 4096;

/// How many bytes of buffers may live at once, how many do, and the most that did.
#[derive(Debug)]
pub(crate) struct Budget {
    limit: u64,
    used: Cell<u64>,
    peak: Cell<u64>,
}

impl Budget {
    pub(crate) fn new(limit: u64) -> Budget {
        Budget { limit, used: Cell::new(0), peak: Cell::new(0) }
    }

    pub(crate) fn limit(&self) -> u64 {
        self.limit
    }

    /// The most bytes that lived at once so far.
    pub(crate) fn peak(&self) -> u64 {
        self.peak.get()
    }

    /// Counts memory that is held elsewhere, until it is dropped; an error beyond the bound.
    pub(crate) fn held(&self, len: u64) -> Result<Held<'_>, Error> {
        let used = self.claim(len)?;
        self.set(used);
        Ok(Held { len, budget: self })
    }

    /// A buffer of zeros; an error beyond the bound or if the system has no memory.
    pub(crate) fn buffer(&self, len: u64) -> Result<Buffer<'_>, Error> {
        let used = self.claim(len)?;
        let size = usize::try_from(len).unwrap_or(usize::MAX);
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(size).map_err(|_| {
            Error::usage(format!("the system has no {len} bytes of memory; lower --memory"))
        })?;
        bytes.resize(size, 0);
        self.set(used);
        Ok(Buffer { bytes, budget: self })
    }

    fn set(&self, used: u64) {
        self.used.set(used);
        self.peak.set(self.peak.get().max(used));
    }

    /// What is in use with `len` bytes more.
    fn claim(&self, len: u64) -> Result<u64, Error> {
        let used = self.used.get().saturating_add(len);
        if used > self.limit {
            let (limit, held) = (self.limit, self.used.get());
            return Err(Error::usage(format!(
                "{len} bytes of buffers beyond the {held} in use pass the bound of {limit}; raise --memory"
            )));
        }
        Ok(used)
    }
}

/// Memory held elsewhere; given back when dropped.
#[derive(Debug)]
pub(crate) struct Held<'a> {
    len: u64,
    budget: &'a Budget,
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.budget.used.set(self.budget.used.get().saturating_sub(self.len));
    }
}

/// Counted bytes; given back when dropped.
#[derive(Debug)]
pub(crate) struct Buffer<'a> {
    bytes: Vec<u8>,
    budget: &'a Budget,
}

impl std::ops::Deref for Buffer<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}

impl std::ops::DerefMut for Buffer<'_> {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.bytes
    }
}

impl Drop for Buffer<'_> {
    fn drop(&mut self) {
        let used = self.budget.used.get();
        self.budget.used.set(used.saturating_sub(self.bytes.len() as u64));
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
        assert_eq!((budget.used.get(), budget.peak()), (0, 100));
        assert!(budget.buffer(100).is_ok());
        assert!(budget.buffer(u64::MAX).is_err());
    }
}
