//! The compiler, and the architecture that it compiles a text for. A launch uses it for structures whose code is
//! neither loaded nor on disk.
//!
//! Law: the device can run the code. Machine code runs on devices of the same major version and of its own minor
//! version or a newer one; the driver compiles PTX for any newer device.

use crate::{
    Error,
    error::of_device,
    raw::{CodeForm, Library, Nvrtc},
    settings::{self, COMPILER, Settings},
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
            match settings::open(&[name]).map(Compiler::of) {
                Ok(Ok(compiler)) => return Ok(compiler),
                Ok(Err(error)) => old = old.or(Some(error)),
                Err(why) => tried.extend(why),
            }
        }
        Err(old.unwrap_or_else(|| {
            let says = settings::says("NVRTC, the compiler of CUDA,", COMPILER, &tried);
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

/// The oldest major version of a device's compute capability that kernels support.
const OLDEST_ARCHITECTURE: u32 = 7;

/// The compute capability of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Capability {
    pub(crate) major: u32,
    pub(crate) minor: u32,
}

/// The architecture that a text is compiled for, and the form of the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Architecture {
    number: u32,
    pub(crate) form: CodeForm,
}

impl Architecture {
    /// Chooses the architecture for a device, from those that a compiler makes code for, which ascend.
    pub(crate) fn of(
        device: Capability,
        known: &[u32],
        compiler: &str,
    ) -> Result<Architecture, Error> {
        let own = device.major * 10 + device.minor;
        if device.major < OLDEST_ARCHITECTURE {
            let says = format!(
                "the device has compute capability {}.{}; kernels need {OLDEST_ARCHITECTURE}.0 or newer",
                device.major, device.minor
            );
            return Err(of_device("architecture", says));
        }
        let Some(number) = known.iter().copied().rfind(|number| *number <= own) else {
            let Capability { major, minor } = device;
            let says = match known.first() {
                Some(least) => format!(
                    "the device has compute capability {major}.{minor}, and {compiler} makes code for {}.{} and above; an \
                     older CUDA has a compiler for it",
                    least / 10,
                    least % 10
                ),
                None => format!("{compiler} reports no architecture that it makes code for"),
            };
            return Err(of_device("architecture", says));
        };
        let form = if number / 10 == device.major { CodeForm::Cubin } else { CodeForm::Ptx };
        Ok(Architecture { number, form })
    }

    /// Returns its name, as the compiler expects it.
    pub(crate) fn name(self) -> String {
        match self.form {
            CodeForm::Cubin => format!("sm_{}", self.number),
            CodeForm::Ptx => format!("compute_{}", self.number),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(major: u32, minor: u32, known: &[u32]) -> String {
        match Architecture::of(Capability { major, minor }, known, "NVRTC 13.2") {
            Ok(target) => target.name(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn code_is_for_the_device_or_an_older_one_of_its_major_version() {
        let known = [75, 80, 86, 89, 90, 100, 103, 120, 121];
        assert_eq!(target(9, 0, &known), "sm_90");
        assert_eq!(target(8, 7, &known), "sm_86");
        assert_eq!(target(10, 1, &known), "sm_100");
        assert_eq!(target(11, 0, &known), "compute_103");
        assert_eq!(target(13, 0, &known), "compute_121");
        assert_eq!(target(7, 5, &known), "sm_75");
    }

    /// Over every device and every list of at most three architectures: the choice runs on the device, and no later one
    /// does.
    #[test]
    fn the_choice_is_the_newest_that_runs() {
        let all = [75, 80, 86, 90, 100];
        for bits in 0u32..1 << all.len() {
            let known: Vec<u32> =
                (0..all.len()).filter(|at| bits >> at & 1 == 1).map(|at| all[at]).collect();
            for (major, minor) in [(7, 0), (7, 5), (8, 0), (8, 9), (9, 0), (10, 3), (12, 0)] {
                let own = major * 10 + minor;
                let best = known.iter().filter(|number| **number <= own).max();
                match (Architecture::of(Capability { major, minor }, &known, "x"), best) {
                    (Ok(target), Some(best)) => {
                        assert_eq!(target.number, *best);
                        assert_eq!(target.form == CodeForm::Cubin, best / 10 == major);
                    }
                    (Err(error), None) => assert_eq!(error.kind(), "architecture"),
                    (found, best) => panic!("{found:?} where {best:?}"),
                }
            }
        }
    }

    #[test]
    fn a_device_that_is_too_old_is_told_what_is_made() {
        assert_eq!(
            target(7, 0, &[75, 80]),
            "the device has compute capability 7.0, and NVRTC 13.2 makes code for 7.5 and above; an older CUDA has a \
             compiler for it"
        );
        assert!(target(7, 0, &[]).contains("no architecture"));
        let old = "the device has compute capability 6.1; kernels need 7.0 or newer";
        assert_eq!(target(6, 1, &[50, 60, 61, 70, 75]), old);
    }
}
