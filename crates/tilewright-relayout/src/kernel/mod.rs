//! Kernels: what moves the elements of one box.
//!
//! Chosen by run length, strides and element width, never by dtype. Every kernel
//! re-derives its bounds from the slices it is given; those of an instruction set have a folder of
//! their own beside the generic ones.

mod bits;
mod lane;
mod line;
mod rows;
mod table;
mod tile;
#[cfg(target_arch = "x86_64")]
mod x86_64;
mod zip;

use crate::{Elements, clip::Job, nest::Turn};
pub(crate) use table::table;
pub(crate) use tile::Scratch;

/// How the units of a job are read and written.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Codec {
    /// Units are bytes.
    Bytes,
    /// Units are elements, of up to 32 bits, little-endian or packed.
    Packed(Elements),
}

/// The kernel for a box.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// One contiguous run.
    Copy,
    /// Contiguous runs, one by one.
    Rows,
    /// Runs of packed elements, shifted into phase.
    BitRows,
    /// Elements one by one along the loop that is nearest to contiguous on both sides.
    Line,
    /// Square blocks of two loops, through a scratch buffer; the second loop is turn `minor`.
    Tile { minor: usize },
}

/// Runs of more bytes than this are copied one by one.
const MAX_LANE: u64 = 32;

/// A source stride of so many bytes shares no cache line worth a block.
const FAR: u64 = 128;

/// The kernel for these loops.
pub(crate) fn choose(codec: Codec, run: u64, turns: &[Turn]) -> Kind {
    let (same, unit) = match codec {
        Codec::Bytes => (true, 8),
        Codec::Packed(elements) => (elements.are_same(), u64::from(elements.src_bits)),
    };
    match codec {
        Codec::Bytes if turns.is_empty() => return Kind::Copy,
        Codec::Bytes if run > MAX_LANE || !lane::is_lane(run) => return Kind::Rows,
        Codec::Packed(_) if same && run >= 32 => return Kind::BitRows,
        Codec::Packed(_) if run > 1 => return Kind::Line,
        Codec::Bytes | Codec::Packed(_) => {}
    }
    let nearest = turns.iter().enumerate().min_by_key(|(_, turn)| turn.src.unsigned_abs());
    match nearest {
        Some((minor, turn))
            if minor + 1 < turns.len() && turn.src.unsigned_abs() * unit < FAR * 8 =>
        {
            Kind::Tile { minor }
        }
        _ => Kind::Line,
    }
}

/// Moves the elements of a job from `src` to `out`.
pub(crate) fn run(
    elements: Elements,
    job: Job<'_>,
    src: &[u8],
    out: &mut [u8],
    scratch: &mut Scratch,
) {
    let codec = if job.packed { Codec::Packed(elements) } else { Codec::Bytes };
    match choose(codec, job.run, job.turns) {
        Kind::Copy => rows::copy(src, job.src, out, job.dst, job.run),
        Kind::Rows => rows::rows(&job, src, out),
        Kind::BitRows => bits::rows(&job, elements.src_bits, src, out),
        Kind::Line => lane::line(codec, &job, src, out, scratch),
        Kind::Tile { minor } => lane::tile(codec, &job, minor, src, out, scratch),
    }
}

/// The short name of a kernel, as plans print it.
pub(crate) fn name(elements: Elements, packed: bool, run: u64, turns: &[Turn]) -> String {
    let codec = if packed { Codec::Packed(elements) } else { Codec::Bytes };
    let Elements { src_bits, dst_bits, .. } = elements;
    let width = match codec {
        Codec::Bytes => format!("{run}B"),
        Codec::Packed(_) if elements.are_same() => format!("{src_bits}b"),
        Codec::Packed(_) => format!("{src_bits}b to {dst_bits}b"),
    };
    match choose(codec, run, turns) {
        Kind::Copy => "memcpy".to_string(),
        Kind::Rows => "rows".to_string(),
        Kind::BitRows => "bits".to_string(),
        Kind::Line => format!("gather {width}"),
        Kind::Tile { .. } => format!("transpose {width}"),
    }
}

/// The block a kernel works in, in units of turns: along the source's loop and the destination's.
pub(crate) fn block(
    elements: Elements,
    packed: bool,
    run: u64,
    turns: &[Turn],
) -> Option<(u64, u64)> {
    let codec = if packed { Codec::Packed(elements) } else { Codec::Bytes };
    let Kind::Tile { minor } = choose(codec, run, turns) else { return None };
    let width = lane::width(codec, run);
    let (s, d) = tile::block_size(width, turns[minor].extent, turns.last()?.extent);
    Some((s as u64, d as u64))
}
