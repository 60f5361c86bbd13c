//! Two dims of an array as a panel, with the others fixed: coordinates in the margins, rules around tiles. All pictures
//! with grids use it.
//!
//! Law: a cell inside the logical extents is the element of that coordinate. The others are padding, drawn if the dim
//! is an axis of the layout.

use tilewright_core::TensorLayout;

use crate::{
    Cell, Limits, Margin, Paint, Panel, Subject,
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
        let panels = (0..drawn).map(|index| self.panel(&unravel(outer, index), cell)).collect();
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

/// Returns the coordinate of a row-major index.
pub(crate) fn unravel(extents: &[u64], mut index: u64) -> Vec<u64> {
    let mut coord = vec![0; extents.len()];
    for (x, &extent) in coord.iter_mut().zip(extents).rev() {
        *x = index % extent.max(1);
        index /= extent.max(1);
    }
    coord
}
