//! The numbers of an error and one more part, a coordinate or a text, in 71 bytes. Used by `error/mod.rs`.
//!
//! A number takes one byte for sign and length, followed by its bytes without leading zeros: four numbers of any size
//! fit. A coordinate is written in Elias gamma code: an integer `x` takes 2⌊log₂(x + 1)⌋ + 1 bits.
//!
//! Law: each part is read as it was written. Four numbers of 64 bits leave space for every coordinate of a layout: its
//! integers plus 1 multiply to at most 2⁶³, so it takes at most 32 + 2 · 63 bits, which is 20 bytes.

use crate::{Coord, MAX_MODES};

/// Four numbers of 16 bytes, each after a byte of its own, and a byte that aligns an error to 8.
const ROOM: usize = 69;

/// The packed parts of an error; the header of the module describes the format.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Packed {
    bytes: [u8; ROOM],
    /// The number of numbers.
    count: u8,
    /// The rank of the coordinate plus 1, or the bytes of the text; 0 without either.
    part: u8,
}

impl Packed {
    /// Packs the first four of `numbers`.
    pub(crate) const fn new(numbers: &[i128]) -> Packed {
        let (mut packed, mut at) = (Packed { bytes: [0; ROOM], count: 0, part: 0 }, 0);
        while (packed.count as usize) < numbers.len() && packed.count < 4 {
            at = packed.put(at, numbers[packed.count as usize]);
            packed.count += 1;
        }
        packed
    }

    /// Writes a number and returns the byte after it.
    const fn put(&mut self, at: usize, number: i128) -> usize {
        let (mut rest, mut end) = (number.unsigned_abs(), at + 1);
        while rest > 0 {
            self.bytes[end] = rest as u8;
            rest >>= 8;
            end += 1;
        }
        self.bytes[at] = (end - at - 1) as u8 | if number < 0 { 0x80 } else { 0 };
        end
    }

    /// Returns the numbers, followed by zeros, and their count.
    pub(crate) const fn numbers(&self) -> ([i128; 4], usize) {
        let (mut numbers, mut at, mut i) = ([0; 4], 0, 0);
        while i < self.count as usize {
            let (number, end) = self.number(at);
            numbers[i] = number;
            at = end;
            i += 1;
        }
        (numbers, self.count as usize)
    }

    /// Returns the number at a byte, and the byte after it.
    const fn number(&self, at: usize) -> (i128, usize) {
        let end = at + 1 + (self.bytes[at] & 0x7F) as usize;
        let (mut size, mut byte) = (0u128, end);
        while byte > at + 1 {
            byte -= 1;
            size = size << 8 | self.bytes[byte] as u128;
        }
        let number = size as i128;
        (if self.bytes[at] & 0x80 == 0 { number } else { number.wrapping_neg() }, end)
    }

    /// Returns the byte after the numbers.
    const fn end(&self) -> usize {
        let (mut at, mut i) = (0, 0);
        while i < self.count {
            at = self.number(at).1;
            i += 1;
        }
        at
    }

    /// Keeps only the numbers.
    const fn bare(&self) -> Packed {
        Packed::new(self.numbers().0.split_at(self.count as usize).0)
    }

    /// Adds a coordinate if it fits.
    pub(crate) const fn with_witness(self, coord: &Coord) -> Packed {
        let (mut packed, mut i) = (self.bare(), 0);
        let mut bit = 8 * packed.end();
        while i < coord.as_slice().len() {
            let value = coord.as_slice()[i] as u128 + 1;
            let zeros = value.ilog2() as usize;
            let end = bit + 2 * zeros + 1;
            if end > 8 * ROOM {
                return self;
            }
            bit += zeros;
            while bit < end {
                let set = (value >> (end - bit - 1)) as u8 & 1;
                packed.bytes[bit / 8] |= set << (bit % 8);
                bit += 1;
            }
            i += 1;
        }
        packed.part = coord.as_slice().len() as u8 + 1;
        packed
    }

    /// Returns the coordinate, if one was added.
    pub(crate) const fn witness(&self) -> Option<Coord> {
        if self.part == 0 || self.part as usize > MAX_MODES + 1 {
            return None;
        }
        let (mut coord, mut bit) = (Coord::EMPTY, 8 * self.end());
        while coord.as_slice().len() + 1 < self.part as usize {
            let start = bit;
            while bit + 1 < 8 * ROOM && self.bit(bit) == 0 {
                bit += 1;
            }
            let (mut value, end) = (0u128, 2 * bit - start + 1);
            while bit < end {
                value = value << 1 | self.bit(bit) as u128;
                bit += 1;
            }
            coord.push((value - 1) as u64);
        }
        Some(coord)
    }

    const fn bit(&self, bit: usize) -> u8 {
        self.bytes[bit / 8] >> (bit % 8) & 1
    }

    /// Adds a text if it fits.
    pub(crate) const fn with_text(self, text: &str) -> Packed {
        let (mut packed, mut i) = (self.bare(), 0);
        let end = packed.end();
        if text.len() > ROOM - end {
            return self;
        }
        while i < text.len() {
            packed.bytes[end + i] = text.as_bytes()[i];
            i += 1;
        }
        packed.part = text.len() as u8;
        packed
    }

    /// Returns the text, empty unless one was added.
    pub(crate) const fn text(&self) -> &str {
        let bytes = self.bytes.split_at(self.end()).1.split_at(self.part as usize).0;
        match core::str::from_utf8(bytes) {
            Ok(text) => text,
            // Only whole texts are written.
            Err(_) => "",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    const NUMBERS: [i128; 9] = [
        0,
        -1,
        255,
        256,
        i64::MIN as i128,
        u64::MAX as i128,
        -(u64::MAX as i128),
        i128::MAX,
        i128::MIN,
    ];

    #[test]
    fn four_numbers_of_any_size_come_back() {
        for a in NUMBERS {
            for b in NUMBERS {
                for c in NUMBERS {
                    let packed = Packed::new(&[a, b, c, a]);
                    assert_eq!(packed.numbers(), ([a, b, c, a], 4));
                    assert_eq!(Packed::new(&[b, c]).numbers(), ([b, c, 0, 0], 2));
                }
            }
        }
        assert_eq!(Packed::new(&[7; 9]).numbers(), ([7; 4], 4));
        assert_eq!(Packed::new(&[]).witness(), None);
    }

    #[test]
    fn every_coordinate_of_a_layout_fits_beside_four_numbers() {
        let numbers = Packed::new(&[u64::MAX as i128; 4]);
        // The longest: each integer is one below a power of two, and the extents multiply to 2^63.
        for rank in 0..=MAX_MODES {
            for spread in 1..=rank.max(1) {
                let mut axes = std::vec![0u64; rank];
                (0..63 * usize::from(rank > 0)).for_each(|i| {
                    let axis = &mut axes[i % spread];
                    *axis = *axis << 1 | 1;
                });
                let coord = Coord::new(&axes).unwrap();
                assert_eq!(numbers.with_witness(&coord).witness(), Some(coord));
            }
        }
    }

    #[test]
    fn small_coordinates_come_back() {
        let plain = Packed::new(&[1, -2]);
        for x in 0..200u64 {
            for y in (0..64).map(|i| u64::MAX >> i) {
                let coord = Coord::new(&[x, y, 0, x]).unwrap();
                let packed = plain.with_witness(&coord);
                assert_eq!(packed.witness(), Some(coord));
                assert_eq!(packed.numbers(), ([1, -2, 0, 0], 2));
            }
        }
    }

    #[test]
    fn parts_replace_each_other_and_too_long_ones_change_nothing() {
        let here = Coord::new(&[5, 6]).unwrap();
        let packed = Packed::new(&[3]).with_witness(&Coord::new(&[900; 3]).unwrap());
        assert!(packed.with_witness(&here) == Packed::new(&[3]).with_witness(&here));
        let long = Coord::new(&[u64::MAX; MAX_MODES]).unwrap();
        assert!(packed.with_witness(&long) == packed);
        let texts: Vec<_> =
            ["", "é", "row-major"].map(|text| Packed::new(&[3]).with_text(text)).into();
        assert_eq!(texts.iter().map(Packed::text).collect::<Vec<_>>(), ["", "é", "row-major"]);
        assert!(texts[2].with_text(&"x".repeat(68)) == texts[2]);
        assert_eq!(texts[2].with_text(&"x".repeat(67)).text().len(), 67);
    }
}
