//! Copies of bit runs: whole bytes if source and destination have equal bit positions, shifted bytes otherwise.

use crate::{program::region::RegionRef, program::region::for_each};

/// Copies the runs of a packed part with elements of `bits` bits.
pub(super) fn rows(part: &RegionRef<'_>, bits: u32, src: &[u8], out: &mut [u8]) {
    let bits = u64::from(bits);
    for_each(part.loops, part.src, part.dst, &mut |from, to| {
        copy(src, from as u64 * bits, out, to as u64 * bits, part.run * bits);
    });
}

/// Copies `len` bits from bit `from` of `src` to bit `to` of `out`.
pub(super) fn copy(src: &[u8], mut from: u64, out: &mut [u8], mut to: u64, mut len: u64) {
    let head = ((8 - to % 8) % 8).min(len);
    put(out, to, head, get(src, from, head));
    (from, to, len) = (from + head, to + head, len - head);
    let bytes = (len / 8) as usize;
    let target = &mut out[(to / 8) as usize..][..bytes];
    copy_bytes(&src[(from / 8) as usize..], (from % 8) as u32, target);
    (from, to, len) = (from + bytes as u64 * 8, to + bytes as u64 * 8, len % 8);
    put(out, to, len, get(src, from, len));
}

/// Fills `target` from the bits of `src` from bit `phase` on.
fn copy_bytes(src: &[u8], phase: u32, target: &mut [u8]) {
    if phase == 0 {
        target.copy_from_slice(&src[..target.len()]);
        return;
    }
    for (byte, pair) in target.iter_mut().zip(src.windows(2)) {
        *byte = pair[0] >> phase | pair[1] << (8 - phase);
    }
}

/// Returns up to 8 bits from bit `at` on.
#[inline]
pub(super) fn get(src: &[u8], at: u64, len: u64) -> u8 {
    if len == 0 {
        return 0;
    }
    let (byte, phase) = ((at / 8) as usize, at % 8);
    let mut bits = u16::from(src[byte]);
    if phase + len > 8 {
        bits |= u16::from(src[byte + 1]) << 8;
    }
    (bits >> phase) as u8
}

/// Writes up to 8 bits, all within one byte, at bit `at`.
#[inline]
pub(super) fn put(out: &mut [u8], at: u64, len: u64, bits: u8) {
    if len == 0 {
        return;
    }
    let (byte, phase) = ((at / 8) as usize, at % 8);
    let mask = ((1u16 << len) - 1) as u8;
    out[byte] = out[byte] & !(mask << phase) | (bits & mask) << phase;
}
