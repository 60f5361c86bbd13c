//! The compiler. A launch uses it for structures whose code is neither loaded nor on disk.

use crate::{
    Error,
    error::of_device,
    missing,
    raw::{Library, Nvrtc},
    settings::{COMPILER, Settings},
    target::{Architecture, Capability},
};

/// The first version whose kernels take arguments as `__grid_constant__`.
const OLDEST: (i32, i32) = (11, 7);
/// The options of every compilation, except the architecture. Launches of many arrays use the entry for a table, so the
/// entry for many jobs in memory is left out.
const OPTIONS: [&str; 3] = ["--std=c++17", "--device-as-default-execution-space", "-DTW_NO_MANY"];

/// NVRTC with its version and architectures.
#[derive(Debug)]
pub(crate) struct Compiler {
    nvrtc: Nvrtc,
    version: (i32, i32),
    architectures: Vec<u32>,
}

impl Compiler {
    /// Opens the first compiler that exists and is new enough, for a driver of this version. If all are too old, the
    /// error is that of the first.
    pub(crate) fn open(settings: &Settings, driver: i32) -> Result<Compiler, Error> {
        let (mut tried, mut old) = (Vec::new(), None);
        for name in settings.compilers(driver) {
            match missing::open(&[name]).map(Compiler::of) {
                Ok(Ok(compiler)) => return Ok(compiler),
                Ok(Err(error)) => old = old.or(Some(error)),
                Err(why) => tried.extend(why),
            }
        }
        Err(old.unwrap_or_else(|| {
            let says = missing::says("NVRTC, the compiler of CUDA,", COMPILER, &tried);
            of_device("no-compiler", says)
        }))
    }

    /// Opens the compiler in a library; `too-old` if it cannot compile kernels.
    fn of(library: Library) -> Result<Compiler, Error> {
        let nvrtc = Nvrtc::of(library)?;
        let (version, architectures) = (nvrtc.version()?, nvrtc.architectures()?);
        if version < OLDEST {
            let (name, (major, minor)) = (nvrtc.name(), version);
            let says = format!(
                "{name} is NVRTC {major}.{minor}; kernels take arguments by `__grid_constant__`, which {}.{} has first",
                OLDEST.0, OLDEST.1
            );
            return Err(of_device("too-old", says));
        }
        Ok(Compiler { nvrtc, version, architectures })
    }

    /// Returns the version of CUDA that it belongs to, major and minor.
    pub(crate) fn version(&self) -> (i32, i32) {
        self.version
    }

    /// Returns the name of its library.
    pub(crate) fn library(&self) -> String {
        self.nvrtc.name()
    }

    /// Returns its name and version, which identify its code.
    pub(crate) fn name(&self) -> String {
        format!("NVRTC {}.{}", self.version.0, self.version.1)
    }

    /// Returns the architecture for a device.
    pub(crate) fn target(&self, device: Capability) -> Result<Architecture, Error> {
        Architecture::of(device, &self.architectures, &self.name())
    }

    /// Returns the options for an architecture.
    pub(crate) fn options(target: Architecture) -> Vec<String> {
        let architecture = format!("--gpu-architecture={}", target.name());
        OPTIONS.iter().map(|option| (*option).to_owned()).chain([architecture]).collect()
    }

    /// Compiles a text.
    pub(crate) fn compile(&self, text: &str, target: Architecture) -> Result<Vec<u8>, Error> {
        self.nvrtc.compile(text, &Compiler::options(target), target.form)
    }
}
