//! The steps of a block: those that read registers, and those that write them.
//!
//! # Stage
//!
//! The stage of a register transpose, for registers that are not aligned to lines of the destination. A few steps fill
//! a small buffer with contiguous runs of the destination; its whole lines are written later.
//!
//! The runs of a filling continue those of the previous filling, or of another block. The partial line at the end of a
//! run is carried to its continuation, so that every line is written whole, and once.

use crate::{
    cpu::{
        cost,
        transpose::{BitPermutation, Locality, NONE},
    },
    program::region::Loop,
};

/// A buffer that some steps fill together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StepBuffer {
    /// The writing steps of one filling.
    pub(crate) steps: usize,
    /// The bytes of a run, and the distance between runs in the buffer, which has a line before each run.
    pub(crate) run: usize,
    pub(crate) pitch: usize,
    /// The position of each register of a step in the buffer.
    pub(crate) at: Vec<i64>,
    /// The start of each run in the destination, relative to the first step.
    pub(crate) dst: Vec<i64>,
    /// The fillings of a block.
    pub(crate) fillings: Vec<Filling>,
    /// The bytes of the runs that all fillings of a block make together, if they have equal lengths.
    pub(crate) chain: Option<i64>,
    /// The lines that a block leaves to others.
    pub(crate) carried: usize,
    /// The bytes of a buffer, and the number of buffers that are used in turn.
    pub(crate) bytes: usize,
    pub(crate) buffers: usize,
}

/// The relation of a filling's runs to those of others in its block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Filling {
    /// The bytes of its runs that the previous filling has written already; `None` if its runs begin here.
    pub(crate) again: Option<i64>,
    /// True if its runs end here.
    pub(crate) last: bool,
    /// The position of its first run among all carried lines.
    pub(crate) carried: usize,
}

impl StepBuffer {
    /// The maximal bytes of a buffer.
    const MOST: usize = 12 << 10;

    /// The bytes written to a buffer after which a load from it is as fast as one from the cache.
    const RESTED: usize = 4 << 10;

    /// The maximal number of buffers.
    pub(crate) const BUFFERS: usize = 8;

    /// Returns the stage of these steps, if some of them together write a few contiguous runs. Each step writes a
    /// register at each offset of `registers` from its position.
    pub(super) fn of(
        steps: &[WriteStep],
        registers: &[i64],
        register: usize,
    ) -> Option<StepBuffer> {
        let starts: Vec<i64> = steps.iter().map(|step| step.dst).collect();
        let mut dst = Vec::new();
        let (run_of, within) = joined(registers, register as i64, &mut dst)?;
        let one = (registers.len() / dst.len() * register) as i64;
        // The number of steps that continue where the previous one ended, possibly with an overlap.
        let ahead = starts.windows(2).take_while(|pair| (1..=one).contains(&(pair[1] - pair[0])));
        let most = 1 + ahead.count();
        let count = (1..=most).rev().filter(|count| most.is_multiple_of(*count));
        let (count, run, pitch) = count
            .map(|count| {
                let run = (starts[count - 1] - starts[0] + one) as usize;
                // The runs of the registers may continue one another.
                match dst.windows(2).all(|pair| pair[1] - pair[0] == run as i64) {
                    true => (count, run * dst.len(), run),
                    false => (count, run, run.next_multiple_of(64) + 64),
                }
            })
            .find(|(count, run, pitch)| {
                *run >= 64
                    && run.max(&(pitch * dst.len())) <= &StepBuffer::MOST
                    && are_alike(&starts, *count)
            })?;
        let at = run_of.iter().zip(within).map(|(k, within)| (k * pitch) as i64 + within).collect();
        if run > pitch {
            dst.truncate(1);
        }
        let (fillings, chain) = linked(&starts, count, run as i64, dst.len());
        let bytes = (64 + (dst.len() - 1) * pitch + run).next_multiple_of(64);
        Some(StepBuffer {
            carried: fillings.last()?.carried + dst.len(),
            buffers: (1 + StepBuffer::RESTED.div_ceil(bytes)).clamp(2, StepBuffer::BUFFERS),
            steps: count,
            run,
            pitch,
            at,
            dst,
            fillings,
            chain,
            bytes,
        })
    }
}

/// Returns whether each group of `count` steps has the distances of the first group.
fn are_alike(starts: &[i64], count: usize) -> bool {
    starts.len().is_multiple_of(count)
        && starts.chunks(count).all(|chunk| {
            chunk.iter().zip(starts).all(|(at, first)| at - chunk[0] == first - starts[0])
        })
}

/// Returns the fillings of a block, and the bytes that their runs make together, if these are equal.
fn linked(starts: &[i64], count: usize, run: i64, runs: usize) -> (Vec<Filling>, Option<i64>) {
    let mut fillings: Vec<Filling> = Vec::with_capacity(starts.len() / count);
    let (mut begin, mut before, mut carried) = (0, None, 0);
    let (mut chain, mut even) = (None, true);
    let mut end = |begin: i64, before: i64| {
        let length = before + run - begin;
        even &= chain.is_none_or(|chain| chain == length);
        chain = Some(length);
    };
    for &start in starts.iter().step_by(count) {
        let again = before.map(|before: i64| before + run - start);
        let again = again.filter(|again| (0..run).contains(again));
        if again.is_none() {
            if let (Some(before), Some(last)) = (before, fillings.last_mut()) {
                end(begin, before);
                last.last = true;
                carried += runs;
            }
            begin = start;
        }
        fillings.push(Filling { again, last: false, carried });
        before = Some(start);
    }
    if let (Some(before), Some(last)) = (before, fillings.last_mut()) {
        end(begin, before);
        last.last = true;
    }
    (fillings, chain.filter(|_| even))
}

/// Joins registers at these offsets to contiguous runs of equal length. Returns the run of each register and its
/// position in it, and adds the starts of the runs to `runs`; `None` if runs differ in length.
fn joined(registers: &[i64], register: i64, runs: &mut Vec<i64>) -> Option<(Vec<usize>, Vec<i64>)> {
    let mut order: Vec<usize> = (0..registers.len()).collect();
    tilewright_core::sort_short(&mut order, |&k| registers[k]);
    let (mut run_of, mut within) = (vec![0; registers.len()], vec![0; registers.len()]);
    let mut end = None;
    for k in order {
        if end != Some(registers[k]) {
            runs.push(registers[k]);
        }
        run_of[k] = runs.len() - 1;
        within[k] = registers[k] - runs[runs.len() - 1];
        end = Some(registers[k] + register);
    }
    let longest = within.iter().max()? / register + 1;
    (longest as usize * runs.len() == registers.len()).then_some((run_of, within))
}

/// Registers that are read into the scratch buffer, after the exchanges of the highest bits of their index.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReadStep {
    /// The bytes from the block's first byte.
    pub(crate) src: i64,
    /// The bytes from the start of the scratch buffer to the position of the first register.
    pub(crate) to: usize,
}

/// Registers that are written to the destination, after the exchanges of the lower bits of their index.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WriteStep {
    /// The bytes from the start of the scratch buffer, or from the block's first byte if registers are read directly
    /// from the source.
    pub(crate) from: i64,
    /// The bytes from the block's first byte.
    pub(crate) dst: i64,
}

/// The steps of every block.
#[derive(Clone, Debug)]
pub(crate) struct BlockSteps {
    /// The reading steps, in the order of the source; none if writing steps read the source themselves.
    pub(crate) gather: Vec<ReadStep>,
    /// The writing steps, in the order of the destination.
    pub(crate) write: Vec<WriteStep>,
    /// The registers of a block in the order of the source, by which they are prefetched a block ahead; empty unless
    /// writing steps read the source themselves and the source is far.
    pub(crate) prefetched: Vec<i64>,
    /// For each register of a reading step, its start in the source and its distance from the first register in the
    /// scratch buffer. For each register of a writing step, its start on each side.
    pub(crate) gather_src: Vec<i64>,
    pub(crate) gather_to: Vec<usize>,
    pub(crate) write_src: Vec<i64>,
    pub(crate) write_dst: Vec<i64>,
    /// The registers that the scratch buffer holds.
    pub(crate) lines: usize,
    pub(crate) stage: Option<StepBuffer>,
    /// True if registers are aligned to lines of the destination if blocks are.
    pub(crate) aligned: bool,
}

/// A loop over steps: over the units of a block along a loop of the part, or over a bit of the index of a unit's
/// registers.
struct StepLoop {
    count: usize,
    src: i64,
    dst: i64,
    /// The index and the offsets of iteration `i` are multiples of `step`, up to `last`, which ends the loop.
    step: i64,
    last: i64,
    role: Role,
}

impl StepLoop {
    /// Returns the distance between its units on a side where the part's loop has this stride.
    fn far(&self, stride: i64) -> u64 {
        stride.unsigned_abs().saturating_mul(self.step.unsigned_abs())
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    /// Counts units: the number of units between two iterations.
    Unit(usize),
    /// A bit of the register index, with this weight.
    Bit(usize),
}

impl BlockSteps {
    /// Returns the steps of blocks of this shape. Strides count bits; steps count bytes.
    pub(super) fn of(
        loops: &[Loop],
        shape: &[u64],
        permutation: &mut BitPermutation,
        register: usize,
        locality: Locality,
    ) -> Option<BlockSteps> {
        let mut units = units(loops, shape, permutation)?;
        let direct = permutation.are_direct();
        if direct {
            widen(&mut units, permutation);
        }
        let bits = permutation.levels.len();
        let split = bits - if direct { 0 } else { permutation.on_the_way() };
        if permutation.levels[split..].iter().any(|level| level[1] != NONE) {
            return None;
        }
        let (src, dst) = (whole(permutation.src.iter().copied())?, bit_offsets(permutation)?);
        let write = write_steps(&units, &dst, split, (!direct).then_some(register))?;
        let mut steps = BlockSteps {
            gather: Vec::new(),
            prefetched: Vec::new(),
            gather_src: sums(&src[split..].iter().map(|&s| (0, s)).collect::<Vec<_>>()),
            gather_to: write.apart,
            write_src: sums(&src[..split].iter().map(|&s| (0, s)).collect::<Vec<_>>()),
            write_dst: sums(&dst[..split]),
            lines: 0,
            stage: None,
            aligned: false,
            write: write.steps,
        };
        let on_line = |at: i64| at % cost::LINE as i64 == 0;
        steps.aligned = steps.write.iter().all(|step| on_line(step.dst))
            && steps.write_dst.iter().all(|&dst| on_line(dst));
        if !direct {
            steps.gather = gather_steps(&units, &src, split, &write.place, register);
            steps.lines = write.lines;
        } else if locality != Locality::Cache {
            steps.prefetched = prefetched(&units, &src, register as i64);
        }
        let stage = || StepBuffer::of(&steps.write, &steps.write_dst, register);
        steps.stage = (locality == Locality::Memory).then(stage).flatten();
        Some(steps)
    }

    /// Returns the range of source bytes of a block, relative to its first register.
    pub(super) fn src_reach(&self, register: usize) -> Option<(i64, i64)> {
        let reach = match self.gather.is_empty() {
            true => reach(self.write.iter().map(|step| step.from), &self.write_src),
            false => reach(self.gather.iter().map(|step| step.src), &self.gather_src),
        }?;
        Some((reach.0, reach.1.checked_add(register as i64)?))
    }

    /// Returns the range of destination bytes of a block, relative to its first register.
    pub(super) fn dst_reach(&self, register: usize) -> Option<(i64, i64)> {
        let reach = reach(self.write.iter().map(|step| step.dst), &self.write_dst)?;
        Some((reach.0, reach.1.checked_add(register as i64)?))
    }
}

/// Returns the lowest and the highest sum of a step's offset and a register's.
fn reach(steps: impl Iterator<Item = i64> + Clone, registers: &[i64]) -> Option<(i64, i64)> {
    let low = steps.clone().min()?.checked_add(*registers.iter().min()?)?;
    Some((low, steps.max()?.checked_add(*registers.iter().max()?)?))
}

/// Converts bits to bytes, if all are whole.
fn whole(bits: impl Iterator<Item = i64>) -> Option<Vec<i64>> {
    bits.map(|bits| (bits % 8 == 0).then_some(bits / 8)).collect()
}

fn bit_offsets(permutation: &BitPermutation) -> Option<Vec<(i64, i64)>> {
    let clear = whole(permutation.dst.iter().map(|dst| dst.0))?;
    let set = whole(permutation.dst.iter().map(|dst| dst.1))?;
    Some(clear.into_iter().zip(set).collect())
}

/// Returns the offsets of all register indices with these bits.
fn sums(bits: &[(i64, i64)]) -> Vec<i64> {
    (0..1usize << bits.len())
        .map(|index| {
            let of = |(i, &(clear, set))| if index >> i & 1 == 1 { set } else { clear };
            bits.iter().enumerate().map(of).sum()
        })
        .collect()
}

/// Returns the loops over the units of a block.
fn units(loops: &[Loop], shape: &[u64], permutation: &BitPermutation) -> Option<Vec<StepLoop>> {
    let (mut digits, mut passed) = (Vec::new(), 1usize);
    for ((level, &taken), &unit) in loops.iter().zip(shape).zip(&permutation.taken) {
        let count = taken.div_ceil(unit) as usize;
        if count == 1 {
            continue;
        }
        let last = (taken - unit) as i64;
        let whole = |stride: i64| unit as i64 * stride % 8 == 0 && last * stride % 8 == 0;
        (whole(level.src) && whole(level.dst)).then_some(())?;
        let role = Role::Unit(passed);
        passed = passed.checked_mul(count)?;
        digits.push(StepLoop {
            count,
            src: level.src,
            dst: level.dst,
            step: unit as i64,
            last,
            role,
        });
    }
    (passed <= 1 << 16).then_some(digits)
}

/// The number of registers that a writing step moves at least, if possible.
const LEAST_REGISTERS: usize = 8;

/// Gives writing steps more registers: units that are adjacent in the destination become registers of one unit,
/// selected by bits that are not exchanged.
fn widen(units: &mut [StepLoop], permutation: &mut BitPermutation) {
    while 1 << permutation.levels.len() < LEAST_REGISTERS {
        let nearest = units.iter_mut().min_by_key(|digit| digit.dst.unsigned_abs());
        let Some(digit) = nearest else { return };
        let even = digit.count.is_multiple_of(2);
        if !even || digit.last != (digit.count as i64 - 1) * digit.step || digit.count == 1 {
            return;
        }
        permutation.levels.push([NONE; 2]);
        permutation.src.push(digit.src * digit.step);
        permutation.dst.push((0, digit.dst * digit.step));
        (digit.count, digit.step) = (digit.count / 2, digit.step * 2);
        digit.last = (digit.count as i64 - 1) * digit.step;
    }
}

/// Calls `f` with the unit, the bits, the source offset and the destination offset of every combination of iterations;
/// the first digit is outermost.
fn each<F: FnMut(usize, usize, i64, i64)>(digits: &[&StepLoop], f: &mut F) {
    fn level<F: FnMut(usize, usize, i64, i64)>(
        digits: &[&StepLoop],
        (unit, bits, src, dst): (usize, usize, i64, i64),
        f: &mut F,
    ) {
        let Some((digit, rest)) = digits.split_first() else { return f(unit, bits, src, dst) };
        let (passed, weight) = match digit.role {
            Role::Unit(passed) => (passed, 0),
            Role::Bit(weight) => (0, weight),
        };
        for i in 0..digit.count {
            let loops = (i as i64 * digit.step).min(digit.last);
            let at = (src + loops * digit.src / 8, dst + loops * digit.dst / 8);
            let (unit, bits) = (unit + i * passed, bits + i * weight);
            match rest {
                [] => f(unit, bits, at.0, at.1),
                rest => level(rest, (unit, bits, at.0, at.1), f),
            }
        }
    }
    level(digits, (0, 0, 0, 0), f);
}

/// Returns a bit of the register index as a loop of two iterations.
fn bit(weight: usize, src: i64, dst: i64) -> StepLoop {
    StepLoop { count: 2, src: src * 8, dst: dst * 8, step: 1, last: 1, role: Role::Bit(weight) }
}

/// The writing steps, and the positions of each unit's registers in the scratch buffer, in bytes. `place` is the
/// position of the first register whose index has all bits clear that reading steps exchange; `apart` is the distance
/// from there for each value of these bits.
struct Writes {
    steps: Vec<WriteStep>,
    place: Vec<usize>,
    apart: Vec<usize>,
    /// The registers that the scratch buffer holds.
    lines: usize,
}

/// Returns the writing steps by destination, for every unit and every value of the bits that reading steps exchange.
/// They read the source or, if `scratch` gives the bytes of a register, a scratch buffer.
fn write_steps(
    units: &[StepLoop],
    dst: &[(i64, i64)],
    split: usize,
    scratch: Option<usize>,
) -> Option<Writes> {
    let high: Vec<StepLoop> = dst[split..]
        .iter()
        .enumerate()
        .map(|(i, &(clear, set))| bit(1 << i, 0, set - clear))
        .collect();
    let first: i64 = dst[split..].iter().map(|pair| pair.0).sum();
    let mut digits: Vec<&StepLoop> = units.iter().chain(&high).collect();
    tilewright_core::sort_short(&mut digits, |digit| core::cmp::Reverse(digit.far(digit.dst)));
    let inner = digits.last().map_or(1, |digit| digit.count);
    let all: usize = units.iter().map(|digit| digit.count).product();
    let (mut place, mut apart) = (vec![0; all], vec![0; 1 << high.len()]);
    let mut steps = Vec::with_capacity(all << high.len());
    let mut lines = 0;
    each(&digits, &mut |unit, bits, src, dst| {
        let number = steps.len();
        // One more line after each innermost loop, so that lines do not share cache sets.
        let line = (number << split) + number / inner;
        lines = line + (1 << split);
        let at = line * scratch.unwrap_or(0);
        // The position is a sum over loops, so a bit adds the same offset for all units.
        if bits == 0 {
            place[unit] = at;
        }
        if unit == 0 {
            apart[bits] = at;
        }
        let from = if scratch.is_some() { at as i64 } else { src };
        steps.push(WriteStep { from, dst: dst + first });
    });
    Some(Writes { steps, place, apart, lines })
}

/// Returns bits of the register index as loops over the source alone.
fn bits_of(src: &[i64]) -> Vec<StepLoop> {
    src.iter().enumerate().map(|(i, &src)| bit(1 << i, src, 0)).collect()
}

/// Returns loops in the order of the source, the outermost first.
fn by_source<'a>(units: &'a [StepLoop], bits: &'a [StepLoop]) -> Vec<&'a StepLoop> {
    let mut digits: Vec<&StepLoop> = units.iter().chain(bits).collect();
    tilewright_core::sort_short(&mut digits, |digit| core::cmp::Reverse(digit.far(digit.src)));
    digits
}

/// Returns the last bytes of the lines of a block in the order of the source. If registers cross lines, the first line
/// of a row was read with the previous row.
fn prefetched(units: &[StepLoop], src: &[i64], register: i64) -> Vec<i64> {
    const LINE: i64 = cost::LINE as i64;
    let mut prefetched: Vec<i64> = Vec::new();
    let mut end = None;
    each(&by_source(units, &bits_of(src)), &mut |_, _, src, _| {
        let last = src + register - 1;
        match (prefetched.last().copied(), end) {
            (Some(line), Some(end)) if line <= last && src <= end + LINE => {
                prefetched.extend((last - line >= LINE).then_some(line + LINE));
            }
            (line, end) => {
                prefetched.extend(end.filter(|end| line != Some(*end)));
                prefetched.push(last);
            }
        }
        end = Some(last);
    });
    prefetched
}

/// Returns the reading steps by source.
fn gather_steps(
    units: &[StepLoop],
    src: &[i64],
    split: usize,
    place: &[usize],
    register: usize,
) -> Vec<ReadStep> {
    let low = bits_of(&src[..split]);
    let mut steps = Vec::with_capacity(place.len() << split);
    each(&by_source(units, &low), &mut |unit, bits, src, _| {
        steps.push(ReadStep { src, to: place[unit] + bits * register });
    });
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fillings of every overlap and gap: each byte of a chain is written once, or again where `again` says so.
    #[test]
    fn fillings_go_on_where_those_before_ended() {
        let run = 128;
        for count in 1..6 {
            for by in [-200, 0, 1, 60, 127, 128, 129, 500] {
                let starts: Vec<i64> = (0..count).map(|i| 7 + i * by).collect();
                let (fillings, chain) = linked(&starts, 1, run, 3);
                let goes_on = (1..=run).contains(&by);
                for (i, filling) in fillings.iter().enumerate() {
                    let again = (i > 0 && goes_on).then_some(run - by);
                    let last = !goes_on || i + 1 == fillings.len();
                    let carried = if goes_on { 0 } else { 3 * i };
                    assert_eq!(*filling, Filling { again, last, carried }, "{count} by {by}");
                }
                let length = if goes_on { run + (count - 1) * by } else { run };
                assert_eq!(chain, Some(length), "{count} by {by}");
            }
        }
        // Two chains of different lengths.
        let (fillings, chain) = linked(&[0, 128, 1000], 1, run, 2);
        assert_eq!((chain, fillings[2].carried), (None, 2));
        assert!(fillings[1].last && fillings[1].again == Some(0) && fillings[2].again.is_none());
    }
}
