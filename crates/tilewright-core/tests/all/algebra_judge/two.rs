//! The operations of two layouts.

use std::collections::HashMap;

use tilewright_core::{IntTuple, Layout, Mode, TensorLayout, Tiler};

use super::{
    Facts, Report,
    facts::{asked, star, sums, table},
};
use crate::algebra_brute::Brute;

/// The number of divisions of one axis that are kept.
const KEPT: usize = 10_000;

/// A layout divided by a tile.
#[derive(Clone)]
struct Divided {
    /// A ∘ (T, complement(T, size(A))), A's last mode running on.
    table: Vec<i64>,
    /// Set if the result reaches what A reaches; otherwise it is rounded up to whole tiles.
    exact: bool,
    /// The number of coordinates of the tile.
    tile: usize,
}

impl Divided {
    fn tile(&self) -> Vec<i64> {
        self.table[..self.tile].to_vec()
    }

    fn rest(&self) -> Vec<i64> {
        self.table.iter().copied().step_by(self.tile).collect()
    }
}

/// Judges every operation of two layouts without swizzle and offset, with strides of 0 or more.
#[derive(Default)]
pub(crate) struct Pairs {
    brute: Brute,
    axes: HashMap<(Vec<Mode>, Vec<Mode>), Option<Divided>>,
}

impl Pairs {
    pub(crate) fn judge(&mut self, report: &mut Report, a: &Facts, b: &Facts) {
        self.divide(report, a, b);
        self.divide_by_mode(report, a, b);
        self.product(report, a, b);
        self.tile_to_shape(report, a, b);
        common(report, a, b);
        same(report, a, b);
        side_by_side(report, a, b);
    }

    /// Returns A divided by T; `None` if the law refuses it, rounded up or not.
    fn divided(&mut self, a: &Facts, tile: &Facts) -> Option<Divided> {
        if !tile.chained {
            return None;
        }
        let both = [tile.layout.modes(), &star(tile.layout.modes(), a.size(), 1)].concat();
        let flat = |modes: &[Mode]| Layout::flat(modes).unwrap();
        if !self.brute.exists(&flat(&a.coalesced()), &flat(&both)) {
            return None;
        }
        let ascending = |mut values: Vec<i64>| {
            values.sort_unstable();
            values.dedup();
            values
        };
        let indices = ascending(table(0, &both));
        let all = indices.len() as u64 >= a.size() && (0..).zip(&indices).all(|(x, y)| x == *y);
        let exact = ascending(self.brute.table.clone()) == a.set;
        let whole = all && tile.size() <= a.size();
        let table = self.brute.table.clone();
        (exact || whole).then_some(Divided { table, exact, tile: tile.table.len() })
    }

    fn divide(&mut self, report: &mut Report, a: &Facts, b: &Facts) {
        let exact = self.divided(a, b).filter(|divided| divided.exact);
        let wanted = exact.map(|divided| divided.table);
        let (l, tile, defined) = (&a.layout, &b.layout, wanted.is_some());
        let divided = l.logical_divide(tile);
        let right = |answer: &Layout| {
            answer.rank() == 2
                && answer.axis_size(0) == Some(b.size())
                && Some(asked(answer)) == wanted
        };
        report.judge("logical_divide", &(l, tile), divided.clone(), defined, right);
        let zipped = l.zipped_divide(tile);
        report.judge("zipped_divide", &(l, tile), zipped, defined, |answer| {
            Ok(answer) == divided.as_ref()
        });
        let rests = |answer: &Layout| answer.get(&[1]).map_or(0, |rest| rest.rank());
        let rest = divided.as_ref().map_or(0, rests);
        report.judge("tiled_divide", &(l, tile), l.tiled_divide(tile), defined, |answer| {
            answer.rank() == 1 + rest && Some(asked(answer)) == wanted
        });
        report.judge("flat_divide", &(l, tile), l.flat_divide(tile), defined, |answer| {
            answer.rank() == tile.rank() + rest && Some(asked(answer)) == wanted
        });
    }

    /// Returns one axis of A divided by one axis of T.
    fn axis(&mut self, axis: &[Mode], tile: &[Mode]) -> Option<Divided> {
        let key = (axis.to_vec(), tile.to_vec());
        if let Some(known) = self.axes.get(&key) {
            return known.clone();
        }
        let facts = |modes| Facts::of(&Layout::flat(modes).unwrap());
        let divided = self.divided(&facts(axis), &facts(tile));
        if self.axes.len() < KEPT {
            self.axes.insert(key, divided.clone());
        }
        divided
    }

    fn divide_by_mode(&mut self, report: &mut Report, a: &Facts, b: &Facts) {
        let (modes, tiles) = (axes(&a.layout), axes(&b.layout));
        if tiles.len() > modes.len() {
            return;
        }
        let alone: Vec<Layout> = tiles.iter().map(|modes| Layout::flat(modes).unwrap()).collect();
        let by: Vec<Tiler<'_>> = alone.iter().map(Tiler::Layout).collect();
        let parts: Option<Vec<Divided>> =
            modes.iter().zip(&tiles).map(|(axis, tile)| self.axis(axis, tile)).collect();
        let (defined, parts) = (parts.is_some(), parts.unwrap_or_default());
        let exact = defined && parts.iter().all(|part| part.exact);
        let whole = modes[tiles.len()..].iter().map(|axis| table(0, axis));
        let (first, last) = (parts.iter().map(Divided::tile), parts.iter().map(Divided::rest));
        let in_turn = parts.iter().flat_map(|part| [part.tile(), part.rest()]);
        let in_turn = joined(in_turn.chain(whole.clone()));
        let gathered = joined(first.chain(last).chain(whole));
        let (l, case) = (&a.layout, (&a.layout, &b.layout));
        let logical = l.logical_divide_tiler(&by);
        report.judge("logical_divide by mode", &case, logical, exact, |answer| {
            answer.rank() == l.rank() && asked(answer) == in_turn
        });
        for (name, answer, rank) in [
            ("zipped_divide by mode", l.zipped_divide_tiler(&by), 2),
            ("tiled_divide by mode", l.tiled_divide_tiler(&by), 1 + l.rank()),
            ("flat_divide by mode", l.flat_divide_tiler(&by), by.len() + l.rank()),
        ] {
            report.judge(name, &case, answer, defined, |answer| {
                answer.rank() == rank && asked(answer) == gathered
            });
        }
    }

    /// Returns the table A* ∘ B of the copies, if A has a complement and it is a layout.
    fn copies(&mut self, a: &Facts, b: &Layout, cosize: u64) -> Option<Vec<i64>> {
        if !a.chained {
            return None;
        }
        let star = star(a.layout.modes(), a.size() * cosize, cosize);
        let exists = self.brute.exists(&Layout::flat(&star).unwrap(), b);
        exists.then(|| self.brute.table.clone())
    }

    fn product(&mut self, report: &mut Report, a: &Facts, b: &Facts) {
        let copies = self.copies(a, &b.layout, (b.high + 1) as u64);
        let (l, by, case) = (&a.layout, &b.layout, (&a.layout, &b.layout));
        let wanted = copies.as_ref().map(|copies| sums(&a.table, copies));
        let apart = copies.as_ref().is_some_and(|copies| {
            let distinct: Vec<i64> = if b.injective { copies.clone() } else { vec![] };
            let mut all = sums(&a.set, &distinct);
            all.sort_unstable();
            all.windows(2).all(|pair| pair[0] < pair[1])
        });
        let product = l.logical_product(by);
        let defined = wanted.is_some();
        report.judge("logical_product", &case, product.clone(), defined, |answer| {
            answer.rank() == 2
                && answer.get(&[0]).as_ref() == Ok(l)
                && apart
                && Some(asked(answer)) == wanted
        });
        for (name, answer, rank) in [
            ("zipped_product", l.zipped_product(by), 2),
            ("tiled_product", l.tiled_product(by), 1 + by.rank()),
            ("flat_product", l.flat_product(by), l.rank() + by.rank()),
        ] {
            report.judge(name, &case, answer, defined, |answer| {
                answer.rank() == rank && Some(asked(answer)) == wanted
            });
        }
        let [blocked, raked] = match &copies {
            Some(copies) => [true, false].map(|first| interleaved(l, by, copies, first)),
            None => [vec![], vec![]],
        };
        let rank = l.rank().max(by.rank());
        report.judge("blocked_product", &case, l.blocked_product(by), defined, |answer| {
            answer.rank() == rank && asked(answer) == blocked
        });
        report.judge("raked_product", &case, l.raked_product(by), defined, |answer| {
            answer.rank() == rank && asked(answer) == raked
        });
    }

    /// Judges A repeated B's extents times along each axis, in the order of B's strides.
    fn tile_to_shape(&mut self, report: &mut Report, a: &Facts, b: &Facts) {
        let (own, counts) = (&a.layout, first_strides(&b.layout));
        if own.rank() > counts.len() {
            return;
        }
        let extent = |axis: usize| own.axis_size(axis).unwrap_or(1);
        let shape: Vec<i64> =
            counts.iter().enumerate().map(|(i, m)| (m.extent() * extent(i)) as i64).collect();
        let order: Vec<i64> = counts.iter().map(|m| m.stride()).collect();
        let order = IntTuple::flat(&order).unwrap();
        let ordered = Layout::flat(&compact(&counts)).unwrap();
        let copies = self.copies(a, &ordered, ordered.size());
        let wanted = copies.map(|copies| interleaved(&a.layout, &ordered, &copies, true));
        let fill =
            |shape: &[i64]| a.layout.tile_to_shape_ordered(&IntTuple::flat(shape).unwrap(), &order);
        let case = (&a.layout, &b.layout);
        report.judge("tile_to_shape", &case, fill(&shape), wanted.is_some(), |answer| {
            Some(asked(answer)) == wanted && answer.rank() == shape.len()
        });
        if extent(0) > 1 {
            let longer = [&[shape[0] + 1], &shape[1..]].concat();
            report.judge("tile_to_shape", &case, fill(&longer), false, |_| false);
        }
    }
}

/// Returns the sums of all tables, the first varying fastest.
fn joined(tables: impl Iterator<Item = Vec<i64>>) -> Vec<i64> {
    tables.fold(vec![0], |all, more| sums(&all, &more))
}

fn axes(layout: &Layout) -> Vec<&[Mode]> {
    (0..layout.rank()).filter_map(|axis| layout.axis(axis)).collect()
}

/// Returns the size of each axis with its first stride.
fn first_strides(layout: &Layout) -> Vec<Mode> {
    let first = |(axis, modes): (usize, &[Mode])| {
        Mode::new(layout.axis_size(axis).unwrap_or(1), modes[0].stride())
    };
    axes(layout).into_iter().enumerate().map(first).collect()
}

/// Returns the values of a table along axis `axis` of a layout; those of one coordinate if there is no such axis.
fn along(layout: &Layout, table: &[i64], axis: usize) -> Vec<i64> {
    let Some(size) = layout.axis_size(axis) else { return vec![0] };
    let scale: u64 = (0..axis).filter_map(|axis| layout.axis_size(axis)).product();
    (0..size).map(|c| table[(c * scale) as usize]).collect()
}

/// Returns, axis by axis, A's coordinate and that of its copies.
fn interleaved(a: &Layout, b: &Layout, copies: &[i64], block_first: bool) -> Vec<i64> {
    let own = table(0, a.modes());
    joined((0..a.rank().max(b.rank())).flat_map(|axis| {
        let (x, y) = (along(a, &own, axis), along(b, copies, axis));
        if block_first { [x, y] } else { [y, x] }
    }))
}

/// Returns the modes of the compact layout of these extents, those of smaller stride faster.
fn compact(modes: &[Mode]) -> Vec<Mode> {
    let faster = |i: usize, j: usize| (modes[j].stride(), j) < (modes[i].stride(), i);
    let stride = |i: usize| -> u64 {
        (0..modes.len()).filter(|&j| faster(i, j)).map(|j| modes[j].extent()).product()
    };
    (0..modes.len()).map(|i| Mode::new(modes[i].extent(), stride(i) as i64)).collect()
}

fn common(report: &mut Report, a: &Facts, b: &Facts) {
    let case = (&a.layout, &b.layout);
    let run = |x: &i64| a.index(*x).is_some() && a.index(*x) == b.index(*x);
    let longest = (0..).take_while(run).count() as u64;
    let right = |common: &Layout| {
        let mut indices = asked(common).into_iter().enumerate();
        let both = |(i, at): (usize, i64)| {
            [a, b].iter().all(|l| l.table.get(at as usize) == Some(&(i as i64)))
        };
        indices.all(both) && (!a.injective || !b.injective || common.size() == longest)
    };
    let answer = a.layout.max_common_layout(&b.layout);
    let size = answer.as_ref().map_or(0, Layout::size);
    report.judge("max_common_layout", &case, answer, true, right);
    let vector = a.layout.max_common_vector(&b.layout);
    report.judge("max_common_vector", &case, vector, true, |found| *found == size);
}

fn same(report: &mut Report, a: &Facts, b: &Facts) {
    let case = (&a.layout, &b.layout);
    let extents = |facts: &Facts| -> Vec<u64> {
        (0..facts.layout.rank()).filter_map(|axis| facts.layout.axis_size(axis)).collect()
    };
    let (shape, alike) = (extents(a), extents(a) == extents(b));
    let (x, y) = (TensorLayout::of(&a.layout), TensorLayout::of(&b.layout));
    let first = if alike { first_difference(&shape, a, b) } else { None };
    report.judge("first_difference", &case, x.first_difference(&y), alike, |found| {
        found.as_ref().map(|d| (d.coord.as_slice().to_vec(), d.left, d.right)) == first
    });
    report
        .judge("same_function", &case, x.same_function(&y), alike, |same| *same == first.is_none());
    let lines = [a, b].map(|facts| TensorLayout::linear(&facts.layout).unwrap());
    let linear = lines[0].same_function(&lines[1]);
    report.judge("same_function of indices", &case, linear, a.size() == b.size(), |same| {
        *same == (a.table == b.table)
    });
}

/// Returns the row-major first coordinate with different offsets, and both offsets.
fn first_difference(shape: &[u64], a: &Facts, b: &Facts) -> Option<(Vec<u64>, i64, i64)> {
    let coord = |mut index: u64| -> Vec<u64> {
        let digit = |extent: &u64| {
            let digit = index % extent;
            index /= extent;
            digit
        };
        shape.iter().map(digit).collect()
    };
    let differ = (0..a.table.len()).filter(|&i| a.table[i] != b.table[i]);
    differ.map(|i| (coord(i as u64), a.table[i], b.table[i])).min()
}

fn side_by_side(report: &mut Report, a: &Facts, b: &Facts) {
    let case = (&a.layout, &b.layout);
    let both = Layout::from_layouts(&[&a.layout, &b.layout]);
    let wanted = sums(&a.table, &b.table);
    report.judge("from_layouts", &case, both, true, |answer| {
        answer.rank() == 2 && asked(answer) == wanted
    });
}
