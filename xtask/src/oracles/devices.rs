//! Device code without a device: compiled by NVRTC and read by its disassembler, run by OpenCL on the processor,
//! compiled for AMD's GPUs, and random pairs of layouts on the simulated device.

use std::path::Path;

use super::{Verdict, command, sh, target, verdict};
use crate::{python, shell::Outcome};

/// What the example `cases` writes for the compilers, and for devices that run it.
const WRITTEN: [&str; 5] = ["memory", "small", "anywhere", "pairs", "tables"];

/// The scripts, and which of these each takes.
const SCRIPTS: [(&str, &[&str]); 3] = [
    ("cuda", &["memory"]),
    ("opencl", &["small", "anywhere", "pairs", "tables"]),
    ("amd", &["memory", "tables"]),
];

/// Kernels of the benchmark's cases by the compilers that install, and ten thousand random pairs.
pub(super) fn devices(root: &Path) -> Verdict {
    match target(root).map(|target| target.join("oracles/devices")) {
        Err(why) => Verdict::Failed(why),
        // What one finds does not keep the others from being asked.
        Ok(folder) => {
            let compiled = written(root, &folder).and_then(|()| compiled(root, &folder));
            verdict(compiled.and(pairs(root)))
        }
    }
}

/// The kernels of all cases, and what they move.
fn written(root: &Path, folder: &Path) -> Outcome {
    WRITTEN.into_iter().try_for_each(|what| {
        let words = ["cargo", "run", "--quiet", "--package", "tilewright-device"];
        let to = folder.join(what);
        // Kernels of an earlier state are no longer asked about.
        let _ = std::fs::remove_dir_all(&to);
        sh(command(root, &words).args(["--example", "cases", "--", what]).arg(to))
    })
}

/// What each compiler says of them, one after another; what does not install is left out, and it says why.
fn compiled(root: &Path, folder: &Path) -> Outcome {
    let pins = root.join("tests/oracle/devices/requirements.txt");
    let python = match python::venv(root, &folder.join("venv"), &pins) {
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
            // Compiled kernels of PoCL are kept with everything else.
            asked.env("POCL_CACHE_DIR", folder.join("pocl")).env("PYTHONDONTWRITEBYTECODE", "1");
            sh(&mut asked).err()
        })
        .collect();
    match failed.is_empty() {
        true => Ok(()),
        false => Err(failed.join("; ")),
    }
}

/// Random pairs on the simulated device.
fn pairs(root: &Path) -> Outcome {
    let words = ["cargo", "test", "--package", "tilewright-device", "--test", "all", "pairs::"];
    let mut pairs = command(root, &words);
    pairs.args(["--", "--nocapture"]);
    // A number that is set is the caller's.
    if std::env::var_os("TILEWRIGHT_PAIRS").is_none() {
        pairs.env("TILEWRIGHT_PAIRS", "10000");
    }
    sh(&mut pairs)
}
