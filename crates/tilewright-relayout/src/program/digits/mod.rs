//! Two layouts as sums over groups of dims, by digits of the destination: dims that a step of either
//! layout merges form a group, and every other dim is a group of its own.
//!
//! Law: over all digits of the destination, each element appears once, at the swizzled sums of the base
//! and of each group's part: on the destination's side its digits times their strides, on the source's
//! side what the group's program says. Digits at which a program says "padding" are no element's.

mod made;
mod tabled;

use crate::program::{list::List, ops::Op};
use core::ops::Range;
use tilewright_core::Swizzle;

/// A digit of the destination: a loop over turns, which a register of a [`Group`] gets.
///
/// ```
/// use tilewright_core::TensorLayout;
/// use tilewright_relayout::{Elements, Program};
/// let rows = TensorLayout::row_major(&[8, 8]).unwrap();
/// let part = Program::of_part((&rows, &[0, 4]), (&rows, &[6, 0]), &[2, 4], Elements::same(8));
/// let part = part.unwrap();
/// let [row, _] = part.digits().digits() else { panic!("rows and columns") };
/// assert_eq!((row.turns(), row.stride(), row.group(), row.register()), (6..8, 8, 0, 0));
/// ```
#[derive(Clone, Debug)]
pub struct Digit {
    pub(crate) group: usize,
    pub(crate) register: usize,
    /// Its turns are `extent` numbers from this one on.
    pub(crate) first: u64,
    pub(crate) extent: u64,
    /// Its turn at the origin of the part.
    pub(crate) origin: u64,
    pub(crate) stride: i64,
    /// The most turns in a leaf.
    pub(crate) leaf: u64,
}

impl Digit {
    /// The position of the group that reads it.
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

    /// The register of that group which gets the turn.
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

    /// Its turns, which are all that elements have.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_relayout::{Elements, Program};
    /// let src = TensorLayout::row_major(&[2, 3]).unwrap();
    /// let dst = TensorLayout::col_major(&[2, 3]).unwrap();
    /// let program = Program::new(&src, &dst, Elements::same(8), 0).unwrap();
    /// assert_eq!(program.digits().digits()[1].turns(), 0..3);
    /// ```
    pub fn turns(&self) -> Range<u64> {
        self.first..self.first + self.extent
    }

    /// What a turn adds to the offset of the destination, in elements.
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

/// Dims that a step of either layout merges, and what they add to the offset of the source: a program on
/// registers, which begin as the turns of the group's digits, and as 0 where no digit is read.
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
    /// The positions of its digits, the largest stride first.
    pub(crate) digits: Vec<usize>,
    pub(crate) ops: Vec<Op>,
    pub(crate) registers: usize,
    /// Whether it belongs to the inner table of a leaf.
    pub(crate) inner: bool,
}

impl Group {
    /// The operations, in order.
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

    /// How many registers they use.
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

/// Both offsets of all elements, over the digits of the destination: what a program is where its regions are
/// too many.
///
/// For each combination of the turns of all digits, with the bases `(s, d)`:
/// - `d` gets the turn of each digit times its stride;
/// - each group runs its operations on registers that hold the turns of its digits, and 0 elsewhere. `s`
///   gets what they count. If one says that there is no element, there is none at this combination;
/// - the swizzle of either side is applied to its sum.
///
/// The element moves from `s` to `d`, both in elements. Each appears at one combination.
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
/// for (i, j) in rows.turns().flat_map(|i| columns.turns().map(move |j| (i, j))) {
///     let (mut s, d) = digits.base();
///     for (group, turn) in digits.groups().iter().zip([i, j]) {
///         let [Op::Rest { from: 0, stride }] = group.ops() else { panic!("one stride") };
///         s += turn as i64 * stride;
///     }
///     pairs.push((s, d + i as i64 * rows.stride() + j as i64 * columns.stride()));
/// }
/// assert_eq!(pairs, [(0, 0), (1, 2), (2, 4), (3, 1), (4, 3), (5, 5)]);
/// ```
#[derive(Clone, Debug)]
pub struct Digits {
    pub(crate) digits: Vec<Digit>,
    /// By first dim; empty at dims that are not the first of their group.
    pub(crate) all: Vec<Group>,
    /// The offset of the first element on either side, before swizzles.
    pub(crate) base: (i64, i64),
    pub(crate) swizzles: (Swizzle, Swizzle),
    /// Whether there are no elements.
    pub(crate) empty: bool,
    /// What its operations look up.
    pub(crate) lists: Vec<List>,
}

impl Digits {
    /// The digits.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_relayout::{Elements, Program};
    /// let src = TensorLayout::row_major(&[2, 3]).unwrap();
    /// let dst = TensorLayout::col_major(&[2, 3]).unwrap();
    /// let program = Program::new(&src, &dst, Elements::same(8), 0).unwrap();
    /// assert_eq!(program.digits().digits().len(), 2);
    /// ```
    pub fn digits(&self) -> &[Digit] {
        &self.digits
    }

    /// The groups, in the order of their first dims; those of other dims have no operations.
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

    /// Where the sums of the source and of the destination begin, in elements.
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

    /// What is applied to the sums of the source and of the destination.
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

    /// A list that [`Op::Look`] looks up: an index, or a place, of an index table; [`u32::MAX`] for a hole. `None` beyond
    /// the last list.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_relayout::{Elements, Program};
    /// let rows = TensorLayout::row_major(&[2, 3]).unwrap();
    /// let program = Program::new(&rows, &rows, Elements::same(8), 0).unwrap();
    /// assert!(program.digits().list(0).is_none());
    /// ```
    pub fn list(&self, number: usize) -> Option<&[u32]> {
        self.lists.get(number).map(List::entries)
    }

    /// The entries of the two tables of a leaf.
    pub(crate) fn entries(&self) -> (u64, u64) {
        let size = |inner: bool| -> u64 {
            let digits = self.digits.iter().filter(|digit| self.all[digit.group].inner == inner);
            digits.map(|digit| digit.leaf.min(digit.extent)).product()
        };
        (size(false), size(true))
    }

    /// The bytes of the tables that a run by digits keeps at a time, two offsets of 8 bytes an entry.
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

    /// How many entries a run by digits makes and elements it moves, those of no element among them.
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
        let turns = product(&mut self.digits.iter().map(|digit| digit.extent));
        product(&mut leaves).saturating_mul(outer + inner).saturating_add(turns)
    }

    /// Whether there are no elements, whatever the digits say.
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
