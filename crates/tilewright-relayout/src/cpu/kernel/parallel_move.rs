//! Moves of the parts of one region in several threads: the partition along a loop, and the proof that parts write different
//! bytes.
//!
//! Parts along the outermost loop are ranges of the destination. That loop can have too few blocks for all threads, for
//! instance if it is the source's innermost: each thread would read a part of every run or be idle. Then another loop
//! is cut, if the region's kernel lets threads share a destination.
//!
//! Law: the parts of a region hold each of its elements once.

use super::{Isa, transpose};
use crate::{
    Error,
    cpu::{
        scratch::{FreeList, Scratch},
        transpose::{Blocks, Locality, RegisterTranspose},
    },
    program::region::{Loop, RegionRef},
};

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

// Moves of parts at the same time.

/// A partitioned region of bytes: no two of its elements share a byte of the destination, and the partition was made
/// for it.
pub(crate) struct ParallelMove<'a> {
    isa: Isa,
    transpose: &'a RegisterTranspose,
    region: RegionRef<'a>,
    cut: Partition,
}

/// A destination of which threads write parts.
#[derive(Clone, Copy)]
struct SharedDestination(*mut u8, usize);

// SAFETY: `SharedDestination` itself gives no access to the bytes. Every write through it is in an `unsafe` block, which proves
// that no other thread writes the same bytes.
unsafe impl Sync for SharedDestination {}

/// A function that calls another with every number below a count, in threads.
pub(crate) type Each<'a> = dyn Fn(usize, &(dyn Fn(usize) + Sync)) -> Result<(), Error> + 'a;

impl<'a> ParallelMove<'a> {
    /// Returns the parts of a region that this register transpose serves; `None` if its elements might share a byte of
    /// the destination.
    pub(crate) fn of(
        isa: Isa,
        transpose: &'a RegisterTranspose,
        region: RegionRef<'a>,
        cut: Partition,
    ) -> Option<ParallelMove<'a>> {
        let fits =
            transpose.register <= isa.register() && transpose.fits(&region, 8, Locality::Memory);
        let apart = !region.packed && are_disjoint(region.loops, region.run);
        (fits && apart).then_some(ParallelMove { isa, transpose, region, cut })
    }

    /// Moves all parts in threads of `each`, with buffers of `scratches`. Returns whether it did; it does nothing if
    /// the register transpose does not serve a part, or a part exceeds the slices.
    ///
    /// # Errors
    /// Those of `each`.
    pub(crate) fn run(
        &self,
        src: &[u8],
        out: &mut [u8],
        scratches: &FreeList<Scratch>,
        each: &Each<'_>,
    ) -> Result<bool, Error> {
        let target = SharedDestination(out.as_mut_ptr(), out.len());
        let mut loops = Vec::with_capacity(self.region.loops.len());
        let mut is_served = |i: u64| {
            let part = self.cut.part(&self.region, i, &mut loops);
            self.transpose.fits(&part, 8, Locality::Memory)
                && self.blocks(&part, src, &target).is_some()
        };
        if !(0..self.cut.parts()).all(&mut is_served) {
            return Ok(false);
        }
        let one = |i: usize| {
            scratches.with(|scratch| {
                let mut loops = scratch.take_loops(&[]);
                let part = self.cut.part(&self.region, i as u64, &mut loops);
                if let Some(blocks) = self.blocks(&part, src, &target) {
                    // SAFETY: the blocks of a part read within `src` and write within `out`, as was found, and what
                    // they write are elements of the part. No other part has them, since the cut was made for this
                    // region, and no two elements of the region share a byte, as `are_disjoint` found. `out` is held
                    // exclusively meanwhile. The machine has the instruction set, as `Isa::chosen` and its callers make
                    // sure.
                    let is_done = unsafe {
                        transpose::run(
                            self.isa,
                            self.transpose,
                            blocks,
                            (src, None),
                            target.0,
                            scratch,
                        )
                    };
                    debug_assert!(is_done, "registers of {} bytes", self.transpose.register);
                }
                scratch.give_loops(loops);
            });
        };
        each(self.cut.parts() as usize, &one)?;
        Ok(true)
    }

    /// Returns the blocks of a part, if they stay within the slices.
    fn blocks(&self, part: &RegionRef<'_>, src: &[u8], out: &SharedDestination) -> Option<Blocks> {
        transpose::blocks(self.transpose, part, (src, part.src), ((out.0, out.1), part.dst))
    }
}

/// Returns whether each loop strides over everything that is further in, so that no two runs share a unit. Loops are
/// ordered by descending stride.
pub(crate) fn are_disjoint(loops: &[Loop], run: u64) -> bool {
    let mut span = i64::try_from(run).ok();
    for level in loops.iter().rev() {
        span = match span {
            Some(span) if level.dst >= span => i64::try_from(level.extent)
                .ok()
                .and_then(|extent| level.dst.checked_mul(extent - 1)?.checked_add(span)),
            _ => return false,
        };
    }
    span.is_some()
}

#[cfg(test)]
mod tests {
    use super::{CutDirection, *};
    use crate::cpu::kernel::suite::some;
    use crate::cpu::workers::Pool;
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

    #[test]
    fn parts_together_are_the_whole() {
        let extents = if cfg!(miri) { [16i64, 3, 2, 48] } else { [32, 20, 3, 80] };
        let mut found = 0;
        for isa in Isa::ALL.iter().copied().filter(|isa| isa.is_here()) {
            let cases = [1i64, 2, 4, 8].map(|width| [2, 3, 7].map(|threads| (width, threads)));
            for (width, threads) in some(cases.as_flattened(), 9) {
                let mut loops = Vec::new();
                let (mut src, mut dst) = (width, width * extents.iter().product::<i64>());
                for extent in extents {
                    dst /= extent;
                    loops.push(Loop { extent: extent as u64, src, dst });
                    src *= extent;
                }
                let part =
                    RegionRef { packed: false, src: 3, dst: 70, run: width as u64, loops: &loops };
                let units = |units: &[u64]| units.to_vec();
                let transpose = if cfg!(miri) {
                    RegisterTranspose::shaped(&part, 8, isa.register(), Locality::Memory, &units)
                } else {
                    RegisterTranspose::of(&part, 8, isa.register(), Locality::Memory)
                };
                let transpose = transpose.unwrap();
                let shape = |i: usize| transpose.shape[i];
                let cut = Partition::of(&part, &shape, (threads, u64::MAX), true);
                let Some(cut) = cut.filter(|cut| cut.along != CutDirection::Loop(0)) else {
                    continue;
                };
                let parallel = ParallelMove::of(isa, &transpose, part, cut).unwrap();
                found += 1;
                let source: Vec<u8> = (0..src + 3).map(|i| ((i * 167) >> 3) as u8).collect();
                let mut out = vec![0xA5; src as usize + 100];
                let mut expected = out.clone();
                for_each(&loops, part.src, part.dst, &mut |from, to| {
                    let (from, to, run) = (from as usize, to as usize, width as usize);
                    expected[to..][..run].copy_from_slice(&source[from..][..run]);
                });
                let (scratches, pool) = (FreeList::default(), Pool::default());
                let each = |count: usize, one: &(dyn Fn(usize) + Sync)| {
                    pool.each(threads as usize, count, one)
                };
                let run =
                    |src: &[u8], out: &mut [u8]| parallel.run(src, out, &scratches, &each).unwrap();
                assert!(run(&source, &mut out), "{} {width}", isa.name());
                assert!(out == expected, "{} {width}", isa.name());
                // Nothing is written if any part would exceed either slice.
                out.fill(0xA5);
                assert!(!run(&source[..source.len() - 1], &mut out));
                let short = src as usize + 69;
                assert!(!run(&source, &mut out[..short]));
                assert!(out.iter().all(|byte| *byte == 0xA5));
            }
        }
        assert!(found >= if cfg!(miri) { 1 } else { 8 }, "{found}");
    }

    #[test]
    fn elements_that_share_bytes_are_not_moved_together() {
        let level = |extent, dst| Loop { extent, src: 1, dst };
        assert!(are_disjoint(&[level(3, 20), level(5, 4)], 4));
        assert!(are_disjoint(&[level(3, 20), level(5, 4)], 3));
        assert!(!are_disjoint(&[level(3, 20), level(5, 4)], 5));
        assert!(!are_disjoint(&[level(3, 19), level(5, 4)], 4));
        assert!(!are_disjoint(&[level(5, 4), level(3, 20)], 4));
        assert!(!are_disjoint(&[level(u64::MAX, 4)], 4));
        assert!(are_disjoint(&[], 4));
    }
}
