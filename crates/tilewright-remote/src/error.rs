//! Errors about objects, and texts without credentials.

use std::{fmt, io};

use crate::{Error, Location};

/// The longest cause that a message repeats, in characters.
const LONGEST: usize = 300;

/// Returns the error of an operation on an object that failed with this cause.
pub(crate) fn failed(location: &Location, doing: &str, cause: impl fmt::Display) -> Error {
    let cause = redacted(&cause.to_string());
    Error::new("io", format!("{location}: cannot {doing}: {cause}")).of_file()
}

/// Returns the error of an object that does not exist.
pub(crate) fn missing(location: &Location, doing: &str) -> Error {
    failed(location, doing, "no such object").of_io(io::ErrorKind::NotFound)
}

/// Returns the error of an object that was replaced while it was read.
pub(crate) fn changed(location: &Location, said: &str) -> Error {
    Error::new("io", format!("{location}: it was changed while it was read: {said}")).of_file()
}

/// Returns the error of a location that does not offer an operation.
pub(crate) fn unsupported(location: &Location, said: &str) -> Error {
    Error::unsupported(format!("{location}: {said}")).of_file()
}

/// Returns a text without the queries of its URLs, which may hold signatures, and without user names in them; clipped.
///
/// ```
/// let text = "GET https://user:key@host/a?X-Amz-Signature=12 failed";
/// assert_eq!(tilewright_remote::redacted(text), "GET https://host/a?… failed");
/// ```
#[must_use]
pub fn redacted(text: &str) -> String {
    let mut said = String::new();
    let mut left = text;
    while let Some(at) = left.find("://") {
        let (before, url) = left.split_at(at + 3);
        said.push_str(before);
        let ends = |c: char| c.is_whitespace() || matches!(c, ')' | '"' | '\'' | '>' | '<' | ',');
        let (url, rest) = url.split_at(url.find(ends).unwrap_or(url.len()));
        push_url(&mut said, url);
        left = rest;
    }
    said.push_str(left);
    let clipped: String = said.chars().take(LONGEST).collect();
    let one_line = clipped.split_whitespace().collect::<Vec<_>>().join(" ");
    if said.chars().nth(LONGEST).is_some() { one_line + "…" } else { one_line }
}

/// Appends a URL, without its scheme, in a form without credentials.
fn push_url(said: &mut String, url: &str) {
    let host = url.find(['/', '?']).unwrap_or(url.len());
    let from = url.get(..host).and_then(|host| host.rfind('@')).map_or(0, |at| at + 1);
    let query = url.find('?');
    said.push_str(url.get(from..query.unwrap_or(url.len())).unwrap_or_default());
    said.push_str(if query.is_some() { "?…" } else { "" });
}

/// Returns the message of an error with those of its sources, each once.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut said = error.to_string();
    let mut next = error.source();
    while let Some(source) = next {
        let text = source.to_string();
        if !said.contains(&text) {
            said.push_str(": ");
            said.push_str(&text);
        }
        next = source.source();
    }
    said
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_query_or_user_is_repeated() {
        for (text, expected) in [
            ("no url", "no url"),
            ("https://h/a", "https://h/a"),
            ("(https://h/a?sig=x) and s3://b/k?y, z", "(https://h/a?…) and s3://b/k?…, z"),
            ("https://u:p@h?x", "https://h?…"),
            ("https://h/a@b?c@d", "https://h/a@b?…"),
        ] {
            assert_eq!(redacted(text), expected);
        }
        assert!(redacted(&"x".repeat(1000)).chars().count() <= LONGEST + 1);
    }
}
