//! The calls of the driver for events, found apart from those of launches: a driver that lacks one of them still moves
//! arrays.

use std::{
    ffi::{c_uint, c_void},
    path::PathBuf,
    ptr,
    sync::Arc,
};

use super::{Context, Driver, Stream, library::Library};
use crate::error::{Error, Kind};

super::library::functions! {
    /// The functions of libcuda for events.
    Functions {
        cuEventCreate(*mut *mut c_void, c_uint);
        cuEventRecord(*mut c_void, *mut c_void);
        cuEventQuery(*mut c_void);
        cuEventDestroy_v2(*mut c_void);
        cuStreamWaitEvent(*mut c_void, *mut c_void, c_uint);
    }
}

/// An event without a time, which costs least.
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
    /// The functions of the library that the driver came from.
    pub(crate) fn of(driver: &Arc<Driver>) -> Result<Events, Error> {
        let name = driver.name();
        let library = Library::open(&[PathBuf::from(&name)])
            .map_err(|why| Error::new(Kind::NoDriver, why.join("\n")))?;
        let functions = Functions::of(library).map_err(|missing| {
            let says = format!("{name} has no {missing}; a driver for CUDA 11.0 or newer has it");
            Error::new(Kind::TooOld, says)
        })?;
        Ok(Events { functions, driver: driver.clone() })
    }

    /// An event behind all that is queued on a stream of a context, which is kept retained as long as the event lives.
    pub(crate) fn record(
        events: &Arc<Events>,
        context: Context,
        stream: Stream,
    ) -> Result<Event, Error> {
        let mut made = ptr::null_mut();
        let driver = &events.driver;
        let recorded = driver.within(context, || {
            // SAFETY: `made` is written.
            let code = unsafe { (events.functions.cuEventCreate)(&mut made, WITHOUT_TIME) };
            driver.checked("cuEventCreate", code)?;
            let event = Event { events: events.clone(), context, event: made.expose_provenance() };
            // SAFETY: the event was just made; a `Stream` exists, by the promise of who made it.
            let code = unsafe { (events.functions.cuEventRecord)(made, stream.raw()) };
            driver.checked("cuEventRecord", code).map(|()| event)
        });
        recorded.map_err(|error| error.about(&events.functions.name()))
    }
}

impl Event {
    /// The event as the driver takes it.
    fn raw(&self) -> *mut c_void {
        ptr::with_exposed_provenance_mut(self.event)
    }

    /// Whether what was queued before it is done.
    pub(crate) fn is_done(&self) -> Result<bool, Error> {
        let driver = &self.events.driver;
        driver.within(self.context, || {
            // SAFETY: the event lives as long as `self`.
            match unsafe { (self.events.functions.cuEventQuery)(self.raw()) } {
                NOT_READY => Ok(false),
                code => driver.checked("cuEventQuery", code).map(|()| true),
            }
        })
    }

    /// What is queued on a stream from now on begins after it.
    pub(crate) fn before(&self, stream: Stream) -> Result<(), Error> {
        let driver = &self.events.driver;
        driver.within(self.context, || {
            // SAFETY: the event lives as long as `self`; a `Stream` exists, by the promise of who made it.
            let code =
                unsafe { (self.events.functions.cuStreamWaitEvent)(stream.raw(), self.raw(), 0) };
            driver.checked("cuStreamWaitEvent", code)
        })
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        // Nobody can do anything about a failure.
        let _ = self.events.driver.within(self.context, || {
            // SAFETY: the event was made by `Events::record`, and nobody has this value any more; the driver destroys one
            // that is waited for when it is done.
            unsafe { (self.events.functions.cuEventDestroy_v2)(self.raw()) };
            Ok(())
        });
    }
}
