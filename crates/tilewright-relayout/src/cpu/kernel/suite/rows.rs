//! Tests of runs moved in blocks, against one run copied after the other.

use super::{
    super::{Isa, Scratch, rows},
    noise, some,
};
use crate::cpu::kernel::suite::{BufferPosition, Guarded};
use crate::{
    program::region::RegionRef,
    program::region::{Loop, for_each},
};
use proptest::prelude::*;

const BEFORE: u8 = 0xA5;

/// A part that begins at the first byte of both sides, with the bytes from the lowest to the highest.
#[derive(Clone, Debug)]
struct RunCase {
    run: u64,
    loops: Vec<Loop>,
}

impl RunCase {
    /// RunCase of `run` bytes in loops of these extents, the outermost of the source first; `order` has the loops of the
    /// destination, the outermost first. `gaps` has the unused bytes after each loop on both sides, the innermost
    /// first; loops with `back` run backward in the source.
    fn of(
        run: u64,
        extents: &[u64],
        order: &[usize],
        gaps: &[(i64, i64)],
        back: &[bool],
    ) -> RunCase {
        let mut loops: Vec<Loop> =
            extents.iter().map(|extent| Loop { extent: *extent, src: 0, dst: 0 }).collect();
        let gap = |i: usize| gaps.get(i).copied().unwrap_or_default();
        let (mut src, mut dst) = (run as i64 + gap(0).0, run as i64 + gap(0).1);
        for (i, (level, extent)) in loops.iter_mut().zip(extents).enumerate().rev() {
            level.src = if back.get(i).is_some_and(|back| *back) { -src } else { src };
            src = src * *extent as i64 + gap(extents.len() - i).0;
        }
        for (i, at) in order.iter().rev().enumerate() {
            loops[*at].dst = dst;
            dst = dst * extents[*at] as i64 + gap(i + 1).1;
        }
        loops.sort_by_key(|level| core::cmp::Reverse(level.dst));
        RunCase { run, loops }
    }

    fn part(&self) -> RegionRef<'_> {
        let src = self.loops.iter().map(|level| -level.src_reach().min(0)).sum();
        RegionRef { packed: false, src, dst: 0, run: self.run, loops: &self.loops }
    }

    /// Moves them from and to these positions with every instruction set.
    fn check(&self, places: impl IntoIterator<Item = (BufferPosition, BufferPosition)>) {
        let part = self.part();
        let locality = |of: fn(&Loop) -> i64| {
            self.loops.iter().map(|level| of(level).unsigned_abs()).sum::<u64>() + self.run
        };
        let source = noise(locality(Loop::src_reach) as usize, self.run);
        let mut expected = vec![BEFORE; locality(Loop::dst_reach) as usize];
        for_each(part.loops, part.src, 0, &mut |from, to| {
            let (from, to, run) = (from as usize, to as usize, self.run as usize);
            expected[to..][..run].copy_from_slice(&source[from..][..run]);
        });
        let before = vec![BEFORE; expected.len()];
        let mut scratch = Scratch::default();
        for (src, dst) in places {
            let mut from = Guarded::holding(&source, src);
            let mut to = Guarded::holding(&before, dst);
            for isa in Isa::ALL.iter().copied().filter(|isa| isa.is_here()) {
                to.bytes().fill(BEFORE);
                rows::rows_far(isa, &part, from.bytes(), to.bytes(), &mut scratch);
                if to.bytes() != expected || !to.is_intact() {
                    let at = to.bytes().iter().zip(&expected).position(|(found, own)| found != own);
                    panic!("{} {src:?} {dst:?} first at {at:?}: {self:?}", isa.name());
                }
            }
        }
    }
}

/// Every alignment within a line on one side, with some of the other.
fn phases() -> Vec<(BufferPosition, BufferPosition)> {
    let step = if cfg!(miri) { 21 } else { 1 };
    let of = |at: usize| {
        [
            (BufferPosition::Behind(at * 5), BufferPosition::Behind(at)),
            (BufferPosition::Behind(at), BufferPosition::Behind(16)),
        ]
    };
    let ends = [
        (BufferPosition::Ends, BufferPosition::Ends),
        (BufferPosition::Begins, BufferPosition::Ends),
        (BufferPosition::Ends, BufferPosition::Begins),
    ];
    (0..64).step_by(step).flat_map(of).chain(ends).collect()
}

#[test]
fn runs_of_every_length_are_joined_at_every_phase() {
    let lengths = [64, 65, 66, 80, 96, 100, 127, 128, 129, 192, 250, 256, 300, 511, 520, 1100];
    for run in some(&lengths, 9) {
        // Streams that end after a run, within a block, and after some blocks.
        for extents in some(&[[3, 5], [2, 40], [40, 3], [11, 23]], 3) {
            RunCase::of(run, &extents, &[1, 0], &[], &[]).check(phases());
        }
    }
}

#[test]
fn lines_are_carried_from_block_to_block() {
    let places = [
        (BufferPosition::Behind(3), BufferPosition::Behind(16)),
        (BufferPosition::Ends, BufferPosition::Ends),
    ];
    let cases: &[(u64, &[u64], &[usize])] = if cfg!(miri) {
        &[(512, &[20, 4], &[1, 0])]
    } else {
        &[
            (64, &[70, 80], &[1, 0]),
            (100, &[130, 90], &[1, 0]),
            (256, &[3, 50, 40], &[0, 2, 1]),
            (520, &[37, 5, 11], &[2, 1, 0]),
            (72, &[3, 9, 11, 13, 7], &[4, 3, 2, 1, 0]),
            (1100, &[37, 5, 11], &[2, 0, 1]),
            (4100, &[7, 5, 3], &[2, 0, 1]),
        ]
    };
    for (run, extents, order) in cases {
        RunCase::of(*run, extents, order, &[], &[]).check(places);
        let back: Vec<bool> = (0..extents.len()).map(|i| i % 2 == 0).collect();
        RunCase::of(*run, extents, order, &[], &back).check(places);
    }
}

#[test]
#[cfg_attr(miri, ignore = "megabytes take hours")]
fn more_streams_than_lines_are_carried_for_go_one_by_one() {
    let places = [(BufferPosition::Behind(48), BufferPosition::Behind(5))];
    RunCase::of(64, &[70, 4500], &[1, 0], &[], &[]).check(places);
}

#[test]
fn long_runs_are_blocks_of_their_own() {
    for run in some(&[8192, 8193, 8255, 20_000], 4) {
        for extents in some(&[[3, 2], [2, 5]], 2) {
            RunCase::of(run, &extents, &[1, 0], &[], &[]).check(phases().into_iter().step_by(13));
        }
        RunCase { run, loops: Vec::new() }.check(phases().into_iter().step_by(7));
    }
}

#[test]
fn what_lies_between_runs_stays() {
    for run in some(&[64, 77, 200, 300, 1500], 5) {
        for gap in some(&[1, 5, 16, 64], 4) {
            for gaps in some(&[[(0, gap)], [(gap, 0)], [(gap, 2 * gap)]], 3) {
                let places = phases().into_iter().step_by(5);
                RunCase::of(run, &[9, 30], &[0, 1], &gaps, &[]).check(places.clone());
                RunCase::of(run, &[9, 6], &[1, 0], &[(0, 0), gaps[0]], &[]).check(places);
            }
        }
    }
}

fn runs() -> impl Strategy<Value = RunCase> {
    (1usize..=5).prop_flat_map(|rank| {
        let extent = prop_oneof![4 => 2u64..8, 1 => 8u64..40];
        let extents = prop::collection::vec(extent, rank);
        let order = Just((0..rank).collect::<Vec<_>>()).prop_shuffle();
        let gap = || prop_oneof![5 => Just(0i64), 1 => 1i64..100, 1 => Just(64)];
        let gaps = prop::collection::vec((gap(), gap()), rank + 1);
        let back = prop::collection::vec(prop::bool::weighted(0.2), rank);
        let run =
            prop_oneof![2 => 64u64..200, 2 => 64u64..700, 1 => (1u64..20).prop_map(|n| n * 64)];
        (run, extents, order, gaps, back).prop_map(|(run, mut extents, order, gaps, back)| {
            while extents.iter().product::<u64>() * run > if cfg!(miri) { 1 << 11 } else { 1 << 18 }
            {
                let Some(most) = extents.iter_mut().max().filter(|most| **most > 2) else { break };
                *most = most.div_ceil(2);
            }
            RunCase::of(run, &extents, &order, &gaps, &back)
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: if cfg!(miri) { 3 } else { 400 },
        ..ProptestConfig::default()
    })]

    #[test]
    fn random_runs(runs in runs(), src in 0usize..64, dst in 0usize..64) {
        runs.check([(BufferPosition::Behind(src), BufferPosition::Behind(dst)), (BufferPosition::Ends, BufferPosition::Ends)]);
    }
}
