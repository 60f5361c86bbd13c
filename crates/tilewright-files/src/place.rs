//! What a path names: which kind of file, and where.

use std::path::{Path, PathBuf};

/// The name of standard input, or output.
const STANDARD: &str = "-";

use crate::Error;

/// The kinds of file this crate reads and writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Safetensors,
    Sharded,
    Npy,
    Raw,
}

impl Kind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Kind::Safetensors => ".safetensors",
            Kind::Sharded => ".safetensors.index.json",
            Kind::Npy => ".npy",
            Kind::Raw => "raw:PATH",
        }
    }
}

/// What names a kind before a path, whatever the path's own end says.
const PREFIXES: [(&str, Kind); 3] =
    [("raw:", Kind::Raw), ("npy:", Kind::Npy), ("safetensors:", Kind::Safetensors)];

/// A path without its prefix, and the kind that prefix or extension names.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) path: PathBuf,
    pub(crate) kind: Option<Kind>,
}

impl Place {
    /// Reads `raw:PATH`, `npy:PATH` or `safetensors:PATH`, or a path whose name may end in
    /// `.safetensors`, `.index.json` or `.npy`.
    pub(crate) fn parse(path: &Path) -> Place {
        let said = PREFIXES.iter().find_map(|(prefix, kind)| Some((behind(path, prefix)?, *kind)));
        if let Some((path, kind)) = said {
            return Place { path, kind: Some(kind) };
        }
        let name = path.file_name().unwrap_or_default().as_encoded_bytes();
        let ends = |end: &str| {
            let at = name.len().checked_sub(end.len());
            let tail = at.and_then(|at| name.get(at..));
            tail.is_some_and(|tail| tail.eq_ignore_ascii_case(end.as_bytes()))
        };
        let kinds = [
            (".safetensors", Kind::Safetensors),
            (".index.json", Kind::Sharded),
            (".npy", Kind::Npy),
        ];
        let kind = kinds.iter().find(|(end, _)| ends(end)).map(|(_, kind)| *kind);
        Place { path: path.into(), kind }
    }
}

/// Whether a path without its prefix is standard input or output; a file of that name is `./-`.
pub(crate) fn is_standard(path: &Path) -> bool {
    path.as_os_str() == STANDARD
}

/// Whether a path names standard input or output: `-`, also with its kind before it, `raw:-`. Libraries
/// leave these to programs, which open them by [`open_file`](crate::open_file) and
/// [`open_stream`](crate::open_stream) and write to them by
/// [`Conversion::run_to`](crate::Conversion::run_to).
///
/// ```
/// use std::path::Path;
/// assert!(tilewright_files::is_stream(Path::new("npy:-")));
/// assert!(!tilewright_files::is_stream(Path::new("./-")));
/// ```
pub fn is_stream(path: &Path) -> bool {
    is_standard(&Place::parse(path).path)
}

/// Whether a path has the kind of its file before it, as `raw:PATH` does.
///
/// ```
/// use std::path::Path;
/// assert!(tilewright_files::has_prefix(Path::new("raw:a.txt")));
/// assert!(!tilewright_files::has_prefix(Path::new("./raw:a.txt")));
/// ```
pub fn has_prefix(path: &Path) -> bool {
    PREFIXES.iter().any(|(prefix, _)| behind(path, prefix).is_some())
}

/// The path behind a prefix, which may be no UTF-8.
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

/// The kind that a file's first bytes and length show.
pub(crate) fn by_magic(path: &Path, head: &[u8], len: u64) -> Result<Kind, Error> {
    if head.starts_with(crate::npy::MAGIC) {
        return Ok(Kind::Npy);
    }
    if let [a, b, c, d, e, f, g, h, b'{', ..] = *head
        && u64::from_le_bytes([a, b, c, d, e, f, g, h]) <= len
    {
        return Ok(Kind::Safetensors);
    }
    if head.trim_ascii_start().starts_with(b"{") {
        return Ok(Kind::Sharded);
    }
    Err(Error::unrecognised(
        path,
        "neither a safetensors file, nor the index of a checkpoint, nor an .npy file; bytes without a header are named raw:PATH",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_told_by_prefix_then_extension_then_magic() {
        let kind = |path: &str| Place::parse(Path::new(path)).kind;
        assert_eq!(kind("raw:a.npy"), Some(Kind::Raw));
        assert_eq!((kind("npy:a.bin"), kind("npy:raw:a")), (Some(Kind::Npy), Some(Kind::Npy)));
        assert_eq!(kind("safetensors:-"), Some(Kind::Safetensors));
        let standard = |path: &str| is_stream(Path::new(path));
        assert!(standard("-") && standard("raw:-") && !standard("./-") && !standard("raw:./-"));
        assert_eq!(kind("model.safetensors.index.json"), Some(Kind::Sharded));
        assert_eq!(kind("d/MODEL.SAFETENSORS"), Some(Kind::Safetensors));
        assert_eq!(
            (kind("a.npy"), kind("a.bin"), kind(""), kind("ü")),
            (Some(Kind::Npy), None, None, None)
        );
        let magic = |head: &[u8]| by_magic(Path::new("x"), head, 100).ok();
        assert_eq!(magic(b"\x93NUMPY\x01\0"), Some(Kind::Npy));
        assert_eq!(magic(b"\x08\0\0\0\0\0\0\0{}"), Some(Kind::Safetensors));
        assert_eq!(magic(b" {\"weight_map\":{}}"), Some(Kind::Sharded));
        assert_eq!(magic(b"\xff\xff\0\0\0\0\0\0{}"), None);
    }
}
