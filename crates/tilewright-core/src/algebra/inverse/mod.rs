//! Inverses of layouts, the offsets that a layout leaves out, and the elements that two layouts keep in one order.

mod alignment;
mod complement;
pub(crate) mod cover;
mod digits;
pub(crate) mod left_inverse;
mod longest;
mod max_common;
mod right_inverse;
