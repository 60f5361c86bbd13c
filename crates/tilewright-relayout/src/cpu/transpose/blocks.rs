//! The shape of a block, and the loops over blocks.

use super::{BitPermutation, Locality};
use crate::{
    cpu::{
        cost::{self, DST, FEW, SRC, StrideSide},
        kernel::scratch_block,
    },
    program::region::Loop,
};

/// A loop over blocks. The block at index `i` begins at iteration `min(i · step, last)` of the part's loop.
#[derive(Clone, Copy, Debug, Default)]
struct BlockLoop {
    count: u64,
    step: i64,
    last: i64,
    /// The bytes of an iteration of the part's loop on each side.
    src: i64,
    dst: i64,
    /// Loops of lower rank are further in.
    rank: u8,
    /// True if the loop goes along the destination's runs.
    along: bool,
}

/// The minimal number of blocks of a part, if they go through a scratch buffer.
const SOME: u64 = 32;

/// Returns the extents of a block: at least those of a unit, and enough for long runs on both sides. Strides and runs
/// count bits.
pub(super) fn shape(
    loops: &[Loop],
    run: u64,
    register: u64,
    permutation: &BitPermutation,
    locality: Locality,
) -> Vec<u64> {
    let mut shape = permutation.taken.clone();
    let (far, near) = match permutation.are_direct() {
        true => (cost::BLOCK, cost::NEAR_BLOCK),
        false => {
            // Several blocks, since nothing is written while the first is read.
            let bits: u64 = loops.iter().fold(run, |all, level| all.saturating_mul(level.extent));
            let some = (bits / 8 / SOME).max(cost::BLOCK);
            (scratch_block().min(some), cost::NEAR_SCRATCH_BLOCK)
        }
    };
    // The maximal number of rows that leaves each of them a stretch of the source long enough to read.
    let rows = far / cost::LEAST_READ_RUN * (run / 8).max(1);
    let crowded = loops.iter().any(|level| level.src != 0 && level.src % cost::WAY == 0);
    let most_write = if crowded { cost::CROWDED_WRITE_RUN } else { cost::WRITE_RUN };
    let write = rows.clamp(cost::LEAST_WRITE_RUN, most_write);
    let (write, read, most, least) = match locality {
        Locality::Memory => (write, cost::READ_RUN, far, cost::LEAST_BLOCK),
        Locality::Arriving | Locality::Cache => (register / 8, register / 8, near, near),
    };
    let whole = if locality == Locality::Memory { rows * 8 } else { 0 };
    grow(loops, run, &mut shape, permutation, DST, (write * 8, whole, most * 8));
    grow(loops, run, &mut shape, permutation, SRC, (read * 8, 0, most * 8));
    grow(loops, run, &mut shape, permutation, DST, (least * 8, 0, least * 8));
    grow(loops, run, &mut shape, permutation, SRC, (least * 8, 0, least * 8));
    shape
}

/// Extends a block along the contiguous loops of one side until its runs have `target` bits, while it has at most about
/// `most` bits. Runs that end within `whole` bits are not cut in two.
fn grow(
    loops: &[Loop],
    run: u64,
    shape: &mut [u64],
    permutation: &BitPermutation,
    side: StrideSide,
    (target, whole, most): (u64, u64, u64),
) {
    let mut together = run;
    while together < target {
        let Some(i) = loops.iter().position(|level| side(level).unsigned_abs() == together) else {
            return;
        };
        let extent = loops[i].extent;
        let others: u64 = (0..loops.len()).filter(|j| *j != i).map(|j| shape[j]).product();
        let unit = permutation.taken[i];
        let room = most / (others * run).max(1);
        let wanted = target.div_ceil(together).next_multiple_of(unit).min(room / unit * unit);
        let wanted = wanted.max(shape[i]);
        let undivided = (2 * wanted).min(room).min(whole / together);
        if wanted < extent && extent > undivided {
            shape[i] = even(extent, wanted, room, unit).max(shape[i]);
        } else {
            shape[i] = extent;
        }
        if shape[i] < extent {
            return;
        }
        together = together.saturating_mul(extent);
    }
}

/// Returns the iterations of a loop in a block: about `wanted`, or somewhat more than `room` allows. Few blocks get
/// equal sizes, since the last one begins earlier and would move much twice.
fn even(extent: u64, wanted: u64, room: u64, unit: u64) -> u64 {
    let count = (extent / wanted.max(1)).max(1);
    if count >= FEW {
        return wanted;
    }
    // An even number of blocks, which two or four threads share evenly.
    let count = if count > 1 { count.next_multiple_of(2) } else { count };
    let size = |count| extent.div_ceil(count).next_multiple_of(unit).min(extent);
    if size(count) <= room + room / 4 { size(count) } else { size(count + 1) }
}

/// Returns the contiguous bytes of a block on each side.
pub(super) fn runs(loops: &[Loop], run: u64, shape: &[u64]) -> (u64, u64) {
    let along = |side: StrideSide| {
        let mut together = run;
        while let Some(i) = loops.iter().position(|level| side(level).unsigned_abs() == together)
            && shape[i] > 1
        {
            together *= shape[i];
            if shape[i] < loops[i].extent {
                break;
            }
        }
        together / 8
    };
    (along(SRC), along(DST))
}

/// The blocks of a part: the byte at which each begins on each side.
#[derive(Clone, Debug)]
pub(crate) struct Blocks {
    walk: [BlockLoop; Blocks::MOST],
    at: [u64; Blocks::MOST],
    loops: usize,
    next: Option<(i64, i64)>,
    /// The loop that goes along the destination's runs, if blocks carry lines to one another.
    along: Option<usize>,
    /// The bytes of the runs of a block along it.
    chain: i64,
    /// The lines that are carried from all blocks further in than that loop.
    pub(crate) carried: usize,
    /// The range of bytes that blocks touch on each side.
    pub(crate) src_reach: (i64, i64),
    pub(crate) dst_reach: (i64, i64),
}

impl Blocks {
    /// The maximal number of loops over blocks.
    const MOST: usize = 16;

    /// The maximal number of lines that blocks carry, a part of a second-level cache. If there would be more, blocks
    /// advance along the destination first.
    const CARRIED: u64 = if cfg!(test) { 50 } else { cost::CARRIED };

    /// Returns the blocks of loops with these extents; the first block begins at these bytes. Blocks advance along the
    /// source's run innermost, then along the destination's run, then by destination stride. Returns `None` if there
    /// are too many loops, or if blocks would begin within a byte.
    pub(super) fn of(
        loops: &[Loop],
        extent: &dyn Fn(usize) -> u64,
        run: u64,
        shape: &[u64],
        chain: Option<(i64, usize)>,
        first: (i64, i64),
    ) -> Option<Blocks> {
        let next = |side: StrideSide| {
            let mut together = run;
            loop {
                let goes_on = |i: &usize| {
                    // A part may have a loop of one iteration, which does not advance.
                    side(&loops[*i]).unsigned_abs() == together && extent(*i) > 1
                };
                let i = (0..loops.len()).find(goes_on)?;
                if shape[i] < extent(i) {
                    return Some(i);
                }
                together = together.checked_mul(extent(i))?;
            }
        };
        let (along_src, along_dst) = (next(SRC), next(DST));
        let mut blocks = Blocks {
            walk: [BlockLoop::default(); Blocks::MOST],
            at: [0; Blocks::MOST],
            loops: 0,
            next: Some(first),
            along: None,
            chain: 0,
            carried: 0,
            src_reach: (first.0, first.0),
            dst_reach: (first.1, first.1),
        };
        for i in (0..loops.len()).filter(|&i| shape[i] < extent(i)) {
            let along = Some(i) == along_dst;
            let rank = if Some(i) == along_src { 0 } else { 1 + u8::from(!along) };
            let walk = BlockLoop::of(&loops[i], extent(i), shape[i], (rank, along))?;
            *blocks.walk.get_mut(blocks.loops)? = walk;
            blocks.loops += 1;
            reach(&mut blocks.src_reach, walk.last.checked_mul(walk.src)?)?;
            reach(&mut blocks.dst_reach, walk.last.checked_mul(walk.dst)?)?;
        }
        let order = |walk: &BlockLoop| core::cmp::Reverse((walk.rank, walk.dst.unsigned_abs()));
        tilewright_core::sort_short(&mut blocks.walk[..blocks.loops], order);
        if let Some((chain, lines)) = chain {
            blocks.carry(chain, lines as u64);
        }
        Some(blocks)
    }

    /// Lets each block carry `lines` lines to the block that continues its runs of `chain` bytes.
    fn carry(&mut self, chain: i64, lines: u64) {
        let walks = &mut self.walk[..self.loops];
        let goes_on = |walk: &BlockLoop| {
            walk.along && (1..=chain).contains(&walk.step.saturating_mul(walk.dst))
        };
        let Some(mut along) = walks.iter().position(goes_on) else { return };
        let inner = walks[along + 1..].iter().map(|walk| walk.count);
        let mut carried = inner.fold(lines, u64::saturating_mul);
        if carried > Blocks::CARRIED {
            walks[along..].rotate_left(1);
            (along, carried) = (walks.len() - 1, lines);
        }
        (self.along, self.chain, self.carried) = (Some(along), chain, carried as usize);
    }

    /// Adds the bytes that a block touches around its first byte; the first source register is `low` below it.
    pub(super) fn around(mut self, src: (i64, i64), dst: (i64, i64), low: i64) -> Option<Blocks> {
        let add =
            |a: (i64, i64), b: (i64, i64)| Some((a.0.checked_add(b.0)?, a.1.checked_add(b.1)?));
        self.src_reach = add(add(self.src_reach, src)?, (low, low))?;
        self.dst_reach = add(self.dst_reach, dst)?;
        self.next = self.next.map(|(src, dst)| (src + low, dst));
        Some(self)
    }
}

/// Extends a range by the offset of a loop's end.
fn reach(reach: &mut (i64, i64), end: i64) -> Option<()> {
    *reach = (reach.0.checked_add(end.min(0))?, reach.1.checked_add(end.max(0))?);
    Some(())
}

impl BlockLoop {
    /// Returns the iteration of the part's loop at which a block begins.
    #[inline]
    fn iteration(&self, at: u64) -> i64 {
        (at as i64 * self.step).min(self.last)
    }

    /// Returns the loop over blocks of `taken` iterations.
    fn of(level: &Loop, extent: u64, taken: u64, (rank, along): (u8, bool)) -> Option<BlockLoop> {
        let (step, last) = (taken as i64, (extent - taken) as i64);
        let whole = |stride: i64| [step, last].iter().all(|n| n * (stride % 8) % 8 == 0);
        (whole(level.src) && whole(level.dst)).then_some(())?;
        // `unit` iterations are whole bytes on both sides.
        let unit = 8i64 >> (level.src | level.dst).trailing_zeros().min(3);
        Some(BlockLoop {
            count: (last as u64).div_ceil(step as u64) + 1,
            step: step / unit,
            last: last / unit,
            src: level.src * unit / 8,
            dst: level.dst * unit / 8,
            rank,
            along,
        })
    }
}

/// The bytes at which a block begins, and the part of its runs that it writes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TransposeBlock {
    pub(crate) src: i64,
    pub(crate) dst: i64,
    /// The bytes of its runs that the previous block has written already; `None` if the runs begin here.
    pub(crate) again: Option<i64>,
    /// True if the runs end with this block.
    pub(crate) last: bool,
    /// The position among the blocks that carry lines at the same time.
    pub(crate) place: usize,
}

impl Blocks {
    /// Returns the current block, which begins at these bytes.
    #[inline]
    fn here(&self, (src, dst): (i64, i64)) -> TransposeBlock {
        let Some(along) = self.along else {
            return TransposeBlock { src, dst, again: None, last: true, place: 0 };
        };
        let (at, walk) = (self.at[along], &self.walk[along]);
        let again = at.checked_sub(1).map(|before| {
            let by = walk.iteration(at) - walk.iteration(before);
            self.chain - by * walk.dst
        });
        let inner = along + 1..self.loops;
        let place = inner.fold(0, |place, i| place * self.walk[i].count + self.at[i]);
        TransposeBlock { src, dst, again, last: at + 1 == walk.count, place: place as usize }
    }
}

impl Iterator for Blocks {
    type Item = TransposeBlock;

    #[inline]
    fn next(&mut self) -> Option<TransposeBlock> {
        let (mut src, mut dst) = self.next?;
        let here = self.here((src, dst));
        self.next = None;
        for (at, walk) in self.at[..self.loops].iter_mut().zip(&self.walk).rev() {
            let before = walk.iteration(*at);
            *at += 1;
            if *at == walk.count {
                *at = 0;
            }
            let by = walk.iteration(*at) - before;
            (src, dst) = (src + by * walk.src, dst + by * walk.dst);
            if *at > 0 {
                self.next = Some((src, dst));
                break;
            }
        }
        Some(here)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_blocks_are_of_even_size() {
        for unit in [1, 2, 4, 8, 16] {
            for extent in (2 * unit..600).chain([5000, u64::MAX / 4]) {
                for wanted in [unit, 7 * unit, 16 * unit] {
                    if wanted >= extent {
                        continue;
                    }
                    let size = even(extent, wanted, wanted + wanted / 3, unit);
                    let case = (extent, wanted, unit, size);
                    assert!(size == extent || size.is_multiple_of(unit), "{case:?}");
                    assert!(size <= 2 * wanted && size <= extent, "{case:?}");
                    // The iterations moved, without those that blocks share and those added by rounding to units.
                    let count = extent.div_ceil(size);
                    let moved = count * size.saturating_sub(unit);
                    assert!(count >= FEW || moved <= extent, "{case:?}");
                }
            }
        }
    }
}
