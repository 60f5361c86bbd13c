//! Dispatch on the width of a lane: the bytes that one element occupies between reading and writing.

use super::{Codec, Scratch, line, tile};
use crate::{clip::Job, nest::Turn};

/// Whether runs of so many bytes have a kernel of their own.
pub(super) fn is_lane(run: u64) -> bool {
    matches!(run, 1 | 2 | 3 | 4 | 6 | 8 | 12 | 16 | 24 | 32)
}

/// The lane of a run: its bytes, or those of the wider packed element.
pub(super) fn width(codec: Codec, run: u64) -> usize {
    match codec {
        Codec::Bytes => run as usize,
        Codec::Packed(elements) => elements.src_bits.max(elements.dst_bits).div_ceil(8) as usize,
    }
}

/// Moves a job element by element.
pub(super) fn line(codec: Codec, job: &Job<'_>, src: &[u8], out: &mut [u8], scratch: &mut Scratch) {
    if let Codec::Packed(_) = codec
        && job.run > 1
    {
        let mut turns = scratch.take_turns(job.turns);
        turns.push(Turn { extent: job.run, src: 1, dst: 1 });
        elements(codec, &Job { turns: &turns, run: 1, ..*job }, src, out, scratch);
        return scratch.give_turns(turns);
    }
    elements(codec, job, src, out, scratch);
}

/// Moves a job whose runs are elements.
fn elements(codec: Codec, job: &Job<'_>, src: &[u8], out: &mut [u8], scratch: &mut Scratch) {
    match width(codec, job.run) {
        1 => line::line::<1>(codec, job, src, out, scratch),
        2 => line::line::<2>(codec, job, src, out, scratch),
        3 => line::line::<3>(codec, job, src, out, scratch),
        4 => line::line::<4>(codec, job, src, out, scratch),
        6 => line::line::<6>(codec, job, src, out, scratch),
        8 => line::line::<8>(codec, job, src, out, scratch),
        12 => line::line::<12>(codec, job, src, out, scratch),
        16 => line::line::<16>(codec, job, src, out, scratch),
        24 => line::line::<24>(codec, job, src, out, scratch),
        _ => line::line::<32>(codec, job, src, out, scratch),
    }
}

/// Moves a job in blocks of its turn `minor` and its last.
pub(super) fn tile(
    codec: Codec,
    job: &Job<'_>,
    minor: usize,
    src: &[u8],
    out: &mut [u8],
    scratch: &mut Scratch,
) {
    match width(codec, job.run) {
        1 => tile::tile::<1>(codec, job, minor, src, out, scratch),
        2 => tile::tile::<2>(codec, job, minor, src, out, scratch),
        3 => tile::tile::<3>(codec, job, minor, src, out, scratch),
        4 => tile::tile::<4>(codec, job, minor, src, out, scratch),
        6 => tile::tile::<6>(codec, job, minor, src, out, scratch),
        8 => tile::tile::<8>(codec, job, minor, src, out, scratch),
        12 => tile::tile::<12>(codec, job, minor, src, out, scratch),
        16 => tile::tile::<16>(codec, job, minor, src, out, scratch),
        24 => tile::tile::<24>(codec, job, minor, src, out, scratch),
        _ => tile::tile::<32>(codec, job, minor, src, out, scratch),
    }
}
