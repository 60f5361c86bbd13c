//! The driver's calls for events, looked up separately from those of launches: a driver that lacks one of them can
//! still move arrays.

use std::{
    ffi::{c_uint, c_void},
    ptr,
    sync::Arc,
};

use super::{Context, Driver, Stream};
use crate::Error;

super::library::functions! {
    /// The functions of libcuda for events.
    Functions {
        cuEventCreate(*mut *mut c_void, c_uint);
        cuEventRecord(*mut c_void, *mut c_void);
        cuEventQuery(*mut c_void);
        cuEventSynchronize(*mut c_void);
        cuEventElapsedTime(*mut f32, *mut c_void, *mut c_void);
        cuEventDestroy_v2(*mut c_void);
        cuStreamWaitEvent(*mut c_void, *mut c_void, c_uint);
    }
}

/// An event that records a time.
const TIMED: c_uint = 0;
/// An event without a time, which is the cheapest.
const WITHOUT_TIME: c_uint = 2;
const NOT_READY: i32 = 600;

/// The functions, with the driver.
#[derive(Debug)]
pub(crate) struct Events {
    functions: Functions,
    driver: Arc<Driver>,
}

/// An event of a context, destroyed when dropped.
#[derive(Debug)]
pub(crate) struct Event {
    events: Arc<Events>,
    context: Context,
    event: usize,
}

impl Events {
    /// Looks up the functions in the driver's library.
    pub(crate) fn of(driver: &Arc<Driver>) -> Result<Events, Error> {
        let functions = driver.library().table(Functions::of, "a driver for CUDA 11.0")?;
        Ok(Events { functions, driver: driver.clone() })
    }

    /// Records an event after all work that is queued on a stream of a context, which is kept retained as long as the
    /// event lives.
    pub(crate) fn record(
        events: &Arc<Events>,
        context: Context,
        stream: Stream,
    ) -> Result<Event, Error> {
        events.recorded(context, stream, WITHOUT_TIME)
    }

    /// Records an event with its time.
    pub(crate) fn timed(
        events: &Arc<Events>,
        context: Context,
        stream: Stream,
    ) -> Result<Event, Error> {
        events.recorded(context, stream, TIMED)
    }

    fn recorded(
        self: &Arc<Events>,
        context: Context,
        stream: Stream,
        flags: c_uint,
    ) -> Result<Event, Error> {
        let mut made = ptr::null_mut();
        let driver = &self.driver;
        let recorded = driver.within(context, || {
            // SAFETY: `made` is written.
            let code = unsafe { (self.functions.cuEventCreate)(&mut made, flags) };
            driver.checked("cuEventCreate", code)?;
            let event = Event { events: self.clone(), context, event: made.expose_provenance() };
            // SAFETY: the event was just made; a `Stream` exists, by the promise of its maker.
            let code = unsafe { (self.functions.cuEventRecord)(made, stream.raw()) };
            driver.checked("cuEventRecord", code).map(|()| event)
        });
        recorded.map_err(|error| error.about(&driver.name()))
    }
}

impl Event {
    /// Returns the event as the driver expects it.
    fn raw(&self) -> *mut c_void {
        ptr::with_exposed_provenance_mut(self.event)
    }

    /// Calls a function in the event's context, in relaxed capture mode, so it ends no capture.
    fn relaxed<T>(&self, work: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
        let driver = &self.events.driver;
        driver.within(self.context, || driver.relaxed(work))
    }

    /// Returns whether the work queued before it is done.
    pub(crate) fn is_done(&self) -> Result<bool, Error> {
        let driver = &self.events.driver;
        self.relaxed(|| {
            // SAFETY: the event lives as long as `self`.
            match unsafe { (self.events.functions.cuEventQuery)(self.raw()) } {
                NOT_READY => Ok(false),
                code => driver.checked("cuEventQuery", code).map(|()| true),
            }
        })
    }

    /// Makes work that is queued on a stream from now on wait for the event.
    pub(crate) fn before(&self, stream: Stream) -> Result<(), Error> {
        let driver = &self.events.driver;
        driver.within(self.context, || {
            // A default stream that must not be used is refused here, before the driver would end the capture because
            // of it.
            driver.is_capturing(stream)?;
            // SAFETY: the event lives as long as `self`; a `Stream` exists, by the promise of its maker.
            let code =
                unsafe { (self.events.functions.cuStreamWaitEvent)(stream.raw(), self.raw(), 0) };
            driver.checked("cuStreamWaitEvent", code)
        })
    }

    /// Waits for this event, and returns the milliseconds since an earlier one; both were made with their times.
    pub(crate) fn milliseconds_since(&self, earlier: &Event) -> Result<f32, Error> {
        let (driver, functions) = (&self.events.driver, &self.events.functions);
        self.relaxed(|| {
            // SAFETY: the event lives as long as `self`.
            let code = unsafe { (functions.cuEventSynchronize)(self.raw()) };
            driver.checked("cuEventSynchronize", code)?;
            let mut took = 0.0;
            // SAFETY: both events live; `took` is written.
            let code =
                unsafe { (functions.cuEventElapsedTime)(&mut took, earlier.raw(), self.raw()) };
            driver.checked("cuEventElapsedTime", code).map(|()| took)
        })
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        // A failure is ignored, because nothing can be done about it.
        let _ = self.relaxed(|| {
            // SAFETY: the event was made by `Events::recorded`, and this value is not used any more. If work waits for
            // the event, the driver destroys it when it is done.
            unsafe { (self.events.functions.cuEventDestroy_v2)(self.raw()) };
            Ok(())
        });
    }
}
