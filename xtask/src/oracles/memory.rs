//! Finds undefined behaviour and races: with Miri in the folders that contain all `unsafe` code, and with the
//! sanitizers in all tests of the crates that move data and in the tests of the Python package.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::shell::{Outcome, command, output, run as sh, target, works};

/// Cargo compiles build scripts and macros without these options only if a target is named.
const TRIPLE: &str = "x86_64-unknown-linux-gnu";

/// Returns the reason why Miri cannot run here, if any.
pub(crate) fn miri_lacks(root: &Path) -> Option<String> {
    let here =
        works(&mut command(root, &["rustup", "run", "nightly", "cargo", "miri", "--version"]));
    let how = "rustup toolchain install nightly --component miri,rust-src";
    (!here).then(|| format!("no Miri on a nightly toolchain here; `{how}` brings it"))
}

/// All vector instructions of x86-64: if they are enabled, the interpreted processor has them, and the tests use them
/// in addition to portable words.
const REGISTERS: &str = "-Ctarget-feature=+avx2,+avx512f,+avx512bw,+avx512vl,+avx512vbmi";

/// Tests to interpret: those of a package that these words select.
struct Interpreted {
    words: &'static [&'static str],
    flags: &'static str,
    compiler: &'static str,
}

const INTERPRETED: [Interpreted; 3] = [
    // Every kernel, and complete runs of plans.
    Interpreted {
        words: &["tilewright-relayout", "--lib", "--", "kernel", "sums", "--skip", "together"],
        flags: "-Zmiri-disable-isolation",
        compiler: REGISTERS,
    },
    // The queues of the thread pool's library obey only the newer borrowing rules, and its threads are never joined. So
    // the tests that use them run separately.
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

/// Interprets the tests of the kernels, of complete runs of plans, and of the structs of Python's arrays.
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

/// Returns the reason why the sanitizers cannot run here, if any.
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

/// A sanitizer, which checks the memory accesses of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sanitizer {
    /// Checks that each access is within allocated memory.
    Address,
    /// Checks that two threads do not access the same memory without synchronization.
    Thread,
}

impl Sanitizer {
    fn name(self) -> &'static str {
        match self {
            Sanitizer::Address => "address",
            Sanitizer::Thread => "thread",
        }
    }

    /// Returns a cargo command whose builds are instrumented.
    fn cargo(self, root: &Path, words: &[&str]) -> Outcome<std::process::Command> {
        let start = ["rustup", "run", "nightly", "cargo"];
        let name = self.name();
        let mut cargo = command(root, &[&start[..], words, &["--target", TRIPLE]].concat());
        cargo
            .env("CARGO_TARGET_DIR", target(root)?.join("oracles").join(name))
            .env("RUSTFLAGS", format!("-Zsanitizer={name} -Cunsafe-allow-abi-mismatch=sanitizer"))
            // Allocations beyond the available memory fail, as elsewhere.
            .env("ASAN_OPTIONS", "allocator_may_return_null=1");
        if self == Sanitizer::Thread {
            // Without it, the library's own locks look like races.
            cargo.arg("-Zbuild-std");
            // Pages of one test are reused by another: the memory is returned through system calls outside the C
            // library, so the sanitizer does not see it. Threads within a test are still checked.
            cargo.env("RUST_TEST_THREADS", "1");
        }
        Ok(cargo)
    }

    /// Runs the tests of relayout and files.
    pub(crate) fn tests(self, root: &Path) -> Outcome {
        let words = ["test", "--package", "tilewright-relayout", "--package", "tilewright-files"];
        let mut tests = self.cargo(root, &words)?;
        // The tests that count allocations or start child processes would also see those of the sanitizer.
        tests.args(["--lib", "--tests", "--", "--skip", "allocat"]);
        tests.args(["--skip", "faults", "--skip", "losses"]);
        sh(tests.env("TILEWRIGHT_JOBS", "300").env("PROPTEST_CASES", "8"))
    }
}

/// Returns the runtimes that a Python without a sanitizer must load first: that of the address sanitizer, and that of
/// C++, whose exceptions the former intercepts.
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

/// A Python program that reads freed memory: it must be reported, or the check would be worthless.
const FREED: &str = "import ctypes, numpy, tilewright
libc = ctypes.CDLL(None)
libc.malloc.restype, libc.free.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
at = libc.malloc(4096)
array = numpy.ctypeslib.as_array((ctypes.c_uint8 * 4096).from_address(at)).reshape(64, 64)
libc.free(at)
tilewright.relayout(array, to='col-major')";

/// Runs the tests of the Python package in this Python, with every access of the package's code checked.
pub(crate) fn python(root: &Path, python: &Path, preloaded: &str) -> Outcome {
    let package = package(root)?;
    let watched = |words: &[&str]| {
        let mut watched =
            command(&root.join("crates/tilewright-py"), &[&*python.to_string_lossy()]);
        watched
            .args(words)
            .env("PYTHONPATH", &package)
            .env("PYTHONDONTWRITEBYTECODE", "1")
            // Each Python object is a checked allocation. Leaks of Python itself are ignored.
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

/// Returns the folder of the package with its native module built for the address sanitizer.
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
