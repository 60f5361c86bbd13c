//! The realigned weave: a transpose of two loops whose rows begin anywhere, on both sides.
//!
//! Rows of the source are read by aligned vectors of 16 bytes, two of which a funnel shift puts straight; squares of
//! elements are exchanged in registers; a tile of shared memory holds columns. A row of the destination is cut where its
//! address is a multiple of 16: a tile holds the 16 bytes before its rows as well, so that every vector but the two ends
//! of a row is whole. It is put together from two neighbouring vectors of the tile by a second shift.
//!
//! Laws: no byte outside the source is read, and a vector that reaches beyond it is read by units; each byte of the
//! destination is written once: in a vector where the row has all of it, else by a unit.

mod shape;
mod text;

use crate::{
    Error,
    area::Area,
    kernel::{Kernel, Launch, Way},
};
use shape::Shape;

/// The least bytes of a row, on either side, that make the weave worth its shifts.
const ENOUGH: u64 = 96;

/// The kernel of an area that has rows of some length on both sides.
pub(crate) fn take(area: &Area) -> Option<Result<Vec<Kernel>, Error>> {
    let shape = Shape::of(area).filter(|_| area.maps.are_none())?;
    let long = |turns: u64| turns.saturating_mul(area.run) >= ENOUGH;
    if !long(shape.rows.extent) || !long(shape.columns.extent) {
        return None;
    }
    any(area)
}

/// The kernel of an area, however short its rows are.
pub(crate) fn any(area: &Area) -> Option<Result<Vec<Kernel>, Error>> {
    let shape = Shape::of(area)?;
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
