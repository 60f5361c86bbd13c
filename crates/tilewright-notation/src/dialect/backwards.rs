//! A digit that is stored backwards: `-> k1 -k0` puts the last step of `k0` first.
//!
//! Law: the element of step i of the digit has the offset that step size − 1 − i has without the reversal.

use tilewright_core::{Layout, Mode, Pattern, Profile, TensorLayout};

use crate::Error;

/// The layout of `pattern` with the digit of this place in its order backwards.
pub(super) fn turned(
    pattern: &Pattern,
    tensor: &TensorLayout,
    digit: usize,
) -> Result<TensorLayout, Error> {
    let layout = tensor.layout();
    let Some(&found) = pattern.digits().get(digit) else { return Ok(tensor.clone()) };
    let leading = tensor.rank().saturating_sub(pattern.rank());
    let axes: Vec<&[Mode]> = (0..layout.rank()).filter_map(|axis| layout.axis(axis)).collect();
    let axis = leading + usize::from(found.axis());
    let before: usize = axes.iter().take(axis).map(|modes| modes.len()).sum();
    let mut modes = layout.modes().to_vec();
    let Some(mode) = modes.get_mut(before + usize::from(found.level())) else {
        return Ok(tensor.clone());
    };
    let overflow = || Error::overflow("a digit stored backwards overflows 64 bits");
    let stride = mode.stride();
    let last = i64::try_from(mode.extent().saturating_sub(1))
        .ok()
        .and_then(|last| last.checked_mul(stride));
    let offset = last.and_then(|last| layout.offset().checked_add(last)).ok_or_else(overflow)?;
    *mode = Mode::new(mode.extent(), stride.checked_neg().ok_or_else(overflow)?);
    let counts: Vec<usize> = axes.iter().map(|modes| modes.len()).collect();
    let profile = Profile::nested(&counts)?;
    let turned = Layout::new(&modes, &profile, offset, layout.swizzle())?;
    Ok(TensorLayout::new(tensor.extents(), &turned, tensor.capacity())?)
}
