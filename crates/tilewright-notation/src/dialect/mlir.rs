//! MLIR: `memref<3x5xf32, strided<[5, 1], offset: 2>>`, `memref<32x48xf16, affine_map<(d0, d1) -> (…)>>`.
//!
//! ```text
//! mlir   := 'memref' '<' { ( int | '?' ) 'x' } type [ ',' layout ] [ ',' int ] '>'      concrete but for `?`
//!         | layout                                                                      general
//! layout := 'strided' '<' '[' [ int { ',' int } ] ']' [ ',' 'offset' ':' int ] '>'
//!         | 'affine_map' '<' map '>'                     as in affine.rs
//! type   := f32, bf16, i8, ui8, i1, index, f8E4M3FN, complex<f32> …
//! ```
//!
//! Strides are elements. A map with several results is the place in an array of the results' extents, stored
//! row-major: a remainder has its whole modulus for extent, so that dims are padded to whole tiles. A map
//! with one result is an address. The integer behind is a memory space, no part of the layout.
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
//! | `memref<3x5xf32, strided<[?, 1]>>` | | error: a dynamic stride |
//! | `memref<3x5xf32, affine_map<(d0, d1) -> ((d0 + d1) mod 4)>>` | | error: more than one digit |
//! | `memref<*xf32>` | | error: of no rank |
//! | `memref<3x5xf33>` | | error: no element type |

use std::{fmt, sync::Arc};

use tilewright_core::{Fill, MAX_MODES, TensorLayout};
use tilewright_xla::PrimitiveType;

use super::{
    affine::Map,
    blocked::Blocked,
    canonical::simplified,
    strided::{Strided, check_affine, unsupported},
};
use crate::{
    Named,
    dtype::{dtype, element_bits},
    error::{Error, Kind},
    notation::{Notation, no_words},
    reading::{Given, Reading, Resolved},
    scan::Scanner,
};

pub(super) const DIALECT: Notation = Notation {
    name: "mlir",
    aliases: &["memref"],
    about: "MLIR: a memref, with strides or an affine map",
    claims,
    read,
    words: no_words,
    print,
};

fn claims(text: &str) -> bool {
    ["memref", "affine_map", "strided"]
        .iter()
        .any(|word| text.strip_prefix(word).is_some_and(|rest| rest.trim_start().starts_with('<')))
}

#[derive(Debug)]
enum Form {
    RowMajor,
    Strided { strides: Vec<i64>, offset: i64 },
    Affine(Map),
}

#[derive(Debug)]
struct Memref {
    /// The dims, of which `None` are dynamic, and the type.
    shape: Option<(Vec<Option<u64>>, PrimitiveType)>,
    form: Form,
    text: String,
}

fn read(text: &str) -> Result<Arc<dyn Reading>, Error> {
    let mut scan = Scanner::new(text);
    let shape = if scan.eat("memref") {
        scan.expect("<")?;
        Some(read_shape(&mut scan)?)
    } else {
        None
    };
    let mut form = Form::RowMajor;
    let layout = shape.is_none() || scan.eat(",");
    if layout && !scan.peek().is_some_and(|c| c.is_ascii_digit()) {
        form = read_form(&mut scan)?;
        if shape.is_some() && scan.eat(",") {
            scan.integer()?;
        }
    } else if layout {
        scan.integer()?;
    }
    if shape.is_some() {
        scan.expect(">")?;
    }
    scan.end("the type")?;
    let rank = match &form {
        Form::RowMajor => None,
        Form::Strided { strides, .. } => Some(strides.len()),
        Form::Affine(map) => Some(map.rank),
    };
    if let (Some((dims, _)), Some(rank)) = (&shape, rank)
        && dims.len() != rank
    {
        let message = format!("a layout of {rank} dims for a memref of {}", dims.len());
        return Err(Error::parse((0, text.len()), message));
    }
    Ok(Arc::new(Memref { shape, form, text: text.to_owned() }))
}

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

fn read_form(scan: &mut Scanner<'_>) -> Result<Form, Error> {
    if scan.eat("affine_map") {
        scan.expect("<")?;
        let map = Map::read(scan)?;
        scan.expect(">")?;
        return Ok(Form::Affine(map));
    }
    scan.expect("strided")?;
    scan.expect("<")?;
    let strides = scan.list(("[", "]"), MAX_MODES, |scan| number(scan, "stride"))?;
    let mut offset = 0;
    if scan.eat(",") {
        scan.expect("offset")?;
        scan.expect(":")?;
        offset = number(scan, "offset")?;
    }
    scan.expect(">")?;
    Ok(Form::Strided { strides, offset })
}

fn number(scan: &mut Scanner<'_>, what: &str) -> Result<i64, Error> {
    scan.skip();
    let from = scan.at();
    if scan.eat("?") {
        return Err(Error::parse(
            (from, scan.at()),
            format!("a dynamic {what}, which the type does not say"),
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
    /// The dims as far as they are known without the array.
    fn own_dims(&self) -> Option<Vec<u64>> {
        let (dims, _) = self.shape.as_ref()?;
        dims.iter().copied().collect()
    }

    fn layout(&self, dims: &[u64]) -> Result<TensorLayout, Error> {
        match &self.form {
            Form::RowMajor => Ok(TensorLayout::row_major(dims)?),
            Form::Affine(map) => map.layout(dims),
            Form::Strided { strides, .. } if strides.len() != dims.len() => Err(Error::new(
                Kind::Mismatch,
                format!("`{self}` has {} strides, the array {} dims", strides.len(), dims.len()),
            )),
            Form::Strided { strides, offset } => {
                let (dims, strides) = (dims.to_vec(), strides.clone());
                Strided { dims, strides, offset: *offset }.layout()
            }
        }
    }
}

impl Reading for Memref {
    fn is_concrete(&self) -> bool {
        self.own_dims().is_some()
    }

    fn fits(&self, rank: usize) -> bool {
        match (&self.shape, &self.form) {
            (Some((dims, _)), _) => dims.len() == rank,
            (None, Form::Strided { strides, .. }) => strides.len() == rank,
            (None, Form::Affine(map)) => map.rank == rank,
            (None, Form::RowMajor) => rank <= MAX_MODES,
        }
    }

    fn resolve(&self, given: &Given<'_>) -> Result<Resolved, Error> {
        let own = self.own_dims();
        let dims = match &own {
            Some(dims) => {
                given.agree_dims(self, dims)?;
                dims
            }
            None => given.need_dims(self)?,
        };
        if let Some((known, _)) = &self.shape {
            let agree = |(known, given): (&Option<u64>, &u64)| known.is_none_or(|k| k == *given);
            if known.len() != dims.len() || !known.iter().zip(dims).all(agree) {
                let message = format!("`{self}` is no memref of dims {dims:?}");
                return Err(Error::new(Kind::Mismatch, message));
            }
        }
        Ok(Resolved {
            layout: self.layout(dims)?,
            dtype: given.agree_dtype(self, self.shape.as_ref().map(|(_, dtype)| *dtype))?,
            bits: None,
            fill: Fill::Unspecified,
            bare: false,
        })
    }
}

/// The layout as a memref; without its type where the dtype is not known.
fn print(named: &Named) -> Result<String, Error> {
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
    if named.element_bits() != Some(element_bits(dtype)) {
        return Err(unsupported("elements of a memref have the width of their type"));
    }
    let Some(name) = mlir_name(dtype) else {
        return Err(unsupported(format!("MLIR has no name for {dtype}")));
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
