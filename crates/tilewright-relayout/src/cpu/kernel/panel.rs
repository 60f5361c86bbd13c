//! Rows of the source that become columns of the destination, in loops of any extents.
//!
//! The loops that continue one another in the destination are the rows of a panel, those that continue one
//! another in the source its columns. Two tables say where each row begins in the source and each column in
//! the destination, so that extents need be no powers of two: a square of registers holds some neighbouring
//! rows and columns, whichever loops they come from. Squares at the end of either begin earlier, and move
//! some elements twice.

use super::{
    Tools,
    enter::{Work, enter},
    exchange::{exact, exchange, load},
    isa::Isa,
    vector::Vector,
};
use crate::{
    cpu::cost,
    program::region::{Loop, RegionRef, for_each},
};

/// The most rows or columns of a panel: tables stay in the first cache.
const MOST: u64 = 2048;

/// A region of which some loops are rows and others columns.
#[derive(Clone, Debug)]
pub(crate) struct Panel {
    register: usize,
    /// Where each row begins in the source, in bytes from the first.
    rows: Box<[i64]>,
    /// Where each column begins in the destination.
    columns: Box<[i64]>,
    /// The loops that are one of them, by their place in the region, and its run.
    inside: Box<[Option<Loop>]>,
    run: u64,
}

impl Panel {
    /// The panel of a region; `None` where its rows or columns fill no register.
    pub(crate) fn of(isa: Isa, region: &RegionRef<'_>) -> Option<Panel> {
        if region.packed || !region.run.is_power_of_two() || region.run > cost::LINE / 2 {
            return None;
        }
        let mut inside = vec![false; region.loops.len()];
        let mut rows = Side { end: region.run, table: vec![0] };
        let mut columns = Side { end: region.run, table: vec![0] };
        let grow = |of: &mut Side, inside: &mut [bool], rows: bool| {
            let sides =
                |turn: &Loop| if rows { (turn.dst, turn.src) } else { (turn.src, turn.dst) };
            let next = |i: &usize| !inside[*i] && sides(&region.loops[*i]).0 == of.end as i64;
            let found = (0..region.loops.len()).find(next);
            let grown = found
                .filter(|&i| of.grow(region.loops[i].extent, sides(&region.loops[i]).1).is_some());
            grown.map(|i| inside[i] = true).is_some()
        };
        loop {
            let few = rows.table.len() <= columns.table.len();
            let grown = [few, !few].into_iter().any(|of_rows| {
                let side = if of_rows { &mut rows } else { &mut columns };
                grow(side, &mut inside, of_rows)
            });
            if !grown {
                break;
            }
        }
        let least = rows.table.len().min(columns.table.len());
        let fits = |register: &usize| {
            let count = register / region.run as usize;
            *register <= isa.register() && (2..=16).contains(&count) && count <= least
        };
        let register = [64, 32, 16].into_iter().find(fits)?;
        let loops = region.loops.iter().zip(&inside).map(|(turn, inside)| inside.then_some(*turn));
        Some(Panel {
            register,
            rows: rows.table.into(),
            columns: columns.table.into(),
            inside: loops.collect(),
            run: region.run,
        })
    }

    /// Whether a part needs all turns of loop `i`.
    pub(crate) fn needs_all(&self, i: usize) -> bool {
        self.inside[i].is_some()
    }

    /// Whether a region has the rows and columns of this one.
    fn is_of(&self, region: &RegionRef<'_>) -> bool {
        let same = |(inside, turn): (&Option<Loop>, &Loop)| inside.is_none_or(|own| own == *turn);
        region.run == self.run
            && !region.packed
            && region.loops.len() == self.inside.len()
            && self.inside.iter().zip(region.loops).all(same)
    }

    /// The rows and columns.
    pub(crate) fn size(&self) -> (usize, usize) {
        (self.rows.len(), self.columns.len())
    }

    /// Moves a region that this was made for, or a part of it along loops that are neither rows nor columns.
    /// Returns whether it did: not if a byte lies outside the slices.
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
        let (width, isa, ahead) = (region.run as usize, tools.isa, tools.ahead as isize);
        let mut around = tools.scratch.take_loops(&[]);
        let outer = region.loops.iter().zip(&self.inside).filter(|(_, inside)| inside.is_none());
        around.extend(outer.map(|(turn, _)| *turn));
        let (source, target) = (src.as_ptr(), out.as_mut_ptr());
        for_each(&around, region.src, region.dst, &mut |from, to| {
            let from = source.wrapping_offset(from as isize);
            let to = target.wrapping_offset(to as isize);
            macro_rules! go {
                ($count:literal) => {
                    // SAFETY: every element of the region lies within the slices, one of which is
                    // exclusive, as `is_within` found; a square reads and writes elements of `rows` and
                    // `columns`, which are the loops of the region that are inside, as `is_of` found. The
                    // machine has the instruction set, as `Isa::chosen` and its callers make sure.
                    unsafe {
                        let squares = Squares::<$count> { panel: self, from, to, width, ahead };
                        enter(isa, self.register, squares);
                    }
                };
            }
            match self.register / width {
                2 => go!(2),
                4 => go!(4),
                8 => go!(8),
                _ => go!(16),
            }
        });
        tools.scratch.give_loops(around);
        true
    }
}

/// The rows, or the columns, as they are found.
struct Side {
    /// Where the next loop must go on, on the side where they are contiguous.
    end: u64,
    /// Where each begins on the other side.
    table: Vec<i64>,
}

impl Side {
    /// Adds a loop, if the table stays short.
    fn grow(&mut self, extent: u64, stride: i64) -> Option<()> {
        let len = self.table.len();
        let all = extent.checked_mul(len as u64).filter(|all| *all <= MOST)?;
        self.end = self.end.checked_mul(extent)?;
        for i in len..all as usize {
            self.table.push(self.table[i - len] + stride);
        }
        Some(())
    }
}

/// All squares of `N` rows and columns of a panel.
struct Squares<'a, const N: usize> {
    panel: &'a Panel,
    from: *const u8,
    to: *mut u8,
    width: usize,
    /// How far behind it what comes next lies in the source, or 0.
    ahead: isize,
}

impl<const N: usize> Work for Squares<'_, N> {
    /// Every element of the panel is readable at `from` and writable at `to`; registers have `N` elements.
    #[inline(always)]
    unsafe fn with<V: Vector>(self) {
        let Squares { panel, from, to, width, ahead } = self;
        let (rows, columns) = (&panel.rows, &panel.columns);
        for c in (0..columns.len()).step_by(N) {
            let c = c.min(columns.len() - N);
            let from = from.wrapping_add(c * width);
            let asks = ahead != 0 && c * width % (cost::LINE as usize) < V::BYTES;
            let places: &[i64; N] = exact(&columns[c..]);
            for r in (0..rows.len()).step_by(N) {
                let r = r.min(rows.len() - N);
                let starts: &[i64; N] = exact(&rows[r..]);
                if asks {
                    for start in starts {
                        V::prefetch(from.wrapping_offset(*start as isize + ahead));
                    }
                }
                // SAFETY: the caller's promise; the levels of a transpose are below those of a register.
                unsafe {
                    let mut held = load::<V, N>(from, starts);
                    exchange::<V, true, N, 1>(&mut held, &[[0; 2]; 4]);
                    let to = to.wrapping_add(r * width);
                    for (register, place) in held.into_iter().zip(places) {
                        register.store(to.wrapping_offset(*place as isize));
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Elements,
        cpu::{kernel::suite::some, scratch::Scratch, weave::Reach},
    };

    /// A region of these extents, the outermost of the source first, whose destination has its loops in this
    /// order; behind each outermost turn are so many bytes of nothing.
    fn region(extents: &[u64], order: &[usize], width: u64, gap: i64) -> Vec<Loop> {
        let mut loops: Vec<Loop> =
            extents.iter().map(|extent| Loop { extent: *extent, src: 0, dst: 0 }).collect();
        let mut src = width as i64;
        for (i, turn) in loops.iter_mut().enumerate().rev() {
            turn.src = src + if i == 0 { gap } else { 0 };
            src *= turn.extent as i64;
        }
        let mut dst = width as i64;
        for (n, &i) in order.iter().enumerate().rev() {
            loops[i].dst = dst + if n == 0 { gap } else { 0 };
            dst *= loops[i].extent as i64;
        }
        loops.sort_by_key(|turn| core::cmp::Reverse(turn.dst));
        loops
    }

    #[test]
    fn loops_of_any_extents_are_transposed_at_every_width() {
        let cases: [(&[u64], &[usize]); 7] = [
            (&[17, 19], &[1, 0]),
            (&[64, 64], &[1, 0]),
            (&[7, 5, 9], &[2, 1, 0]),
            (&[3, 7, 5, 11], &[3, 2, 1, 0]),
            (&[3, 5, 7, 6], &[0, 2, 3, 1]),
            (&[2, 33, 3, 12], &[0, 3, 1, 2]),
            (&[40, 3, 90], &[2, 0, 1]),
        ];
        let mut found = 0;
        for isa in Isa::ALL.iter().copied().filter(|isa| isa.is_here()) {
            for (extents, order) in some(&cases, 7) {
                for (width, gap) in
                    some(&[1, 2, 4, 8, 16, 32].map(|w| [(w, 0), (w, 3)]), 5).flatten()
                {
                    let loops = region(extents, order, width, gap);
                    let part =
                        RegionRef { packed: false, src: 5, dst: 9, run: width, loops: &loops };
                    let Some(panel) = Panel::of(isa, &part) else { continue };
                    found += 1;
                    let reach = |of: fn(&Loop) -> i64| {
                        (loops.iter().map(of).sum::<i64>() + width as i64) as usize
                    };
                    let (src, dst) = (reach(Loop::src_reach) + 5, reach(Loop::dst_reach) + 9);
                    let source: Vec<u8> = (0..src).map(|i| ((i * 167) >> 3) as u8).collect();
                    let (mut out, mut expected) = (vec![0xA5; dst], vec![0xA5; dst]);
                    for_each(&loops, part.src, part.dst, &mut |from, to| {
                        let (from, to, run) = (from as usize, to as usize, width as usize);
                        expected[to..][..run].copy_from_slice(&source[from..][..run]);
                    });
                    let scratch = &mut Scratch::default();
                    let (elements, reach) = (Elements::same(8), Reach::Near);
                    let mut tools = Tools { elements, isa, reach, ask: None, ahead: 4096, scratch };
                    assert!(panel.run(&mut tools, &part, &source, &mut out));
                    assert!(out == expected, "{} {extents:?} {order:?} {width}", isa.name());
                    // Nothing outside either slice is touched.
                    assert!(!panel.run(&mut tools, &part, &source[..src - 1], &mut out));
                    assert!(!panel.run(&mut tools, &part, &source, &mut out[..dst - 1]));
                    // Nor is a region of other rows or columns moved.
                    let mut other = loops.clone();
                    let i = (0..other.len()).find(|i| panel.needs_all(*i)).unwrap();
                    other[i].extent -= 1;
                    let other = RegionRef { loops: &other, ..part };
                    assert!(!panel.run(&mut tools, &other, &source, &mut out));
                }
            }
        }
        assert!(found >= if cfg!(miri) { 1 } else { 60 }, "{found}");
    }
}
