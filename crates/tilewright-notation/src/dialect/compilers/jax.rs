//! JAX: `Layout(major_to_minor=(0, 1), tiling=((8, 128), (2, 1)))`.
//!
//! ```text
//! jax := [ 'Layout' | 'DeviceLocalLayout' ] '(' fields ')' of
//!     major_to_minor | tiling, _tiling (tuples of sizes) | _sub_byte_element_size_in_bits, sub_byte_element_size_in_bits
//! ```
//!
//! The dims are listed **outermost first**, the reverse of XLA's `minor_to_major`. Tiles are XLA's, without merged
//! dims. Source: JAX, `jax.experimental.layout.Layout`.
//!
//! | text | array | layout |
//! |---|---|---|
//! | `Layout(major_to_minor=(0, 1))` | `[2,3]` | `(2,3):(3,1)` |
//! | `Layout(major_to_minor=(1, 0), tiling=None)` | `[2,3]` | `(2,3):(1,2)` |
//! | `Layout(major_to_minor=(0, 1), tiling=((2, 2),))` | `f32[4,4]` | `((2,2),(2,2)):((2,8),(1,4))` |
//! | `Layout((0, 1), ((8, 128), (2, 1)))` | `bf16[8,128]` | `((2,4),128):((1,256),2)` |
//! | `Layout(major_to_minor=(0, 0))` | | error: each dim once |
//! | `Layout(major_to_minor=(0, 1), tiling=((8, 0),))` | | error: a tile |
//! | `Layout(major_to_minor=(0, 1), tiling=(8, 128))` | | error: a tuple of tiles |
//! | `Layout(minor_to_major=(0, 1))` | | error: did you mean `major_to_minor`? |

use std::{fmt, sync::Arc};

use tilewright_core::TensorLayout;
use tilewright_xla::{Layout, Tile, TileDim};

use super::hlo;
use crate::{
    Error, ResolvedLayout,
    dialect::{arrays::strided::unsupported, patterns::canonical::simplified},
    literal::{Literal, LiteralFields, python_tuple},
    notation::Notation,
    parsed_spec::{Given, ParsedSpec},
};

pub(in crate::dialect) const DIALECT: Notation =
    Notation::new("jax", "JAX: the dims, outermost first, and tiles", read, print)
        .with_form(claims);

const FIELDS: &[&str] = &[
    "major_to_minor",
    "tiling",
    "_tiling",
    "_sub_byte_element_size_in_bits",
    "sub_byte_element_size_in_bits",
];
/// JAX's names for the width of elements narrower than a byte.
const WIDTH: &[&str] = &["_sub_byte_element_size_in_bits", "sub_byte_element_size_in_bits"];

fn claims(text: &str) -> bool {
    let call = ["Layout", "DeviceLocalLayout"]
        .iter()
        .any(|name| text.strip_prefix(name).is_some_and(|rest| rest.trim_start().starts_with('(')));
    call || text.starts_with("major_to_minor")
}

/// A layout of XLA's, in JAX's words.
#[derive(Debug)]
struct Jax {
    layout: Layout,
}

fn read(text: &str) -> Result<Arc<dyn ParsedSpec>, Error> {
    let mut fields = LiteralFields::read(text, "a layout of JAX", FIELDS, 2)?;
    let order = fields.need(&["major_to_minor"])?;
    let minor_to_major: Vec<u64> = order.dims()?.into_iter().rev().collect();
    let mut layout = Layout::new(&minor_to_major)
        .map_err(|_| Error::parse(order.span, "major_to_minor names each dim once, from 0 on"))?;
    if let Some(tiling) = fields.take_some(&["tiling", "_tiling"])? {
        let tiles: Vec<Tile> = tiling.list()?.iter().map(tile).collect::<Result<_, _>>()?;
        layout = layout.with_tiles(&tiles);
    }
    if let Some(bits) = fields.take_some(WIDTH)? {
        let width = bits.unsigned()?;
        layout = layout
            .with_element_size_in_bits(width)
            .map_err(|error| Error::parse(bits.span, error.to_string()))?;
    }
    Ok(Arc::new(Jax { layout }))
}

/// A tile is a tuple, also of one size: `(8,128)` alone are two numbers and no tiles.
fn tile(value: &Literal<'_>) -> Result<Tile, Error> {
    let message = "a tiling is a tuple of tiles, each a tuple of sizes, such as `((8, 128),)`";
    let sizes = value.list().map_err(|_| Error::parse(value.span, message))?;
    let sizes: Vec<u64> = sizes.iter().map(Literal::unsigned).collect::<Result<_, _>>()?;
    Tile::sizes(&sizes)
        .map_err(|error| Error::parse(value.span, format!("not a tile size: {error}")))
}

/// Writes the order, the tiles and the element size of a layout of XLA's.
fn spell(layout: &Layout) -> String {
    let order: Vec<u64> = layout.minor_to_major().iter().rev().copied().collect();
    let mut text = format!("Layout(major_to_minor={}", python_tuple(&order));
    let sizes = |tile: &Tile| {
        let sizes = tile.dims().iter().map(|dim| match dim {
            TileDim::Size(size) => size.to_string(),
            TileDim::Combine => "*".to_owned(),
        });
        python_tuple(&sizes.collect::<Vec<_>>())
    };
    if !layout.tiles().is_empty() {
        let tiles: Vec<String> = layout.tiles().iter().map(sizes).collect();
        text += &format!(",tiling={}", python_tuple(&tiles));
    }
    if layout.element_size_in_bits() != 0 {
        text += &format!(",_sub_byte_element_size_in_bits={}", layout.element_size_in_bits());
    }
    text + ")"
}

impl fmt::Display for Jax {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&spell(&self.layout))
    }
}

impl ParsedSpec for Jax {
    fn is_concrete(&self) -> bool {
        false
    }

    fn fits(&self, rank: usize) -> bool {
        rank == self.layout.rank()
    }

    fn resolve(&self, given: &Given<'_>) -> Result<ResolvedLayout, Error> {
        let dims = given.need_dims(self)?;
        let rank = self.layout.rank();
        if rank != dims.len() {
            let message =
                format!("`{self}` is a layout of {rank} dims, the array has {}", dims.len());
            return Err(Error::mismatch(message));
        }
        let bits = u32::try_from(self.layout.element_size_in_bits()).ok().filter(|bits| *bits > 0);
        Ok(ResolvedLayout {
            storage: Some(hlo::storage(&self.layout, dims)?),
            bits,
            ..ResolvedLayout::plain(self.layout.lower(dims)?, given)
        })
    }
}

/// The layout as order and tiles.
fn print(named: &ResolvedLayout) -> Result<String, Error> {
    let layout = match words(named.layout()) {
        Ok(layout) => layout,
        Err(refusal) => words(&simplified(named.layout())?).map_err(|_| refusal)?,
    };
    let bits = u64::from(named.explicit_bits().unwrap_or(0));
    Ok(spell(&layout.with_element_size_in_bits(bits)?))
}

fn words(tensor: &TensorLayout) -> Result<Layout, Error> {
    let layout = Layout::of(tensor)?;
    if layout.tiles().iter().any(|tile| tile.dims().contains(&TileDim::Combine)) {
        return Err(unsupported("tiles of JAX have sizes only; this one merges dims"));
    }
    if layout.tail_padding_alignment() > 1 {
        return Err(unsupported("JAX cannot express padding after the whole array"));
    }
    Ok(layout)
}
