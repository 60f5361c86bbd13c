//! Why a size has no value.

/// Why a size has no value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Lack {
    /// Something it needs is not there: a sentence.
    Absent(String),
    /// A size that it needs is not known yet.
    Later(String),
    /// It is no size: why.
    Wrong(String),
}
