//! Terms of a plane whose places are linear over F₂ in the low bits of the indices: XOR swizzles.
//!
//! The low `a` bits of each axis are cut off, and the places at single bits and at pairs of bits are compared. Two bits i and j
//! that are XORed make D(i + j) differ from D(i) + D(j) by −2 times the step that they share. Only bits that are XORed onto
//! others and onto nothing else are found. Every place is compared with the term before it is returned.

use crate::{
    MapDigit, MapTerm, Origin, TermAxis,
    fit::{Line, Point, line},
    plane::{Plane, advance},
};

/// The most low bits of an axis that are tried.
const MOST_BITS: u32 = 10;

/// Returns the term of a plane, or `None` if it is not found.
pub(crate) fn term(plane: &Plane, origin: Origin) -> Option<MapTerm> {
    for bits in 1..=MOST_BITS {
        let phases = plane.least.iter().map(|least| least % (1 << bits)).collect::<Vec<u64>>();
        for phases in [phases, vec![0; plane.rank()]] {
            let found = Bits::new(plane, bits, &phases).and_then(|found| found.term(origin));
            if found.is_some() {
                return found;
            }
        }
    }
    None
}

/// One bit of an index: its axis, its number, and its steps.
#[derive(Clone, Debug)]
struct Bit {
    axis: usize,
    level: u32,
    source: i64,
    /// The step in the result of this bit alone, without what it is XORed onto.
    result: i64,
    /// The bits that it is XORed onto.
    onto: Vec<usize>,
}

/// One axis: its low bits, the index of its rank 0, and the rank from which bits are changed.
struct Low {
    bits: u32,
    phase: u64,
    base: usize,
}

impl Low {
    /// Returns the low bits of the index at a rank.
    fn bits_at(&self, rank: usize) -> u64 {
        (rank as u64 + self.phase) & ((1 << self.bits) - 1)
    }

    /// Returns the rank at which one more bit of the index differs.
    fn changed(&self, rank: usize, level: u32) -> Option<usize> {
        (((rank as u64 + self.phase) ^ (1 << level)).checked_sub(self.phase))
            .map(|rank| rank as usize)
    }
}

/// The low bits of all axes.
struct Bits<'a> {
    plane: &'a Plane,
    low: Vec<Low>,
    base: Vec<usize>,
    zero: i64,
    bits: Vec<Bit>,
}

impl<'a> Bits<'a> {
    /// Finds what each low bit does; `None` if no bit is XORed onto another.
    fn new(plane: &'a Plane, most: u32, phases: &[u64]) -> Option<Bits<'a>> {
        let low: Vec<Low> =
            (0..plane.rank()).map(|k| low(plane.sets[k].len(), most, phases[k])).collect();
        let base: Vec<usize> = low.iter().map(|low| low.base).collect();
        let zero = plane.place(&base);
        let mut found = Bits { plane, low, base, zero, bits: Vec::new() };
        for axis in 0..plane.rank() {
            for level in 0..found.low[axis].bits {
                let result = found.at(&[(axis, level)])?;
                let (low, set) = (&found.low[axis], &plane.sets[axis]);
                let step = set[low.changed(low.base, level)?] - set[low.base];
                let down = low.bits_at(low.base) >> level & 1 == 1;
                let source = if down { -step } else { step };
                found.bits.push(Bit { axis, level, source, result, onto: Vec::new() });
            }
        }
        found.pairs();
        found.bits.iter().any(|bit| !bit.onto.is_empty()).then_some(found)
    }

    /// Returns the place with these bits changed, less the place of the base; `None` outside the plane.
    fn at(&self, bits: &[(usize, u32)]) -> Option<i64> {
        let mut ranks = self.base.clone();
        for (axis, level) in bits {
            ranks[*axis] = self.low[*axis].changed(ranks[*axis], *level)?;
            if ranks[*axis] >= self.plane.sets[*axis].len() {
                return None;
            }
        }
        Some(self.plane.place(&ranks) - self.zero)
    }

    /// Finds the pairs of bits of which one is XORed onto the other.
    fn pairs(&mut self) {
        let steps: Vec<i64> = self.bits.iter().map(|bit| bit.result).collect();
        for j in 0..self.bits.len() {
            for i in 0..j {
                let [a, b] = [i, j].map(|k| (self.bits[k].axis, self.bits[k].level));
                let Some(both) = self.at(&[a, b]) else { continue };
                let shared = steps[i] + steps[j] - both;
                match shared {
                    0 => {}
                    _ if shared == 2 * steps[j] => self.bits[i].onto.push(j),
                    _ if shared == 2 * steps[i] => self.bits[j].onto.push(i),
                    _ => {}
                }
            }
        }
        for i in 0..self.bits.len() {
            let onto: i64 = self.bits[i].onto.iter().map(|j| steps[*j]).sum();
            self.bits[i].result -= onto;
        }
    }

    /// Returns the bits of the place that differ from those of the base if an index of an axis has these low bits.
    fn key(&self, axis: usize, low: u64) -> u64 {
        let differ = low ^ self.low[axis].bits_at(self.base[axis]);
        let mut key = 0;
        for (number, bit) in self.bits.iter().enumerate() {
            if bit.axis == axis && differ >> bit.level & 1 == 1 {
                key ^= 1 << number;
                bit.onto.iter().for_each(|onto| key ^= 1 << onto);
            }
        }
        key
    }

    /// Returns the sum of the steps of bits.
    fn steps(&self, key: u64) -> i64 {
        let bits = self.bits.iter().enumerate();
        bits.filter(|(number, _)| key >> number & 1 == 1).map(|(_, bit)| bit.result).sum()
    }

    /// Returns the steps in the source of the low bits of an index.
    fn source(&self, axis: usize, low: u64) -> i64 {
        let set = |bit: &&Bit| bit.axis == axis && low >> bit.level & 1 == 1;
        self.bits.iter().filter(set).map(|bit| bit.source).sum()
    }

    /// Returns the points of the blocks of an axis at the low bits of the base, less the base.
    fn blocks(&self, axis: usize) -> Vec<Point> {
        let (low, set) = (&self.low[axis], &self.plane.sets[axis]);
        let count = (set.len() as u64 + low.phase).div_ceil(1 << low.bits);
        let point = |block: u64| {
            let rank = (block << low.bits).saturating_sub(low.phase) as usize;
            let rest = low.bits_at(rank);
            let mut ranks = self.base.clone();
            ranks[axis] = rank;
            let place = self.plane.place(&ranks) - self.zero - self.steps(self.key(axis, rest));
            (set[rank] - set[low.base] - self.since_base(axis, rest), place)
        };
        (low.phase >> low.bits..count).map(point).collect()
    }

    /// Returns the steps in the source from the low bits of the base to these low bits.
    fn since_base(&self, axis: usize, low: u64) -> i64 {
        self.source(axis, low) - self.source(axis, self.low[axis].bits_at(self.base[axis]))
    }

    /// Returns the term, if every place agrees with it.
    fn term(mut self, origin: Origin) -> Option<MapTerm> {
        if self.bits.len() > 63 {
            return None;
        }
        let blocks: Vec<Vec<Point>> = (0..self.low.len()).map(|axis| self.blocks(axis)).collect();
        if !self.agrees(&blocks) {
            return None;
        }
        let lines: Vec<Line> = blocks.iter().map(|points| line(points)).collect::<Option<_>>()?;
        let mut term =
            MapTerm { origin, offset: 0, at: self.zero, axes: Vec::new(), xor: Vec::new() };
        for (axis, line) in lines.iter().enumerate() {
            term.offset +=
                self.plane.sets[axis][self.base[axis]] + self.since_base(axis, 0) + line.zero.0;
            term.at += line.zero.1;
        }
        term.at += self.rebase();
        let runs = self.runs();
        let numbers = self.axes(&lines, &runs, &mut term);
        for (run, range) in runs.iter().enumerate() {
            for onto in &self.bits[range.0].onto {
                let target = runs.iter().position(|other| other.0 == *onto)?;
                term.xor.push((numbers[run], numbers[target]));
            }
        }
        Some(term)
    }

    /// Makes the steps those from low bits of 0, and returns the place there, less the base.
    fn rebase(&mut self) -> i64 {
        let key = (0..self.low.len()).fold(0, |key, axis| key ^ self.key(axis, 0));
        let moved = self.steps(key);
        for (number, bit) in self.bits.iter_mut().enumerate() {
            if key >> number & 1 == 1 {
                bit.result = -bit.result;
            }
        }
        moved
    }

    /// Adds the axes to a term, and returns the number of the digit of each run.
    fn axes(&self, lines: &[Line], runs: &[(usize, usize)], term: &mut MapTerm) -> Vec<usize> {
        let (mut numbers, mut number) = (vec![0; runs.len()], 0);
        for (axis, line) in lines.iter().enumerate() {
            let mut digits = Vec::new();
            for (run, range) in runs.iter().enumerate() {
                if self.bits[range.0].axis == axis {
                    numbers[run] = number + digits.len();
                    digits.push(self.digit(range));
                }
            }
            digits.extend(&line.digits);
            let last = runs.iter().rfind(|range| self.bits[range.0].axis == axis);
            if last.is_some_and(|range| !self.is_xored(range.0)) {
                join(&mut digits, line.digits.len());
            }
            number += digits.len();
            let low = &self.low[axis];
            let first = low.phase % (1 << low.bits) + (line.first << low.bits);
            let count = self.plane.sets[axis].len() as u64;
            if count > 1 {
                term.axes.push(TermAxis::Digits { first, count, digits });
            }
        }
        numbers
    }

    /// Returns the digit of a run of bits.
    fn digit(&self, range: &(usize, usize)) -> MapDigit {
        let bit = &self.bits[range.0];
        MapDigit { extent: 1 << (range.1 - range.0), source: bit.source, result: bit.result }
    }

    /// Returns whether a bit is part of an XOR.
    fn is_xored(&self, bit: usize) -> bool {
        !self.bits[bit].onto.is_empty() || self.bits.iter().any(|other| other.onto.contains(&bit))
    }

    /// Returns the runs of bits that make one digit each: their steps double, and they are XORed alike.
    fn runs(&self) -> Vec<(usize, usize)> {
        let mut cut: Vec<bool> = (0..self.bits.len()).map(|k| k == 0 || !self.follows(k)).collect();
        loop {
            let before = cut.clone();
            for (bit, described) in self.bits.iter().enumerate() {
                for onto in &described.onto {
                    let either = cut[bit] || cut[*onto];
                    (cut[bit], cut[*onto]) = (either, either);
                }
            }
            if cut == before {
                break;
            }
        }
        let starts: Vec<usize> = (0..cut.len()).filter(|k| cut[*k]).collect();
        let ends = starts.iter().skip(1).copied().chain([cut.len()]);
        starts.iter().copied().zip(ends).collect()
    }

    /// Returns whether a bit continues the digit of the bit before it.
    fn follows(&self, k: usize) -> bool {
        let (before, bit) = (&self.bits[k - 1], &self.bits[k]);
        let onto: Vec<usize> = before.onto.iter().map(|onto| onto + 1).collect();
        let from = |bit: usize| -> Vec<usize> {
            (0..self.bits.len()).filter(|k| self.bits[*k].onto.contains(&bit)).collect()
        };
        let moved: Vec<usize> = from(k - 1).iter().map(|from| from + 1).collect();
        bit.axis == before.axis
            && bit.source == 2 * before.source
            && bit.result == 2 * before.result
            && bit.onto == onto
            && from(k) == moved
    }

    /// Returns whether every place is what the bits and blocks say.
    fn agrees(&self, blocks: &[Vec<Point>]) -> bool {
        let index = |axis: usize, rank: usize| {
            let (low, set) = (&self.low[axis], &self.plane.sets[axis]);
            let rest = low.bits_at(rank);
            let first = low.phase >> low.bits;
            let block = blocks[axis][(((rank as u64 + low.phase) >> low.bits) - first) as usize];
            let source = set[rank] - set[low.base] - self.since_base(axis, rest);
            (block.1, self.key(axis, rest), source == block.0)
        };
        let table: Vec<Vec<(i64, u64, bool)>> = (0..self.low.len())
            .map(|axis| (0..self.plane.sets[axis].len()).map(|rank| index(axis, rank)).collect())
            .collect();
        let Some((last, outer)) = table.split_last() else {
            return false;
        };
        if table.iter().flatten().any(|entry| !entry.2) {
            return false;
        }
        let mut ranks = vec![0; outer.len()];
        for row in self.plane.places.chunks_exact(last.len()) {
            let chosen = || ranks.iter().zip(outer).map(|(rank, axis)| axis[*rank]);
            let base = self.zero + chosen().map(|entry| entry.0).sum::<i64>();
            let key = chosen().fold(0, |key, entry| key ^ entry.1);
            let same = |(place, entry): (&i64, &(i64, u64, bool))| {
                *place == base + entry.0 + self.steps(key ^ entry.1)
            };
            if !row.iter().zip(last).all(same) {
                return false;
            }
            advance(&mut ranks, |k| outer[k].len());
        }
        true
    }
}

/// Chooses the low bits of an axis: as many as can each be changed from one rank.
fn low(count: usize, most: u32, phase: u64) -> Low {
    let last = phase + count as u64 - 1;
    let mut low = Low { bits: most.min(64 - (last ^ phase).leading_zeros()), phase, base: 0 };
    loop {
        let all = |rank: &usize| {
            (0..low.bits).all(|level| low.changed(*rank, level).is_some_and(|other| other < count))
        };
        if let Some(base) = (0..count.min(2 << low.bits)).find(all) {
            low.base = base;
            return low;
        }
        low.bits -= 1;
    }
}

/// Joins the last low digit with the first of the `outer` digits, if its steps continue.
fn join(digits: &mut Vec<MapDigit>, outer: usize) {
    let Some(at) = digits.len().checked_sub(outer).filter(|at| *at > 0 && outer > 0) else {
        return;
    };
    let (low, high) = (digits[at - 1], digits[at]);
    let extent = low.extent as i64;
    if high.source == low.source * extent && high.result == low.result * extent {
        digits[at - 1].extent *= high.extent;
        digits.remove(at);
    }
}
