//! Finds the devices that hold a block of an array: those whose ranges contain it in every dim. The picture of devices
//! uses it.
//!
//! Devices with equal ranges form one class, and a set is a list of classes. If one class holds every element, which is
//! common, all sets together have one entry for each block, regardless of the number of devices.

use std::collections::HashMap;

use crate::{Key, Paint};

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
