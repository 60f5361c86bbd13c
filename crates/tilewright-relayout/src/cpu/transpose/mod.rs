//! Register transposes: a part of a region as blocks of bit permutations in registers, which the kernel
//! [`transpose`](crate::cpu::kernel) runs.
//!
//! A block fits into a cache and is long enough on both sides for memory to be fast. It is read along the source's
//! contiguous loops and written along the destination's. Between the two is a permutation of address bits
//! ([`BitPermutation`]), which turns a few registers of the source into a few of the destination. A block is two lists
//! of steps, which are equal for all blocks. Blocks at the end of a loop that they do not divide begin earlier and move
//! some elements twice.
//!
//! Law: the steps of all blocks move every element of the part to its position, and nothing else.

mod blocks;
mod permutation;
mod steps;

pub(crate) use blocks::{Blocks, TransposeBlock};
pub(crate) use permutation::{BitPermutation, NONE};
pub(crate) use steps::{BlockSteps, StepBuffer, WriteStep};

use crate::{cpu::cost, program::region::Loop, program::region::RegionRef};

/// A register transpose of the parts of some loops.
#[derive(Clone, Debug)]
pub(crate) struct RegisterTranspose {
    /// The bytes of a register: 16, 32 or 64.
    pub(crate) register: usize,
    pub(crate) locality: Locality,
    pub(crate) permutation: BitPermutation,
    pub(crate) steps: BlockSteps,
    /// The extent of a block in each loop.
    pub(crate) shape: Vec<u64>,
    /// The contiguous bytes of a block in the source, and in the destination.
    pub(crate) runs: (u64, u64),
    /// The loops in bits, and the bits of a run.
    loops: Vec<Loop>,
    run: u64,
}

/// The assumed location of the data of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Locality {
    /// In memory: blocks are long, prefetched, and written past the caches.
    Memory,
    /// The source in memory, the destination in a cache: blocks are short and prefetched.
    Arriving,
    /// In a cache.
    Cache,
}

impl Locality {
    /// Returns the location for a destination of `bytes` bytes.
    pub(crate) fn of(bytes: u64) -> Locality {
        if bytes >= cost::STREAM { Locality::Memory } else { Locality::Cache }
    }

    /// Returns the location with the same source and a destination in a cache.
    pub(crate) fn arriving(self) -> Locality {
        match self {
            Locality::Memory | Locality::Arriving => Locality::Arriving,
            Locality::Cache => Locality::Cache,
        }
    }
}

impl RegisterTranspose {
    /// Returns the register transpose of a part of `bits`-bit units (8 for bytes) with registers of at most `register`
    /// bytes; `None` if its loops do not fill registers on both sides.
    pub(crate) fn of(
        part: &RegionRef<'_>,
        bits: u32,
        register: usize,
        locality: Locality,
    ) -> Option<RegisterTranspose> {
        let (loops, run) = scaled(part, bits)?;
        let chosen = chosen(&loops, run, register, locality)?;
        RegisterTranspose::made(&loops, run, locality, chosen, &|permutation, register| {
            blocks::shape(&loops, run, register as u64 * 8, permutation, locality)
        })
    }

    /// Returns the register transpose with blocks of the shape that `shape` makes from the extents of a unit; each is
    /// at least that of the unit.
    #[cfg(test)]
    pub(crate) fn shaped(
        part: &RegionRef<'_>,
        bits: u32,
        register: usize,
        locality: Locality,
        shape: &dyn Fn(&[u64]) -> Vec<u64>,
    ) -> Option<RegisterTranspose> {
        let (loops, run) = scaled(part, bits)?;
        let filled = filled(&loops, run, register);
        RegisterTranspose::made(&loops, run, locality, filled, &|permutation, _| {
            shape(&permutation.taken)
        })
    }

    /// Returns the register transpose with the first of these registers for which it is possible, in blocks of this
    /// shape.
    fn made(
        loops: &[Loop],
        run: u64,
        locality: Locality,
        mut registers: impl Iterator<Item = (usize, BitPermutation)>,
        shape: &dyn Fn(&BitPermutation, usize) -> Vec<u64>,
    ) -> Option<RegisterTranspose> {
        registers.find_map(|(register, mut permutation)| {
            let shape = shape(&permutation, register);
            let steps = BlockSteps::of(loops, &shape, &mut permutation, register, locality)?;
            let (runs, loops) = (blocks::runs(loops, run, &shape), loops.to_vec());
            Some(RegisterTranspose {
                register,
                locality,
                permutation,
                steps,
                shape,
                runs,
                loops,
                run,
            })
        })
    }

    /// Returns the approximate number of instructions per line: loads, exchanges, rearrangements and stores, including
    /// elements that are moved twice.
    pub(crate) fn instructions(&self) -> f64 {
        let exchanges =
            self.permutation.levels.iter().flatten().filter(|level| **level != NONE).count();
        let each = 2 + exchanges + usize::from(self.permutation.table.is_some());
        each as f64 * self.moved() * cost::LINE as f64 / self.register as f64
    }

    /// Returns the elements that units move, as a multiple of all elements.
    pub(crate) fn moved(&self) -> f64 {
        self.permutation.moved(&self.loops)
    }

    /// Returns whether this serves the part: equal strides, and at least the extents of a block.
    pub(crate) fn fits(&self, part: &RegionRef<'_>, bits: u32, locality: Locality) -> bool {
        let bits = i64::from(bits);
        let alike = |((own, level), shape): ((&Loop, &Loop), &u64)| {
            let same = |own: i64, given: i64| Some(own) == given.checked_mul(bits);
            level.extent >= *shape && same(own.src, level.src) && same(own.dst, level.dst)
        };
        self.locality == locality
            && part.loops.len() == self.loops.len()
            && part.run.checked_mul(bits as u64) == Some(self.run)
            && self.loops.iter().zip(part.loops).zip(&self.shape).all(alike)
    }

    /// Returns the bytes at which a part of `bits`-bit units that fits begins on each side, as
    /// [`RegisterTranspose::blocks`] counts them; `None` if registers would begin within a byte. Along loops that run
    /// backward, the last unit of a register comes first in the source, so that unit must begin a byte.
    pub(crate) fn begins(&self, part: &RegionRef<'_>, bits: u32) -> Option<(i64, i64)> {
        let bit = |at: i64| at.checked_mul(i64::from(bits));
        let low = self.permutation.src_low;
        let (src, dst) = (bit(part.src)?.checked_add(low)?, bit(part.dst)?);
        (src % 8 == 0 && dst % 8 == 0).then_some((src / 8 - low / 8, dst / 8))
    }

    /// Returns the blocks of a part that fits, whose first unit is at these bytes of the source and the destination.
    pub(crate) fn blocks(&self, part: &RegionRef<'_>, src: i64, dst: i64) -> Option<Blocks> {
        let extents = |i: usize| part.loops[i].extent;
        let chain = self.steps.stage.as_ref().and_then(|stage| Some((stage.chain?, stage.carried)));
        let blocks = Blocks::of(&self.loops, &extents, self.run, &self.shape, chain, (src, dst))?;
        blocks.around(
            self.steps.src_reach(self.register)?,
            self.steps.dst_reach(self.register)?,
            self.permutation.src_low / 8,
        )
    }
}

/// Returns the registers of at most `register` bytes that loops fill, the largest first.
fn filled(
    loops: &[Loop],
    run: u64,
    register: usize,
) -> impl Iterator<Item = (usize, BitPermutation)> {
    let sizes = [64, 32, 16].into_iter().filter(move |size| *size <= register);
    sizes
        .filter(move |size| (*size as u64) * 8 >= run)
        .filter_map(move |size| Some((size, BitPermutation::of(loops, run, (size * 8).ilog2())?)))
}

/// Returns the registers that loops fill in the order of preference. Those whose units cover the loops badly come last,
/// if elements that are moved twice come from memory: rows of 96 bytes take two registers of 64, or three of 32.
fn chosen(
    loops: &[Loop],
    run: u64,
    register: usize,
    locality: Locality,
) -> Option<impl Iterator<Item = (usize, BitPermutation)>> {
    let mut smaller = filled(loops, run, register);
    let mut registers = vec![smaller.next()?];
    if locality != Locality::Cache && registers[0].1.moved(loops) >= cost::BADLY {
        registers.extend(smaller.by_ref());
        let moved = registers.iter().map(|(_, permutation)| permutation.moved(loops));
        let least = moved.fold(f64::INFINITY, f64::min);
        // Within each group, the largest registers stay first.
        tilewright_core::sort_short(&mut registers, |(_, permutation)| {
            permutation.moved(loops) >= cost::BADLY * least
        });
    }
    Some(registers.into_iter().chain(smaller))
}

/// Returns the loops and the run of a part in bits; `None` if it cannot be a register transpose.
fn scaled(part: &RegionRef<'_>, bits: u32) -> Option<(Vec<Loop>, u64)> {
    let run = part.run.checked_mul(u64::from(bits))?;
    if !run.is_power_of_two() || part.loops.is_empty() {
        return None;
    }
    let scaled = |stride: i64| stride.checked_mul(i64::from(bits));
    let mut loops = Vec::with_capacity(part.loops.len());
    for level in part.loops {
        loops.push(Loop { src: scaled(level.src)?, dst: scaled(level.dst)?, ..*level });
    }
    Some((loops, run))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_are_as_long_as_units_cover_loops_well() {
        let register = |columns: i64, locality| {
            let level = |extent: i64, src, dst| Loop { extent: extent as u64, src, dst };
            let loops = [level(columns, 4, 40_000), level(10_000, 4 * columns, 4)];
            let part = RegionRef { packed: false, src: 0, dst: 0, run: 4, loops: &loops };
            RegisterTranspose::of(&part, 8, 64, locality).map(|transpose| transpose.register)
        };
        assert_eq!(register(32, Locality::Memory), Some(64));
        assert_eq!(register(24, Locality::Memory), Some(32));
        assert_eq!(register(24, Locality::Cache), Some(64));
        assert_eq!(register(20, Locality::Memory), Some(32));
        assert_eq!(register(12, Locality::Memory), Some(16));
        assert_eq!(register(1000, Locality::Memory), Some(64));
    }
}
