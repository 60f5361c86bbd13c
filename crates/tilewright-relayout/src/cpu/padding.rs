//! The fill: what destination elements outside the image hold.

use crate::Elements;

/// Fills the destination bytes from `start` on with the low bits of `fill`.
pub(crate) fn fill(elements: Elements, fill: u128, start: u64, out: &mut [u8]) {
    let mut room = [0; WIDEST];
    let pattern = pattern(elements.dst_bits, fill, &mut room);
    if pattern.iter().all(|&byte| byte == pattern[0]) {
        out.fill(pattern[0]);
        return;
    }
    let width = pattern.len();
    let phase = (start % width as u64) as usize;
    let (first, rest) = out.split_at_mut(((width - phase) % width).min(out.len()));
    first.copy_from_slice(&pattern[phase..][..first.len()]);
    for element in rest.chunks_mut(width) {
        element.copy_from_slice(&pattern[..element.len()]);
    }
}

/// The bytes of the widest element.
const WIDEST: usize = 256;

/// The bytes of one element, or one byte of packed elements.
fn pattern(bits: u32, fill: u128, room: &mut [u8; WIDEST]) -> &[u8] {
    if bits >= 8 {
        let bytes = fill.to_le_bytes();
        room[..bytes.len()].copy_from_slice(&bytes);
        return &room[..bits as usize / 8];
    }
    let element = (fill & ((1 << bits) - 1)) as u8;
    room[0] = (0..8 / bits).fold(0, |byte, i| byte | element << (i * bits));
    &room[..1]
}

/// Clears the bits behind the last element, if `out` ends the destination.
pub(crate) fn clear_tail(bits: u32, capacity: u64, end: u64, out: &mut [u8]) {
    if bits >= 8 {
        return;
    }
    let all = capacity * u64::from(bits);
    if !all.is_multiple_of(8)
        && end == all.div_ceil(8)
        && let Some(last) = out.last_mut()
    {
        *last &= (1 << (all % 8)) - 1;
    }
}
