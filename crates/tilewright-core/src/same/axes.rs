//! Comparisons without boxes, which [`first_difference`](TensorLayout::first_difference) tries before those of boxes: the first
//! difference of two strided maps, axis by axis, and of two maps that are linear over bits, bit by bit; and a difference of any
//! two layouts among a few thousand sampled coordinates.
//!
//! # Strided maps
//!
//! Law: with one axis per dim and no swizzle, an offset is the sum of the axes' contributions. Two such maps are the
//! same iff they begin at the same offset and agree along every axis. The row-major first difference is on the last
//! axis that disagrees, with all other coordinates 0. Along an axis, coalesced modes are the unique form of a function,
//! so its first difference is where the forms diverge.
//!
//! # Maps that are linear over bits
//!
//! Law: if the strides of a layout add without a carry on all of its coordinates, the offset of a coordinate is the xor
//! of the offset of 0 and of the changes by each of its bits. Two such maps are therefore equal iff they agree at 0 and
//! at each single bit. The first coordinate at which they differ has one bit, the least significant one at which they
//! disagree: a coordinate before it consists of lower bits.
//!
//! # Samples
//!
//! Law: a result is a difference; no result proves nothing. Layouts that are cut differently mostly differ at most of
//! their coordinates. Sampling coordinates of every magnitude therefore saves the search, or ends it where it would not
//! end.

use crate::{Coord, Difference, MAX_MODES, Mode, TensorLayout, algebra::merge};

/// Returns whether both have the same extents and are sums over their axes.
pub(crate) const fn is_by_axis(a: &TensorLayout, b: &TensorLayout) -> bool {
    let (mut same, mut dim) = (a.rank() == b.rank(), 0);
    while same && dim < a.rank() {
        same = a.extents()[dim] == b.extents()[dim];
        dim += 1;
    }
    let plain = a.layout().swizzle().is_identity() && b.layout().swizzle().is_identity();
    same && plain && a.is_strided() && b.is_strided()
}

/// Returns the row-major first difference of two maps for which [`is_by_axis`] holds.
pub(crate) const fn first_by_axis(a: &TensorLayout, b: &TensorLayout) -> Option<Difference> {
    let rank = a.rank();
    let mut coord = Coord::origin(rank);
    if a.size() == 0 {
        return None;
    }
    if a.layout().offset() != b.layout().offset() {
        return found(a, b, coord);
    }
    let mut dim = rank;
    while dim > 0 {
        dim -= 1;
        if let (Some(x), Some(y)) = (a.layout().axis(dim), b.layout().axis(dim))
            && let Some(index) = first_along(x, y, a.extents()[dim])
        {
            coord.as_mut_slice()[dim] = index;
            return found(a, b, coord);
        }
    }
    None
}

const fn found(a: &TensorLayout, b: &TensorLayout, coord: Coord) -> Option<Difference> {
    match (a.offset(coord.as_slice()), b.offset(coord.as_slice())) {
        (Ok(left), Ok(right)) => Some(Difference { coord, left, right }),
        _ => None,
    }
}

/// Returns the first index below `extent`, before which neither axis ends, that two axes send to different offsets.
const fn first_along(a: &[Mode], b: &[Mode], extent: u64) -> Option<u64> {
    let mut merged = [[Mode::new(1, 0); MAX_MODES]; 2];
    let lens = [merge(a, false, &mut merged[0]), merge(b, false, &mut merged[1])];
    // Coordinates below `reach` agree; an axis has at most 2^63 - 1 coordinates.
    let (mut i, mut reach) = (0, 1u64);
    while i < lens[0] && i < lens[1] {
        let (x, y) = (merged[0][i], merged[1][i]);
        if x.stride() != y.stride() {
            return if reach < extent { Some(reach) } else { None };
        }
        if x.extent() != y.extent() {
            // One side continues its mode, and the other begins a new one, which would have been merged if it were the same.
            let shorter = if x.extent() < y.extent() { x.extent() } else { y.extent() };
            reach *= shorter;
            return if reach < extent { Some(reach) } else { None };
        }
        reach *= x.extent();
        i += 1;
    }
    None
}

/// The most bits of a coordinate: an array has fewer than 2⁶³ elements, and the last digit of a dim has any extent.
const MAX_BITS: usize = 96;

/// Returns `Some` if both are linear over bits: the first difference, if there is one.
pub(crate) const fn first_by_bits(
    a: &TensorLayout,
    b: &TensorLayout,
) -> Option<Option<Difference>> {
    let (x, y) = match (Bits::of(a), Bits::of(b)) {
        (Some(x), Some(y)) => (x, y),
        _ => return None,
    };
    let origin = Coord::origin(a.rank());
    let (left, right) = (a.layout().swizzled(x.base), b.layout().swizzled(y.base));
    if left != right {
        return Some(Some(Difference { coord: origin, left, right }));
    }
    let mut i = 0;
    while i < x.len {
        let (left, right) = (x.at(a, i), y.at(b, i));
        if left != right {
            let mut coord = origin.copied();
            coord.as_mut_slice()[x.dims[i] as usize] = x.steps[i];
            return Some(Some(Difference { coord, left, right }));
        }
        i += 1;
    }
    Some(None)
}

/// The bits of the coordinates of an array, the least significant of the last dim first.
struct Bits {
    len: usize,
    dims: [u8; MAX_BITS],
    /// The coordinate of the dim that has only this bit.
    steps: [u64; MAX_BITS],
    /// The contribution of the bit to the sum of strides.
    sums: [i64; MAX_BITS],
    base: i64,
}

impl Bits {
    /// Returns `None` if sums carry, a stride is negative, steps mix dims, or a digit other than the last of its dim has
    /// an extent that is not a power of two.
    const fn of(tensor: &TensorLayout) -> Option<Bits> {
        let base = tensor.layout().offset();
        if !tensor.is_strided() || tensor.size() == 0 || base < 0 {
            return None;
        }
        let zero = [0; MAX_BITS];
        let mut bits = Bits { len: 0, dims: [0; MAX_BITS], steps: zero, sums: [0; MAX_BITS], base };
        let (mut used, mut dim) = (base, tensor.rank());
        while dim > 0 {
            dim -= 1;
            used = match bits.push(tensor, dim, used) {
                Some(used) => used,
                None => return None,
            };
        }
        Some(bits)
    }

    /// Adds the bits of a dim; returns the used bits of offsets, or `None` if one would be used twice.
    const fn push(&mut self, tensor: &TensorLayout, dim: usize, mut used: i64) -> Option<i64> {
        let modes = match tensor.layout().axis(dim) {
            Some(modes) => modes,
            None => return None,
        };
        let (last, mut below, mut i) = (tensor.extents()[dim] - 1, 1u64, 0);
        while i < modes.len() && last >= below {
            let (extent, stride) = (modes[i].extent(), modes[i].stride());
            if stride < 0 {
                return None;
            }
            let mut step = 1;
            // I2 keeps the sums of existing coordinates within 64 bits.
            while step < extent && last / below >= step {
                let sum = stride * step as i64;
                if sum & used != 0 || self.len == MAX_BITS {
                    return None;
                }
                used |= sum;
                self.dims[self.len] = dim as u8;
                self.steps[self.len] = below * step;
                self.sums[self.len] = sum;
                self.len += 1;
                step *= 2;
            }
            below *= extent;
            if last >= below && !extent.is_power_of_two() {
                return None;
            }
            i += 1;
        }
        Some(used)
    }

    /// Returns the offset of the coordinate that has only one bit.
    const fn at(&self, tensor: &TensorLayout, bit: usize) -> i64 {
        tensor.layout().swizzled(self.base + self.sums[bit])
    }
}

/// The number of scattered coordinates that are sampled.
const SCATTERED: u32 = 4096;

/// Returns the difference at this coordinate within the extents of both, if there is one.
const fn difference_at(a: &TensorLayout, b: &TensorLayout, coord: &Coord) -> Option<Difference> {
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
    use std::vec::Vec;

    use super::*;
    use crate::same::tests::brute;
    use crate::{Layout, Swizzle, small::for_each_layout};

    #[test]
    fn every_pair_of_small_axes_under_every_extent() {
        let mut axes = Vec::new();
        for_each_layout(3, 1..=3, -1..=3, |axis| axes.push(axis.clone()));
        for_each_layout(1, 4..=6, 0..=3, |axis| axes.push(axis.clone()));
        let line = |axis: &Layout| TensorLayout::linear(axis).unwrap();
        let mut differences = 0;
        for a in axes.iter().step_by(29) {
            for b in axes.iter().step_by(5) {
                for extent in [1, 2, 4, a.size().min(b.size())] {
                    if extent > a.size().min(b.size()) {
                        continue;
                    }
                    let over =
                        |axis| TensorLayout::new(&[extent], line(axis).layout(), 64).unwrap();
                    let brute = (0..extent).find(|&i| a.offset_of(i) != b.offset_of(i));
                    let found = over(a).first_difference(&over(b)).unwrap();
                    differences += u32::from(found.is_some());
                    let index = found.as_ref().map(|found| found.coord.as_slice()[0]);
                    assert_eq!(index, brute, "{a} {b} {extent}");
                    if let Some(found) = found {
                        let at = |axis: &Layout| axis.offset_of(index.unwrap());
                        assert_eq!((Ok(found.left), Ok(found.right)), (at(a), at(b)));
                    }
                }
            }
        }
        assert!(differences > 10_000, "{differences}");
    }

    #[test]
    fn axes_cut_differently_are_no_search() {
        let line = |text| TensorLayout::linear(&Layout::parse(text).unwrap()).unwrap();
        let (a, b) = (line("(1000003,999983):(1,7)"), line("(999983,1000003):(1,7)"));
        let found = a.first_difference(&b).unwrap().unwrap();
        assert_eq!((found.coord.as_slice(), found.left, found.right), (&[999_983][..], 999_983, 7));
    }

    /// Returns layouts of 3×6 and of 4×8 in every order of bits, padded, moved, and under several matrices.
    fn all(extents: [u64; 2]) -> Vec<TensorLayout> {
        let matrices: [&[u64]; 6] = [
            &[1],
            &[1, 2, 5, 10],
            &[2, 1],
            &[3, 1, 6, 12, 24],
            &[1, 2, 4, 8, 17],
            &[31, 2, 4, 8, 16],
        ];
        let orders = [[8, 16, 1, 2, 4], [1, 2, 4, 8, 16], [4, 1, 16, 2, 8], [16, 8, 4, 2, 1]];
        let (mut found, mut seen) = (Vec::new(), 0);
        for (order, images) in orders.iter().flat_map(|o| matrices.iter().map(move |m| (o, m))) {
            for offset in [0, 32, 1] {
                let modes: Vec<Mode> = order.iter().map(|&d| Mode::new(2, d)).collect();
                let swizzle = Swizzle::of_images(images).unwrap();
                let layout = Layout::nested(&modes, &[2, 3]).unwrap();
                let layout = layout.with_offset(offset).unwrap().with_swizzle(swizzle).unwrap();
                let capacity = layout.cosize() as u64;
                found.push(TensorLayout::new(&extents, &layout, capacity).unwrap());
                seen += u32::from(Bits::of(&found[found.len() - 1]).is_some());
            }
        }
        assert!(seen > 40 && (seen as usize) < found.len(), "{seen}");
        found
    }

    #[test]
    fn what_bits_say_is_what_the_elements_say() {
        let (mut same, mut differ) = (0, 0);
        for extents in [[3, 6], [4, 8], [4, 5]] {
            let all = all(extents);
            for (a, b) in all.iter().flat_map(|a| all.iter().map(move |b| (a, b))) {
                let expected = brute(a, b);
                match first_by_bits(a, b) {
                    Some(found) => assert_eq!(found, expected, "{a:?} {b:?}"),
                    None => assert!(Bits::of(a).is_none() || Bits::of(b).is_none()),
                }
                assert_eq!(a.first_difference(b), Ok(expected.clone()), "{a:?} {b:?}");
                *(if expected.is_none() { &mut same } else { &mut differ }) += 1;
            }
        }
        assert!(same > 200 && differ > 5000, "{same} {differ}");
    }

    #[test]
    fn a_terabyte_is_compared_by_its_bits() {
        let rows = Layout::parse("(1048576,1048576):(1048576,1)").unwrap();
        let reversed: Vec<u64> = (0..40).map(|bit| 1 << (39 - bit) | 1 << 39).collect();
        let swizzle = |images: &[u64]| {
            TensorLayout::of(&rows.with_swizzle(Swizzle::of_images(images).unwrap()).unwrap())
        };
        let mut images = reversed.clone();
        let a = swizzle(&images);
        images[7] ^= 1 << 3;
        let b = swizzle(&images);
        assert_eq!(a.same_function(&a.copied()), Ok(true));
        let difference = a.first_difference(&b).unwrap().unwrap();
        assert_eq!(difference.coord.as_slice(), [0, 128]);
    }

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
