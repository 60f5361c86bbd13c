//! The place of a tensor of an input: its storage, or its elements in rows. All reads of an assembly use it.
//!
//! Pieces are loops over storage if strides of digits describe the layout. For swizzles, index tables, interleaved digits and
//! elements in big-endian order, pieces are loops over the elements in rows, little-endian, and a plan makes
//! the bytes of a range of them.
//!
//! Law: the bytes in rows are those that a conversion to row-major writes.

pub(crate) mod joined;
pub(crate) mod moved;

use std::{collections::HashMap, path::Path, sync::Arc};

use tilewright_core::{Dtype, Fill};
use tilewright_notation::Spec;
use tilewright_relayout::Plan;

use crate::{
    Error, Input, Tensor,
    assemble::stored::moved::{Moved, Rooms},
    convert::job::{program, reversed},
    error,
    layout::element_layout::{ElementLayout, width},
    open::{origin::Made, source::Source},
};

/// A tensor of an input, and whether it is read in rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Take {
    pub(crate) tensor: usize,
    pub(crate) rows: bool,
}

/// The tensors of an input that are read, each with its place.
pub(crate) type Places<'c> = HashMap<Take, Stored<'c>>;

/// A tensor that can be read.
#[derive(Clone, Debug)]
pub(crate) struct Stored<'c> {
    source: &'c Source,
    /// The position of its storage's first byte.
    at: u64,
    rows: Option<Arc<Moved<'c>>>,
}

/// Returns an array in rows of elements of `bits` bits; without `bits`, of the width of their type.
pub(crate) fn rows(
    extents: &[u64],
    dtype: Dtype,
    bits: Option<u32>,
) -> Result<ElementLayout, String> {
    let spec = Spec::parse("row-major").map_err(|error| error.message().to_owned())?;
    let named = spec
        .resolve(Some(extents), Some(dtype))
        .map_err(|error| format!(": {}", error.message()))?;
    let bits = bits
        .or_else(|| width(dtype))
        .ok_or_else(|| format!("has elements of {dtype}, whose width is unknown"))?;
    ElementLayout::of(&named, dtype, bits, Fill::Unspecified)
}

/// Returns the layout of these elements in rows, little-endian.
pub(crate) fn in_rows(held: &ElementLayout) -> Result<ElementLayout, String> {
    rows(held.dims(), held.dtype, Some(held.bits))
}

impl<'c> Stored<'c> {
    /// Returns a tensor of an input, in its storage or in rows, which are made in these rooms.
    pub(crate) fn of(
        input: &'c Input,
        tensor: &'c Tensor,
        rows: bool,
        rooms: &'c Rooms,
    ) -> Result<Self, Error> {
        let (source, at) = input.place(tensor)?;
        let (name, held) = (tensor.name.as_str(), &tensor.held);
        let moved = || {
            let to = in_rows(held).map_err(error::usage)?;
            let (plan, unit) = (Plan::of(program(name, held, &to, 0)?), reversed(held, &to));
            let from = Box::new(Stored { source, at, rows: None });
            Ok::<_, Error>(Arc::new(Moved { name, plan, from, unit, narrow: None, rooms }))
        };
        let rows = rows.then(moved).transpose()?;
        Ok(Stored { source, at, rows })
    }

    /// Returns the layout of the elements that are read, of a tensor with this one.
    pub(crate) fn held(&self, held: &ElementLayout) -> Result<ElementLayout, Error> {
        match self.rows {
            Some(_) => in_rows(held).map_err(error::usage),
            None => Ok(held.clone()),
        }
    }
}

impl Made for Stored<'_> {
    fn read(&self, bytes: &mut [u8], at: u64) -> Result<(), Error> {
        match &self.rows {
            Some(rows) => rows.read(bytes, at),
            None => self.source.read(bytes, self.at.saturating_add(at)),
        }
    }

    fn path(&self) -> &Path {
        self.source.path()
    }

    fn in_file(&self, at: u64) -> Option<(&Source, u64)> {
        self.rows.is_none().then(|| (self.source, self.at.saturating_add(at)))
    }
}
