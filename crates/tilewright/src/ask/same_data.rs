//! Answer about the arrays of two files or folders.

use std::fmt;

use serde_json::{Value, json};
use tilewright_files::{Alike, Apart, Divergence};

use super::{Answer, words::printable};

/// Tensors that differ between two files or folders; empty if both hold the same arrays.
///
/// ```
/// use tilewright::{ask::{Answer, SameData}, files::{Apart, Divergence}};
/// assert_eq!(SameData(vec![]).to_string(), "same");
/// let apart = Apart::Element { coord: vec![1, 2], a: 7, b: 9 };
/// let differ = SameData(vec![Divergence { name: "w".into(), apart, alike: vec![] }]);
/// assert_eq!(differ.to_string(), "w differs at (1,2): 0x7 vs 0x9\n");
/// assert!(differ.is_no() && differ.to_json()["tensors"][0]["coord"][1] == 2);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SameData(pub Vec<Divergence>);

/// Prints `same`, or a line for each tensor that differs.
impl fmt::Display for SameData {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.is_empty() {
            true => f.write_str("same"),
            false => {
                self.0.iter().try_for_each(|one| writeln!(f, "{}", printable(&one.to_string())))
            }
        }
    }
}

impl Answer for SameData {
    fn to_json(&self) -> Value {
        let tensors: Vec<Value> = self.0.iter().map(tensor).collect();
        json!({ "same": self.0.is_empty(), "tensors": tensors })
    }

    fn is_no(&self) -> bool {
        !self.0.is_empty()
    }
}

fn tensor(divergence: &Divergence) -> Value {
    let mut value = json!({ "name": divergence.name, "difference": divergence.apart.to_string() });
    match &divergence.apart {
        Apart::Missing { first } => {
            value["missing"] = json!(if *first { "first" } else { "second" })
        }
        Apart::Dtype { a, b } => value["dtypes"] = json!([a, b]),
        Apart::Dims { a, b } => value["dims"] = json!([a, b]),
        Apart::Element { coord, a, b } => {
            value["coord"] = json!(coord);
            value["values"] = json!([format!("{a:#x}"), format!("{b:#x}")]);
        }
        // open set
        _ => {}
    }
    let mut named = Vec::new();
    for alike in &divergence.alike {
        match alike {
            Alike::Transposed(dims) => value["transposed"] = json!(dims),
            Alike::Swapped => value["byte_swapped"] = json!(true),
            Alike::Named(name) | Alike::NamedFirst(name) => named.push(name),
            // open set
            _ => {}
        }
    }
    if !named.is_empty() {
        value["same_as"] = json!(named);
    }
    value
}
