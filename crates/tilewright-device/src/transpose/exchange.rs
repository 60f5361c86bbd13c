//! Exchanges bits of the position in a vector for bits of the register's number, and reorders vectors; and prints bits
//! of a tile: sets of them, the iterations that they encode, and the fields of a thread's number.
//!
//! Positions of less than a byte are exchanged by shifts and masks first; then whole bytes are permuted.
//!
//! Laws: after the exchanges, element `i` of the vector in registers `4 · r …` is the one with the position and
//! register that the tile's bits define; a vector from a cell becomes a vector of the destination.

use super::tile::{Bit, TransposeTile};
use crate::kernel::KernelText;

/// Writes the lines that make the vectors that a thread writes from those that it read, in the words `m`: bit `j` of a
/// vector's number is the source's bit of pair `j`.
///
/// First the elements of each vector go to their own position, or to that of the elements for which they are exchanged:
/// exchanges of four and eight bytes then only rename words, so they cost nothing.
pub(crate) fn write(tile: &TransposeTile, m: &str, text: &mut KernelText) {
    let written = tile.written();
    let wanted: Vec<Bit> = written.iter().map(|bit| before_exchange(tile, *bit)).collect();
    // Bits that are not exchanged run backwards if their loop does.
    let stays = |bit: Bit| tile.exchanged.iter().all(|(a, _)| *a != bit);
    let is_backwards = |bit: Bit| stays(bit) && tile.is_reversed(bit.of);
    for number in 0..1usize << tile.exchanged.len() {
        rearrange((&tile.src, &wanted), is_backwards, tile.element, (m, 4 * number), text);
    }
    for (j, (_, b)) in tile.exchanged.iter().enumerate() {
        let level = written.iter().position(|bit| bit == b).unwrap_or(0);
        let bits = tile.element << level;
        for low in (0..1usize << tile.exchanged.len()).filter(|number| number >> j & 1 == 0) {
            let (a, b) = (4 * low, 4 * (low | 1 << j));
            text.line(&match bits {
                8.. => format!("EXCHANGE{}({m}, {a}, {b});", bits / 8),
                _ => format!("EXCHANGE_BITS({m}, {a}, {b}, {bits}, {:#x}u);", low_bits(bits)),
            });
        }
    }
}

/// Writes the lines that put a vector from a cell, in the words `m`, into the order of the destination.
pub(crate) fn write_held(tile: &TransposeTile, m: &str, text: &mut KernelText) {
    rearrange((&tile.held(), &tile.dst), |_| false, tile.element, (m, 0), text);
}

/// Returns the source's bit that is at the position of a bit of a written vector before the exchanges.
fn before_exchange(tile: &TransposeTile, bit: Bit) -> Bit {
    let pair = tile.exchanged.iter().find(|(_, b)| *b == bit);
    pair.map_or(bit, |(a, _)| *a)
}

/// Returns the mask of the positions in a word whose bit number `bits`, a power of two below 32, is 0.
fn low_bits(bits: u64) -> u32 {
    (0..32).filter(|at| at & bits == 0).fold(0, |mask, at| mask | 1 << at)
}

/// Writes the lines that change the order of the bits of positions in the vector at word `first` of `m`, from the first
/// order to the second.
fn rearrange(
    (now, wanted): (&[Bit], &[Bit]),
    is_backwards: impl Fn(Bit) -> bool,
    element: u64,
    (m, first): (&str, usize),
    text: &mut KernelText,
) {
    let mut now = now.to_vec();
    let within = if element < 8 { (8 / element).trailing_zeros() as usize } else { 0 };
    for (level, wanted) in wanted.iter().take(within).enumerate() {
        let from = now.iter().position(|bit| bit == wanted).unwrap_or(level);
        if from > level {
            swap_levels((element << level, element << from), m, first, text);
            now.swap(level, from);
        }
    }
    let bytes = (element / 8).max(1);
    if let Some(elements) = order(&now[within..], &wanted[within..], is_backwards, bytes) {
        reorder(&elements, bytes as usize, m, first, text);
    }
}

/// Writes the lines that swap two bits of the position in a vector: those that count `low` and `high` bits.
fn swap_levels((low, high): (u64, u64), m: &str, first: usize, text: &mut KernelText) {
    let mask = low_bits(low);
    if high < 32 {
        // The positions with the low bit set and the high bit clear, which trade places with those above them.
        let (mask, by) = (!mask & low_bits(high), high - low);
        let lines =
            (first..first + 4).map(|word| format!("SWAP_BITS({m}[{word}], {by}, {mask:#x}u);"));
        return lines.for_each(|line| text.line(&line));
    }
    let apart = (high / 32) as usize;
    for word in (0..4).filter(|word| word & apart == 0).map(|word| first + word) {
        text.line(&format!("TRADE({m}[{word}], {m}[{}], {low}, {mask:#x}u);", word + apart));
    }
}

/// Returns, for each element of a vector with the bits `wanted`, its element in the vector with the same bits in the
/// order `now`; `None` if the order does not change.
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

/// Writes the lines that reorder the elements of the vector at word `first` of `m`.
fn reorder(elements: &[usize], element: usize, m: &str, first: usize, text: &mut KernelText) {
    let byte = |to: usize| elements[to / element] * element + to % element;
    let words: Vec<Vec<usize>> =
        (0..4).map(|word| (4 * word..4 * word + 4).map(byte).collect()).collect();
    text.line("{");
    let mut done = [false; 4];
    for word in 0..4 {
        if done[word] {
            continue;
        }
        let partner =
            (word + 1..4).find(|other| !done[*other] && share(&words[word], &words[*other]));
        if let Some(other) = partner {
            for (name, from) in [("low", 0), ("high", 2)] {
                let halves = [&words[word][from..from + 2], &words[other][from..from + 2]].concat();
                let two = gathered(&halves, m, first);
                text.line(&format!("const u32 {name}{word} = {two};"));
            }
            for (at, select) in [(word, "0x5410"), (other, "0x7632")] {
                text.line(&format!("const u32 w{at} = PRMT(low{word}, high{word}, {select}u);"));
            }
            done[other] = true;
        } else {
            text.line(&format!("const u32 w{word} = {};", gathered(&words[word], m, first)));
        }
    }
    for word in 0..4 {
        text.line(&format!("{m}[{}] = w{word};", first + word));
    }
    text.line("}");
}

/// Returns the words that contain bytes of a vector.
fn sources(bytes: &[usize]) -> Vec<usize> {
    let mut words: Vec<usize> = bytes.iter().map(|byte| byte / 4).collect();
    words.sort_unstable();
    words.dedup();
    words
}

/// Returns whether two words, each with bytes of more than two words, have their low halves from two words, and also
/// their high halves.
fn share(one: &[usize], other: &[usize]) -> bool {
    let halves = |from: usize| [&one[from..from + 2], &other[from..from + 2]].concat();
    let is_wide = sources(one).len() > 2 && sources(other).len() > 2;
    is_wide && [0, 2].iter().all(|from| sources(&halves(*from)).len() <= 2)
}

/// Returns the expression of a word of four bytes of a vector.
fn gathered(bytes: &[usize], m: &str, first: usize) -> String {
    if bytes[0].is_multiple_of(4) && (1..4).all(|i| bytes[i] == bytes[0] + i) {
        return format!("{m}[{}]", first + bytes[0] / 4);
    }
    let words = sources(bytes);
    if let [one, .., other] | [one @ other] = words[..]
        && words.len() <= 2
    {
        return picked(bytes, (one, other), m, first);
    }
    let half = |two: &[usize]| picked(two, (two[0] / 4, two[1] / 4), m, first);
    format!("PRMT({}, {}, 0x5410u)", half(&bytes[..2]), half(&bytes[2..]))
}

/// Returns the expression of four bytes from two words.
fn picked(bytes: &[usize], (one, other): (usize, usize), m: &str, first: usize) -> String {
    let place = |byte: usize| byte % 4 + if byte / 4 == one { 0 } else { 4 };
    let select = bytes.iter().rev().fold(0, |all, byte| all << 4 | place(*byte));
    format!("PRMT({m}[{}], {m}[{}], {select:#x}u)", first + one, first + other)
}

/// Returns all sets of some bits.
pub(super) fn rounds(bits: &[Bit]) -> Vec<Vec<Bit>> {
    let set = |number: usize| {
        let set = bits.iter().enumerate().filter(|(i, _)| number >> i & 1 == 1);
        set.map(|(_, bit)| *bit).collect()
    };
    (0..1usize << bits.len()).map(set).collect()
}

/// Returns the iterations of a loop that a set of bits encodes.
pub(super) fn iterations(bits: &[Bit], of: usize) -> u64 {
    bits.iter().filter(|bit| bit.of == of).map(|bit| bit.iterations()).sum()
}

/// Returns the iteration of a loop that a thread's number encodes: runs of its bits, each shifted to its position.
pub(super) fn fields(lanes: &[Bit], of: usize) -> Vec<String> {
    let mut fields = Vec::new();
    let mut i = 0;
    while i < lanes.len() {
        let goes_on = |next: usize| {
            next < lanes.len()
                && lanes[next].of == of
                && lanes[next].at as usize == lanes[i].at as usize + next - i
        };
        let end = (i..).find(|next| !goes_on(*next)).unwrap_or(i);
        if end > i {
            fields.push(format!("(tid >> {i} & {}u) << {}", (1u32 << (end - i)) - 1, lanes[i].at));
        }
        i = end.max(i + 1);
    }
    fields
}

/// Returns the number of a cell relative to that of a thread: bits that the thread's number can set are xored, the
/// others are added, which is free in an address.
pub(super) fn beside(lanes: u32, other: u32) -> String {
    match (other & lanes, other & !lanes) {
        (0, 0) => "cell".to_string(),
        (0, more) => format!("cell + {more}u"),
        (less, 0) => format!("cell ^ {less}u"),
        (less, more) => format!("(cell ^ {less}u) + {more}u"),
    }
}

/// Returns the xor that the bits of a thread's number contribute: consecutive bits whose images are shifted copies of
/// the first are one term.
pub(super) fn xored(images: &[u32]) -> String {
    let mut terms = Vec::new();
    let mut i = 0;
    while i < images.len() {
        let goes_on =
            |next: &usize| *next < images.len() && images[*next] == images[i] << (next - i);
        let mut end = i + 1;
        while goes_on(&end) {
            end += 1;
        }
        terms.push(format!("(tid >> {i} & {}u) * {}u", (1u32 << (end - i)) - 1, images[i]));
        i = end;
    }
    terms.join(" ^ ")
}
