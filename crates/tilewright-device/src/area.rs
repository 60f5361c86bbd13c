//! A region in bytes, between two arrays whose first bytes lie anywhere.
//!
//! Law: the unit of an area divides its run, all its strides, and the addresses of its first byte on both sides; and on a
//! side that is swizzled, the pointer and all that stays side by side.

use crate::{
    Alignment, Options,
    access::{VECTOR, common},
    swizzled::Maps,
};
use tilewright_relayout::{Loop, Program, Region};

/// Loops around runs of bytes that are contiguous on both sides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Area {
    /// The first byte in the source, and in the destination.
    pub(crate) src: i64,
    pub(crate) dst: i64,
    /// The bytes of a run, at least 1.
    pub(crate) run: u64,
    /// The loops, the largest stride of the destination first; strides in bytes.
    pub(crate) loops: Vec<Loop>,
    /// The bytes of an element: the least that a run is a multiple of.
    pub(crate) element: u64,
    /// The bytes of both arrays.
    pub(crate) bytes: (u64, u64),
    pub(crate) alignment: Alignment,
    pub(crate) options: Options,
    /// Where bytes lie on the sides that are swizzled: what is above is about the arrays without.
    pub(crate) maps: Maps,
}

impl Area {
    /// The area of a region that counts bytes.
    pub(crate) fn of(
        region: &Region,
        program: &Program,
        alignment: Alignment,
        options: Options,
    ) -> Area {
        Area {
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

    /// The bytes by which the address of the first byte is behind a multiple of 16, on either side.
    pub(crate) fn phases(&self) -> (u64, u64) {
        let phase = |first: i64, pointer: u8| (first as u64).wrapping_add(pointer.into()) % VECTOR;
        (phase(self.src, self.alignment.src()), phase(self.dst, self.alignment.dst()))
    }

    /// The bytes that can move by one access everywhere: a power of two up to 16.
    pub(crate) fn unit(&self) -> u64 {
        let (src, dst) = self.phases();
        let strides = self.loops.iter().flat_map(|turn| [turn.src as u64, turn.dst as u64]);
        strides.chain([src, dst, self.run]).fold(self.maps.unit(self.alignment), common)
    }

    /// Whether vectors of 16 bytes stay whole on the sides that are swizzled.
    pub(crate) fn keeps_vectors(&self) -> bool {
        self.maps.unit(self.alignment) == VECTOR
    }
}
