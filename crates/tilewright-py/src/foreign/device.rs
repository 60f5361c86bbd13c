//! Devices of arrays on CUDA: the stream on which their library uses them now, the work that is queued on an array of
//! this package, and the arrays that are kept alive until the moves that use them are done.

use std::sync::{
    Arc, Mutex, MutexGuard, OnceLock, PoisonError,
    atomic::{AtomicU32, Ordering},
};

use pyo3::{intern, prelude::*, types::PyTuple};
use tilewright::{
    cuda::{Cuda, Error, Settings, Stream, StreamEvent},
    relayout::Plan,
};

use super::Family;
use crate::{errors::refused, foreign::raw::KINDS};

/// A CUDA device, and the stream of it on which a library uses its arrays now; `None` if unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Device {
    ordinal: i32,
    stream: Option<Stream>,
}

impl Device {
    /// Returns a device without a known stream.
    pub(crate) fn new(ordinal: i32) -> Device {
        Device { ordinal, stream: None }
    }

    pub(crate) fn ordinal(self) -> i32 {
        self.ordinal
    }

    pub(crate) fn stream(self) -> Option<Stream> {
        self.stream
    }

    /// Returns the device of a torch tensor.
    pub(super) fn of_torch(tensor: &Bound<'_, PyAny>) -> PyResult<Device> {
        let py = tensor.py();
        let torch = py.import(intern!(py, "torch"))?;
        let hip = torch.getattr("version").and_then(|version| version.getattr("hip"));
        if hip.is_ok_and(|hip| !hip.is_none()) {
            return Err(elsewhere(ROCM, tensor.call_method0("get_device")?.extract()?));
        }
        Device::of_current(&torch, tensor.call_method0(intern!(py, "get_device"))?.extract()?)
    }

    /// Returns a device with torch's current stream.
    pub(super) fn of_current(torch: &Bound<'_, PyAny>, ordinal: i32) -> PyResult<Device> {
        let py = torch.py();
        let cuda = torch.getattr(intern!(py, "cuda"))?;
        let stream = cuda.call_method1(intern!(py, "current_stream"), (ordinal,))?;
        Device::on(ordinal, &stream.getattr(intern!(py, "cuda_stream"))?)
    }

    /// Returns a device with cupy's current stream.
    pub(super) fn of_cupy(py: Python<'_>, ordinal: i32) -> PyResult<Device> {
        within_cupy(py, ordinal, |cupy| {
            let stream = cupy.getattr("cuda")?.call_method0("get_current_stream")?;
            Device::on(ordinal, &stream.getattr("ptr")?)
        })
    }

    /// Returns the library and the device of an array of another library, which is on the device of this number.
    pub(super) fn of_array(array: &Bound<'_, PyAny>, ordinal: i32) -> PyResult<(Family, Device)> {
        let module = array.get_type().getattr("__module__")?.extract::<String>();
        let module = module.unwrap_or_default();
        match module.split('.').next() {
            Some("torch") => {
                let torch = array.py().import("torch")?;
                Ok((Family::Torch, Device::of_current(&torch, ordinal)?))
            }
            Some("cupy") => Ok((Family::Cupy, Device::of_cupy(array.py(), ordinal)?)),
            Some("jax" | "jaxlib") => Ok((Family::Jax, Device::new(ordinal))),
            _ => Ok((Family::Other, Device::new(ordinal))),
        }
    }

    fn on(ordinal: i32, handle: &Bound<'_, PyAny>) -> PyResult<Device> {
        let handle = handle.extract::<u64>()?;
        // SAFETY: the library says that this is its current stream, which it keeps while that is so.
        Ok(Device { ordinal, stream: Some(unsafe { Stream::new(handle) }) })
    }

    /// Returns the error for an array on the device, which cannot be read here.
    pub(super) fn refused(self) -> PyErr {
        let says = format!(
            "the array is on CUDA device {}, where arrays can be moved but not read; bring it to the CPU first",
            self.ordinal
        );
        refused("device", says)
    }
}

/// DLPack's kind of AMD devices.
const ROCM: i32 = 10;

/// Returns the error for an array on a device of another kind.
pub(super) fn elsewhere(kind: i32, id: i32) -> PyErr {
    let known = KINDS.iter().find(|known| known.0 == kind);
    let name = known.map_or_else(|| "unknown".to_owned(), |known| known.1.to_owned());
    let says = format!(
        "the array is on device {id} of DLPack's kind {kind} ({name}); arrays are moved on the CPU and on CUDA devices, so \
         bring it to the CPU first"
    );
    refused("device", says)
}

/// Runs `work` while a device is cupy's current one.
pub(crate) fn within_cupy<T>(
    py: Python<'_>,
    ordinal: i32,
    work: impl FnOnce(&Bound<'_, PyModule>) -> PyResult<T>,
) -> PyResult<T> {
    let cupy = py.import("cupy")?;
    let on = cupy.getattr("cuda")?.call_method1("Device", (ordinal,))?;
    on.call_method0("__enter__")?;
    let done = work(&cupy);
    on.call_method1("__exit__", (py.None(), py.None(), py.None()))?;
    done
}

/// Returns a new cupy array on a device, with uninitialised bytes; `dtype` is a NumPy name.
pub(crate) fn cupy_empty<'py>(
    py: Python<'py>,
    shape: &[u64],
    dtype: &Bound<'py, PyAny>,
    ordinal: i32,
) -> PyResult<Bound<'py, PyAny>> {
    let dtype = match dtype.extract::<String>() {
        Ok(name) => super::numpy::named(py, &name)?,
        Err(_) => dtype.clone(),
    };
    let shape = PyTuple::new(py, shape)?;
    let made = within_cupy(py, ordinal, |cupy| {
        cupy.call_method1("empty", (shape, dtype)).map(Bound::unbind)
    });
    Ok(made?.into_bound(py))
}

/// Arrays, and the end of the work that uses them.
type InUse = (Arc<StreamEvent>, Vec<Py<PyAny>>);

static HELD: Mutex<Vec<InUse>> = Mutex::new(Vec::new());

/// Keeps arrays alive until `mark` is done.
pub(crate) fn hold(mark: &Arc<StreamEvent>, arrays: Vec<Py<PyAny>>) {
    let_go();
    if !arrays.is_empty() {
        HELD.lock().unwrap_or_else(PoisonError::into_inner).push((mark.clone(), arrays));
    }
}

/// Releases the arrays whose work is done, so that their memory can be reused for new arrays.
pub(crate) fn let_go() {
    let mut held = HELD.lock().unwrap_or_else(PoisonError::into_inner);
    let (done, wait) = held.drain(..).partition(|(mark, _)| mark.is_done().unwrap_or(false));
    *held = wait;
    drop(held);
    // Released arrays run code of their libraries, which may call this function again.
    let _: Vec<InUse> = done;
}

/// The kind of access of a move to an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    Read,
    Write,
}

/// The ends of the queued reads and writes of an array, for all views of its memory.
#[derive(Debug, Default)]
pub(super) struct StreamEvents(Mutex<Queued>);

#[derive(Debug, Default)]
struct Queued {
    written: Option<Arc<StreamEvent>>,
    read: Vec<Arc<StreamEvent>>,
}

impl StreamEvents {
    fn lock(&self) -> MutexGuard<'_, Queued> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records the end of queued work. A write has waited for all work before it.
    pub(super) fn used(&self, to: Use, mark: &Arc<StreamEvent>) {
        let mut queued = self.lock();
        queued.read.retain(|mark| !is_done(mark));
        match to {
            Use::Read => queued.read.push(mark.clone()),
            Use::Write => queued.written = Some(mark.clone()),
        }
    }

    /// Returns the unfinished work that must precede another access: writes precede all, reads precede writes.
    pub(super) fn before(&self, to: Use) -> Vec<Arc<StreamEvent>> {
        let queued = self.lock();
        let read = queued.read.iter().filter(|_| to == Use::Write);
        queued.written.iter().chain(read).filter(|mark| !is_done(mark)).cloned().collect()
    }
}

/// Returns whether a mark is known to be done.
fn is_done(mark: &StreamEvent) -> bool {
    mark.is_done().unwrap_or(false)
}

// CUDA's driver and compiler, opened on first use, their errors as exceptions, and processes that fork.
//
// A child of a fork has none of its parent's threads, and a plan of its parent would wait for them forever. So a child
// makes its own plans, and never uses the thread pool that all plans of a process share.

/// The folders of NVRTC in wheels, below a folder of the package `nvidia`.
const WHEELS: [&str; 5] =
    ["cu13/lib", "cuda_nvrtc/lib", "cu13/bin/x86_64", "cu13/bin", "cuda_nvrtc/bin"];

/// Returns CUDA in this process; its compiler may come from wheels.
pub(crate) fn shared(py: Python<'_>) -> PyResult<Arc<Cuda>> {
    static FOLDERS: OnceLock<Vec<String>> = OnceLock::new();
    /// The generation of the process that opened CUDA, plus 1; 0 if none did.
    static OPENED: AtomicU32 = AtomicU32::new(0);
    let own = generation() + 1;
    let opened = OPENED.load(Ordering::Relaxed);
    if opened != 0 && opened != own {
        let says = "this process was forked from one that has used CUDA, which then works in neither; start processes by \
                    spawn, or use CUDA in them alone";
        return Err(refused("device", says));
    }
    if FOLDERS.get().is_none() {
        let _ = FOLDERS.set(wheels(py).unwrap_or_default());
    }
    let folders = FOLDERS.get().cloned().unwrap_or_default().into_iter();
    let settings = || folders.fold(Settings::of_environment(), Settings::with_folder);
    // Another thread may be opening it. Neither opening nor waiting for it needs the GIL.
    let cuda = py.detach(|| Cuda::shared_of(settings)).map_err(|error| raised(&error))?;
    OPENED.store(own, Ordering::Relaxed);
    Ok(cuda)
}

/// Returns the folders in which wheels install NVRTC.
fn wheels(py: Python<'_>) -> PyResult<Vec<String>> {
    let Ok(nvidia) = py.import("nvidia") else { return Ok(Vec::new()) };
    let mut folders = Vec::new();
    for folder in nvidia.getattr("__path__")?.try_iter()? {
        let folder = folder?.extract::<String>()?;
        folders.extend(WHEELS.map(|below| format!("{folder}/{below}")));
    }
    Ok(folders)
}

/// Returns the exception of an error, with the package that has the missing library.
pub(crate) fn raised(error: &Error) -> PyErr {
    match error.kind() {
        "no-compiler" => {
            let says = format!(
                "{error}\nIt comes with CUDA's toolkit, or by pip install nvidia-cuda-nvrtc (CUDA 13), \
                 nvidia-cuda-nvrtc-cu12 (CUDA 12)"
            );
            refused("no-compiler", says)
        }
        kind => refused(kind, error.to_string()),
    }
}

/// The number of forks between the process that loaded the module and this one.
static GENERATION: AtomicU32 = AtomicU32::new(0);

/// Counts a fork; called in a child before anything else.
pub(crate) fn count() {
    GENERATION.fetch_add(1, Ordering::Relaxed);
}

/// Returns the number of forks that led to this process.
pub(crate) fn generation() -> u32 {
    GENERATION.load(Ordering::Relaxed)
}

/// Returns the number of threads for a run: the requested number, or one per core.
pub(crate) fn threads(asked: Option<usize>) -> usize {
    match asked {
        Some(threads) if threads > 0 => threads,
        // The shared thread pool does not exist in a child.
        _ if generation() > 0 => std::thread::available_parallelism().map_or(1, usize::from),
        _ => 0,
    }
}

/// Returns a plan for this process: the given one if it was made in this generation, else a copy with its own threads.
pub(crate) fn own(plan: &Plan, made: u32) -> Plan {
    match made == generation() {
        true => plan.clone(),
        // A modified copy of a plan starts its own threads.
        false => plan.clone().with_min_range(1 << 14),
    }
}
