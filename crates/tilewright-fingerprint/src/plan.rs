//! How an area is summed: neighbours in memory as lanes, rows of them with a weight each, and what is outside.
//!
//! Law: every element is in one lane of one row of one outer turn; lanes and rows change no digit in common.

use crate::{
    area::{Area, Turn},
    share::changed,
    weights::{Digits, cuts},
};

/// The most rows of a sum: their list stays in a cache.
const MOST_ROWS: u64 = 1024;

/// Fewer rows than these are not taken of a loop that no digit ends.
const FEW_ROWS: u64 = 64;

/// The most numbers beside each other, unless one element has more.
const MOST_LANES: u64 = 256;

/// The numbers that are summed at once.
const LANES: u64 = tilewright_relayout::LANES as u64;

/// The loops of an area, told apart.
#[derive(Clone, Debug, Default)]
pub(crate) struct Plan {
    pub(crate) lanes: Vec<Turn>,
    pub(crate) rows: Vec<Turn>,
    pub(crate) outer: Vec<Turn>,
    /// By dim: the digits that lanes and rows change.
    pub(crate) in_lanes: Vec<Digits>,
    pub(crate) in_rows: Vec<Digits>,
    /// Whether outer loops change digits of lanes, and of rows.
    pub(crate) lanes_vary: bool,
    pub(crate) rows_vary: bool,
}

/// A plan, or the parts that have one.
pub(crate) enum Step {
    Sum(Plan),
    Cut([Area; 2]),
}

/// What part a loop has.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Lane,
    Row,
    Outer,
}

/// What is done with a loop.
enum Take {
    Whole,
    /// This number of turns is taken, the rest stays.
    Some(u64),
    /// The area is cut after this number of turns.
    Cut(u64),
    Leave,
}

impl Plan {
    /// The plan of an area whose elements are `per` numbers each.
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

/// Takes loops of neighbouring elements as lanes; an area that has to be cut is.
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
    // Without a digit that ends there the rest of the dim is outside.
    let turns = digit.unwrap_or_else(|| (LANES / (stride * per)).max(1)).min(extent);
    match (digit, to_begin(area, turn, turns)) {
        (Some(_), before @ 1..) if before < extent => Take::Cut(before),
        _ => part(extent, turns),
    }
}

/// Takes loops as rows that have no digit in common with the lanes.
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
        // What is outside would change the digits of what is inside: worth it for many rows alone.
        None if room < FEW_ROWS => Take::Leave,
        None => part(turn.extent, room),
    }
}

/// `turns` of a loop, once the extent is a multiple of it.
fn part(extent: u64, turns: u64) -> Take {
    match extent % turns {
        0 if turns == extent => Take::Whole,
        0 if turns == 1 => Take::Leave,
        0 => Take::Some(turns),
        rest => Take::Cut(extent - rest),
    }
}

/// The turns of a loop after which a digit ends, the fewest first.
fn turns_to_cuts(turn: &Turn) -> impl DoubleEndedIterator<Item = u64> + use<> {
    let step = turn.step;
    cuts().filter(move |cut| cut.is_multiple_of(step) && *cut > step).map(move |cut| cut / step)
}

/// How many turns of a loop come before those that fill such a digit.
fn to_begin(area: &Area, turn: &Turn, turns: u64) -> u64 {
    (turns - area.coord[turn.dim] / turn.step % turns) % turns
}

/// Loop `i` becomes a loop of `turns` turns with a role, and one outside.
fn split(area: &mut Area, roles: &mut Vec<Role>, i: usize, turns: u64, role: Role) {
    let [inner, rest] = area.turns[i].split(turns);
    area.turns[i] = inner;
    roles[i] = role;
    area.turns.push(rest);
    roles.push(Role::Outer);
    // The smallest strides first.
    let mut order: Vec<(Turn, Role)> = area.turns.drain(..).zip(roles.drain(..)).collect();
    order.sort_by_key(|(turn, _)| (turn.stride.unsigned_abs(), turn.step));
    (area.turns, *roles) = order.into_iter().unzip();
}
