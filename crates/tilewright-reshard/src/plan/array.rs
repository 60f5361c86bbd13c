//! An array of a checkpoint in pieces: one form for arrays that are read and for arrays that are written. Sources are
//! read to it, results are planned as it, and moves and plans use it.
//!
//! ```text
//! ReshardedArray  its name and extents, and its pieces
//! LocalArrays     the local arrays with their files, and the boxes of the array in them; arrays with equal pieces share one
//! LocalOffsets    the offset of each local array in its file; files with equal offsets share one column
//! ```
//!
//! A model repeats its layers, and the files of a mesh resemble each other. With this sharing, memory grows with the
//! number of tensors plus the number of files, not with their product.

use std::{
    collections::{HashMap, HashSet, hash_map::Entry},
    hash::Hash,
    sync::Arc,
};

use tilewright_core::{Dtype, DtypeKind, TensorLayout};
use tilewright_sharded::{Piece, Pieces};

use crate::Error;

/// Returns the number of elements of a box, or the largest number if that is larger.
pub(crate) fn size(extents: &[u64]) -> u64 {
    extents.iter().fold(1, |size, extent| size.saturating_mul(*extent))
}

/// Returns the value of a key, which is made for the first of equal keys and shared with the others.
pub(crate) fn shared<K: Eq + Hash, V: Clone>(
    known: &mut HashMap<K, V>,
    key: K,
    make: impl FnOnce() -> Result<V, Error>,
) -> Result<V, Error> {
    Ok(match known.entry(key) {
        Entry::Occupied(known) => known.get().clone(),
        Entry::Vacant(new) => new.insert(make()?).clone(),
    })
}

/// A local array without its offset: its elements, its layout, and its entry in a header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Laid {
    /// The element type as files spell it.
    pub(crate) file_dtype: String,
    pub(crate) dtype: Dtype,
    /// The width of an element, whole bytes.
    pub(crate) bits: u32,
    pub(crate) layout: TensorLayout,
    /// The shape in the header.
    pub(crate) shape: Vec<u64>,
    /// The layout as a SPEC, where it is not row-major.
    pub(crate) spec: Option<String>,
    /// True if elements are narrower than a byte, or blocks; the layout is then that of their bytes.
    pub(crate) packed: bool,
    /// True if the file has the bytes of each number in big-endian order.
    pub(crate) big: bool,
}

impl Laid {
    /// Returns the number of bytes in a file; `None` beyond 64 bits.
    pub(crate) fn bytes(&self) -> Option<u64> {
        self.layout.capacity().checked_mul(u64::from(self.bits / 8))
    }

    /// Returns the shape if elements are narrower than a byte.
    pub(crate) fn packed(&self) -> Option<Vec<u64>> {
        self.packed.then(|| self.shape.clone())
    }

    /// Returns the width of an element in bits; of elements narrower than a byte their own, and of a block all of it.
    pub(crate) fn own_bits(&self) -> u32 {
        let block = self.dtype.block().map(|block| block.bytes * 8);
        let own = block.or(self.dtype.packed_bits()).filter(|_| self.packed);
        own.unwrap_or(self.bits)
    }

    /// Returns the unit of the last dim, if its elements are blocks.
    pub(crate) fn unit(&self) -> Option<Unit> {
        Unit::of_array(self.dtype, &self.shape, self.dims()).filter(|_| self.packed)
    }

    /// Returns the bytes of a number whose order is reversed when it is read; 1 for none.
    pub(crate) fn reversed(&self) -> usize {
        let whole = self.bits as usize / 8;
        let number = if self.dtype.kind() == DtypeKind::Complex { whole / 2 } else { whole };
        if self.big { number.max(1) } else { 1 }
    }

    /// Returns the number of elements along each dim.
    pub(crate) fn shape(&self) -> &[u64] {
        if self.packed { &self.shape } else { self.dims() }
    }

    /// Returns the extents of the local array.
    pub(crate) fn dims(&self) -> &[u64] {
        self.layout.extents()
    }
}

/// A local array in a file. A file holds an array at most once.
#[derive(Clone, Debug)]
pub(crate) struct StoredArray {
    /// The number of the file.
    pub(crate) file: usize,
    pub(crate) laid: Arc<Laid>,
}

/// The pieces of an array in files.
#[derive(Clone, Debug, Default)]
pub(crate) struct LocalArrays {
    pub(crate) stored: Vec<StoredArray>,
    /// The boxes of the array. [`Piece::source`] is an index into `stored`.
    pub(crate) pieces: Vec<Piece>,
    /// Copies of these boxes that are not read, since the request trusts that they are equal.
    pub(crate) copies: Vec<Piece>,
}

impl LocalArrays {
    /// Checks that the pieces cover the array, and sorts them so that equal boxes are adjacent.
    pub(crate) fn settle(
        mut self,
        name: &str,
        extents: &[u64],
        file: &dyn Fn(usize) -> String,
    ) -> Result<LocalArrays, Error> {
        self.pieces.retain(|piece| !piece.extents.contains(&0));
        let pieces = Pieces { extents: extents.to_vec(), pieces: self.pieces };
        let _ = pieces.cover(name).map_err(|error| {
            let said = error.to_string();
            let named = |(at, stored): (usize, &StoredArray)| {
                let is_named = said.contains(&format!("source {at} "));
                is_named.then(|| format!("; source {at} is {}", file(stored.file)))
            };
            let names: String = self.stored.iter().enumerate().filter_map(named).collect();
            Error::new(error.kind(), format!("tensor {said}{names}"))
        })?;
        self.pieces = pieces.pieces;
        self.order();
        Ok(self)
    }

    /// Returns the index of the local array in a file.
    pub(crate) fn nth(&self, file: usize) -> Option<usize> {
        match self.stored.get(file) {
            Some(stored) if stored.file == file => Some(file),
            _ => self.stored.iter().position(|stored| stored.file == file),
        }
    }

    /// Sorts the pieces so that equal boxes are adjacent, in their previous order.
    pub(crate) fn order(&mut self) {
        self.pieces.sort_by(|a, b| (&a.start, &a.extents).cmp(&(&b.start, &b.extents)));
    }

    /// Returns a copy that reads one of several equal boxes.
    pub(crate) fn without_replicas(&self) -> LocalArrays {
        let mut held = self.clone();
        let is_copy = |a: &mut Piece, b: &mut Piece| {
            let copy = is_replica(a, b);
            held.copies.extend(copy.then(|| a.clone()));
            copy
        };
        held.pieces.dedup_by(is_copy);
        held
    }

    /// Returns the number of elements in pieces that repeat the piece before them.
    pub(crate) fn replicated(&self) -> u64 {
        let pairs = self.pieces.iter().zip(self.pieces.iter().skip(1));
        let second = pairs.filter(|(first, second)| is_replica(first, second));
        second.map(|(_, piece)| size(&piece.extents)).fold(0, u64::saturating_add)
    }

    /// Iterates over the intersections of the pieces with a box, each with its local array.
    pub(crate) fn meets(
        &self,
        start: &[u64],
        extents: &[u64],
    ) -> impl Iterator<Item = (&StoredArray, Meet)> {
        self.met(start, extents).map(|(_, stored, meet)| (stored, meet))
    }

    /// Iterates over the intersections of the pieces with a box, each with its piece and its local array.
    pub(crate) fn met(
        &self,
        start: &[u64],
        extents: &[u64],
    ) -> impl Iterator<Item = (&Piece, &StoredArray, Meet)> {
        self.pieces.iter().filter_map(move |piece| {
            let stored = self.stored.get(usize::try_from(piece.source).ok()?)?;
            Some((piece, stored, Meet::of(piece, start, extents)?))
        })
    }
}

/// Returns whether two pieces are the same box.
pub(crate) fn is_replica(a: &Piece, b: &Piece) -> bool {
    (&a.start, &a.extents) == (&b.start, &b.extents)
}

/// An array: its elements and its pieces.
#[derive(Clone, Debug)]
pub(crate) struct ReshardedArray {
    pub(crate) name: Arc<str>,
    /// The element type as files spell it.
    pub(crate) file_dtype: String,
    pub(crate) dtype: Dtype,
    /// The width of an element, whole bytes.
    pub(crate) bits: u32,
    pub(crate) extents: Vec<u64>,
    /// The shape in the header if elements are narrower than a byte, or blocks. `extents` then counts bytes: along the
    /// last dim for blocks, else together, and such an array is copied whole.
    pub(crate) packed: Option<Vec<u64>>,
    pub(crate) held: Arc<LocalArrays>,
}

impl ReshardedArray {
    /// Makes the array of these extents whose local arrays have elements as `laid`.
    pub(crate) fn of(
        name: Arc<str>,
        laid: &Laid,
        extents: Vec<u64>,
        held: Arc<LocalArrays>,
    ) -> ReshardedArray {
        let Laid { file_dtype, dtype, bits, .. } = laid;
        let in_elements = laid.unit().map(|unit| unit.in_elements(&extents));
        let (file_dtype, packed) = (file_dtype.clone(), in_elements.or_else(|| laid.packed()));
        ReshardedArray { name, file_dtype, dtype: *dtype, bits: *bits, extents, packed, held }
    }

    /// Returns the number of elements along each dim.
    pub(crate) fn shape(&self) -> &[u64] {
        self.packed.as_ref().unwrap_or(&self.extents)
    }

    /// Returns the unit of the last dim, if its elements are blocks.
    pub(crate) fn unit(&self) -> Option<Unit> {
        Unit::of_array(self.dtype, self.packed.as_ref()?, &self.extents)
    }

    /// Returns the number of bytes of all elements.
    pub(crate) fn bytes(&self) -> u64 {
        size(&self.extents).saturating_mul(u64::from(self.bits / 8))
    }
}

/// The offsets of the local arrays of one file, relative to the first of them, by the numbers of their arrays, which
/// ascend.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Column {
    arrays: Vec<u32>,
    at: Vec<u64>,
}

impl Column {
    /// Makes the column of these arrays and offsets, given in any order.
    fn new(mut places: Vec<(usize, u64)>) -> Result<Column, Error> {
        places.sort_unstable();
        let number = |array: usize| u32::try_from(array).map_err(|_| too_many());
        let arrays = places.iter().map(|(array, _)| number(*array)).collect::<Result<_, _>>()?;
        Ok(Column { arrays, at: places.into_iter().map(|(_, at)| at).collect() })
    }

    /// Iterates over the arrays with their offsets.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, u64)> {
        self.arrays.iter().copied().zip(self.at.iter().copied())
    }
}

fn too_many() -> Error {
    Error::new("limit", "more than 4294967295 tensors")
}

/// The offsets of the local arrays of every file: the smallest offset, and the column relative to it.
#[derive(Clone, Debug, Default)]
pub(crate) struct LocalOffsets {
    files: Vec<(u64, Arc<Column>)>,
    known: HashSet<Arc<Column>>,
}

impl LocalOffsets {
    /// Adds a file with these arrays and offsets; files with equal columns share one.
    pub(crate) fn push(&mut self, mut places: Vec<(usize, u64)>) -> Result<(), Error> {
        let base = places.iter().map(|(_, at)| *at).min().unwrap_or(0);
        places.iter_mut().for_each(|(_, at)| *at -= base);
        let column = Arc::new(Column::new(places)?);
        let column = self.known.get(&column).cloned().unwrap_or(column);
        self.known.insert(column.clone());
        self.files.push((base, column));
        Ok(())
    }

    /// Adds a file with the same offsets as the file of this number.
    pub(crate) fn again(&mut self, file: usize) {
        self.files.extend(self.files.get(file).cloned());
    }

    /// Returns the first byte of an array in a file.
    pub(crate) fn at(&self, file: usize, array: usize) -> Option<u64> {
        let (base, column) = self.files.get(file)?;
        let place = column.arrays.binary_search(&u32::try_from(array).ok()?).ok()?;
        column.at.get(place)?.checked_add(*base)
    }

    /// Returns the smallest offset and the column of each file.
    pub(crate) fn files(&self) -> &[(u64, Arc<Column>)] {
        &self.files
    }
}

/// The intersection of a piece and a box of the array.
pub(crate) struct Meet {
    /// Its first index in the local array.
    pub(crate) local: Vec<u64>,
    /// Its first index in the box.
    pub(crate) within: Vec<u64>,
    pub(crate) extents: Vec<u64>,
}

impl Meet {
    /// Returns the intersection, or `None` if it is empty.
    pub(crate) fn of(piece: &Piece, start: &[u64], extents: &[u64]) -> Option<Meet> {
        let dims = piece.start.iter().zip(&piece.extents).zip(start.iter().zip(extents));
        let apart = |((first, length), (from, size)): ((&u64, &u64), (&u64, &u64))| {
            (first + length).min(from + size) <= *first.max(from)
        };
        if dims.clone().any(apart) {
            return None;
        }
        let mut meet = Meet { local: Vec::new(), within: Vec::new(), extents: Vec::new() };
        for (((first, length), (from, size)), local) in dims.zip(&piece.local) {
            let (low, high) = (*first.max(from), (first + length).min(from + size));
            meet.local.push(local + low - first);
            meet.within.push(low - from);
            meet.extents.push(high - low);
        }
        Some(meet)
    }
}

/// The block of an element type: its elements along the last dim of an array, and its bytes. Arrays of blocks move as
/// bytes.
///
/// Law: `in_elements(in_bytes(extents)) = extents`, if no block is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unit {
    pub(crate) elements: u64,
    pub(crate) bytes: u64,
}

impl Unit {
    /// Returns the unit of a type whose elements are blocks.
    pub(crate) fn of(dtype: Dtype) -> Option<Unit> {
        let block = dtype.block()?;
        Some(Unit { elements: block.elements.into(), bytes: block.bytes.into() })
    }

    /// Returns the unit of an array of this shape, if `extents` count bytes along the last dim only.
    pub(crate) fn of_array(dtype: Dtype, shape: &[u64], extents: &[u64]) -> Option<Unit> {
        let unit = Unit::of(dtype)?;
        (unit.in_bytes(shape)? == extents).then_some(unit)
    }

    /// Returns the bytes of elements along the last dim; `None` if a block is cut.
    pub(crate) fn bytes(self, elements: u64) -> Option<u64> {
        let blocks = elements.is_multiple_of(self.elements).then(|| elements / self.elements)?;
        blocks.checked_mul(self.bytes)
    }

    /// Returns the elements in bytes of whole blocks.
    pub(crate) fn elements(self, bytes: u64) -> u64 {
        bytes / self.bytes * self.elements
    }

    /// Returns extents in elements with the last one in bytes; `None` if a block is cut, and for rank 0.
    pub(crate) fn in_bytes(self, extents: &[u64]) -> Option<Vec<u64>> {
        let (last, lead) = extents.split_last()?;
        Some([lead, &[self.bytes(*last)?]].concat())
    }

    /// Returns extents whose last one counts bytes, in elements.
    pub(crate) fn in_elements(self, extents: &[u64]) -> Vec<u64> {
        let mut extents = extents.to_vec();
        if let Some(last) = extents.last_mut() {
            *last = self.elements(*last);
        }
        extents
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extents_return_from_bytes_unless_a_block_is_cut() {
        assert_eq!(Unit::of(Dtype::F32), None);
        for dtype in Dtype::all() {
            let Some(unit) = Unit::of(dtype) else { continue };
            for last in 0..3 * unit.elements {
                let bytes = unit.in_bytes(&[5, last]);
                assert_eq!(bytes.is_some(), last % unit.elements == 0, "{dtype} {last}");
                let Some(bytes) = bytes else { continue };
                assert_eq!(unit.in_elements(&bytes), [5, last]);
                assert_eq!(Unit::of_array(dtype, &[5, last], &bytes), Some(unit));
                assert_eq!(Unit::of_array(dtype, &[5, last], &[4, bytes[1]]), None);
            }
            assert_eq!(unit.in_bytes(&[]), None);
        }
    }
}
