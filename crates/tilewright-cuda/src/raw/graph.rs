//! The driver's calls for graphs, looked up separately from those of memory: a driver of CUDA 11.0 to 11.3 lacks one of
//! them.
//!
//! Law: a graph is destroyed after its launches are done.

use std::{
    ffi::{c_int, c_void},
    ptr,
    sync::Arc,
};

use super::{Driver, Stream};
use crate::Error;

super::library::functions! {
    /// The functions of libcuda for graphs.
    Functions {
        cuStreamBeginCapture_v2(*mut c_void, c_int);
        cuStreamEndCapture(*mut c_void, *mut *mut c_void);
        cuGraphInstantiateWithFlags(*mut *mut c_void, *mut c_void, u64);
        cuGraphLaunch(*mut c_void, *mut c_void);
        cuGraphExecDestroy(*mut c_void);
        cuGraphDestroy(*mut c_void);
    }
}

/// A capture that does not affect other threads.
const THREAD_LOCAL: c_int = 1;

/// The functions, with the driver.
#[derive(Debug)]
pub(crate) struct Graphs {
    functions: Functions,
    driver: Arc<Driver>,
}

/// A captured graph. Dropping it waits for its stream, and destroys it. The context is the current one as long as it
/// lives.
pub(crate) struct Graph<'a> {
    graphs: &'a Graphs,
    /// The stream of its launches, and the function that waits for a stream.
    stream: Stream,
    wait: &'a dyn Fn(Stream) -> Result<(), Error>,
    graph: usize,
    executable: usize,
}

/// Converts a number to a pointer of the driver.
fn pointer(handle: usize) -> *mut c_void {
    ptr::with_exposed_provenance_mut(handle)
}

impl Graphs {
    /// Looks up the functions in the driver's library.
    pub(crate) fn of(driver: &Arc<Driver>) -> Result<Graphs, Error> {
        let functions = driver.library().table(Functions::of, "a driver for CUDA 11.4")?;
        Ok(Graphs { functions, driver: driver.clone() })
    }

    /// Captures the work that `work` queues on a stream as a graph, which `then` launches there; `wait` waits for a
    /// stream. The context is the current one. The caller keeps the memory that the work names until this returns.
    pub(crate) fn capture<T>(
        &self,
        stream: Stream,
        work: impl FnOnce() -> Result<(), Error>,
        then: impl FnOnce(&Graph<'_>) -> Result<T, Error>,
        wait: &dyn Fn(Stream) -> Result<(), Error>,
    ) -> Result<T, Error> {
        // SAFETY: a `Stream` exists, by the promise of its maker.
        let code = unsafe { (self.functions.cuStreamBeginCapture_v2)(stream.raw(), THREAD_LOCAL) };
        self.driver.checked("cuStreamBeginCapture", code)?;
        let worked = work();
        let mut made = Graph { graphs: self, stream, wait, graph: 0, executable: 0 };
        let (mut graph, mut executable) = (ptr::null_mut(), ptr::null_mut());
        // SAFETY: `graph` is written; the capture that began above ends, even if the work failed.
        let ended = unsafe { (self.functions.cuStreamEndCapture)(stream.raw(), &mut graph) };
        made.graph = graph.expose_provenance();
        worked?;
        self.driver.checked("cuStreamEndCapture", ended)?;
        self.driver.relaxed(|| {
            // SAFETY: `executable` is written; the graph is the one of the capture.
            let code =
                unsafe { (self.functions.cuGraphInstantiateWithFlags)(&mut executable, graph, 0) };
            self.driver.checked("cuGraphInstantiate", code)
        })?;
        made.executable = executable.expose_provenance();
        then(&made)
    }
}

impl Graph<'_> {
    /// Queues the graph on the stream of its capture.
    pub(crate) fn launch(&self) -> Result<(), Error> {
        let graphs = self.graphs;
        // SAFETY: the executable graph lives as long as `self`, which ends inside `Graphs::capture`, whose caller keeps
        // the memory that the work names; and that memory waits for queued work before it is freed.
        let code = unsafe {
            (graphs.functions.cuGraphLaunch)(pointer(self.executable), self.stream.raw())
        };
        graphs.driver.checked("cuGraphLaunch", code)
    }

    fn destroy(&self) {
        let functions = &self.graphs.functions;
        if self.executable != 0 {
            // SAFETY: it was made by `Graphs::capture`, and no queued work needs it any more.
            unsafe { (functions.cuGraphExecDestroy)(pointer(self.executable)) };
        }
        if self.graph != 0 {
            // SAFETY: as above.
            unsafe { (functions.cuGraphDestroy)(pointer(self.graph)) };
        }
    }
}

impl Drop for Graph<'_> {
    fn drop(&mut self) {
        // If the driver cannot wait for a graph, it is not destroyed. A failure is ignored, because nothing can be done
        // about it.
        if (self.wait)(self.stream).is_ok() {
            self.destroy();
        }
    }
}
