//! A region in bytes, between two arrays of any alignment. The plan makes one for each region, and each way makes its
//! kernels from it.
//!
//! Law: the unit of an area divides its run, all its strides, and the addresses of its first byte on both sides. On a
//! swizzled side, it also divides the pointer and the granule of the swizzle.

use tilewright_relayout::{Loop, Program, Region};

use crate::{
    Alignment, Options,
    alignment::{VECTOR, common},
    swizzled::Maps,
};

/// Loops around runs of bytes that are contiguous on both sides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ByteRegion {
    /// The first byte in the source and in the destination.
    pub(crate) src: i64,
    pub(crate) dst: i64,
    /// The bytes of a run, at least 1.
    pub(crate) run: u64,
    /// The loops, sorted by the destination's stride, the largest first; strides are in bytes.
    pub(crate) loops: Vec<Loop>,
    /// The bytes of an element; a run is a multiple of it.
    pub(crate) element: u64,
    /// The bytes of both arrays.
    pub(crate) bytes: (u64, u64),
    pub(crate) alignment: Alignment,
    pub(crate) options: Options,
    /// The maps of the swizzled sides. All other fields describe the arrays without swizzles.
    pub(crate) maps: Maps,
}

impl ByteRegion {
    /// Returns the area of a region that counts bytes.
    pub(crate) fn of(
        region: &Region,
        program: &Program,
        alignment: Alignment,
        options: Options,
    ) -> ByteRegion {
        ByteRegion {
            src: region.src,
            dst: region.dst,
            run: region.run,
            loops: region.loops.clone(),
            element: u64::from(program.elements().dst_bits / 8).max(1),
            bytes: (program.src_bytes(), program.dst_bytes()),
            alignment,
            options,
            maps: Maps::default(),
        }
    }

    /// Returns the distance of the first byte's address from the previous multiple of 16, on either side.
    pub(crate) fn phases(&self) -> (u64, u64) {
        let phase = |first: i64, pointer: u8| (first as u64).wrapping_add(pointer.into()) % VECTOR;
        (phase(self.src, self.alignment.src()), phase(self.dst, self.alignment.dst()))
    }

    /// Returns the widest access, in bytes, that is aligned everywhere: a power of two up to 16.
    pub(crate) fn unit(&self) -> u64 {
        let (src, dst) = self.phases();
        let strides = self.loops.iter().flat_map(|level| [level.src as u64, level.dst as u64]);
        strides.chain([src, dst, self.run]).fold(self.maps.unit(self.alignment), common)
    }

    /// Returns whether vectors of 16 bytes stay contiguous on swizzled sides.
    pub(crate) fn keeps_vectors(&self) -> bool {
        self.maps.unit(self.alignment) == VECTOR
    }
}
