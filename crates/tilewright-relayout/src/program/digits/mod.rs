//! Digits: both offsets as sums over groups of dims, by digits of the destination. Dims that a step of either layout
//! merges form a group; every other dim is a group of its own.
//!
//! Law: over all digits of the destination, each element appears once. Its offset on each side is the swizzled sum of
//! the base and the parts of all groups. On the destination's side a part is digits times strides; on the source's side
//! it is the result of the group's program. Where a program returns padding, there is no element.
//!
//! An operation is a multiplication, a division or a lookup in an index table, on a few registers. Law: an [`OffsetRun`]
//! predicts the result of a program at each of its inputs.

mod made;

use core::ops::Range;
use std::sync::Arc;

use tilewright_core::Swizzle;
use tilewright_table::{TABLES, Table};

/// A digit of the destination: a range of values, each of which is loaded into a register of a [`Group`].
///
/// ```
/// use tilewright_core::TensorLayout;
/// use tilewright_relayout::{Elements, Program};
/// let rows = TensorLayout::row_major(&[8, 8]).unwrap();
/// let part = Program::of_part((&rows, &[0, 4]), (&rows, &[6, 0]), &[2, 4], Elements::same(8));
/// let part = part.unwrap();
/// let [row, _] = part.digits().digits() else { panic!("rows and columns") };
/// assert_eq!((row.values(), row.stride(), row.group(), row.register()), (6..8, 8, 0, 0));
/// ```
#[derive(Clone, Debug)]
pub struct DigitRange {
    pub(crate) group: usize,
    pub(crate) register: usize,
    /// The first value; the values are the `extent` numbers from it on.
    pub(crate) first: u64,
    pub(crate) extent: u64,
    /// The value at the origin of the part.
    pub(crate) origin: u64,
    pub(crate) stride: i64,
    /// The maximal number of values in a leaf.
    pub(crate) leaf: u64,
}

impl DigitRange {
    /// Returns the position of the group that reads the digit.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_relayout::{Elements, Program};
    /// let src = TensorLayout::row_major(&[2, 3]).unwrap();
    /// let dst = TensorLayout::col_major(&[2, 3]).unwrap();
    /// let program = Program::new(&src, &dst, Elements::same(8), 0).unwrap();
    /// assert_eq!(program.digits().digits()[1].group(), 1);
    /// ```
    pub fn group(&self) -> usize {
        self.group
    }

    /// Returns the register of that group which gets the value.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_relayout::{Elements, Program};
    /// let src = TensorLayout::row_major(&[2, 3]).unwrap();
    /// let dst = TensorLayout::col_major(&[2, 3]).unwrap();
    /// let program = Program::new(&src, &dst, Elements::same(8), 0).unwrap();
    /// assert_eq!(program.digits().digits()[1].register(), 0);
    /// ```
    pub fn register(&self) -> usize {
        self.register
    }

    /// Returns the values of the digit. No element has another value.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_relayout::{Elements, Program};
    /// let src = TensorLayout::row_major(&[2, 3]).unwrap();
    /// let dst = TensorLayout::col_major(&[2, 3]).unwrap();
    /// let program = Program::new(&src, &dst, Elements::same(8), 0).unwrap();
    /// assert_eq!(program.digits().digits()[1].values(), 0..3);
    /// ```
    pub fn values(&self) -> Range<u64> {
        self.first..self.first + self.extent
    }

    /// Returns the stride of the digit in the destination, in elements.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_relayout::{Elements, Program};
    /// let src = TensorLayout::row_major(&[2, 3]).unwrap();
    /// let dst = TensorLayout::col_major(&[2, 3]).unwrap();
    /// let program = Program::new(&src, &dst, Elements::same(8), 0).unwrap();
    /// assert_eq!(program.digits().digits()[1].stride(), 2);
    /// ```
    pub fn stride(&self) -> i64 {
        self.stride
    }
}

/// Dims that a step of either layout merges, with their part of the source's offset: a program on registers. A register
/// begins as the value of one of the group's digits, or as 0.
///
/// ```
/// use tilewright_core::TensorLayout;
/// use tilewright_relayout::{Elements, Op, Program};
/// let src = TensorLayout::row_major(&[2, 3]).unwrap();
/// let dst = TensorLayout::col_major(&[2, 3]).unwrap();
/// let program = Program::new(&src, &dst, Elements::same(8), 0).unwrap();
/// let [rows, columns] = program.digits().groups() else { panic!("a group for each dim") };
/// assert_eq!((rows.registers(), rows.ops()), (1, [Op::Rest { from: 0, stride: 3 }].as_slice()));
/// assert_eq!(columns.ops(), [Op::Rest { from: 0, stride: 1 }]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Group {
    /// The positions of the digits, by descending stride.
    pub(crate) digits: Vec<usize>,
    pub(crate) ops: Vec<Op>,
    pub(crate) registers: usize,
    /// True if the group belongs to the inner table of a leaf.
    pub(crate) inner: bool,
}

impl Group {
    /// Returns the operations in order.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_relayout::{Elements, Op, Program};
    /// let src = TensorLayout::row_major(&[2, 3]).unwrap();
    /// let dst = TensorLayout::col_major(&[2, 3]).unwrap();
    /// let program = Program::new(&src, &dst, Elements::same(8), 0).unwrap();
    /// let rows = &program.digits().groups()[0];
    /// assert_eq!(rows.ops(), [Op::Rest { from: 0, stride: 3 }]);
    /// ```
    pub fn ops(&self) -> &[Op] {
        &self.ops
    }

    /// Returns the number of registers that the operations use.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_relayout::{Elements, Program};
    /// let src = TensorLayout::row_major(&[2, 3]).unwrap();
    /// let dst = TensorLayout::col_major(&[2, 3]).unwrap();
    /// let program = Program::new(&src, &dst, Elements::same(8), 0).unwrap();
    /// assert_eq!(program.digits().groups()[0].registers(), 1);
    /// ```
    pub fn registers(&self) -> usize {
        self.registers
    }
}

/// Both offsets of all elements as functions of the digits of the destination: the form of a program that has too many
/// regions.
///
/// For each combination of values of all digits, with the bases `(s, d)`:
/// - The value of each digit times its stride is added to `d`.
/// - Each group runs its operations on registers that hold the values of its digits, and 0 elsewhere. The result is
///   added to `s`. If a group finds no element, there is none at this combination.
/// - The swizzle of each side is applied to its sum.
///
/// The element moves from `s` to `d`, both in elements. Each element appears at one combination.
///
/// ```
/// use tilewright_core::TensorLayout;
/// use tilewright_relayout::{Elements, Op, Program};
/// let src = TensorLayout::row_major(&[2, 3]).unwrap();
/// let dst = TensorLayout::col_major(&[2, 3]).unwrap();
/// let program = Program::new(&src, &dst, Elements::same(8), 0).unwrap();
/// let digits = program.digits();
/// let [rows, columns] = digits.digits() else { panic!("a digit for each dim") };
/// let mut pairs = Vec::new();
/// for (i, j) in rows.values().flat_map(|i| columns.values().map(move |j| (i, j))) {
///     let (mut s, d) = digits.base();
///     for (group, value) in digits.groups().iter().zip([i, j]) {
///         let [Op::Rest { from: 0, stride }] = group.ops() else { panic!("one stride") };
///         s += value as i64 * stride;
///     }
///     pairs.push((s, d + i as i64 * rows.stride() + j as i64 * columns.stride()));
/// }
/// assert_eq!(pairs, [(0, 0), (1, 2), (2, 4), (3, 1), (4, 3), (5, 5)]);
/// ```
#[derive(Clone, Debug)]
pub struct Digits {
    pub(crate) digits: Vec<DigitRange>,
    /// The groups, at the position of their first dim; empty at other dims.
    pub(crate) all: Vec<Group>,
    /// The offset of the first element on both sides, before swizzles.
    pub(crate) base: (i64, i64),
    pub(crate) swizzles: (Swizzle, Swizzle),
    /// True if there are no elements.
    pub(crate) empty: bool,
    /// The lists that operations look up.
    pub(crate) lists: Vec<TableDirection>,
}

impl Digits {
    /// Returns the digits.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_relayout::{Elements, Program};
    /// let src = TensorLayout::row_major(&[2, 3]).unwrap();
    /// let dst = TensorLayout::col_major(&[2, 3]).unwrap();
    /// let program = Program::new(&src, &dst, Elements::same(8), 0).unwrap();
    /// assert_eq!(program.digits().digits().len(), 2);
    /// ```
    pub fn digits(&self) -> &[DigitRange] {
        &self.digits
    }

    /// Returns the groups, each at the position of its first dim; groups at other dims have no operations.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_relayout::{Elements, Program};
    /// let src = TensorLayout::row_major(&[2, 3]).unwrap();
    /// let dst = TensorLayout::col_major(&[2, 3]).unwrap();
    /// let program = Program::new(&src, &dst, Elements::same(8), 0).unwrap();
    /// assert_eq!(program.digits().groups().len(), 2);
    /// ```
    pub fn groups(&self) -> &[Group] {
        &self.all
    }

    /// Returns the offsets at which the sums of source and destination begin, in elements.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_relayout::{Elements, Program};
    /// let src = TensorLayout::row_major(&[2, 3]).unwrap();
    /// let dst = TensorLayout::col_major(&[2, 3]).unwrap();
    /// let program = Program::new(&src, &dst, Elements::same(8), 0).unwrap();
    /// assert_eq!(program.digits().base(), (0, 0));
    /// ```
    pub fn base(&self) -> (i64, i64) {
        self.base
    }

    /// Returns the swizzles that are applied to the sums of source and destination.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_relayout::{Elements, Program};
    /// let src = TensorLayout::row_major(&[2, 3]).unwrap();
    /// let dst = TensorLayout::col_major(&[2, 3]).unwrap();
    /// let program = Program::new(&src, &dst, Elements::same(8), 0).unwrap();
    /// assert!(program.digits().swizzles().0.is_identity());
    /// ```
    pub fn swizzles(&self) -> (Swizzle, Swizzle) {
        self.swizzles
    }

    /// Returns a list that [`Op::Look`] looks up: indices or places of an index table, with [`u32::MAX`] for a hole.
    /// `None` beyond the last list.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_relayout::{Elements, Program};
    /// let rows = TensorLayout::row_major(&[2, 3]).unwrap();
    /// let program = Program::new(&rows, &rows, Elements::same(8), 0).unwrap();
    /// assert!(program.digits().list(0).is_none());
    /// ```
    pub fn list(&self, number: usize) -> Option<&[u32]> {
        self.lists.get(number).map(TableDirection::entries)
    }

    /// Returns the numbers of entries of the outer and the inner table of a leaf.
    pub(crate) fn entries(&self) -> (u64, u64) {
        let size = |inner: bool| -> u64 {
            let digits = self.digits.iter().filter(|digit| self.all[digit.group].inner == inner);
            digits.map(|digit| digit.leaf.min(digit.extent)).product()
        };
        (size(false), size(true))
    }

    /// Returns the bytes of the tables that a run by digits keeps at a time: two offsets of 8 bytes for each entry.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_relayout::{Elements, Program};
    /// let src = TensorLayout::row_major(&[20, 30]).unwrap();
    /// let dst = TensorLayout::col_major(&[20, 30]).unwrap();
    /// let program = Program::new(&src, &dst, Elements::same(8), 0).unwrap();
    /// // One table of rows, and one of columns.
    /// assert_eq!(program.digits().table_bytes(), 16 * (20 + 30));
    /// ```
    pub fn table_bytes(&self) -> u64 {
        let (outer, inner) = self.entries();
        16 * (outer + inner)
    }

    /// Returns the number of table entries that a run by digits computes plus the number of elements that it moves,
    /// padding included.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_relayout::{Elements, Program};
    /// let src = TensorLayout::row_major(&[20, 30]).unwrap();
    /// let dst = TensorLayout::col_major(&[20, 30]).unwrap();
    /// let program = Program::new(&src, &dst, Elements::same(8), 0).unwrap();
    /// assert_eq!(program.digits().steps(), 20 + 30 + 20 * 30);
    /// ```
    pub fn steps(&self) -> u64 {
        if self.empty {
            return 0;
        }
        let (outer, inner) = self.entries();
        let mut leaves = self.digits.iter().map(|digit| digit.extent.div_ceil(digit.leaf));
        let product = |all: &mut dyn Iterator<Item = u64>| all.fold(1, u64::saturating_mul);
        let iterations = product(&mut self.digits.iter().map(|digit| digit.extent));
        product(&mut leaves).saturating_mul(outer + inner).saturating_add(iterations)
    }

    /// Returns whether there are no elements at all.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_relayout::{Elements, Program};
    /// let none = TensorLayout::row_major(&[2, 0]).unwrap();
    /// assert!(Program::new(&none, &none, Elements::same(8), 0).unwrap().digits().is_empty());
    /// ```
    pub fn is_empty(&self) -> bool {
        self.empty
    }
}

/// Values of a digit are contiguous in the source if a table keeps runs of this many on average.
const RUN: u64 = 256;

/// The number of values of a digit by which its steps are judged.
const SAMPLES: u64 = 1024;

/// The distance in the source between the values of a [`DigitRange`](crate::DigitRange).
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
        let Some(values) = self.digits.get(digit).map(DigitRange::values) else {
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
        let DigitRange { group, register, .. } = self.digits[digit];
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

// Operations.

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
    /// Ends with no element unless the register is below `extent`; the remaining operations then have no effect.
    Within {
        /// The register.
        register: usize,
        /// Its bound.
        extent: u64,
    },
    /// Ends with no element unless the register is one of the `extent` numbers from `from` on. These numbers become the
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
    /// Replaces the register by its entry in a list. Ends with no element where the entry is [`u32::MAX`] or beyond the
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
