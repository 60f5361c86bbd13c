//! Ordered work in memory that this process owns, and its duration on the device. Benchmarks and tests use it.
//!
//! The end of the work that is queued on a stream: a query whether it is done, and a way for other streams to wait for
//! it. The Python package uses it to order its work with that of torch and others.

use std::sync::Arc;

use crate::{
    Cuda, Error, Job, Memory, Move, Place, Stream,
    raw::{Event, Events, Graph, Own, OwnStream},
};

/// A position in memory that this process owns: the bytes from `at` on.
///
/// ```no_run
/// use tilewright_cuda::{Cuda, Memory, Place, Span};
/// let memory = Memory::new(&Place::new(&Cuda::shared()?, 0)?, 100)?;
/// let odd = Span { memory: &memory, at: 1 };
/// # let _ = odd;
/// # Ok::<(), tilewright_cuda::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Span<'a> {
    /// The memory.
    pub memory: &'a Memory,
    /// The first byte.
    pub at: u64,
}

/// One piece of work for a queue.
///
/// ```no_run
/// use tilewright_cuda::{Cuda, Memory, Place, Queue, Span, Step};
/// let place = Place::new(&Cuda::shared()?, 0)?;
/// let (src, dst) = (Memory::new(&place, 100)?, Memory::new(&place, 100)?);
/// let span = |memory| Span { memory, at: 0 };
/// Queue::new(&place)?.run(&Step::Copy { src: span(&src), dst: span(&dst), bytes: 100 })?;
/// # Ok::<(), tilewright_cuda::Error>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Step<'a> {
    /// Moves of arrays, all in one call: each move with its source and its destination.
    Moves(Vec<(&'a Move, Span<'a>, Span<'a>)>),
    /// A copy by the device's copy function.
    Copy {
        /// The memory that is read.
        src: Span<'a>,
        /// The memory that is written.
        dst: Span<'a>,
        /// The number of bytes.
        bytes: u64,
    },
}

/// A stream that this process owns.
///
/// ```
/// use tilewright_core::TensorLayout;
/// use tilewright_cuda::{Cuda, Memory, Move, Place, Queue, Span, Step};
/// use tilewright_relayout::{Elements, Program};
/// # fn example() -> Result<(), tilewright_cuda::Error> {
/// let place = Place::new(&Cuda::shared()?, 0)?;
/// let rows = TensorLayout::row_major(&[2, 3]).unwrap();
/// let columns = TensorLayout::col_major(&[2, 3]).unwrap();
/// let moved = Move::new(Program::new(&rows, &columns, Elements::same(8), 0).unwrap());
/// let (src, dst) = (Memory::new(&place, 6)?, Memory::new(&place, 6)?);
/// src.write(0, b"abcdef")?;
/// let queue = Queue::new(&place)?;
/// let span = |memory| Span { memory, at: 0 };
/// let step = Step::Moves(vec![(&moved, span(&src), span(&dst))]);
/// queue.run(&step)?;
/// queue.wait()?;
/// let mut out = [0; 6];
/// dst.read(0, &mut out)?;
/// assert_eq!(&out, b"adbecf");
/// # Ok(())
/// # }
/// # if let Err(error) = example() { assert!(error.is_unavailable(), "{error}"); }
/// ```
#[derive(Debug)]
pub struct Queue {
    /// Dropped first: it belongs to the context that `place` keeps retained.
    stream: OwnStream,
    own: Arc<Own>,
    place: Arc<Place>,
}

impl Queue {
    /// Makes a new stream on a device.
    ///
    /// # Errors
    /// `driver` if the driver refuses it.
    ///
    /// ```no_run
    /// use tilewright_cuda::{Cuda, Place, Queue};
    /// Queue::new(&Place::new(&Cuda::shared()?, 0)?)?.wait()?;
    /// # Ok::<(), tilewright_cuda::Error>(())
    /// ```
    pub fn new(place: &Arc<Place>) -> Result<Queue, Error> {
        let own = place.own().clone();
        Ok(Queue { stream: OwnStream::new(&own)?, own, place: place.clone() })
    }

    /// Queues a step and returns.
    ///
    /// # Errors
    /// As [`Cuda::launch_many`](crate::Cuda::launch_many); for a copy, `buffer` beyond the end of memory, and `devices`
    /// if either memory is on another device than the queue.
    ///
    /// ```no_run
    /// # use tilewright_cuda::{Error, Queue, Step};
    /// # fn example(queue: &Queue, step: &Step<'_>) -> Result<(), Error> {
    /// queue.run(step)?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn run<'a>(&self, step: &Step<'a>) -> Result<(), Error> {
        match step {
            Step::Moves(moves) => {
                let job = |(moved, src, dst): &(&'a Move, Span<'_>, Span<'_>)| {
                    Ok(Job {
                        moved,
                        src: src.memory.allocated().part(src.at, moved.src_bytes())?,
                        dst: dst.memory.allocated().part(dst.at, moved.dst_bytes())?,
                    })
                };
                let jobs = moves.iter().map(job).collect::<Result<Vec<_>, Error>>()?;
                self.place.cuda().launch_many(&jobs, self.stream.get())
            }
            Step::Copy { src, dst, bytes } => {
                let to = (dst.memory.allocated(), dst.at);
                src.memory.allocated().copy(src.at, to, *bytes, &self.stream)
            }
        }
    }

    /// Waits until all work is done that was queued here.
    ///
    /// # Errors
    /// `driver` if it failed.
    ///
    /// ```no_run
    /// # use tilewright_cuda::{Error, Queue};
    /// # fn example(queue: &Queue) -> Result<(), Error> {
    /// queue.wait()
    /// # }
    /// ```
    pub fn wait(&self) -> Result<(), Error> {
        self.own.wait_for(self.stream.get())
    }

    /// Returns the seconds that a step takes on the device, from events before and after `runs` repetitions.
    ///
    /// # Errors
    /// As [`Queue::run`] and [`Queue::wait`].
    ///
    /// ```no_run
    /// # use tilewright_cuda::{Error, Queue, Step};
    /// # fn example(queue: &Queue, step: &Step<'_>) -> Result<(), Error> {
    /// println!("{} ms", queue.seconds(step, 10)? * 1e3);
    /// # Ok(())
    /// # }
    /// ```
    pub fn seconds(&self, step: &Step<'_>, runs: u32) -> Result<f64, Error> {
        let took = self
            .own
            .milliseconds(self.stream.get(), || (0..runs).try_for_each(|_| self.run(step)))?;
        Ok(f64::from(took) / 1e3 / f64::from(runs.max(1)))
    }

    /// Returns the seconds that a step takes in a captured graph of `runs` repetitions: launches from the host are not
    /// included.
    ///
    /// # Errors
    /// As [`Queue::run`] and [`Queue::wait`]; `captured` for a step that was not run before; `too-old` for a driver
    /// older than CUDA 11.4.
    ///
    /// ```no_run
    /// # use tilewright_cuda::{Error, Queue, Step};
    /// # fn example(queue: &Queue, step: &Step<'_>) -> Result<(), Error> {
    /// queue.run(step)?;
    /// println!("{} ms", queue.graph_seconds(step, 10)? * 1e3);
    /// # Ok(())
    /// # }
    /// ```
    pub fn graph_seconds(&self, step: &Step<'_>, runs: u32) -> Result<f64, Error> {
        let work = || (0..runs).try_for_each(|_| self.run(step));
        let took = self.own.graph(self.stream.get(), work, |graph: &Graph<'_>| {
            graph.launch()?;
            self.own.milliseconds(self.stream.get(), || graph.launch())
        })?;
        Ok(f64::from(took) / 1e3 / f64::from(runs.max(1)))
    }
}

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
