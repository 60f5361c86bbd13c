//! Makes a box of a tensor in memory from all pieces in it. Filling and comparing files and comparing copies in the source use
//! it.

use super::{
    grid::Part,
    hands::{Failed, Hands, part},
    whole::{Way, Whole},
};
use crate::transfer::budget::Buffer;

/// Returns a box made in memory.
pub(crate) fn boxed<'b>(
    hands: &mut Hands<'b, '_>,
    whole: &Whole,
    area: &Part,
) -> Result<Buffer, Failed> {
    let len = area.size().saturating_mul(whole.width);
    let mut out = hands.out(len)?;
    let Way::Boxes(grid) = &whole.way else { return Ok(out) };
    let inside = grid.inside(area);
    let given: u64 = inside.iter().map(|(_, nest)| nest.size()).sum();
    if given < area.size() {
        let bytes = part(&mut out, 0, len)?;
        bytes
            .chunks_exact_mut(whole.fill.len().max(1))
            .for_each(|unit| unit.copy_from_slice(&whole.fill));
    }
    for (piece, nest) in &inside {
        hands.put(piece, nest, (&mut out, whole.width))?;
    }
    Ok(out)
}
