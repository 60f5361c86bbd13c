//! Queries and changes of layouts: XLA's `LayoutUtil`, as methods of [`Layout`](crate::Layout),
//! [`ArrayShape`](crate::ArrayShape) and [`Shape`](crate::Shape).
//!
//! Source: `xla/layout_util.h`; the aliases are XLA's names.

mod copy;
mod equality;
pub(crate) mod order;

pub use equality::Ignore;
pub use order::byte_strides_are_major_to_minor;
