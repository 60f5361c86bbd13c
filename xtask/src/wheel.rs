//! `cargo xtask wheel`: the Python package, built by maturin and tested where nothing else is installed.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::{
    python,
    shell::{Outcome, command, run as sh, target},
};

/// The crate of the package.
const CRATE: &str = "crates/tilewright-py";

/// Builds the wheel and gives its path.
pub(crate) fn build(root: &Path) -> Outcome<PathBuf> {
    let target = target(root)?;
    let pins = root.join(CRATE).join("requirements-build.txt");
    let tools = python::venv(root, &target.join("python/tools"), &pins)?;
    let (python, out) = (text(&tools), target.join("wheels"));
    if out.exists() {
        fs::remove_dir_all(&out).map_err(|error| format!("{}: {error}", out.display()))?;
    }
    let manifest = format!("{CRATE}/Cargo.toml");
    let words = ["-m", "maturin", "build", "--quiet", "--locked", "--manifest-path", &manifest];
    let mut maturin = command(root, &[&[&*python][..], &words].concat());
    sh(maturin.args(["--interpreter", &python, "--out"]).arg(&out))?;
    let wheel = fs::read_dir(&out).ok().and_then(|mut made| made.next()?.ok());
    let wheel = wheel.ok_or_else(|| format!("maturin left no wheel in {}", out.display()))?.path();
    println!("    {}", wheel.display());
    Ok(wheel)
}

/// Installs a wheel in an environment made anew, and runs the package's tests there.
pub(crate) fn test(root: &Path, wheel: &Path) -> Outcome {
    let folder = target(root)?.join("python/fresh");
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    let python = python::venv(root, &folder, &pins(root))?;
    sh(python::pip(root, &python).arg(wheel))?;
    tests(root, &python, &[])
}

/// Installs the wheel, built anew, beside what `python` has, and runs these files of its tests.
pub(crate) fn test_with(root: &Path, python: &Path, files: &[&str]) -> Outcome {
    let wheel = build(root)?;
    sh(python::pip(root, python).arg("--requirement").arg(pins(root)))?;
    sh(python::pip(root, python).args(["--force-reinstall", "--no-deps"]).arg(wheel))?;
    tests(root, python, files)
}

fn tests(root: &Path, python: &Path, files: &[&str]) -> Outcome {
    let folder = root.join(CRATE);
    let mut pytest = command(&folder, &[&text(python), "-m", "pytest", "--quiet", "-rs"]);
    sh(pytest.args(files).env("PYTHONDONTWRITEBYTECODE", "1"))
}

/// What the package is tested with.
fn pins(root: &Path) -> PathBuf {
    root.join(CRATE).join("tests/requirements.txt")
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
