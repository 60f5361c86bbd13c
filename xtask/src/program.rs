//! The program, and Python environments filled from a file of pinned packages, built under the build folder for the
//! commands that use them.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::shell::{Outcome, command, run, target, works};

/// A way to build the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Build {
    /// With debug checks, the fastest to compile.
    Debug,
    /// With debug checks and optimised, as in tests.
    Checked,
    /// The published build.
    Release,
}

impl Build {
    /// Returns the name of the profile, and of its folder.
    fn profile(self) -> (&'static str, &'static str) {
        match self {
            Build::Debug => ("dev", "debug"),
            Build::Checked => ("test", "debug"),
            Build::Release => ("release", "release"),
        }
    }
}

/// Builds the program and returns its path.
///
/// Cargo gives the selected packages the same features of every dependency. The Python package is selected where its tests use the
/// same profile, so that they compile only its own crate. The published wheel has a profile of its own.
pub(crate) fn build(root: &Path, build: Build) -> Outcome<PathBuf> {
    let (profile, folder) = build.profile();
    let words =
        ["cargo", "build", "--locked", "--bin", "tilewright", "--package", "tilewright-cli"];
    let mut cargo = command(root, &words);
    if build != Build::Release {
        cargo.args(["--package", "tilewright-py"]);
    }
    run(cargo.args(["--profile", profile]))?;
    Ok(target(root)?.join(folder).join(format!("tilewright{}", env::consts::EXE_SUFFIX)))
}

/// Returns the path of the program that `cargo test --workspace` compiles.
pub(crate) fn tested(root: &Path) -> Outcome<PathBuf> {
    Ok(target(root)?.join("debug").join(format!("tilewright{}", env::consts::EXE_SUFFIX)))
}

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
