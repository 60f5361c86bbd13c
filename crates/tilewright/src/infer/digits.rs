//! Digits in the order in which they are found, innermost first, and the layout that they make.

use tilewright_core::{Digit, Pattern, TensorLayout};

/// One digit: `size` coordinates of an axis, `step` apart. The axis is `None` if all coordinates but the first are padding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Placed {
    pub(super) axis: Option<usize>,
    pub(super) step: u64,
    pub(super) size: u64,
}

/// Returns the largest size of a digit at `step` below the digits of its axis that are placed: `Some(0)` if there is no bound,
/// `None` if a digit cannot begin there.
pub(super) fn room(placed: &[Placed], axis: usize, step: u64) -> Option<u64> {
    let mut room = 0;
    for digit in placed.iter().filter(|digit| digit.axis == Some(axis)) {
        let end = digit.step.checked_mul(digit.size)?;
        if step >= end && step.is_multiple_of(end) {
            continue;
        }
        if step >= digit.step || !digit.step.is_multiple_of(step) {
            return None;
        }
        let steps = digit.step / step;
        room = if room == 0 { steps } else { room.min(steps) };
    }
    Some(room)
}

/// Returns the layout of all digits; `None` if an axis has gaps.
pub(super) fn layout(placed: &[Placed], dims: &[u64]) -> Option<TensorLayout> {
    let axes: Vec<usize> = (0..placed.len()).map(|at| axis_of(placed, dims, at)).collect();
    let mut digits = Vec::new();
    let mut levels = vec![0u8; placed.len()];
    for (axis, extent) in dims.iter().enumerate() {
        let mut own: Vec<usize> = (0..placed.len()).filter(|at| axes[*at] == axis).collect();
        // Digits of padding alone come above all real digits.
        tilewright_core::sort_short(&mut own, |at| (placed[*at].axis.is_none(), placed[*at].step));
        let mut whole = 1u64;
        for (level, at) in own.iter().enumerate() {
            let digit = placed[*at];
            let begins = if digit.axis.is_some() { digit.step } else { whole.max(*extent) };
            if begins != whole {
                return None;
            }
            whole = whole.checked_mul(digit.size)?;
            levels[*at] = u8::try_from(level).ok()?;
        }
        if whole < *extent {
            return None;
        }
        if own.is_empty() {
            digits.push(Digit::fixed(u8::try_from(axis).ok()?, 0, 1));
        }
    }
    for at in (0..placed.len()).rev() {
        digits.push(Digit::fixed(u8::try_from(axes[at]).ok()?, levels[at], placed[at].size));
    }
    Pattern::new(dims.len(), &digits).ok()?.layout(dims).ok()
}

/// Returns the axis of a digit. A digit of padding alone belongs to an axis without other digits, else to the axis of the digit
/// inside it, else to the last axis.
fn axis_of(placed: &[Placed], dims: &[u64], at: usize) -> usize {
    let bare = || (0..dims.len()).find(|axis| placed.iter().all(|digit| digit.axis != Some(*axis)));
    let inside = || at.checked_sub(1).and_then(|at| placed.get(at)?.axis);
    placed[at].axis.or_else(bare).or_else(inside).unwrap_or(dims.len().saturating_sub(1))
}
