//! Results on stdout: text, or one JSON object a line.

use std::io::{self, Write};

use serde_json::Value;
use tilewright::ask::{Answer, words::printable};

use crate::{exit::ExitCode, screen};

/// The version of the JSON shapes (`docs/reference/json.md`).
const VERSION: u32 = 1;

/// About how many bytes of a list are put together before they are printed.
const CHUNK: usize = 1 << 16;

/// Where results go.
pub(crate) struct Output {
    json: bool,
    quiet: bool,
    out: Box<dyn Write>,
}

impl Output {
    pub(crate) fn stdout(json: bool, quiet: bool) -> Output {
        Output { json, quiet, out: Box::new(io::BufWriter::new(io::stdout().lock())) }
    }

    pub(crate) fn is_json(&self) -> bool {
        self.json
    }

    /// Prints an answer, its notes on stderr, and gives its exit code.
    pub(crate) fn say(&mut self, answer: &dyn Answer) -> io::Result<ExitCode> {
        self.notes(answer);
        let text = self.said(answer);
        self.text(&text)?;
        Ok(if answer.is_no() { ExitCode::NO } else { ExitCode::SUCCESS })
    }

    /// The same on stderr, where standard output has been given to something else.
    pub(crate) fn note(&self, answer: &dyn Answer) {
        self.notes(answer);
        complain(&self.said(answer));
    }

    /// Prints the notes of an answer on stderr.
    fn notes(&self, answer: &dyn Answer) {
        answer.cautions().iter().for_each(|note| self.warn(note));
        answer.notes().iter().for_each(|note| self.remark(note));
    }

    /// Prints a note on stderr, where notes are wanted.
    pub(crate) fn remark(&self, note: &str) {
        if !self.json && !self.quiet {
            complain(&format!("note: {}\n", printable(note)));
        }
    }

    /// Prints a note that `-q` does not silence; in JSON mode a field says it.
    pub(crate) fn warn(&self, note: &str) {
        if !self.json {
            complain(&format!("note: {}\n", printable(note)));
        }
    }

    /// An answer with an end of line.
    fn said(&self, answer: &dyn Answer) -> String {
        let text = match self.json {
            true => versioned(answer.to_json()).to_string(),
            false => answer.within(screen::width()),
        };
        if text.ends_with('\n') { text } else { text + "\n" }
    }

    /// Prints `text`, or in JSON mode `value` with the version of its shape.
    pub(crate) fn answer(&mut self, text: &str, value: Value) -> io::Result<()> {
        if !self.json {
            return self.text(text);
        }
        self.text(&format!("{}\n", versioned(value)))
    }

    /// Prints `value` as JSON on a line of its own, whatever is asked for: an answer that has no other form.
    pub(crate) fn object(&mut self, value: Value) -> io::Result<()> {
        self.text(&format!("{}\n", versioned(value)))
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
