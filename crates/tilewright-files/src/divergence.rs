//! What differs of one tensor between two files or folders, as a value and in words.

use std::fmt;

/// What differs of one tensor.
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
    /// In what it differs.
    pub apart: Apart,
    /// With what done it would be the same.
    pub alike: Vec<Alike>,
}

/// In what two tensors of one name differ.
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
        /// Whether that is the first.
        first: bool,
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
        /// Its coordinate; of a block of elements that of its first.
        coord: Vec<u64>,
        /// The bits of the element in the first.
        a: u128,
        /// The bits in the second.
        b: u128,
    },
}

/// With what done to it the second side's tensor would be that of the first.
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
    /// It is what the second side calls so.
    Named(String),
    /// Of a tensor that the second side alone has: it is what the first side calls so.
    NamedFirst(String),
}

impl fmt::Display for Divergence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.name, self.apart)?;
        self.alike.iter().try_for_each(|alike| write!(f, "; {alike}"))
    }
}

/// Numbers with commas, in brackets.
fn listed<T: fmt::Display>(all: &[T]) -> String {
    let all: Vec<String> = all.iter().map(T::to_string).collect();
    all.join(",")
}

impl fmt::Display for Apart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Apart::Missing { first: true } => f.write_str("is only in the second"),
            Apart::Missing { first: false } => f.write_str("is only in the first"),
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
    /// A tensor that the second side alone has, or the first.
    pub(crate) fn missing(name: &str, first: bool) -> Divergence {
        Divergence { name: name.into(), apart: Apart::Missing { first }, alike: vec![] }
    }

    /// Whether its tensor is one of the second side, and whether only one side has it.
    pub(crate) fn side(&self) -> (bool, bool) {
        match self.apart {
            Apart::Missing { first } => (first, true),
            Apart::Dtype { .. } | Apart::Dims { .. } | Apart::Element { .. } => (false, false),
        }
    }
}
