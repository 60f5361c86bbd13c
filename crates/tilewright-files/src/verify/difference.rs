//! The results of verifications, and differences as values and texts: the first between a result and its original, and those of a
//! tensor between two files or folders.

use std::fmt;

use tilewright_fingerprint::Fingerprint;

/// The result of a verification.
///
/// ```
/// use tilewright_files::{Request, Verdict, verify};
/// let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
/// let verdict = verify(path, path, &Request::new(), &()).unwrap();
/// assert!(matches!(verdict, Verdict::Same { bytes: 1.., .. }));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Everything agrees, in this number of bytes of the result.
    Same {
        /// The bytes of tensors compared, padding included.
        bytes: u64,
        /// The tensors of the original that the recorded recipe drops, all or parts of them: nothing holds these elements.
        dropped: Vec<String>,
        /// Sentences about metadata that differ and that say nothing about the data, such as the files that an index names.
        changed: Vec<String>,
    },
    /// The first difference.
    Differs(Difference),
}

/// The number of tensors that a sentence names.
const NAMED: usize = 8;

/// Lists names, at most eight of them; `None` if there are none.
pub(crate) fn named(names: &[String]) -> Option<String> {
    let shown: Vec<String> = names.iter().take(NAMED).map(|name| format!("{name:?}")).collect();
    let more = match names.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    (!names.is_empty()).then(|| shown.join(", ") + &more)
}

impl Verdict {
    /// Returns a message on elements of the original that nothing holds, and on metadata that differ, as a sentence without a full
    /// stop.
    ///
    /// ```
    /// use tilewright_files::Verdict;
    /// let verdict = Verdict::Same { bytes: 64, dropped: vec!["inv_freq".into()], changed: vec![] };
    /// assert_eq!(verdict.remark().unwrap(), r#"the recorded recipe drops "inv_freq", or parts: not compared"#);
    /// ```
    pub fn remark(&self) -> Option<String> {
        let Verdict::Same { dropped, changed, .. } = self else { return None };
        let dropped = named(dropped)
            .map(|shown| format!("the recorded recipe drops {shown}, or parts: not compared"));
        let changed = (!changed.is_empty()).then(|| {
            format!("metadata that do not describe the data differ: {}", changed.join("; "))
        });
        let said: Vec<String> = dropped.into_iter().chain(changed).collect();
        (!said.is_empty()).then(|| said.join("; "))
    }
}

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
        /// The coordinate of the element; of a block the coordinate of its first element.
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
        /// The recorded fingerprint.
        recorded: Fingerprint,
    },
    /// The files state different facts about a tensor, or about all of them.
    Said {
        /// The tensor, if the fact is about one.
        tensor: Option<String>,
        /// A fact that only one of the two states.
        text: String,
    },
}

impl Difference {
    /// Returns a difference that does not concern a single tensor.
    pub(crate) fn said(text: impl Into<String>) -> Difference {
        Difference::Said { tensor: None, text: text.into() }
    }

    /// Adds a sentence to the message.
    pub(crate) fn and(self, more: Option<String>) -> Difference {
        match (self, more) {
            (Difference::Said { tensor, text }, Some(more)) => {
                Difference::Said { tensor, text: format!("{text}; {more}") }
            }
            (found, _) => found,
        }
    }

    /// Returns the tensor of the difference, if it concerns one.
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
                "tensor {tensor:?} has data with fingerprint {is}, and {recorded} is recorded"
            ),
            Difference::Said { tensor: Some(tensor), text } => {
                write!(f, "tensor {tensor:?}: {text}")
            }
            Difference::Said { tensor: None, text } => f.write_str(text),
        }
    }
}

/// A difference of one tensor.
///
/// ```
/// use tilewright_files::{Apart, Divergence};
/// let element = Divergence { name: "w".into(), apart: Apart::Element { coord: vec![1, 2], a: 7, b: 9 }, alike: vec![] };
/// assert_eq!(element.to_string(), "w differs at (1,2): 0x7 vs 0x9");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Divergence {
    /// The tensor.
    pub name: String,
    /// The kind of difference.
    pub apart: Apart,
    /// Changes of the second side's tensor that would make it equal.
    pub alike: Vec<Alike>,
}

/// The difference between two tensors of the same name.
///
/// ```
/// use tilewright_files::Apart;
/// assert_eq!(Apart::Missing { first: true }.to_string(), "is only in the second");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Apart {
    /// One side does not have it.
    Missing {
        /// True if the first side does not have it.
        first: bool,
    },
    /// One side does not have it, or only parts of it, because the recipe that this side records drops the rest.
    Dropped {
        /// True if the first side does not have it.
        first: bool,
        /// True if all of it is dropped.
        whole: bool,
    },
    /// Element types differ, by their names.
    Dtype {
        /// Of the first.
        a: String,
        /// Of the second.
        b: String,
    },
    /// Logical dims differ.
    Dims {
        /// Of the first.
        a: Vec<u64>,
        /// Of the second.
        b: Vec<u64>,
    },
    /// The first element that differs, in the order of coordinates, the last dim the fastest.
    Element {
        /// Its coordinate; of a block the coordinate of its first element.
        coord: Vec<u64>,
        /// The bits of the element in the first.
        a: u128,
        /// The bits in the second.
        b: u128,
    },
}

/// A change that would make the second side's tensor equal to that of the first.
///
/// ```
/// use tilewright_files::Alike;
/// assert_eq!(Alike::Transposed(vec![1, 0]).to_string(), "the same if transposed (1,0)");
/// assert_eq!(Alike::Named("w3".into()).to_string(), "the same as w3 of the second");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Alike {
    /// Dim `d` of the second is dim `.0[d]` of the first.
    Transposed(Vec<usize>),
    /// The bytes of every number are reversed.
    Swapped,
    /// The second side has the tensor under this name.
    Named(String),
    /// The first side has a tensor under this name that is equal to one that only the second side has.
    NamedFirst(String),
}

impl fmt::Display for Divergence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.name, self.apart)?;
        self.alike.iter().try_for_each(|alike| write!(f, "; {alike}"))
    }
}

/// Returns numbers separated by commas.
fn listed<T: fmt::Display>(all: &[T]) -> String {
    let all: Vec<String> = all.iter().map(T::to_string).collect();
    all.join(",")
}

impl fmt::Display for Apart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Apart::Missing { first: true } => f.write_str("is only in the second"),
            Apart::Missing { first: false } => f.write_str("is only in the first"),
            Apart::Dropped { first, whole } => {
                let parts = if *whole { "" } else { " in part" };
                let (has, lacks) = if *first { ("second", "first") } else { ("first", "second") };
                write!(f, "is{parts} only in the {has}: the recipe of the {lacks} drops it")
            }
            Apart::Dtype { a, b } => write!(f, "has another element type: {a} vs {b}"),
            Apart::Dims { a, b } => {
                write!(f, "has other dims: [{}] vs [{}]", listed(a), listed(b))
            }
            Apart::Element { coord, a, b } => {
                write!(f, "differs at ({}): {a:#x} vs {b:#x}", listed(coord))
            }
        }
    }
}

impl fmt::Display for Alike {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Alike::Transposed(dims) => write!(f, "the same if transposed ({})", listed(dims)),
            Alike::Swapped => f.write_str("the same if byte-swapped"),
            Alike::Named(name) => write!(f, "the same as {name} of the second"),
            Alike::NamedFirst(name) => write!(f, "the same as {name} of the first"),
        }
    }
}

impl Divergence {
    /// Returns a tensor that only the second side has, or only the first.
    pub(crate) fn missing(name: &str, first: bool) -> Divergence {
        Divergence { name: name.into(), apart: Apart::Missing { first }, alike: vec![] }
    }

    /// Returns whether the tensor is one of the second side, and whether only one side has it.
    pub(crate) fn side(&self) -> (bool, bool) {
        match self.apart {
            Apart::Missing { first } | Apart::Dropped { first, .. } => (first, true),
            Apart::Dtype { .. } | Apart::Dims { .. } | Apart::Element { .. } => (false, false),
        }
    }
}
