//! Decides digits that carry: whether the carries of a candidate cancel.
//!
//! First, a walk looks for a refusal. Law: if no jumps of A cancel (no sum of some of them, each taken +1 or −1 times, is 0), the
//! first walk ends in a refusal. Every refusal is right: A(B) and the candidate agree up to the step that it names, and differ there.
//!
//! Then an enumeration decides; composition enumerates nowhere else. Law: it accepts iff the weighted carries are 0 at every
//! coordinate, and refuses with a coordinate where they are not.
//! There are two ways; the one within the budget of [`SEARCH_STATES`] is taken: over the coordinates of the runs that carry,
//! or over the residues that B can leave past the greatest boundary concerned, in units of the common divisor of all steps.
//! Residues suffice because they alone determine the boundaries that a step crosses.

use crate::{
    Error, MAX_MODES,
    algebra::composition::{
        Problem,
        jumps::{Jump, Runs, Walker},
    },
    layout::observe::gcd,
    macros::tri,
};

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

/// The largest number of coordinates, or of residues, that [`Layout::composition`](crate::Layout::composition)
/// enumerates where carries cancel; beyond it, the answer is undecided.
pub const SEARCH_STATES: u64 = 16_384;

/// The runs and boundaries that take part.
struct RunSearch<'a> {
    problem: &'a Problem<'a>,
    /// The boundaries whose residues leave their range.
    open: [u8; MAX_MODES],
    opens: usize,
    /// The runs that move one of these residues.
    runs: [u8; MAX_MODES],
    len: usize,
    extent: [u64; MAX_MODES],
    turn: [[i64; MAX_MODES]; MAX_MODES],
    /// The number of residues past the greatest boundary, `unit` apart, and the steps in that unit.
    states: u64,
    unit: u64,
    stride: [u64; MAX_MODES],
}

impl Problem<'_> {
    pub(super) const fn search(&self, runs: &Runs) -> Result<(), Error> {
        let search = RunSearch::new(self, runs);
        let coordinates = search.coordinates();
        let found = if coordinates <= SEARCH_STATES {
            search.by_coordinates()
        } else if search.states <= SEARCH_STATES {
            search.by_residues()
        } else {
            return Err(Error::undecided(
                "carries that may cancel at {} coordinates or {} residues; {} are enumerated",
                [coordinates as i128, search.states as i128, SEARCH_STATES as i128],
                "compose with the modes of B one by one, or with a B whose modes do not carry in A",
            ));
        };
        match found {
            Some(digits) => Err(refused(self, runs, &search.of_all(&digits))),
            None => Ok(()),
        }
    }
}

/// A set of residues.
struct Set([u64; SEARCH_STATES as usize / 64]);

impl Set {
    const fn only_zero() -> Set {
        let mut set = Set([0; SEARCH_STATES as usize / 64]);
        set.0[0] = 1;
        set
    }

    const fn has(&self, state: u64) -> bool {
        self.0[(state / 64) as usize] >> (state % 64) & 1 == 1
    }

    const fn add(&mut self, state: u64) {
        self.0[(state / 64) as usize] |= 1 << (state % 64);
    }
}

impl<'a> RunSearch<'a> {
    const fn new(problem: &'a Problem<'a>, runs: &Runs) -> RunSearch<'a> {
        let mut search = RunSearch {
            problem,
            open: [0; MAX_MODES],
            opens: 0,
            runs: [0; MAX_MODES],
            len: 0,
            extent: [1; MAX_MODES],
            turn: [[0; MAX_MODES]; MAX_MODES],
            states: 1,
            unit: 1,
            stride: [0; MAX_MODES],
        };
        let (mut last, mut j) = (1, 0);
        while j < problem.jumps.len {
            let (up, down) = runs.leaves(problem, j);
            if up || down {
                search.open[search.opens] = j as u8;
                search.opens += 1;
                last = problem.jumps.at[j];
            }
            j += 1;
        }
        search.take(runs, last);
        search
    }

    /// Takes the runs that move an open boundary's residue; `last` is the greatest such boundary.
    const fn take(&mut self, runs: &Runs, last: u64) {
        let (mut unit, mut m) = (last, 0);
        while m < runs.len {
            let step = self.problem.jumps.step(&self.problem.start, runs.step[m]);
            if self.concerns(&step) {
                self.runs[self.len] = m as u8;
                self.extent[self.len] = runs.modes()[m].extent();
                self.turn[self.len] = step.turn;
                // The step modulo the greatest boundary; all others divide it.
                self.stride[self.len] = runs.step[m].rem_euclid(last as i64) as u64;
                unit = gcd(unit, self.stride[self.len]);
                self.len += 1;
            }
            m += 1;
        }
        (self.unit, self.states) = (unit, last / unit);
        let mut i = 0;
        while i < self.len {
            self.stride[i] /= unit;
            i += 1;
        }
    }

    const fn concerns(&self, step: &Jump) -> bool {
        let mut i = 0;
        while i < self.opens {
            if step.turn[self.open[i] as usize] != 0 {
                return true;
            }
            i += 1;
        }
        false
    }

    const fn coordinates(&self) -> u64 {
        let (mut count, mut i) = (1u64, 0);
        while i < self.len {
            count = count.saturating_mul(self.extent[i]);
            i += 1;
        }
        count
    }

    /// Returns the digits of all runs, given those of the runs that take part.
    const fn of_all(&self, digits: &[u64; MAX_MODES]) -> [u64; MAX_MODES] {
        let (mut all, mut i) = ([0; MAX_MODES], 0);
        while i < self.len {
            all[self.runs[i] as usize] = digits[i];
            i += 1;
        }
        all
    }

    /// Returns the first coordinate at which the weighted carries are not 0.
    const fn by_coordinates(&self) -> Option<[u64; MAX_MODES]> {
        let mut digits = [0; MAX_MODES];
        loop {
            let mut i = 0;
            while i < self.len && digits[i] + 1 == self.extent[i] {
                digits[i] = 0;
                i += 1;
            }
            if i == self.len {
                return None;
            }
            digits[i] += 1;
            if self.carried(&digits) != 0 {
                return Some(digits);
            }
        }
    }

    /// Returns the weighted carries at a coordinate. The few small digits keep the sums far below 2¹²⁷.
    const fn carried(&self, digits: &[u64; MAX_MODES]) -> i128 {
        let (mut carried, mut k) = (0, 0);
        while k < self.opens {
            let j = self.open[k] as usize;
            let (mut residue, mut i) = (self.problem.start.residue[j] as i128, 0);
            while i < self.len {
                residue += digits[i] as i128 * self.turn[i][j] as i128;
                i += 1;
            }
            let crossings = residue.div_euclid(self.problem.jumps.at[j] as i128);
            carried += crossings * self.problem.jumps.by[j];
            k += 1;
        }
        carried
    }

    /// Returns a coordinate with nonzero weighted carries, found through the residues that each run reaches.
    const fn by_residues(&self) -> Option<[u64; MAX_MODES]> {
        let (mut set, mut i) = (Set::only_zero(), 0);
        while i < self.len {
            if let Some(state) = self.spread(&mut set, i, true) {
                return Some(self.trace(i, state));
            }
            i += 1;
        }
        None
    }

    /// Adds the residues that run `i` reaches from those of the set. With `check`, returns a residue from which its step
    /// crosses jumps that do not cancel.
    const fn spread(&self, set: &mut Set, i: usize, check: bool) -> Option<u64> {
        let (from, stride, most) = (Set(set.0), self.stride[i], self.extent[i] - 1);
        let cycles = gcd(self.states, stride);
        let mut first = 0;
        while first < cycles {
            // Two rounds, so that a walk that begins in the middle of the cycle is complete.
            let (mut state, mut left, mut count) = (first, 0, 2 * (self.states / cycles));
            while count > 0 {
                if from.has(state) {
                    left = most;
                }
                let next = (state + stride) % self.states;
                if left > 0 {
                    if check && self.crossed(i, state) != 0 {
                        return Some(state);
                    }
                    set.add(next);
                    left -= 1;
                }
                state = next;
                count -= 1;
            }
            first += 1;
        }
        None
    }

    /// Returns the sum of the jumps that a step of run `i` crosses from a residue.
    const fn crossed(&self, i: usize, state: u64) -> i128 {
        let (mut carried, mut k) = (0, 0);
        while k < self.opens {
            let j = self.open[k] as usize;
            let at = self.problem.jumps.at[j];
            // Two residues, each below 2⁶³.
            let here = (self.problem.start.residue[j] + state * self.unit) % at;
            let there = here as i128 + self.turn[i][j] as i128;
            if there >= at as i128 {
                carried += self.problem.jumps.by[j];
            } else if there < 0 {
                carried -= self.problem.jumps.by[j];
            }
            k += 1;
        }
        carried
    }

    /// Returns the coordinate one step of run `i` past this residue. It goes back from run to run, each time to the
    /// nearest residue that the runs before reach.
    const fn trace(&self, i: usize, state: u64) -> [u64; MAX_MODES] {
        let (mut digits, mut state, mut run) = ([0; MAX_MODES], state, i + 1);
        digits[i] = 1;
        while run > 0 {
            run -= 1;
            let (mut set, mut before) = (Set::only_zero(), 0);
            while before < run {
                // These steps are known to cancel.
                let _ = self.spread(&mut set, before, false);
                before += 1;
            }
            let mut count = 0;
            while !set.has(state) && count < self.states {
                state = (state + self.states - self.stride[run]) % self.states;
                count += 1;
            }
            digits[run] += count;
        }
        digits
    }
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::{
        super::{Jumps, Start},
        *,
    };
    use crate::{Layout, small::for_each_layout};

    #[test]
    fn coordinates_and_residues_decide_alike_and_both_name_a_coordinate() {
        let mut steps: Vec<Layout> = Vec::new();
        for_each_layout(2, 2..=3, 1..=7, |layout| steps.push(layout.clone()));
        let (mut accepted, mut refused) = (0, 0);
        for_each_layout(3, 2..=3, -1..=2, |a| {
            for b in &steps {
                for start in [0, 1, 5] {
                    let (jumps, b) = (Jumps::of(a.modes()), b.with_offset(start).unwrap());
                    let start = Start::of(&jumps, start as u64, 0);
                    let problem = Problem { a, b: &b, jumps, start };
                    let mut runs = Runs::NONE;
                    if problem.split_all(&mut runs).is_err() {
                        continue;
                    }
                    let search = RunSearch::new(&problem, &runs);
                    match (search.by_coordinates(), search.by_residues()) {
                        (None, None) => accepted += 1,
                        (Some(one), Some(other)) => {
                            refused += 1;
                            for digits in [one, other] {
                                assert_ne!(search.carried(&digits), 0, "{a} o {b}");
                                assert!((0..search.len).all(|i| digits[i] < search.extent[i]));
                            }
                        }
                        answers => panic!("{a} o {b}: {answers:?}"),
                    }
                }
            }
        });
        assert!(accepted > 10_000 && refused > 10_000, "{accepted} {refused}");
    }
}
