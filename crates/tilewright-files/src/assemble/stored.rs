//! The place of a tensor of an input: its storage, or its elements in rows. All reads of an assembly use it.
//!
//! Pieces are loops over storage if strides of digits describe the layout. For swizzles, index tables, interleaved digits and
//! elements with the highest byte first, pieces are loops over the elements in rows, the lowest byte first, and a plan makes
//! the bytes of a range of them.
//!
//! Law: the bytes in rows are those that a conversion to row-major writes.

use std::{collections::HashMap, fs::File, path::Path};

use tilewright_core::{Dtype, Fill};
use tilewright_notation::Spec;
use tilewright_relayout::Plan;
use tilewright_transfer::Stage;

use crate::{
    Difference, Error, Input, Tensor,
    layout::held::{Held, width},
    open::{
        origin::{Made, Origin},
        source::Source,
    },
    transfer::{
        budget::Budget,
        job::{program, reversed, unplanned},
    },
    verify::{
        compare::{self, side, side_at},
        crew::Crew,
    },
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
    /// The position of its storage's first byte.
    at: u64,
    name: &'c str,
    rows: Option<Rows>,
}

/// The way from the storage of a tensor to its rows.
#[derive(Clone, Debug)]
pub(crate) struct ToRows {
    plan: Plan,
    /// The number of bytes whose order is reversed.
    unit: usize,
}

impl ToRows {
    pub(crate) fn of(tensor: &Tensor) -> Result<ToRows, Error> {
        let (name, held) = (&tensor.name, &tensor.held);
        let to = in_rows(held).map_err(Error::usage)?;
        let plan = Plan::of(program(name, held, &to, 0)?);
        Ok(ToRows { plan, unit: reversed(held, &to) })
    }
}

/// The way to rows, and the buffers in which they are made.
#[derive(Debug)]
struct Rows {
    way: ToRows,
    budget: Budget,
    /// The largest number of bytes of either buffer of a stage.
    most: u64,
}

/// Returns an array in rows of elements of `bits` bits; without `bits`, of the width of their type.
pub(crate) fn rows(extents: &[u64], dtype: Dtype, bits: Option<u32>) -> Result<Held, String> {
    let spec = Spec::parse("row-major").map_err(|error| error.to_string())?;
    let named = spec.resolve(Some(extents), Some(dtype)).map_err(|error| format!(": {error}"))?;
    let bits = bits
        .or_else(|| width(dtype))
        .ok_or_else(|| format!("has elements of {dtype}, whose width is unknown"))?;
    Held::of(&named, dtype, bits, Fill::Unspecified)
}

/// Returns the layout of these elements in rows, lowest byte first.
pub(crate) fn in_rows(held: &Held) -> Result<Held, String> {
    rows(held.dims(), held.dtype, Some(held.bits))
}

impl<'c> Stored<'c> {
    /// Returns a tensor of an input, in its storage or in rows, which are made in buffers of `most` bytes.
    pub(crate) fn of(
        input: &'c Input,
        tensor: &'c Tensor,
        rows: Option<ToRows>,
        (budget, most): (&Budget, u64),
    ) -> Result<Self, Error> {
        let (source, at) = input.place(tensor)?;
        let rows = rows.map(|way| Rows { way, budget: budget.clone(), most });
        Ok(Stored { source, at, name: &tensor.name, rows })
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
        let mut stored =
            |bytes: &mut [u8], from: u64| self.source.read(bytes, self.at.saturating_add(from));
        let Some(Rows { way: ToRows { plan, unit }, budget, most }) = &self.rows else {
            return stored(bytes, from);
        };
        let range = from..from.saturating_add(bytes.len() as u64);
        let read = Stage::new(budget, *most).read_range(plan, range, bytes, &mut stored);
        read.map_err(|failed| {
            let outside =
                |end| Error::usage(format!("byte {end} of {:?} lies outside it", self.name));
            failed.into_error(|error| unplanned(self.name, error), outside)
        })?;
        Origin::File(self.source).reverse(self.name, bytes, (from, *unit))
    }

    /// Compares the rows of a tensor with its storage, each element at the place of the layout, and returns the first difference.
    pub(crate) fn misread(
        &self,
        (input, tensor): (&Input, &Tensor),
        crew: Crew<'_>,
    ) -> Result<Option<Difference>, Error> {
        let own = self.held(&tensor.held)?;
        let len = own.bytes().unwrap_or(0);
        let to = side_at((Origin::Made(self), 0, len), &tensor.name, &own, (0, false))?;
        let from = side((input, None), tensor, &tensor.held, Fill::Unspecified)?;
        compare::tensors(&to, &from, crew)
    }

    /// Returns the file, and the position of the storage in it.
    pub(crate) fn file(&self) -> (&File, u64) {
        (self.source.file(), self.at)
    }
}

impl Made for Stored<'_> {
    fn read(&self, bytes: &mut [u8], at: u64) -> Result<(), Error> {
        Stored::read(self, bytes, at)
    }

    fn path(&self) -> &Path {
        self.source.path()
    }
}
