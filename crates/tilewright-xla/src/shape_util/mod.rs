//! Queries and changes of shapes: XLA's `ShapeUtil`, as methods of [`ArrayShape`](crate::ArrayShape),
//! [`Shape`](crate::Shape) and [`PrimitiveType`](crate::PrimitiveType).
//!
//! Methods that take an existing dim accept negative numbers, which count from the end ([`dimension_number`]). Where
//! XLA aborts, they return an error.
//!
//! Source: `xla/shape_util.h`; the aliases are XLA's names.

mod dims;
mod equality;
mod makers;
mod padding;
mod predicates;
mod reshape;
mod sizes;
mod transpose;
mod traversal;
mod tuples;

use tilewright_core::Error;

pub use makers::Native;
pub use padding::{Factor, LeastPadding, PaddingAdvice, PaddingCause};
pub use predicates::dimension_letters;
pub use reshape::{
    UnitDims, common_factors, dimensions_unmodified_by_reshape,
    inserted_or_deleted_1_sized_dimensions, reshape_leaves_dimensions_unmodified,
};
pub(crate) use sizes::no_values;
pub use sizes::tuple_index_table_bytes;
pub use transpose::Bitcast;
pub use traversal::for_each_index;

/// Returns the dim that a number names in an array of `rank` dims: counted from 0, or from −1 at the end.
///
/// # Errors
/// [out of range](Error::is_out_of_range) for a dim that does not exist, where XLA aborts.
///
/// ```
/// use tilewright_xla::shape_util::dimension_number;
/// assert_eq!((dimension_number(-1, 2), dimension_number(1, 2)), (Ok(1), Ok(1)));
/// let error = dimension_number(-3, 2).unwrap_err();
/// assert!(error.is_out_of_range() && error.to_string().contains("dim -3 of an array of 2"));
/// ```
#[doc(alias = "GetDimensionNumber")]
pub fn dimension_number(dim: i64, rank: usize) -> Result<usize, Error> {
    let from_start = if dim < 0 { i128::from(dim) + rank as i128 } else { dim.into() };
    let found = usize::try_from(from_start).ok().filter(|&number| number < rank);
    found.ok_or_else(|| {
        Error::out_of_range(
            "dim {} of an array of {} dims",
            [dim.into(), rank as i128],
            "dims count from 0, or from -1 at the end",
        )
    })
}

/// Returns the dims that several numbers name; each may occur once.
pub(crate) fn dimension_numbers(dims: &[i64], rank: usize) -> Result<Vec<usize>, Error> {
    let (mut seen, mut numbers) = (vec![false; rank], Vec::with_capacity(dims.len()));
    for &dim in dims {
        let number = dimension_number(dim, rank)?;
        match seen.get_mut(number) {
            Some(slot) if !*slot => *slot = true,
            _ => {
                return Err(Error::illegal(
                    "dim {} is named twice in a list of {}",
                    [number as i128, dims.len() as i128],
                    "name each dim at most once",
                ));
            }
        }
        numbers.push(number);
    }
    Ok(numbers)
}
