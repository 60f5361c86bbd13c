//! The common split points of the dims of two shapes of one size in row-major order.
//!
//! Law: between two neighbouring split points, the dims of both sides have the same product, and no split point can be
//! added. Source: XLA's `CommonFactors`.

use tilewright_core::Error;

use crate::index_util;

/// Returns the split points `(i, j)` at which the first `i` dims of `a` and the first `j` of `b` have the same product,
/// from `(0, 0)` to both ends. Equal lists split at every dim; unequal lists with a dim of 0 split only at their ends.
///
/// # Errors
/// [mismatch](Error::is_mismatch) if the products differ; [overflow](Error::is_overflow) beyond 2⁶³ − 1.
///
/// ```
/// use tilewright_xla::shape_util::common_factors;
/// assert_eq!(common_factors(&[4, 6], &[2, 2, 6]).unwrap(), [(0, 0), (1, 2), (2, 3)]);
/// assert!(common_factors(&[4, 6], &[5]).unwrap_err().to_string().contains("24 elements and 5"));
/// ```
#[doc(alias = "CommonFactors")]
pub fn common_factors(a: &[u64], b: &[u64]) -> Result<Vec<(usize, usize)>, Error> {
    let (in_a, in_b) = (index_util::count(a)?, index_util::count(b)?);
    if in_a != in_b {
        return Err(Error::mismatch(
            "dims of {} elements and {} do not share factors",
            [in_a.into(), in_b.into()],
            "a reshape keeps the number of elements",
        ));
    }
    if a == b {
        return Ok((0..=a.len()).map(|at| (at, at)).collect());
    }
    if in_a == 0 {
        return Ok(vec![(0, 0), (a.len(), b.len())]);
    }
    let (mut splits, mut i, mut j, mut product_a, mut product_b) = (vec![(0, 0)], 0, 0, 1, 1);
    while i < a.len() || j < b.len() {
        let (next_a, next_b) = (a.get(i).copied(), b.get(j).copied());
        let level = product_a == product_b;
        let step_a =
            next_a.filter(|&a| product_a < product_b || level && next_b.is_none_or(|b| a <= b));
        let step_b =
            next_b.filter(|&b| product_b < product_a || level && next_a.is_none_or(|a| b <= a));
        product_a *= step_a.unwrap_or(1);
        product_b *= step_b.unwrap_or(1);
        i += usize::from(step_a.is_some());
        j += usize::from(step_b.is_some());
        if product_a == product_b {
            splits.push((i, j));
        }
    }
    Ok(splits)
}

/// Returns the pairs of dims, input and output, that a reshape leaves unchanged.
///
/// # Errors
/// Those of [`common_factors`].
///
/// ```
/// use tilewright_xla::shape_util::dimensions_unmodified_by_reshape;
/// let kept = dimensions_unmodified_by_reshape(&[4, 1, 3, 5, 6, 7], &[2, 6, 1, 5, 1, 42]).unwrap();
/// assert_eq!(kept, [(3, 3)]);
/// ```
#[doc(alias = "DimensionsUnmodifiedByReshape")]
pub fn dimensions_unmodified_by_reshape(
    input: &[u64],
    output: &[u64],
) -> Result<Vec<(usize, usize)>, Error> {
    let splits = common_factors(input, output)?;
    let single = |pair: &[(usize, usize)]| match *pair {
        [(i, j), (i_next, j_next)] if i + 1 == i_next && j + 1 == j_next => Some((i, j)),
        _ => None,
    };
    Ok(splits.windows(2).filter_map(single).collect())
}

/// Returns the output dims to which a reshape sends these input dims, if it leaves all of them unchanged.
///
/// # Errors
/// Those of [`common_factors`].
///
/// ```
/// use tilewright_xla::shape_util::reshape_leaves_dimensions_unmodified;
/// assert_eq!(reshape_leaves_dimensions_unmodified(&[9, 4], &[3, 3, 4], &[1]), Ok(Some(vec![2])));
/// assert_eq!(reshape_leaves_dimensions_unmodified(&[9, 4], &[3, 3, 4], &[0]), Ok(None));
/// ```
#[doc(alias = "ReshapeLeavesDimensionsUnmodified")]
pub fn reshape_leaves_dimensions_unmodified(
    input: &[u64],
    output: &[u64],
    dims: &[usize],
) -> Result<Option<Vec<usize>>, Error> {
    let kept = dimensions_unmodified_by_reshape(input, output)?;
    let found = |&dim: &usize| kept.iter().find(|&&(i, _)| i == dim).map(|&(_, j)| j);
    Ok(dims.iter().map(found).collect())
}

/// The dims of extent 1 by which two shapes differ.
///
/// ```
/// use tilewright_xla::shape_util::{UnitDims, inserted_or_deleted_1_sized_dimensions};
/// // [9,1,4] to [1,9,4]: dim 1 goes, a new dim 0 comes.
/// let units = inserted_or_deleted_1_sized_dimensions(&[9, 1, 4], &[1, 9, 4]);
/// assert_eq!(units, Some(UnitDims { deleted: vec![1], inserted: vec![0] }));
/// ```
#[must_use]
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct UnitDims {
    /// Dims of the input that the output lacks.
    pub deleted: Vec<usize>,
    /// Dims of the output that the input lacks.
    pub inserted: Vec<usize>,
}

/// Returns the dims of extent 1 that a reshape deletes and inserts; `None` if it does anything else.
///
/// ```
/// use tilewright_xla::shape_util::inserted_or_deleted_1_sized_dimensions;
/// let units = inserted_or_deleted_1_sized_dimensions(&[9, 1, 4], &[1, 9, 4, 1]).unwrap();
/// assert_eq!((units.deleted, units.inserted), (vec![1], vec![0, 3]));
/// assert_eq!(inserted_or_deleted_1_sized_dimensions(&[9, 1, 4], &[3, 1, 12]), None);
/// ```
#[doc(alias = "InsertedOrDeleted1SizedDimensions")]
pub fn inserted_or_deleted_1_sized_dimensions(input: &[u64], output: &[u64]) -> Option<UnitDims> {
    let (mut i, mut j) = (0, 0);
    let mut units = UnitDims { deleted: Vec::new(), inserted: Vec::new() };
    loop {
        match (input.get(i), output.get(j)) {
            (None, None) => return Some(units),
            (Some(a), Some(b)) if a == b => (i, j) = (i + 1, j + 1),
            (Some(1), _) => {
                units.deleted.push(i);
                i += 1;
            }
            (_, Some(1)) => {
                units.inserted.push(j);
                j += 1;
            }
            _ => return None,
        }
    }
}
