//! The driver's calls for memory and streams that this process owns, and the memory itself. The calls are looked up
//! separately from those of launches: a driver that lacks one of them can still move arrays.
//!
//! Laws: nothing is freed or destroyed before the work that was queued with it is done. If a wait fails, the value is
//! left as it is, and its context frees it later. Work that uses memory is queued in no other context, so all of it
//! finds the memory allocated. Waiting, allocating and freeing end no capture on other devices; on its own device, the
//! driver forbids everyone to wait for all work while a stream is captured.

use std::{
    ffi::{c_char, c_int, c_uint, c_void},
    ptr,
    sync::{Arc, OnceLock},
};

use super::{Context, DeviceBytes, Driver, Events, Graph, Stream, graph::Graphs};
use crate::{Error, error::of_device};

super::library::functions! {
    /// The functions of libcuda for memory and streams.
    Functions {
        cuDeviceGetName(*mut c_char, c_int, c_int);
        cuDeviceGetAttribute(*mut c_int, c_int, c_int);
        cuMemGetInfo_v2(*mut usize, *mut usize);
        cuMemAlloc_v2(*mut u64, usize);
        cuMemFree_v2(u64);
        cuMemcpyHtoD_v2(u64, *const c_void, usize);
        cuMemcpyDtoH_v2(*mut c_void, u64, usize);
        cuMemcpyDtoDAsync_v2(u64, u64, usize, *mut c_void);
        cuMemsetD8_v2(u64, u8, usize);
        cuStreamCreate(*mut *mut c_void, c_uint);
        cuStreamDestroy_v2(*mut c_void);
        cuStreamSynchronize(*mut c_void);
    }
}

/// The size of the buffer for a device's name, in bytes.
const NAME: usize = 256;
/// A stream that does not wait for the default one.
const NON_BLOCKING: c_uint = 1;

/// The functions, with the driver, and a device with the context in which they are called.
#[derive(Debug)]
pub(crate) struct DeviceApi {
    functions: Functions,
    driver: Arc<Driver>,
    events: Arc<Events>,
    context: Context,
    ordinal: i32,
    graphs: OnceLock<Graphs>,
}

impl DeviceApi {
    /// Looks up the functions in the driver's library. The owner of the context keeps it retained.
    pub(crate) fn of(
        driver: &Arc<Driver>,
        events: Arc<Events>,
        context: Context,
        ordinal: i32,
    ) -> Result<DeviceApi, Error> {
        let functions = driver.library().table(Functions::of, "a driver for CUDA 11.0")?;
        let (driver, graphs) = (driver.clone(), OnceLock::new());
        Ok(DeviceApi { functions, driver, events, context, ordinal, graphs })
    }

    /// Returns the number of the device.
    pub(crate) fn ordinal(&self) -> i32 {
        self.ordinal
    }

    /// Returns whether both are on one device, in one context.
    pub(super) fn is_beside(&self, other: &DeviceApi) -> bool {
        self.context == other.context
    }

    /// Captures the work that `work` queues on a stream as a graph, which `then` launches; see [`Graphs::capture`].
    pub(crate) fn graph<T>(
        &self,
        stream: Stream,
        work: impl FnOnce() -> Result<(), Error>,
        then: impl FnOnce(&Graph<'_>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let graphs = self.graphs()?;
        self.within(|| graphs.capture(stream, work, then, &|stream| self.wait_for(stream)))
    }

    /// Returns the functions for graphs, which are looked up on first use.
    fn graphs(&self) -> Result<&Graphs, Error> {
        match self.graphs.get() {
            Some(graphs) => Ok(graphs),
            None => {
                let found = Graphs::of(&self.driver)?;
                Ok(self.graphs.get_or_init(|| found))
            }
        }
    }

    /// Calls a function in the context.
    fn within<T>(&self, work: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
        self.driver.within(self.context, work)
    }

    /// Calls a function that captures forbid: in the context, and in relaxed capture mode, so it ends no capture.
    fn relaxed(&self, name: &str, call: impl FnOnce(&Functions) -> i32) -> Result<(), Error> {
        let checked = || self.driver.checked(name, call(&self.functions));
        self.within(|| self.driver.relaxed(checked))
    }

    /// Calls a function of the table in the context.
    fn call(&self, name: &str, call: impl FnOnce(&Functions) -> i32) -> Result<(), Error> {
        self.within(|| self.driver.checked(name, call(&self.functions)))
    }

    /// Returns the name of the library.
    pub(crate) fn library(&self) -> String {
        self.driver.name()
    }

    /// Returns the name of the device.
    pub(crate) fn name(&self) -> Result<String, Error> {
        let mut name = [0_u8; NAME];
        let to = name.as_mut_ptr().cast();
        // SAFETY: at most `NAME` bytes are written, the last of which is 0.
        self.call("cuDeviceGetName", |f| unsafe {
            (f.cuDeviceGetName)(to, NAME as c_int, self.ordinal)
        })?;
        let end = name.iter().position(|byte| *byte == 0).unwrap_or(NAME);
        Ok(String::from_utf8_lossy(&name[..end]).into_owned())
    }

    /// Returns an attribute of the device; `None` if the driver does not know it.
    pub(crate) fn attribute(&self, attribute: c_int) -> Option<u64> {
        let mut value = 0;
        // SAFETY: `value` is written.
        let asked = self.call("cuDeviceGetAttribute", |f| unsafe {
            (f.cuDeviceGetAttribute)(&mut value, attribute, self.ordinal)
        });
        asked.ok().and_then(|()| u64::try_from(value).ok()).filter(|value| *value > 0)
    }

    /// Returns the free bytes of the context's device, and the total.
    pub(crate) fn room(&self) -> Result<(u64, u64), Error> {
        let (mut free, mut total) = (0, 0);
        // SAFETY: both numbers are written.
        self.call("cuMemGetInfo", |f| unsafe { (f.cuMemGetInfo_v2)(&mut free, &mut total) })?;
        Ok((free as u64, total as u64))
    }

    /// Allocates memory; its bytes have unspecified values.
    pub(crate) fn allocate(&self, bytes: u64) -> Result<u64, Error> {
        let mut address = 0;
        let length = usize::try_from(bytes).unwrap_or(usize::MAX).max(1);
        // SAFETY: `address` is written.
        self.relaxed("cuMemAlloc", |f| unsafe { (f.cuMemAlloc_v2)(&mut address, length) })
            .map_err(|error| {
                let room = self.room().map_or(String::new(), |(free, total)| {
                    format!("; {free} of {total} bytes are free")
                });
                error.about(&format!("{bytes} bytes of a device{room}"))
            })?;
        Ok(address)
    }

    /// Waits for all work of the context, then frees memory; if the wait fails, the memory stays allocated.
    ///
    /// # Safety
    /// The address comes from [`DeviceApi::allocate`], and work that is queued later does not use it.
    pub(super) unsafe fn free(&self, address: u64) {
        // A failure is ignored, because nothing can be done about it.
        let _ = self.wait().and_then(|()| {
            // SAFETY: `# Safety` of `free`; the queued work is done.
            self.relaxed("cuMemFree", |f| unsafe { (f.cuMemFree_v2)(address) })
        });
    }

    /// Waits for all work of the context.
    pub(super) fn wait(&self) -> Result<(), Error> {
        self.within(|| self.driver.relaxed(|| self.driver.wait()))
    }

    /// Writes bytes of the host after all queued work is done, and waits until they are written.
    ///
    /// # Safety
    /// The device's memory has `data.len()` bytes from `to` on.
    pub(super) unsafe fn write(&self, to: u64, data: &[u8]) -> Result<(), Error> {
        self.wait()?;
        // SAFETY: `# Safety` of `write`; the call returns after `data` is read.
        self.relaxed("cuMemcpyHtoD", |f| unsafe {
            (f.cuMemcpyHtoD_v2)(to, data.as_ptr().cast(), data.len())
        })?;
        self.wait()
    }

    /// Reads bytes after all queued work is done.
    ///
    /// # Safety
    /// The device's memory has `data.len()` bytes from `from` on.
    pub(super) unsafe fn read(&self, from: u64, data: &mut [u8]) -> Result<(), Error> {
        self.wait()?;
        // SAFETY: `# Safety` of `read`; the call returns after `data` is written.
        self.relaxed("cuMemcpyDtoH", |f| unsafe {
            (f.cuMemcpyDtoH_v2)(data.as_mut_ptr().cast(), from, data.len())
        })
    }

    /// Sets bytes after all queued work is done, and waits until they are set.
    ///
    /// # Safety
    /// The device's memory has `bytes` bytes from `to` on.
    pub(super) unsafe fn fill(&self, to: u64, byte: u8, bytes: u64) -> Result<(), Error> {
        self.wait()?;
        // SAFETY: `# Safety` of `fill`.
        self.relaxed("cuMemsetD8", |f| unsafe { (f.cuMemsetD8_v2)(to, byte, bytes as usize) })?;
        self.wait()
    }

    /// Queues a copy within the device.
    ///
    /// # Safety
    /// Both sides have `bytes` bytes, until the work is done.
    pub(super) unsafe fn copy(
        &self,
        from: u64,
        to: u64,
        bytes: u64,
        stream: Stream,
    ) -> Result<(), Error> {
        // SAFETY: `# Safety` of `copy`; a `Stream` exists, by the promise of its maker.
        self.call("cuMemcpyDtoDAsync", |f| unsafe {
            (f.cuMemcpyDtoDAsync_v2)(to, from, bytes as usize, stream.raw())
        })
    }

    /// Makes a new stream, which does not wait for others.
    pub(super) fn stream(&self) -> Result<Stream, Error> {
        let mut stream = ptr::null_mut();
        // SAFETY: `stream` is written.
        self.call("cuStreamCreate", |f| unsafe { (f.cuStreamCreate)(&mut stream, NON_BLOCKING) })?;
        // SAFETY: the stream exists until the caller destroys it.
        Ok(unsafe { Stream::new(stream.expose_provenance() as u64) })
    }

    /// Waits for a stream.
    pub(crate) fn wait_for(&self, stream: Stream) -> Result<(), Error> {
        // SAFETY: a `Stream` exists, by the promise of its maker.
        self.relaxed("cuStreamSynchronize", |f| unsafe { (f.cuStreamSynchronize)(stream.raw()) })
    }

    /// Destroys a stream.
    ///
    /// # Safety
    /// It comes from [`DeviceApi::stream`], and no further work is queued on it.
    pub(super) unsafe fn end(&self, stream: Stream) {
        // SAFETY: `# Safety` of `end`. A failure is ignored, because nothing can be done about it.
        let _ = self.call("cuStreamDestroy", |f| unsafe { (f.cuStreamDestroy_v2)(stream.raw()) });
    }

    /// Returns the milliseconds on the device between two points of a stream: before and after the work that `work`
    /// queues.
    pub(crate) fn milliseconds(
        &self,
        stream: Stream,
        work: impl FnOnce() -> Result<(), Error>,
    ) -> Result<f32, Error> {
        let from = Events::timed(&self.events, self.context, stream)?;
        work()?;
        let to = Events::timed(&self.events, self.context, stream)?;
        to.milliseconds_since(&from)
    }
}

/// A stream that this process owns. Dropping it waits for its work, and destroys it.
#[derive(Debug)]
pub(crate) struct OwnedStream {
    own: Arc<DeviceApi>,
    stream: Stream,
}

impl OwnedStream {
    pub(crate) fn new(own: &Arc<DeviceApi>) -> Result<OwnedStream, Error> {
        Ok(OwnedStream { own: own.clone(), stream: own.stream()? })
    }

    /// Returns whether memory is in the context of this stream.
    pub(super) fn is_beside(&self, memory: &DeviceApi) -> bool {
        self.own.is_beside(memory)
    }

    /// Returns the number of the stream's device.
    pub(super) fn ordinal(&self) -> i32 {
        self.own.ordinal()
    }

    pub(crate) fn get(&self) -> Stream {
        self.stream
    }
}

impl Drop for OwnedStream {
    fn drop(&mut self) {
        // If the driver cannot wait for a stream, it is not destroyed.
        if self.own.wait_for(self.stream).is_ok() {
            // SAFETY: the stream comes from `DeviceApi::stream`; this value is not used any more.
            unsafe { self.own.end(self.stream) };
        }
    }
}

/// Memory of a device that this process owns: freed when dropped, once all work of its context is done.
#[derive(Debug)]
pub(crate) struct Allocated {
    own: Arc<DeviceApi>,
    address: u64,
    bytes: u64,
}

impl Allocated {
    pub(crate) fn new(own: &Arc<DeviceApi>, bytes: u64) -> Result<Allocated, Error> {
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
        stream: &OwnedStream,
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
