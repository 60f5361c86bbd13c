//! MLIR: `memref<3x5xf32, strided<[5, 1], offset: 2>>`, `memref<32x48xf16, affine_map<(d0, d1) -> (…)>>`.
//!
//! ```text
//! mlir   := 'memref' '<' { ( int | '?' ) 'x' } type [ ',' layout ] [ ',' space ] '>'    concrete but for `?`
//!         | [ '#' name '=' ] layout                                                     general
//! layout := 'strided' '<' '[' [ int { ',' int } ] ']' [ ',' 'offset' ':' ( int | '?' ) ] '>'
//!         | 'affine_map' '<' map '>'                     as in affine.rs
//! space  := int | '#' name '.' name [ '<' … '>' ]
//! type   := f32, bf16, i8, ui8, i1, index, f8E4M3FN, complex<f32> …
//! ```
//!
//! Strides are elements. A map with several results is an index into a row-major array of the results' extents. The
//! extent of a remainder is its modulus, so dims are padded to whole tiles. A map with one result is an address. With
//! a dynamic offset, element 0 can be anywhere, and offsets count from it. The memory space is not part of the
//! layout.
//! Source: MLIR, "Builtin Dialect", `MemRefType`, `StridedLayoutAttr`, `AffineMapAttr`.
//!
//! | text | array | layout |
//! |---|---|---|
//! | `memref<3x5xf32>` | | `(3,5):(5,1)` |
//! | `memref<3x5xf32, strided<[1, 3], offset: 2>>` | | `(3,5):(1,3)+2` |
//! | `memref<?x5xf32>` | `[3,5]` | `(3,5):(5,1)` |
//! | `memref<32x48xf16, affine_map<(d0, d1) -> (d1 floordiv 16, d0, d1 mod 16)>>` | | `(32,(16,3)):(16,(1,512))` |
//! | `memref<3x5xf32, affine_map<(i, j) -> (i floordiv 2, j floordiv 2, i mod 2, j mod 2)>>` | | `((2,2),(2,3)):((2,12),(1,4)) valid (3,5)` |
//! | `affine_map<(d0, d1) -> (d0 + d1 * 4 + 1)>` | `[4,4]` | `(4,4):(1,4)+1` |
//! | `strided<[8, 1]>` | `[4,4]` | `(4,4):(8,1)` |
//! | `memref<?x5xf32>` | | error: needs the array's dims |
//! | `memref<4x8xf32, strided<[8, 1], offset: ?>>` | | `(4,8):(8,1)` |
//! | `memref<3x5xf32, strided<[1, 3]>, #gpu.address_space<workgroup>>` | | `(3,5):(1,3)` |
//! | `#map = affine_map<(d0, d1) -> (d1, d0)>` | `[3,5]` | `(3,5):(1,3)` |
//! | `memref<3x5xf32, #map>` | | error: `#map` is a name |
//! | `memref<3x5xf32, strided<[?, 1]>>` | | error: a dynamic stride |
//! | `memref<3x5xf32, affine_map<(d0, d1) -> ((d0 + d1) mod 4)>>` | | error: more than one digit |
//! | `memref<*xf32>` | | error: unranked |
//! | `memref<3x5xf33>` | | error: no element type |

use std::{fmt, sync::Arc};

use tilewright_core::{Dtype, DtypeKind, MAX_MODES, TensorLayout};

use super::affine::Map;
use crate::{
    Error, ResolvedLayout,
    dialect::{
        arrays::strided::{Strided, check_affine, unsupported},
        patterns::canonical::{Blocked, simplified},
    },
    literal::{Scanner, tuple},
    notation::Notation,
    parsed_spec::{Given, ParsedSpec},
};

pub(in crate::dialect) const DIALECT: Notation =
    Notation::new("mlir", "MLIR: a memref, with strides or an affine map", read, print)
        .with_aliases(&["memref"])
        .with_form(claims);

fn claims(text: &str) -> bool {
    let rest = text.get(definition(text)..).unwrap_or("");
    ["memref", "affine_map", "strided"]
        .iter()
        .any(|word| rest.strip_prefix(word).is_some_and(|rest| rest.trim_start().starts_with('<')))
}

/// Returns the byte offset of the layout in `#map = affine_map<…>`.
fn definition(text: &str) -> usize {
    let named = text.strip_prefix('#').and_then(|rest| rest.split_once('='));
    let is_name = |name: &str| name.trim().bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    match named {
        Some((name, rest)) if is_name(name) => text.len() - rest.trim_start().len(),
        Some(_) | None => 0,
    }
}

#[derive(Debug)]
enum MlirForm {
    RowMajor,
    Strided { strides: Vec<i64>, offset: i64 },
    Affine(Map),
}

#[derive(Debug)]
struct Memref {
    shape: Option<Shape>,
    form: MlirForm,
    text: String,
}

fn read(text: &str) -> Result<Arc<dyn ParsedSpec>, Error> {
    let mut scan = Scanner::new(text);
    scan.advance(definition(text));
    let shape = if scan.eat("memref") {
        scan.expect("<")?;
        Some(read_shape(&mut scan)?)
    } else {
        None
    };
    let mut form = MlirForm::RowMajor;
    if shape.is_none() {
        form = read_form(&mut scan)?;
    } else {
        if scan.eat(",") && !space(&mut scan)? {
            form = read_form(&mut scan)?;
            if scan.eat(",") && !space(&mut scan)? {
                return Err(scan.expected("a memory space, such as `3`"));
            }
        }
        scan.expect(">")?;
    }
    scan.end("the type")?;
    let rank = match &form {
        MlirForm::RowMajor => None,
        MlirForm::Strided { strides, .. } => Some(strides.len()),
        MlirForm::Affine(map) => Some(map.rank),
    };
    if let (Some((dims, _)), Some(rank)) = (&shape, rank)
        && dims.len() != rank
    {
        let message = format!("a layout of {rank} dims for a memref of {}", dims.len());
        return Err(Error::parse((0, text.len()), message));
    }
    Ok(Arc::new(Memref { shape, form, text: text.to_owned() }))
}

/// Takes a memory space, `3` or `#gpu.address_space<workgroup>`, if one comes next.
fn space(scan: &mut Scanner<'_>) -> Result<bool, Error> {
    if scan.peek().is_some_and(|c| c.is_ascii_digit()) {
        return scan.integer().map(|_| true);
    }
    let from = scan.at();
    if !scan.eat("#") {
        return Ok(false);
    }
    let name = scan.take(|c| c.is_ascii_alphanumeric() || "_.".contains(c));
    if !name.contains('.') {
        let message = format!("`#{name}` is a name; write what it stands for, `affine_map<…>`");
        return Err(Error::parse((from, scan.at()), message));
    }
    if scan.eat("<") {
        scan.take(|c| !"<>".contains(c));
        scan.expect(">")?;
    }
    Ok(true)
}

fn read_form(scan: &mut Scanner<'_>) -> Result<MlirForm, Error> {
    if scan.eat("affine_map") {
        scan.expect("<")?;
        let map = Map::read(scan)?;
        scan.expect(">")?;
        return Ok(MlirForm::Affine(map));
    }
    scan.expect("strided")?;
    scan.expect("<")?;
    let strides = scan.list(("[", "]"), MAX_MODES, |scan| number(scan, "stride"))?;
    let mut offset = 0;
    if scan.eat(",") {
        scan.expect("offset")?;
        scan.expect(":")?;
        offset = if scan.eat("?") { 0 } else { number(scan, "offset")? };
    }
    scan.expect(">")?;
    Ok(MlirForm::Strided { strides, offset })
}

fn number(scan: &mut Scanner<'_>, what: &str) -> Result<i64, Error> {
    scan.skip();
    let from = scan.at();
    if scan.eat("?") {
        return Err(Error::parse(
            (from, scan.at()),
            format!("a dynamic {what}, which the type does not state"),
        ));
    }
    let minus = scan.eat("-");
    let value = i128::from(scan.integer()?);
    let value = i64::try_from(if minus { -value } else { value });
    value.map_err(|_| Error::parse((from, scan.at()), format!("the {what} does not fit 64 bits")))
}

impl fmt::Display for Memref {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Memref {
    fn layout(&self, dims: &[u64]) -> Result<TensorLayout, Error> {
        match &self.form {
            MlirForm::RowMajor => Ok(TensorLayout::row_major(dims)?),
            MlirForm::Affine(map) => map.layout(dims),
            MlirForm::Strided { strides, .. } if strides.len() != dims.len() => {
                Err(Error::mismatch(format!(
                    "`{self}` has {} strides, the array {} dims",
                    strides.len(),
                    dims.len()
                )))
            }
            MlirForm::Strided { strides, offset } => {
                let (dims, strides) = (dims.to_vec(), strides.clone());
                Strided { dims, strides, offset: *offset }.layout()
            }
        }
    }
}

impl ParsedSpec for Memref {
    fn is_concrete(&self) -> bool {
        static_dims(self.shape.as_ref()).is_some()
    }

    fn fits(&self, rank: usize) -> bool {
        match (&self.shape, &self.form) {
            (Some((dims, _)), _) => dims.len() == rank,
            (None, MlirForm::Strided { strides, .. }) => strides.len() == rank,
            (None, MlirForm::Affine(map)) => map.rank == rank,
            (None, MlirForm::RowMajor) => rank <= MAX_MODES,
        }
    }

    fn resolve(&self, given: &Given<'_>) -> Result<ResolvedLayout, Error> {
        let (dims, dtype) = array(self.shape.as_ref(), self, given)?;
        Ok(ResolvedLayout::plain(self.layout(&dims)?, &Given { dims: None, dtype }))
    }
}

/// The layout as a memref; without its type where the dtype is not known.
fn print(named: &ResolvedLayout) -> Result<String, Error> {
    let tensor = named.layout();
    check_affine(tensor, "MLIR")?;
    let form = match Strided::of(tensor, "MLIR") {
        Ok(strided) if strided.offset == 0 && strided.is_row_major() => None,
        Ok(strided) => Some(spell_strided(&strided)),
        Err(_) => Some(spell_map(tensor).or_else(|_| spell_address(&simplified(tensor)?))?),
    };
    let Some(dtype) = named.dtype() else {
        let dense = || spell_map(tensor);
        return form.map_or_else(dense, Ok);
    };
    if named.element_bits() != dtype.storage_bits() {
        return Err(unsupported("elements of a memref have the width of their type"));
    }
    let Some(name) = mlir_name(dtype) else {
        return Err(unsupported(format!("MLIR cannot name {dtype}")));
    };
    let dims: String = tensor.extents().iter().map(|dim| format!("{dim}x")).collect();
    let form = form.map_or(String::new(), |form| format!(", {form}"));
    Ok(format!("memref<{dims}{name}{form}>"))
}

fn spell_strided(strided: &Strided) -> String {
    let strides: Vec<String> = strided.strides.iter().map(i64::to_string).collect();
    let offset = match strided.offset {
        0 => String::new(),
        offset => format!(", offset: {offset}"),
    };
    format!("strided<[{}]{offset}>", strides.join(", "))
}

/// The digits in storage order, as results of a map.
fn spell_map(tensor: &TensorLayout) -> Result<String, Error> {
    let blocked = Blocked::of(tensor, "a map")?;
    let quotient = |axis: u8, by: u64| match by {
        1 => format!("d{axis}"),
        _ => format!("d{axis} floordiv {by}"),
    };
    let tile = |axis: u8| blocked.tiles(axis).map(|digit| digit.size).product();
    let outer = blocked.outer.iter().map(|&axis| quotient(axis, tile(axis)));
    let inner = blocked.inner.iter();
    let inner = inner.map(|d| format!("{} mod {}", quotient(d.axis, d.below), d.size));
    let results: Vec<String> = outer.chain(inner).collect();
    let dims: Vec<String> = (0..tensor.rank()).map(|dim| format!("d{dim}")).collect();
    Ok(format!("affine_map<({}) -> ({})>", dims.join(", "), results.join(", ")))
}

/// The offset as the one result of a map.
fn spell_address(tensor: &TensorLayout) -> Result<String, Error> {
    let dims: Vec<String> = (0..tensor.rank()).map(|dim| format!("d{dim}")).collect();
    let mut terms = Vec::new();
    for (dim, name) in dims.iter().enumerate() {
        let modes = tensor.layout().axis(dim).unwrap_or(&[]);
        let mut by = 1u64;
        for (at, mode) in modes.iter().enumerate() {
            let quotient = if by == 1 { name.clone() } else { format!("{name} floordiv {by}") };
            let digit = match at + 1 == modes.len() {
                true => quotient,
                false => format!("{quotient} mod {}", mode.extent()),
            };
            if mode.extent() > 1 {
                terms.push(format!("({digit}) * {}", mode.stride()));
            }
            by = by.saturating_mul(mode.extent().max(1));
        }
    }
    terms.push(tensor.layout().offset().to_string());
    let map = format!("({}) -> ({})", dims.join(", "), terms.join(" + "));
    let again = Map::read(&mut Scanner::new(&map))?.layout(tensor.extents())?;
    if again.capacity() != tensor.capacity() {
        return Err(unsupported(format!(
            "a map to addresses ends with its last element, at {} elements; the storage has {}",
            again.capacity(),
            tensor.capacity()
        )));
    }
    Ok(format!("affine_map<{map}>"))
}

/// The dims, of which `None` are dynamic, and the type of the elements.
pub(in crate::dialect) type Shape = (Vec<Option<u64>>, Dtype);

/// `3x?x5xf32`.
pub(in crate::dialect) fn read_shape(scan: &mut Scanner<'_>) -> Result<Shape, Error> {
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
pub(in crate::dialect) fn type_of(name: &str) -> Option<Dtype> {
    // A signed integer may be marked as one, and an index is as wide as a pointer.
    let name = name.strip_prefix('s').filter(|rest| rest.starts_with('i')).unwrap_or(name);
    let name = if name == "index" { "i64" } else { name };
    Dtype::all().find(|dtype| mlir_name(*dtype).is_some_and(|own| own == name))
}

/// MLIR's name of an element type: `i8`, `ui8`, `f32`, `f8E4M3FN`, `complex<f32>`.
pub(in crate::dialect) fn mlir_name(dtype: Dtype) -> Option<String> {
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
pub(in crate::dialect) fn spell_shape((dims, dtype): &Shape) -> String {
    let dim = |dim: &Option<u64>| dim.map_or("?x".to_owned(), |dim| format!("{dim}x"));
    let dims: String = dims.iter().map(dim).collect();
    format!("{dims}{}", mlir_name(*dtype).unwrap_or_else(|| dtype.to_string()))
}

/// The dims, if none is dynamic.
pub(in crate::dialect) fn static_dims(shape: Option<&Shape>) -> Option<Vec<u64>> {
    shape?.0.iter().copied().collect()
}

/// The array that a text with this shape, or with none, is of.
pub(in crate::dialect) fn array(
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
