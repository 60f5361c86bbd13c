//! Prints a scene as text: cells in columns, borders of ASCII, and, if the terminal has colours, backgrounds in the 256
//! colours of ECMA-48 (xterm's palette: a cube of six levels).

use crate::{
    Band, Joint, Limits, Margin, Paint, Panel, Scene,
    page::{ground, wrap},
    palette::Rgb,
    printers,
};

/// The approximate number of characters of a line.
const WIDTH: usize = 100;

/// A part of a line in one style.
#[derive(Clone, Debug)]
struct StyledText {
    text: String,
    ground: Option<Rgb>,
    strong: bool,
}

/// A line of spans.
type SpanLine = Vec<StyledText>;

impl Scene {
    /// Returns the picture as text for a terminal, with its colours (the 256 of ECMA-48) or without. Panels with only a
    /// gap between them are put below one another if a line would exceed 100 characters.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_draw::{Limits, Subject, grid};
    /// let layout = TensorLayout::row_major(&[2, 2])?;
    /// let scene = grid(&Subject::new(&layout), &Limits::default())?;
    /// assert!(scene.to_terminal(true).contains("\u{1b}[30;48;5;"));
    /// let lines = ["      0 1", "    +-----+", " 0  | 0 1 |", " 1  | 2 3 |", "    +-----+"];
    /// let text = scene.to_terminal(false);
    /// assert_eq!(text.lines().skip(2).take(5).collect::<Vec<_>>(), lines);
    /// # Ok::<(), tilewright_core::Error>(())
    /// ```
    pub fn to_terminal(&self, colours: bool) -> String {
        self.to_terminal_within(colours, WIDTH)
    }

    /// Returns the picture in lines of at most `width` characters: panels that do not fit side by side are put below
    /// one another, and texts are broken into lines. A single panel is as wide as its cells; [`Limits`](crate::Limits)
    /// bound these.
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

    /// Draws a scene with the most columns that fit lines of `width` characters, up to those of the limits.
    ///
    /// # Errors
    /// Those of `draw`.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_draw::{Limits, Scene, Subject, grid};
    /// let layout = TensorLayout::row_major(&[100, 100])?;
    /// let draw = |limits: &Limits| grid(&Subject::new(&layout), limits);
    /// let scene = Scene::fitted(60, Limits::default(), draw)?;
    /// assert!(scene.panels().all(|panel| panel.columns.len() == 10));
    /// # Ok::<(), tilewright_core::Error>(())
    /// ```
    pub fn fitted<E>(
        width: usize,
        mut limits: Limits,
        mut draw: impl FnMut(&Limits) -> Result<Scene, E>,
    ) -> Result<Scene, E> {
        loop {
            let scene = draw(&limits)?;
            let text = scene.to_terminal_within(false, width);
            let widest = text.lines().map(|line| line.chars().count()).max().unwrap_or(0);
            if widest <= width || limits.columns <= 1 {
                return Ok(scene);
            }
            // Margins keep their width, so this may leave out too few columns; the next iteration leaves out more.
            let fewer = u128::from(limits.columns) * width as u128 / widest as u128;
            limits.columns = u64::try_from(fewer).unwrap_or(1).clamp(1, limits.columns - 1);
        }
    }

    /// Returns the cells alone, a line for each row, with the captions of panels above and the notes below.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_draw::{Label, Limits, Subject, grid};
    /// let layout = TensorLayout::row_major(&[2, 3])?;
    /// let scene = grid(&Subject::new(&layout).labelled(Label::Names), &Limits::default())?;
    /// assert_eq!(scene.to_rows(), "a b c\nd e f\n");
    /// # Ok::<(), tilewright_core::Error>(())
    /// ```
    pub fn to_rows(&self) -> String {
        let mut text = String::new();
        for panel in self.panels() {
            if !panel.caption.is_empty() {
                text += &format!("{}\n", panel.caption);
            }
            let cells: Vec<String> =
                panel.cells.iter().map(|cell| shown(cell.paint, &cell.text)).collect();
            let width = cells.iter().map(|cell| cell.chars().count()).max().unwrap_or(0);
            for row in cells.chunks(panel.columns.len().max(1)) {
                let row: Vec<String> = row.iter().map(|cell| format!("{cell:>width$}")).collect();
                text += &format!("{}\n", row.join(" "));
            }
        }
        self.notes.iter().for_each(|note| text += &format!("{note}\n"));
        text
    }
}

fn print(scene: &Scene, colours: bool, most: usize) -> String {
    let mut lines: Vec<SpanLine> = Vec::new();
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
                    |&paint| StyledText { text: "  ".into(), ground: ground(paint), strong: false };
                let swatches: SpanLine = key.paints.iter().map(swatch).collect();
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

/// Returns a text in lines.
fn texts(text: &str, most: usize) -> Vec<SpanLine> {
    wrap(text, most).iter().map(|line| vec![plain(line)]).collect()
}

fn plain(text: &str) -> StyledText {
    StyledText { text: printers::terminal(text), ground: None, strong: false }
}

fn render(line: &SpanLine, colours: bool) -> String {
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

/// Returns the nearest of the 216 colours of the cube.
fn code(colour: Rgb) -> u16 {
    let level = |channel: u8| match channel {
        0..=47 => 0,
        48..=114 => 1,
        channel => (u16::from(channel) - 35) / 40,
    };
    16 + 36 * level(colour.0) + 6 * level(colour.1) + level(colour.2)
}

fn width(line: &SpanLine) -> usize {
    line.iter().map(|span| span.text.chars().count()).sum()
}

/// Splits a band whose panels are too wide side by side: panels with only a gap between them are put below if
/// necessary, and panels joined by a sign are put below the sign. Before that, texts above the cells are broken into
/// lines.
fn broken(band: &Band, most: usize) -> Vec<Band> {
    let signed = band.joints.iter().any(|joint| *joint != Joint::Gap);
    if signed && let Some(whole) = joined(band, most) {
        return vec![whole];
    }
    let (mut bands, mut used) = (Vec::<Band>::new(), 0);
    for (at, panel) in band.panels.iter().enumerate() {
        let panel = narrowed(panel, "", most);
        let own = LineSizes::new(&panel).width() + GAP;
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

/// Returns the whole band side by side if it fits: with complete texts above its panels, or else with each text within
/// its share of the width.
fn joined(band: &Band, most: usize) -> Option<Band> {
    let joints = GAP * band.joints.len();
    let share = (most.saturating_sub(joints) / band.panels.len().max(1)).saturating_sub(GAP);
    let within = |room| {
        let panels: Vec<Panel> =
            band.panels.iter().map(|panel| narrowed(panel, "", room)).collect();
        let all: usize = panels.iter().map(|panel| LineSizes::new(panel).width() + GAP).sum();
        (all + joints <= most).then(|| Band { panels, joints: band.joints.clone() })
    };
    [most, share].into_iter().find_map(within)
}

/// Returns the panel with `sign` before its caption, and with its caption and detail in lines that are no longer than
/// its cells, or than `room` characters.
fn narrowed(panel: &Panel, sign: &str, room: usize) -> Panel {
    let room = room.max(LineSizes::new(panel).body());
    let lines = |text: &str| wrap(&printers::terminal(text), room).join("\n");
    Panel {
        caption: lines(&format!("{sign}{}", panel.caption)),
        detail: lines(&panel.detail),
        ..panel.clone()
    }
}

/// The characters between two panels.
const GAP: usize = 3;

/// Returns the lines of the panels of a band side by side, with the signs between them in the middle.
fn beside(band: &Band) -> Vec<SpanLine> {
    let mut all: Vec<SpanLine> = Vec::new();
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

/// Returns the lines of each panel. Above the cells and between the rows, each panel gets the number of lines of the
/// one with the most.
fn aligned(band: &Band) -> Vec<Vec<SpanLine>> {
    let panels: Vec<LineSizes<'_>> = band.panels.iter().map(LineSizes::new).collect();
    let most = panels.iter().map(|rows| rows.panel.rows.len()).max().unwrap_or(0);
    let mut lines: Vec<Vec<SpanLine>> = panels.iter().map(LineSizes::above).collect();
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

/// The sizes that the lines of a panel share.
struct LineSizes<'a> {
    panel: &'a Panel,
    margin: usize,
    width: usize,
    /// The weight of the bar before each column and after the last, 0 for none.
    bars: Vec<u8>,
    /// True if a text has blanks itself: one blank would not separate it from the next text.
    has_blanks: bool,
}

impl<'a> LineSizes<'a> {
    fn new(panel: &'a Panel) -> LineSizes<'a> {
        let texts = panel.cells.iter().map(|cell| inner(&cell.text).chars().count());
        let heads =
            panel.columns.iter().flat_map(|c| [c.head.chars().count(), c.tail.chars().count()]);
        let bar = |column| (0..panel.rows.len()).filter_map(|row| panel.before(row, column)).max();
        LineSizes {
            panel,
            margin: panel.rows.iter().map(|row| row.head.chars().count()).max().unwrap_or(0),
            width: texts.chain(heads).max().unwrap_or(1).max(1),
            bars: (0..=panel.columns.len()).map(|column| bar(column).unwrap_or(0)).collect(),
            has_blanks: panel.cells.iter().any(|cell| cell.text.contains([' ', '\n'])),
        }
    }

    /// Returns the blank before the cells of a column: none if that at the end of the column before suffices.
    fn blank(&self, column: usize) -> &'static str {
        let is_apart = column == 0 || self.bars[column] > 0 || self.has_blanks;
        if is_apart { " " } else { "" }
    }

    /// Returns the number of characters across.
    fn width(&self) -> usize {
        self.body().max(self.above().iter().map(width).max().unwrap_or(0))
    }

    /// Returns the number of characters across, without the texts above, and with the tails of rows.
    fn body(&self) -> usize {
        let tails = self.panel.rows.iter().map(|row| row.tail.chars().count());
        let tail = tails.max().filter(|&tail| tail > 0).map_or(0, |tail| tail + 1);
        width(&self.names(|column| &column.head)) + 1 + tail
    }

    /// Returns the texts above the columns' names, line by line.
    fn above(&self) -> Vec<SpanLine> {
        let texts = [&self.panel.caption, &self.panel.detail].into_iter();
        texts.flat_map(|text| text.lines()).map(|text| vec![plain(text)]).collect()
    }

    fn head(&self, text: &str) -> StyledText {
        plain(&format!(" {text:>0$}  ", self.margin))
    }

    fn bar(&self, column: usize, sign: impl Fn(u8) -> &'static str) -> StyledText {
        plain(match self.bars[column] {
            0 => "",
            weight => sign(weight),
        })
    }

    /// Returns the names above or below the columns.
    fn names(&self, name: impl Fn(&'a Margin) -> &'a String) -> SpanLine {
        let mut line = vec![self.head("")];
        for (at, column) in self.panel.columns.iter().enumerate() {
            line.push(self.bar(at, |_| " "));
            let blank = self.blank(at);
            line.push(plain(&format!("{blank}{:>1$} ", name(column), self.width)));
        }
        line
    }

    /// Returns the border above a row, if there is one.
    fn border(&self, row: usize) -> Option<SpanLine> {
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
            line.push(plain(&rule.repeat(self.blank(column).len() + self.width + 1)));
        }
        line.push(self.bar(self.panel.columns.len(), corner));
        Some(line)
    }

    fn cells(&self, row: usize) -> SpanLine {
        let mut line = vec![self.head(&self.panel.rows[row].head)];
        for column in 0..self.panel.columns.len() {
            line.push(self.upright(row, column));
            let blank = self.blank(column);
            line.extend(self.panel.cell(row, column).map(|cell| StyledText {
                text: format!("{blank}{:>1$} ", shown(cell.paint, &cell.text), self.width),
                ground: ground(cell.paint).filter(|_| cell.paint != Paint::Padding),
                strong: cell.marked,
            }));
        }
        line.push(self.upright(row, self.panel.columns.len()));
        line.push(plain(&format!(" {}", self.panel.rows[row].tail)));
        line
    }

    /// Returns a line without cells, for a row before which only another panel has a border.
    fn spacer(&self, row: usize) -> SpanLine {
        let mut line = vec![self.head("")];
        for column in 0..=self.panel.columns.len() {
            line.push(self.upright(row, column));
            if column < self.panel.columns.len() {
                line.push(plain(&" ".repeat(self.blank(column).len() + self.width + 1)));
            }
        }
        line
    }

    /// Returns the bar of a row before a column, blank if the row has none there.
    fn upright(&self, row: usize, column: usize) -> StyledText {
        let open = self.panel.before(row, column).is_none_or(|weight| weight == 0);
        self.bar(column, |weight| match (open, weight) {
            (true, _) => " ",
            (false, 1) => "|",
            (false, _) => "#",
        })
    }
}

/// Returns the text of a cell on one line; padding without a value is a point.
pub(crate) fn shown(paint: Paint, text: &str) -> String {
    if paint == Paint::Padding && text.is_empty() { ".".into() } else { inner(text) }
}

fn inner(text: &str) -> String {
    printers::terminal(&text.replace('\n', " "))
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
