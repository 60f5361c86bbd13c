//! The number of bytes that move together: in one access, and in one sector. All ways use it to choose the width of
//! accesses.

/// The bytes of the widest access.
pub(crate) const VECTOR: u64 = 16;

/// The bytes of a sector, which memory transfers together.
pub(crate) const SECTOR: u64 = 32;

/// Returns the largest power of two that divides both; the first argument is a power of two.
pub(crate) fn common(power: u64, number: u64) -> u64 {
    match number {
        0 => power,
        _ => power.min(1 << number.trailing_zeros()),
    }
}
