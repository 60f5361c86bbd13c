//! C++'s mdspan: `std::layout_stride::mapping(std::extents(3, 5), std::array{5, 1})`.
//!
//! ```text
//! mdspan  := layout [ '::' 'mapping' ( '(' | '{' ) extents [ ',' array ] ( ')' | '}' ) ]      alone: general
//! layout  := 'layout_left' | 'layout_right' | 'layout_stride'
//!          | ( 'layout_left_padded' | 'layout_right_padded' ) '<' int '>'
//! extents := 'extents' ( list | '<' type { ',' int } '>' [ list ] ) | 'dextents' '<' type ',' int '>' list
//! array   := [ 'array' [ '<' … '>' ] ] list
//! list    := ( '(' | '{' ) [ int { ',' int } ] ( ')' | '}' )
//! ```
//!
//! Any name can have the prefix `std::`, `std::experimental::` or `Kokkos::`. `layout_left` has the first dim
//! fastest, and `layout_right` the last. A padded layout rounds the extent of that dim up for the next stride, and
//! ends with its last element. Strides are elements, are positive, and give each element its own offset.
//! Source: C++23 and 26, \[mdspan.layout\]; P2642.
//!
//! | text | array | layout |
//! |---|---|---|
//! | `layout_right` | `[3,5]` | `(3,5):(5,1)` |
//! | `std::layout_left::mapping(std::extents(3, 5))` | | `(3,5):(1,3)` |
//! | `std::layout_stride::mapping(std::extents(3, 5), std::array{8, 1})` | | `(3,5):(8,1)` |
//! | `Kokkos::layout_left_padded<8>::mapping{Kokkos::extents<int, 3, 5>{}}` | | `(3,5):(1,8)` |
//! | `layout_right_padded<4>` | `[2,3,5]` | `(2,3,5):(24,8,1)` |
//! | `layout_stride::mapping(dextents<int, 2>{3, 5}, {1, 3})` | | `(3,5):(1,3)` |
//! | `layout_stride::mapping(extents(3, 5), {0, 1})` | | error: positive strides |
//! | `layout_stride::mapping(extents(3, 5), {1})` | | error: 1 strides for 2 extents |
//! | `layout_lefy` | | error: did you mean `layout_left`? |
//! | `layout_left_padded` | | error: expected `<` |

use std::{fmt, sync::Arc};

use tilewright_core::{MAX_MODES, TensorLayout};

use super::strided::{Strided, unsupported};
use crate::{
    Error, ResolvedLayout,
    literal::{Scanner, comma, did_you_mean},
    notation::Notation,
    parsed_spec::{Given, ParsedSpec},
};

pub(in crate::dialect) const DIALECT: Notation =
    Notation::new("mdspan", "C++'s mdspan: a mapping of extents", read, print)
        .with_form(claims)
        .with_words(words);

const LAYOUTS: &[&str] =
    &["layout_left", "layout_right", "layout_stride", "layout_left_padded", "layout_right_padded"];
const SPACES: &[&str] = &["std::", "experimental::", "Kokkos::"];

fn words() -> Vec<&'static str> {
    LAYOUTS.to_vec()
}

fn claims(text: &str) -> bool {
    text.starts_with("layout_") || SPACES.iter().any(|space| text.starts_with(space))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MdspanOrder {
    Left,
    Right,
    Stride,
}

#[derive(Debug)]
struct Mapping {
    order: MdspanOrder,
    padding: Option<u64>,
    dims: Option<Vec<u64>>,
    strides: Option<Vec<i64>>,
}

fn skip_spaces(scan: &mut Scanner<'_>) {
    while SPACES.iter().any(|space| scan.eat(space)) {}
}

fn read(text: &str) -> Result<Arc<dyn ParsedSpec>, Error> {
    let mut scan = Scanner::new(text);
    skip_spaces(&mut scan);
    let (name, span) = scan.name("the name of a layout, such as `layout_right`")?;
    let order = match name {
        "layout_left" | "layout_left_padded" => MdspanOrder::Left,
        "layout_right" | "layout_right_padded" => MdspanOrder::Right,
        "layout_stride" => MdspanOrder::Stride,
        _ => {
            let nearest = did_you_mean(name, LAYOUTS.iter().copied());
            return Err(Error::parse(
                span,
                format!("no layout of C++ is called `{name}`{nearest}"),
            ));
        }
    };
    let mut mapping = Mapping { order, padding: None, dims: None, strides: None };
    if name.ends_with("_padded") {
        scan.expect("<")?;
        mapping.padding = Some(read_padding(&mut scan)?);
        scan.expect(">")?;
    }
    if scan.eat("::") {
        mapping.read_mapping(&mut scan)?;
    } else if order == MdspanOrder::Stride {
        return Err(scan.expected("`::mapping(extents, strides)`"));
    }
    scan.end("the mapping")?;
    Ok(Arc::new(mapping))
}

fn read_padding(scan: &mut Scanner<'_>) -> Result<u64, Error> {
    scan.skip();
    let from = scan.at();
    match scan.integer()? {
        0 => Err(Error::parse((from, scan.at()), "a padding of 1 or more elements")),
        padding => Ok(padding),
    }
}

/// The bracket that opens a list or a call, and the one that closes it.
fn open(scan: &mut Scanner<'_>) -> Result<(&'static str, &'static str), Error> {
    match scan.peek() {
        Some('(') => Ok(("(", ")")),
        Some('{') => Ok(("{", "}")),
        Some(_) | None => Err(scan.expected("`(` or `{`")),
    }
}

impl Mapping {
    fn read_mapping(&mut self, scan: &mut Scanner<'_>) -> Result<(), Error> {
        scan.expect("mapping")?;
        let (opening, closing) = open(scan)?;
        scan.expect(opening)?;
        let dims = read_extents(scan)?;
        let strides = scan.eat(",");
        if strides != (self.order == MdspanOrder::Stride) {
            return Err(scan.expected("strides for `layout_stride`, and only for it"));
        }
        if strides {
            scan.skip();
            let from = scan.at();
            let strides = read_strides(scan)?;
            if strides.len() != dims.len() {
                let message = format!("{} strides for {} extents", strides.len(), dims.len());
                return Err(Error::parse((from, scan.at()), message));
            }
            self.strides = Some(strides);
        }
        self.dims = Some(dims);
        scan.expect(closing)
    }
}

fn list(scan: &mut Scanner<'_>) -> Result<Vec<u64>, Error> {
    let brackets = open(scan)?;
    scan.list(brackets, MAX_MODES, Scanner::integer)
}

/// Extents; a static extent that is `dyn` or `dynamic_extent` takes the next of the list.
fn read_extents(scan: &mut Scanner<'_>) -> Result<Vec<u64>, Error> {
    skip_spaces(scan);
    let (name, span) = scan.name("`extents(…)`")?;
    if name != "extents" && name != "dextents" {
        return Err(Error::parse(span, "expected `extents` or `dextents`"));
    }
    if !scan.eat("<") {
        return list(scan);
    }
    scan.take(|c| !",>".contains(c));
    let mut fixed = Vec::new();
    while scan.eat(",") {
        skip_spaces(scan);
        let dynamic = scan.eat("dynamic_extent") || scan.eat("dyn");
        fixed.push(if dynamic { None } else { Some(scan.integer()?) });
        if fixed.len() > MAX_MODES {
            return Err(scan.expected("at most 32 extents"));
        }
    }
    scan.expect(">")?;
    let listed = scan.peek().is_some_and(|c| "({".contains(c));
    let values = if listed { list(scan)? } else { Vec::new() };
    if name == "dextents" || values.len() == fixed.len() {
        return Ok(values);
    }
    let mut next = values.into_iter();
    let dims: Option<Vec<u64>> = fixed.iter().map(|dim| dim.or_else(|| next.next())).collect();
    dims.filter(|_| next.next().is_none())
        .ok_or_else(|| Error::parse((span.0, scan.at()), "one value for each dynamic extent"))
}

fn read_strides(scan: &mut Scanner<'_>) -> Result<Vec<i64>, Error> {
    skip_spaces(scan);
    if scan.eat("array") && scan.eat("<") {
        scan.take(|c| c != '>');
        scan.expect(">")?;
    }
    let from = scan.at();
    let strides = list(scan)?;
    let positive = |stride: &u64| i64::try_from(*stride).ok().filter(|stride| *stride > 0);
    strides.iter().map(positive).collect::<Option<_>>().ok_or_else(|| {
        Error::parse((from, scan.at()), "`layout_stride` has positive strides of 64 bits")
    })
}

impl fmt::Display for Mapping {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.order {
            MdspanOrder::Left => "std::layout_left",
            MdspanOrder::Right => "std::layout_right",
            MdspanOrder::Stride => "std::layout_stride",
        })?;
        if let Some(padding) = self.padding {
            write!(f, "_padded<{padding}>")?;
        }
        let spaced = |list: String| list.replace(',', ", ");
        if let Some(dims) = &self.dims {
            write!(f, "::mapping(std::extents({})", spaced(comma(dims)))?;
            if let Some(strides) = &self.strides {
                write!(f, ", std::array{{{}}}", spaced(comma(strides)))?;
            }
            f.write_str(")")?;
        }
        Ok(())
    }
}

impl Mapping {
    /// The strides over these dims.
    fn strided(&self, dims: &[u64]) -> Result<Strided, Error> {
        let overflow = || Error::overflow(format!("the strides of `{self}` overflow 64 bits"));
        let dims = dims.to_vec();
        if let Some(strides) = &self.strides {
            return Ok(Strided { dims, strides: strides.clone(), offset: 0 });
        }
        let mut strides = vec![1i64; dims.len()];
        let mut stride = 1i64;
        for step in 0..dims.len() {
            let dim = if self.order == MdspanOrder::Left { step } else { dims.len() - 1 - step };
            let mut extent = dims.get(dim).copied().unwrap_or(1);
            if let (Some(padding), 0) = (self.padding, step) {
                extent = extent.checked_next_multiple_of(padding).ok_or_else(overflow)?;
            }
            strides.get_mut(dim).into_iter().for_each(|to| *to = stride);
            // Strides of an empty array move nothing.
            let by = i64::try_from(extent.max(1)).map_err(|_| overflow())?;
            stride = match stride.checked_mul(by) {
                Some(stride) => stride,
                None if step + 1 == dims.len() => stride,
                None => return Err(overflow()),
            };
        }
        Ok(Strided { dims, strides, offset: 0 })
    }
}

impl ParsedSpec for Mapping {
    fn is_concrete(&self) -> bool {
        self.dims.is_some()
    }

    fn fits(&self, rank: usize) -> bool {
        self.dims.as_ref().map_or(rank <= MAX_MODES, |dims| dims.len() == rank)
    }

    fn resolve(&self, given: &Given<'_>) -> Result<ResolvedLayout, Error> {
        let dims = match &self.dims {
            Some(dims) => {
                given.agree_dims(self, dims)?;
                dims
            }
            None => given.need_dims(self)?,
        };
        Ok(ResolvedLayout::plain(self.strided(dims)?.layout()?, given))
    }
}

/// The layout as a mapping.
fn print(named: &ResolvedLayout) -> Result<String, Error> {
    let tensor = named.layout();
    let strided = Strided::of(tensor, "mdspan")?;
    if strided.offset != 0 {
        return Err(unsupported(
            "a mapping begins at 0; the pointer of an mdspan carries the offset",
        ));
    }
    let bare =
        |order| Mapping { order, padding: None, dims: Some(strided.dims.clone()), strides: None };
    if strided.is_row_major() {
        return Ok(bare(MdspanOrder::Right).to_string());
    }
    if strided.is_col_major() {
        return Ok(bare(MdspanOrder::Left).to_string());
    }
    if let Some(padded) = padded(&strided, tensor) {
        return Ok(padded.to_string());
    }
    check(&strided, tensor)?;
    // Dims of one coordinate take any stride, but no 0.
    let strides = strided.strides.iter().map(|stride| if *stride > 0 { *stride } else { 1 });
    let strides = Some(strides.collect());
    Ok(Mapping { strides, ..bare(MdspanOrder::Stride) }.to_string())
}

/// Checks what `layout_stride` requires of strides.
fn check(strided: &Strided, tensor: &TensorLayout) -> Result<(), Error> {
    let moving = strided.dims.iter().zip(&strided.strides).filter(|(extent, _)| **extent > 1);
    if let Some((_, stride)) = moving.into_iter().find(|(_, stride)| **stride <= 0) {
        return Err(unsupported(format!(
            "a stride of {stride}; `layout_stride` has positive ones only"
        )));
    }
    match tensor.injective() {
        Ok(true) => Ok(()),
        Ok(false) => {
            Err(unsupported("two elements share an offset; `layout_stride` needs distinct offsets"))
        }
        Err(error) => Err(error.into()),
    }
}

/// The padded mapping with these strides.
fn padded(strided: &Strided, tensor: &TensorLayout) -> Option<Mapping> {
    let rank = strided.dims.len();
    let candidates = [(MdspanOrder::Left, 1), (MdspanOrder::Right, rank.checked_sub(2)?)];
    candidates.into_iter().find_map(|(order, next)| {
        let padding =
            u64::try_from(*strided.strides.get(next)?).ok().filter(|padding| *padding > 0)?;
        let dims = Some(strided.dims.clone());
        let mapping = Mapping { order, padding: Some(padding), dims, strides: None };
        let again = mapping.strided(&strided.dims).ok()?.layout().ok()?;
        let same = again.capacity() == tensor.capacity() && again.same_function(tensor) == Ok(true);
        same.then_some(mapping)
    })
}
