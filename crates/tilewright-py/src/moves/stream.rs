//! Moves between arrays on CUDA devices, and their order among other work that is queued on these arrays.
//!
//! The stream is that of the destination's library, or of the source's if that one is unknown, else the default stream.
//! A `Turn` orders a move with an array whose library uses another stream.
//!
//! Law: work that was queued on an array in its library's current stream is done before the move begins, and work that
//! is queued there later begins when the move is done. If both sides use the same stream, this needs no action.
//!
//! | the array is of | before the move | after it |
//! |---|---|---|
//! | torch, cupy: a stream is known | the move waits for the stream | the stream waits for the move, and the array is kept alive |
//! | this package | the move waits for work that this package has queued on it | the array records the move |
//! | jax: no stream, never written | DLPack orders it | array and capsule are kept alive |
//! | another library, without a stream | DLPack orders it | the host waits |

use std::{
    sync::{Arc, OnceLock},
    thread,
    time::Duration,
};

use pyo3::prelude::*;
use tilewright::{
    cuda::{Cuda, Error, Move, Stream, StreamEvent},
    relayout::Plan,
};

use crate::{
    errors::refused,
    foreign::{
        Device, Family, Memory, PyDeviceArray, Use,
        device::{self, raised, shared},
        order,
    },
};

/// The stream on which a move is queued.
pub(crate) struct MoveStream<'a> {
    pub(crate) cuda: &'a Arc<Cuda>,
    pub(crate) ordinal: i32,
    pub(crate) stream: Stream,
}

/// An array of a move whose library does not use the stream of the move.
pub(crate) struct Apart<'a, 'py> {
    array: &'a Bound<'py, PyAny>,
    turn: Turn<'a>,
}

enum Turn<'a> {
    /// Its library has a stream.
    Stream(Stream),
    /// It records the work that is queued on it.
    Own(&'a PyDeviceArray, Use),
    /// Its library orders it through DLPack, and never writes it again.
    Kept,
    /// Its library orders it through DLPack, and may use it as soon as the call returns.
    Free,
}

impl<'a, 'py> Apart<'a, 'py> {
    /// Returns the kind of a side of a move; `None` if its library's stream is the move's.
    pub(crate) fn of(
        memory: &Memory,
        array: &'a Bound<'py, PyAny>,
        device: Device,
        to: Use,
        stream: Stream,
    ) -> Option<Self> {
        let turn = match (device.stream(), memory.family) {
            (Some(own), _) if own == stream => return None,
            (Some(own), _) => Turn::Stream(own),
            (None, family) => match (array.cast::<PyDeviceArray>(), family) {
                (Ok(own), _) => Turn::Own(own.get(), to),
                (Err(_), Family::Jax) if to == Use::Read => Turn::Kept,
                (Err(_), _) => Turn::Free,
            },
        };
        Some(Apart { array, turn })
    }

    /// Makes the move wait for the work that is queued on the array; returns an object to keep alive with the array, if any.
    fn before(&self, queue: &MoveStream<'_>) -> PyResult<Option<Py<PyAny>>> {
        match self.turn {
            Turn::Stream(own) => match queue.event_of(own).map_err(|error| raised(&error))? {
                Some(event) => event.before(queue.stream).map_err(|error| raised(&error))?,
                None => {
                    return Err(captured(
                        "its library's stream is being captured, but the move's is not",
                    ));
                }
            },
            Turn::Own(own, to) => own.before(to, queue.stream).map_err(|error| raised(&error))?,
            Turn::Kept | Turn::Free => return order(self.array, queue.stream),
        }
        Ok(None)
    }

    /// Refuses an array with queued work that a graph cannot wait for.
    fn in_graph(&self) -> PyResult<()> {
        match self.turn {
            Turn::Own(own, to) if own.is_free(to) => Ok(()),
            Turn::Own(..) => Err(captured("queued work on it is not finished; wait for it first")),
            Turn::Stream(_) | Turn::Kept | Turn::Free => {
                Err(captured("its library does not use it on the stream that is captured"))
            }
        }
    }

    /// Makes work that is queued on the array later wait for the move, whose end is `event`.
    fn behind(&self, py: Python<'_>, event: &Arc<StreamEvent>) -> Result<(), Error> {
        match self.turn {
            Turn::Stream(own) => event.before(own),
            Turn::Own(own, to) => {
                own.used(to, event);
                Ok(())
            }
            Turn::Kept => Ok(()),
            Turn::Free => wait(py, event),
        }
    }

    /// Returns the array if nothing else keeps its memory alive until the move is done; an array of this package waits when it is
    /// freed.
    fn held(&self) -> Option<Py<PyAny>> {
        match self.turn {
            Turn::Own(..) => None,
            Turn::Stream(_) | Turn::Kept | Turn::Free => Some(self.array.clone().unbind()),
        }
    }
}

impl MoveStream<'_> {
    fn event_of(&self, stream: Stream) -> Result<Option<StreamEvent>, Error> {
        StreamEvent::new(self.cuda, self.ordinal, stream)
    }
}

/// Orders a move after the work that is queued on its arrays, and returns the objects to keep alive with them. It does nothing
/// while the stream is captured.
pub(crate) fn before(queue: &MoveStream<'_>, apart: &[Apart<'_, '_>]) -> PyResult<Vec<Py<PyAny>>> {
    match queue.event_of(queue.stream).map_err(|error| raised(&error))? {
        Some(_) => apart.iter().filter_map(|one| one.before(queue).transpose()).collect(),
        None => apart.iter().try_for_each(Apart::in_graph).map(|()| Vec::new()),
    }
}

/// Orders later work after a queued move, and keeps its arrays alive with the objects from `before`. A capture has not started
/// any work: the caller that launches its graph keeps the arrays alive.
pub(crate) fn behind(
    py: Python<'_>,
    queue: &MoveStream<'_>,
    apart: &[Apart<'_, '_>],
    mut kept: Vec<Py<PyAny>>,
) -> PyResult<()> {
    kept.extend(apart.iter().filter_map(Apart::held));
    let event = match queue.event_of(queue.stream) {
        Ok(None) => return Ok(()),
        Ok(Some(event)) => Arc::new(event),
        Err(error) => {
            // It is unknown when they become free, so they never do.
            std::mem::forget(kept);
            return Err(late(&error));
        }
    };
    device::hold(&event, kept);
    let done: Vec<Result<(), Error>> = apart.iter().map(|one| one.behind(py, &event)).collect();
    // Work for which the host has waited does not keep arrays alive any longer.
    device::let_go();
    done.into_iter().collect::<Result<(), Error>>().map_err(|error| late(&error))
}

/// The longest pause between two checks whether work is done.
const PAUSE: Duration = Duration::from_micros(200);

/// Waits until a event is done; the GIL is released meanwhile.
fn wait(py: Python<'_>, event: &StreamEvent) -> Result<(), Error> {
    py.detach(|| {
        let mut pause = Duration::from_micros(1);
        while !event.is_done()? {
            thread::sleep(pause);
            pause = (pause * 2).min(PAUSE);
        }
        Ok(())
    })
}

/// Returns the error for an array that cannot be ordered with a capture.
fn captured(why: &str) -> PyErr {
    let says = format!(
        "an array of the move cannot be ordered with a capture: {why}; use all arrays of the move on one stream"
    );
    refused("captured", says)
}

/// Returns an error after a launch: data may have been written.
fn late(error: &Error) -> PyErr {
    refused(
        "driver",
        format!("the move is queued, but later work could not be ordered after it: {error}"),
    )
}

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
    device::let_go();
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
    let kept = before(&queue, &apart)?;
    match launch() {
        Ok(()) => behind(py, &queue, &apart, kept),
        // The driver may have accepted some kernels of the move.
        Err((error, true)) => {
            let _ = behind(py, &queue, &apart, kept);
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
