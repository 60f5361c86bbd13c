//! What dialects with one stride a dim share.
//!
//! [`Strided`] is a layout as dims, strides and an offset, or the feature that such a dialect cannot express.
//! [`LibraryArray`] is an array of NumPy, PyTorch, DLPack or Arrow: dims, perhaps strides, an offset and an element
//! type. These differ in what strides and offset count, and in their words.

use std::{fmt, sync::Arc};

use tilewright_core::{Dtype, Layout, Mode, TensorLayout};

use crate::{
    Error, ResolvedLayout,
    dtype::dtype,
    literal::{Literal, LiteralFields},
    parsed_spec::{Given, ParsedSpec},
};

/// Dims with one stride each, in elements.
#[derive(Clone, Debug)]
pub(in crate::dialect) struct Strided {
    pub(in crate::dialect) dims: Vec<u64>,
    pub(in crate::dialect) strides: Vec<i64>,
    pub(in crate::dialect) offset: i64,
}

pub(in crate::dialect) fn unsupported(message: impl Into<String>) -> Error {
    Error::unsupported(message)
}

impl Strided {
    /// Converts a layout to dims, strides and an offset; errors name `who`, the notation.
    pub(in crate::dialect) fn of(tensor: &TensorLayout, who: &str) -> Result<Strided, Error> {
        check_affine(tensor, who)?;
        let mut strides = Vec::new();
        for (dim, &extent) in tensor.extents().iter().enumerate() {
            strides.push(single_stride(
                tensor.layout().axis(dim).unwrap_or(&[]),
                extent,
                dim,
                who,
            )?);
        }
        let dims = tensor.extents().to_vec();
        let strided = Strided { dims, strides, offset: tensor.layout().offset() };
        let spanned = strided.layout()?.capacity();
        if spanned != tensor.capacity() {
            return Err(unsupported(format!(
                "{who} cannot express padding: {} elements of storage, of which the array spans {spanned}",
                tensor.capacity()
            )));
        }
        Ok(strided)
    }

    pub(in crate::dialect) fn layout(&self) -> Result<TensorLayout, Error> {
        let modes = self.dims.iter().zip(&self.strides);
        let modes: Vec<Mode> = modes.map(|(&extent, &stride)| Mode::new(extent, stride)).collect();
        Ok(TensorLayout::of(&Layout::flat(&modes)?.with_offset(self.offset)?))
    }

    /// Returns whether these are the strides of the dense array in row-major order. Strides of dims with at most
    /// one coordinate, and of empty arrays, move nothing and may be any.
    pub(in crate::dialect) fn is_row_major(&self) -> bool {
        self.is_dense((0..self.dims.len()).rev())
    }

    pub(in crate::dialect) fn is_col_major(&self) -> bool {
        self.is_dense(0..self.dims.len())
    }

    /// The dims of a dense array, fastest first; `None` where there are gaps, overlaps or turns.
    pub(in crate::dialect) fn minor_to_major(&self) -> Option<Vec<u64>> {
        let mut order: Vec<usize> = (0..self.dims.len()).collect();
        // Dims with one coordinate move nothing.
        tilewright_core::sort_short(&mut order, |&dim| {
            (self.dims.get(dim) > Some(&1), self.strides.get(dim).copied())
        });
        let dense = self.is_dense(order.iter().copied());
        dense.then(|| order.iter().map(|&dim| dim as u64).collect())
    }

    fn is_dense(&self, mut minor_to_major: impl Iterator<Item = usize>) -> bool {
        if self.dims.contains(&0) {
            return true;
        }
        let mut dense = 1i128;
        minor_to_major.all(|dim| {
            let extent = i128::from(self.dims.get(dim).copied().unwrap_or(1));
            let stride = self.strides.get(dim).copied().map_or(0, i128::from);
            let fits = extent == 1 || stride == dense;
            dense = dense.saturating_mul(extent);
            fits
        })
    }
}

/// Refuses layouts without strides.
pub(in crate::dialect) fn check_affine(tensor: &TensorLayout, who: &str) -> Result<(), Error> {
    if !tensor.is_strided() {
        return Err(unsupported(format!(
            "dims are merged, or tiled by tiles that do not divide one another; {who} has strides only"
        )));
    }
    if !tensor.layout().swizzle().is_identity() {
        return Err(unsupported(format!("{who} cannot express a swizzle")));
    }
    Ok(())
}

/// The one stride of a dim whose digits go on from one another.
fn single_stride(modes: &[Mode], extent: u64, dim: usize, who: &str) -> Result<i64, Error> {
    let mut moving = modes.iter().filter(|mode| mode.extent() > 1);
    let Some(first) = moving.next() else {
        return Ok(modes.first().map_or(0, |mode| mode.stride()));
    };
    let mut covered = first.extent();
    for mode in moving {
        if covered >= extent {
            break;
        }
        if i128::from(mode.stride()) != i128::from(first.stride()) * i128::from(covered) {
            return Err(unsupported(format!(
                "dim {dim} steps by {} within {covered} elements and by {} between them; {who} has one stride per dim",
                first.stride(),
                mode.stride()
            )));
        }
        covered = covered.saturating_mul(mode.extent());
    }
    Ok(first.stride())
}

/// The unit of a stride or an offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::dialect) enum StrideUnit {
    Elements,
    Bytes,
}

/// An array in the words of one of the libraries.
#[derive(Clone, Debug)]
pub(in crate::dialect) struct LibraryArray {
    pub(in crate::dialect) dims: Vec<u64>,
    pub(in crate::dialect) strides: Option<(Vec<i64>, StrideUnit)>,
    /// Without strides: the dims, fastest first; row-major if it is not given.
    pub(in crate::dialect) minor_to_major: Option<Vec<u64>>,
    pub(in crate::dialect) offset: (i64, StrideUnit),
    pub(in crate::dialect) dtype: Option<Dtype>,
    pub(in crate::dialect) bits: Option<u32>,
}

impl LibraryArray {
    /// A dense array in row-major order.
    pub(in crate::dialect) fn dense(dims: Vec<u64>) -> LibraryArray {
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
    pub(in crate::dialect) fn read(
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
    pub(in crate::dialect) fn set_bytes(
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
    pub(in crate::dialect) fn reading(self, text: String) -> Arc<dyn ParsedSpec> {
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

impl ParsedSpec for CanonicalArray {
    fn is_concrete(&self) -> bool {
        true
    }

    fn fits(&self, rank: usize) -> bool {
        rank == self.array.dims.len()
    }

    fn resolve(&self, given: &Given<'_>) -> Result<ResolvedLayout, Error> {
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
        Ok(ResolvedLayout {
            bits: self.array.bits,
            ..ResolvedLayout::plain(layout, &Given { dtype, ..*given })
        })
    }
}

/// The element type that a field names.
pub(in crate::dialect) fn read_dtype(value: &Literal<'_>) -> Result<Dtype, Error> {
    let word = value.word()?;
    dtype(word).map_err(|error| Error::parse(value.span, error.message()))
}

/// One stride a dim, in a notation that has none below 0.
pub(in crate::dialect) fn not_negative(
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
pub(in crate::dialect) fn in_whole_bytes(
    named: &ResolvedLayout,
    who: &str,
) -> Result<Option<(Dtype, i64)>, Error> {
    let Some(dtype) = named.dtype() else { return Ok(None) };
    let Some(bits) = dtype.storage_bits() else { return Err(in_blocks(dtype)) };
    if named.element_bits() != Some(bits) {
        return Err(unsupported(format!("elements of {who} have the width of their dtype")));
    }
    Ok(Some((dtype, i64::from(bits / 8))))
}

/// The refusal of a notation in bytes where elements share theirs.
pub(in crate::dialect) fn in_blocks(dtype: Dtype) -> Error {
    let unit = dtype.unit();
    let (bytes, elements) = (unit.bytes, unit.elements);
    unsupported(format!(
        "{elements} elements of {dtype} share {bytes} bytes; none has its own address"
    ))
}

/// A number of elements, as bytes.
pub(in crate::dialect) fn in_bytes(elements: i64, bytes: i64) -> Result<i64, Error> {
    elements.checked_mul(bytes).ok_or_else(|| {
        Error::overflow(format!("{elements} elements of {bytes} bytes overflow 64 bits"))
    })
}

/// The refusal of a notation in bytes where the width is not known.
pub(in crate::dialect) fn no_width(who: &str) -> Error {
    unsupported(format!("{who} counts strides in bytes, but the dtype is not known"))
}
