//! The contents of a picture, independent of the format in which it is printed, and its bounds. Pictures make it, and
//! printers print it.
//!
//! A [`Scene`] is a list of bands below one another, each with panels side by side. A [`Panel`] is a grid of cells with
//! margins and rules. A scene does not depend on layouts, and a printer needs only the types of this file.

use crate::palette::shade;

/// A whole picture.
///
/// ```
/// use tilewright_core::TensorLayout;
/// use tilewright_draw::{Limits, Subject, grid};
/// let layout = TensorLayout::col_major(&[2, 3])?;
/// let scene = grid(&Subject::new(&layout), &Limits::default())?;
/// let panel = &scene.bands[0].panels[0];
/// assert_eq!((panel.rows.len(), panel.columns.len()), (2, 3));
/// assert_eq!(panel.cell(1, 2).map(|cell| cell.text.as_str()), Some("5"));
/// # Ok::<(), tilewright_core::Error>(())
/// ```
#[must_use]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scene {
    /// The subject of the picture, in a line.
    pub title: String,
    /// The question that the picture answers, below the title; may be empty.
    pub subtitle: String,
    /// The bands, from top to bottom.
    pub bands: Vec<Band>,
    /// The meaning of the colours.
    pub legend: Vec<Key>,
    /// Notes on the parts left out, and on counts.
    pub notes: Vec<String>,
}

/// Panels side by side.
///
/// ```
/// use tilewright_core::TensorLayout;
/// use tilewright_draw::{Joint, Limits, Subject, conversion};
/// let (rows, columns) = (TensorLayout::row_major(&[2, 3])?, TensorLayout::col_major(&[2, 3])?);
/// let scene = conversion(&Subject::new(&rows), &Subject::new(&columns), &Limits::default())?;
/// // A and B with an arrow between them, and the memory of each below.
/// assert_eq!(scene.bands[0].panels.len(), 2);
/// assert_eq!(scene.bands[0].joints, [Joint::Arrow]);
/// assert!(scene.bands.len() > 1);
/// # Ok::<(), tilewright_core::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Band {
    /// The panels, from left to right.
    pub panels: Vec<Panel>,
    /// The sign between each panel and the next; a gap if the list is shorter.
    pub joints: Vec<Joint>,
}

/// The sign between two panels.
///
/// ```
/// use tilewright_draw::Joint;
/// assert_ne!(Joint::Arrow, Joint::Sign("∘".into()));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Joint {
    /// Only a gap.
    Gap,
    /// An arrow to the right.
    Arrow,
    /// A sign, such as ∘ or =.
    Sign(String),
}

/// A grid of cells with its captions and margins.
///
/// ```
/// use tilewright_core::TensorLayout;
/// use tilewright_draw::{Limits, Subject, grid};
/// let layout = TensorLayout::row_major(&[2, 2, 3])?;
/// let scene = grid(&Subject::new(&layout), &Limits::default())?;
/// // One panel for each coordinate of the outer dim.
/// let captions: Vec<&str> =
///     scene.bands.iter().flat_map(|band| &band.panels).map(|p| p.caption.as_str()).collect();
/// assert_eq!(captions, ["[0,:,:]", "[1,:,:]"]);
/// # Ok::<(), tilewright_core::Error>(())
/// ```
#[must_use]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Panel {
    /// A word above the grid.
    pub caption: String,
    /// A line between the caption and the grid.
    pub detail: String,
    /// The margins to the left and right of each row.
    pub rows: Vec<Margin>,
    /// The margins above and below each column.
    pub columns: Vec<Margin>,
    /// The weight of the rule around the grid.
    pub frame: u8,
    /// The cells, row by row.
    pub cells: Vec<Cell>,
}

/// The texts at both ends of a row or column, and the rule before it.
///
/// ```
/// use tilewright_draw::Margin;
/// let margin = Margin { head: "7".into(), rule: 1, ..Margin::default() };
/// assert!(margin.tail.is_empty());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Margin {
    /// The text to the left of a row, or above a column.
    pub head: String,
    /// The text to the right of a row, or below a column; usually empty.
    pub tail: String,
    /// The weight of the rule before it: 0 for a hairline between cells, 1 and more for a border of tiles; larger tiles
    /// have heavier rules.
    pub rule: u8,
}

/// One cell of a grid.
///
/// ```
/// use tilewright_draw::{Cell, Paint};
/// let cell = Cell { text: "37".into(), tip: "offset 37".into(), ..Cell::default() };
/// assert_eq!((cell.paint, cell.link), (Paint::Plain, None));
/// ```
#[must_use]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cell {
    /// Its text; a newline begins another line.
    pub text: String,
    /// Its paint.
    pub paint: Paint,
    /// Its description, for example as a tooltip; may be empty.
    pub tip: String,
    /// Cells with the same number belong together.
    pub link: Option<u64>,
    /// True if the picture marks the cell.
    pub marked: bool,
}

/// The paint of a cell.
///
/// ```
/// use tilewright_draw::Paint;
/// // The ninth colour is the first again.
/// assert_eq!(Paint::colour(8), Paint::Colour { hue: 0, light: false });
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Paint {
    /// No colour.
    #[default]
    Plain,
    /// A colour of the [palette](crate::palette), and whether it is its lighter tint.
    Colour {
        /// The number of the colour, below [`HUES`](crate::palette::HUES).
        hue: u8,
        /// True for the lighter tint.
        light: bool,
    },
    /// A position on the scale of the [palette](crate::palette::shade), if there are more items than colours.
    Shade(u8),
    /// Padding: hatched.
    Padding,
    /// A cell that is left out: neither filled nor framed.
    Gap,
    /// The absence of a cell.
    Absent,
}

impl Paint {
    /// Returns the colour of this number; the colours repeat after the last.
    ///
    /// ```
    /// use tilewright_draw::{Paint, palette::HUES};
    /// assert_eq!(Paint::colour(3), Paint::colour(3 + u64::from(HUES)));
    /// assert_ne!(Paint::colour(3), Paint::colour(4));
    /// ```
    pub fn colour(number: u64) -> Paint {
        let hue = (number % u64::from(crate::palette::HUES)) as u8;
        Paint::Colour { hue, light: false }
    }

    /// Returns the colour of an item among `count`: one of the palette if there are enough, else its position on the
    /// scale. Up to eight items have different colours. Beyond that, a later item is lighter than an earlier one; with
    /// more than half of the scale's 256 positions, adjacent items may have equal colours.
    ///
    /// ```
    /// use tilewright_draw::Paint;
    /// assert_eq!(Paint::among(5, 8), Paint::colour(5));
    /// assert_eq!((Paint::among(0, 12), Paint::among(11, 12)), (Paint::Shade(0), Paint::Shade(255)));
    /// let twelve: std::collections::HashSet<_> = (0..12).map(|number| format!("{:?}", Paint::among(number, 12))).collect();
    /// assert_eq!(twelve.len(), 12);
    /// ```
    pub fn among(number: u64, count: u64) -> Paint {
        if count <= u64::from(crate::palette::HUES) {
            return Paint::colour(number);
        }
        let last = u128::from(count - 1);
        Paint::Shade((u128::from(number.min(count - 1)) * 255 / last) as u8)
    }
}

/// A line of the legend.
///
/// ```
/// use tilewright_draw::{Key, Paint};
/// let key = Key { paints: vec![Paint::Padding], text: "padding".into() };
/// assert_eq!(key.text, "padding");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// The paints it explains, side by side: all of them, or samples of a scale.
    pub paints: Vec<Paint>,
    /// Their meaning.
    pub text: String,
}

impl Key {
    /// Makes the key of one paint.
    pub(crate) fn one(paint: Paint, text: impl Into<String>) -> Key {
        Key { paints: vec![paint], text: text.into() }
    }

    /// Makes the key of `count` items, each in the next colour of the palette; the colours repeat after the last.
    pub(crate) fn each(what: &str, count: u64) -> Key {
        let hues = u64::from(crate::palette::HUES);
        let text = match count <= hues {
            true => format!("one colour per {what}"),
            false => format!("one colour per {what}, these {hues} in turn"),
        };
        Key { paints: (0..count.min(hues)).map(Paint::colour).collect(), text }
    }

    /// Makes the key of `count` items with the colours of [`Paint::among`]; it mentions neighbours that share a colour.
    pub(crate) fn among(count: u64, text: impl Into<String>) -> Key {
        let count = count.max(1);
        let mut text = text.into();
        if let Some(alike) = Some(alike(count)).filter(|&alike| alike > 1) {
            text += &format!("; up to {alike} neighbours share a shade");
        }
        let shown = count.min(u64::from(crate::palette::HUES));
        let number = |at: u64| match shown == count {
            true => at,
            false => (u128::from(at) * u128::from(count - 1) / u128::from(shown - 1)) as u64,
        };
        Key { paints: (0..shown).map(|at| Paint::among(number(at), count)).collect(), text }
    }
}

/// Returns the most neighbours among `count` items with the same colour of [`Paint::among`].
fn alike(count: u64) -> u64 {
    if count <= u64::from(crate::palette::HUES) {
        return 1;
    }
    let last = u128::from(count - 1);
    // Position p of the scale belongs to the numbers from p·last/255, rounded up, to the beginning of the next
    // position.
    let first = |place: u128| (place * last).div_ceil(255).min(last + 1);
    let (mut most, mut from) = (1, 0);
    for place in 1..=255u8 {
        if shade(place) != shade(place - 1) {
            from = first(place.into());
        }
        let end = if place == 255 { last + 1 } else { first(u128::from(place) + 1) };
        most = most.max(end - from);
    }
    most as u64
}

impl Panel {
    /// Returns the cell of a row and a column.
    ///
    /// ```
    /// use tilewright_draw::{Cell, Margin, Panel};
    /// let cells = vec![Cell::default(), Cell { text: "1".into(), ..Cell::default() }];
    /// let margin = Margin::default;
    /// let panel = Panel { rows: vec![margin()], columns: vec![margin(), margin()], cells, ..Panel::default() };
    /// assert_eq!(panel.cell(0, 1).unwrap().text, "1");
    /// assert!(panel.cell(0, 2).is_none() && panel.cell(1, 0).is_none());
    /// ```
    pub fn cell(&self, row: usize, column: usize) -> Option<&Cell> {
        if row >= self.rows.len() || column >= self.columns.len() {
            return None;
        }
        self.cells.get(row * self.columns.len() + column)
    }

    /// Returns the weight of the edge above a cell, `None` if there is none; also below the last row.
    pub(crate) fn above(&self, row: usize, column: usize) -> Option<u8> {
        let before = row.checked_sub(1).map_or(Paint::Absent, |row| self.paint(row, column));
        let rule = self.rows.get(row).map_or(0, |margin| margin.rule);
        self.edge(before, self.paint(row, column), rule)
    }

    /// Returns the weight of the edge to the left of a cell; also to the right of the last column.
    pub(crate) fn before(&self, row: usize, column: usize) -> Option<u8> {
        let before = column.checked_sub(1).map_or(Paint::Absent, |column| self.paint(row, column));
        let rule = self.columns.get(column).map_or(0, |margin| margin.rule);
        self.edge(before, self.paint(row, column), rule)
    }

    fn paint(&self, row: usize, column: usize) -> Paint {
        self.cell(row, column).map_or(Paint::Absent, |cell| cell.paint)
    }

    fn edge(&self, before: Paint, after: Paint, rule: u8) -> Option<u8> {
        match (before, after) {
            (Paint::Absent | Paint::Gap, Paint::Absent | Paint::Gap) => None,
            (Paint::Absent, _) | (_, Paint::Absent) => Some(self.frame.max(1)),
            (Paint::Gap, _) | (_, Paint::Gap) => Some(0),
            _ => Some(rule),
        }
    }

    /// Returns the most characters of a line of any cell, or of the head or tail of any column.
    pub(crate) fn width(&self) -> usize {
        let cells = self.cells.iter().flat_map(|cell| cell.text.lines());
        let margins = self.columns.iter().flat_map(|margin| [&*margin.head, &*margin.tail]);
        cells.chain(margins).map(|line| line.chars().count()).max().unwrap_or(0)
    }

    /// Returns the most lines of any cell, at least one.
    pub(crate) fn lines(&self) -> usize {
        self.cells.iter().map(|cell| cell.text.lines().count()).max().unwrap_or(1).max(1)
    }
}

impl Scene {
    /// Iterates over all panels, band by band.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_draw::{Limits, Subject, grid};
    /// let layout = TensorLayout::row_major(&[3, 2, 2])?;
    /// let scene = grid(&Subject::new(&layout), &Limits::default())?;
    /// assert_eq!(scene.panels().count(), 3);
    /// # Ok::<(), tilewright_core::Error>(())
    /// ```
    pub fn panels(&self) -> impl Iterator<Item = &Panel> {
        self.bands.iter().flat_map(|band| &band.panels)
    }
}

// The bounds of a picture. Parts that are left out are shown as `…`, and counted in a note. All pictures use them.
//
// Law: whatever the layout, at most [`Limits::cells`] cells of grids are drawn, and at most that number of memory; and
// at most [`MOST`] whatever the limits. So the time and memory for a picture depend on its own size, not on the
// layout's.

/// The most cells of grids, and of memory, whatever the limits.
pub const MOST: u64 = 1 << 16;

/// The bounds of a picture.
///
/// ```
/// use tilewright_core::TensorLayout;
/// use tilewright_draw::{Limits, Subject, grid};
/// let huge = TensorLayout::row_major(&[1_000_000, 1_000_000])?;
/// let scene = grid(&Subject::new(&huge), &Limits { rows: 4, columns: 4, ..Limits::default() })?;
/// assert_eq!(scene.panels().next().map(|panel| panel.cells.len()), Some(16));
/// assert_eq!(scene.notes, ["left out: 999997 of 1000000 rows, 999997 of 1000000 columns"]);
/// # Ok::<(), tilewright_core::Error>(())
/// ```
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The most rows of one grid.
    pub rows: u64,
    /// The most columns of one grid.
    pub columns: u64,
    /// The most grids, for arrays of more than two dims.
    pub panels: u64,
    /// The most cells of all grids together, and of memory. Each of them has at least one cell if it is drawn.
    pub cells: u64,
}

impl Default for Limits {
    /// Grids of 32 rows and 32 columns, 8 of them, 2048 cells.
    fn default() -> Limits {
        Limits { rows: 32, columns: 32, panels: 8, cells: 2048 }
    }
}

impl Limits {
    /// Returns the limits that apply: at least one of everything, at most [`MOST`] cells in all.
    pub(crate) fn kept(&self) -> Limits {
        let cells = self.cells.clamp(1, MOST);
        let columns = self.columns.clamp(1, cells);
        let rows = self.rows.clamp(1, (cells / columns).max(1));
        Limits { rows, columns, panels: self.panels.clamp(1, cells), cells }
    }

    /// Returns the number of grids of `cells` cells each that are drawn.
    pub(crate) fn grids(&self, cells: u64) -> u64 {
        self.panels.min(self.cells / cells.max(1)).max(1)
    }
}

/// The facts about a dim that decide which part of it is shown.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reach<'a> {
    /// The number of coordinates, padding included.
    pub(crate) extent: u64,
    /// The number of coordinates of elements.
    pub(crate) real: u64,
    /// The sizes of tiles, inner first.
    pub(crate) tiles: &'a [u64],
}

/// Returns the coordinates along a dim that are drawn, `None` for a gap: the first ones, up to the end of a tile if
/// that costs little, and the last few. If padding is so long that it would be all of the last ones, the last elements
/// are shown too.
pub(crate) fn shown(reach: Reach<'_>, most: u64) -> Vec<Option<u64>> {
    let Reach { extent, real, tiles } = reach;
    if extent <= most {
        return (0..extent).map(Some).collect();
    }
    if most < 3 {
        return (0..most.saturating_sub(1)).map(Some).chain([None]).collect();
    }
    let tail = (most / 8).max(1);
    let elements = tail.div_ceil(2);
    // Padding that hides the last elements: these are shown before it, after their own gap.
    let apart = tail > 1 && extent.saturating_sub(real) >= tail && real >= most;
    let head = most - 1 - tail - u64::from(apart);
    let whole = |size: &u64| head - head % (*size).max(1);
    let fits = tiles.iter().rev().map(whole).find(|&whole| whole >= head - head / 4);
    let first = (0..fits.unwrap_or(head)).map(Some).chain([None]);
    if apart {
        let last = (real - elements..real).map(Some).chain([None]);
        return first.chain(last).chain((extent - (tail - elements)..extent).map(Some)).collect();
    }
    first.chain((extent - tail..extent).map(Some)).collect()
}

/// Returns those of the shown coordinates that are within this extent, without a gap at the end.
pub(crate) fn within(shown: &[Option<u64>], extent: u64) -> Vec<Option<u64>> {
    let mut kept: Vec<Option<u64>> =
        shown.iter().copied().filter(|x| x.is_none_or(|x| x < extent)).collect();
    let end = kept.iter().flatten().next_back().map_or(0, |last| last + 1);
    if end == extent && kept.last() == Some(&None) {
        kept.pop();
    }
    kept
}

/// Returns the number of the `extent` coordinates that are not shown.
pub(crate) fn missing(extent: u64, shown: &[Option<u64>]) -> u64 {
    extent - shown.iter().flatten().count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_says_how_many_neighbours_look_alike() {
        for count in (1..600).chain([1000, 4096, 65536]) {
            let paints = (0..count).map(|number| Paint::among(number, count));
            let colours: Vec<_> = paints.map(crate::page::ground).collect();
            let runs = colours.chunk_by(|a, b| a == b).map(|run| run.len() as u64);
            let most = runs.max().unwrap_or(1);
            assert_eq!(alike(count), most, "{count}");
            let text = Key::among(count, "one colour per copy").text;
            let said = format!("; up to {most} neighbours share a shade");
            assert_eq!(
                text.strip_prefix("one colour per copy"),
                Some(if most > 1 { &*said } else { "" })
            );
        }
        assert_eq!((alike(128), alike(0)), (1, 1));
        // The largest number has an answer too.
        assert!(alike(u64::MAX) > u64::MAX / 256);
    }

    #[test]
    fn what_is_shown_fits_and_ascends() {
        for extent in 0..40 {
            for (real, most) in (0..=extent).flat_map(|real| (1..40).map(move |most| (real, most)))
            {
                for tiles in [&[][..], &[1], &[2, 4], &[0], &[5, 100]] {
                    let shown = shown(Reach { extent, real, tiles }, most);
                    assert!(shown.len() as u64 <= most.max(1), "{extent} {real} {most} {tiles:?}");
                    let all: Vec<u64> = shown.iter().flatten().copied().collect();
                    assert!(all.is_sorted_by(|a, b| a < b) && all.iter().all(|&x| x < extent));
                    assert_eq!(missing(extent, &shown) == 0, !shown.contains(&None));
                    let seen = real == 0 || most < 16 || all.contains(&(real - 1));
                    assert!(seen || real < most, "{extent} {real} {most}: {shown:?}");
                    let part = within(&shown, real);
                    assert_eq!(missing(real, &part) == 0, !part.contains(&None), "{part:?} {real}");
                }
            }
        }
        let (one, gap) = (Some, None);
        let of = |extent, real, tiles, most| shown(Reach { extent, real, tiles }, most);
        assert_eq!(of(100, 100, &[2, 4], 8)[5..], [one(5), gap, one(99)]);
        assert_eq!(of(100, 100, &[5], 8)[4..], [one(4), gap, one(99)]);
        assert_eq!(of(u64::MAX, u64::MAX, &[], 3), [one(0), gap, one(u64::MAX - 1)]);
        let padded = of(208, 200, &[16], 32);
        assert_eq!(padded[25..], [one(25), gap, one(198), one(199), gap, one(206), one(207)]);
        assert_eq!(within(&padded, 200)[25..], [one(25), gap, one(198), one(199)]);
    }

    #[test]
    fn limits_are_bounded() {
        let all = u64::MAX;
        let limits = Limits { rows: all, columns: all, panels: all, cells: all }.kept();
        assert!(limits.rows * limits.columns <= MOST && limits.panels <= MOST);
        let none = Limits { rows: 0, columns: 0, panels: 0, cells: 0 }.kept();
        assert_eq!((none.rows, none.columns, none.panels, none.cells), (1, 1, 1, 1));
    }
}
