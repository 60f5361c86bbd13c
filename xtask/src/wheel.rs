//! `cargo xtask wheel`: the Python package, built by maturin and tested where nothing else is installed; with `--all`
//! for other machines too. Python for 64-bit ARM is run by an emulator: Debian's packages, unpacked and not installed.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::{
    oracles::release,
    shell::{self, Outcome, command, output, run as sh, say, target, works},
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
        let python = shell::venv(root, &target.join("python").join(folder), &pins)?;
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
        release::has(root, triple)?;
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
    sh(shell::pip(root, &python).arg(wheel))?;
    sh(&mut tests(root, &python, &[]))
}

/// Installs the package with the library that `cargo test --workspace` compiles, and runs the package's tests. The
/// environment stays: what the tests need is installed once.
pub(crate) fn test_compiled(root: &Path) -> Outcome {
    let target = target(root)?;
    let python = shell::venv(root, &target.join("python/compiled"), &pins(root))?;
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
    sh(shell::pip(root, python).args(["--force-reinstall", "--no-deps"]).arg(wheel))
}

/// Installs what the package is tested with beside what `python` has.
pub(crate) fn requirements(root: &Path, python: &Path) -> Outcome {
    sh(shell::pip(root, python).arg("--requirement").arg(pins(root)))
}

/// An environment made anew, with what the package is tested with.
fn fresh(root: &Path, folder: &Path) -> Outcome<PathBuf> {
    if folder.exists() {
        fs::remove_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    shell::venv(root, folder, &pins(root))
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

const EMULATOR: &str = "qemu-aarch64";
const MIRROR: &str = "deb [arch=arm64 trusted=yes] http://deb.debian.org/debian bookworm main\n";
const VERSION: &str = "3.11";

/// The interpreter, and the libraries that it and NumPy load.
const PACKAGES: [&str; 10] = [
    "python3.11-minimal",
    "libpython3.11-minimal",
    "libpython3.11-stdlib",
    "libc6",
    "libcrypt1",
    "libexpat1",
    "libffi8",
    "libgcc-s1",
    "libstdc++6",
    "zlib1g",
];

/// An interpreter with its own folder of packages.
pub(crate) struct Emulated {
    folder: PathBuf,
}

impl Emulated {
    /// Returns the interpreter with NumPy, and fetches it if necessary; the error names the missing tool.
    pub(crate) fn fetch(root: &Path, host: &Path) -> Outcome<Emulated> {
        if !works(&mut command(root, &[EMULATOR, "--version"])) {
            return Err(format!("{EMULATOR} is not installed; Debian has it in qemu-user"));
        }
        let emulated = Emulated { folder: target(root)?.join("python/aarch64") };
        if !works(emulated.python(root).args(["-c", "import numpy"])) {
            emulated.unpack(root)?;
            emulated.install_numpy(root, host)?;
        }
        Ok(emulated)
    }

    /// Returns the interpreter as a command without arguments.
    pub(crate) fn python(&self, root: &Path) -> Command {
        let (system, site) = (self.folder.join("root"), self.folder.join("site"));
        let mut python = command(root, &[EMULATOR, "-L"]);
        python.arg(&system).arg(system.join("usr/bin").join(format!("python{VERSION}")));
        python.env("PYTHONPATH", site).env("PYTHONDONTWRITEBYTECODE", "1");
        python
    }

    /// Unpacks a wheel next to the other packages; `host` is a Python of this machine.
    pub(crate) fn install(&self, root: &Path, host: &Path, wheel: &Path) -> Outcome {
        let mut unzip = command(root, &[&*host.to_string_lossy(), "-m", "zipfile", "-e"]);
        sh(unzip.arg(wheel).arg(self.folder.join("site")))
    }

    /// Fetches Debian's packages with separate package lists, so nothing of this system changes.
    fn unpack(&self, root: &Path) -> Outcome {
        let failed = |error: std::io::Error| format!("{}: {error}", self.folder.display());
        let debs = self.folder.join("debs");
        for folder in ["lists/partial", "cache/archives/partial", "debs", "root", "site"] {
            fs::create_dir_all(self.folder.join(folder)).map_err(failed)?;
        }
        fs::write(self.folder.join("sources.list"), MIRROR).map_err(failed)?;
        sh(self.apt(root).arg("update"))?;
        sh(self.apt(&debs).arg("download").args(PACKAGES))?;
        for deb in fs::read_dir(&debs).map_err(failed)? {
            let deb = deb.map_err(failed)?.path();
            sh(command(root, &["dpkg", "-x"]).arg(deb).arg(self.folder.join("root")))?;
        }
        Ok(())
    }

    fn apt(&self, folder: &Path) -> Command {
        let mut apt = command(folder, &["apt-get", "--quiet=2"]);
        let at = |name: &str| self.folder.join(name).display().to_string();
        let options = [
            "APT::Architecture=arm64".to_owned(),
            "APT::Architectures=arm64".to_owned(),
            "APT::Sandbox::User=root".to_owned(),
            "Dir::Etc::sourceparts=/dev/null".to_owned(),
            format!("Dir::Etc::sourcelist={}", at("sources.list")),
            format!("Dir::State::Lists={}", at("lists")),
            format!("Dir::Cache={}", at("cache")),
        ];
        options.iter().for_each(|option| {
            apt.args(["-o", option]);
        });
        apt
    }

    fn install_numpy(&self, root: &Path, host: &Path) -> Outcome {
        let mut pip = shell::pip(root, host);
        pip.args(["--no-deps", "--upgrade", "--platform", "manylinux2014_aarch64"]);
        pip.args(["--implementation", "cp", "--python-version", VERSION, "--target"]);
        sh(pip.arg(self.folder.join("site")).arg("numpy"))
    }
}
