//! An array of a checkpoint in pieces: one form for what is read and for what is written.

use tilewright_core::{Dtype, TensorLayout};
use tilewright_sharded::{Piece, Pieces};

use crate::Error;

/// A local array in a file.
#[derive(Clone, Debug)]
pub(crate) struct Stored {
    /// Which file.
    pub(crate) file: usize,
    /// Its first byte there.
    pub(crate) at: u64,
    pub(crate) layout: TensorLayout,
}

/// An array: its elements, the local arrays, and the boxes of it that lie in them.
#[derive(Clone, Debug)]
pub(crate) struct Array {
    pub(crate) name: String,
    /// As files spell it.
    pub(crate) file_dtype: String,
    pub(crate) dtype: Dtype,
    /// The width of an element, whole bytes.
    pub(crate) bits: u32,
    pub(crate) extents: Vec<u64>,
    pub(crate) stored: Vec<Stored>,
    /// [`Piece::source`] counts `stored`.
    pub(crate) pieces: Vec<Piece>,
}

impl Array {
    /// The bytes of its elements.
    pub(crate) fn bytes(&self) -> u64 {
        let size = self.extents.iter().fold(1u64, |size, extent| size.saturating_mul(*extent));
        size.saturating_mul(u64::from(self.bits / 8))
    }

    /// Keeps one of several equal boxes, after the law of the cover.
    pub(crate) fn settle(mut self, file: &dyn Fn(usize) -> String) -> Result<Array, Error> {
        self.pieces.retain(|piece| !piece.extents.contains(&0));
        let pieces = Pieces { extents: self.extents.clone(), pieces: self.pieces };
        pieces.cover(&self.name).map_err(|error| {
            let said = error.to_string();
            let named = |(at, stored): (usize, &Stored)| {
                let is_named = said.contains(&format!("source {at} "));
                is_named.then(|| format!("; source {at} is {}", file(stored.file)))
            };
            let names: String = self.stored.iter().enumerate().filter_map(named).collect();
            Error::new(error.kind(), format!("tensor {said}{names}"))
        })?;
        self.pieces = pieces.pieces;
        self.pieces.sort_by(|a, b| (&a.start, &a.extents).cmp(&(&b.start, &b.extents)));
        self.pieces.dedup_by(|a, b| (&a.start, &a.extents) == (&b.start, &b.extents));
        Ok(self)
    }
}

/// What a piece and a box of the array have in common.
pub(crate) struct Meet {
    /// Its first index in the local array.
    pub(crate) local: Vec<u64>,
    /// Its first index in the box.
    pub(crate) within: Vec<u64>,
    pub(crate) extents: Vec<u64>,
}

impl Meet {
    /// `None` where they have nothing in common.
    pub(crate) fn of(piece: &Piece, start: &[u64], extents: &[u64]) -> Option<Meet> {
        let mut meet = Meet { local: Vec::new(), within: Vec::new(), extents: Vec::new() };
        let dims = piece.start.iter().zip(&piece.extents).zip(&piece.local);
        for (((first, length), local), (from, size)) in dims.zip(start.iter().zip(extents)) {
            let (low, high) = (*first.max(from), (first + length).min(from + size));
            if low >= high {
                return None;
            }
            meet.local.push(local + low - first);
            meet.within.push(low - from);
            meet.extents.push(high - low);
        }
        Some(meet)
    }
}
