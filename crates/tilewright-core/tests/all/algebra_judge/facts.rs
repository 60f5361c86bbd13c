//! Facts about one layout, by enumeration.

use tilewright_core::{Layout, Mode};

use crate::algebra_brute::Brute;

/// A layout with at least one coordinate and without a swizzle, and its table.
#[derive(Clone, Debug)]
pub(crate) struct Facts {
    pub(crate) layout: Layout,
    /// The offsets, colexicographically.
    pub(crate) table: Vec<i64>,
    /// The offsets, each once, ascending.
    pub(crate) set: Vec<i64>,
    pub(crate) low: i64,
    pub(crate) high: i64,
    /// The first index at each offset from `low` on.
    first: Vec<Option<u64>>,
    pub(crate) injective: bool,
    /// Set if the modes of nonzero stride never collide.
    pub(crate) apart: bool,
    /// Set if the modes, by absolute stride, never reach over the next.
    pub(crate) chained: bool,
}

impl Facts {
    pub(crate) fn of(layout: &Layout) -> Facts {
        let table = table(layout.offset(), layout.modes());
        let mut set = table.clone();
        set.sort_unstable();
        set.dedup();
        let (low, high) = (set[0], set[set.len() - 1]);
        let mut first = vec![None; (high - low + 1) as usize];
        for (index, offset) in table.iter().enumerate().rev() {
            first[(offset - low) as usize] = Some(index as u64);
        }
        let repeats: usize =
            layout.modes().iter().filter(|m| m.stride() == 0).map(extent).product();
        Facts {
            injective: set.len() == table.len(),
            apart: set.len() * repeats == table.len(),
            chained: chained(layout.modes()),
            layout: layout.clone(),
            table,
            set,
            low,
            high,
            first,
        }
    }

    /// Returns the first index at this offset.
    pub(crate) fn index(&self, offset: i64) -> Option<u64> {
        let at = usize::try_from(offset - self.low).ok()?;
        self.first.get(at).copied().flatten()
    }

    /// Returns the number of offsets from the smallest on that are reached without a gap.
    pub(crate) fn run(&self) -> u64 {
        self.run_from(self.low)
    }

    /// Returns the number of offsets from this one on that are reached without a gap.
    pub(crate) fn run_from(&self, first: i64) -> u64 {
        (first..).take_while(|&offset| self.index(offset).is_some()).count() as u64
    }

    pub(crate) fn size(&self) -> u64 {
        self.table.len() as u64
    }

    /// Returns the modes of the shortest layout with this table.
    pub(crate) fn coalesced(&self) -> Vec<Mode> {
        coalesced(&self.table)
    }
}

/// Returns the modes of the shortest flat layout with this table, which is the table of a layout.
pub(crate) fn coalesced(table: &[i64]) -> Vec<Mode> {
    let sequence = table.iter().map(|offset| offset - table[0]).collect();
    let mut brute = Brute { sequence, ..Brute::default() };
    assert!(brute.take_apart(), "{table:?}");
    brute.modes
}

fn extent(mode: &Mode) -> usize {
    mode.extent() as usize
}

/// Returns the offsets of these modes, the first varying fastest.
pub(crate) fn table(offset: i64, modes: &[Mode]) -> Vec<i64> {
    let mut table = vec![offset];
    for mode in modes {
        let size = table.len();
        for c in 1..mode.extent() as i64 {
            for i in 0..size {
                table.push(table[i] + c * mode.stride());
            }
        }
    }
    table
}

/// Returns the sums of two tables, the first varying fastest.
pub(crate) fn sums(fast: &[i64], slow: &[i64]) -> Vec<i64> {
    slow.iter().flat_map(|y| fast.iter().map(move |x| x + y)).collect()
}

/// Returns the modes of nonzero stride, smallest |stride| first, as (|stride|, extent).
pub(crate) fn ascending(modes: &[Mode]) -> Vec<(u64, u64)> {
    let moving = |m: &&Mode| m.extent() > 1 && m.stride() != 0;
    let mut all: Vec<(u64, u64)> =
        modes.iter().filter(moving).map(|m| (m.stride().unsigned_abs(), m.extent())).collect();
    all.sort_unstable();
    all
}

fn chained(modes: &[Mode]) -> bool {
    ascending(modes).windows(2).all(|pair| pair[0].0 * pair[0].1 <= pair[1].0)
}

/// Returns the steps of a complement: those that fit below each stride, then more up to `n` offsets and `count` steps.
pub(crate) fn star(modes: &[Mode], n: u64, count: u64) -> Vec<Mode> {
    let (mut steps, mut end, mut size) = (Vec::new(), 1, 1);
    for (stride, extent) in ascending(modes) {
        steps.push(Mode::new(stride / end, end as i64));
        size *= stride / end;
        end = stride * extent;
    }
    let rest = n.div_ceil(end).max(count.div_ceil(size)).max(1);
    steps.push(Mode::new(rest, end as i64));
    steps
}

/// Returns whether copies of the layout cover 0, 1, 2, … up to some end without overlap. The copies are forced: each
/// begins at the first offset that is not yet covered.
pub(crate) fn tiles(facts: &Facts) -> bool {
    let reach = (facts.high - facts.low + 1) as usize;
    let (mut covered, mut end) = (vec![false; 3 * reach], 0);
    let mut next = 0;
    while next < 2 * reach {
        for offset in &facts.set {
            let cell = &mut covered[next + (offset - facts.low) as usize];
            if *cell {
                return false;
            }
            *cell = true;
        }
        end = end.max(next + reach);
        next = covered.iter().position(|cell| !cell).unwrap_or(covered.len());
        if next >= end {
            return true;
        }
    }
    false
}

/// Returns the offsets of a layout by its own index function.
pub(crate) fn asked(layout: &Layout) -> Vec<i64> {
    (0..layout.size()).map(|i| layout.offset_of(i).unwrap_or(i64::MIN)).collect()
}
