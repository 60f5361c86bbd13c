//! Texts without credentials, for messages.

/// The longest text that a message repeats, in characters.
const LONGEST: usize = 300;

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
    let query = url.find('?');
    let named = url.get(..query.unwrap_or(url.len())).unwrap_or_default();
    // A password may have slashes. A path with an at sign loses its beginning, as a user would.
    let from = named.rfind('@').map_or(0, |at| at + 1);
    said.push_str(url.get(from..query.unwrap_or(url.len())).unwrap_or_default());
    said.push_str(if query.is_some() { "?…" } else { "" });
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
            ("https://u:pa/ss@h/x", "https://h/x"),
            ("https://h/a@b?c@d", "https://b?…"),
        ] {
            assert_eq!(redacted(text), expected);
        }
        assert!(redacted(&"x".repeat(1000)).chars().count() <= LONGEST + 1);
    }
}
