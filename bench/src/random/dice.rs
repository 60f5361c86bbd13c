//! Numbers drawn from a seed: SplitMix64, so that every machine draws the same.

use crate::data::mix;

/// 2⁶⁴ divided by the golden ratio, made odd.
const G: u64 = 0x9E37_79B9_7F4A_7C15;

/// A stream of numbers.
pub(super) struct Dice {
    state: u64,
}

impl Dice {
    /// Makes the stream of case `index` of a seed, which is independent of the draws of other cases.
    pub(super) fn new(seed: u64, index: u64) -> Dice {
        Dice { state: mix(mix(seed ^ G).wrapping_add(index)) }
    }

    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(G);
        mix(self.state)
    }

    /// Returns a number less than `end`, which is not 0.
    pub(super) fn below(&mut self, end: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(end)) >> 64) as u64
    }

    /// Returns a number in 0..1.
    pub(super) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Returns true with a probability of `chance` percent.
    pub(super) fn percent(&mut self, chance: u64) -> bool {
        self.below(100) < chance
    }

    /// Returns one of these.
    pub(super) fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len() as u64) as usize]
    }

    /// Returns the item on whose share the draw falls; the first numbers are the shares.
    pub(super) fn share<T: Copy>(&mut self, of: &[(u64, T)]) -> T {
        let mut at = self.below(of.iter().map(|(share, _)| share).sum());
        for (share, one) in of {
            match at.checked_sub(*share) {
                None => return *one,
                Some(rest) => at = rest,
            }
        }
        of[of.len() - 1].1
    }

    /// Returns 0..count in random order.
    pub(super) fn shuffled(&mut self, count: usize) -> Vec<usize> {
        let mut all: Vec<usize> = (0..count).collect();
        for at in (1..count).rev() {
            all.swap(at, self.below(at as u64 + 1) as usize);
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_is_its_own_and_even() {
        let stream = |seed, index| {
            let mut dice = Dice::new(seed, index);
            (0..1000).map(|_| dice.below(10)).collect::<Vec<_>>()
        };
        assert_eq!(stream(1, 2), stream(1, 2));
        assert!(stream(1, 2) != stream(1, 3) && stream(1, 2) != stream(2, 2));
        for digit in 0..10 {
            let count = stream(1, 2).iter().filter(|one| **one == digit).count();
            assert!((60..150).contains(&count), "{digit}: {count}");
        }
    }

    #[test]
    fn shares_and_orders_are_whole() {
        let mut dice = Dice::new(3, 0);
        let shares: Vec<char> =
            (0..300).map(|_| dice.share(&[(1, 'a'), (0, 'b'), (2, 'c')])).collect();
        assert!(shares.contains(&'a') && !shares.contains(&'b') && shares.contains(&'c'));
        for count in 0..8 {
            let mut order = dice.shuffled(count);
            order.sort();
            assert_eq!(order, (0..count).collect::<Vec<_>>());
        }
        assert!((0..100).all(|_| (0.0..1.0).contains(&dice.unit())));
    }
}
