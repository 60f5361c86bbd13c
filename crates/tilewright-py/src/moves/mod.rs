//! Moves of arrays in memory and on devices, the plans behind them and the arrays that they return.

pub(crate) mod driver;
pub(crate) mod plan;
pub(crate) mod prepare;
pub(crate) mod relayout;
pub(crate) mod result;
pub(crate) mod stream;
