//! Kernels: functions that move the elements of one box.
//!
//! Kernels know run lengths, strides and element widths, but not element types. Every kernel derives its bounds again
//! from the slices that it gets. The registers of each instruction set are in the folder `isa`.

mod combine;
mod exchange;
mod field;
mod gather;
mod interleave;
mod isa;
pub(crate) mod parallel_move;
pub(crate) mod prefetch;
mod rows;
mod strip;
#[cfg(test)]
mod suite;
pub(crate) mod sums;
mod tiled_transpose;
mod transpose;

use crate::{
    Elements,
    cpu::{
        scratch::Scratch,
        transpose::{Locality, RegisterTranspose},
    },
    program::region::RegionRef,
};
pub(crate) use combine::{LineWriter, Runs, WaitingLines};
pub(crate) use field::PackedField;
pub(crate) use gather::{block_size, is_lane, move_blocks, move_elements, table};
pub(crate) use interleave::{Interleave, StridedPack};
#[cfg(target_arch = "x86_64")]
use isa::x86_64;
pub(crate) use isa::{Isa, scratch_block};
pub(crate) use parallel_move::{ParallelMove, are_disjoint};
pub(crate) use prefetch::Prefetch;
pub(crate) use rows::are_far;
pub(crate) use sums::sums;
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
    rows::bit_rows(part, tools.elements.src_bits, src, out);
    true
}
