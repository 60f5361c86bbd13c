//! What verification compares of a tensor: its elements as they lie or as they are gathered, and what holds none.

use tilewright_core::Fill;

use crate::{Difference, Error, Input, Tensor, held::Held, origin::Origin, patch::Side};

/// One side of a comparison: a tensor of a file, or one whose bytes are in memory.
pub(crate) fn side<'a>(
    (input, bytes): (&'a Input, Option<&'a [u8]>),
    tensor: &'a Tensor,
    held: &'a Held,
    fill: Fill,
) -> Result<Side<'a>, Error> {
    let promised = fill.is_promised();
    // A fill that the type does not have says nothing where there is no padding.
    let fill = match held.layout().padding() {
        0 => 0,
        _ => held.dtype.stored_fill(fill, held.bits, held.order).map_err(|error| {
            Error::corrupt(&input.path, format!("tensor {:?}: {error}", tensor.name))
        })?,
    };
    let (source, at) = match bytes {
        Some(bytes) => (Origin::Memory(bytes, &input.path), 0),
        None => input.place(tensor).map(|(source, at)| (Origin::File(source), at))?,
    };
    let name = tensor.name.as_str();
    let (source, rows, (at, len)) = source.in_rows(held, (at, tensor.len))?;
    // Holes and padding are compared with what a conversion writes.
    let (fill, promised) = if held.tables().is_some() { (0, false) } else { (fill, promised) };
    Ok(Side { name, source, at, len, held: rows, fill, promised })
}

/// The first hole or padding of a tensor with index tables that does not hold what it must.
pub(crate) fn unfilled(
    out: &Input,
    tensor: &Tensor,
    fill: Fill,
) -> Result<Option<Difference>, Error> {
    let held = &tensor.held;
    let Some(tables) = held.tables() else { return Ok(None) };
    let expected = held
        .dtype
        .stored_fill(fill, held.bits, held.order)
        .map_err(|error| Error::corrupt(&out.path, format!("tensor {:?}: {error}", tensor.name)))?;
    let found = tables.unfilled(out.place(tensor)?, expected)?;
    let tensor = tensor.name.clone();
    Ok(found.map(|(offset, is)| Difference::Padding { tensor, offset, is, expected }))
}
