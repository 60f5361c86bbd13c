//! Moves between arrays on CUDA devices, on the stream that their library uses now.
//!
//! The stream is that of the destination's library, or of the source's where that one says none, or else the default
//! one. An array of a library that uses another stream is ordered before it by DLPack, and held until the stream has
//! passed the move.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use pyo3::prelude::*;
use tilewright::{
    cuda::{Cuda, Mark, Move, Stream},
    relayout::Plan,
};

use crate::{
    driver::{raised, shared},
    errors::refused,
    foreign::{Device, Memory, PyDeviceArray, order},
};

/// An array with its memory.
pub(crate) type Side<'a, 'py> = (&'a Memory, &'a Bound<'py, PyAny>);

/// Whether one of two arrays is on a device.
pub(crate) fn is_asked(from: &Memory, to: &Memory) -> bool {
    from.device().is_some() || to.device().is_some()
}

/// Queues the move of a plan, whose kernels are `kept`.
pub(crate) fn planned(
    plan: &Plan,
    kept: &OnceLock<Move>,
    from: Side<'_, '_>,
    to: Side<'_, '_>,
) -> PyResult<()> {
    moved(from.1.py(), kept.get_or_init(|| Move::new(plan.program().clone())), from, to)
}

/// Queues a move.
pub(crate) fn moved(
    py: Python<'_>,
    moved: &Move,
    from: Side<'_, '_>,
    to: Side<'_, '_>,
) -> PyResult<()> {
    let (on, other) = together(from.0.device(), to.0.device())?;
    let stream = other.stream().or(on.stream()).unwrap_or(Stream::LEGACY);
    let (Some(src), Some(dst)) = (from.0.device_bytes(), to.0.device_bytes()) else {
        return Ok(());
    };
    let cuda = shared(py)?;
    let apart: Vec<_> = [(from, on), (to, other)]
        .into_iter()
        .filter(|(_, device)| device.stream() != Some(stream))
        .map(|((_, array), _)| array)
        .collect();
    apart.iter().try_for_each(|array| order(array, stream))?;
    py.detach(|| cuda.launch(moved, src, dst, stream)).map_err(|error| raised(&error))?;
    if let Ok(own) = to.1.cast::<PyDeviceArray>() {
        own.get().written(&cuda, stream).map_err(|error| raised(&error))?;
    }
    hold(&cuda, other.ordinal(), stream, apart);
    Ok(())
}

/// The device of the source and of the destination.
fn together(from: Option<Device>, to: Option<Device>) -> PyResult<(Device, Device)> {
    let name = |side: Option<Device>| match side {
        Some(device) => format!("CUDA device {}", device.ordinal()),
        None => "the CPU".to_owned(),
    };
    match (from, to) {
        (Some(from), Some(to)) if from.ordinal() == to.ordinal() => Ok((from, to)),
        _ => {
            let says = format!(
                "the source is on {} and the destination on {}; a move takes place on one device, so copy one of them first",
                name(from),
                name(to)
            );
            Err(refused("device", says))
        }
    }
}

/// Arrays with the end of the work that uses them.
static HELD: Mutex<Vec<(Mark, Vec<Py<PyAny>>)>> = Mutex::new(Vec::new());

/// Keeps arrays until what is queued on a stream is done; those that were kept so long are let go.
fn hold(cuda: &Arc<Cuda>, ordinal: i32, stream: Stream, arrays: Vec<&Bound<'_, PyAny>>) {
    let arrays: Vec<Py<PyAny>> = arrays.into_iter().map(|array| array.clone().unbind()).collect();
    let made = match arrays.is_empty() {
        true => Ok(None),
        false => Mark::new(cuda, ordinal, stream),
    };
    let mut held = HELD.lock().unwrap_or_else(PoisonError::into_inner);
    let (done, wait) = held.drain(..).partition(|(mark, _)| mark.is_done().unwrap_or(false));
    *held = wait;
    match made {
        Ok(Some(mark)) => held.push((mark, arrays)),
        Ok(None) => {}
        // Nobody can say when they are free, so they never are.
        Err(_) => std::mem::forget(arrays),
    }
    drop(held);
    // Arrays that go run code of their libraries, which may come here again.
    let _: Vec<(Mark, Vec<Py<PyAny>>)> = done;
}
