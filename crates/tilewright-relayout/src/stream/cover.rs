//! The reads of a range of the destination: a few long ranges of the source bytes of a box, and the same box over a
//! buffer that holds exactly those bytes.
//!
//! Laws: the boxes that [`cover`] yields contain the positions of `clip`, and at most twice that number of positions.
//! The reads of a [`BoxReads`] hold at most twice the units of its box, or 64 times if they would be shorter than 64
//! bytes. So a range reads at most four times the bytes that it needs if these are contiguous by 64 bytes or more.
//! Packed elements need up to two bytes more for each read.

use crate::{
    Elements,
    cpu::{way::Terms, ways::Ways},
    program::region::{Loop, Overlap, Region, RegionRef, cut},
    stream::CALL,
};

use std::sync::OnceLock;

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
}
