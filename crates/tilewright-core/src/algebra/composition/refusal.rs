//! Why there is no layout: a coordinate, what A(B) is there and what the only candidate gives.

use super::{Problem, jumps::Step, runs::Runs};
use crate::{Coord, Error, MAX_MODES, index::axes_of};

/// A mode of B breaks at `coord`, the last of a `run` that began as this step does, and does not go on.
pub(super) const fn split(
    problem: &Problem<'_>,
    leaf: usize,
    coord: u64,
    run: u64,
    step: &Step,
) -> Error {
    let mut leaves = [0; MAX_MODES];
    leaves[leaf] = coord;
    let candidate = problem.start.value.wrapping_add((run as i128).wrapping_mul(step.stride));
    let (value, at) = problem.value(&leaves);
    Error::no_layout(
        "A(B) is {}, the only candidate gives {}: mode {} of B breaks there, and {} does not \
         divide its extent",
        [value, candidate, leaf as i128, coord as i128],
        "cut the mode there, or make its extent a multiple",
    )
    .at(at)
}

/// At these digits of the runs, carries do not cancel.
pub(super) const fn carry(problem: &Problem<'_>, runs: &Runs, digits: &[u64; MAX_MODES]) -> Error {
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
    /// A(B) at a coordinate of B given leaf by leaf, and the coordinate.
    const fn value(&self, leaves: &[u64; MAX_MODES]) -> (i128, Coord) {
        let (modes, mut x, mut i) = (self.b.modes(), self.b.offset(), 0);
        while i < modes.len() {
            x += leaves[i] as i64 * modes[i].stride();
            i += 1;
        }
        let value = self.jumps.value(x as u64).wrapping_add(self.a.offset() as i128);
        (value, axes_of(self.b, leaves))
    }

    /// The first boundary across which these digits carry.
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
