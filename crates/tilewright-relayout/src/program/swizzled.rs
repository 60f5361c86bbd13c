//! Programs without swizzles: pairs of layouts that are linear over bits, and sums of two tables under a swizzle.
//!
//! Law of pairs: the pairs of offsets of the elements, in the source and in the destination, are unchanged, and the
//! destination has no swizzle. The map from offsets of the destination to offsets of the source is one matrix, S·D⁻¹.
//! Written as strides under a swizzle, it is the source of an array whose coordinates are the offsets of the
//! destination.
//!
//! Law of sums: if entries of the two tables share no bit, the swizzle of their sum is [`SwizzledSide::outer`] of the
//! outer entry plus [`SwizzledSide::image`] of the inner entry xored with [`SwizzledSide::key`] of the outer entry. A
//! swizzle is linear over xor, and sums without a carry are xors. So an entry of the outer table changes the images of
//! all entries of the inner table by the same bits, its key. The remaining bits of its own image, which no image of the
//! inner table has, are added.

use tilewright_core::{Layout, LinearLayout, MAX_MODES, Mode, Swizzle, TensorLayout};

/// The swizzle of one side, applied to sums of an outer and an inner table.
#[derive(Clone, Copy)]
pub(crate) struct SwizzledSide<'a> {
    swizzle: &'a Swizzle,
    /// The bits that occur in images of the inner table; 0 if the swizzle is the identity.
    within: i64,
}

impl<'a> SwizzledSide<'a> {
    /// Returns `None` if some sums carry.
    pub(crate) fn of(
        swizzle: &'a Swizzle,
        outer: impl Iterator<Item = i64>,
        inner: impl Iterator<Item = i64>,
    ) -> Option<SwizzledSide<'a>> {
        let mut side = SwizzledSide { swizzle, within: 0 };
        if swizzle.is_identity() {
            return Some(side);
        }
        let outer = outer.fold(0, |a, b| a | b);
        let mut all = 0;
        for at in inner {
            all |= at;
            side.within |= side.image(at);
        }
        (outer >= 0 && all >= 0 && outer & all == 0).then_some(side)
    }

    /// Returns the bits that an entry of the outer table changes in the images of the inner table.
    pub(crate) fn key(self, outer: i64) -> i64 {
        self.image(outer) & self.within
    }

    pub(crate) fn outer(self, outer: i64) -> i64 {
        self.image(outer) & !self.within
    }

    /// Returns the image of an entry, before keys are applied.
    pub(crate) fn image(self, offset: i64) -> i64 {
        if self.swizzle.is_identity() { offset } else { self.swizzle.apply(offset as u64) as i64 }
    }
}

/// A mode of at least this extent is long enough for the inner table of offsets.
const NEAR: u64 = 64;

/// The bits of the first dim, and of each following dim.
const FIRST: u32 = 8;
const MORE: u32 = 6;

/// Returns `None` if neither side has a swizzle, or if the two are not linear over bits on the whole destination.
pub(crate) fn straight(
    src: &TensorLayout,
    dst: &TensorLayout,
) -> Option<(TensorLayout, TensorLayout)> {
    if src.layout().swizzle().is_identity() && dst.layout().swizzle().is_identity() {
        return None;
    }
    let moves = bits(dst)?.inverse().ok()?.compose(&bits(src)?).ok()?;
    let from = source(&moves)?;
    let modes: Vec<Mode> = dims(from.modes()).into_iter().rev().collect();
    let extents: Vec<u64> = modes.iter().map(|mode| mode.extent()).collect();
    let from = Layout::flat(&modes).and_then(|flat| flat.with_swizzle(from.swizzle())).ok()?;
    Some((TensorLayout::of(&from), TensorLayout::row_major(&extents).ok()?))
}

/// Returns the source over the offsets of the destination: as strides if they need no swizzle or their first mode is
/// long. Otherwise all offsets are one mode under the matrix, so that a table of its first entries is large.
fn source(moves: &LinearLayout) -> Option<Layout> {
    let strided = moves.to_swizzled_layout().ok()?;
    let long = strided.modes().first().is_some_and(|mode| mode.extent() >= NEAR);
    if strided.swizzle().is_identity() || long {
        return Some(strided);
    }
    let bases: Vec<u64> = (0..)
        .map_while(|bit| moves.basis("offset", bit))
        .filter_map(|basis| basis.as_slice().first().copied())
        .collect();
    let flat = Layout::flat(&[Mode::new(1 << bases.len(), 1)]).ok()?;
    let square = Swizzle::of_images(&bases).and_then(|matrix| flat.with_swizzle(matrix));
    Some(square.unwrap_or(strided))
}

/// Cuts the modes into dims. A leaf takes the first dim whole, and some iterations of the others.
fn dims(modes: &[Mode]) -> Vec<Mode> {
    let (mut all, mut bit) = (Vec::new(), 0);
    for mode in modes {
        let (mut left, mut stride) = (mode.extent().trailing_zeros(), mode.stride());
        while left > 0 {
            let next = if bit < FIRST { FIRST } else { bit + MORE - (bit - FIRST) % MORE };
            let taken = left.min(next - bit);
            all.push(Mode::new(1 << taken, stride));
            (bit, left, stride) = (bit + taken, left - taken, stride << taken);
        }
    }
    if all.len() > MAX_MODES { modes.to_vec() } else { all }
}

/// Returns the map from coordinates to offsets, if it is linear over bits on the whole layout.
fn bits(side: &TensorLayout) -> Option<LinearLayout> {
    let layout = side.layout();
    let whole = side.is_strided()
        && side.extents().iter().enumerate().all(|(i, &n)| layout.axis_size(i) == Some(n));
    if whole { LinearLayout::of_layout(layout).ok() } else { None }
}

#[cfg(test)]
mod tests {
    use tilewright_core::Swizzle;

    use super::*;

    #[test]
    fn sums_of_both_parts_are_swizzled_sums() {
        let mut found = 0;
        let family = (0..=3).flat_map(|bits| (0..=3).map(move |base| (bits, base)));
        let family = family.flat_map(|(bits, base)| {
            [-4, -3, 3, 4].map(|shift| Swizzle::new(bits, base, shift).unwrap())
        });
        let matrices: [&[u64]; 4] = [
            &[2, 1],
            &[512, 256, 128, 64, 32, 16, 8, 4, 2, 1],
            &[1, 3, 7, 15, 31, 63, 127, 255, 511, 1023],
            &[1 + 2 + 64, 2 + 8, 4 + 512, 8, 16 + 32, 32 + 128, 64, 128 + 256, 256, 512],
        ];
        let matrices = matrices.map(|images| Swizzle::of_images(images).unwrap());
        for swizzle in family.chain(matrices) {
            // Outer tables have a subset of ten bits; only some of the subsets are tested.
            for mask in (0..1i64 << 10).step_by(tilewright_testing::cases(7, 31)) {
                let within = |mask: i64| (0..1i64 << 10).filter(move |x| x & !mask == 0);
                let (outer, inner) = (within(mask), within(1023 ^ mask));
                let side = SwizzledSide::of(&swizzle, outer.clone(), inner.clone()).unwrap();
                found += 1;
                for (x, y) in outer.flat_map(|x| inner.clone().map(move |y| (x, y))) {
                    let sum = side.outer(x) + (side.image(y) ^ side.key(x));
                    assert_eq!(sum as u64, swizzle.apply((x + y) as u64), "{swizzle} {x} {y}");
                }
            }
        }
        assert!(found > 1000, "{found}");
        let swizzle = Swizzle::new(2, 1, 2).unwrap();
        assert!(
            SwizzledSide::of(&swizzle, [4, 8].into_iter(), [4].into_iter()).is_none(),
            "a carry"
        );
    }

    fn pairs(src: &TensorLayout, dst: &TensorLayout) -> Vec<(i64, i64)> {
        let at = |i| (src.offset_of(i).unwrap(), dst.offset_of(i).unwrap());
        let mut all: Vec<_> = (0..src.size()).map(at).collect();
        all.sort_unstable();
        all
    }

    #[test]
    fn the_straight_pair_moves_the_same_elements() {
        let rows = TensorLayout::row_major(&[8, 16]).unwrap();
        let columns = TensorLayout::col_major(&[8, 16]).unwrap();
        let images: [&[u64]; 4] = [
            &[2, 1],
            &[64, 32, 16, 8, 4, 2, 1],
            &[1, 3, 7, 15, 31, 63, 127],
            &[1, 2, 4, 8 + 1, 16 + 2, 32, 64],
        ];
        let mut all = vec![rows.clone(), columns.clone()];
        for (side, images) in
            [&rows, &columns].iter().flat_map(|s| images.iter().map(move |m| (s, m)))
        {
            let swizzle = Swizzle::of_images(images).unwrap();
            all.push(TensorLayout::of(&side.layout().with_swizzle(swizzle).unwrap()));
        }
        let (mut found, mut plain) = (0, 0);
        for (src, dst) in all.iter().flat_map(|src| all.iter().map(move |dst| (src, dst))) {
            let Some((from, to)) = straight(src, dst) else { continue };
            assert!(to.layout().swizzle().is_identity());
            assert_eq!(pairs(&from, &to), pairs(src, dst), "{src:?} {dst:?}");
            found += 1;
            plain += u32::from(from.layout().swizzle().is_identity());
        }
        // All pairs but the four of two layouts without a swizzle.
        assert!(found == 100 - 4 && plain >= 8, "{found} {plain}");
        let padded = TensorLayout::new(&[7, 16], all[2].layout(), 128).unwrap();
        assert!(straight(&padded, &padded).is_none());
    }
}
