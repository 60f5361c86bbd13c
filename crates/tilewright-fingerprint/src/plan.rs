//! The plan of a sum over an area: loops over adjacent elements (lanes), loops over rows of them with one weight per
//! row, and outer loops.
//!
//! Law: every element is in one lane of one row of one outer iteration; lanes and rows change no digit in common.

use crate::{
    area::{Area, AreaLoop},
    share::changed,
    weights::{DigitSet, cuts},
};

/// The maximal number of rows of a sum: their list stays in a cache.
const MOST_ROWS: u64 = 1024;

/// If no digit ends within a loop, it provides rows only if there is room for at least this many.
const FEW_ROWS: u64 = 64;

/// The maximal number of adjacent numbers, unless one element has more.
const MOST_LANES: u64 = 256;

/// The number of numbers that are summed at once.
const LANES: u64 = tilewright_relayout::LANES as u64;

/// The loops of an area by their role.
#[derive(Clone, Debug, Default)]
pub(crate) struct AreaPlan {
    pub(crate) lanes: Vec<AreaLoop>,
    pub(crate) rows: Vec<AreaLoop>,
    pub(crate) outer: Vec<AreaLoop>,
    /// For each dim, the digits that lanes and rows change.
    pub(crate) in_lanes: Vec<DigitSet>,
    pub(crate) in_rows: Vec<DigitSet>,
    /// True if outer loops change digits of lanes, and digits of rows.
    pub(crate) lanes_vary: bool,
    pub(crate) rows_vary: bool,
}

/// A plan, or the parts into which the area must be cut first.
pub(crate) enum Planned {
    Sum(AreaPlan),
    Cut([Area; 2]),
}

/// The role of a loop.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Lane,
    Row,
    Outer,
}

/// The use of a loop for a role.
enum LoopUse {
    Whole,
    /// This number of iterations is used, the rest is an outer loop.
    Some(u64),
    /// The area is cut after this number of iterations.
    Cut(u64),
    Leave,
}

impl AreaPlan {
    /// Returns the plan of an area whose elements have `per` numbers each.
    pub(crate) fn of(area: &Area, per: u64) -> Planned {
        let (mut area, mut roles) = (area.clone(), vec![Role::Outer; area.loops.len()]);
        if let Some(cut) = choose_lanes(&mut area, &mut roles, per) {
            return Planned::Cut(cut);
        }
        if let Some(cut) = choose_rows(&mut area, &mut roles) {
            return Planned::Cut(cut);
        }
        Planned::Sum(AreaPlan::told(&area, &roles))
    }

    fn told(area: &Area, roles: &[Role]) -> AreaPlan {
        let none = vec![0; area.coord.len()];
        let mut plan = AreaPlan { in_lanes: none.clone(), in_rows: none, ..AreaPlan::default() };
        for (i, level) in area.loops.iter().enumerate() {
            match roles[i] {
                Role::Lane => {
                    plan.lanes.push(*level);
                    plan.in_lanes[level.dim] |= changed(area, i);
                }
                Role::Row => {
                    plan.rows.push(*level);
                    plan.in_rows[level.dim] |= changed(area, i);
                }
                Role::Outer => plan.outer.push(*level),
            }
        }
        for (i, level) in area.loops.iter().enumerate().filter(|(i, _)| roles[*i] == Role::Outer) {
            plan.lanes_vary |= changed(area, i) & plan.in_lanes[level.dim] != 0;
            plan.rows_vary |= changed(area, i) & plan.in_rows[level.dim] != 0;
        }
        plan
    }
}

/// Uses loops over adjacent elements as lanes, or returns the parts of an area that must be cut.
fn choose_lanes(area: &mut Area, roles: &mut Vec<Role>, per: u64) -> Option<[Area; 2]> {
    let (mut span, mut i) = (1u64, 0);
    while i < area.loops.len() && span * per < LANES {
        let level = area.loops[i];
        let stride = level.stride.unsigned_abs();
        if stride == 0 {
            i += 1;
            continue;
        }
        match lanes_of(area, &level, span, per) {
            LoopUse::Whole => roles[i] = Role::Lane,
            LoopUse::Some(iterations) => {
                split(area, roles, i, iterations, Role::Lane);
                return None;
            }
            LoopUse::Cut(iterations) => return Some(area.cut(i, iterations)),
            LoopUse::Leave => return None,
        }
        span += stride * (level.extent - 1);
        i += 1;
    }
    None
}

fn lanes_of(area: &Area, level: &AreaLoop, span: u64, per: u64) -> LoopUse {
    let (stride, extent) = (level.stride.unsigned_abs(), level.extent);
    if stride > LANES.max(2 * span) {
        return LoopUse::Leave;
    }
    let numbers = |iterations: u64| {
        (stride.saturating_mul(iterations - 1).saturating_add(span)).saturating_mul(per)
    };
    if numbers(extent) <= MOST_LANES / 4 {
        return LoopUse::Whole;
    }
    let fits = |iterations: &u64| (LANES..=MOST_LANES).contains(&numbers(*iterations));
    let digit = iterations_to_cuts(level).find(fits);
    // If no digit ends there, the rest of the dim is an outer loop.
    let iterations = digit.unwrap_or_else(|| (LANES / (stride * per)).max(1)).min(extent);
    match (digit, to_begin(area, level, iterations)) {
        (Some(_), before @ 1..) if before < extent => LoopUse::Cut(before),
        _ => part(extent, iterations),
    }
}

/// Uses loops that have no digit in common with the lanes as rows.
fn choose_rows(area: &mut Area, roles: &mut Vec<Role>) -> Option<[Area; 2]> {
    let lanes: Vec<(usize, DigitSet)> = (0..area.loops.len())
        .filter(|i| roles[*i] == Role::Lane)
        .map(|i| (area.loops[i].dim, changed(area, i)))
        .collect();
    let (mut count, mut i) = (1, 0);
    while i < area.loops.len() {
        let level = area.loops[i];
        let meets =
            |(dim, digits): &(usize, DigitSet)| *dim == level.dim && digits & changed(area, i) != 0;
        if roles[i] == Role::Lane || lanes.iter().any(meets) {
            i += 1;
            continue;
        }
        match rows_of(area, &level, MOST_ROWS / count) {
            LoopUse::Whole => roles[i] = Role::Row,
            LoopUse::Some(iterations) => {
                split(area, roles, i, iterations, Role::Row);
                return None;
            }
            LoopUse::Cut(iterations) => return Some(area.cut(i, iterations)),
            LoopUse::Leave => return None,
        }
        count *= level.extent;
        i += 1;
    }
    None
}

fn rows_of(area: &Area, level: &AreaLoop, room: u64) -> LoopUse {
    if level.extent <= room {
        return LoopUse::Whole;
    }
    let fits = |iterations: &u64| {
        (2..=room).contains(iterations) && to_begin(area, level, *iterations) == 0
    };
    match iterations_to_cuts(level).rev().find(fits) {
        Some(iterations) => part(level.extent, iterations),
        // The outer loop would change digits of the inner one, which pays only for many rows.
        None if room < FEW_ROWS => LoopUse::Leave,
        None => part(level.extent, room),
    }
}

/// Returns the use of `iterations` iterations of a loop; the area is cut first unless they divide the extent.
fn part(extent: u64, iterations: u64) -> LoopUse {
    match extent % iterations {
        0 if iterations == extent => LoopUse::Whole,
        0 if iterations == 1 => LoopUse::Leave,
        0 => LoopUse::Some(iterations),
        rest => LoopUse::Cut(extent - rest),
    }
}

/// Iterates over the numbers of iterations after which a digit ends, in ascending order.
fn iterations_to_cuts(level: &AreaLoop) -> impl DoubleEndedIterator<Item = u64> + use<> {
    let step = level.step;
    cuts().filter(move |cut| cut.is_multiple_of(step) && *cut > step).map(move |cut| cut / step)
}

/// Returns the number of iterations of a loop that precede those that fill such a digit.
fn to_begin(area: &Area, level: &AreaLoop, iterations: u64) -> u64 {
    (iterations - area.coord[level.dim] / level.step % iterations) % iterations
}

/// Splits loop `i` into a loop of `iterations` iterations with a role, and an outer loop.
fn split(area: &mut Area, roles: &mut Vec<Role>, i: usize, iterations: u64, role: Role) {
    let [inner, rest] = area.loops[i].split(iterations);
    area.loops[i] = inner;
    roles[i] = role;
    area.loops.push(rest);
    roles.push(Role::Outer);
    // Loops are sorted by ascending stride.
    let mut order: Vec<(AreaLoop, Role)> = area.loops.drain(..).zip(roles.drain(..)).collect();
    order.sort_by_key(|(level, _)| (level.stride.unsigned_abs(), level.step));
    (area.loops, *roles) = order.into_iter().unzip();
}
