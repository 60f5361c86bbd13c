//! A shape before any SPEC: `bf16[528,200] zN`, `[8,12] col-major`.
//!
//! ```text
//! shaped := [ type ] '[' [ int { ',' int } ] ']' { property } spec
//! property := 'E' '(' int ')'          the stored width of an element in bits
//!           | 'fill' '(' fill ')'      the value of padding
//! spec   := any SPEC that is not shaped itself
//! ```
//!
//! So every general SPEC has a concrete form that keeps its name. `f32[3,5]{1,0}` is HLO; braces followed by an arrow
//! are a linear layout.
//!
//! | text | array | layout |
//! |---|---|---|
//! | `bf16[32,48] zN` | | `((16,2),(16,3)):((16,256),(1,512))` |
//! | `[8,12] col-major` | | `(8,12):(1,8)` |
//! | `f32[2,3] (3,5):(1,3) valid (2,3)` | | `(3,5):(1,3) valid (2,3)` |
//! | `f16[4,4] {row=[4,8],column=[1,2]} -> (offset:16)` | | `(4,4):(4,1)` |
//! | `f16[4,2] {row=[4,8],column=[1,2]} -> (offset:16)` | | error: is a layout of dims (4,4) |
//! | `[2,3] [2,3] zN` | | error: a second shape |

use std::{fmt, sync::Arc};

use tilewright_core::{Dtype, Fill, LinearLayout, MAX_MODES, ParseError};

use super::{All, ReadText, compilers::linear};
use crate::{
    Error, ResolvedLayout,
    dtype::dtype,
    literal::{Scanner, comma, parsed},
    notation::Notation,
    parsed_spec::{Given, ParsedSpec},
};

pub(super) const DIALECT: Notation =
    Notation::new("shape", "the array, then a layout in any notation", read, print)
        .with_form(claims)
        .with_inner(read_among);

/// A text cut behind its shape and the shape's properties; whether there are properties.
pub(super) fn split(text: &str) -> Option<(&str, bool)> {
    let start = text.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_');
    let (inside, mut rest) = start.trim_start().strip_prefix('[')?.split_once(']')?;
    // The units of a format, `[C0=16]`, and not the bound of a dynamic dim, `[<=5]`.
    if inside.replace("<=", "").contains('=') {
        return None;
    }
    let mut properties = false;
    while let Some((_, behind)) = property(rest) {
        (rest, properties) = (behind, true);
    }
    Some((rest.trim_start(), properties))
}

/// A text with the width of its elements behind its shape and the shape's properties; `None` for one without a shape.
pub(crate) fn with_width(text: &str, bits: u32) -> Option<String> {
    let (rest, _) = split(text)?;
    let shape = text.get(..text.len() - rest.len())?.trim_end();
    Some(format!("{shape}E({bits}) {rest}"))
}

/// A property at the start of a text, and what is behind it.
fn property(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_start();
    let inner = text.strip_prefix("E(").or_else(|| text.strip_prefix("fill("))?;
    inner.split_once(')')
}

pub(super) fn claims(text: &str) -> bool {
    let Some((rest, properties)) = split(text) else { return false };
    let hlo = rest.is_empty()
        || (rest.starts_with('{') && !properties && !linear::claims(rest))
        || ["pad", "/*", "//"].iter().any(|start| rest.starts_with(start));
    text.starts_with('[') || !hlo
}

#[derive(Debug)]
struct Shaped {
    dtype: Option<Dtype>,
    dims: Vec<u64>,
    bits: Option<u32>,
    fill: Fill,
    inner: ReadText,
}

fn read(text: &str) -> Result<Arc<dyn ParsedSpec>, Error> {
    read_among(text, super::notations())
}

fn read_among(text: &str, all: All) -> Result<Arc<dyn ParsedSpec>, Error> {
    let mut scan = Scanner::new(text);
    let mut element = None;
    if scan.peek() != Some('[') {
        let (name, (from, _)) = scan.name("an element type or `[`")?;
        element = Some(dtype(name).map_err(|error| error.shifted(from))?);
    }
    let dims = scan.list(("[", "]"), MAX_MODES, Scanner::integer)?;
    let (mut bits, mut fill) = (None, Fill::Unspecified);
    while let Some((inside, _)) = property(scan.rest()) {
        if scan.eat("E") {
            bits = Some(read_bits(&mut scan)?);
        } else {
            scan.expect("fill")?;
            scan.expect("(")?;
            let at = scan.at() + (inside.len() - inside.trim_start().len());
            fill = inside.trim().parse().map_err(|e: ParseError| parsed(e).shifted(at))?;
            scan.take(|c| c != ')');
            scan.expect(")")?;
        }
    }
    scan.skip();
    let (rest, at) = (scan.rest(), scan.at());
    if rest.is_empty() {
        return Err(scan.expected("a layout after the shape, such as `row-major`"));
    }
    if claims(rest)
        || super::prefix(rest, all).is_some_and(|(dialect, _)| dialect.name == DIALECT.name)
    {
        return Err(Error::parse((at, text.len()), "a second shape; a SPEC has only one"));
    }
    let inner = super::read(rest, all).map_err(|error| error.shifted(at))?;
    Ok(Arc::new(Shaped { dtype: element, dims, bits, fill, inner }))
}

/// `(4)`.
fn read_bits(scan: &mut Scanner<'_>) -> Result<u32, Error> {
    scan.expect("(")?;
    let from = scan.at();
    let bits = scan.integer()?;
    let to = scan.at();
    scan.expect(")")?;
    match u32::try_from(bits) {
        Ok(bits) if bits > 0 => Ok(bits),
        _ => Err(Error::parse((from, to), "an element has 1 to 2^32 - 1 bits")),
    }
}

/// `bf16[528,200]E(8)fill(0)`.
pub(crate) fn spell(dtype: Option<Dtype>, dims: &[u64], bits: Option<u32>, fill: Fill) -> String {
    let mut text = format!("{}[{}]", dtype.map_or("", Dtype::name), comma(dims));
    if let Some(bits) = bits {
        text += &format!("E({bits})");
    }
    if fill != Fill::Unspecified {
        text += &format!("fill({fill})");
    }
    text
}

impl fmt::Display for Shaped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A width that a name implies is written, for readers that do not know the name.
        let bits = self.bits.or_else(|| self.packs(&Given { dims: None, dtype: None }));
        let shape = spell(self.dtype, &self.dims, bits, self.fill);
        write!(f, "{shape} {}", self.inner.text)
    }
}

impl ParsedSpec for Shaped {
    fn is_concrete(&self) -> bool {
        true
    }

    fn is_known_everywhere(&self) -> bool {
        self.inner.everywhere
    }

    fn fits(&self, rank: usize) -> bool {
        rank == self.dims.len() && self.inner.reading.fits(rank)
    }

    fn resolve(&self, given: &Given<'_>) -> Result<ResolvedLayout, Error> {
        given.agree_dims(self, &self.dims)?;
        let dtype = given.agree_dtype(self, self.dtype)?;
        let mut resolved = self.inner.reading.of_array(&Given { dims: Some(&self.dims), dtype })?;
        resolved.bits = match (self.bits, resolved.bits) {
            (Some(outer), Some(inner)) if outer != inner => {
                return Err(Error::mismatch(format!(
                    "elements of {outer} bits in the shape, of {inner} in its layout"
                )));
            }
            (outer, inner) => outer.or(inner),
        };
        if self.fill != Fill::Unspecified {
            resolved.fill = self.fill;
        }
        Ok(resolved)
    }

    fn packs(&self, given: &Given<'_>) -> Option<u32> {
        let dtype = given.agree_dtype(self, self.dtype).ok()?;
        let given = Given { dims: Some(&self.dims), dtype };
        self.inner.reading.packs(&given).filter(|_| self.bits.is_none())
    }

    fn distribution(&self, given: &Given<'_>) -> Result<Option<LinearLayout>, Error> {
        given.agree_dims(self, &self.dims)?;
        let dtype = given.agree_dtype(self, self.dtype)?;
        self.inner.reading.distribution(&Given { dims: Some(&self.dims), dtype })
    }
}

/// The array with its layout as modes and strides, which can express every layout.
fn print(named: &ResolvedLayout) -> Result<String, Error> {
    let dims = named.layout().extents();
    let shape = spell(named.dtype(), dims, named.explicit_bits(), named.fill());
    Ok(format!("{shape} {}", super::spell_cute(named.layout())))
}
