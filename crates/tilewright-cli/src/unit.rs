//! Units of sizes in bytes, and sizes printed with them.

/// The units, powers of 1024.
pub(crate) const UNITS: [&str; 5] = ["", "k", "m", "g", "t"];

/// Prints a size of at least this many bytes, in the largest unit that it fills, with one decimal.
pub(crate) fn at_least(bytes: u64) -> String {
    let filled = |power: &usize| bytes >= 1 << (10 * power);
    let power = (0..UNITS.len()).rev().find(filled).unwrap_or(0);
    if power == 0 {
        return bytes.to_string();
    }
    let tenths = (u128::from(bytes) * 10).div_ceil(1 << (10 * power));
    let unit = UNITS[power].to_ascii_uppercase();
    match tenths % 10 {
        0 => format!("{}{unit}", tenths / 10),
        part => format!("{}.{part}{unit}", tenths / 10),
    }
}
