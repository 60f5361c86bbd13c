//! Checks the pieces of a tensor against the offsets of the layouts on both sides. Comparing by a recorded recipe uses it: the pieces
//! say which bytes are compared, and nests make them, as for the result that is verified. [`TensorLayout::offset`] does not.
//!
//! Law: one piece holds each element of a part, and takes it from the place that the layout of the source has for it. The first,
//! the last and some other elements of each part are checked.
//!
//! [`TensorLayout::offset`]: tilewright_core::TensorLayout::offset

use tilewright_core::unravel_index;
use tilewright_recipe::{Origin, Part};

use crate::{
    assemble::{
        pieces::{Give, Piece, Unit, made::Known, whole::Whole},
        stored::in_rows,
    },
    layout::element_layout::ElementLayout,
};

/// The most elements of a part that are checked.
const ELEMENTS: u64 = 64;

/// The most pieces that are searched for the elements of a part, all together.
const SEARCHED: u64 = 1 << 20;

/// 2⁶⁴ divided by the golden ratio: its multiples are spread evenly.
const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;

/// The storage of a tensor, or its rows.
struct Storage<'a> {
    held: &'a ElementLayout,
    /// The elements of a unit of the rows; `None` for the storage.
    rows: Option<u64>,
}

impl<'a> Storage<'a> {
    fn of(held: &'a ElementLayout, by_rows: bool) -> Result<Storage<'a>, String> {
        let rows = by_rows.then(|| Ok::<u64, String>(Unit::of(&in_rows(held)?)?.elements));
        Ok(Storage { held, rows: rows.transpose()? })
    }

    /// Returns the unit of the element of this row-major index.
    fn place(&self, index: u64) -> Result<u64, String> {
        if let Some(elements) = self.rows {
            return Ok(index / elements);
        }
        let (layout, together) = (self.held.layout(), self.held.together());
        let unit = Unit::of(self.held)?.elements;
        if together == 1 && unit > 1 {
            // Elements below a byte are in row-major order.
            return Ok(index / unit);
        }
        let mut coord: Vec<u64> = unravel_index(index, self.held.dims()).collect();
        if let Some(last) = coord.last_mut() {
            *last /= together;
        }
        let offset = layout.offset(&coord).map_err(|error| error.to_string())?;
        u64::try_from(offset).map_err(|_| format!("has an element at offset {offset}"))
    }
}

/// Checks the pieces of a tensor in this layout, which consists of these parts.
pub(crate) fn check(
    whole: &Whole,
    parts: &[Part],
    (held, known): (&ElementLayout, &Known<'_>),
) -> Result<(), String> {
    let to = Storage::of(held, whole.layout.is_some())?;
    let count = (SEARCHED / whole.pieces.len().max(1) as u64).clamp(4, ELEMENTS);
    for part in parts.iter().filter(|part| part.digits.iter().all(|digit| digit.extent > 0)) {
        let source = match part.origin {
            Origin::Source { tensor, .. } => Some(known.tensor(tensor)?),
            Origin::Fill(_) => None,
        };
        for number in 0..count {
            let (made, from) = element(part, number);
            let place = to.place(made)?;
            let mut found =
                whole.pieces.iter().filter_map(|it| Some((it, it.nest.source_at(place)?)));
            let one = found.next().filter(|_| found.next().is_none());
            let given = one.map(|(piece, given)| gives(piece, given, source, from)).transpose()?;
            if given != Some(true) {
                return Err(format!(
                    "has element {made} at unit {place}, and its pieces take that from elsewhere: this is a mistake in the program, please report it"
                ));
            }
        }
    }
    Ok(())
}

/// Returns the row-major indices of an element of a part in the result and in its source.
fn element(part: &Part, number: u64) -> (u64, u64) {
    let mut at = match part.origin {
        Origin::Source { offset, .. } => (part.offset, offset),
        Origin::Fill(_) => (part.offset, 0),
    };
    for (digit, turn) in part.digits.iter().zip(0u32..) {
        let value = match number {
            0 => 0,
            1 => digit.extent - 1,
            _ => number.wrapping_mul(SPREAD).rotate_left(turn * 11) % digit.extent,
        };
        at.0 += value * digit.made;
        at.1 += value * digit.source;
    }
    at
}

/// Returns whether a piece that takes unit `given` takes element `from` of this source.
fn gives(
    piece: &Piece,
    given: u64,
    source: Option<(usize, &crate::Tensor)>,
    from: u64,
) -> Result<bool, String> {
    match (&piece.give, source) {
        (Give::Tensor(take, _), Some((number, tensor))) => {
            Ok(take.tensor == number && Storage::of(&tensor.held, take.rows)?.place(from)? == given)
        }
        (Give::Fill(_), None) => Ok(true),
        (Give::Tensor(..), None) | (Give::Fill(_), Some(_)) => Ok(false),
    }
}
