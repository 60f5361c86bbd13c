//! The prime field of 2⁶¹ − 1 elements.

use core::ops::{Add, AddAssign, Mul};

/// The bits of an element.
pub(crate) const BITS: u32 = 61;

/// The prime.
pub(crate) const PRIME: u64 = (1 << BITS) - 1;

/// An element of the field, below the prime.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Field(u64);

impl Field {
    pub(crate) const ZERO: Field = Field(0);
    pub(crate) const ONE: Field = Field(1);

    /// Returns the element that is congruent to a number.
    pub(crate) const fn of(number: u128) -> Field {
        // 2⁶¹ is congruent to 1. Two folds leave at most 2⁶¹ + 2⁷.
        let once = (number & PRIME as u128) + (number >> BITS);
        let twice = (once & PRIME as u128) as u64 + (once >> BITS) as u64;
        Field(if twice >= PRIME { twice - PRIME } else { twice })
    }

    /// Returns the number below the prime.
    pub(crate) const fn value(self) -> u64 {
        self.0
    }
}

impl Add for Field {
    type Output = Field;

    fn add(self, other: Field) -> Field {
        let sum = self.0 + other.0;
        Field(if sum >= PRIME { sum - PRIME } else { sum })
    }
}

impl AddAssign for Field {
    fn add_assign(&mut self, other: Field) {
        *self = *self + other;
    }
}

impl Mul for Field {
    type Output = Field;

    fn mul(self, other: Field) -> Field {
        Field::of(u128::from(self.0) * u128::from(other.0))
    }
}

/// Returns Σ a·b over two lists of equal length of at most 32.
pub(crate) fn dot(a: &[Field], b: impl Iterator<Item = Field>) -> Field {
    // The sum of 32 products of 122 bits fits into 127 bits.
    Field::of(a.iter().zip(b).map(|(a, b)| u128::from(a.0) * u128::from(b.0)).sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_remainders() {
        let prime = u128::from(PRIME);
        let some = [0, 1, 2, prime - 1, prime, prime + 1, 2 * prime, u128::MAX, 1 << 61, 1 << 122];
        for a in some {
            assert_eq!(u128::from(Field::of(a).value()), a % prime);
            for b in some {
                let (x, y) = (a % prime, b % prime);
                assert_eq!(Field::of(a) * Field::of(b), Field::of(x * y % prime));
                assert_eq!(Field::of(a) + Field::of(b), Field::of((x + y) % prime));
            }
        }
    }
}
