//! Walks the elements of a range of the destination without walking what precedes the range. It halves boxes of digits
//! until they are small and skips boxes whose bounds miss the range. The remaining boxes are leaves: an inner table of
//! offsets within an outer table.
//!
//! Law: the leaves of disjoint ranges that cover the destination visit every element once.

use core::ops::Range;

use tilewright_core::Swizzle;

use crate::program::{
    digits::{DigitRange, Digits, Group, Progression, run},
    swizzled::SwizzledSide,
};

/// In a box that the range cuts, digits that reach at most this many elements are not halved.
const CUT: u64 = 64;

/// Elements whose offsets differ only in this many last bits are in one line.
const LINE: u32 = 4;

/// The maximal number of halvings in a search for the next elements.
const SEEK: u32 = 10_000;

/// The offsets of an element in the source and in the destination, in elements.
pub(crate) type Offsets = (i64, i64);

/// The elements at `outer[i] + inner[j]`, each followed by the rest of a run of `run` elements.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Leaf<'a> {
    pub(crate) outer: &'a [Offsets],
    pub(crate) inner: &'a [Offsets],
    pub(crate) run: u64,
}

/// A part of the elements of a walk.
pub(crate) enum WalkItem<'a> {
    Leaf(&'a Leaf<'a>),
    /// A box of digits: its source offsets are a base plus one summand of each part.
    Box(i64, &'a mut [Vec<i64>]),
}

/// The maximal number of summands of a box.
const SUMMANDS: u64 = 1 << 14;

/// A walk through the elements whose destination offsets are in a range.
struct ElementWalk<'a> {
    groups: &'a Digits,
    range: Range<i64>,
    /// The smallest range of unswizzled offsets that contains `range`.
    around: Range<i64>,
    /// The values of each digit in the current box.
    loops: Vec<Range<u64>>,
    registers: Vec<Progression>,
    /// True if boxes are passed on as sums.
    boxed: bool,
}

/// The tables of one leaf.
#[derive(Default)]
struct LeafTables {
    outer: Vec<Offsets>,
    inner: Vec<Offsets>,
    /// The part of one group.
    part: Vec<Offsets>,
    /// The part of the inner table that a row needs.
    row: Vec<Offsets>,
    atoms: Vec<Offsets>,
}

impl Digits {
    /// Calls `f` with the elements whose destination offsets are in `range`, as leaves.
    pub(crate) fn walk(&self, range: Range<i64>, f: &mut dyn FnMut(&Leaf<'_>)) {
        self.walk_as(range, false, &mut |found| {
            if let WalkItem::Leaf(leaf) = found {
                f(leaf);
            }
            true
        });
    }

    /// Calls `f` with the elements whose destination offsets are in `range`: with boxes that are completely in the range,
    /// largest first, until it returns true, else with leaves.
    pub(crate) fn walk_boxes(&self, range: Range<i64>, f: &mut dyn FnMut(WalkItem<'_>) -> bool) {
        let (src, dst) = self.swizzles;
        self.walk_as(range, src.is_identity() && dst.is_identity(), f);
    }

    fn walk_as(&self, range: Range<i64>, boxed: bool, f: &mut dyn FnMut(WalkItem<'_>) -> bool) {
        if range.is_empty() || self.empty {
            return;
        }
        // A swizzle permutes aligned windows. A range ends within the storage, below 2⁶³.
        let window = self.swizzles.1.window() as i64;
        let last = (range.end - 1) / window * window;
        let around = range.start / window * window..last.saturating_add(window);
        let values = |digit: &DigitRange| digit.first..digit.first + digit.extent;
        let loops = self.digits.iter().map(values).collect();
        let registers = Vec::new();
        let mut walk = ElementWalk { groups: self, range, around, loops, registers, boxed };
        walk.visit(&mut LeafTables::default(), f);
    }
}

impl Digits {
    /// Returns a range of destination offsets below `capacity` that contains all elements.
    pub(crate) fn span(&self, capacity: u64) -> Range<u64> {
        let reach = |digit: &DigitRange| {
            let values = digit.values();
            let ends =
                [values.start as i64, values.end as i64 - 1].map(|value| value * digit.stride);
            (ends[0].min(ends[1]), ends[0].max(ends[1]))
        };
        let reaches = self.digits.iter().map(reach);
        let (low, high) =
            reaches.fold((self.base.1, self.base.1), |at, reach| (at.0 + reach.0, at.1 + reach.1));
        // A swizzle permutes aligned windows.
        let window = self.swizzles.1.window();
        let end = (high as u64 / window + 1).saturating_mul(window);
        low as u64 / window * window..end.min(capacity)
    }

    /// Returns an offset such that no element of the destination is between `from` and it. Returns `None` if there is
    /// no element at `from` or later.
    pub(crate) fn next_box(&self, from: i64) -> Option<i64> {
        if self.empty {
            return None;
        }
        let window = self.swizzles.1.window() as i64;
        let around = from / window * window..i64::MAX;
        let values = |digit: &DigitRange| digit.first..digit.first + digit.extent;
        let loops = self.digits.iter().map(values).collect();
        let mut walk = ElementWalk {
            groups: self,
            range: around.clone(),
            around,
            loops,
            registers: Vec::new(),
            boxed: false,
        };
        let (mut best, mut steps) = (None, SEEK);
        walk.seek(&mut best, &mut steps);
        best.map(|at: i64| (at / window * window).max(from))
    }
}

impl ElementWalk<'_> {
    /// Finds the lowest offset, at or after the start of the range, at which a box begins.
    fn seek(&mut self, best: &mut Option<i64>, steps: &mut u32) {
        let ((low, high), start) = (self.bounds(), self.around.start);
        if high < start || best.is_some_and(|best| best <= low.max(start)) {
            return;
        }
        let each = self.loops.iter().zip(&self.groups.digits).enumerate();
        let wide = each.filter(|(_, (loops, _))| loops.end - loops.start > 1);
        let reach = |(_, (loops, digit)): &(usize, (&Range<u64>, &DigitRange))| {
            (loops.end - loops.start - 1) * digit.stride.unsigned_abs()
        };
        let widest = wide.max_by_key(reach).map(|(i, _)| i);
        let (Some(widest), true) = (widest, low < start && *steps > 0) else {
            *best = Some(low.max(start));
            return;
        };
        *steps -= 1;
        let whole = self.loops[widest].clone();
        let middle = whole.start + (whole.end - whole.start) / 2;
        for half in [whole.start..middle, middle..whole.end] {
            self.loops[widest] = half;
            self.seek(best, steps);
        }
        self.loops[widest] = whole;
    }

    /// Halves the box until it is a leaf. The recursion is no deeper than the digits have bits.
    fn visit(&mut self, tables: &mut LeafTables, f: &mut dyn FnMut(WalkItem<'_>) -> bool) {
        let (low, high) = self.bounds();
        if high < self.around.start || low >= self.around.end {
            return;
        }
        let inside = self.around.start <= low && high < self.around.end;
        let Some(widest) = self.widest(inside) else {
            return self.leaf(tables, &mut |leaf| {
                f(WalkItem::Leaf(leaf));
            });
        };
        if inside && self.boxed && self.is_added(tables, f) {
            return;
        }
        let (whole, leaf) = (self.loops[widest].clone(), self.groups.digits[widest].leaf);
        let count = whole.end - whole.start;
        let half = if count > leaf { count.div_ceil(leaf) / 2 * leaf } else { count / 2 };
        let middle = whole.start + half;
        self.loops[widest] = whole.start..middle;
        self.visit(tables, f);
        self.loops[widest] = middle..whole.end;
        self.visit(tables, f);
        self.loops[widest] = whole;
    }

    /// Passes on the whole box as sums, if they are few; returns whether `f` took it.
    fn is_added(
        &mut self,
        tables: &mut LeafTables,
        f: &mut dyn FnMut(WalkItem<'_>) -> bool,
    ) -> bool {
        let groups = self.groups;
        let values = |i: &usize| self.loops[*i].end - self.loops[*i].start;
        let count = |group: &Group| group.digits.iter().map(values).fold(1, u64::saturating_mul);
        if groups.all.iter().map(count).fold(0, u64::saturating_add) > SUMMANDS {
            return false;
        }
        let mut parts = Vec::with_capacity(groups.all.len());
        for group in &groups.all {
            self.part(group, &mut tables.part);
            parts.push(tables.part.iter().map(|at| at.0).collect());
        }
        f(WalkItem::Box(groups.base.0, &mut parts))
    }

    /// Returns the lowest and the highest offset of the box in the destination, before its swizzle.
    fn bounds(&self) -> (i64, i64) {
        let (mut low, mut high) = (self.groups.base.1, self.groups.base.1);
        for (loops, digit) in self.loops.iter().zip(&self.groups.digits) {
            let ends = (loops.start as i64 * digit.stride, (loops.end - 1) as i64 * digit.stride);
            low += ends.0.min(ends.1);
            high += ends.0.max(ends.1);
        }
        (low, high)
    }

    /// Returns the digit with the largest reach among those that have more values than a leaf holds. In a box that the
    /// range cuts, digits that reach further than a small part of the range count too.
    fn widest(&self, inside: bool) -> Option<usize> {
        let part = ((self.around.end - self.around.start) as u64 / 8).max(CUT);
        let each = self.loops.iter().zip(&self.groups.digits).enumerate();
        let wide = each.filter_map(|(i, (loops, digit))| {
            let count = loops.end - loops.start;
            let reach = (count - 1) * digit.stride.unsigned_abs();
            (count > digit.leaf || !inside && reach > part).then_some((reach, i))
        });
        wide.max().map(|(_, i)| i)
    }

    fn leaf(&mut self, tables: &mut LeafTables, f: &mut dyn FnMut(&Leaf<'_>)) {
        let groups = self.groups;
        let LeafTables { outer, inner, part, .. } = tables;
        for (table, base) in [(&mut *outer, groups.base), (&mut *inner, (0, 0))] {
            table.clear();
            table.push(base);
        }
        for group in &groups.all {
            self.part(group, part);
            extend(if group.inner { &mut *inner } else { &mut *outer }, part);
        }
        if groups.swizzles.0.is_identity() && groups.swizzles.1.is_identity() {
            self.clip(tables, f);
        } else {
            self.swizzle(tables, f);
        }
    }

    /// Collects the elements of a group in the box, in the order of the destination.
    fn part(&mut self, group: &Group, part: &mut Vec<Offsets>) {
        part.clear();
        let digits = &self.groups.digits;
        let mut at: Vec<u64> = group.digits.iter().map(|&i| self.loops[i].start).collect();
        loop {
            let row = group.digits.iter().zip(&at);
            let dst = row.map(|(&i, &value)| value as i64 * digits[i].stride).sum();
            self.row(group, &at, dst, part);
            // The last digit was walked; the others are counted up.
            let mut place = at.len().saturating_sub(1);
            loop {
                if place == 0 {
                    return;
                }
                place -= 1;
                let loops = &self.loops[group.digits[place]];
                at[place] += 1;
                if at[place] < loops.end {
                    break;
                }
                at[place] = loops.start;
            }
        }
    }

    /// Adds the elements along the last digit of a group, for the values `at` of its digits and from offset `dst` on.
    fn row(&mut self, group: &Group, at: &[u64], dst: i64, part: &mut Vec<Offsets>) {
        let digits = &self.groups.digits;
        let last = group.digits.last().map(|&i| (&digits[i], self.loops[i].clone()));
        let (stride, loops) = last.map_or((0, 0..1), |(digit, loops)| (digit.stride, loops));
        let mut value = loops.start;
        while value < loops.end {
            self.registers.clear();
            self.registers.resize(group.registers, (0, 0));
            for (&i, &at) in group.digits.iter().zip(at) {
                self.registers[digits[i].register] = (at, 0);
            }
            if let Some(&i) = group.digits.last() {
                self.registers[digits[i].register] = (value, 1);
            }
            let run = run(&group.ops, &self.groups.lists, loops.end - value, &mut self.registers);
            if !run.padding {
                let to = dst + (value - loops.start) as i64 * stride;
                let each = 0..run.len as i64;
                part.extend(each.map(|i| (run.offset + i * run.stride, to + i * stride)));
            }
            value += run.len;
        }
    }

    /// Passes on the elements of a leaf that are in the range: rows completely in the range together, other rows one by
    /// one.
    fn clip(&self, tables: &mut LeafTables, f: &mut dyn FnMut(&Leaf<'_>)) {
        let LeafTables { outer, inner, row, atoms, .. } = tables;
        let range = &self.range;
        let low = inner.iter().map(|pair| pair.1).min().unwrap_or(0);
        let high = inner.iter().map(|pair| pair.1).max().unwrap_or(0);
        outer.retain(|&at| {
            if range.start <= at.1 + low && at.1 + high < range.end {
                return true;
            }
            if range.start <= at.1 + high && at.1 + low < range.end {
                row.clear();
                row.extend(inner.iter().filter(|pair| range.contains(&(at.1 + pair.1))));
                hand_out(&[at], row, atoms, f);
            }
            false
        });
        hand_out(outer, inner, atoms, f);
    }

    /// Passes on the elements of a leaf that are in the range, at their swizzled offsets. Rows with equal swizzle keys
    /// are passed on together, if the whole leaf is in the range; otherwise row by row.
    fn swizzle(&self, tables: &mut LeafTables, f: &mut dyn FnMut(&Leaf<'_>)) {
        let LeafTables { outer, inner, row, atoms, .. } = tables;
        let (src, dst) = (&self.groups.swizzles.0, &self.groups.swizzles.1);
        if self.holds(outer, inner)
            && let Some(src) =
                SwizzledSide::of(src, outer.iter().map(|at| at.0), inner.iter().map(|at| at.0))
            && let Some(dst) =
                SwizzledSide::of(dst, outer.iter().map(|at| at.1), inner.iter().map(|at| at.1))
        {
            let key = |at: &Offsets| (src.key(at.0), dst.key(at.1));
            outer.sort_unstable_by_key(key);
            inner.iter_mut().for_each(|at| *at = (src.image(at.0), dst.image(at.1)));
            for rows in outer.chunk_by_mut(|a, b| key(a) == key(b)) {
                let key = key(&rows[0]);
                row.clear();
                row.extend(inner.iter().map(|at| (at.0 ^ key.0, at.1 ^ key.1)));
                rows.iter_mut().for_each(|at| *at = (src.outer(at.0), dst.outer(at.1)));
                hand_out(rows, row, atoms, f);
            }
            return;
        }
        for at in outer.iter() {
            // An affine offset under a swizzle is never negative.
            let each =
                inner.iter().map(|pair| (applied(src, at.0 + pair.0), applied(dst, at.1 + pair.1)));
            row.clear();
            row.extend(each.filter(|pair| self.range.contains(&pair.1)));
            hand_out(&[(0, 0)], row, atoms, f);
        }
    }

    /// Returns whether the whole leaf is in the range, for any permutation by the swizzle.
    fn holds(&self, outer: &[Offsets], inner: &[Offsets]) -> bool {
        let window = self.groups.swizzles.1.window() as i64;
        let ends = |table: &[Offsets]| {
            let each = table.iter().map(|pair| pair.1);
            (each.clone().min().unwrap_or(0), each.max().unwrap_or(0))
        };
        let (a, b) = (ends(outer), ends(inner));
        let (low, high) = ((a.0 + b.0) / window * window, (a.1 + b.1) / window * window);
        self.range.start <= low && high.saturating_add(window) <= self.range.end
    }
}

/// Replaces each entry by its sums with the entries of a group's part.
fn extend(table: &mut Vec<Offsets>, part: &[Offsets]) {
    let (old, count) = (table.len(), part.len());
    table.resize(old * count, (0, 0));
    if count == 0 {
        return;
    }
    // The loop runs from the last entry to the first, so that each entry is read before it is overwritten.
    for i in (0..old).rev() {
        let (src, dst) = table[i];
        for (to, add) in table[i * count..][..count].iter_mut().zip(part) {
            *to = (src + add.0, dst + add.1);
        }
    }
}

fn applied(swizzle: &Swizzle, offset: i64) -> i64 {
    if swizzle.is_identity() { offset } else { swizzle.apply(offset as u64) as i64 }
}

/// Passes on a leaf. The inner table is shortened to the starts of runs if all runs have equal length.
fn hand_out(
    outer: &[Offsets],
    inner: &[Offsets],
    atoms: &mut Vec<Offsets>,
    f: &mut dyn FnMut(&Leaf<'_>),
) {
    if outer.is_empty() || inner.is_empty() {
        return;
    }
    let run = run_of(inner);
    if run == 1 {
        // The table whose entries are closer together becomes the inner one.
        let closer = outer.len() > 8 && jumps(outer) * inner.len() < jumps(inner) * outer.len();
        let (outer, inner) = if closer { (inner, outer) } else { (outer, inner) };
        return f(&Leaf { outer, inner, run: 1 });
    }
    atoms.clear();
    atoms.extend(inner.iter().step_by(run));
    f(&Leaf { outer, inner: atoms, run: run as u64 });
}

/// Counts the steps of a table from one line to another, on both sides.
fn jumps(table: &[Offsets]) -> usize {
    let line = |pair: &Offsets| (pair.0 >> LINE, pair.1 >> LINE);
    let each = table.windows(2).map(|pair| (line(&pair[0]), line(&pair[1])));
    each.map(|(a, b)| usize::from(a.0 != b.0) + usize::from(a.1 != b.1)).sum()
}

/// Returns the largest length of runs into which a table can be cut without separating entries that are not adjacent.
fn run_of(table: &[Offsets]) -> usize {
    let mut run = table.len();
    for (i, pair) in table.windows(2).enumerate() {
        if run == 1 {
            return 1;
        }
        if pair[1] != (pair[0].0 + 1, pair[0].1 + 1) {
            run = tilewright_core::gcd(run as u64, i as u64 + 1) as usize;
        }
    }
    run
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::Part;
    use tilewright_core::{Digit, Layout, Pattern, Step, TensorLayout};

    fn stepped(extents: &[u64], steps: &[Step], text: &str) -> TensorLayout {
        let layout = Layout::parse(text).unwrap();
        let capacity = layout.cosize() as u64;
        TensorLayout::with_steps(extents, steps, &layout, capacity).unwrap()
    }

    const fn merge(major: u8, minor: u8) -> Step {
        Step::Merge { major, minor }
    }

    const fn split(axis: u8, by: u64) -> Step {
        Step::Split { axis, by }
    }

    fn tiles(extents: &[u64; 2], rows: u64, columns: u64) -> TensorLayout {
        let digits = [
            Digit::rest(1, 1),
            Digit::rest(0, 1),
            Digit::fixed(0, 0, rows),
            Digit::fixed(1, 0, columns),
        ];
        Pattern::new(2, &digits).unwrap().layout(extents).unwrap()
    }

    fn matrices(m: u64, n: u64) -> Vec<TensorLayout> {
        let (row, all) = (TensorLayout::row_major(&[m, n]).unwrap(), m * n);
        let swizzled = row.layout().with_swizzle(Swizzle::new(2, 1, 2).unwrap()).unwrap();
        let outer = all.div_ceil(4);
        let pairs = format!("({},{},4,2):({},8,2,1)", m, n.div_ceil(8), n.div_ceil(8) * 8);
        vec![
            tiles(&[m, n], 3, 5),
            TensorLayout::new(&[m, n], &swizzled, swizzled.cosize() as u64).unwrap(),
            stepped(&[m, n], &[merge(1, 0), split(0, 4)], &format!("({outer},4):(1,{outer})")),
            stepped(&[m, n], &[split(1, 8), split(2, 2)], &pairs),
            stepped(&[m, n], &[], &format!("({m},{n}):({n},-1)+{}", n - 1)),
            row,
        ]
    }

    fn cubes() -> Vec<TensorLayout> {
        let extents = [3, 4, 5];
        let stepped = |steps: &[Step], text| stepped(&extents, steps, text);
        vec![
            TensorLayout::row_major(&extents).unwrap(),
            stepped(&[], "((2,2),(4,1),(5,3)):((30,60),(-7,100),(1,5))+50"),
            stepped(&[merge(1, 2), split(1, 4)], "(3,5,4):(4,12,1)"),
            stepped(&[merge(2, 0), split(0, 4)], "(4,(2,2),4):(1,(64,128),16)"),
            stepped(&[merge(0, 1), merge(0, 1), split(0, 7), split(1, 2)], "(9,4,2):(8,2,1)"),
            // A remainder that never takes all its values, merged and split again.
            stepped(&[split(0, 8), merge(3, 1), split(1, 3)], "(1,11,5,3):(1,15,3,1)"),
            stepped(&[split(0, 8), merge(1, 3), split(2, 5)], "(1,5,7,5):(1,35,5,1)"),
        ]
    }

    /// Checks that the leaves of consecutive ranges are the elements of these layouts.
    fn check(src: &TensorLayout, dst: &TensorLayout, cuts: &[i64]) {
        let at = |i| (src.offset_of(i).unwrap(), dst.offset_of(i).unwrap());
        let mut expected: Vec<Offsets> = (0..src.size()).map(at).collect();
        expected.sort_unstable();
        let (groups, mut visited) = (Digits::new(src, dst, &Part::whole(src)), Vec::new());
        for pair in cuts.windows(2) {
            let range = pair[0]..pair[1];
            groups.walk(range.clone(), &mut |leaf| {
                for (i, j) in leaf.outer.iter().flat_map(|i| leaf.inner.iter().map(move |j| (i, j)))
                {
                    for k in 0..leaf.run as i64 {
                        assert!(range.contains(&(i.1 + j.1 + k)));
                        visited.push((i.0 + j.0 + k, i.1 + j.1 + k));
                    }
                }
            });
        }
        visited.sort_unstable();
        assert!(visited == expected, "{src:?} {dst:?} {cuts:?}");
    }

    #[test]
    fn leaves_of_any_cuts_visit_every_element_once() {
        let mut lists = vec![cubes()];
        lists.extend([(1, 1), (7, 9), (3, 700), (700, 2), (90, 90)].map(|(m, n)| matrices(m, n)));
        for all in &lists {
            for (src, dst) in all.iter().flat_map(|src| all.iter().map(move |dst| (src, dst))) {
                let end = dst.capacity() as i64;
                check(src, dst, &[0, end]);
                let mut cuts = [0, 1, end / 3, end / 2 + 1, end - 1, end];
                cuts.sort_unstable();
                check(src, dst, &cuts);
            }
        }
        for all in &lists[..3] {
            for (src, dst) in all.iter().flat_map(|src| all.iter().map(move |dst| (src, dst))) {
                check(src, dst, &(0..=dst.capacity() as i64).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn a_distant_range_of_a_vast_array_is_found_at_once() {
        let extents = [1 << 20, 1 << 20];
        let (src, dst) = (tiles(&extents, 4, 4), tiles(&extents, 3, 5));
        let start = dst.capacity() as i64 / 3;
        let mut count = 0;
        Digits::new(&src, &dst, &Part::whole(&src)).walk(start..start + 1000, &mut |leaf| {
            count += leaf.outer.len() as u64 * leaf.inner.len() as u64 * leaf.run;
        });
        assert!((900..=1000).contains(&count));
    }

    #[test]
    fn runs_are_cut_where_neighbours_end() {
        let table: Vec<Offsets> = [0, 1, 2, 3, 8, 9, 20, 21].map(|i| (i, i + 5)).to_vec();
        assert_eq!((run_of(&table), run_of(&table[..4]), run_of(&table[1..])), (2, 4, 1));
        assert_eq!(run_of(&[(0, 0), (1, 2)]), 1);
    }
}
