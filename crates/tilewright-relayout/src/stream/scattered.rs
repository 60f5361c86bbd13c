//! The reads of a range of the destination: a few long ranges of a box, or the elements in order if boxes are too many or
//! too uneven.
//!
//! A box is read as a few long ranges of its source bytes, with the same box over a buffer that holds exactly those bytes.
//!
//! Laws: the boxes that [`cover`] yields contain the positions of `clip`, and at most twice that number of positions.
//! The reads of a [`BoxReads`] hold at most twice the units of its box, or 64 times if they would be shorter than 64
//! bytes. So a range reads at most four times the bytes that it needs if these are contiguous by 64 bytes or more.
//! Packed elements need up to two bytes more for each read.
//!
//! If boxes are too many, or too uneven in their bits, each leaf finds its elements in a sorted list of stretches of the source.
//! Laws: after a leaf was added, or a box that has it, each of its elements is within one stretch, even if another leaf contains
//! it later. The list never takes more than a stated share of the range.

use core::ops::Range;
use std::sync::OnceLock;

use crate::{
    Elements,
    cpu::way::{Terms, Ways},
    program::{
        digits::Digits,
        region::{Loop, Overlap, Region, RegionRef, cut},
        walk::{Leaf, Offsets, WalkItem},
    },
    stream::CALL,
};

/// Calls `f` with boxes around the positions of a region in the destination units `low..high`.
///
/// An iteration at the edge of the range that is partly needed is taken whole if it is adjacent to full iterations: it
/// extends their reads, instead of needing short reads of its own.
pub(crate) fn cover(region: &Region, range: (i64, i64), f: &mut dyn FnMut(RegionRef<'_>)) {
    let whole = |overlap: &Overlap| {
        let within = overlap.within.end - overlap.within.start;
        if overlap.to - overlap.from <= 2 * within {
            overlap.from..overlap.to
        } else {
            overlap.within.clone()
        }
    };
    cut(region, range, whole, f);
}

/// Reads of fewer bytes are extended across longer gaps, because a read costs as much as some kilobytes.
pub(crate) const SHORT: u64 = 64;

/// The maximal ratio of read bytes to needed bytes, for short reads.
pub(crate) const STRETCH: u64 = 64;

/// The loops of a part that one dense stretch of the source contains, and the length of that stretch in units.
pub(crate) struct Dense {
    /// For each loop, whether it is within the stretch.
    pub(crate) inside: Vec<bool>,
    pub(crate) span: u64,
}

impl Dense {
    /// Takes loops in ascending order of source stride, while the stretch holds at most twice the needed units, or is
    /// short. `unit` is the bits of a unit.
    pub(crate) fn of(part: &RegionRef<'_>, unit: u64) -> Dense {
        let mut dense = Dense { inside: vec![false; part.loops.len()], span: part.run };
        let mut size = part.run;
        for i in ascending(part.loops) {
            let level = &part.loops[i];
            let span = dense.span + level.src_reach().unsigned_abs();
            if level.src != 0 {
                size = size.saturating_mul(level.extent);
            }
            let near = level.src.unsigned_abs().saturating_mul(unit) <= CALL * 8;
            let short = near && dense.span.saturating_mul(unit) < SHORT * 8;
            if span > size.saturating_mul(if short { STRETCH } else { 2 }) {
                break;
            }
            (dense.span, dense.inside[i]) = (span, true);
        }
        dense
    }
}

/// Returns the positions of loops in ascending order of source stride.
fn ascending(loops: &[Loop]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..loops.len()).collect();
    tilewright_core::sort_short(&mut order, |&i| loops[i].src.unsigned_abs());
    order
}

/// A loop over reads of equal length.
#[derive(Clone, Copy, Debug)]
struct ReadLoop {
    extent: u64,
    bytes: u64,
}

/// The reason why a box cannot become a [`BoxReads`].
pub(crate) enum Refused {
    /// Packed elements begin at different bits from read to read.
    Uneven,
    /// The buffer would have this many bytes.
    TooLong(u128),
}

/// The maximal bytes of a buffer: positions in it are counted in bits.
pub(crate) const MAX_BUFFER: u128 = isize::MAX as u128 / 8;

/// The reads of one box, and the box over the buffer that they fill.
#[derive(Clone, Debug)]
pub(crate) struct BoxReads {
    /// The byte of the source at which the first read begins.
    first: u64,
    /// The loops over reads, by ascending distance.
    steps: Vec<ReadLoop>,
    pub(crate) count: u64,
    pub(crate) len: usize,
    /// The position of the first read in the buffer.
    at: usize,
    pub(crate) region: Region,
    /// The kernels of the region, chosen when first needed.
    ways: OnceLock<Box<Ways>>,
}

impl BoxReads {
    /// Returns the kernels of the region.
    pub(crate) fn ways(&self, terms: Terms) -> &Ways {
        self.ways.get_or_init(|| Box::new(Ways::of(&self.region, terms)))
    }

    /// Returns the reads of a part, which fill the buffer from byte `at` on.
    pub(crate) fn of(
        part: &RegionRef<'_>,
        elements: Elements,
        at: usize,
    ) -> Result<BoxReads, Refused> {
        let (src, dst, run, packed) = (part.src, part.dst, part.run, part.packed);
        let mut region = Region { packed, src, dst, run, loops: part.loops.to_vec() };
        let unit = u64::from(region.src_unit(elements));
        let dense = Dense::of(part, unit);
        let low = region.src_low() as u64;
        let (first, phase) = split(low, unit);
        let pitch = (u128::from(phase) + u128::from(dense.span) * u128::from(unit)).div_ceil(8);
        if pitch > MAX_BUFFER {
            return Err(Refused::TooLong(pitch));
        }
        let (len, mut steps, mut pitch) = (pitch as u64, Vec::new(), pitch);
        for i in ascending(part.loops) {
            let level = &mut region.loops[i];
            if dense.inside[i] || level.src == 0 {
                continue;
            }
            let bits = level.src.unsigned_abs() * unit;
            if !bits.is_multiple_of(8) {
                return Err(Refused::Uneven);
            }
            if pitch > MAX_BUFFER {
                return Err(Refused::TooLong(pitch));
            }
            steps.push(ReadLoop { extent: level.extent, bytes: bits / 8 });
            level.src = level.src.signum() * (pitch * 8 / u128::from(unit)) as i64;
            pitch *= u128::from(level.extent);
        }
        let end = at as u128 + pitch;
        if end > MAX_BUFFER {
            return Err(Refused::TooLong(end));
        }
        region.src =
            (region.src_low().abs_diff(region.src) + (at as u64 * 8 + phase) / unit) as i64;
        let count = steps.iter().map(|step| step.extent).product();
        Ok(BoxReads { first, steps, count, len: len as usize, at, region, ways: OnceLock::new() })
    }

    /// Returns the bytes of the buffer.
    pub(crate) fn bytes(&self) -> usize {
        self.count as usize * self.len
    }

    /// Returns the bytes of memory that the piece takes.
    pub(crate) fn overhead(&self) -> usize {
        let lists = self.steps.capacity() * size_of::<ReadLoop>()
            + self.region.loops.capacity() * size_of::<Loop>();
        size_of::<BoxReads>() + lists
    }

    /// Returns the byte offset of read `i` in the source and its position in the buffer.
    pub(crate) fn read(&self, i: u64) -> (u64, usize) {
        let (mut src, mut rest) = (self.first, i);
        for step in &self.steps {
            src += rest % step.extent * step.bytes;
            rest /= step.extent;
        }
        (src, self.at + i as usize * self.len)
    }
}

/// Returns the byte in which a unit begins, and the number of bits before the unit in that byte.
pub(crate) fn split(position: u64, unit: u64) -> (u64, u64) {
    if unit >= 8 { (position * (unit / 8), 0) } else { (position * unit / 8, position * unit % 8) }
}

// The elements in order: a sorted list of stretches of the source.

/// The list holds at most one stretch for this many bytes of the range, and half of that after joining.
const BYTES_PER_STRETCH: u64 = 6;

/// The number of stretches that any list may hold.
const LEAST: usize = 64;

/// Gaps that take no more bytes than a stretch in the list are always read.
const GAP: u64 = size_of::<Stretch>() as u64;

/// Longer gaps, in bytes, are read if that at most doubles the buffer, or if reads are short on average: one long read
/// costs less than many short ones.
const GAPS: [u64; 3] = [CALL, CALL / 4, CALL / 16];

/// A range of elements of the source and its position in the buffer, in elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Stretch {
    from: u64,
    to: u64,
    at: u64,
}

/// Stretches of the source, stored one after the other in a buffer.
#[derive(Clone, Debug)]
pub(crate) struct Stretches {
    all: Vec<Stretch>,
    /// The bits of an element.
    bits: u64,
    /// The maximal number of stretches after joining.
    most: usize,
    /// The length of gaps that are joined, in bytes.
    gap: u64,
}

/// Returns the maximal bytes of the list for a range of `range` bytes.
pub(crate) fn list_bytes(range: u64) -> u64 {
    (range / BYTES_PER_STRETCH).max(2 * LEAST as u64).saturating_mul(GAP)
}

impl Stretches {
    /// An empty list, for elements of `bits` bits and a range of `bytes` bytes.
    pub(crate) fn new(bits: u32, bytes: u64) -> Stretches {
        Stretches::bounded(bits, (bytes / BYTES_PER_STRETCH).saturating_mul(GAP))
    }

    /// An empty list of at most `list` bytes, or of a few stretches, for elements of `bits` bits.
    pub(crate) fn bounded(bits: u32, list: u64) -> Stretches {
        let most = usize::try_from(list / GAP / 2).unwrap_or(usize::MAX / 64);
        let bits = u64::from(bits);
        Stretches { all: Vec::new(), bits, most: most.clamp(LEAST, usize::MAX / 64), gap: GAP }
    }

    /// Adds the elements that a leaf reads, and those between them if they are no more than the leaf's own.
    fn add(&mut self, leaf: &Leaf<'_>) {
        let (outer, inner) = (Bounds::of(leaf.outer), Bounds::of(leaf.inner));
        let (rows, cells, run) = (outer.count, inner.count, leaf.run);
        let dense = |span: u64, count: u64| span + run <= 2 * count * run;
        if dense(outer.span() + inner.span(), rows.saturating_mul(cells)) {
            self.push(outer.low + inner.low, outer.high + inner.high, run);
        } else if dense(inner.span(), cells) {
            leaf.outer.iter().for_each(|at| self.push(at.0 + inner.low, at.0 + inner.high, run));
        } else if dense(outer.span(), rows) {
            leaf.inner.iter().for_each(|at| self.push(at.0 + outer.low, at.0 + outer.high, run));
        } else {
            for row in leaf.outer {
                leaf.inner.iter().for_each(|at| self.push(row.0 + at.0, row.0 + at.0, run));
            }
        }
    }

    /// Adds the elements of a walk, box by box as far as these have few stretches.
    pub(crate) fn add_all(&mut self, digits: &Digits, range: Range<i64>) {
        digits.walk_boxes(range, &mut |found| match found {
            WalkItem::Leaf(leaf) => {
                self.add(leaf);
                true
            }
            WalkItem::Box(base, parts) => self.add_box(base, parts),
        });
        self.finish();
    }

    /// Adds the elements whose offsets are `base` plus one summand of each part, and short gaps between them; returns false
    /// if they have too many stretches. A part that takes four fifths of its span is one stretch.
    fn add_box(&mut self, base: i64, parts: &mut [Vec<i64>]) -> bool {
        let gap = self.elements(self.gap) as i64;
        let mut held = vec![(base, base + 1)];
        let ends = |part: &[i64]| part.iter().min().copied().zip(part.iter().max().copied());
        let span = |part: &[i64]| ends(part).map_or(0, |(low, high)| high.abs_diff(low));
        parts.sort_by_key(|part| span(part));
        for part in parts {
            let Some((low, high)) = ends(part) else { return true };
            // Additions to one stretch may overlap it, or leave gaps of its length.
            let near = if let [(from, to)] = held[..] { (to - from).max(gap) } else { gap };
            let count = part.len() as u64;
            let ranges = if span(part) < count + count / 4 {
                vec![(low, high + 1)]
            } else {
                part.sort_unstable();
                joined(part.iter().map(|at| (*at, *at + 1)), near)
            };
            if ranges.len().saturating_mul(held.len()) > self.most {
                return false;
            }
            let sums = ranges.iter().flat_map(|range| {
                held.iter().map(move |own| (own.0 + range.0, own.1 + range.1 - 1))
            });
            let mut sums: Vec<(i64, i64)> = sums.collect();
            sums.sort_unstable();
            held = joined(sums.into_iter(), gap);
        }
        held.iter().for_each(|(from, to)| self.push(*from, to - 1, 1));
        true
    }

    /// Adds the elements from `first` to `last`, and the rest of the run at `last`.
    fn push(&mut self, first: i64, last: i64, run: u64) {
        // Reads cover whole bytes, so the elements of a byte are read together.
        let grain = (8 / self.bits).max(1);
        let (from, to) =
            (first as u64 / grain * grain, (last as u64 + run).next_multiple_of(grain));
        let gap = self.elements(self.gap);
        if let Some(held) = self.all.last_mut()
            && held.from <= from
            && from <= held.to.saturating_add(gap)
        {
            held.to = held.to.max(to);
            return;
        }
        if self.all.len() == self.all.capacity() {
            let more = self.all.len().max(LEAST).min(2 * self.most - self.all.len());
            self.all.reserve_exact(more.max(1));
        }
        self.all.push(Stretch { from, to, at: 0 });
        if self.all.len() >= 2 * self.most {
            self.join();
            while self.all.len() > self.most {
                self.gap = self.gap.saturating_mul(4);
                self.join();
            }
        }
    }

    /// Sorts the stretches and joins them across gaps.
    fn join(&mut self) {
        let gap = self.elements(self.gap);
        self.all.sort_unstable();
        self.all.dedup_by(|next, last| {
            let joins = next.from <= last.to.saturating_add(gap);
            if joins {
                last.to = last.to.max(next.to);
            }
            joins
        });
    }

    /// Returns the number of elements in `bytes` bytes.
    fn elements(&self, bytes: u64) -> u64 {
        bytes.saturating_mul(8) / self.bits
    }

    /// Joins stretches across long gaps, and assigns their positions in the buffer.
    fn finish(&mut self) {
        self.join();
        let held: u64 = self.all.iter().map(|stretch| stretch.to - stretch.from).sum();
        let gaps = |most: u64| -> u64 {
            let pairs = self.all.windows(2).map(|pair| pair[1].from - pair[0].to);
            pairs.filter(|gap| *gap <= most).sum()
        };
        let short = held < self.elements(SHORT).saturating_mul(self.all.len() as u64);
        let most = held.saturating_mul(if short { STRETCH } else { 1 });
        if let Some(gap) = GAPS.into_iter().find(|&gap| gaps(self.elements(gap)) <= most) {
            self.gap = self.gap.max(gap);
            self.join();
        }
        let mut at = 0;
        for stretch in &mut self.all {
            stretch.at = at;
            at += stretch.to - stretch.from;
        }
    }

    /// Returns the bytes of the buffer.
    pub(crate) fn bytes(&self) -> u128 {
        let end = self.all.last().map_or(0, |stretch| stretch.at + (stretch.to - stretch.from));
        u128::from(end) * u128::from(self.bits) / 8
    }

    /// Returns the bytes of the list itself.
    pub(crate) fn overhead(&self) -> u64 {
        (self.all.capacity() * size_of::<Stretch>()) as u64
    }

    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    /// Returns stretch `i`: its byte offset in the source, its length, and its position in the buffer.
    pub(crate) fn read(&self, i: usize) -> (u64, u64, u64) {
        let Stretch { from, to, at } = self.all[i];
        let bytes = |elements: u64| (u128::from(elements) * u128::from(self.bits) / 8) as u64;
        (bytes(from), bytes(to - from), bytes(at))
    }

    /// Splits a leaf by stretches. Calls `f` with each part and with the distance from its source offsets to those of
    /// the buffer.
    pub(crate) fn place(&self, leaf: &Leaf<'_>, f: &mut dyn FnMut(&Leaf<'_>, i64)) {
        let (outer, inner) = (Bounds::of(leaf.outer), Bounds::of(leaf.inner));
        let mut finder = Finder { stretches: self, last: 0 };
        let run = leaf.run;
        let whole = finder.shift(outer.low + inner.low, outer.high + inner.high, run);
        if let Some(shift) = whole {
            return f(leaf, shift);
        }
        let Some(first) = leaf.outer.first() else { return };
        if finder.shift(first.0 + inner.low, first.0 + inner.high, run).is_some() {
            for row in leaf.outer {
                match finder.shift(row.0 + inner.low, row.0 + inner.high, run) {
                    Some(shift) => f(&Leaf { outer: &[*row], ..*leaf }, shift),
                    None => finder.one_by_one(&Leaf { outer: &[*row], ..*leaf }, f),
                }
            }
            return;
        }
        for cell in leaf.inner {
            match finder.shift(outer.low + cell.0, outer.high + cell.0, run) {
                Some(shift) => f(&Leaf { inner: &[*cell], ..*leaf }, shift),
                None => finder.one_by_one(&Leaf { inner: &[*cell], ..*leaf }, f),
            }
        }
    }
}

/// Joins sorted ranges across gaps of up to this length.
fn joined(ranges: impl Iterator<Item = (i64, i64)>, gap: i64) -> Vec<(i64, i64)> {
    let mut all: Vec<(i64, i64)> = Vec::new();
    for (from, to) in ranges {
        match all.last_mut() {
            Some(last) if from <= last.1.saturating_add(gap) => last.1 = last.1.max(to),
            _ => all.push((from, to)),
        }
    }
    all
}

/// A search in the stretches that begins with the one found last.
struct Finder<'a> {
    stretches: &'a Stretches,
    last: usize,
}

impl Finder<'_> {
    /// Returns the distance from source offsets to buffer offsets, if all elements from `first` to the run at `last`
    /// are in one stretch.
    fn shift(&mut self, first: i64, last: i64, run: u64) -> Option<i64> {
        let (from, to) = (first as u64, last as u64 + run);
        let all = &self.stretches.all;
        let holds = |stretch: &Stretch| stretch.from <= from && from < stretch.to;
        if !all.get(self.last).is_some_and(holds) {
            self.last = all.partition_point(|stretch| stretch.from <= from).checked_sub(1)?;
        }
        let stretch = all.get(self.last)?;
        (to <= stretch.to).then(|| stretch.at as i64 - stretch.from as i64)
    }

    /// Places each element separately.
    fn one_by_one(&mut self, leaf: &Leaf<'_>, f: &mut dyn FnMut(&Leaf<'_>, i64)) {
        let mut placed: Vec<Offsets> = Vec::new();
        for row in leaf.outer {
            placed.clear();
            placed.extend(leaf.inner.iter().filter_map(|cell| {
                let at = row.0 + cell.0;
                // Every element was added, and the stretches that a run touches were joined.
                let shift = self.shift(at, at, leaf.run)?;
                Some((at + shift, row.1 + cell.1))
            }));
            f(&Leaf { outer: &[(0, 0)], inner: &placed, run: leaf.run }, 0);
        }
    }
}

/// The lowest and the highest source offset of a table, and the maximal number of distinct offsets between them.
struct Bounds {
    low: i64,
    high: i64,
    count: u64,
}

impl Bounds {
    fn of(table: &[Offsets]) -> Bounds {
        let low = table.iter().map(|pair| pair.0).min().unwrap_or(0);
        let high = table.iter().map(|pair| pair.0).max().unwrap_or(0);
        let count = (table.len() as u64).min(high.abs_diff(low).saturating_add(1));
        Bounds { low, high, count }
    }

    fn span(&self) -> u64 {
        self.high.abs_diff(self.low)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::region::clip;

    /// Nests of up to three loops whose runs are apart, in any order in the source.
    fn regions() -> Vec<Region> {
        let mut all = Vec::new();
        for (a, b, c) in
            (1..=4).flat_map(|a| (1..=3).flat_map(move |b| (1..=5).map(move |c| (a, b, c))))
        {
            for (gap, run) in [(0, 1), (3, 2), (5, 64)] {
                let inner = c as i64 * run + gap;
                let middle = b as i64 * inner;
                for src in [[15, 5, 1], [1, 4, 12], [3, 12, 1], [2, 0, 8], [-40, 7, 90]] {
                    let strides = [middle, inner, run];
                    let loops = [a, b, c].into_iter().zip(src).zip(strides);
                    let loops = loops.filter(|((extent, _), _)| *extent > 1);
                    let level = |((extent, src), dst)| Loop { extent, src: src * run, dst };
                    let loops: Vec<Loop> = loops.map(level).collect();
                    let run = run as u64;
                    all.push(Region { packed: false, src: 200, dst: 0, run, loops });
                }
            }
        }
        all
    }

    #[test]
    fn a_range_reads_at_most_four_times_what_it_needs_and_more_only_where_that_is_short() {
        let mut most = (0.0, 0.0);
        for region in regions() {
            let end = region.loops.iter().map(Loop::dst_reach).sum::<i64>() + region.run as i64;
            let step = if region.run < SHORT { 1 } else { 83 };
            let cuts = (0..end).step_by(step).chain([end]).collect::<Vec<_>>();
            let pairs = cuts.iter().flat_map(|low| cuts.iter().map(move |high| (*low, *high)));
            for (low, high) in pairs.filter(|(low, high)| low < high) {
                let (mut needed, mut covered, mut read, mut sources) = (0, 0, 0, 0);
                let size = |part: &RegionRef<'_>| {
                    part.run * part.loops.iter().map(|level| level.extent).product::<u64>()
                };
                let apart = |part: &RegionRef<'_>| {
                    let loops = part.loops.iter().filter(|level| level.src != 0);
                    part.run * loops.map(|level| level.extent).product::<u64>()
                };
                clip(&region, (low, high), &mut |part| needed += size(&part));
                cover(&region, (low, high), &mut |part| {
                    covered += size(&part);
                    sources += apart(&part);
                    let piece = BoxReads::of(&part, Elements::same(8), 0);
                    read += piece.map_or(u64::MAX, |piece| piece.bytes() as u64);
                });
                assert!(needed <= covered && covered <= 2 * needed, "{region:?} {low}..{high}");
                let times = if region.run < SHORT { STRETCH } else { 2 };
                assert!(read <= times * sources, "{region:?} {low}..{high}: {read} of {sources}");
                if needed > 0 {
                    let ratio = |a: u64, b: u64| a as f64 / b as f64;
                    most = (ratio(covered, needed).max(most.0), ratio(read, needed).max(most.1));
                }
            }
        }
        // The bounds are nearly reached.
        assert!(most.0 > 1.5 && most.1 > 2.0, "{most:?}");
    }

    fn of(bits: u32, bytes: u64, cells: &[i64]) -> Stretches {
        let mut stretches = Stretches::new(bits, bytes);
        for &cell in cells {
            stretches.add(&Leaf { outer: &[(0, 0)], inner: &[(cell, 0)], run: 1 });
        }
        stretches.finish();
        stretches
    }

    #[test]
    fn short_gaps_are_read_and_long_ones_are_not() {
        let reads = |cells: &[i64]| {
            let stretches = of(32, 1 << 20, cells);
            (0..stretches.len()).map(|i| stretches.read(i)).collect::<Vec<_>>()
        };
        assert_eq!(reads(&[9, 3, 2]), [(8, 32, 0)]);
        assert_eq!(reads(&[10_000, 0, 5_000]), [(0, 4, 0), (20_000, 4, 4), (40_000, 4, 8)]);
        // Short reads that are close together.
        assert_eq!(reads(&[100, 0, 150]), [(0, 604, 0)]);
        // A gap of 1200 bytes between 1600 needed bytes.
        let cells: Vec<i64> = (0..200).chain(500..700).chain(1 << 30..(1 << 30) + 1).collect();
        assert_eq!(reads(&cells), [(0, 2800, 0), (1 << 32, 4, 2800)]);
    }

    #[test]
    fn the_list_stays_short_however_many_elements_are_scattered() {
        for bytes in [0, 1 << 10, 1 << 16] {
            let cells: Vec<i64> = (0..20_000).map(|i| (i * 7919 % 20_011) * 1000).collect();
            let stretches = of(8, bytes, &cells);
            assert!(stretches.len() as u64 * GAP <= list_bytes(bytes));
            assert!(stretches.overhead() <= list_bytes(bytes));
            let finder = &mut Finder { stretches: &stretches, last: 0 };
            assert!(cells.iter().all(|&cell| finder.shift(cell, cell, 1).is_some()));
        }
    }

    #[test]
    fn packed_elements_are_read_in_whole_bytes() {
        let stretches = of(2, 1 << 10, &[5, 6, 4003]);
        let reads: Vec<_> = (0..stretches.len()).map(|i| stretches.read(i)).collect();
        assert_eq!(reads, [(1, 1, 0), (1000, 1, 1)]);
        assert_eq!(stretches.bytes(), 2);
    }
}
