//! safetensors: an entry of a header, `safetensors:{"dtype":"F32","shape":[3,5],"data_offsets":[0,60]}`.
//!
//! ```text
//! safetensors := fields of dtype | shape | data_offsets
//! ```
//!
//! Arrays are dense and row-major by definition. The start of an array in its file is not part of its layout, but the
//! offsets must span the bytes of the array exactly. Source: safetensors, "Format".
//!
//! | text | array | layout |
//! |---|---|---|
//! | `safetensors:{"dtype":"F32","shape":[3,5],"data_offsets":[64,124]}` | | `(3,5):(5,1)` |
//! | `safetensors:dtype=BF16,shape=(2,3,4)` | | `(2,3,4):(12,4,1)` |
//! | `safetensors:{"dtype":"F32","shape":[3,5],"data_offsets":[0,30]}` | | error: 30 bytes for 60 |
//! | `safetensors:{"dtype":"F32"}` | | error: expected `shape=` too |

use std::sync::Arc;

use tilewright_core::Dtype;

use super::strided::{LibraryArray, Strided, in_whole_bytes, read_dtype, unsupported};
use crate::{
    Error, ResolvedLayout,
    literal::{Literal, LiteralFields, comma},
    notation::Notation,
    parsed_spec::ParsedSpec,
};

pub(in crate::dialect) const DIALECT: Notation = Notation::new(
    "safetensors",
    "safetensors: an entry of a header, row-major by definition",
    read,
    print,
)
.with_form(claims);

fn claims(text: &str) -> bool {
    text.starts_with('{') && text.contains("data_offsets")
}

fn read(text: &str) -> Result<Arc<dyn ParsedSpec>, Error> {
    let mut fields = LiteralFields::read(
        text,
        "an entry of safetensors",
        &["dtype", "shape", "data_offsets"],
        0,
    )?;
    let mut array = LibraryArray::dense(fields.need(&["shape"])?.dims()?);
    let dtype = read_dtype(&fields.need(&["dtype"])?)?;
    array.dtype = Some(dtype);
    if let Some(offsets) = fields.take(&["data_offsets"])? {
        check(&array.dims, dtype, &offsets)?;
    }
    let text = spell(&array.dims, dtype);
    Ok(array.reading(text))
}

/// The bytes of an array, as far as 128 bits hold them.
fn bytes(dims: &[u64], dtype: Dtype) -> Option<u128> {
    let start = u128::from(dtype.storage_bits()?);
    let bits = dims.iter().try_fold(start, |bits, dim| bits.checked_mul(u128::from(*dim)))?;
    Some(bits.div_ceil(8))
}

fn check(dims: &[u64], dtype: Dtype, offsets: &Literal<'_>) -> Result<(), Error> {
    let [begin, end] = &offsets.dims()?[..] else {
        return Err(Error::parse(offsets.span, "expected [begin, end]"));
    };
    let needed = bytes(dims, dtype);
    let Some(given) = end.checked_sub(*begin).map(u128::from) else {
        return Err(Error::parse(offsets.span, "an array that ends before it begins"));
    };
    // A type narrower than a byte may be packed.
    if Some(given) == needed || dtype.packed_bits() < Some(8) {
        return Ok(());
    }
    let needed = needed.map_or("too many".to_owned(), |bytes| bytes.to_string());
    let message = format!("{given} bytes for {needed}");
    Err(Error::parse(offsets.span, format!("{message} of {dtype}[{}]", comma(dims))))
}

fn spell(dims: &[u64], dtype: Dtype) -> String {
    let name = dtype.safetensors_name().unwrap_or(dtype.name());
    let shape = comma(dims);
    let end =
        bytes(dims, dtype).map_or(String::new(), |end| format!(",\"data_offsets\":[0,{end}]"));
    format!("{{\"dtype\":\"{name}\",\"shape\":[{shape}]{end}}}")
}

/// The layout as an entry, if it is row-major.
fn print(named: &ResolvedLayout) -> Result<String, Error> {
    let strided = Strided::of(named.layout(), "safetensors")?;
    if strided.offset != 0 || !strided.is_row_major() {
        return Err(unsupported(
            "an array of safetensors is dense and row-major; store this one under its storage shape",
        ));
    }
    let Some((dtype, _)) = in_whole_bytes(named, "safetensors")? else {
        return Err(unsupported("a header of safetensors names the dtype, which is not known"));
    };
    match dtype.safetensors_name() {
        Some(_) => Ok(format!("safetensors:{}", spell(&strided.dims, dtype))),
        None => Err(unsupported(format!("safetensors cannot store {dtype}"))),
    }
}
