//! The two sides of a panel, its rows and its columns: which loops of a region they are, and where each row
//! and column begins.

use crate::{
    cpu::shape::even,
    program::region::{Loop, RegionRef},
};

/// The most rows or columns of a panel: tables stay in the first cache.
const MOST: u64 = 2048;

/// The rows, which follow one another in the destination, or the columns, which do in the source.
#[derive(Clone, Debug)]
pub(super) struct Side {
    /// The bytes from one to the next, on the side where they follow one another.
    pub(super) step: usize,
    /// Where each begins on the other side, in bytes from the first.
    pub(super) table: Vec<i64>,
}

impl Side {
    /// How many they are.
    pub(super) fn len(&self) -> usize {
        self.table.len()
    }

    /// Where the last of them begins on the other side, or where the first does if that is further.
    pub(super) fn furthest(&self) -> usize {
        self.table.iter().max().map_or(0, |at| *at as usize)
    }

    /// The bytes that runs of `run` bytes span on their side.
    pub(super) fn span(&self, run: usize) -> usize {
        (self.len() - 1) * self.step + run
    }

    /// Whether these begin `by` bytes apart on the other side, in any order, from 0 on.
    pub(super) fn are_apart(&self, by: usize) -> bool {
        let mut table = self.table.clone();
        table.sort_unstable();
        table.iter().enumerate().all(|(i, at)| *at == (i * by) as i64)
    }

    /// Adds some turns of a loop of this stride on the other side.
    fn grow(&mut self, turns: u64, stride: i64) -> Option<()> {
        let len = self.len();
        for i in len..len * turns as usize {
            self.table.push(self.table[i - len].checked_add(stride)?);
        }
        Some(())
    }
}

/// A loop that is a row's or a column's, and the turns of it that a panel takes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Inside {
    pub(super) turn: Loop,
    pub(super) taken: u64,
}

/// A side, while its loops are found.
struct Growing {
    side: Side,
    /// Whether it takes all turns of its loops.
    is_whole: bool,
    /// The strides of a loop on its side and on the other.
    own: fn(&Loop) -> i64,
    other: fn(&Loop) -> i64,
}

impl Growing {
    fn new(run: u64, own: fn(&Loop) -> i64, other: fn(&Loop) -> i64) -> Growing {
        Growing { side: Side { step: run as usize, table: vec![0] }, is_whole: true, own, other }
    }

    /// Adds the loop that goes on where the others end, or the first one; marks it. Returns whether there is
    /// one.
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
        let (turn, room) = (loops[i], MOST / self.side.len() as u64);
        // Parts of even size where the table has no room for all turns; nothing follows them.
        let taken = even(turn.extent, room);
        if self.is_whole && taken > 1 && self.side.grow(taken, (self.other)(&turn)).is_some() {
            if first {
                self.side.step = (self.own)(&turn) as usize;
            }
            self.is_whole = taken == turn.extent;
            inside[i] = Some(Inside { turn, taken });
            return true;
        }
        false
    }
}

/// The loops of a region that are rows or columns, by their place in it.
pub(super) type Insides = Box<[Option<Inside>]>;

/// The rows and columns of a region, and which of its loops they are; `None` where there is but one of either.
pub(super) fn sides(region: &RegionRef<'_>) -> Option<(Side, Side, Insides)> {
    let mut inside = vec![None; region.loops.len()];
    let mut rows = Growing::new(region.run, |turn| turn.dst, |turn| turn.src);
    let mut columns = Growing::new(region.run, |turn| turn.src, |turn| turn.dst);
    loop {
        // The shorter side first: both become long.
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
