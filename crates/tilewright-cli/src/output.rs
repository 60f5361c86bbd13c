//! Results on stdout: text, or JSON objects, one on each line; and the program's exit codes as numbers.
//!
//! Python calls the program as a function, which must not end the process. The width of text is that of `COLUMNS`, else
//! that of the terminal. In a file or a pipe, pictures have 100 characters, and lines of text are not cut.

use std::io::{self, IsTerminal as _, Write};

use serde_json::Value;
use tilewright::ask::{Answer, TextLimits, words::printable};

/// The version of the JSON shapes (`docs/reference/json.md`).
const VERSION: u32 = 1;

/// The approximate number of bytes of a list that are collected before they are printed.
const CHUNK: usize = 1 << 16;

/// Writer of results.
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

    /// Prints an answer, its notes on stderr, and returns its exit code.
    pub(crate) fn say(&mut self, answer: &dyn Answer) -> io::Result<ExitCode> {
        self.notes(answer);
        let text = self.said(answer);
        self.text(&text)?;
        Ok(if answer.is_no() { ExitCode::NO } else { ExitCode::SUCCESS })
    }

    /// Prints an answer and its notes on stderr, if standard output has other contents.
    pub(crate) fn note(&self, answer: &dyn Answer) {
        self.notes(answer);
        complain(&self.said(answer));
    }

    /// Prints the notes of an answer on stderr.
    fn notes(&self, answer: &dyn Answer) {
        answer.cautions().iter().for_each(|note| self.warn(note));
        answer.notes().iter().for_each(|note| self.remark(note));
    }

    /// Prints a note on stderr, unless notes are off.
    pub(crate) fn remark(&self, note: &str) {
        if !self.json && !self.quiet {
            complain(&format!("note: {}\n", printable(note)));
        }
    }

    /// Prints a warning, also with `-q`. In JSON mode a field of the answer has it.
    pub(crate) fn warn(&self, warning: &str) {
        if !self.json {
            complain(&format!("warning: {}\n", printable(warning)));
        }
    }

    /// Returns an answer with a line end.
    fn said(&self, answer: &dyn Answer) -> String {
        let text = match self.json {
            true => versioned(answer.to_json()).to_string(),
            false => answer.within(line()),
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

    /// Prints `value` as JSON on a line of its own in every mode, for an answer without a text form.
    pub(crate) fn object(&mut self, value: Value) -> io::Result<()> {
        self.text(&format!("{}\n", versioned(value)))
    }

    /// Prints `value`, an object, with a long list as its last member `name`. The list is never all in memory.
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

    /// Prints a text as it is. An error of kind `BrokenPipe` means that the reader is gone.
    pub(crate) fn text(&mut self, text: &str) -> io::Result<()> {
        self.out.write_all(text.as_bytes()).and_then(|()| self.out.flush())
    }
}

/// Prints to stderr, and ignores errors of a closed stderr.
pub(crate) fn complain(text: &str) {
    let _ = io::stderr().write_all(text.as_bytes());
}

/// Adds the version of its shape to an object.
fn versioned(value: Value) -> Value {
    let mut versioned = serde_json::json!({ "version": VERSION });
    if let (Value::Object(to), Value::Object(from)) = (&mut versioned, value) {
        to.extend(from);
    }
    versioned
}

/// Exit code of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ExitCode(pub(crate) u8);

impl ExitCode {
    /// Done.
    pub(crate) const SUCCESS: ExitCode = ExitCode(0);
    /// The answer is no.
    pub(crate) const NO: ExitCode = ExitCode(1);
}

impl From<u8> for ExitCode {
    fn from(code: u8) -> ExitCode {
        ExitCode(code)
    }
}

/// The width of pictures in a file or a pipe.
const USUAL: usize = 100;

/// The smallest width that `COLUMNS` can set; tables do not fit in fewer characters.
const LEAST: usize = 20;

/// Returns the characters of a line of a picture.
pub(crate) fn width() -> usize {
    given().unwrap_or(USUAL)
}

/// Returns the characters of a line of text: a file or a pipe has lines of any length.
pub(crate) fn line() -> usize {
    given().unwrap_or(usize::MAX)
}

fn given() -> Option<usize> {
    let asked = std::env::var("COLUMNS").ok().and_then(|text| text.trim().parse().ok());
    let asked = asked.filter(|&width: &usize| width > 0).map(|width| width.max(LEAST));
    asked.or_else(|| Some(terminal()?.0))
}

/// Returns the characters across and the lines down of the terminal, if stdout is one.
pub(crate) fn terminal() -> Option<(usize, usize)> {
    let size = io::stdout().is_terminal().then(terminal_size::terminal_size).flatten();
    size.map(|(width, height)| (usize::from(width.0), usize::from(height.0)))
}

/// Returns the bounds of a grid or of memory that is printed as text.
pub(crate) fn text() -> TextLimits {
    let limits = terminal().map(|(width, height)| TextLimits::terminal(width, height));
    TextLimits { width: width(), ..limits.unwrap_or_default() }
}
