//! The weights of indices: products of the weights of their digits.
//!
//! An index is cut into digits at fixed bits ([`CUTS`]), which are equal for all dims and arrays. Digit value 0 has
//! weight 1; every other value of every digit of every dim has its own weight. So weights multiply if two indices have
//! no digit in common: w(i + j) = w(i)·w(j).

use crate::{Key, field::Field};

/// The bit at which each digit begins: the digits have 16 values, then twice 8, then 16 each.
const CUTS: [u32; DIGITS + 1] =
    [0, 4, 7, 10, 14, 18, 22, 26, 30, 34, 38, 42, 46, 50, 54, 58, 62, 64];

/// The number of digits of an index.
const DIGITS: usize = 17;

/// A set of digits of an index: bit k represents digit k.
pub(crate) type DigitSet = u32;

/// Every digit.
pub(crate) const EVERY: DigitSet = (1 << DIGITS) - 1;

/// The number of the dim that the limbs of an element use.
pub(crate) const LIMBS: u32 = u32::MAX;

/// Iterates over the place values at which digits begin, except 1.
pub(crate) fn cuts() -> impl DoubleEndedIterator<Item = u64> {
    CUTS[1..DIGITS].iter().map(|bit| 1 << bit)
}

/// Returns the digits that have one of the bits `low..=high`.
pub(crate) fn digits(low: u32, high: u32) -> DigitSet {
    let has = |k: &usize| CUTS[*k] <= high && low < CUTS[k + 1];
    (0..DIGITS).filter(has).map(|k| 1 << k).sum()
}

/// The weights of one dim, for indices up to a given maximum.
#[derive(Clone, Debug)]
pub(crate) struct Weights(Vec<Vec<Field>>);

impl Weights {
    pub(crate) fn new(key: &Key, dim: u32, largest: u64) -> Weights {
        let table = |k: usize| {
            let most = (largest >> CUTS[k]).min((1 << (CUTS[k + 1] - CUTS[k])) - 1);
            let drawn = (1..=most).map(|value| key.element(dim, k as u8, value as u8));
            std::iter::once(Field::ONE).chain(drawn).collect()
        };
        let needed = CUTS[..DIGITS].iter().take_while(|cut| largest >> **cut > 0).count();
        Weights((0..needed).map(table).collect())
    }

    /// Returns the product of the weights of some digits of an index.
    pub(crate) fn of(&self, index: u64, digits: DigitSet) -> Field {
        let mut product = Field::ONE;
        for (k, table) in self.0.iter().enumerate() {
            let value = index >> CUTS[k] & ((1 << (CUTS[k + 1] - CUTS[k])) - 1);
            if digits >> k & 1 == 1 && value != 0 {
                product = product * table.get(value as usize).copied().unwrap_or_default();
            }
        }
        product
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_multiply_where_no_digit_is_common() {
        let weights = Weights::new(&Key::default(), 3, u64::MAX >> 1);
        for (i, j) in [(5, 16), (15, 0x70), (0x7F, 0x380), (0x3FF, 1 << 40), (0, 9)] {
            assert_eq!(weights.of(i + j, EVERY), weights.of(i, EVERY) * weights.of(j, EVERY));
        }
        assert_ne!(weights.of(3, EVERY), weights.of(1, EVERY) * weights.of(2, EVERY));
        assert_eq!(weights.of(0x57, 1) * weights.of(0x57, EVERY - 1), weights.of(0x57, EVERY));
        assert_eq!(weights.of(0, EVERY), Field::ONE);
    }

    #[test]
    fn small_tables_say_what_large_ones_do() {
        let large = Weights::new(&Key::default(), 0, 1 << 20);
        for largest in [0, 1, 15, 16, 17, 200, 5000] {
            let small = Weights::new(&Key::default(), 0, largest);
            for index in [0, 1, largest / 2, largest] {
                if index <= largest {
                    assert_eq!(small.of(index, EVERY), large.of(index, EVERY));
                }
            }
        }
    }

    #[test]
    fn indices_of_a_million_have_weights_of_their_own() {
        let weights = Weights::new(&Key::default(), 0, 1 << 20);
        let mut all: Vec<u64> = (0..1 << 20).map(|i| weights.of(i, EVERY).value()).collect();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 1 << 20);
    }

    #[test]
    fn bits_are_in_the_digit_that_begins_before_them() {
        assert_eq!((digits(0, 0), digits(3, 4), digits(7, 13)), (1, 0b11, 0b1100));
        assert_eq!(digits(0, 63), EVERY);
        assert_eq!(cuts().take(3).collect::<Vec<_>>(), [16, 128, 1024]);
    }
}
