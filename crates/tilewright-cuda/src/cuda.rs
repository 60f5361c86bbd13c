//! The driver and the compiler together, and launches on any stream.

use std::sync::{Arc, Mutex, OnceLock};

use tilewright_device::{Kernel, Target, Way};

use crate::{
    Counts, DeviceBytes, Error, Job, Move, Settings, Stream,
    compiler::Compiler,
    device::{self, Device, Devices},
    error::{of_code, of_device},
    modules::{CodeKey, Counters, Disk, Modules, count, lock},
    movement::KeyedKernels,
    raw::{Driver, Events, Loaded},
    settings::{self, DRIVER},
    table::{JobTable, Launch, TextArguments},
};

/// The version of CUDA from which arguments of kernels may be long, as the driver encodes it.
const LONG_ARGUMENTS: i32 = 12_010;

/// The version of the compiler from which texts may have such arguments.
const LONG_TEXTS: (i32, i32) = (12, 1);

/// CUDA on this machine: the driver, the compiler once it is needed, and the code that was loaded.
///
/// A launch queues kernels on a stream and returns. It allocates no device memory, copies nothing and waits for
/// nothing; the current context of the thread is unchanged afterwards. Code is compiled when a structure is first used,
/// and kept in memory and on disk.
///
/// ```no_run
/// use tilewright_core::TensorLayout;
/// use tilewright_cuda::{Cuda, DeviceBytes, Move, Stream};
/// use tilewright_relayout::{Elements, Program};
/// # let (from, to) = (0, 0);
/// let rows = TensorLayout::row_major(&[4096, 4096]).unwrap();
/// let columns = TensorLayout::col_major(&[4096, 4096]).unwrap();
/// let transpose = Move::new(Program::new(&rows, &columns, Elements::same(32), 0).unwrap());
/// // SAFETY: both are device pointers to 64 MiB, which live until the stream is done.
/// let (src, dst) = unsafe { (DeviceBytes::new(from, 64 << 20), DeviceBytes::new(to, 64 << 20)) };
/// Cuda::shared()?.launch(&transpose, src, dst, Stream::LEGACY)?;
/// # Ok::<(), tilewright_cuda::Error>(())
/// ```
#[derive(Debug)]
pub struct Cuda {
    modules: Modules,
    devices: Devices,
    driver: Arc<Driver>,
    version: i32,
    settings: Settings,
    compiler: Mutex<Option<Arc<Compiler>>>,
    disk: Disk,
    counts: Counters,
    events: OnceLock<Arc<Events>>,
}

/// The kernels of one text in some jobs.
struct JobGroup<'a> {
    key: CodeKey,
    kernel: &'a Kernel,
    launches: Vec<Launch<'a>>,
}

impl Cuda {
    /// Opens the driver that these settings name. The compiler is opened when code is needed that this value has not
    /// loaded yet; the key of code on disk includes the compiler's version.
    ///
    /// # Errors
    /// `no-driver` if none is found, with the names that were tried; `too-old` for one that lacks a function;
    /// `no-device`.
    ///
    /// ```
    /// use tilewright_cuda::{Cuda, Settings};
    /// let error = Cuda::open(&Settings::default().with_driver("no/such/libcuda.so")).unwrap_err();
    /// assert!(error.is_unavailable());
    /// assert!(error.to_string().contains("TILEWRIGHT_LIBCUDA"), "{error}");
    /// ```
    pub fn open(settings: &Settings) -> Result<Cuda, Error> {
        let library = settings::open(&settings.drivers()).map_err(|tried| {
            let says = settings::says("The driver of CUDA devices", DRIVER, &tried);
            of_device("no-driver", says)
        })?;
        let driver = Arc::new(Driver::of(library)?);
        if driver.count()? == 0 {
            let says = format!("{} works, but finds no device", driver.name());
            return Err(of_device("no-device", says));
        }
        Ok(Cuda {
            modules: Modules::new(settings.modules()),
            devices: Devices::new(&driver),
            version: driver.version()?,
            driver,
            settings: settings.clone(),
            compiler: Mutex::default(),
            disk: Disk::new(settings.cache()),
            counts: Counters::default(),
            events: OnceLock::new(),
        })
    }

    /// Returns the value that this process shares. The first call opens it as the environment specifies. An error is
    /// not kept: the next call tries again.
    ///
    /// # Errors
    /// As [`Cuda::open`].
    ///
    /// ```
    /// use tilewright_cuda::Cuda;
    /// match Cuda::shared() {
    ///     Ok(cuda) => println!("{:?}", cuda.counts()),
    ///     Err(error) => assert!(error.is_unavailable() || error.code().is_some(), "{error}"),
    /// }
    /// ```
    pub fn shared() -> Result<Arc<Cuda>, Error> {
        Cuda::shared_of(Settings::of_environment)
    }

    /// Returns the value that this process shares, and opens it with these settings if it is not open yet.
    ///
    /// # Errors
    /// As [`Cuda::open`].
    ///
    /// ```
    /// use tilewright_cuda::{Cuda, Settings};
    /// let wheels = || Settings::of_environment().with_folder("site-packages/nvidia/cu13/lib");
    /// if let Err(error) = Cuda::shared_of(wheels) {
    ///     assert!(error.is_unavailable() || error.code().is_some(), "{error}");
    /// }
    /// ```
    pub fn shared_of(settings: impl FnOnce() -> Settings) -> Result<Arc<Cuda>, Error> {
        static SHARED: Mutex<Option<Arc<Cuda>>> = Mutex::new(None);
        let mut shared = lock(&SHARED);
        if let Some(cuda) = &*shared {
            return Ok(cuda.clone());
        }
        let cuda = Arc::new(Cuda::open(&settings())?);
        *shared = Some(cuda.clone());
        Ok(cuda)
    }

    /// Queues the move of one array on a stream of the device that contains both sides.
    ///
    /// # Errors
    /// `buffer` for memory that is too short or overlaps, `memory` for an address of no device, `devices` and `stream`
    /// if they do not belong together, `captured` if code would have to be loaded during a capture, `architecture`,
    /// `no-compiler`, `compile`, `unsupported`: in these cases, nothing has been queued. `driver` if the driver refused
    /// a call.
    ///
    /// ```no_run
    /// # use tilewright_cuda::{Cuda, DeviceBytes, Error, Move, Stream};
    /// # fn example(cuda: &Cuda, moved: &Move, src: DeviceBytes, dst: DeviceBytes) -> Result<(), Error> {
    /// cuda.launch(moved, src, dst, Stream::LEGACY)?;
    /// let error = cuda.launch(moved, src, src, Stream::LEGACY).unwrap_err();
    /// assert_eq!(error.kind(), "buffer");
    /// # Ok(())
    /// # }
    /// ```
    pub fn launch(
        &self,
        moved: &Move,
        src: DeviceBytes,
        dst: DeviceBytes,
        stream: Stream,
    ) -> Result<(), Error> {
        self.launch_many(&[Job { moved, src, dst }], stream)
    }

    /// Queues the moves of many arrays on a stream of the device that contains them. Kernels of one structure share a
    /// launch, as far as its arguments can hold their numbers: 4 KiB. If a kernel would need more than four such launches,
    /// they hold 32 KiB, with compiler and driver of CUDA 12.1 or newer; this is other code, compiled on first use.
    ///
    /// # Errors
    /// As [`Cuda::launch`]; no destination may overlap the memory of another job.
    ///
    /// ```no_run
    /// # use tilewright_cuda::{Cuda, Error, Job, Stream};
    /// # fn example(cuda: &Cuda, jobs: &[Job<'_>]) -> Result<(), Error> {
    /// cuda.launch_many(jobs, Stream::LEGACY)?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn launch_many(&self, jobs: &[Job<'_>], stream: Stream) -> Result<(), Error> {
        let sides = device::memory(jobs)?;
        let Some(ordinal) = device::device(jobs, &sides, &self.driver, &self.devices)? else {
            return Ok(());
        };
        let ready = jobs.iter().map(|job| job.moved.ready(job.src, job.dst));
        let ready: Vec<Arc<KeyedKernels>> = ready.collect::<Result<_, _>>()?;
        let groups = groups(jobs, &ready)?;
        let device = self.devices.device(ordinal)?;
        self.driver.within(device.context, || {
            self.own_stream(device, stream)?;
            let captured = self.driver.is_capturing(stream)?;
            let code = groups.iter().map(|group| self.code(group, device, captured));
            let code: Vec<Arc<Loaded>> = code.collect::<Result<_, _>>()?;
            groups.iter().zip(&code).try_for_each(|(group, code)| self.queue(group, code, stream))
        })
    }

    /// Returns the counts so far.
    ///
    /// ```no_run
    /// # use tilewright_cuda::Cuda;
    /// let before = Cuda::shared()?.counts();
    /// assert_eq!((before.compiled, before.launched), (0, 0));
    /// # Ok::<(), tilewright_cuda::Error>(())
    /// ```
    pub fn counts(&self) -> Counts {
        self.counts.with(self.modules.len())
    }

    /// Returns the driver.
    pub(crate) fn driver(&self) -> &Arc<Driver> {
        &self.driver
    }

    /// Returns the calls for events, which are looked up on first use.
    pub(crate) fn events(&self) -> Result<Arc<Events>, Error> {
        if let Some(events) = self.events.get() {
            return Ok(events.clone());
        }
        let events = Arc::new(Events::of(&self.driver)?);
        Ok(self.events.get_or_init(|| events).clone())
    }

    /// Returns the device of this number. Its context stays retained as long as this value lives.
    pub(crate) fn device(&self, ordinal: i32) -> Result<Device, Error> {
        self.devices.device(ordinal)
    }

    /// Returns an error for a stream that does not belong to the device's primary context.
    fn own_stream(&self, device: Device, stream: Stream) -> Result<(), Error> {
        if stream.is_default() || self.driver.context_of(stream)? == device.context {
            return Ok(());
        }
        let says = format!(
            "the memory is on device {}, and the stream is not one of its primary context; take a stream of that device",
            device.ordinal
        );
        Err(of_device("stream", says))
    }

    /// Returns the code of a group, loaded on a device.
    fn code(
        &self,
        group: &JobGroup<'_>,
        device: Device,
        captured: bool,
    ) -> Result<Arc<Loaded>, Error> {
        let is_long = self.version >= LONG_ARGUMENTS
            && TextArguments::needs_long(group.kernel, group.launches.len())
            && self.compiler().is_ok_and(|compiler| compiler.version() >= LONG_TEXTS);
        let name = |is_long| (device.ordinal, group.key, is_long);
        let code = match self.modules.find(&name(is_long)) {
            Some(code) => code,
            // Code with tables of the other length makes the same moves, in more launches or longer ones.
            None if captured => self.modules.find(&name(!is_long)).ok_or_else(|| {
                let says = format!(
                    "the stream is captured, and the code of a kernel ({}) is not loaded on device {} yet, which a capture \
                     does not allow; move an array of this kind once before the capture",
                    group.kernel.way().name(),
                    device.ordinal
                );
                of_device("captured", says)
            })?,
            None => self.modules.find_or(&name(is_long), || self.load(group.kernel, device, is_long))?,
        };
        if captured {
            code.keep();
        }
        Ok(code)
    }

    /// Loads code from the disk, or compiles it, with long tables or short ones.
    fn load(&self, kernel: &Kernel, device: Device, is_long: bool) -> Result<Loaded, Error> {
        let compiler = self.compiler()?;
        let shape = TextArguments::of(kernel, is_long)?;
        let text = kernel.source(Target::Cuda) + &shape.entry();
        let target = compiler.target(device.capability)?;
        let options = Compiler::options(target).join(" ");
        let key = CodeKey::of(&[&text, &compiler.name(), &options]);
        if let Some(code) = self.disk.read(&key)
            && let Ok(loaded) = Loaded::of(&self.driver, device.context, &code, shape)
        {
            count(&self.counts.read);
            count(&self.counts.loaded);
            return Ok(loaded);
        }
        let code = compiler.compile(&text, target)?;
        count(&self.counts.compiled);
        let loaded = Loaded::of(&self.driver, device.context, &code, shape)
            .map_err(|error| of_code(error, &target.name(), &compiler.library()))?;
        count(&self.counts.loaded);
        self.disk.write(&key, &code);
        Ok(loaded)
    }

    /// Returns the compiler, which is opened on first use.
    pub(crate) fn compiler(&self) -> Result<Arc<Compiler>, Error> {
        let mut own = lock(&self.compiler);
        if let Some(compiler) = &*own {
            return Ok(compiler.clone());
        }
        let compiler = Arc::new(Compiler::open(&self.settings, self.version)?);
        *own = Some(compiler.clone());
        Ok(compiler)
    }

    /// Queues the kernels of a group.
    fn queue(&self, group: &JobGroup<'_>, code: &Loaded, stream: Stream) -> Result<(), Error> {
        if let [launch] = *group.launches {
            count(&self.counts.launched);
            return code.launch(launch, stream);
        }
        let (mut table, mut rest) = (JobTable::new(code.shape()), group.launches.as_slice());
        while !rest.is_empty() {
            rest = table.fill(rest);
            count(&self.counts.launched);
            code.launch_table(&table, stream)?;
        }
        Ok(())
    }
}

/// Groups the kernels of some jobs by their texts. Kernels that fill come first: in some moves they fill the whole
/// destination.
fn groups<'a>(
    jobs: &[Job<'_>],
    ready: &'a [Arc<KeyedKernels>],
) -> Result<Vec<JobGroup<'a>>, Error> {
    let mut groups: Vec<JobGroup<'a>> = Vec::new();
    let mut known = std::collections::HashMap::new();
    // Jobs of one plan often follow each other, so the next kernel is likely that of the next group.
    let mut likely = 0;
    for (job, ready) in jobs.iter().zip(ready) {
        for (key, kernel) in ready.kernels() {
            let launch = launch_of(kernel, job)?;
            let at = match groups.get(likely) {
                Some(group) if group.key == *key => likely,
                _ => *known.entry(*key).or_insert_with(|| {
                    groups.push(JobGroup { key: *key, kernel, launches: Vec::new() });
                    groups.len() - 1
                }),
            };
            if let Some(group) = groups.get_mut(at) {
                group.launches.push(launch);
            }
            likely = if at + 1 < groups.len() { at + 1 } else { 0 };
        }
    }
    groups.sort_by_key(|group| group.kernel.way() != Way::Fill);
    Ok(groups)
}

/// Returns the launch of a kernel over the memory of a job.
fn launch_of<'a>(kernel: &'a Kernel, job: &Job<'_>) -> Result<Launch<'a>, Error> {
    let (src, dst) = kernel.bytes();
    if src > job.src.bytes() || dst > job.dst.bytes() {
        let says = format!(
            "a kernel touches {src} and {dst} bytes, beyond the {} and {} given",
            job.src.bytes(),
            job.dst.bytes()
        );
        return Err(Error::buffer(says));
    }
    let blocks = u32::try_from(kernel.blocks()).ok().filter(|blocks| *blocks < 1 << 31);
    let blocks = blocks.ok_or_else(|| {
        let says = format!("{} blocks; a launch has at most {}", kernel.blocks(), (1u32 << 31) - 1);
        Error::limit(says)
    })?;
    Ok(Launch { src: job.src.address(), dst: job.dst.address(), params: kernel.params(), blocks })
}
