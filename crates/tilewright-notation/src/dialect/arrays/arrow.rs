//! Apache Arrow: `arrow:shape=(3,5),strides=(20,4),type=float32`, the fields of a Tensor message, and the
//! metadata of the fixed-shape tensor type, `arrow:{"shape":[3,5],"permutation":[1,0]}`.
//!
//! ```text
//! arrow := fields of
//!     shape | strides (bytes; none: row-major) | permutation | type, dtype | dim_names
//! ```
//!
//! Strides are **bytes** and not negative. A tensor begins at the start of its buffer. A permutation is that of the
//! fixed-shape type: dim i of the array is dim permutation\[i\] of the stored shape, which is row-major.
//! Source: Arrow, `format/Tensor.fbs`, "Canonical Extension Types".
//!
//! | text | array | layout |
//! |---|---|---|
//! | `arrow:shape=(3,5),strides=(20,4),type=float32` | | `(3,5):(5,1)` |
//! | `arrow:shape=(3,5)` | | `(3,5):(5,1)` |
//! | `arrow:{"shape":[100,200,500],"permutation":[2,0,1]}` | | `(500,100,200):(1,100000,500)` |
//! | `arrow:shape=(3,5),strides=(22,4),type=float32` | | error: 22 bytes are not a whole number of 4-byte elements |
//! | `arrow:shape=(3,5),strides=(-20,4),type=float32` | | error: does not allow negative strides |
//! | `arrow:{"shape":[3,5],"permutation":[1,1]}` | | error: names each dim once |

use std::sync::Arc;

use super::strided::{
    LibraryArray, StrideUnit, Strided, in_whole_bytes, no_width, not_negative, unsupported,
};
use crate::{
    Error, ResolvedLayout,
    literal::{Literal, LiteralFields, tuple},
    notation::Notation,
    parsed_spec::ParsedSpec,
};

pub(in crate::dialect) const DIALECT: Notation =
    Notation::new("arrow", "Arrow: shape, and strides in bytes", read, print);

const FIELDS: &[&str] = &["shape", "strides", "permutation", "type", "dtype", "dim_names"];

fn read(text: &str) -> Result<Arc<dyn ParsedSpec>, Error> {
    let mut fields = LiteralFields::read(text, "an Arrow tensor", FIELDS, 0)?;
    let mut array = LibraryArray::read(&mut fields, &["shape"], &["type", "dtype"])?;
    let rank = array.dims.len();
    let permutation = fields.take_some(&["permutation"])?;
    if let Some(strides) = fields.take_some(&["strides"])? {
        let values = not_negative(&strides, rank, "Arrow")?;
        if let Some(permutation) = &permutation {
            return Err(Error::parse(permutation.span, "strides and a permutation at once"));
        }
        array.strides = Some((values, StrideUnit::Bytes));
    }
    if let Some(permutation) = permutation {
        permute(&mut array, &permutation)?;
    }
    let text = spell(&array);
    Ok(array.reading(text))
}

/// The logical dims, from the stored ones.
fn permute(array: &mut LibraryArray, permutation: &Literal<'_>) -> Result<(), Error> {
    let order = permutation.dims()?;
    let rank = array.dims.len() as u64;
    let names_each = (0..rank).all(|dim| order.contains(&dim)) && order.len() as u64 == rank;
    if !names_each {
        return Err(Error::parse(permutation.span, "a permutation names each dim once, from 0 on"));
    }
    let stored = array.dims.clone();
    let dim = |at: &u64| usize::try_from(*at).ok().and_then(|at| stored.get(at)).copied();
    array.dims = order.iter().filter_map(dim).collect();
    // The stored dims are row-major: the last one is the fastest.
    let logical = |at: u64| order.iter().position(|other| *other == at).map(|at| at as u64);
    array.minor_to_major = Some((0..rank).rev().filter_map(logical).collect());
    Ok(())
}

fn spell(array: &LibraryArray) -> String {
    if let Some(order) = &array.minor_to_major {
        let at =
            |dim: &u64| usize::try_from(*dim).ok().and_then(|dim| array.dims.get(dim)).copied();
        let stored: Vec<u64> = order.iter().rev().filter_map(at).collect();
        let place = |dim: u64| order.iter().rev().position(|other| *other == dim);
        let permutation: Vec<usize> = (0..array.dims.len() as u64).filter_map(place).collect();
        let dtype = array.dtype.map_or(String::new(), |dtype| format!(",type={dtype}"));
        return format!("shape={},permutation={}{dtype}", tuple(&stored), tuple(&permutation));
    }
    let mut text = format!("shape={}", tuple(&array.dims));
    if let Some((strides, _)) = &array.strides {
        text += &format!(",strides={}", tuple(strides));
    }
    if let Some(dtype) = array.dtype {
        text += &format!(",type={dtype}");
    }
    text
}

/// The layout as a tensor message.
fn print(named: &ResolvedLayout) -> Result<String, Error> {
    let strided = Strided::of(named.layout(), "Arrow")?;
    if strided.offset != 0 {
        return Err(unsupported(format!(
            "element 0 lies {} elements into the storage; an Arrow tensor begins at its buffer",
            strided.offset
        )));
    }
    if strided.strides.iter().any(|stride| *stride < 0) {
        return Err(unsupported("Arrow does not allow negative strides"));
    }
    let mut array = LibraryArray::dense(strided.dims.clone());
    match in_whole_bytes(named, "Arrow")? {
        Some(element) => array.set_bytes(&strided, element)?,
        None if strided.is_row_major() => {}
        // A permutation needs no width.
        None => match strided.minor_to_major() {
            Some(order) => array.minor_to_major = Some(order),
            None => return Err(no_width("Arrow")),
        },
    }
    Ok(format!("arrow:{}", spell(&array)))
}
