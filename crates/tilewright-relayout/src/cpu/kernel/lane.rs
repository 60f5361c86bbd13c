//! Dispatch on the width of a lane: the bytes of one element between reading and writing.

use super::{Codec, blocks, gather};
use crate::cpu::scratch::Scratch;
use crate::{program::region::Loop, program::region::RegionRef};

/// Returns whether there is a specialised kernel for runs of `run` bytes.
pub(crate) fn is_lane(run: u64) -> bool {
    matches!(run, 1 | 2 | 3 | 4 | 6 | 8 | 12 | 16 | 24 | 32)
}

/// Returns the bytes of a lane: those of the run, or those of the wider packed element.
pub(super) fn width(codec: Codec, run: u64) -> usize {
    match codec {
        Codec::Bytes => run as usize,
        Codec::Packed(elements) => elements.src_bits.max(elements.dst_bits).div_ceil(8) as usize,
    }
}

/// Moves a part element by element.
pub(super) fn gather(
    codec: Codec,
    part: &RegionRef<'_>,
    src: &[u8],
    out: &mut [u8],
    scratch: &mut Scratch,
) {
    if let Codec::Packed(_) = codec
        && part.run > 1
    {
        let mut loops = scratch.take_loops(part.loops);
        loops.push(Loop { extent: part.run, src: 1, dst: 1 });
        elements(codec, &RegionRef { loops: &loops, run: 1, ..*part }, src, out, scratch);
        return scratch.give_loops(loops);
    }
    elements(codec, part, src, out, scratch);
}

/// Moves a part whose runs are elements.
fn elements(codec: Codec, part: &RegionRef<'_>, src: &[u8], out: &mut [u8], scratch: &mut Scratch) {
    match width(codec, part.run) {
        1 => gather::rows::<1>(codec, part, src, out, scratch),
        2 => gather::rows::<2>(codec, part, src, out, scratch),
        3 => gather::rows::<3>(codec, part, src, out, scratch),
        4 => gather::rows::<4>(codec, part, src, out, scratch),
        6 => gather::rows::<6>(codec, part, src, out, scratch),
        8 => gather::rows::<8>(codec, part, src, out, scratch),
        12 => gather::rows::<12>(codec, part, src, out, scratch),
        16 => gather::rows::<16>(codec, part, src, out, scratch),
        24 => gather::rows::<24>(codec, part, src, out, scratch),
        _ => gather::rows::<32>(codec, part, src, out, scratch),
    }
}

/// Moves a part in blocks of its loop `minor` and its last loop.
pub(super) fn blocks(
    codec: Codec,
    part: &RegionRef<'_>,
    minor: usize,
    src: &[u8],
    out: &mut [u8],
    scratch: &mut Scratch,
) {
    match width(codec, part.run) {
        1 => blocks::blocks::<1>(codec, part, minor, src, out, scratch),
        2 => blocks::blocks::<2>(codec, part, minor, src, out, scratch),
        3 => blocks::blocks::<3>(codec, part, minor, src, out, scratch),
        4 => blocks::blocks::<4>(codec, part, minor, src, out, scratch),
        6 => blocks::blocks::<6>(codec, part, minor, src, out, scratch),
        8 => blocks::blocks::<8>(codec, part, minor, src, out, scratch),
        12 => blocks::blocks::<12>(codec, part, minor, src, out, scratch),
        16 => blocks::blocks::<16>(codec, part, minor, src, out, scratch),
        24 => blocks::blocks::<24>(codec, part, minor, src, out, scratch),
        _ => blocks::blocks::<32>(codec, part, minor, src, out, scratch),
    }
}
