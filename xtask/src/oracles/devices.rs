//! Checks device code without a device: compiled by NVRTC and read by its disassembler, run by OpenCL on the processor,
//! compiled for AMD's GPUs; and random pairs of layouts on the simulated device.

use std::path::Path;

use super::{Verdict, command, sh, target, verdict};
use crate::{program, shell::Outcome};

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
pub(super) fn devices(root: &Path) -> Verdict {
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
    let python = match program::venv(root, &folder.join("venv"), &pins) {
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
