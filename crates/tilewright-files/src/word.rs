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

/// A word of element `index` of elements of `bits` bits, the low bits of a byte first; `None` if the bytes do
/// not hold it.
pub(crate) fn element(bytes: &[u8], index: u64, bits: u32, word: u32) -> Option<u128> {
    // The commonest widths first.
    let at = |width: usize| bytes.get(index as usize * width..).and_then(|rest| rest.get(..width));
    match bits {
        16 => return at(2).map(|part| u16::from_le_bytes([part[0], part[1]]).into()),
        32 => {
            let word = at(4).map(|part| [part[0], part[1], part[2], part[3]]);
            return word.map(|word| u32::from_le_bytes(word).into());
        }
        _ => {}
    }
    if bits < 8 {
        let bit = index * u64::from(bits);
        let byte = bytes.get((bit / 8) as usize).copied()?;
        return Some(u128::from(byte >> (bit % 8)) & ((1 << bits) - 1));
    }
    let mut value = [0; WORD as usize];
    let element = at((bits / 8) as usize)?;
    let part = element.get((word * WORD) as usize..)?;
    for (byte, from) in value.iter_mut().zip(part) {
        *byte = *from;
    }
    Some(u128::from_le_bytes(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_element_is_there_whole_or_it_is_not() {
        let bytes = [0u8; 64];
        for bits in [1, 2, 4, 8, 16, 24, 32, 64, 128, 256] {
            for len in 0..=bytes.len() {
                let count = len as u64 * 8 / u64::from(bits);
                for index in 0..count + 2 {
                    for word in 0..words(bits) {
                        let found = element(&bytes[..len], index, bits, word);
                        assert_eq!(found, (index < count).then_some(0), "{index} of {bits} bits");
                    }
                }
            }
        }
    }
}
