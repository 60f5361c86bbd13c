//! Results on stdout: text, or one JSON object a line.

use std::io::{self, ErrorKind, Write};

use serde_json::Value;

/// The version of the JSON shapes (`docs/json.md`).
const VERSION: u32 = 1;

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
        let mut versioned = serde_json::json!({ "version": VERSION });
        if let (Value::Object(to), Value::Object(from)) = (&mut versioned, value) {
            to.extend(from);
        }
        self.text(&format!("{versioned}\n"))
    }

    /// Prints as it is. A reader that has gone away is no error.
    pub(crate) fn text(&mut self, text: &str) -> io::Result<()> {
        let written = self.out.write_all(text.as_bytes()).and_then(|()| self.out.flush());
        match written {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
            other => other,
        }
    }
}
