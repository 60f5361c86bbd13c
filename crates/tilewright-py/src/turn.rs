//! The order between a move and what else is queued on its arrays, before it and behind it.
//!
//! Law: work that was queued on an array in its library's current stream is done before the move begins, and work that is
//! queued there later begins when the move is done. Where both sides name one stream, nothing has to be done for that.
//!
//! | the array is of | before the move | behind it |
//! |---|---|---|
//! | torch, cupy: a stream is known | the move waits for the stream | the stream waits for the move, and the array is held |
//! | this package | the move waits for what this package has queued on it | the array remembers the move |
//! | jax: no stream, never written | DLPack orders it | array and capsule are held |
//! | another library, without a stream | DLPack orders it | the host waits |

use std::{sync::Arc, thread, time::Duration};

use pyo3::prelude::*;
use tilewright::cuda::{Cuda, Error, Mark, Stream};

use crate::{
    driver::raised,
    errors::refused,
    foreign::{Device, Family, Memory, PyDeviceArray, Use, order},
    held,
};

/// Where a move is queued.
pub(crate) struct Lane<'a> {
    pub(crate) cuda: &'a Arc<Cuda>,
    pub(crate) ordinal: i32,
    pub(crate) stream: Stream,
}

/// An array of a move on whose library's stream the move is not queued.
pub(crate) struct Apart<'a, 'py> {
    array: &'a Bound<'py, PyAny>,
    turn: Turn<'a>,
}

enum Turn<'a> {
    /// Its library has a stream.
    Stream(Stream),
    /// It remembers what is queued on it.
    Own(&'a PyDeviceArray, Use),
    /// Its library orders it by DLPack, and never writes it again.
    Kept,
    /// Its library orders it by DLPack, and may use it whenever this returns.
    Free,
}

impl<'a, 'py> Apart<'a, 'py> {
    /// What a side of a move is; `None` where its library's stream is the move's.
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

    /// Has the move wait for what is queued on the array; what is held with the array, if anything.
    fn before(&self, lane: &Lane<'_>) -> PyResult<Option<Py<PyAny>>> {
        match self.turn {
            Turn::Stream(own) => match lane.mark_of(own).map_err(|error| raised(&error))? {
                Some(mark) => mark.before(lane.stream).map_err(|error| raised(&error))?,
                None => {
                    return Err(captured(
                        "the stream of its library is captured, the move's is not",
                    ));
                }
            },
            Turn::Own(own, to) => own.before(to, lane.stream).map_err(|error| raised(&error))?,
            Turn::Kept | Turn::Free => return order(self.array, lane.stream),
        }
        Ok(None)
    }

    /// Refuses an array on which work is queued that no graph can wait for.
    fn in_graph(&self) -> PyResult<()> {
        match self.turn {
            Turn::Own(own, to) if own.is_free(to) => Ok(()),
            Turn::Own(..) => {
                Err(captured("work on it is queued that is not done; wait for it first"))
            }
            Turn::Stream(_) | Turn::Kept | Turn::Free => {
                Err(captured("its library does not use it on the stream that is captured"))
            }
        }
    }

    /// Has what is queued on the array later wait for the move, whose end is `mark`.
    fn behind(&self, py: Python<'_>, mark: &Arc<Mark>) -> Result<(), Error> {
        match self.turn {
            Turn::Stream(own) => mark.before(own),
            Turn::Own(own, to) => {
                own.used(to, mark);
                Ok(())
            }
            Turn::Kept => Ok(()),
            Turn::Free => wait(py, mark),
        }
    }

    /// The array, where nothing else keeps its memory until the move is done: this package's own waits when it is freed.
    fn held(&self) -> Option<Py<PyAny>> {
        match self.turn {
            Turn::Own(..) => None,
            Turn::Stream(_) | Turn::Kept | Turn::Free => Some(self.array.clone().unbind()),
        }
    }
}

impl Lane<'_> {
    fn mark_of(&self, stream: Stream) -> Result<Option<Mark>, Error> {
        Mark::new(self.cuda, self.ordinal, stream)
    }
}

/// Orders a move behind what is queued on its arrays, and gives what is held with them. Nothing is touched while the stream
/// is captured.
pub(crate) fn before(lane: &Lane<'_>, apart: &[Apart<'_, '_>]) -> PyResult<Vec<Py<PyAny>>> {
    match lane.mark_of(lane.stream).map_err(|error| raised(&error))? {
        Some(_) => apart.iter().filter_map(|one| one.before(lane).transpose()).collect(),
        None => apart.iter().try_for_each(Apart::in_graph).map(|()| Vec::new()),
    }
}

/// Orders later work behind a move that is queued, and holds its arrays with what `before` gave. Nothing of a capture has
/// begun: who launches its graph keeps the arrays.
pub(crate) fn behind(
    py: Python<'_>,
    lane: &Lane<'_>,
    apart: &[Apart<'_, '_>],
    mut kept: Vec<Py<PyAny>>,
) -> PyResult<()> {
    kept.extend(apart.iter().filter_map(Apart::held));
    let mark = match lane.mark_of(lane.stream) {
        Ok(None) => return Ok(()),
        Ok(Some(mark)) => Arc::new(mark),
        Err(error) => {
            // Nobody can say when they are free, so they never are.
            std::mem::forget(kept);
            return Err(late(&error));
        }
    };
    held::hold(&mark, kept);
    let done: Vec<Result<(), Error>> = apart.iter().map(|one| one.behind(py, &mark)).collect();
    // What the host has waited for is not held any longer.
    held::let_go();
    done.into_iter().collect::<Result<(), Error>>().map_err(|error| late(&error))
}

/// The longest pause between two questions whether work is done.
const PAUSE: Duration = Duration::from_micros(200);

/// Waits until a mark is done; the interpreter is free meanwhile.
fn wait(py: Python<'_>, mark: &Mark) -> Result<(), Error> {
    py.detach(|| {
        let mut pause = Duration::from_micros(1);
        while !mark.is_done()? {
            thread::sleep(pause);
            pause = (pause * 2).min(PAUSE);
        }
        Ok(())
    })
}

/// Why an array is not moved.
fn captured(why: &str) -> PyErr {
    let says = format!(
        "an array of the move cannot be ordered with a capture: {why}; use all arrays of the move on one stream"
    );
    refused("captured", says)
}

/// An error behind a launch: something may have been written.
fn late(error: &Error) -> PyErr {
    refused(
        "driver",
        format!("the move is queued, and what comes behind it could not be ordered: {error}"),
    )
}
