//! DLPack: `dlpack:shape=(3,5),strides=(5,1),byte_offset=0,dtype=f32`, the fields of a `DLTensor`.
//!
//! ```text
//! dlpack := fields of
//!     shape | strides (elements; NULL: row-major) | byte_offset | dtype (a name, or (code, bits, lanes))
//!   | data, device, ndim                   of no matter here; ndim must agree
//! code   := int | 'kDLInt' | 'kDLUInt' | 'kDLFloat' | 'kDLBfloat' | 'kDLComplex' | 'kDLBool' | 'kDLFloat8_e5m2' …
//! ```
//!
//! Strides are **elements**, the offset is **bytes**. Vectors of several lanes are refused.
//! Source: DLPack, `include/dlpack/dlpack.h`, `DLTensor` and `DLDataTypeCode`.
//!
//! | text | array | layout |
//! |---|---|---|
//! | `dlpack:shape=(3,5),strides=(5,1)` | | `(3,5):(5,1)` |
//! | `dlpack:shape={3,5},strides=NULL,byte_offset=8,dtype={2,32,1}` | | `(3,5):(5,1)+2` |
//! | `dlpack:ndim=1,shape=(4,),strides=(-1,),byte_offset=6,dtype=(kDLBfloat,16,1)` | | `(4):(-1)+3` |
//! | `dlpack:shape=(8,),dtype=(0,4,1)` | | `(8):(1)` |
//! | `dlpack:shape=(3,5),byte_offset=6,dtype=f32` | | error: 6 bytes are no whole number |
//! | `dlpack:shape=(3,5),dtype=(2,32,4)` | | error: 4 lanes |
//! | `dlpack:shape=(3,5),dtype=(3,64,1)` | | error: no element type |

use std::sync::Arc;

use tilewright_xla::PrimitiveType;

use super::{
    array::{Array, Unit, in_bytes, read_dtype},
    strided::{Strided, unsupported},
};
use crate::{
    Named,
    dtype::element_bits,
    error::Error,
    literal::{Fields, Value, python_tuple},
    notation::{Notation, no_words, only_by_prefix},
    reading::Reading,
};

pub(super) const DIALECT: Notation = Notation {
    name: "dlpack",
    aliases: &[],
    about: "DLPack: shape, strides in elements, offset in bytes",
    claims: only_by_prefix,
    read,
    words: no_words,
    print,
};

/// `DLDataTypeCode`: number, name, and the element types it has, by width.
const CODES: &[(u64, &str, &[&str])] = &[
    (0, "kDLInt", &["s1", "s2", "s4", "s8", "s16", "s32", "s64"]),
    (1, "kDLUInt", &["u1", "u2", "u4", "u8", "u16", "u32", "u64"]),
    (2, "kDLFloat", &["f16", "f32", "f64"]),
    (4, "kDLBfloat", &["bf16"]),
    (5, "kDLComplex", &["c64", "c128"]),
    (6, "kDLBool", &["pred"]),
    (7, "kDLFloat8_e3m4", &["f8e3m4"]),
    (8, "kDLFloat8_e4m3", &["f8e4m3"]),
    (9, "kDLFloat8_e4m3b11fnuz", &["f8e4m3b11fnuz"]),
    (10, "kDLFloat8_e4m3fn", &["f8e4m3fn"]),
    (11, "kDLFloat8_e4m3fnuz", &["f8e4m3fnuz"]),
    (12, "kDLFloat8_e5m2", &["f8e5m2"]),
    (13, "kDLFloat8_e5m2fnuz", &["f8e5m2fnuz"]),
    (14, "kDLFloat8_e8m0fnu", &["f8e8m0fnu"]),
    (17, "kDLFloat4_e2m1fn", &["f4e2m1fn"]),
];

const FIELDS: &[&str] = &["shape", "strides", "byte_offset", "dtype", "ndim", "data", "device"];

fn read(text: &str) -> Result<Arc<dyn Reading>, Error> {
    let mut fields = Fields::read(text, "a DLTensor", FIELDS, 0)?;
    let mut array = Array::read(&mut fields, &["shape"], &[])?;
    let rank = array.dims.len();
    if let Some(strides) = fields.take_some(&["strides"])? {
        array.strides = Some((strides.strides(rank)?, Unit::Elements));
    }
    if let Some(offset) = fields.take(&["byte_offset"])? {
        let message = "expected an offset of 0 or more bytes";
        let bytes = offset.unsigned().ok().and_then(|bytes| i64::try_from(bytes).ok());
        let bytes = bytes.ok_or_else(|| Error::parse(offset.span, message))?;
        array.offset = (bytes, Unit::Bytes);
    }
    if let Some(dtype) = fields.take_some(&["dtype"])? {
        (array.dtype, array.bits) = element(&dtype)?;
    }
    if let Some(ndim) = fields.take(&["ndim"])?
        && ndim.unsigned()? != rank as u64
    {
        return Err(Error::parse(ndim.span, format!("the shape has {rank} dims")));
    }
    let text = spell(&array);
    Ok(array.reading(text))
}

type Element = (Option<PrimitiveType>, Option<u32>);

/// An element type by name, or as code, bits and lanes. Codes pack what is narrower than a byte.
fn element(value: &Value<'_>) -> Result<Element, Error> {
    let Ok(parts) = value.list() else { return Ok((Some(read_dtype(value)?), None)) };
    let [code, bits, lanes] = parts else {
        return Err(Error::parse(value.span, "expected (code, bits, lanes)"));
    };
    if lanes.unsigned()? != 1 {
        let message = format!("{} lanes: an element of a layout is one value", lanes.unsigned()?);
        return Err(Error::parse(lanes.span, message));
    }
    let bits = bits.unsigned()?;
    let named = |code: &Value<'_>| code.word().is_ok();
    let row = CODES.iter().find(|(number, name, _)| {
        if named(code) { code.word() == Ok(*name) } else { code.unsigned() == Ok(*number) }
    });
    let types = row.map_or(&[][..], |(_, _, types)| *types);
    let width = |dtype: PrimitiveType| u64::from(width(dtype));
    let found = types.iter().filter_map(|name| PrimitiveType::from_name(name));
    let found = found.into_iter().find(|dtype| width(*dtype) == bits).ok_or_else(|| {
        Error::parse(value.span, format!("no element type has this code and {bits} bits"))
    })?;
    let packed = element_bits(found) != crate::dtype::width(found);
    Ok((Some(found), packed.then(|| crate::dtype::width(found))))
}

fn width(dtype: PrimitiveType) -> u32 {
    crate::dtype::width(dtype)
}

/// A name; (code, bits, 1) where elements are packed.
fn spell_element(dtype: PrimitiveType, bits: Option<u32>) -> String {
    let row = CODES.iter().find(|(_, _, types)| types.contains(&dtype.name()));
    match (bits, row) {
        (Some(bits), Some((code, ..))) => format!("({code},{bits},1)"),
        (Some(_), None) | (None, _) => dtype.to_string(),
    }
}

fn spell(array: &Array) -> String {
    let mut text = format!("shape={}", python_tuple(&array.dims));
    text += &match &array.strides {
        Some((strides, _)) => format!(",strides={}", python_tuple(strides)),
        None => ",strides=NULL".to_owned(),
    };
    if array.offset.0 != 0 {
        text += &format!(",byte_offset={}", array.offset.0);
    }
    if let Some(dtype) = array.dtype {
        text += &format!(",dtype={}", spell_element(dtype, array.bits));
    }
    text
}

/// The layout as the fields of a tensor.
fn print(named: &Named) -> Result<String, Error> {
    let strided = Strided::of(named.layout(), "DLPack")?;
    let mut array = Array::dense(strided.dims.clone());
    array.dtype = named.dtype();
    let packed = named.dtype().map(width);
    array.bits =
        named.explicit_bits().filter(|bits| named.dtype().map(element_bits) != Some(*bits));
    if array.bits.is_some() && (array.bits != packed || packed.is_some_and(|bits| bits % 8 == 0)) {
        return Err(unsupported("elements of DLPack have the width of their dtype"));
    }
    if strided.offset != 0 {
        let bytes = match (array.dtype, array.bits) {
            (Some(dtype), None) => i64::from(element_bits(dtype) / 8),
            (Some(_), Some(_)) => {
                return Err(unsupported("DLPack counts offsets in bytes, and elements are packed"));
            }
            (None, _) => {
                return Err(unsupported(
                    "DLPack counts offsets in bytes, and the dtype is not known",
                ));
            }
        };
        array.offset = (in_bytes(strided.offset, bytes)?, Unit::Bytes);
    }
    if array.offset.0 < 0 {
        return Err(unsupported("DLPack has no negative byte_offset"));
    }
    array.strides = Some((strided.strides, Unit::Elements));
    Ok(format!("dlpack:{}", spell(&array)))
}
