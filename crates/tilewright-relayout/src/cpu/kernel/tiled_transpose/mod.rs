//! Tiled transpose: rows of the source become columns of the destination, in loops of any extents and runs of any
//! length.
//!
//! The loops that continue one another in the destination are the rows of a tile, and the loops that continue one
//! another in the source are its columns. Two tables have the start of each row in the source and of each column in the
//! destination, so extents need not be powers of two. One step moves a [`Unit`]: a square of rows and columns, a whole
//! small tile, or one run.

mod unit;

use super::{Tools, isa::Isa, isa::enter};
use crate::{
    cpu::cost::{self, even, firsts},
    program::region::{Loop, RegionRef, for_each},
};
use unit::{Columns, Lines, Runs, Squares, Unit, Wholes};

/// The longest runs of a tile.
const LONGEST: u64 = 64;

/// The maximal bytes of a compact tile: both its sides are in a first-level cache.
const COMPACT: usize = 16 << 10;

/// The factor by which a tiled transpose must need fewer instructions than a register transpose to replace it, because
/// counts of instructions are rough. Of eleven random cases with compact tiles, five were 1.1 to 2.9 times as fast as
/// tiled transposes, and the factor selects these five.
const SURE: f64 = 1.25;

/// A region of which some loops are rows and others columns.
#[derive(Clone, Debug)]
pub(crate) struct TiledTranspose {
    unit: Unit,
    /// The source of the bytes of each written register, for a tile that is moved as a whole.
    tables: Box<[[u8; 64]]>,
    rows: PanelSide,
    columns: PanelSide,
    /// For each loop of the region, whether it is a row's or a column's.
    inside: Insides,
    run: u64,
}

impl TiledTranspose {
    /// Returns the tiled transpose of a region; `None` if none of its loops is a row, or none a column.
    pub(crate) fn of(isa: Isa, region: &RegionRef<'_>) -> Option<TiledTranspose> {
        if region.packed || region.run > LONGEST {
            return None;
        }
        let (rows, mut columns, inside) = sides(region)?;
        let run = region.run as usize;
        let least = |unit: &Unit, columns: &PanelSide| unit.instructions(rows.len(), columns.len());
        let mut unit = Unit::of(isa, run, &rows, &columns);
        if let Some(all) = columns.with_absent(run)
            && let Some(other) = Unit::of(isa, run, &rows, &all)
            && unit.is_none_or(|unit| least(&other, &all) < least(&unit, &columns))
        {
            (unit, columns) = (Some(other), all);
        }
        let unit = unit?;
        let tables = unit.tables(region.run as usize, &rows, &columns);
        Some(TiledTranspose { unit, tables, rows, columns, inside, run: region.run })
    }

    /// Returns the iterations that a part needs of loop `i`.
    pub(crate) fn least(&self, i: usize) -> u64 {
        self.inside[i].map_or(1, |inside| inside.taken)
    }

    /// Returns whether registers hold whole rows.
    pub(crate) fn reads_rows(&self) -> bool {
        matches!(self.unit, Unit::Lines { .. })
    }

    /// Returns whether registers also hold elements that are not moved, which are between those of columns.
    pub(crate) fn has_gaps(&self) -> bool {
        !self.columns.all_exist()
    }

    /// Returns whether registers are full of runs that are moved.
    pub(crate) fn is_dense(&self) -> bool {
        match self.unit {
            Unit::Square { count, .. } => count <= self.rows.len().min(self.columns.len()),
            Unit::Lines { .. } | Unit::Columns { .. } | Unit::Whole { .. } => true,
            Unit::Run { .. } => false,
        }
    }

    /// Returns the bytes of a tile.
    pub(crate) fn bytes(&self) -> usize {
        self.rows.len() * self.columns.len() * self.width()
    }

    /// Returns whether the tile has few bytes that are contiguous on both sides: a permutation within a first-level
    /// cache.
    pub(crate) fn is_compact(&self) -> bool {
        let (rows, columns) = (&self.rows, &self.columns);
        let bytes = self.bytes();
        let together = rows.step == self.width() && columns.step == self.width();
        bytes <= COMPACT
            && together
            && rows.are_apart(columns.len() * self.width())
            && columns.are_apart(rows.len() * self.width())
    }

    /// Returns whether a compact tile is faster than a register transpose with this many instructions per line;
    /// `twice` tells whether the units of the latter move some elements twice.
    pub(crate) fn beats(&self, instructions: f64, twice: bool) -> bool {
        let whole = matches!(self.unit, Unit::Whole { .. });
        twice && whole || self.instructions() * SURE <= instructions
    }

    /// Returns the approximate number of instructions per line.
    pub(crate) fn instructions(&self) -> f64 {
        let (rows, columns) = self.size();
        let lines = (rows * self.columns.existing() * self.width()) as f64 / cost::LINE as f64;
        self.unit.instructions(rows, columns) as f64 / lines
    }

    /// Returns whether a region has the rows and columns of this one.
    fn is_of(&self, region: &RegionRef<'_>) -> bool {
        let same = |(inside, level): (&Option<Inside>, &Loop)| {
            inside.is_none_or(|Inside { level: own, taken, .. }| {
                (own.src, own.dst) == (level.src, level.dst) && taken <= level.extent
            })
        };
        region.run == self.run
            && !region.packed
            && region.loops.len() == self.inside.len()
            && self.inside.iter().zip(region.loops).all(same)
    }

    /// Returns the numbers of rows and columns.
    pub(crate) fn size(&self) -> (usize, usize) {
        (self.rows.len(), self.columns.len())
    }

    /// Moves the region for which this was made, or a part of it with at least the extents of a tile. Returns whether
    /// it did; it does nothing if a byte is outside the slices.
    pub(crate) fn run(
        &self,
        tools: &mut Tools<'_>,
        region: &RegionRef<'_>,
        src: &[u8],
        out: &mut [u8],
    ) -> bool {
        if !region.is_within(src.len(), out.len()) || !self.is_of(region) {
            return false;
        }
        let (isa, ahead) = (tools.isa, tools.ahead as isize);
        let mut around = tools.scratch.take_loops(&[]);
        let outer = region.loops.iter().zip(&self.inside).filter(|(_, inside)| inside.is_none());
        around.extend(outer.map(|(level, _)| *level));
        // The last loop around tiles runs within the function that has the instruction set.
        let along = around.pop().unwrap_or(Loop { extent: 1, src: 0, dst: 0 });
        let (shift_src, shift_dst) = self.shift();
        let reads = self.rows.furthest() + self.columns.span(self.width());
        let reads = reads + self.unit.beyond(self.width(), &self.columns);
        let mut done = true;
        let mut along_one = |from: i64, to: i64| {
            let (from, to) = (from + shift_src, to + shift_dst);
            let tiles = TileLoop {
                tiled: self,
                along,
                from: src.as_ptr().wrapping_offset(from as isize),
                to: out.as_mut_ptr().wrapping_offset(to as isize),
                ahead,
                // The bytes after the first tile at which a tile may begin whose units are completely in the source.
                whole: src.len() as isize - reads as isize - from as isize,
            };
            // SAFETY: every element of the region is within the slices, one of which is exclusive, as `is_within`
            // found; tiles read and write elements of `rows` and `columns`, which are iterations of the region's loops
            // that are inside, as `is_of` found, and `whole` says where units are within the source. The machine has
            // the instruction set, as `Isa::chosen` and its callers make sure.
            done &= unsafe { tiles.run(isa) };
        };
        self.each(region.loops, (region.src, region.dst), &mut |from, to| {
            for_each(&around, from, to, &mut along_one);
        });
        tools.scratch.give_loops(around);
        done
    }

    /// Returns the distance from the first iterations of a tile to its first row and column on each side: loops that run backward in
    /// the source are columns from their last iteration on.
    fn shift(&self) -> (i64, i64) {
        let backward = self.inside.iter().flatten().filter(|inside| inside.is_backward);
        backward.fold((0, 0), |(src, dst), Inside { level, taken, .. }| {
            let last = *taken as i64 - 1;
            (src + last * level.src, dst + last * level.dst)
        })
    }

    /// Calls `f` with the positions of each tile of these loops, beginning with a first one, but not along the loops
    /// around them.
    fn each(&self, loops: &[Loop], (from, to): (i64, i64), f: &mut dyn FnMut(i64, i64)) {
        let done = self.inside.len() - loops.len();
        match loops.split_first().zip(self.inside.get(done)) {
            None => f(from, to),
            Some(((_, rest), None)) => self.each(rest, (from, to), f),
            Some(((level, rest), Some(inside))) => {
                for at in firsts(level.extent, inside.taken) {
                    self.each(rest, (from + at * level.src, to + at * level.dst), f);
                }
            }
        }
    }

    /// Returns the bytes of a run.
    fn width(&self) -> usize {
        self.run as usize
    }
}

/// The tiles along one loop.
///
/// Every element of each tile is readable at its place from `from` on and writable at its place from `to` on. For
/// tiles that begin at most `whole` bytes after `from`, what units read beyond the end of their row is readable, too.
#[derive(Clone, Copy)]
struct TileLoop<'a> {
    tiled: &'a TiledTranspose,
    along: Loop,
    from: *const u8,
    to: *mut u8,
    /// The distance in the source to the data that comes next, or 0.
    ahead: isize,
    whole: isize,
}

impl TileLoop<'_> {
    /// Moves the tiles. Returns whether the instruction set has their registers.
    ///
    /// # Safety
    /// What `TileLoop` states holds, and nobody else uses what is written; the machine has the instruction set.
    unsafe fn run(self, isa: Isa) -> bool {
        macro_rules! go {
            ($register:expr, $work:expr) => {
                // SAFETY: `# Safety` of `TileLoop::run`: what `TileLoop` states holds, and the machine has the
                // instruction set. Each kind of work requires no more than that and the counts of its unit, which
                // `Unit::of` chose.
                unsafe { enter(isa, $register, $work) }
            };
        }
        match self.tiled.unit {
            Unit::Square { register, count } => match count {
                2 => go!(register, Squares::<2>(self)),
                4 => go!(register, Squares::<4>(self)),
                8 => go!(register, Squares::<8>(self)),
                _ => go!(register, Squares::<16>(self)),
            },
            Unit::Lines { register, count } => match count {
                2 => go!(register, Lines::<2>(self)),
                4 => go!(register, Lines::<4>(self)),
                8 => go!(register, Lines::<8>(self)),
                _ => go!(register, Lines::<16>(self)),
            },
            Unit::Columns { register, count, spread: false } => match count {
                2 => go!(register, Columns::<2, false>(self)),
                4 => go!(register, Columns::<4, false>(self)),
                8 => go!(register, Columns::<8, false>(self)),
                _ => go!(register, Columns::<16, false>(self)),
            },
            Unit::Columns { register, count, spread: true } => match count {
                2 => go!(register, Columns::<2, true>(self)),
                _ => go!(register, Columns::<4, true>(self)),
            },
            Unit::Whole { register, count } => match count {
                1 => go!(register, Wholes::<1>(self)),
                2 => go!(register, Wholes::<2>(self)),
                3 => go!(register, Wholes::<3>(self)),
                _ => go!(register, Wholes::<4>(self)),
            },
            Unit::Run { copied } => match copied {
                1 => go!(isa.register(), Runs::<1>(self)),
                2 => go!(isa.register(), Runs::<2>(self)),
                4 => go!(isa.register(), Runs::<4>(self)),
                8 => go!(isa.register(), Runs::<8>(self)),
                16 => go!(isa.register(), Runs::<16>(self)),
                32 => go!(isa.register(), Runs::<32>(self)),
                _ => go!(isa.register(), Runs::<64>(self)),
            },
        }
    }

    /// Returns the places of tile `i`, if its units are within the source; otherwise copies its runs one by one.
    #[inline(always)]
    fn whole(&self, i: isize) -> Option<(*const u8, *mut u8)> {
        let at = i * self.along.src as isize;
        let from = self.from.wrapping_offset(at);
        let to = self.to.wrapping_offset(i * self.along.dst as isize);
        if at > self.whole {
            self.exactly(from, to);
            return None;
        }
        Some((from, to))
    }

    /// Copies the runs of a tile, and reads and writes nothing else.
    #[cold]
    fn exactly(&self, from: *const u8, to: *mut u8) {
        let TiledTranspose { rows, columns, .. } = self.tiled;
        for (c, column) in columns.table.iter().enumerate().filter(|(_, at)| **at != ABSENT) {
            for (r, row) in rows.table.iter().enumerate() {
                let from = from.wrapping_offset(*row as isize).wrapping_add(c * columns.step);
                let to = to.wrapping_offset(*column as isize).wrapping_add(r * rows.step);
                // SAFETY: every element of a tile is readable and writable, as `TileLoop` states.
                unsafe { core::ptr::copy_nonoverlapping(from, to, self.tiled.width()) };
            }
        }
    }
}

// The two sides of a tile: the loops of a region that form them, and the start of each row and column.

/// The maximal number of rows or columns of a tile: tables stay in the first-level cache.
const MOST: u64 = 2048;

/// The start of a column that does not exist: its elements are between those of others in the source, and are not moved.
const ABSENT: i64 = i64::MIN;

/// The most columns of which one exists.
const MOST_ABSENT: usize = 4;

/// The rows, which are consecutive in the destination, or the columns, which are consecutive in the source.
#[derive(Clone, Debug)]
struct PanelSide {
    /// The bytes from one to the next, on the side where they are consecutive.
    step: usize,
    /// The start of each on the other side, in bytes from the first.
    table: Vec<i64>,
}

impl PanelSide {
    /// Returns their number.
    fn len(&self) -> usize {
        self.table.len()
    }

    /// Returns the highest start on the other side, at least that of the first.
    fn furthest(&self) -> usize {
        self.table.iter().max().map_or(0, |at| *at as usize)
    }

    /// Returns the bytes that runs of `run` bytes span on their side.
    fn span(&self, run: usize) -> usize {
        (self.len() - 1) * self.step + run
    }

    /// Returns whether none begins before the first on the other side.
    fn begin_first(&self) -> bool {
        self.table.iter().all(|at| *at >= 0)
    }

    /// Returns whether these begin `by` bytes apart on the other side, in any order, from 0 on.
    fn are_apart(&self, by: usize) -> bool {
        let mut table = self.table.clone();
        table.sort_unstable();
        table.iter().enumerate().all(|(i, at)| *at == (i * by) as i64)
    }

    /// Returns the number of columns that are not [absent](ABSENT).
    fn existing(&self) -> usize {
        self.table.iter().filter(|at| **at != ABSENT).count()
    }

    /// Returns whether no column is [absent](ABSENT).
    fn all_exist(&self) -> bool {
        self.existing() == self.len()
    }

    /// Returns these columns with those between them, which do not exist; `None` if there are none or too many.
    fn with_absent(&self, run: usize) -> Option<PanelSide> {
        let apart = self.step / run;
        if !self.step.is_multiple_of(run) || !(2..=MOST_ABSENT).contains(&apart) {
            return None;
        }
        let mut table = vec![ABSENT; (self.len() - 1) * apart + 1];
        table.iter_mut().step_by(apart).zip(&self.table).for_each(|(at, column)| *at = *column);
        Some(PanelSide { step: run, table })
    }

    /// Adds some iterations of a loop with this stride on the other side.
    fn grow(&mut self, iterations: u64, stride: i64) -> Option<()> {
        let len = self.len();
        for i in len..len * iterations as usize {
            self.table.push(self.table[i - len].checked_add(stride)?);
        }
        Some(())
    }
}

/// A loop of the rows or columns, and its extent in a tile.
#[derive(Clone, Copy, Debug)]
struct Inside {
    level: Loop,
    taken: u64,
    /// True for columns that run backward in the source.
    is_backward: bool,
}

/// A side while its loops are found.
struct Growing {
    side: PanelSide,
    /// True if it takes all iterations of its loops.
    is_whole: bool,
    /// The strides of a loop on its side and on the other.
    own: fn(&Loop) -> i64,
    other: fn(&Loop) -> i64,
    /// True if loops that run backward in the source begin with their last iteration.
    turns: bool,
}

impl Growing {
    fn rows(run: u64) -> Growing {
        let side = PanelSide { step: run as usize, table: vec![0] };
        let (own, other): (fn(&Loop) -> i64, _) = (|level| level.dst, |level: &Loop| level.src);
        Growing { side, is_whole: true, own, other, turns: false }
    }

    fn columns(run: u64) -> Growing {
        let (own, other) = (|level: &Loop| level.src.abs(), forward);
        Growing { own, other, turns: true, ..Growing::rows(run) }
    }

    /// Adds the loop that continues the others, or the first one, and marks it. Returns whether there is one.
    fn grow(&mut self, loops: &[Loop], inside: &mut [Option<Inside>]) -> bool {
        let free = |i: &usize| inside[*i].is_none();
        let Some(end) = self.side.len().checked_mul(self.side.step) else { return false };
        let next = |i: &usize| free(i) && (self.own)(&loops[*i]) == end as i64;
        let nearest = || {
            let apart = |i: &usize| free(i) && (self.own)(&loops[*i]) > end as i64;
            (0..loops.len()).filter(apart).min_by_key(|i| (self.own)(&loops[*i]))
        };
        let first = self.side.len() == 1;
        let found = (0..loops.len()).find(next).or_else(|| if first { nearest() } else { None });
        let Some(i) = found else { return false };
        let (level, room) = (loops[i], MOST / self.side.len() as u64);
        // The loop is cut into parts of even size if the table has no room for all iterations; nothing continues it
        // then.
        let taken = even(level.extent, room);
        if self.is_whole && taken > 1 && self.side.grow(taken, (self.other)(&level)).is_some() {
            if first {
                self.side.step = (self.own)(&level) as usize;
            }
            self.is_whole = taken == level.extent;
            let is_backward = self.turns && level.src < 0;
            inside[i] = Some(Inside { level, taken, is_backward });
            return true;
        }
        false
    }
}

/// Returns the stride of a loop in the destination, in the direction in which it runs forward in the source.
fn forward(level: &Loop) -> i64 {
    level.dst * level.src.signum()
}

/// The loops of a region that are rows or columns, by their position in it.
type Insides = Box<[Option<Inside>]>;

/// Returns the rows and columns of a region, and the loops that form them; `None` if there is only one row or one
/// column.
fn sides(region: &RegionRef<'_>) -> Option<(PanelSide, PanelSide, Insides)> {
    let mut inside = vec![None; region.loops.len()];
    let (mut rows, mut columns) = (Growing::rows(region.run), Growing::columns(region.run));
    loop {
        // The shorter side grows first, so that both become long.
        let (short, long) = if rows.side.len() <= columns.side.len() {
            (&mut rows, &mut columns)
        } else {
            (&mut columns, &mut rows)
        };
        if !short.grow(region.loops, &mut inside) && !long.grow(region.loops, &mut inside) {
            break;
        }
    }
    let several = rows.side.len() > 1 && columns.side.len() > 1;
    several.then(|| (rows.side, columns.side, inside.into_boxed_slice()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Elements;
    use crate::cpu::kernel::suite::some;
    use crate::cpu::scratch::Scratch;
    use crate::cpu::transpose::Locality;

    /// Returns the loops of a region with these extents, the outermost of the source first, whose destination has its
    /// loops in this order; `gap` unused bytes follow each outermost iteration.
    fn region(extents: &[u64], order: &[usize], width: u64, gap: i64) -> Vec<Loop> {
        let mut loops: Vec<Loop> =
            extents.iter().map(|extent| Loop { extent: *extent, src: 0, dst: 0 }).collect();
        let mut src = width as i64;
        for (i, level) in loops.iter_mut().enumerate().rev() {
            level.src = src + if i == 0 { gap } else { 0 };
            src *= level.extent as i64;
        }
        let mut dst = width as i64;
        for (n, &i) in order.iter().enumerate().rev() {
            loops[i].dst = dst + if n == 0 { gap } else { 0 };
            dst *= loops[i].extent as i64;
        }
        tilewright_core::sort_short(&mut loops, |level| core::cmp::Reverse(level.dst));
        loops
    }

    #[test]
    fn loops_of_any_extents_are_transposed_at_every_width() {
        let cases: [(&[u64], &[usize]); 14] = [
            (&[12, 4], &[1, 0]),
            (&[5, 3, 17], &[0, 2, 1]),
            (&[9, 13, 40], &[0, 2, 1]),
            (&[33, 2, 7], &[0, 2, 1]),
            (&[6, 300, 5], &[2, 0, 1]),
            (&[9, 3000], &[1, 0]),
            (&[4500, 3], &[1, 0]),
            (&[17, 19], &[1, 0]),
            (&[64, 64], &[1, 0]),
            (&[7, 5, 9], &[2, 1, 0]),
            (&[3, 7, 5, 11], &[3, 2, 1, 0]),
            (&[3, 5, 7, 6], &[0, 2, 3, 1]),
            (&[2, 33, 3, 12], &[0, 3, 1, 2]),
            (&[40, 3, 90], &[2, 0, 1]),
        ];
        let (mut found, mut tried) = (0, 0_usize);
        for isa in Isa::ALL.iter().copied().filter(|isa| isa.is_here()) {
            for (extents, order) in some(&cases, 7) {
                for (width, gap) in some(
                    &[1, 2, 3, 4, 5, 6, 8, 12, 16, 22, 32, 33, 48, 64].map(|w| [(w, 0), (w, 3)]),
                    5,
                )
                .flatten()
                {
                    let mut loops = region(extents, order, width, gap);
                    // Some loops run backward in the source.
                    tried += 1;
                    let flipped = tried % 8;
                    let mut first = 5;
                    let turned =
                        loops.iter_mut().enumerate().filter(|(i, _)| flipped >> i & 1 == 1);
                    for (_, level) in turned {
                        first += level.src_reach();
                        level.src = -level.src;
                    }
                    let part =
                        RegionRef { packed: false, src: first, dst: 9, run: width, loops: &loops };
                    let Some(tiled) = TiledTranspose::of(isa, &part) else { continue };
                    found += 1;
                    let reach = |of: fn(&Loop) -> i64| {
                        (loops.iter().map(|level| of(level).abs()).sum::<i64>() + width as i64)
                            as usize
                    };
                    let (src, dst) = (reach(Loop::src_reach) + 5, reach(Loop::dst_reach) + 9);
                    let source: Vec<u8> = (0..src).map(|i| ((i * 167) >> 3) as u8).collect();
                    let (mut out, mut expected) = (vec![0xA5; dst], vec![0xA5; dst]);
                    for_each(&loops, part.src, part.dst, &mut |from, to| {
                        let (from, to, run) = (from as usize, to as usize, width as usize);
                        expected[to..][..run].copy_from_slice(&source[from..][..run]);
                    });
                    let scratch = &mut Scratch::default();
                    let (elements, locality) = (Elements::same(8), Locality::Cache);
                    let mut tools =
                        Tools { elements, isa, locality, prefetch: None, ahead: 4096, scratch };
                    assert!(tiled.run(&mut tools, &part, &source, &mut out));
                    assert!(out == expected, "{} {extents:?} {order:?} {width}", isa.name());
                    // Nothing outside either slice is touched.
                    assert!(!tiled.run(&mut tools, &part, &source[..src - 1], &mut out));
                    assert!(!tiled.run(&mut tools, &part, &source, &mut out[..dst - 1]));
                    // A region of other rows or columns is not moved either.
                    let mut other = loops.clone();
                    let i = (0..other.len()).find(|i| tiled.least(*i) > 1).unwrap();
                    other[i].extent = tiled.least(i) - 1;
                    let other = RegionRef { loops: &other, ..part };
                    assert!(!tiled.run(&mut tools, &other, &source, &mut out));
                }
            }
        }
        assert!(found >= if cfg!(miri) { 1 } else { 60 }, "{found}");
    }

    /// Rows have gaps in the source, and may overlap. Nothing outside either slice is read or written.
    #[test]
    fn small_tiles_with_gaps_between_rows_are_moved_whole() {
        let mut whole = 0;
        for isa in Isa::ALL.iter().copied().filter(|isa| isa.is_here()) {
            for (rows, columns, run) in [(4, 8, 1), (2, 16, 1), (4, 5, 2), (3, 3, 4), (7, 9, 1)] {
                for pitch in [0, 3, columns * run, columns * run + 1, 16, 37] {
                    let loops = [
                        Loop { extent: 6, src: 200, dst: (rows * columns * run) as i64 },
                        Loop { extent: columns, src: run as i64, dst: (rows * run) as i64 },
                        Loop { extent: rows, src: pitch as i64, dst: run as i64 },
                    ];
                    let part = RegionRef { packed: false, src: 2, dst: 5, run, loops: &loops };
                    let Some(tiled) = TiledTranspose::of(isa, &part) else { continue };
                    whole += usize::from(matches!(tiled.unit, Unit::Whole { .. }));
                    let reach = loops.iter().map(Loop::src_reach).sum::<i64>() as u64 + run + 2;
                    let source: Vec<u8> = (0..reach).map(|i| ((i * 167) >> 3) as u8).collect();
                    let mut expected = vec![0xA5; (6 * rows * columns * run) as usize + 5];
                    for_each(&loops, 2, 5, &mut |from, to| {
                        let (from, to, run) = (from as usize, to as usize, run as usize);
                        expected[to..][..run].copy_from_slice(&source[from..][..run]);
                    });
                    let mut out = vec![0xA5; expected.len()];
                    let mut tools = Tools {
                        elements: Elements::same(8),
                        isa,
                        locality: Locality::Cache,
                        prefetch: None,
                        ahead: 0,
                        scratch: &mut Scratch::default(),
                    };
                    assert!(tiled.run(&mut tools, &part, &source, &mut out));
                    assert!(out == expected, "{} {rows} {columns} {run} {pitch}", isa.name());
                }
            }
        }
        assert!(whole > 8, "{whole}");
    }

    /// Columns run backward in the source, or only one of several elements is a column, at every width and number of columns.
    /// Nothing outside either slice is read or written.
    #[test]
    fn columns_run_backward_and_have_gaps() {
        let (mut long, mut spread, mut gaps, mut backward) = (0, 0, 0, 0);
        for isa in Isa::ALL.iter().copied().filter(|isa| isa.is_here()) {
            for (rows, run, columns) in some(
                &[(70, 1), (70, 2), (33, 3), (40, 4), (19, 5), (16, 6), (9, 7), (17, 8)]
                    .map(|(rows, run)| [2, 3, 5, 13, 17, 40].map(|columns| (rows, run, columns))),
                2,
            )
            .flatten()
            {
                for apart in [1, 2, 3, 4, -1, -2, -3, -5] {
                    let pitch = (columns * run) as i64 * i64::abs(apart) + 3;
                    let loops = [
                        Loop { extent: 2, src: pitch * rows as i64, dst: 20_000 },
                        Loop {
                            extent: columns,
                            src: run as i64 * apart,
                            dst: 130 + (run * rows) as i64,
                        },
                        Loop { extent: rows, src: pitch, dst: run as i64 },
                    ];
                    let first = if apart < 0 { -loops[1].src_reach() } else { 0 };
                    let part = RegionRef { packed: false, src: first, dst: 0, run, loops: &loops };
                    let Some(tiled) = TiledTranspose::of(isa, &part) else { continue };
                    match tiled.unit {
                        Unit::Columns { spread: true, .. } => spread += 1,
                        Unit::Columns { .. } => long += 1,
                        _ => (), // open set
                    }
                    gaps += usize::from(!tiled.columns.all_exist());
                    backward += usize::from(tiled.shift() != (0, 0));
                    let reach = |of: fn(&Loop) -> i64| {
                        (loops.iter().map(|level| of(level).abs()).sum::<i64>() + run as i64)
                            as usize
                    };
                    let (from, to) = (reach(Loop::src_reach), reach(Loop::dst_reach));
                    let source: Vec<u8> = (0..from).map(|i| ((i * 167) >> 3) as u8).collect();
                    let (mut out, mut expected) = (vec![0xA5; to], vec![0xA5; to]);
                    for_each(&loops, part.src, part.dst, &mut |from, to| {
                        let (from, to, run) = (from as usize, to as usize, run as usize);
                        expected[to..][..run].copy_from_slice(&source[from..][..run]);
                    });
                    let scratch = &mut Scratch::default();
                    let (elements, locality) = (Elements::same(8), Locality::Cache);
                    let mut tools =
                        Tools { elements, isa, locality, prefetch: None, ahead: 64, scratch };
                    assert!(tiled.run(&mut tools, &part, &source, &mut out));
                    assert!(out == expected, "{} {rows} {columns} {run} {apart}", isa.name());
                }
            }
        }
        let least = if cfg!(miri) { 0 } else { 10 };
        let found = [long, spread, gaps, backward];
        assert!(found.iter().all(|found| *found >= least), "{found:?}");
    }
}
