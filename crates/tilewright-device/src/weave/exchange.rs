//! Bits of the place in a vector, exchanged for bits of the register's number, and put in another order.
//!
//! Laws: after the exchanges, byte `i` of the vector in registers `4 · r …` is the one whose place and register the
//! tile's bits say; a vector out of a cell becomes the destination's.

use super::tile::{Bit, Tile};
use crate::text::Text;

/// Writes the exchanges of all pairs, in the words `m` of a thread's vectors: bit `j` of a vector's number for the place
/// of the source's bit of pair `j`.
pub(crate) fn write(tile: &Tile, m: &str, text: &mut Text) {
    for (j, (a, _)) in tile.exchanged.iter().enumerate() {
        let level = tile.src.iter().position(|bit| bit == a).unwrap_or(0);
        let bytes = tile.element << level;
        for low in (0..1usize << tile.exchanged.len()).filter(|number| number >> j & 1 == 0) {
            let high = low | 1 << j;
            text.line(&format!("EXCHANGE{bytes}({m}, {}, {});", 4 * low, 4 * high));
        }
    }
    if let Some(elements) = written(tile) {
        for number in 0..1usize << tile.exchanged.len() {
            reorder(&elements, tile.element as usize, m, 4 * number, text);
        }
    }
}

/// Writes what puts a vector out of a cell, in the words `m`, in the order of the destination.
pub(crate) fn write_held(tile: &Tile, m: &str, text: &mut Text) {
    if let Some(elements) = order(&tile.held(), &tile.dst, |_| false, tile.element) {
        reorder(&elements, tile.element as usize, m, 0, text);
    }
}

/// Whether a vector out of a cell is in another order than the destination's.
pub(crate) fn is_reordered(tile: &Tile) -> bool {
    tile.held() != tile.dst
}

/// Which element of a vector, as the exchanges leave it, each element of the vector that is written is.
fn written(tile: &Tile) -> Option<Vec<usize>> {
    let left = |bit: &Bit| {
        let pair = tile.exchanged.iter().find(|(a, _)| a == bit);
        pair.map_or(*bit, |(_, b)| *b)
    };
    let now: Vec<Bit> = tile.src.iter().map(left).collect();
    // What was not exchanged still runs backwards where its loop does.
    let is_backwards = |bit: Bit| tile.src.contains(&bit) && tile.is_reversed(bit.of);
    order(&now, &tile.written(), is_backwards, tile.element)
}

/// Which element of a vector of the bits `now` each element of one of the same bits in another order is; `None` where
/// all stay.
fn order(
    now: &[Bit],
    wanted: &[Bit],
    is_backwards: impl Fn(Bit) -> bool,
    element: u64,
) -> Option<Vec<usize>> {
    let from = |element: usize| {
        let place = |(level, bit): (usize, &Bit)| {
            let at = wanted.iter().position(|other| other == bit).unwrap_or(level);
            (element >> at & 1 ^ usize::from(is_backwards(*bit))) << level
        };
        now.iter().enumerate().map(place).sum()
    };
    let elements: Vec<usize> = (0..16 / element as usize).map(from).collect();
    elements.iter().enumerate().any(|(to, from)| to != *from).then_some(elements)
}

/// Writes the vector at word `first` of `m` in another order of its elements.
fn reorder(elements: &[usize], element: usize, m: &str, first: usize, text: &mut Text) {
    let byte = |to: usize| elements[to / element] * element + to % element;
    text.line("{");
    for word in 0..4 {
        let bytes: Vec<usize> = (4 * word..4 * word + 4).map(byte).collect();
        text.line(&format!("const u32 w{word} = {};", gathered(&bytes, m, first)));
    }
    for word in 0..4 {
        text.line(&format!("{m}[{}] = w{word};", first + word));
    }
    text.line("}");
}

/// A word of four bytes of a vector.
fn gathered(bytes: &[usize], m: &str, first: usize) -> String {
    if bytes[0].is_multiple_of(4) && (1..4).all(|i| bytes[i] == bytes[0] + i) {
        return format!("{m}[{}]", first + bytes[0] / 4);
    }
    let mut words: Vec<usize> = bytes.iter().map(|byte| byte / 4).collect();
    words.sort_unstable();
    words.dedup();
    if let [one, .., other] | [one @ other] = words[..]
        && words.len() <= 2
    {
        return picked(bytes, (one, other), m, first);
    }
    let half = |two: &[usize]| picked(two, (two[0] / 4, two[1] / 4), m, first);
    format!("PRMT({}, {}, 0x5410u)", half(&bytes[..2]), half(&bytes[2..]))
}

/// Bytes out of two words.
fn picked(bytes: &[usize], (one, other): (usize, usize), m: &str, first: usize) -> String {
    let place = |byte: usize| byte % 4 + if byte / 4 == one { 0 } else { 4 };
    let select = bytes.iter().rev().fold(0, |all, byte| all << 4 | place(*byte));
    format!("PRMT({m}[{}], {m}[{}], {select:#x}u)", first + one, first + other)
}
