//! The steps of digits in the source: how far apart their values are, and whether a table scatters them. Callers choose the
//! shapes of boxes by them.

use super::{Digit, Digits, Group};
use crate::program::ops::{Op, run};

/// Values of a digit are contiguous in the source if a table keeps runs of this many on average.
const RUN: u64 = 256;

/// The number of values of a digit by which its steps are judged.
const SAMPLES: u64 = 1024;

/// The distance in the source between the values of a [`Digit`](crate::Digit).
///
/// ```
/// use std::sync::Arc;
/// use tilewright_core::TensorLayout;
/// use tilewright_relayout::{Elements, Program};
/// use tilewright_table::{Along, Table, TabledLayout};
/// let rows = TensorLayout::row_major(&[3, 2]).unwrap();
/// let table = Arc::new(Table::new(3, [2, 0, 1].map(Some)).unwrap());
/// let along = Along::new(&[(0, 1)], &[3, 2], table).unwrap();
/// let turned = TabledLayout::new(&[3, 2], vec![along], &rows).unwrap();
/// let program = Program::of_arrays(&turned, &TabledLayout::of(&rows), Elements::same(8), 0).unwrap();
/// let [rows, columns] = [0, 1].map(|digit| program.digits().source_step(digit));
/// assert_eq!((rows.mean, rows.is_scattered), (2, true));
/// assert_eq!((columns.mean, columns.is_scattered), (1, false));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SourceStep {
    /// The mean distance between two values, in elements of the source; 0 for a single value.
    pub mean: u64,
    /// True if an index table scatters the values, so that only all of them together are contiguous.
    pub is_scattered: bool,
}

impl Digits {
    /// Returns the steps of a digit in the source, judged by some of its values.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_relayout::{Elements, Program};
    /// let src = TensorLayout::row_major(&[2, 3]).unwrap();
    /// let dst = TensorLayout::col_major(&[2, 3]).unwrap();
    /// let program = Program::new(&src, &dst, Elements::same(8), 0).unwrap();
    /// assert_eq!([0, 1].map(|digit| program.digits().source_step(digit).mean), [3, 1]);
    /// ```
    pub fn source_step(&self, digit: usize) -> SourceStep {
        let Some(values) = self.digits.get(digit).map(Digit::values) else {
            return SourceStep { mean: 0, is_scattered: false };
        };
        let (count, last) = (SAMPLES.min(values.end - values.start), values.end - values.start - 1);
        let at = |i: u64| {
            values.start + (u128::from(last) * u128::from(i) / u128::from(count - 1)) as u64
        };
        let next = |value: u64| {
            (value < values.end - 1).then(|| self.source_at(digit, value + 1)).flatten()
        };
        let pair = |value| Some((self.source_at(digit, value)?, next(value)));
        let found: Vec<_> = (0..count).filter(|_| last > 0).map(at).filter_map(pair).collect();
        let offsets = found.iter().map(|(offset, _)| *offset);
        let (low, high) = (offsets.clone().min().unwrap_or(0), offsets.max().unwrap_or(0));
        let steps =
            found.iter().filter_map(|(offset, next)| Some(next.as_ref()?.abs_diff(*offset)));
        let usual = steps.clone().min().unwrap_or(0);
        let odd = steps.filter(|step| *step != usual).count() as u64;
        let looks = self.all[self.digits[digit].group].looks();
        let mean = high.abs_diff(low).div_ceil(last.max(1));
        SourceStep { mean, is_scattered: looks && odd * RUN > count }
    }

    /// Returns the part of a digit's group in the source's offset, for a value of the digit and the first values of the
    /// others; `None` for padding.
    pub(super) fn source_at(&self, digit: usize, value: u64) -> Option<i64> {
        let Digit { group, register, .. } = self.digits[digit];
        let group = &self.all[group];
        let mut registers = vec![(0, 0); group.registers];
        for &i in &group.digits {
            registers[self.digits[i].register].0 = self.digits[i].origin;
        }
        registers[register].0 = value;
        let found = run(&group.ops, &self.lists, 1, &mut registers);
        (!found.padding).then_some(found.offset)
    }
}

impl Group {
    /// Returns whether the operations look up a list.
    fn looks(&self) -> bool {
        self.ops.iter().any(|op| matches!(op, Op::Look { .. }))
    }
}
