//! The error of this crate: a kind, a sentence, and, for a text, the bytes at fault.

use std::fmt;

/// The reason why a text is not a sharding, a sharding does not fit an array, or a notation cannot express one.
///
/// ```
/// use tilewright_sharded::Sharded;
/// let text = "f32[8] @ mesh(2) [Shord(0)]";
/// let error = Sharded::parse(text).unwrap_err();
/// let (from, to) = error.span().unwrap();
/// assert_eq!((error.kind(), &text[from..to]), ("parse", "Shord"));
/// assert!(error.to_string().ends_with("did you mean `Shard`?"));
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Error(Box<ErrorInner>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct ErrorInner {
    kind: &'static str,
    message: String,
    span: Option<(usize, usize)>,
    witness: Option<Witness>,
}

impl Error {
    fn new(kind: &'static str, message: impl Into<String>) -> Error {
        Error(Box::new(ErrorInner { kind, message: message.into(), span: None, witness: None }))
    }

    pub(crate) fn parse(span: (usize, usize), message: impl Into<String>) -> Error {
        Error::new("parse", message).at(span)
    }

    pub(crate) fn illegal(message: impl Into<String>) -> Error {
        Error::new("illegal", message)
    }

    pub(crate) fn mismatch(message: impl Into<String>) -> Error {
        Error::new("mismatch", message)
    }

    pub(crate) fn limit(message: impl Into<String>) -> Error {
        Error::new("limit", message)
    }

    pub(crate) fn overflow(message: impl Into<String>) -> Error {
        Error::new("overflow", message)
    }

    pub(crate) fn out_of_range(message: impl Into<String>) -> Error {
        Error::new("out-of-range", message)
    }

    pub(crate) fn unsupported(message: impl Into<String>) -> Error {
        Error::new("unsupported", message)
    }

    pub(crate) fn no_layout(message: impl Into<String>) -> Error {
        Error::new("no-layout", message)
    }

    /// Returns the error about these bytes of the text, unless it names some already.
    pub(crate) fn at(mut self, span: (usize, usize)) -> Error {
        self.0.span.get_or_insert(span);
        self
    }

    /// Returns the error with a position that demonstrates it.
    pub(crate) fn shown_by(mut self, witness: Witness) -> Error {
        self.0.witness = Some(witness);
        self
    }

    /// Returns the stable word for the kind: `parse`, `illegal`, `mismatch`, `limit`, `overflow`, `out-of-range`,
    /// `unsupported` if a notation cannot express a sharding or values are not stored, `no-layout`.
    ///
    /// ```
    /// use tilewright_sharded::Sharded;
    /// let kind = |text| Sharded::parse(text).unwrap_err().kind();
    /// assert_eq!(kind("f32[8] @ mesh(0) [Shard(0)]"), "illegal");
    /// assert_eq!(kind("f32[9] @ mesh(2) P(\"0\")"), "mismatch");
    /// assert_eq!(kind("f32[9] @ mesh(2) [Partial(sum)]"), "unsupported");
    /// assert_eq!(kind("f32[9] @ mesh(99999999) [Replicate()]"), "limit");
    /// ```
    pub fn kind(&self) -> &'static str {
        self.0.kind
    }

    /// Returns the range of bytes at fault, with an exclusive end, if a text was read.
    ///
    /// ```
    /// use tilewright_sharded::Sharded;
    /// let error = Sharded::parse("f32[8] @ mesh(2) [Shard(3)]").unwrap_err();
    /// assert_eq!(error.span(), Some((18, 26)));
    /// ```
    pub fn span(&self) -> Option<(usize, usize)> {
        self.0.span
    }

    /// Returns the first position that demonstrates the error, if a layout or another notation was requested.
    ///
    /// ```
    /// use tilewright_sharded::Sharded;
    /// let uneven = Sharded::parse("f32[5] @ mesh(2) [Shard(0)]")?;
    /// let error = uneven.as_layout().unwrap_err();
    /// let witness = error.witness().unwrap();
    /// assert_eq!((witness.position, witness.dim), (1, 0));
    /// assert_eq!((&witness.holds[..], &witness.instead[..]), (&[[3, 2]][..], &[[3, 3]][..]));
    /// # Ok::<(), tilewright_sharded::Error>(())
    /// ```
    pub fn witness(&self) -> Option<&Witness> {
        self.0.witness.as_ref()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

tilewright_core::debug_as_display!(Error);

impl std::error::Error for Error {}

impl From<tilewright_core::Error> for Error {
    fn from(error: tilewright_core::Error) -> Error {
        Error::new(error.kind(), error.to_string())
    }
}

/// A position whose list differs from the required one.
///
/// ```
/// use tilewright_sharded::{Sharded, Witness};
/// let error = Sharded::parse("f32[5] @ mesh(2) [Shard(0)]")?.as_layout().unwrap_err();
/// let witness: &Witness = error.witness().unwrap();
/// let said = "position 1 (0=1) holds [3,5) of dim 0, and not [3,6)";
/// assert_eq!(witness.to_string(), said);
/// # Ok::<(), tilewright_sharded::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Witness {
    /// The position in the mesh.
    pub position: u64,
    /// The coordinate as text.
    pub place: String,
    /// The dim.
    pub dim: usize,
    /// The intervals that it holds, as `[start, length]`.
    pub holds: Vec<[u64; 2]>,
    /// The intervals that it would have to hold.
    pub instead: Vec<[u64; 2]>,
}

impl fmt::Display for Witness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Witness { position, place, dim, holds, instead } = self;
        let (holds, instead) = (list(holds), list(instead));
        write!(f, "position {position} {place} holds {holds} of dim {dim}, and not {instead}")
    }
}

/// Prints `[0,32) ∪ [40,48)`, in local order; `empty` for none.
pub(crate) fn list(intervals: &[[u64; 2]]) -> String {
    let interval = |[start, length]: &[u64; 2]| format!("[{start},{})", start + length);
    match intervals {
        [] => "empty".to_owned(),
        _ => intervals.iter().map(interval).collect::<Vec<_>>().join(" ∪ "),
    }
}
