//! A *weave*: a part of a region as blocks of register permutations, which the kernel
//! [`weave`](crate::cpu::kernel) runs.
//!
//! A block fits into a cache and is long enough on both sides for memory to be fast: it is read along the
//! source's contiguous loops and written along the destination's. Between the two lie [`Lanes`]: the
//! permutation of address bits that turns a few registers of the source into a few of the destination.
//! Everything a block does is two lists of steps, the same for every block; blocks at the end of a loop that
//! they do not divide begin earlier, and move some elements twice.
//!
//! Law: the steps of all blocks move every element of the part to its place, and nothing else.

mod blocks;
mod lanes;
mod stage;
mod step;
mod steps;

pub(crate) use blocks::{Block, Blocks};
pub(crate) use lanes::{Lanes, NONE};
pub(crate) use stage::Stage;
pub(crate) use step::Write;
pub(crate) use steps::Steps;

use crate::{cpu::cost, program::region::Loop, program::region::RegionRef};

/// How the parts of some loops are woven.
#[derive(Clone, Debug)]
pub(crate) struct Weave {
    /// The bytes of a register: 16, 32 or 64.
    pub(crate) register: usize,
    pub(crate) reach: Reach,
    pub(crate) lanes: Lanes,
    pub(crate) steps: Steps,
    /// The turns of each loop that a block takes.
    pub(crate) shape: Vec<u64>,
    /// The bytes of a block that lie together in the source, and in the destination.
    pub(crate) runs: (u64, u64),
    /// The loops, in bits, and the bits of a run.
    loops: Vec<Loop>,
    run: u64,
}

/// Where the data of a part is assumed to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    /// In memory: blocks are long, read ahead and written past the caches.
    Far,
    /// The source in memory, the destination in a cache: blocks are short and read ahead.
    Coming,
    /// In a cache.
    Near,
}

impl Reach {
    /// Of a destination of `bytes` bytes.
    pub(crate) fn of(bytes: u64) -> Reach {
        if bytes >= cost::STREAM { Reach::Far } else { Reach::Near }
    }

    /// Of the same source, with a destination in a cache.
    pub(crate) fn coming(self) -> Reach {
        match self {
            Reach::Far | Reach::Coming => Reach::Coming,
            Reach::Near => Reach::Near,
        }
    }
}

impl Weave {
    /// The weave of a part of `bits`-bit units (8 where they are bytes) with registers of at most
    /// `register` bytes; `None` if its loops do not fill registers on both sides.
    pub(crate) fn of(
        part: &RegionRef<'_>,
        bits: u32,
        register: usize,
        reach: Reach,
    ) -> Option<Weave> {
        let (loops, run) = scaled(part, bits)?;
        let chosen = chosen(&loops, run, register, reach)?;
        Weave::made(&loops, run, reach, chosen, &|lanes, register| {
            blocks::shape(&loops, run, register as u64 * 8, lanes, reach)
        })
    }

    /// The same with blocks of the shape that `shape` makes of the turns of a unit: at least those of each
    /// loop.
    #[cfg(test)]
    pub(crate) fn shaped(
        part: &RegionRef<'_>,
        bits: u32,
        register: usize,
        reach: Reach,
        shape: &dyn Fn(&[u64]) -> Vec<u64>,
    ) -> Option<Weave> {
        let (loops, run) = scaled(part, bits)?;
        let filled = filled(&loops, run, register);
        Weave::made(&loops, run, reach, filled, &|lanes, _| shape(&lanes.taken))
    }

    /// The weave with the first of these registers that does, in blocks of this shape.
    fn made(
        loops: &[Loop],
        run: u64,
        reach: Reach,
        mut registers: impl Iterator<Item = (usize, Lanes)>,
        shape: &dyn Fn(&Lanes, usize) -> Vec<u64>,
    ) -> Option<Weave> {
        registers.find_map(|(register, mut lanes)| {
            let shape = shape(&lanes, register);
            let steps = Steps::of(loops, &shape, &mut lanes, register, reach)?;
            let (runs, loops) = (blocks::runs(loops, run, &shape), loops.to_vec());
            Some(Weave { register, reach, lanes, steps, shape, runs, loops, run })
        })
    }

    /// About how many instructions a line takes: loads, exchanges, rearrangements and stores, with what is
    /// moved twice.
    pub(crate) fn instructions(&self) -> f64 {
        let exchanges = self.lanes.levels.iter().flatten().filter(|level| **level != NONE).count();
        let each = 2 + exchanges + usize::from(self.lanes.table.is_some());
        each as f64 * self.moved() * cost::LINE as f64 / self.register as f64
    }

    /// What units move, as a multiple of what there is.
    pub(crate) fn moved(&self) -> f64 {
        self.lanes.moved(&self.loops)
    }

    /// Whether this is a weave of the part: of the same loops, as long as a block at least.
    pub(crate) fn fits(&self, part: &RegionRef<'_>, bits: u32, reach: Reach) -> bool {
        let bits = i64::from(bits);
        let alike = |((own, turn), shape): ((&Loop, &Loop), &u64)| {
            let same = |own: i64, given: i64| Some(own) == given.checked_mul(bits);
            turn.extent >= *shape && same(own.src, turn.src) && same(own.dst, turn.dst)
        };
        self.reach == reach
            && part.loops.len() == self.loops.len()
            && part.run.checked_mul(bits as u64) == Some(self.run)
            && self.loops.iter().zip(part.loops).zip(&self.shape).all(alike)
    }

    /// The bytes at which a part of `bits`-bit units that this fits begins on either side, as [`Weave::blocks`]
    /// counts them; `None` where registers would begin within a byte. Along loops that run backward, the
    /// last unit of a register comes first in the source: that is the one to begin a byte.
    pub(crate) fn begins(&self, part: &RegionRef<'_>, bits: u32) -> Option<(i64, i64)> {
        let bit = |at: i64| at.checked_mul(i64::from(bits));
        let low = self.lanes.src_low;
        let (src, dst) = (bit(part.src)?.checked_add(low)?, bit(part.dst)?);
        (src % 8 == 0 && dst % 8 == 0).then_some((src / 8 - low / 8, dst / 8))
    }

    /// The blocks of a part that this fits, whose first unit is at these bytes of a source and of a
    /// destination.
    pub(crate) fn blocks(&self, part: &RegionRef<'_>, src: i64, dst: i64) -> Option<Blocks> {
        let extents = |i: usize| part.loops[i].extent;
        let chain = self.steps.stage.as_ref().and_then(|stage| Some((stage.chain?, stage.carried)));
        let blocks = Blocks::of(&self.loops, &extents, self.run, &self.shape, chain, (src, dst))?;
        blocks.around(
            self.steps.src_reach(self.register)?,
            self.steps.dst_reach(self.register)?,
            self.lanes.src_low / 8,
        )
    }
}

/// The registers of at most `register` bytes that loops fill, the largest first.
fn filled(loops: &[Loop], run: u64, register: usize) -> impl Iterator<Item = (usize, Lanes)> {
    let sizes = [64, 32, 16].into_iter().filter(move |size| *size <= register);
    sizes
        .filter(move |size| (*size as u64) * 8 >= run)
        .filter_map(move |size| Some((size, Lanes::of(loops, run, (size * 8).ilog2())?)))
}

/// The same, but those last of which units cover loops badly where memory is asked for what they move
/// twice: rows of 96 bytes take two registers of 64, or three of 32.
fn chosen(
    loops: &[Loop],
    run: u64,
    register: usize,
    reach: Reach,
) -> Option<impl Iterator<Item = (usize, Lanes)>> {
    let mut smaller = filled(loops, run, register);
    let mut registers = vec![smaller.next()?];
    if reach != Reach::Near && registers[0].1.moved(loops) >= cost::BADLY {
        registers.extend(smaller.by_ref());
        let moved = registers.iter().map(|(_, lanes)| lanes.moved(loops));
        let least = moved.fold(f64::INFINITY, f64::min);
        // In either part, the largest stay first.
        tilewright_core::sort_short(&mut registers, |(_, lanes)| {
            lanes.moved(loops) >= cost::BADLY * least
        });
    }
    Some(registers.into_iter().chain(smaller))
}

/// The loops of a part and its run, counted in bits; `None` for what is no weave at all.
fn scaled(part: &RegionRef<'_>, bits: u32) -> Option<(Vec<Loop>, u64)> {
    let run = part.run.checked_mul(u64::from(bits))?;
    if !run.is_power_of_two() || part.loops.is_empty() {
        return None;
    }
    let scaled = |stride: i64| stride.checked_mul(i64::from(bits));
    let mut loops = Vec::with_capacity(part.loops.len());
    for turn in part.loops {
        loops.push(Loop { src: scaled(turn.src)?, dst: scaled(turn.dst)?, ..*turn });
    }
    Some((loops, run))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_are_as_long_as_units_cover_loops_well() {
        let register = |columns: i64, reach| {
            let turn = |extent: i64, src, dst| Loop { extent: extent as u64, src, dst };
            let loops = [turn(columns, 4, 40_000), turn(10_000, 4 * columns, 4)];
            let part = RegionRef { packed: false, src: 0, dst: 0, run: 4, loops: &loops };
            Weave::of(&part, 8, 64, reach).map(|weave| weave.register)
        };
        assert_eq!(register(32, Reach::Far), Some(64));
        assert_eq!(register(24, Reach::Far), Some(32));
        assert_eq!(register(24, Reach::Near), Some(64));
        assert_eq!(register(20, Reach::Far), Some(32));
        assert_eq!(register(12, Reach::Far), Some(16));
        assert_eq!(register(1000, Reach::Far), Some(64));
    }
}
