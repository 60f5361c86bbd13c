//! The client of stores with what every answer must pass: error bodies are reduced to the store's code, because they may repeat
//! what was signed, and a range behind the end is an error with a type.
//!
//! A request that begins an upload, and whose answer is lost, may have begun one whose name nobody knows: it is noted for
//! [`unaborted`](crate::unaborted).

use std::fmt;

use futures_util::StreamExt;
use object_store::{
    ClientOptions,
    client::{
        HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse,
        HttpResponseBody, HttpService, ReqwestConnector,
    },
};
use reqwest::{Method, StatusCode};

use crate::upload::left::note_left;

/// The largest number of bytes of an error that are read.
const MOST: usize = 64 << 10;

/// The longest code of an error.
const CODE: usize = 64;

/// Makes the clients of stores.
#[derive(Debug)]
pub(crate) struct Connector;

impl HttpConnector for Connector {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        let inner = ReqwestConnector::default().connect(options)?;
        Ok(HttpClient::new(Guarded(inner)))
    }
}

/// A range that begins behind the end of its object.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OutsideRange;

impl fmt::Display for OutsideRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the range begins behind the end")
    }
}

impl std::error::Error for OutsideRange {}

/// An answer that broke off, of a request that is not repeated by itself.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BrokenAnswer;

impl fmt::Display for BrokenAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the answer broke off")
    }
}

impl std::error::Error for BrokenAnswer {}

/// A client whose answers are checked.
#[derive(Debug)]
struct Guarded(HttpClient);

#[async_trait::async_trait]
impl HttpService for Guarded {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let path = request.uri().path().to_owned();
        let mut beginning = Beginning(begins_upload(&request).then_some(path));
        let answered = match self.0.execute(request).await {
            Ok(answer) => checked(answer, beginning.0.is_some()).await,
            Err(error) => Err(error),
        };
        // A request without a connection was not sent.
        if answered.as_ref().err().is_none_or(|error| error.kind() == HttpErrorKind::Connect) {
            beginning.0 = None;
        }
        answered
    }
}

/// The path of a request that begins an upload, until its answer is known. One that is dropped before, as after a signal, is noted.
struct Beginning(Option<String>);

impl Drop for Beginning {
    fn drop(&mut self) {
        if let Some(path) = &self.0 {
            note_left(format!(
                "{path}: the answer to the beginning of an upload was lost; if the store lists one, abort it"
            ));
        }
    }
}

/// Returns whether a request begins an upload, as in S3 and in Google's store.
fn begins_upload(request: &HttpRequest) -> bool {
    let query = request.uri().query().unwrap_or_default();
    request.method() == Method::POST
        && query.split('&').any(|pair| pair == "uploads" || pair == "uploads=")
}

/// Returns the answer of a success, and the code of an error. The body of a `whole` answer is read.
async fn checked(answer: HttpResponse, whole: bool) -> Result<HttpResponse, HttpError> {
    let (parts, body) = answer.into_parts();
    if parts.status == StatusCode::RANGE_NOT_SATISFIABLE {
        return Err(HttpError::new(HttpErrorKind::Unknown, OutsideRange));
    }
    if parts.status.is_client_error() || parts.status.is_server_error() {
        let code = code(&beginning(body).await);
        return Ok(HttpResponse::from_parts(parts, code.into()));
    }
    if whole {
        let (mut bytes, mut body) = (Vec::new(), body.bytes_stream());
        while let Some(piece) = body.next().await {
            let broken = |_| HttpError::new(HttpErrorKind::Unknown, BrokenAnswer);
            bytes.extend_from_slice(&piece.map_err(broken)?);
        }
        return Ok(HttpResponse::from_parts(parts, bytes.into()));
    }
    Ok(HttpResponse::from_parts(parts, body))
}

/// Returns the first bytes of a body, as far as they come.
async fn beginning(body: HttpResponseBody) -> Vec<u8> {
    let (mut bytes, mut body) = (Vec::new(), body.bytes_stream());
    while let Some(Ok(piece)) = body.next().await {
        bytes.extend_from_slice(&piece);
        if bytes.len() >= MOST {
            break;
        }
    }
    bytes
}

/// Returns the code of an error in XML (`<Code>…</Code>`); empty if it has none.
fn code(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    let inner = text.split_once("<Code>").and_then(|(_, rest)| rest.split_once("</Code>"));
    let is_code = |code: &&str| {
        code.len() <= CODE
            && code.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '.')
    };
    inner.map(|(code, _)| code).filter(is_code).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_beginning_without_an_answer_is_noted_once() {
        drop(Beginning(None));
        (0..2).for_each(|_| drop(Beginning(Some("/bucket/key".into()))));
        let said = crate::unaborted();
        assert!(said.len() == 1 && said[0].starts_with("/bucket/key: "), "{said:?}");
    }

    #[test]
    fn only_the_code_of_an_error_is_kept() {
        for (body, expected) in [
            ("<Error><Code>SlowDown</Code><StringToSign>secret</StringToSign></Error>", "SlowDown"),
            ("<Error><Code>a secret</Code></Error>", ""),
            ("<Error><Code>", ""),
            ("not XML, with a secret", ""),
            ("", ""),
        ] {
            assert_eq!(code(body.as_bytes()), expected, "{body}");
        }
    }
}
