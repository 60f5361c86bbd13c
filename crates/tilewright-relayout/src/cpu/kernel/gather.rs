//! Moves of rows element by element: a row is read from the source with one stride, decoded if it is packed, and
//! written to the destination with another stride.

use super::Codec;
use crate::cpu::scratch::Scratch;
use crate::{Elements, Extend, program::region::RegionRef, program::region::for_each};

/// The number of elements that are decoded at once.
const CHUNK: usize = 2048;

/// Moves a part along its last loop.
pub(super) fn rows<const W: usize>(
    codec: Codec,
    part: &RegionRef<'_>,
    src: &[u8],
    out: &mut [u8],
    scratch: &mut Scratch,
) {
    let Some((last, outer)) = part.loops.split_last() else {
        let row = &mut scratch.elements::<W>(1)[..1];
        load(codec, src, part.src, 1, row);
        return store(codec, out, part.dst, 1, row);
    };
    for_each(outer, part.src, part.dst, &mut |from, to| {
        if let Codec::Bytes = codec {
            return gather::<W>(src, (from, last.src), out, (to, last.dst), last.extent as usize);
        }
        for at in (0..last.extent as usize).step_by(CHUNK) {
            let len = CHUNK.min(last.extent as usize - at);
            let row = &mut scratch.elements::<W>(CHUNK)[..len];
            load(codec, src, from + at as i64 * last.src, last.src, row);
            store(codec, out, to + at as i64 * last.dst, last.dst, row);
        }
    });
}

/// Copies `len` elements of `W` bytes from one stride to another.
fn gather<const W: usize>(
    src: &[u8],
    (from, step): (i64, i64),
    out: &mut [u8],
    (to, stride): (i64, i64),
    len: usize,
) {
    if stride == W as i64 {
        let row = out[to as usize..][..len * W].as_chunks_mut::<W>().0;
        return load_strided(src, from, step, row);
    }
    for i in 0..len as i64 {
        let (from, to) = ((from + i * step) as usize, (to + i * stride) as usize);
        out[to..to + W].copy_from_slice(&src[from..from + W]);
    }
}

/// Reads a row of elements that are `step` units apart.
pub(super) fn load<const W: usize>(
    codec: Codec,
    src: &[u8],
    from: i64,
    step: i64,
    row: &mut [[u8; W]],
) {
    match codec {
        Codec::Bytes if step == W as i64 => {
            let row = row.as_flattened_mut();
            let len = row.len();
            row.copy_from_slice(&src[from as usize..][..len]);
        }
        Codec::Bytes => load_strided(src, from, step, row),
        Codec::Packed(elements) => unpack(elements, src, from, step, row),
    }
}

fn load_strided<const W: usize>(src: &[u8], from: i64, step: i64, row: &mut [[u8; W]]) {
    for (i, element) in row.iter_mut().enumerate() {
        let at = (from + i as i64 * step) as usize;
        element.copy_from_slice(&src[at..at + W]);
    }
}

/// Writes a row of elements that are `step` units apart.
pub(super) fn store<const W: usize>(
    codec: Codec,
    out: &mut [u8],
    to: i64,
    step: i64,
    row: &[[u8; W]],
) {
    match codec {
        Codec::Bytes if step == W as i64 => {
            out[to as usize..][..row.len() * W].copy_from_slice(row.as_flattened());
        }
        Codec::Bytes => {
            for (i, element) in row.iter().enumerate() {
                let at = (to + i as i64 * step) as usize;
                out[at..at + W].copy_from_slice(element);
            }
        }
        Codec::Packed(elements) => pack(elements.dst_bits, out, to, step, row),
    }
}

/// Reads elements of `src_bits` bits, extended to `W` bytes.
fn unpack<const W: usize>(
    elements: Elements,
    src: &[u8],
    from: i64,
    step: i64,
    row: &mut [[u8; W]],
) {
    let bits = elements.src_bits as usize;
    let spare = 32 - elements.src_bits;
    let sign = elements.extend == Extend::Sign;
    for (i, element) in row.iter_mut().enumerate() {
        let at = (from + i as i64 * step) as usize;
        let raw = match bits {
            32 => word::<4>(src, at),
            16 => word::<2>(src, at),
            8 => word::<1>(src, at),
            _ => u32::from(src[at * bits / 8]) >> (at * bits % 8),
        };
        let high = raw << spare;
        let value =
            if sign { (high.cast_signed() >> spare).cast_unsigned() } else { high >> spare };
        let bytes = value.to_le_bytes();
        let len = W.min(4);
        element[..len].copy_from_slice(&bytes[..len]);
    }
}

/// Returns the little-endian element `at` of `N` bytes.
fn word<const N: usize>(src: &[u8], at: usize) -> u32 {
    let mut bytes = [0; 4];
    bytes[..N].copy_from_slice(&src[at * N..][..N]);
    u32::from_le_bytes(bytes)
}

/// Writes the low bits of elements.
fn pack<const W: usize>(bits: u32, out: &mut [u8], to: i64, step: i64, row: &[[u8; W]]) {
    if bits >= 8 {
        let bytes = (bits as usize / 8).min(W);
        for (i, element) in row.iter().enumerate() {
            let at = (to + i as i64 * step) as usize * bytes;
            out[at..at + bytes].copy_from_slice(&element[..bytes]);
        }
        return;
    }
    let (bits, mask) = (bits as usize, (1u8 << bits) - 1);
    for (i, element) in row.iter().enumerate() {
        let at = (to + i as i64 * step) as usize * bits;
        let (byte, phase) = (&mut out[at / 8], at % 8);
        *byte = *byte & !(mask << phase) | (element[0] & mask) << phase;
    }
}
