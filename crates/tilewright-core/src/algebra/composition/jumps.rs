//! A layout as a slope, and a jump at each boundary between its modes; and the modes of B, each split into the runs along which A
//! is arithmetic.
//!
//! Law: `A(x) = A(0) + first·x + Σ_j by_j·⌊x / at_j⌋` for every x ≥ 0, where the last mode as written continues. The
//! boundaries `at_j` ascend, each divides the next, and no jump `by_j` is 0.
//!
//! Law: the runs of a mode are the coalesced form of `c ↦ A(o + c·d)`, which is unique. If the length of a run does not
//! divide the extent that it splits, that map is not a layout.

use crate::{
    Error, MAX_MODES, Mode,
    algebra::composition::{self, Problem},
    layout::{index::SEARCH_STEPS, observe::gcd},
    macros::tri,
};

/// The boundaries of a layout of at least one coordinate, and the jump at each.
pub(super) struct Jumps {
    /// The stride before the first boundary.
    pub(super) first: i64,
    pub(super) len: usize,
    pub(super) at: [u64; MAX_MODES],
    pub(super) by: [i128; MAX_MODES],
}

/// The start of B: its offset, the value of A there, and the residue of the offset by each boundary.
pub(super) struct Start {
    pub(super) x: u64,
    pub(super) value: i128,
    pub(super) residue: [u64; MAX_MODES],
}

/// A step of B from its start.
pub(super) struct Jump {
    /// The increase of A by the first such step.
    pub(super) stride: i128,
    /// The change of the residue by each boundary, without the crossings of the first step.
    pub(super) turn: [i64; MAX_MODES],
}

impl Jumps {
    pub(super) const fn of(modes: &[Mode]) -> Jumps {
        let mut jumps = Jumps { first: 0, len: 0, at: [1; MAX_MODES], by: [0; MAX_MODES] };
        // The size and the stride of the modes merged since the last boundary.
        let (mut size, mut run, mut stride, mut i) = (1, 0, 0i64, 0);
        while i < modes.len() {
            let mode = modes[i];
            if mode.extent() != 1 || i + 1 == modes.len() {
                let jump = mode.stride() as i128 - run as i128 * stride as i128;
                if run == 0 {
                    (jumps.first, stride, run) = (mode.stride(), mode.stride(), 1);
                } else if jump != 0 {
                    jumps.at[jumps.len] = size;
                    jumps.by[jumps.len] = jump;
                    jumps.len += 1;
                    (stride, run) = (mode.stride(), 1);
                }
            }
            // I1 bounds both products.
            size *= mode.extent();
            run *= mode.extent();
            i += 1;
        }
        jumps
    }

    /// Returns `A(x) − A(0)`. Its size is below 2¹²⁷, so wrapping sums of its parts are exact.
    pub(super) const fn value(&self, x: u64) -> i128 {
        let (mut value, mut j) = (self.first as i128 * x as i128, 0);
        while j < self.len {
            value = value.wrapping_add(self.by[j].wrapping_mul((x / self.at[j]) as i128));
            j += 1;
        }
        value
    }

    /// Returns the effect of a step of `d` from the start.
    pub(super) const fn step(&self, start: &Start, d: i64) -> Jump {
        let mut step = Jump::NONE;
        self.step_into(start, d, &mut step);
        step
    }

    /// Writes the effect of a step over another step: turns past the last boundary are not changed.
    #[inline]
    const fn step_into(&self, start: &Start, d: i64, step: &mut Jump) {
        let (mut stride, mut j) = (self.first as i128 * d as i128, 0);
        while j < self.len {
            let at = self.at[j];
            let (mut crossed, mut turn) = divide(d, at);
            if start.residue[j] + turn as u64 >= at {
                crossed += 1;
                turn -= at as i64;
            }
            step.turn[j] = turn;
            if crossed != 0 {
                stride = stride.wrapping_add(self.by[j].wrapping_mul(crossed as i128));
            }
            j += 1;
        }
        step.stride = stride;
    }

    /// Returns the number of steps from these residues to the next crossing.
    #[inline]
    pub(super) const fn next(&self, residue: &[u64; MAX_MODES], step: &Jump) -> u64 {
        let (mut next, mut j) = (u64::MAX, 0);
        while j < self.len {
            let count = turns(residue[j], step.turn[j], self.at[j]);
            if count < next {
                next = count;
            }
            j += 1;
        }
        next
    }
}

/// Returns quotient and remainder, rounded down; `at` fits an `i64`.
const fn divide(d: i64, at: u64) -> (i64, i64) {
    if d < 0 {
        (d.div_euclid(at as i64), d.rem_euclid(at as i64))
    } else if (d as u64) < at {
        (0, d)
    } else {
        ((d as u64 / at) as i64, (d as u64 % at) as i64)
    }
}

impl Jump {
    pub(super) const NONE: Jump = Jump { stride: 0, turn: [0; MAX_MODES] };
}

impl Start {
    pub(super) const fn of(jumps: &Jumps, x: u64, offset: i64) -> Start {
        let mut start = Start { x, value: offset as i128, residue: [0; MAX_MODES] };
        if x > 0 {
            start.value += jumps.value(x);
            let mut j = 0;
            while j < jumps.len {
                start.residue[j] = x % jumps.at[j];
                j += 1;
            }
        }
        start
    }
}

/// Returns the number of turns after which a residue leaves `0..at`.
pub(super) const fn turns(residue: u64, turn: i64, at: u64) -> u64 {
    if turn > 0 {
        (at - residue).div_ceil(turn as u64)
    } else if turn < 0 {
        residue / turn.unsigned_abs() + 1
    } else {
        u64::MAX
    }
}

/// The current residues of a walk.
pub(super) struct Walker {
    residue: [u64; MAX_MODES],
}

impl Walker {
    pub(super) const fn from(start: &Start) -> Walker {
        Walker { residue: start.residue }
    }

    /// Returns the number of steps to the next crossing.
    pub(super) const fn next(&self, jumps: &Jumps, step: &Jump) -> u64 {
        jumps.next(&self.residue, step)
    }

    /// Takes `count` steps, at most to the next crossing, and returns the sum of the jumps that it crosses.
    pub(super) const fn advance(&mut self, jumps: &Jumps, step: &Jump, count: u64) -> i128 {
        let (mut carried, mut j) = (0, 0);
        while j < jumps.len {
            let at = jumps.at[j] as i128;
            let mut residue = self.residue[j] as i128 + count as i128 * step.turn[j] as i128;
            if residue >= at {
                residue -= at;
                carried += jumps.by[j];
            } else if residue < 0 {
                residue += at;
                carried -= jumps.by[j];
            }
            self.residue[j] = residue as u64;
            j += 1;
        }
        carried
    }
}

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
                return Err(composition::split(self, leaf, coord, run, step));
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
            if turns(self.start.residue[j], step.turn[j], at) < most {
                last = at;
            }
            j += 1;
        }
        last / gcd(last, d.unsigned_abs())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::small::for_each_layout;

    #[test]
    fn the_jumps_are_the_layout() {
        for_each_layout(3, 1..=4, -3..=6, |layout| {
            let jumps = Jumps::of(layout.modes());
            for x in 0..80u64 {
                let (mut rest, mut value, modes) = (x, 0, layout.modes());
                for (i, mode) in modes.iter().enumerate() {
                    let last = i + 1 == modes.len();
                    let digit = if last { rest } else { rest % mode.extent() };
                    value += digit as i128 * mode.stride() as i128;
                    rest /= mode.extent();
                }
                assert_eq!(jumps.value(x), value, "{layout} at {x}");
            }
            assert!((0..jumps.len).all(|j| jumps.by[j] != 0));
        });
    }
}
