//! The fingerprint of an area: weighted sums of rows, which are weighted by lanes and by the digits outside.

use tilewright_core::{ByteOrder, Dtype, DtypeKind};
use tilewright_relayout::{LANES, Numbers, Row, sums};

use crate::{
    Error, Key,
    key::{DigitSet, EVERY, Field, LIMBS, Weights, dot},
    plan::{Area, AreaLoop, AreaPlan, Planned},
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

// Elements as numbers of at most 16 bits with a factor each, whose sum is the value of an element's bit pattern.
//
// A pattern is cut into limbs of 32 bits, below the modulus. Limb l has the weight of index l of a separate dim, and
// number u of a limb has the factor 2^(its lowest bit).

/// The bits of a limb.
const LIMB: u32 = 32;

/// The widest element in bits, wider than all existing blocks of elements.
const WIDEST: u32 = 1 << 16;

/// The format in which elements of an array are read.
#[derive(Clone, Debug)]
pub(crate) struct Units {
    pub(crate) numbers: Numbers,
    /// The bits of a number that count.
    pub(crate) mask: u16,
    /// The factor of each number of an element, in the order of memory.
    pub(crate) factors: Vec<Field>,
}

/// Returns the bits of an element that count: those of its value, if it is stored in more; all of a truth value's.
fn kept(dtype: Dtype, bits: u32) -> u32 {
    match dtype.kind() {
        DtypeKind::Bool | DtypeKind::Block => bits,
        DtypeKind::Signed
        | DtypeKind::Unsigned
        | DtypeKind::Float
        | DtypeKind::Complex
        | DtypeKind::Codebook => dtype.bits().map_or(bits, |own| own.min(bits)),
    }
}

/// Returns an error for a width that is not supported.
pub(crate) fn check(dtype: Dtype, bits: u32) -> Result<(), Error> {
    let legal = matches!(bits, 1 | 2 | 4) || bits > 0 && bits.is_multiple_of(8) && bits <= WIDEST;
    if !legal {
        return Err(Error::unsupported(format!(
            "elements of {bits} bits; fingerprints take elements of 1, 2, 4 bits and of whole bytes up to {}",
            WIDEST / 8
        )));
    }
    match dtype.bits() {
        Some(own) if own > bits => Err(Error::unsupported(format!(
            "elements of {dtype} in {bits} bits; their values have {own}"
        ))),
        _ => Ok(()),
    }
}

impl Units {
    /// Returns the units of elements of a checked width.
    pub(crate) fn new(dtype: Dtype, bits: u32, order: ByteOrder, key: &Key) -> Units {
        let kept = kept(dtype, bits);
        let pairs = bits.is_multiple_of(16) && (kept < 16 || kept.is_multiple_of(16));
        let (numbers, width) = match bits {
            1 => (Numbers::Bits1, 1),
            2 => (Numbers::Bits2, 2),
            4 => (Numbers::Bits4, 4),
            _ if pairs && order.is_big() => (Numbers::Big, 16),
            _ if pairs => (Numbers::Little, 16),
            _ => (Numbers::Bytes, 8),
        };
        let mask = if kept < width { (1 << kept) - 1 } else { u16::MAX };
        let limbs = Weights::new(key, LIMBS, u64::from(bits.div_ceil(LIMB)));
        // The byte order applies to each half of a complex element.
        let halves = if dtype.kind() == DtypeKind::Complex { 2 } else { 1 };
        let (count, together) = (bits / width, (bits / width / halves).max(1));
        let factor = |unit: u32| {
            let reversed = unit / together * together + (together - 1 - unit % together);
            let bit = width * if order.is_big() { reversed } else { unit };
            if bit >= kept {
                return Field::ZERO;
            }
            limbs.of(u64::from(bit / LIMB), EVERY) * Field::of(1 << (bit % LIMB))
        };
        Units { numbers, mask, factors: (0..count).map(factor).collect() }
    }

    /// Returns the count of numbers of an element.
    pub(crate) fn per(&self) -> u64 {
        self.factors.len() as u64
    }
}
