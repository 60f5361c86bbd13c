//! The name of an object or folder elsewhere: parsed once, printed without credentials.
//!
//! ```text
//! s3://bucket/key    gs://bucket/key    az://container/key
//! https://host/path    http://127.0.0.1:9000/path
//! hf://owner/name[@revision][/path]
//! ```
//!
//! Law: a printed location without a query reads back as the same one. A query, which may be a signature, is never printed.

use std::fmt;

use url::{Host, Url};

use crate::{Error, redacted::redacted};

/// The name of an object or folder in an object store, on a web server or in a hub.
///
/// ```
/// use tilewright_remote::Location;
/// let signed = Location::parse("https://host/a.npy?X-Amz-Signature=1234").unwrap();
/// assert_eq!(signed.to_string(), "https://host/a.npy");
/// assert!(Location::parse("s3://bucket").unwrap().is_root());
/// assert!(Location::parse("s3://").is_err());
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Location(pub(crate) LocationKind);

/// The parts of a location.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) enum LocationKind {
    Store(Scheme, String, String),
    Web(Url),
    Hub(Repo),
}

/// A kind of object store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Scheme {
    S3,
    Gs,
    Az,
}

impl Scheme {
    fn name(self) -> &'static str {
        match self {
            Scheme::S3 => "s3",
            Scheme::Gs => "gs",
            Scheme::Az => "az",
        }
    }
}

/// A file or folder of a repository in a hub.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Repo {
    /// `owner/name`.
    pub(crate) id: String,
    pub(crate) revision: Option<String>,
    pub(crate) path: String,
}

/// The beginnings of the texts that are locations.
#[doc(hidden)]
pub const SCHEMES: [&str; 6] = ["s3://", "gs://", "az://", "https://", "http://", "hf://"];

impl Location {
    /// Returns whether a text has the beginning of a location. Schemes may have capital letters.
    ///
    /// ```
    /// use tilewright_remote::Location;
    /// assert!(Location::is_one("hf://owner/name") && !Location::is_one("model.safetensors"));
    /// ```
    pub fn is_one(text: &str) -> bool {
        let begins = |scheme: &&str| {
            text.get(..scheme.len()).is_some_and(|own| own.eq_ignore_ascii_case(scheme))
        };
        SCHEMES.iter().any(begins)
    }

    /// Parses a location.
    ///
    /// # Errors
    /// [usage](Error::is_usage) for another scheme, a missing bucket or repository, and `http://` of another machine.
    ///
    /// ```
    /// use tilewright_remote::Location;
    /// let location = Location::parse("hf://owner/name@v1/model.safetensors").unwrap();
    /// assert_eq!(location.name(), "model.safetensors");
    /// assert!(Location::parse("ftp://host/a").unwrap_err().is_usage());
    /// ```
    pub fn parse(text: &str) -> Result<Location, Error> {
        let (scheme, rest) = text.split_once("://").unwrap_or_default();
        let place = match scheme.to_ascii_lowercase().as_str() {
            "s3" => stored(Scheme::S3, rest)?,
            "gs" => stored(Scheme::Gs, rest)?,
            "az" => stored(Scheme::Az, rest)?,
            "hf" => LocationKind::Hub(repo(rest)?),
            "http" | "https" => LocationKind::Web(web(text)?),
            _ => {
                let known = SCHEMES.join(", ");
                return Err(usage(text, &format!("its beginning is none of {known}")));
            }
        };
        Ok(Location(place))
    }

    /// Returns the last part of the name; empty for a bucket or repository.
    ///
    /// ```
    /// use tilewright_remote::Location;
    /// assert_eq!(Location::parse("gs://bucket/a/b.npy").unwrap().name(), "b.npy");
    /// ```
    pub fn name(&self) -> &str {
        let path = self.path().trim_end_matches('/');
        path.rsplit('/').next().unwrap_or_default()
    }

    /// Returns whether it is a whole bucket or repository.
    ///
    /// ```
    /// use tilewright_remote::Location;
    /// assert!(Location::parse("hf://owner/name").unwrap().is_root());
    /// ```
    pub fn is_root(&self) -> bool {
        self.path().trim_matches('/').is_empty()
    }

    /// Returns the location of a name in this folder.
    ///
    /// ```
    /// use tilewright_remote::Location;
    /// let folder = Location::parse("s3://bucket/model").unwrap();
    /// assert_eq!(folder.join("config.json").to_string(), "s3://bucket/model/config.json");
    /// ```
    #[must_use]
    pub fn join(&self, name: &str) -> Location {
        let under = |path: &str| match path.trim_end_matches('/') {
            "" => name.to_owned(),
            path => format!("{path}/{name}"),
        };
        Location(match &self.0 {
            LocationKind::Store(scheme, bucket, key) => {
                LocationKind::Store(*scheme, bucket.clone(), under(key))
            }
            LocationKind::Hub(repo) => {
                LocationKind::Hub(Repo { path: under(&repo.path), ..repo.clone() })
            }
            LocationKind::Web(url) => {
                let mut url = url.clone();
                url.set_path(&under(url.path()));
                LocationKind::Web(url)
            }
        })
    }

    /// Returns whether objects can be written there.
    ///
    /// ```
    /// use tilewright_remote::Location;
    /// let writable = |text| Location::parse(text).unwrap().is_writable();
    /// assert!(writable("az://container/a") && !writable("hf://owner/name/a"));
    /// ```
    pub fn is_writable(&self) -> bool {
        matches!(self.0, LocationKind::Store(..))
    }

    fn path(&self) -> &str {
        match &self.0 {
            LocationKind::Store(_, _, key) => key,
            LocationKind::Web(url) => url.path(),
            LocationKind::Hub(repo) => &repo.path,
        }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            LocationKind::Store(scheme, bucket, key) if key.is_empty() => {
                write!(f, "{}://{bucket}", scheme.name())
            }
            LocationKind::Store(scheme, bucket, key) => {
                write!(f, "{}://{bucket}/{key}", scheme.name())
            }
            LocationKind::Web(url) => f.write_str(&plain(url)),
            LocationKind::Hub(Repo { id, revision, path }) => {
                write!(f, "hf://{id}")?;
                if let Some(revision) = revision {
                    write!(f, "@{}", revision.replace('/', "%2F"))?;
                }
                if path.is_empty() { Ok(()) } else { write!(f, "/{path}") }
            }
        }
    }
}

/// A location is debugged as it is printed, without credentials.
impl fmt::Debug for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Location({self})")
    }
}

/// Returns a URL without query, fragment, user and password.
fn plain(url: &Url) -> String {
    let mut url = url.clone();
    url.set_query(None);
    url.set_fragment(None);
    // These fail only for URLs without a host, which are not parsed.
    let _ = (url.set_password(None), url.set_username(""));
    url.into()
}

fn usage(text: &str, said: &str) -> Error {
    Error::usage(format!("{}: {said}", redacted(text))).of_file()
}

fn stored(scheme: Scheme, rest: &str) -> Result<LocationKind, Error> {
    let (bucket, key) = rest.split_once('/').unwrap_or((rest, ""));
    let text = format!("{}://{rest}", scheme.name());
    if bucket.is_empty() {
        return Err(usage(&text, "the bucket is missing; write it before the first slash"));
    }
    let key = object_store::path::Path::parse(key)
        .map_err(|cause| usage(&text, &format!("its key is not legal: {cause}")))?;
    Ok(LocationKind::Store(scheme, bucket.into(), key.into()))
}

fn web(text: &str) -> Result<Url, Error> {
    let url = Url::parse(text).map_err(|cause| usage(text, &cause.to_string()))?;
    if url.scheme() == "http" && !is_loopback(&url) {
        let said =
            "http:// is read from this machine only, because it is not encrypted; write https://";
        return Err(usage(text, said));
    }
    Ok(url)
}

/// Returns whether a URL names this machine.
pub(crate) fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

fn repo(rest: &str) -> Result<Repo, Error> {
    let text = format!("hf://{rest}");
    let missing =
        || usage(&text, "write hf://OWNER/NAME, hf://OWNER/NAME@REVISION or a path in it");
    let (owner, rest) = rest.split_once('/').ok_or_else(missing)?;
    let ends = rest.find(['/', '@']).unwrap_or(rest.len());
    let (name, rest) = rest.split_at(ends);
    if owner.is_empty() || name.is_empty() {
        return Err(missing());
    }
    let (revision, path) = match rest.strip_prefix('@') {
        Some(rest) => {
            let (revision, path) = split_revision(rest);
            (Some(revision.replace("%2F", "/")).filter(|text| !text.is_empty()), path)
        }
        None => (None, rest),
    };
    let path = path.trim_matches('/');
    if path.split('/').any(|part| matches!(part, "." | "..")) {
        return Err(usage(&text, "its path has a part . or .."));
    }
    Ok(Repo { id: format!("{owner}/{name}"), revision, path: path.into() })
}

/// Splits the revision from the path: `refs/pr/7` and `refs/convert/NAME` have slashes, others write them as `%2F`.
fn split_revision(text: &str) -> (&str, &str) {
    let named = text.starts_with("refs/pr/") || text.starts_with("refs/convert/");
    let mut slashes = text.match_indices('/').map(|(at, _)| at);
    let at = slashes.nth(if named { 2 } else { 0 });
    text.split_at(at.unwrap_or(text.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printed_locations_read_back() {
        for text in [
            "s3://bucket",
            "s3://bucket/a/b.safetensors",
            "gs://bucket/a b.npy",
            "az://container/x",
            "https://host/a/b.npy",
            "http://127.0.0.1:9000/a",
            "hf://owner/name",
            "hf://owner/name/a/b.json",
            "hf://owner/name@main/b.json",
            "hf://owner/name@refs%2Fpr%2F7/b.json",
        ] {
            let location = Location::parse(text).unwrap();
            assert_eq!(location.to_string(), text);
            assert!(Location::parse(&location.to_string()).unwrap() == location);
        }
        for (text, printed) in
            [("S3://Bucket/A", "s3://Bucket/A"), ("HTTPS://Host/A", "https://host/A")]
        {
            assert!(Location::is_one(text), "{text}");
            assert_eq!(Location::parse(text).unwrap().to_string(), printed);
        }
        let pr = Location::parse("hf://owner/name@refs/pr/7/b.json").unwrap();
        assert_eq!(pr.to_string(), "hf://owner/name@refs%2Fpr%2F7/b.json");
    }

    #[test]
    fn wrong_locations_are_refused_without_their_secrets() {
        for text in ["s3://", "s3:///a", "s3://b/a//c", "hf://owner", "hf:///name", "hf://o/n/../x"]
        {
            assert!(Location::parse(text).unwrap_err().is_usage(), "{text}");
        }
        let error = Location::parse("http://u:secret@example.com/a?sig=secret").unwrap_err();
        assert!(!error.to_string().contains("secret"), "{error}");
        let signed = Location::parse("https://u:secret@h/a?sig=secret#secret").unwrap();
        assert!(!format!("{signed} {signed:?}").contains("secret"));
    }
}
