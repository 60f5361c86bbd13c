//! A scene as text: cells in columns, borders of ASCII, and where the terminal has colours, grounds of
//! the 256 of ECMA-48 (xterm's palette: a cube of six levels).

use crate::{
    Band, Joint, Margin, Paint, Panel, Scene, escape,
    palette::Rgb,
    place::{ground, shape::wrap},
};

/// About how many characters stand side by side.
const WIDTH: usize = 100;

/// A piece of a line in one look.
#[derive(Clone, Debug)]
struct Span {
    text: String,
    ground: Option<Rgb>,
    strong: bool,
}

/// A line of spans.
type Line = Vec<Span>;

impl Scene {
    /// The picture as text for a terminal, with its colours (the 256 of ECMA-48) or without. Panels that
    /// have only a gap between them go below one another beyond 100 characters.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_draw::{Limits, Subject, grid};
    /// let layout = TensorLayout::row_major(&[2, 2])?;
    /// let scene = grid(&Subject::new(&layout), &Limits::default())?;
    /// assert!(scene.to_terminal(true).contains("\u{1b}[30;48;5;"));
    /// let lines = ["      0  1", "    +------+", " 0  | 0  1 |", " 1  | 2  3 |", "    +------+"];
    /// let text = scene.to_terminal(false);
    /// assert_eq!(text.lines().skip(2).take(5).collect::<Vec<_>>(), lines);
    /// # Ok::<(), tilewright_core::Error>(())
    /// ```
    pub fn to_terminal(&self, colours: bool) -> String {
        self.to_terminal_within(colours, WIDTH)
    }

    /// The same in lines of at most `width` characters: panels that have no room beside one another stand below one
    /// another, and texts are broken into lines. A single panel is as wide as its cells; [`Limits`](crate::Limits) bound these.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_draw::{Limits, Subject, conversion};
    /// let layout = TensorLayout::row_major(&[4, 8])?;
    /// let subject = Subject::new(&layout);
    /// let scene = conversion(&subject, &subject, &Limits::default())?;
    /// let widest = |width| scene.to_terminal_within(false, width).lines().map(|line| line.chars().count()).max();
    /// assert!(widest(120) > Some(60) && widest(60) <= Some(60));
    /// # Ok::<(), tilewright_core::Error>(())
    /// ```
    pub fn to_terminal_within(&self, colours: bool, width: usize) -> String {
        print(self, colours, width)
    }
}

fn print(scene: &Scene, colours: bool, most: usize) -> String {
    let mut lines: Vec<Line> = Vec::new();
    lines.extend([&scene.title, &scene.subtitle].into_iter().flat_map(|text| texts(text, most)));
    for (at, band) in scene.bands.iter().flat_map(|band| broken(band, most)).enumerate() {
        if at > 0 {
            lines.push(Vec::new());
        }
        lines.extend(beside(&band));
    }
    for key in &scene.legend {
        match key.paints[..] {
            [Paint::Padding] => lines.extend(texts(&format!(".  {}", key.text), most)),
            _ if colours => {
                let swatch =
                    |&paint| Span { text: "  ".into(), ground: ground(paint), strong: false };
                let swatches: Line = key.paints.iter().map(swatch).collect();
                let room = width(&swatches) + 1;
                for (at, text) in wrap(&key.text, most.saturating_sub(room)).iter().enumerate() {
                    let blank = vec![plain(&" ".repeat(room - 1))];
                    let mut line = if at == 0 { swatches.clone() } else { blank };
                    line.push(plain(&format!(" {text}")));
                    lines.push(line);
                }
            }
            _ => {}
        }
    }
    lines.extend(scene.notes.iter().flat_map(|note| texts(note, most)));
    lines.iter().map(|line| render(line, colours)).collect()
}

/// A text in lines.
fn texts(text: &str, most: usize) -> Vec<Line> {
    wrap(text, most).iter().map(|line| vec![plain(line)]).collect()
}

fn plain(text: &str) -> Span {
    Span { text: escape::terminal(text), ground: None, strong: false }
}

fn render(line: &Line, colours: bool) -> String {
    let mut text = String::new();
    for span in line {
        match span.ground.filter(|_| colours) {
            Some(colour) => {
                let strong = if span.strong { ";1" } else { "" };
                text += &format!("\u{1b}[30;48;5;{}{strong}m{}\u{1b}[0m", code(colour), span.text);
            }
            None => text += &span.text,
        }
    }
    if line.last().is_none_or(|span| span.ground.is_none()) || !colours {
        text.truncate(text.trim_end().len());
    }
    text + "\n"
}

/// The nearest of the 216 colours of the cube.
fn code(colour: Rgb) -> u16 {
    let level = |channel: u8| match channel {
        0..=47 => 0,
        48..=114 => 1,
        channel => (u16::from(channel) - 35) / 40,
    };
    16 + 36 * level(colour.0) + 6 * level(colour.1) + level(colour.2)
}

fn width(line: &Line) -> usize {
    line.iter().map(|span| span.text.chars().count()).sum()
}

/// A band in several, where its panels are too wide together: what has only a gap between goes below as far as it
/// must, what a sign joins goes below the sign. Texts above the cells are broken into lines before that.
fn broken(band: &Band, most: usize) -> Vec<Band> {
    let signed = band.joints.iter().any(|joint| *joint != Joint::Gap);
    if signed && let Some(whole) = joined(band, most) {
        return vec![whole];
    }
    let (mut bands, mut used) = (Vec::<Band>::new(), 0);
    for (at, panel) in band.panels.iter().enumerate() {
        let panel = narrowed(panel, "", most);
        let own = Rows::new(&panel).width() + GAP;
        match bands.last_mut() {
            Some(last) if used + own <= most && !signed => {
                last.panels.push(panel);
                last.joints.push(Joint::Gap);
                used += own;
            }
            _ => {
                let sign = match at.checked_sub(1).and_then(|before| band.joints.get(before)) {
                    Some(Joint::Arrow) => "--> ".to_owned(),
                    Some(Joint::Sign(sign)) => format!("{sign} "),
                    Some(Joint::Gap) | None => String::new(),
                };
                let panels = vec![narrowed(&band.panels[at], &sign, most)];
                bands.push(Band { panels, joints: Vec::new() });
                used = own;
            }
        }
    }
    bands
}

/// The whole band side by side, where it fits: with the texts above its panels whole, or else each in its share.
fn joined(band: &Band, most: usize) -> Option<Band> {
    let joints = GAP * band.joints.len();
    let share = (most.saturating_sub(joints) / band.panels.len().max(1)).saturating_sub(GAP);
    let within = |room| {
        let panels: Vec<Panel> =
            band.panels.iter().map(|panel| narrowed(panel, "", room)).collect();
        let all: usize = panels.iter().map(|panel| Rows::new(panel).width() + GAP).sum();
        (all + joints <= most).then(|| Band { panels, joints: band.joints.clone() })
    };
    [most, share].into_iter().find_map(within)
}

/// The panel with `sign` before its caption, and with its caption and detail in lines no longer than its cells, or
/// than `room` characters.
fn narrowed(panel: &Panel, sign: &str, room: usize) -> Panel {
    let room = room.max(Rows::new(panel).body());
    let lines = |text: &str| wrap(&escape::terminal(text), room).join("\n");
    Panel {
        caption: lines(&format!("{sign}{}", panel.caption)),
        detail: lines(&panel.detail),
        ..panel.clone()
    }
}

/// The characters between two panels.
const GAP: usize = 3;

/// The panels of a band, equal rows on one line, with what stands between them in the middle.
fn beside(band: &Band) -> Vec<Line> {
    let mut all: Vec<Line> = Vec::new();
    for (at, lines) in aligned(band).into_iter().enumerate() {
        let height = all.len().max(lines.len());
        let left = all.iter().map(width).max().unwrap_or(0);
        let sign = match at.checked_sub(1).and_then(|before| band.joints.get(before)) {
            Some(Joint::Arrow) => " --> ".to_owned(),
            Some(Joint::Sign(sign)) => format!("  {sign}  "),
            Some(Joint::Gap) | None => "   ".into(),
        };
        all.resize(height, Vec::new());
        for (row, line) in all.iter_mut().enumerate() {
            if at > 0 {
                let gap = left - width(line);
                let blank = " ".repeat(sign.chars().count());
                let between = if row == height / 2 { &sign } else { &blank };
                line.push(plain(&format!("{}{between}", " ".repeat(gap))));
            }
            line.extend(lines.get(row).cloned().unwrap_or_default());
        }
    }
    all
}

/// The lines of each panel. Above the cells and between the rows, each has the number of lines of the panel
/// that has the most there.
fn aligned(band: &Band) -> Vec<Vec<Line>> {
    let panels: Vec<Rows<'_>> = band.panels.iter().map(Rows::new).collect();
    let most = panels.iter().map(|rows| rows.panel.rows.len()).max().unwrap_or(0);
    let mut lines: Vec<Vec<Line>> = panels.iter().map(Rows::above).collect();
    let above = lines.iter().map(Vec::len).max().unwrap_or(0);
    for (lines, rows) in lines.iter_mut().zip(&panels) {
        lines.resize(above, Vec::new());
        lines.push(rows.names(|column| &column.head));
    }
    for row in 0..=most {
        let bordered = panels.iter().any(|rows| rows.border(row).is_some());
        for (lines, rows) in lines.iter_mut().zip(&panels) {
            if bordered && row <= rows.panel.rows.len() {
                lines.push(rows.border(row).unwrap_or_else(|| rows.spacer(row)));
            }
            if row < rows.panel.rows.len() {
                lines.push(rows.cells(row));
            }
        }
    }
    for (lines, rows) in lines.iter_mut().zip(&panels) {
        if rows.panel.columns.iter().any(|column| !column.tail.is_empty()) {
            lines.push(rows.names(|column| &column.tail));
        }
    }
    lines
}

/// What the lines of a panel have in common.
struct Rows<'a> {
    panel: &'a Panel,
    margin: usize,
    width: usize,
    /// The weight of the bar before each column and behind the last, 0 for none.
    bars: Vec<u8>,
}

impl<'a> Rows<'a> {
    fn new(panel: &'a Panel) -> Rows<'a> {
        let texts = panel.cells.iter().map(|cell| inner(&cell.text).chars().count());
        let heads =
            panel.columns.iter().flat_map(|c| [c.head.chars().count(), c.tail.chars().count()]);
        let bar = |column| (0..panel.rows.len()).filter_map(|row| panel.before(row, column)).max();
        Rows {
            panel,
            margin: panel.rows.iter().map(|row| row.head.chars().count()).max().unwrap_or(0),
            width: texts.chain(heads).max().unwrap_or(1).max(1),
            bars: (0..=panel.columns.len()).map(|column| bar(column).unwrap_or(0)).collect(),
        }
    }

    /// The characters across.
    fn width(&self) -> usize {
        self.body().max(self.above().iter().map(width).max().unwrap_or(0))
    }

    /// The characters across without what stands above, the tails of rows among them.
    fn body(&self) -> usize {
        let tails = self.panel.rows.iter().map(|row| row.tail.chars().count());
        let tail = tails.max().filter(|&tail| tail > 0).map_or(0, |tail| tail + 1);
        width(&self.names(|column| &column.head)) + 1 + tail
    }

    /// What stands above the columns' names, line by line.
    fn above(&self) -> Vec<Line> {
        let texts = [&self.panel.caption, &self.panel.detail].into_iter();
        texts.flat_map(|text| text.lines()).map(|text| vec![plain(text)]).collect()
    }

    fn head(&self, text: &str) -> Span {
        plain(&format!(" {text:>0$}  ", self.margin))
    }

    fn bar(&self, column: usize, sign: impl Fn(u8) -> &'static str) -> Span {
        plain(match self.bars[column] {
            0 => "",
            weight => sign(weight),
        })
    }

    /// Names above or below the columns.
    fn names(&self, name: impl Fn(&'a Margin) -> &'a String) -> Line {
        let mut line = vec![self.head("")];
        for (at, column) in self.panel.columns.iter().enumerate() {
            line.push(self.bar(at, |_| " "));
            line.push(plain(&format!(" {:>1$} ", name(column), self.width)));
        }
        line
    }

    /// The border above a row, where there is one.
    fn border(&self, row: usize) -> Option<Line> {
        let weights: Vec<Option<u8>> =
            (0..self.panel.columns.len()).map(|column| self.panel.above(row, column)).collect();
        let heaviest = weights.iter().flatten().copied().max().filter(|&weight| weight > 0)?;
        let corner = |weight: u8| if weight > 1 && heaviest > 1 { "#" } else { "+" };
        let mut line = vec![self.head("")];
        for (column, weight) in weights.iter().enumerate() {
            line.push(self.bar(column, corner));
            let rule = match weight {
                None | Some(0) => " ",
                Some(1) => "-",
                Some(_) => "=",
            };
            line.push(plain(&rule.repeat(self.width + 2)));
        }
        line.push(self.bar(self.panel.columns.len(), corner));
        Some(line)
    }

    fn cells(&self, row: usize) -> Line {
        let mut line = vec![self.head(&self.panel.rows[row].head)];
        for column in 0..self.panel.columns.len() {
            line.push(self.upright(row, column));
            line.extend(self.panel.cell(row, column).map(|cell| Span {
                text: format!(" {:>1$} ", shown(cell.paint, &cell.text), self.width),
                ground: ground(cell.paint).filter(|_| cell.paint != Paint::Padding),
                strong: cell.marked,
            }));
        }
        line.push(self.upright(row, self.panel.columns.len()));
        line.push(plain(&format!(" {}", self.panel.rows[row].tail)));
        line
    }

    /// A line without cells, where only another panel has a border.
    fn spacer(&self, row: usize) -> Line {
        let mut line = vec![self.head("")];
        for column in 0..=self.panel.columns.len() {
            line.push(self.upright(row, column));
            let blank = if column < self.panel.columns.len() { self.width + 2 } else { 0 };
            line.push(plain(&" ".repeat(blank)));
        }
        line
    }

    /// The bar of a row before a column, blank where the row has none there.
    fn upright(&self, row: usize, column: usize) -> Span {
        let open = self.panel.before(row, column).is_none_or(|weight| weight == 0);
        self.bar(column, |weight| match (open, weight) {
            (true, _) => " ",
            (false, 1) => "|",
            (false, _) => "#",
        })
    }
}

/// The text of a cell on one line; padding without a value is a point.
fn shown(paint: Paint, text: &str) -> String {
    if paint == Paint::Padding && text.is_empty() { ".".into() } else { inner(text) }
}

fn inner(text: &str) -> String {
    escape::terminal(&text.replace('\n', " "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::palette::{HUES, tint};

    #[test]
    fn the_colours_of_a_terminal_differ_too() {
        let mut codes: Vec<u16> = (0..HUES).map(|hue| code(tint(hue, false))).collect();
        assert!(codes.iter().all(|code| (16..232).contains(code)));
        codes.sort_unstable();
        codes.dedup();
        assert_eq!(codes.len(), usize::from(HUES));
    }
}
