//! Whether a converted file is what it should be.

use std::fmt;

use serde_json::{Value, json};
use tilewright_files::{Difference, Verdict};

use super::{
    Answer,
    words::{bytes, printable},
};

/// The verdict of a verification.
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
            // open set
            _ => {}
        }
        value
    }

    fn is_no(&self) -> bool {
        matches!(self.0, Verdict::Differs(_))
    }
}
