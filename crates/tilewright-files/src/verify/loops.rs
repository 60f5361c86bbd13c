//! A box of coordinates as loops along which the offsets of two layouts grow evenly, and the comparison of the elements of two
//! buffers along them, in an order that stays in the CPU's fastest cache. Comparisons of tensors use it.
//!
//! Laws: the loops of a box reach every coordinate of it once, at the offsets of [`TensorLayout::offset`]; a comparison along
//! loops has the same result as one of every pair of elements.

use std::ops::Range;

use tilewright_core::{Error, TensorLayout};

use crate::verify::{
    boxes::Area,
    digits::{OffsetDigit, digits},
    rows::is_additive,
};

/// A loop: the number of iterations, and the step of each iteration at two places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LoopTurn {
    pub(crate) count: u64,
    pub(crate) steps: [i64; 2],
}

/// The two places at which loops begin, and the loops.
pub(crate) type Reach = ([i64; 2], Vec<LoopTurn>);

/// Calls `see` with the places that loops reach from `at` on, the last loop innermost, until it returns false.
pub(crate) fn each(
    turns: &[LoopTurn],
    at: [i64; 2],
    see: &mut impl FnMut([i64; 2]) -> bool,
) -> bool {
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
    digits: [Vec<OffsetDigit>; 2],
    /// For each dim, the places at which digits of either layout begin, except 1.
    borders: Vec<Vec<u64>>,
}

impl<'a> Loops<'a> {
    /// Returns the digits; `None` if the offsets of a layout are not sums of contributions of the coordinates.
    pub(crate) fn new(layouts: [&'a TensorLayout; 2]) -> Option<Loops<'a>> {
        if !layouts.iter().all(|layout| is_additive(layout)) {
            return None;
        }
        let digits = layouts.map(|layout| digits(layout.layout()));
        let of_dim = |dim: usize| {
            let begin =
                |digit: &OffsetDigit| (digit.axis == dim && digit.place > 1).then_some(digit.place);
            let mut borders: Vec<u64> = digits.iter().flatten().filter_map(begin).collect();
            borders.sort_unstable();
            borders.dedup();
            borders
        };
        let borders = (0..layouts[0].rank()).map(of_dim).collect();
        Some(Loops { layouts, digits, borders })
    }

    /// Splits a box that begins or ends within a digit; `None` if the box has loops without a split.
    pub(crate) fn cut(&self, area: &Area) -> Option<[Area; 2]> {
        let mut all = area.iter().zip(&self.borders).enumerate();
        let (dim, at) = all.find_map(|(dim, (range, all))| Some((dim, border(range, all)?)))?;
        let (mut low, mut high) = (area.clone(), area.clone());
        (low[dim].end, high[dim].start) = (at, at);
        Some([low, high])
    }

    /// Returns the offsets of a box's first coordinate, and its loops; `None` if the digits of both layouts do not have common
    /// loops.
    pub(crate) fn of(&self, area: &Area) -> Result<Option<Reach>, Error> {
        let mut turns = Vec::new();
        for (dim, (range, borders)) in area.iter().zip(&self.borders).enumerate() {
            let Some(parts) = parts(range, borders) else { return Ok(None) };
            turns.extend(parts.into_iter().filter(|(_, count)| *count > 1).map(
                |(place, count)| {
                    let steps = self.digits.each_ref().map(|digits| step(digits, dim, place));
                    LoopTurn { count, steps }
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

/// Returns the position at which a range is to be split, so that its parts begin and end at whole digits.
fn border(range: &Range<u64>, borders: &[u64]) -> Option<u64> {
    let crossed = |at: &&u64| range.start / **at != (range.end - 1) / **at;
    borders.iter().take_while(crossed).find_map(|at| {
        let (first, last) = (range.start.next_multiple_of(*at), range.end / at * at);
        let cut = if first > range.start { first } else { last };
        (cut < range.end).then_some(cut)
    })
}

/// Returns a range that needs no split as pairs of a step and its count.
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

/// Returns the contribution to the offset of a step of `place` coordinates.
fn step(digits: &[OffsetDigit], dim: usize, place: u64) -> i64 {
    let own = digits.iter().rfind(|digit| digit.axis == dim && digit.place <= place);
    own.map_or(0, |digit| digit.stride.saturating_mul((place / digit.place) as i64))
}

/// The number of iterations of two loops in a block, which touches at most this number of cache lines in each array.
const BLOCK: u64 = 16;

/// Returns true if elements of this width can be compared along loops.
pub(crate) fn is_swept(bits: u32) -> bool {
    matches!(bits, 8 | 16 | 32 | 64 | 128)
}

/// Returns true if the elements of two buffers are equal at all places that loops reach from `first` on; the places count
/// elements of `bits` bits. Elements outside of the buffers, and of other widths, are never equal.
pub(crate) fn same(bits: u32, [a, b]: [&[u8]; 2], first: [i64; 2], turns: Vec<LoopTurn>) -> bool {
    match bits {
        8 => sweep::<1>(a, b, first, turns),
        16 => sweep::<2>(a, b, first, turns),
        32 => sweep::<4>(a, b, first, turns),
        64 => sweep::<8>(a, b, first, turns),
        128 => sweep::<16>(a, b, first, turns),
        _ => false,
    }
}

fn sweep<const W: usize>(a: &[u8], b: &[u8], first: [i64; 2], turns: Vec<LoopTurn>) -> bool {
    let (a, b) = (a.as_chunks::<W>().0, b.as_chunks::<W>().0);
    let (turns, [outer, inner]) = ordered(merged(turns));
    each(&turns, first, &mut |at| plane(a, b, at, outer, inner))
}

/// Merges loops if one continues where another ends.
fn merged(mut turns: Vec<LoopTurn>) -> Vec<LoopTurn> {
    turns.sort_by_key(|turn| turn.steps.map(i64::unsigned_abs));
    turns.dedup_by(|next, last| {
        let follows = |side: usize| {
            i64::try_from(last.count).ok().and_then(|count| count.checked_mul(last.steps[side]))
                == Some(next.steps[side])
        };
        let joins = follows(0) && follows(1);
        if joins {
            last.count *= next.count;
        }
        joins
    });
    turns
}

/// Removes two loops from the others: the one with the shortest steps in the first buffer, and the one with the shortest in the
/// second.
fn ordered(mut turns: Vec<LoopTurn>) -> (Vec<LoopTurn>, [LoopTurn; 2]) {
    let mut least = |side: usize| {
        let key = |i: &usize| turns[*i].steps[side].unsigned_abs();
        let found = (0..turns.len()).min_by_key(key);
        found.map_or(LoopTurn { count: 1, steps: [0, 0] }, |i| turns.remove(i))
    };
    let inner = least(1);
    let outer = least(0);
    (turns, [outer, inner])
}

/// Returns the places after a number of iterations.
fn moved(at: [i64; 2], turn: LoopTurn, turns: u64) -> [i64; 2] {
    [0, 1].map(|side| at[side] + turns as i64 * turn.steps[side])
}

/// Compares the elements of two loops, in blocks of iterations of both.
fn plane<T: PartialEq>(a: &[T], b: &[T], at: [i64; 2], outer: LoopTurn, inner: LoopTurn) -> bool {
    if inner.steps == [1, 1] {
        return each(&[outer], at, &mut |at| {
            let [a, b] = [row(a, at[0], inner.count), row(b, at[1], inner.count)];
            a.zip(b).is_some_and(|(a, b)| a == b)
        });
    }
    let part = |turn: LoopTurn, from: u64| LoopTurn { count: BLOCK.min(turn.count - from), ..turn };
    let starts = |turn: LoopTurn| (0..turn.count).step_by(BLOCK as usize);
    starts(outer).all(|i| {
        let at = moved(at, outer, i);
        starts(inner).all(|j| block(a, b, moved(at, inner, j), part(outer, i), part(inner, j)))
    })
}

fn row<T>(all: &[T], at: i64, count: u64) -> Option<&[T]> {
    let at = usize::try_from(at).ok()?;
    all.get(at..at.checked_add(usize::try_from(count).ok()?)?)
}

/// Compares the elements of two short loops, without an early exit.
fn block<T: PartialEq>(a: &[T], b: &[T], at: [i64; 2], outer: LoopTurn, inner: LoopTurn) -> bool {
    let [step_a, step_b] = inner.steps.map(|step| step as usize);
    let mut same = true;
    for i in 0..outer.count {
        let [mut x, mut y] = moved(at, outer, i).map(|at| at as usize);
        for _ in 0..inner.count {
            same &= a.get(x).zip(b.get(y)).is_some_and(|(a, b)| a == b);
            (x, y) = (x.wrapping_add(step_a), y.wrapping_add(step_b));
        }
    }
    same
}

#[cfg(test)]
mod tests {
    use tilewright_core::Layout;

    use super::*;
    use crate::verify::boxes::size;

    /// Returns the offsets of both layouts at every coordinate of a box.
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

    /// Iterates over every box of two dims of 12 and 8.
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
            for area in areas().step_by(tilewright_testing::cases(1, 7)) {
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
        // Six and four do not divide each other.
        assert!(looped > 10 * odd && odd > 0, "{looped} {odd}");
    }

    #[test]
    fn a_swizzle_has_no_loops() {
        let plain = TensorLayout::of(&Layout::parse("(4,8):(8,1)").unwrap());
        let swizzled = TensorLayout::of(&Layout::parse("Sw<2,0,2> o (4,8):(8,1)").unwrap());
        assert!(Loops::new([&plain, &plain]).is_some());
        assert!(Loops::new([&plain, &swizzled]).is_none());
    }

    fn places(turns: &[LoopTurn], first: [i64; 2]) -> Vec<[i64; 2]> {
        let mut all = vec![];
        each(turns, first, &mut |at| {
            all.push(at);
            true
        });
        all
    }

    /// A wrong byte is found if a loop reaches it, and only then.
    #[test]
    fn every_element_that_loops_reach_is_compared_and_no_other() {
        let turn = |(count, a, b)| LoopTurn { count, steps: [a, b] };
        let cases = [
            vec![],
            vec![(40, 1, 1)],
            vec![(5, 8, 6), (6, 1, 1)],
            vec![(20, 1, 21), (21, 20, 1)],
            vec![(4, 1, 24), (2, 4, 12), (3, 8, 4), (4, 24, 1)],
            vec![(3, -1, 1), (4, 3, 0)],
            vec![(18, 2, 3), (17, 40, 54)],
        ];
        for (case, width) in cases.iter().flat_map(|case| [1, 2, 4, 8, 16].map(|w| (case, w))) {
            let turns: Vec<LoopTurn> = case.iter().copied().map(turn).collect();
            let first = [2, 1];
            let reached = places(&turns, first);
            let mut sides = [vec![1u8; width], vec![2; width]];
            for side in [0, 1] {
                let last = reached.iter().map(|at| at[side] as usize).max().unwrap();
                let other = sides[side][0];
                sides[side] = vec![other; (last + 3) * width];
                for at in &reached {
                    let at = at[side] as usize * width;
                    sides[side][at..at + width].fill(7);
                }
            }
            let bits = width as u32 * 8;
            let all_same =
                |sides: &[Vec<u8>; 2]| same(bits, [&sides[0], &sides[1]], first, turns.clone());
            assert!(all_same(&sides), "{case:?}");
            for (side, at) in
                [0, 1].iter().flat_map(|side| reached.iter().map(move |at| (*side, at)))
            {
                let byte = at[side] as usize * width + width - 1;
                sides[side][byte] ^= 1;
                assert!(!all_same(&sides), "{case:?} {at:?} {width}");
                sides[side][byte] ^= 1;
            }
            let short = reached.iter().map(|at| at[1] as usize).max().unwrap() * width;
            sides[1].truncate(short);
            assert!(!all_same(&sides), "{case:?}: an element outside");
        }
        assert!(!is_swept(24) && !same(24, [&[0; 9], &[0; 9]], [0, 0], vec![]));
    }
}
