//! Arranges a scene on a page, as shapes with positions that any printer can draw. The printers of SVG and TikZ use it.
//!
//! A panel becomes fills, hatching, rules, marks, and the texts in and around its cells. Lengths are tenths of a pixel,
//! from the upper left corner.

use std::collections::BTreeMap;

use crate::{
    Band, Cell, Joint, Key, Margin, Paint, Panel, Scene,
    palette::{INK, MUTED, PADDED, Rgb, shade, tint},
};

const MARGIN: i64 = 160;
/// The least width of a page, and of one with long texts.
const NARROW: i64 = 3000;
const WIDE: i64 = 7200;
/// The side of a swatch in the legend.
const SWATCH: i64 = 150;

/// Returns the width of a key's swatches, including the space before its text.
fn room(key: &Key) -> i64 {
    SWATCH * key.paints.len().max(1) as i64 + 70
}

/// Returns the colour behind a cell, `None` for that of the paper.
pub(crate) fn ground(paint: Paint) -> Option<Rgb> {
    match paint {
        Paint::Colour { hue, light } => Some(tint(hue, light)),
        Paint::Shade(place) => Some(shade(place)),
        Paint::Padding => Some(PADDED),
        Paint::Plain | Paint::Gap | Paint::Absent => None,
    }
}

/// Arranges all parts of a scene on a page of the necessary size.
pub(crate) fn place(scene: &Scene) -> Page {
    let bands = placed(&scene.bands);
    let widest = bands.iter().map(PlacedBand::width).max().unwrap_or(0);
    let long = [(&scene.title, Style::Title), (&scene.subtitle, Style::Subtitle)];
    let long = long.map(|(text, style)| style.width(text.chars().count()));
    let keys =
        scene.legend.iter().map(|key| room(key) + Style::Legend.width(key.text.chars().count()));
    let texts = keys.chain(long).max().unwrap_or(0).min(WIDE);
    let inner = widest.max(NARROW).max(texts);
    let mut page = Page { width: inner + 2 * MARGIN, height: MARGIN, shapes: Vec::new() };
    page.lines(&scene.title, Style::Title, inner, 200);
    page.lines(&scene.subtitle, Style::Subtitle, inner, 170);
    for band in &bands {
        page.height += 90;
        page.shapes.extend(band.shapes(MARGIN, page.height));
        page.height += band.height() + 60;
    }
    page.height += 60;
    page.legend(&scene.legend, inner);
    for note in &scene.notes {
        page.lines(note, Style::Legend, inner, 170);
    }
    page.height += MARGIN - 60;
    page
}

impl Page {
    /// Adds a text to the page, broken into lines.
    fn lines(&mut self, text: &str, style: Style, inner: i64, step: i64) {
        for line in wrap(text, (inner / style.width(1).max(1)) as usize) {
            let y = self.height + style.size();
            self.shapes.push(PlacedShape::Text(MARGIN, y, Anchor::Start, style, line));
            self.height += step;
        }
    }

    /// Adds swatches with their meaning, side by side as far as there is space.
    fn legend(&mut self, keys: &[Key], inner: i64) {
        let mut x = 0;
        for (at, key) in keys.iter().enumerate() {
            let width = room(key) + Style::Legend.width(key.text.chars().count());
            if at > 0 && x + width > inner {
                x = 0;
                self.height += 200;
            }
            self.swatch(MARGIN + x, key, inner);
            x += width + 180;
        }
        if !keys.is_empty() {
            self.height += 220;
        }
    }

    fn swatch(&mut self, x: i64, key: &Key, inner: i64) {
        for (at, paint) in (0..).zip(&key.paints) {
            let area =
                Rectangle { x: x + at * SWATCH, y: self.height, width: SWATCH, height: SWATCH };
            self.shapes.extend(ground(*paint).map(|colour| PlacedShape::Fill(area, colour)));
            if *paint == Paint::Padding {
                self.shapes.push(PlacedShape::Hatch(area));
            }
        }
        let room = room(key);
        let area = Rectangle { x, y: self.height, width: room - 70, height: SWATCH };
        let (right, low) = (area.x + area.width, area.y + area.height);
        let frame = vec![
            [area.x, area.y, right, area.y],
            [right, area.y, right, low],
            [right, low, area.x, low],
            [area.x, low, area.x, area.y],
        ];
        self.shapes.push(PlacedShape::Rules(0, frame));
        let most = (inner - room) / Style::Legend.width(1);
        for (at, line) in wrap(&key.text, most as usize).into_iter().enumerate() {
            self.height += if at > 0 { 160 } else { 0 };
            let (x, y) = (x + room - 10, self.height + 115);
            self.shapes.push(PlacedShape::Text(x, y, Anchor::Start, Style::Legend, line));
        }
    }
}

/// Arranges the bands so that the cells of their first panels are aligned, and those of all panels if all bands have
/// the same number.
fn placed(bands: &[Band]) -> Vec<PlacedBand<'_>> {
    let mut placed: Vec<PlacedBand<'_>> = bands.iter().map(PlacedBand::new).collect();
    let most = placed.iter().map(|band| band.frames.len()).max().unwrap_or(0);
    let alike = placed.iter().all(|band| band.frames.len() == most);
    for at in 0..if alike { most } else { most.min(1) } {
        let lefts = placed.iter().filter_map(|band| Some(band.frames.get(at)?.left()));
        let left = lefts.max().unwrap_or(0);
        placed.iter_mut().for_each(|band| band.indent(at, left));
        if alike {
            let room = placed.iter().map(|band| band.rooms[at]).max().unwrap_or(0);
            placed.iter_mut().for_each(|band| band.rooms[at] = room);
        }
    }
    placed
}

/// A band with the widths of its panels.
struct PlacedBand<'a> {
    frames: Vec<Frame<'a>>,
    joints: &'a [Joint],
    above: Above,
    /// The distance from the left of each panel to the left of the next.
    rooms: Vec<i64>,
}

impl<'a> PlacedBand<'a> {
    fn new(band: &'a Band) -> PlacedBand<'a> {
        let frames: Vec<Frame<'a>> = band.panels.iter().map(Frame::new).collect();
        let above = frames.iter().map(Frame::above).fold(Above::default(), Above::max);
        let mut placed = PlacedBand { frames, joints: &band.joints, above, rooms: Vec::new() };
        placed.rooms = (0..placed.frames.len()).map(|at| placed.room(at)).collect();
        placed
    }

    /// Sets the space to the left of a panel's cells.
    fn indent(&mut self, at: usize, left: i64) {
        if let Some(frame) = self.frames.get_mut(at) {
            frame.set_left(left);
            self.rooms[at] = self.room(at);
        }
    }

    /// Returns the width of a panel, including the sign between it and the next.
    fn room(&self, at: usize) -> i64 {
        let last = at + 1 == self.frames.len();
        self.frames[at].width() + if last { 0 } else { self.between(at) }
    }

    /// Returns the space between a panel and the next.
    fn between(&self, at: usize) -> i64 {
        match self.joints.get(at) {
            Some(Joint::Arrow) => 900,
            Some(Joint::Sign(sign)) => 500 + Style::Sign.width(sign.chars().count()),
            Some(Joint::Gap) | None => 360,
        }
    }

    fn width(&self) -> i64 {
        self.rooms.iter().sum()
    }

    fn height(&self) -> i64 {
        self.above.height() + self.frames.iter().map(Frame::height).max().unwrap_or(0)
    }

    fn shapes(&self, x: i64, y: i64) -> Vec<PlacedShape> {
        let (mut shapes, mut x) = (Vec::new(), x);
        for (at, frame) in self.frames.iter().enumerate() {
            shapes.extend(frame.shapes(x, y, self.above));
            let next = self.frames.get(at + 1).map_or(0, Frame::body);
            let middle = y + self.above.height() + frame.body().max(next) / 2;
            // The sign is centred between the two panels.
            let center = x + (frame.width() + self.rooms[at]) / 2;
            match self.joints.get(at).filter(|_| next > 0) {
                Some(Joint::Arrow) => shapes.push(PlacedShape::Arrow(center - 250, middle, 500)),
                Some(Joint::Sign(sign)) => {
                    let (anchor, sign) = (Anchor::Middle, sign.clone());
                    shapes.push(PlacedShape::Text(center, middle + 80, anchor, Style::Sign, sign));
                }
                Some(Joint::Gap) | None => {}
            }
            x += self.rooms[at];
        }
        shapes
    }
}

/// The size of a panel, and the positions of its parts.
struct Frame<'a> {
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
struct Above {
    caption: i64,
    detail: i64,
    head: i64,
}

impl Above {
    fn height(self) -> i64 {
        self.caption + self.detail + self.head
    }

    fn max(self, other: Above) -> Above {
        Above {
            caption: self.caption.max(other.caption),
            detail: self.detail.max(other.detail),
            head: self.head.max(other.head),
        }
    }
}

impl<'a> Frame<'a> {
    fn new(panel: &'a Panel) -> Frame<'a> {
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
    fn left(&self) -> i64 {
        self.left
    }

    fn set_left(&mut self, left: i64) {
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
    fn width(&self) -> i64 {
        let detail = self.detail.iter().map(|line| Style::Detail.width(line.chars().count()));
        let caption = Style::Caption.width(self.panel.caption.chars().count());
        self.left + detail.chain([caption, self.inner() - self.left]).max().unwrap_or(0)
    }

    /// Returns the height of the cells, and of the tails below them.
    fn height(&self) -> i64 {
        self.rows() * self.cell.1 + if self.has(|column| &column.tail) { 180 } else { 0 }
    }

    /// Returns the height of the cells alone.
    fn body(&self) -> i64 {
        self.rows() * self.cell.1
    }

    fn has(&self, text: fn(&Margin) -> &str) -> bool {
        self.panel.columns.iter().any(|column| !text(column).is_empty())
    }

    fn above(&self) -> Above {
        Above {
            caption: if self.panel.caption.is_empty() { 0 } else { 180 },
            detail: self.detail.len() as i64 * 140,
            head: if self.has(|column| &column.head) { 170 } else { 60 },
        }
    }

    /// Returns all shapes, with the upper left corner at a point, and the lines above as high as the band's.
    fn shapes(&self, x: i64, y: i64, above: Above) -> Vec<PlacedShape> {
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
        let mut open: BTreeMap<(i64, i64), (Rgb, Rectangle)> = BTreeMap::new();
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
    fn runs(&self, row: i64) -> Vec<(i64, i64, Rgb)> {
        let mut runs: Vec<(i64, i64, Rgb)> = Vec::new();
        for column in 0..self.columns() {
            let Some(colour) = ground(self.paint(row, column)) else { continue };
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
    use tilewright_core::{Fractal, Layout, TensorLayout};

    use super::*;
    use crate::{
        Access, Label, Limits, Relation, Subject, banks, conversion, fragment, grid, memory, step,
    };

    /// Returns the texts of a page with their areas.
    fn texts(page: &Page) -> Vec<(Rectangle, &str)> {
        let area = |shape| match shape {
            &PlacedShape::Text(x, y, anchor, style, ref text) => {
                let width = style.width(text.chars().count());
                let left = match anchor {
                    Anchor::Start => x,
                    Anchor::Middle => x - width / 2,
                    Anchor::End => x - width,
                };
                // The height of digits and capitals, without descenders.
                let height = style.size() * 7 / 10;
                Some((Rectangle { x: left, y: y - height, width, height }, text.as_str()))
            }
            _ => None,
        };
        page.shapes.iter().filter_map(area).collect()
    }

    fn apart(a: &Rectangle, b: &Rectangle) -> bool {
        let beside = a.x + a.width <= b.x || b.x + b.width <= a.x;
        beside || a.y + a.height <= b.y || b.y + b.height <= a.y
    }

    fn legible(scene: &Scene) {
        let page = place(scene);
        let texts = texts(&page);
        for (at, (area, text)) in texts.iter().enumerate() {
            let inside = area.x >= 0 && area.x + area.width <= page.width;
            assert!(inside && area.y >= 0 && area.y + area.height <= page.height, "{text}");
            for (other, beside) in &texts[..at] {
                assert!(apart(area, other), "{text} and {beside} in {}", scene.title);
            }
        }
    }

    #[test]
    fn no_text_lies_on_another_or_leaves_the_page() {
        let of = |text| TensorLayout::of(&Layout::parse(text).unwrap());
        let limits = Limits { rows: 8, columns: 12, ..Limits::default() };
        let layouts = [
            of("((4,2),(4,3)):((4,16),(1,32))"),
            of("(3,2):(-1,3)"),
            of("(100,1000000):(1000000,1)"),
            of("(2,3,4,5):(60,20,5,1)"),
            of("5:1000000"),
            of("((2,2,2),(2,2,2)):((1,4,16),(2,8,32))"),
            Fractal::ZN.pattern(4, 4).layout(&[7, 9]).unwrap(),
            TensorLayout::row_major(&[0, 3]).unwrap(),
        ];
        let name = "a name much longer than what is drawn, ".repeat(6);
        for layout in &layouts {
            for label in [Label::Offsets, Label::Coords, Label::Names] {
                let subject = Subject::new(layout).named(&name).labelled(label);
                legible(&grid(&subject, &limits).unwrap());
                legible(&memory(&subject, &limits).unwrap());
                legible(&conversion(&subject, &subject, &limits).unwrap());
            }
            let own = Subject::new(layout);
            legible(&conversion(&own, &own, &limits).unwrap());
            let threads = fragment(&own, layout.capacity().max(1), 1, &limits);
            threads.iter().for_each(legible);
        }
        let swizzled = of("Sw<3,3,3> o (8,64):(64,1)");
        let access = Access { element_bytes: 2, vector: 8 };
        legible(&banks(&Subject::new(&swizzled), &access, &limits).unwrap());
        let (a, b) = (Layout::parse("(6,2):(8,2)").unwrap(), Layout::parse("(4,3):(3,1)").unwrap());
        let result = a.composition(&b).unwrap();
        legible(&step("∘", &a, &b, &result, Relation::Through, &limits).unwrap());
    }

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
