//! Terms of the bits of a tile: sets of them, the iterations that they encode, and the fields of a thread's number.

use super::tile::Bit;

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
