//! Comparison of two layouts that are linear over bits: whether they are one map, and where they first differ. Used by `same/mod.rs`.
//!
//! Law: if the strides of a layout add without a carry on all of its coordinates, the offset of a coordinate is the xor of
//! the offset of 0 and of the changes by each of its bits. Two such maps are therefore equal iff they agree at 0 and at each
//! single bit. The first coordinate at which they differ has one bit, the least significant one at which they disagree: a
//! coordinate before it consists of lower bits.

use crate::{Coord, Difference, TensorLayout};

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Layout, Mode, Swizzle};
    use std::vec::Vec;

    fn brute(a: &TensorLayout, b: &TensorLayout) -> Option<Difference> {
        (0..a.size()).find_map(|i| {
            let coord = a.coord_of(i).unwrap();
            let (left, right) = (a.offset_of(i).unwrap(), b.offset_of(i).unwrap());
            (left != right).then_some(Difference { coord, left, right })
        })
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
}
