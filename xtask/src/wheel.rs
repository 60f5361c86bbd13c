//! `cargo xtask wheel`: the Python package, built by maturin and tested where nothing else is installed; with `--all`
//! for other machines too.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::{
    emulated::Emulated,
    platforms, python,
    shell::{Outcome, command, output, run as sh, say, target},
    site,
};

/// The crate of the package.
const CRATE: &str = "crates/tilewright-py";

/// The machines that `--all` builds wheels for, each for Linux from 2014 on.
const LINUX: [&str; 2] = ["x86_64-unknown-linux-gnu", ARM];
const ARM: &str = "aarch64-unknown-linux-gnu";
const OLDEST: &str = "manylinux2014";

/// The test of an installed package: it moves data to another layout and back.
const PROBE: &str = "import numpy, platform, tilewright as tw
rows = numpy.arange(3000, dtype='f2').reshape(100, 30)
blocks = tw.relayout(rows, to='zN')
back = tw.relayout(blocks, from_='zN', dims=(100, 30), to='row-major')
assert (back == rows).all()
print('    works on', platform.machine(), 'with Python', platform.python_version())";

/// maturin in an environment of its own, and the folder of what it makes.
struct Maturin {
    python: PathBuf,
    out: PathBuf,
}

impl Maturin {
    /// Installs maturin and the packages that `pins` lists; removes the results of an earlier run.
    fn prepare(root: &Path, folder: &str, pins: &str) -> Outcome<Maturin> {
        let target = target(root)?;
        let pins = root.join(CRATE).join(pins);
        let python = python::venv(root, &target.join("python").join(folder), &pins)?;
        let out = target.join("wheels");
        if out.exists() {
            fs::remove_dir_all(&out).map_err(|error| format!("{}: {error}", out.display()))?;
        }
        Ok(Maturin { python, out })
    }

    fn run(&self, root: &Path, words: &[&str]) -> Outcome {
        let manifest = format!("{CRATE}/Cargo.toml");
        let python = text(&self.python);
        let mut maturin = command(root, &[&[&*python, "-m", "maturin"], words].concat());
        maturin.args(["--quiet", "--manifest-path", &manifest, "--out"]).arg(&self.out);
        // Zig is beside this interpreter.
        let path = env::var_os("PATH").unwrap_or_default();
        let own = self.python.parent().map(Path::to_path_buf);
        let all = own.into_iter().chain(env::split_paths(&path));
        let path = env::join_paths(all).map_err(|error| format!("PATH: {error}"))?;
        sh(maturin.env("PATH", path))
    }

    /// Returns the result whose name contains `part`.
    fn made(&self, part: &str) -> Outcome<PathBuf> {
        let files = fs::read_dir(&self.out).into_iter().flatten().flatten();
        let mut files = files.map(|file| file.path());
        let found = files.find(|file| file.to_string_lossy().contains(part));
        found.ok_or_else(|| format!("maturin left no {part} in {}", self.out.display()))
    }
}

/// Builds the wheel and gives its path.
pub(crate) fn build(root: &Path) -> Outcome<PathBuf> {
    let maturin = Maturin::prepare(root, "tools", "requirements-build.txt")?;
    maturin.run(root, &["build", "--locked", "--interpreter", &text(&maturin.python)])?;
    let wheel = maturin.made(".whl")?;
    say(&format!("    {}", wheel.display()));
    Ok(wheel)
}

/// Builds the wheels of all machines and the source distribution.
pub(crate) fn build_all(root: &Path) -> Outcome {
    all(root).map(|maturin| println!("    {}", maturin.out.display()))
}

fn all(root: &Path) -> Outcome<Maturin> {
    let maturin = Maturin::prepare(root, "cross", "requirements-cross.txt")?;
    maturin.run(root, &["sdist"])?;
    for triple in LINUX {
        platforms::has(root, triple)?;
        let zig = ["--zig", "--target", triple, "--compatibility", OLDEST];
        let python = text(&maturin.python);
        let words = [&["build", "--locked", "--interpreter", &python], &zig[..]].concat();
        maturin.run(root, &words)?;
    }
    Ok(maturin)
}

/// Builds all, installs the source distribution, and uses the wheel for ARM under an emulator where there is one.
pub(crate) fn test_all(root: &Path) -> Outcome {
    let maturin = all(root)?;
    let target = target(root)?;
    let python = fresh(root, &target.join("python/sdist"))?;
    let install = ["-m", "pip", "install", "--quiet", "--no-input", "--disable-pip-version-check"];
    let mut pip = command(root, &[&[&*text(&python)], &install[..]].concat());
    sh(pip.arg(maturin.made(".tar.gz")?).env("CARGO_TARGET_DIR", target.join("oracles/sdist")))?;
    println!("    the source distribution");
    sh(&mut command(&target, &[&*text(&python), "-c", PROBE]))?;
    match Emulated::fetch(root, &maturin.python) {
        Err(why) => println!("    the wheel for ARM is built and not used: {why}"),
        Ok(arm) => {
            arm.install(root, &maturin.python, &maturin.made("aarch64")?)?;
            println!("    the wheel for ARM");
            sh(arm.python(root).args(["-c", PROBE]))?;
        }
    }
    Ok(())
}

/// Installs a wheel in an environment made anew, and runs the package's tests there.
pub(crate) fn test(root: &Path, wheel: &Path) -> Outcome {
    let python = fresh(root, &target(root)?.join("python/fresh"))?;
    sh(python::pip(root, &python).arg(wheel))?;
    sh(&mut tests(root, &python, &[]))
}

/// Installs the package with the library that `cargo test --workspace` compiles, and runs the package's tests. The
/// environment stays: what the tests need is installed once.
pub(crate) fn test_compiled(root: &Path) -> Outcome {
    let target = target(root)?;
    let python = python::venv(root, &target.join("python/compiled"), &pins(root))?;
    let find = "import sysconfig; print(sysconfig.get_path('platlib'))";
    let packages = output(&mut command(root, &[&text(&python), "-c", find]))?;
    let package = Path::new(packages.trim()).join("tilewright");
    let failed = |error| format!("{}: {error}", package.display());
    if package.exists() {
        fs::remove_dir_all(&package).map_err(failed)?;
    }
    site::copy(&root.join(CRATE).join("python/tilewright"), &package)?;
    let library = format!("{}_tilewright{}", env::consts::DLL_PREFIX, env::consts::DLL_SUFFIX);
    let native = package.join("_tilewright.abi3.so");
    fs::copy(target.join("debug/deps").join(library), native).map_err(failed)?;
    sh(&mut tests(root, &python, &[]))
}

/// Installs the wheel, built anew, beside what `python` has, and runs these files of its tests.
pub(crate) fn test_with(root: &Path, python: &Path, files: &[&str]) -> Outcome {
    sh(&mut tests_with(root, python, files)?)
}

/// Returns the command that [`test_with`] runs.
pub(crate) fn tests_with(root: &Path, python: &Path, files: &[&str]) -> Outcome<Command> {
    requirements(root, python)?;
    install(root, python)?;
    Ok(tests(root, python, files))
}

/// Installs the wheel, built anew, beside what `python` has.
pub(crate) fn install(root: &Path, python: &Path) -> Outcome {
    let wheel = build(root)?;
    sh(python::pip(root, python).args(["--force-reinstall", "--no-deps"]).arg(wheel))
}

/// Installs what the package is tested with beside what `python` has.
pub(crate) fn requirements(root: &Path, python: &Path) -> Outcome {
    sh(python::pip(root, python).arg("--requirement").arg(pins(root)))
}

/// An environment made anew, with what the package is tested with.
fn fresh(root: &Path, folder: &Path) -> Outcome<PathBuf> {
    if folder.exists() {
        fs::remove_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    python::venv(root, folder, &pins(root))
}

fn tests(root: &Path, python: &Path, files: &[&str]) -> Command {
    let folder = root.join(CRATE);
    let mut pytest = command(&folder, &[&text(python), "-m", "pytest", "--quiet", "-rs"]);
    pytest.args(files).env("PYTHONDONTWRITEBYTECODE", "1");
    pytest
}

/// The packages that the tests need.
fn pins(root: &Path) -> PathBuf {
    root.join(CRATE).join("tests/requirements.txt")
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
