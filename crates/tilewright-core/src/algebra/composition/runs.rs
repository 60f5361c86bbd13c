//! The modes of B, each split into the runs along which A is arithmetic.
//!
//! Law: the runs of a mode are the coalesced form of `c ↦ A(o + c·d)`, which is unique. If the length of a run does not
//! divide the extent that it splits, that map is not a layout.

use super::{
    Problem,
    jumps::{Jump, Walker},
    refusal,
};
use crate::{
    Error, MAX_MODES, Mode, layout::index::SEARCH_STEPS, layout::observe::gcd, macros::tri,
};

/// The modes of the result, with the step of each in B.
pub(super) struct Runs {
    pub(super) len: usize,
    modes: [Mode; MAX_MODES],
    pub(super) step: [i64; MAX_MODES],
    /// One past the last run of each mode of B.
    pub(super) ends: [u8; MAX_MODES],
    /// The distance by which all runs together move the residues up and down.
    up: [u64; MAX_MODES],
    down: [u64; MAX_MODES],
}

impl Runs {
    pub(super) const NONE: Runs = Runs {
        len: 0,
        modes: [Mode::new(1, 0); MAX_MODES],
        step: [0; MAX_MODES],
        ends: [0; MAX_MODES],
        up: [0; MAX_MODES],
        down: [0; MAX_MODES],
    };

    pub(super) const fn modes(&self) -> &[Mode] {
        self.modes.split_at(self.len).0
    }

    /// Returns whether residues leave their range past boundary `j`, upwards and downwards.
    pub(super) const fn leaves(&self, problem: &Problem<'_>, j: usize) -> (bool, bool) {
        let residue = problem.start.residue[j];
        (self.up[j] >= problem.jumps.at[j] - residue, self.down[j] > residue)
    }

    /// Returns whether any residue leaves its range: whether digits carry.
    pub(super) const fn carry(&self, problem: &Problem<'_>) -> bool {
        let mut j = 0;
        while j < problem.jumps.len {
            let (up, down) = self.leaves(problem, j);
            if up || down {
                return true;
            }
            j += 1;
        }
        false
    }

    #[inline]
    const fn push(&mut self, extent: u64, step: i64, stride: i128) -> Result<(), Error> {
        if self.len == MAX_MODES {
            return Err(Error::limit(
                "the composition takes more than {} modes",
                [MAX_MODES as i128],
                "compose with one axis at a time",
            ));
        }
        if stride > i64::MAX as i128 || stride < i64::MIN as i128 {
            return Err(Error::overflow(
                "mode {} of the composition has stride {}",
                [self.len as i128, stride],
                "strides must stay below 2^63",
            ));
        }
        self.modes[self.len] = Mode::new(extent, stride as i64);
        self.step[self.len] = step;
        self.len += 1;
        Ok(())
    }

    /// Records how far a run moves the residues.
    #[inline]
    const fn note(&mut self, count: usize, step: &Jump, extent: u64) {
        let mut j = 0;
        while j < count {
            let (turn, times) = (step.turn[j], extent - 1);
            let far = turn.unsigned_abs().saturating_mul(times);
            if turn > 0 {
                self.up[j] = self.up[j].saturating_add(far);
            } else {
                self.down[j] = self.down[j].saturating_add(far);
            }
            j += 1;
        }
    }
}

impl Problem<'_> {
    /// Appends every mode of B as its runs.
    pub(super) const fn split_all(&self, runs: &mut Runs) -> Result<(), Error> {
        let (modes, mut step, mut leaf) = (self.b.modes(), Jump::NONE, 0);
        while leaf < modes.len() {
            tri!(self.split(runs, leaf, modes[leaf], &mut step));
            runs.ends[leaf] = runs.len as u8;
            leaf += 1;
        }
        Ok(())
    }

    /// Appends the runs of one mode of B; `step` is a buffer.
    #[inline]
    const fn split(
        &self,
        runs: &mut Runs,
        leaf: usize,
        mode: Mode,
        step: &mut Jump,
    ) -> Result<(), Error> {
        if mode.extent() == 1 {
            return runs.push(1, 0, 0);
        }
        let (mut left, mut d) = (mode.extent(), mode.stride());
        while left > 1 {
            self.jumps.step_into(&self.start, d, step);
            let next = self.jumps.next(&self.start.residue, step);
            let run = if next >= left { left } else { tri!(self.run(step, d, left)) };
            if !left.is_multiple_of(run) {
                let coord = run * (mode.extent() / left);
                return Err(refusal::split(self, leaf, coord, run, step));
            }
            tri!(runs.push(run, d, step.stride));
            runs.note(self.jumps.len, step, run);
            left /= run;
            if left > 1 {
                // Within the reach of the mode, which I2 bounds.
                d *= run as i64;
            }
        }
        Ok(())
    }

    /// Returns the number of steps, at most `most`, before A's increase first differs from that of the first step.
    const fn run(&self, step: &Jump, d: i64, most: u64) -> Result<u64, Error> {
        let mut walker = Walker::from(&self.start);
        let (mut taken, mut crossings, mut period) = (0u64, 0, most);
        loop {
            let next = walker.next(&self.jumps, step);
            taken = taken.saturating_add(next);
            if taken >= most || taken > period {
                return Ok(most);
            }
            if walker.advance(&self.jumps, step, next) != 0 {
                return Ok(taken);
            }
            if crossings == 0 {
                period = self.period(step, d, most);
            }
            crossings += 1;
            if crossings > SEARCH_STEPS {
                return Err(Error::undecided(
                    "a mode of B whose carries cancel {} times in a row in A, {} steps in all",
                    [SEARCH_STEPS as i128, if most < period { most } else { period } as i128],
                    "compose with a part of B, or with an A of fewer modes",
                ));
            }
        }
    }

    /// Returns the number of steps after which all residues that cross within `most` steps have their first values again.
    const fn period(&self, step: &Jump, d: i64, most: u64) -> u64 {
        let (mut last, mut j) = (1, 0);
        while j < self.jumps.len {
            let at = self.jumps.at[j];
            if super::jumps::turns(self.start.residue[j], step.turn[j], at) < most {
                last = at;
            }
            j += 1;
        }
        last / gcd(last, d.unsigned_abs())
    }
}
