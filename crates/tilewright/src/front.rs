//! The most frequent tasks, one call each: read a layout, open a file, convert a file.

#[cfg(feature = "files")]
use std::path::Path;

use tilewright_notation::Spec;

use crate::Error;
#[cfg(feature = "files")]
use crate::files;

/// Reads a layout in any notation. [`Spec::resolve`] then gives the layout of an array.
///
/// # Errors
/// [parse](Error::is_parse), with the bytes at fault and what would be legal there; if several notations read the text, with
/// each reading.
///
/// ```
/// use tilewright::parse;
/// let spec = parse("f32[3,5]{1,0:T(2,2)}")?;
/// assert_eq!(spec.resolve(None, None)?.layout().offset(&[2, 3])?, 17);
/// let error = parse("row-mayor").unwrap_err();
/// assert!(error.is_parse() && error.to_string().contains("did you mean `row-major`?"));
/// # Ok::<(), tilewright::Error>(())
/// ```
pub fn parse(text: &str) -> Result<Spec, Error> {
    Spec::parse(text)
}

/// Opens a file of tensors; its name and first bytes tell the format. [`files::open`] also takes what a file without a header
/// does not contain.
///
/// # Errors
/// [i/o](Error::is_io) if the file cannot be read, [corrupt](Error::is_corrupt) if it is not a file of tensors.
///
/// ```
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_llm_mixed.safetensors");
/// let input = tilewright::open(path)?;
/// assert!(input.tensors().iter().any(|tensor| tensor.name().contains("k_proj")));
/// assert!(tilewright::open("no/such/file.npy").unwrap_err().is_io());
/// # Ok::<(), tilewright::Error>(())
/// ```
#[cfg(feature = "files")]
pub fn open(path: impl AsRef<Path>) -> Result<files::Input, Error> {
    files::open(path, &files::Reading::default())
}

/// Converts a file of tensors to another file. The result is complete or absent. It replaces an existing file only if the
/// request [forces](files::Request::force) it.
///
/// # Errors
/// As [`files::Conversion::prepare`] and [`files::Conversion::run`].
///
/// ```
/// use tilewright::{convert, files::Request, parse};
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_llm_mixed.safetensors");
/// # let folder = tempfile::tempdir()?;
/// # let out = folder.path().join("zn.safetensors");
/// let request = Request::new().rule("*_proj.weight", parse("zN")?).verify(true);
/// let report = convert(path, &out, request.clone())?;
/// assert_eq!(report.bytes_written(), std::fs::metadata(&out)?.len());
/// assert!(convert(path, &out, request).unwrap_err().is_exists());
/// # Ok::<(), tilewright::Error>(())
/// ```
#[cfg(feature = "files")]
pub fn convert(
    from: impl AsRef<Path>,
    to: impl AsRef<Path>,
    request: files::Request,
) -> Result<files::Report, Error> {
    let input = files::open(from, request.reading())?;
    files::Conversion::prepare(&input, to, request)?.run(&())
}
