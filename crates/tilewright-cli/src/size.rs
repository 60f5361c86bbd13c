//! Sizes in bytes, such as `512M`.

use crate::failure::{Failure, UNITS};

/// The largest number of threads.
const MOST: usize = 4096;

/// Reads a number with an optional unit: K, M, G, T, powers of 1024, also written `KiB` or `KB`. A number with a unit may have
/// decimals.
pub(crate) fn read(what: &str, text: &str) -> Result<u64, Failure> {
    let wrong = || {
        Failure::usage(format!(
            "{what} {text}: expected a size such as 65536, 512M or 2G, below 2^63 bytes"
        ))
    };
    let trimmed = text.trim();
    let number = |c: char| c.is_ascii_digit() || c == '.';
    let digits = trimmed.len() - trimmed.trim_start_matches(number).len();
    let (number, unit) = trimmed.split_at(digits);
    let unit = unit.trim().to_ascii_lowercase();
    let unit = unit.strip_suffix("ib").or(unit.strip_suffix('b')).unwrap_or(&unit);
    let power = UNITS.iter().position(|name| *name == unit).ok_or_else(wrong)?;
    let unit = 1u64 << (10 * power);
    let (whole, part) = number.split_once('.').unwrap_or((number, "0"));
    if part.is_empty() || part.len() > 9 || (number.contains('.') && power == 0) {
        return Err(wrong());
    }
    let whole =
        whole.parse::<u64>().ok().and_then(|whole| whole.checked_mul(unit)).ok_or_else(wrong)?;
    let tenths = 10u128.pow(part.len() as u32);
    // Nine digits times 2^40 stay far below 2^128, and a fraction of a unit below 2^64.
    let part = u128::from(part.parse::<u64>().map_err(|_| wrong())?) * u128::from(unit);
    let part = part.div_ceil(tenths);
    whole.checked_add(part as u64).filter(|bytes| *bytes <= i64::MAX as u64).ok_or_else(wrong)
}

/// Reads a number of threads; 0 means all cores.
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
    use crate::failure::at_least;

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
            ("1.5G", 3 << 29),
            ("1.1K", 1127),
        ] {
            assert_eq!(read("--memory", text).unwrap(), bytes, "{text}");
        }
        for text in [
            "",
            "M",
            "-1",
            "1.5",
            "1.G",
            ".5G",
            "1.5.5G",
            "1.0123456789G",
            "1X",
            "99999999999999999999",
            "9999999999G",
            "é",
        ] {
            assert!(read("--memory", text).is_err(), "{text}");
        }
    }

    #[test]
    fn what_is_advised_is_read_as_enough() {
        for (bytes, text) in [(1023, "1023"), (4096, "4K"), (4097, "4.1K"), ((1 << 30) + 1, "1.1G")]
        {
            assert_eq!(at_least(bytes), text);
        }
        for power in 10..45u32 {
            for bytes in [(1u64 << power) - 1, (1 << power) + 1, (1 << power) / 10 * 13 + 7] {
                let size = read("", &at_least(bytes)).unwrap();
                assert!((bytes..=bytes + bytes / 10 + 1).contains(&size), "{bytes} {size}");
            }
        }
    }
}
