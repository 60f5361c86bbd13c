//! A part cut along one of its loops, so that threads move its parts at the same time.
//!
//! Ranges of the destination cut its outermost loop only. Where that has too few blocks for all threads,
//! as when it is the source's innermost, each thread would read a part of every run or have nothing to do:
//! another loop is cut then.
//!
//! Law: the parts of a part hold each of its elements once.

use crate::{program::region::Loop, program::region::RegionRef};

/// How a part is cut: the loop, the whole blocks along it and the turns of each, and how many parts share
/// them. What is left goes with the last part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cut {
    turn: usize,
    shape: u64,
    blocks: u64,
    parts: u64,
}

/// Parts per thread, so that threads that are slowed down do not hold up the rest.
pub(crate) const PER_THREAD: u64 = 4;

/// Ranges of the destination are cut along another loop if that keeps threads busy for so much more of
/// the time, in thousandths.
const WORTH: u64 = 150;

impl Cut {
    /// How threads share a part that goes in blocks of this shape, no longer than its loops; `None` where
    /// they do it as well by ranges of the destination, which whole blocks of the outermost loop are.
    pub(crate) fn of(loops: &[Loop], shape: &[u64], threads: u64) -> Option<Cut> {
        let threads = threads.max(1);
        let all = loops.iter().zip(shape).enumerate();
        let cuts =
            all.map(|(turn, (loops, shape))| Cut::along(turn, loops.extent, *shape, threads));
        let busy = |cut: &Cut| cut.busy(loops[cut.turn].extent, threads);
        let outermost = busy(&Cut::along(0, loops.first()?.extent, *shape.first()?, threads));
        // Of those that are equal, the one that is the furthest out.
        let cut = cuts.rev().max_by_key(busy)?;
        (cut.parts > 1 && busy(&cut) >= outermost + WORTH).then_some(cut)
    }

    /// The cut along a loop of so many turns.
    fn along(turn: usize, extent: u64, shape: u64, threads: u64) -> Cut {
        let blocks = extent / shape;
        let shared = (1..=PER_THREAD).rev().filter_map(|each| threads.checked_mul(each));
        let few = blocks.clamp(1, threads.saturating_mul(PER_THREAD));
        let cuts = shared.filter(|parts| *parts <= blocks).chain([few]);
        let cuts = cuts.map(|parts| Cut { turn, shape, blocks, parts });
        // Of those that are equal, the one of more parts.
        let whole = Cut { turn, shape, blocks, parts: 1 };
        let busy = |cut: &Cut| cut.busy(extent, threads);
        cuts.fold(whole, |best, cut| if busy(&cut) > busy(&best) { cut } else { best })
    }

    /// The share of the threads' time in which they do what one would, in thousandths.
    fn busy(&self, extent: u64, threads: u64) -> u64 {
        let last = self.blocks / self.parts + u64::from(!extent.is_multiple_of(self.shape));
        let longest = self.blocks.div_ceil(self.parts).max(last);
        let all = u128::from(extent.div_ceil(self.shape));
        let time = u128::from(longest) * u128::from(self.parts.div_ceil(threads));
        (all * 1000 / (time * u128::from(threads)).max(1)) as u64
    }

    /// How many parts there are.
    pub(crate) fn parts(&self) -> u64 {
        self.parts
    }

    /// A part of the part that this was made for, whose loops are kept in `turns`.
    pub(crate) fn part<'t>(
        &self,
        part: &RegionRef<'_>,
        i: u64,
        loops: &'t mut Vec<Loop>,
    ) -> RegionRef<'t> {
        loops.clear();
        loops.extend_from_slice(part.loops);
        let turn = &mut loops[self.turn];
        let (each, more) = (self.blocks / self.parts, self.blocks % self.parts);
        let begin = |i: u64| (i * each + i.min(more)) * self.shape;
        let from = begin(i).min(turn.extent);
        let end = if i + 1 < self.parts { begin(i + 1).min(turn.extent) } else { turn.extent };
        turn.extent = end - from;
        let (src, dst) = (part.src + from as i64 * turn.src, part.dst + from as i64 * turn.dst);
        RegionRef { packed: part.packed, src, dst, run: part.run, loops }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::region::for_each;

    #[test]
    fn parts_hold_every_element_once() {
        let mut cut = 0;
        for extents in [[3, 5, 7], [2, 40, 3], [8, 9, 1], [1, 2, 50]] {
            for shape in [[3, 5, 7], [2, 4, 3], [8, 2, 1], [1, 1, 16]] {
                for threads in [1, 2, 3, 7, 64] {
                    let strides = [(1, 1000), (60, 60), (5, 1)];
                    let turn = |i: usize| Loop {
                        extent: extents[i],
                        src: strides[i].0,
                        dst: strides[i].1,
                    };
                    let loops = [turn(0), turn(1), turn(2)];
                    let part = RegionRef { packed: false, src: 9, dst: 4, run: 1, loops: &loops };
                    let fitting: Vec<u64> = (0..3).map(|i| shape[i].min(extents[i])).collect();
                    let Some(it) = Cut::of(&loops, &fitting, threads) else { continue };
                    cut += 1;
                    assert!(it.turn > 0 && it.parts() > 1 && it.parts() <= threads * PER_THREAD);
                    let (mut all, mut got, mut kept) = (Vec::new(), Vec::new(), Vec::new());
                    for_each(&loops, part.src, part.dst, &mut |src, dst| all.push((src, dst)));
                    for i in 0..it.parts() {
                        let part = it.part(&part, i, &mut kept);
                        let long = |(turn, shape): (&Loop, &u64)| turn.extent >= *shape;
                        assert!(part.loops.iter().zip(&fitting).all(long));
                        for_each(part.loops, part.src, part.dst, &mut |s, d| got.push((s, d)));
                    }
                    all.sort_unstable();
                    got.sort_unstable();
                    assert_eq!(all, got);
                }
            }
        }
        assert!(cut > 20, "{cut}");
    }

    #[test]
    fn the_outermost_loop_is_left_to_ranges_if_all_threads_get_blocks_of_it() {
        let turn = |extent, src, dst| Loop { extent, src, dst };
        let loops = [turn(96, 4, 9000), turn(96, 400, 384), turn(96, 40_000, 4)];
        assert_eq!(Cut::of(&loops, &[12, 3, 96], 2), None);
        assert_eq!(Cut::of(&loops, &[96, 3, 96], 1), None);
        // One block of the outermost: the next one has enough, in parts of whole blocks.
        assert_eq!(
            Cut::of(&loops, &[96, 3, 96], 2),
            Some(Cut { turn: 1, shape: 3, blocks: 32, parts: 8 })
        );
        // None has enough for so many, but one has more.
        assert_eq!(
            Cut::of(&loops, &[96, 96, 32], 4),
            Some(Cut { turn: 2, shape: 32, blocks: 3, parts: 3 })
        );
    }

    #[test]
    fn a_cut_gives_every_thread_its_share() {
        // The extents of a part, the shape of its blocks, and the threads.
        let cases = [
            ([64, 15, 2000], [64, 8, 64], 2),
            ([48, 11, 5000], [48, 6, 128], 2),
            ([175, 187, 297], [175, 1, 160], 2),
            ([96, 287, 64], [96, 20, 64], 4),
            ([10, 97, 1000], [10, 1, 16], 64),
        ];
        for (extents, shape, threads) in cases {
            let loops = extents.map(|extent| Loop { extent, src: 1, dst: 1 });
            let cut = Cut::of(&loops, &shape, threads).unwrap();
            let part = RegionRef { packed: false, src: 0, dst: 0, run: 1, loops: &loops };
            let mut kept = Vec::new();
            let blocks = |i| {
                let part = cut.part(&part, i, &mut kept);
                part.loops[cut.turn].extent.div_ceil(shape[cut.turn])
            };
            let longest = (0..cut.parts()).map(blocks).max().unwrap();
            let all = extents[cut.turn].div_ceil(shape[cut.turn]);
            let rounds = cut.parts().div_ceil(threads);
            assert!(cut.parts() >= threads, "{cut:?}");
            assert!(rounds * longest * threads <= all + all / 4 + threads, "{cut:?}");
        }
        // A batch of transposes has enough of them for all threads.
        let batch = [15, 249, 284].map(|extent| Loop { extent, src: 1, dst: 1 });
        assert_eq!(Cut::of(&batch, &[1, 249, 64], 2), None);
    }
}
