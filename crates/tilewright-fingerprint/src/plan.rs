//! The plan of a sum over an area: loops over adjacent elements (lanes), loops over rows of them with one weight per
//! row, and outer loops.
//!
//! Law: every element is in one lane of one row of one outer iteration; lanes and rows change no digit in common.

use crate::{
    area::{Area, Turn},
    share::changed,
    weights::{Digits, cuts},
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
pub(crate) struct Plan {
    pub(crate) lanes: Vec<Turn>,
    pub(crate) rows: Vec<Turn>,
    pub(crate) outer: Vec<Turn>,
    /// For each dim, the digits that lanes and rows change.
    pub(crate) in_lanes: Vec<Digits>,
    pub(crate) in_rows: Vec<Digits>,
    /// True if outer loops change digits of lanes, and digits of rows.
    pub(crate) lanes_vary: bool,
    pub(crate) rows_vary: bool,
}

/// A plan, or the parts into which the area must be cut first.
pub(crate) enum Step {
    Sum(Plan),
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
enum Take {
    Whole,
    /// This number of iterations is used, the rest is an outer loop.
    Some(u64),
    /// The area is cut after this number of iterations.
    Cut(u64),
    Leave,
}

impl Plan {
    /// Returns the plan of an area whose elements have `per` numbers each.
    pub(crate) fn of(area: &Area, per: u64) -> Step {
        let (mut area, mut roles) = (area.clone(), vec![Role::Outer; area.turns.len()]);
        if let Some(cut) = choose_lanes(&mut area, &mut roles, per) {
            return Step::Cut(cut);
        }
        if let Some(cut) = choose_rows(&mut area, &mut roles) {
            return Step::Cut(cut);
        }
        Step::Sum(Plan::told(&area, &roles))
    }

    fn told(area: &Area, roles: &[Role]) -> Plan {
        let none = vec![0; area.coord.len()];
        let mut plan = Plan { in_lanes: none.clone(), in_rows: none, ..Plan::default() };
        for (i, turn) in area.turns.iter().enumerate() {
            match roles[i] {
                Role::Lane => {
                    plan.lanes.push(*turn);
                    plan.in_lanes[turn.dim] |= changed(area, i);
                }
                Role::Row => {
                    plan.rows.push(*turn);
                    plan.in_rows[turn.dim] |= changed(area, i);
                }
                Role::Outer => plan.outer.push(*turn),
            }
        }
        for (i, turn) in area.turns.iter().enumerate().filter(|(i, _)| roles[*i] == Role::Outer) {
            plan.lanes_vary |= changed(area, i) & plan.in_lanes[turn.dim] != 0;
            plan.rows_vary |= changed(area, i) & plan.in_rows[turn.dim] != 0;
        }
        plan
    }
}

/// Uses loops over adjacent elements as lanes, or returns the parts of an area that must be cut.
fn choose_lanes(area: &mut Area, roles: &mut Vec<Role>, per: u64) -> Option<[Area; 2]> {
    let (mut span, mut i) = (1u64, 0);
    while i < area.turns.len() && span * per < LANES {
        let turn = area.turns[i];
        let stride = turn.stride.unsigned_abs();
        if stride == 0 {
            i += 1;
            continue;
        }
        match lanes_of(area, &turn, span, per) {
            Take::Whole => roles[i] = Role::Lane,
            Take::Some(turns) => {
                split(area, roles, i, turns, Role::Lane);
                return None;
            }
            Take::Cut(turns) => return Some(area.cut(i, turns)),
            Take::Leave => return None,
        }
        span += stride * (turn.extent - 1);
        i += 1;
    }
    None
}

fn lanes_of(area: &Area, turn: &Turn, span: u64, per: u64) -> Take {
    let (stride, extent) = (turn.stride.unsigned_abs(), turn.extent);
    if stride > LANES.max(2 * span) {
        return Take::Leave;
    }
    let numbers =
        |turns: u64| (stride.saturating_mul(turns - 1).saturating_add(span)).saturating_mul(per);
    if numbers(extent) <= MOST_LANES / 4 {
        return Take::Whole;
    }
    let fits = |turns: &u64| (LANES..=MOST_LANES).contains(&numbers(*turns));
    let digit = turns_to_cuts(turn).find(fits);
    // If no digit ends there, the rest of the dim is an outer loop.
    let turns = digit.unwrap_or_else(|| (LANES / (stride * per)).max(1)).min(extent);
    match (digit, to_begin(area, turn, turns)) {
        (Some(_), before @ 1..) if before < extent => Take::Cut(before),
        _ => part(extent, turns),
    }
}

/// Uses loops that have no digit in common with the lanes as rows.
fn choose_rows(area: &mut Area, roles: &mut Vec<Role>) -> Option<[Area; 2]> {
    let lanes: Vec<(usize, Digits)> = (0..area.turns.len())
        .filter(|i| roles[*i] == Role::Lane)
        .map(|i| (area.turns[i].dim, changed(area, i)))
        .collect();
    let (mut count, mut i) = (1, 0);
    while i < area.turns.len() {
        let turn = area.turns[i];
        let meets =
            |(dim, digits): &(usize, Digits)| *dim == turn.dim && digits & changed(area, i) != 0;
        if roles[i] == Role::Lane || lanes.iter().any(meets) {
            i += 1;
            continue;
        }
        match rows_of(area, &turn, MOST_ROWS / count) {
            Take::Whole => roles[i] = Role::Row,
            Take::Some(turns) => {
                split(area, roles, i, turns, Role::Row);
                return None;
            }
            Take::Cut(turns) => return Some(area.cut(i, turns)),
            Take::Leave => return None,
        }
        count *= turn.extent;
        i += 1;
    }
    None
}

fn rows_of(area: &Area, turn: &Turn, room: u64) -> Take {
    if turn.extent <= room {
        return Take::Whole;
    }
    let fits = |turns: &u64| (2..=room).contains(turns) && to_begin(area, turn, *turns) == 0;
    match turns_to_cuts(turn).rev().find(fits) {
        Some(turns) => part(turn.extent, turns),
        // The outer loop would change digits of the inner one, which pays only for many rows.
        None if room < FEW_ROWS => Take::Leave,
        None => part(turn.extent, room),
    }
}

/// Returns the use of `turns` iterations of a loop; the area is cut first unless they divide the extent.
fn part(extent: u64, turns: u64) -> Take {
    match extent % turns {
        0 if turns == extent => Take::Whole,
        0 if turns == 1 => Take::Leave,
        0 => Take::Some(turns),
        rest => Take::Cut(extent - rest),
    }
}

/// Iterates over the numbers of iterations after which a digit ends, in ascending order.
fn turns_to_cuts(turn: &Turn) -> impl DoubleEndedIterator<Item = u64> + use<> {
    let step = turn.step;
    cuts().filter(move |cut| cut.is_multiple_of(step) && *cut > step).map(move |cut| cut / step)
}

/// Returns the number of iterations of a loop that precede those that fill such a digit.
fn to_begin(area: &Area, turn: &Turn, turns: u64) -> u64 {
    (turns - area.coord[turn.dim] / turn.step % turns) % turns
}

/// Splits loop `i` into a loop of `turns` iterations with a role, and an outer loop.
fn split(area: &mut Area, roles: &mut Vec<Role>, i: usize, turns: u64, role: Role) {
    let [inner, rest] = area.turns[i].split(turns);
    area.turns[i] = inner;
    roles[i] = role;
    area.turns.push(rest);
    roles.push(Role::Outer);
    // Loops are sorted by ascending stride.
    let mut order: Vec<(Turn, Role)> = area.turns.drain(..).zip(roles.drain(..)).collect();
    order.sort_by_key(|(turn, _)| (turn.stride.unsigned_abs(), turn.step));
    (area.turns, *roles) = order.into_iter().unzip();
}
