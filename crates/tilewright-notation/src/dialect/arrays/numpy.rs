//! NumPy: `numpy:shape=(3,5),strides=(20,4),dtype=f32`, and the dictionaries of `__array_interface__`.
//!
//! ```text
//! numpy := fields of
//!     shape | typestr, dtype | strides (bytes; None: dense) | offset (bytes) | order ('C', 'F')
//!   | data, version, descr, stream, mask             of an interface; a mask is refused
//! ```
//!
//! Strides and offset are **bytes**; the offset is the start of element 0 in the buffer. Without strides the array is
//! dense in its order. Codes have a byte order, `<f4`, or none, `f4`. `u1`, `u2` and `u4` count bytes in NumPy and bits
//! everywhere else, so they are refused. Source: NumPy, "The array interface protocol",
//! `ndarray.strides`.
//!
//! | text | array | layout |
//! |---|---|---|
//! | `numpy:shape=(3,5),strides=(20,4),dtype=f32` | | `(3,5):(5,1)` |
//! | `numpy:shape=(3,5),order=F` | | `(3,5):(1,3)` |
//! | `numpy:shape=(4,),strides=(-8,),offset=24,dtype=<f4` | | `(4):(-2)+6` |
//! | `numpy:shape=(2,3),strides=(0,8),dtype=f64` | | `(2,3):(0,1)` |
//! | `numpy:shape=(3,5),strides=(20,4),dtype=dtype('f4')` | | `(3,5):(5,1)` |
//! | `{'data': (94, False), 'strides': None, 'descr': [('', '<f4')], 'typestr': '<f4', 'shape': (2, 3), 'version': 3}` | | `(2,3):(3,1)` |
//! | `{"shape": [2, 3], "typestr": "\|u1", "strides": [1, 2], "version": 3}` | | `(2,3):(1,2)` |
//! | `numpy:shape=(3,5),strides=(20,5),dtype=f32` | | error: 5 bytes are not a whole number of 4-byte elements |
//! | `numpy:shape=(3,5),strides=(20,4),offset=2,dtype=f32` | | error: 2 bytes are not a whole number |
//! | `numpy:shape=(3,5),dtype=>f4` | | error: is big-endian |
//! | `numpy:shape=(3,5),strides=(20,4),dtype=u4` | | error: 4 bits or 4 bytes |
//! | `numpy:shape=(3,5),order=K` | | error: an order is `C` or `F` |
//! | `numpy:shape=(3,5),mask=(1,)` | | error: a mask |

use std::sync::Arc;

use tilewright_core::Dtype;

use super::strided::{LibraryArray, StrideUnit, Strided, in_whole_bytes, no_width, read_dtype};
use crate::{
    Error, ResolvedLayout,
    dtype::code_name,
    literal::{Literal, LiteralFields, python_tuple},
    notation::Notation,
    parsed_spec::ParsedSpec,
};

pub(in crate::dialect) const DIALECT: Notation =
    Notation::new("numpy", "NumPy: shape, and strides in bytes", read, print)
        .with_aliases(&["np"])
        .with_form(claims);

/// The dictionary of an interface.
fn claims(text: &str) -> bool {
    text.starts_with('{') && text.contains("typestr")
}

const FIELDS: &[&str] = &[
    "shape", "strides", "dtype", "offset", "order", "typestr", "data", "version", "descr",
    "stream", "mask",
];

fn read(text: &str) -> Result<Arc<dyn ParsedSpec>, Error> {
    let mut fields = LiteralFields::read(text, "a NumPy array", FIELDS, 0)?;
    let mut array = LibraryArray::read(&mut fields, &["shape"], &[])?;
    let rank = array.dims.len();
    let strides = fields.take_some(&["strides"])?;
    let order = fields.take_some(&["order"])?;
    if let (Some(_), Some(order)) = (&strides, &order) {
        return Err(Error::parse(order.span, "strides and an order at once; leave one out"));
    }
    if let Some(strides) = strides {
        array.strides = Some((strides.strides(rank)?, StrideUnit::Bytes));
    }
    if let Some(order) = order
        && is_columns(&order)?
    {
        array.minor_to_major = Some((0..rank as u64).collect());
    }
    if let Some(offset) = fields.take(&["offset"])? {
        array.offset = (offset.signed()?, StrideUnit::Bytes);
    }
    let named = fields.take_some(&["dtype", "typestr"])?;
    array.dtype = named.as_ref().map(element).transpose()?;
    if let Some(mask) = fields.take_some(&["mask"])? {
        return Err(Error::parse(
            mask.span,
            "a mask says which elements count, not where they are",
        ));
    }
    let text = spell(&array);
    Ok(array.reading(text))
}

/// The type that a field names, also by a code without a byte order.
fn element(value: &Literal<'_>) -> Result<Dtype, Error> {
    let word = value.word()?;
    let Some(code) = code_name(word) else { return read_dtype(value) };
    match Dtype::named(word) {
        None => Ok(code),
        Some(narrow) if narrow.bits().is_some_and(|bits| bits < 8) => {
            let size = &word[1..];
            let message = format!(
                "`{word}` has {size} bits or {size} bytes, depending on the library; write `uint{size}` or `<{word}`"
            );
            Err(Error::parse(value.span, message))
        }
        Some(named) => Ok(named),
    }
}

/// A name that NumPy's codes do not take for another type.
fn spell_element(dtype: Dtype) -> String {
    match dtype.bits() {
        Some(bits) if bits < 8 && code_name(dtype.name()).is_some() => format!("uint{bits}"),
        _ => dtype.to_string(),
    }
}

fn is_columns(order: &Literal<'_>) -> Result<bool, Error> {
    match order.word()? {
        "C" => Ok(false),
        "F" => Ok(true),
        _ => Err(Error::parse(order.span, "an order is `C` or `F`")),
    }
}

fn spell(array: &LibraryArray) -> String {
    let mut text = format!("shape={}", python_tuple(&array.dims));
    if let Some((strides, _)) = &array.strides {
        text += &format!(",strides={}", python_tuple(strides));
    }
    if array.offset.0 != 0 {
        text += &format!(",offset={}", array.offset.0);
    }
    if array.minor_to_major.is_some() {
        text += ",order=F";
    }
    if let Some(dtype) = array.dtype {
        text += &format!(",dtype={}", spell_element(dtype));
    }
    text
}

/// The layout as a NumPy array.
fn print(named: &ResolvedLayout) -> Result<String, Error> {
    let strided = Strided::of(named.layout(), "NumPy")?;
    let mut array = LibraryArray::dense(strided.dims.clone());
    match in_whole_bytes(named, "NumPy")? {
        Some(element) => array.set_bytes(&strided, element)?,
        // A dense array needs no strides, so no width either.
        None if strided.offset != 0 => return Err(no_width("NumPy")),
        None if strided.is_row_major() => {}
        None if strided.is_col_major() => {
            array.minor_to_major = Some((0..array.dims.len() as u64).collect());
        }
        None => return Err(no_width("NumPy")),
    }
    Ok(format!("numpy:{}", spell(&array)))
}
