//! Numbers for elements: two numbers are equal if the bytes of their elements are.

use std::collections::HashMap;

/// Returns the numbers of the elements of two buffers, `width` bytes each; `None` if a buffer does not hold whole elements.
pub(super) fn of(original: &[u8], packed: &[u8], width: usize) -> Option<(Vec<u64>, Vec<u64>)> {
    if width == 0 || !original.len().is_multiple_of(width) || !packed.len().is_multiple_of(width) {
        return None;
    }
    if width <= 8 {
        return Some((words(original, width), words(packed, width)));
    }
    let mut seen = HashMap::new();
    let mut number = |bytes: &[u8]| number(&mut seen, bytes);
    let first = original.chunks_exact(width).map(&mut number).collect();
    let second = packed.chunks_exact(width).map(&mut number).collect();
    Some((first, second))
}

/// Returns the number of an element of more than 8 bytes, in the order of appearance.
fn number(seen: &mut HashMap<Vec<u8>, u64>, bytes: &[u8]) -> u64 {
    let next = seen.len() as u64;
    *seen.entry(bytes.to_vec()).or_insert(next)
}

fn words(bytes: &[u8], width: usize) -> Vec<u64> {
    let word = |chunk: &[u8]| chunk.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
    bytes.chunks_exact(width).map(word).collect()
}
