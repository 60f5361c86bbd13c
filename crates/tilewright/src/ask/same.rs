//! Answer about the comparison of two layouts as maps.

use serde_json::{Value, json};
use tilewright_core::Difference;

use super::Answer;

pub use crate::comparison::{Comparison, compare};

impl Answer for Comparison {
    fn to_json(&self) -> Value {
        match self {
            Comparison::Same { notes } => json!({ "same": true, "notes": notes }),
            Comparison::Differ(Difference { coord, left, right }) => {
                json!({ "same": false, "coord": coord.as_slice(), "left": left, "right": right })
            }
            Comparison::Extents { left, right } => {
                json!({ "same": false, "extents": [left.as_slice(), right.as_slice()] })
            }
        }
    }

    fn is_no(&self) -> bool {
        !matches!(self, Comparison::Same { .. })
    }

    fn notes(&self) -> Vec<String> {
        match self {
            Comparison::Same { notes } => notes.clone(),
            Comparison::Differ(_) | Comparison::Extents { .. } => Vec::new(),
        }
    }
}
