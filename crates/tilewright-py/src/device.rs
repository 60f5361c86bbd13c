//! Moves between arrays on CUDA devices, on the stream that their library uses now.
//!
//! The stream is that of the destination's library, or of the source's if that one is unknown, else the default stream. `turn`
//! orders a move with an array whose library uses another stream.

use std::sync::OnceLock;

use pyo3::prelude::*;
use tilewright::{
    cuda::{Move, Stream},
    relayout::Plan,
};

use crate::{
    driver::{raised, shared},
    errors::refused,
    foreign::{Device, Memory, Use},
    held,
    turn::{self, Apart, MoveStream},
};

/// An array with its memory.
pub(crate) type DeviceArray<'a, 'py> = (&'a Memory, &'a Bound<'py, PyAny>);

/// Returns whether one of two arrays is on a device.
pub(crate) fn is_asked(from: &Memory, to: &Memory) -> bool {
    from.device().is_some() || to.device().is_some()
}

/// Queues the move of a plan; its kernels are kept in `kept`.
pub(crate) fn planned(
    plan: &Plan,
    kept: &OnceLock<Move>,
    from: DeviceArray<'_, '_>,
    to: DeviceArray<'_, '_>,
) -> PyResult<()> {
    moved(from.1.py(), kept.get_or_init(|| Move::new(plan.program().clone())), from, to)
}

/// Queues a move.
pub(crate) fn moved(
    py: Python<'_>,
    moved: &Move,
    from: DeviceArray<'_, '_>,
    to: DeviceArray<'_, '_>,
) -> PyResult<()> {
    let (on, other) = together(from.0.device(), to.0.device())?;
    let stream = other.stream().or(on.stream()).unwrap_or(Stream::LEGACY);
    let (Some(src), Some(dst)) = (from.0.device_bytes(), to.0.device_bytes()) else {
        return Ok(());
    };
    let cuda = shared(py)?;
    held::let_go();
    let queue = MoveStream { cuda: &cuda, ordinal: other.ordinal(), stream };
    let sides = [
        Apart::of(from.0, from.1, on, Use::Read, stream),
        Apart::of(to.0, to.1, other, Use::Write, stream),
    ];
    let apart: Vec<Apart<'_, '_>> = sides.into_iter().flatten().collect();
    let launch = || {
        py.detach(|| cuda.launch(moved, src, dst, stream)).map_err(|error| {
            let queued = error.kind() == "driver";
            (raised(&error), queued)
        })
    };
    if apart.is_empty() {
        return launch().map_err(|(error, _)| error);
    }
    let kept = turn::before(&queue, &apart)?;
    match launch() {
        Ok(()) => turn::behind(py, &queue, &apart, kept),
        // The driver may have accepted some kernels of the move.
        Err((error, true)) => {
            let _ = turn::behind(py, &queue, &apart, kept);
            Err(error)
        }
        Err((error, false)) => Err(error),
    }
}

/// Returns the device of the source and of the destination.
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
