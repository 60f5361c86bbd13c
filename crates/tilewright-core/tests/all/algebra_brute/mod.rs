//! Composition by enumeration: the definition itself, without the theory.
//!
//! A mode of B has a layout iff its sequence of values can be decomposed: it is arithmetic up to its first break at q, q
//! divides its length, every block of q repeats the first one, and so on for every q-th element. A∘B has a layout iff every
//! mode has one, and the modes' values add up at every coordinate.

use std::ops::RangeInclusive;

use tilewright_core::{Layout, Mode};

/// Decides by enumeration of B whether A∘B is a layout in B's brackets.
#[derive(Default)]
pub(crate) struct Brute {
    /// A(B(c)) at every coordinate, colexicographically.
    pub(crate) table: Vec<i64>,
    /// The only possible modes, in order of the modes of B.
    pub(crate) modes: Vec<Mode>,
    /// The values of one mode, which `take_apart` consumes.
    pub(crate) sequence: Vec<i64>,
}

/// Returns A at x, with its last mode continued, without the swizzle.
pub(crate) fn affine(a: &Layout, x: i64) -> i64 {
    let (mut rest, mut value, modes) = (x, a.offset(), a.modes());
    for (i, mode) in modes.iter().enumerate() {
        let last = i + 1 == modes.len();
        let extent = if last { i64::MAX } else { mode.extent() as i64 };
        value += rest % extent * mode.stride();
        rest /= extent;
    }
    value
}

impl Brute {
    /// Fills `table` and, if the layout exists, `modes`; returns whether it does.
    pub(crate) fn exists(&mut self, a: &Layout, b: &Layout) -> bool {
        self.fill(a, b);
        self.decide(b)
    }

    /// Returns whether `table` is a layout in B's brackets; fills `modes` if it is.
    pub(crate) fn decide(&mut self, b: &Layout) -> bool {
        self.modes.clear();
        let mut scale = 1;
        for mode in b.modes() {
            let extent = mode.extent() as usize;
            self.sequence.clear();
            self.sequence.extend((0..extent).map(|c| self.table[c * scale] - self.table[0]));
            if !self.take_apart() {
                return false;
            }
            scale *= extent;
        }
        self.additive(b)
    }

    fn fill(&mut self, a: &Layout, b: &Layout) {
        self.table.clear();
        self.table.push(b.offset());
        for mode in b.modes() {
            let size = self.table.len();
            for c in 1..mode.extent() as i64 {
                for i in 0..size {
                    self.table.push(self.table[i] + c * mode.stride());
                }
            }
        }
        for x in &mut self.table {
            *x = affine(a, *x);
        }
    }

    /// Appends the coalesced modes of one mode's sequence; returns `false` if it has none.
    pub(crate) fn take_apart(&mut self) -> bool {
        if self.sequence.len() == 1 {
            self.modes.push(Mode::new(1, 0));
        }
        while self.sequence.len() > 1 {
            let (sequence, step) = (&self.sequence, self.sequence[1]);
            let arithmetic = |&i: &usize| sequence[i] == i as i64 * step;
            let run = (0..sequence.len()).take_while(arithmetic).count();
            let repeats = |i: usize| sequence[i] == sequence[i - i % run] + sequence[i % run];
            if sequence.len() % run != 0 || !(0..sequence.len()).all(repeats) {
                return false;
            }
            self.modes.push(Mode::new(run as u64, step));
            let every: Vec<i64> = sequence.iter().copied().step_by(run).collect();
            self.sequence = every;
        }
        true
    }

    fn additive(&self, b: &Layout) -> bool {
        (0..self.table.len()).all(|index| {
            let (mut rest, mut scale, mut sum) = (index, 1, self.table[0]);
            for mode in b.modes() {
                let extent = mode.extent() as usize;
                sum += self.table[rest % extent * scale] - self.table[0];
                rest /= extent;
                scale *= extent;
            }
            sum == self.table[index]
        })
    }
}

/// Returns every flat layout of exactly `rank` modes with these extents and strides.
pub(crate) fn layouts(
    rank: usize,
    extents: RangeInclusive<u64>,
    strides: RangeInclusive<i64>,
) -> Vec<Layout> {
    let single: Vec<Mode> =
        extents.flat_map(|s| strides.clone().map(move |d| Mode::new(s, d))).collect();
    let mut all: Vec<Vec<Mode>> = vec![vec![]];
    for _ in 0..rank {
        let longer = |modes: &Vec<Mode>| {
            let modes = modes.clone();
            single.iter().map(move |&mode| [&modes[..], &[mode]].concat())
        };
        all = all.iter().flat_map(longer).collect();
    }
    all.iter().map(|modes| Layout::flat(modes).unwrap()).collect()
}
