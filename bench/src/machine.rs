//! The machine that a measurement ran on.

use std::{fs, thread};

/// The machine, as far as it can be queried.
///
/// ```
/// let here = tilewright_bench::Machine::here();
/// assert!(here.cores > 0 && !here.cpu.is_empty());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Machine {
    /// The processor's name, with its family and model if it has them: virtual machines hide the rest of the name. Its
    /// architecture if the system does not report the name.
    pub cpu: String,
    /// The architecture.
    pub arch: &'static str,
    /// The operating system.
    pub os: &'static str,
    /// The number of cores that this process may use.
    pub cores: usize,
    /// The data caches of a core, from the first level on, in KiB; empty if the system does not report them.
    pub caches_kib: Vec<u64>,
    /// The vector instructions that it has, of those for which relayout has kernels or could have them.
    pub vectors: Vec<&'static str>,
}

impl Machine {
    /// Returns this machine.
    ///
    /// ```
    /// assert_eq!(tilewright_bench::Machine::here().os, std::env::consts::OS);
    /// ```
    pub fn here() -> Machine {
        let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let arch = std::env::consts::ARCH;
        Machine {
            cpu: cpu(&info).unwrap_or_else(|| arch.to_owned()),
            arch,
            os: std::env::consts::OS,
            cores: thread::available_parallelism().map_or(1, usize::from),
            caches_kib: caches(),
            vectors: vectors(field(&info, "flags").or_else(|| field(&info, "Features"))),
        }
    }
}

fn cpu(info: &str) -> Option<String> {
    let name = field(info, "model name")?;
    match (field(info, "cpu family"), field(info, "model")) {
        (Some(family), Some(model)) => Some(format!("{name}, family {family} model {model}")),
        _ => Some(name.to_owned()),
    }
}

fn field<'a>(info: &'a str, name: &str) -> Option<&'a str> {
    let line = info.lines().find(|line| line.split(':').next().map(str::trim) == Some(name))?;
    line.split_once(':').map(|(_, value)| value.trim()).filter(|value| !value.is_empty())
}

fn vectors(flags: Option<&str>) -> Vec<&'static str> {
    let has = |name: &&str| flags.is_some_and(|flags| flags.split(' ').any(|flag| flag == *name));
    ["avx2", "avx512f", "avx512bw", "avx512vbmi", "gfni", "asimd", "sve"]
        .into_iter()
        .filter(has)
        .collect()
}

fn caches() -> Vec<u64> {
    let one = |index: usize| {
        let folder = format!("/sys/devices/system/cpu/cpu0/cache/index{index}");
        let read = |name: &str| fs::read_to_string(format!("{folder}/{name}")).ok();
        let kind = read("type")?;
        let size = read("size")?.trim().strip_suffix('K')?.parse().ok()?;
        Some((kind.trim() != "Instruction", size))
    };
    (0..8).map_while(one).filter(|(data, _)| *data).map(|(_, size)| size).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_by_their_whole_name() {
        let info = "model\t\t: 17\nmodel name\t: A CPU @ 2: fast\nflags\t\t: fpu avx2 avx512bw\n";
        assert_eq!(field(info, "model name"), Some("A CPU @ 2: fast"));
        assert_eq!((field(info, "name"), field("cpu\t: \n", "cpu")), (None, None));
        assert_eq!(vectors(field(info, "flags")), ["avx2", "avx512bw"]);
        assert_eq!(cpu(info).as_deref(), Some("A CPU @ 2: fast"));
        assert_eq!(
            cpu(&format!("cpu family: 26\n{info}")).unwrap(),
            "A CPU @ 2: fast, family 26 model 17"
        );
    }
}
