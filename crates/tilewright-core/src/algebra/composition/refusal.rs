//! The error if A(B) is not a layout: it names a coordinate, the value of A(B) there, and the different value of the only
//! layout that could be the composition.

use super::{Problem, jumps::Jump};
use crate::{Coord, Error, MAX_MODES, layout::index::axes_of};

/// The error that a mode of B breaks at `coord`, the end of a `run` that begins with this step, and does not continue.
pub(super) const fn split(
    problem: &Problem<'_>,
    leaf: usize,
    coord: u64,
    run: u64,
    step: &Jump,
) -> Error {
    let mut leaves = [0; MAX_MODES];
    leaves[leaf] = coord;
    let candidate = problem.start.value.wrapping_add((run as i128).wrapping_mul(step.stride));
    let (value, at) = problem.value(&leaves);
    Error::no_layout(
        "A(B) is {}, the only candidate gives {}: mode {} of B breaks there, and {} does not \
         divide its extent",
        [value, candidate, leaf as i128, coord as i128],
        "cut the mode there, or make its extent a multiple",
    )
    .at(at)
}

impl Problem<'_> {
    /// Returns A(B) at a coordinate of B given leaf by leaf, and the coordinate.
    pub(super) const fn value(&self, leaves: &[u64; MAX_MODES]) -> (i128, Coord) {
        let (modes, mut x, mut i) = (self.b.modes(), self.b.offset(), 0);
        while i < modes.len() {
            x += leaves[i] as i64 * modes[i].stride();
            i += 1;
        }
        let value = self.jumps.value(x as u64).wrapping_add(self.a.offset() as i128);
        (value, axes_of(self.b, leaves))
    }
}
