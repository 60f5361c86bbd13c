//! Draws which devices hold the elements of an array that is distributed over devices.
//!
//! Law: the cell of an element names the devices whose ranges contain its coordinate in every dim, and no others. Cells
//! with one link and one colour name the same devices. A dim that is longer than its limit is drawn in blocks. No range
//! begins or ends inside a block, so all its elements are on the same devices.
//!
//! # Sets of devices
//!
//! A block of an array is on those devices whose ranges contain it in every dim. Devices with equal ranges form one
//! class, and a set is a list of classes. If one class holds every element, which is common, all sets together have one
//! entry for each block, regardless of the number of devices.

use std::collections::HashMap;

use tilewright_core::unravel_index;

use crate::{
    Cell, Key, Limits, Margin, Paint, Panel, Scene,
    scene::{Reach, missing, shown},
    sheet::{bands, gap},
};

/// The most groups of devices that a note lists, and the most characters of one group.
const GROUPS: usize = 8;
const LISTED: usize = 40;

/// Draws which devices hold each element of an array of these extents. Rows and columns are the last two dims that are
/// split, and a panel fixes a block of each other dim.
///
/// ```
/// use tilewright_draw::{Device, Limits, devices};
/// // Two of three devices have copies of the first rows.
/// let holds = |name: &str, rows| Device {
///     name: name.into(),
///     holds: vec![vec![rows], vec![[0, 2]]],
///     ..Device::default()
/// };
/// let three = [holds("0", [0, 2]), holds("1", [0, 2]), holds("2", [2, 1])];
/// let scene = devices("three rows", &[3, 2], &three, &Limits::default());
/// let panel = &scene.bands[0].panels[0];
/// assert_eq!((panel.cell(1, 1).unwrap().text.as_str(), panel.cell(2, 0).unwrap().text.as_str()), ("0,1", "2"));
/// assert_eq!(scene.notes, ["hold the same: 0,1"]);
/// // A long dim is drawn in blocks.
/// let scene = devices("three rows", &[3, 2], &three, &Limits { rows: 2, ..Limits::default() });
/// assert_eq!(scene.bands[0].panels[0].rows[0].head, "0:2");
/// ```
pub fn devices(
    name: impl Into<String>,
    extents: &[u64],
    devices: &[Device],
    limits: &Limits,
) -> Scene {
    let picture = Picture::new(extents, Holders::new(devices, extents.len()), limits.kept());
    let mut sets = Sets::default();
    let (mut panels, left_out) = picture.panels(&mut sets);
    for cell in panels.iter_mut().flat_map(|panel| &mut panel.cells) {
        if let (Some(set), Paint::Plain) = (cell.link, cell.paint) {
            cell.paint = Paint::among(set, sets.count());
        }
    }
    let mut scene = Scene {
        title: name.into(),
        subtitle: picture.says(&sets),
        bands: bands(panels),
        legend: sets.legend(),
        notes: picture.notes(left_out),
    };
    let any = |paint| scene.panels().flat_map(|panel| &panel.cells).any(|cell| cell.paint == paint);
    let (padding, holes) = (any(Paint::Padding), any(Paint::Plain));
    scene.legend.extend(padding.then(|| Key::one(Paint::Padding, "padding that devices store")));
    scene.notes.extend(holes.then(|| "cells without a name are held by no device".into()));
    scene
}

/// A dim, split into the indices or blocks that are drawn.
struct SplitDim {
    dim: Option<usize>,
    ranges: Vec<DrawnRange>,
    /// The indices of the ranges that are shown.
    shown: Vec<Option<u64>>,
}

/// The indices of a dim that one row, column or panel represents.
#[derive(Clone, Copy)]
struct DrawnRange {
    start: u64,
    end: u64,
    /// True if a block begins here.
    begins: bool,
}

impl DrawnRange {
    /// Returns the index, or the block as Python's slices write it.
    fn text(self) -> String {
        match self.end - self.start {
            1 => self.start.to_string(),
            _ => format!("{}:{}", self.start, self.end),
        }
    }

    /// Returns the index, or the beginning of the block: short enough for the head of a column.
    fn short(self) -> String {
        match self.end - self.start {
            1 => self.start.to_string(),
            _ => format!("{}:", self.start),
        }
    }
}

impl SplitDim {
    /// Splits a dim into indices if there are at most `most`, else into blocks.
    fn new(holders: &Holders<'_>, dim: Option<usize>, extents: &[u64], most: u64) -> SplitDim {
        let extent = dim.map_or(1, |dim| extents[dim]);
        let edges = dim.map_or(vec![0, 1], |dim| holders.edges(dim, extent));
        let end = edges.last().copied().unwrap_or(0);
        let begins = |start: u64| edges.binary_search(&start).is_ok();
        let ranges: Vec<DrawnRange> = match end <= most {
            true => {
                (0..end).map(|x| DrawnRange { start: x, end: x + 1, begins: begins(x) }).collect()
            }
            false => {
                let pairs = edges.windows(2);
                pairs
                    .map(|pair| DrawnRange { start: pair[0], end: pair[1], begins: true })
                    .collect()
            }
        };
        let count = ranges.len() as u64;
        let reach = Reach { extent: count, real: count, tiles: &[] };
        SplitDim { dim, ranges, shown: shown(reach, most) }
    }

    fn range(&self, at: u64) -> Option<DrawnRange> {
        self.ranges.get(usize::try_from(at).ok()?).copied()
    }

    /// Returns the margins; `name` formats a block.
    fn margins(&self, name: fn(DrawnRange) -> String) -> Vec<Margin> {
        let margin = |at: &Option<u64>| match at.and_then(|at| self.range(at)) {
            None => Margin { head: "…".into(), ..Margin::default() },
            Some(_) if self.dim.is_none() => Margin::default(),
            Some(range) => {
                Margin { head: name(range), rule: range.begins.into(), ..Margin::default() }
            }
        };
        self.shown.iter().map(margin).collect()
    }

    fn in_blocks(&self) -> bool {
        self.ranges.iter().any(|range| range.end - range.start > 1)
    }

    /// Returns a note on the parts that are left out.
    fn missing(&self, what: &str) -> Option<String> {
        let (count, of) =
            (self.ranges.len() as u64, if self.in_blocks() { " blocks of" } else { "" });
        match missing(count, &self.shown) {
            0 => None,
            left => Some(format!("{left} of {count}{of} {what}")),
        }
    }
}

/// An array and the parts of it that are drawn.
struct Picture<'a> {
    holders: Holders<'a>,
    extents: &'a [u64],
    rows: SplitDim,
    columns: SplitDim,
    /// The dims that panels fix, in blocks.
    others: Vec<SplitDim>,
    limits: Limits,
}

impl<'a> Picture<'a> {
    fn new(extents: &'a [u64], holders: Holders<'a>, limits: Limits) -> Picture<'a> {
        let cut = |dim: &usize| holders.edges(*dim, extents[*dim]).len() > 2;
        // The last two dims that are split; if fewer are split, the last others.
        let (mut drawn, whole): (Vec<usize>, Vec<usize>) =
            (0..extents.len()).rev().partition(|dim| cut(dim));
        drawn.extend(whole);
        drawn.truncate(2);
        tilewright_core::sort_short(&mut drawn, |dim| *dim);
        // A long list of blocks is drawn as rows.
        let long = |dim: &usize| holders.edges(*dim, extents[*dim]).last() > Some(&limits.columns);
        let column = if drawn.len() == 1 && drawn.iter().all(long) { None } else { drawn.pop() };
        let axis = |dim, most| SplitDim::new(&holders, dim, extents, most);
        let (rows, columns) = (axis(drawn.pop(), limits.rows), axis(column, limits.columns));
        let free = [rows.dim, columns.dim];
        let others = (0..extents.len()).filter(|dim| !free.contains(&Some(*dim)));
        let others = others.map(|dim| axis(Some(dim), 0)).collect();
        Picture { holders, extents, rows, columns, others, limits }
    }

    /// Returns the panels, and the number of panels that are left out.
    fn panels(&self, sets: &mut Sets) -> (Vec<Panel>, u64) {
        let counts: Vec<u64> = self.others.iter().map(|axis| axis.ranges.len() as u64).collect();
        let whole = counts.iter().fold(1u64, |count, n| count.saturating_mul(*n));
        let cells = (self.rows.shown.len() * self.columns.shown.len()) as u64;
        let drawn = whole.min(self.limits.grids(cells));
        let panels = (0..drawn).map(|index| {
            let fixed: Vec<DrawnRange> = unravel_index(index, &counts)
                .zip(&self.others)
                .filter_map(|(at, axis)| axis.range(at))
                .collect();
            self.panel(&fixed, sets)
        });
        (panels.collect(), whole - drawn)
    }

    fn panel(&self, fixed: &[DrawnRange], sets: &mut Sets) -> Panel {
        let pairs = fixed.iter().zip(&self.others);
        let here = pairs.fold(self.holders.all(), |classes, (range, axis)| {
            self.holding(&classes, axis, range.start)
        });
        let mut cells = Vec::new();
        for row in &self.rows.shown {
            let row = row.and_then(|at| self.rows.range(at));
            let across = row.map(|row| self.holding(&here, &self.rows, row.start));
            for column in &self.columns.shown {
                let column = column.and_then(|at| self.columns.range(at));
                cells.push(match (row.zip(column), &across, column) {
                    (Some((row, column)), Some(across), _) => {
                        let classes = self.holding(across, &self.columns, column.start);
                        let set = sets.number(&self.holders, classes);
                        self.cell(&self.place(fixed, row, column), set, sets)
                    }
                    (_, None, Some(_)) => gap("⋮"),
                    (_, Some(_), _) => gap("⋯"),
                    (_, None, None) => gap("⋱"),
                });
            }
        }
        let caption = if fixed.is_empty() { String::new() } else { self.caption(fixed) };
        let (rows, columns) =
            (self.rows.margins(DrawnRange::text), self.columns.margins(DrawnRange::short));
        Panel { caption, rows, columns, frame: 1, cells, ..Panel::default() }
    }

    /// Returns those of `classes` that hold an index of an axis.
    fn holding(&self, classes: &[usize], axis: &SplitDim, x: u64) -> Vec<usize> {
        match axis.dim {
            Some(dim) => self.holders.holding(classes, dim, x),
            None => classes.to_vec(),
        }
    }

    /// Returns the ranges of a cell, dim by dim.
    fn place(&self, fixed: &[DrawnRange], row: DrawnRange, column: DrawnRange) -> Vec<DrawnRange> {
        let mut fixed = fixed.iter();
        let range = |dim| match dim {
            _ if self.rows.dim == Some(dim) => Some(row),
            _ if self.columns.dim == Some(dim) => Some(column),
            _ => fixed.next().copied(),
        };
        (0..self.extents.len()).filter_map(range).collect()
    }

    /// Returns a cell of this set; its colour is assigned after all sets are known.
    fn cell(&self, place: &[DrawnRange], set: u64, sets: &Sets) -> Cell {
        let (text, said) = sets.texts(set);
        let at: Vec<String> = place.iter().map(|range| range.text()).collect();
        let padding = place.iter().zip(self.extents).any(|(range, extent)| range.start >= *extent);
        let held = !sets.is_nobody(set);
        let of = if padding { "padding of " } else { "" };
        Cell {
            text: if padding { String::new() } else { text.to_owned() },
            paint: if padding && held { Paint::Padding } else { Paint::Plain },
            tip: format!("({}): {of}{said}", at.join(",")),
            link: held.then_some(set),
            marked: false,
        }
    }

    /// Returns `[0:4,:,:]`, the blocks that a panel fixes.
    fn caption(&self, fixed: &[DrawnRange]) -> String {
        let mut fixed = fixed.iter();
        let free = [self.rows.dim, self.columns.dim];
        let dims = (0..self.extents.len()).map(|dim| match free.contains(&Some(dim)) {
            true => ":".to_owned(),
            false => fixed.next().map_or(String::new(), |range| range.text()),
        });
        format!("[{}]", dims.collect::<Vec<_>>().join(","))
    }

    /// Describes the contents of the picture and its notation.
    fn says(&self, sets: &Sets) -> String {
        let mut says = "cells name the devices that hold them".to_owned();
        if let Some(text) = sets.shortened() {
            says += &format!(", `{text}` means the first and the number of others");
        }
        if let ([Some(rows), Some(columns)], false) =
            ([self.rows.dim, self.columns.dim], self.others.is_empty())
        {
            says += &format!("; rows are dim {rows}, columns dim {columns}");
        }
        if self.rows.in_blocks() || !self.others.is_empty() {
            says += "; a:b means the indices from a up to b, without b";
        }
        if self.columns.in_blocks() {
            says += "; a: means those from a to the next block";
        }
        says
    }

    /// Returns notes: the parts left out, the devices with copies, and the devices without elements.
    fn notes(&self, panels: u64) -> Vec<String> {
        let more = (panels > 0).then(|| format!("{panels} panels"));
        let left = [self.rows.missing("rows"), self.columns.missing("columns"), more];
        let left: Vec<String> = left.into_iter().flatten().collect();
        let mut notes = Vec::new();
        if !left.is_empty() {
            notes.push(format!("left out: {}", left.join(", ")));
        }
        let copies: Vec<String> =
            self.holders.copies().map(|group| names(&group, LISTED)).collect();
        if !copies.is_empty() {
            let more = copies.len().saturating_sub(GROUPS);
            let shown = &copies[..copies.len() - more];
            let more = if more > 0 { format!("; and {more} groups more") } else { String::new() };
            notes.push(format!("hold the same: {}{more}", shown.join("; ")));
        }
        let idle = self.holders.idle();
        if !idle.is_empty() && !self.extents.contains(&0) {
            notes.push(format!("hold nothing: {}", names(&idle, LISTED)));
        }
        if self.extents.contains(&0) {
            notes.push("the array is empty".into());
        }
        notes
    }
}

/// The most characters of the names in a cell, and in its description.
const NAMES: usize = 9;
const SAID: usize = 80;

/// A device, and its part of an array.
///
/// ```
/// use tilewright_draw::Device;
/// // The last of four devices, each with storage for three of ten rows: it holds one.
/// let last = Device {
///     name: "3".into(),
///     place: "(dp=3)".into(),
///     holds: vec![vec![[9, 1]]],
///     padding: vec![[10, 2]],
/// };
/// assert_eq!(last.holds[0][0], [9, 1]);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Device {
    /// The name in cells, such as its number.
    pub name: String,
    /// Its position in the mesh, which follows the name in descriptions of cells. May be empty.
    pub place: String,
    /// For each dim, the ranges of indices that it holds, as `[start, length]`.
    pub holds: Vec<Vec<[u64; 2]>>,
    /// For each dim, the range after the last index of the array for which it has storage; the length may be 0.
    pub padding: Vec<[u64; 2]>,
}

/// Ranges of indices, sorted and disjoint, as `[start, end]`.
type Ranges = Vec<[u64; 2]>;

/// The devices, grouped by the elements that they hold.
pub(crate) struct Holders<'a> {
    devices: &'a [Device],
    /// The devices of each class, in their order.
    classes: Vec<Vec<usize>>,
    /// For each class and each dim, the ranges that it holds, padding included.
    ranges: Vec<Vec<Ranges>>,
}

impl<'a> Holders<'a> {
    pub(crate) fn new(devices: &'a [Device], rank: usize) -> Holders<'a> {
        let mut holders = Holders { devices, classes: Vec::new(), ranges: Vec::new() };
        let mut known: HashMap<Vec<Ranges>, usize> = HashMap::new();
        for (at, device) in devices.iter().enumerate() {
            let held: Vec<Ranges> = (0..rank).map(|dim| ranges(device, dim)).collect();
            let class = *known.entry(held).or_insert_with_key(|held| {
                holders.ranges.push(held.clone());
                holders.classes.push(Vec::new());
                holders.classes.len() - 1
            });
            holders.classes[class].push(at);
        }
        holders
    }

    /// Returns all classes.
    pub(crate) fn all(&self) -> Vec<usize> {
        (0..self.classes.len()).collect()
    }

    /// Returns those of `classes` that hold index `x` of a dim.
    pub(crate) fn holding(&self, classes: &[usize], dim: usize, x: u64) -> Vec<usize> {
        let holds = |class: &&usize| {
            let ranges = &self.ranges[**class][dim];
            let next = ranges.partition_point(|[start, _]| *start <= x);
            next > 0 && x < ranges[next - 1][1]
        };
        classes.iter().filter(holds).copied().collect()
    }

    /// Returns the edges of the blocks of a dim, from 0 to the end of the padding: no range begins or ends inside a
    /// block.
    pub(crate) fn edges(&self, dim: usize, extent: u64) -> Vec<u64> {
        let ranges = self.ranges.iter().flat_map(|dims| dims[dim].iter().flatten().copied());
        let mut edges: Vec<u64> = ranges.chain([0, extent]).collect();
        edges.sort_unstable();
        edges.dedup();
        edges
    }

    /// Returns the devices of these classes, in their order.
    pub(crate) fn devices(&self, classes: &[usize]) -> Vec<&'a Device> {
        let mut all: Vec<usize> =
            classes.iter().flat_map(|class| &self.classes[*class]).copied().collect();
        all.sort_unstable();
        all.iter().map(|at| &self.devices[*at]).collect()
    }

    /// Iterates over the devices of each class that has several devices and holds elements.
    pub(crate) fn copies(&self) -> impl Iterator<Item = Vec<&'a Device>> {
        let classes = self.all().into_iter();
        let several = classes.filter(|class| self.classes[*class].len() > 1 && !self.empty(*class));
        several.map(|class| self.devices(&[class]))
    }

    /// Returns the devices without elements.
    pub(crate) fn idle(&self) -> Vec<&'a Device> {
        let empty: Vec<usize> = self.all().into_iter().filter(|class| self.empty(*class)).collect();
        self.devices(&empty)
    }

    /// Returns whether the devices of a class hold no element.
    fn empty(&self, class: usize) -> bool {
        self.classes[class].first().is_none_or(|device| {
            let holds = &self.devices[*device].holds;
            (0..self.ranges[class].len())
                .any(|dim| holds.get(dim).is_none_or(|list| list.iter().all(|[_, n]| *n == 0)))
        })
    }
}

/// Returns the ranges of a dim that a device holds, padding included.
fn ranges(device: &Device, dim: usize) -> Ranges {
    let held = device.holds.get(dim).into_iter().flatten().chain(device.padding.get(dim));
    let mut all: Ranges = held
        .filter(|[_, length]| *length > 0)
        .map(|[start, length]| [*start, start.saturating_add(*length)])
        .collect();
    // The parts of a dim are almost always in order.
    tilewright_core::sort_short(&mut all, |range| *range);
    let mut apart: Ranges = Vec::with_capacity(all.len());
    for [start, end] in all {
        match apart.last_mut() {
            Some(last) if start < last[1] => last[1] = last[1].max(end),
            Some(_) | None => apart.push([start, end]),
        }
    }
    apart
}

/// The sets of devices that cells name, in the order in which they are first found.
#[derive(Default)]
pub(crate) struct Sets {
    known: HashMap<Vec<usize>, u64>,
    /// The names in a cell, and its description.
    texts: Vec<(String, String)>,
    /// The number of the set without devices.
    nobody: Option<u64>,
    /// True if a set has several devices.
    several: bool,
}

impl Sets {
    /// Returns the number of the set of these classes.
    pub(crate) fn number(&mut self, holders: &Holders<'_>, classes: Vec<usize>) -> u64 {
        if let Some(number) = self.known.get(&classes) {
            return *number;
        }
        let (number, devices) = (self.count(), holders.devices(&classes));
        self.texts.push(texts(&devices));
        self.several |= devices.len() > 1;
        if devices.is_empty() {
            self.nobody = Some(number);
        }
        self.known.insert(classes, number);
        number
    }

    pub(crate) fn count(&self) -> u64 {
        self.texts.len() as u64
    }

    /// Returns the names in a cell, and its description.
    pub(crate) fn texts(&self, number: u64) -> (&str, &str) {
        let texts = usize::try_from(number).ok().and_then(|number| self.texts.get(number));
        texts.map_or(("", ""), |(text, said)| (text, said))
    }

    pub(crate) fn is_nobody(&self, number: u64) -> bool {
        self.nobody == Some(number)
    }

    /// Returns the text of a cell that is too narrow for all its names.
    pub(crate) fn shortened(&self) -> Option<&str> {
        self.texts.iter().map(|(text, _)| text.as_str()).find(|text| text.contains('+'))
    }

    pub(crate) fn legend(&self) -> Vec<Key> {
        let what = match self.several {
            false => "one colour per device",
            true => "one colour for what the same devices hold",
        };
        let order = match Paint::among(0, self.count()) {
            Paint::Shade(_) => ", darker to lighter from the first to the last",
            _ => "",
        };
        let key = (self.count() > 0).then(|| Key::among(self.count(), format!("{what}{order}")));
        key.into_iter().collect()
    }
}

/// Returns the names in a cell of these devices, and its description.
fn texts(devices: &[&Device]) -> (String, String) {
    let all = names(devices, SAID);
    let text = match devices {
        [first, _, ..] if all.chars().count() > NAMES => {
            format!("{} +{}", first.name, devices.len() - 1)
        }
        [..] => all.clone(),
    };
    let said = match devices {
        [] => "held by no device".into(),
        [one] if one.place.is_empty() => format!("device {all}"),
        [one] => format!("device {all} {}", one.place),
        [..] => format!("devices {all}"),
    };
    (text, said)
}

/// Returns the names of devices, separated by commas; three or more consecutive numbers are written as `0-7`. If the
/// text has more than `most` characters, it has the first names and the number of devices.
pub(crate) fn names(devices: &[&Device], most: usize) -> String {
    let number = |at: usize| devices.get(at).and_then(|device| device.name.parse::<u64>().ok());
    let after = |at: usize| number(at).and_then(|n| n.checked_add(1));
    let follows = |at: usize| after(at).is_some_and(|next| number(at + 1) == Some(next));
    let (mut text, mut at) = (String::new(), 0);
    while let Some(device) = devices.get(at) {
        if text.chars().count() + 1 + device.name.chars().count() > most && at > 0 {
            return format!("{text},… ({} devices)", devices.len());
        }
        let last = (at..).find(|at| !follows(*at)).unwrap_or(at);
        let run = if last >= at + 2 { last } else { at };
        text += if at > 0 { "," } else { "" };
        text += &device.name;
        if run > at {
            text += &format!("-{}", devices[run].name);
        }
        at = run + 1;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_short() {
        let all: Vec<Device> =
            (0..40).map(|n| Device { name: n.to_string(), ..Device::default() }).collect();
        let of = |numbers: &[usize]| numbers.iter().map(|n| &all[*n]).collect::<Vec<_>>();
        assert_eq!(names(&of(&[0, 1, 4, 5, 6, 9]), 40), "0,1,4-6,9");
        assert_eq!(names(&of(&[3, 2, 1]), 40), "3,2,1");
        let even: Vec<usize> = (0..20).map(|n| 2 * n).collect();
        assert_eq!(names(&of(&even), 8), "0,2,4,6,… (20 devices)");
        assert_eq!(texts(&of(&even)).0, "0 +19");
        assert_eq!(texts(&of(&[0, 4, 8, 12])).0, "0,4,8,12");
        assert_eq!(names(&[], 8), "");
        // No number follows the greatest one.
        let last = [u64::MAX - 1, u64::MAX];
        let last = last.map(|n| Device { name: n.to_string(), ..Device::default() });
        let last: Vec<&Device> = last.iter().collect();
        assert_eq!(names(&last, 50), "18446744073709551614,18446744073709551615");
    }
}
