//! The spellings of element types: XLA's names, safetensors', NumPy's and torch's, as data.

use tilewright_xla::PrimitiveType;

use crate::{error::Error, nearest::did_you_mean};

/// One type: XLA's name, safetensors' name where there is one, other spellings.
struct Row {
    name: &'static str,
    safetensors: Option<&'static str>,
    others: &'static [&'static str],
}

const fn row(
    name: &'static str,
    safetensors: Option<&'static str>,
    others: &'static [&'static str],
) -> Row {
    Row { name, safetensors, others }
}

#[rustfmt::skip]
static TYPES: &[Row] = &[
    row("pred", Some("BOOL"), &["bool"]),
    row("s1", None, &["int1"]),
    row("s2", None, &["int2"]),
    row("s4", None, &["int4"]),
    row("s8", Some("I8"), &["int8"]),
    row("s16", Some("I16"), &["int16", "short"]),
    row("s32", Some("I32"), &["int32", "int"]),
    row("s64", Some("I64"), &["int64", "long"]),
    row("u1", None, &["uint1"]),
    row("u2", None, &["uint2"]),
    row("u4", None, &["uint4"]),
    row("u8", Some("U8"), &["uint8"]),
    row("u16", Some("U16"), &["uint16"]),
    row("u32", Some("U32"), &["uint32"]),
    row("u64", Some("U64"), &["uint64"]),
    row("f16", Some("F16"), &["float16", "half", "halffloat"]),
    row("bf16", Some("BF16"), &["bfloat16"]),
    row("f32", Some("F32"), &["float32", "float"]),
    row("f64", Some("F64"), &["float64", "double"]),
    row("c64", Some("C64"), &["complex64", "cfloat"]),
    row("c128", None, &["C128", "complex128", "cdouble"]),
    row("f8e5m2", Some("F8_E5M2"), &["float8_e5m2"]),
    row("f8e4m3", None, &["float8_e4m3"]),
    row("f8e4m3fn", Some("F8_E4M3"), &["F8_E4M3FN", "float8_e4m3fn"]),
    row("f8e4m3b11fnuz", None, &["float8_e4m3b11fnuz"]),
    row("f8e4m3fnuz", Some("F8_E4M3FNUZ"), &["float8_e4m3fnuz"]),
    row("f8e5m2fnuz", Some("F8_E5M2FNUZ"), &["float8_e5m2fnuz"]),
    row("f8e3m4", None, &["float8_e3m4"]),
    row("f8e8m0fnu", Some("F8_E8M0"), &["float8_e8m0fnu"]),
    row("f4e2m1fn", Some("F4"), &["F4_E2M1", "float4_e2m1fn"]),
];

/// NumPy's codes behind a mark of byte order. Without the mark they are none: `<u4` has 4 bytes,
/// `u4` has 4 bits.
const CODES: &[(&str, &str)] = &[
    ("b1", "pred"),
    ("u1", "u8"),
    ("u2", "u16"),
    ("u4", "u32"),
    ("u8", "u64"),
    ("i1", "s8"),
    ("i2", "s16"),
    ("i4", "s32"),
    ("i8", "s64"),
    ("f2", "f16"),
    ("f4", "f32"),
    ("f8", "f64"),
    ("c8", "c64"),
    ("c16", "c128"),
];

/// The element type with this name: XLA's (`bf16`), safetensors' (`BF16`, `F8_E4M3`, `BOOL`), NumPy's
/// (`float32`, `<f4`) or torch's (`torch.bfloat16`, `float8_e4m3fn`).
///
/// safetensors' `F8_E4M3` is torch's `float8_e4m3fn`, so XLA's `f8e4m3fn`, the finite one.
///
/// # Errors
/// [parse](Error::is_parse) with the nearest names; big-endian codes (`>f4`) are
/// refused, because no element type here says a byte order.
///
/// ```
/// use tilewright_notation::dtype;
/// assert_eq!(dtype("BOOL").unwrap().name(), "pred");
/// assert_eq!(dtype("<u4").unwrap().name(), "u32");
/// assert_eq!(dtype("u4").unwrap().name(), "u4");
/// let error = dtype("bfloat61").unwrap_err();
/// assert!(error.to_string().contains("did you mean `bfloat16`?"));
/// ```
pub fn dtype(text: &str) -> Result<PrimitiveType, Error> {
    let name = text.trim();
    let span = (0, text.len());
    if let Some(code) = name.strip_prefix('>')
        && let Some(other) = code_name(code)
        && element_bits(other) > 8
    {
        let message = format!(
            "`{name}` is big-endian, and no element type here says a byte order; `<{code}` is laid out alike, its bytes swapped"
        );
        return Err(Error::parse(span, message).in_text(text));
    }
    xla_name(name).and_then(PrimitiveType::from_name).ok_or_else(|| {
        let nearest = did_you_mean(name, TYPES.iter().flat_map(spellings));
        let code = code_name(name)
            .map_or(String::new(), |other| format!("; `<{name}` is NumPy's code of {other}"));
        let message = format!("no element type is called `{name}`{code}{nearest}");
        Error::parse(span, message).in_text(text)
    })
}

/// The element type with this name, and whether the highest byte of an element comes first, as NumPy's codes
/// may say (`>f4`).
///
/// # Errors
/// As [`dtype`].
///
/// ```
/// use tilewright_notation::dtype_in_order;
/// let named = |text| dtype_in_order(text).map(|(dtype, big)| (dtype.name(), big));
/// assert_eq!((named(">f4").unwrap(), named("<f4").unwrap()), (("f32", true), ("f32", false)));
/// // Of a single byte there is one order.
/// assert_eq!(named(">u1").unwrap(), ("u8", false));
/// ```
pub fn dtype_in_order(text: &str) -> Result<(PrimitiveType, bool), Error> {
    let big = text.trim().strip_prefix('>').and_then(code_name);
    match big.filter(|found| element_bits(*found) > 8) {
        Some(found) => Ok((found, true)),
        None => dtype(text).map(|found| (found, false)),
    }
}

/// The element type of NumPy's code without a mark of byte order.
pub(crate) fn code_name(code: &str) -> Option<PrimitiveType> {
    let row = CODES.iter().find(|(other, _)| *other == code)?;
    PrimitiveType::from_name(row.1)
}

/// XLA's name of the type that is spelled so.
fn xla_name(text: &str) -> Option<&'static str> {
    // Of a single byte there is one order.
    if let Some(code) = text.strip_prefix(['<', '=', '|', '>']) {
        return CODES.iter().find(|(other, _)| *other == code).map(|(_, name)| *name);
    }
    let plain = ["torch.", "np.", "numpy."].iter().find_map(|module| text.strip_prefix(module));
    let name = plain.unwrap_or(text);
    TYPES.iter().find(|row| spellings(row).any(|other| other == name)).map(|row| row.name)
}

fn spellings(row: &'static Row) -> impl Iterator<Item = &'static str> {
    let others = row.others.iter().copied();
    std::iter::once(row.name).chain(row.safetensors).chain(others)
}

/// The name of a type in a safetensors header; `None` where the format has none.
///
/// ```
/// use tilewright_notation::{dtype, safetensors_name};
/// assert_eq!(safetensors_name(dtype("pred").unwrap()), Some("BOOL"));
/// assert_eq!(safetensors_name(dtype("s4").unwrap()), None);
/// ```
pub fn safetensors_name(dtype: PrimitiveType) -> Option<&'static str> {
    TYPES.iter().find(|row| row.name == dtype.name())?.safetensors
}

/// The width by which constants of formats go: that of a value, 8 for a truth value.
pub(crate) fn width(dtype: PrimitiveType) -> u32 {
    if dtype == PrimitiveType::Pred { 8 } else { dtype.bits().unwrap_or(0) }
}

/// The bits an element takes in storage where nothing else is said; 0 for a type without elements.
pub(crate) fn element_bits(dtype: PrimitiveType) -> u32 {
    dtype.storage_bits().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_array_type_has_a_row_and_every_spelling_one_meaning() {
        for primitive in PrimitiveType::all() {
            assert_eq!(dtype(primitive.name()).is_ok(), primitive.is_array(), "{primitive}");
        }
        for row in TYPES {
            for spelling in spellings(row) {
                assert_eq!(dtype(spelling).unwrap().name(), row.name, "{spelling}");
            }
        }
        for (code, name) in CODES {
            let marked = dtype(&format!("<{code}")).unwrap();
            assert_eq!(marked.name(), *name);
            let digits: u32 = code[1..].parse().unwrap();
            assert_eq!(element_bits(marked), digits * 8);
            match dtype(&format!(">{code}")) {
                Ok(one_byte) => assert_eq!((one_byte, digits), (marked, 1)),
                Err(error) => assert!(error.to_string().contains("big-endian") && digits > 1),
            }
        }
    }

    #[test]
    fn safetensors_names_come_back() {
        let names: Vec<&str> = PrimitiveType::all().filter_map(safetensors_name).collect();
        assert_eq!(names.len(), 20);
        for name in names {
            assert_eq!(safetensors_name(dtype(name).unwrap()), Some(name));
        }
    }

    #[test]
    fn what_is_no_type_gets_the_nearest() {
        for (wrong, right) in
            [("Bf16", "bf16"), ("float33", "float32"), ("f4", "F4"), ("I33", "I32")]
        {
            let error = dtype(wrong).unwrap_err();
            assert!(error.is_parse());
            assert!(error.to_string().contains(&format!("`{right}`")), "{error}");
        }
        assert!(dtype("f4").unwrap_err().to_string().contains("`<f4` is NumPy's code of f32"));
        for wrong in ["", "tuple", "token", "<bf16", "i4", "primitive_type_invalid"] {
            assert!(dtype(wrong).is_err(), "{wrong}");
        }
    }
}
