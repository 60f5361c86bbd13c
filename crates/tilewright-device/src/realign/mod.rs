//! The realigned transpose: a transpose of two loops whose rows may have any alignment, on both sides.
//!
//! Rows of the source are read in aligned vectors of 16 bytes, and a funnel shift extracts an unaligned vector from two
//! of them. Squares of elements are exchanged in registers; a tile of shared memory holds columns. A row of the
//! destination is split at addresses that are multiples of 16: a tile also contains the 16 bytes before its rows, so
//! every vector except the two ends of a row is whole. A second shift makes it from two adjacent vectors of the tile.
//!
//! Laws: no byte outside the source is read, and a vector that extends beyond it is read by units. Each byte of the
//! destination is written once: in a vector if the vector is completely within the row, else by a unit.

mod shape;
mod text;

use crate::{
    Error,
    area::Area,
    kernel::{Kernel, Launch, Way},
};
use shape::TransposeShape;

/// The least bytes of a row, on either side, for which the shifts pay off.
const ENOUGH: u64 = 96;

/// Makes the kernel of an area with long enough rows on both sides.
pub(crate) fn take(area: &Area) -> Option<Result<Vec<Kernel>, Error>> {
    let shape = TransposeShape::of(area).filter(|_| area.maps.are_none())?;
    let long = |iterations: u64| iterations.saturating_mul(area.run) >= ENOUGH;
    if !long(shape.rows.extent) || !long(shape.columns.extent) {
        return None;
    }
    any(area)
}

/// Makes the kernel of an area, however short its rows are.
pub(crate) fn any(area: &Area) -> Option<Result<Vec<Kernel>, Error>> {
    let shape = TransposeShape::of(area)?;
    let grid = shape.grid()?;
    let (before, body, numbers) = text::of(&shape, &grid, area);
    let launch = Launch {
        way: Way::Realigned,
        threads: shape.threads(),
        resident: shape.resident(),
        blocks: grid.blocks(),
        shared: shape.shared(),
        bytes: area.bytes,
    };
    let comment = format!(
        "Realigned: a transpose of elements of {} bytes in units of {}, whose rows begin anywhere; {} loops around it.",
        shape.element,
        shape.unit,
        shape.outer.len()
    );
    Some(Kernel::new(launch, &comment, &before, body, numbers).map(|kernel| vec![kernel]))
}
