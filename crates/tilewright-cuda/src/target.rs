//! The architecture that a text is compiled for, chosen so that a device can run the code. The compiler is called with
//! it.
//!
//! Law: machine code runs on devices of the same major version and of its own minor version or a newer one; the driver
//! compiles PTX for any newer device.

use crate::{Error, error::of_device, raw::CodeForm};

/// The oldest major version of a device's compute capability that kernels support.
const OLDEST: u32 = 7;

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
        if device.major < OLDEST {
            let says = format!(
                "the device has compute capability {}.{}; kernels need {OLDEST}.0 or newer",
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
