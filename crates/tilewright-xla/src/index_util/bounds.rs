//! Checks whether an index is in bounds, and compares two indices.

use std::cmp::Ordering;

use tilewright_core::Error;

/// Returns whether an element has this index: the index has the rank of the dims, and each entry is at least 0 and below
/// its dim. XLA accepts negative indices.
///
/// ```
/// use tilewright_xla::index_util::index_in_bounds;
/// assert!(index_in_bounds(&[2, 2], &[1, 0]) && index_in_bounds(&[], &[]));
/// assert!(!index_in_bounds(&[2, 2], &[-1, 0]) && !index_in_bounds(&[2, 2], &[1]));
/// ```
#[doc(alias = "IndexInBounds")]
pub fn index_in_bounds(dims: &[u64], index: &[i64]) -> bool {
    let within = |(&entry, &dim): (&i64, &u64)| u64::try_from(entry).is_ok_and(|at| at < dim);
    dims.len() == index.len() && index.iter().zip(dims).all(within)
}

/// Compares two indices in row-major order: the first entries that differ decide.
///
/// # Errors
/// [mismatch](Error::is_mismatch) for indices of different ranks, where XLA aborts.
///
/// ```
/// use std::cmp::Ordering;
/// use tilewright_xla::index_util::compare_indices;
/// assert_eq!(compare_indices(&[1, 9], &[2, 0]), Ok(Ordering::Less));
/// assert!(compare_indices(&[1], &[1, 0]).unwrap_err().is_mismatch());
/// ```
#[doc(alias = "CompareIndices")]
pub fn compare_indices(a: &[u64], b: &[u64]) -> Result<Ordering, Error> {
    if a.len() != b.len() {
        return Err(Error::mismatch(
            "an index of {} entries compared with one of {}",
            [a.len() as i128, b.len() as i128],
            "compare only indices into arrays of equal rank",
        ));
    }
    Ok(a.cmp(b))
}
