//! Python virtual environments under the build folder, filled from a file of pinned packages.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::shell::{Outcome, command, run, works};

/// A program that checks for the oldest Python that supports the pinned packages, with the modules that a virtual
/// environment needs.
const PROBE: &str = "import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))";

/// Returns the interpreter of a virtual environment in `folder` with the packages of `pins`.
///
/// An environment made from the same pins is reused; any other is made anew.
pub(crate) fn venv(root: &Path, folder: &Path, pins: &Path) -> Outcome<PathBuf> {
    let wanted =
        fs::read_to_string(pins).map_err(|error| format!("{}: {error}", pins.display()))?;
    let python = folder.join("bin/python");
    let stamp = folder.join("pins.txt");
    if fs::read_to_string(&stamp).is_ok_and(|had| had == wanted)
        && works(Command::new(&python).arg("--version"))
    {
        return Ok(python);
    }
    let system = system(root)?;
    run(command(root, &[system, "-m", "venv", "--clear"]).arg(folder))?;
    run(pip(root, &python).arg("--requirement").arg(pins))?;
    fs::write(&stamp, wanted).map_err(|error| format!("{}: {error}", stamp.display()))?;
    Ok(python)
}

/// Returns `pip install` in the environment of `python`, without packages.
pub(crate) fn pip(root: &Path, python: &Path) -> Command {
    let mut pip = command(root, &[&*python.to_string_lossy(), "-m", "pip", "install", "--quiet"]);
    pip.args(["--no-input", "--disable-pip-version-check", "--only-binary", ":all:"]);
    pip
}

/// Installs torch: from the index of builds without CUDA, a tenth of the size, or from the usual one if that fails.
pub(crate) fn torch(root: &Path, python: &Path) -> bool {
    let small = ["--retries", "0", "--index-url", "https://download.pytorch.org/whl/cpu", "torch"];
    let sources = [&small[..], &["torch"]];
    sources.into_iter().any(|words| run(pip(root, python).args(words)).is_ok())
}

/// Returns the check of `tests/python` with the built `program`.
pub(crate) fn check(root: &Path, python: &Path, program: &Path) -> Command {
    let mut check = command(root, &[&*python.to_string_lossy(), "tests/python/check_reference.py"]);
    check.arg(program).env("PYTHONDONTWRITEBYTECODE", "1");
    check
}

/// Returns the first Python on the path that is new enough.
pub(crate) fn system(root: &Path) -> Outcome<&'static str> {
    let names = ["python3", "python3.11", "python3.12", "python3.13", "python"];
    let found = names.into_iter().find(|name| works(&mut command(root, &[*name, "-c", PROBE])));
    found.ok_or_else(|| "no Python from 3.11 on with `venv` and `pip` is on the path (Debian: apt-get install python3-venv)".into())
}
