//! The fingerprint of an area: weighted sums of rows, which are weighted by lanes and by the digits outside.

use tilewright_relayout::{LANES, Row, sums};

use crate::{
    area::{Area, AreaLoop},
    field::{Field, dot},
    plan::{AreaPlan, Planned},
    units::Units,
    weights::{DigitSet, EVERY, Weights},
};

/// The factors of the elements of an array.
#[derive(Clone, Debug)]
pub(crate) struct Sums {
    pub(crate) units: Units,
    /// The weights of each dim.
    pub(crate) weights: Vec<Weights>,
}

impl Sums {
    /// Returns the sum over an area; offset 0 is the first element of `bytes`.
    pub(crate) fn of(&self, area: &Area, bytes: &[u8]) -> Field {
        let (mut sum, mut pending) = (Field::ZERO, vec![area.clone()]);
        while let Some(area) = pending.pop() {
            match AreaPlan::of(&area, self.units.per()) {
                Planned::Sum(plan) => sum += self.planned(&area, &plan, bytes),
                Planned::Cut(parts) => pending.extend(parts),
            }
        }
        sum
    }

    fn planned(&self, area: &Area, plan: &AreaPlan, bytes: &[u8]) -> Field {
        let per = self.units.per();
        let (mut lanes, mut rows) = (LoopPlaces::of(&plan.lanes), LoopPlaces::of(&plan.rows));
        rows.list.sort_by_key(|place| place.at);
        let low = area.at + lanes.low + rows.low;
        let (mut factors, mut list, mut found) = (vec![], vec![], vec![]);
        let (mut sum, mut coord, mut odometer) =
            (Field::ZERO, area.coord.clone(), Odometer::of(plan));
        loop {
            if list.is_empty() || plan.rows_vary {
                self.weigh_rows(&mut rows, &coord, &plan.in_rows, &mut list);
            }
            if factors.is_empty() || plan.lanes_vary {
                self.weigh_lanes(&mut lanes, &coord, &plan.in_lanes, &mut factors);
            }
            found.clear();
            found.resize(factors.len() / LANES, [0; LANES]);
            let from = (low + odometer.at) as u64 * per;
            sums(self.units.numbers, self.units.mask, bytes, from, &list, &mut found);
            let groups = factors.chunks(LANES).zip(&found);
            let own = groups.fold(Field::ZERO, |own, (factors, found)| {
                own + dot(factors, found.iter().map(|sum| Field::of(*sum)))
            });
            sum += own * self.outside(&coord, plan);
            if !odometer.next(&plan.outer, &mut coord) {
                return sum;
            }
        }
    }

    /// Returns the weight of the digits that neither lanes nor rows change.
    fn outside(&self, coord: &[u64], plan: &AreaPlan) -> Field {
        let digits = |dim: usize| EVERY & !plan.in_lanes[dim] & !plan.in_rows[dim];
        let weights = self.weights.iter().zip(coord).enumerate();
        weights.fold(Field::ONE, |all, (dim, (own, at))| all * own.of(*at, digits(dim)))
    }

    fn weight(&self, place: &LoopPlace, coord: &[u64], digits: &[DigitSet]) -> Field {
        let dims = place.add.iter();
        dims.fold(Field::ONE, |all, (dim, add)| {
            let own = self.weights.get(*dim).map(|own| own.of(coord[*dim] + add, digits[*dim]));
            all * own.unwrap_or(Field::ONE)
        })
    }

    fn weigh_rows(
        &self,
        rows: &mut LoopPlaces,
        coord: &[u64],
        digits: &[DigitSet],
        list: &mut Vec<Row>,
    ) {
        list.clear();
        let (low, per) = (rows.low, self.units.per());
        list.extend(rows.list.iter().map(|place| {
            let weight = self.weight(place, coord, digits).value();
            Row::new((place.at - low) as u64 * per, weight)
        }));
    }

    fn weigh_lanes(
        &self,
        lanes: &mut LoopPlaces,
        coord: &[u64],
        digits: &[DigitSet],
        factors: &mut Vec<Field>,
    ) {
        let (low, per) = (lanes.low, self.units.factors.len());
        let width = lanes.list.iter().map(|place| (place.at - low) as usize + 1).max().unwrap_or(1);
        factors.clear();
        factors.resize((width * per).next_multiple_of(LANES), Field::ZERO);
        for place in &lanes.list {
            let weight = self.weight(place, coord, digits);
            let own = factors[(place.at - low) as usize * per..].iter_mut();
            own.zip(&self.units.factors).for_each(|(to, factor)| *to += weight * *factor);
        }
    }
}

/// The iterations of some loops: the offset of each, and the distance that it adds to the coordinate.
struct LoopPlaces {
    list: Vec<LoopPlace>,
    /// The lowest offset.
    low: i64,
}

struct LoopPlace {
    at: i64,
    add: Vec<(usize, u64)>,
}

impl LoopPlaces {
    fn of(loops: &[AreaLoop]) -> LoopPlaces {
        let mut dims: Vec<usize> = loops.iter().map(|level| level.dim).collect();
        dims.sort_unstable();
        dims.dedup();
        let first = LoopPlace { at: 0, add: dims.into_iter().map(|dim| (dim, 0)).collect() };
        let list = loops.iter().fold(vec![first], |list, level| {
            let again = |i: u64| list.iter().map(move |place| place.moved(level, i));
            (0..level.extent).flat_map(again).collect()
        });
        let low = list.iter().map(|place| place.at).min().unwrap_or(0);
        LoopPlaces { list, low }
    }
}

impl LoopPlace {
    fn moved(&self, level: &AreaLoop, iterations: u64) -> LoopPlace {
        let by = |(dim, add): &(usize, u64)| {
            (*dim, add + if *dim == level.dim { level.step * iterations } else { 0 })
        };
        LoopPlace {
            at: self.at + level.stride * iterations as i64,
            add: self.add.iter().map(by).collect(),
        }
    }
}

/// The current iteration of the outer loops; the first loop changes fastest.
struct Odometer {
    iterations: Vec<u64>,
    at: i64,
}

impl Odometer {
    fn of(plan: &AreaPlan) -> Odometer {
        Odometer { iterations: vec![0; plan.outer.len()], at: 0 }
    }

    /// Advances to the next iteration; returns `false` after the last.
    fn next(&mut self, outer: &[AreaLoop], coord: &mut [u64]) -> bool {
        for (level, at) in outer.iter().zip(&mut self.iterations) {
            *at += 1;
            self.at += level.stride;
            coord[level.dim] += level.step;
            if *at < level.extent {
                return true;
            }
            self.at -= level.stride * level.extent as i64;
            coord[level.dim] -= level.step * level.extent;
            *at = 0;
        }
        false
    }
}
