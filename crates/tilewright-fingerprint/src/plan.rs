//! The plan of a sum over an area: loops over adjacent elements (lanes), loops over rows of them with one weight per
//! row, and outer loops.
//!
//! Law: every element is in one lane of one row of one outer iteration; lanes and rows change no digit in common.

use tilewright_core::Block;

use crate::key::{DigitSet, cuts, digits};

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

// Areas: boxes of elements as loops over one memory, and their division.

/// One loop: a step along a dim, and along memory, in elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AreaLoop {
    pub(crate) dim: usize,
    pub(crate) step: u64,
    /// At least 2.
    pub(crate) extent: u64,
    pub(crate) stride: i64,
}

impl AreaLoop {
    /// Returns the distance from its first iteration to its last along its dim.
    pub(crate) fn reach(&self) -> u64 {
        self.step * (self.extent - 1)
    }

    /// Returns the distance from its first iteration to its last along memory, with its sign.
    pub(crate) fn span(&self) -> i64 {
        self.stride * (self.extent - 1) as i64
    }

    /// Splits the loop into an inner one of `iterations` iterations and an outer one; `iterations` divides the extent.
    pub(crate) fn split(&self, iterations: u64) -> [AreaLoop; 2] {
        let inner = AreaLoop { extent: iterations, ..*self };
        let (step, stride) = (self.step * iterations, self.stride * iterations as i64);
        [inner, AreaLoop { step, stride, extent: self.extent / iterations, ..*self }]
    }
}

/// A box of elements: the coordinate of its first element in the whole array, its offset, and independent loops by
/// ascending stride.
#[derive(Clone, Debug)]
pub(crate) struct Area {
    pub(crate) coord: Vec<u64>,
    pub(crate) at: i64,
    pub(crate) loops: Vec<AreaLoop>,
}

impl Area {
    /// Returns the area of a block of a layout refined with itself, for a part that begins at `origin` of the whole.
    pub(crate) fn of(block: &Block, origin: &[u64]) -> Area {
        let coord = block.origin().as_slice().iter().zip(origin).map(|(a, b)| a + b).collect();
        let mut loops: Vec<AreaLoop> = (block.loops().iter())
            .map(|level| {
                let (dim, step, extent) = (usize::from(level.dim), level.step, level.extent);
                AreaLoop { dim, step, extent, stride: level.src }
            })
            .collect();
        loops.sort_by_key(|level| (level.dim, level.step));
        loops.dedup_by(|next, last| {
            let follows = next.dim == last.dim
                && next.step == last.step * last.extent
                && next.stride == last.stride * last.extent as i64;
            if follows {
                last.extent *= next.extent;
            }
            follows
        });
        loops.sort_by_key(|level| (level.stride.unsigned_abs(), level.step));
        Area { coord, at: block.src(), loops }
    }

    /// Returns the lowest and the highest offset.
    pub(crate) fn bounds(&self) -> (i64, i64) {
        let spans = || self.loops.iter().map(AreaLoop::span);
        let low = spans().map(|span| span.min(0)).sum::<i64>();
        let high = spans().map(|span| span.max(0)).sum::<i64>();
        (self.at + low, self.at + high)
    }

    /// Returns the number of elements.
    pub(crate) fn size(&self) -> u64 {
        self.loops.iter().map(|level| level.extent).product()
    }

    /// Cuts the area into the first `iterations` iterations of loop `i`, fewer than it has, and the rest.
    pub(crate) fn cut(&self, i: usize, iterations: u64) -> [Area; 2] {
        let level = self.loops[i];
        let (mut head, mut rest) = (self.clone(), self.clone());
        rest.coord[level.dim] += iterations * level.step;
        rest.at += iterations as i64 * level.stride;
        head.loops[i].extent = iterations;
        rest.loops[i].extent -= iterations;
        for part in [&mut head, &mut rest] {
            part.loops.retain(|level| level.extent > 1);
        }
        [head, rest]
    }
}

// The digits of an index that a loop changes.
//
// Law: a digit that is not among the digits of some loops of a dim is equal for all iterations of these loops, if the
// iterations of the other loops are fixed.

/// Returns the digits of its dim's index that loop `i` of an area changes.
pub(crate) fn changed(area: &Area, i: usize) -> DigitSet {
    let level = &area.loops[i];
    let start = area.coord[level.dim];
    let own = || area.loops.iter().filter(|other| other.dim == level.dim);
    let below: u64 = own().filter(|other| other.step < level.step).map(AreaLoop::reach).sum();
    let reach = below + level.reach();
    let above = own().filter(|other| other.step > level.step);
    let equal = own().filter(|other| other.step == level.step).count() > 1;
    let aligned = above.map(|other| other.step).fold(start, |all, step| all | step);
    // Below the lowest bit of everything above, sums carry nothing into the bits above.
    let high = if !equal && bits(reach) <= aligned.trailing_zeros() {
        bits(reach)
    } else {
        let total: u64 = own().map(AreaLoop::reach).sum();
        bits(start ^ (start + total))
    };
    digits(level.step.trailing_zeros(), high.saturating_sub(1))
}

/// Returns the number of significant bits.
fn bits(number: u64) -> u32 {
    u64::BITS - number.leading_zeros()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Key;
    use crate::key::{EVERY, Weights};

    /// Every sum of iterations of some loops.
    fn sums(loops: &[AreaLoop]) -> Vec<u64> {
        loops.iter().fold(vec![0], |all, level| {
            let more = |at: u64| (0..level.extent).map(move |i| at + i * level.step);
            all.into_iter().flat_map(more).collect()
        })
    }

    #[test]
    fn digits_that_a_loop_does_not_change_are_the_same_at_every_turn() {
        let weights = Weights::new(&Key::default(), 0, 1 << 20);
        let mut shared = 0;
        for start in [0, 1, 5, 8, 16, 40, 120, 128, 1000, 1024] {
            for steps in [[1, 16], [1, 24], [2, 8], [3, 12], [1, 5], [16, 128], [8, 1024], [7, 7]] {
                for extents in [[16, 8], [8, 3], [2, 40], [5, 5]] {
                    let level = |i: usize| AreaLoop {
                        dim: 0,
                        step: steps[i],
                        extent: extents[i],
                        stride: 1,
                    };
                    let loops = vec![level(0), level(1)];
                    let area = Area { coord: vec![start], at: 0, loops };
                    for i in 0..2 {
                        let same = EVERY & !changed(&area, i);
                        shared += same & 0b111;
                        for other in sums(&area.loops[1 - i..2 - i]) {
                            for own in sums(&area.loops[i..i + 1]) {
                                let at = start + other;
                                assert_eq!(weights.of(at + own, same), weights.of(at, same));
                            }
                        }
                    }
                }
            }
        }
        assert!(shared > 0);
    }
}
