//! `cargo xtask oracles`: expensive checks against real libraries and the interpreter of undefined behaviour. A check
//! whose tools cannot be installed is skipped, with the reason; a check that runs must pass.

pub(crate) mod faults;
mod learn;
pub(crate) mod memory;
mod packings;
mod proofs;
pub(crate) mod release;

use std::path::{Path, PathBuf};

use crate::{
    ci::{self, Tool},
    conformance,
    shell::{self, Build, Outcome, command, has, output, run as sh, target, works},
    wheel,
};
use memory::Sanitizer;

/// The result of one oracle.
enum Verdict {
    Passed,
    Skipped(String),
    Failed(String),
}

/// A check of the workspace at this root; only the fuzz targets use the second argument.
type Check = fn(&Path, &Searched) -> Verdict;

/// The fuzz targets to run: those whose names contain `target`, each for `seconds` seconds.
pub(crate) struct Searched {
    pub(crate) target: String,
    pub(crate) seconds: u64,
}

/// Lists every oracle with what it checks.
pub(crate) fn list() {
    for (name, checks, _) in TABLE {
        println!("{name:30} {checks}");
    }
}

/// Runs every oracle whose name contains `only`, and continues after failures.
pub(crate) fn run(root: &Path, only: &str, searched: &Searched) -> Outcome {
    let mut failed = Vec::new();
    for (name, _, oracle) in TABLE.iter().filter(|(name, ..)| name.contains(only)) {
        println!("\n==> {name}");
        match oracle(root, searched) {
            Verdict::Passed => println!("    {name}: ok"),
            Verdict::Skipped(why) => println!("    {name}: skipped, {why}"),
            Verdict::Failed(why) => {
                println!("    {name}: FAILED, {why}");
                failed.push(*name);
            }
        }
    }
    match failed.is_empty() {
        true => Ok(()),
        false => Err(format!("these oracles disagree: {}", failed.join(", "))),
    }
}

fn verdict(outcome: Outcome) -> Verdict {
    outcome.map_or_else(Verdict::Failed, |()| Verdict::Passed)
}

/// Runs all tests, with every case; those of the page where their tools are.
fn laws(root: &Path) -> Verdict {
    let mut test = command(root, &["cargo", "test", "--workspace"]);
    let mut page = command(root, &["cargo", "xtask", "web", "--test"]);
    let tested = sh(test.env("TILEWRIGHT_LAWS", "all"));
    match Tool::missing(&[Tool::Node, Tool::Wasm, Tool::Browser], root) {
        Some(why) => match tested {
            Ok(()) => Verdict::Skipped(format!("the page's laws were not asked: {why}")),
            failed => verdict(failed),
        },
        None => verdict(tested.and_then(|()| sh(page.env("TILEWRIGHT_LAWS", "all")))),
    }
}

/// Runs the Python check; torch also reads the results if it can be installed.
fn torch(root: &Path) -> Verdict {
    match environment(root) {
        Err(why) => Verdict::Skipped(why),
        Ok((mut check, has_torch)) => {
            if has_torch {
                check.arg("--torch");
            } else {
                println!("    torch does not install here; numpy's reader alone");
            }
            verdict(sh(&mut check))
        }
    }
}

/// Returns the check with the program built and the libraries installed, and whether torch is one of them.
fn environment(root: &Path) -> Outcome<(std::process::Command, bool)> {
    let program = shell::build(root, Build::Release)?;
    let (python, has_torch) = libraries(root)?;
    Ok((shell::check(root, &python, &program), has_torch))
}

/// Returns a Python with the libraries installed, and whether torch is one of them.
fn libraries(root: &Path) -> Outcome<(PathBuf, bool)> {
    let python = pinned(root)?;
    let has_torch = has(root, &python, "torch");
    Ok((python, has_torch))
}

/// Returns a Python with the libraries that can be installed everywhere.
fn pinned(root: &Path) -> Outcome<PathBuf> {
    let pins = root.join("tests/python/requirements.txt");
    shell::venv(root, &target(root)?.join("oracles/venv"), &pins)
}

/// Compares the positions of elements in arrays of numpy, torch and jax; the latter two if they can be installed.
fn arrays(root: &Path) -> Verdict {
    let (python, has_torch) = match libraries(root) {
        Ok(libraries) => libraries,
        Err(why) => return Verdict::Skipped(why),
    };
    let python = python.to_string_lossy().into_owned();
    let has_jax = has(root, Path::new(&python), "jax");
    let mut words = vec![&*python, "tests/oracle/arrays.py", "numpy"];
    for (name, has) in [("torch", has_torch), ("jax", has_jax)] {
        match has {
            true => words.push(name),
            false => println!("    {name} does not install here; its arrays are not asked about"),
        }
    }
    verdict(output(&mut command(root, &words)).and_then(|questions| asked(root, &questions)))
}

/// Tests the Python package with tensors of torch, arrays of jax and files of others; packages that cannot be installed
/// are skipped.
fn package(root: &Path) -> Verdict {
    let (python, has_torch) = match libraries(root) {
        Ok(libraries) => libraries,
        Err(why) => return Verdict::Skipped(why),
    };
    match (has_torch, has(root, &python, "jax")) {
        (false, false) => Verdict::Skipped("neither torch nor jax installs here".into()),
        _ => {
            has(root, &python, "gguf");
            let files = ["torch", "accelerate", "jax", "readers", "sharded"];
            let files = files.map(|name| format!("tests/test_{name}.py"));
            verdict(wheel::test_with(root, &python, &files.each_ref().map(String::as_str)))
        }
    }
}

/// Returns whether jax is installed, or can be.
/// Compares the positions of an array's elements with oneDNN, for every tag it has.
fn onednn(root: &Path) -> Verdict {
    let compiler = ["c++", "g++", "clang++"]
        .into_iter()
        .find(|name| works(&mut command(root, &[*name, "--version"])));
    let (Some(compiler), Ok(folder)) = (compiler, target(root)) else {
        return Verdict::Skipped("there is no C++ compiler on the path".into());
    };
    let program = folder.join("oracles/onednn").to_string_lossy().into_owned();
    let source = "tests/oracle/onednn.cpp";
    let made = std::fs::create_dir_all(folder.join("oracles"));
    let words = [compiler, "-O1", "-o", &program, source, "-ldnnl"];
    if made.is_err() || !works(&mut command(root, &words)) {
        let how = "Debian: apt-get install libdnnl-dev";
        return Verdict::Skipped(format!(
            "{source} does not build, most likely for want of oneDNN's headers ({how})"
        ));
    }
    let questions = output(&mut command(root, &[&program]));
    verdict(questions.and_then(|questions| asked(root, &questions)))
}

/// Evaluates the questions with `tilewright eval -`, and compares the answers; each follows its question after a tab.
fn asked(root: &Path, questions: &str) -> Outcome {
    let program = shell::build(root, Build::Debug)?;
    let pairs: Vec<(&str, &str)> =
        questions.lines().filter_map(|line| line.split_once('\t')).collect();
    let expressions: String = pairs.iter().map(|(question, _)| format!("{question}\n")).collect();
    let file = target(root)?.join("oracles/questions.txt");
    let failed = |error: std::io::Error| format!("{}: {error}", file.display());
    std::fs::write(&file, expressions).map_err(failed)?;
    let input = std::fs::File::open(&file).map_err(failed)?;
    let mut eval = std::process::Command::new(&program);
    // An answer may be an error, which sets the exit code: only the lines are compared.
    let said = eval.args(["eval", "-"]).stdin(input).output();
    let said = said.map_err(|error| format!("{}: {error}", program.display()))?;
    let said = String::from_utf8_lossy(&said.stdout).into_owned();
    let answers: Vec<&str> = said.lines().collect();
    if pairs.is_empty() || answers.len() != pairs.len() {
        return Err(format!("{} answers to {} questions", answers.len(), pairs.len()));
    }
    let wrong = pairs.iter().zip(&answers).find(|((_, expected), answer)| expected != *answer);
    match wrong {
        None => {
            println!("    {} questions", pairs.len());
            Ok(())
        }
        Some(((question, expected), answer)) => {
            Err(format!("{question} is {expected}, the program says {answer}"))
        }
    }
}

/// Runs the kernels' property suite with ARM's vector instructions, under an emulator.
fn neon(root: &Path) -> Verdict {
    const TRIPLE: &str = "aarch64-unknown-linux-gnu";
    const LINKER: &str = "aarch64-linux-gnu-gcc";
    const EMULATOR: &str = "qemu-aarch64";
    let library =
        output(&mut command(root, &["rustc", "--print", "target-libdir", "--target", TRIPLE]));
    if !library.is_ok_and(|library| Path::new(library.trim()).exists()) {
        return Verdict::Skipped(format!("`rustup target add {TRIPLE}` brings its library"));
    }
    for program in [LINKER, EMULATOR] {
        if !works(&mut command(root, &[program, "--version"])) {
            let packages = "gcc-aarch64-linux-gnu and qemu-user";
            return Verdict::Skipped(format!("{program} is not installed; Debian has {packages}"));
        }
    }
    let folder = match target(root) {
        Ok(target) => target.join("oracles/neon"),
        Err(why) => return Verdict::Failed(why),
    };
    let words = ["cargo", "test", "--package", "tilewright-relayout", "--lib", "--target", TRIPLE];
    let mut tests = command(root, &words);
    tests
        .env("CARGO_TARGET_DIR", folder)
        .env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER", LINKER)
        .env(
            "CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER",
            format!("{EMULATOR} -L /usr/aarch64-linux-gnu"),
        );
    verdict(sh(&mut tests))
}

/// Kills the program and makes its system calls fail, one by one.
fn faults(root: &Path) -> Verdict {
    if !works(&mut command(root, &["strace", "-o", "/dev/null", "true"])) {
        return Verdict::Skipped("strace is not installed, or may not trace here".into());
    }
    let done = shell::build(root, Build::Debug)
        .and_then(|program| faults::run(&program, &target(root)?.join("oracles/faults")));
    match done {
        Ok(count) => {
            println!("    {count} faults, nothing lost");
            Verdict::Passed
        }
        Err(why) => Verdict::Failed(why),
    }
}

/// Runs a check, or skips it if something is missing here.
fn unless(lacks: Option<String>, check: impl FnOnce() -> Outcome) -> Verdict {
    lacks.map_or_else(|| verdict(check()), Verdict::Skipped)
}

/// Interprets the folders that contain all `unsafe` code.
fn miri(root: &Path) -> Verdict {
    unless(memory::miri_lacks(root), || memory::miri(root))
}

/// Runs the tests of the crates that move data with a sanitizer of a nightly compiler.
fn sanitizer(root: &Path, sanitizer: Sanitizer) -> Verdict {
    unless(memory::sanitizers_lack(root), || sanitizer.tests(root))
}

/// Runs the tests of the Python package with the address sanitizer, those with torch and jax if they can be installed.
fn sanitized_package(root: &Path) -> Verdict {
    if let Some(why) = memory::sanitizers_lack(root) {
        return Verdict::Skipped(why);
    }
    let libraries = || {
        let (preloaded, (python, _)) = (memory::preloaded(root)?, libraries(root)?);
        has(root, &python, "jax");
        wheel::requirements(root, &python).map(|()| (python, preloaded))
    };
    libraries().map_or_else(Verdict::Skipped, |(python, preloaded)| {
        verdict(memory::python(root, &python, &preloaded))
    })
}

/// Runs a million random jobs against a naive loop.
fn relayout(root: &Path) -> Verdict {
    let words =
        ["cargo", "test", "--package", "tilewright-files", "--test", "all", "differential::"];
    let words: Vec<&str> = words.into_iter().chain(["--", "--nocapture"]).collect();
    let mut jobs = command(root, &words);
    // A seed or a number of jobs in the environment takes precedence.
    if std::env::var_os("TILEWRIGHT_JOBS").is_none() {
        jobs.env("TILEWRIGHT_JOBS", "1000000");
    }
    verdict(sh(&mut jobs))
}

/// Checks a million mutations and a million relayouts.
fn fingerprint(root: &Path) -> Verdict {
    let words =
        ["cargo", "test", "--package", "tilewright-fingerprint", "--test", "all", "mutations::"];
    let words: Vec<&str> = words.into_iter().chain(["--", "--nocapture"]).collect();
    let mut jobs = command(root, &words);
    if std::env::var_os("TILEWRIGHT_JOBS").is_none() {
        jobs.env("TILEWRIGHT_JOBS", "1000000");
    }
    verdict(sh(&mut jobs))
}

/// Reshards pairs of placements, and compares them with a gather.
fn placements(root: &Path) -> Verdict {
    let words = ["cargo", "test", "--package", "tilewright-reshard", "--test", "all", "pairs::"];
    let words: Vec<&str> = words.into_iter().chain(["--", "--nocapture"]).collect();
    let mut pairs = command(root, &words);
    if std::env::var_os("TILEWRIGHT_PAIRS").is_none() {
        pairs.env("TILEWRIGHT_PAIRS", "10000");
    }
    verdict(sh(&mut pairs))
}

/// Compares bank conflicts and their smallest fixes with brute force.
fn banks(root: &Path) -> Verdict {
    let words = ["cargo", "test", "--package", "tilewright-banks", "--test", "all"];
    verdict(sh(command(root, &words).env("TILEWRIGHT_BANKS", "all")))
}

/// Fuzzes the readers, guided by coverage.
fn fuzz(root: &Path, searched: &Searched) -> Verdict {
    let lacks = "no nightly toolchain for Linux on x86-64 here";
    let lacks = (!faults::is_possible(root)).then(|| lacks.to_owned());
    unless(lacks, || faults::fuzz(root, &searched.target, searched.seconds))
}

/// Runs the program on a kilobyte of hostile text, optimised and with debug checks.
fn bounds(root: &Path) -> Verdict {
    verdict(
        shell::build(root, Build::Checked).and_then(|program| {
            faults::bounds(root, &program, &target(root)?.join("oracles/bounds"))
        }),
    )
}

/// Compares the reference readers with ours on files with changed headers.
fn readers(root: &Path) -> Verdict {
    let python = match pinned(root) {
        Ok(python) => python,
        Err(why) => return Verdict::Skipped(why),
    };
    let words = ["cargo", "build", "--package", "tilewright-files", "--example", "tensors"];
    let read = sh(&mut command(root, &words)).and_then(|()| target(root)).and_then(|target| {
        let ours = target.join("debug/examples/tensors").to_string_lossy().into_owned();
        let python = python.to_string_lossy().into_owned();
        sh(&mut command(root, &[&python, "tests/oracle/readers.py", &ours]))
    });
    verdict(read)
}

// The table of oracles: name, what it checks, and the check.
//
// Short checks are here. Those of what is published: packages, the compilers and systems they support, wheels. Those of device
// code without a device: compiled by NVRTC and read by its disassembler, run by OpenCL on the processor,
// compiled for AMD's GPUs; and random pairs of layouts on the simulated device.

const TABLE: [(&str, &str, Check); 44] = [
    (
        "laws",
        "all tests, with every case of the laws of which `cargo test` checks a part",
        |root, _| laws(root),
    ),
    (
        "safetensors and torch",
        "converted files, read back by safetensors, NumPy and torch",
        |root, _| torch(root),
    ),
    (
        "arrays of numpy, torch and jax",
        "where these libraries put the elements of strided arrays",
        |root, _| arrays(root),
    ),
    (
        "the package with torch and jax",
        "the Python package on torch tensors, jax arrays and files that other libraries write",
        |root, _| package(root),
    ),
    ("GGUF files", "GGUF files converted there and back, each step read by gguf", |root, _| {
        packings::gguf(root)
    }),
    (
        "pt files",
        "checkpoints of torch converted to safetensors, compared with what torch loads",
        |root, _| packings::pt(root),
    ),
    ("npz files", "NumPy archives converted there and back, each step read by NumPy", |root, _| {
        packings::npz(root)
    }),
    (
        "sharded checkpoints",
        "FSDP2 over tensor parallelism on 8 processes, resharded, loaded by torch; Megatron's rules",
        |root, _| packings::sharded(root),
    ),
    (
        "shards of torch and jax",
        "which elements each device of torch and JAX holds, beside `tilewright shards`",
        |root, _| packings::shards(root),
    ),
    (
        "clusters",
        "plans run by ranks, Ray and Dask while 100 processes are killed (TILEWRIGHT_KILLS)",
        |root, _| packings::clusters(root),
    ),
    (
        "recipes",
        "every shipped recipe on tiny models, read by its consumer (RECIPES names some)",
        |root, _| packings::recipes(root),
    ),
    (
        "transformers",
        "recipes generated for every type of transformers, exact both ways; its defects, found by audits (TYPES names some)",
        |root, _| packings::transformers(root),
    ),
    (
        "learn",
        "vLLM's loader of eleven architectures at 1, 2 and 4 ranks, learned, checked, converted, updated and started (RANKS)",
        |root, _| learn::engines(root),
    ),
    (
        "remote",
        "checkpoints in S3 (moto), Azure (azurite) and a hub, read back by others' clients; faults at each request (FAULTS=all)",
        |root, _| packings::remote(root),
    ),
    (
        "readers",
        "files with changed headers: the reference readers and ours accept the same ones",
        |root, _| readers(root),
    ),
    ("oneDNN", "where oneDNN puts the elements of an array, for every tag", |root, _| onednn(root)),
    ("NEON, emulated", "the kernel suite with ARM's registers, under QEMU", |root, _| neon(root)),
    ("miri", "all kernels and the structs of other libraries, interpreted by Miri", |root, _| {
        miri(root)
    }),
    (
        "sanitizers: address",
        "tests of relayout and files under the address sanitizer",
        |root, _| sanitizer(root, Sanitizer::Address),
    ),
    ("sanitizers: thread", "tests of relayout and files under the thread sanitizer", |root, _| {
        sanitizer(root, Sanitizer::Thread)
    }),
    ("sanitizers: python", "tests of the Python package under the address sanitizer", |root, _| {
        sanitized_package(root)
    }),
    ("faults", "the program killed, and its calls failed, at every system call", |root, _| {
        faults(root)
    }),
    (
        "relayout",
        "a million random jobs against a naive loop (TILEWRIGHT_SEED, _JOB, _JOBS)",
        |root, _| relayout(root),
    ),
    (
        "fingerprint",
        "a million mutations, all found, and a million relayouts, none reported",
        |root, _| fingerprint(root),
    ),
    (
        "placements",
        "ten thousand random pairs of placements, compared with a gather (TILEWRIGHT_PAIRS)",
        |root, _| placements(root),
    ),
    (
        "banks",
        "conflicts and smallest swizzles of all small matrices, against brute force",
        |root, _| banks(root),
    ),
    ("functions for CUDA", "offset functions of every format, compiled by NVRTC", |root, _| {
        packings::nvrtc(root)
    }),
    (
        "devices",
        "kernels compiled by NVRTC, clang and OpenCL, run on the CPU, and on the simulated device",
        |root, _| devices(root),
    ),
    (
        "device code by NVRTC",
        "kernels that move arrays, compiled for architectures 7.5 to 12.0",
        |root, _| packings::device_code(root),
    ),
    (
        "packings of kernels",
        "packing functions of vLLM, torchao, bitsandbytes and others beside the named formats",
        |root, _| packings::packings(root),
    ),
    (
        "XLA and Triton",
        "what XLA's parser and Triton's linear layouts answer, as the page of comparisons states",
        |root, _| packings::others(root),
    ),
    (
        "Axe",
        "layouts that TVM prints, and where it puts each element, beside the recorded rows",
        |root, _| packings::axe(root),
    ),
    (
        "peers",
        "questions that pycute, tensor-layouts, einops, Triton and the program answer: who differs, who is right",
        |root, _| packings::peers(root),
    ),
    (
        "proofs",
        "the theorems of proofs/, compiled by Coq, with their assumptions; Coq and the program beside each other",
        |root, _| proofs::proofs(root),
    ),
    ("fuzz", "texts and files searched by coverage, a minute a target (--seconds N)", fuzz),
    (
        "bounds",
        "the worst kilobyte of hostile text for every command: time and memory",
        |root, _| bounds(root),
    ),
    ("licences", "licences, versions and sources of all dependencies", |root, _| licences(root)),
    ("advisories", "security advisories against dependencies", |root, _| advisories(root)),
    ("packages", "every crate built from its package alone, as `cargo publish` does", |root, _| {
        packages(root)
    }),
    (
        "api",
        "public items that changed since the last release need its next version (TILEWRIGHT_BASE names another commit)",
        |root, _| api(root),
    ),
    ("msrv", "every crate checked by the oldest compiler that Cargo.toml promises", |root, _| {
        msrv(root)
    }),
    ("platforms", "`cargo check` for ARM Linux, macOS and Windows", |root, _| platforms(root)),
    (
        "released",
        "program and wheel built as published: the checks and tests that `ci` runs on its own build",
        |root, _| released(root),
    ),
    ("wheels", "all wheels and the source distribution built, installed and used", |root, _| {
        wheels(root)
    }),
];

/// Checks the licences, versions and sources of all dependencies.
fn licences(root: &Path) -> Verdict {
    release::has_deny(root).map_or_else(Verdict::Skipped, |()| verdict(release::licences(root)))
}

/// Checks the advisories against dependencies, whose database is not on the registry.
fn advisories(root: &Path) -> Verdict {
    let here = release::has_deny(root).and_then(|()| release::has_advisories(root));
    here.map_or_else(Verdict::Skipped, |()| verdict(release::advisories(root)))
}

/// Builds every crate from its package alone.
fn packages(root: &Path) -> Verdict {
    verdict(release::packages(root, true))
}

/// Checks the oldest compiler that is promised.
fn msrv(root: &Path) -> Verdict {
    let version = match release::oldest(root) {
        Ok(version) => version,
        Err(why) => return Verdict::Failed(why),
    };
    let here = release::has_compiler(root, &version);
    here.map_or_else(Verdict::Skipped, |()| verdict(release::check_with(root, &version)))
}

/// Compares the public items of every crate with those of the last release.
fn api(root: &Path) -> Verdict {
    match release::last(root) {
        Err(why) => Verdict::Skipped(why),
        Ok(base) => match release::has_semver_checks(root) {
            Err(why) => Verdict::Skipped(why),
            Ok(()) => verdict(release::compatible(root, &base)),
        },
    }
}

/// Checks the libraries and the program for other systems whose standard libraries can be fetched.
fn platforms(root: &Path) -> Verdict {
    let mut missing = Vec::new();
    for triple in release::TARGETS {
        match release::has(root, triple) {
            Err(why) => missing.push(why),
            Ok(()) => {
                println!("    {triple}");
                if let Err(why) = release::check(root, triple) {
                    return Verdict::Failed(why);
                }
            }
        }
    }
    missing.iter().for_each(|why| println!("    {why}"));
    if missing.len() < release::TARGETS.len() {
        Verdict::Passed
    } else {
        Verdict::Skipped("the standard library of another system is not installed".into())
    }
}

/// Builds program, wheel and the documentation of each feature as published: the checks of the program, and the package's tests
/// where nothing else is installed.
fn released(root: &Path) -> Verdict {
    if let Err(why) = shell::system(root) {
        return Verdict::Skipped(why);
    }
    let program = release::links_by_feature(root);
    let program = program.and_then(|()| shell::build(root, Build::Release)).and_then(|program| {
        ci::reference(root, &program)?;
        conformance::ours(root, &program)
    });
    verdict(program.and_then(|()| wheel::build(root)).and_then(|wheel| wheel::test(root, &wheel)))
}

/// Installs and uses the wheels of all machines and the source distribution.
fn wheels(root: &Path) -> Verdict {
    match shell::system(root) {
        Err(why) => Verdict::Skipped(why),
        Ok(_) => verdict(wheel::test_all(root)),
    }
}

/// The sets of cases that the example `cases` writes for the compilers, and for devices that run them.
const WRITTEN: [&str; 5] = ["memory", "small", "anywhere", "pairs", "tables"];

/// The scripts, and the sets of cases for each.
const SCRIPTS: [(&str, &[&str]); 3] = [
    ("cuda", &["memory"]),
    ("opencl", &["small", "anywhere", "pairs", "tables"]),
    ("amd", &["memory", "tables"]),
];

/// Compiles kernels of the benchmark's cases with the compilers that can be installed, and runs ten thousand random
/// pairs.
fn devices(root: &Path) -> Verdict {
    match target(root).map(|target| target.join("oracles/devices")) {
        Err(why) => Verdict::Failed(why),
        // A failure of one does not prevent the other.
        Ok(folder) => {
            let compiled = written(root, &folder).and_then(|()| compiled(root, &folder));
            verdict(compiled.and(pairs(root)))
        }
    }
}

/// Writes the kernels of all cases, and their data.
fn written(root: &Path, folder: &Path) -> Outcome {
    WRITTEN.into_iter().try_for_each(|what| {
        let words = ["cargo", "run", "--quiet", "--package", "tilewright-device"];
        let to = folder.join(what);
        // Kernels of an earlier state are removed.
        let _ = std::fs::remove_dir_all(&to);
        sh(command(root, &words).args(["--example", "cases", "--", what]).arg(to))
    })
}

/// Runs each compiler on them, one after another; compilers that cannot be installed are skipped, with the reason.
fn compiled(root: &Path, folder: &Path) -> Outcome {
    let pins = root.join("tests/oracle/devices/requirements.txt");
    let python = match shell::venv(root, &folder.join("venv"), &pins) {
        Ok(python) => python,
        Err(why) => {
            println!("    the compilers are left out, {why}");
            return Ok(());
        }
    };
    let failed: Vec<String> = SCRIPTS
        .into_iter()
        .filter_map(|(script, folders)| {
            println!("    {script}");
            let script = format!("tests/oracle/devices/{script}.py");
            let mut asked = command(root, &[&*python.to_string_lossy(), &script]);
            asked.args(folders.iter().map(|name| folder.join(name)));
            // PoCL keeps its compiled kernels in the same folder.
            asked.env("POCL_CACHE_DIR", folder.join("pocl")).env("PYTHONDONTWRITEBYTECODE", "1");
            sh(&mut asked).err()
        })
        .collect();
    match failed.is_empty() {
        true => Ok(()),
        false => Err(failed.join("; ")),
    }
}

/// Runs random pairs on the simulated device.
fn pairs(root: &Path) -> Outcome {
    let words = ["cargo", "test", "--package", "tilewright-device", "--test", "all", "pairs::"];
    let mut pairs = command(root, &words);
    pairs.args(["--", "--nocapture"]);
    // A number in the environment takes precedence.
    if std::env::var_os("TILEWRIGHT_PAIRS").is_none() {
        pairs.env("TILEWRIGHT_PAIRS", "10000");
    }
    sh(&mut pairs)
}
