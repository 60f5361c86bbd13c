//! Prefetching of source lines while another part is moved, and the list of the lines that a region reads.
//!
//! Law: every byte that a region reads is on a line of the list, for any alignment of the source.

use core::cell::Cell;

use super::{
    isa::Isa,
    isa::Vector,
    isa::{Work, enter},
};
use crate::{
    cpu::cost::{self, MAX_LANE},
    program::region::{Loop, Region, for_each},
};

const LINE: usize = cost::LINE as usize;

/// A list of lines that are prefetched in order, spread evenly over the bytes that are moved meanwhile.
pub(crate) struct Prefetch<'a> {
    /// The byte from which the lines are counted.
    from: *const u8,
    lines: &'a [i64],
    /// The lines for each byte moved, as a fraction with denominator 2²⁰.
    rate: u64,
    moved: Cell<u64>,
    done: Cell<usize>,
}

impl<'a> Prefetch<'a> {
    /// Returns the prefetch of the lines relative to byte `at` of a source, spread over a move of `moved` bytes.
    pub(crate) fn of(src: &[u8], at: i64, lines: &'a [i64], moved: usize) -> Prefetch<'a> {
        let from = src.as_ptr().wrapping_offset(at as isize);
        let rate = ((lines.len() as u64) << 20).div_ceil(moved.max(1) as u64);
        Prefetch { from, lines, rate, moved: Cell::new(0), done: Cell::new(0) }
    }

    /// Prefetches all remaining lines.
    pub(crate) fn all(&self, isa: Isa) {
        let lines = &self.lines[self.done.get().min(self.lines.len())..];
        // SAFETY: the work only prefetches lines; the machine has the instruction set, as `Isa::chosen` and its callers
        // make sure.
        unsafe { enter(isa, isa.register(), All { from: self.from, lines }) };
    }

    /// Returns the lines that are due while `bytes` bytes are moved.
    #[inline(always)]
    fn next(&self, bytes: usize) -> &'a [i64] {
        self.moved.set(self.moved.get() + bytes as u64);
        let until = (self.moved.get().saturating_mul(self.rate) >> 20) as usize;
        let next = self.done.get()..until.min(self.lines.len());
        self.done.set(next.end);
        &self.lines[next]
    }
}

/// All lines of a list.
struct All<'a> {
    from: *const u8,
    lines: &'a [i64],
}

impl Work for All<'_> {
    /// Nothing further is required: prefetched lines need not be mapped.
    #[inline(always)]
    unsafe fn with<V: Vector>(self) {
        for line in self.lines {
            V::prefetch(self.from.wrapping_offset(*line as isize));
        }
    }
}

/// The prefetches that accompany writes.
pub(super) struct Prefetches<'a> {
    /// Lines that another region reads; they replace `lines`.
    other: Option<&'a Prefetch<'a>>,
    from: *const u8,
    lines: core::slice::Iter<'a, i64>,
}

impl<'a> Prefetches<'a> {
    pub(super) fn none() -> Prefetches<'a> {
        Prefetches { other: None, from: core::ptr::null(), lines: [].iter() }
    }

    /// Returns prefetches of `other`, or of the lines relative to `from`.
    #[inline(always)]
    pub(super) fn of(
        other: Option<&'a Prefetch<'a>>,
        from: *const u8,
        lines: &'a [i64],
    ) -> Prefetches<'a> {
        Prefetches { other, from, lines: lines.iter() }
    }

    /// Prefetches the lines that are due while `lines` lines are written.
    #[inline(always)]
    pub(super) fn some<V: Vector>(&mut self, lines: usize) {
        if let Some(prefetch) = self.other {
            prefetch.next(lines * LINE).iter().for_each(|line| {
                V::prefetch(prefetch.from.wrapping_offset(*line as isize));
            });
            return;
        }
        for line in self.lines.by_ref().take(lines) {
            V::prefetch(self.from.wrapping_offset(*line as isize));
        }
    }

    /// Prefetches the remaining lines.
    #[inline(always)]
    pub(super) fn rest<V: Vector>(&mut self) {
        if self.other.is_none() {
            self.some::<V>(self.lines.len());
        }
    }
}

// The lines that a region reads.

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

    #[test]
    fn all_lines_are_asked_for_in_order_by_the_time_a_block_is_moved() {
        let all: Vec<i64> = (0..1000).collect();
        for (count, moved) in [(0, 640), (7, 6400), (100, 6400), (101, 6400), (1000, 6400), (9, 10)]
        {
            for bytes in [16, 32, 64, 128, 1024] {
                let (lines, mut prefetched) = (&all[..count], Vec::<i64>::new());
                let prefetch = Prefetch::of(&[], 0, lines, moved);
                (0..moved.div_ceil(bytes)).for_each(|_| prefetched.extend(prefetch.next(bytes)));
                assert_eq!(prefetched, lines, "{moved} bytes, {bytes} at a time");
                assert!(prefetch.next(bytes).is_empty());
            }
        }
    }

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
