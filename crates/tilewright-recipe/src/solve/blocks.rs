//! Element types whose elements share bytes: recipes move whole blocks of them, in their order.

use crate::{
    assembly::{Made, Origin, Part},
    error::Error,
    kind,
    tensor::Tensor,
};

/// The refusal of a result that takes blocks apart.
pub(crate) fn broken(made: &Made, tensors: &[Tensor]) -> Option<Error> {
    let elements = u64::from(made.dtype.block()?.elements);
    let rows = |extents: &[u64]| extents.last().is_none_or(|row| row.is_multiple_of(elements));
    let whole = |part: &Part| {
        let multiple = |number: u64| number.is_multiple_of(elements);
        let run = part
            .digits
            .last()
            .is_some_and(|digit| (digit.source, digit.made) == (1, 1) && multiple(digit.extent));
        let outer = part
            .digits
            .iter()
            .rev()
            .skip(1)
            .all(|digit| multiple(digit.source) && multiple(digit.made));
        match part.origin {
            Origin::Source { tensor, offset } => {
                run && outer
                    && multiple(offset)
                    && multiple(part.offset)
                    && rows(&tensors[tensor].extents)
            }
            Origin::Fill(_) => false,
        }
    };
    if rows(&made.extents) && made.parts.iter().all(whole) {
        return None;
    }
    let says = format!(
        "{:?} would take blocks of {elements} elements of {} apart, which needs arithmetic; only whole rows of blocks can move",
        made.name,
        made.dtype.name()
    );
    Some(Error::new(kind::ARITHMETIC, says))
}
