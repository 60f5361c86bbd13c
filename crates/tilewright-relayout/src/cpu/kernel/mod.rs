//! Kernels: functions that move the elements of one box.
//!
//! Kernels know run lengths, strides and element widths, but not element types. Every kernel derives its bounds again
//! from the slices that it gets. The registers of each instruction set are in a separate folder.

#[cfg(target_arch = "aarch64")]
mod aarch64;
mod bits;
mod blocks;
mod combine;
mod enter;
mod exchange;
mod field;
mod gather;
mod interleave;
mod isa;
mod lane;
mod parallel_move;
mod portable;
mod prefetch;
mod rows;
mod sink;
mod stage;
mod strided_pack;
mod strip;
#[cfg(test)]
mod suite;
mod sums;
mod table;
mod tiled_transpose;
mod transpose;
mod transpose_run;
mod vector;
#[cfg(target_arch = "x86_64")]
mod x86_64;

use crate::{
    Elements,
    cpu::{
        scratch::Scratch,
        transpose::{Locality, RegisterTranspose},
    },
    program::region::{Loop, RegionRef},
};
pub(crate) use combine::{LineWriter, Runs, WaitingLines};
pub(crate) use field::PackedField;
pub(crate) use interleave::Interleave;
pub(crate) use isa::Isa;
pub(crate) use lane::is_lane;
pub(crate) use parallel_move::{ParallelMove, are_disjoint};
pub(crate) use prefetch::Prefetch;
pub(crate) use rows::are_far;
pub(crate) use strided_pack::StridedPack;
pub(crate) use sums::sums;
pub(crate) use table::table;
pub(crate) use tiled_transpose::TiledTranspose;

/// The representation of the units of a region.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Codec {
    /// Units are bytes.
    Bytes,
    /// Units are elements, of up to 32 bits, little-endian or packed.
    Packed(Elements),
}

/// The inputs of a kernel other than the data.
pub(crate) struct Tools<'a> {
    pub(crate) elements: Elements,
    pub(crate) isa: Isa,
    pub(crate) locality: Locality,
    /// The lines to prefetch meanwhile, instead of those that the region itself reads.
    pub(crate) prefetch: Option<&'a Prefetch<'a>>,
    /// The distance in the source, in bytes, to the next data, which kernels prefetch if they can; 0 if nothing is to
    /// be prefetched.
    pub(crate) ahead: i64,
    pub(crate) scratch: &'a mut Scratch,
}

impl Tools<'_> {
    /// Reborrows the tools.
    pub(crate) fn again(&mut self) -> Tools<'_> {
        Tools { scratch: self.scratch, ..*self }
    }

    fn codec(&self, region: &RegionRef<'_>) -> Codec {
        if region.packed { Codec::Packed(self.elements) } else { Codec::Bytes }
    }

    /// Returns the bits of a unit of the source.
    fn unit(&self, region: &RegionRef<'_>) -> u32 {
        if region.packed { self.elements.src_bits } else { 8 }
    }
}

/// Copies runs of bytes.
pub(crate) fn copy_rows(
    tools: &mut Tools<'_>,
    part: &RegionRef<'_>,
    src: &[u8],
    out: &mut [u8],
) -> bool {
    if tools.locality == Locality::Memory && are_far(part) {
        rows::rows_far(tools.isa, part, src, out, tools.scratch);
    } else if part.loops.is_empty() {
        rows::copy(src, part.src, out, part.dst, part.run);
    } else {
        rows::rows(tools.isa, part, src, out);
    }
    true
}

/// Runs a register transpose. Returns whether it did; it does nothing if a byte is outside the slices.
pub(crate) fn transpose_blocks(
    tools: &mut Tools<'_>,
    transpose: &RegisterTranspose,
    part: &RegionRef<'_>,
    src: &[u8],
    out: &mut [u8],
) -> bool {
    let Some((from, to)) = transpose.begins(part, tools.unit(part)) else { return false };
    transpose::transpose(
        tools.isa,
        transpose,
        part,
        (src, from),
        (out, to),
        tools.prefetch,
        tools.scratch,
    )
}

/// Copies runs of packed elements.
pub(crate) fn copy_bits(
    tools: &mut Tools<'_>,
    part: &RegionRef<'_>,
    src: &[u8],
    out: &mut [u8],
) -> bool {
    bits::rows(part, tools.elements.src_bits, src, out);
    true
}

/// Moves blocks of the last loop and loop `minor`, element by element.
pub(crate) fn move_blocks(
    tools: &mut Tools<'_>,
    part: &RegionRef<'_>,
    minor: usize,
    src: &[u8],
    out: &mut [u8],
) -> bool {
    lane::blocks(tools.codec(part), part, minor, src, out, tools.scratch);
    true
}

/// Moves elements one by one.
pub(crate) fn move_elements(
    tools: &mut Tools<'_>,
    part: &RegionRef<'_>,
    src: &[u8],
    out: &mut [u8],
) -> bool {
    lane::gather(tools.codec(part), part, src, out, tools.scratch);
    true
}

/// Returns the extents of a block of [`move_blocks`] in loop `minor` and in the last loop.
pub(crate) fn block_size(region: &RegionRef<'_>, elements: Elements, minor: usize) -> (u64, u64) {
    let codec = if region.packed { Codec::Packed(elements) } else { Codec::Bytes };
    let width = lane::width(codec, region.run);
    let extent = |level: Option<&Loop>| level.map_or(1, |level| level.extent);
    let (s, d) =
        blocks::block_size(width, extent(region.loops.get(minor)), extent(region.loops.last()));
    (s as u64, d as u64)
}
