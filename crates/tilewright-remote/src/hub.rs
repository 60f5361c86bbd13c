//! The Hugging Face hub, by its documented HTTP interface.
//!
//! A file is `ENDPOINT/OWNER/NAME/resolve/REVISION/PATH`. The hub answers with the bytes, or with a redirection to storage whose
//! headers name the commit (`X-Repo-Commit`) and the file's tag (`X-Linked-Etag`). The first commit replaces the revision, so that
//! all files that are opened through it are of one commit. The token goes to the endpoint only.

use std::sync::{Mutex, OnceLock, PoisonError};

use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use serde_json::Value;
use url::Url;

use crate::{
    Entry, Error, Location, error,
    location::{LocationKind, Repo, is_loopback},
    patience::Tries,
    settings::variable,
    web::{self, Answer, Fault, REDIRECTIONS, Range},
};

/// The endpoint if the environment does not name another.
const ENDPOINT: &str = "https://huggingface.co";

/// The longest list of files that is read, in bytes.
const LONGEST: usize = 64 << 20;

const PART: &AsciiSet = &CONTROLS.add(b' ').add(b'#').add(b'?').add(b'%').add(b'"').add(b'\\');
const REVISION: &AsciiSet = &PART.add(b'/');

/// A file in a hub.
pub(crate) struct Hub {
    endpoint: Url,
    repo: Repo,
    commit: OnceLock<String>,
    tag: OnceLock<String>,
    /// The URL of the storage that the hub redirected to; its signature ends after some time.
    direct: Mutex<Option<Url>>,
}

impl Hub {
    pub(crate) fn new(location: &Location, repo: &Repo) -> Result<Hub, Error> {
        let (commit, tag) = (OnceLock::new(), OnceLock::new());
        let endpoint = endpoint(location)?;
        Ok(Hub { endpoint, repo: repo.clone(), commit, tag, direct: Mutex::new(None) })
    }

    /// Returns the repository at the commit that was found.
    pub(crate) fn pinned(&self) -> Repo {
        let revision = self.commit.get().cloned().or_else(|| self.repo.revision.clone());
        Repo { revision, ..self.repo.clone() }
    }

    /// Requests a range from the storage that is known, or else from the hub.
    pub(crate) async fn get(&self, range: &Range) -> Result<Answer, Fault> {
        let known = self.direct.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(url) = known {
            match web::get(&url, range, None).await {
                Ok(answer) => return Ok(Answer { tag: self.tag.get().cloned(), ..answer }),
                // The signature has ended, or the storage has moved.
                Err(Fault::Final(_) | Fault::Missing) => {
                    *self.direct.lock().unwrap_or_else(PoisonError::into_inner) = None;
                }
                Err(fault) => return Err(fault),
            }
        }
        self.resolved(range).await
    }

    async fn resolved(&self, range: &Range) -> Result<Answer, Fault> {
        let mut at = self.url()?;
        for _ in 0..=REDIRECTIONS {
            let own = at.origin() == self.endpoint.origin();
            let token = token().filter(|_| own);
            let response = web::send(&at, Some(range), None, token.as_deref()).await?;
            let header = |name| web::text(response.headers(), name);
            let (commit, linked) = (header("x-repo-commit"), header("x-linked-etag"));
            if own {
                self.note(commit, linked)?;
            }
            let Some(next) = web::redirection(&response, &at) else {
                let answer = web::answered(response, range)?;
                if own {
                    self.note(None, answer.tag.clone())?;
                }
                return Ok(Answer { tag: self.tag.get().cloned(), ..answer });
            };
            if !web::is_followed(&at, &next) {
                return Err(Fault::Final(web::REFUSED.into()));
            }
            if next.origin() != self.endpoint.origin() {
                *self.direct.lock().unwrap_or_else(PoisonError::into_inner) = Some(next.clone());
            }
            at = next;
        }
        Err(Fault::Final("it redirects too often".into()))
    }

    /// Keeps the first commit and tag, and compares later ones with them.
    fn note(&self, commit: Option<String>, tag: Option<String>) -> Result<(), Fault> {
        for (kept, now, what) in [(&self.commit, commit, "commit"), (&self.tag, tag, "tag")] {
            let Some(now) = now else { continue };
            let kept = kept.get_or_init(|| now.clone());
            if *kept != now {
                return Err(Fault::Changed(format!("its {what} was {kept}, it is {now}")));
            }
        }
        Ok(())
    }

    fn url(&self) -> Result<Url, Fault> {
        let Repo { id, revision, path } = &self.pinned();
        let revision = revision.as_deref().unwrap_or("main");
        let revision = utf8_percent_encode(revision, REVISION);
        let path = utf8_percent_encode(path, PART);
        let text = format!("{id}/resolve/{revision}/{path}");
        self.endpoint.join(&text).map_err(|cause| Fault::Final(cause.to_string()))
    }
}

/// Returns the endpoint, with a slash at its end.
fn endpoint(location: &Location) -> Result<Url, Error> {
    let text = variable("HF_ENDPOINT");
    let text = text.as_deref().unwrap_or(ENDPOINT).trim_end_matches('/');
    let url = Url::parse(&format!("{text}/")).ok();
    url.filter(|url| url.scheme() == "https" || is_loopback(url)).ok_or_else(|| {
        error::unsupported(location, "HF_ENDPOINT is not an https:// URL; correct it or unset it")
    })
}

/// Returns the token of the environment.
fn token() -> Option<String> {
    variable("HF_TOKEN")
}

/// Returns the files and folders in a folder of a repository, and the repository at its commit.
pub(crate) async fn list(
    location: &Location,
    repo: &Repo,
) -> Result<(Location, Vec<Entry>), Error> {
    let mut tries = Tries::new();
    let failed = |fault: Fault, tries: &Tries| match fault {
        Fault::Missing => error::missing(location, "list"),
        Fault::Passing(said, _) | Fault::Final(said) | Fault::Changed(said) => {
            error::failed(location, "list", said + &tries.said())
        }
        Fault::Outside => error::failed(location, "list", "the hub refuses"),
    };
    let bytes = loop {
        match tries.within(info(location, repo)).await {
            Ok(bytes) => break bytes?,
            Err(Fault::Passing(said, asked)) => {
                if !tries.again(asked).await {
                    return Err(failed(Fault::Passing(said, None), &tries));
                }
            }
            Err(fault) => return Err(failed(fault, &tries)),
        }
    };
    let known = parsed(&bytes, &repo.path);
    let (commit, entries) =
        known.ok_or_else(|| error::failed(location, "list", "the hub's answer has no files"))?;
    let revision = commit.or_else(|| repo.revision.clone());
    Ok((Location(LocationKind::Hub(Repo { revision, ..repo.clone() })), entries))
}

/// Requests the description of a repository.
async fn info(location: &Location, repo: &Repo) -> Result<Result<Vec<u8>, Error>, Fault> {
    let endpoint = match endpoint(location) {
        Ok(endpoint) => endpoint,
        Err(error) => return Ok(Err(error)),
    };
    let revision = repo.revision.as_deref().unwrap_or("main");
    let revision = utf8_percent_encode(revision, REVISION);
    let text = format!("api/models/{}/revision/{revision}?blobs=true", repo.id);
    let mut at = endpoint.join(&text).map_err(|cause| Fault::Final(cause.to_string()))?;
    for _ in 0..=REDIRECTIONS {
        let own = at.origin() == endpoint.origin();
        let token = token().filter(|_| own);
        let mut response = web::send(&at, None, None, token.as_deref()).await?;
        if let Some(next) =
            web::redirection(&response, &at).filter(|next| next.origin() == endpoint.origin())
        {
            at = next;
            continue;
        }
        if !response.status().is_success() {
            return Err(web::refused(&response));
        }
        let mut bytes = Vec::new();
        loop {
            let more = response.chunk().await;
            match more.map_err(|cause| Fault::Passing(error::chain(&cause.without_url()), None))? {
                Some(more) if bytes.len() + more.len() <= LONGEST => bytes.extend_from_slice(&more),
                Some(_) => {
                    return Err(Fault::Final(format!("a list of more than {LONGEST} bytes")));
                }
                None => return Ok(Ok(bytes)),
            }
        }
    }
    Err(Fault::Final("it redirects too often".into()))
}

/// Returns the commit and the entries of a folder from the description of a repository.
fn parsed(bytes: &[u8], folder: &str) -> Option<(Option<String>, Vec<Entry>)> {
    let value: Value = serde_json::from_slice(bytes).ok()?;
    let commit = value.get("sha").and_then(Value::as_str).map(str::to_owned);
    let mut entries: Vec<Entry> = Vec::new();
    for file in value.get("siblings")?.as_array()? {
        let name = file.get("rfilename").and_then(Value::as_str).unwrap_or_default();
        let inside = match folder {
            "" => Some(name),
            folder => name.strip_prefix(folder).and_then(|rest| rest.strip_prefix('/')),
        };
        let Some(inside) = inside.filter(|name| !name.is_empty()) else { continue };
        let (name, len, is_folder) = match inside.split_once('/') {
            Some((first, _)) => (first, 0, true),
            None => (inside, file.get("size").and_then(Value::as_u64).unwrap_or(0), false),
        };
        if !entries.iter().rev().any(|known| known.name == name) {
            entries.push(Entry { name: name.into(), len, is_folder });
        }
    }
    Some((commit, entries))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn siblings_are_files_and_folders() {
        let text = br#"{"sha":"abc","siblings":[{"rfilename":"a.json","size":3},
            {"rfilename":"d/x","size":1},{"rfilename":"d/y"}]}"#;
        let (commit, entries) = parsed(text, "").unwrap();
        let names: Vec<_> = entries.iter().map(|entry| (&*entry.name, entry.is_folder)).collect();
        assert_eq!((commit.as_deref(), names), (Some("abc"), vec![("a.json", false), ("d", true)]));
        assert_eq!(parsed(text, "d").unwrap().1.len(), 2);
        assert!(parsed(b"[]", "").is_none());
    }
}
