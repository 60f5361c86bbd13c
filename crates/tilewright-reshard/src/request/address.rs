//! Paths as plans record them: URLs. Requests and identities of files are serialized with it.
//!
//! ```text
//! /data/a b.safetensors   file:///data/a%20b.safetensors
//! s3://bucket/key         s3://bucket/key
//! ```
//!
//! A path that is not text has an address too on systems whose paths are bytes.

use std::{
    borrow::Cow,
    path::{Path, PathBuf},
};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, percent_encode};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _, ser::Error as _};
use tilewright_files::inner::is_url;

/// The scheme of files.
const FILE: &str = "file:";

/// The characters that an address keeps unescaped: the unreserved ones of RFC 3986, and those that separate the names
/// of a path.
const KEPT: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'/').remove(b':');

/// Returns the address of a path; `None` if it has none on this system.
fn of_path(path: &Path) -> Option<String> {
    if is_url(path) {
        // A query may be a signature, and a user may have a password, which no file records.
        return path
            .to_str()
            .filter(|text| !text.contains('?') && !has_user(text))
            .map(str::to_owned);
    }
    let bytes = bytes(path)?;
    let begin = match bytes.first() {
        Some(b'/') => "//",
        _ if path.is_absolute() => "///",
        _ => "",
    };
    Some(format!("{FILE}{begin}{}", percent_encode(&bytes, KEPT)))
}

/// Returns whether a URL names a user. The at sign of a hub's revision is behind the owner.
fn has_user(url: &str) -> bool {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.split(['/', '#']).next().is_some_and(|host| host.contains('@'))
}

/// Returns the path of an address.
fn to_path(address: &str) -> Result<PathBuf, String> {
    if is_url(Path::new(address)) {
        return Ok(address.into());
    }
    let Some(path) = address.strip_prefix(FILE) else {
        return Err(format!("{address:?} is not the address of a file; write file:///PATH"));
    };
    let path = match path.strip_prefix("//") {
        // An absolute path of Windows begins with a drive.
        Some(local) if cfg!(windows) => local.strip_prefix('/').unwrap_or(local),
        Some(local) if local.starts_with('/') => local,
        Some(_) => return Err(format!("{address:?} names another machine; write file:///PATH")),
        None => path,
    };
    let bytes: Cow<'_, [u8]> = percent_decode_str(path).into();
    from_bytes(bytes.into_owned())
        .ok_or_else(|| format!("{address:?} is not a path of this system"))
}

#[cfg(unix)]
fn bytes(path: &Path) -> Option<Cow<'_, [u8]>> {
    use std::os::unix::ffi::OsStrExt;
    Some(path.as_os_str().as_bytes().into())
}

#[cfg(unix)]
fn from_bytes(bytes: Vec<u8>) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStringExt;
    Some(std::ffi::OsString::from_vec(bytes).into())
}

#[cfg(not(unix))]
fn bytes(path: &Path) -> Option<Cow<'_, [u8]>> {
    Some(path.to_str()?.replace('\\', "/").into_bytes().into())
}

#[cfg(not(unix))]
fn from_bytes(bytes: Vec<u8>) -> Option<PathBuf> {
    Some(String::from_utf8(bytes).ok()?.into())
}

pub(crate) fn serialize<S: Serializer>(path: &Path, to: S) -> Result<S::Ok, S::Error> {
    of_path(path)
        .ok_or_else(|| {
            S::Error::custom("a path that is not text, or a URL with a query or a user")
        })?
        .serialize(to)
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<PathBuf, D::Error> {
    to_path(&String::deserialize(from)?).map_err(D::Error::custom)
}

/// Serializes a list of paths as addresses.
pub(crate) mod list {
    use super::{Deserialize, Deserializer, PathBuf, Serialize, Serializer};

    #[derive(Serialize, Deserialize)]
    struct Address(#[serde(with = "super")] PathBuf);

    pub(crate) fn serialize<S: Serializer>(paths: &[PathBuf], to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(paths.iter().map(|path| Address(path.clone())))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Vec<PathBuf>, D::Error> {
        Ok(Vec::<Address>::deserialize(from)?.into_iter().map(|Address(path)| path).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_and_addresses_are_each_others_inverse() {
        let all =
            ["/data/a b.safetensors", "/", "/a%20b", "/größe/#1?x=y&z", "out/part", "/a//b/../c:d"];
        for text in all.iter().filter(|_| cfg!(unix)) {
            let address = of_path(Path::new(text)).unwrap();
            assert!(address.is_ascii() && !address.contains(' '), "{address}");
            assert_eq!(to_path(&address).unwrap(), Path::new(text), "{address}");
        }
        for text in ["s3://bucket/a b", "https://a/b", "hf://owner/name@main/a"] {
            assert_eq!(of_path(Path::new(text)).as_deref(), Some(text));
            assert_eq!(to_path(text).unwrap(), Path::new(text));
        }
        for secret in ["https://a/b?signature", "https://user:password@a/b", "https://user@a"] {
            assert_eq!(of_path(Path::new(secret)), None);
        }
        if cfg!(unix) {
            assert_eq!(of_path(Path::new(all[0])).unwrap(), "file:///data/a%20b.safetensors");
            let bytes = from_bytes((1..=255).collect()).unwrap();
            assert_eq!(to_path(&of_path(&bytes).unwrap()).unwrap(), bytes);
        }
    }

    #[test]
    fn other_addresses_are_refused() {
        for address in ["ftp://a/b", "/data/a", "", "FILE:///a"] {
            assert!(
                to_path(address).unwrap_err().contains("is not the address of a file"),
                "{address}"
            );
        }
        if cfg!(unix) {
            assert!(to_path("file://host/a").unwrap_err().contains("another machine"));
        }
    }
}
