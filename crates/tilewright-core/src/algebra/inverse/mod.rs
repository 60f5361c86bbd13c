//! Inverses of layouts, the offsets that a layout leaves out, and the elements that two layouts keep in one order.

pub(crate) mod cover;
pub(crate) mod left_inverse;
mod max_common;
mod right_inverse;
