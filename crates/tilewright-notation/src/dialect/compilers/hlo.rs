//! XLA's text: `f32[3,5]{1,0:T(2,2)}`, `{0,1:T(8,128)(2,1)}`, and the padding of its early versions.
//!
//! ```text
//! hlo := array [ padding ]             concrete
//!      | layout [ padding ]            general
//! array, layout, padding := as tilewright_xla reads ArrayShape, Layout, Padded
//! ```
//!
//! | text | array | layout |
//! |---|---|---|
//! | `f32[3,5]{1,0:T(2,2)}` | | `((2,2),(2,3)):((2,12),(1,4)) valid (3,5)` |
//! | `f32[2,3]{0,1}pad(3,5)fill(0)` | | `(3,5):(1,3) valid (2,3)` |
//! | `{0,1}` | `[2,3]` | `(2,3):(1,2)` |
//! | `{0,0}` | `[2,3]` | error: 0 |
//! | `f32[2,3]fill(0)` | | error: without `pad` |

use std::{fmt, sync::Arc};

use tilewright_core::{Dtype, Fill, TensorLayout};
use tilewright_xla::{ArrayShape, Dim, Layout, Padded, PrimitiveType};

use crate::{
    Error, ResolvedLayout,
    dialect::shape,
    literal::parsed,
    notation::Notation,
    parsed_spec::{Given, ParsedSpec},
};

pub(in crate::dialect) const DIALECT: Notation =
    Notation::new("hlo", "XLA: the order of the dims, and tiles", read, print)
        .with_aliases(&["xla"])
        .with_form(claims);

/// A layout in braces, a typed shape that no further SPEC follows, or a tuple or buffer (to refuse it
/// well).
fn claims(text: &str) -> bool {
    let typed = !text.starts_with('[') && shape::split(text).is_some() && !shape::claims(text);
    let unclosed = !text.contains([']', '=', '>']) && text.find('[').is_some_and(|at| at > 0);
    let whole = text.starts_with('(') || text.starts_with("b(");
    if text.starts_with('{') && text.contains(['\'', '"']) {
        return false;
    }
    typed || unclosed || text.starts_with('{') || (whole && text.contains('['))
}

/// The layout of a shape or of any array of its rank, perhaps padded.
#[derive(Debug)]
struct Hlo {
    /// The element type and dims of a concrete one.
    shape: Option<(PrimitiveType, Vec<Dim>)>,
    layout: Option<Layout>,
    padded: Option<Padded>,
}

fn read(text: &str) -> Result<Arc<dyn ParsedSpec>, Error> {
    let (mut hlo, end) = if text.starts_with('{') {
        let (layout, end) = Layout::parse_prefix(text).map_err(parsed)?;
        (Hlo { shape: None, layout: Some(layout), padded: None }, end)
    } else {
        let (shape, end) = ArrayShape::parse_prefix(text).map_err(parsed)?;
        let own = Some((shape.element_type(), shape.dims().to_vec()));
        (Hlo { shape: own, layout: shape.layout().cloned(), padded: None }, end)
    };
    let rest = text.get(end..).unwrap_or("");
    if !rest.trim().is_empty() {
        let padded = Padded::parse(rest).map_err(|error| parsed(error).shifted(end))?;
        hlo.padded = Some(padded);
    }
    Ok(Arc::new(hlo))
}

impl Hlo {
    fn array(&self) -> Option<ArrayShape> {
        let (element_type, dims) = self.shape.clone()?;
        Some(ArrayShape::from_parts(element_type, dims, self.layout.clone()))
    }

    fn rank(&self) -> usize {
        let dims = self.shape.as_ref().map(|(_, dims)| dims.len());
        self.layout.as_ref().map(Layout::rank).or(dims).unwrap_or(0)
    }

    /// The layout of an array of these dims, and the extents of its storage.
    fn lower(&self, dims: &[u64]) -> Result<(TensorLayout, Vec<u64>), Error> {
        let layout = self.layout.clone().unwrap_or_else(|| Layout::descending(dims.len()));
        if layout.rank() != dims.len() {
            return Err(Error::mismatch(format!(
                "`{self}` is a layout of {} dims, the array has {}",
                layout.rank(),
                dims.len()
            )));
        }
        Ok(match &self.padded {
            Some(padded) => (padded.lower(dims, &layout)?, storage(&layout, padded.widths())?),
            None => (layout.lower(dims)?, storage(&layout, dims)?),
        })
    }

    fn bits(&self) -> Result<Option<u32>, Error> {
        match self.layout.as_ref().map_or(0, Layout::element_size_in_bits) {
            0 => Ok(None),
            bits => u32::try_from(bits).map(Some).map_err(|_| {
                Error::unsupported(format!("elements of {bits} bits; at most 2^32 - 1"))
            }),
        }
    }
}

impl fmt::Display for Hlo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.array(), &self.layout) {
            (Some(array), _) => write!(f, "{array}")?,
            (None, Some(layout)) => write!(f, "{layout}")?,
            (None, None) => {}
        }
        self.padded.as_ref().map_or(Ok(()), |padded| write!(f, "{padded}"))
    }
}

impl ParsedSpec for Hlo {
    fn is_concrete(&self) -> bool {
        self.shape.is_some()
    }

    fn fits(&self, rank: usize) -> bool {
        rank == self.rank()
    }

    fn resolve(&self, given: &Given<'_>) -> Result<ResolvedLayout, Error> {
        let (layout, storage) = match self.array() {
            Some(array) => {
                let own = array.extents()?;
                given.agree_dims(self, &own)?;
                self.lower(&own)?
            }
            None => self.lower(given.need_dims(self)?)?,
        };
        Ok(ResolvedLayout {
            storage: Some(storage),
            dtype: given.agree_dtype(self, self.shape.as_ref().and_then(|(own, _)| own.dtype()))?,
            bits: self.bits()?,
            fill: self.padded.as_ref().map_or(Fill::Unspecified, Padded::fill),
            ..ResolvedLayout::plain(layout, given)
        })
    }
}

/// The storage shape of an array in tiles.
pub(in crate::dialect) fn storage(
    layout: &Layout,
    dims: &[u64],
) -> Result<Vec<u64>, tilewright_core::Error> {
    // With an alignment there may be padding behind the box, whether some dims need it or not.
    match layout.tail_padding_alignment() > 1 {
        true => Ok(vec![layout.padded_elements(dims)?]),
        false => layout.final_bounds(dims),
    }
}

/// The layout as HLO text: with its shape where the dtype is known, else the layout alone.
fn print(named: &ResolvedLayout) -> Result<String, Error> {
    if let Some(text) = as_named(named) {
        return Ok(text);
    }
    let layout = Layout::of(named.layout())?;
    let bits = u64::from(named.explicit_bits().unwrap_or(0));
    let layout = layout.with_element_size_in_bits(bits)?;
    Ok(match named.dtype() {
        None => layout.to_string(),
        Some(dtype) => {
            let mut shape = ArrayShape::new(xla_type(dtype)?, named.layout().extents());
            shape.set_layout(Some(layout));
            shape.to_string()
        }
    })
}

/// XLA's type of these elements.
fn xla_type(dtype: Dtype) -> Result<PrimitiveType, Error> {
    PrimitiveType::of_dtype(dtype)
        .ok_or_else(|| Error::unsupported(format!("XLA has no element type {dtype}")))
}

/// The name, perhaps behind the shape, if that is HLO text of just this layout. Merged dims have no
/// other.
fn as_named(named: &ResolvedLayout) -> Option<String> {
    let extents = named.layout().extents();
    let given = Given { dims: Some(extents), dtype: named.dtype() };
    let shape = shape::spell(named.dtype(), extents, None, Fill::Unspecified);
    [format!("{shape}{}", named.name()), named.name().to_owned()].iter().find_map(|text| {
        let reading = read(text).ok()?;
        let again = reading.resolve(&given).ok()?;
        let same = again.layout == *named.layout() && again.bits == named.explicit_bits();
        same.then(|| reading.to_string())
    })
}
