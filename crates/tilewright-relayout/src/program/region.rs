//! Regions: boxes of elements, as loops around runs that are contiguous on both sides; and the part of a region in a
//! range of the destination.
//!
//! Laws: the region of a block visits the positions of the block, in the order of the destination. The parts of
//! disjoint ranges that cover the destination visit every position of the region once.

use std::ops::Range;

use tilewright_core::Block;

use crate::Elements;

/// One loop of a [`Region`], in units of the region.
///
/// ```
/// use tilewright_relayout::Loop;
/// let rows = Loop { extent: 3, src: 4, dst: 1 };
/// assert_eq!((rows.src_reach(), rows.dst_reach()), (8, 2));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loop {
    /// The number of iterations, at least 2.
    pub extent: u64,
    /// The stride in the source.
    pub src: i64,
    /// The stride in the destination, always positive.
    pub dst: i64,
}

impl Loop {
    /// Returns the distance from the first iteration to the last, in the destination.
    ///
    /// ```
    /// assert_eq!(tilewright_relayout::Loop { extent: 5, src: -2, dst: 3 }.dst_reach(), 12);
    /// ```
    pub fn dst_reach(&self) -> i64 {
        (self.extent as i64 - 1) * self.dst
    }

    /// Returns the distance from the first iteration to the last, in the source.
    ///
    /// ```
    /// assert_eq!(tilewright_relayout::Loop { extent: 5, src: -2, dst: 3 }.src_reach(), -8);
    /// ```
    pub fn src_reach(&self) -> i64 {
        (self.extent as i64 - 1) * self.src
    }
}

/// A box of elements: loops around runs that are contiguous on both sides.
///
/// Positions, strides and runs count bytes. In a packed region they count elements, whose widths on each side are
/// [`Program::elements`](crate::Program::elements). Unit `u` of the run at loop indices `i` moves from `src + Σ
/// i·loop.src + u` to `dst + Σ i·loop.dst + u`.
///
/// ```
/// use tilewright_core::TensorLayout;
/// use tilewright_relayout::{Elements, Loop, Program};
/// let rows = TensorLayout::row_major(&[2, 3]).unwrap();
/// let columns = TensorLayout::col_major(&[2, 3]).unwrap();
/// let program = Program::new(&rows, &columns, Elements::same(32), 0).unwrap();
/// let [region] = program.regions().unwrap() else { panic!("one box") };
/// // Four bytes at a time, three columns of two rows.
/// assert_eq!((region.src, region.dst, region.run), (0, 0, 4));
/// let (columns, rows) = (Loop { extent: 3, src: 4, dst: 8 }, Loop { extent: 2, src: 12, dst: 4 });
/// assert_eq!(region.loops, [columns, rows]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Region {
    /// True if positions count elements rather than bytes.
    pub packed: bool,
    /// The first position in the source.
    pub src: i64,
    /// The first position in the destination.
    pub dst: i64,
    /// The units in one run, at least 1.
    pub run: u64,
    /// The loops, by descending stride in the destination.
    pub loops: Vec<Loop>,
}

impl Region {
    /// Iterates over the first positions of all runs, in the source and in the destination, in the order of the
    /// destination.
    ///
    /// ```
    /// use tilewright_relayout::{Loop, Region};
    /// let rows = Loop { extent: 3, src: 40, dst: 4 };
    /// let region = Region { packed: false, src: 8, dst: 0, run: 4, loops: vec![rows] };
    /// assert_eq!(region.runs().collect::<Vec<_>>(), [(8, 0), (48, 4), (88, 8)]);
    /// ```
    pub fn runs(&self) -> impl Iterator<Item = (i64, i64)> + '_ {
        let count = self.loops.iter().fold(1u64, |all, level| all.saturating_mul(level.extent));
        (0..count).map(|number| {
            let (mut src, mut dst, mut rest) = (self.src, self.dst, number);
            for level in self.loops.iter().rev() {
                let value = (rest % level.extent) as i64;
                (src, dst, rest) =
                    (src + value * level.src, dst + value * level.dst, rest / level.extent);
            }
            (src, dst)
        })
    }
}

/// A region with borrowed loops: a whole region, or a part cut from one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RegionRef<'a> {
    pub(crate) packed: bool,
    pub(crate) src: i64,
    pub(crate) dst: i64,
    pub(crate) run: u64,
    pub(crate) loops: &'a [Loop],
}

impl RegionRef<'_> {
    /// Returns the number of units moved.
    pub(crate) fn size(&self) -> u64 {
        self.loops.iter().fold(self.run, |all, level| all.saturating_mul(level.extent))
    }

    /// Returns the bits of one unit of the destination.
    pub(crate) fn dst_unit(&self, elements: Elements) -> u32 {
        if self.packed { elements.dst_bits } else { 8 }
    }

    /// Returns the units from the first position to the end of the last run, in the destination.
    pub(crate) fn dst_length(&self) -> i64 {
        self.loops.iter().map(Loop::dst_reach).sum::<i64>() + self.run as i64
    }

    /// Returns whether all units are within the first `src` units of the source and the first `dst` of the destination.
    pub(crate) fn is_within(&self, src: usize, dst: usize) -> bool {
        let stays = |first: i64, reach: fn(&Loop) -> i64, len: usize| {
            let sum = |part: fn(i128) -> i128| {
                self.loops.iter().map(|level| part(i128::from(reach(level)))).sum::<i128>()
            };
            let low = i128::from(first) + sum(|reach| reach.min(0));
            let high = i128::from(first) + sum(|reach| reach.max(0)) + i128::from(self.run);
            low >= 0 && high <= len as i128
        };
        stays(self.src, Loop::src_reach, src) && stays(self.dst, Loop::dst_reach, dst)
    }
}

impl Region {
    /// Returns the region of a block. Strides of the destination are made positive, loops are merged, and positions
    /// count bytes if all runs are whole bytes.
    pub(crate) fn of(block: &Block, elements: Elements) -> Region {
        let mut region =
            Region { packed: true, src: block.src(), dst: block.dst(), run: 1, loops: Vec::new() };
        for level in block.loops() {
            region.push(Loop { extent: level.extent, src: level.src, dst: level.dst });
        }
        tilewright_core::sort_short(&mut region.loops, |level| core::cmp::Reverse(level.dst));
        region.merge();
        if elements.are_same() {
            region.count_bytes(elements.src_bits);
        }
        region
    }

    /// Adds a loop, reversed if it descends in the destination.
    fn push(&mut self, mut level: Loop) {
        if level.dst < 0 {
            self.src += level.src_reach();
            self.dst += level.dst_reach();
            (level.src, level.dst) = (-level.src, -level.dst);
        }
        self.loops.push(level);
    }

    /// Merges each loop with the next if it continues that loop on both sides.
    pub(crate) fn merge(&mut self) {
        while let Some(last) = self.loops.last()
            && last.src == self.run as i64
            && last.dst == self.run as i64
        {
            self.run *= last.extent;
            self.loops.pop();
        }
        let mut i = 1;
        while i < self.loops.len() {
            let (outer, inner) = (self.loops[i - 1], self.loops[i]);
            let extent = inner.extent as i64;
            let goes_on = |outer: i64, inner: i64| inner.checked_mul(extent) == Some(outer);
            if goes_on(outer.dst, inner.dst) && goes_on(outer.src, inner.src) {
                self.loops[i].extent *= outer.extent;
                self.loops.remove(i - 1);
            } else {
                i += 1;
            }
        }
    }

    /// Changes the unit to bytes, if all positions and strides are whole bytes.
    fn count_bytes(&mut self, bits: u32) {
        let whole = |units: i64| bits >= 8 || (units * i64::from(bits)) % 8 == 0;
        let aligned = whole(self.src) && whole(self.dst) && whole(self.run as i64);
        if !aligned || !self.loops.iter().all(|level| whole(level.src) && whole(level.dst)) {
            return;
        }
        let scaled = |units: i64| {
            if bits >= 8 { units * i64::from(bits / 8) } else { units * i64::from(bits) / 8 }
        };
        self.packed = false;
        (self.src, self.dst) = (scaled(self.src), scaled(self.dst));
        self.run = scaled(self.run as i64) as u64;
        for level in &mut self.loops {
            (level.src, level.dst) = (scaled(level.src), scaled(level.dst));
        }
    }

    /// Returns the bits of one unit of the source.
    pub(crate) fn src_unit(&self, elements: Elements) -> u32 {
        if self.packed { elements.src_bits } else { 8 }
    }

    /// Returns the bits of one unit of the destination.
    pub(crate) fn dst_unit(&self, elements: Elements) -> u32 {
        if self.packed { elements.dst_bits } else { 8 }
    }

    /// Converts a byte range to units of the destination. A packed range begins and ends between elements.
    pub(crate) fn dst_range(&self, bytes: &Range<u64>, elements: Elements) -> (i64, i64) {
        if !self.packed {
            return (bytes.start as i64, bytes.end as i64);
        }
        let bits = u64::from(elements.dst_bits);
        if bits < 8 {
            ((bytes.start * (8 / bits)) as i64, (bytes.end * (8 / bits)) as i64)
        } else {
            ((bytes.start / (bits / 8)) as i64, (bytes.end / (bits / 8)) as i64)
        }
    }

    /// Returns the number of units moved.
    pub(crate) fn size(&self) -> u64 {
        self.loops.iter().map(|level| level.extent).product::<u64>() * self.run
    }

    /// Returns the number of bits that the region writes.
    pub(crate) fn dst_bits(&self, elements: Elements) -> u128 {
        u128::from(self.size()) * u128::from(self.dst_unit(elements))
    }

    /// Borrows the whole region.
    pub(crate) fn whole(&self) -> RegionRef<'_> {
        let Region { packed, src, dst, run, ref loops } = *self;
        RegionRef { packed, src, dst, run, loops }
    }

    /// Returns the lowest position in the source.
    pub(crate) fn src_low(&self) -> i64 {
        self.src + self.loops.iter().map(|level| level.src_reach().min(0)).sum::<i64>()
    }
}

/// Calls `f` with the first position of each combination of iterations; the first loop is outermost.
pub(crate) fn for_each(loops: &[Loop], src: i64, dst: i64, f: &mut dyn FnMut(i64, i64)) {
    match loops.split_first() {
        None => f(src, dst),
        Some((level, [])) => {
            for i in 0..level.extent as i64 {
                f(src + i * level.src, dst + i * level.dst);
            }
        }
        Some((level, rest)) => {
            for i in 0..level.extent as i64 {
                for_each(rest, src + i * level.src, dst + i * level.dst, f);
            }
        }
    }
}

/// The iterations of a loop that meet a range, and those that are completely within it.
pub(crate) struct Overlap {
    pub(crate) from: u64,
    pub(crate) to: u64,
    pub(crate) within: Range<u64>,
}

impl Overlap {
    /// Finds the iterations that meet `low..high`. The first iteration begins at `dst`, and each is `inner` units long.
    pub(crate) fn of(level: &Loop, dst: i64, inner: i64, (low, high): (i64, i64)) -> Overlap {
        let count = |distance: i64| match distance {
            ..=0 => 0,
            _ => ((distance as u64).div_ceil(level.dst as u64)).min(level.extent),
        };
        // The first iteration that ends above `low`; the first that begins at or above `high`; and so on.
        let from = count(low - dst - inner + 1);
        let to = count(high - dst);
        let begin = count(low - dst);
        let end = count(high - dst - inner + 1);
        Overlap { from, to: to.max(from), within: begin..end.max(begin) }
    }
}

/// Calls `f` with the boxes of a region in the destination units `low..high`.
pub(crate) fn clip(region: &Region, range: (i64, i64), f: &mut dyn FnMut(RegionRef<'_>)) {
    cut(region, range, |overlap| overlap.within.clone(), f);
}

/// Calls `f` with boxes that contain the positions of a region in the destination units `low..high`. Of the iterations
/// that meet the range, `whole` selects those that are taken whole; it includes all that are within the range.
pub(crate) fn cut(
    region: &Region,
    range: (i64, i64),
    whole: Whole,
    f: &mut dyn FnMut(RegionRef<'_>),
) {
    cut_job(region.whole(), range, whole, f);
}

/// Selects the iterations that are taken whole: a range within `from..to`, which may be empty.
pub(crate) type Whole = fn(&Overlap) -> Range<u64>;

fn cut_job(
    part: RegionRef<'_>,
    (low, high): (i64, i64),
    whole: Whole,
    f: &mut dyn FnMut(RegionRef<'_>),
) {
    let length = part.dst_length();
    if part.dst + length <= low || part.dst >= high {
        return;
    }
    if low <= part.dst && part.dst + length <= high {
        return f(part);
    }
    let Some((level, rest)) = part.loops.split_first() else {
        return f(clip_run(part, low, high));
    };
    let overlap = Overlap::of(level, part.dst, length - level.dst_reach(), (low, high));
    let at = |i: u64| RegionRef {
        src: part.src + i as i64 * level.src,
        dst: part.dst + i as i64 * level.dst,
        loops: rest,
        ..part
    };
    let taken = whole(&overlap);
    if taken.is_empty() {
        (overlap.from..overlap.to).for_each(|i| cut_job(at(i), (low, high), whole, f));
        return;
    }
    (overlap.from..taken.start).for_each(|i| cut_job(at(i), (low, high), whole, f));
    let extent = taken.end - taken.start;
    if extent == 1 {
        f(at(taken.start));
    } else {
        let mut loops = part.loops.to_vec();
        loops[0].extent = extent;
        f(RegionRef { loops: &loops, ..at(taken.start) });
    }
    (taken.end..overlap.to).for_each(|i| cut_job(at(i), (low, high), whole, f));
}

/// Returns the part of a run that is in a range.
pub(crate) fn clip_run(part: RegionRef<'_>, low: i64, high: i64) -> RegionRef<'_> {
    let from = low.max(part.dst);
    let to = high.min(part.dst + part.run as i64);
    RegionRef { src: part.src + (from - part.dst), dst: from, run: (to - from) as u64, ..part }
}
