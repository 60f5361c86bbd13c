//! The emulated driver and compiler, and their functions for tests.
//!
//! Each test has its own copy of both, and so its own devices, log and failures.

use std::{
    cell::Cell,
    ffi::{CStr, CString, c_char, c_int, c_void},
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
};

use libloading::Library;
use tempfile::TempDir;
use tilewright_cuda::{Cuda, DeviceBytes, Settings, Stream};

/// Both libraries, with their folder.
pub(crate) struct Emulated {
    driver: Library,
    compiler: Library,
    folder: TempDir,
    /// A stream that is captured while the default one must not be used.
    other: Cell<u64>,
}

/// A failure of the driver without another meaning: `CUDA_ERROR_LAUNCH_FAILED`.
pub(crate) const FAILED: i32 = 719;

/// The libraries; the last is an older compiler.
const LIBRARIES: [&str; 3] = ["libcuda.so", "libnvrtc.so", "libnvrtc-old.so"];

/// Returns their bytes, compiled once in a process.
fn built() -> &'static [Vec<u8>; 3] {
    static BUILT: OnceLock<[Vec<u8>; 3]> = OnceLock::new();
    BUILT.get_or_init(|| {
        let to = tempfile::tempdir().unwrap();
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("emulated/build.sh");
        let run = Command::new("sh").arg(script).arg(to.path()).output().unwrap();
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
        LIBRARIES.map(|name| fs::read(to.path().join(name)).unwrap())
    })
}

impl Emulated {
    /// Makes two devices of compute capability 9.0, with CUDA 12.4.
    pub(crate) fn new() -> Emulated {
        Emulated::with(2, 12_040)
    }

    pub(crate) fn with(devices: i32, version: i32) -> Emulated {
        Emulated::of(built(), devices, version)
    }

    /// Makes a driver that lacks a function: the library's table of names has another name there.
    pub(crate) fn without(function: &str) -> Emulated {
        let mut libraries = built().clone();
        let name = format!("\0{function}\0").into_bytes();
        let found = |bytes: &[u8]| bytes.windows(name.len()).position(|bytes| bytes == name);
        assert!(found(&libraries[0]).is_some(), "{function}");
        while let Some(at) = found(&libraries[0]) {
            libraries[0][at + 1] = b'-';
        }
        Emulated::of(&libraries, 2, 12_040)
    }

    fn of(libraries: &[Vec<u8>; 3], devices: i32, version: i32) -> Emulated {
        let folder = tempfile::tempdir().unwrap();
        for (name, bytes) in LIBRARIES.iter().zip(libraries) {
            fs::write(folder.path().join(name), bytes).unwrap();
        }
        // SAFETY: the libraries are those of this crate's folder, without initialisers.
        let open = |name| unsafe { Library::new(folder.path().join(name)) }.unwrap();
        let (driver, compiler) = (open("libcuda.so"), open("libnvrtc.so"));
        let machine = Emulated { driver, compiler, folder, other: Cell::new(0) };
        let setup = machine.of_driver::<unsafe extern "C" fn(c_int, c_int)>(c"emulated_setup");
        // SAFETY: numbers alone.
        unsafe { setup(devices, version) };
        machine
    }

    /// Returns the path of a compiler that lacks functions, as that of CUDA 11.0.
    pub(crate) fn old_compiler(&self) -> PathBuf {
        self.folder.path().join("libnvrtc-old.so")
    }

    /// Returns a function of the driver, which is called directly.
    pub(crate) fn of_driver<F: Copy>(&self, name: &CStr) -> F {
        // SAFETY: the types of the functions are those of the folder `driver`.
        unsafe { *self.driver.get::<F>(name).unwrap() }
    }

    fn of_compiler<F: Copy>(&self, name: &CStr) -> F {
        // SAFETY: the types of the functions are those of `compiler.c`.
        unsafe { *self.compiler.get::<F>(name).unwrap() }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Returns settings with both libraries and a folder for code.
    pub(crate) fn settings(&self) -> Settings {
        let own = |name| self.folder.path().join(name);
        Settings::default()
            .with_driver(own("libcuda.so"))
            .with_compiler(own("libnvrtc.so"))
            .with_cache(own("cache"))
    }

    pub(crate) fn open(&self) -> Cuda {
        Cuda::open(&self.settings()).unwrap()
    }

    pub(crate) fn capability(&self, device: i32, major: i32, minor: i32) {
        let set =
            self.of_driver::<unsafe extern "C" fn(c_int, c_int, c_int)>(c"emulated_capability");
        // SAFETY: numbers alone.
        unsafe { set(device, major, minor) }
    }

    /// Makes the driver also load machine code of a device, whose launches then do nothing.
    pub(crate) fn takes_machine_code(&self) {
        let set = self.of_driver::<unsafe extern "C" fn(c_int)>(c"emulated_takes_machine_code");
        // SAFETY: numbers alone.
        unsafe { set(1) }
    }

    /// Makes the driver look up addresses only in a context.
    pub(crate) fn needs_context(&self) {
        let set = self.of_driver::<unsafe extern "C" fn(c_int)>(c"emulated_needs_context");
        // SAFETY: numbers alone.
        unsafe { set(1) }
    }

    /// Ends the capture of a stream, and returns its graph.
    pub(crate) fn captured(&self, stream: Stream) -> u64 {
        self.ended(stream).unwrap()
    }

    /// Ends the capture of a stream, and returns its graph, or the driver's number if an error ended the capture
    /// before.
    pub(crate) fn ended(&self, stream: Stream) -> Result<u64, i32> {
        type End = unsafe extern "C" fn(*mut c_void, *mut u64) -> c_int;
        let mut graph = 0;
        let stream = std::ptr::with_exposed_provenance_mut(stream.handle() as usize);
        // SAFETY: the stream is one of `stream_of`; a handle is written.
        let code = unsafe { self.of_driver::<End>(c"cuStreamEndCapture")(stream, &mut graph) };
        if code == 0 { Ok(graph) } else { Err(code) }
    }

    /// Queues a graph on a stream.
    pub(crate) fn run(&self, graph: u64, stream: Stream) {
        type Launch = unsafe extern "C" fn(*mut c_void, *mut c_void) -> c_int;
        let of = |handle: u64| std::ptr::with_exposed_provenance_mut(handle as usize);
        let mut none = std::ptr::null_mut::<c_void>();
        self.push_primary(0);
        // SAFETY: both are handles of this library; a graph of the emulated driver is one that can be launched.
        unsafe {
            let launch = self.of_driver::<Launch>(c"cuGraphLaunch");
            assert_eq!(launch(of(graph), of(stream.handle())), 0);
            type Pop = unsafe extern "C" fn(*mut *mut c_void) -> c_int;
            self.of_driver::<Pop>(c"cuCtxPopCurrent_v2")(&mut none);
        }
    }

    pub(crate) fn push_primary(&self, device: i32) {
        // SAFETY: numbers alone.
        unsafe { self.of_driver::<unsafe extern "C" fn(c_int)>(c"emulated_push_primary")(device) }
    }

    /// Allocates memory of a device, filled with 0.
    pub(crate) fn memory(&self, device: i32, bytes: usize) -> Memory {
        let alloc = self.of_driver::<unsafe extern "C" fn(c_int, u64) -> u64>(c"emulated_alloc");
        // SAFETY: numbers alone.
        let address = unsafe { alloc(device, bytes as u64) };
        assert!(address > 0);
        let (get, put) = (self.of_driver(c"emulated_get"), self.of_driver(c"emulated_put"));
        let memory = Memory { address, bytes, get, put };
        memory.put(0, &vec![0; bytes]);
        memory
    }

    pub(crate) fn stream(&self, device: i32) -> Stream {
        self.stream_of(device, false)
    }

    /// Makes a stream of a context that is not the device's primary one.
    pub(crate) fn foreign_stream(&self, device: i32) -> Stream {
        self.stream_of(device, true)
    }

    fn stream_of(&self, device: i32, foreign: bool) -> Stream {
        let make =
            self.of_driver::<unsafe extern "C" fn(c_int, c_int) -> *mut c_void>(c"emulated_stream");
        // SAFETY: numbers alone; streams live as long as the library.
        unsafe { Stream::new(make(device, foreign.into()).expose_provenance() as u64) }
    }

    /// Sets whether the stream is captured (1), was until an error (2), or is not (0). For the default stream: whether
    /// another one is captured, during which it must not be used.
    pub(crate) fn capture(&self, stream: Stream, status: i32) {
        let set = self.of_driver::<unsafe extern "C" fn(*mut c_void, c_int)>(c"emulated_capture");
        let handle = if stream == Stream::LEGACY {
            if self.other.get() == 0 {
                self.other.set(self.stream(0).handle());
            }
            self.other.get()
        } else {
            stream.handle()
        };
        // SAFETY: the stream is one of `stream_of`.
        unsafe { set(std::ptr::with_exposed_provenance_mut(handle as usize), status) }
    }

    /// Makes the call after `after` others of this name, or of any name, fail.
    pub(crate) fn fail(&self, name: &str, after: i32) {
        let set =
            self.of_driver::<unsafe extern "C" fn(*const c_char, c_int, c_int)>(c"emulated_fail");
        let name = CString::new(name).unwrap();
        // SAFETY: the name ends in 0 and is copied.
        unsafe { set(name.as_ptr(), after, FAILED) }
    }

    fn number(&self, name: &CStr) -> i32 {
        // SAFETY: the function takes no arguments.
        unsafe { self.of_driver::<unsafe extern "C" fn() -> c_int>(name)() }
    }

    /// Returns whether a failure is still to come, and cancels it.
    pub(crate) fn still_to_fail(&self) -> bool {
        let pending = self.number(c"emulated_pending") != 0;
        self.fail("", -1);
        pending
    }

    /// Returns the number of contexts that this thread has pushed.
    pub(crate) fn depth(&self) -> i32 {
        self.number(c"emulated_depth")
    }

    /// Makes a foreign context the current one.
    pub(crate) fn push_foreign(&self, device: i32) {
        // SAFETY: numbers alone.
        unsafe { self.of_driver::<unsafe extern "C" fn(c_int)>(c"emulated_push")(device) }
    }

    pub(crate) fn top_is_foreign(&self) -> bool {
        self.number(c"emulated_top_is_foreign") != 0
    }

    /// Returns the number of times that the primary context of a device is retained.
    pub(crate) fn retained(&self, device: i32) -> i32 {
        let ask = self.of_driver::<unsafe extern "C" fn(c_int) -> c_int>(c"emulated_retained");
        // SAFETY: numbers alone.
        unsafe { ask(device) }
    }

    /// Returns the calls since the last query.
    pub(crate) fn log(&self) -> Vec<String> {
        let ask = self.of_driver::<unsafe extern "C" fn() -> *const c_char>(c"emulated_log");
        // SAFETY: the text ends in 0 and lives until the next call.
        let text = unsafe { CStr::from_ptr(ask()) }.to_string_lossy().into_owned();
        text.lines().map(str::to_owned).collect()
    }

    pub(crate) fn compiler_version(&self, major: i32, minor: i32) {
        let set =
            self.of_compiler::<unsafe extern "C" fn(c_int, c_int)>(c"emulated_compiler_version");
        // SAFETY: numbers alone.
        unsafe { set(major, minor) }
    }

    pub(crate) fn compiler_fails(&self, code: i32) {
        // SAFETY: numbers alone.
        unsafe { self.of_compiler::<unsafe extern "C" fn(c_int)>(c"emulated_compiler_fails")(code) }
    }

    /// Returns the number of texts that were compiled or refused.
    pub(crate) fn compiled(&self) -> i32 {
        // SAFETY: the function takes no arguments.
        unsafe { self.of_compiler::<unsafe extern "C" fn() -> c_int>(c"emulated_compiled")() }
    }

    /// Returns the options of the last text.
    pub(crate) fn options(&self) -> String {
        let ask = self.of_compiler::<unsafe extern "C" fn() -> *const c_char>(c"emulated_options");
        // SAFETY: the text ends in 0 and lives as long as the library.
        unsafe { CStr::from_ptr(ask()) }.to_string_lossy().into_owned()
    }
}

/// Memory of a device, which the host reaches only by copies.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Memory {
    address: u64,
    bytes: usize,
    get: unsafe extern "C" fn(u64, *mut u8, u64) -> c_int,
    put: unsafe extern "C" fn(u64, *const u8, u64) -> c_int,
}

impl Memory {
    /// Returns the whole memory.
    pub(crate) fn whole(self) -> DeviceBytes {
        self.part(0, self.bytes)
    }

    /// Returns `bytes` bytes from `at` on.
    pub(crate) fn part(self, at: usize, bytes: usize) -> DeviceBytes {
        // SAFETY: the memory lives as long as the library.
        unsafe { DeviceBytes::new(self.address + at as u64, bytes as u64) }
    }

    /// Writes to it after all queued work is done.
    pub(crate) fn put(self, at: usize, bytes: &[u8]) {
        // SAFETY: `bytes` are read; the driver refuses addresses outside of its memory.
        let code =
            unsafe { (self.put)(self.address + at as u64, bytes.as_ptr(), bytes.len() as u64) };
        assert!(code == 0 || bytes.is_empty(), "{code}");
    }

    /// Reads it after all queued work is done.
    pub(crate) fn get(self) -> Vec<u8> {
        let mut bytes = vec![0; self.bytes];
        // SAFETY: `bytes` has space for the data; the driver refuses addresses outside of its memory.
        let code = unsafe { (self.get)(self.address, bytes.as_mut_ptr(), self.bytes as u64) };
        assert!(code == 0 || bytes.is_empty(), "{code}");
        bytes
    }
}
