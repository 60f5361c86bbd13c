//! Python for 64-bit ARM, run by an emulator: Debian's packages, unpacked and not installed.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::{
    python,
    shell::{Outcome, command, run as sh, target, works},
};

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
        let mut pip = python::pip(root, host);
        pip.args(["--no-deps", "--upgrade", "--platform", "manylinux2014_aarch64"]);
        pip.args(["--implementation", "cp", "--python-version", VERSION, "--target"]);
        sh(pip.arg(self.folder.join("site")).arg("numpy"))
    }
}
