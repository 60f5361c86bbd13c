//! Lines of a source that are asked for while something else is moved.

use super::vector::Vector;
use crate::{
    cpu::cost,
    program::region::{Loop, Region, for_each},
};
use core::cell::Cell;

/// Lines that are asked for by and by, in the order of a list, as evenly as what is moved meanwhile.
pub(crate) struct Ask<'a> {
    /// The first byte, from which the lines are counted.
    from: *const u8,
    lines: &'a [i64],
    /// For each byte moved, in parts of 2²⁰.
    rate: u64,
    moved: Cell<u64>,
    done: Cell<usize>,
}

impl<'a> Ask<'a> {
    /// The lines of these bytes behind byte `at` of a source, to be asked for while `moved` bytes are moved.
    pub(crate) fn of(src: &[u8], at: i64, lines: &'a [i64], moved: usize) -> Ask<'a> {
        let from = src.as_ptr().wrapping_offset(at as isize);
        let rate = ((lines.len() as u64) << 20).div_ceil(moved.max(1) as u64);
        Ask { from, lines, rate, moved: Cell::new(0), done: Cell::new(0) }
    }

    /// The next lines, while so many bytes are moved.
    #[inline(always)]
    fn next(&self, bytes: usize) -> &'a [i64] {
        self.moved.set(self.moved.get() + bytes as u64);
        let until = (self.moved.get().saturating_mul(self.rate) >> 20) as usize;
        let next = self.done.get()..until.min(self.lines.len());
        self.done.set(next.end);
        &self.lines[next]
    }
}

const LINE: usize = cost::LINE as usize;

/// What is asked for while something is written.
pub(super) struct Requests<'a> {
    /// Lines that another job reads, rather than those behind an address.
    other: Option<&'a Ask<'a>>,
    from: *const u8,
    lines: core::slice::Iter<'a, i64>,
}

impl<'a> Requests<'a> {
    pub(super) fn none() -> Requests<'a> {
        Requests { other: None, from: core::ptr::null(), lines: [].iter() }
    }

    /// The lines so far behind `from`, if no other ones are given.
    #[inline(always)]
    pub(super) fn of(
        other: Option<&'a Ask<'a>>,
        from: *const u8,
        lines: &'a [i64],
    ) -> Requests<'a> {
        Requests { other, from, lines: lines.iter() }
    }

    /// Asks for some of them while so many lines are written.
    #[inline(always)]
    pub(super) fn some<V: Vector>(&mut self, lines: usize) {
        if let Some(ask) = self.other {
            ask.next(lines * LINE).iter().for_each(|line| {
                V::prefetch(ask.from.wrapping_offset(*line as isize));
            });
            return;
        }
        for line in self.lines.by_ref().take(lines) {
            V::prefetch(self.from.wrapping_offset(*line as isize));
        }
    }

    /// Asks for what is left.
    #[inline(always)]
    pub(super) fn rest<V: Vector>(&mut self) {
        if self.other.is_none() {
            self.some::<V>(self.lines.len());
        }
    }
}

/// The lines of a region's source, from its first byte, in the source's order.
pub(crate) fn lines(region: &Region) -> Vec<i64> {
    let mut loops = region.loops.clone();
    loops.sort_by_key(|turn| turn.src.unsigned_abs());
    // What lies together, but for gaps of less than a line.
    let (mut low, mut high) = (0, region.run as i64);
    let near = |turn: &&Loop| {
        let near = turn.src.unsigned_abs() < (high - low) as u64 + cost::LINE;
        if near {
            low += turn.src_reach().min(0);
            high += turn.src_reach().max(0);
        }
        near
    };
    let together = loops.iter().take_while(near).count();
    loops[together..].reverse();
    let mut lines = Vec::new();
    for_each(&loops[together..], low, 0, &mut |src, _| {
        let end = src + high - low;
        lines.extend((src..end).step_by(LINE));
        // What begins within a line may end in one more, unless it is one element.
        lines.extend((together > 0 || region.run > super::MAX_LANE).then_some(end - 1));
    });
    lines
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
            // A base that suits the elements, wherever in a line.
            let step = region.run.next_power_of_two().min(LINE as u64) as usize;
            for base in (0..cost::LINE as i64).step_by(step) {
                let of = |at: &i64| (base + at).div_euclid(cost::LINE as i64);
                let asked: BTreeSet<i64> = listed.iter().map(of).collect();
                let mut read = BTreeSet::new();
                for_each(&region.loops, 0, 0, &mut |src, _| {
                    read.extend((src..src + region.run as i64).map(|at| of(&at)));
                });
                assert!(read.is_subset(&asked), "{region:?} from byte {base}");
                let near = |line: &i64| [-1, 0, 1].iter().any(|by| read.contains(&(line + by)));
                assert!(asked.iter().all(near), "{region:?} from byte {base}");
            }
        }
    }

    #[test]
    fn all_lines_are_asked_for_in_order_by_the_time_a_block_is_moved() {
        let all: Vec<i64> = (0..1000).collect();
        for (count, moved) in [(0, 640), (7, 6400), (100, 6400), (101, 6400), (1000, 6400), (9, 10)]
        {
            for bytes in [16, 32, 64, 128, 1024] {
                let (lines, mut asked) = (&all[..count], Vec::<i64>::new());
                let ask = Ask::of(&[], 0, lines, moved);
                (0..moved.div_ceil(bytes)).for_each(|_| asked.extend(ask.next(bytes)));
                assert_eq!(asked, lines, "{moved} bytes, {bytes} at a time");
                assert!(ask.next(bytes).is_empty());
            }
        }
    }
}
