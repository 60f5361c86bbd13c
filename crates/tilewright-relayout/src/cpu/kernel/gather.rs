//! Moves of elements one by one: in loops, in blocks of two loops, or by tables of their offsets.
//!
//! In loops, a row is read from the source with one stride, decoded if it is packed, and written to the destination with
//! another stride.
//!
//! A blocked transpose reads rows of the source into a scratch buffer, whose columns become rows of the destination.
//! Strides that are powers of two do no harm, since every cache line is read and written once per block.
//!
//! Each function has an instance for each width of a lane: the bytes of one element between reading and writing.

use super::{Codec, Tools};
use crate::{
    Elements, Extend,
    cpu::scratch::Scratch,
    program::{
        region::{Loop, RegionRef, for_each},
        walk::{Leaf, Offsets},
    },
};

/// Returns whether there is a specialised kernel for runs of `run` bytes.
pub(crate) fn is_lane(run: u64) -> bool {
    matches!(run, 1 | 2 | 3 | 4 | 6 | 8 | 12 | 16 | 24 | 32)
}

/// Returns the bytes of a lane: those of the run, or those of the wider packed element.
fn width(codec: Codec, run: u64) -> usize {
    match codec {
        Codec::Bytes => run as usize,
        Codec::Packed(elements) => elements.src_bits.max(elements.dst_bits).div_ceil(8) as usize,
    }
}

/// Moves elements one by one.
pub(crate) fn move_elements(
    tools: &mut Tools<'_>,
    part: &RegionRef<'_>,
    src: &[u8],
    out: &mut [u8],
) -> bool {
    let (codec, scratch) = (tools.codec(part), &mut *tools.scratch);
    if let Codec::Packed(_) = codec
        && part.run > 1
    {
        let mut loops = scratch.take_loops(part.loops);
        loops.push(Loop { extent: part.run, src: 1, dst: 1 });
        elements(codec, &RegionRef { loops: &loops, run: 1, ..*part }, src, out, scratch);
        scratch.give_loops(loops);
    } else {
        elements(codec, part, src, out, scratch);
    }
    true
}

/// Moves a part whose runs are elements.
fn elements(codec: Codec, part: &RegionRef<'_>, src: &[u8], out: &mut [u8], scratch: &mut Scratch) {
    match width(codec, part.run) {
        1 => rows::<1>(codec, part, src, out, scratch),
        2 => rows::<2>(codec, part, src, out, scratch),
        3 => rows::<3>(codec, part, src, out, scratch),
        4 => rows::<4>(codec, part, src, out, scratch),
        6 => rows::<6>(codec, part, src, out, scratch),
        8 => rows::<8>(codec, part, src, out, scratch),
        12 => rows::<12>(codec, part, src, out, scratch),
        16 => rows::<16>(codec, part, src, out, scratch),
        24 => rows::<24>(codec, part, src, out, scratch),
        _ => rows::<32>(codec, part, src, out, scratch),
    }
}

/// Moves blocks of the last loop and loop `minor`, element by element.
pub(crate) fn move_blocks(
    tools: &mut Tools<'_>,
    part: &RegionRef<'_>,
    minor: usize,
    src: &[u8],
    out: &mut [u8],
) -> bool {
    let (codec, scratch) = (tools.codec(part), &mut *tools.scratch);
    match width(codec, part.run) {
        1 => blocks::<1>(codec, part, minor, src, out, scratch),
        2 => blocks::<2>(codec, part, minor, src, out, scratch),
        3 => blocks::<3>(codec, part, minor, src, out, scratch),
        4 => blocks::<4>(codec, part, minor, src, out, scratch),
        6 => blocks::<6>(codec, part, minor, src, out, scratch),
        8 => blocks::<8>(codec, part, minor, src, out, scratch),
        12 => blocks::<12>(codec, part, minor, src, out, scratch),
        16 => blocks::<16>(codec, part, minor, src, out, scratch),
        24 => blocks::<24>(codec, part, minor, src, out, scratch),
        _ => blocks::<32>(codec, part, minor, src, out, scratch),
    }
    true
}

/// Returns the extents of a block of [`move_blocks`] in loop `minor` and in the last loop.
pub(crate) fn block_size(region: &RegionRef<'_>, elements: Elements, minor: usize) -> (u64, u64) {
    let codec = if region.packed { Codec::Packed(elements) } else { Codec::Bytes };
    let extent = |level: Option<&Loop>| level.map_or(1, |level| level.extent);
    let (s, d) = (extent(region.loops.get(minor)), extent(region.loops.last()));
    let (s, d) = block_extents(width(codec, region.run), s, d);
    (s as u64, d as u64)
}

/// The number of elements that are decoded at once.
const CHUNK: usize = 2048;

/// Moves a part along its last loop.
fn rows<const W: usize>(
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

/// Two loops and the extents of a block in them.
struct LoopPair<'a> {
    /// The loop with the smallest stride in the source.
    s: &'a Loop,
    /// The innermost loop of the destination.
    d: &'a Loop,
    count: (usize, usize),
}

/// The bytes of the scratch buffer: a part of the second-level cache.
const SCRATCH: usize = 256 << 10;

/// The bytes of a block's row in the source. Short reads cost more than short writes.
const READ: usize = 2048;

/// The bytes of a block's row in the destination.
const WRITE: usize = 256;

/// Bytes between rows of the scratch buffer, so that rows do not share cache sets.
const SKEW: usize = 64;

/// Returns the extents of a block in the source's contiguous loop and in the destination's. If one loop is short, the
/// other gets more.
fn block_extents(width: usize, s_extent: u64, d_extent: u64) -> (usize, usize) {
    let least = |extent: u64, limit: usize| extent.min(limit.max(1) as u64) as usize;
    let room = SCRATCH / width;
    let d = least(d_extent, WRITE.div_ceil(width));
    let s = least(s_extent, (READ / width).max(READ * 64 / (d * width)).min(room / d));
    (s, least(d_extent, (room / s).min(4 * WRITE.max(READ * 64 / (s * width)) / width).max(d)))
}

/// Moves a part in blocks of its loop `minor` and its last loop.
fn blocks<const W: usize>(
    codec: Codec,
    part: &RegionRef<'_>,
    minor: usize,
    src: &[u8],
    out: &mut [u8],
    scratch: &mut Scratch,
) {
    let Some((d, rest)) = part.loops.split_last() else { return };
    let s = &rest[minor];
    let mut outer = scratch.take_loops(rest);
    outer.remove(minor);
    let whole = (s.extent as usize, d.extent as usize);
    let size = block_extents(W, s.extent, d.extent);
    for_each(&outer, part.src, part.dst, &mut |from, to| {
        // Blocks advance along the destination's rows first, so that the pages of their rows stay in the TLB.
        for s0 in (0..whole.0).step_by(size.0) {
            for d0 in (0..whole.1).step_by(size.1) {
                let from = from + s0 as i64 * s.src + d0 as i64 * d.src;
                let to = to + s0 as i64 * s.dst + d0 as i64 * d.dst;
                let count = (size.0.min(whole.0 - s0), size.1.min(whole.1 - d0));
                block::<W>(codec, &LoopPair { s, d, count }, (src, from), (out, to), scratch);
            }
        }
    });
    scratch.give_loops(outer);
}

/// Moves one block: its rows into the scratch buffer, and its columns out of it.
fn block<const W: usize>(
    codec: Codec,
    pair: &LoopPair<'_>,
    (src, from): (&[u8], i64),
    (out, to): (&mut [u8], i64),
    scratch: &mut Scratch,
) {
    let (columns, rows) = pair.count;
    let pitch = columns + SKEW.div_ceil(W);
    let (block, line) = scratch.elements::<W>(rows * pitch + rows).split_at_mut(rows * pitch);
    for (i, row) in block.chunks_exact_mut(pitch).enumerate() {
        let at = from + i as i64 * pair.d.src;
        load(codec, src, at, pair.s.src, &mut row[..columns]);
    }
    let contiguous = matches!(codec, Codec::Bytes) && pair.d.dst == W as i64 && pair.s.dst > 0;
    for j in 0..columns {
        let at = to + j as i64 * pair.s.dst;
        if contiguous {
            column(block, pitch, j, out[at as usize..][..rows * W].as_chunks_mut::<W>().0);
        } else {
            column(block, pitch, j, line);
            store(codec, out, at, pair.d.dst, line);
        }
    }
}

/// Copies column `j` of a block.
fn column<const W: usize>(block: &[[u8; W]], pitch: usize, j: usize, to: &mut [[u8; W]]) {
    for (element, row) in to.iter_mut().zip(block.chunks_exact(pitch)) {
        *element = row[j];
    }
}

// Moves of single elements by tables of their offsets in the source and in the destination.

/// Moves a leaf from `src` to `out`; `shift` is added to its offsets on each side, in elements.
pub(crate) fn table(
    elements: Elements,
    leaf: &Leaf<'_>,
    shift: Offsets,
    src: &[u8],
    out: &mut [u8],
) {
    let Elements { src_bits, dst_bits, .. } = elements;
    let leaf = &Shifted { leaf: *leaf, shift };
    let run = leaf.leaf.run;
    if !elements.are_same() {
        return convert(elements, leaf, src, out);
    }
    if src_bits < 8 {
        let bits = u64::from(dst_bits);
        if run == 1 {
            // An element is within one byte.
            return each(leaf, |from, to| {
                super::rows::put_bits(
                    out,
                    to as u64 * bits,
                    bits,
                    super::rows::get_bits(src, from as u64 * bits, bits),
                );
            });
        }
        return each(leaf, |from, to| {
            super::rows::copy_bits(src, from as u64 * bits, out, to as u64 * bits, run * bits);
        });
    }
    let width = src_bits as usize / 8;
    match width * run as usize {
        1 => lanes::<1>(width, leaf, src, out),
        2 => lanes::<2>(width, leaf, src, out),
        3 => lanes::<3>(width, leaf, src, out),
        4 => lanes::<4>(width, leaf, src, out),
        6 => lanes::<6>(width, leaf, src, out),
        8 => lanes::<8>(width, leaf, src, out),
        12 => lanes::<12>(width, leaf, src, out),
        16 => lanes::<16>(width, leaf, src, out),
        32 => lanes::<32>(width, leaf, src, out),
        64 => lanes::<64>(width, leaf, src, out),
        bytes => each(leaf, |from, to| {
            let (from, to) = (from as usize * width, to as usize * width);
            out[to..to + bytes].copy_from_slice(&src[from..from + bytes]);
        }),
    }
}

/// A leaf, and the shifts of its offsets on each side.
struct Shifted<'a> {
    leaf: Leaf<'a>,
    shift: Offsets,
}

/// Calls `f` with the offsets of each entry.
#[inline(always)]
fn each(shifted: &Shifted<'_>, mut f: impl FnMut(i64, i64)) {
    let Shifted { leaf, shift } = shifted;
    for &(src, dst) in leaf.outer {
        let (src, dst) = (src + shift.0, dst + shift.1);
        for &(from, to) in leaf.inner {
            f(src + from, dst + to);
        }
    }
}

/// Moves `N` bytes for each entry.
fn lanes<const N: usize>(width: usize, leaf: &Shifted<'_>, src: &[u8], out: &mut [u8]) {
    // For few rows, checking the bounds of both tables takes longer than checking each entry.
    if leaf.leaf.outer.len() < 4 || !leaf.is_within(width, N, src.len(), out.len()) {
        return each(leaf, |from, to| {
            let (from, to) = (from as usize * width, to as usize * width);
            out[to..to + N].copy_from_slice(&src[from..from + N]);
        });
    }
    // SAFETY: `is_within` has found every entry's `N` bytes within `src` and `out`.
    unsafe {
        if width == N { moved::<N>(N, leaf, src, out) } else { moved::<N>(width, leaf, src, out) }
    }
}

/// Moves `N` bytes for each entry, without checking the ends of the buffers.
///
/// # Safety
/// From each entry on, scaled by `width`, there are `N` bytes in `src` and in `out`.
#[inline(always)]
unsafe fn moved<const N: usize>(width: usize, leaf: &Shifted<'_>, src: &[u8], out: &mut [u8]) {
    let scaled = |at: i64| at as isize * width as isize;
    let (from, to) = (src.as_ptr(), out.as_mut_ptr());
    for &(src, dst) in leaf.leaf.outer {
        let from = from.wrapping_offset(scaled(src + leaf.shift.0));
        let to = to.wrapping_offset(scaled(dst + leaf.shift.1));
        for &(src, dst) in leaf.leaf.inner {
            let (from, to) = (from.wrapping_offset(scaled(src)), to.wrapping_offset(scaled(dst)));
            // SAFETY: `# Safety` of `moved`: there are `N` bytes in `src` and in `out` from the sum of both entries on.
            // The sides are a shared and an exclusive slice, so they do not overlap.
            unsafe {
                to.cast::<[u8; N]>().write_unaligned(from.cast::<[u8; N]>().read_unaligned())
            };
        }
    }
}

impl Shifted<'_> {
    /// Returns whether `bytes` bytes from each entry on are within buffers of these lengths.
    fn is_within(&self, width: usize, bytes: usize, src: usize, dst: usize) -> bool {
        let (outer, inner) = (Bounds::of(self.leaf.outer), Bounds::of(self.leaf.inner));
        let fits = |low: i128, high: i128, len: usize| {
            low >= 0 && high * width as i128 + bytes as i128 <= len as i128
        };
        let sum = |a: i64, b: i64, shift: i64| i128::from(a) + i128::from(b) + i128::from(shift);
        let (a, b) = self.shift;
        fits(sum(outer.low.0, inner.low.0, a), sum(outer.high.0, inner.high.0, a), src)
            && fits(sum(outer.low.1, inner.low.1, b), sum(outer.high.1, inner.high.1, b), dst)
    }
}

/// The lowest and the highest offset of a table on each side.
struct Bounds {
    low: Offsets,
    high: Offsets,
}

impl Bounds {
    fn of(table: &[Offsets]) -> Bounds {
        let mut bounds = Bounds { low: (0, 0), high: (0, 0) };
        if let Some(&first) = table.first() {
            (bounds.low, bounds.high) = (first, first);
        }
        for pair in table {
            bounds.low = (bounds.low.0.min(pair.0), bounds.low.1.min(pair.1));
            bounds.high = (bounds.high.0.max(pair.0), bounds.high.1.max(pair.1));
        }
        bounds
    }
}

/// Unpacks or packs elements whose widths differ.
fn convert(elements: Elements, leaf: &Shifted<'_>, src: &[u8], out: &mut [u8]) {
    let (codec, mut row) = (Codec::Packed(elements), [[0; 4]]);
    each(leaf, |from, to| {
        for i in 0..leaf.leaf.run as i64 {
            load(codec, src, from + i, 1, &mut row);
            store(codec, out, to + i, 1, &row);
        }
    });
}
