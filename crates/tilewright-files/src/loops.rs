//! A box of coordinates as loops, with each of which the offsets of two layouts grow evenly.
//!
//! Law: the loops of a box reach every coordinate of it once, at the offsets of [`TensorLayout::offset`].

use std::ops::Range;

use tilewright_core::{Error, TensorLayout};

use crate::{
    boxes::Area,
    digits::{Digit, digits},
    rows::is_additive,
};

/// A loop: how often it turns, and what each turn adds to two places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Turn {
    pub(crate) count: u64,
    pub(crate) steps: [i64; 2],
}

/// Calls `see` with the places that turns reach from `at` on, the last turn first, until it answers false.
pub(crate) fn each(turns: &[Turn], at: [i64; 2], see: &mut impl FnMut([i64; 2]) -> bool) -> bool {
    let Some((turn, rest)) = turns.split_first() else { return see(at) };
    let mut at = at;
    for _ in 0..turn.count {
        if !each(rest, at, see) {
            return false;
        }
        at = [at[0].wrapping_add(turn.steps[0]), at[1].wrapping_add(turn.steps[1])];
    }
    true
}

/// The digits of two layouts over the same dims.
pub(crate) struct Loops<'a> {
    layouts: [&'a TensorLayout; 2],
    digits: [Vec<Digit>; 2],
    /// For each dim, the steps at which digits of either layout begin, without 1.
    borders: Vec<Vec<u64>>,
}

impl<'a> Loops<'a> {
    /// `None` where the offsets of a layout are no sums of what the coordinates add.
    pub(crate) fn new(layouts: [&'a TensorLayout; 2]) -> Option<Loops<'a>> {
        if !layouts.iter().all(|layout| is_additive(layout)) {
            return None;
        }
        let digits = layouts.map(|layout| digits(layout.layout()));
        let of_dim = |dim: usize| {
            let begin =
                |digit: &Digit| (digit.axis == dim && digit.place > 1).then_some(digit.place);
            let mut borders: Vec<u64> = digits.iter().flatten().filter_map(begin).collect();
            borders.sort_unstable();
            borders.dedup();
            borders
        };
        let borders = (0..layouts[0].rank()).map(of_dim).collect();
        Some(Loops { layouts, digits, borders })
    }

    /// The two parts of a box that ends within a turn of a digit; `None` where it has loops as it is.
    pub(crate) fn cut(&self, area: &Area) -> Option<[Area; 2]> {
        let mut all = area.iter().zip(&self.borders).enumerate();
        let (dim, at) = all.find_map(|(dim, (range, all))| Some((dim, border(range, all)?)))?;
        let (mut low, mut high) = (area.clone(), area.clone());
        (low[dim].end, high[dim].start) = (at, at);
        Some([low, high])
    }

    /// The offsets of a box's first coordinate, and its loops; `None` where the digits of both layouts have none in
    /// common.
    pub(crate) fn of(&self, area: &Area) -> Result<Option<([i64; 2], Vec<Turn>)>, Error> {
        let mut turns = Vec::new();
        for (dim, (range, borders)) in area.iter().zip(&self.borders).enumerate() {
            let Some(parts) = parts(range, borders) else { return Ok(None) };
            turns.extend(parts.into_iter().filter(|(_, count)| *count > 1).map(
                |(place, count)| {
                    let steps = self.digits.each_ref().map(|digits| step(digits, dim, place));
                    Turn { count, steps }
                },
            ));
        }
        let at = |coord: &[u64]| -> Result<[i64; 2], Error> {
            Ok([self.layouts[0].offset(coord)?, self.layouts[1].offset(coord)?])
        };
        let first = at(&area.iter().map(|range| range.start).collect::<Vec<_>>())?;
        let last = at(&area.iter().map(|range| range.end - 1).collect::<Vec<_>>())?;
        let far = |side: usize| -> i64 {
            first[side] + turns.iter().map(|it| (it.count - 1) as i64 * it.steps[side]).sum::<i64>()
        };
        Ok((last == [far(0), far(1)]).then_some((first, turns)))
    }
}

/// Where a range is to be cut so that its parts begin and end with turns of digits.
fn border(range: &Range<u64>, borders: &[u64]) -> Option<u64> {
    let crossed = |at: &&u64| range.start / **at != (range.end - 1) / **at;
    borders.iter().take_while(crossed).find_map(|at| {
        let (first, last) = (range.start.next_multiple_of(*at), range.end / at * at);
        let cut = if first > range.start { first } else { last };
        (cut < range.end).then_some(cut)
    })
}

/// A range that is not to be cut, as steps and how many of each there are.
fn parts(range: &Range<u64>, borders: &[u64]) -> Option<Vec<(u64, u64)>> {
    let (mut unit, mut all) = (1, Vec::new());
    for at in borders.iter().take_while(|at| range.start / **at != (range.end - 1) / **at) {
        if !at.is_multiple_of(unit) {
            return None;
        }
        all.push((unit, at / unit));
        unit = *at;
    }
    all.push((unit, (range.end - range.start) / unit));
    Some(all)
}

/// What a step of `place` coordinates adds to the offset.
fn step(digits: &[Digit], dim: usize, place: u64) -> i64 {
    let own = digits.iter().rfind(|digit| digit.axis == dim && digit.place <= place);
    own.map_or(0, |digit| digit.stride.saturating_mul((place / digit.place) as i64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::boxes::size;
    use tilewright_core::Layout;

    /// The offsets of both layouts at every coordinate of a box.
    fn naive(layouts: [&TensorLayout; 2], area: &Area) -> Vec<[i64; 2]> {
        let (mut all, mut coord) = (vec![], area.iter().map(|it| it.start).collect::<Vec<_>>());
        loop {
            all.push(layouts.map(|layout| layout.offset(&coord).unwrap()));
            let Some(dim) = (0..coord.len()).rfind(|dim| coord[*dim] + 1 < area[*dim].end) else {
                all.sort_unstable();
                return all;
            };
            coord[dim] += 1;
            (dim + 1..coord.len()).for_each(|dim| coord[dim] = area[dim].start);
        }
    }

    /// Every box of two dims of 12 and 8.
    fn areas() -> impl Iterator<Item = Area> {
        let ranges = |end: u64| (0..end).flat_map(move |a| (a + 1..=end).map(move |b| a..b));
        ranges(12).flat_map(move |rows| ranges(8).map(move |columns| vec![rows.clone(), columns]))
    }

    #[test]
    fn loops_reach_every_coordinate_of_a_box_at_its_offsets() {
        let texts = [
            "(12,8):(8,1)",
            "(12,8):(1,12)",
            "((4,3),8):((8,32),1)",
            "((2,6),(4,2)):((4,16),(1,8))",
            "((2,2,3),(2,4)):((1,8,32),(2,4))",
            "(12,8):(0,1)",
            "((6,2),8):((1,48),6)",
            "(12,8):(-1,12)",
        ];
        let layouts: Vec<TensorLayout> = (texts.iter())
            .map(|text| {
                let layout = Layout::parse(text).unwrap();
                let low = layout.bounds().unwrap().0.min(0);
                TensorLayout::of(&layout.with_offset(-low).unwrap())
            })
            .collect();
        let (mut looped, mut odd) = (0, 0);
        for (a, b) in layouts.iter().flat_map(|a| layouts.iter().map(move |b| (a, b))) {
            let loops = Loops::new([a, b]).unwrap();
            for area in areas() {
                let (mut pending, mut found, mut left) = (vec![area.clone()], vec![], 0);
                while let Some(part) = pending.pop() {
                    if let Some(parts) = loops.cut(&part) {
                        assert_eq!(parts.iter().map(size).sum::<u64>(), size(&part));
                        pending.extend(parts);
                    } else if let Some((first, turns)) = loops.of(&part).unwrap() {
                        each(&turns, first, &mut |at| {
                            found.push(at);
                            true
                        });
                    } else {
                        found.extend(naive([a, b], &part));
                        left += 1;
                    }
                }
                found.sort_unstable();
                assert_eq!(found, naive([a, b], &area), "{a:?} {b:?} {area:?}");
                (looped, odd) = (looped + usize::from(left == 0), odd + usize::from(left > 0));
            }
        }
        // Six and four are no steps of each other.
        assert!(looped > 10 * odd && odd > 0, "{looped} {odd}");
    }

    #[test]
    fn a_swizzle_has_no_loops() {
        let plain = TensorLayout::of(&Layout::parse("(4,8):(8,1)").unwrap());
        let swizzled = TensorLayout::of(&Layout::parse("Sw<2,0,2> o (4,8):(8,1)").unwrap());
        assert!(Loops::new([&plain, &plain]).is_some());
        assert!(Loops::new([&plain, &swizzled]).is_none());
    }
}
