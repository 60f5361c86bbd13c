//! Device code without a device: compiled by NVRTC and read by its disassembler, run by OpenCL on the processor,
//! compiled for AMD's GPUs, and random pairs of layouts on the simulated device.

use std::path::Path;

use super::{Verdict, command, has, sh, target, verdict};
use crate::{python, shell::Outcome};

/// OpenCL on the processor, from the registry.
const OPENCL: [&str; 2] = ["pyopencl", "pocl-binary-distribution"];

/// Kernels of the benchmark's cases by the compilers that install, and ten thousand random pairs.
pub(super) fn devices(root: &Path) -> Verdict {
    match target(root).map(|target| target.join("oracles/devices")) {
        Err(why) => Verdict::Failed(why),
        Ok(folder) => verdict(
            written(root, &folder)
                .and_then(|()| compiled(root, &folder))
                .and_then(|()| pairs(root)),
        ),
    }
}

/// The kernels of all cases: those for compilers in memory's size, those that run in the small one.
fn written(root: &Path, folder: &Path) -> Outcome {
    ["memory", "small"].into_iter().try_for_each(|size| {
        let words = ["cargo", "run", "--quiet", "--package", "tilewright-device"];
        let to = folder.join(size);
        // Kernels of an earlier state are no longer asked about.
        let _ = std::fs::remove_dir_all(&to);
        sh(command(root, &words).args(["--example", "cases", "--", size]).arg(to))
    })
}

/// What each compiler says of them; what does not install is left out, and it says why.
fn compiled(root: &Path, folder: &Path) -> Outcome {
    let pins = root.join("tests/oracle/devices.txt");
    let python = match python::venv(root, &folder.join("venv"), &pins) {
        Ok(python) => python,
        Err(why) => {
            println!("    the compilers are left out, {why}");
            return Ok(());
        }
    };
    if !OPENCL.iter().all(|package| has_package(root, &python, package)) {
        println!("    {} do not install here; OpenCL is left out", OPENCL.join(" and "));
    }
    [("nvidia", "memory"), ("opencl", "small"), ("amd", "small")].into_iter().try_for_each(
        |(which, size)| {
            let words = [&*python.to_string_lossy(), "tests/oracle/devices.py", which];
            sh(command(root, &words).arg(folder.join(size)))
        },
    )
}

/// Whether a package of the registry is there, or can be.
fn has_package(root: &Path, python: &Path, package: &str) -> bool {
    match package {
        "pyopencl" => has(root, python, package),
        _ => sh(python::pip(root, python).arg(package)).is_ok(),
    }
}

/// Random pairs on the simulated device.
fn pairs(root: &Path) -> Outcome {
    let words = ["cargo", "test", "--package", "tilewright-device", "--test", "pairs"];
    let mut pairs = command(root, &words);
    pairs.args(["--", "--nocapture"]);
    // A number that is set is the caller's.
    if std::env::var_os("TILEWRIGHT_PAIRS").is_none() {
        pairs.env("TILEWRIGHT_PAIRS", "10000");
    }
    sh(&mut pairs)
}
