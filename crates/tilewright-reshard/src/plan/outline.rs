//! The arrays of a checkpoint as a plan stores them: equal values are stored once. The name of a job is computed from
//! it, too.
//!
//! ```text
//! laid     local arrays: element type, extents, SPEC if they are not row-major
//! held     pieces of an array: its extents, the files with their local arrays, the boxes in them
//! arrays   names, each with the number of its pieces
//! columns  offsets of arrays in a file, relative to the first; files with equal ones share a column
//! files    the offset of the first array in each file, and the number of its column
//! ```
//!
//! Therefore a plan grows with the number of tensors plus the number of files, not with their product, and its readers
//! open no header. The arrays that are read are checked as headers are: boxes are within their arrays and cover the
//! whole.

use std::{collections::HashMap, sync::Arc};

use serde::{Deserialize, Serialize};
use tilewright_core::TensorLayout;
use tilewright_notation::Spec;
use tilewright_sharded::Piece;

use crate::{
    Error,
    plan::array::{Laid, LocalArrays, LocalOffsets, ReshardedArray, StoredArray},
    source::{identity::hash, lists},
};

/// The arrays, with equal values stored once.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Outline {
    laid: Vec<LaidText>,
    held: Vec<HeldText>,
    arrays: Vec<(String, usize)>,
    columns: Vec<Vec<(u32, u64)>>,
    files: Vec<(u64, usize)>,
}

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct LaidText {
    dtype: String,
    /// The width of an element in bits: a byte for BOOL, whose values need one bit.
    bits: u32,
    dims: Vec<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    spec: Option<String>,
    /// The shape of elements narrower than a byte, of which `dims` counts the bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    packed: Option<Vec<u64>>,
    /// True for big-endian elements.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    big: bool,
}

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct HeldText {
    extents: Vec<u64>,
    /// The numbers of files and of local arrays.
    stored: Vec<(usize, usize)>,
    /// For each box: an index into `stored`, the first index, the extents, and the first index in the local array.
    pieces: Vec<Vec<u64>>,
    /// Boxes that repeat these and are not read, in the same form.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    copies: Vec<Vec<u64>>,
}

/// The numbers of values by their address, in the order in which they were first seen.
struct AddressNumbers<T>(HashMap<*const T, usize>);

impl<T> AddressNumbers<T> {
    /// Returns the number of a value, and whether it is new.
    fn of(&mut self, value: &Arc<T>) -> (usize, bool) {
        let next = self.0.len();
        let number = *self.0.entry(Arc::as_ptr(value)).or_insert(next);
        (number, number == next)
    }
}

impl Outline {
    /// Makes the outline of these arrays.
    pub(crate) fn of(arrays: &[ReshardedArray], places: &LocalOffsets) -> Outline {
        let mut outline = Outline::default();
        let (mut laid, mut held) = (AddressNumbers(HashMap::new()), AddressNumbers(HashMap::new()));
        for array in arrays {
            let (number, is_new) = held.of(&array.held);
            if is_new {
                let text = outline.held(array, &mut laid);
                outline.held.push(text);
            }
            outline.arrays.push((array.name.to_string(), number));
        }
        let mut columns = AddressNumbers(HashMap::new());
        for (base, column) in places.files() {
            let (number, is_new) = columns.of(column);
            if is_new {
                outline.columns.push(column.iter().collect());
            }
            outline.files.push((*base, number));
        }
        outline
    }

    /// Returns the hash of the whole outline.
    pub(crate) fn sum(&self) -> Result<String, Error> {
        let text = serde_json::to_string(self);
        text.map(|text| hash(text.as_bytes())).map_err(|error| Error::usage(error.to_string()))
    }

    fn held(&mut self, array: &ReshardedArray, numbers: &mut AddressNumbers<Laid>) -> HeldText {
        let mut stored = Vec::new();
        for local in &array.held.stored {
            let (number, is_new) = numbers.of(&local.laid);
            if is_new {
                let Laid { file_dtype, bits, spec, .. } = &*local.laid;
                let (dims, spec) = (local.laid.dims().to_vec(), spec.clone());
                let dtype = file_dtype.clone();
                let (packed, big) = (local.laid.packed(), local.laid.big);
                self.laid.push(LaidText { dtype, bits: *bits, dims, spec, packed, big });
            }
            stored.push((local.file, number));
        }
        let piece = |piece: &Piece| {
            let numbers = piece.start.iter().chain(&piece.extents).chain(&piece.local);
            std::iter::once(&piece.source).chain(numbers).copied().collect()
        };
        let pieces = array.held.pieces.iter().map(piece).collect();
        let copies = array.held.copies.iter().map(piece).collect();
        HeldText { extents: array.extents.clone(), stored, pieces, copies }
    }

    /// Returns the arrays, after checks against this number of files.
    pub(crate) fn arrays(self, files: usize) -> Result<(Vec<ReshardedArray>, LocalOffsets), Error> {
        let laid = self.laid.into_iter().map(|text| Ok(Arc::new(text.laid()?)));
        let laid: Vec<Arc<Laid>> = laid.collect::<Result<_, Error>>()?;
        let held = self.held.into_iter().map(|text| text.held(&laid, files));
        let held: Vec<(Vec<u64>, Arc<LocalArrays>)> = held.collect::<Result<_, Error>>()?;
        let array = |(name, number): (String, usize)| {
            let (extents, held) = held.get(number).ok_or_else(wrong)?;
            let laid = &held.stored.first().ok_or_else(wrong)?.laid;
            Ok(ReshardedArray::of(name.into(), laid, extents.clone(), held.clone()))
        };
        let arrays = self.arrays.into_iter().map(array).collect::<Result<_, Error>>()?;
        let (mut places, mut first) = (LocalOffsets::default(), HashMap::new());
        for (file, (base, number)) in self.files.iter().enumerate() {
            let known = *first.entry((base, number)).or_insert(file);
            if known < file {
                places.again(known);
                continue;
            }
            let column = self.columns.get(*number).ok_or_else(wrong)?;
            let place = |(array, at): &(u32, u64)| Some((*array as usize, at.checked_add(*base)?));
            let column = column.iter().map(place).collect::<Option<Vec<_>>>();
            places.push(column.ok_or_else(wrong)?)?;
        }
        Ok((arrays, places))
    }
}

impl LaidText {
    fn laid(self) -> Result<Laid, Error> {
        let LaidText { dtype: file_dtype, bits, dims, spec, packed, big } = self;
        let dtype = tilewright_notation::dtype(&file_dtype).map_err(Error::without_span)?;
        let plain = TensorLayout::row_major(&dims)?;
        let (layout, shape) = match &spec {
            None => (plain, dims),
            Some(text) => {
                let named = Spec::parse(text).and_then(|it| it.resolve(Some(&dims), Some(dtype)));
                let named = named.map_err(Error::without_span)?;
                (named.layout().clone(), named.storage_shape())
            }
        };
        let is_packed = packed.is_some();
        let shape = packed.unwrap_or(shape);
        let size = layout.extents().iter().try_fold(1u64, |size, n| size.checked_mul(*n));
        let fits = !is_packed || lists::bytes(&shape, dtype) == size;
        match bits > 0 && bits % 8 == 0 && bits <= 128 && fits {
            true => {
                Ok(Laid { file_dtype, dtype, bits, layout, shape, spec, packed: is_packed, big })
            }
            false => Err(wrong()),
        }
    }
}

impl HeldText {
    fn held(self, laid: &[Arc<Laid>], files: usize) -> Result<(Vec<u64>, Arc<LocalArrays>), Error> {
        let rank = self.extents.len();
        let _ = TensorLayout::row_major(&self.extents)?;
        let stored = |(file, number): (usize, usize)| {
            let laid = laid.get(number).filter(|laid| laid.dims().len() == rank);
            let laid = laid.filter(|_| file < files).ok_or_else(wrong)?;
            Ok(StoredArray { file, laid: laid.clone() })
        };
        let stored = self.stored.into_iter().map(stored).collect::<Result<Vec<_>, Error>>()?;
        let elements = |laid: &Laid| (laid.dtype, laid.bits);
        let mut pairs = stored.windows(2);
        if pairs.any(|pair| elements(&pair[0].laid) != elements(&pair[1].laid)) {
            return Err(wrong());
        }
        let piece = |numbers: Vec<u64>| {
            let part = |nth: usize| numbers.get(1 + nth * rank..1 + (nth + 1) * rank);
            let (start, extents, local) = (part(0)?, part(1)?, part(2)?);
            let source = *numbers.first()?;
            let dims = stored.get(usize::try_from(source).ok()?)?.laid.dims();
            let fits = |((local, size), dim): ((&u64, &u64), &u64)| {
                local.checked_add(*size).is_some_and(|end| end <= *dim)
            };
            let is_within = local.iter().zip(extents).zip(dims).all(fits);
            let [start, extents, local] = [start, extents, local].map(<[u64]>::to_vec);
            is_within.then_some(Piece { source, start, extents, local })
        };
        let read = |boxes: Vec<Vec<u64>>| boxes.into_iter().map(piece).collect::<Option<Vec<_>>>();
        let pieces = read(self.pieces).ok_or_else(wrong)?;
        let copies = read(self.copies).ok_or_else(wrong)?;
        let held = LocalArrays { pieces, copies, stored };
        let held = held.settle("of a plan", &self.extents, &|_| String::new())?;
        Ok((self.extents, Arc::new(held)))
    }
}

fn wrong() -> Error {
    Error::new("corrupt", "it holds numbers that do not fit each other")
}
