//! Arranges a scene on a page, as shapes with positions that any printer can draw. The printers of SVG and TikZ use it.

mod panel;
pub(crate) mod shape;

use self::{
    panel::{Above, Frame},
    shape::{Anchor, Page, PlacedShape, Rectangle, Style, wrap},
};
use crate::{
    Band, Joint, Key, Paint, Scene,
    palette::{PADDED, Rgb, shade, tint},
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
}
