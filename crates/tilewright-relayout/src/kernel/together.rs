//! Parts of one job, moved by several threads at the same time.

use super::{Isa, weave};
use crate::{
    clip::Job,
    nest::Turn,
    parts::Cut,
    pool::Scratches,
    weave::{Blocks, Reach, Weave},
};
use rayon::prelude::*;

/// What moves the parts of a job.
pub(crate) struct Together<'a> {
    pub(crate) isa: Isa,
    pub(crate) weave: &'a Weave,
    pub(crate) job: Job<'a>,
    pub(crate) cut: Cut,
}

/// A destination that threads write parts of.
#[derive(Clone, Copy)]
struct Shared(*mut u8, usize);

// SAFETY: whoever writes through it promises to be alone with what it writes.
unsafe impl Sync for Shared {}

impl Together<'_> {
    /// Moves all parts of a job of bytes, in the threads of the pool that this is called in;
    /// each with a buffer of `scratches`. Returns whether it did: not if elements might share a byte
    /// of the destination, or a part is not woven or leaves the slices.
    pub(crate) fn run(&self, src: &[u8], out: &mut [u8], scratches: &Scratches) -> bool {
        let target = Shared(out.as_mut_ptr(), out.len());
        let each = 0..self.cut.parts();
        let mut turns = Vec::with_capacity(self.job.turns.len());
        let mut is_woven = |i: u64| {
            let part = self.cut.part(&self.job, i, &mut turns);
            self.weave.fits(&part, 8, Reach::Far) && self.blocks(&part, src, &target).is_some()
        };
        let apart = !self.job.packed && keeps_apart(self.job.turns, self.job.run);
        if !apart || !each.clone().all(&mut is_woven) {
            return false;
        }
        each.into_par_iter().for_each(|i| {
            let mut scratch = scratches.take();
            let mut turns = scratch.take_turns(&[]);
            let part = self.cut.part(&self.job, i, &mut turns);
            if let Some(blocks) = self.blocks(&part, src, &target) {
                // SAFETY: the blocks of a part read within `src` and write within `out`, as was found,
                // and what they write are elements of the part: no other part has them, and no two
                // elements of the job share a byte. `out` is held exclusively meanwhile. The machine
                // has the instruction set, as `Isa::chosen` and its callers make sure.
                unsafe {
                    weave::run(self.isa, self.weave, blocks, (src, None), target.0, &mut scratch)
                };
            }
            scratch.give_turns(turns);
            scratches.give(scratch);
        });
        true
    }

    /// The blocks of a part, if they stay within the slices.
    fn blocks(&self, part: &Job<'_>, src: &[u8], out: &Shared) -> Option<Blocks> {
        weave::blocks(self.weave, part, (src, part.src), ((out.0, out.1), part.dst))
    }
}

/// Whether each loop strides over all that lies further in, so that no two runs share a byte; those of
/// the largest stride first.
fn keeps_apart(turns: &[Turn], run: u64) -> bool {
    let mut span = i64::try_from(run).ok();
    for turn in turns.iter().rev() {
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
    use crate::nest::for_each;

    #[test]
    #[cfg_attr(miri, ignore = "too large")]
    fn parts_together_are_the_whole() {
        let extents = [32i64, 20, 3, 80];
        let mut found = 0;
        for isa in Isa::ALL.iter().copied().filter(|isa| isa.is_here()) {
            for (width, threads) in
                [1i64, 2, 4, 8].into_iter().flat_map(|w| [(w, 2), (w, 3), (w, 7)])
            {
                let mut turns = Vec::new();
                let (mut src, mut dst) = (width, width * extents.iter().product::<i64>());
                for extent in extents {
                    dst /= extent;
                    turns.push(Turn { extent: extent as u64, src, dst });
                    src *= extent;
                }
                let job = Job { packed: false, src: 3, dst: 70, run: width as u64, turns: &turns };
                let weave = Weave::of(&job, 8, isa.register(), Reach::Far).unwrap();
                let Some(cut) = Cut::of(&turns, &weave.shape, threads) else { continue };
                found += 1;
                let source: Vec<u8> = (0..src + 3).map(|i| ((i * 167) >> 3) as u8).collect();
                let mut out = vec![0xA5; src as usize + 100];
                let mut expected = out.clone();
                for_each(&turns, job.src, job.dst, &mut |from, to| {
                    let (from, to, run) = (from as usize, to as usize, width as usize);
                    expected[to..][..run].copy_from_slice(&source[from..][..run]);
                });
                let together = Together { isa, weave: &weave, job, cut };
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
        assert!(found >= 8, "{found}");
    }

    #[test]
    fn elements_that_share_bytes_are_not_moved_together() {
        let turn = |extent, dst| Turn { extent, src: 1, dst };
        assert!(keeps_apart(&[turn(3, 20), turn(5, 4)], 4));
        assert!(keeps_apart(&[turn(3, 20), turn(5, 4)], 3));
        assert!(!keeps_apart(&[turn(3, 20), turn(5, 4)], 5));
        assert!(!keeps_apart(&[turn(3, 19), turn(5, 4)], 4));
        assert!(!keeps_apart(&[turn(5, 4), turn(3, 20)], 4));
        assert!(!keeps_apart(&[turn(u64::MAX, 4)], 4));
        assert!(keeps_apart(&[], 4));
    }
}
