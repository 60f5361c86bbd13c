//! JSON as Python writes it: `NaN`, `Infinity` and `-Infinity` are numbers there.
//!
//! Law: a text that is JSON has the value that JSON says. In other texts each such word becomes `{"__float__": WORD}`, as
//! transformers spells it since version 5.

use serde_json::Value;

/// The words of Python that are not JSON.
const WORDS: [&str; 3] = ["-Infinity", "Infinity", "NaN"];

/// Reads a text as JSON, or as what Python writes for it.
///
/// # Errors
/// The fault of a text that is neither, with its place.
///
/// ```
/// use tilewright_files::inner::json;
/// assert_eq!(json(r#"{"limit": Infinity, "name": "NaN"}"#)?["limit"]["__float__"], "Infinity");
/// assert!(json("{\"limit\": Infinite}").is_err());
/// # Ok::<(), serde_json::Error>(())
/// ```
pub fn json(text: &str) -> serde_json::Result<Value> {
    serde_json::from_str(text)
        .or_else(|fault| serde_json::from_str(&spelled(text)).map_err(|_| fault))
}

/// The text with the words of Python as objects.
fn spelled(text: &str) -> String {
    let (mut all, mut rest, mut quoted) = (String::new(), text, false);
    let mut before = ' ';
    while let Some(c) = rest.chars().next() {
        let word = WORDS.into_iter().find(|word| !quoted && ends(rest, word) && !is_part(before));
        let len = word.map_or(c.len_utf8(), str::len);
        match word {
            Some(word) => all.push_str(&format!("{{\"__float__\":\"{word}\"}}")),
            None => all.push(c),
        }
        let is_escape = quoted && c == '\\';
        quoted ^= c == '"';
        (before, rest) = (c, &rest[len..]);
        if let Some(next) = rest.chars().next().filter(|_| is_escape) {
            all.push(next);
            rest = &rest[next.len_utf8()..];
        }
    }
    all
}

/// Returns true if the text begins with the word.
fn ends(text: &str, word: &str) -> bool {
    text.strip_prefix(word).is_some_and(|rest| !rest.starts_with(is_part))
}

fn is_part(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '+' | '.')
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json as value;

    #[test]
    fn words_of_python_are_read_outside_of_texts_only() {
        let float = |word: &str| value!({"__float__": word});
        for (text, expected) in [
            (
                "[NaN,-Infinity, Infinity]",
                value!([float("NaN"), float("-Infinity"), float("Infinity")]),
            ),
            (r#"{"a": Infinity}"#, value!({"a": float("Infinity")})),
            (r#"["NaN", NaN]"#, value!(["NaN", float("NaN")])),
            (r#"["a\" Infinity, ", NaN]"#, value!(["a\" Infinity, ", float("NaN")])),
            (r#"["\\", NaN]"#, value!(["\\", float("NaN")])),
            ("[1, \"Infinity\"]", value!([1, "Infinity"])),
        ] {
            assert_eq!(json(text).unwrap(), expected, "{text}");
        }
        for text in
            ["NaNs", "[xNaN]", "[--Infinity]", "[Infinity1]", "[-NaN]", "[NaN", "{NaN: 1}", ""]
        {
            let fault = serde_json::from_str::<Value>(text).unwrap_err();
            assert_eq!(json(text).unwrap_err().to_string(), fault.to_string(), "{text}");
        }
    }
}
