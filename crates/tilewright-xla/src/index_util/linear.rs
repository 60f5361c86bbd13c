//! Conversion between an index and a linear index for an explicit order of the dims, without tiles or padding.
//!
//! Law: `multi_index(dims, order, linear_index(dims, order, index)) = index`, and the linear indices are 0 up to the
//! number of elements.

use tilewright_core::Error;

use crate::permutation;

/// Returns the position of an element in dense storage whose dims, fastest first, are in the order `minor_to_major`:
/// `Σ index[m[k]] · Π_{j<k} dims[m[j]]`. Rank 0 has only position 0.
///
/// # Errors
/// [mismatch](Error::is_mismatch) for an order or an index of another rank than the dims; [illegal](Error::is_illegal)
/// for an order that is not a permutation; [out of range](Error::is_out_of_range) for an index outside the dims;
/// [overflow](Error::is_overflow) beyond 2⁶³ − 1 elements.
///
/// ```
/// use tilewright_xla::index_util::linear_index;
/// assert_eq!(linear_index(&[10, 20], &[0, 1], &[3, 5]), Ok(53));
/// assert_eq!(linear_index(&[10, 20], &[1, 0], &[3, 5]), Ok(65));
/// assert!(linear_index(&[10, 20], &[1, 0], &[3, 20]).unwrap_err().is_out_of_range());
/// ```
#[doc(alias = "MultidimensionalIndexToLinearIndex")]
pub fn linear_index(dims: &[u64], minor_to_major: &[u64], index: &[u64]) -> Result<u64, Error> {
    let digits = in_order(dims, minor_to_major)?;
    check_index(dims, index)?;
    let entry = |&(dim, extent): &(usize, u64)| (index.get(dim).copied().unwrap_or(0), extent);
    Ok(digits.iter().rev().map(entry).fold(0, |linear, (entry, extent)| linear * extent + entry))
}

/// Returns the index of the element at a position: the inverse of [`linear_index`].
///
/// # Errors
/// Those of [`linear_index`]; [out of range](Error::is_out_of_range) for a position that is not below the number of
/// elements, also if that is 0.
///
/// ```
/// use tilewright_xla::index_util::multi_index;
/// assert_eq!(multi_index(&[10, 20], &[0, 1], 53).unwrap(), [3, 5]);
/// assert!(multi_index(&[10, 20], &[0, 1], 200).unwrap_err().is_out_of_range());
/// assert!(multi_index(&[3, 0], &[1, 0], 0).unwrap_err().is_out_of_range());
/// ```
#[doc(alias = "LinearIndexToMultidimensionalIndex")]
pub fn multi_index(dims: &[u64], minor_to_major: &[u64], linear: u64) -> Result<Vec<u64>, Error> {
    let digits = in_order(dims, minor_to_major)?;
    let count = digits.iter().fold(1, |count, &(_, extent)| count * extent);
    if linear >= count {
        return Err(Error::out_of_range(
            "linear index {} of an array of {} elements",
            [linear.into(), count.into()],
            "linear indices count from 0",
        ));
    }
    let (mut index, mut rest) = (vec![0; dims.len()], linear);
    for (dim, extent) in digits {
        if let Some(entry) = index.get_mut(dim) {
            *entry = rest % extent;
        }
        rest /= extent;
    }
    Ok(index)
}

/// Returns the dims with their extents, fastest first; checks that their product, with empty dims as 1, fits.
fn in_order(dims: &[u64], minor_to_major: &[u64]) -> Result<Vec<(usize, u64)>, Error> {
    permutation::check(minor_to_major, dims.len())?;
    count(dims)?;
    let digit = |&dim: &u64| {
        let dim = permutation::index(dim);
        Some((dim, *dims.get(dim)?))
    };
    Ok(minor_to_major.iter().filter_map(digit).collect())
}

/// Returns the number of elements.
///
/// # Errors
/// Overflow beyond 2⁶³ − 1, also of the other dims of an empty array.
pub(crate) fn count(dims: &[u64]) -> Result<u64, Error> {
    let (mut product, mut empty) = (1u128, false);
    for (at, &dim) in dims.iter().enumerate() {
        empty |= dim == 0;
        product *= u128::from(dim.max(1));
        if product > i64::MAX as u128 {
            return Err(Error::overflow(
                "the dims up to dim {} multiply to {} elements",
                [at as i128, product as i128],
                "an array has at most 2^63 - 1 elements",
            ));
        }
    }
    Ok(if empty { 0 } else { product as u64 })
}

/// Checks that an index is inside the dims.
pub(crate) fn check_index(dims: &[u64], index: &[u64]) -> Result<(), Error> {
    if dims.len() != index.len() {
        return Err(Error::mismatch(
            "an index of {} entries into an array of {} dims",
            [index.len() as i128, dims.len() as i128],
            "give one entry per dim",
        ));
    }
    match index.iter().zip(dims).position(|(entry, dim)| entry >= dim) {
        None => Ok(()),
        Some(at) => Err(Error::out_of_range(
            "index {} in dim {} of extent {}",
            [
                index.get(at).copied().unwrap_or(0).into(),
                at as i128,
                dims.get(at).copied().unwrap_or(0).into(),
            ],
            "indices count from 0",
        )),
    }
}
