//! The trait [`Answer`] of all answers, the answer of a refused question, and the answer of a comparison of two layouts.

use std::fmt;

use serde_json::{Value, json};
use tilewright_core::Difference;

use crate::{Comparison, Error};

/// Answer of a question: text for people, JSON for machines.
///
/// An answer of one line prints without a line end; an answer of several lines prints all line ends.
///
/// ```
/// use tilewright::{Spec, ask::{Answer, compare}};
/// let named = |text| Spec::parse(text).unwrap().resolve(None, None).unwrap();
/// let answer = compare(&named("f32[2,3]{0,1}"), &named("(2,3):(1,2)"))?;
/// assert!(!answer.is_no() && answer.to_json()["same"] == true);
/// # Ok::<(), tilewright::Error>(())
/// ```
pub trait Answer: fmt::Display {
    /// Returns the fields that `docs/reference/json.md` lists.
    fn to_json(&self) -> Value;

    /// Returns the text in lines of at most `width` characters, which notes what it leaves out. The default is the same text at
    /// every width.
    fn within(&self, _width: usize) -> String {
        self.to_string()
    }

    /// Returns whether the answer is no: layouts differ, nothing was found.
    fn is_no(&self) -> bool {
        false
    }

    /// Sentences beside the answer that are worth reading.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }

    /// Sentences that a reader of the answer must not miss, such as what was not checked.
    fn cautions(&self) -> Vec<String> {
        Vec::new()
    }
}

/// The answer of a question that is refused: `{"error": {"kind", "message", "field", "span"}}`.
///
/// ```
/// use tilewright::{Error, Spec, ask::Answer};
/// let error = Spec::parse("zM").unwrap_err().to_json();
/// assert_eq!((&error["error"]["kind"], &error["error"]["span"]), (&"parse".into(), &[0, 2].into()));
/// ```
impl Answer for Error {
    fn to_json(&self) -> Value {
        json!({ "error": {
            "kind": self.kind(),
            "message": self.to_string(),
            "field": self.field(),
            "span": self.span(),
        }})
    }
}

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
