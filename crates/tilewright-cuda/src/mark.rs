//! The end of the work that is queued on a stream: a query whether it is done, and a way for other streams to wait for
//! it. The Python package uses it to order its work with that of torch and others.

use std::sync::Arc;

use crate::{
    Cuda, Error, Stream,
    raw::{Event, Events},
};

/// The end of the work that was queued on a stream when the value was made.
///
/// ```no_run
/// use tilewright_cuda::{Cuda, Mark, Stream};
/// let cuda = Cuda::shared()?;
/// if let Some(mark) = Mark::new(&cuda, 0, Stream::LEGACY)? {
///     mark.before(Stream::PER_THREAD)?;
///     println!("done: {}", mark.is_done()?);
/// }
/// # Ok::<(), tilewright_cuda::Error>(())
/// ```
#[derive(Debug)]
pub struct Mark {
    event: Event,
    /// Keeps the context retained.
    _cuda: Arc<Cuda>,
}

impl Mark {
    /// Marks the end of all work that is queued on a stream of a device; `None` while the stream is captured, because
    /// captured work does not begin before its graph is launched.
    ///
    /// # Errors
    /// `too-old` for a driver without events, `driver` if it refuses a call.
    ///
    /// ```no_run
    /// # use tilewright_cuda::{Cuda, Mark, Stream};
    /// let mark = Mark::new(&Cuda::shared()?, 0, Stream::LEGACY)?;
    /// assert!(mark.is_some());
    /// # Ok::<(), tilewright_cuda::Error>(())
    /// ```
    pub fn new(cuda: &Arc<Cuda>, device: i32, stream: Stream) -> Result<Option<Mark>, Error> {
        let (driver, context) = (cuda.driver(), cuda.device(device)?.context);
        if driver.within(context, || driver.is_capturing(stream))? {
            return Ok(None);
        }
        let event = Events::record(&cuda.events()?, context, stream)?;
        Ok(Some(Mark { event, _cuda: cuda.clone() }))
    }

    /// Returns whether all of the work is done.
    ///
    /// # Errors
    /// `driver` if queued work failed.
    ///
    /// ```no_run
    /// # use tilewright_cuda::{Cuda, Mark, Stream};
    /// # let mark = Mark::new(&Cuda::shared()?, 0, Stream::LEGACY)?.unwrap();
    /// while !mark.is_done()? {}
    /// # Ok::<(), tilewright_cuda::Error>(())
    /// ```
    pub fn is_done(&self) -> Result<bool, Error> {
        self.event.is_done()
    }

    /// Makes work that is queued on this stream from now on wait for the marked work. The host does not wait.
    ///
    /// # Errors
    /// `captured` for a default stream that must not be used while another stream is captured, `driver` if the driver
    /// refuses the call.
    ///
    /// ```no_run
    /// # use tilewright_cuda::{Cuda, Mark, Stream};
    /// # let mark = Mark::new(&Cuda::shared()?, 0, Stream::LEGACY)?.unwrap();
    /// mark.before(Stream::PER_THREAD)?;
    /// # Ok::<(), tilewright_cuda::Error>(())
    /// ```
    pub fn before(&self, stream: Stream) -> Result<(), Error> {
        self.event.before(stream)
    }
}
