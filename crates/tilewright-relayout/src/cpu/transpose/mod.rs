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
//!
//! # The bit permutation
//!
//! A *unit* is a few registers of the source that contain the same elements as equally many registers of the
//! destination. On each side, the address of an element within a unit is a number of bits: those within a register, and
//! those that select the register. So moving a unit is a permutation of address bits. Bits within a source register
//! that are not within a destination register are exchanged with those for which the reverse is true, one exchange
//! each. The rest is a rearrangement of the bytes within each register.
//!
//! Law: for every index of the unit's registers and every byte of them, the exchanges and the rearrangement move the
//! element at the source address to its destination address.

mod blocks;
mod steps;

use crate::{
    cpu::cost,
    program::region::{Loop, RegionRef},
};
pub(crate) use blocks::{Blocks, TransposeBlock};
pub(crate) use steps::{BlockSteps, StepBuffer, WriteStep};

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

// The bit permutation.

/// The maximal number of exchanges of a writing step.
const IN_REGISTERS: usize = 4;

/// The maximal number of exchanges of a reading step, before a scratch buffer.
const ON_THE_WAY: usize = 3;

/// The maximal number of exchanged bits.
const MOST: usize = IN_REGISTERS + ON_THE_WAY;

/// The mark for a missing exchange.
pub(crate) const NONE: u8 = u8::MAX;

/// A bit of the index of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Bit {
    level: usize,
    weight: u32,
}

/// The permutation of the registers of a unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BitPermutation {
    /// The exchanges of each bit of the register index, in order, up to [`NONE`]: levels, which are powers of two of
    /// bits. Bits that need only one exchange come last.
    pub(crate) levels: Vec<[u8; 2]>,
    /// For each byte of a register, the byte from which it comes; `None` if no byte moves.
    pub(crate) table: Option<[u8; 64]>,
    /// The source offset that each bit of the register index adds.
    pub(crate) src: Vec<i64>,
    /// The destination offset that each bit adds when clear, and when set.
    pub(crate) dst: Vec<(i64, i64)>,
    /// The distance from the first element of a unit to the start of its first source register, at most 0.
    pub(crate) src_low: i64,
    /// The extent of a unit in each loop, a power of two.
    pub(crate) taken: Vec<u64>,
}

/// Returns the bits within a register of `2^log` bits on one side; strides and runs count bits.
fn inside(loops: &[Loop], run: u64, log: u32, side: fn(&Loop) -> i64) -> Option<Vec<Option<Bit>>> {
    let mut bits: Vec<Option<Bit>> = vec![None; run.trailing_zeros() as usize];
    let mut expected = run;
    while bits.len() < log as usize {
        let level = loops.iter().position(|level| side(level).unsigned_abs() == expected)?;
        let extent = loops[level].extent;
        let (most, rest) = (extent.ilog2(), log - bits.len() as u32);
        if !extent.is_power_of_two() && most < rest {
            return None;
        }
        bits.extend((0..most.min(rest)).map(|weight| Some(Bit { level, weight })));
        expected = expected.checked_mul(extent)?;
    }
    Some(bits)
}

impl BitPermutation {
    /// Returns whether registers go directly from the source to the destination: one step then holds all registers that
    /// exchange bits. A scratch buffer costs another write and read of each line, during which memory is idle: with it,
    /// transposes of 4 to 16 bytes ran at 0.6 to 0.9 of memcpy, and without it at 0.7 to 1.2.
    fn are_direct(&self) -> bool {
        self.levels.len() <= IN_REGISTERS
    }

    /// Returns the number of exchanges that reading steps do if registers go through a scratch buffer: half of all, so
    /// that neither side holds many registers at a time.
    fn on_the_way(&self) -> usize {
        self.levels.len() / 2
    }

    /// Returns the elements that units move of loops with these extents, as a multiple of all elements: the last unit
    /// of a loop begins earlier.
    fn moved(&self, loops: &[Loop]) -> f64 {
        let of = |(level, &unit): (&Loop, &u64)| {
            level.extent.next_multiple_of(unit) as f64 / level.extent as f64
        };
        loops.iter().zip(&self.taken).map(of).product()
    }

    /// Returns the permutation for registers of `2^log` bits, or `None` if the loops do not fill whole registers on
    /// both sides. The run and the strides count bits; the run is a power of two below the register.
    pub(crate) fn of(loops: &[Loop], run: u64, log: u32) -> Option<BitPermutation> {
        let from = inside(loops, run, log, |level| level.src)?;
        let to = inside(loops, run, log, |level| level.dst)?;
        // Loops that are within registers on both sides, in opposite directions.
        let within = |bits: &[Option<Bit>], level: usize| {
            bits.iter().flatten().any(|bit| bit.level == level)
        };
        let against = |level: usize| loops[level].src < 0 && within(&from, level);
        let mut work = Exchanges::of(&from, &to, run.trailing_zeros() as usize)?;
        work.fix_within_bytes(&to)?;
        let table = work.table(&from, &to, &against)?;
        let Exchanges { levels, incoming, outgoing, .. } = work;
        let stride = |bit: Bit, side: fn(&Loop) -> i64| side(&loops[bit.level]) << bit.weight;
        let src = incoming.iter().map(|bit| stride(*bit, |level| level.src)).collect();
        let dst = outgoing.iter().map(|bit| {
            let step = stride(*bit, |level| level.dst);
            if against(bit.level) { (step, 0) } else { (0, step) }
        });
        let low = from.iter().flatten().filter(|bit| against(bit.level));
        let taken = (0..loops.len()).map(|level| {
            let bits = from.iter().chain(&to).flatten().filter(|bit| bit.level == level);
            bits.map(|bit| 2 << bit.weight).max().unwrap_or(1)
        });
        Some(BitPermutation {
            levels,
            table,
            src,
            dst: dst.collect(),
            src_low: low.map(|bit| stride(*bit, |level| level.src)).sum(),
            taken: taken.collect(),
        })
    }
}

impl BitPermutation {
    /// Returns whether the permutation is the transpose of a square: the highest bits within a register of `register`
    /// bytes are exchanged in order, and nothing else is done.
    pub(crate) fn is_transpose(&self, register: usize) -> bool {
        let low = (8 * register).ilog2() as usize - self.levels.len();
        let exchanged = |(i, level): (usize, &[u8; 2])| *level == [(low + i) as u8, NONE];
        self.table.is_none() && self.levels.iter().enumerate().all(exchanged)
    }
}

/// The exchanges found so far.
struct Exchanges {
    levels: Vec<[u8; 2]>,
    incoming: Vec<Bit>,
    outgoing: Vec<Bit>,
    /// The content of each bit position within a register after the exchanges.
    held: Vec<Option<Bit>>,
}

impl Exchanges {
    /// Pairs bits that must leave a register with bits that must enter it, if possible with the bit that belongs at the
    /// vacated position.
    fn of(from: &[Option<Bit>], to: &[Option<Bit>], first: usize) -> Option<Exchanges> {
        let leaves = |at: &usize| !to.contains(&from[*at]);
        let places: Vec<usize> = (first..from.len()).filter(leaves).collect();
        let mut entering: Vec<Bit> =
            to.iter().flatten().filter(|bit| !from.contains(&Some(**bit))).copied().collect();
        if places.len() > MOST || places.len() != entering.len() {
            return None;
        }
        let mut work = Exchanges {
            levels: Vec::new(),
            incoming: Vec::new(),
            outgoing: Vec::new(),
            held: from.to_vec(),
        };
        let mut pairs: Vec<(usize, Option<Bit>)> = Vec::new();
        for place in places {
            let own = to[place].filter(|bit| entering.contains(bit));
            entering.retain(|bit| Some(*bit) != own);
            pairs.push((place, own));
        }
        for (place, own) in pairs {
            let bit = own.or_else(|| (!entering.is_empty()).then(|| entering.remove(0)))?;
            work.levels.push([place as u8, NONE]);
            work.incoming.push(bit);
            work.outgoing.push(from[place]?);
            work.held[place] = Some(bit);
        }
        Some(work)
    }

    /// Moves bits into their positions within bytes, which a byte rearrangement cannot do: the bit that belongs there
    /// goes there first, and the bit that was there goes to the position of its exchange.
    fn fix_within_bytes(&mut self, to: &[Option<Bit>]) -> Option<()> {
        for (place, &wanted) in to.iter().enumerate().take(3) {
            if self.held[place] == wanted {
                continue;
            }
            match self.incoming.iter().position(|bit| Some(*bit) == wanted) {
                Some(index) => self.swap_on_the_way(index, place)?,
                None => self.pull(wanted, place)?,
            }
        }
        // Bits that need two exchanges come first; the others can be exchanged by reading steps.
        let mut order: Vec<usize> = (0..self.levels.len()).collect();
        tilewright_core::sort_short(&mut order, |&i| self.levels[i][1] == NONE);
        self.levels = order.iter().map(|&i| self.levels[i]).collect();
        self.incoming = order.iter().map(|&i| self.incoming[i]).collect();
        self.outgoing = order.iter().map(|&i| self.outgoing[i]).collect();
        Some(())
    }

    /// Moves the bit that enters by exchange `index` to `place`, and the bit at `place` to where it entered.
    fn swap_on_the_way(&mut self, index: usize, place: usize) -> Option<()> {
        let [other, none] = self.levels[index];
        if none != NONE || usize::from(other) < 3 {
            return None;
        }
        self.levels[index] = [place as u8, other];
        self.held.swap(place, usize::from(other));
        Some(())
    }

    /// Moves a bit of the register to `place`, whose own bit leaves; the entering bit takes its position.
    fn pull(&mut self, wanted: Option<Bit>, place: usize) -> Option<()> {
        let index = self.levels.iter().position(|level| *level == [place as u8, NONE])?;
        let from = self.held.iter().position(|held| *held == wanted).filter(|from| *from >= 3)?;
        self.levels[index] = [from as u8, place as u8];
        self.held.swap(place, from);
        Some(())
    }

    /// Returns the byte from which each byte comes; `Some(None)` if no byte moves, and `None` if bits would have to
    /// move within bytes.
    fn table(
        &self,
        from: &[Option<Bit>],
        to: &[Option<Bit>],
        against: &dyn Fn(usize) -> bool,
    ) -> Option<Option<[u8; 64]>> {
        let turned = |bit: &Option<Bit>| {
            bit.is_some_and(|bit| against(bit.level) && from.contains(&Some(bit)))
        };
        if to[..3.min(to.len())].iter().any(turned) {
            return None;
        }
        let mut table = [0; 64];
        let bits = to.len().checked_sub(3)?;
        for (byte, entry) in table.iter_mut().enumerate().take(1 << bits) {
            let mut source = 0;
            for place in 0..bits {
                let bit = to[place + 3];
                let at = match bit {
                    None => place,
                    Some(_) => self.held.iter().position(|held| *held == bit)?.checked_sub(3)?,
                };
                let set = (byte >> place & 1 == 1) != turned(&bit);
                source |= usize::from(set) << at;
            }
            *entry = source as u8;
        }
        let same = (0..1usize << bits).all(|byte| usize::from(table[byte]) == byte);
        Some((!same).then_some(table))
    }
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
