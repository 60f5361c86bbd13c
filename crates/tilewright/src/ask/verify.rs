//! Answers about the verification of a converted file.

use std::fmt;

use serde_json::{Value, json};
use tilewright_files::{Checked, Difference, Verdict};

use super::{
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
            Verdict::Same { bytes: all } => write!(f, "same: {} compared", bytes(*all)),
            Verdict::Differs(found) => write!(f, "differ: {}", printable(&found.to_string())),
        }
    }
}

/// Comparison of the data of a file with the fingerprints that it records.
///
/// ```
/// use tilewright::{ask::{Answer, Recorded}, files::{Checked, Verdict}};
/// let (verdict, unrecorded) = (Verdict::Same { bytes: 640 }, vec![]);
/// let recorded = Recorded(Checked { recorded: 2, tensors: 3, unrecorded, verdict });
/// assert_eq!(recorded.to_string(), "same: 2 of 3 tensors have the recorded data, 640 B read");
/// assert_eq!(recorded.to_json()["recorded"], 2);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded(pub Checked);

impl fmt::Display for Recorded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Checked { recorded, tensors, verdict, .. } = &self.0;
        let Verdict::Same { bytes: all } = verdict else {
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
            Verdict::Same { bytes } => return json!({ "same": true, "bytes": bytes }),
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
