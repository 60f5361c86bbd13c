//! Parts of one part, moved by several threads at the same time.

use super::{Isa, weave};
use crate::{
    cpu::cut::Cut,
    cpu::pool::Scratches,
    cpu::weave::{Blocks, Reach, Weave},
    program::region::Loop,
    program::region::RegionRef,
};
use rayon::prelude::*;

/// What moves the parts of a part of bytes: no two of its elements share a byte of the destination, and the
/// cut is its own.
pub(crate) struct Together<'a> {
    isa: Isa,
    weave: &'a Weave,
    part: RegionRef<'a>,
    cut: Cut,
}

/// A destination that threads write parts of.
#[derive(Clone, Copy)]
struct Shared(*mut u8, usize);

// SAFETY: whoever writes through it promises to be alone with what it writes.
unsafe impl Sync for Shared {}

impl<'a> Together<'a> {
    /// How so many threads share a part that is this weave; `None` if they do it as well by ranges of the
    /// destination, or its elements might share a byte of it.
    pub(crate) fn of(
        isa: Isa,
        weave: &'a Weave,
        part: RegionRef<'a>,
        threads: usize,
    ) -> Option<Together<'a>> {
        let fits = weave.register <= isa.register() && weave.fits(&part, 8, Reach::Far);
        if !fits || part.packed || !keeps_apart(part.loops, part.run) {
            return None;
        }
        let cut = Cut::of(part.loops, &weave.shape, threads as u64)?;
        Some(Together { isa, weave, part, cut })
    }

    /// How many parts there are.
    pub(crate) fn parts(&self) -> u64 {
        self.cut.parts()
    }

    /// Moves all parts, in the threads of the pool that this is called in; each with a buffer of
    /// `scratches`. Returns whether it did: not if a part is not woven or leaves the slices.
    pub(crate) fn run(&self, src: &[u8], out: &mut [u8], scratches: &Scratches) -> bool {
        let target = Shared(out.as_mut_ptr(), out.len());
        let each = 0..self.cut.parts();
        let mut loops = Vec::with_capacity(self.part.loops.len());
        let mut is_woven = |i: u64| {
            let part = self.cut.part(&self.part, i, &mut loops);
            self.weave.fits(&part, 8, Reach::Far) && self.blocks(&part, src, &target).is_some()
        };
        if !each.clone().all(&mut is_woven) {
            return false;
        }
        each.into_par_iter().for_each(|i| {
            let mut scratch = scratches.take();
            let mut loops = scratch.take_loops(&[]);
            let part = self.cut.part(&self.part, i, &mut loops);
            if let Some(blocks) = self.blocks(&part, src, &target) {
                // SAFETY: the blocks of a part read within `src` and write within `out`, as was found,
                // and what they write are elements of the part: no other part has them, since the cut
                // is the part's own, and no two elements of the part share a byte, as was found when
                // this was made. `out` is held exclusively meanwhile. The machine has the instruction
                // set, as `Isa::chosen` and its callers make sure.
                let is_done = unsafe {
                    weave::run(self.isa, self.weave, blocks, (src, None), target.0, &mut scratch)
                };
                debug_assert!(is_done, "registers of {} bytes", self.weave.register);
            }
            scratch.give_loops(loops);
            scratches.give(scratch);
        });
        true
    }

    /// The blocks of a part, if they stay within the slices.
    fn blocks(&self, part: &RegionRef<'_>, src: &[u8], out: &Shared) -> Option<Blocks> {
        weave::blocks(self.weave, part, (src, part.src), ((out.0, out.1), part.dst))
    }
}

/// Whether each loop strides over all that lies further in, so that no two runs share a byte; those of
/// the largest stride first.
fn keeps_apart(loops: &[Loop], run: u64) -> bool {
    let mut span = i64::try_from(run).ok();
    for turn in loops.iter().rev() {
        span = match span {
            Some(span) if turn.dst >= span => i64::try_from(turn.extent)
                .ok()
                .and_then(|extent| turn.dst.checked_mul(extent - 1)?.checked_add(span)),
            _ => return false,
        };
    }
    span.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{cpu::kernel::suite::some, program::region::for_each};

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
                let weave = if cfg!(miri) {
                    Weave::shaped(&part, 8, isa.register(), Reach::Far, &units)
                } else {
                    Weave::of(&part, 8, isa.register(), Reach::Far)
                };
                let weave = weave.unwrap();
                let Some(together) = Together::of(isa, &weave, part, threads) else { continue };
                assert!(together.parts() > 1);
                found += 1;
                let source: Vec<u8> = (0..src + 3).map(|i| ((i * 167) >> 3) as u8).collect();
                let mut out = vec![0xA5; src as usize + 100];
                let mut expected = out.clone();
                for_each(&loops, part.src, part.dst, &mut |from, to| {
                    let (from, to, run) = (from as usize, to as usize, width as usize);
                    expected[to..][..run].copy_from_slice(&source[from..][..run]);
                });
                let scratches = Scratches::default();
                assert!(together.run(&source, &mut out, &scratches), "{} {width}", isa.name());
                assert!(out == expected, "{} {width}", isa.name());
                // Nothing is written if any part would leave either slice.
                out.fill(0xA5);
                assert!(!together.run(&source[..source.len() - 1], &mut out, &scratches));
                let short = src as usize + 69;
                assert!(!together.run(&source, &mut out[..short], &scratches));
                assert!(out.iter().all(|byte| *byte == 0xA5));
            }
        }
        assert!(found >= if cfg!(miri) { 1 } else { 8 }, "{found}");
    }

    #[test]
    fn elements_that_share_bytes_are_not_moved_together() {
        let turn = |extent, dst| Loop { extent, src: 1, dst };
        assert!(keeps_apart(&[turn(3, 20), turn(5, 4)], 4));
        assert!(keeps_apart(&[turn(3, 20), turn(5, 4)], 3));
        assert!(!keeps_apart(&[turn(3, 20), turn(5, 4)], 5));
        assert!(!keeps_apart(&[turn(3, 19), turn(5, 4)], 4));
        assert!(!keeps_apart(&[turn(5, 4), turn(3, 20)], 4));
        assert!(!keeps_apart(&[turn(u64::MAX, 4)], 4));
        assert!(keeps_apart(&[], 4));
    }
}
