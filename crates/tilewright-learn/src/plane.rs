//! Terms from points of a box of the source: the place in the result as a sum of functions of one axis each.

use std::collections::HashMap;

use crate::{
    MapTerm, Origin, TermAxis,
    fit::{Point, Points, grow, line},
};

/// The points of a family that are a product of index sets, by the ranks of indices in their sets.
pub(crate) struct Plane {
    /// The number that each index of each axis adds to the address in the source; the first index adds its own address.
    pub(crate) sets: Vec<Vec<i64>>,
    /// The smallest index of each axis.
    pub(crate) least: Vec<u64>,
    /// The indices of each axis.
    indices: Vec<Vec<u64>>,
    /// The places in the result, row-major.
    pub(crate) places: Vec<i64>,
    strides: Vec<usize>,
}

/// The result of sorting points into a box.
pub(crate) enum Sorted {
    Plane(Plane),
    /// Some element has several places.
    Copies,
    /// The elements are not a product of index sets.
    NoBox,
}

impl Plane {
    /// Sorts points of an array with these extents and strides into a box.
    pub(crate) fn sorted(points: &Points, extents: &[u64], strides: &[i64]) -> Sorted {
        let Some(sets) = index_sets(points, extents, strides) else {
            return Sorted::NoBox;
        };
        let counts: Vec<usize> = sets.iter().map(Vec::len).collect();
        let size = counts.iter().product::<usize>();
        if size > points.len() {
            return Sorted::NoBox;
        }
        let ranks: Vec<Vec<usize>> = sets.iter().zip(extents).map(|(s, e)| ranks(s, *e)).collect();
        let mut row = vec![1; counts.len()];
        for k in (1..counts.len()).rev() {
            row[k - 1] = row[k] * counts[k];
        }
        let mut places = vec![i64::MIN; size];
        for j in 0..points.len() {
            let (address, place) = points.get(j);
            let mut rank = 0;
            indices(address, extents, strides, |k, index| rank += ranks[k][index] * row[k]);
            if places[rank] != i64::MIN {
                return Sorted::Copies;
            }
            places[rank] = place;
        }
        if size < points.len() {
            return Sorted::Copies;
        }
        let least = sets.iter().map(|set| set[0]).collect();
        let by_index = sets.iter().zip(strides);
        let steps = by_index.map(|(set, s)| set.iter().map(|i| *i as i64 * s).collect()).collect();
        Sorted::Plane(Plane { sets: steps, least, indices: sets, places, strides: row })
    }

    /// Returns the point at ranks of 0.
    pub(crate) fn corner(&self) -> Point {
        (self.sets.iter().map(|set| set[0]).sum(), self.places[0])
    }

    /// Returns the place at a rank of each axis.
    #[inline]
    pub(crate) fn place(&self, ranks: &[usize]) -> i64 {
        self.places[ranks.iter().zip(&self.strides).map(|(r, s)| r * s).sum::<usize>()]
    }

    /// Returns the number of axes.
    pub(crate) fn rank(&self) -> usize {
        self.sets.len()
    }

    /// Returns the points of one axis at ranks of 0 elsewhere, less the corner.
    fn axis(&self, k: usize) -> Vec<Point> {
        let set = &self.sets[k];
        (0..set.len())
            .map(|i| (set[i] - set[0], self.places[i * self.strides[k]] - self.places[0]))
            .collect()
    }

    /// Returns whether each place is the sum of functions of one axis each.
    fn is_sum(&self) -> bool {
        let axes: Vec<Vec<Point>> = (0..self.rank()).map(|k| self.axis(k)).collect();
        let Some((last, outer)) = axes.split_last() else {
            return true;
        };
        let mut ranks = vec![0; outer.len()];
        for row in self.places.chunks_exact(last.len()) {
            let base =
                self.places[0] + ranks.iter().zip(outer).map(|(r, axis)| axis[*r].1).sum::<i64>();
            if row.iter().zip(last).any(|(place, point)| *place != base + point.1) {
                return false;
            }
            advance(&mut ranks, |k| outer[k].len());
        }
        true
    }

    /// Returns the terms of a plane whose places are a sum; `None` if they are not.
    pub(crate) fn terms(&self, origin: Origin) -> Option<Vec<MapTerm>> {
        if !self.is_sum() {
            return None;
        }
        let (offset, at) = self.corner();
        let mut terms = vec![MapTerm { origin, offset, at, axes: Vec::new(), xor: Vec::new() }];
        for k in 0..self.rank() {
            let pieces = described(&self.axis(k));
            terms = terms.into_iter().flat_map(|term| times(term, &pieces)).collect();
        }
        Some(terms)
    }
}

/// Returns the terms whose places are a sum of functions of one axis each, by the points of each axis, less the corner.
fn of_lines((offset, at): Point, lines: &[Vec<Point>], origin: Origin) -> Vec<MapTerm> {
    let mut terms = vec![MapTerm { origin, offset, at, axes: Vec::new(), xor: Vec::new() }];
    for line in lines {
        let pieces = described(line);
        terms = terms.into_iter().flat_map(|term| times(term, &pieces)).collect();
    }
    terms
}

/// Returns terms that agree with the points on the edges of a box at its corner; the other points are not looked at. `None` if the
/// edges are not those of a box with as many elements as there are points.
pub(crate) fn by_edges(
    points: &Points,
    extents: &[u64],
    strides: &[i64],
    origin: Origin,
) -> Option<Vec<MapTerm>> {
    let corner = *points.source.iter().min()?;
    let mut least = vec![0; strides.len()];
    indices(corner, extents, strides, |k, index| least[k] = index);
    let mut edges: Vec<Vec<Point>> = vec![Vec::new(); strides.len()];
    let mut start = None;
    for j in 0..points.len() {
        let (mut differ, mut axis) = (0, 0);
        indices(points.source[j], extents, strides, |k, index| {
            if index != least[k] {
                (differ, axis) = (differ + 1, k);
            }
        });
        match differ {
            0 if start.is_some() => return None,
            0 => start = Some(points.get(j)),
            1 => edges[axis].push(points.get(j)),
            _ => {}
        }
    }
    let start = start?;
    let count: usize = edges.iter().map(|edge| edge.len() + 1).product();
    if count != points.len() {
        return None;
    }
    for edge in &mut edges {
        edge.push(start);
        edge.sort_unstable();
        edge.iter_mut().for_each(|point| *point = (point.0 - start.0, point.1 - start.1));
    }
    Some(of_lines(start, &edges, origin))
}

/// Moves to the next ranks in row-major order; after the last ones come the first.
pub(crate) fn advance(ranks: &mut [usize], extent: impl Fn(usize) -> usize) {
    for (k, rank) in ranks.iter_mut().enumerate().rev() {
        *rank += 1;
        if *rank < extent(k) {
            break;
        }
        *rank = 0;
    }
}

/// Returns a term for each piece of one more axis.
fn times(term: MapTerm, pieces: &[(TermAxis, Point)]) -> Vec<MapTerm> {
    let one = |(axis, zero): &(TermAxis, Point)| {
        let mut term = term.clone();
        term.offset += zero.0;
        term.at += zero.1;
        term.axes.extend([axis.clone()].into_iter().filter(|axis| axis.count() > 1));
        term
    };
    pieces.iter().map(one).collect()
}

/// Returns the pieces of an axis, with their points at index 0: one by digits, some by digits, or a table.
fn described(points: &[Point]) -> Vec<(TermAxis, Point)> {
    if let Some(line) = line(points) {
        return vec![(line.axis(points.len()), line.zero)];
    }
    let (source, result) = points.iter().copied().unzip();
    let table = TermAxis::Table { source, result };
    let most = table.integers() as usize;
    let (mut pieces, mut start) = (Vec::new(), 0);
    let all = Points::of(points);
    // A piece costs three integers besides its digits, and those of the other axes again.
    while start < points.len() && 9 * pieces.len() < most {
        let grown = grow(&all, start);
        let axis = TermAxis::Digits { first: 0, count: grown.count as u64, digits: grown.digits };
        pieces.push((axis, points[start]));
        start += grown.count;
    }
    if start < points.len() { vec![(table, (0, 0))] } else { pieces }
}

/// Returns the indices of each axis that occur, ascending; `None` if an address is outside the extents.
fn index_sets(points: &Points, extents: &[u64], strides: &[i64]) -> Option<Vec<Vec<u64>>> {
    let mut seen: Vec<Vec<bool>> = extents.iter().map(|e| vec![false; *e as usize]).collect();
    let mut outside = false;
    for address in &points.source {
        indices(*address, extents, strides, |k, index| match seen[k].get_mut(index) {
            Some(seen) => *seen = true,
            None => outside = true,
        });
    }
    if outside {
        return None;
    }
    let set = |seen: &Vec<bool>| (0..seen.len() as u64).filter(|i| seen[*i as usize]).collect();
    Some(seen.iter().map(set).collect())
}

/// Calls `each` with the index of an address along each axis. Divisions are slow, so those by 1 and of one index are left out.
#[inline]
fn indices(address: i64, extents: &[u64], strides: &[i64], mut each: impl FnMut(usize, usize)) {
    let mut rest = address as u64;
    for (k, stride) in strides.iter().enumerate() {
        let stride = *stride as u64;
        let index = match (extents[k], stride) {
            (_, 1) => rest,
            (1, _) if rest < stride => 0,
            (_, _) => rest / stride,
        };
        rest -= index * stride;
        each(k, index as usize);
    }
}

/// Returns the rank of each index in its set.
fn ranks(set: &[u64], extent: u64) -> Vec<usize> {
    let mut ranks = vec![0; extent as usize];
    for (rank, index) in set.iter().enumerate() {
        ranks[*index as usize] = rank;
    }
    ranks
}

impl Plane {
    /// Numbers the indices of an axis by the form of their slices; `None` if there is one kind or more than `most`, or a kind
    /// for each index.
    pub(crate) fn kinds(&self, axis: usize, most: usize) -> Option<HashMap<i64, usize>> {
        let (set, inner) = (&self.sets[axis], self.strides[axis]);
        let outer = self.places.len() / (set.len() * inner);
        let base = |rank: usize| self.places[rank * inner];
        let same = |a: usize, b: usize| {
            (0..outer).all(|o| {
                let row = |rank: usize| &self.places[(o * set.len() + rank) * inner..][..inner];
                row(a).iter().zip(row(b)).all(|(x, y)| x - base(a) == y - base(b))
            })
        };
        let (mut firsts, mut kinds) = (Vec::new(), HashMap::new());
        for rank in 0..set.len() {
            let kind = firsts.iter().position(|first| same(*first, rank)).unwrap_or_else(|| {
                firsts.push(rank);
                firsts.len() - 1
            });
            if firsts.len() > most {
                return None;
            }
            kinds.insert(self.indices[axis][rank] as i64, kind);
        }
        (firsts.len() > 1 && firsts.len() < set.len()).then_some(kinds)
    }
}
