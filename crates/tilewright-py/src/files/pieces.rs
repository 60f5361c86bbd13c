//! Cuts a box of a tensor into boxes that follow each other if the last dim is the fastest. Loads onto a device use it.
//!
//! Law: the pieces are the box in its order, and each of them except the last has whole bytes. A piece has at most the
//! requested number of bytes, with two exceptions: [`TOGETHER`] elements of the last dim are never separated, and rows
//! that do not have whole bytes are separated only where 2, 4 or 8 of them have.

use std::ops::Range;

/// The number of elements in the last dim whose bits are whole bytes, and whole blocks.
const TOGETHER: u64 = 256;

/// A box of a tensor.
#[derive(Clone, Debug)]
pub(crate) struct TensorBox {
    pub(crate) area: Vec<Range<u64>>,
    /// The number of bits of its elements, without the padding of the last byte.
    pub(crate) bits: u128,
}

impl TensorBox {
    /// Returns a box of elements of `width` bits each, or of blocks of elements, with `bytes` bytes.
    pub(crate) fn new(area: Vec<Range<u64>>, width: u32, bytes: u64) -> TensorBox {
        let bits = match width.is_multiple_of(8) {
            true => u128::from(bytes) * 8,
            false => area.iter().fold(u128::from(width), |bits, range| {
                bits.saturating_mul(u128::from(range.end - range.start))
            }),
        };
        TensorBox { area, bits }
    }

    /// Returns its pieces of at most this number of bytes.
    pub(crate) fn pieces(self, most: u64) -> Vec<Vec<Range<u64>>> {
        let long = self.area.iter().position(|range| range.end - range.start > 1);
        let most = u128::from(most) * 8;
        match long {
            Some(dim) if self.bits > most => self.along(dim, most),
            _ => vec![self.area],
        }
    }

    /// Returns its pieces along its first dim of more than one index; `most` counts bits.
    fn along(self, dim: usize, most: u128) -> Vec<Vec<Range<u64>>> {
        let range = self.area[dim].clone();
        let extent = u128::from(range.end - range.start);
        let is_last = dim + 1 == self.area.len();
        let each = self.bits / extent;
        if !is_last && each > most && each.is_multiple_of(8) {
            let rows = range.map(|at| TensorBox { bits: each, ..self.part(dim, at..at + 1) });
            return rows.flat_map(|row| row.pieces((most / 8) as u64)).collect();
        }
        let step = match is_last {
            true => u128::from(TOGETHER),
            false => 8 >> each.trailing_zeros().min(3),
        };
        let within = most.saturating_mul(extent) / self.bits;
        let count = (within - within % step).max(step).min(extent) as u64;
        let mut pieces = Vec::new();
        let mut from = range.start;
        while from < range.end {
            let to = range.end.min(from.saturating_add(count));
            pieces.push(self.part(dim, from..to).area);
            from = to;
        }
        pieces
    }

    /// Returns the box with another range of one dim.
    fn part(&self, dim: usize, range: Range<u64>) -> TensorBox {
        let mut part = self.clone();
        part.area[dim] = range;
        part
    }
}
