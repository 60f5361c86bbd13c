//! Asks other libraries and the program the same questions, drawn from the libraries' documentation.

use std::path::Path;

use super::{Verdict, read_back::program, verdict};
use crate::{
    python,
    shell::{Outcome, command, run as sh, target},
};

const FOLDER: &str = "tests/oracle/peers";

/// Lists the disagreements of pycute, tensor-layouts, einops, Triton and compiled CuTe with Tilewright, and which of them is
/// right.
pub(super) fn peers(root: &Path) -> Verdict {
    match environment(root) {
        Ok(python) => verdict(program(root).and_then(|program| {
            let script = format!("{FOLDER}/ask.py");
            let mut asked = command(root, &[&*python, &*script, &*program]);
            sh(asked.env("PYTHONDONTWRITEBYTECODE", "1"))
        })),
        Err(why) => Verdict::Skipped(why),
    }
}

/// Returns a Python with the libraries.
fn environment(root: &Path) -> Outcome<String> {
    let pins = root.join(FOLDER).join("requirements.txt");
    let python = python::venv(root, &target(root)?.join("oracles/peers"), &pins)?;
    // The dependencies of CUTLASS's package are for other parts than pycute and the headers.
    sh(python::pip(root, &python).args(["--no-deps", "nvidia-cutlass==4.2.0.0"]))?;
    Ok(python.to_string_lossy().into_owned())
}
