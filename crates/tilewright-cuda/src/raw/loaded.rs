//! Code in a context, and its launch.
//!
//! Law: a [`Loaded`] is launched with the arguments that its entries take: a source, a destination and the numbers of
//! one kernel of the text that it was made from, or a table of these.

use std::{
    ffi::{CStr, c_uint, c_void},
    ptr,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use super::{Context, Driver, Stream};
use crate::{
    Error,
    table::{JobTable, Launch, TextArguments},
};

/// A module of code in the primary context of a device, and its entries. It is unloaded when dropped, unless a graph
/// may hold it.
#[derive(Debug)]
pub(crate) struct Loaded {
    driver: Arc<Driver>,
    context: Context,
    module: Handle,
    one: Handle,
    many: Handle,
    shape: TextArguments,
    captured: AtomicBool,
}

/// A pointer of the driver, of which this process uses only the address.
#[derive(Clone, Copy, Debug)]
struct Handle(usize);

impl Handle {
    fn of(pointer: *mut c_void) -> Handle {
        Handle(pointer.expose_provenance())
    }

    fn raw(self) -> *mut c_void {
        ptr::with_exposed_provenance_mut(self.0)
    }
}

impl Loaded {
    /// Loads code that was compiled from a text of this shape in a context.
    pub(crate) fn of(
        driver: &Arc<Driver>,
        context: Context,
        code: &[u8],
        shape: TextArguments,
    ) -> Result<Loaded, Error> {
        // A text must end with 0, and code may be followed by one.
        let code = [code, &[0]].concat();
        // A driver may load code when its module is made, or when an entry is looked up.
        driver.within(context, || {
            driver.relaxed(|| {
                let mut loaded = Loaded::module(driver, context, &code, shape)?;
                loaded.one = loaded.entry(shape.one())?;
                loaded.many = loaded.entry(shape.many())?;
                Ok(loaded)
            })
        })
    }

    /// Loads a module of code that ends with 0, without its entries. The context is the current one.
    fn module(
        driver: &Arc<Driver>,
        context: Context,
        code: &[u8],
        shape: TextArguments,
    ) -> Result<Loaded, Error> {
        let mut module = ptr::null_mut();
        // SAFETY: `module` is written; `code` is what NVRTC returned for a text of this program, now or in the process
        // that stored it with its checksum; it ends with 0 and lives through the call.
        let done =
            unsafe { (driver.functions.cuModuleLoadData)(&mut module, code.as_ptr().cast()) };
        driver.checked("cuModuleLoadData", done)?;
        let none = Handle::of(ptr::null_mut());
        Ok(Loaded {
            driver: driver.clone(),
            context,
            module: Handle::of(module),
            one: none,
            many: none,
            shape,
            captured: AtomicBool::new(false),
        })
    }

    /// Returns the arguments of its entries.
    pub(crate) fn shape(&self) -> TextArguments {
        self.shape
    }

    /// Returns an entry of the module.
    fn entry(&self, name: &CStr) -> Result<Handle, Error> {
        let mut entry = ptr::null_mut();
        let get = self.driver.functions.cuModuleGetFunction;
        // SAFETY: `entry` is written; the module is loaded; `name` ends in 0.
        let code = unsafe { get(&mut entry, self.module.raw(), name.as_ptr()) };
        let call = format!("cuModuleGetFunction of {}", name.to_string_lossy());
        self.driver.checked(&call, code).map(|()| Handle::of(entry))
    }

    /// Marks that later launches may be part of a graph, which may keep the code for any time.
    pub(crate) fn keep(&self) {
        self.captured.store(true, Ordering::Relaxed);
    }

    /// Queues one kernel. The context is the current one.
    pub(crate) fn launch(&self, launch: Launch<'_>, stream: Stream) -> Result<(), Error> {
        if launch.params.len() != self.shape.params() {
            let (given, taken) = (launch.params.len(), self.shape.params());
            let says = format!("{given} numbers for a kernel that takes {taken}");
            return Err(Error::unsupported(says));
        }
        let (mut src, mut dst) = (launch.src, launch.dst);
        let params = launch.params.as_ptr().cast_mut().cast();
        let mut arguments =
            [ptr::from_mut(&mut src).cast(), ptr::from_mut(&mut dst).cast(), params];
        // SAFETY: the entry takes two addresses and `shape.params()` numbers by value, and `arguments` points at these,
        // which live through the call. The maker of the memory values promised that the memory lives until the stream
        // is done.
        unsafe { self.queue(self.one, launch.blocks, &mut arguments, stream) }
    }

    /// Queues the kernels of a table in one launch. The context is the current one.
    pub(crate) fn launch_table(&self, table: &JobTable, stream: Stream) -> Result<(), Error> {
        if table.words().len() != self.shape.table_words() {
            let (given, taken) = (table.words().len(), self.shape.table_words());
            let says = format!("a table of {given} numbers for a kernel that takes {taken}");
            return Err(Error::unsupported(says));
        }
        let mut count = table.count();
        let words = table.words().as_ptr().cast_mut().cast();
        let mut arguments = [words, ptr::from_mut(&mut count).cast()];
        // SAFETY: the entry takes a table of `shape.table_words()` numbers by value and a count, and `arguments` points
        // at these, which live through the call. The maker of the memory values promised that the memory lives until
        // the stream is done.
        unsafe { self.queue(self.many, table.blocks(), &mut arguments, stream) }
    }

    /// # Safety
    /// `arguments` has a pointer to each argument that the entry takes, and the memory that these name may be read and
    /// written until the stream is done.
    unsafe fn queue(
        &self,
        entry: Handle,
        blocks: c_uint,
        arguments: &mut [*mut c_void],
        stream: Stream,
    ) -> Result<(), Error> {
        let launch = self.driver.functions.cuLaunchKernel;
        let (threads, none) = (self.shape.threads(), ptr::null_mut());
        // SAFETY: `# Safety` of `queue`; the entry belongs to the module, which `self` keeps loaded; a `Stream` exists,
        // by the promise of its maker.
        let code = unsafe {
            let arguments = arguments.as_mut_ptr();
            launch(entry.raw(), blocks, 1, 1, threads, 1, 1, 0, stream.raw(), arguments, none)
        };
        self.driver.checked("cuLaunchKernel", code)
    }
}

impl Drop for Loaded {
    fn drop(&mut self) {
        if *self.captured.get_mut() {
            return;
        }
        let unload = || {
            // The driver does not promise that unloading waits for launches. If the wait fails, the module stays
            // loaded.
            self.driver.relaxed(|| self.driver.wait())?;
            // SAFETY: the module was loaded, it is not used afterwards, and no launch of it is queued. A failure leaves
            // it loaded.
            unsafe { (self.driver.functions.cuModuleUnload)(self.module.raw()) };
            Ok(())
        };
        // A context that was destroyed took its modules with it.
        let _ = self.driver.within(self.context, unload);
    }
}
