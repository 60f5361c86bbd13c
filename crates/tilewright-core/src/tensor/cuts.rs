//! The cuts of one dim: where its digits begin, and the stride of each digit. Used by `refine/mod.rs`.
//!
//! Law: the offset of `turns` times a cut, below the next cut, is `turns` times the stride at the cut.

use crate::{Mode, Step, TensorLayout};

/// Returns the modes of a dim that is an axis of its own; `None` with a swizzle, or if steps change the dim.
pub(crate) const fn modes(tensor: &TensorLayout, dim: usize) -> Option<&[Mode]> {
    if !tensor.layout().swizzle().is_identity() {
        return None;
    }
    let (mut axis, mut i) = (dim, 0);
    while i < tensor.steps().len() {
        match tensor.steps()[i] {
            Step::Merge { major, minor } => {
                if axis == major as usize || axis == minor as usize {
                    return None;
                }
                axis -= (axis > major as usize) as usize;
            }
            Step::Split { axis: split, .. } => {
                if axis == split as usize {
                    return None;
                }
            }
        }
        i += 1;
    }
    tensor.layout().axis(axis)
}

/// Returns the distance of one step of a digit whose coordinates are multiples of `cut`.
pub(crate) const fn stride_at(modes: &[Mode], cut: u64) -> i64 {
    let (mut below, mut first, mut stride, mut i) = (1, 1, 0, 0);
    while i < modes.len() {
        if i == 0 || !goes_on(modes, i - 1) {
            (first, stride) = (below, modes[i].stride());
        }
        below *= modes[i].extent();
        if below > cut {
            // Below the extent of these modes, I2 bounds the product.
            return (cut / first) as i64 * stride;
        }
        i += 1;
    }
    0
}

/// Returns the smallest cut of these modes above `cut`; `u64::MAX` if there is none. A mode that continues the one
/// below it makes no cut.
pub(crate) const fn next_cut(modes: &[Mode], cut: u64) -> u64 {
    let (mut below, mut i) = (1u64, 0);
    while i < modes.len() {
        below *= modes[i].extent();
        if below > cut && !goes_on(modes, i) {
            return below;
        }
        i += 1;
    }
    u64::MAX
}

/// Returns whether the mode above mode `i` continues it: its stride is what mode `i` reaches with one more step.
const fn goes_on(modes: &[Mode], i: usize) -> bool {
    if i + 1 >= modes.len() {
        return false;
    }
    let (extent, stride) = (modes[i].extent() as i128, modes[i].stride() as i128);
    modes[i + 1].stride() as i128 == extent * stride
}
