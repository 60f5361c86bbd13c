//! The stage of a register transpose, for registers that are not aligned to lines of the destination. A few steps fill
//! a small buffer with contiguous runs of the destination; its whole lines are written later.
//!
//! The runs of a filling continue those of the previous filling, or of another block. The partial line at the end of a
//! run is carried to its continuation, so that every line is written whole, and once.

use super::WriteStep;

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
