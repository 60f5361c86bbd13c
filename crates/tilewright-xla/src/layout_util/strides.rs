//! Byte strides of a dense row-major array.

use tilewright_core::Error;

use crate::PrimitiveType;

/// Returns whether an array with these byte strides is dense and row-major. The stride of a dim with one coordinate has no
/// effect and may have any value, and so may all strides of an empty array; XLA requires them to be equal.
///
/// # Errors
/// [mismatch](Error::is_mismatch) for another number of strides than dims; [unsupported](Error::is_unsupported) for a
/// type without values.
///
/// ```
/// use tilewright_xla::{PrimitiveType, layout_util::byte_strides_are_major_to_minor};
/// let dense = |strides: &[i64]| {
///     byte_strides_are_major_to_minor(strides, &[8, 9, 10, 11], PrimitiveType::F32)
/// };
/// assert_eq!(dense(&[3960, 440, 44, 4]), Ok(true));
/// assert_eq!(dense(&[1880, 440, 44, 4]), Ok(false));
/// assert!(dense(&[44, 4]).unwrap_err().is_mismatch());
/// ```
#[doc(alias = "ByteStridesIsMajorToMinor")]
pub fn byte_strides_are_major_to_minor(
    strides: &[i64],
    dims: &[u64],
    element_type: PrimitiveType,
) -> Result<bool, Error> {
    if strides.len() != dims.len() {
        return Err(Error::mismatch(
            "{} byte strides for {} dims",
            [strides.len() as i128, dims.len() as i128],
            "give one stride per dim",
        ));
    }
    let bits = element_type.storage_bits().ok_or_else(crate::shape_util::no_values)?;
    if dims.contains(&0) {
        return Ok(true);
    }
    let mut dense = i128::from(bits / 8);
    for (&stride, &dim) in strides.iter().zip(dims).rev() {
        if dim > 1 && i128::from(stride) != dense {
            return Ok(false);
        }
        dense = dense.saturating_mul(dim.into());
    }
    Ok(true)
}
