//! Reads the bytes of a tensor, or of a whole file, into memory, for callers who need the values themselves.

use std::path::Path;

use crate::{
    Error, Input, Tensor, error,
    open::{place::Place, source::Source},
    transfer::budget::zeros,
};

impl Input {
    /// Returns the bytes of a tensor in the file's layout, if they are at most `most`.
    ///
    /// # Errors
    /// [usage](Error::is_usage) beyond `most`, [i/o](Error::is_io) if the file is shorter than it states.
    ///
    /// ```
    /// # use tilewright_files::{Reading, open};
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_llm_mixed.safetensors");
    /// # let input = open(path, &Reading::default()).unwrap();
    /// let ids = &input.tensors()[0];
    /// assert_eq!(input.bytes(ids, 1 << 20).unwrap().len() as u64, ids.bytes());
    /// assert!(input.bytes(ids, 3).unwrap_err().is_usage());
    /// ```
    pub fn bytes(&self, tensor: &Tensor, most: u64) -> Result<Vec<u8>, Error> {
        let (source, at) = self.place(tensor)?;
        read(source, at, tensor.len, most)
    }
}

/// Returns all bytes of a file, if they are at most `most`.
///
/// # Errors
/// Those of [`Input::bytes`].
///
/// ```
/// let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("bytes");
/// std::fs::write(&path, [1, 2, 3]).unwrap();
/// assert_eq!(tilewright_files::bytes(&path, 3).unwrap(), [1, 2, 3]);
/// assert!(tilewright_files::bytes(&path, 2).unwrap_err().to_string().contains("3 bytes"));
/// ```
pub fn bytes(path: impl AsRef<Path>, most: u64) -> Result<Vec<u8>, Error> {
    let source = Source::open(&Place::parse(path.as_ref()).path)?;
    read(&source, 0, source.len(), most)
}

fn read(source: &Source, at: u64, len: u64, most: u64) -> Result<Vec<u8>, Error> {
    if len > most || usize::try_from(len).is_err() {
        let path = source.path().display();
        return Err(error::usage(format!("{path}: {len} bytes, at most {most} are read")));
    }
    let mut bytes = zeros(len)?;
    source.read(&mut bytes, at)?;
    Ok(bytes)
}
