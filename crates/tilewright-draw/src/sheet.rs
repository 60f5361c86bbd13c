//! Grids of an array: coordinates in the margins, rules around tiles, a text in each cell. All pictures with grids use
//! it.
//!
//! A sheet is two dims of an array as a panel, with the others fixed. A grid is a whole array in sheets, with the
//! position of each element in its cell. [`coordinates`] draws a layout whose values are coordinates.
//!
//! Law: a cell inside the logical extents is the element of that coordinate. The others are padding, drawn if the dim
//! is an axis of the layout.

use tilewright_core::{BasisLayout, Error, IntTuple, Layout, TensorLayout, unravel_index};

use crate::{
    Band, Cell, Joint, Key, Label, Limits, Margin, Paint, Panel, Scene, Subject,
    colouring::Colouring,
    limits::{Reach, missing, shown, within},
    subject::join,
};

/// The part of an array that is drawn: coordinates of its last two dims, and the number of grids.
pub(crate) struct Sheet<'a> {
    pub(crate) subject: &'a Subject<'a>,
    colouring: &'a Colouring,
    rows: PanelDim,
    columns: PanelDim,
    limits: Limits,
}

/// A dim as the rows or the columns of a panel.
struct PanelDim {
    /// The number of the dim; an array of fewer dims has one row, or one cell.
    dim: Option<usize>,
    extent: u64,
    shown: Vec<Option<u64>>,
}

/// A cell of a sheet.
pub(crate) struct Spot<'a> {
    /// The coordinate, also in padding.
    pub(crate) coord: &'a [u64],
    /// The offset, if there is an element.
    pub(crate) offset: Option<i64>,
}

impl<'a> Sheet<'a> {
    pub(crate) fn new(
        subject: &'a Subject<'a>,
        colouring: &'a Colouring,
        limits: &Limits,
    ) -> Sheet<'a> {
        Sheet::beside(subject, [subject, subject], colouring, colouring, limits)
    }

    /// Makes the sheet of one of two layouts of an array: both show the same elements, up to the ends of these tiles.
    pub(crate) fn beside(
        subject: &'a Subject<'a>,
        both: [&Subject<'_>; 2],
        colouring: &'a Colouring,
        tiles: &Colouring,
        limits: &Limits,
    ) -> Sheet<'a> {
        let (rank, limits) = (subject.layout.rank(), limits.kept());
        let axis = |dim: Option<usize>, most: u64| {
            let extent = |subject: &Subject<'_>| dim.map_or(1, |dim| padded(subject.layout, dim));
            let reach = Reach {
                extent: extent(both[0]).max(extent(both[1])),
                real: dim.map_or(1, |dim| subject.layout.extents()[dim]),
                tiles: dim.map_or(&[][..], |dim| tiles.cuts(dim)),
            };
            let own = extent(subject);
            PanelDim { dim, extent: own, shown: within(&shown(reach, most), own) }
        };
        let columns = axis(rank.checked_sub(1), limits.columns);
        let rows = axis(rank.checked_sub(2), limits.rows);
        Sheet { subject, colouring, rows, columns, limits }
    }

    /// Returns the panels, and the number of panels that are left out.
    pub(crate) fn panels(&self, cell: &dyn Fn(&Spot<'_>) -> Cell) -> (Vec<Panel>, u64) {
        let outer = &self.subject.layout.extents()[..self.outer()];
        let whole = outer.iter().fold(1u64, |count, &extent| count.saturating_mul(extent));
        let cells = (self.rows.shown.len() * self.columns.shown.len()) as u64;
        let drawn = whole.min(self.limits.grids(cells));
        let fixed = |index| unravel_index(index, outer).collect::<Vec<u64>>();
        let panels = (0..drawn).map(|index| self.panel(&fixed(index), cell)).collect();
        (panels, whole - drawn)
    }

    /// Returns the number of dims that panels fix.
    fn outer(&self) -> usize {
        self.subject.layout.rank().saturating_sub(2)
    }

    fn panel(&self, fixed: &[u64], cell: &dyn Fn(&Spot<'_>) -> Cell) -> Panel {
        let mut cells = Vec::with_capacity(self.rows.shown.len() * self.columns.shown.len());
        for row in &self.rows.shown {
            for column in &self.columns.shown {
                cells.push(match (row, column) {
                    (Some(i), Some(j)) => self.spot(fixed, *i, *j, cell),
                    (None, None) => gap("⋱"),
                    (None, Some(_)) => gap("⋮"),
                    (Some(_), None) => gap("⋯"),
                });
            }
        }
        let caption =
            if fixed.is_empty() { String::new() } else { format!("[{},:,:]", join(fixed)) };
        Panel {
            caption,
            rows: self.margins(&self.rows),
            columns: self.margins(&self.columns),
            frame: self.depth(),
            cells,
            ..Panel::default()
        }
    }

    fn spot(&self, fixed: &[u64], i: u64, j: u64, cell: &dyn Fn(&Spot<'_>) -> Cell) -> Cell {
        let mut coord = fixed.to_vec();
        coord.extend(self.rows.dim.map(|_| i));
        coord.extend(self.columns.dim.map(|_| j));
        let offset = self.subject.layout.offset(&coord).ok();
        cell(&Spot { coord: &coord, offset })
    }

    /// Returns the weight of the heaviest rule.
    fn depth(&self) -> u8 {
        if self.subject.boxed {
            return 1;
        }
        let cuts = |axis: &PanelDim| axis.dim.map_or(0, |dim| self.colouring.cuts(dim).len());
        cuts(&self.rows).max(cuts(&self.columns)).clamp(1, 4) as u8
    }

    fn margins(&self, axis: &PanelDim) -> Vec<Margin> {
        let cuts = match axis.dim {
            Some(_) if self.subject.boxed => &[1],
            dim => dim.map_or(&[][..], |dim| self.colouring.cuts(dim)),
        };
        let rule = |x: u64| {
            let crossed = cuts.iter().filter(|&&size| size > 0 && x.is_multiple_of(size)).count();
            let lifted = crossed + usize::from(self.depth()).saturating_sub(cuts.len());
            if crossed == 0 { 0 } else { lifted.min(usize::from(self.depth())) as u8 }
        };
        let margin = |x: &Option<u64>| match (x, axis.dim) {
            (None, _) => Margin { head: "…".into(), ..Margin::default() },
            (Some(_), None) => Margin::default(),
            (Some(x), Some(_)) => {
                Margin { head: x.to_string(), rule: rule(*x), ..Margin::default() }
            }
        };
        axis.shown.iter().map(margin).collect()
    }

    /// Returns notes on the parts that are left out of each panel, and on the panels left out.
    pub(crate) fn notes(&self, panels: u64) -> Vec<String> {
        let part = |axis: &PanelDim, what: &str| match missing(axis.extent, &axis.shown) {
            0 => None,
            left => Some(format!("{left} of {} {what}", axis.extent)),
        };
        let more = (panels > 0).then(|| format!("{panels} panels"));
        let parts: Vec<String> = [part(&self.rows, "rows"), part(&self.columns, "columns"), more]
            .into_iter()
            .flatten()
            .collect();
        if parts.is_empty() { Vec::new() } else { vec![format!("left out: {}", parts.join(", "))] }
    }

    /// Returns a cell of padding.
    pub(crate) fn padding(&self, spot: &Spot<'_>) -> Cell {
        let layout = self.subject.layout;
        let tip = match layout.layout().offset_at(spot.coord) {
            Ok(offset) if layout.is_strided() => format!("padding at offset {offset}"),
            _ => "padding".into(),
        };
        Cell { text: self.subject.padding(), paint: Paint::Padding, tip, ..Cell::default() }
    }
}

/// Returns a cell that marks a gap.
pub(crate) fn gap(text: &str) -> Cell {
    Cell { text: text.into(), paint: Paint::Gap, ..Cell::default() }
}

/// Returns the extent of a dim, with padding if the dim is an axis of the layout.
fn padded(layout: &TensorLayout, dim: usize) -> u64 {
    match layout.layout().axis_size(dim) {
        Some(size) if layout.is_strided() => size,
        _ => layout.extents()[dim],
    }
}

/// Returns the description of an element: its offset, and the digits of its coordinate.
pub(crate) fn tip(layout: &TensorLayout, coord: &[u64], offset: i64) -> String {
    let mut tip = format!("({}): offset {offset}", join(coord));
    let digits = |dim: usize, x: u64| {
        let modes = layout.layout().axis(dim).filter(|modes| modes.len() > 1)?;
        let mut rest = x;
        let mut digit = |extent: u64| {
            let digit = rest % extent.max(1);
            rest /= extent.max(1);
            digit
        };
        Some(modes.iter().map(|mode| digit(mode.extent())).collect::<Vec<u64>>())
    };
    if layout.is_strided() {
        for (dim, &x) in coord.iter().enumerate() {
            if let Some(digits) = digits(dim, x) {
                tip += &format!("; {x} = digits ({})", join(&digits));
            }
        }
    }
    tip
}

/// The approximate number of characters of a band before another one begins.
const WIDTH: usize = 150;

/// Draws a grid of the last two dims, with a panel for each coordinate of the others. Tiles have borders, tiles of
/// tiles heavier ones; padding is hatched.
///
/// # Errors
/// None so far: every layout has a grid.
///
/// ```
/// use tilewright_core::{Layout, TensorLayout};
/// use tilewright_draw::{Limits, Subject, grid};
/// let layout = TensorLayout::of(&Layout::parse("((4,2),(4,3)):((4,16),(1,32))").unwrap());
/// let scene = grid(&Subject::new(&layout), &Limits::default())?;
/// let panel = &scene.bands[0].panels[0];
/// assert_eq!(panel.cell(1, 5).unwrap().text, "37");
/// assert_eq!(panel.cell(1, 5).unwrap().tip, "(1,5): offset 37; 1 = digits (1,0); 5 = digits (1,1)");
/// // A tile begins before column 4.
/// assert_eq!([3, 4, 5].map(|column| panel.columns[column].rule), [0, 1, 0]);
/// # Ok::<(), tilewright_core::Error>(())
/// ```
pub fn grid(subject: &Subject<'_>, limits: &Limits) -> Result<Scene, Error> {
    let colouring = Colouring::new(subject.layout);
    let sheet = Sheet::new(subject, &colouring, limits);
    let (panels, left_out) = sheet.panels(&|spot| cell(&sheet, &colouring, spot));
    let mut scene = Scene {
        title: subject.name.clone(),
        subtitle: subject.says(Label::Offsets).into(),
        bands: bands(panels),
        legend: colouring.legend(),
        notes: sheet.notes(left_out),
    };
    scene.legend.extend(padding(&scene, &[subject]));
    scene.notes.extend(empty(subject));
    Ok(scene)
}

/// Returns the cell of an element in its colour, or of padding.
pub(crate) fn cell(sheet: &Sheet<'_>, colouring: &Colouring, spot: &Spot<'_>) -> Cell {
    let (subject, Some(offset)) = (sheet.subject, spot.offset) else {
        return sheet.padding(spot);
    };
    Cell {
        text: subject.text(Label::Offsets, spot.coord, offset),
        paint: colouring.paint(spot.coord),
        tip: tip(subject.layout, spot.coord, offset),
        link: Some(subject.number(spot.coord)),
        marked: false,
    }
}

/// Arranges panels in bands: side by side while the page is wide enough.
pub(crate) fn bands(panels: Vec<Panel>) -> Vec<Band> {
    let (mut bands, mut used) = (Vec::<Band>::new(), 0);
    for panel in panels {
        let width = panel.columns.len() * (panel.width() + 2) + 8;
        match bands.last_mut() {
            Some(band) if used + width <= WIDTH => {
                band.panels.push(panel);
                band.joints.push(Joint::Gap);
                used += width;
            }
            _ => {
                bands.push(Band { panels: vec![panel], joints: Vec::new() });
                used = width;
            }
        }
    }
    bands
}

/// Returns the legend of padding, if some is drawn.
pub(crate) fn padding(scene: &Scene, subjects: &[&Subject<'_>]) -> Option<Key> {
    let mut cells = scene.panels().flat_map(|panel| &panel.cells);
    cells.any(|cell| cell.paint == Paint::Padding).then_some(())?;
    let mut says: Vec<String> = subjects.iter().map(|subject| subject.padding_says()).collect();
    says.dedup();
    let text = if says.len() == 1 { says.remove(0) } else { "padding".into() };
    Some(Key::one(Paint::Padding, text))
}

/// Returns a note on an array without elements.
pub(crate) fn empty(subject: &Subject<'_>) -> Option<String> {
    (subject.layout.size() == 0).then(|| "the array is empty".into())
}

/// Draws the grid of a layout with strides such as `1@0`, with the coordinate of each cell in it. Colours are those of
/// the compact layout of the same shape.
///
/// # Errors
/// [overflow](Error::is_overflow) for a shape that is too large for a layout.
///
/// ```
/// use tilewright_core::BasisLayout;
/// use tilewright_draw::{Limits, coordinates};
/// let map = BasisLayout::parse("((2,2),3):((2@0,1@0),1@1)").unwrap();
/// let scene = coordinates(&map, &Limits::default())?;
/// let panel = &scene.bands[0].panels[0];
/// assert_eq!((panel.rows.len(), panel.columns.len()), (4, 3));
/// assert_eq!(panel.cell(1, 2).unwrap().text, "2,2");
/// assert_eq!(panel.cell(3, 0).unwrap().tip, "(3,0) is sent to (3,0)");
/// # Ok::<(), tilewright_core::Error>(())
/// ```
pub fn coordinates(map: &BasisLayout, limits: &Limits) -> Result<Scene, Error> {
    let array = TensorLayout::of(&Layout::compact_col_major(map.shape())?);
    let subject = Subject::new(&array).named(map.to_string());
    let colouring = Colouring::new(&array);
    let sheet = Sheet::new(&subject, &colouring, limits);
    let (panels, left_out) = sheet.panels(&|spot| coordinate_cell(map, &colouring, spot));
    let mut scene = Scene {
        title: subject.name.clone(),
        subtitle: "cells name the coordinate they are sent to".into(),
        bands: bands(panels),
        legend: colouring.legend(),
        notes: sheet.notes(left_out),
    };
    scene.notes.extend(empty(&subject));
    Ok(scene)
}

fn coordinate_cell(map: &BasisLayout, colouring: &Colouring, spot: &Spot<'_>) -> Cell {
    let values: Vec<i64> = spot.coord.iter().map(|&x| x as i64).collect();
    // An integer of a shape without parentheses is its own coordinate.
    let coord = match (&values[..], map.shape().as_integer()) {
        (&[one], Some(_)) => Ok(IntTuple::integer(one)),
        _ => IntTuple::flat(&values),
    };
    let Ok(sent) = coord.and_then(|coord| map.coord_at(&coord)) else { return Cell::default() };
    let sent = sent.to_string();
    let inner = sent.strip_prefix('(').and_then(|inner| inner.strip_suffix(')'));
    Cell {
        text: inner.unwrap_or(&sent).to_owned(),
        paint: colouring.paint(spot.coord),
        tip: format!("({}) is sent to {sent}", join(spot.coord)),
        ..Cell::default()
    }
}
