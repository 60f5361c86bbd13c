//! The fingerprint of a box of an array. Runs compute it for the records of fingerprints.

use tilewright_core::{Dtype, TensorLayout};
use tilewright_files::{Fingerprint, Key};
use tilewright_fingerprint::Array;

use crate::Error;

/// Returns the fingerprint of a row-major box in memory, of an array of this type.
pub(crate) fn of_box(
    (start, extents): (&[u64], &[u64]),
    (dtype, bits): (Dtype, u32),
    bytes: &[u8],
) -> Result<Fingerprint, Error> {
    let layout = TensorLayout::row_major(extents)?;
    let sum = || {
        let array = Array::new(&layout, dtype)?.bits(bits)?.at(start)?;
        array.fingerprint(bytes, &Key::default())
    };
    sum().map_err(|error| Error::new(error.kind(), error.to_string()))
}

/// Returns whether arrays of this type have fingerprints.
pub(crate) fn is_summed(dtype: Dtype, bits: u32) -> bool {
    let layout = TensorLayout::row_major(&[1]);
    let summed = |layout: &TensorLayout| {
        Array::new(layout, dtype).and_then(|array| array.bits(bits)).is_ok()
    };
    layout.is_ok_and(|layout| summed(&layout))
}
