//! Digits that carry in a composition: the boundaries between the modes of A at which its stride jumps, the modes of B
//! split into the runs along which A is arithmetic, and whether the carries of a candidate cancel.
//!
//! Law: `A(x) = A(0) + first·x + Σ_j by_j·⌊x / at_j⌋` for every x ≥ 0, where the last mode as written continues. The
//! boundaries `at_j` ascend, each divides the next, and no jump `by_j` is 0.
//!
//! Law: the runs of a mode are the coalesced form of `c ↦ A(o + c·d)`, which is unique. If the length of a run does not
//! divide the extent that it splits, that map is not a layout.
//!
//! # Whether carries cancel
//!
//! First, a walk looks for a refusal. Law: if no jumps of A cancel (no sum of some of them, each taken +1 or −1 times, is 0), the
//! first walk ends in a refusal. Every refusal is right: A(B) and the candidate agree up to the step that it names, and differ there.
//!
//! Then an enumeration decides; composition enumerates nowhere else. Law: it accepts iff the weighted carries are 0 at every
//! coordinate, and refuses with a coordinate where they are not.
//!
//! There are two ways; the one within the budget of [`SEARCH_STATES`] is taken: over the coordinates of the runs that carry,
//! or over the residues that B can leave past the greatest boundary concerned, in units of the common divisor of all steps.
//! Residues suffice because they alone determine the boundaries that a step crosses.

use crate::{
    Error, MAX_MODES, Mode,
    algebra::composition::{self, Problem},
    const_fn::tri,
    layout::{index::SEARCH_STEPS, observe::gcd},
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

// Decides whether the carries of a candidate cancel.

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
    use super::super::{Jumps, Start};
    use super::*;
    use crate::Layout;
    use crate::small::for_each_layout;
    use std::vec::Vec;

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
