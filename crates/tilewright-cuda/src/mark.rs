//! The end of what is queued on a stream: whether it is done, and other streams that wait for it.

use std::sync::Arc;

use crate::{
    Cuda, Stream,
    error::Error,
    raw::{Event, Events},
};

/// The end of what was queued on a stream when the value was made.
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
    /// Keeps the context.
    _cuda: Arc<Cuda>,
}

impl Mark {
    /// Behind all that is queued on a stream of a device; `None` while the stream is captured, for nothing of a capture has
    /// begun before its graph is launched.
    ///
    /// # Errors
    /// `too-old` for a driver without events, `driver` where it refuses a call.
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

    /// Whether all of it is done.
    ///
    /// # Errors
    /// `driver` where work that was queued failed.
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

    /// What is queued on this stream from now on begins when all of it is done. Nothing waits on the host.
    ///
    /// # Errors
    /// `captured` for a default stream that must not be touched while another stream is captured, `driver` where the driver refuses the call.
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
