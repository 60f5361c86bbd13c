//! A layout as a slope, and a jump at each boundary between its modes.
//!
//! Law: `A(x) = A(0) + first·x + Σ_j by_j·⌊x / at_j⌋` for every x ≥ 0, where the last mode as written continues. The
//! boundaries `at_j` ascend, each divides the next, and no jump `by_j` is 0.

use crate::{MAX_MODES, Mode};

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
    pub(super) const fn step_into(&self, start: &Start, d: i64, step: &mut Jump) {
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
