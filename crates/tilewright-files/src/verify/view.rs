//! Elements of two arrays that share digits, as pairs of layouts over these digits: what a comparison by a recipe reads. A part of a
//! recipe's result is such elements.
//!
//! ```text
//! digits i0, i1 …  ->  element first + Σ iₖ·stepₖ of each array, row-major  ->  coordinate  ->  offset
//! ```
//!
//! Where no sum carries into a digit of either array, both offsets are sums of strides again, under the swizzle of the layout. Digits
//! that carry are cut first.
//!
//! Laws: the views of a selection have each of its elements once; the offset of an element of a view is the one that
//! [`TensorLayout::offset`] has for it. The corners and neighbours of each view are looked up there before it is used.

use tilewright_core::{Layout, MAX_MODES, Mode, Step, TensorLayout};
use tilewright_recipe::Digit;

use crate::{Error, error, verify::patch::comparing};

/// Elements of two arrays, the first of which a comparison verifies: their row-major indices are sums over shared digits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Selection {
    /// The indices of the element at digits of 0.
    pub(crate) first: [u64; 2],
    pub(crate) digits: Vec<SharedDigit>,
}

/// A digit that selects elements of two arrays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SharedDigit {
    pub(crate) extent: u64,
    /// The distances of neighbours.
    pub(crate) steps: [u64; 2],
}

/// The largest number of parts of a digit that are made at once.
const PARTS: u64 = 1 << 12;

impl Selection {
    /// Returns the elements at these digits of arrays of these sizes; the error names an element outside of its array.
    pub(crate) fn new(
        first: [u64; 2],
        digits: &[Digit],
        sizes: [u64; 2],
    ) -> Result<Selection, String> {
        let digits = digits.iter().filter(|digit| digit.extent != 1);
        let digits =
            digits.map(|it| SharedDigit { extent: it.extent, steps: [it.made, it.source] });
        let chosen = Selection { first, digits: digits.collect() };
        let beyond = |side: &usize| chosen.last(*side) >= sizes[*side];
        match [0, 1].iter().find(|side| chosen.size() > 0 && beyond(side)) {
            Some(&side) => {
                let (at, size) = (chosen.last(side), sizes[side]);
                Err(format!("has a part that reaches element {at} of an array of {size}"))
            }
            None => Ok(chosen),
        }
    }

    /// Returns the number of elements.
    pub(crate) fn size(&self) -> u64 {
        self.digits.iter().map(|digit| digit.extent).fold(1, u64::saturating_mul)
    }

    /// Returns the index of the element at these digits in the first array.
    pub(crate) fn index(&self, coord: &[u64]) -> u64 {
        let steps = self.digits.iter().zip(coord).map(|(digit, x)| digit.steps[0] * x);
        self.first[0] + steps.sum::<u64>()
    }

    /// Returns the largest index in one array.
    fn last(&self, side: usize) -> u64 {
        let far = |digit: &SharedDigit| digit.steps[side].saturating_mul(digit.extent.max(1) - 1);
        self.digits.iter().map(far).fold(self.first[side], u64::saturating_add)
    }

    /// Sorts the digits by their steps in the first array, largest first; returns false if two elements share an index there.
    pub(crate) fn sort(&mut self) -> bool {
        self.digits.sort_by_key(|digit| std::cmp::Reverse(digit.steps[0]));
        let mut inner = 0u64;
        self.digits.iter().rev().all(|digit| {
            let clear = digit.steps[0] > inner;
            let far = digit.steps[0].saturating_mul(digit.extent.max(1) - 1);
            inner = inner.saturating_add(far);
            clear
        })
    }

    /// Returns the same elements by their blocks of `unit` elements; `None` if the selection splits a block. An array with a step
    /// of 0 along a block has one element for all of them.
    pub(crate) fn in_blocks(mut self, unit: u64) -> Option<Selection> {
        if unit == 1 || self.size() == 0 {
            return Some(self);
        }
        let whole = |index: u64| index.is_multiple_of(unit).then_some(index / unit);
        let inner = self.digits.pop().filter(|digit| digit.steps[0] == 1 && digit.steps[1] <= 1)?;
        let side = |indices: [u64; 2]| Some([whole(indices[0])?, whole(indices[1])?]);
        let first = side(self.first)?;
        let digit = |digit: &SharedDigit| Some(SharedDigit { steps: side(digit.steps)?, ..*digit });
        let mut digits = self.digits.iter().map(digit).collect::<Option<Vec<_>>>()?;
        digits.push(SharedDigit { extent: whole(inner.extent)?, ..inner });
        digits.retain(|digit| digit.extent != 1);
        Some(Selection { first, digits })
    }

    /// Returns the elements at `count` values of a digit: from `start` on, each `by` further.
    fn part(&self, number: usize, (start, count, by): (u64, u64, u64)) -> Selection {
        let mut part = self.clone();
        let digit = &mut part.digits[number];
        for side in [0, 1] {
            part.first[side] += start * digit.steps[side];
            digit.steps[side] = digit.steps[side].saturating_mul(by);
        }
        digit.extent = count;
        if count == 1 {
            part.digits.remove(number);
        }
        part
    }

    /// Returns the elements with one digit as two: the inner one has `inner` values, which divide its extent.
    fn split(&self, number: usize, inner: u64) -> Selection {
        let mut split = self.clone();
        let SharedDigit { extent, steps } = split.digits[number];
        let outer = steps.map(|step| step.saturating_mul(inner));
        let both = [
            SharedDigit { extent: extent / inner, steps: outer },
            SharedDigit { extent: inner, steps },
        ];
        split.digits.splice(number..=number, both.into_iter().filter(|digit| digit.extent != 1));
        split
    }

    /// Returns parts with these elements, in order, of which each carries less often; an error if no digit carries.
    fn cut(&self, carry: &Carry) -> Result<Vec<Selection>, Error> {
        let Carry { by, first, steps } = carry;
        let low = |number: usize| steps[number] % by;
        let mut order: Vec<usize> = (0..steps.len()).filter(|number| low(*number) > 0).collect();
        order.sort_by_key(|number| low(*number));
        // Without the larger digits, the sum first carries along this one.
        let (mut inner, mut found) = (first % by, None);
        for number in order {
            let far = low(number).saturating_mul(self.digits[number].extent - 1);
            if inner.saturating_add(far) >= *by {
                found = Some(number);
                break;
            }
            inner += far;
        }
        let number = found.ok_or_else(|| mistake(format!("no digit of {self:?} carries")))?;
        let (extent, low) = (self.digits[number].extent, low(number));
        let fits = (by - 1 - inner) / low + 1;
        let head =
            || vec![self.part(number, (0, fits, 1)), self.part(number, (fits, extent - fits, 1))];
        if by.is_multiple_of(low) && inner - first % by + first % by % low < low {
            let period = by / low;
            if fits < period {
                return Ok(head());
            }
            let (whole, rest) = (extent / period * period, extent % period);
            let mut parts = vec![self.part(number, (0, whole, 1)).split(number, period)];
            parts.extend((rest > 0).then(|| self.part(number, (whole, rest, 1))));
            return Ok(parts);
        }
        let period = by / tilewright_core::gcd(steps[number], *by);
        if period > PARTS || period >= extent.div_ceil(fits) {
            return Ok(head());
        }
        let values = 0..period.min(extent);
        Ok(values.map(|x| self.part(number, (x, (extent - x).div_ceil(period), period))).collect())
    }
}

/// Returns the error of views that do not have the elements of their selection.
fn mistake(said: String) -> Error {
    error::usage(format!("comparing: {said}: this is a mistake in the program, please report it"))
}

/// Digits whose sum carries in a division: the divisor, and the divided number at digits of 0 and for a step of each digit.
struct Carry {
    by: u64,
    first: u64,
    steps: Vec<u64>,
}

/// A number that is a sum over digits: its value at digits of 0, and the step of each digit.
#[derive(Clone)]
struct Sum {
    first: u64,
    steps: Vec<u64>,
}

impl Sum {
    fn zero(digits: usize) -> Sum {
        Sum { first: 0, steps: vec![0; digits] }
    }

    /// Divides the number, and returns the remainder; both are sums over the same digits, unless the remainder carries.
    fn divide(&mut self, by: u64, digits: &[SharedDigit]) -> Result<Sum, Carry> {
        let low = Sum {
            first: self.first % by,
            steps: self.steps.iter().map(|step| step % by).collect(),
        };
        let far = low.steps.iter().zip(digits).map(|(step, it)| step.saturating_mul(it.extent - 1));
        if far.fold(low.first, u64::saturating_add) >= by {
            return Err(Carry { by, first: self.first, steps: self.steps.clone() });
        }
        self.first /= by;
        self.steps.iter_mut().for_each(|step| *step /= by);
        Ok(low)
    }
}

/// The offsets of a layout at digits: those of its axes without the swizzle, and the digits that step along scattered dims.
struct Offsets {
    first: i64,
    steps: Vec<i64>,
    scattered: Vec<bool>,
}

impl Offsets {
    fn of(
        layout: &TensorLayout,
        scattered: &[bool],
        (mut index, digits): (Sum, &[SharedDigit]),
    ) -> Result<Offsets, Carry> {
        let mut axes = vec![Sum::zero(digits.len()); layout.rank()];
        for (axis, extent) in axes.iter_mut().zip(layout.extents()).rev() {
            *axis = index.divide(*extent, digits)?;
        }
        let along = |digit: usize| {
            let is_scattered = axes.iter().zip(scattered).filter(|(_, scattered)| **scattered);
            is_scattered.into_iter().any(|(axis, _)| axis.steps[digit] > 0)
        };
        let scattered = match scattered.contains(&true) {
            true => (0..digits.len()).map(along).collect(),
            false => vec![],
        };
        let axes = stepped(axes, layout, digits)?;
        let mut all =
            Offsets { first: layout.layout().offset(), steps: vec![0; digits.len()], scattered };
        for (axis, mut rest) in axes.into_iter().enumerate() {
            for mode in layout.layout().axis(axis).unwrap_or_default() {
                let low = rest.divide(mode.extent(), digits)?;
                all.first += low.first as i64 * mode.stride();
                for (step, low) in all.steps.iter_mut().zip(&low.steps) {
                    *step += *low as i64 * mode.stride();
                }
            }
        }
        Ok(all)
    }
}

/// Returns the coordinates on the axes of a layout's storage.
fn stepped(
    mut axes: Vec<Sum>,
    layout: &TensorLayout,
    digits: &[SharedDigit],
) -> Result<Vec<Sum>, Carry> {
    let mut extents = layout.extents().to_vec();
    for step in layout.steps() {
        match *step {
            Step::Merge { major, minor } => {
                let (major, minor) = (usize::from(major), usize::from(minor));
                let (high, extent) = (axes[major].clone(), extents[minor]);
                axes[minor].first += high.first * extent;
                for (low, high) in axes[minor].steps.iter_mut().zip(&high.steps) {
                    *low += high * extent;
                }
                extents[minor] *= extents[major];
                axes.remove(major);
                extents.remove(major);
            }
            Step::Split { axis, by } => {
                let axis = usize::from(axis);
                let low = axes[axis].divide(by, digits)?;
                axes.push(low);
                extents[axis] = extents[axis].div_ceil(by);
                extents.push(by);
            }
        }
    }
    Ok(axes)
}

/// A part of a selection as two layouts over its digits.
#[derive(Debug)]
pub(crate) struct View {
    pub(crate) chosen: Selection,
    pub(crate) layouts: [TensorLayout; 2],
    /// For each digit whether it steps along a scattered dim; empty if no dim is scattered.
    pub(crate) scattered: [Vec<bool>; 2],
}

impl View {
    /// Compares both layouts with the offsets of the whole arrays: at the first and the last element, and one step along each
    /// digit.
    fn check(&self, arrays: [&TensorLayout; 2]) -> Result<(), Error> {
        let extents = self.layouts[0].extents();
        let origin = vec![0; extents.len()];
        let beside = (0..extents.len()).map(|digit| {
            let mut coord = origin.clone();
            coord[digit] = 1;
            coord
        });
        let last = extents.iter().map(|extent| extent - 1).collect();
        for coord in [origin.clone(), last].into_iter().chain(beside) {
            for (side, array) in arrays.into_iter().enumerate() {
                let steps = self.chosen.digits.iter().zip(&coord).map(|(it, x)| it.steps[side] * x);
                let index = self.chosen.first[side] + steps.sum::<u64>();
                if self.layouts[side].offset(&coord) != array.offset_of(index) {
                    return Err(mistake(format!(
                        "element {index} of {array:?} is expected elsewhere"
                    )));
                }
            }
        }
        Ok(())
    }
}

/// The views of a selection.
pub(crate) struct Views<'a> {
    arrays: [&'a TensorLayout; 2],
    scattered: [&'a [bool]; 2],
    pending: Vec<Selection>,
    /// The number of elements that no view has had yet.
    left: u64,
}

impl<'a> Views<'a> {
    /// Returns the views of elements of these arrays. `scattered` tells of each dim whether only all of its indices are contiguous;
    /// it may be empty.
    pub(crate) fn new(
        arrays: [&'a TensorLayout; 2],
        scattered: [&'a [bool]; 2],
        chosen: Selection,
    ) -> Views<'a> {
        let left = chosen.size();
        let pending = if left > 0 { vec![chosen] } else { vec![] };
        Views { arrays, scattered, pending, left }
    }

    /// Checks a view, and counts its elements.
    fn checked(&mut self, view: View) -> Result<View, Error> {
        view.check(self.arrays)?;
        let left = self.left.checked_sub(view.layouts[0].size());
        self.left = left.ok_or_else(|| mistake(format!("{:?} has elements twice", view.chosen)))?;
        Ok(view)
    }

    /// Returns the view of a selection; the inner error is the reason why it must be cut.
    fn view(&self, chosen: &Selection) -> Result<Result<View, Carry>, tilewright_core::Error> {
        let side = |side: usize| {
            let (first, steps) = (chosen.first[side], chosen.digits.iter());
            let index = Sum { first, steps: steps.map(|digit| digit.steps[side]).collect() };
            Offsets::of(self.arrays[side], self.scattered[side], (index, &chosen.digits))
        };
        let (a, b) = match (side(0), side(1)) {
            (Ok(a), Ok(b)) => (a, b),
            (Err(carry), _) | (_, Err(carry)) => return Ok(Err(carry)),
        };
        let layouts = [self.layout(0, chosen, &a)?, self.layout(1, chosen, &b)?];
        let (chosen, scattered) = (chosen.clone(), [a.scattered, b.scattered]);
        Ok(Ok(View { chosen, layouts, scattered }))
    }

    fn layout(
        &self,
        side: usize,
        chosen: &Selection,
        offsets: &Offsets,
    ) -> Result<TensorLayout, tilewright_core::Error> {
        let modes = chosen.digits.iter().zip(&offsets.steps);
        let modes: Vec<Mode> = modes.map(|(digit, step)| Mode::new(digit.extent, *step)).collect();
        let bare = Layout::flat(&modes)?.with_offset(offsets.first)?;
        Ok(TensorLayout::of(&bare.with_swizzle(self.arrays[side].layout().swizzle())?))
    }
}

impl Iterator for Views<'_> {
    type Item = Result<View, Error>;

    fn next(&mut self) -> Option<Result<View, Error>> {
        while let Some(chosen) = self.pending.pop() {
            if chosen.digits.len() > MAX_MODES {
                // A layout has fewer digits.
                let (extent, half) = (chosen.digits[0].extent, chosen.digits[0].extent / 2);
                let parts = [(0, half, 1), (half, extent - half, 1)];
                self.pending.extend(parts.map(|part| chosen.part(0, part)).into_iter().rev());
                continue;
            }
            match self.view(&chosen).map_err(comparing) {
                Ok(Ok(view)) => return Some(self.checked(view)),
                Ok(Err(carry)) => match chosen.cut(&carry) {
                    Ok(parts) => self.pending.extend(parts.into_iter().rev()),
                    Err(error) => return Some(Err(error)),
                },
                Err(error) => return Some(Err(error)),
            }
        }
        match std::mem::take(&mut self.left) {
            0 => None,
            left => Some(Err(mistake(format!("{left} elements are in no view")))),
        }
    }
}

#[cfg(test)]
mod tests {
    use tilewright_notation::Spec;

    use super::*;

    /// Returns the layout of a text over these dims.
    fn layout(text: &str, dims: &[u64]) -> TensorLayout {
        let named = Spec::parse(text).unwrap().resolve(Some(dims), None);
        named.unwrap().layout().clone()
    }

    /// Returns the elements of a selection: the index in the first array, and the offsets on both sides.
    fn expected(chosen: &Selection, arrays: [&TensorLayout; 2]) -> Vec<(u64, i64, i64)> {
        let mut all = Vec::new();
        for number in 0..chosen.size() {
            let (mut rest, mut index) = (number, chosen.first);
            for digit in chosen.digits.iter().rev() {
                let x = rest % digit.extent;
                rest /= digit.extent;
                index = [0, 1].map(|side| index[side] + x * digit.steps[side]);
            }
            let [a, b] = [0, 1].map(|side| arrays[side].offset_of(index[side]).unwrap());
            all.push((index[0], a, b));
        }
        all.sort_unstable();
        all
    }

    /// Returns the elements of the views, and checks that each view has them in order.
    fn viewed(chosen: &Selection, arrays: [&TensorLayout; 2]) -> (usize, Vec<(u64, i64, i64)>) {
        let (mut count, mut all) = (0, Vec::new());
        for view in Views::new(arrays, [&[]; 2], chosen.clone()) {
            let (view, begin) = (view.unwrap(), all.len());
            count += 1;
            for number in 0..view.layouts[0].size() {
                let coord = view.layouts[0].coord_of(number).unwrap();
                let [a, b] = view.layouts.each_ref().map(|it| it.offset(coord.as_slice()).unwrap());
                all.push((view.chosen.index(coord.as_slice()), a, b));
            }
            assert!(all[begin..].is_sorted_by_key(|(index, ..)| *index), "{chosen:?}");
        }
        all.sort_unstable();
        (count, all)
    }

    fn check(chosen: Selection, arrays: [&TensorLayout; 2]) -> usize {
        let mut chosen = chosen;
        assert!(chosen.sort(), "{chosen:?}");
        let (count, found) = viewed(&chosen, arrays);
        assert_eq!(found, expected(&chosen, arrays), "{chosen:?} of {arrays:?}");
        count
    }

    /// Layouts of 6 rows and 10 columns: strides, tiles, padding, steps that merge and split unevenly, and swizzles.
    const TEXTS: [&str; 9] = [
        "row-major",
        "col-major",
        "zN[M0=4,C0=4]",
        "(m m0:3) (n) -> m n m0",
        "{1,0}pad(8,16)",
        "{1,0:T(2,4)(2,1)}",
        "{1,0:T(3,4)(2,1)}",
        "{1,0:T(*,4)}",
        "S<2,1,2> o (6,10):(10,1)",
    ];

    #[test]
    fn every_selection_of_two_digits_has_each_element_once_at_its_offset() {
        let all: Vec<TensorLayout> = TEXTS.iter().map(|text| layout(text, &[6, 10])).collect();
        let (mut counts, mut cases) = (0, 0);
        for (number, a) in all.iter().enumerate() {
            for (step, b) in (1..).zip(all.iter().cycle().skip(number).take(3)) {
                for outer in 1..7u64 {
                    for inner in 1..7u64 {
                        for gap in [1, 2, 3, 7, 10] {
                            // The first array has the digits nested; in the second they may have any steps.
                            let wide = gap * (inner - 1) + step;
                            let far = wide * (outer - 1) + gap * (inner - 1);
                            let other = [(outer * gap) % 9, (inner + step) % 4];
                            let away = other[0] * (outer - 1) + other[1] * (inner - 1);
                            if far >= 60 || away >= 60 {
                                continue;
                            }
                            let digit = |extent, steps| SharedDigit { extent, steps };
                            let digits =
                                [digit(outer, [wide, other[0]]), digit(inner, [gap, other[1]])];
                            let digits = digits.into_iter().filter(|it| it.extent > 1).collect();
                            let first = [(59 - far) / 2, 59 - away];
                            counts += check(Selection { first, digits }, [a, b]);
                            cases += 1;
                        }
                    }
                }
            }
        }
        assert!(cases > 1000 && counts > cases, "{cases} {counts}");
    }

    /// Elements that no view would have are an error, and not skipped.
    #[test]
    fn elements_without_a_view_are_an_error() {
        let line = layout("row-major", &[8]);
        let digits = vec![SharedDigit { extent: 8, steps: [1, 1] }];
        let chosen = Selection { first: [0, 0], digits };
        let said = chosen.cut(&Carry { by: 8, first: 0, steps: vec![1] }).unwrap_err();
        assert!(said.to_string().contains("carries: this is a mistake"), "{said}");
        for (left, words) in [(9, "1 elements are in no view"), (7, "has elements twice")] {
            let mut views = Views::new([&line, &line], [&[]; 2], chosen.clone());
            views.left = left;
            let said = views.find_map(Result::err).unwrap().to_string();
            assert!(said.contains(words) && said.contains("please report it"), "{said}");
        }
    }

    #[test]
    fn digits_of_the_layouts_are_one_view() {
        let digits = vec![SharedDigit { extent: 4096 * 64, steps: [1, 1] }];
        let whole = Selection { first: [0, 0], digits };
        let [rows, tiles, ragged] =
            [("row-major", 64), ("zN[M0=16,C0=16]", 64), ("zN[M0=16,C0=16]", 60)]
                .map(|(text, columns)| layout(text, &[4096, columns]));
        let views = |chosen: Selection, arrays| Views::new(arrays, [&[]; 2], chosen).count();
        assert_eq!(views(whole.clone(), [&rows, &tiles]), 1);
        // Columns that end within a tile, and rows that begin within one.
        let digits = vec![SharedDigit { extent: 4096 * 60, steps: [1, 1] }];
        let short = Selection { first: [0, 0], digits };
        let narrow = layout("row-major", &[4096, 60]);
        assert_eq!(views(short, [&narrow, &ragged]), 2);
        let digits = vec![SharedDigit { extent: 1000 * 64, steps: [1, 1] }];
        let late = Selection { first: [10 * 64, 7 * 64], digits };
        assert!(views(late.clone(), [&rows, &tiles]) <= 3);
        assert_eq!(late.size(), 64_000);
    }

    #[test]
    fn more_digits_than_a_layout_has_are_cut() {
        let line = layout("row-major", &[1 << 40]);
        let digits =
            (0..40).rev().map(|bit| SharedDigit { extent: 2, steps: [1 << bit, 1 << bit] });
        let chosen = Selection { first: [0, 0], digits: digits.collect() };
        let views: Vec<View> =
            Views::new([&line, &line], [&[]; 2], chosen).map(Result::unwrap).collect();
        assert_eq!(views.len(), 1 << (40 - MAX_MODES));
        assert_eq!(views.iter().map(|view| view.layouts[0].size()).sum::<u64>(), 1 << 40);
    }

    #[test]
    fn blocks_are_kept_whole_or_refused() {
        let digit = |extent, steps| SharedDigit { extent, steps };
        let chosen = |first, digits: &[SharedDigit]| Selection { first, digits: digits.to_vec() };
        let rows = chosen([64, 32], &[digit(3, [64, 96]), digit(64, [1, 1])]);
        let blocks = chosen([2, 1], &[digit(3, [2, 3]), digit(2, [1, 1])]);
        assert_eq!(rows.in_blocks(32), Some(blocks));
        let columns = chosen([0, 0], &[digit(64, [3, 1]), digit(3, [1, 64])]);
        assert_eq!(columns.in_blocks(32), None);
        assert_eq!(chosen([16, 0], &[digit(32, [1, 1])]).in_blocks(32), None);
        assert_eq!(chosen([0, 0], &[digit(48, [1, 1])]).in_blocks(32), None);
    }

    #[test]
    fn what_reaches_beyond_an_array_is_refused() {
        let digits = [Digit { extent: 3, source: 4, made: 2 }];
        assert!(Selection::new([1, 1], &digits, [6, 10]).is_ok());
        let said = Selection::new([1, 1], &digits, [5, 10]).unwrap_err();
        assert!(said.contains("reaches element 5 of an array of 5"), "{said}");
        let said = Selection::new([1, 1], &digits, [6, 9]).unwrap_err();
        assert!(said.contains("reaches element 9 of an array of 9"), "{said}");
        let far = [Digit { extent: u64::MAX, source: u64::MAX, made: u64::MAX }];
        assert!(Selection::new([u64::MAX, 0], &far, [u64::MAX, 1]).is_err());
    }
}
