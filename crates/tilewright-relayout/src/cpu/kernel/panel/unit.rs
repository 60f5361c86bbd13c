//! The unit of a panel, which is what one step of it moves: a square of registers, the whole panel, or one
//! run.

use super::{
    super::{few, isa::Isa},
    sides::Side,
};

/// What is moved at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    /// `count` rows and columns, in registers that hold a run of each.
    Square { register: usize, count: usize },
    /// All of a panel that lies together on both sides, in `count` registers.
    Whole { register: usize, count: usize },
    /// One run, by a load and a store of this power of two.
    Run { copied: usize },
}

/// The most registers that a panel goes through as a whole.
const REGISTERS: usize = 4;

impl Unit {
    /// The unit that takes the fewest instructions, by rough counts; `None` where runs can only be copied
    /// exactly, one by one.
    pub(super) fn of(isa: Isa, run: usize, rows: &Side, columns: &Side) -> Option<Unit> {
        let copied = run.next_power_of_two();
        // What a run writes beyond its end must be written again.
        let follows = rows.step == run || copied == run;
        let each = follows.then_some(Unit::Run { copied });
        let joined = rows.step == run && columns.step == run;
        let sizes = || [64, 32, 16].into_iter().filter(|size| joined && *size <= isa.register());
        let squares = sizes().filter_map(|register| square(register, run));
        let wholes = sizes().filter_map(|register| whole(register, run, rows, columns));
        let units = squares.chain(wholes).chain(each);
        units.min_by_key(|unit| unit.instructions(rows.len(), columns.len()))
    }

    /// About how many instructions a panel of these rows and columns takes: loads, exchanges or picks, and
    /// stores.
    pub(super) fn instructions(self, rows: usize, columns: usize) -> usize {
        match self {
            Unit::Square { count, .. } => {
                let squares = rows.div_ceil(count) * columns.div_ceil(count);
                // A register that is written in part takes about two stores.
                let stores = columns.min(count) * if rows < count { 2 } else { 1 };
                squares * (count * (1 + count.ilog2() as usize) + stores)
            }
            Unit::Whole { count, .. } => count * (2 + 2 * count),
            Unit::Run { .. } => 2 * rows * columns,
        }
    }

    /// The bytes that it reads of a row beyond its end.
    pub(super) fn beyond(self, run: usize, columns: &Side) -> usize {
        match self {
            Unit::Square { register, .. } => register.saturating_sub(columns.len() * run),
            Unit::Whole { .. } => 0,
            Unit::Run { copied } => copied - run,
        }
    }

    /// For each register out and each register in of a whole panel, where its bytes come from. The last
    /// register on either side ends where the panel ends.
    pub(super) fn tables(self, run: usize, rows: &Side, columns: &Side) -> Box<[[u8; 64]]> {
        let Unit::Whole { register, count } = self else { return Box::default() };
        let bytes = rows.len() * columns.len() * run;
        let mut from = vec![0; bytes];
        for (c, column) in columns.table.iter().enumerate() {
            for (r, row) in rows.table.iter().enumerate() {
                for byte in 0..run {
                    from[*column as usize + r * run + byte] = *row as usize + c * run + byte;
                }
            }
        }
        let begins = |i: usize| (i * register).min(bytes - register);
        let mut tables = vec![[few::KEPT; 64]; count * count];
        for (out, tables) in tables.chunks_exact_mut(count).enumerate() {
            for (i, from) in from[begins(out)..][..register].iter().enumerate() {
                let k = from / register;
                tables[k][i] = (from - begins(k)) as u8;
            }
            // The first register is arranged, so that it has a byte everywhere.
            tables[0].iter_mut().filter(|byte| **byte == few::KEPT).for_each(|byte| *byte = 0);
        }
        tables.into_boxed_slice()
    }
}

/// Squares of registers of this size, if there are any.
fn square(register: usize, run: usize) -> Option<Unit> {
    let count = register / run;
    let is_square = run.is_power_of_two() && matches!(count, 2 | 4 | 8 | 16);
    is_square.then_some(Unit::Square { register, count })
}

/// The whole panel in registers of this size, if it is small.
fn whole(register: usize, run: usize, rows: &Side, columns: &Side) -> Option<Unit> {
    let bytes = rows.len() * columns.len() * run;
    let count = bytes.div_ceil(register);
    let together = register <= bytes && count <= REGISTERS;
    let fills = || rows.are_apart(columns.len() * run) && columns.are_apart(rows.len() * run);
    (together && fills()).then_some(Unit::Whole { register, count })
}
