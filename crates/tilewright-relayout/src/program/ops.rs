//! Operations that compute an offset of the source from digits of the destination: a short program of multiplications,
//! divisions and lookups in index tables, on a few registers.
//!
//! Law: an [`OffsetRun`] predicts the result of the program at each of its inputs.

use std::sync::Arc;

use tilewright_table::{TABLES, Table};

/// One operation on the registers of a [`Group`](crate::Group), which hold numbers ≥ 0.
///
/// ```
/// use tilewright_core::{Fractal, TensorLayout};
/// use tilewright_relayout::{Elements, Op, Program};
/// let rows = TensorLayout::row_major(&[3, 5]).unwrap();
/// let tiles = Fractal::ZZ.pattern(2, 2).layout(&[3, 5]).unwrap();
/// let program = Program::new(&rows, &tiles, Elements::same(8), 0).unwrap();
/// // Rows: their two digits become one number, below 3, which counts 5 elements each.
/// let expected = [
///     Op::Merge { major: 1, minor: 0, extent: 2 },
///     Op::Within { register: 0, extent: 3 },
///     Op::Rest { from: 0, stride: 5 },
/// ];
/// assert_eq!(program.digits().groups()[0].ops(), expected);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// Divides register `from` by `by`: `from` keeps the quotient and `to` gets the remainder.
    Split {
        /// The register that is divided.
        from: usize,
        /// The divisor, at least 1.
        by: u64,
        /// The register of the remainder.
        to: usize,
    },
    /// Sets register `minor` to `major · extent + minor`.
    Merge {
        /// The register of the more significant part, which is unchanged.
        major: usize,
        /// The register of the less significant part, which gets the result.
        minor: usize,
        /// The extent of the less significant part.
        extent: u64,
    },
    /// There is no element if the register is not below `extent`; the remaining operations do not count then.
    Within {
        /// The register.
        register: usize,
        /// Its bound.
        extent: u64,
    },
    /// There is no element unless the register is one of the `extent` numbers from `from` on. These numbers become the
    /// numbers from `to` on.
    Move {
        /// The register.
        register: usize,
        /// The first number.
        from: u64,
        /// The count of numbers.
        extent: u64,
        /// The value that replaces the first number.
        to: u64,
    },
    /// Adds the remainder of register `from` by `by`, times `stride`, to the source's offset. The register keeps the
    /// quotient.
    Digit {
        /// The register that is divided.
        from: usize,
        /// The divisor, at least 1.
        by: u64,
        /// The stride, in elements of the source.
        stride: i64,
    },
    /// Adds the remaining value of register `from`, times `stride`, to the source's offset.
    Rest {
        /// The register.
        from: usize,
        /// The stride, in elements of the source.
        stride: i64,
    },
    /// Replaces the register by its entry in a list. There is no element where the entry is [`u32::MAX`] or beyond the
    /// end of the list.
    Look {
        /// The register.
        register: usize,
        /// The number of the [list](crate::Digits::list).
        list: usize,
    },
}

/// A part of an offset over `len` inputs: an arithmetic progression, or padding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OffsetRun {
    pub(crate) offset: i64,
    pub(crate) stride: i64,
    pub(crate) len: u64,
    pub(crate) padding: bool,
}

/// Runs a program on registers that hold its inputs. The growing input takes `limit` values.
pub(crate) fn run(
    ops: &[Op],
    lists: &[TableDirection],
    limit: u64,
    registers: &mut [Progression],
) -> OffsetRun {
    let mut run = OffsetRun { offset: 0, stride: 0, len: limit, padding: false };
    for op in ops {
        match *op {
            Op::Split { from, by, to } => {
                (registers[from], registers[to]) = divide(registers[from], by, &mut run.len);
            }
            Op::Merge { major, minor, extent } => {
                let (at, growth) = registers[major];
                registers[minor].0 += at * extent;
                registers[minor].1 = registers[minor].1.wrapping_add(growth.wrapping_mul(extent));
            }
            Op::Within { register, extent } => {
                let (at, growth) = registers[register];
                if at >= extent {
                    return OffsetRun { padding: true, ..run };
                }
                if growth > 0 {
                    run.len = run.len.min((extent - at).div_ceil(growth));
                }
            }
            Op::Move { register, from, extent, to } => {
                let (at, growth) = registers[register];
                if at < from {
                    if growth > 0 {
                        run.len = run.len.min((from - at).div_ceil(growth));
                    }
                    return OffsetRun { padding: true, ..run };
                }
                if at - from >= extent {
                    return OffsetRun { padding: true, ..run };
                }
                if growth > 0 {
                    run.len = run.len.min((extent - (at - from)).div_ceil(growth));
                }
                registers[register].0 = at - from + to;
            }
            Op::Digit { from, by, stride } => {
                let (rest, digit) = divide(registers[from], by, &mut run.len);
                registers[from] = rest;
                run.add(digit, stride);
            }
            Op::Rest { from, stride } => run.add(registers[from], stride),
            Op::Look { .. } if !TABLES => return OffsetRun { padding: true, ..run },
            Op::Look { register, list } => {
                match lists[list].look(registers[register], &mut run.len) {
                    Some(found) => registers[register] = found,
                    None => return OffsetRun { padding: true, ..run },
                }
            }
        }
    }
    run
}

impl OffsetRun {
    fn add(&mut self, (at, growth): Progression, stride: i64) {
        // Within the extents the layout bounds the offset; beyond them the run has ended.
        self.offset += at as i64 * stride;
        self.stride = self.stride.wrapping_add((growth as i64).wrapping_mul(stride));
    }
}

/// Returns the quotient and the remainder of a growing number. Shortens `len` to where both stop growing evenly.
fn divide((at, growth): Progression, by: u64, len: &mut u64) -> (Progression, Progression) {
    let (quotient, rest) = (at / by, at % by);
    if growth == 0 {
        return ((quotient, 0), (rest, 0));
    }
    if growth < by {
        *len = (*len).min((by - rest).div_ceil(growth));
        return ((quotient, 0), (rest, growth));
    }
    if growth.is_multiple_of(by) {
        return ((quotient, growth / by), (rest, 0));
    }
    *len = 1;
    ((quotient, 0), (rest, 0))
}

/// A number as a linear function of the input that is walked: its first value, and its growth per step.
pub(crate) type Progression = (u64, u64);

/// The entry of an index table for a number that has none.
const NOTHING: u32 = u32::MAX;

/// A direction of a table.
#[derive(Clone, Debug)]
pub(crate) enum TableDirection {
    /// From a place to the index stored there.
    Indices(Arc<Table>),
    /// From an index to its place.
    Places(Arc<Table>),
}

impl TableDirection {
    pub(crate) fn entries(&self) -> &[u32] {
        match self {
            TableDirection::Indices(table) => table.list(),
            TableDirection::Places(table) => table.places(),
        }
    }

    /// Looks up a progression of numbers and returns the progression of the entries. Shortens `len` to the first number
    /// where the entries stop growing evenly. Returns `None` for `len` numbers without an entry.
    pub(crate) fn look(&self, (at, growth): Progression, len: &mut u64) -> Option<Progression> {
        let entries = self.entries();
        let entry = |value: u64| {
            let at = at.checked_add(value.checked_mul(growth)?)?;
            entries.get(usize::try_from(at).ok()?).copied().filter(|entry| *entry != NOTHING)
        };
        let first = entry(0);
        if growth == 0 {
            return first.map(|first| (first.into(), 0));
        }
        let step = match (first, entry(1)) {
            // The run ends at the end of the list.
            (Some(first), Some(second)) => {
                u64::from(second).checked_sub(first.into()).filter(|step| *step > 0)
            }
            (Some(_), None) => None,
            (None, _) => {
                *len = (1..*len).find(|value| entry(*value).is_some()).unwrap_or(*len);
                return None;
            }
        };
        let first = u64::from(first?);
        let Some(step) = step else {
            *len = 1;
            return Some((first, 0));
        };
        let goes_on = |value: &u64| {
            entry(*value).is_some_and(|entry| u64::from(entry) == first + value * step)
        };
        *len = (2..*len).find(|value| !goes_on(value)).unwrap_or(*len);
        Some((first, step))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `x` in digits of 3 and 4, their quotient merged under the lower digit, of 10 to 84 that become 4 to 78.
    const PROGRAM: [Op; 8] = [
        Op::Within { register: 0, extent: 90 },
        Op::Move { register: 0, from: 10, extent: 75, to: 4 },
        Op::Split { from: 0, by: 3, to: 1 },
        Op::Split { from: 0, by: 4, to: 2 },
        Op::Merge { major: 1, minor: 0, extent: 9 },
        Op::Digit { from: 0, by: 5, stride: -7 },
        Op::Rest { from: 0, stride: 100 },
        Op::Rest { from: 2, stride: 1000 },
    ];

    fn plain(x: u64) -> Option<i64> {
        let (moved, x) = ((10..85).contains(&x), x.wrapping_sub(6));
        if !moved {
            return None;
        }
        let merged = (x % 3) * 9 + x / 3 / 4;
        let offset = (merged % 5) as i64 * -7 + (merged / 5) as i64 * 100;
        Some(offset + (x / 3 % 4) as i64 * 1000)
    }

    #[test]
    fn runs_are_what_they_say() {
        for (growth, x) in (1u64..=13).flat_map(|growth| (0..108u64).map(move |x| (growth, x))) {
            for limit in 1..=(108 - x).div_ceil(growth) {
                let run = run(&PROGRAM, &[], limit, &mut [(x, growth), (7, 7), (7, 7)]);
                assert!(run.len >= 1 && run.len <= limit);
                for i in 0..run.len {
                    let offset = run.offset + i as i64 * run.stride;
                    let said = (!run.padding).then_some(offset);
                    assert_eq!(said, plain(x + i * growth), "{x} + {i}·{growth}");
                }
            }
        }
    }
}
