//! Where a result differs from what it was made from.

use std::fmt;

use tilewright_fingerprint::Fingerprint;

/// The first difference between a result and its original.
///
/// ```
/// use tilewright_files::{Difference, Request, Verdict, verify};
/// let path = |name| format!("{}/../../corpus/data/{name}.safetensors", env!("CARGO_MANIFEST_DIR"));
/// let (one, other) = (path("tiny_cnn_f32"), path("tiny_llm_mixed"));
/// let Verdict::Differs(difference) = verify(other, one, &Request::new(), &()).unwrap() else { panic!() };
/// assert!(matches!(&difference, Difference::Said { .. }) && difference.tensor().is_none());
/// assert!(difference.to_string().contains("is missing"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Difference {
    /// An element has another value.
    Element {
        /// The tensor.
        tensor: String,
        /// The coordinate of the element; of a block of elements that of its first.
        coord: Vec<u64>,
        /// Its offset in the result, in elements or blocks.
        offset: i64,
        /// Its offset in the original, in elements or blocks.
        original: i64,
        /// The bits of the element in the result; of a block the first 128 that differ.
        is: u128,
        /// The bits that were expected.
        was: u128,
    },
    /// Padding has another value.
    Padding {
        /// The tensor.
        tensor: String,
        /// The offset of the padding in the result, in elements or blocks.
        offset: u64,
        /// The bits of the element there.
        is: u128,
        /// The bits that were expected.
        expected: u128,
    },
    /// The data of the result have another fingerprint than its file records.
    Record {
        /// The tensor.
        tensor: String,
        /// The fingerprint of the data.
        is: Fingerprint,
        /// What is recorded.
        recorded: Fingerprint,
    },
    /// The files say different things of a tensor, or of all of them.
    Said {
        /// The tensor, where it is about one.
        tensor: Option<String>,
        /// What the one says and the other does not.
        text: String,
    },
}

impl Difference {
    /// A difference that is not about one tensor.
    pub(crate) fn said(text: impl Into<String>) -> Difference {
        Difference::Said { tensor: None, text: text.into() }
    }

    /// The same of what is said, with one sentence more.
    pub(crate) fn and(self, more: Option<String>) -> Difference {
        match (self, more) {
            (Difference::Said { tensor, text }, Some(more)) => {
                Difference::Said { tensor, text: format!("{text}; {more}") }
            }
            (found, _) => found,
        }
    }

    /// The tensor it is about, where it is about one.
    ///
    /// ```
    /// use tilewright_files::Difference;
    /// let padding = Difference::Padding { tensor: "w".into(), offset: 3, is: 1, expected: 0 };
    /// assert_eq!(padding.tensor(), Some("w"));
    /// let says = r#"tensor "w" has 0x1 in the padding at offset 3, expected 0x0"#;
    /// assert_eq!(padding.to_string(), says);
    /// ```
    pub fn tensor(&self) -> Option<&str> {
        match self {
            Difference::Element { tensor, .. }
            | Difference::Padding { tensor, .. }
            | Difference::Record { tensor, .. } => Some(tensor),
            Difference::Said { tensor, .. } => tensor.as_deref(),
        }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Difference::Element { tensor, coord, is, was, .. } => {
                write!(f, "tensor {tensor:?} has {is:#x} at {coord:?}, expected {was:#x}")
            }
            Difference::Padding { tensor, offset, is, expected } => write!(
                f,
                "tensor {tensor:?} has {is:#x} in the padding at offset {offset}, expected {expected:#x}"
            ),
            Difference::Record { tensor, is, recorded } => write!(
                f,
                "tensor {tensor:?} has data of fingerprint {is}, and {recorded} is recorded of them"
            ),
            Difference::Said { tensor: Some(tensor), text } => {
                write!(f, "tensor {tensor:?}: {text}")
            }
            Difference::Said { tensor: None, text } => f.write_str(text),
        }
    }
}
