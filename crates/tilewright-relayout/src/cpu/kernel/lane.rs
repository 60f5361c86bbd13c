//! Dispatch on the width of a lane: the bytes of one element between reading and writing.

use super::{Codec, line, tile};
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
pub(super) fn line(
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
        1 => line::line::<1>(codec, part, src, out, scratch),
        2 => line::line::<2>(codec, part, src, out, scratch),
        3 => line::line::<3>(codec, part, src, out, scratch),
        4 => line::line::<4>(codec, part, src, out, scratch),
        6 => line::line::<6>(codec, part, src, out, scratch),
        8 => line::line::<8>(codec, part, src, out, scratch),
        12 => line::line::<12>(codec, part, src, out, scratch),
        16 => line::line::<16>(codec, part, src, out, scratch),
        24 => line::line::<24>(codec, part, src, out, scratch),
        _ => line::line::<32>(codec, part, src, out, scratch),
    }
}

/// Moves a part in blocks of its loop `minor` and its last loop.
pub(super) fn tile(
    codec: Codec,
    part: &RegionRef<'_>,
    minor: usize,
    src: &[u8],
    out: &mut [u8],
    scratch: &mut Scratch,
) {
    match width(codec, part.run) {
        1 => tile::tile::<1>(codec, part, minor, src, out, scratch),
        2 => tile::tile::<2>(codec, part, minor, src, out, scratch),
        3 => tile::tile::<3>(codec, part, minor, src, out, scratch),
        4 => tile::tile::<4>(codec, part, minor, src, out, scratch),
        6 => tile::tile::<6>(codec, part, minor, src, out, scratch),
        8 => tile::tile::<8>(codec, part, minor, src, out, scratch),
        12 => tile::tile::<12>(codec, part, minor, src, out, scratch),
        16 => tile::tile::<16>(codec, part, minor, src, out, scratch),
        24 => tile::tile::<24>(codec, part, minor, src, out, scratch),
        _ => tile::tile::<32>(codec, part, minor, src, out, scratch),
    }
}
