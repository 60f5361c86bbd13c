//! Requests of ranges from web servers.

use std::{sync::OnceLock, time::Duration};

use bytes::Bytes;
use futures_util::{StreamExt, TryStreamExt, stream::BoxStream};
use reqwest::{
    Client, Response, StatusCode,
    header::{
        ACCEPT_ENCODING, AUTHORIZATION, CONTENT_RANGE, ETAG, HeaderMap, IF_MATCH, LOCATION, RANGE,
        RETRY_AFTER,
    },
    redirect::Policy,
};
use url::Url;

use crate::{error, location::is_loopback, runtime::PerProcess};

/// The bytes `start..end` of an object.
pub(crate) type Range = std::ops::Range<u64>;

/// The answer to the request of a range.
pub(crate) struct Answer {
    /// The length of the whole object.
    pub(crate) len: u64,
    /// Its entity tag.
    pub(crate) tag: Option<String>,
    pub(crate) body: BoxStream<'static, Result<Bytes, Fault>>,
}

/// The reason why a request failed.
#[derive(Debug)]
pub(crate) enum Fault {
    /// The object does not exist.
    Missing,
    /// The object was replaced.
    Changed(String),
    /// The range begins behind the end of the object.
    Outside,
    /// Another try may succeed, after the time that the server asks for.
    Passing(String, Option<Duration>),
    /// Another try would fail too.
    Final(String),
}

/// The longest time without a byte, and the longest time until a connection is made.
const SILENCE: Duration = Duration::from_secs(60);

static CLIENT: PerProcess<Result<Client, String>> = PerProcess::new();

/// Sets the cryptography of this process, unless it has one.
pub(crate) fn provide() {
    static ONCE: OnceLock<()> = OnceLock::new();
    ONCE.get_or_init(|| {
        // Another one that was set before serves as well.
        let _ = rustls::crypto::ring::default_provider().install_default();
    });
}

/// Returns the client of this process. It does not follow redirects, which could carry a token elsewhere.
fn client() -> Result<&'static Client, Fault> {
    let made = CLIENT.get(|| {
        provide();
        let agent = concat!("tilewright/", env!("CARGO_PKG_VERSION"));
        let builder = Client::builder().user_agent(agent).redirect(Policy::none());
        let builder = builder.connect_timeout(SILENCE).read_timeout(SILENCE);
        builder.build().map_err(|error| error::chain(&error))
    });
    made.as_ref().map_err(|said| Fault::Final(said.clone()))
}

/// Sends a request; `token` is for the host of the URL.
pub(crate) async fn send(
    url: &Url,
    range: Option<&Range>,
    tag: Option<&str>,
    token: Option<&str>,
) -> Result<Response, Fault> {
    let mut request = client()?.get(url.clone()).header(ACCEPT_ENCODING, "identity");
    if let Some(range) = range {
        request = request.header(RANGE, format!("bytes={}-{}", range.start, range.end - 1));
    }
    // A weak tag never matches.
    if let Some(tag) = tag.filter(|tag| !tag.starts_with("W/")) {
        request = request.header(IF_MATCH, tag);
    }
    if let Some(token) = token {
        request = request.header(AUTHORIZATION, format!("Bearer {token}"));
    }
    request.send().await.map_err(broken)
}

/// Returns the fault of a connection.
fn broken(cause: reqwest::Error) -> Fault {
    let said = error::chain(&cause.without_url());
    Fault::Passing(said, None)
}

/// Returns the answer of a response to the request of a range.
pub(crate) fn answered(response: Response, range: &Range) -> Result<Answer, Fault> {
    let status = response.status();
    let headers = response.headers();
    let tag = text(headers, ETAG.as_str());
    let len = match status {
        StatusCode::PARTIAL_CONTENT => partial(headers, range)?,
        // A server may answer with the whole of a short object.
        StatusCode::OK => match response.content_length() {
            Some(len) if range.start == 0 && len <= range.end => len,
            _ => return Err(Fault::Final("the server does not answer requests of ranges".into())),
        },
        _ => return Err(refused(&response)),
    };
    let body = response.bytes_stream().map_err(broken).boxed();
    Ok(Answer { len, tag, body })
}

/// Returns the length of the whole object from the header of a part, which must be the requested one.
fn partial(headers: &HeaderMap, range: &Range) -> Result<u64, Fault> {
    let said = text(headers, CONTENT_RANGE.as_str()).unwrap_or_default();
    let parsed = || {
        let (part, len) = said.strip_prefix("bytes ")?.split_once('/')?;
        let (from, last) = part.split_once('-')?;
        Some((from.parse::<u64>().ok()?, last.parse::<u64>().ok()?, len.parse::<u64>().ok()?))
    };
    let is_whole = |last: u64, len: u64| last.checked_add(1) == Some(range.end.min(len));
    match parsed() {
        Some((from, last, len)) if from == range.start && is_whole(last, len) => Ok(len),
        _ => Err(Fault::Final(format!(
            "bytes {}-{} were requested, and the server answers {said:?}",
            range.start,
            range.end - 1
        ))),
    }
}

/// Returns the fault of a status that is not a success.
pub(crate) fn refused(response: &Response) -> Fault {
    let status = response.status();
    let said = format!("the server answers {status}");
    match status {
        StatusCode::NOT_FOUND | StatusCode::GONE => Fault::Missing,
        StatusCode::PRECONDITION_FAILED => Fault::Changed("it has another tag".into()),
        StatusCode::RANGE_NOT_SATISFIABLE => Fault::Outside,
        StatusCode::TOO_MANY_REQUESTS | StatusCode::REQUEST_TIMEOUT => {
            Fault::Passing(said, asked(response))
        }
        _ if status.is_server_error() => Fault::Passing(said, asked(response)),
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
            Fault::Final(format!("{said}: the credentials are missing or not sufficient"))
        }
        _ => Fault::Final(said),
    }
}

/// Returns the wait that a server asks for.
fn asked(response: &Response) -> Option<Duration> {
    text(response.headers(), RETRY_AFTER.as_str())?.parse().ok().map(Duration::from_secs)
}

/// Returns the text of a header.
pub(crate) fn text(headers: &HeaderMap, name: &str) -> Option<String> {
    Some(headers.get(name)?.to_str().ok()?.to_owned())
}

/// Returns the URL to which a response redirects.
pub(crate) fn redirection(response: &Response, from: &Url) -> Option<Url> {
    if !response.status().is_redirection() {
        return None;
    }
    from.join(&text(response.headers(), LOCATION.as_str())?).ok()
}

/// Returns whether a redirection is followed: to encrypted servers, and on this machine from this machine alone.
pub(crate) fn is_followed(from: &Url, to: &Url) -> bool {
    match is_loopback(to) {
        true => is_loopback(from),
        false => to.scheme() == "https",
    }
}

/// The largest number of redirections that are followed.
pub(crate) const REDIRECTIONS: usize = 5;

/// The message about a redirection that is not followed.
pub(crate) const REFUSED: &str = "it redirects to http:// or to this machine";

/// Requests a range of a URL, through redirections.
pub(crate) async fn get(url: &Url, range: &Range, tag: Option<&str>) -> Result<Answer, Fault> {
    let mut at = url.clone();
    for _ in 0..=REDIRECTIONS {
        let response = send(&at, Some(range), tag, None).await?;
        match redirection(&response, &at) {
            Some(next) if is_followed(&at, &next) => at = next,
            Some(_) => return Err(Fault::Final(REFUSED.into())),
            None => return answered(response, range),
        }
    }
    Err(Fault::Final("it redirects too often".into()))
}
