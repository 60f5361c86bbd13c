//! The common part of NumPy, PyTorch, DLPack and Arrow: an array as dims, perhaps strides, an offset and
//! an element type. They differ in what strides and offset count, and in their words.

use std::{fmt, sync::Arc};

use tilewright_core::{Dtype, TensorLayout};

use super::strided::{Strided, unsupported};
use crate::{
    Error, Named,
    dtype::dtype,
    literal::{Literal, LiteralFields},
    reading::{Given, Reading, Resolved},
};

/// The unit of a stride or an offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StrideUnit {
    Elements,
    Bytes,
}

/// An array in the words of one of the libraries.
#[derive(Clone, Debug)]
pub(super) struct LibraryArray {
    pub(super) dims: Vec<u64>,
    pub(super) strides: Option<(Vec<i64>, StrideUnit)>,
    /// Without strides: the dims, fastest first; row-major if it is not given.
    pub(super) minor_to_major: Option<Vec<u64>>,
    pub(super) offset: (i64, StrideUnit),
    pub(super) dtype: Option<Dtype>,
    pub(super) bits: Option<u32>,
}

impl LibraryArray {
    /// A dense array in row-major order.
    pub(super) fn dense(dims: Vec<u64>) -> LibraryArray {
        LibraryArray {
            dims,
            strides: None,
            minor_to_major: None,
            offset: (0, StrideUnit::Elements),
            dtype: None,
            bits: None,
        }
    }

    /// A dense array with the dims and the type of these fields, whatever they are called.
    pub(super) fn read(
        fields: &mut LiteralFields<'_>,
        dims: &[&str],
        dtype: &[&str],
    ) -> Result<LibraryArray, Error> {
        let mut array = LibraryArray::dense(fields.need(dims)?.dims()?);
        let named = fields.take_some(dtype)?;
        array.dtype = named.as_ref().map(read_dtype).transpose()?;
        Ok(array)
    }

    /// Sets strides and offset, in bytes of elements of this type.
    pub(super) fn set_bytes(
        &mut self,
        strided: &Strided,
        (dtype, bytes): (Dtype, i64),
    ) -> Result<(), Error> {
        let strides = strided.strides.iter().map(|stride| in_bytes(*stride, bytes));
        self.strides = Some((strides.collect::<Result<_, _>>()?, StrideUnit::Bytes));
        self.offset = (in_bytes(strided.offset, bytes)?, StrideUnit::Bytes);
        self.dtype = Some(dtype);
        Ok(())
    }

    /// As a reading that prints as `text`.
    pub(super) fn reading(self, text: String) -> Arc<dyn Reading> {
        Arc::new(CanonicalArray { text, array: self })
    }

    fn needs_width(&self) -> bool {
        let strides = self.strides.as_ref().is_some_and(|(_, unit)| *unit == StrideUnit::Bytes);
        strides || (self.offset.0 != 0 && self.offset.1 == StrideUnit::Bytes)
    }

    /// The layout in elements of `width` bytes.
    fn layout(&self, width: i64) -> Result<TensorLayout, Error> {
        let offset = elements(self.offset.0, self.offset.1, width)?;
        if let Some((strides, unit)) = &self.strides {
            let strides = strides.iter().map(|stride| elements(*stride, *unit, width));
            let strides = strides.collect::<Result<_, _>>()?;
            return Strided { dims: self.dims.clone(), strides, offset }.layout();
        }
        let dense = match &self.minor_to_major {
            Some(order) => TensorLayout::ordered(&self.dims, order)?,
            None => TensorLayout::row_major(&self.dims)?,
        };
        Ok(TensorLayout::of(&dense.layout().with_offset(offset)?))
    }
}

/// A number of bytes or elements, as elements.
fn elements(number: i64, unit: StrideUnit, width: i64) -> Result<i64, Error> {
    match unit {
        StrideUnit::Elements => Ok(number),
        StrideUnit::Bytes if number % width == 0 => Ok(number / width),
        StrideUnit::Bytes => Err(unsupported(format!(
            "{number} bytes are not a whole number of {width}-byte elements"
        ))),
    }
}

/// An array with its canonical text.
#[derive(Debug)]
struct CanonicalArray {
    text: String,
    array: LibraryArray,
}

impl fmt::Display for CanonicalArray {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Reading for CanonicalArray {
    fn is_concrete(&self) -> bool {
        true
    }

    fn fits(&self, rank: usize) -> bool {
        rank == self.array.dims.len()
    }

    fn resolve(&self, given: &Given<'_>) -> Result<Resolved, Error> {
        given.agree_dims(self, &self.array.dims)?;
        let dtype = given.agree_dtype(self, self.array.dtype)?;
        let bits = self.array.bits.or_else(|| dtype?.storage_bits());
        let width = match bits {
            Some(bits) => i64::from(bits / 8).max(1),
            None if self.array.needs_width() => {
                let dtype = given.agree_dtype(self, self.array.dtype)?;
                let dtype = Given { dtype, ..*given }.need_dtype(self, "its strides in bytes")?;
                return Err(in_blocks(dtype));
            }
            None => 1,
        };
        let layout = self.array.layout(width)?;
        Ok(Resolved {
            bits: self.array.bits,
            ..Resolved::plain(layout, &Given { dtype, ..*given })
        })
    }
}

/// The element type that a field names.
pub(super) fn read_dtype(value: &Literal<'_>) -> Result<Dtype, Error> {
    let word = value.word()?;
    dtype(word).map_err(|error| Error::parse(value.span, error.message()))
}

/// One stride a dim, in a notation that has none below 0.
pub(super) fn not_negative(
    strides: &Literal<'_>,
    rank: usize,
    who: &str,
) -> Result<Vec<i64>, Error> {
    let values = strides.strides(rank)?;
    if values.iter().any(|stride| *stride < 0) {
        return Err(Error::parse(strides.span, format!("{who} does not allow negative strides")));
    }
    Ok(values)
}

/// The type and the bytes of an element, of a layout that is to be expressed in bytes.
pub(super) fn in_whole_bytes(named: &Named, who: &str) -> Result<Option<(Dtype, i64)>, Error> {
    let Some(dtype) = named.dtype() else { return Ok(None) };
    let Some(bits) = dtype.storage_bits() else { return Err(in_blocks(dtype)) };
    if named.element_bits() != Some(bits) {
        return Err(unsupported(format!("elements of {who} have the width of their dtype")));
    }
    Ok(Some((dtype, i64::from(bits / 8))))
}

/// The refusal of a notation in bytes where elements share theirs.
pub(super) fn in_blocks(dtype: Dtype) -> Error {
    let unit = dtype.unit();
    let (bytes, elements) = (unit.bytes, unit.elements);
    unsupported(format!(
        "{elements} elements of {dtype} share {bytes} bytes; none has its own address"
    ))
}

/// A number of elements, as bytes.
pub(super) fn in_bytes(elements: i64, bytes: i64) -> Result<i64, Error> {
    elements.checked_mul(bytes).ok_or_else(|| {
        Error::overflow(format!("{elements} elements of {bytes} bytes overflow 64 bits"))
    })
}

/// The refusal of a notation in bytes where the width is not known.
pub(super) fn no_width(who: &str) -> Error {
    unsupported(format!("{who} counts strides in bytes, but the dtype is not known"))
}
