//! A path as a caller gives it, such as `npy:weights.bin`: its format, and the file's own path.

use std::path::{Path, PathBuf};

use crate::{
    Error,
    container::{self, Format},
    open::{remote, source::is_standard},
};

/// A path without its prefix, and the format of its prefix or extension.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) path: PathBuf,
    pub(crate) format: Option<&'static Format>,
}

impl Place {
    /// Parses `raw:PATH`, `npy:PATH` …, or a path whose name may have the ending of a format.
    pub(crate) fn parse(path: &Path) -> Place {
        match container::by_prefix(path) {
            Some((format, path)) => Place { path, format: Some(format) },
            None => Place { path: path.into(), format: container::by_ending(path) },
        }
    }
}

/// Returns whether a path names a folder: of this machine, or one with objects in it. A URL whose name has the ending of a format
/// names an object.
pub(crate) fn is_folder(path: &Path) -> Result<bool, Error> {
    match remote::is_url(path) {
        true if container::by_ending(path).is_some() => Ok(false),
        true => remote::has_objects(path),
        false => Ok(path.is_dir()),
    }
}

/// Returns whether a path names standard input or output: `-`, or `raw:-` with a format prefix. Libraries leave these to
/// programs, which open them with [`open_file`](crate::open_file) and [`open_stream`](crate::open_stream) and write to them with
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

/// Returns whether a path has a format prefix, such as `raw:PATH`.
///
/// ```
/// use std::path::Path;
/// assert!(tilewright_files::has_prefix(Path::new("raw:a.txt")));
/// assert!(!tilewright_files::has_prefix(Path::new("./raw:a.txt")));
/// ```
pub fn has_prefix(path: &Path) -> bool {
    container::by_prefix(path).is_some()
}

/// Returns whether the name of a path has the ending of a format, such as `a.npy`.
///
/// ```
/// use std::path::Path;
/// assert!(tilewright_files::has_ending(Path::new("a.npy")));
/// assert!(tilewright_files::has_ending(Path::new("model.GGUF")));
/// assert!(!tilewright_files::has_ending(Path::new("a.bin")));
/// ```
pub fn has_ending(path: &Path) -> bool {
    container::by_ending(path).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::container::FORMATS;

    #[test]
    fn formats_are_told_by_prefix_then_extension_then_first_bytes() {
        let format = |path: &str| Place::parse(Path::new(path)).format.map(|format| format.name);
        assert_eq!(format("raw:a.npy"), Some("raw"));
        assert_eq!((format("npy:a.bin"), format("npy:raw:a")), (Some("npy"), Some("npy")));
        assert_eq!(format("safetensors:-"), Some("safetensors"));
        let standard = |path: &str| is_stream(Path::new(path));
        assert!(standard("-") && standard("raw:-") && !standard("./-") && !standard("raw:./-"));
        assert_eq!(format("model.safetensors.index.json"), Some("sharded safetensors"));
        assert_eq!(format("d/MODEL.SAFETENSORS"), Some("safetensors"));
        assert_eq!(
            (format("a.npy"), format("a.bin"), format(""), format("ü")),
            (Some("npy"), None, None, None)
        );
        let recognised = |head: &[u8]| {
            FORMATS.iter().find(|format| (format.recognises)(head, 100)).map(|format| format.name)
        };
        assert_eq!(recognised(b"\x93NUMPY\x01\0"), Some("npy"));
        assert_eq!(recognised(b"\x08\0\0\0\0\0\0\0{}"), Some("safetensors"));
        assert_eq!(recognised(b" {\"weight_map\":{}}"), Some("sharded safetensors"));
        assert_eq!(recognised(b"\xff\xff\0\0\0\0\0\0{}"), None);
    }
}
