//! Queries and changes of shapes: XLA's `ShapeUtil`, as methods of [`ArrayShape`](crate::ArrayShape),
//! [`Shape`](crate::Shape) and [`PrimitiveType`](crate::PrimitiveType).
//!
//! Methods that take an existing dim accept negative numbers, which count from the end. Where XLA aborts, they return an
//! error.
//!
//! Source: `xla/shape_util.h`; the aliases are XLA's names.

mod align;
mod change_type;
mod common_factors;
mod decompose;
mod delete;
mod dimension_number;
mod element_types;
mod equality;
mod host;
mod insert;
mod makers;
mod native;
mod padding_advice;
mod padding_cause;
mod permute;
mod predicates;
mod reshape;
mod respell;
mod sizes;
mod strides;
mod tile_edit;
mod transpose;
mod traversal;
mod tuples;

pub use common_factors::{
    UnitDims, common_factors, dimensions_unmodified_by_reshape,
    inserted_or_deleted_1_sized_dimensions, reshape_leaves_dimensions_unmodified,
};
pub use decompose::Bitcast;
pub use dimension_number::dimension_number;
pub(crate) use dimension_number::dimension_numbers;
pub use native::Native;
pub use padding_advice::{LeastPadding, PaddingAdvice};
pub use padding_cause::{Factor, PaddingCause};
pub use predicates::dimension_letters;
pub(crate) use sizes::no_values;
pub use sizes::tuple_index_table_bytes;
pub use traversal::for_each_index;
