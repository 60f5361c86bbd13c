//! The width of printed text: `COLUMNS`, else the width of the terminal, else 100 characters.

use std::io::IsTerminal as _;

use tilewright::picture::Limits;

/// The width for a file or a pipe.
const USUAL: usize = 100;

/// The smallest width that `COLUMNS` can set; tables do not fit in fewer characters.
const LEAST: usize = 20;

/// Returns the characters of a line.
pub(crate) fn width() -> usize {
    let asked = std::env::var("COLUMNS").ok().and_then(|text| text.trim().parse().ok());
    let asked = asked.filter(|&width: &usize| width > 0).map(|width| width.max(LEAST));
    asked.or_else(|| Some(terminal()?.0)).unwrap_or(USUAL)
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
