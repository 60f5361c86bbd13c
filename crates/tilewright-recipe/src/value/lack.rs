//! The reasons for a missing size.

/// The reason that a size is missing.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Lack {
    /// Something it needs is not there: a sentence.
    Absent(String),
    /// A size that it needs is not known yet.
    Later(String),
    /// The expression fails, for this reason.
    Wrong(String),
}
