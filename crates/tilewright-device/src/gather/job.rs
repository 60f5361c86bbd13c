//! A gather: elements of one width moved to elements of the same or another width, at the iterations of loops.
//!
//! Positions and strides of a side count its units: bits if its elements are narrower than a byte, else bytes.

use crate::{access::VECTOR, area::Area};
use tilewright_relayout::{Extend, Loop};

/// The elements of one side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Storage {
    /// The bits of an element: 1, 2, 4, 8, 16, 32, 64 or 128.
    pub(crate) bits: u64,
    /// The first element, in units.
    pub(crate) first: i64,
    /// The bytes of the array.
    pub(crate) bytes: u64,
    /// The distance of its first byte from the previous multiple of 16.
    pub(crate) phase: u64,
}

impl Storage {
    /// Returns the units of a byte.
    pub(crate) fn per_byte(self) -> u64 {
        if self.bits < 8 { 8 } else { 1 }
    }

    /// Returns the units of an element.
    pub(crate) fn width(self) -> u64 {
        self.bits * self.per_byte() / 8
    }

    /// Returns the units of 16 bytes.
    pub(crate) fn vector(self) -> u64 {
        VECTOR * self.per_byte()
    }
}

/// Elements that are moved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GatherJob {
    pub(crate) src: Storage,
    pub(crate) dst: Storage,
    pub(crate) extend: Extend,
    /// Loops around one element, each of at least two iterations, with strides in the units of either side. Destination
    /// strides are positive.
    pub(crate) loops: Vec<Loop>,
    /// True if the last byte that it writes may contain bits of no element, which become 0.
    pub(crate) open: bool,
}

impl GatherJob {
    /// Makes the job of an area: elements are as wide as the alignment of all addresses allows.
    pub(crate) fn of(area: &Area) -> GatherJob {
        let unit = area.unit();
        let mut loops = area.loops.clone();
        loops.push(Loop { extent: area.run / unit, src: unit as i64, dst: unit as i64 });
        loops.retain(|level| level.extent > 1);
        let side = |first: i64, bytes: u64, phase: u8| Storage {
            bits: 8 * unit,
            first,
            bytes,
            phase: phase.into(),
        };
        GatherJob {
            src: side(area.src, area.bytes.0, area.alignment.src()),
            dst: side(area.dst, area.bytes.1, area.alignment.dst()),
            extend: Extend::Zero,
            loops,
            open: false,
        }
    }

    /// Returns the job with source and destination swapped.
    pub(crate) fn mirrored(&self) -> GatherJob {
        let swap = |level: &Loop| Loop { extent: level.extent, src: level.dst, dst: level.src };
        let loops = self.loops.iter().map(swap).collect();
        GatherJob { src: self.dst, dst: self.src, loops, ..self.clone() }
    }

    /// Returns whether units are bytes, and elements keep their width.
    pub(crate) fn is_plain(&self) -> bool {
        self.src.bits == self.dst.bits && self.src.bits >= 8
    }
}
