//! The types of MLIR: `3x?x5xf32` and the names of elements, for all dialects that write them.

use std::fmt;

use tilewright_core::{Dtype, DtypeKind, MAX_MODES};

use crate::{
    Error,
    reading::Given,
    scan::{Scanner, tuple},
};

/// The dims, of which `None` are dynamic, and the type of the elements.
pub(super) type Shape = (Vec<Option<u64>>, Dtype);

/// `3x?x5xf32`.
pub(super) fn read_shape(scan: &mut Scanner<'_>) -> Result<Shape, Error> {
    let mut dims = Vec::new();
    loop {
        scan.skip();
        let from = scan.at();
        if scan.eat("*") {
            return Err(Error::parse((from, scan.at()), "an unranked type has no layout"));
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
            format!("no element type of MLIR is called `{name}`; examples are f32, i8 and ui8"),
        )
    })?;
    Ok((dims, element))
}

/// The element type of this name.
pub(super) fn type_of(name: &str) -> Option<Dtype> {
    // A signed integer may be marked as one, and an index is as wide as a pointer.
    let name = name.strip_prefix('s').filter(|rest| rest.starts_with('i')).unwrap_or(name);
    let name = if name == "index" { "i64" } else { name };
    Dtype::all().find(|dtype| mlir_name(*dtype).is_some_and(|own| own == name))
}

/// MLIR's name of an element type: `i8`, `ui8`, `f32`, `f8E4M3FN`, `complex<f32>`.
pub(super) fn mlir_name(dtype: Dtype) -> Option<String> {
    let bits = dtype.bits()?;
    Some(match dtype.kind() {
        DtypeKind::Bool => "i1".to_owned(),
        DtypeKind::Signed if bits > 1 => format!("i{bits}"),
        DtypeKind::Unsigned if bits > 1 => format!("ui{bits}"),
        DtypeKind::Float if bits >= 16 => dtype.name().to_owned(),
        // `f8` keeps its case, the format behind it is in capitals.
        DtypeKind::Float => {
            let (width, format) = dtype.name().split_at_checked(2)?;
            format!("{width}{}", format.to_ascii_uppercase())
        }
        DtypeKind::Complex => format!("complex<f{}>", bits / 2),
        DtypeKind::Signed | DtypeKind::Unsigned | DtypeKind::Codebook | DtypeKind::Block => {
            return None;
        }
    })
}

/// `3x?x5xf32`.
pub(super) fn spell_shape((dims, dtype): &Shape) -> String {
    let dim = |dim: &Option<u64>| dim.map_or("?x".to_owned(), |dim| format!("{dim}x"));
    let dims: String = dims.iter().map(dim).collect();
    format!("{dims}{}", mlir_name(*dtype).unwrap_or_else(|| dtype.to_string()))
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
) -> Result<(Vec<u64>, Option<Dtype>), Error> {
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
            return Err(Error::mismatch(message));
        }
    }
    Ok((dims.to_vec(), dtype))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_back() {
        let named = Dtype::all().filter_map(|dtype| Some((dtype, mlir_name(dtype)?)));
        let mut count = 0;
        for (dtype, name) in named {
            assert_eq!(type_of(&name), Some(dtype), "{name}");
            count += 1;
        }
        assert_eq!(count, 30);
        for (name, dtype) in [
            ("i1", Dtype::Pred),
            ("si8", Dtype::S8),
            ("index", Dtype::S64),
            ("ui4", Dtype::U4),
            ("f8E4M3FN", Dtype::F8e4m3fn),
            ("f6E2M3FN", Dtype::F6e2m3fn),
            ("complex<f64>", Dtype::C128),
        ] {
            assert_eq!(type_of(name), Some(dtype), "{name}");
        }
        assert_eq!(
            (type_of("f8e4m3fn"), type_of("u8"), mlir_name(Dtype::Q4_0)),
            (None, None, None)
        );
    }
}
