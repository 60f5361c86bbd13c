//! The width of printed text: `COLUMNS`, else the width of the terminal. In a file or a pipe, pictures have 100 characters, and
//! lines of text are not cut.

use std::io::IsTerminal as _;

use tilewright::picture::Limits;

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
    let size = std::io::stdout().is_terminal().then(terminal_size::terminal_size).flatten();
    size.map(|(width, height)| (usize::from(width.0), usize::from(height.0)))
}

/// Returns the bounds of a grid or of memory that is printed as text.
pub(crate) fn text() -> Limits {
    let limits = terminal().map(|(width, height)| Limits::terminal(width, height));
    Limits { width: width(), ..limits.unwrap_or_default() }
}
