//! A device on which this process owns memory. Benchmarks, tests and the Python package use it; launches on memory of
//! callers do not.

use std::sync::Arc;

use crate::{
    Cuda, Error,
    error::of_device,
    raw::{Allocated, Own},
};

/// A device on which this process allocates memory and queues work. Programs that measure, test, or read files into
/// device memory use it.
///
/// ```
/// use tilewright_cuda::{Cuda, Memory, Place};
/// # fn example() -> Result<(), tilewright_cuda::Error> {
/// let place = Place::new(&Cuda::shared()?, 0)?;
/// let memory = Memory::new(&place, 1 << 20)?;
/// memory.write(0, b"bytes")?;
/// let mut back = [0; 5];
/// memory.read(0, &mut back)?;
/// assert_eq!(&back, b"bytes");
/// # Ok(())
/// # }
/// # if let Err(error) = example() { assert!(error.is_unavailable(), "{error}"); }
/// ```
#[derive(Debug)]
pub struct Place {
    cuda: Arc<Cuda>,
    own: Arc<Own>,
}

impl Place {
    /// Opens the device of this number, from 0.
    ///
    /// # Errors
    /// `no-device` for a number without a device, `too-old` for a driver that lacks a function for memory or events.
    ///
    /// ```
    /// use tilewright_cuda::{Cuda, Place};
    /// if let Ok(cuda) = Cuda::shared() {
    ///     assert_eq!(Place::new(&cuda, -1).unwrap_err().kind(), "no-device");
    /// }
    /// ```
    pub fn new(cuda: &Arc<Cuda>, ordinal: i32) -> Result<Arc<Place>, Error> {
        let count = cuda.driver().count()?;
        if !(0..count).contains(&ordinal) {
            let says = format!("device {ordinal}; there are {count}, counted from 0");
            return Err(of_device("no-device", says));
        }
        let device = cuda.device(ordinal)?;
        let own = Arc::new(Own::of(cuda.driver(), cuda.events()?, device.context, ordinal)?);
        Ok(Arc::new(Place { cuda: cuda.clone(), own }))
    }

    /// Returns the driver and compiler that move arrays on this device.
    ///
    /// ```no_run
    /// # let place = tilewright_cuda::Place::new(&tilewright_cuda::Cuda::shared()?, 0)?;
    /// assert_eq!(place.cuda().counts().compiled, 0);
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
    /// # let place = tilewright_cuda::Place::new(&tilewright_cuda::Cuda::shared()?, 0)?;
    /// println!("{}", place.facts()?.name);
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

    pub(crate) fn own(&self) -> &Arc<Own> {
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
/// # let place = tilewright_cuda::Place::new(&tilewright_cuda::Cuda::shared()?, 0)?;
/// let facts = place.facts()?;
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
/// use tilewright_cuda::{Cuda, Memory, Place};
/// # fn example() -> Result<(), tilewright_cuda::Error> {
/// let place = Place::new(&Cuda::shared()?, 0)?;
/// let memory = Memory::new(&place, 100)?;
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
    _place: Arc<Place>,
}

impl Memory {
    /// Allocates this many bytes, with unspecified values.
    ///
    /// # Errors
    /// `driver` if the device has too little memory, with the number of free bytes.
    ///
    /// ```
    /// use tilewright_cuda::{Cuda, Memory, Place};
    /// # fn example() -> Result<(), tilewright_cuda::Error> {
    /// let place = Place::new(&Cuda::shared()?, 0)?;
    /// assert_eq!(Memory::new(&place, 4096)?.bytes(), 4096);
    /// assert!(Memory::new(&place, 1 << 60).is_err());
    /// # Ok(())
    /// # }
    /// # if let Err(error) = example() { assert!(error.is_unavailable(), "{error}"); }
    /// ```
    pub fn new(place: &Arc<Place>, bytes: u64) -> Result<Memory, Error> {
        Ok(Memory { allocated: Allocated::new(place.own(), bytes)?, _place: place.clone() })
    }

    /// Returns the number of bytes.
    ///
    /// ```no_run
    /// # let place = tilewright_cuda::Place::new(&tilewright_cuda::Cuda::shared()?, 0)?;
    /// assert_eq!(tilewright_cuda::Memory::new(&place, 10)?.bytes(), 10);
    /// # Ok::<(), tilewright_cuda::Error>(())
    /// ```
    pub fn bytes(&self) -> u64 {
        self.allocated.bytes()
    }

    /// Returns the device pointer, for libraries that accept one.
    ///
    /// ```no_run
    /// # let place = tilewright_cuda::Place::new(&tilewright_cuda::Cuda::shared()?, 0)?;
    /// assert_eq!(tilewright_cuda::Memory::new(&place, 10)?.address() % 256, 0);
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
    /// # let place = tilewright_cuda::Place::new(&tilewright_cuda::Cuda::shared()?, 0)?;
    /// tilewright_cuda::Memory::new(&place, 10)?.write(7, &[1, 2, 3])?;
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
    /// # let place = tilewright_cuda::Place::new(&tilewright_cuda::Cuda::shared()?, 0)?;
    /// let mut bytes = [0; 3];
    /// tilewright_cuda::Memory::new(&place, 10)?.read(7, &mut bytes)?;
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
    /// # let place = tilewright_cuda::Place::new(&tilewright_cuda::Cuda::shared()?, 0)?;
    /// tilewright_cuda::Memory::new(&place, 10)?.fill(0)?;
    /// # Ok::<(), tilewright_cuda::Error>(())
    /// ```
    pub fn fill(&self, byte: u8) -> Result<(), Error> {
        self.allocated.fill(byte)
    }

    pub(crate) fn allocated(&self) -> &Allocated {
        &self.allocated
    }
}
