//! Elements of two buffers compared along loops, in an order that keeps to the processor's fastest cache.
//!
//! Law: the answer is that of a comparison of every pair of elements.

use crate::loops::{Turn, each};

/// The turns of two loops that are made together: the elements of a block lie in at most this number of cache lines in each array.
const BLOCK: u64 = 16;

/// Whether elements of this width can be compared so.
pub(crate) fn is_swept(bits: u32) -> bool {
    matches!(bits, 8 | 16 | 32 | 64 | 128)
}

/// Whether the elements of two buffers are equal at all places that loops reach from `first` on; the places count
/// elements of `bits` bits. Elements outside of the buffers, and of other widths, are equal to none.
pub(crate) fn same(bits: u32, [a, b]: [&[u8]; 2], first: [i64; 2], turns: Vec<Turn>) -> bool {
    match bits {
        8 => sweep::<1>(a, b, first, turns),
        16 => sweep::<2>(a, b, first, turns),
        32 => sweep::<4>(a, b, first, turns),
        64 => sweep::<8>(a, b, first, turns),
        128 => sweep::<16>(a, b, first, turns),
        _ => false,
    }
}

fn sweep<const W: usize>(a: &[u8], b: &[u8], first: [i64; 2], turns: Vec<Turn>) -> bool {
    let (a, b) = (a.as_chunks::<W>().0, b.as_chunks::<W>().0);
    let (turns, [outer, inner]) = ordered(merged(turns));
    each(&turns, first, &mut |at| plane(a, b, at, outer, inner))
}

/// Loops of which one goes on where another ends, as one.
fn merged(mut turns: Vec<Turn>) -> Vec<Turn> {
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

/// The loops apart from two: the one with the shortest steps in the first buffer, and in the second.
fn ordered(mut turns: Vec<Turn>) -> (Vec<Turn>, [Turn; 2]) {
    let mut least = |side: usize| {
        let key = |i: &usize| turns[*i].steps[side].unsigned_abs();
        let found = (0..turns.len()).min_by_key(key);
        found.map_or(Turn { count: 1, steps: [0, 0] }, |i| turns.remove(i))
    };
    let inner = least(1);
    let outer = least(0);
    (turns, [outer, inner])
}

/// The places that a number of turns leads to.
fn moved(at: [i64; 2], turn: Turn, turns: u64) -> [i64; 2] {
    [0, 1].map(|side| at[side] + turns as i64 * turn.steps[side])
}

/// Two loops, in blocks of turns of both.
fn plane<T: PartialEq>(a: &[T], b: &[T], at: [i64; 2], outer: Turn, inner: Turn) -> bool {
    if inner.steps == [1, 1] {
        return each(&[outer], at, &mut |at| {
            let [a, b] = [row(a, at[0], inner.count), row(b, at[1], inner.count)];
            a.zip(b).is_some_and(|(a, b)| a == b)
        });
    }
    let part = |turn: Turn, from: u64| Turn { count: BLOCK.min(turn.count - from), ..turn };
    let starts = |turn: Turn| (0..turn.count).step_by(BLOCK as usize);
    starts(outer).all(|i| {
        let at = moved(at, outer, i);
        starts(inner).all(|j| block(a, b, moved(at, inner, j), part(outer, i), part(inner, j)))
    })
}

fn row<T>(all: &[T], at: i64, count: u64) -> Option<&[T]> {
    let at = usize::try_from(at).ok()?;
    all.get(at..at.checked_add(usize::try_from(count).ok()?)?)
}

/// Two short loops, without a way out in between.
fn block<T: PartialEq>(a: &[T], b: &[T], at: [i64; 2], outer: Turn, inner: Turn) -> bool {
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
    use super::*;

    fn places(turns: &[Turn], first: [i64; 2]) -> Vec<[i64; 2]> {
        let mut all = vec![];
        each(turns, first, &mut |at| {
            all.push(at);
            true
        });
        all
    }

    /// A byte that is wrong is found where a loop reaches it, and only there.
    #[test]
    fn every_element_that_loops_reach_is_compared_and_no_other() {
        let turn = |(count, a, b)| Turn { count, steps: [a, b] };
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
            let turns: Vec<Turn> = case.iter().copied().map(turn).collect();
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
