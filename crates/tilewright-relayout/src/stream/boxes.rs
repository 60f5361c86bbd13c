//! A region cut into boxes whose contiguous stretches have about equal length in the source and in the destination.
//!
//! Law: each position of the region is in one box.

use crate::{
    Elements,
    program::region::{Loop, Region},
    stream::sides::{Areas, DimDigit, box_extents},
};
use core::ops::Range;

/// An iterator over the boxes of a region.
#[derive(Clone, Debug)]
pub(crate) struct Boxes {
    region: Region,
    /// The loops of the region, with the run as the last loop.
    loops: Vec<Loop>,
    areas: Areas,
}

impl Boxes {
    /// Cuts a region into boxes of at most `most` units.
    pub(crate) fn new(region: &Region, elements: Elements, most: u64) -> Boxes {
        Boxes::scattered(region, elements, most, &[])
    }

    /// Cuts a region into boxes of at most `most` units. `scattered` tells of which loops, with the run as the last one,
    /// the iterations are not contiguous in the source unless all are taken.
    pub(crate) fn scattered(
        region: &Region,
        elements: Elements,
        most: u64,
        scattered: &[bool],
    ) -> Boxes {
        // Elements are not cut.
        let bytes = u64::from(elements.src_bits / 8).max(1);
        let whole = !region.packed && region.run.is_multiple_of(bytes);
        let grain = if whole { bytes } else { 1 };
        let step = grain as i64;
        let run = Loop { extent: region.run / grain, src: step, dst: step };
        let loops: Vec<Loop> = region.loops.iter().copied().chain([run]).collect();
        let sides = sides(&loops, scattered, (most / grain).max(1));
        let extents = loops.iter().map(|level| level.extent).collect();
        let areas = Areas::new(extents, sides, (0..loops.len()).rev().collect());
        Boxes { region: region.clone(), loops, areas }
    }

    /// Returns the number of boxes.
    pub(crate) fn len(&self) -> u64 {
        self.areas.len()
    }

    /// Returns a box of indices as a region.
    pub(crate) fn region(&self, area: &[Range<u64>]) -> Region {
        let Region { packed, mut src, mut dst, .. } = self.region;
        let (mut run, mut loops) = (1, Vec::with_capacity(area.len()));
        for (i, (level, range)) in self.loops.iter().zip(area).enumerate() {
            src += range.start as i64 * level.src;
            dst += range.start as i64 * level.dst;
            let extent = range.end - range.start;
            if i + 1 == self.loops.len() {
                run = extent * level.dst as u64;
            } else if extent > 1 {
                loops.push(Loop { extent, ..*level });
            }
        }
        Region { packed, src, dst, run, loops }
    }
}

impl Iterator for Boxes {
    type Item = Vec<Range<u64>>;

    /// Loops are in the order of the destination: the last one changes fastest.
    fn next(&mut self) -> Option<Vec<Range<u64>>> {
        self.areas.next()
    }
}

/// Returns the extents of a box of at most `most` units.
fn sides(loops: &[Loop], scattered: &[bool], most: u64) -> Vec<u64> {
    let extents: Vec<u64> = loops.iter().map(|level| level.extent).collect();
    let by = |stride: fn(&Loop) -> i64, scattered: &[bool]| {
        let mut order: Vec<usize> = (0..loops.len()).filter(|i| stride(&loops[*i]) != 0).collect();
        tilewright_core::sort_short(&mut order, |i| stride(&loops[*i]).unsigned_abs());
        let digit = |axis: usize| match scattered.get(axis) {
            Some(true) => DimDigit { axis, place: extents[axis], extent: 1 },
            _ => DimDigit { axis, place: 1, extent: extents[axis] },
        };
        order.into_iter().map(digit).collect::<Vec<_>>()
    };
    let stored = [by(|level| level.src, scattered), by(|level| level.dst, &[])];
    box_extents(&extents, [&stored[0], &stored[1]], most)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stream::sides::halves;

    fn region(loops: &[(u64, i64, i64)], run: u64) -> Region {
        let level = |&(extent, src, dst): &(u64, i64, i64)| Loop { extent, src, dst };
        Region { packed: false, src: 1000, dst: 0, run, loops: loops.iter().map(level).collect() }
    }

    #[test]
    fn a_box_is_as_long_in_the_source_as_in_the_destination() {
        let sides = |loops: &[(u64, i64, i64)], run, most| {
            Boxes::new(&region(loops, run), Elements::same(32), most).areas.sides
        };
        let transposed = [(4096, 4, 16384), (4096, 16384, 4)];
        assert_eq!(sides(&transposed, 4, 1 << 14), [64, 64, 1]);
        // A box grows while there is room, by whole grains.
        assert_eq!(sides(&transposed, 4, 28 << 10), [112, 64, 1]);
        // A loop that is contiguous on both sides is not cut before the bound requires it.
        assert_eq!(sides(&[(100, 400, 800)], 400, 1 << 20), [100, 100]);
    }

    #[test]
    fn boxes_hold_every_position_once() {
        let all = [
            region(&[], 40),
            region(&[(5, -4, 100), (7, 40, 12), (3, 12, 4)], 4),
            region(&[(5, 0, 100), (3, 60, 20)], 20),
        ];
        for (whole, most) in
            all.iter().flat_map(|whole| [1, 7, 16, 60, 1000].map(|most| (whole, most)))
        {
            let seen = |region: &Region| {
                let mut seen = vec![];
                crate::program::region::for_each(
                    &region.loops,
                    region.src,
                    region.dst,
                    &mut |src, dst| {
                        seen.extend((0..region.run as i64).map(|u| (dst + u, src + u)));
                    },
                );
                seen.sort_unstable();
                seen
            };
            let cut = Boxes::new(whole, Elements::same(32), most);
            let (count, mut found) = (cut.len(), vec![]);
            let areas: Vec<_> = cut.clone().collect();
            assert_eq!(areas.len() as u64, count);
            for area in areas {
                let parts = match halves(&area) {
                    Some([low, high]) => vec![low, high],
                    None => vec![area],
                };
                for part in parts {
                    let part = cut.region(&part);
                    assert!(part.size() <= most.max(4));
                    found.extend(seen(&part));
                }
            }
            found.sort_unstable();
            assert_eq!(found, seen(whole), "{whole:?} by {most}");
        }
    }
}
