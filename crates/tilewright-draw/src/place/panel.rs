//! A panel as shapes: fills, hatching, rules, marks, and the texts in and around its cells.

use std::collections::BTreeMap;

use super::shape::{Anchor, PlacedShape, Rectangle, Style, wrap};
use crate::{Cell, Margin, Paint, Panel, palette};

/// The size of a panel, and the positions of its parts.
pub(super) struct Frame<'a> {
    panel: &'a Panel,
    /// The size of a cell.
    cell: (i64, i64),
    style: Style,
    /// The space to the left of the cells for their heads, and to the right for their tails.
    left: i64,
    right: i64,
    detail: Vec<String>,
}

/// The lines above the cells of a band.
#[derive(Clone, Copy, Default)]
pub(super) struct Above {
    caption: i64,
    detail: i64,
    head: i64,
}

impl Above {
    pub(super) fn height(self) -> i64 {
        self.caption + self.detail + self.head
    }

    pub(super) fn max(self, other: Above) -> Above {
        Above {
            caption: self.caption.max(other.caption),
            detail: self.detail.max(other.detail),
            head: self.head.max(other.head),
        }
    }
}

impl<'a> Frame<'a> {
    pub(super) fn new(panel: &'a Panel) -> Frame<'a> {
        let style = if panel.lines() > 1 { Style::Small } else { Style::Cell };
        let width = (style.width(panel.width()) + 90).max(260);
        let height = if panel.lines() > 1 { panel.lines() as i64 * 125 + 80 } else { 240 };
        let room = |text: fn(&Margin) -> &str| {
            let most = panel.rows.iter().map(|row| text(row).chars().count()).max().unwrap_or(0);
            if most > 0 { Style::Head.width(most) + 80 } else { 0 }
        };
        let (left, right) = (room(|row| &row.head), room(|row| &row.tail));
        let mut frame =
            Frame { panel, cell: (width, height), style, left, right, detail: Vec::new() };
        let chars = (frame.inner().max(2600) / Style::Detail.width(1)) as usize;
        frame.detail = wrap(&panel.detail, chars);
        frame
    }

    /// Returns the space to the left of the cells.
    pub(super) fn left(&self) -> i64 {
        self.left
    }

    pub(super) fn set_left(&mut self, left: i64) {
        self.left = left;
    }

    fn columns(&self) -> i64 {
        self.panel.columns.len() as i64
    }

    fn rows(&self) -> i64 {
        self.panel.rows.len() as i64
    }

    fn inner(&self) -> i64 {
        self.left + self.columns() * self.cell.0 + self.right
    }

    /// Returns the width with all texts.
    pub(super) fn width(&self) -> i64 {
        let detail = self.detail.iter().map(|line| Style::Detail.width(line.chars().count()));
        let caption = Style::Caption.width(self.panel.caption.chars().count());
        self.left + detail.chain([caption, self.inner() - self.left]).max().unwrap_or(0)
    }

    /// Returns the height of the cells, and of the tails below them.
    pub(super) fn height(&self) -> i64 {
        self.rows() * self.cell.1 + if self.has(|column| &column.tail) { 180 } else { 0 }
    }

    /// Returns the height of the cells alone.
    pub(super) fn body(&self) -> i64 {
        self.rows() * self.cell.1
    }

    fn has(&self, text: fn(&Margin) -> &str) -> bool {
        self.panel.columns.iter().any(|column| !text(column).is_empty())
    }

    pub(super) fn above(&self) -> Above {
        Above {
            caption: if self.panel.caption.is_empty() { 0 } else { 180 },
            detail: self.detail.len() as i64 * 140,
            head: if self.has(|column| &column.head) { 170 } else { 60 },
        }
    }

    /// Returns all shapes, with the upper left corner at a point, and the lines above as high as the band's.
    pub(super) fn shapes(&self, x: i64, y: i64, above: Above) -> Vec<PlacedShape> {
        let mut shapes = Vec::new();
        let origin = (x + self.left, y + above.height());
        let mut text = |y, style, text: &str| {
            if !text.is_empty() {
                shapes.push(PlacedShape::Text(origin.0, y, Anchor::Start, style, text.into()));
            }
        };
        text(y + 120, Style::Caption, &self.panel.caption);
        for (at, line) in (0..).zip(&self.detail) {
            text(y + above.caption + 100 + at * 140, Style::Detail, line);
        }
        self.grounds(origin, &mut shapes);
        self.rules(origin, &mut shapes);
        self.margins(origin, &mut shapes);
        self.texts(origin, &mut shapes);
        shapes
    }

    fn area(&self, origin: (i64, i64), row: i64, column: i64) -> Rectangle {
        let (width, height) = self.cell;
        Rectangle { x: origin.0 + column * width, y: origin.1 + row * height, width, height }
    }

    fn at(&self, row: i64, column: i64) -> Option<&Cell> {
        self.panel.cell(usize::try_from(row).ok()?, usize::try_from(column).ok()?)
    }

    fn paint(&self, row: i64, column: i64) -> Paint {
        self.at(row, column).map_or(Paint::Absent, |cell| cell.paint)
    }

    /// Adds fills, with one area for adjacent cells of one colour, and the hatching of padding.
    fn grounds(&self, origin: (i64, i64), shapes: &mut Vec<PlacedShape>) {
        // The runs of the row above, which an equal run below extends.
        let mut open: BTreeMap<(i64, i64), (palette::Rgb, Rectangle)> = BTreeMap::new();
        for row in 0..self.rows() {
            let mut next = BTreeMap::new();
            for (from, to, colour) in self.runs(row) {
                let mut area = self.area(origin, row, from);
                area.width *= to - from;
                if let Some((above, longer)) = open.get(&(from, to)).copied()
                    && above == colour
                {
                    open.remove(&(from, to));
                    area = Rectangle { height: longer.height + area.height, ..longer };
                }
                next.insert((from, to), (colour, area));
            }
            let done = std::mem::replace(&mut open, next);
            shapes.extend(done.into_values().map(|(colour, area)| PlacedShape::Fill(area, colour)));
        }
        shapes.extend(open.into_values().map(|(colour, area)| PlacedShape::Fill(area, colour)));
        for (row, column) in self.cells() {
            if self.paint(row, column) == Paint::Padding {
                shapes.push(PlacedShape::Hatch(self.area(origin, row, column)));
            }
        }
    }

    fn cells(&self) -> impl Iterator<Item = (i64, i64)> {
        let columns = self.columns();
        (0..self.rows()).flat_map(move |row| (0..columns).map(move |column| (row, column)))
    }

    /// Returns the runs of a row that have one colour, without those that have none.
    fn runs(&self, row: i64) -> Vec<(i64, i64, palette::Rgb)> {
        let mut runs: Vec<(i64, i64, palette::Rgb)> = Vec::new();
        for column in 0..self.columns() {
            let Some(colour) = super::ground(self.paint(row, column)) else { continue };
            match runs.last_mut() {
                Some((_, to, last)) if *to == column && *last == colour => *to += 1,
                _ => runs.push((column, column + 1, colour)),
            }
        }
        runs
    }

    /// Adds hairlines, borders and the frame, light ones first, and marks.
    fn rules(&self, origin: (i64, i64), shapes: &mut Vec<PlacedShape>) {
        let mut lines: BTreeMap<u8, Vec<[i64; 4]>> = BTreeMap::new();
        for row in 0..=self.rows() {
            let edge = |column: i64| self.panel.above(row as usize, column as usize);
            for (from, to, weight) in stretches(self.columns(), edge) {
                let (a, b) = (self.area(origin, row, from), self.area(origin, row, to));
                lines.entry(weight).or_default().push([a.x, a.y, b.x, b.y]);
            }
        }
        for column in 0..=self.columns() {
            let edge = |row: i64| self.panel.before(row as usize, column as usize);
            for (from, to, weight) in stretches(self.rows(), edge) {
                let (a, b) = (self.area(origin, from, column), self.area(origin, to, column));
                lines.entry(weight).or_default().push([a.x, a.y, b.x, b.y]);
            }
        }
        shapes.extend(lines.into_iter().map(|(weight, lines)| PlacedShape::Rules(weight, lines)));
        let marked =
            self.cells().filter(|&(row, column)| self.at(row, column).is_some_and(|c| c.marked));
        shapes
            .extend(marked.map(|(row, column)| PlacedShape::Mark(self.area(origin, row, column))));
    }

    fn margins(&self, origin: (i64, i64), shapes: &mut Vec<PlacedShape>) {
        let mut text = |x, y, anchor, text: &str| {
            if !text.is_empty() {
                shapes.push(PlacedShape::Text(x, y, anchor, Style::Head, text.into()));
            }
        };
        for (at, margin) in (0..).zip(&self.panel.rows) {
            let area = self.area(origin, at, 0);
            let y = area.y + area.height / 2 + 35;
            text(origin.0 - 60, y, Anchor::End, &margin.head);
            text(origin.0 + self.columns() * self.cell.0 + 60, y, Anchor::Start, &margin.tail);
        }
        for (at, margin) in (0..).zip(&self.panel.columns) {
            let area = self.area(origin, 0, at);
            let x = area.x + area.width / 2;
            text(x, origin.1 - 55, Anchor::Middle, &margin.head);
            text(x, origin.1 + self.body() + 130, Anchor::Middle, &margin.tail);
        }
    }

    fn texts(&self, origin: (i64, i64), shapes: &mut Vec<PlacedShape>) {
        for (row, column) in self.cells() {
            let (Some(cell), area) = (self.at(row, column), self.area(origin, row, column)) else {
                continue;
            };
            let x = area.x + area.width / 2;
            let count = cell.text.lines().count() as i64;
            let first =
                area.y + area.height / 2 - (count - 1) * 125 / 2 + self.style.size() * 35 / 100;
            for (line, text) in (0..).zip(cell.text.lines()) {
                let y = first + line * 125;
                shapes.push(PlacedShape::Text(x, y, Anchor::Middle, self.style, text.into()));
            }
        }
    }
}

/// Returns the longest runs of one weight.
fn stretches(count: i64, edge: impl Fn(i64) -> Option<u8>) -> Vec<(i64, i64, u8)> {
    let mut stretches: Vec<(i64, i64, u8)> = Vec::new();
    for at in 0..count {
        let Some(weight) = edge(at) else { continue };
        match stretches.last_mut() {
            Some((_, to, last)) if *to == at && *last == weight => *to += 1,
            _ => stretches.push((at, at + 1, weight)),
        }
    }
    stretches
}
