//! The first difference of two strided maps, axis by axis, without boxes or a search. Used by `same/mod.rs`.
//!
//! Law: with one axis per dim and no swizzle, an offset is the sum of the axes' contributions. Two such maps are the same
//! iff they begin at the same offset and agree along every axis. The row-major first difference is on the last axis that
//! disagrees, with all other coordinates 0. Along an axis, coalesced modes are the unique form of a function, so its first
//! difference is where the forms diverge.

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

#[cfg(test)]
mod tests {
    use crate::{Layout, TensorLayout, small::for_each_layout};
    use std::vec::Vec;

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
}
