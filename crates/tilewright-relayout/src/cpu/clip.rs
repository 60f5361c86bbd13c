//! The part of a region in a range of the destination.
//!
//! Law: the parts of disjoint ranges that cover the destination visit every position of the region once.

use std::ops::Range;

use crate::program::region::{Loop, Region, RegionRef};

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
