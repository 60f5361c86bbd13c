//! Paths that are URLs: checkpoints in object stores, on web servers and in hubs.
//!
//! A path such as `s3://bucket/model.safetensors` is kept as a path, so that names are joined and taken apart as in a folder.
//! Without the feature `remote` such a path is an error that names the feature. Opening, folders and destinations use this module.

use std::path::{Path, PathBuf};

#[cfg(not(feature = "remote"))]
pub(crate) use here::left_out;
#[cfg(feature = "remote")]
pub(crate) use here::location;
#[cfg(feature = "remote")]
pub(crate) use tilewright_remote::Object;
#[cfg(feature = "remote")]
use tilewright_remote::SCHEMES;

use crate::Error;

/// The beginnings of paths that are URLs, which a build without them refuses.
#[cfg(not(feature = "remote"))]
const SCHEMES: [&str; 6] = ["s3://", "gs://", "az://", "https://", "http://", "hf://"];

/// Returns whether a path is a URL. Its scheme may have capital letters.
#[doc(hidden)]
pub fn is_url(path: &Path) -> bool {
    let bytes = path.as_os_str().as_encoded_bytes();
    let begins = |scheme: &&str| {
        bytes.get(..scheme.len()).is_some_and(|own| own.eq_ignore_ascii_case(scheme.as_bytes()))
    };
    SCHEMES.iter().any(begins)
}

/// Checks that a path does not begin as a URL that is neither read nor written, unless there is a folder of that name.
#[doc(hidden)]
pub fn check_scheme(path: &Path) -> Result<(), Error> {
    let text = path.to_string_lossy();
    // The rest may have a password or a signature: it is not shown.
    let Some((scheme, _)) = text.split_once("://").filter(|_| !is_url(path)) else {
        return Ok(());
    };
    let is_scheme = scheme.len() > 1
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'));
    if !is_scheme || Path::new(&format!("{scheme}:")).exists() {
        return Ok(());
    }
    let said = match scheme.eq_ignore_ascii_case("file") {
        true => "a file of this machine is named by its path, without a scheme; write /PATH".into(),
        false => format!("a URL begins with {}", SCHEMES.join(", ")),
    };
    Err(crate::error::usage(format!("{scheme}://…: {said}")))
}

/// Checks that the path of `what`, such as a plan, is not a URL: such a file is written and read here.
///
/// # Errors
/// [usage](Error::is_usage) for any URL, of which the message shows the scheme.
#[doc(hidden)]
pub fn check_local(path: &Path, what: &str) -> Result<(), Error> {
    check_scheme(path)?;
    if !is_url(path) {
        return Ok(());
    }
    let text = path.to_string_lossy();
    let scheme = text.split("://").next().unwrap_or_default();
    let said = format!("{scheme}://…: {what} is a file of this machine; name a path");
    Err(crate::error::usage(said))
}

/// Returns whether a URL names a folder with objects in it.
pub(crate) fn has_objects(path: &Path) -> Result<bool, Error> {
    here::is_folder(path)
}

/// Returns whether a path of a listed folder is a folder; that of a URL has a slash at its end.
pub(crate) fn is_listed_folder(path: &Path) -> bool {
    match is_url(path) {
        true => path.as_os_str().as_encoded_bytes().ends_with(b"/"),
        false => path.is_dir(),
    }
}

/// Returns whether a path names a regular file or an object.
pub(crate) fn is_file(path: &Path) -> Result<bool, Error> {
    if !is_url(path) {
        return Ok(path.is_file());
    }
    match open(path) {
        Ok(_) => Ok(true),
        Err(error) if error.io_kind() == Some(std::io::ErrorKind::NotFound) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Opens the object of a URL.
pub(crate) fn open(path: &Path) -> Result<Object, Error> {
    here::open(path)
}

/// Returns the paths in a folder, sorted; those of folders have a slash at their end.
pub(crate) fn list(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    here::list(folder)
}

/// Returns the path of an object, which names its version if its URL can.
pub(crate) fn path(object: &Object) -> PathBuf {
    here::path(object)
}

#[cfg(feature = "remote")]
mod here {
    use tilewright_remote::Location;

    use super::*;

    /// Returns the location of a path.
    pub(crate) fn location(path: &Path) -> Result<Location, Error> {
        let text = path.to_str().ok_or_else(|| crate::error::usage("a URL must be UTF-8"))?;
        // Names are joined to paths by the separator of the system.
        match std::path::MAIN_SEPARATOR {
            '/' => Location::parse(text),
            other => Location::parse(&text.replace(other, "/")),
        }
    }

    pub(crate) fn open(path: &Path) -> Result<Object, Error> {
        Object::open(&location(path)?)
    }

    pub(crate) fn path(object: &Object) -> PathBuf {
        object.location().to_string().into()
    }

    pub(crate) fn is_folder(path: &Path) -> Result<bool, Error> {
        tilewright_remote::is_folder(&location(path)?)
    }

    pub(crate) fn list(folder: &Path) -> Result<Vec<PathBuf>, Error> {
        let (folder, entries) = tilewright_remote::list(&location(folder)?)?;
        let path = |entry: tilewright_remote::Entry| {
            let slash = if entry.is_folder { "/" } else { "" };
            PathBuf::from(format!("{}{slash}", folder.join(&entry.name)))
        };
        Ok(entries.into_iter().map(path).collect())
    }
}

/// An object, which this build cannot open.
#[cfg(not(feature = "remote"))]
#[derive(Debug)]
pub(crate) enum Object {}

#[cfg(not(feature = "remote"))]
impl Object {
    pub(crate) fn len(&self) -> u64 {
        match *self {}
    }

    pub(crate) fn is_pinned(&self) -> bool {
        match *self {}
    }

    pub(crate) fn version(&self) -> Option<&str> {
        match *self {}
    }

    pub(crate) fn read_at(&self, _: &mut [u8], _: u64) -> Result<(), Error> {
        match *self {}
    }
}

#[cfg(not(feature = "remote"))]
mod here {
    use super::*;

    /// Returns the error of a build without the feature.
    pub(crate) fn left_out(path: &Path) -> Error {
        let text = path.to_string_lossy();
        let scheme = text.split("://").next().unwrap_or_default().to_owned();
        Error::not_built(&format!("files at {scheme}://"), "remote")
    }

    pub(crate) fn open(path: &Path) -> Result<Object, Error> {
        Err(left_out(path))
    }

    pub(crate) fn path(object: &Object) -> PathBuf {
        match *object {}
    }

    pub(crate) fn is_folder(path: &Path) -> Result<bool, Error> {
        Err(left_out(path))
    }

    pub(crate) fn list(folder: &Path) -> Result<Vec<PathBuf>, Error> {
        Err(left_out(folder))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_of_an_unknown_url_is_not_shown() {
        for (path, words) in [
            ("file:///none/a.npy?signature=secret", "file://…: a file of this machine is named"),
            ("FILE://user:secret@localhost/none/a.npy", "without a scheme"),
            ("ftp://user:secret@host/a.npy", "a URL begins with s3://"),
        ] {
            let said = check_scheme(Path::new(path)).unwrap_err().to_string();
            assert!(said.contains(words) && !said.contains("secret"), "{said}");
            assert_eq!(check_local(Path::new(path), "a plan").unwrap_err().to_string(), said);
        }
        for path in ["s3://bucket/plan?signature=secret", "HTTPS://user:secret@host/plan"] {
            let said = check_local(Path::new(path), "a plan").unwrap_err().to_string();
            let words = "://…: a plan is a file of this machine; name a path";
            assert!(said.contains(words) && !said.contains("secret"), "{said}");
        }
        assert!(check_local(Path::new("here/plan"), "a plan").is_ok());
    }
}
