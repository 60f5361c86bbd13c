//! The digits of a map: its modes, limited to the extents. Used by `raise.rs`.

use tilewright_core::{Error, Mode, TensorLayout};

use crate::lower::chained;

/// A digit `⌊x / div⌋ mod extent` of a dim, `stride` elements apart in storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RaisedDigit {
    pub(super) dim: usize,
    pub(super) div: u64,
    pub(super) extent: u64,
    pub(super) stride: u64,
    /// Set if the dim has no more significant digit.
    pub(super) top: bool,
}

impl RaisedDigit {
    /// Returns the first offset after the digit's own.
    pub(super) fn end(&self) -> u128 {
        u128::from(self.stride) * u128::from(self.extent)
    }
}

/// Returns the digits of a strided map that some coordinate uses, the smallest stride first. With `merged`, digits
/// that chain are joined, so that the same map has the same digits.
///
/// # Errors
/// [unsupported](Error::is_unsupported) for a digit whose stride is not positive.
pub(super) fn digits(tensor: &TensorLayout, merged: bool) -> Result<Vec<RaisedDigit>, Error> {
    let mut all = Vec::new();
    for (dim, &extent) in tensor.extents().iter().enumerate() {
        let modes = tensor.layout().axis(dim).unwrap_or(&[]);
        let mut modes: Vec<Mode> =
            modes.iter().copied().filter(|mode| mode.extent() != 1).collect();
        if merged {
            modes = chained(&modes);
        }
        all.append(&mut used(dim, extent, &modes)?);
    }
    tilewright_core::sort_short(&mut all, |digit| digit.stride);
    Ok(all)
}

/// Returns a dim's digits, as far as coordinates below `size` reach.
fn used(dim: usize, size: u64, modes: &[Mode]) -> Result<Vec<RaisedDigit>, Error> {
    let (mut digits, mut div) = (Vec::new(), 1u64);
    for mode in modes {
        if div >= size {
            break;
        }
        let extent = mode.extent().min(size.div_ceil(div));
        let stride =
            u64::try_from(mode.stride()).ok().filter(|&stride| stride > 0).ok_or_else(|| {
                Error::unsupported(
                    "dim {} has stride {}",
                    [dim as i128, mode.stride().into()],
                    "strides of an XLA layout are positive: no dim is repeated or runs backwards",
                )
            })?;
        digits.push(RaisedDigit { dim, div, extent, stride, top: false });
        div = div.saturating_mul(mode.extent());
    }
    if let Some(last) = digits.last_mut() {
        last.top = true;
    }
    Ok(digits)
}
