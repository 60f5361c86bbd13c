//! The operations of one layout.

use tilewright_core::{Layout, LeftInverse, Mode, Profile};

use super::{
    Facts, Report,
    facts::{asked, coalesced, star, sums, table, tiles},
    inverse::{left_exists, longest},
};
use crate::algebra_brute::affine;

/// Judges every operation of one layout without a swizzle.
pub(crate) fn one(report: &mut Report, layout: &Layout) {
    let facts = Facts::of(layout);
    observed(report, &facts);
    coalesce(report, &facts);
    by_profile(report, &facts);
    filter(report, &facts);
    complement(report, &facts);
    right_inverse(report, &facts);
    left_inverse(report, &facts);
    nullspace(report, &facts);
    cover(report, &facts);
    for n in [2, 3, 4, 6] {
        upcast(report, &facts, n);
        downcast(report, &facts, n);
    }
    for (from, to) in [(2, 3), (4, 6), (6, 4), (8, 4)] {
        recast(report, &facts, from, to);
    }
}

fn observed(report: &mut Report, facts: &Facts) {
    let l = &facts.layout;
    let span = (facts.high - facts.low + 1) as u64;
    let reached = facts.set.len() as u64;
    let bounds = l.bounds() == Some((facts.low, facts.high)) && l.span() == span;
    report.total(
        "size, bounds, cosize, span",
        l,
        bounds && l.size() == facts.size() && l.cosize() == facts.high + 1,
    );
    report.judge("injective", l, l.injective(), true, |found| *found == facts.injective);
    report.total("exhaustive", l, l.exhaustive() == (reached == span));
    report.total("contiguous_run", l, l.contiguous_run() == facts.run());
    report.judge("padding_count", l, l.padding_count(), true, |found| *found == span - reached);
    let mut right = true;
    let located = (facts.low - 1..=facts.high + 1).try_for_each(|offset| {
        right &= match l.locate(offset)? {
            Some(coord) => l.offset_at(coord.as_slice()) == Ok(offset),
            None => facts.index(offset).is_none(),
        };
        Ok(())
    });
    report.judge("locate", l, located, true, |()| right);
}

fn coalesce(report: &mut Report, facts: &Facts) {
    let (l, flat) = (&facts.layout, facts.layout.flatten());
    report.total(
        "flatten",
        l,
        flat.depth() <= 1 && flat.modes() == l.modes() && asked(&flat) == facts.table,
    );
    let modes = facts.coalesced();
    let same = |answer: &Layout| {
        answer.modes() == modes && answer.depth() <= 1 && answer.offset() == l.offset()
    };
    report.total("coalesce", l, same(&l.coalesce()));
    let extended = l.coalesce_extended();
    let beyond = |x: i64| affine(&extended, x) == affine(l, x);
    report.total("coalesce_extended", l, (0..2 * facts.size() as i64 + 9).all(beyond));
}

fn by_profile(report: &mut Report, facts: &Facts) {
    let modes = facts.layout.modes();
    let pair = Profile::flat(2).unwrap();
    for cut in 1..modes.len() {
        let nested = Layout::nested(modes, &[cut, modes.len() - cut]).unwrap();
        report.judge("coalesce_by", &nested, nested.coalesce_by(&pair), true, |answer| {
            let parts = [&modes[..cut], &modes[cut..]].map(|part| coalesced(&table(0, part)));
            answer.rank() == 2 && answer.modes() == parts.concat()
        });
    }
    let more = Profile::flat(facts.layout.rank() + 1).unwrap();
    report.judge("coalesce_by", &facts.layout, facts.layout.coalesce_by(&more), false, |_| false);
}

fn filter(report: &mut Report, facts: &Facts) {
    let l = &facts.layout;
    let moving: Vec<Mode> = l.modes().iter().copied().filter(|m| m.stride() != 0).collect();
    let kept = table(l.offset(), &moving);
    report.judge("filter_zeros", l, l.filter_zeros(), true, |answer| {
        asked(answer) == kept && answer.profile() == l.profile()
    });
    report.judge("filter", l, l.filter(), true, |answer| {
        answer.modes() == coalesced(&kept) && answer.depth() <= 1 && answer.offset() == l.offset()
    });
}

fn complement(report: &mut Report, facts: &Facts) {
    let l = &facts.layout;
    let moving: Vec<Mode> = l.modes().iter().copied().filter(|m| m.stride() != 0).collect();
    let moving = Facts::of(&Layout::flat(&moving).unwrap());
    let tiling = moving.apart && tiles(&moving);
    report.total("complement of all that tiles", l, facts.chained || !tiling);
    for n in [0, 1, 7, 24, 48] {
        report.judge("complement(L, n)", &(l, n), l.complement(n), facts.chained, |rest| {
            lies_beside(&moving, rest, n, tiling) && asked(rest) == table(0, &star(l.modes(), n, 1))
        });
    }
    let within = (moving.high - moving.low + 1) as u64;
    report.judge("complement(L)", l, l.complement_within(), facts.chained, |rest| {
        lies_beside(&moving, rest, within, tiling)
    });
}

/// Returns whether no two sums meet, strides ascend, and no offset below n is omitted if the layout tiles.
fn lies_beside(moving: &Facts, rest: &Layout, n: u64, tiling: bool) -> bool {
    let mut all = sums(&moving.table, &asked(rest));
    let reached = all.len();
    all.sort_unstable();
    all.dedup();
    let strides: Vec<i64> = rest.modes().iter().map(|m| m.stride()).collect();
    let gap = (moving.low..).zip(&all).find(|(x, y)| x != *y).map(|(x, _)| (x - moving.low) as u64);
    let gapless = gap.is_none() && all.len() as u64 >= n;
    let told = moving.layout.complement_gap().map(|(from, _)| from);
    all.len() == reached && strides.is_sorted() && gapless == tiling && told == gap
}

fn right_inverse(report: &mut Report, facts: &Facts) {
    let l = &facts.layout;
    let answer = l.right_inverse();
    if answer.as_ref().is_err_and(|error| error.is_undecided()) {
        return report.total("right_inverse, beyond its bound", l, !facts.apart);
    }
    let whole = facts.injective && facts.low == 0;
    report.judge("right_inverse", l, answer, facts.index(0).is_some(), |inverse| {
        let undoes =
            |(i, &index): (usize, &i64)| facts.table.get(index as usize) == Some(&(i as i64));
        let size = inverse.size();
        asked(inverse).iter().enumerate().all(undoes)
            && size == if whole { facts.run_from(0) } else { longest(facts) }
    });
}

fn left_inverse(report: &mut Report, facts: &Facts) {
    let l = &facts.layout;
    let answer = LeftInverse::of(l);
    let index_or_hole = |inverse: &LeftInverse| {
        (facts.low - 2..=facts.high + 2).all(|offset| inverse.index(offset) == facts.index(offset))
    };
    let Some(defined) = left_exists(facts) else {
        let undecided = answer.is_err_and(|error| error.is_undecided());
        return report.total("left_inverse, beyond its bound", l, undecided);
    };
    report.judge("left_inverse, index or hole", l, answer, defined, index_or_hole);
    report.judge("left_inverse", l, l.left_inverse(), defined && facts.low == 0, |inverse| {
        let back = |offset: &i64| {
            inverse.offset_of(*offset as u64).ok() == facts.index(*offset).map(|index| index as i64)
        };
        facts.set.iter().all(back)
    });
}

fn nullspace(report: &mut Report, facts: &Facts) {
    let l = &facts.layout;
    report.judge("nullspace", l, l.nullspace(), true, |null| {
        let mut found = asked(null);
        found.sort_unstable();
        let kernel = |i: &i64| facts.table[*i as usize] == facts.table[0];
        let whole = (0..facts.table.len() as i64).filter(kernel).collect::<Vec<_>>();
        let distinct = found.windows(2).all(|pair| pair[0] < pair[1]);
        let signed = l.modes().iter().any(|m| m.stride() < 0);
        distinct && found.iter().all(kernel) && (found == whole || (signed && !facts.apart))
    });
}

fn cover(report: &mut Report, facts: &Facts) {
    let l = &facts.layout;
    for cells in [facts.size(), (facts.high + 1).max(0) as u64] {
        let exact = facts.injective
            && facts.low == 0
            && facts.high + 1 == cells as i64
            && facts.size() == cells;
        report.judge("exact_cover", &(l, cells), l.exact_cover(cells), exact, |()| true);
    }
}

/// Returns how many steps of a mode make one group of n; `None` if they do not make whole groups.
fn per_group(mode: &Mode, n: u64) -> Option<u64> {
    let size = mode.stride().unsigned_abs();
    if mode.extent() == 1 || size.is_multiple_of(n) {
        return Some(1);
    }
    let count = n / size;
    let whole = n.is_multiple_of(size)
        && (mode.extent().is_multiple_of(count) || count.is_multiple_of(mode.extent()));
    whole.then_some(count)
}

/// Returns the table that `upcast` must have: ⌊L(c)/n⌋ at c with each digit divided; `None` if it is ambiguous or not
/// a layout.
fn grouped(l: &Layout, n: u64) -> Option<Vec<i64>> {
    let counts: Vec<u64> = l.modes().iter().map(|m| per_group(m, n)).collect::<Option<_>>()?;
    let extents: Vec<u64> =
        l.modes().iter().zip(&counts).map(|(m, k)| m.extent().div_ceil(*k)).collect();
    let mut wanted = vec![None; extents.iter().product::<u64>() as usize];
    for (index, offset) in table(l.offset(), l.modes()).into_iter().enumerate() {
        let (mut rest, mut at, mut scale) = (index as u64, 0, 1);
        for ((mode, count), extent) in l.modes().iter().zip(&counts).zip(&extents) {
            at += rest % mode.extent() / count * scale;
            rest /= mode.extent();
            scale *= extent;
        }
        let group = offset.div_euclid(n as i64);
        if *wanted[at as usize].get_or_insert(group) != group {
            return None;
        }
    }
    let wanted: Vec<i64> = wanted.into_iter().collect::<Option<_>>()?;
    additive(&wanted, &extents).then_some(wanted)
}

/// Returns whether a table over these extents is that of a layout with one mode for each.
fn additive(wanted: &[i64], extents: &[u64]) -> bool {
    let (mut modes, mut scale) = (Vec::new(), 1);
    for &extent in extents {
        let step = if extent > 1 { wanted[scale] - wanted[0] } else { 0 };
        modes.push(Mode::new(extent, step));
        scale *= extent as usize;
    }
    table(wanted[0], &modes) == wanted
}

fn upcast(report: &mut Report, facts: &Facts, n: u64) {
    let l = &facts.layout;
    let wanted = grouped(l, n);
    report.judge("upcast", &(l, n), l.upcast(n), wanted.is_some(), |up| Some(asked(up)) == wanted);
}

fn downcast(report: &mut Report, facts: &Facts, n: u64) {
    let l = &facts.layout;
    let unit = l.modes().iter().any(|m| m.stride().unsigned_abs() == 1);
    report.judge("downcast", &(l, n), l.downcast(n), unit, |down| {
        let split = down.modes().iter().zip(l.modes()).position(|(d, m)| d.extent() != m.extent());
        let Some(split) = split else { return false };
        parts_once(facts, n, down, split) && down.upcast(n).as_ref() == Ok(l)
    });
}

/// Returns whether each of the n parts of every element occurs once.
fn parts_once(facts: &Facts, n: u64, down: &Layout, split: usize) -> bool {
    let below: u64 = facts.layout.modes()[..split].iter().map(|m| m.extent()).product();
    let mut parts = Vec::new();
    for (index, offset) in asked(down).into_iter().enumerate() {
        let (low, high) = (index as u64 % below, index as u64 / below);
        let whole = low + high / n * below;
        if facts.table[whole as usize] != offset.div_euclid(n as i64) {
            return false;
        }
        parts.push((whole, offset.rem_euclid(n as i64)));
    }
    parts.sort_unstable();
    parts.dedup();
    parts.len() as u64 == facts.size() * n
}

fn recast(report: &mut Report, facts: &Facts, from: u64, to: u64) {
    let l = &facts.layout;
    let divisor =
        (1..=from).rev().find(|d| [from, to].iter().all(|n| n.is_multiple_of(*d))).unwrap_or(1);
    let (down, up) = (from / divisor, to / divisor);
    let fine = if down == 1 { Ok(l.clone()) } else { l.downcast(down) };
    let wanted = fine.ok().and_then(|fine| grouped(&fine, up));
    report.judge("recast", &(l, from, to), l.recast(from, to), wanted.is_some(), |answer| {
        Some(asked(answer)) == wanted
    });
}
