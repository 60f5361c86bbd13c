//! Answers about the verification of a converted file, the fingerprints of the data in files, and the arrays of two
//! files or folders.

use std::fmt;

use serde_json::{Value, json};
use tilewright_files::{Alike, Apart, Checked, Difference, Divergence, Fingerprints, Key, Verdict};

use crate::ask::{
    Answer,
    words::{bytes, counted, printable},
};

/// Verdict of a verification.
///
/// ```
/// use tilewright::{ask::{Answer, Verified}, files::{Request, verify}};
/// let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
/// let verified = Verified(verify(path, path, &Request::new(), &())?);
/// assert!(verified.to_string().starts_with("same: "));
/// assert!(!verified.is_no() && verified.to_json()["same"] == true);
/// # Ok::<(), tilewright::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified(pub Verdict);

impl fmt::Display for Verified {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Verdict::Same { bytes: all, .. } => {
                write!(f, "same: {} compared", bytes(*all))?;
                self.0.remark().map_or(Ok(()), |said| write!(f, "\n{}", printable(&said)))
            }
            Verdict::Differs(found) => write!(f, "differ: {}", printable(&found.to_string())),
        }
    }
}

/// Comparison of the data of a file with the fingerprints that it records.
///
/// ```
/// use tilewright::{ask::{Answer, Recorded}, files::{Checked, Verdict}};
/// let (verdict, unrecorded) = (Verdict::Same { bytes: 640, dropped: vec![] }, vec![]);
/// let recorded = Recorded(Checked { recorded: 2, tensors: 3, unrecorded, verdict });
/// assert_eq!(recorded.to_string(), "same: 2 of 3 tensors have the recorded data, 640 B read");
/// assert_eq!(recorded.to_json()["recorded"], 2);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded(pub Checked);

impl fmt::Display for Recorded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Checked { recorded, tensors, verdict, .. } = &self.0;
        let Verdict::Same { bytes: all, .. } = verdict else {
            return Verified(verdict.clone()).fmt(f);
        };
        let (of, all) = (counted(*tensors as u128, "tensor"), bytes(*all));
        let have = if *recorded == 1 { "has" } else { "have" };
        write!(f, "same: {recorded} of {of} {have} the recorded data, {all} read")?;
        self.0.remark().map_or(Ok(()), |said| write!(f, "\n{}", printable(&said)))
    }
}

impl Answer for Recorded {
    fn to_json(&self) -> Value {
        let mut value = Verified(self.0.verdict.clone()).to_json();
        value["recorded"] = json!(self.0.recorded);
        value["tensors"] = json!(self.0.tensors);
        value["unrecorded"] = json!(self.0.unrecorded);
        value
    }

    fn is_no(&self) -> bool {
        matches!(self.0.verdict, Verdict::Differs(_))
    }
}

impl Answer for Verified {
    fn to_json(&self) -> Value {
        let difference = match &self.0 {
            Verdict::Same { bytes, dropped } => {
                return json!({ "same": true, "bytes": bytes, "dropped": dropped });
            }
            Verdict::Differs(difference) => difference,
        };
        let mut value = json!({
            "same": false,
            "difference": difference.to_string(),
            "tensor": difference.tensor(),
        });
        match difference {
            Difference::Element { coord, offset, original, is, was, .. } => {
                value["coord"] = json!(coord);
                value["offset"] = json!(offset);
                value["original_offset"] = json!(original);
                value["is"] = json!(format!("{is:#x}"));
                value["was"] = json!(format!("{was:#x}"));
            }
            Difference::Padding { offset, is, expected, .. } => {
                value["offset"] = json!(offset);
                value["is"] = json!(format!("{is:#x}"));
                value["was"] = json!(format!("{expected:#x}"));
            }
            Difference::Record { is, recorded, .. } => {
                value["fingerprint"] = json!(is.to_string());
                value["recorded_fingerprint"] = json!(recorded.to_string());
            }
            // open set
            _ => {}
        }
        value
    }

    fn is_no(&self) -> bool {
        matches!(self.0, Verdict::Differs(_))
    }
}

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
        Apart::Dropped { first, whole } => {
            value["missing"] = json!(if *first { "first" } else { "second" });
            value["dropped"] = json!(if *whole { "whole" } else { "part" });
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
