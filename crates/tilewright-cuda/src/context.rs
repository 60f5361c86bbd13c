//! A device on which this process owns memory, and a queue of work in this memory, timed on the device. Benchmarks,
//! tests and the Python package use it; launches on memory of callers do not.
//!
//! A [`StreamEvent`] is the end of the work that is queued on a stream: a query whether it is done, and a way for other
//! streams to wait for it. The Python package orders its work with that of torch and others by events.

use std::sync::Arc;

use crate::{
    Cuda, Error, Job, Move, Stream,
    error::of_device,
    raw::{Allocated, DeviceApi, Event, Events, Graph, OwnedStream},
};

/// A device on which this process allocates memory and queues work. Programs that measure, test, or read files into
/// device memory use it.
///
/// ```
/// use tilewright_cuda::{Cuda, Memory, DeviceContext};
/// # fn example() -> Result<(), tilewright_cuda::Error> {
/// let context = DeviceContext::new(&Cuda::shared()?, 0)?;
/// let memory = Memory::new(&context, 1 << 20)?;
/// memory.write(0, b"bytes")?;
/// let mut back = [0; 5];
/// memory.read(0, &mut back)?;
/// assert_eq!(&back, b"bytes");
/// # Ok(())
/// # }
/// # if let Err(error) = example() { assert!(error.is_unavailable(), "{error}"); }
/// ```
#[derive(Debug)]
pub struct DeviceContext {
    cuda: Arc<Cuda>,
    own: Arc<DeviceApi>,
}

impl DeviceContext {
    /// Opens the device of this number, from 0.
    ///
    /// # Errors
    /// `no-device` for a number without a device, `too-old` for a driver that lacks a function for memory or events.
    ///
    /// ```
    /// use tilewright_cuda::{Cuda, DeviceContext};
    /// if let Ok(cuda) = Cuda::shared() {
    ///     assert_eq!(DeviceContext::new(&cuda, -1).unwrap_err().kind(), "no-device");
    /// }
    /// ```
    pub fn new(cuda: &Arc<Cuda>, ordinal: i32) -> Result<Arc<DeviceContext>, Error> {
        let count = cuda.driver().count()?;
        if !(0..count).contains(&ordinal) {
            let says = format!("device {ordinal}; there are {count}, counted from 0");
            return Err(of_device("no-device", says));
        }
        let device = cuda.device(ordinal)?;
        let own = Arc::new(DeviceApi::of(cuda.driver(), cuda.events()?, device.context, ordinal)?);
        Ok(Arc::new(DeviceContext { cuda: cuda.clone(), own }))
    }

    /// Returns the driver and compiler that move arrays on this device.
    ///
    /// ```no_run
    /// # let context = tilewright_cuda::DeviceContext::new(&tilewright_cuda::Cuda::shared()?, 0)?;
    /// assert_eq!(context.cuda().counts().compiled, 0);
    /// # Ok::<(), tilewright_cuda::Error>(())
    /// ```
    pub fn cuda(&self) -> &Arc<Cuda> {
        &self.cuda
    }

    /// Returns the properties of the device and of the libraries.
    ///
    /// # Errors
    /// `driver` if the driver refuses the query.
    ///
    /// ```no_run
    /// # let context = tilewright_cuda::DeviceContext::new(&tilewright_cuda::Cuda::shared()?, 0)?;
    /// println!("{}", context.facts()?.name);
    /// # Ok::<(), tilewright_cuda::Error>(())
    /// ```
    pub fn facts(&self) -> Result<Facts, Error> {
        let attribute = |number| self.own.attribute(number);
        let (free, total) = self.own.room()?;
        let capability = self.cuda.device(self.own.ordinal())?.capability;
        Ok(Facts {
            name: self.own.name()?,
            capability: (capability.major, capability.minor),
            multiprocessors: attribute(MULTIPROCESSORS),
            clock_khz: attribute(CLOCK),
            memory_clock_khz: attribute(MEMORY_CLOCK),
            bus_bits: attribute(BUS),
            l2_bytes: attribute(L2),
            total_bytes: total,
            free_bytes: free,
            driver: self.own.library(),
            driver_cuda: self.cuda.driver().version()?,
            compiler: self.cuda.compiler().ok().map(|compiler| compiler.name()),
        })
    }

    pub(crate) fn own(&self) -> &Arc<DeviceApi> {
        &self.own
    }
}

const CLOCK: i32 = 13;
const MULTIPROCESSORS: i32 = 16;
const MEMORY_CLOCK: i32 = 36;
const BUS: i32 = 37;
const L2: i32 = 38;

/// Numbers of a device, the driver and the compiler; `None` if they do not report one.
///
/// ```no_run
/// # let context = tilewright_cuda::DeviceContext::new(&tilewright_cuda::Cuda::shared()?, 0)?;
/// let facts = context.facts()?;
/// println!("{} of {:?}, {} bytes free", facts.name, facts.capability, facts.free_bytes);
/// # Ok::<(), tilewright_cuda::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Facts {
    /// The device's name.
    pub name: String,
    /// Its compute capability, major and minor.
    pub capability: (u32, u32),
    /// The number of its multiprocessors.
    pub multiprocessors: Option<u64>,
    /// The maximum clock of its multiprocessors in kilohertz.
    pub clock_khz: Option<u64>,
    /// The maximum clock of its memory in kilohertz.
    pub memory_clock_khz: Option<u64>,
    /// The width of its memory bus in bits.
    pub bus_bits: Option<u64>,
    /// The bytes of its L2 cache.
    pub l2_bytes: Option<u64>,
    /// The bytes of its memory.
    pub total_bytes: u64,
    /// The free bytes of its memory.
    pub free_bytes: u64,
    /// The driver's library.
    pub driver: String,
    /// The version of CUDA that the driver supports: 1000 times the major version plus 10 times the minor one.
    pub driver_cuda: i32,
    /// The compiler with its version; `None` if there is none.
    pub compiler: Option<String>,
}

/// Memory of a device that this process owns. Dropping the value waits for all work on the device, and frees the
/// memory. If the driver does not wait, the memory stays allocated until the context is released: after work that
/// failed, and while a stream of the device is captured. The attempt ends a capture, so drop a value before a capture
/// or after it.
///
/// Concurrent work in two queues reads and writes the memory in any order.
///
/// ```
/// use tilewright_cuda::{Cuda, Memory, DeviceContext};
/// # fn example() -> Result<(), tilewright_cuda::Error> {
/// let context = DeviceContext::new(&Cuda::shared()?, 0)?;
/// let memory = Memory::new(&context, 100)?;
/// // Bytes beyond the end are refused.
/// assert_eq!(memory.write(98, &[1, 2, 3]).unwrap_err().kind(), "buffer");
/// # Ok(())
/// # }
/// # if let Err(error) = example() { assert!(error.is_unavailable(), "{error}"); }
/// ```
#[derive(Debug)]
pub struct Memory {
    allocated: Allocated,
    /// Keeps the context retained.
    _context: Arc<DeviceContext>,
}

impl Memory {
    /// Allocates this many bytes, with unspecified values.
    ///
    /// # Errors
    /// `driver` if the device has too little memory, with the number of free bytes.
    ///
    /// ```
    /// use tilewright_cuda::{Cuda, Memory, DeviceContext};
    /// # fn example() -> Result<(), tilewright_cuda::Error> {
    /// let context = DeviceContext::new(&Cuda::shared()?, 0)?;
    /// assert_eq!(Memory::new(&context, 4096)?.bytes(), 4096);
    /// assert!(Memory::new(&context, 1 << 60).is_err());
    /// # Ok(())
    /// # }
    /// # if let Err(error) = example() { assert!(error.is_unavailable(), "{error}"); }
    /// ```
    pub fn new(context: &Arc<DeviceContext>, bytes: u64) -> Result<Memory, Error> {
        Ok(Memory { allocated: Allocated::new(context.own(), bytes)?, _context: context.clone() })
    }

    /// Returns the number of bytes.
    ///
    /// ```no_run
    /// # let context = tilewright_cuda::DeviceContext::new(&tilewright_cuda::Cuda::shared()?, 0)?;
    /// assert_eq!(tilewright_cuda::Memory::new(&context, 10)?.bytes(), 10);
    /// # Ok::<(), tilewright_cuda::Error>(())
    /// ```
    pub fn bytes(&self) -> u64 {
        self.allocated.bytes()
    }

    /// Returns the device pointer, for libraries that accept one.
    ///
    /// ```no_run
    /// # let context = tilewright_cuda::DeviceContext::new(&tilewright_cuda::Cuda::shared()?, 0)?;
    /// assert_eq!(tilewright_cuda::Memory::new(&context, 10)?.address() % 256, 0);
    /// # Ok::<(), tilewright_cuda::Error>(())
    /// ```
    pub fn address(&self) -> u64 {
        self.allocated.address()
    }

    /// Writes bytes from byte `at` on, once all queued work is done.
    ///
    /// # Errors
    /// `buffer` beyond the end; `driver` if queued work failed.
    ///
    /// ```no_run
    /// # let context = tilewright_cuda::DeviceContext::new(&tilewright_cuda::Cuda::shared()?, 0)?;
    /// tilewright_cuda::Memory::new(&context, 10)?.write(7, &[1, 2, 3])?;
    /// # Ok::<(), tilewright_cuda::Error>(())
    /// ```
    pub fn write(&self, at: u64, data: &[u8]) -> Result<(), Error> {
        self.allocated.write(at, data)
    }

    /// Reads bytes from byte `at` on, once all queued work is done.
    ///
    /// # Errors
    /// As [`Memory::write`].
    ///
    /// ```no_run
    /// # let context = tilewright_cuda::DeviceContext::new(&tilewright_cuda::Cuda::shared()?, 0)?;
    /// let mut bytes = [0; 3];
    /// tilewright_cuda::Memory::new(&context, 10)?.read(7, &mut bytes)?;
    /// # Ok::<(), tilewright_cuda::Error>(())
    /// ```
    pub fn read(&self, at: u64, data: &mut [u8]) -> Result<(), Error> {
        self.allocated.read(at, data)
    }

    /// Sets all bytes, once all queued work is done.
    ///
    /// # Errors
    /// `driver` if queued work failed.
    ///
    /// ```no_run
    /// # let context = tilewright_cuda::DeviceContext::new(&tilewright_cuda::Cuda::shared()?, 0)?;
    /// tilewright_cuda::Memory::new(&context, 10)?.fill(0)?;
    /// # Ok::<(), tilewright_cuda::Error>(())
    /// ```
    pub fn fill(&self, byte: u8) -> Result<(), Error> {
        self.allocated.fill(byte)
    }

    fn allocated(&self) -> &Allocated {
        &self.allocated
    }
}

/// A position in memory that this process owns: the bytes from `at` on.
///
/// ```no_run
/// use tilewright_cuda::{Cuda, Memory, DeviceContext, Span};
/// let memory = Memory::new(&DeviceContext::new(&Cuda::shared()?, 0)?, 100)?;
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
/// use tilewright_cuda::{Cuda, Memory, DeviceContext, Queue, Span, Step};
/// let context = DeviceContext::new(&Cuda::shared()?, 0)?;
/// let (src, dst) = (Memory::new(&context, 100)?, Memory::new(&context, 100)?);
/// let span = |memory| Span { memory, at: 0 };
/// Queue::new(&context)?.run(&Step::Copy { src: span(&src), dst: span(&dst), bytes: 100 })?;
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
/// use tilewright_cuda::{Cuda, Memory, Move, DeviceContext, Queue, Span, Step};
/// use tilewright_relayout::{Elements, Program};
/// # fn example() -> Result<(), tilewright_cuda::Error> {
/// let context = DeviceContext::new(&Cuda::shared()?, 0)?;
/// let rows = TensorLayout::row_major(&[2, 3]).unwrap();
/// let columns = TensorLayout::col_major(&[2, 3]).unwrap();
/// let moved = Move::new(Program::new(&rows, &columns, Elements::same(8), 0).unwrap());
/// let (src, dst) = (Memory::new(&context, 6)?, Memory::new(&context, 6)?);
/// src.write(0, b"abcdef")?;
/// let queue = Queue::new(&context)?;
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
    /// Dropped first: it belongs to the context that `context` keeps retained.
    stream: OwnedStream,
    own: Arc<DeviceApi>,
    context: Arc<DeviceContext>,
}

impl Queue {
    /// Makes a new stream on a device.
    ///
    /// # Errors
    /// `driver` if the driver refuses it.
    ///
    /// ```no_run
    /// use tilewright_cuda::{Cuda, DeviceContext, Queue};
    /// Queue::new(&DeviceContext::new(&Cuda::shared()?, 0)?)?.wait()?;
    /// # Ok::<(), tilewright_cuda::Error>(())
    /// ```
    pub fn new(context: &Arc<DeviceContext>) -> Result<Queue, Error> {
        let own = context.own().clone();
        Ok(Queue { stream: OwnedStream::new(&own)?, own, context: context.clone() })
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
                self.context.cuda().launch_many(&jobs, self.stream.get())
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
/// use tilewright_cuda::{Cuda, StreamEvent, Stream};
/// let cuda = Cuda::shared()?;
/// if let Some(event) = StreamEvent::new(&cuda, 0, Stream::LEGACY)? {
///     event.before(Stream::PER_THREAD)?;
///     println!("done: {}", event.is_done()?);
/// }
/// # Ok::<(), tilewright_cuda::Error>(())
/// ```
#[derive(Debug)]
pub struct StreamEvent {
    event: Event,
    /// Keeps the context retained.
    _cuda: Arc<Cuda>,
}

impl StreamEvent {
    /// Marks the end of all work that is queued on a stream of a device; `None` while the stream is captured, because
    /// captured work does not begin before its graph is launched.
    ///
    /// # Errors
    /// `too-old` for a driver without events, `driver` if it refuses a call.
    ///
    /// ```no_run
    /// # use tilewright_cuda::{Cuda, StreamEvent, Stream};
    /// let event = StreamEvent::new(&Cuda::shared()?, 0, Stream::LEGACY)?;
    /// assert!(event.is_some());
    /// # Ok::<(), tilewright_cuda::Error>(())
    /// ```
    pub fn new(
        cuda: &Arc<Cuda>,
        device: i32,
        stream: Stream,
    ) -> Result<Option<StreamEvent>, Error> {
        let (driver, context) = (cuda.driver(), cuda.device(device)?.context);
        if driver.within(context, || driver.is_capturing(stream))? {
            return Ok(None);
        }
        let event = Events::record(&cuda.events()?, context, stream)?;
        Ok(Some(StreamEvent { event, _cuda: cuda.clone() }))
    }

    /// Returns whether all of the work is done.
    ///
    /// # Errors
    /// `driver` if queued work failed.
    ///
    /// ```no_run
    /// # use tilewright_cuda::{Cuda, StreamEvent, Stream};
    /// # let event = StreamEvent::new(&Cuda::shared()?, 0, Stream::LEGACY)?.unwrap();
    /// while !event.is_done()? {}
    /// # Ok::<(), tilewright_cuda::Error>(())
    /// ```
    pub fn is_done(&self) -> Result<bool, Error> {
        self.event.is_done()
    }

    /// Makes work that is queued on this stream from now on wait for the work before the event. The host does not wait.
    ///
    /// # Errors
    /// `captured` for a default stream that must not be used while another stream is captured, `driver` if the driver
    /// refuses the call.
    ///
    /// ```no_run
    /// # use tilewright_cuda::{Cuda, StreamEvent, Stream};
    /// # let event = StreamEvent::new(&Cuda::shared()?, 0, Stream::LEGACY)?.unwrap();
    /// event.before(Stream::PER_THREAD)?;
    /// # Ok::<(), tilewright_cuda::Error>(())
    /// ```
    pub fn before(&self, stream: Stream) -> Result<(), Error> {
        self.event.before(stream)
    }
}
