//! The digits of an index that a loop changes.
//!
//! Law: a digit that is not among the digits of some loops of a dim is equal for all iterations of these loops, if the
//! iterations of the other loops are fixed.

use crate::{
    area::{Area, Turn},
    weights::{Digits, digits},
};

/// Returns the digits of its dim's index that loop `i` of an area changes.
pub(crate) fn changed(area: &Area, i: usize) -> Digits {
    let turn = &area.turns[i];
    let start = area.coord[turn.dim];
    let own = || area.turns.iter().filter(|other| other.dim == turn.dim);
    let below: u64 = own().filter(|other| other.step < turn.step).map(Turn::reach).sum();
    let reach = below + turn.reach();
    let above = own().filter(|other| other.step > turn.step);
    let equal = own().filter(|other| other.step == turn.step).count() > 1;
    let aligned = above.map(|other| other.step).fold(start, |all, step| all | step);
    // Below the lowest bit of everything above, sums carry nothing into the bits above.
    let high = if !equal && bits(reach) <= aligned.trailing_zeros() {
        bits(reach)
    } else {
        let total: u64 = own().map(Turn::reach).sum();
        bits(start ^ (start + total))
    };
    digits(turn.step.trailing_zeros(), high.saturating_sub(1))
}

/// Returns the number of significant bits.
fn bits(number: u64) -> u32 {
    u64::BITS - number.leading_zeros()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Key;
    use crate::weights::{EVERY, Weights};

    /// Every sum of iterations of some loops.
    fn sums(turns: &[Turn]) -> Vec<u64> {
        turns.iter().fold(vec![0], |all, turn| {
            let more = |at: u64| (0..turn.extent).map(move |i| at + i * turn.step);
            all.into_iter().flat_map(more).collect()
        })
    }

    #[test]
    fn digits_that_a_loop_does_not_change_are_the_same_at_every_turn() {
        let weights = Weights::new(&Key::default(), 0, 1 << 20);
        let mut shared = 0;
        for start in [0, 1, 5, 8, 16, 40, 120, 128, 1000, 1024] {
            for steps in [[1, 16], [1, 24], [2, 8], [3, 12], [1, 5], [16, 128], [8, 1024], [7, 7]] {
                for extents in [[16, 8], [8, 3], [2, 40], [5, 5]] {
                    let turn =
                        |i: usize| Turn { dim: 0, step: steps[i], extent: extents[i], stride: 1 };
                    let turns = vec![turn(0), turn(1)];
                    let area = Area { coord: vec![start], at: 0, turns };
                    for i in 0..2 {
                        let same = EVERY & !changed(&area, i);
                        shared += same & 0b111;
                        for other in sums(&area.turns[1 - i..2 - i]) {
                            for own in sums(&area.turns[i..i + 1]) {
                                let at = start + other;
                                assert_eq!(weights.of(at + own, same), weights.of(at, same));
                            }
                        }
                    }
                }
            }
        }
        assert!(shared > 0);
    }
}
