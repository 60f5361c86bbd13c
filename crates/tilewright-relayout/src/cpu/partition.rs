//! The partition of a region along one of its loops, so that threads move its parts at the same time.
//!
//! Parts along the outermost loop are ranges of the destination. That loop can have too few blocks for all threads, for
//! instance if it is the source's innermost: each thread would read a part of every run or be idle. Then another loop
//! is cut, if the region's kernel lets threads share a destination.
//!
//! Law: the parts of a region hold each of its elements once.

use crate::program::region::{Loop, RegionRef};

/// The direction of a cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CutDirection {
    Loop(usize),
    /// The run of a region without loops.
    Run,
}

/// A partition of a region: its direction, the number of whole blocks in that direction, their size, and the number of
/// parts that share them. The remainder belongs to the last part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Partition {
    pub(crate) along: CutDirection,
    shape: u64,
    blocks: u64,
    parts: u64,
}

/// Parts per thread; several, so that slow threads do not delay the others.
pub(crate) const PER_THREAD: u64 = 4;

/// Another loop than the outermost is cut if that keeps threads busy for this much more of the time, in thousandths.
const WORTH: u64 = 150;

/// The bytes of a run that are not cut.
const RUN: u64 = 1 << 14;

impl Partition {
    /// Returns the partition of a region among threads into at most `most` parts. Blocks of this shape, which are no
    /// longer than the loops, are not cut. Returns `None` if the region stays whole. Only the outermost loop is cut
    /// unless `any` is set.
    pub(crate) fn of(
        region: &RegionRef<'_>,
        shape: &dyn Fn(usize) -> u64,
        (threads, most): (u64, u64),
        any: bool,
    ) -> Option<Partition> {
        let threads = threads.max(1);
        let along = |i: usize| {
            let (extent, shape) = (region.loops[i].extent, shape(i).max(1));
            Partition::along(CutDirection::Loop(i), extent, shape, (threads, most))
        };
        let busy = |cut: &Partition| cut.busy(cut.extent(region), threads);
        let first = match region.loops.is_empty() {
            true => Partition::along(CutDirection::Run, region.run, RUN, (threads, most)),
            false => along(0),
        };
        let others = (1..if any { region.loops.len() } else { 0 }).map(along);
        // Among equal cuts, the outermost loop wins.
        let other = others.rev().max_by_key(busy);
        let worth = |cut: &Partition| busy(cut) >= busy(&first) + WORTH;
        Some(other.filter(worth).unwrap_or(first)).filter(|cut| cut.parts > 1)
    }

    /// Returns the number of iterations in the direction of the cut.
    fn extent(&self, region: &RegionRef<'_>) -> u64 {
        match self.along {
            CutDirection::Loop(i) => region.loops[i].extent,
            CutDirection::Run => region.run,
        }
    }

    /// Returns the partition of `extent` iterations into whole blocks of `shape`.
    fn along(
        along: CutDirection,
        extent: u64,
        shape: u64,
        (threads, most): (u64, u64),
    ) -> Partition {
        let blocks = extent / shape;
        let shared = (1..=PER_THREAD).rev().filter_map(|each| threads.checked_mul(each));
        let few = blocks.clamp(1, threads.saturating_mul(PER_THREAD));
        let cuts = shared.filter(|parts| *parts <= blocks).chain([few]);
        let cuts =
            cuts.map(|parts| Partition { along, shape, blocks, parts: parts.min(most).max(1) });
        // Among equal partitions, the one with more parts wins.
        let whole = Partition { along, shape, blocks, parts: 1 };
        let busy = |cut: &Partition| cut.busy(extent, threads);
        cuts.fold(whole, |best, cut| if busy(&cut) > busy(&best) { cut } else { best })
    }

    /// Returns the share of all threads' time that is useful work, in thousandths.
    fn busy(&self, extent: u64, threads: u64) -> u64 {
        let last = self.blocks / self.parts + u64::from(!extent.is_multiple_of(self.shape));
        let longest = self.blocks.div_ceil(self.parts).max(last);
        let all = u128::from(extent.div_ceil(self.shape));
        let time = u128::from(longest) * u128::from(self.parts.div_ceil(threads));
        (all * 1000 / (time * u128::from(threads)).max(1)) as u64
    }

    /// Returns the units of the destination between two possible cuts.
    pub(crate) fn step(&self, region: &RegionRef<'_>) -> u64 {
        match self.along {
            CutDirection::Loop(i) => region.loops[i].dst.unsigned_abs().saturating_mul(self.shape),
            CutDirection::Run => self.shape,
        }
    }

    /// Returns the number of parts.
    pub(crate) fn parts(&self) -> u64 {
        self.parts
    }

    /// Returns a part of the region for which this was made; `loops` stores its loops.
    pub(crate) fn part<'t>(
        &self,
        region: &RegionRef<'_>,
        i: u64,
        loops: &'t mut Vec<Loop>,
    ) -> RegionRef<'t> {
        loops.clear();
        loops.extend_from_slice(region.loops);
        let (each, more) = (self.blocks / self.parts, self.blocks % self.parts);
        let extent = self.extent(region);
        let begin = |i: u64| ((i * each + i.min(more)) * self.shape).min(extent);
        let (from, end) = (begin(i), if i + 1 < self.parts { begin(i + 1) } else { extent });
        let RegionRef { packed, src, dst, run, .. } = *region;
        let step = match self.along {
            CutDirection::Loop(i) => {
                loops[i].extent = end - from;
                loops[i]
            }
            CutDirection::Run => Loop { extent: 0, src: 1, dst: 1 },
        };
        let run = if self.along == CutDirection::Run { end - from } else { run };
        let (src, dst) = (src + from as i64 * step.src, dst + from as i64 * step.dst);
        RegionRef { packed, src, dst, run, loops }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::region::for_each;

    const ANY: u64 = u64::MAX;

    fn cut(region: &RegionRef<'_>, shape: &[u64], threads: u64, any: bool) -> Option<Partition> {
        Partition::of(region, &|i| shape[i], (threads, ANY), any)
    }

    fn bytes(loops: &[Loop]) -> RegionRef<'_> {
        RegionRef { packed: false, src: 9, dst: 4, run: 1, loops }
    }

    #[test]
    fn parts_hold_every_element_once() {
        let mut inner = 0;
        for extents in [[3, 5, 7], [2, 40, 3], [8, 9, 1], [1, 2, 50]] {
            for shape in [[3, 5, 7], [2, 4, 3], [8, 2, 1], [1, 1, 16]] {
                for (threads, any) in
                    [1, 2, 3, 7, 64].into_iter().flat_map(|n| [(n, false), (n, true)])
                {
                    let strides = [(1, 1000), (60, 60), (5, 1)];
                    let level = |i: usize| Loop {
                        extent: extents[i],
                        src: strides[i].0,
                        dst: strides[i].1,
                    };
                    let loops = [level(0), level(1), level(2)];
                    let (region, mut kept) = (bytes(&loops), Vec::new());
                    let fitting: Vec<u64> = (0..3).map(|i| shape[i].min(extents[i])).collect();
                    let Some(it) = cut(&region, &fitting, threads, any) else { continue };
                    inner += usize::from(it.along != CutDirection::Loop(0));
                    assert!(any || it.along == CutDirection::Loop(0));
                    assert!(it.parts() > 1 && it.parts() <= threads * PER_THREAD);
                    let (mut all, mut got) = (Vec::new(), Vec::new());
                    for_each(&loops, region.src, region.dst, &mut |src, dst| all.push((src, dst)));
                    for i in 0..it.parts() {
                        let part = it.part(&region, i, &mut kept);
                        let long = |(level, shape): (&Loop, &u64)| level.extent >= *shape;
                        assert!(part.loops.iter().zip(&fitting).all(long));
                        for_each(part.loops, part.src, part.dst, &mut |s, d| got.push((s, d)));
                    }
                    all.sort_unstable();
                    got.sort_unstable();
                    assert_eq!(all, got);
                }
            }
        }
        assert!(inner > 20, "{inner}");
    }

    #[test]
    fn a_run_without_loops_is_cut_along_itself() {
        for run in [1, RUN, 2 * RUN, 10 * RUN + 7] {
            let (region, mut kept) = (RegionRef { run, ..bytes(&[]) }, Vec::new());
            let Some(it) = cut(&region, &[], 2, false) else {
                assert!(run < 2 * RUN);
                continue;
            };
            let mut at = 0;
            for i in 0..it.parts() {
                let part = it.part(&region, i, &mut kept);
                assert_eq!((part.src, part.dst), (9 + at as i64, 4 + at as i64));
                at += part.run;
            }
            assert_eq!(at, run);
        }
    }

    #[test]
    fn the_outermost_loop_is_cut_if_all_threads_get_blocks_of_it() {
        let level = |extent, src, dst| Loop { extent, src, dst };
        let loops = [level(96, 4, 9000), level(96, 400, 384), level(96, 40_000, 4)];
        let along = |shape: &[u64], threads, any| {
            cut(&bytes(&loops), shape, threads, any).map(|cut| (cut.along, cut.parts()))
        };
        assert_eq!(along(&[12, 3, 96], 2, true), Some((CutDirection::Loop(0), 8)));
        assert_eq!(along(&[96, 3, 96], 1, true), None);
        // The outermost loop has one block; the next loop has enough, in parts of whole blocks.
        assert_eq!(along(&[96, 3, 96], 2, true), Some((CutDirection::Loop(1), 8)));
        assert_eq!(along(&[96, 3, 96], 2, false), None);
        // No loop has enough blocks for four threads; the loop with the most is cut.
        assert_eq!(along(&[96, 96, 32], 4, true), Some((CutDirection::Loop(2), 3)));
        // A minimal size of parts reduces their number.
        let few = Partition::of(&bytes(&loops), &|i| [1, 1, 96][i], (2, 3), true);
        assert_eq!(few.map(|cut| cut.parts()), Some(2));
    }

    #[test]
    fn a_cut_gives_every_thread_its_share() {
        // The extents of a region, the shape of its blocks, and the number of threads.
        let cases = [
            ([64, 15, 2000], [64, 8, 64], 2),
            ([48, 11, 5000], [48, 6, 128], 2),
            ([175, 187, 297], [175, 1, 160], 2),
            ([96, 287, 64], [96, 20, 64], 4),
            ([10, 97, 1000], [10, 1, 16], 64),
        ];
        for (extents, shape, threads) in cases {
            let loops = extents.map(|extent| Loop { extent, src: 1, dst: 1 });
            let (region, mut kept) = (bytes(&loops), Vec::new());
            let cut = cut(&region, &shape, threads, true).unwrap();
            let CutDirection::Loop(at) = cut.along else { panic!("a loop") };
            let blocks = |i| cut.part(&region, i, &mut kept).loops[at].extent.div_ceil(shape[at]);
            let longest = (0..cut.parts()).map(blocks).max().unwrap();
            let all = extents[at].div_ceil(shape[at]);
            let rounds = cut.parts().div_ceil(threads);
            assert!(cut.parts() >= threads, "{cut:?}");
            assert!(rounds * longest * threads <= all + all / 4 + threads, "{cut:?}");
        }
        // The batch has enough transposes for all threads.
        let batch = [15, 249, 284].map(|extent| Loop { extent, src: 1, dst: 1 });
        let cut = cut(&bytes(&batch), &[1, 249, 64], 2, true).unwrap();
        assert_eq!(cut.along, CutDirection::Loop(0));
    }
}
