//! The pages of buffers. Transposes of arrays past the caches touch a page for each row, so huge pages make them faster.

use crate::Error;
use std::fs;
use tilewright::relayout::Buffer;

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
