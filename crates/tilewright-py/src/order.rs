//! The order in which the array of a storage lists its extents. Results and reads follow it.
//!
//! Law: the bytes are the same in both orders. `C` lists the extents of the storage outermost first, as files do; `F`
//! lists them innermost first, in Fortran's order, so that the array in `F` is the transpose of the one in `C`.

use pyo3::prelude::*;

use crate::{errors::refused, spelling::quoted, text::TextArgument};

/// The order of extents of a new array.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) enum ResultOrder {
    #[default]
    C,
    F,
}

impl ResultOrder {
    /// Returns the order for NumPy's letter.
    pub(crate) fn of(letter: Option<TextArgument>) -> PyResult<ResultOrder> {
        match TextArgument::given("order", letter)?.as_deref() {
            None | Some("C") => Ok(ResultOrder::C),
            Some("F") => Ok(ResultOrder::F),
            Some(other) => {
                let other = quoted(other);
                let says = format!("order= takes 'C' (outermost extent first) or 'F', not {other}");
                Err(refused("arguments", says))
            }
        }
    }

    /// Returns the extents of a storage, outermost first, in the order of an array.
    pub(crate) fn listed(self, shape: &[u64]) -> Vec<u64> {
        match self {
            ResultOrder::C => shape.to_vec(),
            ResultOrder::F => shape.iter().rev().copied().collect(),
        }
    }
}
