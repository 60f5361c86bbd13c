//! How many bytes go together: in one access, and in one sector.

/// The widest access, in bytes.
pub(crate) const VECTOR: u64 = 16;

/// The bytes that memory moves together.
pub(crate) const SECTOR: u64 = 32;

/// The largest power of two that divides both, of which the first is one.
pub(crate) fn common(power: u64, number: u64) -> u64 {
    match number {
        0 => power,
        _ => power.min(1 << number.trailing_zeros()),
    }
}
