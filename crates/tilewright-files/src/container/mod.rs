//! File formats, and the interface between a format and the code that works on tensors.
//!
//! A format is a [`Format`] in a file or folder of its own, and a line in [`FORMATS`]. It states how its files are named and
//! recognised. It opens a file as [`Opened`]: its tensors, each with its layout and the pieces of files that hold its bytes. It
//! plans the files of a result as [`target::Target`]s: bytes and tensors in order. Conversion, verification and the memory bound
//! do not depend on any format; neither does the commit of files, except that an index appears after its shards.

mod array;
mod format;
mod gguf;
mod metadata_notes;
pub(crate) mod npy;
mod npz;
mod pt;
mod raw;
pub(crate) mod safetensors;
pub(crate) mod sharded;
pub(crate) mod shards;
mod target;
mod zip;

use std::path::{Path, PathBuf};

pub(crate) use format::{
    Beside, Container, Expected, Fact, Format, LocalBox, Member, Opened, Opening,
};
pub use metadata_notes::{DATA_KEY, LAYOUT_KEY};
pub(crate) use metadata_notes::{about, data_of};
pub(crate) use raw::FORMAT as RAW;
pub(crate) use target::{Section, Target};
use tilewright_fingerprint::Fingerprint;

use crate::{
    Error, Job, error,
    layout::note_file::Texts,
    open::{foreign, source::Source},
};

/// All formats. If several recognise the first bytes of a file, the first of them opens it.
pub(crate) const FORMATS: &[&Format] = &[
    &safetensors::FORMAT,
    &npy::FORMAT,
    &gguf::FORMAT,
    &pt::FORMAT,
    &npz::FORMAT,
    &sharded::FORMAT,
    &pt::several::FORMAT,
    &raw::FORMAT,
];

/// The name and format of a checkpoint in a folder whose own format is only read.
pub(crate) const NEWER: (&str, &Format) = ("model.safetensors", &safetensors::FORMAT);

/// Returns the format with this prefix before the path.
pub(crate) fn by_prefix(path: &Path) -> Option<(&'static Format, PathBuf)> {
    FORMATS.iter().find_map(|format| Some((*format, behind(path, format.prefix?)?)))
}

/// Returns the format whose files have this ending, the longest if there are several.
pub(crate) fn by_ending(path: &Path) -> Option<&'static Format> {
    let name = path.file_name().unwrap_or_default().as_encoded_bytes();
    let ends = |end: &str| {
        let at = name.len().checked_sub(end.len());
        let tail = at.and_then(|at| name.get(at..));
        tail.is_some_and(|tail| tail.eq_ignore_ascii_case(end.as_bytes()))
    };
    let fit = FORMATS.iter().copied().filter(|format| format.ending.is_some_and(ends));
    fit.max_by_key(|format| format.ending.map_or(0, str::len))
}

/// Returns the format that recognises the first bytes of a file.
pub(crate) fn recognised(source: &Source) -> Result<&'static Format, Error> {
    foreign::check_file(source.path())?;
    let (head, len) = (source.head(512)?, source.len());
    let found = FORMATS.iter().copied().find(|format| (format.recognises)(&head, len));
    found.ok_or_else(|| {
        let known: Vec<&str> = FORMATS.iter().filter_map(|format| format.ending).collect();
        let said = format!(
            "neither a safetensors file nor another known format ({}); for bytes without a header, write raw:PATH",
            known.join(", ")
        );
        error::unrecognised(source.path(), said)
    })
}

/// Returns the note of a file of one array, as keys and texts.
pub(crate) fn noted(job: &Job) -> Texts {
    metadata_notes::under(array::NAME, job).into_iter().collect()
}

/// Returns the note with the fingerprint that was computed during the conversion.
pub(crate) fn noted_with(noted: &Texts, data: Option<&Fingerprint>) -> Texts {
    let mut texts = noted.clone();
    let text = texts.get_mut(&format!("{DATA_KEY}{}", array::NAME));
    if let (Some(text), Some(data)) = (text, data) {
        *text = data.to_string();
    }
    texts
}

/// Returns the path after a prefix, which may not be UTF-8.
#[cfg(unix)]
fn behind(path: &Path, prefix: &str) -> Option<PathBuf> {
    use std::{ffi::OsStr, os::unix::ffi::OsStrExt};
    let rest = path.as_os_str().as_bytes().strip_prefix(prefix.as_bytes())?;
    Some(OsStr::from_bytes(rest).into())
}

#[cfg(not(unix))]
fn behind(path: &Path, prefix: &str) -> Option<PathBuf> {
    path.to_str()?.strip_prefix(prefix).map(PathBuf::from)
}
