//! Sizes in bytes, such as `512M`.

use crate::failure::Failure;

/// The most threads that are taken.
const MOST: usize = 4096;

/// Reads an integer with an optional unit: K, M, G, T, powers of 1024, also written `KiB` or `KB`.
pub(crate) fn read(what: &str, text: &str) -> Result<u64, Failure> {
    let wrong = || {
        Failure::usage(format!(
            "{what} {text}: expected a size such as 65536, 512M or 2G, below 2^63 bytes"
        ))
    };
    let trimmed = text.trim();
    let digits = trimmed.len() - trimmed.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (number, unit) = trimmed.split_at(digits);
    let unit = unit.trim().to_ascii_lowercase();
    let unit = unit.strip_suffix("ib").or(unit.strip_suffix('b')).unwrap_or(&unit);
    let power = ["", "k", "m", "g", "t"].iter().position(|name| *name == unit).ok_or_else(wrong)?;
    let number: u64 = number.parse().map_err(|_| wrong())?;
    number
        .checked_mul(1 << (10 * power))
        .filter(|bytes| *bytes <= i64::MAX as u64)
        .ok_or_else(wrong)
}

/// Reads a number of things; 0 leaves it to the program.
pub(crate) fn count(what: &str, text: &str) -> Result<usize, Failure> {
    let number = text.trim().parse::<usize>().ok().filter(|count| *count <= MOST);
    number.ok_or_else(|| {
        Failure::usage(format!(
            "{what} {text}: expected a number from 1 to {MOST}, or 0 for all cores"
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_bounded() {
        assert_eq!((count("--threads", "0").unwrap(), count("--threads", " 17").unwrap()), (0, 17));
        for text in ["", "-1", "many", "1.5", "4097", "99999999999999999999"] {
            assert!(count("--threads", text).is_err(), "{text}");
        }
    }

    #[test]
    fn units_are_powers_of_1024() {
        for (text, bytes) in [
            ("0", 0),
            ("65536", 65_536),
            ("1k", 1024),
            ("512M", 512 << 20),
            ("1GiB", 1 << 30),
            ("2 TB", 2 << 40),
            ("7B", 7),
        ] {
            assert_eq!(read("--memory", text).unwrap(), bytes, "{text}");
        }
        for text in ["", "M", "-1", "1.5G", "1X", "99999999999999999999", "9999999999G", "é"] {
            assert!(read("--memory", text).is_err(), "{text}");
        }
    }
}
