//! Undefined behaviour and races: Miri over the folders that hold all `unsafe` code, and the sanitizers over all
//! tests of the crates that move data and over the tests of the Python package.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::shell::{Outcome, command, output, run as sh, target, works};

/// A named target only, so that build scripts and macros are compiled as ever.
const TRIPLE: &str = "x86_64-unknown-linux-gnu";

/// Why Miri cannot run here, if it cannot.
pub(crate) fn miri_lacks(root: &Path) -> Option<String> {
    let here =
        works(&mut command(root, &["rustup", "run", "nightly", "cargo", "miri", "--version"]));
    let how = "rustup toolchain install nightly --component miri,rust-src";
    (!here).then(|| format!("no Miri on a nightly toolchain here; `{how}` brings it"))
}

/// The instructions of all registers of x86-64: where they are on, the interpreter's processor has them, and the tests
/// take them beside portable words.
const REGISTERS: &str = "-Ctarget-feature=+avx2,+avx512f,+avx512bw,+avx512vl,+avx512vbmi";

/// Tests to interpret: those of a package that these words name.
struct Interpreted {
    words: &'static [&'static str],
    flags: &'static str,
    compiler: &'static str,
}

const INTERPRETED: [Interpreted; 3] = [
    // Every kernel, and plans run whole.
    Interpreted {
        words: &["tilewright-relayout", "--lib", "--", "kernel", "sums", "--skip", "together"],
        flags: "-Zmiri-disable-isolation",
        compiler: REGISTERS,
    },
    // The queues of the thread pool's library obey the newer rules of borrowing only, and its threads are
    // never joined: what uses them is a run of its own.
    Interpreted {
        words: &["tilewright-relayout", "--lib", "--", "together"],
        flags: "-Zmiri-disable-isolation -Zmiri-tree-borrows -Zmiri-ignore-leaks",
        compiler: REGISTERS,
    },
    // The structs of other libraries that the Python package reads.
    Interpreted {
        words: &["tilewright-py", "--test", "all", "foreign::"],
        flags: "-Zmiri-strict-provenance",
        compiler: "",
    },
];

/// The tests of the kernels, of plans run whole, and of the structs of Python's arrays, interpreted.
pub(crate) fn miri(root: &Path) -> Outcome {
    let folder = target(root)?.join("oracles/miri");
    for Interpreted { words, flags, compiler } in INTERPRETED {
        let start = ["rustup", "run", "nightly", "cargo", "miri", "test", "--package"];
        let words: Vec<&str> = start.iter().chain(words).copied().collect();
        let mut miri = command(root, &words);
        miri.env("CARGO_TARGET_DIR", &folder).env("PROPTEST_CASES", "4");
        sh(miri.env("MIRIFLAGS", flags).env("RUSTFLAGS", compiler))?;
    }
    Ok(())
}

/// Why the sanitizers cannot run here, if they cannot.
pub(crate) fn sanitizers_lack(root: &Path) -> Option<String> {
    let sysroot =
        output(&mut command(root, &["rustup", "run", "nightly", "rustc", "--print", "sysroot"]));
    let source = sysroot.map(|path| Path::new(path.trim()).join("lib/rustlib/src/rust/library"));
    let here = source.is_ok_and(|path| path.is_dir())
        && cfg!(all(target_arch = "x86_64", target_os = "linux"));
    let how = "rustup toolchain install nightly --component rust-src";
    (!here).then(|| {
        format!("no nightly toolchain with the source of the library here; `{how}` brings it")
    })
}

/// What watches the accesses to memory of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sanitizer {
    /// Whether each lies in memory that is there.
    Address,
    /// Whether two threads make one at a time.
    Thread,
}

impl Sanitizer {
    fn name(self) -> &'static str {
        match self {
            Sanitizer::Address => "address",
            Sanitizer::Thread => "thread",
        }
    }

    /// A command of cargo's with what it builds watched.
    fn cargo(self, root: &Path, words: &[&str]) -> Outcome<std::process::Command> {
        let start = ["rustup", "run", "nightly", "cargo"];
        let name = self.name();
        let mut cargo = command(root, &[&start[..], words, &["--target", TRIPLE]].concat());
        cargo
            .env("CARGO_TARGET_DIR", target(root)?.join("oracles").join(name))
            .env("RUSTFLAGS", format!("-Zsanitizer={name} -Cunsafe-allow-abi-mismatch=sanitizer"))
            // More memory than there is is refused, as elsewhere.
            .env("ASAN_OPTIONS", "allocator_may_return_null=1");
        if self == Sanitizer::Thread {
            // Without it the library's own locks look like races.
            cargo.arg("-Zbuild-std");
            // Pages of one test are another's after it: calls to the system are made without the C library, so it does
            // not see that they were given back. Threads within a test are watched all the same.
            cargo.env("RUST_TEST_THREADS", "1");
        }
        Ok(cargo)
    }

    /// The tests of relayout and files.
    pub(crate) fn tests(self, root: &Path) -> Outcome {
        let words = ["test", "--package", "tilewright-relayout", "--package", "tilewright-files"];
        let mut tests = self.cargo(root, &words)?;
        // The tests that count allocations and start processes of themselves see the sanitizer's as well.
        tests.args(["--lib", "--tests", "--", "--skip", "allocat"]);
        tests.args(["--skip", "faults", "--skip", "losses"]);
        sh(tests.env("TILEWRIGHT_JOBS", "300").env("PROPTEST_CASES", "8"))
    }
}

/// The runtimes that a Python which was built without a sanitizer loads before everything else: that of the address
/// sanitizer, and that of C++, whose exceptions the former watches.
pub(crate) fn preloaded(root: &Path) -> Outcome<String> {
    let find = |name: &str| {
        let asked = format!("-print-file-name={name}");
        let path = output(&mut command(root, &["cc", &asked]))?;
        let path = PathBuf::from(path.trim());
        let found = path.is_absolute().then(|| path.canonicalize().ok()).flatten();
        found.ok_or_else(|| format!("the C compiler here has no {name}"))
    };
    let both = [find("libasan.so")?, find("libstdc++.so.6")?];
    Ok(both.map(|path| path.to_string_lossy().into_owned()).join(":"))
}

/// A program of Python's that reads what was freed: it must be found, or nothing else would be.
const FREED: &str = "import ctypes, numpy, tilewright
libc = ctypes.CDLL(None)
libc.malloc.restype, libc.free.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
at = libc.malloc(4096)
array = numpy.ctypeslib.as_array((ctypes.c_uint8 * 4096).from_address(at)).reshape(64, 64)
libc.free(at)
tilewright.relayout(array, to='col-major')";

/// The tests of the Python package with every access of its own code watched, in this Python.
pub(crate) fn python(root: &Path, python: &Path, preloaded: &str) -> Outcome {
    let package = package(root)?;
    let watched = |words: &[&str]| {
        let mut watched =
            command(&root.join("crates/tilewright-py"), &[&*python.to_string_lossy()]);
        watched
            .args(words)
            .env("PYTHONPATH", &package)
            .env("PYTHONDONTWRITEBYTECODE", "1")
            // Each of Python's objects is an allocation that is watched; what it never frees is its own affair.
            .env("PYTHONMALLOC", "malloc")
            .env("ASAN_OPTIONS", "detect_leaks=0:allocator_may_return_null=1")
            .env("LD_PRELOAD", preloaded);
        watched
    };
    let freed = watched(&["-c", FREED]).output();
    let said = freed.map(|freed| String::from_utf8_lossy(&freed.stderr).into_owned());
    match said {
        Ok(said) if said.contains("heap-use-after-free") => {}
        said => return Err(format!("what was freed is read, and the sanitizer says {said:?}")),
    }
    sh(&mut watched(&["-m", "pytest", "--quiet", "-rs"]))
}

/// The folder of the package with its native module built for the address sanitizer.
fn package(root: &Path) -> Outcome<PathBuf> {
    sh(&mut Sanitizer::Address.cargo(root, &["build", "--package", "tilewright-py"])?)?;
    let folder = target(root)?.join("oracles/address");
    let package = folder.join("package");
    let from = root.join("crates/tilewright-py/python/tilewright");
    let to = package.join("tilewright");
    let said = |error: std::io::Error| format!("{}: {error}", to.display());
    fs::create_dir_all(&to).map_err(said)?;
    for file in fs::read_dir(&from).map_err(said)? {
        let file = file.map_err(said)?.path();
        if let (true, Some(name)) = (file.is_file(), file.file_name()) {
            fs::copy(&file, to.join(name)).map_err(said)?;
        }
    }
    let built = folder.join(TRIPLE).join("debug/lib_tilewright.so");
    fs::copy(built, to.join("_tilewright.abi3.so")).map_err(said)?;
    Ok(package)
}
