//! The table of oracles: name, what it checks, and the check.
//!
//! Short checks are here. Those of what is published: packages, the compilers and systems they support, wheels. Those of device
//! code without a device: compiled by NVRTC and read by its disassembler, run by OpenCL on the processor,
//! compiled for AMD's GPUs; and random pairs of layouts on the simulated device.

use std::path::Path;

use crate::{
    ci, conformance,
    oracles::{
        Run, Sanitizer, Verdict, arrays, banks, bounds, command, faults, fingerprint, fuzz, laws,
        learn, miri, neon, onednn, package, packings, placements, proofs, read_back, readers,
        relayout, release, sanitized_package, sanitizer, sh, target, torch, verdict,
    },
    shell::{self, Build, Outcome},
    wheel,
};

pub(super) const TABLE: [(&str, &str, Run); 44] = [
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
        read_back::gguf(root)
    }),
    (
        "pt files",
        "checkpoints of torch converted to safetensors, compared with what torch loads",
        |root, _| read_back::pt(root),
    ),
    ("npz files", "NumPy archives converted there and back, each step read by NumPy", |root, _| {
        read_back::npz(root)
    }),
    (
        "sharded checkpoints",
        "FSDP2 over tensor parallelism on 8 processes, resharded, loaded by torch; Megatron's rules",
        |root, _| read_back::sharded(root),
    ),
    (
        "shards of torch and jax",
        "which elements each device of torch and JAX holds, beside `tilewright shards`",
        |root, _| read_back::shards(root),
    ),
    (
        "clusters",
        "plans run by ranks, Ray and Dask while 100 processes are killed (TILEWRIGHT_KILLS)",
        |root, _| read_back::clusters(root),
    ),
    (
        "recipes",
        "every shipped recipe on tiny models, read by its consumer (RECIPES names some)",
        |root, _| read_back::recipes(root),
    ),
    (
        "transformers",
        "recipes generated for every type of transformers, exact both ways; its defects, found by audits (TYPES names some)",
        |root, _| read_back::transformers(root),
    ),
    (
        "learn",
        "vLLM's loader of eleven architectures at 1, 2 and 4 ranks, learned, checked, converted, updated and started (RANKS)",
        |root, _| learn::engines(root),
    ),
    (
        "remote",
        "checkpoints in S3 (moto), Azure (azurite) and a hub, read back by others' clients; faults at each request (FAULTS=all)",
        |root, _| read_back::remote(root),
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
        read_back::nvrtc(root)
    }),
    (
        "devices",
        "kernels compiled by NVRTC, clang and OpenCL, run on the CPU, and on the simulated device",
        |root, _| devices(root),
    ),
    (
        "device code by NVRTC",
        "kernels that move arrays, compiled for architectures 7.5 to 12.0",
        |root, _| read_back::device_code(root),
    ),
    (
        "packings of kernels",
        "packing functions of vLLM, torchao, bitsandbytes and others beside the named formats",
        |root, _| packings::packings(root),
    ),
    (
        "XLA and Triton",
        "what XLA's parser and Triton's linear layouts answer, as the page of comparisons states",
        |root, _| read_back::others(root),
    ),
    (
        "Axe",
        "layouts that TVM prints, and where it puts each element, beside the recorded rows",
        |root, _| read_back::axe(root),
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
pub(super) fn licences(root: &Path) -> Verdict {
    release::has_deny(root).map_or_else(Verdict::Skipped, |()| verdict(release::licences(root)))
}

/// Checks the advisories against dependencies, whose database is not on the registry.
pub(super) fn advisories(root: &Path) -> Verdict {
    let here = release::has_deny(root).and_then(|()| release::has_advisories(root));
    here.map_or_else(Verdict::Skipped, |()| verdict(release::advisories(root)))
}

/// Builds every crate from its package alone.
pub(super) fn packages(root: &Path) -> Verdict {
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
pub(super) fn platforms(root: &Path) -> Verdict {
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
        Verdict::Skipped("there is no standard library of another system".into())
    }
}

/// Builds program, wheel and the documentation of each feature as published: the checks of the program, and the package's tests
/// where nothing else is installed.
pub(super) fn released(root: &Path) -> Verdict {
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
pub(super) fn wheels(root: &Path) -> Verdict {
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
