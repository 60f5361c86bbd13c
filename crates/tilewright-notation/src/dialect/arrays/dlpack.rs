//! DLPack: `dlpack:shape=(3,5),strides=(5,1),byte_offset=0,dtype=f32`, the fields of a `DLTensor`.
//!
//! ```text
//! dlpack := fields of
//!     shape | strides (elements; NULL: row-major) | byte_offset | dtype (a name, or (code, bits, lanes))
//!   | data, device, ndim                   ignored; ndim must agree
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
//! | `dlpack:shape=(3,5),byte_offset=6,dtype=f32` | | error: 6 bytes are not a whole number |
//! | `dlpack:shape=(3,5),dtype=(2,32,4)` | | error: 4 lanes |
//! | `dlpack:shape=(3,5),dtype=(3,64,1)` | | error: no element type |

use std::sync::Arc;

use tilewright_core::Dtype;

use super::strided::{
    LibraryArray, StrideUnit, Strided, in_blocks, in_bytes, read_dtype, unsupported,
};
use crate::{
    Error, ResolvedLayout,
    literal::{Literal, LiteralFields, python_tuple},
    notation::Notation,
    parsed_spec::ParsedSpec,
};

pub(in crate::dialect) const DIALECT: Notation =
    Notation::new("dlpack", "DLPack: shape, strides in elements, offset in bytes", read, print);

/// `DLDataTypeCode`: numbers and names.
const CODES: &[(u64, &str)] = &[
    (0, "kDLInt"),
    (1, "kDLUInt"),
    (2, "kDLFloat"),
    (4, "kDLBfloat"),
    (5, "kDLComplex"),
    (6, "kDLBool"),
    (7, "kDLFloat8_e3m4"),
    (8, "kDLFloat8_e4m3"),
    (9, "kDLFloat8_e4m3b11fnuz"),
    (10, "kDLFloat8_e4m3fn"),
    (11, "kDLFloat8_e4m3fnuz"),
    (12, "kDLFloat8_e5m2"),
    (13, "kDLFloat8_e5m2fnuz"),
    (14, "kDLFloat8_e8m0fnu"),
    (15, "kDLFloat6_e2m3fn"),
    (16, "kDLFloat6_e3m2fn"),
    (17, "kDLFloat4_e2m1fn"),
];

const FIELDS: &[&str] = &["shape", "strides", "byte_offset", "dtype", "ndim", "data", "device"];

fn read(text: &str) -> Result<Arc<dyn ParsedSpec>, Error> {
    let mut fields = LiteralFields::read(text, "a DLTensor", FIELDS, 0)?;
    let mut array = LibraryArray::read(&mut fields, &["shape"], &[])?;
    let rank = array.dims.len();
    if let Some(strides) = fields.take_some(&["strides"])? {
        array.strides = Some((strides.strides(rank)?, StrideUnit::Elements));
    }
    if let Some(offset) = fields.take(&["byte_offset"])? {
        let message = "expected an offset of 0 or more bytes";
        let bytes = offset.unsigned().ok().and_then(|bytes| i64::try_from(bytes).ok());
        let bytes = bytes.ok_or_else(|| Error::parse(offset.span, message))?;
        array.offset = (bytes, StrideUnit::Bytes);
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

type Element = (Option<Dtype>, Option<u32>);

/// An element type by name, or as code, bits and lanes. Codes pack what is narrower than a byte.
fn element(value: &Literal<'_>) -> Result<Element, Error> {
    let Ok(parts) = value.list() else { return Ok((Some(read_dtype(value)?), None)) };
    let [code, bits, lanes] = parts else {
        return Err(Error::parse(value.span, "expected (code, bits, lanes)"));
    };
    if lanes.unsigned()? != 1 {
        let message = format!("{} lanes: an element of a layout is one value", lanes.unsigned()?);
        return Err(Error::parse(lanes.span, message));
    }
    let bits = bits.unsigned()?;
    let number = match code.word() {
        Ok(word) => CODES.iter().find(|(_, name)| *name == word).map(|(number, _)| *number),
        Err(_) => Some(code.unsigned()?),
    };
    let found = number.and_then(|number| Dtype::of_dlpack_code(number, bits)).ok_or_else(|| {
        Error::parse(value.span, format!("no element type has this code and {bits} bits"))
    })?;
    let packed = found.packed_bits().filter(|bits| found.storage_bits() != Some(*bits));
    Ok((Some(found), packed))
}

/// A name; (code, bits, 1) where elements are packed.
fn spell_element(dtype: Dtype, bits: Option<u32>) -> String {
    match (bits, dtype.dlpack_code()) {
        (Some(bits), Some(code)) => format!("({code},{bits},1)"),
        (Some(_), None) | (None, _) => dtype.to_string(),
    }
}

fn spell(array: &LibraryArray) -> String {
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
fn print(named: &ResolvedLayout) -> Result<String, Error> {
    let strided = Strided::of(named.layout(), "DLPack")?;
    let mut array = LibraryArray::dense(strided.dims.clone());
    array.dtype = named.dtype();
    let packed = named.dtype().and_then(Dtype::packed_bits);
    let storage = named.dtype().and_then(Dtype::storage_bits);
    array.bits = named.explicit_bits().filter(|bits| storage != Some(*bits));
    if array.bits.is_some() && (array.bits != packed || packed.is_some_and(|bits| bits % 8 == 0)) {
        return Err(unsupported("elements of DLPack have the width of their dtype"));
    }
    if strided.offset != 0 {
        let bytes = match (array.dtype, array.bits) {
            (Some(dtype), None) => match storage {
                Some(bits) => i64::from(bits / 8),
                None => return Err(in_blocks(dtype)),
            },
            (Some(_), Some(_)) => {
                return Err(unsupported(
                    "DLPack counts offsets in bytes, but the elements are packed",
                ));
            }
            (None, _) => {
                return Err(unsupported(
                    "DLPack counts offsets in bytes, but the dtype is not known",
                ));
            }
        };
        array.offset = (in_bytes(strided.offset, bytes)?, StrideUnit::Bytes);
    }
    if array.offset.0 < 0 {
        return Err(unsupported("DLPack does not allow a negative byte_offset"));
    }
    array.strides = Some((strided.strides, StrideUnit::Elements));
    Ok(format!("dlpack:{}", spell(&array)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tilewright_core::DtypeKind;

    #[test]
    fn every_code_of_an_element_type_has_a_name() {
        for dtype in Dtype::all() {
            let Some(code) = dtype.dlpack_code() else { continue };
            let (_, name) = CODES.iter().find(|(number, _)| *number == u64::from(code)).unwrap();
            // A code of one type is called as that type; the others are kinds of all widths.
            let own = name.strip_prefix("kDL").unwrap().to_lowercase();
            let kind = match dtype.kind() {
                DtypeKind::Bool => "bool",
                DtypeKind::Signed => "int",
                DtypeKind::Unsigned => "uint",
                DtypeKind::Float if dtype == Dtype::Bf16 => "bfloat",
                DtypeKind::Float if dtype.bits() >= Some(16) => "float",
                DtypeKind::Float => dtype.array_name().unwrap(),
                DtypeKind::Complex => "complex",
                DtypeKind::Codebook | DtypeKind::Block => "",
            };
            assert_eq!(own, kind, "{dtype}");
        }
    }
}
