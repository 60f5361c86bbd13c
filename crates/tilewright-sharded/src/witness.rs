//! [`Witness`]: the position that shows why no layout or notation expresses a sharding.

use std::fmt;

/// A position whose list differs from the required one.
///
/// ```
/// use tilewright_sharded::{Sharded, Witness};
/// let error = Sharded::parse("f32[5] @ mesh(2) [Shard(0)]")?.as_layout().unwrap_err();
/// let witness: &Witness = error.cause().unwrap();
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

/// The source of an error: [`Error::cause`](tilewright_error::Error::cause) returns it.
impl std::error::Error for Witness {}

/// Prints `[0,32) ∪ [40,48)`, in local order; `empty` for none.
pub(crate) fn list(intervals: &[[u64; 2]]) -> String {
    let interval = |[start, length]: &[u64; 2]| format!("[{start},{})", start + length);
    match intervals {
        [] => "empty".to_owned(),
        _ => intervals.iter().map(interval).collect::<Vec<_>>().join(" ∪ "),
    }
}
