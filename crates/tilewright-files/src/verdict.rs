//! The answer of a verification.

use crate::Difference;

/// The answer of a verification.
///
/// ```
/// use tilewright_files::{Request, Verdict, verify};
/// let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
/// let verdict = verify(path, path, &Request::new(), &()).unwrap();
/// assert!(matches!(verdict, Verdict::Same { bytes: 1.. }));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Everything agrees, in this many bytes of the result.
    Same {
        /// The bytes of tensors compared, padding included.
        bytes: u64,
    },
    /// The first difference.
    Differs(Difference),
}
