//! Errors of texts that are not HLO modules, with line and column.

use tilewright_core::ParseError;
use tilewright_error::Error;

/// The largest number of bytes of a line that an error shows on either side of the fault.
const AROUND: usize = 60;

/// Returns the error of a module's text. Its message has line and column, and shows the line at fault; its
/// [cause](Error::cause) is the error of the parser.
pub(super) fn in_module(text: &str, error: ParseError) -> Error {
    let (from, to) = error.span();
    let before = text.get(..from).unwrap_or(text);
    // Lines end with `\n`, `\r\n` or `\r` alone.
    let start = before.rfind(['\n', '\r']).map_or(0, |end| end + 1);
    let pairs = before.matches("\r\n").count();
    let line = 1 + before.bytes().filter(|b| matches!(b, b'\n' | b'\r')).count() - pairs;
    let column = 1 + text.get(start..from).map_or(0, |part| part.chars().count());
    let (shown, carets) = shown(text, start, (from, to));
    let message = format!("line {line}, column {column}: {error}\n  {shown}\n  {carets}");
    Error::from(error).of_kind("parse").on_line(line).with_message(message)
}

/// Returns the part of a line around the fault, without control characters, and the carets below it.
fn shown(text: &str, start: usize, (from, to): (usize, usize)) -> (String, String) {
    let rest = text.get(from..).and_then(|rest| rest.find(['\n', '\r']));
    let end = rest.map_or(text.len(), |at| from + at);
    let left = boundary(text, from.saturating_sub(AROUND).max(start));
    let right = boundary(text, from.saturating_add(AROUND).min(end));
    let count = |from: usize, to: usize| text.get(from..to).map_or(0, |part| part.chars().count());
    let (from, to) = (count(left, from), count(left, to.clamp(from, right.max(from))));
    let shown = text.get(left..right).unwrap_or("").replace(char::is_control, " ");
    (shown, " ".repeat(from) + &"^".repeat((to - from.min(to)).max(1)))
}

/// Returns the first position from `at` on that is between two characters.
fn boundary(text: &str, at: usize) -> usize {
    (at..text.len()).find(|&at| text.is_char_boundary(at)).unwrap_or(text.len())
}
