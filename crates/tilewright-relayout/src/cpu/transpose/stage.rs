//! The stage of a register transpose, for registers that are not aligned to lines of the destination. A few steps fill
//! a small buffer with contiguous runs of the destination; its whole lines are written later.
//!
//! The runs of a filling continue those of the previous filling, or of another block. The partial line at the end of a
//! run is carried to its continuation, so that every line is written whole, and once.

use super::WriteStep;

/// A buffer that some steps fill together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StepBuffer {
    /// The distance between runs in the buffer, which has a line before each run.
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

/// The steps of a filling, and the relation of its runs to those of others in its block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Filling {
    /// The writing steps: the first and their number.
    pub(crate) first: usize,
    pub(crate) steps: usize,
    /// The bytes of a run.
    pub(crate) run: usize,
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
        let one = registers.len() / dst.len() * register;
        let chains = chains(&starts, one);
        // The runs of the registers may continue one another.
        let steps = chains[0].1 - chains[0].0;
        let length = (starts[steps - 1] - starts[0]) as usize + one;
        let follows = dst.windows(2).all(|pair| pair[1] - pair[0] == length as i64);
        let together = length * dst.len();
        let is_one = dst.len() > 1 && follows && (64..=StepBuffer::MOST).contains(&together);
        let fillings = if is_one && are_alike(&starts, steps) {
            dst.truncate(1);
            (length, (0..starts.len()).step_by(steps).map(|i| (i, steps, together)).collect())
        } else {
            cut(&starts, &chains, one, StepBuffer::MOST / dst.len())?
        };
        let (pitch, fillings): (usize, Vec<_>) = fillings;
        let at = run_of.iter().zip(within).map(|(k, within)| (k * pitch) as i64 + within).collect();
        let longest = fillings.iter().map(|filling| filling.2).max()?;
        let (fillings, chain) = linked(&starts, &fillings, dst.len());
        let bytes = (64 + (dst.len() - 1) * pitch + longest).next_multiple_of(64);
        Some(StepBuffer {
            carried: fillings.last()?.carried + dst.len(),
            buffers: (1 + StepBuffer::RESTED.div_ceil(bytes)).clamp(2, StepBuffer::BUFFERS),
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

/// Returns the first and the end of each group of steps that continue one another, possibly with an overlap. Each writes `one`
/// bytes of a run.
fn chains(starts: &[i64], one: usize) -> Vec<(usize, usize)> {
    let mut chains = Vec::new();
    let mut first = 0;
    for end in 1..=starts.len() {
        let goes_on = |end: usize| (1..=one as i64).contains(&(starts[end] - starts[end - 1]));
        if end == starts.len() || !goes_on(end) {
            chains.push((first, end));
            first = end;
        }
    }
    chains
}

/// The steps of a filling: the first one, their number, and the bytes of its runs.
type FillingSteps = (usize, usize, usize);

/// Cuts groups of steps into fillings of about equal runs of at most `most` bytes with their pitch. Returns the pitch and for each
/// filling its first step, its steps and the bytes of its runs; `None` if runs are shorter than a line.
fn cut(
    starts: &[i64],
    chains: &[(usize, usize)],
    one: usize,
    most: usize,
) -> Option<(usize, Vec<FillingSteps>)> {
    let room = (most.saturating_sub(64) / 64 * 64).max(one.next_multiple_of(64));
    let mut fillings = Vec::with_capacity(chains.len());
    for (first, end) in chains {
        let steps = end - first;
        // Whole steps fit, even if they do not overlap.
        let count = steps.div_ceil(room / one);
        for i in 0..count {
            let (from, to) = (first + i * steps / count, first + (i + 1) * steps / count);
            fillings.push((from, to - from, (starts[to - 1] - starts[from]) as usize + one));
        }
    }
    let longest = fillings.iter().map(|filling| filling.2).max()?;
    let pitch = longest.next_multiple_of(64) + 64;
    fillings.iter().all(|filling| filling.2 >= 64).then_some((pitch, fillings))
}

/// Returns the fillings of a block, and the bytes that their runs make together, if these are equal.
fn linked(starts: &[i64], fillings: &[FillingSteps], runs: usize) -> (Vec<Filling>, Option<i64>) {
    let mut linked: Vec<Filling> = Vec::with_capacity(fillings.len());
    let (mut begin, mut before, mut carried) = (0, None, 0);
    let (mut chain, mut even) = (None, true);
    let mut end = |begin: i64, end: i64| {
        even &= chain.is_none_or(|chain| chain == end - begin);
        chain = Some(end - begin);
    };
    for &(first, steps, run) in fillings {
        let start = starts[first];
        let again = before.map(|before: i64| before - start);
        let again = again.filter(|again| (0..run as i64).contains(again));
        if again.is_none() {
            if let (Some(before), Some(last)) = (before, linked.last_mut()) {
                end(begin, before);
                last.last = true;
                carried += runs;
            }
            begin = start;
        }
        linked.push(Filling { first, steps, run, again, last: false, carried });
        before = Some(start + run as i64);
    }
    if let (Some(before), Some(last)) = (before, linked.last_mut()) {
        end(begin, before);
        last.last = true;
    }
    (linked, chain.filter(|_| even))
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
                let own: Vec<_> = (0..count as usize).map(|i| (i, 1, run as usize)).collect();
                let (fillings, chain) = linked(&starts, &own, 3);
                let goes_on = (1..=run).contains(&by);
                for (i, filling) in fillings.iter().enumerate() {
                    let again = (i > 0 && goes_on).then_some(run - by);
                    let last = !goes_on || i + 1 == fillings.len();
                    let carried = if goes_on { 0 } else { 3 * i };
                    let (first, steps, run) = (i, 1, run as usize);
                    let expected = Filling { first, steps, run, again, last, carried };
                    assert_eq!(*filling, expected, "{count} by {by}");
                }
                let length = if goes_on { run + (count - 1) * by } else { run };
                assert_eq!(chain, Some(length), "{count} by {by}");
            }
        }
        // Two chains of different lengths.
        let (fillings, chain) =
            linked(&[0, 128, 1000], &[0, 1, 2].map(|i| (i, 1, run as usize)), 2);
        assert_eq!((chain, fillings[2].carried), (None, 2));
        assert!(fillings[1].last && fillings[1].again == Some(0) && fillings[2].again.is_none());
    }
}
