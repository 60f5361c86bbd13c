//! The shapes of a page. Lengths are tenths of a pixel, from the upper left corner.

use crate::palette::{INK, MUTED, Rgb};

/// A page: its size, and its shapes from back to front.
#[derive(Clone, Debug, Default)]
pub(crate) struct Page {
    pub(crate) width: i64,
    pub(crate) height: i64,
    pub(crate) shapes: Vec<PlacedShape>,
}

/// A rectangle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rectangle {
    pub(crate) x: i64,
    pub(crate) y: i64,
    pub(crate) width: i64,
    pub(crate) height: i64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PlacedShape {
    /// An area with a colour.
    Fill(Rectangle, Rgb),
    /// An area with the hatching of padding.
    Hatch(Rectangle),
    /// Lines of one weight, each from one point to another.
    Rules(u8, Vec<[i64; 4]>),
    /// An area with a frame that marks it.
    Mark(Rectangle),
    /// An arrow to the right, from a point, with a length.
    Arrow(i64, i64, i64),
    /// A line of text, with the position of its baseline's beginning, centre, or end.
    Text(i64, i64, Anchor, Style, String),
}

/// The point of a line of text that its position refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// The role of a text, which determines its appearance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    Title,
    Subtitle,
    Caption,
    Detail,
    Cell,
    /// Cells with several lines.
    Small,
    Head,
    Legend,
    Sign,
}

impl Style {
    /// Returns the size of the letters.
    pub(crate) fn size(self) -> i64 {
        match self {
            Style::Title => 150,
            Style::Subtitle | Style::Cell => 120,
            Style::Caption => 125,
            Style::Detail | Style::Small | Style::Head => 100,
            Style::Legend => 115,
            Style::Sign => 240,
        }
    }

    /// Returns whether all letters have one width.
    pub(crate) fn is_mono(self) -> bool {
        match self {
            Style::Title | Style::Cell | Style::Small | Style::Head => true,
            Style::Subtitle | Style::Caption | Style::Detail | Style::Legend | Style::Sign => false,
        }
    }

    pub(crate) fn is_bold(self) -> bool {
        match self {
            Style::Title | Style::Caption => true,
            Style::Subtitle
            | Style::Detail
            | Style::Cell
            | Style::Small
            | Style::Head
            | Style::Legend
            | Style::Sign => false,
        }
    }

    pub(crate) fn colour(self) -> Rgb {
        match self {
            Style::Subtitle | Style::Detail | Style::Head | Style::Legend => MUTED,
            Style::Title | Style::Caption | Style::Cell | Style::Small | Style::Sign => INK,
        }
    }

    /// Returns the width of a text: an upper bound for the usual fonts.
    pub(crate) fn width(self, chars: usize) -> i64 {
        let share = if self.is_mono() { 61 } else { 56 + 4 * i64::from(self.is_bold()) };
        chars as i64 * self.size() * share / 100
    }
}

/// Breaks text into lines of at most `most` characters, after a space or a comma if possible.
pub(crate) fn wrap(text: &str, most: usize) -> Vec<String> {
    let (mut lines, mut line, mut length) = (Vec::new(), String::new(), 0);
    for c in text.chars().take(LONGEST) {
        if length >= most.max(8) {
            let end = line.rfind([' ', ',']).map_or(line.len(), |at| at + 1);
            let end = if end * 2 < line.len() { line.len() } else { end };
            let rest = line.split_off(end);
            lines.push(std::mem::replace(&mut line, rest).trim_end().to_owned());
            length = line.chars().count();
        }
        line.push(c);
        length += 1;
    }
    if text.chars().nth(LONGEST).is_some() {
        line.push('…');
    }
    lines.push(line);
    lines.retain(|line| !line.is_empty());
    lines
}

/// The most characters of a text outside the cells.
const LONGEST: usize = 600;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_short_and_lose_nothing() {
        for most in 1..30 {
            for text in
                ["", "one two, three four", "((4,2),(4,3)):((4,16),(1,32))", "éééééééééééééééééé"]
            {
                let lines = wrap(text, most);
                assert!(lines.iter().all(|line| line.chars().count() <= most.max(8)));
                let bare = |text: &str| text.replace(' ', "");
                assert_eq!(bare(&lines.concat()), bare(text), "{most}");
            }
        }
        let long = wrap(&"x".repeat(10_000), 50).concat();
        assert_eq!(long.chars().count(), LONGEST + 1);
    }
}
