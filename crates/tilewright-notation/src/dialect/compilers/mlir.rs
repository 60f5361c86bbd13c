//! MLIR: `memref<3x5xf32, strided<[5, 1], offset: 2>>`, `memref<32x48xf16, affine_map<(d0, d1) -> (…)>>`.
//!
//! ```text
//! mlir   := 'memref' '<' { ( int | '?' ) 'x' } type [ ',' layout ] [ ',' space ] '>'    concrete but for `?`
//!         | [ '#' name '=' ] layout                                                     general
//! layout := 'strided' '<' '[' [ int { ',' int } ] ']' [ ',' 'offset' ':' ( int | '?' ) ] '>'
//!         | 'affine_map' '<' map '>'                     as in the grammar of `Map`
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

use std::{collections::BTreeMap, fmt, sync::Arc};

use tilewright_core::{Dtype, DtypeKind, Layout, MAX_MODES, Mode, Profile, Swizzle, TensorLayout};

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

// Affine maps of MLIR: sums of quotients and remainders of dims, as modes with strides.
//
// ```text
// map   := '(' [ dim { ',' dim } ] ')' '->' '(' [ sum { ',' sum } ] ')'
// sum   := product { ( '+' | '-' ) product }
// product := factor { ( '*' | 'floordiv' | 'mod' ) factor }
// factor := int | dim | '-' factor | '(' sum ')'
// ```
//
// Every term is a multiple of one digit, (d floordiv P) mod M. As a function of d it is
// c·⌊d/P⌋ − c·M·⌊d/(P·M)⌋, so a sum of terms is a sum of multiples of ⌊d/P⌋ over some P. Where these P
// divide one another, they are the boundaries of digits, and the strides follow from the multiples e:
// t₀ = e₁, t_{j+1} = e_{P_{j+1}} + (P_{j+1}/P_j)·t_j.

/// The most terms of a sum, and the deepest brackets.
const MOST: usize = 256;
const DEEPEST: usize = 32;

/// `coefficient · ((dim floordiv by) mod modulus)`.
#[derive(Clone, Debug)]
struct Term {
    coefficient: i128,
    dim: usize,
    by: u64,
    modulus: Option<u64>,
}

#[derive(Clone, Debug, Default)]
struct AffineSum {
    terms: Vec<Term>,
    constant: i128,
}

/// A map from dims to the coordinates of an array stored row-major; one coordinate is an address.
#[derive(Clone, Debug)]
pub(in crate::dialect) struct Map {
    pub(in crate::dialect) rank: usize,
    results: Vec<AffineSum>,
}

impl Map {
    pub(in crate::dialect) fn read(scan: &mut Scanner<'_>) -> Result<Map, Error> {
        let mut names: Vec<&str> = Vec::new();
        scan.expect("(")?;
        while !scan.eat(")") {
            if !names.is_empty() {
                scan.expect(",")?;
            }
            let (name, span) = scan.name("the name of a dim")?;
            if names.contains(&name) || names.len() == MAX_MODES {
                return Err(Error::parse(
                    span,
                    "a map has at most 32 dims, each with its own name",
                ));
            }
            names.push(name);
        }
        if scan.peek() == Some('[') {
            return Err(scan.expected("no symbols; write their numbers: `->`"));
        }
        scan.expect("->")?;
        scan.expect("(")?;
        let mut results = Vec::new();
        while !scan.eat(")") {
            if !results.is_empty() {
                scan.expect(",")?;
            }
            if results.len() == 2 * MAX_MODES {
                return Err(scan.expected("at most 64 results"));
            }
            results.push(sum(scan, &names, 0)?);
        }
        Ok(Map { rank: names.len(), results })
    }

    /// The layout of an array of these dims.
    pub(in crate::dialect) fn layout(&self, dims: &[u64]) -> Result<TensorLayout, Error> {
        if dims.len() != self.rank {
            let message = format!("a map of {} dims, the array has {}", self.rank, dims.len());
            return Err(Error::mismatch(message));
        }
        let overflow = || Error::overflow("the places of this map overflow 64 bits");
        let mut bounds: Vec<BTreeMap<u64, i128>> = vec![BTreeMap::new(); dims.len()];
        let (mut stride, mut offset) = (1i128, 0i128);
        for result in self.results.iter().rev() {
            offset = stride
                .checked_mul(result.constant)
                .and_then(|c| offset.checked_add(c))
                .ok_or_else(overflow)?;
            for term in &result.terms {
                let multiple = stride.checked_mul(term.coefficient).ok_or_else(overflow)?;
                let bounds = bounds.get_mut(term.dim).ok_or_else(overflow)?;
                add(bounds, term, multiple).ok_or_else(overflow)?;
            }
            let extent = result.extent(dims).ok_or_else(overflow)?;
            stride = stride.checked_mul(extent).ok_or_else(overflow)?;
        }
        let (mut modes, mut counts) = (Vec::new(), Vec::new());
        for (&extent, bounds) in dims.iter().zip(&bounds) {
            let digits = digits(bounds, extent)?;
            counts.push(digits.len());
            modes.extend(digits);
        }
        if modes.len() > MAX_MODES {
            return Err(Error::limit(format!("{} digits; at most 32", modes.len())));
        }
        let offset = i64::try_from(offset).map_err(|_| overflow())?;
        let layout = Layout::new(&modes, &Profile::nested(&counts)?, offset, Swizzle::IDENTITY)?;
        let capacity = if self.results.len() == 1 {
            TensorLayout::of(&layout).capacity()
        } else {
            u64::try_from(stride).map_err(|_| overflow())?
        };
        Ok(TensorLayout::new(dims, &layout, capacity)?)
    }
}

/// Adds a term's multiples of ⌊d/P⌋.
fn add(bounds: &mut BTreeMap<u64, i128>, term: &Term, multiple: i128) -> Option<()> {
    let at = bounds.entry(term.by).or_insert(0);
    *at = at.checked_add(multiple)?;
    if let Some(modulus) = term.modulus {
        let at = bounds.entry(term.by.checked_mul(modulus)?).or_insert(0);
        *at = at.checked_sub(multiple.checked_mul(i128::from(modulus))?)?;
    }
    Some(())
}

/// The digits of a dim, fastest first.
fn digits(bounds: &BTreeMap<u64, i128>, extent: u64) -> Result<Vec<Mode>, Error> {
    let overflow = || Error::overflow("the strides of this map overflow 64 bits");
    let mut stride = bounds.get(&1).copied().unwrap_or(0);
    let (mut modes, mut at) = (Vec::new(), 1u64);
    for (&bound, &multiple) in bounds.range(2..) {
        if bound % at != 0 {
            return Err(unsupported(format!(
                "pieces of {at} and of {bound} do not divide one another, so they are not digits of a dim"
            )));
        }
        let size = bound / at;
        modes.push(Mode::new(size, i64::try_from(stride).map_err(|_| overflow())?));
        let carried = stride.checked_mul(i128::from(size));
        stride = carried.and_then(|c| c.checked_add(multiple)).ok_or_else(overflow)?;
        at = bound;
    }
    let rest = extent.div_ceil(at);
    modes.push(Mode::new(rest, i64::try_from(stride).map_err(|_| overflow())?));
    Ok(modes)
}

impl AffineSum {
    fn of(term: Term) -> AffineSum {
        AffineSum { terms: vec![term], constant: 0 }
    }

    /// One more than the largest value, where a remainder counts with its whole modulus.
    fn extent(&self, dims: &[u64]) -> Option<i128> {
        let mut most = self.constant;
        let mut empty = false;
        for term in &self.terms {
            let extent = *dims.get(term.dim)?;
            empty |= extent == 0;
            let count = term.modulus.unwrap_or(extent.div_ceil(term.by));
            let step = i128::from(count.max(1) - 1).checked_mul(term.coefficient)?;
            most = most.checked_add(step.max(0))?;
        }
        if empty { Some(0) } else { most.checked_add(1) }
    }

    fn scaled(mut self, by: i128) -> Option<AffineSum> {
        for term in &mut self.terms {
            term.coefficient = term.coefficient.checked_mul(by)?;
        }
        self.constant = self.constant.checked_mul(by)?;
        Some(self)
    }

    fn plus(mut self, other: AffineSum) -> Option<AffineSum> {
        self.terms.extend(other.terms);
        self.constant = self.constant.checked_add(other.constant)?;
        (self.terms.len() <= MOST).then_some(self)
    }

    /// The one digit that this is.
    fn digit(&self) -> Option<&Term> {
        match &self.terms[..] {
            [term] if term.coefficient == 1 && self.constant == 0 => Some(term),
            _ => None,
        }
    }

    fn floordiv(&self, by: u64) -> Option<AffineSum> {
        if self.terms.is_empty() {
            return Some(AffineSum {
                terms: vec![],
                constant: self.constant.div_euclid(i128::from(by)),
            });
        }
        let term = self.digit()?;
        let modulus = match term.modulus {
            Some(modulus) if modulus % by == 0 => Some(modulus / by),
            Some(_) => return None,
            None => None,
        };
        Some(AffineSum::of(Term { by: term.by.checked_mul(by)?, modulus, ..term.clone() }))
    }

    fn modulo(&self, by: u64) -> Option<AffineSum> {
        if self.terms.is_empty() {
            return Some(AffineSum {
                terms: vec![],
                constant: self.constant.rem_euclid(i128::from(by)),
            });
        }
        let term = self.digit()?;
        let modulus = match term.modulus {
            Some(modulus) if by >= modulus => modulus,
            Some(modulus) if modulus % by != 0 => return None,
            Some(_) | None => by,
        };
        Some(AffineSum::of(Term { modulus: Some(modulus), ..term.clone() }))
    }
}

fn too_large(span: (usize, usize)) -> Error {
    Error::parse(span, "the numbers of this sum overflow 64 bits, or it has more than 256 terms")
}

fn sum(scan: &mut Scanner<'_>, names: &[&str], depth: usize) -> Result<AffineSum, Error> {
    let mut total = product(scan, names, depth)?;
    loop {
        let from = scan.at();
        let minus = match scan.peek() {
            Some('-') => true,
            Some('+') => false,
            Some(_) | None => return Ok(total),
        };
        scan.advance(1);
        let next = product(scan, names, depth)?.scaled(if minus { -1 } else { 1 });
        let span = (from, scan.at());
        total = next.and_then(|next| total.plus(next)).ok_or_else(|| too_large(span))?;
    }
}

fn product(scan: &mut Scanner<'_>, names: &[&str], depth: usize) -> Result<AffineSum, Error> {
    scan.skip();
    let from = scan.at();
    let mut value = factor(scan, names, depth)?;
    loop {
        if scan.eat("*") {
            let other = factor(scan, names, depth)?;
            let span = (from, scan.at());
            let (sum, by) = match (value.terms.is_empty(), other.terms.is_empty()) {
                (_, true) => (value, other.constant),
                (true, false) => (other, value.constant),
                (false, false) => {
                    return Err(Error::parse(span, "a product of dims is not an affine map"));
                }
            };
            value = sum.scaled(by).ok_or_else(|| too_large(span))?;
        } else if scan.eat("floordiv") {
            let (by, span) = divisor(scan, from)?;
            value = value.floordiv(by).ok_or_else(|| no_digit(span))?;
        } else if scan.eat("mod") {
            let (by, span) = divisor(scan, from)?;
            value = value.modulo(by).ok_or_else(|| no_digit(span))?;
        } else if scan.eat("ceildiv") {
            let span = (from, scan.at());
            return Err(Error::parse(
                span,
                "`ceildiv` moves the last piece of a dim, which is not a digit",
            ));
        } else {
            return Ok(value);
        }
    }
}

/// Reads the divisor; returns it with the span of bytes that begins at the dividend.
fn divisor(scan: &mut Scanner<'_>, from: usize) -> Result<(u64, (usize, usize)), Error> {
    scan.skip();
    let at = scan.at();
    match scan.integer()? {
        0 => Err(Error::parse((at, scan.at()), "a division by 0")),
        by => Ok((by, (from, scan.at()))),
    }
}

fn no_digit(span: (usize, usize)) -> Error {
    Error::parse(
        span,
        "a quotient or remainder of more than one digit of a dim, which strides cannot express",
    )
}

fn factor(scan: &mut Scanner<'_>, names: &[&str], depth: usize) -> Result<AffineSum, Error> {
    scan.skip();
    let from = scan.at();
    if depth == DEEPEST {
        return Err(scan.expected("no further bracket"));
    }
    if scan.eat("(") {
        let inner = sum(scan, names, depth + 1)?;
        scan.expect(")")?;
        return Ok(inner);
    }
    if scan.eat("-") {
        let inner = factor(scan, names, depth + 1)?.scaled(-1);
        return inner.ok_or_else(|| too_large((from, scan.at())));
    }
    if scan.peek().is_some_and(|c| c.is_ascii_digit()) {
        return Ok(AffineSum { terms: vec![], constant: i128::from(scan.integer()?) });
    }
    let (name, span) = scan.name("a dim or an integer")?;
    match names.iter().position(|other| *other == name) {
        Some(dim) => Ok(AffineSum::of(Term { coefficient: 1, dim, by: 1, modulus: None })),
        None => {
            let list = names.join(", ");
            Err(Error::parse(span, format!("`{name}` is not a dim of this map; it has {list}")))
        }
    }
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
