//! The calls of the driver for graphs, found apart from those of memory: a driver of CUDA 11.0 to 11.3 lacks one of them.
//!
//! Law: a graph is destroyed when what was launched of it is done.

use std::{
    ffi::{c_int, c_void},
    ptr,
    sync::Arc,
};

use super::{Driver, Stream};
use crate::error::Error;

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

/// A capture that other threads do not notice.
const THREAD_LOCAL: c_int = 1;

/// The functions, with the driver.
#[derive(Debug)]
pub(crate) struct Graphs {
    functions: Functions,
    driver: Arc<Driver>,
}

/// A captured graph, destroyed when dropped, once its stream is done. The context is the current one as long as it lives.
pub(crate) struct Graph<'a> {
    graphs: &'a Graphs,
    /// The stream of its launches, and what waits for one.
    stream: Stream,
    wait: &'a dyn Fn(Stream) -> Result<(), Error>,
    graph: usize,
    executable: usize,
}

/// A pointer of the driver's, as a number.
fn pointer(handle: usize) -> *mut c_void {
    ptr::with_exposed_provenance_mut(handle)
}

impl Graphs {
    /// The functions of the library that the driver came from.
    pub(crate) fn of(driver: &Arc<Driver>) -> Result<Graphs, Error> {
        let functions = driver.library().table(Functions::of, "a driver for CUDA 11.4")?;
        Ok(Graphs { functions, driver: driver.clone() })
    }

    /// What `work` queues on a stream as a graph, which `then` launches there; `wait` waits for a stream. The context is the current one. The caller holds the
    /// memory that the work names until this returns.
    pub(crate) fn capture<T>(
        &self,
        stream: Stream,
        work: impl FnOnce() -> Result<(), Error>,
        then: impl FnOnce(&Graph<'_>) -> Result<T, Error>,
        wait: &dyn Fn(Stream) -> Result<(), Error>,
    ) -> Result<T, Error> {
        // SAFETY: a `Stream` exists, by the promise of who made it.
        let code = unsafe { (self.functions.cuStreamBeginCapture_v2)(stream.raw(), THREAD_LOCAL) };
        self.driver.checked("cuStreamBeginCapture", code)?;
        let worked = work();
        let mut made = Graph { graphs: self, stream, wait, graph: 0, executable: 0 };
        let (mut graph, mut executable) = (ptr::null_mut(), ptr::null_mut());
        // SAFETY: `graph` is written; the capture that began above ends, whatever became of the work.
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
        // SAFETY: the executable graph lives as long as `self`, which ends inside `Graphs::capture`, whose caller holds the
        // memory that the work names; and that memory waits for what is queued before it is freed.
        let code = unsafe {
            (graphs.functions.cuGraphLaunch)(pointer(self.executable), self.stream.raw())
        };
        graphs.driver.checked("cuGraphLaunch", code)
    }

    fn destroy(&self) {
        let functions = &self.graphs.functions;
        if self.executable != 0 {
            // SAFETY: it was made by `Graphs::capture`; nothing that is queued needs it any more.
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
        // A graph that cannot be waited for is left as it is. Nobody can do anything about a failure.
        if (self.wait)(self.stream).is_ok() {
            self.destroy();
        }
    }
}
