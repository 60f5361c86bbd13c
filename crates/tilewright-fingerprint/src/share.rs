//! The digits of an index that a loop changes.
//!
//! Law: a digit that is not among the digits of some loops of a dim is equal for all iterations of these loops, if the
//! iterations of the other loops are fixed.

use crate::{
    area::{Area, AreaLoop},
    weights::{DigitSet, digits},
};

/// Returns the digits of its dim's index that loop `i` of an area changes.
pub(crate) fn changed(area: &Area, i: usize) -> DigitSet {
    let level = &area.loops[i];
    let start = area.coord[level.dim];
    let own = || area.loops.iter().filter(|other| other.dim == level.dim);
    let below: u64 = own().filter(|other| other.step < level.step).map(AreaLoop::reach).sum();
    let reach = below + level.reach();
    let above = own().filter(|other| other.step > level.step);
    let equal = own().filter(|other| other.step == level.step).count() > 1;
    let aligned = above.map(|other| other.step).fold(start, |all, step| all | step);
    // Below the lowest bit of everything above, sums carry nothing into the bits above.
    let high = if !equal && bits(reach) <= aligned.trailing_zeros() {
        bits(reach)
    } else {
        let total: u64 = own().map(AreaLoop::reach).sum();
        bits(start ^ (start + total))
    };
    digits(level.step.trailing_zeros(), high.saturating_sub(1))
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
    fn sums(loops: &[AreaLoop]) -> Vec<u64> {
        loops.iter().fold(vec![0], |all, level| {
            let more = |at: u64| (0..level.extent).map(move |i| at + i * level.step);
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
                    let level = |i: usize| AreaLoop {
                        dim: 0,
                        step: steps[i],
                        extent: extents[i],
                        stride: 1,
                    };
                    let loops = vec![level(0), level(1)];
                    let area = Area { coord: vec![start], at: 0, loops };
                    for i in 0..2 {
                        let same = EVERY & !changed(&area, i);
                        shared += same & 0b111;
                        for other in sums(&area.loops[1 - i..2 - i]) {
                            for own in sums(&area.loops[i..i + 1]) {
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
