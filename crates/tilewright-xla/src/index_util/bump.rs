//! Moves to the next index.

use tilewright_core::Error;

use super::linear::check_index;

/// Moves an index to the next one in logical row-major order (the last dim fastest), whatever the layout. At the last
/// index, returns `false` and changes nothing.
///
/// # Errors
/// [mismatch](Error::is_mismatch) for an index of another rank; [out of range](Error::is_out_of_range) for an index
/// outside the dims. The index is unchanged in both cases.
///
/// ```
/// use tilewright_xla::index_util::bump_indices;
/// let mut index = [0, 1];
/// assert_eq!((bump_indices(&[2, 2], &mut index), index), (Ok(true), [1, 0]));
/// let mut last = [1, 1];
/// assert_eq!((bump_indices(&[2, 2], &mut last), last), (Ok(false), [1, 1]));
/// assert!(bump_indices(&[2, 2], &mut [0, 2]).unwrap_err().is_out_of_range());
/// ```
#[doc(alias = "BumpIndices")]
pub fn bump_indices(dims: &[u64], index: &mut [u64]) -> Result<bool, Error> {
    check_index(dims, index)?;
    let next = index.iter().zip(dims).rposition(|(&entry, &dim)| entry + 1 < dim);
    let Some(at) = next else { return Ok(false) };
    for (dim, entry) in index.iter_mut().enumerate().skip(at) {
        *entry = if dim == at { *entry + 1 } else { 0 };
    }
    Ok(true)
}
