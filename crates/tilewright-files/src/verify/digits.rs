//! A layout in the order of memory: its digits, largest strides first, and the offsets of the coordinates in a box or a window of
//! storage. Boxes, comparisons and slabs use it.
//!
//! Law: every coordinate of the layout's axes that is in the box and whose affine offset is in the window is part of exactly one
//! run, and every element of a run is such a coordinate. A digit of stride 0 takes only its least value in the box, or, with
//! [`LayoutDigits::every_value`], every value.

use std::ops::Range;

use tilewright_core::Layout;

/// One mode of a layout: a step along it adds `place` to a coordinate and `stride` to the offset.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OffsetDigit {
    pub(crate) axis: usize,
    pub(crate) place: u64,
    pub(crate) extent: u64,
    pub(crate) stride: i64,
}

/// Returns the digits of a layout that have more than one value, in the order of its axes, least significant first.
pub(crate) fn digits(layout: &Layout) -> Vec<OffsetDigit> {
    let mut all = Vec::new();
    for axis in 0..layout.rank() {
        let mut place = 1u64;
        for mode in layout.axis(axis).unwrap_or_default() {
            let (extent, stride) = (mode.extent(), mode.stride());
            if extent > 1 {
                all.push(OffsetDigit { axis, place, extent, stride });
            }
            place = place.saturating_mul(extent.max(1));
        }
    }
    all
}

/// Neighbours along one digit: their affine offsets, and the coordinate of the first.
pub(crate) struct Run<'c> {
    pub(crate) offset: i64,
    pub(crate) stride: i64,
    pub(crate) count: u64,
    /// The coordinate of the first on the layout's axes; a run of several digits gives only that of its first.
    pub(crate) coord: &'c [u64],
    /// The axis along which the coordinate of the next element grows, and the amount.
    pub(crate) step: (usize, u64),
}

/// A layout as its digits, largest strides first.
pub(crate) struct LayoutDigits {
    all: Vec<OffsetDigit>,
    offset: i64,
    axes: usize,
    levels: Vec<Level>,
    /// True if digits of stride 0 take every value.
    every: bool,
}

/// The contributions of the digits from one on.
struct Level {
    /// The largest contribution to each axis.
    rest: Vec<u64>,
    /// The least and the largest contribution to the offset.
    reach: (i64, i64),
    /// The number of their values, if the contributions to the offset are exactly the numbers from 0 to one less.
    dense: Option<u64>,
}

impl LayoutDigits {
    pub(crate) fn new(layout: &Layout) -> LayoutDigits {
        let (mut all, axes) = (digits(layout), layout.rank());
        all.sort_by_key(|digit| std::cmp::Reverse((digit.stride.unsigned_abs(), digit.place)));
        let mut level = Level { rest: vec![0; axes], reach: (0, 0), dense: Some(1) };
        let mut levels = vec![];
        for digit in all.iter().rev() {
            let next = level.below(digit);
            levels.push(std::mem::replace(&mut level, next));
        }
        levels.push(level);
        levels.reverse();
        LayoutDigits { all, offset: layout.offset(), axes, levels, every: false }
    }

    /// Returns the digits without runs of several digits, so that every run has its coordinates.
    pub(crate) fn one_by_one(mut self) -> LayoutDigits {
        self.levels.iter_mut().for_each(|level| level.dense = None);
        self
    }

    /// Returns the digits with every value of those of stride 0.
    pub(crate) fn every_value(self) -> LayoutDigits {
        LayoutDigits { every: true, ..self }
    }

    /// Returns the number of times that an offset is found because digits of stride 0 take all of their values.
    pub(crate) fn repeats(&self) -> u64 {
        let repeated = self.all.iter().filter(|digit| digit.stride == 0);
        repeated.fold(1, |all, digit| all.saturating_mul(digit.extent))
    }

    /// Finds the runs of a box of coordinates, with offsets in the window if there is one, until `see` returns false.
    pub(crate) fn walk(
        &self,
        area: &[Range<u64>],
        window: Option<&Range<i64>>,
        see: &mut dyn FnMut(&Run<'_>) -> bool,
    ) {
        if area.iter().all(|range| !range.is_empty()) {
            let mut walk = Walk { digits: self, area, window, see, coord: vec![0; self.axes] };
            walk.level(0, self.offset);
        }
    }
}

impl Level {
    /// Returns this level with one more digit.
    fn below(&self, digit: &OffsetDigit) -> Level {
        let mut rest = self.rest.clone();
        let steps = digit.extent - 1;
        rest[digit.axis] = rest[digit.axis].saturating_add(digit.place.saturating_mul(steps));
        let far = digit.stride.saturating_mul(i64::try_from(steps).unwrap_or(i64::MAX));
        let (low, high) = self.reach;
        let reach = (low.saturating_add(far.min(0)), high.saturating_add(far.max(0)));
        let follows = |count: &u64| i64::try_from(*count) == Ok(digit.stride);
        let dense = self.dense.filter(follows).and_then(|count| count.checked_mul(digit.extent));
        Level { rest, reach, dense }
    }
}

struct Walk<'w, 's> {
    digits: &'w LayoutDigits,
    area: &'w [Range<u64>],
    window: Option<&'w Range<i64>>,
    see: &'s mut dyn FnMut(&Run<'_>) -> bool,
    coord: Vec<u64>,
}

impl Walk<'_, '_> {
    /// Finds the runs of the digits from `level` on that begin at an offset; returns false when `see` does.
    fn level(&mut self, level: usize, offset: i64) -> bool {
        let digits = self.digits;
        let Some(here) = digits.levels.get(level) else { return true };
        if let Some(count) = here.dense
            && self.is_whole(here, offset, count)
        {
            let (coord, step) = (self.coord.as_slice(), (0, 0));
            return (self.see)(&Run { offset, stride: 1, count, coord, step });
        }
        let (Some(digit), Some(below)) = (digits.all.get(level), digits.levels.get(level + 1))
        else {
            // No digits are left and the element is not whole, so it is outside.
            return !self.holds(offset) || {
                let (coord, step) = (self.coord.as_slice(), (0, 0));
                (self.see)(&Run { offset, stride: 0, count: 1, coord, step })
            };
        };
        let values = self.values(digit, below, offset);
        let (first, mut left) = (values.start, values.end.saturating_sub(values.start));
        let at = |value: u64| offset + value as i64 * digit.stride;
        let before = self.coord[digit.axis];
        if digit.stride == 0 && !digits.every {
            left = left.min(1);
        }
        let mut go = true;
        if left > 0 && level + 1 == digits.all.len() {
            self.coord[digit.axis] = before + first * digit.place;
            if self.is_inside() {
                let (coord, step) = (self.coord.as_slice(), (digit.axis, digit.place));
                let (offset, stride) = (at(first), digit.stride);
                go = (self.see)(&Run { offset, stride, count: left, coord, step });
            }
        } else {
            for value in first..first + left {
                self.coord[digit.axis] = before + value * digit.place;
                go = self.level(level + 1, at(value));
                if !go {
                    break;
                }
            }
        }
        self.coord[digit.axis] = before;
        go
    }

    /// Returns whether everything that the digits of a level reach is inside.
    fn is_whole(&self, level: &Level, offset: i64, count: u64) -> bool {
        let inside = |((range, at), rest): ((&Range<u64>, &u64), &u64)| {
            range.start <= *at && at.saturating_add(*rest) < range.end
        };
        let window = self.window.is_none_or(|window| {
            window.start <= offset && offset.saturating_add(count as i64) <= window.end
        });
        window && self.area.iter().zip(&self.coord).zip(&level.rest).all(inside)
    }

    fn is_inside(&self) -> bool {
        self.area.iter().zip(&self.coord).all(|(range, at)| range.contains(at))
    }

    fn holds(&self, offset: i64) -> bool {
        self.is_inside() && self.window.is_none_or(|window| window.contains(&offset))
    }

    /// Returns the values of a digit with which the box and the window can be reached; `below` has the contributions of the
    /// digits after it.
    fn values(&self, digit: &OffsetDigit, below: &Level, offset: i64) -> Range<u64> {
        let (at, rest) = (self.coord[digit.axis], below.rest[digit.axis]);
        let Some(range) = self.area.get(digit.axis) else { return 0..0 };
        let least = range.start.saturating_sub(at.saturating_add(rest)).div_ceil(digit.place);
        let most = range.end.saturating_sub(at).div_ceil(digit.place).min(digit.extent);
        let Some(window) = self.window.filter(|_| digit.stride != 0) else { return least..most };
        let (low, high) = below.reach;
        // The numbers of steps until the window is reached, and until it is passed, in the direction of the stride.
        let (enter, leave) = match digit.stride > 0 {
            true => (
                window.start.saturating_sub(offset.saturating_add(high)),
                window.end.saturating_sub(offset.saturating_add(low)),
            ),
            false => (
                offset.saturating_add(low).saturating_sub(window.end).saturating_add(1),
                offset.saturating_add(high).saturating_sub(window.start).saturating_add(1),
            ),
        };
        let steps = |distance: i64| (distance.max(0) as u64).div_ceil(digit.stride.unsigned_abs());
        least.max(steps(enter))..most.min(steps(leave))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the offsets of all coordinates of the axes that are in the box and in the window.
    fn naive(layout: &Layout, area: &[Range<u64>], window: &Range<i64>) -> Vec<i64> {
        let mut all = vec![];
        let mut coord: Vec<u64> = area.iter().map(|range| range.start).collect();
        loop {
            let offset = layout.offset_at(&coord).unwrap();
            if window.contains(&offset) {
                all.push(offset);
            }
            let mut axis = 0;
            loop {
                if axis == coord.len() {
                    all.sort_unstable();
                    return all;
                }
                coord[axis] += 1;
                if coord[axis] < area[axis].end {
                    break;
                }
                coord[axis] = area[axis].start;
                axis += 1;
            }
        }
    }

    #[test]
    fn a_walk_finds_what_lies_in_the_box_and_in_the_window() {
        let texts = [
            "((2,3),(4,5)):((4,40),(1,8))",
            "(6,20):(20,1)",
            "(6,20):(1,6)",
            "((3,2),(5,4)):((1,60),(3,15))",
            "(6,20):(1,-6)",
            "((2,3),20):((-1,2),-6)",
            "(6,20):(32,1)",
            "((2,3),(4,5)):((4,48),(1,8))",
        ];
        let windows = [0..i64::MAX, 0..50, 17..64, 96..97, 100..200, 40..40];
        for text in texts {
            let mut layout = Layout::parse(text).unwrap();
            let low = layout.bounds().unwrap().0;
            if low < 0 {
                layout = layout.with_offset(-low).unwrap();
            }
            for (rows, columns) in [(0..6, 0..20), (1..5, 3..18), (2..3, 0..1), (5..6, 7..20)] {
                let area = [rows, columns];
                for window in &windows {
                    for digits in
                        [LayoutDigits::new(&layout), LayoutDigits::new(&layout).one_by_one()]
                    {
                        let mut found = vec![];
                        digits.walk(&area, Some(window), &mut |run| {
                            found
                                .extend((0..run.count).map(|i| run.offset + i as i64 * run.stride));
                            true
                        });
                        found.sort_unstable();
                        assert_eq!(found, naive(&layout, &area, window), "{text} {area:?}");
                    }
                }
            }
        }
    }
}
