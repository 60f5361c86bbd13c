//! Stored elements as numbers of 128 bits, the widest of them word by word.

/// The bytes of a word.
const WORD: u32 = 16;

/// The words of 128 bits of an element.
pub(crate) fn words(bits: u32) -> u32 {
    bits.div_ceil(WORD * 8)
}

/// A word of what padding holds: elements of several words have zeros above the first.
pub(crate) fn fill_word(fill: u128, word: u32) -> u128 {
    if word == 0 { fill } else { 0 }
}

/// A word of element `index` of elements of `bits` bits, the low bits of a byte first.
pub(crate) fn element(bytes: &[u8], index: u64, bits: u32, word: u32) -> u128 {
    // The commonest widths first.
    let at = |width: usize| bytes.get(index as usize * width..).and_then(|rest| rest.get(..width));
    match bits {
        16 => return at(2).map_or(0, |part| u16::from_le_bytes([part[0], part[1]]).into()),
        32 => {
            let word = at(4).map_or([0; 4], |part| [part[0], part[1], part[2], part[3]]);
            return u32::from_le_bytes(word).into();
        }
        _ => {}
    }
    if bits < 8 {
        let bit = index * u64::from(bits);
        let byte = bytes.get((bit / 8) as usize).copied().unwrap_or(0);
        return u128::from(byte >> (bit % 8)) & ((1 << bits) - 1);
    }
    let mut value = [0; WORD as usize];
    let element = at((bits / 8) as usize).unwrap_or_default();
    let part = element.get((word * WORD) as usize..).unwrap_or_default();
    for (byte, from) in value.iter_mut().zip(part) {
        *byte = *from;
    }
    u128::from_le_bytes(value)
}
