//! The calls of the driver.
//!
//! Source: CUDA Driver API, `cuda.h` 11.0 and newer; names with `_v2` are those that its macros expand to.

use std::{
    ffi::{CStr, c_char, c_int, c_uint, c_void},
    ptr,
    sync::Arc,
};

use super::{Stream, library::Library};
use crate::{
    Error,
    error::{of_call, of_device},
};

super::library::functions! {
    /// The functions of libcuda.
    Functions {
        cuInit(c_uint);
        cuDriverGetVersion(*mut c_int);
        cuDeviceGetCount(*mut c_int);
        cuDeviceGetAttribute(*mut c_int, c_int, c_int);
        cuDevicePrimaryCtxRetain(*mut *mut c_void, c_int);
        cuDevicePrimaryCtxRelease_v2(c_int);
        cuCtxPushCurrent_v2(*mut c_void);
        cuCtxPopCurrent_v2(*mut *mut c_void);
        cuCtxSynchronize();
        cuPointerGetAttribute(*mut c_void, c_int, u64);
        cuMemGetAddressRange_v2(*mut u64, *mut usize, u64);
        cuStreamIsCapturing(*mut c_void, *mut c_int);
        cuStreamGetCtx(*mut c_void, *mut *mut c_void);
        cuThreadExchangeStreamCaptureMode(*mut c_int);
        cuModuleLoadData(*mut *mut c_void, *const c_void);
        cuModuleUnload(*mut c_void);
        cuModuleGetFunction(*mut *mut c_void, *mut c_void, *const c_char);
        cuLaunchKernel(*mut c_void, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, *mut c_void, *mut *mut c_void, *mut *mut c_void);
        cuGetErrorName(c_int, *mut *const c_char);
        cuGetErrorString(c_int, *mut *const c_char);
    }
}

const INVALID_VALUE: i32 = 1;
const NO_DEVICE: i32 = 100;
const INVALID_DEVICE: i32 = 101;
const INVALID_CONTEXT: i32 = 201;
const CAPTURE_IMPLICIT: i32 = 906;

const COMPUTE_CAPABILITY_MAJOR: c_int = 75;
const COMPUTE_CAPABILITY_MINOR: c_int = 76;
const DEVICE_ORDINAL: c_int = 9;
const RELAXED: c_int = 2;

/// A context of the driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Context(usize);

/// An allocation of a device: its bytes are on no other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Allocation {
    begin: u64,
    bytes: u64,
}

impl Allocation {
    /// Returns whether an address is in it.
    pub(crate) fn contains(self, address: u64) -> bool {
        address.wrapping_sub(self.begin) < self.bytes
    }
}

/// The driver, initialised.
#[derive(Debug)]
pub(crate) struct Driver {
    pub(super) functions: Functions,
    library: Arc<Library>,
}

impl Driver {
    /// Initialises the driver in an open library; its version must be that of CUDA 11.0 or newer.
    pub(crate) fn of(library: Library) -> Result<Driver, Error> {
        let (name, library) = (library.name(), Arc::new(library));
        let functions = library.table(Functions::of, "a driver for CUDA 11.0")?;
        let driver = Driver { functions, library };
        // SAFETY: the function takes flags, which must be 0.
        let code = unsafe { (driver.functions.cuInit)(0) };
        match code {
            NO_DEVICE | INVALID_DEVICE => {
                let says = format!("{name} finds no device: {}", driver.described(code));
                Err(of_device("no-device", says).with_code(code))
            }
            code => driver.checked("cuInit", code).map(|()| driver),
        }
    }

    /// Returns the name of the library.
    pub(crate) fn name(&self) -> String {
        self.library.name()
    }

    /// Returns the library, for tables of other functions.
    pub(super) fn library(&self) -> &Arc<Library> {
        &self.library
    }

    /// Returns the version of CUDA that the driver supports: 1000 times the major version plus 10 times the minor one.
    pub(crate) fn version(&self) -> Result<i32, Error> {
        let mut version = 0;
        // SAFETY: `version` is written.
        let code = unsafe { (self.functions.cuDriverGetVersion)(&mut version) };
        self.checked("cuDriverGetVersion", code).map(|()| version)
    }

    /// Returns the number of devices.
    pub(crate) fn count(&self) -> Result<i32, Error> {
        let mut count = 0;
        // SAFETY: `count` is written.
        let code = unsafe { (self.functions.cuDeviceGetCount)(&mut count) };
        self.checked("cuDeviceGetCount", code).map(|()| count)
    }

    /// Returns the compute capability of a device, major and minor.
    pub(crate) fn capability(&self, device: i32) -> Result<(u32, u32), Error> {
        let ask = |attribute| {
            let mut value = 0;
            // SAFETY: `value` is written; the driver refuses an invalid device.
            let code =
                unsafe { (self.functions.cuDeviceGetAttribute)(&mut value, attribute, device) };
            let number = u32::try_from(value).unwrap_or(0);
            self.checked("cuDeviceGetAttribute", code).map(|()| number)
        };
        Ok((ask(COMPUTE_CAPABILITY_MAJOR)?, ask(COMPUTE_CAPABILITY_MINOR)?))
    }

    /// Retains the primary context of a device, which lives until it is released as often as it was retained.
    pub(crate) fn retain(&self, device: i32) -> Result<Context, Error> {
        let mut context = ptr::null_mut();
        // SAFETY: `context` is written; the driver refuses an invalid device.
        let code = unsafe { (self.functions.cuDevicePrimaryCtxRetain)(&mut context, device) };
        self.checked("cuDevicePrimaryCtxRetain", code)
            .map(|()| Context(context.expose_provenance()))
    }

    /// Releases a primary context that was retained.
    pub(crate) fn release(&self, device: i32) {
        // SAFETY: a device is a number; the driver refuses one whose context is not retained. A failure is ignored,
        // because nothing can be done about it.
        unsafe { (self.functions.cuDevicePrimaryCtxRelease_v2)(device) };
    }

    /// Calls a function while a context is the current one of this thread, and restores the previous context
    /// afterwards.
    pub(crate) fn within<T>(
        &self,
        context: Context,
        work: impl FnOnce() -> Result<T, Error>,
    ) -> Result<T, Error> {
        struct Popped<'a>(&'a Driver);
        impl Drop for Popped<'_> {
            fn drop(&mut self) {
                let mut own = ptr::null_mut();
                // SAFETY: `own` is written. The context that was pushed below is popped, by the same thread.
                unsafe { (self.0.functions.cuCtxPopCurrent_v2)(&mut own) };
            }
        }
        // SAFETY: a `Context` comes from `retain`, and its owner keeps it retained.
        let code = unsafe {
            (self.functions.cuCtxPushCurrent_v2)(ptr::with_exposed_provenance_mut(context.0))
        };
        self.checked("cuCtxPushCurrent", code)?;
        let _popped = Popped(self);
        work()
    }

    /// Waits for all work that was queued in the current context.
    pub(super) fn wait(&self) -> Result<(), Error> {
        // SAFETY: the function takes no arguments.
        let code = unsafe { (self.functions.cuCtxSynchronize)() };
        self.checked("cuCtxSynchronize", code)
    }

    /// Returns the device whose memory, or whose mapping of pinned memory, contains an address; `None` for memory of no
    /// device. A driver may need a context for the query: `context` returns one, which is current in the meantime.
    pub(crate) fn device_of(
        &self,
        address: u64,
        context: impl FnOnce() -> Result<Context, Error>,
    ) -> Result<Option<i32>, Error> {
        match self.ordinal(address) {
            (INVALID_CONTEXT, _) => self.within(context()?, || self.found(self.ordinal(address))),
            answer => self.found(answer),
        }
    }

    /// Returns the device of an address as [`device_of`](Driver::device_of) does, while a context is the current one.
    pub(crate) fn ordinal_of(&self, address: u64) -> Result<Option<i32>, Error> {
        self.found(self.ordinal(address))
    }

    /// Returns the allocation around an address, or the mapping of one; `None` if the driver does not report it. A
    /// context is the current one.
    pub(crate) fn allocation_of(&self, address: u64) -> Option<Allocation> {
        let (mut begin, mut bytes) = (0, 0);
        // SAFETY: both numbers are written. The address is only looked up.
        let code =
            unsafe { (self.functions.cuMemGetAddressRange_v2)(&mut begin, &mut bytes, address) };
        (code == 0).then_some(Allocation { begin, bytes: bytes as u64 })
    }

    fn ordinal(&self, address: u64) -> (i32, c_int) {
        let mut ordinal: c_int = -1;
        let to = ptr::from_mut(&mut ordinal).cast();
        // SAFETY: an ordinal is a `c_int`, which is written at `to`. The address is only looked up.
        let code = unsafe { (self.functions.cuPointerGetAttribute)(to, DEVICE_ORDINAL, address) };
        (code, ordinal)
    }

    fn found(&self, (code, ordinal): (i32, c_int)) -> Result<Option<i32>, Error> {
        match code {
            INVALID_VALUE => Ok(None),
            code => self
                .checked("cuPointerGetAttribute", code)
                .map(|()| Some(ordinal).filter(|ordinal| *ordinal >= 0)),
        }
    }

    /// Returns whether launches on a stream become part of a graph. The current context determines the default stream.
    ///
    /// # Errors
    /// `captured` for a default stream that must not be used, because another stream is captured.
    pub(crate) fn is_capturing(&self, stream: Stream) -> Result<bool, Error> {
        let mut status = 0;
        // SAFETY: `status` is written; a `Stream` exists, by the promise of its maker.
        let code = unsafe { (self.functions.cuStreamIsCapturing)(stream.raw(), &mut status) };
        match code {
            CAPTURE_IMPLICIT => {
                let says = "another stream of this context is captured, and what is queued on the default stream now would \
                            end that capture; give a stream of your own";
                Err(of_device("captured", says))
            }
            code => self.checked("cuStreamIsCapturing", code).map(|()| status != 0),
        }
    }

    /// Returns the context of a stream that is not a default one.
    pub(crate) fn context_of(&self, stream: Stream) -> Result<Context, Error> {
        let mut context = ptr::null_mut();
        // SAFETY: `context` is written; a `Stream` exists, by the promise of its maker.
        let code = unsafe { (self.functions.cuStreamGetCtx)(stream.raw(), &mut context) };
        self.checked("cuStreamGetCtx", code).map(|()| Context(context.expose_provenance()))
    }

    /// Calls a function in relaxed capture mode: this thread may then make calls that captures of other streams would
    /// forbid to its process.
    pub(super) fn relaxed<T>(&self, work: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
        let mut mode = RELAXED;
        // SAFETY: `mode` is read, and receives the previous mode.
        let exchange =
            |mode: &mut c_int| unsafe { (self.functions.cuThreadExchangeStreamCaptureMode)(mode) };
        let code = exchange(&mut mode);
        self.checked("cuThreadExchangeStreamCaptureMode", code)?;
        let done = work();
        exchange(&mut mode);
        done
    }

    /// Returns an error for a number other than 0, with the driver's description.
    pub(crate) fn checked(&self, call: &str, code: i32) -> Result<(), Error> {
        match code {
            0 => Ok(()),
            code => Err(of_call(format!("{call}: {}", self.described(code)), code)),
        }
    }

    /// Returns the name and the description of an error's number.
    fn described(&self, code: i32) -> String {
        let ask = |function: unsafe extern "system" fn(c_int, *mut *const c_char) -> i32| {
            let mut text: *const c_char = ptr::null();
            // SAFETY: `text` is written: null, or a text of the driver that lives as long as the library.
            let failed = unsafe { function(code, &mut text) } != 0 || text.is_null();
            // SAFETY: the driver's texts end with 0, and `text` is not null if the call did not fail.
            (!failed).then(|| unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
        };
        match (ask(self.functions.cuGetErrorName), ask(self.functions.cuGetErrorString)) {
            (Some(name), Some(text)) => format!("{name} ({code}), {text}"),
            (Some(name), None) => format!("{name} ({code})"),
            _ => format!("error {code}"),
        }
    }
}
