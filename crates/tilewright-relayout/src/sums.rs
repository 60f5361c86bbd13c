//! Weighted sums of numbers in memory. Fingerprints of data are made of them.

use crate::cpu::kernel::{
    self,
    sums::{LANES, Numbers, Row},
};

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
