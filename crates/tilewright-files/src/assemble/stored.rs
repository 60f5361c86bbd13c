//! The place of a tensor of an input: its storage, or its elements in rows.
//!
//! Pieces are loops over storage if strides of digits describe the layout. For swizzles, index tables, interleaved digits and
//! elements with the highest byte first, pieces are loops over the elements in rows, the lowest byte first, and a plan makes
//! the bytes of a range of them.
//!
//! Law: the bytes in rows are those that a conversion to row-major writes.

use std::{collections::HashMap, fs::File};

use tilewright_core::{Dtype, Fill};
use tilewright_notation::Spec;
use tilewright_relayout::Plan;

use crate::{
    Error, Input, Tensor,
    layout::{
        gathered,
        held::{Held, width},
    },
    open::{origin::Origin, source::Source},
    transfer::job::{program, reversed, unplanned},
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
#[derive(Debug)]
pub(crate) struct Stored<'c> {
    source: &'c Source,
    /// The first byte of its storage.
    at: u64,
    name: &'c str,
    rows: Option<Rows>,
}

/// A plan from storage to rows.
#[derive(Debug)]
struct Rows {
    plan: Plan,
    /// The bytes whose order is reversed.
    unit: usize,
}

/// An array in rows of elements of `bits` bits; without `bits`, the width of their type.
pub(crate) fn rows(extents: &[u64], dtype: Dtype, bits: Option<u32>) -> Result<Held, String> {
    let spec = Spec::parse("row-major").map_err(|error| error.to_string())?;
    let named = spec.resolve(Some(extents), Some(dtype)).map_err(|error| format!(": {error}"))?;
    let bits = bits
        .or_else(|| width(dtype))
        .ok_or_else(|| format!("has elements of {dtype}, whose width is unknown"))?;
    Held::of(&named, dtype, bits, Fill::Unspecified)
}

/// The layout of these elements in rows, the lowest byte first.
pub(crate) fn in_rows(held: &Held) -> Result<Held, String> {
    rows(held.dims(), held.dtype, Some(held.bits))
}

impl<'c> Stored<'c> {
    /// Of a tensor of an input, in its storage or in rows.
    pub(crate) fn of(input: &'c Input, tensor: &'c Tensor, rows: bool) -> Result<Self, Error> {
        let (source, at) = input.place(tensor)?;
        let (name, held) = (tensor.name.as_str(), &tensor.held);
        let plan = || {
            let to = in_rows(held).map_err(Error::usage)?;
            let plan = Plan::of(program(name, held, &to, 0)?);
            Ok::<Rows, Error>(Rows { plan, unit: reversed(held, &to) })
        };
        let rows = rows.then(plan).transpose()?;
        Ok(Stored { source, at, name, rows })
    }

    /// Returns the layout of the elements that are read, of a tensor with this one.
    pub(crate) fn held(&self, held: &Held) -> Result<Held, Error> {
        match self.rows {
            Some(_) => in_rows(held).map_err(Error::usage),
            None => Ok(held.clone()),
        }
    }

    /// Fills `bytes` from byte `from` of the storage, or of the rows.
    pub(crate) fn read(&self, bytes: &mut [u8], from: u64) -> Result<(), Error> {
        let stored =
            |bytes: &mut [u8], from: u64| self.source.read(bytes, self.at.saturating_add(from));
        let Some(Rows { plan, unit }) = &self.rows else { return stored(bytes, from) };
        let failed = |error| unplanned(self.name, &error);
        gathered::read_range(plan, &stored, &failed, (bytes, from))?;
        Origin::File(self.source).reverse(self.name, bytes, (from, *unit))
    }

    /// The file and where the storage begins in it.
    pub(crate) fn file(&self) -> (&File, u64) {
        (self.source.file(), self.at)
    }
}
