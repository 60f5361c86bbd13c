//! An array of a checkpoint in pieces: one form for what is read and for what is written.
//!
//! ```text
//! Array   its name and extents, and how it is held
//! Held    the local arrays with their files, and the boxes of the array in them: shared by all arrays that lie alike
//! Places  where each local array begins in its file: shared by all files that begin alike
//! ```
//!
//! A model repeats its layers, and the files of a mesh repeat each other. So what is kept grows with the tensors and with the
//! files, and not with their product.

use std::{collections::HashMap, sync::Arc};

use tilewright_core::{Dtype, TensorLayout};
use tilewright_sharded::{Piece, Pieces};

use crate::Error;

/// A local array without its place: its elements, its layout, and how a header says it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Laid {
    /// As files spell it.
    pub(crate) file_dtype: String,
    pub(crate) dtype: Dtype,
    /// The width of an element, whole bytes.
    pub(crate) bits: u32,
    pub(crate) layout: TensorLayout,
    /// The shape in the header.
    pub(crate) shape: Vec<u64>,
    /// The layout as a SPEC, where it is not row-major.
    pub(crate) spec: Option<String>,
    /// Whether elements are narrower than a byte, and the layout is that of their bytes.
    pub(crate) packed: bool,
}

impl Laid {
    /// The bytes in a file; `None` beyond 64 bits.
    pub(crate) fn bytes(&self) -> Option<u64> {
        self.layout.capacity().checked_mul(u64::from(self.bits / 8))
    }

    /// The shape of elements narrower than a byte.
    pub(crate) fn packed(&self) -> Option<Vec<u64>> {
        self.packed.then(|| self.shape.clone())
    }

    /// The extents of the local array.
    pub(crate) fn dims(&self) -> &[u64] {
        self.layout.extents()
    }
}

/// A local array in a file. A file holds an array once.
#[derive(Clone, Debug)]
pub(crate) struct Stored {
    /// Which file.
    pub(crate) file: usize,
    pub(crate) laid: Arc<Laid>,
}

/// How an array lies in files.
#[derive(Clone, Debug, Default)]
pub(crate) struct Held {
    pub(crate) stored: Vec<Stored>,
    /// [`Piece::source`] counts `stored`.
    pub(crate) pieces: Vec<Piece>,
}

impl Held {
    /// Checks the law of the cover, and puts equal boxes behind one another.
    pub(crate) fn settle(
        mut self,
        name: &str,
        extents: &[u64],
        file: &dyn Fn(usize) -> String,
    ) -> Result<Held, Error> {
        self.pieces.retain(|piece| !piece.extents.contains(&0));
        let pieces = Pieces { extents: extents.to_vec(), pieces: self.pieces };
        let _ = pieces.cover(name).map_err(|error| {
            let said = error.to_string();
            let named = |(at, stored): (usize, &Stored)| {
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

    /// Puts equal boxes behind one another, in the order in which they were.
    pub(crate) fn order(&mut self) {
        self.pieces.sort_by(|a, b| (&a.start, &a.extents).cmp(&(&b.start, &b.extents)));
    }

    /// Keeps one of several equal boxes.
    pub(crate) fn without_replicas(&self) -> Held {
        let mut held = self.clone();
        held.pieces.dedup_by(|a, b| is_replica(a, b));
        held
    }

    /// The elements of the pieces that hold what the piece before them holds.
    pub(crate) fn replicated(&self) -> u64 {
        let pairs = self.pieces.iter().zip(self.pieces.iter().skip(1));
        let second = pairs.filter(|(first, second)| is_replica(first, second)).map(|(_, it)| it);
        let size = |piece: &Piece| piece.extents.iter().fold(1u64, |n, m| n.saturating_mul(*m));
        second.map(size).fold(0, u64::saturating_add)
    }

    /// What the pieces have in common with a box, each with its local array.
    pub(crate) fn meets(
        &self,
        start: &[u64],
        extents: &[u64],
    ) -> impl Iterator<Item = (&Stored, Meet)> {
        self.met(start, extents).map(|(_, stored, meet)| (stored, meet))
    }

    /// The same, with the pieces.
    pub(crate) fn met(
        &self,
        start: &[u64],
        extents: &[u64],
    ) -> impl Iterator<Item = (&Piece, &Stored, Meet)> {
        self.pieces.iter().filter_map(move |piece| {
            let stored = self.stored.get(usize::try_from(piece.source).ok()?)?;
            Some((piece, stored, Meet::of(piece, start, extents)?))
        })
    }
}

/// Whether two pieces hold one box.
pub(crate) fn is_replica(a: &Piece, b: &Piece) -> bool {
    (&a.start, &a.extents) == (&b.start, &b.extents)
}

/// An array: its elements, and how they are held.
#[derive(Clone, Debug)]
pub(crate) struct Array {
    pub(crate) name: Arc<str>,
    /// As files spell it.
    pub(crate) file_dtype: String,
    pub(crate) dtype: Dtype,
    /// The width of an element, whole bytes.
    pub(crate) bits: u32,
    pub(crate) extents: Vec<u64>,
    /// The shape in the header of elements narrower than a byte, of which `extents` counts the bytes: such an array is copied
    /// whole, and never cut.
    pub(crate) packed: Option<Vec<u64>>,
    pub(crate) held: Arc<Held>,
}

impl Array {
    /// The extents of its elements.
    pub(crate) fn shape(&self) -> &[u64] {
        self.packed.as_ref().unwrap_or(&self.extents)
    }

    /// The bytes of its elements.
    pub(crate) fn bytes(&self) -> u64 {
        let size = self.extents.iter().fold(1u64, |size, extent| size.saturating_mul(*extent));
        size.saturating_mul(u64::from(self.bits / 8))
    }
}

/// Where the local arrays of one file begin, counted from the first of them, by the numbers of their arrays, which ascend.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Column {
    arrays: Vec<u32>,
    at: Vec<u64>,
}

impl Column {
    /// The column of these arrays and places, in any order.
    fn new(mut places: Vec<(usize, u64)>) -> Result<Column, Error> {
        places.sort_unstable();
        let number = |array: usize| u32::try_from(array).map_err(|_| too_many());
        let arrays = places.iter().map(|(array, _)| number(*array)).collect::<Result<_, _>>()?;
        Ok(Column { arrays, at: places.into_iter().map(|(_, at)| at).collect() })
    }

    /// The arrays with their places.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, u64)> {
        self.arrays.iter().copied().zip(self.at.iter().copied())
    }
}

fn too_many() -> Error {
    Error::new("limit", "more than 4294967295 tensors")
}

/// Where the local arrays of every file begin: where the first does, and the column of all.
#[derive(Clone, Debug, Default)]
pub(crate) struct Places {
    files: Vec<(u64, Arc<Column>)>,
    known: HashMap<Arc<Column>, ()>,
}

impl Places {
    /// Adds a file with these arrays and places; files that begin alike share a column.
    pub(crate) fn push(&mut self, mut places: Vec<(usize, u64)>) -> Result<(), Error> {
        let base = places.iter().map(|(_, at)| *at).min().unwrap_or(0);
        places.iter_mut().for_each(|(_, at)| *at -= base);
        let column = Column::new(places)?;
        let known = self.known.get_key_value(&column).map(|(column, ())| column.clone());
        let column = known.unwrap_or_else(|| Arc::new(column));
        self.known.insert(column.clone(), ());
        self.files.push((base, column));
        Ok(())
    }

    /// Adds a file that begins as that of this number does.
    pub(crate) fn again(&mut self, file: usize) {
        self.files.extend(self.files.get(file).cloned());
    }

    /// The first byte of an array in a file.
    pub(crate) fn at(&self, file: usize, array: usize) -> Option<u64> {
        let (base, column) = self.files.get(file)?;
        let place = column.arrays.binary_search(&u32::try_from(array).ok()?).ok()?;
        column.at.get(place)?.checked_add(*base)
    }

    /// Where the first local array of each file begins, and the column of all.
    pub(crate) fn files(&self) -> &[(u64, Arc<Column>)] {
        &self.files
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
