//! Decides digits that carry: a walk finds a refusal if the jumps do not cancel.
//!
//! Law: if no jumps of A cancel (no sum of some of them, each taken +1 or −1 times, is 0), the first walk ends in a
//! refusal. Every refusal is right: A(B) and the candidate agree up to the step that it names, and differ there.

use super::{Problem, jumps::Walker, runs::Runs};
use crate::{Error, MAX_MODES, macros::tri};

/// The number of crossings that cancel before a walk stops.
const CROSSINGS: u32 = 256;

impl Problem<'_> {
    /// Checks that the weighted carries of these runs, some of which carry, are 0 everywhere.
    pub(super) const fn decide(&self, runs: &Runs) -> Result<(), Error> {
        let mut j = 0;
        while j < self.jumps.len {
            let (up, down) = runs.leaves(self, j);
            if up {
                tri!(self.walk(runs, j, 1));
            }
            if down {
                tri!(self.walk(runs, j, -1));
            }
            j += 1;
        }
        self.search(runs)
    }

    /// Sets the runs that move boundary `j`'s residue in one direction to their last digits, one after the other.
    const fn walk(&self, runs: &Runs, j: usize, direction: i64) -> Result<(), Error> {
        let (mut walker, mut digits) = (Walker::from(&self.start), [0; MAX_MODES]);
        let (mut crossings, mut m) = (0, 0);
        while m < runs.len {
            let step = self.jumps.step(&self.start, runs.step[m]);
            let mut left = runs.modes()[m].extent() - 1;
            while left > 0 && step.turn[j].signum() == direction {
                let next = walker.next(&self.jumps, &step);
                let count = if next < left { next } else { left };
                digits[m] += count;
                left -= count;
                if walker.advance(&self.jumps, &step, count) != 0 {
                    return Err(refused(self, runs, &digits));
                }
                crossings += 1;
                if crossings > CROSSINGS {
                    return Ok(());
                }
            }
            m += 1;
        }
        Ok(())
    }
}

/// The error that carries do not cancel at these digits of the runs.
pub(super) const fn refused(
    problem: &Problem<'_>,
    runs: &Runs,
    digits: &[u64; MAX_MODES],
) -> Error {
    let (mut leaves, mut from, mut leaf) = ([0; MAX_MODES], 0, 0);
    let (mut candidate, modes) = (problem.start.value, runs.modes());
    while leaf < problem.b.modes().len() {
        let (to, mut scale) = (runs.ends[leaf] as usize, 1);
        while from < to {
            leaves[leaf] += digits[from] * scale;
            scale *= modes[from].extent();
            let part = digits[from] as i128 * modes[from].stride() as i128;
            candidate = candidate.wrapping_add(part);
            from += 1;
        }
        leaf += 1;
    }
    let (value, at) = problem.value(&leaves);
    Error::no_layout(
        "A(B) is {}, the only candidate gives {}: the modes of B together carry across {} in A",
        [value, candidate, problem.crossed(runs, digits) as i128],
        "compose with the modes of B one by one, or with a B whose modes do not carry in A",
    )
    .at(at)
}

impl Problem<'_> {
    /// Returns the first boundary across which these digits carry.
    const fn crossed(&self, runs: &Runs, digits: &[u64; MAX_MODES]) -> u64 {
        let mut j = 0;
        while j < self.jumps.len {
            let (mut residue, mut m) = (self.start.residue[j] as i128, 0);
            while m < runs.len {
                let turn = self.jumps.step(&self.start, runs.step[m]).turn[j];
                residue += digits[m] as i128 * turn as i128;
                m += 1;
            }
            if residue < 0 || residue >= self.jumps.at[j] as i128 {
                return self.jumps.at[j];
            }
            j += 1;
        }
        1
    }
}
