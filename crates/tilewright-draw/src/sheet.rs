//! Grids of an array: coordinates in the margins, rules around tiles, a text and a colour in each cell. All pictures with
//! grids use it.
//!
//! A sheet is two dims of an array as a panel, with the others fixed. A grid is a whole array in sheets, with the
//! position of each element in its cell. [`coordinates`] draws a layout whose values are coordinates.
//!
//! Law: a cell inside the logical extents is the element of that coordinate. The others are padding, drawn if the dim
//! is an axis of the layout.

use tilewright_core::{BasisLayout, Error, IntTuple, Layout, TensorLayout, unravel_index};

use crate::{
    Band, Cell, Joint, Key, Label, Limits, Margin, Paint, Panel, Scene, Subject,
    palette::HUES,
    scene::{Reach, missing, shown, within},
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

// Assigns colours to elements: one for each tile, or, without tiles, one for each line. All pictures of arrays use it.
//
// Law: the colour is a function of the coordinate alone, so an element has the same colour in every panel of a
// picture.

/// The colours of the elements of an array.
#[derive(Clone, Debug)]
pub(crate) struct Colouring {
    dims: Vec<TiledDim>,
    kind: ColouringKind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum ColouringKind {
    /// A colour for each of the largest tiles; the smallest alternate in tint.
    Tiles,
    /// A colour for each coordinate of this dim.
    Lines(usize),
    /// One colour.
    One,
}

/// The tiles of a dim.
#[derive(Clone, Debug)]
struct TiledDim {
    extent: u64,
    /// The sizes of tiles along it, inner first.
    cuts: Vec<u64>,
    /// The stride of its outermost mode.
    stride: u64,
    /// The change of the colour from one tile to the next.
    step: u64,
}

impl Colouring {
    pub(crate) fn new(layout: &TensorLayout) -> Colouring {
        let mut dims: Vec<TiledDim> =
            (0..layout.rank()).map(|dim| TiledDim::new(layout, dim)).collect();
        let inner = layout.rank().saturating_sub(2)..layout.rank();
        let long = inner.clone().filter(|&dim| dims[dim].extent > 1);
        let kind = if dims[inner.clone()].iter().any(|dim| !dim.cuts.is_empty()) {
            ColouringKind::Tiles
        } else if inner.len() < 2 {
            ColouringKind::One
        } else {
            long.max_by_key(|&dim| (dims[dim].stride, !dim))
                .map_or(ColouringKind::One, ColouringKind::Lines)
        };
        steps(&mut dims);
        Colouring { dims, kind }
    }

    pub(crate) fn is_tiled(&self) -> bool {
        self.kind == ColouringKind::Tiles
    }

    /// Returns the sizes of tiles along a dim, inner first.
    pub(crate) fn cuts(&self, dim: usize) -> &[u64] {
        self.dims.get(dim).map_or(&[], |dim| &dim.cuts)
    }

    /// Returns the colour of an element.
    pub(crate) fn paint(&self, coord: &[u64]) -> Paint {
        let pairs = self.dims.iter().zip(coord);
        match self.kind {
            ColouringKind::Tiles => {
                let hue = pairs.clone().map(|(dim, x)| dim.tile(*x) % 8 * dim.step).sum::<u64>();
                let light = pairs.map(|(dim, x)| dim.alternate(*x)).sum::<u64>() % 2 == 1;
                Paint::Colour { hue: (hue % u64::from(HUES)) as u8, light }
            }
            ColouringKind::Lines(dim) => Paint::colour(coord.get(dim).copied().unwrap_or(0)),
            ColouringKind::One => Paint::colour(0),
        }
    }

    /// Returns the meaning of the colours.
    pub(crate) fn legend(&self) -> Vec<Key> {
        let rank = self.dims.len();
        let key = match self.kind {
            ColouringKind::Tiles => {
                let tiles = self.dims.iter().map(|dim| dim.tile(dim.extent.saturating_sub(1)) + 1);
                let size = self.tile(|dim| dim.cuts.last());
                Key::each(&format!("tile of {size}"), tiles.fold(1, u64::saturating_mul))
            }
            ColouringKind::Lines(dim) => {
                let line = if dim + 1 == rank { "column" } else { "row" };
                Key::each(&format!("{line}, dim {dim}"), self.dims[dim].extent)
            }
            ColouringKind::One => return Vec::new(),
        };
        let mut keys = vec![key];
        if self.kind == ColouringKind::Tiles && self.dims.iter().any(|dim| dim.cuts.len() > 1) {
            let paints = [false, true].map(|light| Paint::Colour { hue: 0, light });
            let text = format!(
                "tiles within, of {}, alternate in tint",
                self.tile(|dim| dim.cuts.first())
            );
            keys.push(Key { paints: paints.into(), text });
        }
        keys
    }

    /// Returns the size of a tile as `4×4`; a dim without tiles is whole.
    fn tile<'a>(&'a self, size: impl Fn(&'a TiledDim) -> Option<&'a u64>) -> String {
        let sizes: Vec<u64> =
            self.dims.iter().map(|dim| size(dim).copied().unwrap_or(dim.extent)).collect();
        join(&sizes).replace(',', "×")
    }
}

impl TiledDim {
    fn new(layout: &TensorLayout, dim: usize) -> TiledDim {
        let extent = layout.extents()[dim];
        let modes = if layout.is_strided() { layout.layout().axis(dim) } else { None };
        let modes: Vec<_> = modes.unwrap_or(&[]).iter().filter(|mode| mode.extent() != 1).collect();
        let sizes = modes.iter().scan(1u64, |size, mode| {
            *size = size.saturating_mul(mode.extent());
            Some(*size)
        });
        let cuts = sizes.take(modes.len().saturating_sub(1)).filter(|&size| size > 0).collect();
        let stride = modes.last().map_or(0, |mode| mode.stride().unsigned_abs());
        TiledDim { extent, cuts, stride, step: 0 }
    }

    /// Returns the number of the tile that contains a coordinate.
    fn tile(&self, x: u64) -> u64 {
        self.cuts.last().map_or(0, |size| x / size)
    }

    /// Returns the parity of the smallest tile, if there are tiles of tiles.
    fn alternate(&self, x: u64) -> u64 {
        if self.cuts.len() > 1 { x / self.cuts[0] % 2 } else { 0 }
    }
}

/// Numbers the tiles in the order of memory, as far as neighbours get different colours.
fn steps(dims: &mut [TiledDim]) {
    let mut order: Vec<usize> = (0..dims.len()).filter(|&d| !dims[d].cuts.is_empty()).collect();
    tilewright_core::sort_short(&mut order, |&dim| (dims[dim].stride, dim));
    let (mut count, hues) = (1, u64::from(HUES));
    for dim in order {
        dims[dim].step = if count % hues == 0 { 3 } else { count % hues };
        count = count % hues * (dims[dim].tile(dims[dim].extent.saturating_sub(1)) + 1) % hues;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tilewright_core::Layout;

    fn colouring(text: &str) -> Colouring {
        Colouring::new(&TensorLayout::of(&Layout::parse(text).unwrap()))
    }

    #[test]
    fn tiles_count_in_the_order_of_memory() {
        let colours = colouring("((4,2),(4,3)):((4,16),(1,32))");
        let hue = |i, j| match colours.paint(&[i, j]) {
            Paint::Colour { hue, light: false } => hue,
            other => panic!("{other:?}"),
        };
        assert_eq!([hue(0, 0), hue(3, 3), hue(4, 0), hue(0, 4), hue(7, 11)], [0, 0, 1, 2, 5]);
        assert_eq!(colours.legend()[0].text, "one colour per tile of 4×4");
    }

    #[test]
    fn neighbouring_tiles_differ() {
        for rows in 2..20 {
            for columns in 2..20 {
                let text = format!("((2,{rows}),(2,{columns})):((1,4),(2,{}))", 4 * rows);
                let colours = colouring(&text);
                for i in 0..rows {
                    for j in 0..columns {
                        let here = colours.paint(&[2 * i, 2 * j]);
                        let (below, right) = ([2 * i + 2, 2 * j], [2 * i, 2 * j + 2]);
                        assert!(i + 1 == rows || here != colours.paint(&below), "{text}");
                        assert!(j + 1 == columns || here != colours.paint(&right), "{text}");
                    }
                }
            }
        }
    }

    #[test]
    fn without_tiles_what_lies_together_has_one_colour() {
        assert_eq!(colouring("(4,3):(3,1)").legend()[0].text, "one colour per row, dim 0");
        assert_eq!(colouring("(4,3):(1,4)").legend()[0].text, "one colour per column, dim 1");
        assert!(colouring("12:1").legend().is_empty());
        let key = |text| colouring(text).legend()[0].clone();
        assert_eq!(key("(4,3):(3,1)").paints, [0, 1, 2, 3].map(Paint::colour));
        let many = key("(9,3):(3,1)");
        assert_eq!(
            (many.paints.len(), many.text.as_str()),
            (8, "one colour per row, dim 0, these 8 in turn")
        );
        let nested = colouring("((2,4,2),(4,8,2)):((128,4,256),(1,16,512))");
        assert_eq!(nested.paint(&[2, 0]), Paint::Colour { hue: 0, light: true });
        assert_eq!(nested.paint(&[2, 4]), Paint::colour(0));
        assert_eq!(nested.paint(&[8, 0]), Paint::colour(1));
    }
}
