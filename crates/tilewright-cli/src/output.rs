//! Results on stdout: text, or one JSON object a line.

use std::{
    borrow::Cow,
    io::{self, Write},
};

use serde_json::Value;

/// The version of the JSON shapes (`docs/json.md`).
const VERSION: u32 = 1;

/// About how many bytes of a list are put together before they are printed.
const CHUNK: usize = 1 << 16;

/// Where results go.
pub(crate) struct Output {
    json: bool,
    out: Box<dyn Write>,
}

impl Output {
    pub(crate) fn stdout(json: bool) -> Output {
        Output { json, out: Box::new(io::BufWriter::new(io::stdout().lock())) }
    }

    pub(crate) fn is_json(&self) -> bool {
        self.json
    }

    /// Prints `text`, or in JSON mode `value` with the version of its shape.
    pub(crate) fn answer(&mut self, text: &str, value: Value) -> io::Result<()> {
        if !self.json {
            return self.text(text);
        }
        self.text(&format!("{}\n", versioned(value)))
    }

    /// The same on stderr, where standard output has been given to something else.
    pub(crate) fn note(&self, text: &str, value: Value) {
        match self.json {
            true => complain(&format!("{}\n", versioned(value))),
            false => complain(text),
        }
    }

    /// Prints `value`, an object, with a long list as its last member `name`, which is never all in
    /// memory.
    pub(crate) fn listing(
        &mut self,
        value: Value,
        name: &str,
        list: impl Iterator<Item = Value>,
    ) -> io::Result<()> {
        let head = versioned(value).to_string();
        let mut text =
            format!("{},{}:[", head.strip_suffix('}').unwrap_or(&head), Value::from(name));
        for (at, one) in list.enumerate() {
            let comma = if at == 0 { "" } else { "," };
            text += &format!("{comma}{one}");
            if text.len() > CHUNK {
                self.text(&text)?;
                text.clear();
            }
        }
        self.text(&(text + "]}\n"))
    }

    /// Prints as it is. An error of kind `BrokenPipe` says that nobody reads on.
    pub(crate) fn text(&mut self, text: &str) -> io::Result<()> {
        self.out.write_all(text.as_bytes()).and_then(|()| self.out.flush())
    }
}

/// Prints to stderr. Whoever has closed that hears nothing.
pub(crate) fn complain(text: &str) {
    let _ = io::stderr().write_all(text.as_bytes());
}

/// The object with the version of its shape.
fn versioned(value: Value) -> Value {
    let mut versioned = serde_json::json!({ "version": VERSION });
    if let (Value::Object(to), Value::Object(from)) = (&mut versioned, value) {
        to.extend(from);
    }
    versioned
}

/// A text of a file or a user as one line that only shows letters: control characters, line ends and
/// marks that reorder a line are escaped.
pub(crate) fn printable(text: &str) -> Cow<'_, str> {
    let hidden = |c: char| {
        c.is_control()
            || matches!(c, '\u{61C}' | '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{FEFF}')
    };
    if !text.contains(hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if hidden(c) { shown.extend(c.escape_debug()) } else { shown.push(c) }
    }
    Cow::Owned(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_moves_the_cursor_is_escaped() {
        for (text, shown) in [
            ("model.é.\"w\"\\", "model.é.\"w\"\\"),
            ("a\nb\tc\r\0", "a\\nb\\tc\\r\\0"),
            ("\u{1b}[31mred", "\\u{1b}[31mred"),
            ("\u{202e}drow\u{9b}", "\\u{202e}drow\\u{9b}"),
        ] {
            assert_eq!(printable(text), shown);
        }
    }
}
