//! The two libraries as safe calls, and the memory and streams of callers: the only folder of the crate that may
//! contain `unsafe`.
//!
//! | file | contents |
//! |---|---|
//! | `library.rs` | a library opened at run time, and tables of its functions |
//! | `driver.rs` | the calls of the driver |
//! | `nvrtc.rs` | the calls of the compiler |
//! | `loaded.rs` | code in a context, and its launch |
//! | `owned.rs` | the calls for memory and streams that this process owns; the memory itself |
//! | `event.rs`, `graph.rs` | the calls for events; those for graphs |

mod driver;
mod event;
mod graph;
mod library;
mod loaded;
mod nvrtc;
mod owned;

pub(crate) use driver::{Allocation, Context, Driver};
pub(crate) use event::{Event, Events};
pub(crate) use graph::Graph;
pub(crate) use library::Library;
pub(crate) use loaded::Loaded;
pub(crate) use nvrtc::{CodeForm, Nvrtc};
pub(crate) use owned::{Allocated, DeviceApi, OwnedStream};

/// Bytes in the memory of a device.
///
/// A value is an address and a length, with the promise of its maker. No device is used before a launch.
///
/// ```
/// use tilewright_cuda::DeviceBytes;
/// // SAFETY: nothing is launched with it.
/// let none = unsafe { DeviceBytes::new(0, 0) };
/// assert_eq!((none.address(), none.bytes()), (0, 0));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceBytes {
    address: u64,
    bytes: u64,
}

impl DeviceBytes {
    /// Makes a value of the `bytes` bytes from a device pointer on.
    ///
    /// # Safety
    /// From now until all work is done that is queued with the value, on the stream of the work:
    /// - the bytes are allocated, and the device that they are on can reach them;
    /// - if the value is a destination, nobody else reads or writes them, except in work that the same stream orders;
    /// - if it is a source, nobody else writes them, with the same exception.
    ///
    /// ```no_run
    /// use tilewright_cuda::DeviceBytes;
    /// # let (pointer, length) = (0, 0);
    /// // SAFETY: `pointer` has `length` bytes, which a tensor owns that lives until its stream is done.
    /// let bytes = unsafe { DeviceBytes::new(pointer, length) };
    /// # let _ = bytes;
    /// ```
    pub unsafe fn new(address: u64, bytes: u64) -> DeviceBytes {
        DeviceBytes { address, bytes }
    }

    /// Makes a value that no test launches work with.
    #[cfg(test)]
    pub(crate) fn imagined(address: u64, bytes: u64) -> DeviceBytes {
        DeviceBytes { address, bytes }
    }

    /// Returns the device pointer.
    ///
    /// ```
    /// use tilewright_cuda::DeviceBytes;
    /// // SAFETY: nothing is launched with it.
    /// assert_eq!(unsafe { DeviceBytes::new(512, 4) }.address(), 512);
    /// ```
    pub fn address(self) -> u64 {
        self.address
    }

    /// Returns the number of bytes.
    ///
    /// ```
    /// use tilewright_cuda::DeviceBytes;
    /// // SAFETY: nothing is launched with it.
    /// assert_eq!(unsafe { DeviceBytes::new(512, 4) }.bytes(), 4);
    /// ```
    pub fn bytes(self) -> u64 {
        self.bytes
    }
}

/// A stream: its work is done in the order in which it was queued.
///
/// ```
/// use tilewright_cuda::Stream;
/// assert_eq!(Stream::LEGACY.handle(), 1);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stream(usize);

impl Stream {
    /// The default stream of a device, which waits for its other streams. It is the default of torch and cupy.
    pub const LEGACY: Stream = Stream(1);
    /// The default stream of the calling thread.
    pub const PER_THREAD: Stream = Stream(2);

    /// Makes the stream with this handle, a `CUstream` or `cudaStream_t` as a number; 0 and 1 are [`Stream::LEGACY`], 2
    /// is [`Stream::PER_THREAD`], as in DLPack.
    ///
    /// # Safety
    /// The stream exists as long as launches on it are queued.
    ///
    /// ```
    /// use tilewright_cuda::Stream;
    /// // SAFETY: the default stream always exists.
    /// assert_eq!(unsafe { Stream::new(0) }, Stream::LEGACY);
    /// ```
    pub unsafe fn new(handle: u64) -> Stream {
        Stream((handle as usize).max(1))
    }

    /// Returns the handle; never 0.
    ///
    /// ```
    /// use tilewright_cuda::Stream;
    /// assert_eq!(Stream::PER_THREAD.handle(), 2);
    /// ```
    pub fn handle(self) -> u64 {
        self.0 as u64
    }

    /// Returns whether it is a default stream, which belongs to no single context.
    pub(crate) fn is_default(self) -> bool {
        self.0 <= Stream::PER_THREAD.0
    }

    /// Returns the handle as the driver expects it.
    pub(super) fn raw(self) -> *mut std::ffi::c_void {
        std::ptr::without_provenance_mut(self.0)
    }
}
