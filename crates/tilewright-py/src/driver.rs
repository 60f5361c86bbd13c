//! CUDA's driver and compiler, opened on first use, and their errors as exceptions.

use std::sync::{
    Arc, OnceLock,
    atomic::{AtomicU32, Ordering},
};

use pyo3::prelude::*;
use tilewright::cuda::{Cuda, Error, Settings};

use crate::{errors::refused, forks};

/// The folders of NVRTC in wheels, below a folder of the package `nvidia`.
const WHEELS: [&str; 5] =
    ["cu13/lib", "cuda_nvrtc/lib", "cu13/bin/x86_64", "cu13/bin", "cuda_nvrtc/bin"];

/// Returns CUDA in this process; its compiler may come from wheels.
pub(crate) fn shared(py: Python<'_>) -> PyResult<Arc<Cuda>> {
    static FOLDERS: OnceLock<Vec<String>> = OnceLock::new();
    /// The generation of the process that opened CUDA, plus 1; 0 if none did.
    static OPENED: AtomicU32 = AtomicU32::new(0);
    let own = forks::generation() + 1;
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
