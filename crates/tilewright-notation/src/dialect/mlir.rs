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

use tilewright_core::{MAX_MODES, TensorLayout};

use super::{
    affine::Map,
    blocked::Blocked,
    canonical::simplified,
    mlir_types::{Shape, array, mlir_name, read_shape, static_dims},
    strided::{Strided, check_affine, unsupported},
};
use crate::{
    Error, Named,
    notation::Notation,
    reading::{Given, Reading, Resolved},
    scan::Scanner,
};

pub(super) const DIALECT: Notation =
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

fn read(text: &str) -> Result<Arc<dyn Reading>, Error> {
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

impl Reading for Memref {
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

    fn resolve(&self, given: &Given<'_>) -> Result<Resolved, Error> {
        let (dims, dtype) = array(self.shape.as_ref(), self, given)?;
        Ok(Resolved::plain(self.layout(&dims)?, &Given { dims: None, dtype }))
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
