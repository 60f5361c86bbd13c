//! [`MapTerm`]: elements of a result that come from one source, or from a family of them, by one rule.

use crate::{
    Error,
    source::{Families, Family},
};

/// One factor of an index: a number below `extent`, and what each of its steps adds on both sides.
///
/// ```
/// use tilewright_learn::MapDigit;
/// // 64 rows of a source with 4096 columns, beside each other in pairs.
/// let digit = MapDigit { extent: 64, source: 4096, result: 2 };
/// assert_eq!(63 * digit.result, 126);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MapDigit {
    /// The number of values. The last digit of an axis has no bound of its own: the axis's count bounds it.
    pub extent: u64,
    /// The step in the source, in elements. Members of a family are one more than their size apart.
    pub source: i64,
    /// The step in the result, in elements.
    pub result: i64,
}

/// One axis of a term: the indices `first .. first + count`, written in digits or listed.
///
/// ```
/// use tilewright_learn::{TermAxis, MapDigit};
/// // 100 rows in blocks of 64.
/// let digits = vec![MapDigit { extent: 64, source: 8, result: 1 }, MapDigit { extent: 2, source: 512, result: 512 }];
/// let axis = TermAxis::Digits { first: 0, count: 100, digits };
/// assert_eq!((axis.count(), axis.integers()), (100, 7));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum TermAxis {
    /// Mixed-radix digits, the least significant first.
    Digits {
        /// The index of the first element. It is not 0 where a part begins inside a block.
        first: u64,
        /// The number of indices.
        count: u64,
        /// The digits of an index.
        digits: Vec<MapDigit>,
    },
    /// A list.
    Table {
        /// The number that each index adds in the source.
        source: Vec<i64>,
        /// The number that each index adds in the result.
        result: Vec<i64>,
    },
}

impl TermAxis {
    /// Returns the number of indices.
    ///
    /// ```
    /// use tilewright_learn::TermAxis;
    /// assert_eq!(TermAxis::Table { source: vec![3, 1], result: vec![0, 1] }.count(), 2);
    /// ```
    pub fn count(&self) -> u64 {
        match self {
            TermAxis::Digits { count, .. } => *count,
            TermAxis::Table { result, .. } => result.len() as u64,
        }
    }

    /// Returns how many integers describe the axis. A list with equal steps counts as two.
    ///
    /// ```
    /// use tilewright_learn::TermAxis;
    /// assert_eq!(TermAxis::Table { source: vec![3, 0, 1], result: vec![0, 1, 2] }.integers(), 3 + 2);
    /// ```
    pub fn integers(&self) -> u64 {
        match self {
            TermAxis::Digits { first, count, digits } => {
                let product: u64 = digits.iter().map(|digit| digit.extent).product();
                3 * digits.len() as u64 + u64::from(*first != 0) + u64::from(product != *count)
            }
            TermAxis::Table { source, result } => listed(source) + listed(result),
        }
    }
}

/// Returns how many integers a list needs.
fn listed(list: &[i64]) -> u64 {
    match list.windows(2).all(|pair| pair[1] - pair[0] == list[1] - list[0]) {
        true => 2,
        false => list.len() as u64,
    }
}

/// The origin of the elements of a term.
///
/// ```
/// use tilewright_learn::Origin;
/// assert_ne!(Origin::Source(0), Origin::Zero);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Origin {
    /// A source, by its place in the list: the one of the element at digits of 0, or the first of its family.
    Source(usize),
    /// Nothing: the elements are zero in all loads.
    Zero,
    /// Nothing: the elements are constants.
    Constant,
    /// Something that is not a move.
    Computed,
}

/// Elements of a result by one rule: the product of axes. An index of each axis adds steps on both sides.
///
/// A digit named first in `xor` is XORed onto the value that the second digit has in the result. Digits are numbered through
/// all axes. Both extents are powers of two. A swizzle is one term.
///
/// ```
/// use tilewright_learn::{Sources, describe};
/// let sources = Sources::numbered([("w".into(), vec![2, 2])])?;
/// // The second row is stored in reverse: column XOR row.
/// let learned = describe(&[1, 2, 4, 3], &sources)?;
/// assert_eq!((learned.terms().len(), learned.terms()[0].xor.len()), (1, 1));
/// # Ok::<(), tilewright_learn::Error>(())
/// ```
#[must_use]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MapTerm {
    /// The origin of the elements.
    pub origin: Origin,
    /// The address in the family at index 0 of all axes. Member m of a family starts at m·(size + 1); for a source without
    /// family it is the element.
    pub offset: i64,
    /// The place in the result at index 0 of all axes.
    pub at: i64,
    /// The axes.
    pub axes: Vec<TermAxis>,
    /// Pairs of digits: the value of the first is XORed onto that of the second.
    pub xor: Vec<(usize, usize)>,
}

/// A box of elements without padding, phases or XOR: what moves, fills and compares data.
///
/// ```
/// use tilewright_learn::{Sources, describe};
/// let sources = Sources::numbered([("w".into(), vec![2, 3])])?;
/// let learned = describe(&[1, 4, 2, 5, 3, 6], &sources)?;
/// let mut parts = Vec::new();
/// learned.parts(&mut |part| parts.push((part.offset, part.at, part.digits.to_vec())))?;
/// assert_eq!(parts.len(), 1);
/// # Ok::<(), tilewright_learn::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TermPart<'a> {
    /// The origin of the elements.
    pub origin: Origin,
    /// The element of the source at digits of 0.
    pub offset: i64,
    /// The place in the result at digits of 0.
    pub at: i64,
    /// The digits, in no order.
    pub digits: &'a [MapDigit],
}

/// One digit of a piece of an axis: its number in the term, its first value, and its extent.
#[derive(Clone, Copy)]
struct Range {
    number: usize,
    digit: MapDigit,
    from: u64,
    extent: u64,
}

/// A piece of an axis on which all digits are independent.
#[derive(Clone, Default)]
struct MapPiece {
    source: i64,
    result: i64,
    ranges: Vec<Range>,
}

impl MapTerm {
    /// Returns the number of elements.
    ///
    /// ```
    /// use tilewright_learn::{Sources, describe};
    /// let sources = Sources::numbered([("w".into(), vec![4])])?;
    /// assert_eq!(describe(&[3, 4], &sources)?.terms()[0].elements(), 2);
    /// # Ok::<(), tilewright_learn::Error>(())
    /// ```
    pub fn elements(&self) -> u64 {
        self.axes.iter().map(TermAxis::count).product()
    }

    /// Returns how many integers describe the term: its origin and two offsets, and those of its axes and XORs.
    ///
    /// ```
    /// use tilewright_learn::{Sources, describe};
    /// let sources = Sources::numbered([("w".into(), vec![4])])?;
    /// assert_eq!(describe(&[1, 2, 3, 4], &sources)?.terms()[0].integers(), 6);
    /// # Ok::<(), tilewright_learn::Error>(())
    /// ```
    pub fn integers(&self) -> u64 {
        3 + self.axes.iter().map(TermAxis::integers).sum::<u64>() + 2 * self.xor.len() as u64
    }

    /// Calls `each` with boxes that make up the term; sources are addresses of the family.
    pub(crate) fn boxes(&self, each: &mut dyn FnMut(i64, i64, &[MapDigit])) {
        let mut number = 0;
        let axes: Vec<Vec<MapPiece>> = self
            .axes
            .iter()
            .map(|axis| {
                let pieces = pieces(axis, number);
                number += match axis {
                    TermAxis::Digits { digits, .. } => digits.len(),
                    TermAxis::Table { .. } => 0,
                };
                pieces
            })
            .collect();
        let start = MapPiece { source: self.offset, result: self.at, ranges: Vec::new() };
        self.product(&axes, start, each);
    }

    /// Calls `each` for every choice of a piece of each axis.
    fn product(
        &self,
        axes: &[Vec<MapPiece>],
        so_far: MapPiece,
        each: &mut dyn FnMut(i64, i64, &[MapDigit]),
    ) {
        let Some((axis, rest)) = axes.split_first() else {
            return self.without_xor(&so_far, each);
        };
        for piece in axis {
            let mut joined = so_far.clone();
            joined.source += piece.source;
            joined.result += piece.result;
            joined.ranges.extend(&piece.ranges);
            self.product(rest, joined, each);
        }
    }

    /// Calls `each` with boxes of a piece in which every XOR is of a known number.
    fn without_xor(&self, piece: &MapPiece, each: &mut dyn FnMut(i64, i64, &[MapDigit])) {
        let is_source = |range: &Range| self.xor.iter().any(|pair| pair.0 == range.number);
        let is_target = |range: &Range| self.xor.iter().any(|pair| pair.1 == range.number);
        let is_whole = |range: &Range| range.from == 0 && range.extent == range.digit.extent;
        let listed: Vec<Range> = piece
            .ranges
            .iter()
            .filter(|range| is_source(range) || (is_target(range) && !is_whole(range)))
            .copied()
            .collect();
        let mut values: Vec<u64> = listed.iter().map(|range| range.from).collect();
        loop {
            self.fixed(piece, &listed, &values, each);
            let next = (0..listed.len()).find(|k| {
                values[*k] += 1;
                let wraps = values[*k] == listed[*k].from + listed[*k].extent;
                if wraps {
                    values[*k] = listed[*k].from;
                }
                !wraps
            });
            if next.is_none() {
                return;
            }
        }
    }

    /// Calls `each` with the box in which the digits of `listed` have these values.
    fn fixed(
        &self,
        piece: &MapPiece,
        listed: &[Range],
        values: &[u64],
        each: &mut dyn FnMut(i64, i64, &[MapDigit]),
    ) {
        let value =
            |number: usize| listed.iter().position(|r| r.number == number).map(|k| values[k]);
        let onto = |number: usize| {
            let pairs = self.xor.iter().filter(|pair| pair.1 == number);
            pairs.filter_map(|pair| value(pair.0)).fold(0, |all, one| all ^ one)
        };
        let (mut source, mut result, mut digits) = (piece.source, piece.result, Vec::new());
        for range in &piece.ranges {
            let (digit, mask) = (range.digit, onto(range.number));
            if let Some(value) = value(range.number) {
                source += value as i64 * digit.source;
                result += (value ^ mask) as i64 * digit.result;
            } else if mask == 0 {
                source += range.from as i64 * digit.source;
                result += range.from as i64 * digit.result;
                digits.push(MapDigit { extent: range.extent, ..digit });
            } else {
                result += mask as i64 * digit.result;
                digits.extend(mirrored(digit, mask));
            }
        }
        digits.retain(|digit| digit.extent != 1);
        each(source, result, &digits);
    }
}

/// Returns the bits of a digit whose value is XORed with a number: bits of the number step backwards.
fn mirrored(digit: MapDigit, mask: u64) -> impl Iterator<Item = MapDigit> {
    (0..digit.extent.trailing_zeros()).map(move |bit| {
        let sign = if mask >> bit & 1 == 1 { -1 } else { 1 };
        MapDigit { extent: 2, source: digit.source << bit, result: sign * (digit.result << bit) }
    })
}

/// Returns the pieces of an axis, whose digits are numbered from `number` on.
fn pieces(axis: &TermAxis, number: usize) -> Vec<MapPiece> {
    match axis {
        TermAxis::Table { source, result } => {
            let both = source.iter().zip(result);
            both.map(|(s, r)| MapPiece { source: *s, result: *r, ranges: vec![] }).collect()
        }
        TermAxis::Digits { first, count, digits } => {
            let mut cut = Cut { digits, number, out: Vec::new() };
            cut.cover(digits.len(), *first, first + count, Vec::new());
            cut.out
        }
    }
}

/// Cuts a range of indices into pieces with independent digits.
struct Cut<'a> {
    digits: &'a [MapDigit],
    number: usize,
    out: Vec<MapPiece>,
}

impl Cut<'_> {
    /// Covers the indices `from .. to` of the digits below `level`; `above` are the fixed digits.
    fn cover(&mut self, level: usize, from: u64, to: u64, above: Vec<Range>) {
        if from >= to {
            return;
        }
        if level == 0 {
            return self.out.push(MapPiece { ranges: above, ..MapPiece::default() });
        }
        let block: u64 = self.digits[..level - 1].iter().map(|digit| digit.extent).product();
        let (first, last) = (from.div_ceil(block), to / block);
        if first > last {
            return self.cover(
                level - 1,
                from % block,
                to - last * block,
                self.with(&above, level, last, 1),
            );
        }
        if from < first * block {
            let above = self.with(&above, level, first - 1, 1);
            self.cover(level - 1, from % block, block, above);
        }
        if first < last {
            let mut ranges = self.with(&above, level, first, last - first);
            let lower = self.digits[..level - 1].iter().enumerate();
            ranges.extend(lower.map(|(k, digit)| Range {
                number: self.number + k,
                digit: *digit,
                from: 0,
                extent: digit.extent,
            }));
            self.out.push(MapPiece { ranges, ..MapPiece::default() });
        }
        if last * block < to {
            self.cover(level - 1, 0, to - last * block, self.with(&above, level, last, 1));
        }
    }

    /// Returns the ranges with one more, of the digit below `level`.
    fn with(&self, above: &[Range], level: usize, from: u64, extent: u64) -> Vec<Range> {
        let (number, digit) = (self.number + level - 1, self.digits[level - 1]);
        above.iter().copied().chain([Range { number, digit, from, extent }]).collect()
    }
}

/// Calls `each` with the parts of a term: boxes within one source.
pub(crate) fn parts(
    term: &MapTerm,
    families: &Families,
    each: &mut dyn FnMut(TermPart<'_>),
) -> Result<(), Error> {
    let Origin::Source(place) = term.origin else {
        let origin = term.origin;
        term.boxes(&mut |_, at, digits| each(TermPart { origin, offset: 0, at, digits }));
        return Ok(());
    };
    let family = &families.list[families.of[place].0];
    let mut fault = None;
    term.boxes(&mut |offset, at, digits| {
        if within(family, offset, at, digits, each).is_none() {
            fault = Some(offset);
        }
    });
    match fault {
        None => Ok(()),
        Some(at) => Err(Error::illegal(format!("a term leaves its source at address {at}"))),
    }
}

/// Calls `each` with boxes within one member of the family.
fn within(
    family: &Family,
    offset: i64,
    at: i64,
    digits: &[MapDigit],
    each: &mut dyn FnMut(TermPart<'_>),
) -> Option<()> {
    let reach = |digit: &MapDigit| (digit.extent as i64 - 1) * digit.source;
    let low = offset + digits.iter().map(reach).filter(|r| *r < 0).sum::<i64>();
    let high = offset + digits.iter().map(reach).filter(|r| *r > 0).sum::<i64>();
    let (member, _) = family.member(low)?;
    if low.div_euclid(family.stride) == high.div_euclid(family.stride) {
        let (_, element) = family.member(offset)?;
        family.member(high)?;
        each(TermPart { origin: Origin::Source(member), offset: element, at, digits });
        return Some(());
    }
    // The digit with the largest steps is over members; it is taken value by value.
    let widest = (0..digits.len()).max_by_key(|k| digits[*k].source.abs())?;
    let mut rest = digits.to_vec();
    let digit = rest.remove(widest);
    for x in 0..digit.extent as i64 {
        within(family, offset + x * digit.source, at + x * digit.result, &rest, each)?;
    }
    Some(())
}
