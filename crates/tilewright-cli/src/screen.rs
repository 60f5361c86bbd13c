//! How wide the place is that text is printed to: what `COLUMNS` says, else the terminal, else 100 characters.

use std::io::IsTerminal as _;

use tilewright::picture::Limits;

/// The width of a file or a pipe.
const USUAL: usize = 100;

/// The least width that `COLUMNS` can ask for; below it tables have no room.
const LEAST: usize = 20;

/// Characters across.
pub(crate) fn width() -> usize {
    let asked = std::env::var("COLUMNS").ok().and_then(|text| text.trim().parse().ok());
    let asked = asked.filter(|&width: &usize| width > 0).map(|width| width.max(LEAST));
    asked.or_else(|| Some(terminal()?.0)).unwrap_or(USUAL)
}

/// Characters across and lines down of the terminal that stdout is.
pub(crate) fn terminal() -> Option<(usize, usize)> {
    let size = std::io::stdout().is_terminal().then(terminal_size::terminal_size).flatten();
    size.map(|(width, height)| (usize::from(width.0), usize::from(height.0)))
}

/// What of a grid or of memory is printed as text.
pub(crate) fn text() -> Limits {
    let limits = terminal().map(|(width, height)| Limits::terminal(width, height));
    Limits { width: width(), ..limits.unwrap_or_default() }
}
