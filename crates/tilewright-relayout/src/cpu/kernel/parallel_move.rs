//! Moves of the parts of one region in several threads at the same time, if it is proved that they write different
//! bytes.

use super::{Isa, transpose};
use crate::{
    Error,
    cpu::{
        partition::Partition,
        scratch::{FreeList, Scratch},
        transpose::{Blocks, Locality, RegisterTranspose},
    },
    program::region::{Loop, RegionRef},
};

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
    use super::*;
    use crate::{
        cpu::{kernel::suite::some, partition::CutDirection, pool::Pool},
        program::region::for_each,
    };

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
