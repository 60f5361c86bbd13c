//! The leading dimension of a format: another stride for its outermost digit.
//!
//! Law: the least leading dimension is the size of one step of the digit, and leaves the layout unchanged; the storage ends
//! with its last element, padded ones included.

use tilewright_core::{Layout, Mode, Pattern, Profile, TensorLayout};

use crate::Error;

/// The layout of `pattern`, which takes no leading axes, with `stride` between the steps of its outermost digit.
pub(super) fn spread(
    pattern: &Pattern,
    tensor: &TensorLayout,
    stride: u64,
) -> Result<TensorLayout, Error> {
    let layout = tensor.layout();
    let Some(outermost) = pattern.digits().first() else { return Ok(tensor.clone()) };
    let axes: Vec<&[Mode]> = (0..layout.rank()).filter_map(|axis| layout.axis(axis)).collect();
    let at = |digit: usize| axes.get(digit).copied().unwrap_or(&[]);
    let before: usize = (0..usize::from(outermost.axis())).map(|axis| at(axis).len()).sum();
    let mut modes = layout.modes().to_vec();
    let Some(mode) = modes.get_mut(before + usize::from(outermost.level())) else {
        return Ok(tensor.clone());
    };
    let (steps, least) = (mode.extent(), u64::try_from(mode.stride()).unwrap_or(0));
    if stride < least {
        let message = format!("LD is {stride}, less than the {least} elements it steps over");
        return Err(Error::illegal(message));
    }
    let overflow = || Error::overflow(format!("an LD of {stride} overflows 64 bits"));
    *mode = Mode::new(steps, i64::try_from(stride).map_err(|_| overflow())?);
    let counts: Vec<usize> = axes.iter().map(|modes| modes.len()).collect();
    let profile = Profile::nested(&counts)?;
    let spread = Layout::new(&modes, &profile, layout.offset(), layout.swizzle())?;
    let capacity = match tensor.capacity() {
        0 => Some(0),
        _ => (steps - 1).checked_mul(stride).and_then(|front| front.checked_add(least)),
    };
    Ok(TensorLayout::new(tensor.extents(), &spread, capacity.ok_or_else(overflow)?)?)
}
