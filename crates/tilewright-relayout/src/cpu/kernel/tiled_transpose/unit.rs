//! The unit of a tile, which one step moves: a square of registers, the whole tile, or one run.

use super::{
    super::{interleave, isa::Isa},
    lines::LANE,
    sides::PanelSide,
};

/// The elements that one step moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    /// `count` rows and columns, in registers that hold a run of each.
    Square { register: usize, count: usize },
    /// `count` rows, and the columns of a register.
    Lines { register: usize, count: usize },
    /// A whole tile that is contiguous in the destination, in `count` registers on each side. Its rows may have gaps in the source.
    Whole { register: usize, count: usize },
    /// One run, by a load and a store of this power of two.
    Run { copied: usize },
}

/// The maximal number of registers of a tile that is moved as a whole.
const REGISTERS: usize = 4;

impl Unit {
    /// Returns the unit that takes the fewest instructions, by rough counts; `None` if runs can only be copied exactly,
    /// one by one.
    pub(super) fn of(isa: Isa, run: usize, rows: &PanelSide, columns: &PanelSide) -> Option<Unit> {
        let copied = run.next_power_of_two();
        // Bytes that a run writes beyond its end must be overwritten.
        let follows = rows.step == run || copied == run;
        let each = follows.then_some(Unit::Run { copied });
        let joined = rows.step == run && columns.step == run;
        let sizes = || [64, 32, 16].into_iter().filter(|size| joined && *size <= isa.register());
        let squares = sizes().filter_map(|register| square(register, run));
        let lines = sizes().filter_map(|register| lines(register, run, rows, columns));
        let wholes = sizes().filter_map(|register| whole(register, run, rows, columns));
        let units = squares.chain(lines).chain(wholes).chain(each);
        units.min_by_key(|unit| unit.instructions(rows.len(), columns.len()))
    }

    /// Returns the approximate number of instructions for a tile of these rows and columns: loads, exchanges or picks,
    /// and stores.
    pub(super) fn instructions(self, rows: usize, columns: usize) -> usize {
        match self {
            Unit::Square { count, .. } => {
                let squares = rows.div_ceil(count) * columns.div_ceil(count);
                // A register that is written in part takes about two stores.
                let stores = columns.min(count) * if rows < count { 2 } else { 1 };
                squares * (count * (1 + count.ilog2() as usize) + stores)
            }
            Unit::Lines { register, count } => {
                let each = register / LANE;
                let units = rows.div_ceil(count) * columns.div_ceil(each * count);
                units * count * (1 + count.ilog2() as usize + each)
            }
            Unit::Whole { count, .. } => count * (2 + 2 * count),
            Unit::Run { .. } => 2 * rows * columns,
        }
    }

    /// Returns the bytes that it reads beyond the end of a row.
    pub(super) fn beyond(self, run: usize, columns: &PanelSide) -> usize {
        match self {
            Unit::Square { register, .. } => register.saturating_sub(columns.len() * run),
            Unit::Lines { .. } | Unit::Whole { .. } => 0,
            Unit::Run { copied } => copied - run,
        }
    }

    /// Returns, for each written and each read register of a whole tile, the source of its bytes. The last registers on
    /// each side end at the end of the tile.
    pub(super) fn tables(
        self,
        run: usize,
        rows: &PanelSide,
        columns: &PanelSide,
    ) -> Box<[[u8; 64]]> {
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
        let begins = |i: usize, bytes: usize| (i * register).min(bytes - register);
        let read = rows.furthest() + columns.span(run);
        let mut tables = vec![[interleave::KEPT; 64]; count * count];
        for (out, tables) in tables.chunks_exact_mut(count).enumerate() {
            for (i, from) in from[begins(out, bytes)..][..register].iter().enumerate() {
                let k = from / register;
                tables[k][i] = (from - begins(k, read)) as u8;
            }
            // The first register is rearranged, so its table needs a source for every byte.
            tables[0]
                .iter_mut()
                .filter(|byte| **byte == interleave::KEPT)
                .for_each(|byte| *byte = 0);
        }
        tables.into_boxed_slice()
    }
}

/// Returns squares of registers of this size, if there are any.
fn square(register: usize, run: usize) -> Option<Unit> {
    let count = register / run;
    let is_square = run.is_power_of_two() && matches!(count, 2 | 4 | 8 | 16);
    is_square.then_some(Unit::Square { register, count })
}

/// Returns the units of long rows in registers of this size, if the tile has enough rows and columns for one.
fn lines(register: usize, run: usize, rows: &PanelSide, columns: &PanelSide) -> Option<Unit> {
    let count = LANE / run;
    let fits = run.is_power_of_two() && count >= 2 && register > LANE;
    (fits && rows.len() >= count && columns.len() >= count * register / LANE)
        .then_some(Unit::Lines { register, count })
}

/// Returns the whole tile in registers of this size, if it is small.
fn whole(register: usize, run: usize, rows: &PanelSide, columns: &PanelSide) -> Option<Unit> {
    let bytes = rows.len() * columns.len() * run;
    let read = rows.furthest() + columns.span(run);
    let count = bytes.max(read).div_ceil(register);
    let together = register <= bytes.min(read) && count <= REGISTERS;
    let fills = || rows.begin_first() && columns.are_apart(rows.len() * run);
    (together && fills()).then_some(Unit::Whole { register, count })
}
