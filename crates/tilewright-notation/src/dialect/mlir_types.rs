//! The types of MLIR: `3x?x5xf32` and the names of elements, for all dialects that write them.

use std::fmt;

use tilewright_core::MAX_MODES;
use tilewright_xla::PrimitiveType;

use crate::{
    dtype::dtype,
    error::{Error, Kind},
    reading::Given,
    scan::{Scanner, tuple},
};

/// The dims, of which `None` are dynamic, and the type of the elements.
pub(super) type Shape = (Vec<Option<u64>>, PrimitiveType);

/// `3x?x5xf32`.
pub(super) fn read_shape(scan: &mut Scanner<'_>) -> Result<Shape, Error> {
    let mut dims = Vec::new();
    loop {
        scan.skip();
        let from = scan.at();
        if scan.eat("*") {
            return Err(Error::parse((from, scan.at()), "a type of no rank has no layout"));
        }
        let dynamic = scan.eat("?");
        if !dynamic && !scan.peek().is_some_and(|c| c.is_ascii_digit()) {
            break;
        }
        if dims.len() == MAX_MODES {
            return Err(scan.expected("at most 32 dims"));
        }
        dims.push(if dynamic { None } else { Some(scan.integer()?) });
        scan.expect("x")?;
    }
    let from = scan.at();
    let name = scan.take(|c| c.is_ascii_alphanumeric());
    let complex = name == "complex" && scan.eat("<");
    let name = if complex {
        let inner = scan.take(|c| c.is_ascii_alphanumeric());
        scan.expect(">")?;
        format!("complex<{inner}>")
    } else {
        name.to_owned()
    };
    let span = (from, scan.at());
    let element = type_of(&name).ok_or_else(|| {
        Error::parse(
            span,
            format!("no element type of MLIR is called `{name}`, such as f32, i8, ui8"),
        )
    })?;
    Ok((dims, element))
}

/// MLIR's names of types that are spelled otherwise elsewhere.
const TYPES: &[(&str, &str)] = &[
    ("i1", "pred"),
    ("i2", "s2"),
    ("i4", "s4"),
    ("i8", "s8"),
    ("i16", "s16"),
    ("i32", "s32"),
    ("i64", "s64"),
    ("index", "s64"),
    ("ui2", "u2"),
    ("ui4", "u4"),
    ("ui8", "u8"),
    ("ui16", "u16"),
    ("ui32", "u32"),
    ("ui64", "u64"),
    ("complex<f32>", "c64"),
    ("complex<f64>", "c128"),
    ("f8E5M2", "f8e5m2"),
    ("f8E4M3", "f8e4m3"),
    ("f8E4M3FN", "f8e4m3fn"),
    ("f8E4M3B11FNUZ", "f8e4m3b11fnuz"),
    ("f8E4M3FNUZ", "f8e4m3fnuz"),
    ("f8E5M2FNUZ", "f8e5m2fnuz"),
    ("f8E3M4", "f8e3m4"),
    ("f8E8M0FNU", "f8e8m0fnu"),
    ("f4E2M1FN", "f4e2m1fn"),
    ("f16", "f16"),
    ("bf16", "bf16"),
    ("f32", "f32"),
    ("f64", "f64"),
];

/// The element type of this name.
pub(super) fn type_of(name: &str) -> Option<PrimitiveType> {
    // A signed integer may be marked as one.
    let name = name.strip_prefix('s').filter(|rest| rest.starts_with('i')).unwrap_or(name);
    let row = TYPES.iter().find(|(other, _)| *other == name)?;
    dtype(row.1).ok()
}

/// MLIR's name of an element type.
pub(super) fn mlir_name(dtype: PrimitiveType) -> Option<&'static str> {
    let row = TYPES.iter().find(|(name, other)| *other == dtype.name() && *name != "index");
    row.map(|(name, _)| *name)
}

/// `3x?x5xf32`.
pub(super) fn spell_shape((dims, dtype): &Shape) -> String {
    let dim = |dim: &Option<u64>| dim.map_or("?x".to_owned(), |dim| format!("{dim}x"));
    let dims: String = dims.iter().map(dim).collect();
    format!("{dims}{}", mlir_name(*dtype).unwrap_or(dtype.name()))
}

/// The dims, if none is dynamic.
pub(super) fn static_dims(shape: Option<&Shape>) -> Option<Vec<u64>> {
    shape?.0.iter().copied().collect()
}

/// The array that a text with this shape, or with none, is of.
pub(super) fn array(
    shape: Option<&Shape>,
    text: &dyn fmt::Display,
    given: &Given<'_>,
) -> Result<(Vec<u64>, Option<PrimitiveType>), Error> {
    let dtype = given.agree_dtype(text, shape.map(|(_, dtype)| *dtype))?;
    if let Some(own) = static_dims(shape) {
        given.agree_dims(text, &own)?;
        return Ok((own, dtype));
    }
    let dims = given.need_dims(text)?;
    if let Some(shape) = shape {
        let agree = |(known, dim): (&Option<u64>, &u64)| known.is_none_or(|known| known == *dim);
        if shape.0.len() != dims.len() || !shape.0.iter().zip(dims).all(agree) {
            let (own, given) = (spell_shape(shape), tuple(dims));
            let message = format!("`{text}` is of an array {own}, not of dims {given}");
            return Err(Error::new(Kind::Mismatch, message));
        }
    }
    Ok((dims.to_vec(), dtype))
}
