//! CUDA's driver and compiler, opened on first use, their errors as exceptions, and processes that fork.
//!
//! A child of a fork has none of its parent's threads, and a plan of its parent would wait for them forever. So a child
//! makes its own plans, and never uses the thread pool that all plans of a process share.

use std::sync::{
    Arc, OnceLock,
    atomic::{AtomicU32, Ordering},
};

use pyo3::prelude::*;
use tilewright::{
    cuda::{Cuda, Error, Settings},
    relayout::Plan,
};

use crate::errors::refused;

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
