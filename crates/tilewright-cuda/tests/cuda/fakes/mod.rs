//! A driver and a compiler without a device: shared libraries of a few functions each, compiled by the machine's `cc`.
//!
//! Each test has its own copy of both, and so its own devices, log and failures.

use std::{
    ffi::{CStr, CString, c_char, c_int, c_void},
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
};

use libloading::Library;
use tempfile::TempDir;
use tilewright_cuda::{Cuda, DeviceBytes, Settings, Stream};
use tilewright_device::Target;

/// Both libraries, with the folder they work in.
pub(crate) struct Fakes {
    driver: Library,
    compiler: Library,
    folder: TempDir,
}

/// A failure of the driver that has no other meaning: `CUDA_ERROR_LAUNCH_FAILED`.
pub(crate) const FAILED: i32 = 719;

/// The libraries as files, compiled once in a process.
fn built() -> &'static [PathBuf; 3] {
    static BUILT: OnceLock<[PathBuf; 3]> = OnceLock::new();
    BUILT.get_or_init(|| {
        let to = Path::new(env!("CARGO_TARGET_TMPDIR"));
        [
            ("cuda", "cuda", None),
            ("nvrtc", "nvrtc", None),
            ("nvrtc", "old", Some("-DFAKE_WITHOUT_ARCHITECTURES")),
        ]
        .map(|(from, name, flag)| {
            let from =
                Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/cuda/fakes/{from}.c"));
            // Each process makes its own, so that none reads what another one writes.
            let made = to.join(format!("{name}.{}.so", std::process::id()));
            let mut cc = Command::new("cc");
            cc.args(["-std=gnu11", "-O1", "-Wall", "-shared", "-fPIC", "-o"]).arg(&made).arg(from);
            let run = cc.args(flag).args(["-ldl", "-lpthread"]).output().unwrap();
            assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
            let bytes = fs::read(&made).unwrap();
            fs::remove_file(&made).unwrap();
            let kept = to.join(format!("{name}.so"));
            let beside = to.join(format!("{name}.{}.new", std::process::id()));
            fs::write(&beside, bytes).unwrap();
            fs::rename(beside, &kept).unwrap();
            kept
        })
    })
}

impl Fakes {
    /// Two devices of compute capability 9.0, CUDA 12.4.
    pub(crate) fn new() -> Fakes {
        Fakes::with(2, 12_040)
    }

    pub(crate) fn with(devices: i32, version: i32) -> Fakes {
        let folder = tempfile::tempdir().unwrap();
        let [cuda, nvrtc, _] = built();
        let copy = |from: &Path, name: &str| {
            let to = folder.path().join(name);
            fs::copy(from, &to).unwrap();
            // SAFETY: the library is the one of this folder, without initialisers.
            unsafe { Library::new(to) }.unwrap()
        };
        let (driver, compiler) = (copy(cuda, "libcuda.so"), copy(nvrtc, "libnvrtc.so"));
        let fakes = Fakes { driver, compiler, folder };
        let path = CString::new(fakes.folder.path().to_str().unwrap()).unwrap();
        let setup =
            fakes.of_driver::<unsafe extern "C" fn(*const c_char, c_int, c_int)>(c"fake_setup");
        // SAFETY: the path is a text that ends in 0, and the function copies it.
        unsafe { setup(path.as_ptr(), devices, version) };
        let [cuda, host] =
            [Target::Cuda, Target::Host].map(|one| CString::new(one.header()).unwrap());
        type Setup = unsafe extern "C" fn(*const c_char, *const c_char, *const c_char);
        let setup = fakes.of_compiler::<Setup>(c"fake_compiler");
        // SAFETY: as above.
        unsafe { setup(path.as_ptr(), cuda.as_ptr(), host.as_ptr()) };
        fakes
    }

    /// A compiler that lacks functions, as one of CUDA 11.0 does.
    pub(crate) fn old_compiler() -> PathBuf {
        built()[2].clone()
    }

    fn of_driver<F: Copy>(&self, name: &CStr) -> F {
        // SAFETY: the types of the functions are those of `cuda.c`.
        unsafe { *self.driver.get::<F>(name).unwrap() }
    }

    fn of_compiler<F: Copy>(&self, name: &CStr) -> F {
        // SAFETY: the types of the functions are those of `nvrtc.c`.
        unsafe { *self.compiler.get::<F>(name).unwrap() }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Both libraries, with a folder for code.
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
        let set = self.of_driver::<unsafe extern "C" fn(c_int, c_int, c_int)>(c"fake_capability");
        // SAFETY: numbers alone.
        unsafe { set(device, major, minor) }
    }

    /// Memory of a device, which the test may read and write, for it is the host's.
    pub(crate) fn memory(&self, device: i32, bytes: usize) -> Memory {
        let alloc = self.of_driver::<unsafe extern "C" fn(c_int, u64) -> *mut u8>(c"fake_alloc");
        // SAFETY: numbers alone.
        let first = unsafe { alloc(device, bytes as u64) };
        // SAFETY: the memory is there for as long as the library is, and nobody else knows it.
        unsafe { std::ptr::write_bytes(first, 0, bytes) };
        Memory { first, bytes }
    }

    pub(crate) fn stream(&self, device: i32) -> Stream {
        self.stream_of(device, false)
    }

    /// A stream of a context that is not the device's primary one.
    pub(crate) fn foreign_stream(&self, device: i32) -> Stream {
        self.stream_of(device, true)
    }

    fn stream_of(&self, device: i32, foreign: bool) -> Stream {
        let make =
            self.of_driver::<unsafe extern "C" fn(c_int, c_int) -> *mut c_void>(c"fake_stream");
        // SAFETY: numbers alone; streams live as long as the library.
        unsafe { Stream::new(make(device, foreign.into()).addr() as u64) }
    }

    /// From here on the stream is captured or not.
    pub(crate) fn capture(&self, stream: Stream, status: i32) {
        type Set = unsafe extern "C" fn(*mut c_void, c_int, c_int);
        let set = self.of_driver::<Set>(c"fake_capture");
        let handle = if stream.handle() <= 2 { 0 } else { stream.handle() as usize };
        // SAFETY: the stream is one of `stream_of`, or null.
        unsafe { set(std::ptr::with_exposed_provenance_mut(handle), 0, status) }
    }

    /// The call after `after` others of this name, or of any name, fails.
    pub(crate) fn fail(&self, name: &str, after: i32) {
        let set = self.of_driver::<unsafe extern "C" fn(*const c_char, c_int, c_int)>(c"fake_fail");
        let name = CString::new(name).unwrap();
        // SAFETY: the name ends in 0 and is copied.
        unsafe { set(name.as_ptr(), after, FAILED) }
    }

    fn number(&self, name: &CStr) -> i32 {
        // SAFETY: the function takes nothing.
        unsafe { self.of_driver::<unsafe extern "C" fn() -> c_int>(name)() }
    }

    /// Whether a failure is still to come; it is called off.
    pub(crate) fn still_to_fail(&self) -> bool {
        let pending = self.number(c"fake_pending") != 0;
        self.fail("", -1);
        pending
    }

    /// How many contexts this thread has pushed.
    pub(crate) fn depth(&self) -> i32 {
        self.number(c"fake_depth")
    }

    /// Makes a context of somebody else the current one.
    pub(crate) fn push_foreign(&self, device: i32) {
        // SAFETY: numbers alone.
        unsafe { self.of_driver::<unsafe extern "C" fn(c_int)>(c"fake_push")(device) }
    }

    pub(crate) fn top_is_foreign(&self) -> bool {
        self.number(c"fake_top_is_foreign") != 0
    }

    /// How often the primary context of a device is retained.
    pub(crate) fn retained(&self, device: i32) -> i32 {
        let ask = self.of_driver::<unsafe extern "C" fn(c_int) -> c_int>(c"fake_retained");
        // SAFETY: numbers alone.
        unsafe { ask(device) }
    }

    /// The calls since the last time this was asked.
    pub(crate) fn log(&self) -> Vec<String> {
        let ask = self.of_driver::<unsafe extern "C" fn() -> *const c_char>(c"fake_log");
        // SAFETY: the text ends in 0 and lives until the next call.
        let text = unsafe { CStr::from_ptr(ask()) }.to_string_lossy().into_owned();
        text.lines().map(str::to_owned).collect()
    }

    pub(crate) fn compiler_version(&self, major: i32, minor: i32) {
        let set = self.of_compiler::<unsafe extern "C" fn(c_int, c_int)>(c"fake_compiler_version");
        // SAFETY: numbers alone.
        unsafe { set(major, minor) }
    }

    pub(crate) fn compiler_fails(&self, code: i32) {
        // SAFETY: numbers alone.
        unsafe { self.of_compiler::<unsafe extern "C" fn(c_int)>(c"fake_compiler_fails")(code) }
    }

    /// How many texts were compiled, or refused.
    pub(crate) fn compiled(&self) -> i32 {
        // SAFETY: the function takes nothing.
        unsafe { self.of_compiler::<unsafe extern "C" fn() -> c_int>(c"fake_compiled")() }
    }

    /// The options of the last text.
    pub(crate) fn options(&self) -> String {
        let ask = self.of_compiler::<unsafe extern "C" fn() -> *const c_char>(c"fake_options");
        // SAFETY: the text ends in 0 and lives as long as the library.
        unsafe { CStr::from_ptr(ask()) }.to_string_lossy().into_owned()
    }
}

/// Bytes of a device.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Memory {
    first: *mut u8,
    bytes: usize,
}

impl Memory {
    pub(crate) fn address(self) -> u64 {
        self.first.expose_provenance() as u64
    }

    /// All of it.
    pub(crate) fn whole(self) -> DeviceBytes {
        self.part(0, self.bytes)
    }

    /// `bytes` bytes from `at`.
    pub(crate) fn part(self, at: usize, bytes: usize) -> DeviceBytes {
        // SAFETY: the memory lives as long as the fake, and launches are over when they return.
        unsafe { DeviceBytes::new(self.address() + at as u64, bytes as u64) }
    }

    pub(crate) fn put(self, at: usize, bytes: &[u8]) {
        assert!(at + bytes.len() <= self.bytes);
        // SAFETY: within the memory, as was checked; nothing runs meanwhile.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.first.add(at), bytes.len()) }
    }

    pub(crate) fn get(self) -> Vec<u8> {
        // SAFETY: the memory has so many bytes, all written; nothing runs meanwhile.
        unsafe { std::slice::from_raw_parts(self.first, self.bytes) }.to_vec()
    }
}
