//! [`describe`]: the shortest of several descriptions of a map, each of them exact.

use crate::{
    Description, Error, MapTerm, Origin, Sources, TermAxis, ZERO,
    description::walk,
    dims::shape,
    fit::{Places, Points, in_order},
    plane::{Plane, Sorted, by_edges},
    source::{Families, Family},
    term, xor,
};

/// The most boxes in the order of the result that are looked at together.
const MOST_PIECES: usize = 1 << 14;
/// The most copies of one element that are described one by one.
const MOST_COPIES: usize = 64;
/// The most kinds of slices into which a box is split.
const MOST_KINDS: usize = 64;

/// Describes the map of a result: `ids` are the numbers of its elements in storage order, as [`Sources`] has them, or
/// [`ZERO`](crate::ZERO), [`CONSTANT`](crate::CONSTANT), [`COMPUTED`](crate::COMPUTED).
///
/// The description is expanded and compared before it is returned.
///
/// # Errors
/// [out of range](Error::is_out_of_range) for a number that no source has.
///
/// ```
/// use tilewright_learn::{Sources, describe};
/// let sources = Sources::numbered([("w".into(), vec![4, 6])])?;
/// // Columns first, in pairs: w : a (b b0:2) -> b a b0.
/// let ids: Vec<i64> = (0..24).map(|p| 1 + 6 * (p / 2 % 4) + 2 * (p / 8) + p % 2).collect();
/// let learned = describe(&ids, &sources)?;
/// assert_eq!((learned.terms().len(), learned.integers()), (1, 12));
/// assert_eq!(learned.expand()?, ids);
///
/// let error = describe(&[99], &sources).unwrap_err();
/// assert_eq!(error.to_string(), "no source has the number 99, at element 0 of the result; numbers end at 24");
/// # Ok::<(), tilewright_learn::Error>(())
/// ```
pub fn describe(ids: &[i64], sources: &Sources) -> Result<Description, Error> {
    let families = Families::new(sources);
    let parts = sorted(ids, sources, &families)?;
    let map = Map { ids, sources, families: &families };
    let mut terms = Vec::new();
    for (number, points) in parts.families.iter().enumerate() {
        if let Some(points) = points {
            let family = &families.list[number];
            terms.extend(of_family(points, family, &map));
        }
    }
    terms.sort_by_key(|term| term.at);
    let origins = [Origin::Zero, Origin::Constant, Origin::Computed];
    let rest = (0..3).max_by_key(|kind| parts.others[*kind].len()).unwrap_or(0);
    for (kind, origin) in origins.into_iter().enumerate() {
        if kind != rest && !parts.others[kind].is_empty() {
            terms.extend(of_places(&parts.others[kind], origin));
        }
    }
    let made = Description::new(ids.len() as u64, sources.clone(), families, terms, origins[rest]);
    made.verified(ids)
}

/// The numbers that are described.
struct Map<'a> {
    ids: &'a [i64],
    sources: &'a Sources,
    families: &'a Families,
}

impl Map<'_> {
    /// Returns whether every element of a term is in its place. Its elements differ, so no place is counted twice.
    fn has(&self, term: &MapTerm) -> bool {
        let mut alike = true;
        let walked = term::parts(term, self.families, &mut |part| {
            let Origin::Source(place) = part.origin else { return };
            let first = self.sources.list()[place].first;
            walk(part.digits, first + part.offset, part.at, &mut |id, place, step, run| {
                alike = alike
                    && (0..run as i64).all(|k| {
                        let at = usize::try_from(place + k * step.1).unwrap_or(usize::MAX);
                        self.ids.get(at) == Some(&(id + k * step.0))
                    });
            });
        });
        walked.is_ok() && alike
    }
}

/// The points of each family, and the places of other elements.
struct DescribedParts {
    families: Vec<Option<Points>>,
    /// The places of zeros, constants, and computed elements.
    others: [Vec<i64>; 3],
}

/// Sorts the elements of a map by families.
fn sorted(ids: &[i64], sources: &Sources, families: &Families) -> Result<DescribedParts, Error> {
    let mut counts = vec![Seen::default(); families.list.len()];
    let mut cursor = sources.cursor();
    for (place, id) in ids.iter().enumerate() {
        if *id >= 0 && cursor.moves(*id) {
            counts[families.of[cursor.place].0].add(place);
        } else if *id < crate::COMPUTED || *id >= 0 {
            return Err(Error::out_of_range(format!(
                "no source has the number {id}, at element {place} of the result; numbers end at {}",
                sources.end() - 1
            )));
        }
    }
    let mut parts = DescribedParts {
        families: counts.iter().map(Seen::points).collect(),
        others: [Vec::new(), Vec::new(), Vec::new()],
    };
    let (mut delta, mut now, mut place_of) = (0, usize::MAX, 0);
    for (place, id) in ids.iter().enumerate() {
        if *id < 0 {
            parts.others[(ZERO - id) as usize].push(place as i64);
            continue;
        }
        if !cursor.moves(*id) {
            continue;
        }
        if now != cursor.place {
            now = cursor.place;
            let (family, rank) = families.of[now];
            delta = rank * families.list[family].stride - sources.list()[now].first;
            place_of = family;
        }
        if let Some(points) = &mut parts.families[place_of] {
            points.source.push(id + delta);
            if let Places::List(list) = &mut points.result {
                list.push(place as i64);
            }
        }
    }
    Ok(parts)
}

/// The elements of a family that were seen.
#[derive(Clone, Default)]
struct Seen {
    count: usize,
    first: usize,
    last: usize,
}

impl Seen {
    fn add(&mut self, place: usize) {
        if self.count == 0 {
            self.first = place;
        }
        (self.count, self.last) = (self.count + 1, place);
    }

    /// Returns room for the points, or `None` if there are none.
    fn points(&self) -> Option<Points> {
        let result = match self.last + 1 - self.first == self.count {
            true => Places::From(self.first as i64),
            false => Places::List(Vec::with_capacity(self.count)),
        };
        (self.count > 0).then(|| Points { source: Vec::with_capacity(self.count), result })
    }
}

/// Returns the terms of places to which no source element moves.
fn of_places(places: &[i64], origin: Origin) -> Vec<MapTerm> {
    let points = Points { source: vec![0; places.len()], result: Places::List(places.to_vec()) };
    in_order(&points, origin, MOST_PIECES).unwrap_or_else(|| vec![table(&points, origin)])
}

/// Returns a term that lists its elements.
fn table(points: &Points, origin: Origin) -> MapTerm {
    let result = (0..points.len()).map(|j| points.get(j).1).collect();
    let axes = vec![TermAxis::Table { source: points.source.clone(), result }];
    MapTerm { origin, offset: 0, at: 0, axes, xor: Vec::new() }
}

/// Returns how many integers describe terms.
fn integers(terms: &[MapTerm]) -> u64 {
    terms.iter().map(MapTerm::integers).sum()
}

/// Returns the shorter terms.
fn shorter(a: Option<Vec<MapTerm>>, b: Option<Vec<MapTerm>>) -> Option<Vec<MapTerm>> {
    match (a, b) {
        (Some(a), Some(b)) => Some(if integers(&b) < integers(&a) { b } else { a }),
        (a, b) => a.or(b),
    }
}

/// Returns the terms of the points of a family.
fn of_family(points: &Points, family: &Family, map: &Map<'_>) -> Vec<MapTerm> {
    let origin = Origin::Source(family.members[0]);
    let found = best(points, family, origin, 0, map);
    found.unwrap_or_else(|| vec![table(points, origin)])
}

/// Returns the shortest terms that are found, or `None` if a table is shorter.
fn best(
    points: &Points,
    family: &Family,
    origin: Origin,
    depth: usize,
    map: &Map<'_>,
) -> Option<Vec<MapTerm>> {
    let in_result = in_order(points, origin, MOST_PIECES);
    if in_result.as_ref().is_some_and(|terms| terms.len() == 1) {
        return in_result;
    }
    let (extents, strides) = shape(family);
    let guess = by_edges(points, &extents, &strides, origin).filter(|terms| terms.len() == 1);
    if let Some(terms) = guess.filter(|terms| map.has(&terms[0])) {
        return Some(terms);
    }
    let by_dims = match Plane::sorted(points, &extents, &strides) {
        Sorted::Copies => copies(points, family, origin, depth, map),
        Sorted::Plane(plane) => of_plane(&plane, points, family, origin, depth, map),
        Sorted::NoBox => kinds_of_sets(points, family, origin, depth, map),
    };
    if by_dims.as_ref().is_some_and(|terms| terms.len() == 1) {
        return by_dims;
    }
    let found = shorter(in_result, shorter(by_dims, flat(points, family, origin)));
    let listed = table(points, origin).integers();
    found.filter(|terms| integers(terms) < listed)
}

/// Returns the terms of a family whose members have one dim each, all elements in a row.
fn flat(points: &Points, family: &Family, origin: Origin) -> Option<Vec<MapTerm>> {
    if family.extents.len() < 2 {
        return None;
    }
    let extents = [family.members.len() as u64, (family.stride - 1) as u64];
    match Plane::sorted(points, &extents, &[family.stride, 1]) {
        Sorted::Plane(plane) => {
            plane.terms(origin).or_else(|| xor::term(&plane, origin).map(|term| vec![term]))
        }
        Sorted::Copies | Sorted::NoBox => None,
    }
}

/// Returns the terms of a box of the source: a sum of axes, a swizzle, or a few kinds of slices.
fn of_plane(
    plane: &Plane,
    points: &Points,
    family: &Family,
    origin: Origin,
    depth: usize,
    map: &Map<'_>,
) -> Option<Vec<MapTerm>> {
    plane
        .terms(origin)
        .or_else(|| xor::term(plane, origin).map(|term| vec![term]))
        .or_else(|| kinds(plane, points, family, origin, depth, map))
}

/// Describes the k-th copies of all elements together, for each k.
fn copies(
    points: &Points,
    family: &Family,
    origin: Origin,
    depth: usize,
    map: &Map<'_>,
) -> Option<Vec<MapTerm>> {
    let mut nth = std::collections::HashMap::<i64, usize>::new();
    let mut layers: Vec<Vec<(i64, i64)>> = Vec::new();
    for j in 0..points.len() {
        let point = points.get(j);
        let layer = nth.entry(point.0).or_default();
        if *layer == layers.len() {
            layers.push(Vec::new());
        }
        layers[*layer].push(point);
        *layer += 1;
        if layers.len() > MOST_COPIES {
            return None;
        }
    }
    described(layers, family, origin, depth, map)
}

/// Describes parts of the points one by one.
fn described(
    parts: Vec<Vec<(i64, i64)>>,
    family: &Family,
    origin: Origin,
    depth: usize,
    map: &Map<'_>,
) -> Option<Vec<MapTerm>> {
    if parts.len() < 2 || depth > 8 {
        return None;
    }
    let mut terms = Vec::new();
    for part in parts {
        terms.extend(best(&Points::of(&part), family, origin, depth + 1, map)?);
    }
    Some(terms)
}

/// Splits a box whose slices along one axis are of a few kinds.
fn kinds(
    plane: &Plane,
    points: &Points,
    family: &Family,
    origin: Origin,
    depth: usize,
    map: &Map<'_>,
) -> Option<Vec<MapTerm>> {
    let (_, strides) = shape(family);
    (0..plane.rank()).find_map(|axis| {
        let kinds = plane.kinds(axis, MOST_KINDS)?;
        let mut parts = vec![Vec::new(); 1 + *kinds.values().max()?];
        for j in 0..points.len() {
            let point = points.get(j);
            parts[*kinds.get(&index(point.0, &strides, axis))?].push(point);
        }
        described(parts, family, origin, depth, map)
    })
}

/// Returns the index of an address along one axis.
fn index(address: i64, strides: &[i64], axis: usize) -> i64 {
    let rest = strides[..axis].iter().fold(address, |rest, stride| rest % stride);
    rest / strides[axis]
}

/// Splits points that are not a box by the sets of indices that the slices along one axis hold.
fn kinds_of_sets(
    points: &Points,
    family: &Family,
    origin: Origin,
    depth: usize,
    map: &Map<'_>,
) -> Option<Vec<MapTerm>> {
    let (extents, strides) = shape(family);
    (0..strides.len()).find_map(|axis| {
        // A sum of mixed numbers tells the sets apart; sets that share one by chance are split later.
        let mut sums = std::collections::HashMap::<i64, u64>::new();
        for address in &points.source {
            let x = index(*address, &strides, axis);
            let other = (address - x * strides[axis]) as u64;
            let mixed = (other ^ 0x5DEE_CE66).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            let sum = sums.entry(x).or_default();
            *sum = sum.wrapping_add(mixed ^ (mixed >> 29));
        }
        if extents[axis] < 2 {
            return None;
        }
        let mut numbers = std::collections::BTreeMap::new();
        for sum in sums.values() {
            let next = numbers.len();
            numbers.entry(*sum).or_insert(next);
        }
        if numbers.len() < 2 || numbers.len() > MOST_KINDS {
            return None;
        }
        let mut parts = vec![Vec::new(); numbers.len()];
        for j in 0..points.len() {
            let point = points.get(j);
            parts[numbers[&sums[&index(point.0, &strides, axis)]]].push(point);
        }
        described(parts, family, origin, depth, map)
    })
}
