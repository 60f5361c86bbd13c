//! The calls of the driver for memory, streams and events of this process's own, found apart from those of launches: a
//! driver that lacks one of them still moves arrays.
//!
//! Law: nothing is freed or destroyed before the work that was queued with it is done.

use std::{
    ffi::{c_char, c_int, c_uint, c_void},
    path::PathBuf,
    ptr,
    sync::Arc,
};

use super::{Context, Driver, Stream, library::Library};
use crate::error::{Error, Kind};

super::library::functions! {
    /// The functions of libcuda for memory, streams, events and graphs.
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
        cuCtxSynchronize();
        cuStreamCreate(*mut *mut c_void, c_uint);
        cuStreamDestroy_v2(*mut c_void);
        cuStreamSynchronize(*mut c_void);
        cuEventCreate(*mut *mut c_void, c_uint);
        cuEventRecord(*mut c_void, *mut c_void);
        cuEventSynchronize(*mut c_void);
        cuEventElapsedTime(*mut f32, *mut c_void, *mut c_void);
        cuEventDestroy_v2(*mut c_void);
        cuStreamBeginCapture_v2(*mut c_void, c_int);
        cuStreamEndCapture(*mut c_void, *mut *mut c_void);
        cuGraphInstantiateWithFlags(*mut *mut c_void, *mut c_void, u64);
        cuGraphLaunch(*mut c_void, *mut c_void);
        cuGraphExecDestroy(*mut c_void);
        cuGraphDestroy(*mut c_void);
    }
}

/// The bytes of a device's name that are asked for.
const NAME: usize = 256;
/// A stream that does not wait for the default one.
const NON_BLOCKING: c_uint = 1;
/// A capture that other threads do not notice.
const THREAD_LOCAL: c_int = 1;

/// The functions, with the driver and a context in which they are called.
#[derive(Debug)]
pub(crate) struct Own {
    functions: Functions,
    driver: Arc<Driver>,
    context: Context,
}

/// A pointer of the driver's, as a number.
fn pointer(handle: u64) -> *mut c_void {
    ptr::with_exposed_provenance_mut(handle as usize)
}

impl Own {
    /// The functions of the library that the driver came from. Whoever has a context keeps it retained.
    pub(crate) fn of(driver: &Arc<Driver>, context: Context) -> Result<Own, Error> {
        let name = driver.name();
        let library = Library::open(&[PathBuf::from(&name)])
            .map_err(|why| Error::new(Kind::NoDriver, why.join("\n")))?;
        let functions = Functions::of(library).map_err(|missing| {
            let says = format!("{name} has no {missing}; a driver for CUDA 11.4 or newer has it");
            Error::new(Kind::TooOld, says)
        })?;
        Ok(Own { functions, driver: driver.clone(), context })
    }

    /// Calls a function of the table in the context.
    fn call(&self, name: &str, call: impl FnOnce(&Functions) -> i32) -> Result<(), Error> {
        self.driver.within(self.context, || self.driver.checked(name, call(&self.functions)))
    }

    /// The name of the library.
    pub(crate) fn library(&self) -> String {
        self.functions.name()
    }

    /// The name of a device.
    pub(crate) fn name(&self, device: i32) -> Result<String, Error> {
        let mut name = [0_u8; NAME];
        let to = name.as_mut_ptr().cast();
        // SAFETY: at most `NAME` bytes are written, the last of which is 0.
        self.call("cuDeviceGetName", |f| unsafe {
            (f.cuDeviceGetName)(to, NAME as c_int, device)
        })?;
        let end = name.iter().position(|byte| *byte == 0).unwrap_or(NAME);
        Ok(String::from_utf8_lossy(&name[..end]).into_owned())
    }

    /// An attribute of a device; `None` where the driver does not know it.
    pub(crate) fn attribute(&self, attribute: c_int, device: i32) -> Option<u64> {
        let mut value = 0;
        // SAFETY: `value` is written.
        let asked = self.call("cuDeviceGetAttribute", |f| unsafe {
            (f.cuDeviceGetAttribute)(&mut value, attribute, device)
        });
        asked.ok().and_then(|()| u64::try_from(value).ok()).filter(|value| *value > 0)
    }

    /// The bytes of the context's device that are free, and all of them.
    pub(crate) fn room(&self) -> Result<(u64, u64), Error> {
        let (mut free, mut total) = (0, 0);
        // SAFETY: both numbers are written.
        self.call("cuMemGetInfo", |f| unsafe { (f.cuMemGetInfo_v2)(&mut free, &mut total) })?;
        Ok((free as u64, total as u64))
    }

    /// New memory; its bytes are any.
    pub(crate) fn allocate(&self, bytes: u64) -> Result<u64, Error> {
        let mut address = 0;
        let length = usize::try_from(bytes).unwrap_or(usize::MAX).max(1);
        // SAFETY: `address` is written.
        self.call("cuMemAlloc", |f| unsafe { (f.cuMemAlloc_v2)(&mut address, length) }).map_err(
            |error| {
                let room = self.room().map_or(String::new(), |(free, total)| {
                    format!("; {free} of {total} bytes are free")
                });
                error.about(&format!("{bytes} bytes of a device{room}"))
            },
        )?;
        Ok(address)
    }

    /// Waits for all work of the context, then frees memory.
    ///
    /// # Safety
    /// The address comes from [`Own::allocate`] and is used by nothing that is queued later.
    pub(super) unsafe fn free(&self, address: u64) {
        let _ = self.wait();
        // SAFETY: `# Safety` of `free`; what was queued is done. Nobody can do anything about a failure.
        let _ = self.call("cuMemFree", |f| unsafe { (f.cuMemFree_v2)(address) });
    }

    /// Waits for all work of the context.
    pub(crate) fn wait(&self) -> Result<(), Error> {
        // SAFETY: the function takes nothing.
        self.call("cuCtxSynchronize", |f| unsafe { (f.cuCtxSynchronize)() })
    }

    /// Writes bytes of the host once all queued work is done, and waits until they are there.
    ///
    /// # Safety
    /// The device's memory has `data.len()` bytes from `to` on.
    pub(super) unsafe fn write(&self, to: u64, data: &[u8]) -> Result<(), Error> {
        self.wait()?;
        // SAFETY: `# Safety` of `write`; the call returns when `data` is read.
        self.call("cuMemcpyHtoD", |f| unsafe {
            (f.cuMemcpyHtoD_v2)(to, data.as_ptr().cast(), data.len())
        })?;
        self.wait()
    }

    /// Reads bytes once all queued work is done.
    ///
    /// # Safety
    /// The device's memory has `data.len()` bytes from `from` on.
    pub(super) unsafe fn read(&self, from: u64, data: &mut [u8]) -> Result<(), Error> {
        self.wait()?;
        // SAFETY: `# Safety` of `read`; the call returns when `data` is written.
        self.call("cuMemcpyDtoH", |f| unsafe {
            (f.cuMemcpyDtoH_v2)(data.as_mut_ptr().cast(), from, data.len())
        })
    }

    /// Sets bytes once all queued work is done, and waits until they are set.
    ///
    /// # Safety
    /// The device's memory has `bytes` bytes from `to` on.
    pub(super) unsafe fn fill(&self, to: u64, byte: u8, bytes: u64) -> Result<(), Error> {
        self.wait()?;
        // SAFETY: `# Safety` of `fill`.
        self.call("cuMemsetD8", |f| unsafe { (f.cuMemsetD8_v2)(to, byte, bytes as usize) })?;
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
        // SAFETY: `# Safety` of `copy`; a `Stream` exists, by the promise of who made it.
        self.call("cuMemcpyDtoDAsync", |f| unsafe {
            (f.cuMemcpyDtoDAsync_v2)(to, from, bytes as usize, stream.raw())
        })
    }

    /// A new stream, which does not wait for others.
    pub(super) fn stream(&self) -> Result<Stream, Error> {
        let mut stream = ptr::null_mut();
        // SAFETY: `stream` is written.
        self.call("cuStreamCreate", |f| unsafe { (f.cuStreamCreate)(&mut stream, NON_BLOCKING) })?;
        // SAFETY: the stream exists until whoever asked destroys it.
        Ok(unsafe { Stream::new(stream.expose_provenance() as u64) })
    }

    /// Waits for a stream.
    pub(crate) fn wait_for(&self, stream: Stream) -> Result<(), Error> {
        // SAFETY: a `Stream` exists, by the promise of who made it.
        self.call("cuStreamSynchronize", |f| unsafe { (f.cuStreamSynchronize)(stream.raw()) })
    }

    /// Destroys a stream.
    ///
    /// # Safety
    /// It comes from [`Own::stream`], and nobody queues anything on it any more.
    pub(super) unsafe fn end(&self, stream: Stream) {
        // SAFETY: `# Safety` of `end`. Nobody can do anything about a failure.
        let _ = self.call("cuStreamDestroy", |f| unsafe { (f.cuStreamDestroy_v2)(stream.raw()) });
    }

    /// Milliseconds on the device between two moments of a stream: before and behind what `work` queues.
    pub(crate) fn milliseconds(
        &self,
        stream: Stream,
        work: impl FnOnce() -> Result<(), Error>,
    ) -> Result<f32, Error> {
        let (from, to) = (Event::new(self)?, Event::new(self)?);
        from.record(stream)?;
        work()?;
        to.record(stream)?;
        let mut took = 0.0;
        // SAFETY: both events live, and were recorded. The function waits for the last one, then asks.
        self.call("cuEventSynchronize", |f| unsafe { (f.cuEventSynchronize)(pointer(to.event)) })?;
        self.call("cuEventElapsedTime", |f| {
            // SAFETY: as above; `took` is written.
            unsafe { (f.cuEventElapsedTime)(&mut took, pointer(from.event), pointer(to.event)) }
        })?;
        Ok(took)
    }

    /// What `work` queues on a stream as a graph, which `then` launches. The caller holds the memory that the work names
    /// until this returns.
    pub(crate) fn graph<T>(
        &self,
        stream: Stream,
        work: impl FnOnce() -> Result<(), Error>,
        then: impl FnOnce(&Graph<'_>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        // SAFETY: a `Stream` exists, by the promise of who made it.
        self.call("cuStreamBeginCapture", |f| unsafe {
            (f.cuStreamBeginCapture_v2)(stream.raw(), THREAD_LOCAL)
        })?;
        let worked = work();
        let mut made = Graph { own: self, graph: 0, executable: 0 };
        let (mut graph, mut executable) = (ptr::null_mut(), ptr::null_mut());
        // SAFETY: `graph` is written; the capture that began above ends, whatever became of the work.
        let ended = self.call("cuStreamEndCapture", |f| unsafe {
            (f.cuStreamEndCapture)(stream.raw(), &mut graph)
        });
        made.graph = graph.expose_provenance() as u64;
        worked?;
        ended?;
        // SAFETY: `executable` is written; the graph is the one of the capture.
        self.call("cuGraphInstantiate", |f| unsafe {
            (f.cuGraphInstantiateWithFlags)(&mut executable, graph, 0)
        })?;
        made.executable = executable.expose_provenance() as u64;
        then(&made)
    }
}

/// A captured graph, destroyed when dropped.
#[derive(Debug)]
pub(crate) struct Graph<'a> {
    own: &'a Own,
    graph: u64,
    executable: u64,
}

impl Graph<'_> {
    /// Queues the graph.
    pub(crate) fn launch(&self, stream: Stream) -> Result<(), Error> {
        // SAFETY: the executable graph lives as long as `self`, which ends inside `Own::graph`, whose caller holds the memory
        // that the work names; and that memory waits for what is queued before it is freed.
        self.own.call("cuGraphLaunch", |f| unsafe {
            (f.cuGraphLaunch)(pointer(self.executable), stream.raw())
        })
    }
}

impl Drop for Graph<'_> {
    fn drop(&mut self) {
        let _ = self.own.wait();
        // SAFETY: both were made by `Own::graph`, or are 0 and left alone; nothing that is queued needs them any more.
        let _ = self.own.call("cuGraphDestroy", |f| unsafe {
            let first = match self.executable {
                0 => 0,
                executable => (f.cuGraphExecDestroy)(pointer(executable)),
            };
            let second = if self.graph == 0 { 0 } else { (f.cuGraphDestroy)(pointer(self.graph)) };
            first.max(second)
        });
    }
}

/// A moment of a stream, destroyed when dropped.
struct Event<'a> {
    own: &'a Own,
    event: u64,
}

impl<'a> Event<'a> {
    fn new(own: &'a Own) -> Result<Event<'a>, Error> {
        let mut event = ptr::null_mut();
        // SAFETY: `event` is written.
        own.call("cuEventCreate", |f| unsafe { (f.cuEventCreate)(&mut event, 0) })?;
        Ok(Event { own, event: event.expose_provenance() as u64 })
    }

    fn record(&self, stream: Stream) -> Result<(), Error> {
        // SAFETY: the event lives; a `Stream` exists, by the promise of who made it.
        self.own.call("cuEventRecord", |f| unsafe {
            (f.cuEventRecord)(pointer(self.event), stream.raw())
        })
    }
}

impl Drop for Event<'_> {
    fn drop(&mut self) {
        // SAFETY: the event was made in `new`. Nobody can do anything about a failure.
        let _ = self
            .own
            .call("cuEventDestroy", |f| unsafe { (f.cuEventDestroy_v2)(pointer(self.event)) });
    }
}

/// A stream of one's own, destroyed when dropped, once it is done.
#[derive(Debug)]
pub(crate) struct OwnStream {
    own: Arc<Own>,
    stream: Stream,
}

impl OwnStream {
    pub(crate) fn new(own: &Arc<Own>) -> Result<OwnStream, Error> {
        Ok(OwnStream { own: own.clone(), stream: own.stream()? })
    }

    pub(crate) fn get(&self) -> Stream {
        self.stream
    }
}

impl Drop for OwnStream {
    fn drop(&mut self) {
        let _ = self.own.wait_for(self.stream);
        // SAFETY: the stream comes from `Own::stream`; nobody has this value any more.
        unsafe { self.own.end(self.stream) };
    }
}
