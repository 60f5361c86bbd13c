//! What formats share whose files hold one array without a name: `.npy` and raw bytes.

use super::format::{Container, Member, Opened};
use crate::{Tensor, held::Held, source::Source, tensor::Piece};

/// What the only array of a file is called.
pub(super) const NAME: &str = "array";

/// What files of one array are converted to.
pub(super) const BECOMES: &str = ".npy or raw:PATH";

/// What a file says of its array.
pub(super) struct Stored {
    pub(super) dtype: String,
    pub(super) shape: Vec<u64>,
    pub(super) at: u64,
    pub(super) len: u64,
}

impl Stored {
    /// The whole of a file without a header.
    pub(super) fn bytes(len: u64) -> Stored {
        Stored { dtype: String::new(), shape: vec![len], at: 0, len }
    }
}

/// A file of one array.
pub(super) fn opened(
    source: Source,
    container: Box<dyn Container>,
    held: Held,
    stored: Stored,
) -> Opened {
    let Stored { dtype: file_dtype, shape: storage, at, len } = stored;
    let pieces = vec![Piece::whole(0, at, len, &held)];
    let tensor = Tensor {
        name: NAME.into(),
        file_dtype,
        storage,
        file_dims: None,
        held,
        refusal: None,
        pieces,
        len,
    };
    Opened { container, index: None, files: vec![Member::alone(source)], tensors: vec![tensor] }
}
