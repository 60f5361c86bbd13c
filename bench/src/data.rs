//! The bytes of sources, and the checksum of results.
//!
//! Both are based on one mixing function of 64 bits, the finalizer of SplitMix64:
//!
//! ```text
//! mix(z)      z = (z ^ z >> 30) · 0xBF58476D1CE4E5B9;  z = (z ^ z >> 27) · 0x94D049BB133111EB;  z ^ z >> 31
//! source      word i, little-endian, is mix((i + 1) · G), G = 0x9E3779B97F4A7C15
//! checksum    Σ mix(word i + (i + 1) · G) over the words, the last one padded with zeros
//! ```
//!
//! The sum does not depend on the order of its terms, so threads can share it, and any array language computes it in a
//! few lines.

use rayon::prelude::*;

/// 2⁶⁴ divided by the golden ratio, made odd.
const G: u64 = 0x9E37_79B9_7F4A_7C15;

/// The bytes that one task fills or sums.
const PART: usize = 1 << 20;

pub(crate) const fn mix(z: u64) -> u64 {
    let z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ z >> 31
}

const fn step(index: u64) -> u64 {
    index.wrapping_add(1).wrapping_mul(G)
}

/// Returns byte `index` of every source.
///
/// ```
/// use tilewright_bench::data;
/// let mut bytes = [0; 20];
/// data::fill(&mut bytes);
/// assert_eq!(bytes[..8], 0xE220A8397B1DCDAF_u64.to_le_bytes());
/// assert_eq!(bytes[19], data::byte(19));
/// ```
pub const fn byte(index: u64) -> u8 {
    (mix(step(index / 8)) >> (8 * (index % 8))) as u8
}

/// Writes a source: the same bytes for every case.
///
/// ```
/// use tilewright_bench::data;
/// let (mut short, mut long) = ([0; 13], [0; 100]);
/// data::fill(&mut short);
/// data::fill(&mut long);
/// assert_eq!(short, long[..13]);
/// ```
pub fn fill(bytes: &mut [u8]) {
    bytes.par_chunks_mut(PART).enumerate().for_each(|(part, bytes)| {
        let first = (part * (PART / 8)) as u64;
        for (word, index) in bytes.chunks_mut(8).zip(first..) {
            word.copy_from_slice(&mix(step(index)).to_le_bytes()[..word.len()]);
        }
    });
}

/// Returns the checksum of these bytes.
///
/// ```
/// use tilewright_bench::data::checksum;
/// assert_eq!(checksum(&[]), 0);
/// // It depends on the order of bytes.
/// assert_ne!(checksum(&[1, 2, 3, 4, 5, 6, 7, 8, 9]), checksum(&[9, 2, 3, 4, 5, 6, 7, 8, 1]));
/// // Zero bytes are counted, not skipped.
/// assert_ne!(checksum(&[0; 8]), checksum(&[0; 16]));
/// ```
pub fn checksum(bytes: &[u8]) -> u64 {
    let part = |(part, bytes): (usize, &[u8])| {
        let first = (part * (PART / 8)) as u64;
        let words = bytes.chunks(8).zip(first..);
        words.fold(0_u64, |sum, (word, index)| {
            sum.wrapping_add(mix(word_of(word).wrapping_add(step(index))))
        })
    };
    bytes.par_chunks(PART).enumerate().map(part).reduce(|| 0, u64::wrapping_add)
}

/// Returns a word of up to 8 bytes, little-endian.
fn word_of(bytes: &[u8]) -> u64 {
    let mut word = [0; 8];
    word[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_one_sequence() {
        let mut bytes = vec![0; 2 * PART + 5];
        fill(&mut bytes);
        for index in [0, 1, 7, 8, PART - 1, PART, PART + 9, 2 * PART + 4] {
            assert_eq!(bytes[index], byte(index as u64), "{index}");
        }
        let words = bytes.chunks(8).enumerate();
        let sum = words.fold(0, |sum: u64, (i, word)| {
            sum.wrapping_add(mix(word_of(word).wrapping_add(step(i as u64))))
        });
        assert_eq!(checksum(&bytes), sum);
    }
}
