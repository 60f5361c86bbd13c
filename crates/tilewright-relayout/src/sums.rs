//! Weighted sums of numbers in memory, of which fingerprints of data are made: the formats of the numbers, the weighted
//! rows of them, and their sum.

use crate::cpu::kernel;

/// The count of numbers in a row.
pub const LANES: usize = 16;

/// The format of numbers in memory, each of at most 16 bits.
///
/// ```
/// use tilewright_relayout::{Numbers, Row, sums};
/// let row = [Row::new(0, 1)];
/// let bytes = [0x21, 0x43];
/// let of = |numbers| {
///     let mut found = [[0; 16]];
///     sums(numbers, u16::MAX, &bytes, 0, &row, &mut found);
///     found[0]
/// };
/// assert_eq!(of(Numbers::Little)[..2], [0x4321, 0]);
/// assert_eq!(of(Numbers::Big)[..2], [0x2143, 0]);
/// assert_eq!(of(Numbers::Bytes)[..3], [0x21, 0x43, 0]);
/// assert_eq!(of(Numbers::Bits4)[..5], [1, 2, 3, 4, 0]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Numbers {
    /// Packed numbers of 1 bit, the lowest bit of a byte first.
    Bits1,
    /// Packed numbers of 2 bits, the lowest bits of a byte first.
    Bits2,
    /// Packed numbers of 4 bits, the lowest bits of a byte first.
    Bits4,
    /// Numbers of one byte.
    Bytes,
    /// Numbers of two bytes, little-endian.
    Little,
    /// Numbers of two bytes, big-endian.
    Big,
}

/// The bits of one half of a weight.
pub(crate) const HALF: u32 = 31;

/// A row of [`LANES`] consecutive numbers, and the weight that they are multiplied with.
///
/// ```
/// use tilewright_relayout::{Numbers, Row, sums};
/// // The second row begins at the third number.
/// let rows = [Row::new(0, 1), Row::new(2, 100)];
/// let mut found = [[0; 16]];
/// sums(Numbers::Bytes, u16::MAX, &[1, 2, 3, 4], 0, &rows, &mut found);
/// assert_eq!(found[0][..3], [301, 402, 3]);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Row {
    pub(crate) at: u64,
    /// The low bits and the high bits of the weight, [`HALF`] each.
    pub(crate) low: u32,
    pub(crate) high: u32,
}

impl Row {
    /// Returns the row that begins at number `at`. The weight is below 2⁶²; higher bits are ignored.
    ///
    /// ```
    /// use tilewright_relayout::{Numbers, Row, sums};
    /// let weight = (1 << 62) - 1;
    /// let mut found = [[0; 16]];
    /// sums(Numbers::Bytes, u16::MAX, &[0, 255], 0, &[Row::new(1, weight)], &mut found);
    /// assert_eq!(found[0][0], 255 * u128::from(weight));
    /// ```
    pub const fn new(at: u64, weight: u64) -> Row {
        let mask = (1 << HALF) - 1;
        Row { at, low: (weight & mask) as u32, high: (weight >> HALF & mask) as u32 }
    }
}

/// Adds, exactly, to sum `i` of `out` the sum over all rows of weight · number `i` of the row. All rows are shifted by
/// `from` numbers. Group `g` of `out` covers the numbers from `g` · [`LANES`] on. Only the bits of `mask` of each
/// number count. Beyond the end of the bytes, numbers are 0.
///
/// It uses the vector instructions that plans use, and reads the rows in the given order.
///
/// ```
/// use tilewright_relayout::{LANES, Numbers, Row, sums};
/// let bytes: Vec<u8> = (0..64).collect();
/// let rows: Vec<Row> = (0..3).map(|i| Row::new(16 * i, 10u64.pow(i as u32))).collect();
/// let mut found = [[0; LANES]; 2];
/// sums(Numbers::Bytes, u16::MAX, &bytes, 5, &rows, &mut found);
/// assert_eq!(found[0][0], 5 + 10 * 21 + 100 * 37);
/// assert_eq!(found[0][15], 20 + 10 * 36 + 100 * 52);
/// assert_eq!(found[1][0], 21 + 10 * 37 + 100 * 53);
/// ```
pub fn sums(
    numbers: Numbers,
    mask: u16,
    bytes: &[u8],
    from: u64,
    rows: &[Row],
    out: &mut [[u128; LANES]],
) {
    kernel::sums(numbers, mask, bytes, from, rows, out);
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [(Numbers, u64); 6] = [
        (Numbers::Bits1, 1),
        (Numbers::Bits2, 2),
        (Numbers::Bits4, 4),
        (Numbers::Bytes, 8),
        (Numbers::Little, 16),
        (Numbers::Big, 16),
    ];

    /// Number `at`, read bit by bit.
    fn number((numbers, bits): (Numbers, u64), bytes: &[u8], at: u64) -> u128 {
        let bit = |i: u64| {
            let i = at * bits + if numbers == Numbers::Big { (i + 8) % 16 } else { i };
            bytes.get((i / 8) as usize).map_or(0, |byte| u128::from(byte >> (i % 8) & 1))
        };
        (0..bits).map(|i| bit(i) << i).sum()
    }

    /// The sums of the first `groups` groups.
    fn summed(
        numbers: Numbers,
        mask: u16,
        bytes: &[u8],
        from: u64,
        rows: &[Row],
        groups: usize,
    ) -> Vec<u128> {
        let mut found = vec![[0; LANES]; groups];
        sums(numbers, mask, bytes, from, rows, &mut found);
        found.concat()
    }

    fn naive(
        kind: (Numbers, u64),
        mask: u16,
        bytes: &[u8],
        from: u64,
        rows: &[Row],
        groups: usize,
    ) -> Vec<u128> {
        let of = |i: u64, row: &Row| {
            let number = number(kind, bytes, from + row.at + i) & u128::from(mask);
            number * (u128::from(row.low) + (u128::from(row.high) << 31))
        };
        (0..16 * groups as u64).map(|i| rows.iter().map(|row| of(i, row)).sum()).collect()
    }

    #[test]
    fn sums_are_those_of_every_number_by_itself() {
        let mut state = 1u64;
        let mut next = || {
            state = state.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
            state.rotate_left(32)
        };
        for kind in ALL {
            for len in [0, 1, 2, 31, 32, 33, 100, 300] {
                let bytes: Vec<u8> = (0..len).map(|_| next() as u8).collect();
                let count = len as u64 * 8 / kind.1 + 3;
                for (many, groups) in [(0, 1), (1, 3), (2, 2), (50, 1), (50, 9), (300, 2)] {
                    let row = |_| Row::new(next() % count, next());
                    let rows: Vec<Row> = (0..many).map(row).collect();
                    for (mask, from) in [(u16::MAX, 0), (0x0F, 0), (u16::MAX, 7)] {
                        let found = summed(kind.0, mask, &bytes, from, &rows, groups);
                        let naive = naive(kind, mask, &bytes, from, &rows, groups);
                        assert_eq!(found, naive, "{kind:?} {len} {many} {groups}");
                    }
                }
            }
        }
    }

    #[test]
    fn what_is_found_is_added() {
        let mut sum = [[7; LANES]];
        sums(Numbers::Bytes, u16::MAX, &[1; 16], 0, &[Row::new(0, 2)], &mut sum);
        assert_eq!(sum, [[9; LANES]]);
    }

    #[test]
    fn the_largest_numbers_and_weights_do_not_overflow() {
        let rows = vec![Row::new(0, u64::MAX); 70_000];
        let found = summed(Numbers::Little, u16::MAX, &[0xFF; 32], 0, &rows, 1);
        assert_eq!(found, [70_000 * 0xFFFF * ((1u128 << 62) - 1); 16]);
        let far = [Row::new(u64::MAX, 1), Row::new(u64::MAX / 2, 1)];
        assert_eq!(summed(Numbers::Big, u16::MAX, &[0xFF; 32], u64::MAX, &far, 2), [0; 32]);
    }
}
