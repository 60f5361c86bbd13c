//! The machine that a measurement ran on, and the pages of its buffers.

use std::{fs, thread};

use tilewright::relayout::Buffer;

use crate::Error;

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

// The pages of buffers. Transposes of arrays past the caches touch a page for each row, so huge pages make them faster.

/// The pages that the buffers of a measurement ask for.
///
/// ```
/// use tilewright_bench::Pages;
/// assert_eq!("small".parse(), Ok(Pages::Small));
/// assert!("large".parse::<Pages>().is_err());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pages {
    /// Huge pages (2 MiB) where the system has them, as NumPy asks for them in large arrays.
    #[default]
    Huge,
    /// The smallest pages, as `malloc` gives them.
    Small,
}

impl std::str::FromStr for Pages {
    type Err = Error;

    fn from_str(text: &str) -> Result<Pages, Error> {
        match text {
            "huge" => Ok(Pages::Huge),
            "small" => Ok(Pages::Small),
            _ => Err(Error::definition(format!(
                "no pages are called {text:?}; they are huge, small"
            ))),
        }
    }
}

impl Pages {
    /// Returns a buffer of zeros on these pages.
    pub(crate) fn buffer(self, bytes: u64) -> Result<Buffer, Error> {
        let buffer = match self {
            Pages::Huge => Buffer::new(bytes),
            Pages::Small => Buffer::on_small_pages(bytes),
        };
        buffer.map_err(|error| Error::machine(error.to_string()))
    }
}

/// Returns how many bytes of these buffers are on huge pages; `None` if the system does not say.
pub(crate) fn huge_bytes(buffers: &[&Buffer]) -> Option<u64> {
    let maps = fs::read_to_string("/proc/self/smaps").ok()?;
    let addresses: Vec<u64> = buffers.iter().map(|buffer| buffer.as_ptr().addr() as u64).collect();
    huge_in(&maps, &addresses)
}

/// Returns the bytes on huge pages of the mappings around these addresses, from the text of `smaps`. The system may join the
/// mappings of two buffers.
fn huge_in(maps: &str, addresses: &[u64]) -> Option<u64> {
    let range = |line: &str| {
        let (first, rest) = line.split_once('-')?;
        let end = rest.split(' ').next()?;
        let [first, end] = [first, end].map(|text| u64::from_str_radix(text, 16).ok());
        Some(first?..end?)
    };
    let (mut held, mut found, mut sum) = (0, 0, 0);
    for line in maps.lines() {
        if let Some(range) = range(line) {
            held = addresses.iter().filter(|address| range.contains(address)).count();
            found += held;
        } else if let Some(size) = line.strip_prefix("AnonHugePages:").filter(|_| held > 0) {
            sum += size.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? << 10;
        }
    }
    (found == addresses.len()).then_some(sum)
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

    #[test]
    fn the_mappings_of_addresses_are_found() {
        let maps = "1000-3000 rw-p 0 0:0 0\nSize: 8 kB\nAnonHugePages:    0 kB\n\
                    4000-9000 rw-p 0 0:0 0\nAnonHugePages:    2048 kB\n";
        assert_eq!(huge_in(maps, &[0x2FFF]), Some(0));
        assert_eq!(huge_in(maps, &[0x4000, 0x2000]), Some(2 << 20));
        assert_eq!(huge_in(maps, &[0x5000, 0x8FFF]), Some(2 << 20));
        assert_eq!(huge_in(maps, &[0x4000, 0x3000]), None);
        assert_eq!(huge_in("", &[0]), None);
    }
}
