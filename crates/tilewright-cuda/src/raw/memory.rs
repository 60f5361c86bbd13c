//! Memory of a device that this process owns.
//!
//! Law: the memory is freed after all work that was queued in its context, and work that uses it is queued in no other
//! context. So all work that was queued with the memory finds it allocated.

use std::sync::Arc;

use super::{
    DeviceBytes,
    own::{Own, OwnStream},
};
use crate::{Error, error::of_device};

/// Memory of a device that this process owns: freed when dropped, once all work of its context is done.
#[derive(Debug)]
pub(crate) struct Allocated {
    own: Arc<Own>,
    address: u64,
    bytes: u64,
}

impl Allocated {
    pub(crate) fn new(own: &Arc<Own>, bytes: u64) -> Result<Allocated, Error> {
        Ok(Allocated { own: own.clone(), address: own.allocate(bytes)?, bytes })
    }

    pub(crate) fn address(&self) -> u64 {
        self.address
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns `bytes` bytes from `at` on.
    pub(crate) fn part(&self, at: u64, bytes: u64) -> Result<DeviceBytes, Error> {
        let address = self.range(at, bytes)?;
        // SAFETY: the bytes are allocated, and `drop` waits for all work that was queued before it frees them.
        // Concurrent work on them may leave any values in the bytes, which is all that a reader of device memory is
        // promised here.
        Ok(unsafe { DeviceBytes::new(address, bytes) })
    }

    /// Returns the address of `bytes` bytes from `at` on, if they are within the memory.
    fn range(&self, at: u64, bytes: u64) -> Result<u64, Error> {
        let end = at.checked_add(bytes).filter(|end| *end <= self.bytes);
        end.map(|_| self.address + at).ok_or_else(|| {
            let says = format!("{bytes} bytes from byte {at} on, beyond memory of {}", self.bytes);
            Error::buffer(says)
        })
    }

    pub(crate) fn write(&self, at: u64, data: &[u8]) -> Result<(), Error> {
        let to = self.range(at, data.len() as u64)?;
        // SAFETY: `range` found the bytes inside the memory.
        unsafe { self.own.write(to, data) }
    }

    pub(crate) fn read(&self, at: u64, data: &mut [u8]) -> Result<(), Error> {
        let from = self.range(at, data.len() as u64)?;
        // SAFETY: `range` found the bytes inside the memory.
        unsafe { self.own.read(from, data) }
    }

    pub(crate) fn fill(&self, byte: u8) -> Result<(), Error> {
        // SAFETY: these are all bytes of the memory.
        unsafe { self.own.fill(self.address, byte, self.bytes) }
    }

    /// Queues a copy to other memory. `devices` if the memory and the stream are not in one context: dropping either
    /// memory would not wait for the copy.
    pub(crate) fn copy(
        &self,
        at: u64,
        (dst, to): (&Allocated, u64),
        bytes: u64,
        stream: &OwnStream,
    ) -> Result<(), Error> {
        for (side, own) in [("source", &self.own), ("destination", &dst.own)] {
            if !stream.is_beside(own) {
                let says = format!(
                    "the {side} is on device {} and the queue on device {}; a copy needs both on one device",
                    own.ordinal(),
                    stream.ordinal()
                );
                return Err(of_device("devices", says));
            }
        }
        let (from, to) = (self.range(at, bytes)?, dst.range(to, bytes)?);
        // SAFETY: `range` found the bytes inside both, and `drop` of either waits for the copy, which is in its
        // context.
        unsafe { self.own.copy(from, to, bytes, stream.get()) }
    }
}

impl Drop for Allocated {
    fn drop(&mut self) {
        // SAFETY: the address comes from `allocate`; every value that names it was made by `part`, for work that was
        // queued before.
        unsafe { self.own.free(self.address) };
    }
}
