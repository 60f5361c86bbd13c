//! Digits that carry: a refusal if their jumps do not cancel.
//!
//! Law: where no jumps of A cancel (no sum of some of them, each taken +1 or −1 times, is 0), the first
//! walk ends in a refusal. Every refusal is right: up to the step it names, A(B) and the candidate agree,
//! and there they differ.

use super::{Problem, jumps::Walker, refusal, runs::Runs};
use crate::{Error, MAX_MODES, macros::tri};

/// The number of crossings that cancel before a walk gives up.
const CROSSINGS: u32 = 256;

impl Problem<'_> {
    /// Whether the weighted carries of these runs, some of which carry, are 0 everywhere.
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

    /// Sets the runs that turn boundary `j`'s residue in one direction to their last digits, one by one.
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
                    return Err(refusal::carry(self, runs, &digits));
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
