//! Lines of one grid: numbers on the margins, cells, and borders.

use std::{fmt, fmt::Write as _};

/// Positions and weights of borders.
pub(super) struct Borders {
    rows: Vec<u64>,
    columns: Vec<u64>,
}

impl Borders {
    /// Puts borders at the multiples of these sizes, given inner first.
    pub(super) fn new(rows: Vec<u64>, columns: Vec<u64>) -> Borders {
        Borders { rows, columns }
    }

    /// Returns the weight of the outermost border.
    fn depth(&self) -> usize {
        self.rows.len().max(self.columns.len()).max(1)
    }

    /// Returns the weight of the border before a coordinate; 0 is none. The outermost tiles of both dims have the same weight,
    /// even if one dim has fewer levels of tiles.
    fn weight(&self, sizes: &[u64], at: u64, end: u64) -> usize {
        let crossed = sizes.iter().filter(|&&size| size != 0 && at.is_multiple_of(size)).count();
        match (at == 0 || at == end, crossed) {
            (true, _) => self.depth(),
            (false, 0) => 0,
            (false, _) => self.depth() - sizes.len() + crossed,
        }
    }
}

/// The lines of a grid.
pub(super) struct Frame {
    header: String,
    rows: Vec<String>,
    /// The line before each row and after the last one, if there is a border.
    borders: Vec<Option<String>>,
    /// A line without cells, used where only the other grid has a border.
    spacer: String,
}

impl Frame {
    pub(super) fn new(
        text: &[Vec<String>],
        columns: u64,
        width: usize,
        label: char,
        borders: &Borders,
    ) -> Frame {
        let margin = text.len().saturating_sub(1).to_string().len();
        let weights: Vec<usize> =
            (0..=columns).map(|at| borders.weight(&borders.columns, at, columns)).collect();
        let numbers: Vec<String> = (0..columns).map(|at| at.to_string()).collect();
        let number = |label: &str| format!(" {label:>margin$}  ");
        let blank = vec![String::new(); columns as usize];
        let row = |(at, cells): (usize, &Vec<String>)| {
            number(&at.to_string()) + &line(&weights, cells, width, bar, ' ')
        };
        let border = |at: u64| match borders.weight(&borders.rows, at, text.len() as u64) {
            0 => None,
            1 => Some(number("") + &line(&weights, &blank, width, junction, '-')),
            _ => Some(number("") + &line(&weights, &blank, width, junction, '=')),
        };
        let gap = |weight| if weight == 0 { None } else { Some(' ') };
        let header = number(&label.to_string()) + &line(&weights, &numbers, width, gap, ' ');
        Frame {
            header: header.trim_end().to_owned(),
            rows: text.iter().enumerate().map(row).collect(),
            borders: (0..=text.len() as u64).map(border).collect(),
            spacer: number("") + &line(&weights, &blank, width, bar, ' '),
        }
    }

    /// Returns the lines of two grids, with equal rows on one line.
    pub(super) fn beside(&self, other: &Frame) -> Vec<(String, String)> {
        let mut lines = vec![(self.header.clone(), other.header.clone())];
        for at in 0..self.borders.len().max(other.borders.len()) {
            if self.border(at).is_some() || other.border(at).is_some() {
                lines.push((self.between(at), other.between(at)));
            }
            let row = |frame: &Frame| frame.rows.get(at).cloned().unwrap_or_default();
            lines.push((row(self), row(other)));
        }
        lines.pop();
        lines
    }

    fn border(&self, at: usize) -> Option<&String> {
        self.borders.get(at).and_then(Option::as_ref)
    }

    /// Returns the border before a row, or the spacer if there is none.
    fn between(&self, at: usize) -> String {
        let inside = at < self.borders.len();
        self.border(at).or(inside.then_some(&self.spacer)).cloned().unwrap_or_default()
    }
}

impl fmt::Display for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.header)?;
        for (at, border) in self.borders.iter().enumerate() {
            for line in border.iter().chain(self.rows.get(at)) {
                writeln!(f, "{line}")?;
            }
        }
        Ok(())
    }
}

/// Prints cells aligned to the right of their columns, with the sign of each border between them.
fn line(
    weights: &[usize],
    cells: &[String],
    width: usize,
    sign: impl Fn(usize) -> Option<char>,
    rule: char,
) -> String {
    let mut text = String::new();
    for (at, &weight) in weights.iter().enumerate() {
        if at > 0 {
            text.push(rule);
        }
        text.extend(sign(weight));
        let Some(cell) = cells.get(at) else { break };
        if at == 0 || sign(weight).is_some() {
            text.push(rule);
        }
        text.extend(std::iter::repeat_n(rule, width.saturating_sub(cell.chars().count())));
        let _ = write!(text, "{cell}");
    }
    text
}

fn bar(weight: usize) -> Option<char> {
    match weight {
        0 => None,
        1 => Some('|'),
        _ => Some('#'),
    }
}

fn junction(weight: usize) -> Option<char> {
    match weight {
        0 => None,
        1 => Some('+'),
        _ => Some('#'),
    }
}
