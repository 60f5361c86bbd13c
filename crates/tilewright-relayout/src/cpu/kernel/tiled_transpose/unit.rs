//! Units of a tile, which one step moves: a square of registers, rows of long units, the whole tile, or one run.
//!
//! A square comes from any loops. The last squares of rows or columns begin earlier and move some elements twice. If there are
//! fewer columns than a register has elements, registers are loaded whole and only the existing columns are written. If there
//! are fewer rows, registers are written in part.
//!
//! Each register of a unit of long rows is loaded from one row. Exchanges within its lanes of 16 bytes leave some rows of one
//! column in each lane. So a line of the source is read once, at any distance between rows. The rows of a unit equal the runs
//! of a lane, and its columns the runs of a register. The last units begin earlier, like squares.
//!
//! Each register of a unit of long columns has lanes of 16 bytes of different rows. Exchanges within the lanes leave one column in
//! each register, for rows that are contiguous in the destination. The columns of a unit equal the runs of a lane, and its rows the
//! runs of a register. Runs that are not a power of two take the room of the next one while they are exchanged.
//!
//! Columns that do not exist, where only one of 2 to 4 elements is read, are loaded by squares and long columns, and are not written.
//!
//! A small tile that is contiguous in the destination moves as a whole: each written register takes its bytes from each read
//! register, by a table.
//!
//! A single run is a load and a store. The store may extend beyond the end of the run if the next row of the column is written
//! after it.

use super::{
    super::{
        exchange::{exact, exchange, load},
        interleave,
        isa::Isa,
        isa::Vector,
        isa::Work,
    },
    ABSENT, PanelSide, TileLoop,
};
use crate::cpu::cost;

/// The elements that one step moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    /// `count` rows and columns, in registers that hold a run of each.
    Square { register: usize, count: usize },
    /// `count` rows, and the columns of a register.
    Lines { register: usize, count: usize },
    /// `count` columns, and the rows of a register; runs are `spread` if they are not a power of two.
    Columns { register: usize, count: usize, spread: bool },
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
        let each = (follows && columns.all_exist()).then_some(Unit::Run { copied });
        let joined = rows.step == run && columns.step == run;
        let sizes = || [64, 32, 16].into_iter().filter(|size| joined && *size <= isa.register());
        let squares = sizes().filter_map(|register| square(register, run));
        let lines = sizes().filter_map(|register| lines(register, run, rows, columns));
        let long = sizes().filter_map(|register| long_columns(register, run, rows));
        let wholes = sizes().filter_map(|register| whole(register, run, rows, columns));
        let units = squares.chain(lines).chain(long).chain(wholes).chain(each);
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
            Unit::Columns { register, count, spread } => {
                let lanes = register / LANE;
                let units = rows.div_ceil(lanes * count) * columns.div_ceil(count);
                let each = lanes + count.ilog2() as usize + 1 + 2 * usize::from(spread);
                units * count * each
            }
            Unit::Whole { count, .. } => count * (2 + 2 * count),
            Unit::Run { .. } => 2 * rows * columns,
        }
    }

    /// Returns the bytes that it reads beyond the end of a row.
    pub(super) fn beyond(self, run: usize, columns: &PanelSide) -> usize {
        match self {
            Unit::Square { register, .. } => register.saturating_sub(columns.len() * run),
            Unit::Columns { count, .. } => LANE.saturating_sub(count.min(columns.len()) * run),
            Unit::Lines { .. } | Unit::Whole { .. } => 0,
            Unit::Run { copied } => copied - run,
        }
    }

    /// Returns, for each written and each read register of a whole tile, the source of its bytes. The last registers on
    /// each side end at the end of the tile. For long columns whose runs are spread, returns the source of the bytes of a register
    /// with spread runs, and then of one without.
    pub(super) fn tables(
        self,
        run: usize,
        rows: &PanelSide,
        columns: &PanelSide,
    ) -> Box<[[u8; 64]]> {
        if let Unit::Columns { register, count, spread: true } = self {
            return Box::new(spreads(register, count, run));
        }
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
    (fits && rows.len() >= count && columns.len() >= count * register / LANE && columns.all_exist())
        .then_some(Unit::Lines { register, count })
}

/// Returns the units of long columns in registers of this size, if the tile has enough rows for one.
fn long_columns(register: usize, run: usize, rows: &PanelSide) -> Option<Unit> {
    let (count, spread) = (LANE / run.next_power_of_two(), !run.is_power_of_two());
    let fits = count >= 2 && (register > LANE || spread);
    (fits && rows.len() >= count * register / LANE).then_some(Unit::Columns {
        register,
        count,
        spread,
    })
}

/// Returns the tables that spread the `count` runs of each lane of a register, and that join all of them.
fn spreads(register: usize, count: usize, run: usize) -> [[u8; 64]; 2] {
    let (mut tables, room) = ([[0; 64]; 2], LANE / count);
    for i in 0..register / LANE * count {
        for byte in 0..run {
            let (lane, within) = (i / count * LANE, i % count);
            tables[0][lane + within * room + byte] = (lane + within * run + byte) as u8;
            tables[1][i * run + byte] = (lane + within * room + byte) as u8;
        }
    }
    tables
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

// Squares of adjacent rows and columns.

/// Tiles in squares of `N` rows and columns.
pub(super) struct Squares<'a, const N: usize>(pub(super) TileLoop<'a>);

impl<const N: usize> Work for Squares<'_, N> {
    /// The requirements are those of `TileLoop`; registers have `N` runs.
    #[inline(always)]
    unsafe fn with<V: Vector>(self) {
        let Squares(tiles) = self;
        let (rows, columns) = tiles.tiled.size();
        // Closures are not used here: they would be functions without the instruction set.
        for i in 0..tiles.along.extent as isize {
            let Some((from, to)) = tiles.whole(i) else { continue };
            // SAFETY: `# Safety` of `Work::with`: the requirements of `Squares` hold, and `TileLoop::whole` found that
            // the units of tile `i` are within the source.
            unsafe {
                if rows < N || columns < N {
                    tiles.squares::<V, N, true>(from, to);
                } else {
                    tiles.squares::<V, N, false>(from, to);
                }
            }
        }
    }
}

impl TileLoop<'_> {
    /// Moves one tile in squares, which are `SHORT` if there are fewer rows or columns than `N`.
    ///
    /// # Safety
    /// Those of [`Squares`], for the tile at these places.
    #[inline(always)]
    unsafe fn squares<V: Vector, const N: usize, const SHORT: bool>(
        &self,
        from: *const u8,
        to: *mut u8,
    ) {
        let (rows, columns) = (&self.tiled.rows.table[..], &self.tiled.columns.table[..]);
        let width = V::BYTES / N;
        for c in (0..columns.len()).step_by(N) {
            let c = c.min(columns.len().saturating_sub(N));
            let from = from.wrapping_add(c * width);
            let prefetches = self.ahead != 0 && c * width % (cost::LINE as usize) < V::BYTES;
            for r in (0..rows.len()).step_by(N) {
                let r = r.min(rows.len().saturating_sub(N));
                let mut starts = [0; N];
                if SHORT {
                    for (i, start) in starts.iter_mut().enumerate() {
                        *start = rows[(r + i).min(rows.len() - 1)];
                    }
                } else {
                    starts = *exact(&rows[r..]);
                }
                if prefetches {
                    for start in &starts {
                        V::prefetch(from.wrapping_offset(*start as isize + self.ahead));
                    }
                }
                // SAFETY: `# Safety` of `squares`: a register at each row is readable, since `Unit::beyond` counts what
                // it reads after the columns. `N` runs of a column are writable, or all of its rows if there are fewer,
                // whose bytes are then fewer than a register's. The levels of a transpose are below those of a
                // register.
                unsafe {
                    let mut held = load::<V, N>(from, &starts);
                    exchange::<V, true, N, 1>(&mut held, &[[0; 2]; 4]);
                    let to = to.wrapping_add(r * width);
                    for (register, place) in held.into_iter().zip(&columns[c..]) {
                        if *place == ABSENT {
                            continue;
                        }
                        let to = to.wrapping_offset(*place as isize);
                        if SHORT && rows.len() < N {
                            register.store_first(to, rows.len() * width);
                        } else {
                            register.store(to);
                        }
                    }
                }
            }
        }
    }
}

// Units of long rows.

/// The bytes of a lane.
pub(super) const LANE: usize = 16;

/// Tiles in units of `N` rows.
pub(super) struct Lines<'a, const N: usize>(pub(super) TileLoop<'a>);

impl<const N: usize> Work for Lines<'_, N> {
    /// The requirements are those of `TileLoop`; a lane has `N` runs, and a tile at least `N` rows and the columns of a register.
    #[inline(always)]
    unsafe fn with<V: Vector>(self) {
        let Lines(tiles) = self;
        for i in 0..tiles.along.extent as isize {
            let Some((from, to)) = tiles.whole(i) else { continue };
            // SAFETY: `# Safety` of `Work::with`: the requirements of `Lines` hold.
            unsafe { tiles.lines::<V, N>(from, to) };
        }
    }
}

impl TileLoop<'_> {
    /// Moves one tile: all rows of one register of columns, then the next columns.
    ///
    /// # Safety
    /// Those of [`Lines`], for the tile at these places.
    #[inline(always)]
    unsafe fn lines<V: Vector, const N: usize>(&self, from: *const u8, to: *mut u8) {
        let (rows, columns) = (&self.tiled.rows.table[..], &self.tiled.columns.table[..]);
        let (width, wide) = (LANE / N, N * (V::BYTES / LANE));
        for c in (0..columns.len()).step_by(wide) {
            let c = c.min(columns.len() - wide);
            let (from, columns) = (from.wrapping_add(c * width), &columns[c..c + wide]);
            for r in (0..rows.len()).step_by(N) {
                let r = r.min(rows.len() - N);
                let starts: [i64; N] = *exact(&rows[r..]);
                if self.ahead != 0 {
                    for start in &starts {
                        V::prefetch(from.wrapping_offset(*start as isize + self.ahead));
                    }
                }
                // SAFETY: `# Safety` of `lines`: a register at each row is readable and a lane at each column writable, since
                // the columns are those of a register. The levels of a transpose of lanes are below those of a register.
                unsafe {
                    let mut held = load::<V, N>(from, &starts);
                    match V::BYTES / LANE {
                        1 => exchange::<V, true, N, 1>(&mut held, &[[0; 2]; 4]),
                        2 => exchange::<V, true, N, 2>(&mut held, &[[0; 2]; 4]),
                        _ => exchange::<V, true, N, 4>(&mut held, &[[0; 2]; 4]),
                    }
                    let to = to.wrapping_add(r * width);
                    for i in 0..N {
                        let mut lanes = [to; 4];
                        for k in 0..V::BYTES / LANE {
                            lanes[k] = to.wrapping_offset(columns[k * N + i] as isize);
                        }
                        held[i].store_lanes(lanes);
                    }
                }
            }
        }
    }
}

// Units of long columns.

/// Tiles in units of `N` columns, whose runs are spread with `SPREAD`.
pub(super) struct Columns<'a, const N: usize, const SPREAD: bool>(pub(super) TileLoop<'a>);

impl<const N: usize, const SPREAD: bool> Work for Columns<'_, N, SPREAD> {
    /// The requirements are those of `TileLoop`; a lane has room for `N` runs, and a tile has at least the rows of a register. With
    /// `SPREAD` there are two tables.
    #[inline(always)]
    unsafe fn with<V: Vector>(self) {
        let Columns(tiles) = self;
        for i in 0..tiles.along.extent as isize {
            let Some((from, to)) = tiles.whole(i) else { continue };
            // SAFETY: `# Safety` of `Work::with`: the requirements of `Columns` hold, and `TileLoop::whole` found that the units of
            // tile `i` are within the source.
            unsafe { tiles.columns::<V, N, SPREAD>(from, to) };
        }
    }
}

impl TileLoop<'_> {
    /// Moves one tile: all columns of the rows of a register, then the next rows.
    ///
    /// # Safety
    /// Those of [`Columns`], for the tile at these places.
    #[inline(always)]
    unsafe fn columns<V: Vector, const N: usize, const SPREAD: bool>(
        &self,
        from: *const u8,
        to: *mut u8,
    ) {
        let (rows, columns) = (&self.tiled.rows.table[..], &self.tiled.columns.table[..]);
        let (width, lanes) = (self.tiled.width(), V::BYTES / LANE);
        let long = N * lanes;
        let [spread, join] = if SPREAD { *exact(&self.tiled.tables) } else { [[0; 64]; 2] };
        for r in (0..rows.len()).step_by(long) {
            let r = r.min(rows.len() - long);
            let (to, rows) = (to.wrapping_add(r * width), &rows[r..r + long]);
            for c in (0..columns.len()).step_by(N) {
                let c = c.min(columns.len().saturating_sub(N));
                let from = from.wrapping_add(c * width);
                if self.ahead != 0 && c * width % (cost::LINE as usize) < LANE {
                    for start in rows {
                        V::prefetch(from.wrapping_offset(*start as isize + self.ahead));
                    }
                }
                // SAFETY: `# Safety` of `columns`: a lane at each row is readable, since `Unit::beyond` counts what it reads after
                // the columns. The runs of a register are writable at each column that exists, since they are those of its rows;
                // with `SPREAD` they are fewer bytes than a register. The levels of a transpose of lanes are below those of a
                // register, and the tables are those of `spreads`.
                unsafe {
                    let mut held = [V::load(spread.as_ptr()); N];
                    for k in 0..N {
                        let mut starts = [from; 4];
                        for lane in 0..lanes {
                            starts[lane] = from.wrapping_offset(rows[lane * N + k] as isize);
                        }
                        held[k] = V::load_lanes(starts);
                        if SPREAD {
                            held[k] = held[k].arrange(spread.as_ptr());
                        }
                    }
                    match lanes {
                        1 => exchange::<V, true, N, 1>(&mut held, &[[0; 2]; 4]),
                        2 => exchange::<V, true, N, 2>(&mut held, &[[0; 2]; 4]),
                        _ => exchange::<V, true, N, 4>(&mut held, &[[0; 2]; 4]),
                    }
                    for (register, place) in held.into_iter().zip(&columns[c..]) {
                        if *place == ABSENT {
                            continue;
                        }
                        let to = to.wrapping_offset(*place as isize);
                        if SPREAD {
                            register.arrange(join.as_ptr()).store_first(to, long * width);
                        } else {
                            register.store(to);
                        }
                    }
                }
            }
        }
    }
}

// Whole tiles.

/// Tiles of `N` registers.
pub(super) struct Wholes<'a, const N: usize>(pub(super) TileLoop<'a>);

impl<const N: usize> Work for Wholes<'_, N> {
    /// The requirements are those of `TileLoop`; tiles are contiguous in the destination, and `N` registers hold what they
    /// span on each side. The last ones may overlap those before.
    #[inline(always)]
    unsafe fn with<V: Vector>(self) {
        let Wholes(tiles) = self;
        let (rows, columns) = tiles.tiled.size();
        let width = tiles.tiled.width();
        let last_out = rows * columns * width - V::BYTES;
        let read = tiles.tiled.rows.furthest() + tiles.tiled.columns.span(width);
        let last = read - V::BYTES;
        let tables = interleave::sized::<N>(&tiles.tiled.tables);
        for i in 0..tiles.along.extent as isize {
            let Some((from, to)) = tiles.whole(i) else { continue };
            if tiles.ahead != 0 {
                for k in 0..N {
                    V::prefetch(from.wrapping_offset(tiles.ahead).wrapping_add(k * V::BYTES));
                }
            }
            // SAFETY: `# Safety` of `Work::with`: the requirements of `Wholes` hold, and a tile is no shorter than a
            // register on either side, as `unit::whole` makes sure. `last` and `last_out` are where the last registers
            // that end within the tile begin, and none begins after them. The gaps between rows are readable, because
            // rows before and after them are in the same slice.
            unsafe {
                let mut held = [V::load(from); N];
                for (k, register) in held.iter_mut().enumerate().skip(1) {
                    *register = V::load(from.add((k * V::BYTES).min(last)));
                }
                let made = interleave::spread(held, tables);
                for (k, register) in made.into_iter().enumerate() {
                    register.store(to.add((k * V::BYTES).min(last_out)));
                }
            }
        }
    }
}

// Single runs.

/// The number of rows that are read at a time: their lines stay in the first-level cache.
const TOGETHER: usize = 256;

/// Tiles in single runs, copied by arrays of `N` bytes, at least the length of a run.
pub(super) struct Runs<'a, const N: usize>(pub(super) TileLoop<'a>);

impl<const N: usize> Work for Runs<'_, N> {
    /// The requirements are those of `TileLoop`; runs have `N` bytes, or rows are contiguous and runs have more than
    /// half of `N`.
    #[inline(always)]
    unsafe fn with<V: Vector>(self) {
        let Runs(tiles) = self;
        for i in 0..tiles.along.extent as isize {
            let Some((from, to)) = tiles.whole(i) else { continue };
            // SAFETY: `# Safety` of `Work::with`: the requirements of `Runs` hold, and `TileLoop::whole` found that the
            // units of tile `i` are within the source.
            unsafe { tiles.runs::<V, N>(from, to) }
        }
    }
}

impl TileLoop<'_> {
    /// Moves one tile, some rows of all columns at a time.
    ///
    /// # Safety
    /// Those of [`Runs`], for the tile at these places.
    #[inline(always)]
    unsafe fn runs<V: Vector, const N: usize>(&self, from: *const u8, to: *mut u8) {
        let (rows, columns) = (&self.tiled.rows, &self.tiled.columns);
        // The last row of a column is written exactly; the bytes beyond any other row belong to the next one.
        let Some((last, before)) = rows.table.split_last() else { return };
        for (group, table) in before.chunks(TOGETHER).enumerate() {
            let to = to.wrapping_add(group * TOGETHER * rows.step);
            for (c, column) in columns.table.iter().enumerate() {
                let from = from.wrapping_add(c * columns.step);
                let to = to.wrapping_offset(*column as isize);
                let new_line = c * columns.step % (cost::LINE as usize) < columns.step;
                let prefetches = self.ahead != 0 && new_line;
                for (r, row) in table.iter().enumerate() {
                    let from = from.wrapping_offset(*row as isize).cast::<[u8; N]>();
                    if prefetches {
                        V::prefetch(from.cast::<u8>().wrapping_offset(self.ahead));
                    }
                    let to = to.wrapping_add(r * rows.step).cast::<[u8; N]>();
                    // SAFETY: `# Safety` of `runs`: `N` bytes are readable at each run. What is written beyond a run is
                    // less than another run, and is in the next row of the column: `Unit::of` takes an `N` above the
                    // run only if rows are contiguous, and the last row is not among these.
                    unsafe { to.write_unaligned(from.read_unaligned()) };
                }
            }
        }
        let to = to.wrapping_add(before.len() * rows.step);
        for (c, column) in columns.table.iter().enumerate() {
            let from = from.wrapping_offset(*last as isize).wrapping_add(c * columns.step);
            let to = to.wrapping_offset(*column as isize);
            // SAFETY: `# Safety` of `runs`: every run of the tile is readable and writable. Exactly its
            // bytes are copied.
            unsafe { core::ptr::copy_nonoverlapping(from, to, self.tiled.width()) };
        }
    }
}
