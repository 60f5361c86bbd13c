//! [`Key`]: the seed of the weights of a fingerprint; the prime field, the pseudo-random function, and the weights of
//! indices that are made with them.

use core::ops::{Add, AddAssign, Mul};
use std::{fmt, str::FromStr};

use crate::Error;

/// The seed from which the weights of a fingerprint are drawn: 128 bits.
///
/// Fingerprints of different keys are unrelated. The default key is public and equal for everybody: it finds accidents.
/// To detect data that was made to agree on purpose, use a key that others do not know.
///
/// ```
/// use tilewright_fingerprint::Key;
/// // The characters of "tilewright data1".
/// assert_eq!(Key::default().to_string(), "74696c65777269676874206461746131");
/// assert_eq!("ff".parse::<Key>().unwrap(), Key::new(255));
/// assert!("0x12".parse::<Key>().is_err());
/// ```
#[must_use]
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Key(u128);

impl Key {
    /// Returns the key with this number.
    ///
    /// ```
    /// use tilewright_fingerprint::Key;
    /// assert_eq!(Key::new(1).to_string(), "00000000000000000000000000000001");
    /// ```
    pub const fn new(number: u128) -> Key {
        Key(number)
    }

    /// Returns the pseudo-random hash of bytes under this key.
    pub(crate) fn hash(&self, bytes: &[u8]) -> u64 {
        siphash([self.0 as u64, (self.0 >> 64) as u64], bytes)
    }

    /// Returns a uniform element of the field, for one value of one digit of a dim.
    pub(crate) fn element(&self, dim: u32, digit: u8, value: u8) -> Field {
        let [a, b, c, d] = dim.to_le_bytes();
        // 61 bits of the hash have 2^61 values, but the field has 2^61 - 1 elements; the value 2^61 - 1 is drawn again.
        let draw = |again: u16| {
            let [e, f] = again.to_le_bytes();
            self.hash(&[a, b, c, d, digit, value, e, f]) & ((1 << BITS) - 1)
        };
        (0..)
            .map(draw)
            .find(|drawn| *drawn < PRIME)
            .map_or(Field::ONE, |drawn| Field::of(drawn.into()))
    }
}

impl Default for Key {
    fn default() -> Key {
        Key(u128::from_be_bytes(*b"tilewright data1"))
    }
}

/// 32 hexadecimal digits.
impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key({self})")
    }
}

/// 1 to 32 hexadecimal digits; leading zeros may be left out.
impl FromStr for Key {
    type Err = Error;

    fn from_str(text: &str) -> Result<Key, Error> {
        let digits = text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let number = u128::from_str_radix(text, 16).ok().filter(|_| digits);
        number.map(Key).ok_or_else(|| {
            let shown: String = text.chars().take(40).collect();
            Error::new(
                "parse",
                format!("{shown:?} is not a key; a key is 1 to 32 hexadecimal digits"),
            )
        })
    }
}

// SipHash-2-4: a keyed pseudo-random function of bytes, by Aumasson and Bernstein (INDOCRYPT 2012).

/// Returns the hash of bytes under a key: `key[0]` is the first half of its sixteen bytes, little-endian.
pub(crate) fn siphash(key: [u64; 2], bytes: &[u8]) -> u64 {
    let mut state = [
        key[0] ^ 0x736f_6d65_7073_6575,
        key[1] ^ 0x646f_7261_6e64_6f6d,
        key[0] ^ 0x6c79_6765_6e65_7261,
        key[1] ^ 0x7465_6462_7974_6573,
    ];
    let (words, rest) = bytes.as_chunks::<8>();
    for word in words {
        absorb(&mut state, u64::from_le_bytes(*word));
    }
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    last[7] = bytes.len() as u8;
    absorb(&mut state, u64::from_le_bytes(last));
    state[2] ^= 0xff;
    (0..4).for_each(|_| round(&mut state));
    state[0] ^ state[1] ^ state[2] ^ state[3]
}

fn absorb(state: &mut [u64; 4], word: u64) {
    state[3] ^= word;
    round(state);
    round(state);
    state[0] ^= word;
}

fn round([a, b, c, d]: &mut [u64; 4]) {
    *a = a.wrapping_add(*b);
    *b = b.rotate_left(13) ^ *a;
    *a = a.rotate_left(32);
    *c = c.wrapping_add(*d);
    *d = d.rotate_left(16) ^ *c;
    *a = a.wrapping_add(*d);
    *d = d.rotate_left(21) ^ *a;
    *c = c.wrapping_add(*b);
    *b = b.rotate_left(17) ^ *c;
    *c = c.rotate_left(32);
}

// The prime field of 2⁶¹ − 1 elements.

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

// The weights of indices: products of the weights of their digits.
//
// An index is cut into digits at fixed bits ([`CUTS`]), which are equal for all dims and arrays. Digit value 0 has
// weight 1; every other value of every digit of every dim has its own weight. So weights multiply if two indices have
// no digit in common: w(i + j) = w(i)·w(j).

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

    /// Key 00 01 … 0f, messages 00 01 …: the example of the paper's appendix and the first of the authors'
    /// vectors.
    #[test]
    fn the_authors_vectors() {
        let key = [0x0706_0504_0302_0100, 0x0f0e_0d0c_0b0a_0908];
        let message: Vec<u8> = (0..15).collect();
        assert_eq!(siphash(key, &message), 0xa129_ca61_49be_45e5);
        assert_eq!(siphash(key, &[]), 0x726f_db47_dd0e_0e31);
        assert_eq!(siphash(key, &[0]), 0x74f8_39c5_93dc_67fd);
        assert_eq!(siphash(key, &message[..8]), 0x93f5_f579_9a93_2462);
    }

    #[test]
    #[allow(deprecated)]
    fn the_standard_library_hashes_alike() {
        use std::hash::{Hasher, SipHasher};
        let bytes: Vec<u8> = (0..100u8).map(|i| i.wrapping_mul(37)).collect();
        for len in 0..bytes.len() {
            let mut hasher = SipHasher::new_with_keys(len as u64, !0);
            hasher.write(&bytes[..len]);
            assert_eq!(siphash([len as u64, !0], &bytes[..len]), hasher.finish());
        }
    }

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
