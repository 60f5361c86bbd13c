//! Draws a conversion: one array in two layouts, side by side, and the memory of each below.
//!
//! Memory is a strip: the contents offset by offset, in lines.
//!
//! Laws: cells of one element have one colour and one link, in both grids and both memories. The cell of an offset
//! shows the result of [`TensorLayout::locate`]. If memory is longer than the picture, lines without elements are left
//! out first.

use tilewright_core::{Error, Place, TensorLayout};

use crate::{
    Band, Cell, Joint, Label, Limits, Margin, Paint, Panel, Scene, Subject,
    printers::terminal,
    scene::MOST,
    sheet::{Colouring, Sheet, bands, cell, empty, gap, padding, tip},
    subject::join,
};

/// The most cells of each memory that are drawn below the grids.
const MEMORY: u64 = 256;

/// Draws the positions of the elements of `from` in `to`. Colours are the tiles of the layout that has tiles, of `to`
/// if both have. The memories below show which elements are contiguous in one layout and scattered in the other.
///
/// # Errors
/// [mismatch](Error::is_mismatch) if the arrays differ in rank or in an extent;
/// [undecided](Error::is_undecided) as [`TensorLayout::locate`](tilewright_core::TensorLayout::locate).
///
/// ```
/// use tilewright_core::{Fractal, TensorLayout};
/// use tilewright_draw::{Limits, Subject, conversion};
/// let rows = TensorLayout::row_major(&[4, 6])?;
/// let tiled = Fractal::ZN.pattern(2, 3).layout(&[4, 6])?;
/// let scene = conversion(&Subject::new(&rows), &Subject::new(&tiled), &Limits::default())?;
/// let [a, b] = [0, 1].map(|at| scene.bands[0].panels[at].cell(3, 4).unwrap());
/// assert_eq!((a.text.as_str(), b.text.as_str()), ("22", "22"));
/// assert_eq!((a.paint, a.link), (b.paint, b.link));
///
/// let other = TensorLayout::row_major(&[6, 4])?;
/// let error = conversion(&Subject::new(&rows), &Subject::new(&other), &Limits::default()).unwrap_err();
/// assert!(error.is_mismatch() && error.to_string().contains("dim 0 has 4 in A and 6 in B"));
/// # Ok::<(), tilewright_core::Error>(())
/// ```
pub fn conversion(from: &Subject<'_>, to: &Subject<'_>, limits: &Limits) -> Result<Scene, Error> {
    equal(from.layout.extents(), to.layout.extents())?;
    let half = Limits { cells: limits.kept().cells / 2, ..*limits };
    let colouring = colouring(from, to);
    let mut scene = Scene {
        title: format!("{} → {}", from.name, to.name),
        subtitle: format!(
            "an array of {}; {}",
            join(from.layout.extents()).replace(',', "×"),
            from.says(Label::Offsets)
        ),
        legend: colouring.legend(),
        ..Scene::default()
    };
    grids(&mut scene, [from, to], &colouring, (&half, Joint::Arrow));
    for (panel, subject) in
        scene.bands.iter_mut().flat_map(|band| band.panels.iter_mut().zip([from, to]))
    {
        panel.detail.clone_from(&subject.name);
    }
    memories(&mut scene, [from, to], &colouring, &half)?;
    scene.legend.extend(padding(&scene, &[from, to]));
    scene.notes.extend(empty(from));
    Ok(scene)
}

/// Draws the grids of two layouts of an array side by side, equal rows on one line, in the colours of [`conversion`].
///
/// # Errors
/// [mismatch](Error::is_mismatch) if the arrays differ in rank or in an extent.
///
/// ```
/// use tilewright_core::TensorLayout;
/// use tilewright_draw::{Limits, Subject, pair};
/// let (rows, columns) = (TensorLayout::row_major(&[1, 2])?, TensorLayout::col_major(&[1, 2])?);
/// let scene = pair(&Subject::new(&rows), &Subject::new(&columns), &Limits::default())?;
/// let text = scene.to_terminal(false);
/// assert!(text.contains(" 0  | 0 1 |     0  | 0 1 |"));
/// let other = TensorLayout::row_major(&[2, 1])?;
/// assert!(pair(&Subject::new(&rows), &Subject::new(&other), &Limits::default()).is_err());
/// # Ok::<(), tilewright_core::Error>(())
/// ```
pub fn pair(a: &Subject<'_>, b: &Subject<'_>, limits: &Limits) -> Result<Scene, Error> {
    equal(a.layout.extents(), b.layout.extents())?;
    let colouring = colouring(a, b);
    let mut scene = Scene { legend: colouring.legend(), ..Scene::default() };
    grids(&mut scene, [a, b], &colouring, (limits, Joint::Gap));
    scene.notes.extend(empty(a));
    Ok(scene)
}

/// Draws the memories of two layouts of an array side by side, in the colours of [`conversion`].
///
/// # Errors
/// Those of [`conversion`].
///
/// ```
/// use tilewright_core::TensorLayout;
/// use tilewright_draw::{Label, Limits, Subject, memory_pair};
/// let (rows, columns) = (TensorLayout::row_major(&[2, 2])?, TensorLayout::col_major(&[2, 2])?);
/// let [a, b] = [&rows, &columns].map(|layout| Subject::new(layout).labelled(Label::Names));
/// let scene = memory_pair(&a, &b, &Limits::default())?;
/// assert_eq!(scene.panels().map(|panel| panel.cells[1].text.as_str()).collect::<Vec<_>>(), ["b", "c"]);
/// # Ok::<(), tilewright_core::Error>(())
/// ```
pub fn memory_pair(a: &Subject<'_>, b: &Subject<'_>, limits: &Limits) -> Result<Scene, Error> {
    equal(a.layout.extents(), b.layout.extents())?;
    let colouring = colouring(a, b);
    let mut scene = Scene { legend: colouring.legend(), ..Scene::default() };
    memories(&mut scene, [a, b], &colouring, limits)?;
    Ok(scene)
}

/// Returns the colours of the layout that has tiles.
fn colouring(from: &Subject<'_>, to: &Subject<'_>) -> Colouring {
    let (a, b) = (Colouring::new(from.layout), Colouring::new(to.layout));
    if a.is_tiled() && !b.is_tiled() { a } else { b }
}

fn equal(a: &[u64], b: &[u64]) -> Result<(), Error> {
    let legal = "both layouts of a conversion must be of the same array";
    if a.len() != b.len() {
        let ranks = [a.len() as i128, b.len() as i128];
        return Err(Error::mismatch("A has {} dims and B has {}", ranks, legal));
    }
    match (0..a.len()).find(|&dim| a[dim] != b[dim]) {
        None => Ok(()),
        Some(dim) => {
            let numbers = [dim as i128, a[dim].into(), b[dim].into()];
            Err(Error::mismatch("dim {} has {} in A and {} in B", numbers, legal))
        }
    }
}

/// Draws grids for the outer dims, A and B with a sign between.
fn grids(
    scene: &mut Scene,
    both: [&Subject<'_>; 2],
    colouring: &Colouring,
    (limits, joint): (&Limits, Joint),
) {
    let own = both.map(|subject| Colouring::new(subject.layout));
    let sheet = |at: usize| Sheet::beside(both[at], both, &own[at], colouring, limits);
    let sheets = [sheet(0), sheet(1)];
    let [(a, more), (b, _)] =
        sheets.each_ref().map(|sheet| sheet.panels(&|spot| cell(sheet, colouring, spot)));
    // Padding may reduce the number of panels of one layout.
    let more = more + a.len().saturating_sub(b.len()) as u64;
    let [of_a, of_b] = sheets.each_ref().map(|sheet| sheet.notes(more));
    scene.notes.extend(left_out(of_a, of_b));
    for (mut a, mut b) in a.into_iter().zip(b) {
        for (panel, letter) in [(&mut a, "A"), (&mut b, "B")] {
            panel.caption = format!("{letter} {}", panel.caption).trim_end().into();
        }
        scene.bands.push(Band { panels: vec![a, b], joints: vec![joint.clone()] });
    }
}

/// Returns notes on the parts of the grids that are left out, merged if they are equal.
fn left_out(a: Vec<String>, b: Vec<String>) -> Vec<String> {
    if a == b {
        return a;
    }
    let of = |notes: Vec<String>, letter: char| {
        notes
            .into_iter()
            .map(move |note| note.replacen("left out", &format!("left out of {letter}"), 1))
    };
    of(a, 'A').chain(of(b, 'B')).collect()
}

/// Draws the memories, side by side if the page is wide enough.
fn memories(
    scene: &mut Scene,
    both: [&Subject<'_>; 2],
    colouring: &Colouring,
    limits: &Limits,
) -> Result<(), Error> {
    let limits = Limits { cells: limits.cells.min(MEMORY), ..*limits };
    let mut panels: Vec<Panel> = Vec::new();
    for (subject, letter) in both.iter().zip(["A", "B"]) {
        let strip = Strip::new(subject, colouring, line(subject.layout), &limits);
        let mut panel = strip.panel()?;
        panel.caption = format!("memory of {letter}");
        panel.detail = subject.says(Label::Coords).into();
        scene.notes.extend(strip.notes(&format!(" of {letter}")));
        panels.push(panel);
    }
    scene.bands.extend(bands(panels));
    Ok(())
}

/// The most cells of a line, unless the caller sets longer lines.
const LINE: u64 = 32;

/// The cells of a line if the layout suggests no length.
const USUAL: u64 = 16;

/// Draws memory from the first offset to the last, with the elements in the colours of their [grid](crate::grid()). A
/// line contains a tile if a tile is short enough.
///
/// # Errors
/// [undecided](Error::is_undecided) as [`TensorLayout::locate`].
///
/// ```
/// use tilewright_core::{Layout, TensorLayout};
/// use tilewright_draw::{Limits, Paint, Subject, memory};
/// let padded = TensorLayout::new(&[2, 3], &Layout::parse("(2,4):(4,1)").unwrap(), 8)?;
/// let scene = memory(&Subject::new(&padded), &Limits::default())?;
/// let panel = &scene.bands[0].panels[0];
/// assert_eq!((panel.rows.len(), panel.columns.len()), (2, 4));
/// assert_eq!(panel.cell(1, 0).unwrap().text, "1,0");
/// assert_eq!(panel.cell(1, 3).unwrap().paint, Paint::Padding);
/// # Ok::<(), tilewright_core::Error>(())
/// ```
pub fn memory(subject: &Subject<'_>, limits: &Limits) -> Result<Scene, Error> {
    let colouring = Colouring::new(subject.layout);
    let strip = Strip::new(subject, &colouring, line(subject.layout), limits);
    let panel = strip.panel()?;
    let mut scene = Scene {
        title: subject.name.clone(),
        subtitle: format!("memory, offset by offset; {}", subject.says(Label::Coords)),
        bands: vec![Band { panels: vec![panel], joints: Vec::new() }],
        legend: colouring.legend(),
        notes: strip.notes("").into_iter().collect(),
    };
    scene.legend.extend(padding(&scene, &[subject]));
    scene.notes.extend(empty(subject));
    Ok(scene)
}

/// Returns memory from the first offset on as one line of at most `width` characters, and below it the number of cells that
/// do not fit.
///
/// # Errors
/// [undecided](Error::is_undecided) as [`TensorLayout::locate`].
///
/// ```
/// use tilewright_core::TensorLayout;
/// use tilewright_draw::{Label, Subject, memory_line};
/// let columns = TensorLayout::col_major(&[2, 3])?;
/// let subject = Subject::new(&columns).labelled(Label::Names);
/// assert_eq!(memory_line(&subject, 80)?, "a d b e c f\n");
/// assert_eq!(memory_line(&subject, 4)?, "a d\n… 4 more cells\n");
/// # Ok::<(), tilewright_core::Error>(())
/// ```
pub fn memory_line(subject: &Subject<'_>, width: usize) -> Result<String, Error> {
    let colouring = Colouring::new(subject.layout);
    let strip = Strip::new(subject, &colouring, 1, &Limits::default());
    let (mut text, mut used, mut drawn) = (String::new(), 0, 0);
    while drawn < strip.whole {
        let cell = strip.cell(strip.low.saturating_add_unsigned(drawn))?;
        let cell = terminal::shown(cell.paint, &cell.text);
        used += cell.chars().count() + usize::from(drawn > 0);
        if drawn > 0 && used > width {
            break;
        }
        text += if drawn > 0 { " " } else { "" };
        text += &cell;
        drawn += 1;
    }
    text.push('\n');
    if drawn < strip.whole {
        text += &format!("… {} more cells\n", strip.whole - drawn);
    }
    Ok(text)
}

/// Memory as the panel of a scene.
pub(crate) struct Strip<'a> {
    subject: &'a Subject<'a>,
    colouring: &'a Colouring,
    /// The number of cells of a line.
    width: u64,
    low: i64,
    whole: u64,
    /// The numbers of the lines drawn, `None` for a gap of lines without elements.
    lines: Vec<Option<u64>>,
}

impl<'a> Strip<'a> {
    pub(crate) fn new(
        subject: &'a Subject<'a>,
        colouring: &'a Colouring,
        line: u64,
        limits: &Limits,
    ) -> Strip<'a> {
        let layout = subject.layout;
        let low = layout.layout().bounds().map_or(0, |(low, _)| low.min(0));
        let whole = low.unsigned_abs().saturating_add(layout.capacity());
        let limits = limits.kept();
        let width = broken(line.max(1), limits.columns).min(whole.max(1));
        let most = (limits.cells / width).max(1);
        let lines = if whole.div_ceil(width) <= most || layout.size() > MOST {
            (0..whole.div_ceil(width).min(most)).map(Some).collect()
        } else {
            held(layout, low, width, most)
        };
        Strip { subject, colouring, width, low, whole, lines }
    }

    /// Returns the lines; each begins at a multiple of their length.
    ///
    /// # Errors
    /// [undecided](Error::is_undecided) as [`TensorLayout::locate`].
    pub(crate) fn panel(&self) -> Result<Panel, Error> {
        let mut cells = Vec::with_capacity(self.lines.len() * self.width as usize);
        for line in &self.lines {
            for column in 0..self.width {
                cells.push(match line.map(|line| line * self.width + column) {
                    None => gap("⋮"),
                    Some(at) if at < self.whole => self.cell(self.low + at as i64)?,
                    Some(_) => absent(),
                });
            }
        }
        let head = |text: String| Margin { head: text, ..Margin::default() };
        let alone = self.lines.len() == 1 && self.low == 0;
        let row = |line: &Option<u64>| match line {
            _ if alone => Margin::default(),
            Some(line) => head((self.low + (line * self.width) as i64).to_string()),
            None => head("…".into()),
        };
        let column = |at: u64| head(if alone { at.to_string() } else { format!("+{at}") });
        Ok(Panel {
            rows: self.lines.iter().map(row).collect(),
            columns: (0..self.width).map(column).collect(),
            frame: 1,
            cells,
            ..Panel::default()
        })
    }

    fn cell(&self, offset: i64) -> Result<Cell, Error> {
        let (subject, layout) = (self.subject, self.subject.layout);
        Ok(match layout.locate(offset)? {
            Place::Element(coord) => Cell {
                text: subject.text(Label::Coords, coord.as_slice(), offset),
                paint: self.colouring.paint(coord.as_slice()),
                tip: tip(layout, coord.as_slice(), offset),
                link: Some(subject.number(coord.as_slice())),
                marked: false,
            },
            Place::Padding => Cell {
                text: subject.padding(),
                paint: Paint::Padding,
                tip: format!("padding at offset {offset}"),
                ..Cell::default()
            },
            Place::OutOfRange => absent(),
        })
    }

    /// Returns a note on the cells that are left out of the memory with this name.
    pub(crate) fn notes(&self, of: &str) -> Option<String> {
        let of_line = |line: &u64| self.width.min(self.whole - line * self.width);
        let left = self.whole - self.lines.iter().flatten().map(of_line).sum::<u64>();
        (left > 0).then(|| format!("left out{of}: {left} of {} cells of memory", self.whole))
    }
}

/// Returns at most this many lines with elements, with the gaps between; a single line without elements is not replaced
/// by a gap.
fn held(layout: &TensorLayout, low: i64, width: u64, most: u64) -> Vec<Option<u64>> {
    let line = |offset: i64| offset.wrapping_sub(low) as u64 / width;
    let mut all: Vec<u64> = layout.in_order().map(|(_, offset)| line(offset)).collect();
    all.sort_unstable();
    all.dedup();
    let (mut lines, mut next) = (Vec::new(), 0);
    for line in all {
        match line - next {
            0 => {}
            1 => lines.push(Some(next)),
            _ => lines.push(None),
        }
        lines.push(Some(line));
        next = line + 1;
    }
    lines.truncate(most as usize);
    if lines.last() == Some(&None) {
        lines.pop();
    }
    lines
}

/// Divides a line into equal parts of at most this many cells, if that does not make them much shorter.
fn broken(line: u64, most: u64) -> u64 {
    let parts = (most.div_ceil(2)..=most).rev().find(|&part| line.is_multiple_of(part));
    if line <= most { line } else { parts.unwrap_or(most) }
}

fn absent() -> Cell {
    Cell { paint: Paint::Absent, ..Cell::default() }
}

/// Returns the number of cells of a line: the smallest tile that is long enough, or a row of the array.
pub(crate) fn line(layout: &TensorLayout) -> u64 {
    let colouring = Colouring::new(layout);
    let tile = (0..layout.rank()).map(|dim| colouring.cuts(dim).last().copied());
    let sizes: Option<u64> = tile.flatten().try_fold(1u64, |size, cut| size.checked_mul(cut));
    let fits = |size: &u64| (4..=LINE).contains(size);
    if let Some(size) = sizes.filter(fits).filter(|_| colouring.is_tiled()) {
        return size;
    }
    let modes = layout.layout().modes().iter().filter(|mode| mode.extent() > 1);
    let fast = modes.min_by_key(|mode| mode.stride().unsigned_abs());
    let row = fast.map(|mode| mode.extent()).filter(fits);
    let strides = layout.layout().modes().iter().map(|mode| mode.stride().unsigned_abs());
    let next = strides.filter(|&stride| stride > 1).min().filter(fits);
    next.or(row).unwrap_or(USUAL)
}
