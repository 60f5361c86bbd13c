//! [`Chosen`]: elements of a source whose places in a result are asked, such as those that a sparse update changes.
//!
//! A box gives the place of an element by one division for each digit, or by a division and two tables if many elements are asked.
//! So the cost is that of the chosen elements, and not that of the box.

use crate::{MapDigit, TermPart};

/// The most boxes for which all elements are looked at in their own order. With more boxes they are sorted once.
const FEW: usize = 16;

/// The chosen elements for each entry of a table, at least. Making an entry costs one walk of the digits, so the table then costs
/// an eighth of what it saves.
const PER_ENTRY: u64 = 8;

/// The number of elements that are written together. Writing 3 million of 10⁸ elements of two bytes in a mixed order took 97 ms with
/// 16, 82 ms with 64, and 77 ms with 256 on a Xeon with AMX (2026-11-28).
const BATCH: usize = 256;

/// Elements of a source, by their row-major indices, in an order in which the ones in reach of a box are found.
///
/// ```
/// use tilewright_learn::{Chosen, Sources, describe};
/// let learned = describe(&[1, 4, 2, 5, 3, 6], &Sources::numbered([("w".into(), vec![2, 3])])?)?;
/// let (chosen, mut places) = (Chosen::new(&[5, 1], 1), Vec::new());
/// learned.parts(&mut |part| chosen.places(part, |element, place| places.push((element, place))))?;
/// assert_eq!(places, [(0, 5), (1, 2)]);
/// # Ok::<(), tilewright_learn::Error>(())
/// ```
#[must_use]
#[derive(Clone, Debug)]
pub struct Chosen<'a> {
    elements: &'a [u64],
    /// Elements and their numbers, sorted, if there are many boxes.
    order: Option<Vec<(u64, usize)>>,
    is_sorted: bool,
}

impl<'a> Chosen<'a> {
    /// Prepares elements for questions about this many boxes.
    ///
    /// ```
    /// let chosen = tilewright_learn::Chosen::new(&[5, 1, 5], 1000);
    /// assert!(format!("{chosen:?}").contains("order: Some([(1, 1), (5, 0), (5, 2)])"));
    /// ```
    pub fn new(elements: &'a [u64], boxes: usize) -> Chosen<'a> {
        let is_sorted = elements.is_sorted();
        let order = (!is_sorted && boxes > FEW).then(|| {
            let mut order: Vec<(u64, usize)> = elements.iter().copied().zip(0..).collect();
            order.sort_unstable();
            order
        });
        Chosen { elements, order, is_sorted }
    }

    /// Calls `each` with the places of a box that hold elements: the place in the list of elements, and that in the result. An
    /// element that is held n times is given n times.
    ///
    /// ```
    /// use tilewright_learn::{Chosen, MapDigit, Origin, TermPart};
    /// let digits = [MapDigit { extent: 3, source: 0, result: 4 }];
    /// let repeated = TermPart { origin: Origin::Source(0), offset: 7, at: 1, digits: &digits };
    /// let mut places = Vec::new();
    /// Chosen::new(&[8, 7], 1).places(repeated, |element, place| places.push((element, place)));
    /// assert_eq!(places, [(1, 1), (1, 5), (1, 9)]);
    /// ```
    pub fn places(&self, part: TermPart<'_>, each: impl FnMut(usize, u64)) {
        let (low, high) = reach(part.digits);
        let first = u64::try_from(part.offset + low).unwrap_or(0);
        let end = u64::try_from(part.offset + high + 1).unwrap_or(0);
        match &self.order {
            Some(order) => {
                let below = |end: u64| order.partition_point(|one| one.0 < end);
                let within = &order[below(first)..below(end).max(below(first))];
                walk(part, within.iter().copied(), each);
            }
            None if self.is_sorted => {
                let below = |end: u64| self.elements.partition_point(|element| *element < end);
                let (from, to) = (below(first), below(end).max(below(first)));
                walk(part, self.elements[from..to].iter().copied().zip(from..), each);
            }
            None => {
                let all = self.elements.iter().copied().zip(0..);
                walk(part, all.filter(|one| (first..end).contains(&one.0)), each);
            }
        }
    }
}

impl Chosen<'_> {
    /// Writes values of the chosen elements to their places in a box, and returns their number. `values` and `array` have units of
    /// `width` bytes: 1, 2, 4 or 8.
    ///
    /// # Panics
    /// If a value or a place is missing, or for another width.
    ///
    /// ```
    /// use tilewright_learn::{Chosen, MapDigit, Origin, TermPart};
    /// let digits = [MapDigit { extent: 3, source: 1, result: 2 }];
    /// let part = TermPart { origin: Origin::Source(0), offset: 0, at: 1, digits: &digits };
    /// let mut array = [0; 6];
    /// assert_eq!(Chosen::new(&[2, 7], 1).write(part, &[5, 6], 1, &mut array), 1);
    /// assert_eq!(array, [0, 0, 0, 0, 0, 5]);
    /// ```
    pub fn write(&self, part: TermPart<'_>, values: &[u8], width: usize, array: &mut [u8]) -> u64 {
        match width {
            1 => self.write_units::<1>(part, values, array),
            2 => self.write_units::<2>(part, values, array),
            4 => self.write_units::<4>(part, values, array),
            8 => self.write_units::<8>(part, values, array),
            _ => panic!("units of {width} bytes"),
        }
    }

    fn write_units<const N: usize>(
        &self,
        part: TermPart<'_>,
        values: &[u8],
        array: &mut [u8],
    ) -> u64 {
        let (values, array) = (values.as_chunks::<N>().0, array.as_chunks_mut::<N>().0);
        let (mut written, mut batch, mut waiting) = (0, [(0, 0); BATCH], 0);
        self.places(part, |number, place| {
            batch[waiting] = (number, place as usize);
            waiting += 1;
            written += 1;
            if waiting == BATCH {
                write_all(&batch, values, array);
                waiting = 0;
            }
        });
        write_all(&batch[..waiting], values, array);
        written
    }
}

/// Writes values to places. All places are read first: loads from many cache lines overlap, which stores in order do not.
fn write_all<const N: usize>(batch: &[(usize, usize)], values: &[[u8; N]], array: &mut [[u8; N]]) {
    let read = batch.iter().fold(0, |read, (_, place)| read ^ array[*place][0]);
    std::hint::black_box(read);
    for (number, place) in batch {
        array[*place] = values[*number];
    }
}

/// Calls `each` with the places of elements, which are in reach of the box.
fn walk(
    part: TermPart<'_>,
    elements: impl Iterator<Item = (u64, usize)>,
    mut each: impl FnMut(usize, u64),
) {
    let mut digits = part.digits.to_vec();
    digits.sort_by_key(|digit| std::cmp::Reverse(digit.source.abs()));
    if is_nested(&digits) {
        let most = elements.size_hint().1.unwrap_or(0) as u64 / PER_ENTRY;
        let halves = Halves::of(&digits, part.at, most);
        for (element, number) in elements {
            let rest = element as i64 - part.offset;
            let place = match &halves {
                Some(halves) => halves.place_of(rest),
                None => place_of(&digits, rest, part.at),
            };
            if let Some(place) = place {
                each(number, place as u64);
            }
        }
        return;
    }
    for (element, number) in elements {
        let rest = element as i64 - part.offset;
        find(&digits, rest, part.at, &mut |place| each(number, place as u64));
    }
}

/// Places in a box with nested digits, as sums of two numbers: one for the large digits of an element, one for the small ones.
struct Halves {
    /// The step of the source at which the digits are split.
    step: u64,
    large: Vec<Option<i64>>,
    small: Vec<Option<i64>>,
}

impl Halves {
    /// Returns the tables with the fewest entries, if they are at most `most` together and need no more divisions than the digits.
    fn of(digits: &[MapDigit], at: i64, most: u64) -> Option<Halves> {
        let entries = |split: usize| {
            let (large, small) = digits.split_at(split);
            let step = large.last()?.source;
            let is_even = large.iter().all(|digit| digit.source % step == 0);
            let entries = (reach(large).1 / step) as u64 + 1 + reach(small).1 as u64 + 1;
            (is_even && entries <= most).then_some((entries, split))
        };
        let split = (1..digits.len()).filter_map(entries).min()?.1;
        let (large, small) = digits.split_at(split);
        let step = large.last()?.source;
        let list = |digits: &[MapDigit], step: i64, at: i64| {
            (0..=reach(digits).1 / step).map(|x| place_of(digits, x * step, at)).collect()
        };
        Some(Halves { step: step as u64, large: list(large, step, at), small: list(small, 1, 0) })
    }

    #[inline]
    fn place_of(&self, rest: i64) -> Option<i64> {
        let rest = u64::try_from(rest).ok()?;
        let (step, small) = (self.step, self.small.len() as u64);
        let x = if step.is_power_of_two() { rest >> step.trailing_zeros() } else { rest / step };
        let low = rest - x * step;
        if x >= self.large.len() as u64 || low >= small {
            return None;
        }
        Some(self.large[x as usize]? + self.small[low as usize]?)
    }
}

/// Returns whether each step in the source is larger than all smaller digits reach: then an element has one place at most.
fn is_nested(digits: &[MapDigit]) -> bool {
    let mut reach = 0;
    digits.iter().rev().all(|digit| {
        let is_larger = digit.source > reach;
        reach += (digit.extent as i64 - 1) * digit.source;
        is_larger
    })
}

/// Returns the place of an element, given by its distance from the first, in a box with nested digits, the largest step first.
#[inline]
fn place_of(digits: &[MapDigit], rest: i64, at: i64) -> Option<i64> {
    let (mut rest, mut place) = (u64::try_from(rest).ok()?, at);
    for digit in digits {
        let step = digit.source as u64;
        let x = if step.is_power_of_two() { rest >> step.trailing_zeros() } else { rest / step };
        if x >= digit.extent {
            return None;
        }
        rest -= x * step;
        place += x as i64 * digit.result;
    }
    (rest == 0).then_some(place)
}

/// Calls `found` with the places of a box at which the source's steps add up to `rest`; the largest step is first.
fn find(digits: &[MapDigit], rest: i64, place: i64, found: &mut dyn FnMut(i64)) {
    let Some((digit, inner)) = digits.split_first() else {
        if rest == 0 {
            found(place);
        }
        return;
    };
    let (low, high) = reach(inner);
    // The values that leave a rest within the reach of the other digits.
    let (first, last) = match digit.source {
        0 => (0, digit.extent as i64 - 1),
        step if step > 0 => {
            ((rest - high + step - 1).div_euclid(step), (rest - low).div_euclid(step))
        }
        step => (-(rest - low).div_euclid(-step), (high - rest).div_euclid(-step)),
    };
    for x in first.max(0)..=last.min(digit.extent as i64 - 1) {
        find(inner, rest - x * digit.source, place + x * digit.result, found);
    }
}

/// Returns the least and the largest sum of the steps of digits in the source.
fn reach(digits: &[MapDigit]) -> (i64, i64) {
    let ends = digits.iter().map(|digit| (digit.extent as i64 - 1) * digit.source);
    ends.fold((0, 0), |(low, high), end| (low + end.min(0), high + end.max(0)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Origin;

    /// All elements in three orders, in boxes with steps of both signs, of zero, and with gaps.
    #[test]
    fn places_are_those_of_the_box_in_every_order() {
        let digit = |extent, source, result| MapDigit { extent, source, result };
        let boxes = [
            vec![digit(4, 6, 1), digit(3, 2, 5), digit(2, 1, 40)],
            vec![digit(3, -2, 1), digit(2, 7, 9)],
            vec![digit(2, 0, 1), digit(5, 3, 2)],
            vec![digit(3, 2, 1), digit(4, 1, 10)],
            vec![],
        ];
        for digits in &boxes {
            let part = TermPart { origin: Origin::Source(0), offset: 9, at: 3, digits };
            let mut want = vec![(9i64, 3i64)];
            for d in digits {
                let step = |(element, place): &(i64, i64)| {
                    let (element, place) = (*element, *place);
                    (0..d.extent as i64)
                        .map(move |x| (element + x * d.source, place + x * d.result))
                };
                want = want.iter().flat_map(step).collect();
            }
            want.sort_unstable();
            let forward: Vec<u64> = (0..60).collect();
            let mixed: Vec<u64> = (0..60).map(|k| k * 23 % 60).collect();
            // As many elements as make tables cheaper than divisions.
            let many: Vec<u64> = (0..6000).map(|k| k * 23 % 60).collect();
            for (elements, boxes) in [(&forward, 1), (&mixed, 1), (&mixed, 99), (&many, 1)] {
                let mut found = Vec::new();
                Chosen::new(elements, boxes).places(part, |number, place| {
                    found.push((elements[number] as i64, place as i64))
                });
                found.sort_unstable();
                let times = elements.len() / 60;
                let want: Vec<_> =
                    want.iter().flat_map(|one| std::iter::repeat_n(*one, times)).collect();
                assert_eq!(found, want, "{digits:?}");
            }
        }
    }
}
