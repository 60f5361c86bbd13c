//! Layouts drawn in text: a grid of coordinates, or memory as a line, of one layout or of two side by side. A grid has
//! numbers on the margins, cells, and borders.

use std::{
    error,
    fmt::{self, Write as _},
};

use tilewright_core::{Coord, Error, Fill, Place, TensorLayout, unravel_index};

/// Contents of the cells of a picture.
///
/// ```
/// use tilewright::{Fill, TensorLayout, picture::{Cells, Picture}};
/// let columns = TensorLayout::col_major(&[2, 3]).unwrap();
/// let picture = Picture::new(&columns, Fill::Unspecified);
/// let memory = |cells| picture.memory(cells).unwrap();
/// assert_eq!(memory(Cells::Offsets), "0 1 2 3 4 5\n");
/// assert_eq!(memory(Cells::Names), "a d b e c f\n");
/// assert_eq!(memory(Cells::Numbers), "0 3 1 4 2 5\n");
/// assert_eq!(memory(Cells::Coords), "(0,0) (1,0) (0,1) (1,1) (0,2) (1,2)\n");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cells {
    /// The offset of each element.
    Offsets,
    /// The elements as a, b, c …, in row-major order.
    Names,
    /// The row-major numbers of the elements.
    Numbers,
    /// The coordinates of the elements.
    Coords,
}

/// Bounds on the size of a picture. The picture counts what it omits.
///
/// ```
/// use tilewright::{Fill, TensorLayout, picture::{Cells, Limits, Picture}};
/// let layout = TensorLayout::row_major(&[1 << 20]).unwrap();
/// let limits = Limits { cells: 4, ..Limits::default() };
/// let picture = Picture::new(&layout, Fill::Unspecified).within(limits);
/// assert_eq!(picture.memory(Cells::Offsets).unwrap(), "0 1 2 3\n… 1048572 more cells\n");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Characters across.
    pub width: usize,
    /// Rows of one grid.
    pub rows: u64,
    /// Grids, for arrays of more than two dims.
    pub panels: u64,
    /// Cells of memory, unless fewer fit the width.
    pub cells: u64,
}

impl Default for Limits {
    /// The limits if the width of a line is not known: 100 characters across, 64 rows, 4 panels, 4096 cells of memory.
    fn default() -> Limits {
        Limits { width: 100, rows: 64, panels: 4, cells: 4096 }
    }
}

impl Limits {
    /// Returns limits that fit a terminal of `width` characters and `height` lines.
    ///
    /// ```
    /// use tilewright::picture::Limits;
    /// let limits = Limits::terminal(80, 24);
    /// assert_eq!((limits.width, limits.rows, limits.cells), (80, 12, 480));
    /// // Something is drawn in the smallest.
    /// assert!(Limits::terminal(0, 0).width > 0);
    /// ```
    pub fn terminal(width: usize, height: usize) -> Limits {
        Limits {
            width: width.max(20),
            rows: (height as u64 / 2).max(4),
            panels: 4,
            cells: (width as u64).saturating_mul(height as u64) / 4,
        }
    }
}

/// A layout to draw.
///
/// ```
/// use tilewright::{Fill, TensorLayout, picture::{Cells, Picture}};
/// let layout = TensorLayout::row_major(&[2, 3]).unwrap();
/// let picture = Picture::new(&layout, Fill::Unspecified);
/// let lines = [
///     "      0   1   2",
///     "    +---+---+---+",
///     " 0  | 0 | 1 | 2 |",
///     "    +---+---+---+",
///     " 1  | 3 | 4 | 5 |",
///     "    +---+---+---+",
/// ];
/// assert!(picture.grid(Cells::Offsets).lines().eq(lines));
/// assert_eq!(picture.memory(Cells::Names).unwrap(), "a b c d e f\n");
/// ```
#[must_use]
#[derive(Clone, Debug)]
pub struct Picture<'a> {
    layout: &'a TensorLayout,
    fill: Fill,
    limits: Limits,
    tiles: bool,
}

/// Part of an array that is drawn as one grid: two dims vary, the others are fixed.
struct Panel {
    /// The coordinate with the two drawn dims at 0.
    fixed: Vec<u64>,
    /// The drawn extent and the whole padded extent.
    rows: (u64, u64),
    columns: (u64, u64),
}

impl<'a> Picture<'a> {
    /// Returns a picture of `layout`, whose padding holds `fill`.
    ///
    /// ```
    /// use tilewright::{Fill, Spec, picture::{Cells, Picture}};
    /// let padded = Spec::parse("(2,2):(2,1) valid (1,2)")?.resolve(None, None)?;
    /// let memory = |fill| Picture::new(padded.layout(), fill).memory(Cells::Names);
    /// assert_eq!([memory(Fill::Zero)?, memory(Fill::One)?], ["a b 0 0\n", "a b 1 1\n"]);
    /// # Ok::<(), tilewright::Error>(())
    /// ```
    pub fn new(layout: &'a TensorLayout, fill: Fill) -> Picture<'a> {
        Picture { layout, fill, limits: Limits::default(), tiles: false }
    }

    /// Sets the limits within which the picture is drawn.
    ///
    /// ```
    /// use tilewright::{Fill, TensorLayout, picture::{Cells, Limits, Picture}};
    /// let layout = TensorLayout::row_major(&[3, 3]).unwrap();
    /// let limits = Limits { rows: 1, ..Limits::default() };
    /// let picture = Picture::new(&layout, Fill::Unspecified).within(limits);
    /// assert!(picture.rows(Cells::Names).starts_with("a b c\n…"));
    /// ```
    pub fn within(mut self, limits: Limits) -> Picture<'a> {
        self.limits = limits;
        self
    }

    /// Draws borders round tiles instead of cells. An axis of several modes has a border at every multiple of its inner modes'
    /// size, and a heavier one round tiles of tiles. Layouts that mix the dims have no such multiples, so only the frame is
    /// drawn.
    ///
    /// ```
    /// use tilewright::{Spec, picture::{Cells, Picture}};
    /// let tiled = Spec::parse("f32[3,5]{1,0:T(2,2)}")?.resolve(None, None)?;
    /// let picture = Picture::new(tiled.layout(), tiled.fill()).with_tiles();
    /// let lines = [
    ///     "       0  1    2  3    4  5",
    ///     "    +-------+-------+-------+",
    ///     " 0  |  0  1 |  4  5 |  8  . |",
    ///     " 1  |  2  3 |  6  7 | 10  . |",
    ///     "    +-------+-------+-------+",
    ///     " 2  | 12 13 | 16 17 | 20  . |",
    ///     " 3  |  .  . |  .  . |  .  . |",
    ///     "    +-------+-------+-------+",
    /// ];
    /// assert!(picture.grid(Cells::Offsets).lines().eq(lines));
    /// # Ok::<(), tilewright::Error>(())
    /// ```
    pub fn with_tiles(mut self) -> Picture<'a> {
        self.tiles = true;
        self
    }

    /// Draws the last two dims as a grid with coordinates on both margins, one grid for each coordinate of the other dims.
    /// Padding shows as the declared fill, or `.`.
    ///
    /// ```
    /// use tilewright::{Fill, Spec, picture::{Cells, Picture}};
    /// let tiled = Spec::parse("f32[2,3]{1,0:T(2,2)}")?.resolve(None, None)?;
    /// let grid = Picture::new(tiled.layout(), Fill::Unspecified).grid(Cells::Offsets);
    /// // Column 3 is padding, at offsets 5 and 7.
    /// assert_eq!(grid.lines().nth(2), Some(" 0  | 0 | 1 | 4 | . |"));
    /// # Ok::<(), tilewright::Error>(())
    /// ```
    pub fn grid(&self, cells: Cells) -> String {
        self.panels(cells, |panel, text, width| self.frame(panel, text, width, ' ').to_string())
    }

    /// Draws the padded array as rows of cells without a frame.
    ///
    /// ```
    /// use tilewright::{Spec, picture::{Cells, Picture}};
    /// let padded = Spec::parse("{0,1}pad(3,5)fill(0)").unwrap().resolve(Some(&[2, 3]), None).unwrap();
    /// let picture = Picture::new(padded.layout(), padded.fill());
    /// assert_eq!(picture.rows(Cells::Names), "a b c 0 0\nd e f 0 0\n0 0 0 0 0\n");
    /// assert_eq!(picture.memory(Cells::Names).unwrap(), "a d 0 b e 0 c f 0 0 0 0 0 0 0\n");
    /// ```
    pub fn rows(&self, cells: Cells) -> String {
        self.panels(cells, |_, text, width| plain(text, width))
    }

    /// Draws memory from the first offset on, as one line within the width, and counts the cells that do not fit below it.
    ///
    /// # Errors
    /// [undecided](Error::is_undecided) as [`TensorLayout::locate`].
    ///
    /// ```
    /// use tilewright::{Fill, Spec, picture::{Cells, Picture}};
    /// let zn = Spec::parse("zN[M0=2,C0=2]")?.resolve(Some(&[3, 4]), None)?;
    /// let picture = Picture::new(zn.layout(), Fill::Zero);
    /// assert_eq!(picture.memory(Cells::Names)?, "a b e f i j 0 0 c d g h k l 0 0\n");
    /// # Ok::<(), tilewright::Error>(())
    /// ```
    pub fn memory(&self, cells: Cells) -> Result<String, Error> {
        let (low, high) = self.span();
        let whole = high.saturating_sub(low);
        let most = whole.min(i64::try_from(self.limits.cells).unwrap_or(i64::MAX));
        let (mut text, mut used, mut drawn) = (String::new(), 0, 0);
        for offset in low..low + most {
            let cell = self.stored(cells, offset)?.unwrap_or_else(|| self.padding());
            let blank = if drawn == 0 { "" } else { " " };
            used += blank.len() + cell.chars().count();
            if drawn > 0 && used > self.limits.width {
                break;
            }
            text += blank;
            text += &cell;
            drawn += 1;
        }
        text.push('\n');
        if drawn < whole {
            let _ = writeln!(text, "… {} more cells", whole - drawn);
        }
        Ok(text)
    }

    /// Returns the first offset of the storage, and the offset after its last.
    fn span(&self) -> (i64, i64) {
        let low = self.layout.layout().bounds().map_or(0, |(low, _)| low.min(0));
        (low, self.layout.capacity() as i64)
    }

    /// Returns the cell for an offset; `None` outside the storage.
    fn stored(&self, cells: Cells, offset: i64) -> Result<Option<String>, Error> {
        Ok(match self.layout.locate(offset)? {
            Place::Element(coord) => Some(self.cell(cells, &coord, offset)),
            Place::Padding => Some(self.padding()),
            Place::OutOfRange => None,
        })
    }

    fn cell(&self, cells: Cells, coord: &Coord, offset: i64) -> String {
        match cells {
            Cells::Offsets => offset.to_string(),
            Cells::Names => name(number(self.layout.extents(), coord.as_slice())),
            Cells::Numbers => number(self.layout.extents(), coord.as_slice()).to_string(),
            Cells::Coords => coord.to_string(),
        }
    }

    fn padding(&self) -> String {
        match self.fill {
            Fill::Unspecified => ".".into(),
            Fill::Zero => "0".into(),
            Fill::One => "1".into(),
            Fill::Lowest => "lowest".into(),
            Fill::Highest => "highest".into(),
            Fill::Unknown => "?".into(),
            Fill::Bits(bits) => format!("{bits:#x}"),
        }
    }

    /// Returns the extent of a dim, with padding if the dim is an axis of its own.
    fn padded(&self, dim: usize) -> u64 {
        let own = self.layout.extents()[dim];
        match self.layout.layout().axis_size(dim) {
            Some(size) if self.layout.is_strided() => size,
            _ => own,
        }
    }

    fn panels(
        &self,
        cells: Cells,
        draw: impl Fn(&Panel, &[Vec<String>], usize) -> String,
    ) -> String {
        let rank = self.layout.rank();
        let outer = &self.layout.extents()[..rank.saturating_sub(2)];
        let whole = count(outer);
        let mut text = String::new();
        for index in 0..whole.min(self.limits.panels) {
            let fixed: Vec<u64> = unravel_index(index, outer).collect();
            if !outer.is_empty() {
                let _ = writeln!(text, "[{},:,:]", join(&fixed));
            }
            text += &self.panel(cells, fixed, &draw);
        }
        if whole > self.limits.panels {
            let _ = writeln!(text, "… {} more panels", whole - self.limits.panels);
        }
        text
    }

    fn panel(
        &self,
        cells: Cells,
        fixed: Vec<u64>,
        draw: impl Fn(&Panel, &[Vec<String>], usize) -> String,
    ) -> String {
        let (panel, text, width) = self.filled(cells, fixed);
        draw(&panel, &text, width) + &elided(&panel)
    }

    /// Returns a panel within the limits, its cells, and the number of characters of the widest cell.
    fn filled(&self, cells: Cells, mut fixed: Vec<u64>) -> (Panel, Vec<Vec<String>>, usize) {
        let rank = self.layout.rank();
        let rows = if rank < 2 { 1 } else { self.padded(rank - 2) };
        let columns = if rank < 1 { 1 } else { self.padded(rank - 1) };
        fixed.resize(rank, 0);
        let drawn = rows.min(self.limits.rows);
        let mut panel = Panel {
            fixed,
            rows: (drawn, rows),
            columns: (columns.min(self.limits.width as u64), columns),
        };
        let mut text = self.cells(cells, &panel);
        let width = text.iter().flatten().map(|cell| cell.chars().count()).max().unwrap_or(1);
        let width = width.max(panel.columns.0.saturating_sub(1).to_string().len());
        let margin = drawn.saturating_sub(1).to_string().len() + 4;
        let fits = (self.limits.width.saturating_sub(margin) / (width + 3)).max(1) as u64;
        if fits < panel.columns.0 {
            panel.columns.0 = fits;
            text.iter_mut().for_each(|row| row.truncate(fits as usize));
        }
        (panel, text, width)
    }

    /// Returns a panel with row numbers, column numbers and borders; `label` is in the corner.
    fn frame(&self, panel: &Panel, text: &[Vec<String>], width: usize, label: char) -> Frame {
        let rank = self.layout.rank();
        let borders = match self.tiles {
            true => Borders::new(self.cuts(rank.checked_sub(2)), self.cuts(rank.checked_sub(1))),
            false => Borders::new(vec![1], vec![1]),
        };
        Frame::new(text, panel.columns.0, width, label, &borders)
    }

    /// Returns the sizes of the tiles of a dim, inner first.
    fn cuts(&self, dim: Option<usize>) -> Vec<u64> {
        let modes = match dim {
            Some(dim) if self.layout.is_strided() => self.layout.layout().axis(dim),
            _ => None,
        };
        let extents = modes.unwrap_or(&[]).iter().map(|mode| mode.extent());
        let mut sizes: Vec<u64> = extents
            .filter(|&extent| extent != 1)
            .scan(1, |size, extent| {
                *size = extent.saturating_mul(*size);
                Some(*size)
            })
            .collect();
        sizes.pop();
        sizes
    }

    fn cells(&self, cells: Cells, panel: &Panel) -> Vec<Vec<String>> {
        let row = |i| (0..panel.columns.0).map(|j| self.cell_at(cells, panel, i, j)).collect();
        (0..panel.rows.0).map(row).collect()
    }

    fn cell_at(&self, cells: Cells, panel: &Panel, i: u64, j: u64) -> String {
        let mut coord = panel.fixed.clone();
        let rank = coord.len();
        if rank > 1 {
            coord[rank - 2] = i;
        }
        if rank > 0 {
            coord[rank - 1] = j;
        }
        match (self.layout.offset(&coord), Coord::new(&coord)) {
            (Ok(offset), Ok(coord)) => self.cell(cells, &coord, offset),
            _ => self.padding(),
        }
    }
}

fn plain(text: &[Vec<String>], width: usize) -> String {
    let width = if text.iter().flatten().all(|cell| cell.chars().count() == 1) { 1 } else { width };
    let mut picture = String::new();
    for row in text {
        let cells: Vec<String> = row.iter().map(|cell| format!("{cell:>width$}")).collect();
        picture += cells.join(" ").as_str();
        picture.push('\n');
    }
    picture
}

/// Returns a line that counts the rows and columns that a panel omits.
fn elided(panel: &Panel) -> String {
    let rows = panel.rows.1 - panel.rows.0;
    let columns = panel.columns.1 - panel.columns.0;
    match (rows, columns) {
        (0, 0) => String::new(),
        (0, _) => format!("… {columns} more columns\n"),
        (_, 0) => format!("… {rows} more rows\n"),
        _ => format!("… {rows} more rows, {columns} more columns\n"),
    }
}

fn join(values: &[u64]) -> String {
    values.iter().map(u64::to_string).collect::<Vec<_>>().join(",")
}

fn count(extents: &[u64]) -> u64 {
    extents.iter().fold(1, |size, &extent| size.saturating_mul(extent))
}

/// Returns the row-major index of a coordinate.
fn number(extents: &[u64], coord: &[u64]) -> u64 {
    extents.iter().zip(coord).fold(0, |index, (extent, x)| index * extent + x)
}

/// Returns a name as of the columns of spreadsheets: 0 → a, 25 → z, 26 → aa.
fn name(mut number: u64) -> String {
    let mut letters = Vec::new();
    loop {
        letters.push(char::from(b'a' + (number % 26) as u8));
        if number < 26 {
            break;
        }
        number = number / 26 - 1;
    }
    letters.iter().rev().collect()
}

/// Positions and weights of borders.
struct Borders {
    rows: Vec<u64>,
    columns: Vec<u64>,
}

impl Borders {
    /// Puts borders at the multiples of these sizes, given inner first.
    fn new(rows: Vec<u64>, columns: Vec<u64>) -> Borders {
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
struct Frame {
    header: String,
    rows: Vec<String>,
    /// The line before each row and after the last one, if there is a border.
    borders: Vec<Option<String>>,
    /// A line without cells, used where only the other grid has a border.
    spacer: String,
}

impl Frame {
    fn new(
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
    fn beside(&self, other: &Frame) -> Vec<(String, String)> {
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

/// Two pictures of one array, see [`Picture::beside`].
///
/// ```
/// use tilewright::{Spec, picture::{Cells, Picture}};
/// let rows = Spec::parse("row-major")?.resolve(Some(&[2, 3]), None)?;
/// let columns = Spec::parse("col-major")?.resolve(Some(&[2, 3]), None)?;
/// let left = Picture::new(rows.layout(), rows.fill()).with_tiles();
/// let right = Picture::new(columns.layout(), columns.fill()).with_tiles();
/// let lines = [
///     " A    0 1 2      B    0 1 2",
///     "    +-------+       +-------+",
///     " 0  | 0 1 2 |    0  | 0 2 4 |",
///     " 1  | 3 4 5 |    1  | 1 3 5 |",
///     "    +-------+       +-------+",
/// ];
/// assert!(left.beside(&right)?.grid(Cells::Offsets).lines().eq(lines));
/// # Ok::<(), tilewright::Error>(())
/// ```
#[must_use]
#[derive(Clone, Debug)]
pub struct Pair<'a> {
    left: &'a Picture<'a>,
    right: &'a Picture<'a>,
}

/// Error of two layouts that cannot be drawn side by side: their logical extents differ.
///
/// ```
/// use tilewright::{Fill, TensorLayout, picture::Picture};
/// let layout = |extents: &[u64]| TensorLayout::row_major(extents).unwrap();
/// let (a, b) = (layout(&[2, 3]), layout(&[3, 2]));
/// let (a, b) = (Picture::new(&a, Fill::Zero), Picture::new(&b, Fill::Zero));
/// let error = a.beside(&b).unwrap_err();
/// assert_eq!((error.left.as_slice(), error.right.as_slice()), (&[2, 3][..], &[3, 2][..]));
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Unequal {
    /// The extents of the left layout.
    pub left: Vec<u64>,
    /// The extents of the right layout.
    pub right: Vec<u64>,
}

impl fmt::Display for Unequal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (left, right) = (join(&self.left), join(&self.right));
        write!(
            f,
            "A has the extents ({left}) and B ({right}); only layouts of equal extents are drawn side by side"
        )
    }
}

tilewright_core::debug_as_display!(Unequal);

impl error::Error for Unequal {}

impl From<Unequal> for crate::Error {
    fn from(unequal: Unequal) -> crate::Error {
        crate::Error::mismatch(unequal.to_string()).with_source(unequal)
    }
}

impl<'a> Picture<'a> {
    /// Puts this picture to the left of another of the same array, each within its own limits.
    ///
    /// # Errors
    /// [`Unequal`] if the logical extents differ.
    ///
    /// ```
    /// use tilewright::{Fill, TensorLayout, picture::{Cells, Picture}};
    /// let (a, b) = (TensorLayout::row_major(&[2])?, TensorLayout::row_major(&[3])?);
    /// let (a, b) = (Picture::new(&a, Fill::Zero), Picture::new(&b, Fill::Zero));
    /// assert!(a.beside(&b).unwrap_err().to_string().starts_with("A has the extents (2) and B (3)"));
    /// assert!(a.beside(&a)?.grid(Cells::Offsets).contains(" 0  | 0 | 1 |    0  | 0 | 1 |"));
    /// # Ok::<(), tilewright::Error>(())
    /// ```
    pub fn beside(&'a self, right: &'a Picture<'a>) -> Result<Pair<'a>, Unequal> {
        let (one, other) = (self.layout.extents(), right.layout.extents());
        if one != other {
            return Err(Unequal { left: one.to_vec(), right: other.to_vec() });
        }
        Ok(Pair { left: self, right })
    }
}

impl Pair<'_> {
    /// Draws both arrays as grids, with equal rows on one line.
    ///
    /// ```
    /// use tilewright::{Fill, Spec, TensorLayout, picture::{Cells, Picture}};
    /// let (a, b) = (TensorLayout::row_major(&[2, 2])?, TensorLayout::col_major(&[2, 2])?);
    /// let (a, b) = (Picture::new(&a, Fill::Zero), Picture::new(&b, Fill::Zero));
    /// // Element (0,1) stands at offset 1 of the one and at 2 of the other.
    /// let grids = a.beside(&b)?.grid(Cells::Offsets);
    /// assert_eq!(grids.lines().nth(2), Some(" 0  | 0 | 1 |    0  | 0 | 2 |"));
    /// # Ok::<(), tilewright::Error>(())
    /// ```
    pub fn grid(&self, cells: Cells) -> String {
        let (extents, limits) = (self.left.layout.extents(), self.left.limits);
        let outer = &extents[..extents.len().saturating_sub(2)];
        let whole = count(outer);
        let mut text = String::new();
        for index in 0..whole.min(limits.panels) {
            let fixed: Vec<u64> = unravel_index(index, outer).collect();
            if !outer.is_empty() {
                let _ = writeln!(text, "[{},:,:]", join(&fixed));
            }
            text += &columns(&self.panel(cells, fixed));
        }
        if whole > limits.panels {
            let _ = writeln!(text, "… {} more panels", whole - limits.panels);
        }
        text
    }

    fn panel(&self, cells: Cells, fixed: Vec<u64>) -> Vec<(String, String)> {
        let drawn = |picture: &Picture<'_>, label| {
            let (panel, text, width) = picture.filled(cells, fixed.clone());
            (picture.frame(&panel, &text, width, label), elided(&panel))
        };
        let ((left, left_out), (right, right_out)) =
            (drawn(self.left, 'A'), drawn(self.right, 'B'));
        let mut lines = left.beside(&right);
        if !(left_out.is_empty() && right_out.is_empty()) {
            lines.push((left_out.trim_end().to_owned(), right_out.trim_end().to_owned()));
        }
        lines
    }

    /// Draws both memories from the first offset to the last, one line for each offset.
    ///
    /// # Errors
    /// [undecided](Error::is_undecided) as [`Picture::memory`].
    ///
    /// ```
    /// use tilewright::{Spec, picture::{Cells, Picture}};
    /// let rows = Spec::parse("row-major")?.resolve(Some(&[1, 3]), None)?;
    /// let tiled = Spec::parse("zN[M0=1,C0=2]")?.resolve(Some(&[1, 3]), None)?;
    /// let left = Picture::new(rows.layout(), rows.fill());
    /// let right = Picture::new(tiled.layout(), tiled.fill());
    /// let lines = [
    ///     "offset  A      B",
    ///     "     0  (0,0)  (0,0)",
    ///     "     1  (0,1)  (0,1)",
    ///     "     2  (0,2)  (0,2)",
    ///     "     3         .",
    /// ];
    /// assert!(left.beside(&right)?.memory(Cells::Coords)?.lines().eq(lines));
    /// # Ok::<(), tilewright::Error>(())
    /// ```
    pub fn memory(&self, cells: Cells) -> Result<String, Error> {
        let (left, right) = (self.left.span(), self.right.span());
        let (low, high) = (left.0.min(right.0), left.1.max(right.1));
        let most = i64::try_from(self.left.limits.cells).unwrap_or(i64::MAX);
        let whole = high.saturating_sub(low);
        let drawn = whole.min(most);
        let mut lines = vec![["offset".to_owned(), "A".into(), "B".into()]];
        for offset in low..low + drawn {
            let [a, b] = [self.left.stored(cells, offset)?, self.right.stored(cells, offset)?];
            lines.push([offset.to_string(), a.unwrap_or_default(), b.unwrap_or_default()]);
        }
        let mut text = table(&lines);
        if drawn < whole {
            let _ = writeln!(text, "… {} more cells", whole - drawn);
        }
        Ok(text)
    }
}

/// Prints two columns of lines with blanks between them.
fn columns(lines: &[(String, String)]) -> String {
    let width = lines.iter().map(|(left, _)| left.chars().count()).max().unwrap_or(0);
    let line = |(left, right): &(String, String)| {
        format!("{}\n", format!("{left:<width$}   {right}").trim_end())
    };
    lines.iter().map(line).collect()
}

/// Prints three columns, offsets aligned to the right and elements to the left.
fn table(lines: &[[String; 3]]) -> String {
    let width =
        |column: usize| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0);
    let (offsets, left) = (width(0), width(1));
    let line = |[offset, a, b]: &[String; 3]| {
        format!("{}\n", format!("{offset:>offsets$}  {a:<left$}  {b}").trim_end())
    };
    lines.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tilewright_core::Layout;

    fn layout(text: &str) -> TensorLayout {
        TensorLayout::of(&Layout::parse(text).unwrap())
    }

    #[test]
    fn names_go_on_behind_z() {
        assert_eq!([0, 25, 26, 27, 701, 702].map(name), ["a", "z", "aa", "ab", "zz", "aaa"]);
    }

    #[test]
    fn the_blocked_grid_of_the_document() {
        let layout = layout("((4,2),(4,3)):((4,16),(1,32))");
        let grid = Picture::new(&layout, Fill::Unspecified).grid(Cells::Offsets);
        let rows: Vec<&str> = grid.lines().collect();
        assert_eq!(rows[0], "       0    1    2    3    4    5    6    7    8    9   10   11");
        assert_eq!(rows[2], " 0  |  0 |  1 |  2 |  3 | 32 | 33 | 34 | 35 | 64 | 65 | 66 | 67 |");
        assert_eq!(rows[16], " 7  | 28 | 29 | 30 | 31 | 60 | 61 | 62 | 63 | 92 | 93 | 94 | 95 |");
        assert_eq!(rows.len(), 18);
    }

    #[test]
    fn large_arrays_are_elided_and_say_so() {
        let layout = layout("(1000000,1000000):(1000000,1)");
        let limits = Limits { width: 40, rows: 2, panels: 1, cells: 3 };
        let picture = Picture::new(&layout, Fill::Unspecified).within(limits);
        assert!(
            picture.grid(Cells::Offsets).ends_with("… 999998 more rows, 999997 more columns\n")
        );
        assert_eq!(picture.memory(Cells::Numbers).unwrap(), "0 1 2\n… 999999999997 more cells\n");
    }

    #[test]
    fn memory_keeps_to_its_width_and_counts_the_rest() {
        let layout = layout("(9,12):(12,1)");
        for width in 1..400 {
            let limits = Limits { width, ..Limits::default() };
            let memory =
                Picture::new(&layout, Fill::Zero).within(limits).memory(Cells::Names).unwrap();
            let (line, rest) = memory.split_once('\n').unwrap();
            let shown = line.split(' ').count();
            assert!(line.len() <= width || shown == 1, "{width}: {memory}");
            let more = if shown < 108 {
                format!("… {} more cells\n", 108 - shown)
            } else {
                String::new()
            };
            assert_eq!(rest, more, "{width}");
            // The next cell, of at most two letters, does not fit.
            assert!(shown == 108 || line.len() + 3 > width, "{width}: {memory}");
        }
    }

    #[test]
    fn every_rank_has_a_picture() {
        assert!(Picture::new(&layout("():()"), Fill::Zero).grid(Cells::Names).contains("| a |"));
        assert!(
            Picture::new(&layout("(4):(2)"), Fill::Zero)
                .grid(Cells::Offsets)
                .contains("| 0 | 2 | 4 | 6 |")
        );
        let cube = Picture::new(&layout("(2,2,2):(4,2,1)"), Fill::Zero).grid(Cells::Offsets);
        assert!(cube.starts_with("[0,:,:]\n") && cube.contains("[1,:,:]\n"));
        assert_eq!(Picture::new(&layout("(0,3):(1,1)"), Fill::Zero).rows(Cells::Names), "");
        let reversed = layout("4:-1");
        assert_eq!(Picture::new(&reversed, Fill::Zero).memory(Cells::Names).unwrap(), "d c b a\n");
    }
    #[test]
    fn every_pair_keeps_the_lines_of_each() {
        let texts = ["():()", "(4):(2)", "(0,3):(1,1)", "((2,2),3):((1,6),2)", "(2,2,2):(4,2,1)"];
        for text in texts {
            let (one, other) =
                (layout(text), TensorLayout::row_major(layout(text).extents()).unwrap());
            let tiled = Picture::new(&one, Fill::Zero).with_tiles();
            let cells = Picture::new(&other, Fill::Zero);
            let grid = |picture: &Picture<'_>| {
                let pair = picture.beside(&cells).unwrap();
                pair.grid(Cells::Names).lines().filter(|line| line.contains('|')).count()
            };
            let rows = one.extents().iter().rev().skip(1).product::<u64>() as usize;
            // The lines above and below every row are borders of cells, without bars.
            assert_eq!(grid(&cells), rows, "{text}");
            assert!(grid(&tiled) >= rows, "{text}");
            let memory = tiled.beside(&cells).unwrap().memory(Cells::Coords).unwrap();
            let storage = one.capacity().max(other.capacity()) as usize;
            assert_eq!(memory.lines().count(), 1 + storage, "{text}");
        }
    }

    #[test]
    fn pairs_of_large_arrays_are_elided_too() {
        let layout = layout("(1000000,1000000):(1000000,1)");
        let limits = Limits { width: 40, rows: 2, panels: 1, cells: 3 };
        let picture = Picture::new(&layout, Fill::Unspecified).within(limits).with_tiles();
        let pair = picture.beside(&picture).unwrap();
        let left_out = "… 999998 more rows, 999997 more columns";
        assert!(pair.grid(Cells::Offsets).ends_with(&format!("{left_out}   {left_out}\n")));
        assert!(pair.memory(Cells::Coords).unwrap().ends_with("… 999999999997 more cells\n"));
    }
}
