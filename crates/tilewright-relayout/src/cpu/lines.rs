//! The list of cache lines of the source that a region reads, for prefetching.
//!
//! Law: every byte that a region reads is on a line of the list, for any alignment of the source.

use crate::{
    cpu::cost::{self, MAX_LANE},
    program::region::{Loop, Region, for_each},
};

const LINE: usize = cost::LINE as usize;

/// Returns the lines of a region's source, relative to its first byte, in the order of the source.
pub(crate) fn lines(region: &Region) -> Vec<i64> {
    let mut lines = Vec::new();
    list(region.run, &mut region.loops.clone(), &mut lines);
    lines
}

/// Appends the lines of runs within loops. Reorders `loops`.
pub(crate) fn list(run: u64, loops: &mut [Loop], lines: &mut Vec<i64>) {
    tilewright_core::sort_short(loops, |level| level.src.unsigned_abs());
    // The stretch that is contiguous, except for gaps of less than a line.
    let (mut low, mut high) = (0, run as i64);
    let near = |level: &&Loop| {
        let near = level.src.unsigned_abs() < (high - low) as u64 + cost::LINE;
        if near {
            low += level.src_reach().min(0);
            high += level.src_reach().max(0);
        }
        near
    };
    let together = loops.iter().take_while(near).count();
    loops[together..].reverse();
    for_each(&loops[together..], low, 0, &mut |src, _| {
        let end = src + high - low;
        lines.extend((src..end).step_by(LINE));
        // A stretch that begins within a line may end in one more line, unless it is one element.
        lines.extend((together > 0 || run > MAX_LANE).then_some(end - 1));
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Nests of up to three loops, with gaps, backward and overlapping strides.
    fn regions() -> impl Iterator<Item = Region> {
        let strides = [1, 2, 3, 8, 63, 64, 65, 100, 129, 1000, 4096];
        let signs = [1, -1];
        let runs = [1, 2, 4, 8, 32, 100];
        let outer = [(1, 0), (3, 5000), (5, 700), (2, -130)];
        strides.into_iter().flat_map(move |stride| {
            signs.into_iter().flat_map(move |sign| {
                runs.into_iter().flat_map(move |run| {
                    outer.into_iter().map(move |(extent, src)| {
                        let src_of = sign * stride * run as i64;
                        let inner = Loop { extent: 9, src: src_of, dst: run as i64 };
                        let outer = Loop { extent, src: src * run as i64, dst: 9 * run as i64 };
                        Region { packed: false, src: 0, dst: 0, run, loops: vec![outer, inner] }
                    })
                })
            })
        })
    }

    #[test]
    #[cfg_attr(miri, ignore = "safe, and takes hours")]
    fn every_line_of_a_source_is_listed() {
        for region in regions() {
            let listed = lines(&region);
            // A base that is aligned for the elements, anywhere in a line.
            let step = region.run.next_power_of_two().min(LINE as u64) as usize;
            for base in (0..cost::LINE as i64).step_by(step) {
                let of = |at: &i64| (base + at).div_euclid(cost::LINE as i64);
                let prefetched: BTreeSet<i64> = listed.iter().map(of).collect();
                let mut read = BTreeSet::new();
                for_each(&region.loops, 0, 0, &mut |src, _| {
                    read.extend((src..src + region.run as i64).map(|at| of(&at)));
                });
                assert!(read.is_subset(&prefetched), "{region:?} from byte {base}");
                let near = |line: &i64| [-1, 0, 1].iter().any(|by| read.contains(&(line + by)));
                assert!(prefetched.iter().all(near), "{region:?} from byte {base}");
            }
        }
    }
}
