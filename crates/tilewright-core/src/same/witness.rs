//! Samples a few thousand coordinates for one at which two layouts differ. Used by `same/mod.rs`.
//!
//! Law: a result is a difference; no result proves nothing. Layouts that are cut differently mostly differ at most of
//! their coordinates. Sampling coordinates of every magnitude therefore saves the search, or ends it where it would not
//! end.

use crate::{Coord, Difference, TensorLayout};

/// The number of scattered coordinates that are sampled.
const SCATTERED: u32 = 4096;

/// Returns the difference at this coordinate within the extents of both, if there is one.
pub(crate) const fn difference_at(
    a: &TensorLayout,
    b: &TensorLayout,
    coord: &Coord,
) -> Option<Difference> {
    match (a.offset(coord.as_slice()), b.offset(coord.as_slice())) {
        (Ok(left), Ok(right)) if left != right => {
            Some(Difference { coord: coord.copied(), left, right })
        }
        _ => None,
    }
}

/// Returns some difference of two layouts over the same extents, none of them 0, moved towards the origin.
pub(crate) const fn witness(a: &TensorLayout, b: &TensorLayout) -> Option<Difference> {
    let (mut looked, mut dim) = (None, a.rank());
    while dim > 0 {
        dim -= 1;
        keep(&mut looked, along(a, b, dim, false));
        keep(&mut looked, along(a, b, dim, true));
    }
    keep(&mut looked, scattered(a, b));
    match looked {
        Some(found) => Some(nearer(a, b, found)),
        None => None,
    }
}

/// Keeps the one of two differences that comes first.
pub(crate) const fn keep(first: &mut Option<Difference>, found: Option<Difference>) {
    let Some(found) = found else { return };
    let replace = match first {
        Some(first) => found.coord.is_before(&first.coord),
        None => true,
    };
    if replace {
        *first = Some(found);
    }
}

/// Returns the first difference on one line along `dim`, with all other coordinates 0 or all at their last.
const fn along(a: &TensorLayout, b: &TensorLayout, dim: usize, last: bool) -> Option<Difference> {
    let (mut coord, mut other) = (Coord::origin(a.rank()), 0);
    while last && other < a.rank() {
        coord.as_mut_slice()[other] = a.extents()[other] - 1;
        other += 1;
    }
    let (extent, mut i) = (a.extents()[dim], 0);
    while i < LOOKS {
        let index = look(i, extent);
        if index < extent {
            coord.as_mut_slice()[dim] = index;
            if let Some(found) = difference_at(a, b, &coord) {
                return Some(found);
            }
        }
        i += 1;
    }
    None
}

/// The number of indices of a line that are sampled.
const LOOKS: u32 = 32 + 3 * 58 + 1;

/// The small indices, those around the powers of two, and the last.
const fn look(i: u32, extent: u64) -> u64 {
    if i < 32 {
        i as u64
    } else if i + 1 < LOOKS {
        (1 << ((i - 32) / 3 + 5)) - 1 + (i as u64 - 32) % 3
    } else {
        extent - 1
    }
}

/// Returns the first difference among coordinates of pseudorandom magnitudes, the same ones every time.
const fn scattered(a: &TensorLayout, b: &TensorLayout) -> Option<Difference> {
    let (mut first, mut state, mut count) = (None, 0x9e37_79b9_7f4a_7c15, 0);
    let mut coord = Coord::origin(a.rank());
    while count < SCATTERED {
        let mut dim = 0;
        while dim < a.rank() {
            let extent = a.extents()[dim];
            let magnitudes = (u64::BITS - (extent - 1).leading_zeros()) as u64 + 1;
            let below = 1u64 << (next(&mut state) % magnitudes);
            coord.as_mut_slice()[dim] = next(&mut state) % below % extent;
            dim += 1;
        }
        keep(&mut first, difference_at(a, b, &coord));
        count += 1;
    }
    first
}

/// Vigna's xorshift64*, with the better high half xored into the low half.
const fn next(state: &mut u64) -> u64 {
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    let product = state.wrapping_mul(0x2545_f491_4f6c_dd1d);
    product ^ (product >> 32)
}

/// Lowers one coordinate after another, the most significant first, in halving steps, as long as the layouts
/// differ there.
const fn nearer(a: &TensorLayout, b: &TensorLayout, mut found: Difference) -> Difference {
    let mut dim = 0;
    while dim < a.rank() {
        let mut by = found.coord.as_slice()[dim];
        while by > 0 {
            let mut coord = found.coord.copied();
            coord.as_mut_slice()[dim] -= by;
            match difference_at(a, b, &coord) {
                Some(lower) => found = lower,
                None => by /= 2,
            }
            let here = found.coord.as_slice()[dim];
            by = if by < here { by } else { here };
        }
        dim += 1;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Layout;

    fn found(a: &str, b: &str) -> Option<Difference> {
        let [a, b] = [a, b].map(|text| TensorLayout::of(&Layout::parse(text).unwrap()));
        let found = witness(&a, &b)?;
        assert_eq!(a.offset(found.coord.as_slice()), Ok(found.left));
        assert_eq!(b.offset(found.coord.as_slice()), Ok(found.right));
        assert_ne!(found.left, found.right);
        Some(found)
    }

    #[test]
    fn differences_at_powers_of_two_and_at_the_last_are_found() {
        // At 2^40 and the coordinate after it, of 2^40 + 3.
        let single = found("1099511627779:1", "Sw<1,0,40> o 1099511627779:1").unwrap();
        assert_eq!(single.coord.as_slice(), [1 << 40]);
        // At the last coordinate of a line.
        let last = found("(7,1000003):(1,7)", "((7),(1000002,2)):((1),(7,7000015))").unwrap();
        assert_eq!(last.coord.as_slice(), [0, 1_000_002]);
        assert!(found("(7,1000003):(1,7)", "(7,1000003):(1,7)").is_none());
    }

    #[test]
    fn a_scattered_difference_is_brought_near() {
        // Bit 41 is first set within row 2199023, and throughout the next one.
        let rows = "(1000000000,1000,1000):(1000000,1000,1)";
        let near = found(rows, "Sw<1,3,38> o (1000000000,1000,1000):(1000000,1000,1)").unwrap();
        assert_eq!(near.coord.as_slice(), [2_199_024, 0, 0]);
    }
}
