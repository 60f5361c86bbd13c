//! Answer about the fingerprints of the data in files.

use std::fmt;

use serde_json::{Value, json};
use tilewright_files::{Fingerprints, Key};

use super::{Answer, words::printable};

/// Fingerprint of every tensor of a file or a folder, and one number for all of them. The same arrays in any layout, format and
/// number of files have the same fingerprints.
///
/// ```
/// use tilewright::{ask::{Answer, Printed}, files::{Collection, Key}};
/// let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
/// let key = Key::default();
/// let found = Collection::open(path)?.only(&["0.bias"])?.fingerprints(&key, &())?;
/// let answer = Printed { key, found };
/// assert!(answer.to_string().starts_with("0.bias f32 [32] "));
/// assert_eq!(answer.to_json()["tensors"][0]["name"], "0.bias");
/// # Ok::<(), tilewright::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Printed {
    /// The key of the fingerprints.
    pub key: Key,
    /// The fingerprints.
    pub found: Fingerprints,
}

/// A line for each tensor, then one for all.
impl fmt::Display for Printed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for tensor in &self.found.tensors {
            let dims: Vec<String> = tensor.dims.iter().map(u64::to_string).collect();
            let (name, dtype, dims) = (printable(&tensor.name), tensor.dtype, dims.join(","));
            writeln!(f, "{name} {dtype} [{dims}] {}", tensor.fingerprint)?;
        }
        writeln!(f, "all {:016x}", self.found.all)
    }
}

impl Answer for Printed {
    fn to_json(&self) -> Value {
        let tensor = |tensor: &tilewright_files::Printed| {
            json!({
                "name": tensor.name,
                "dtype": tensor.dtype.name(),
                "dims": tensor.dims,
                "fingerprint": tensor.fingerprint.to_string(),
            })
        };
        json!({
            "key": self.key.to_string(),
            "tensors": self.found.tensors.iter().map(tensor).collect::<Vec<_>>(),
            "all": format!("{:016x}", self.found.all),
        })
    }
}
