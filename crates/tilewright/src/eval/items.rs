//! Lists in brackets: nested lists of integers and `_`, which become tuples or slicers, and names of dims with or without their
//! sizes, such as `[row,column]` and `[row:8]`.
//!
//! A tiler has a part for each axis.

use std::{
    cell::{Cell, OnceCell},
    fmt,
};

use tilewright_core::{Error, IntTuple, Layout, Profile, Slicer, Tiler};

/// Leaves of a tuple in the order of its text. Each has the number of brackets that open before it, its value, and the number of
/// brackets that close after it. The value `None` is `_`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Items(Vec<(usize, Option<i64>, usize)>);

impl Items {
    /// Returns a bare integer or `_`.
    pub(super) fn leaf(value: Option<i64>) -> Items {
        Items(vec![(0, value, 0)])
    }

    pub(super) fn of(tuple: &IntTuple) -> Items {
        let leaf = |(i, &value): (usize, &i64)| {
            let (opened, closed) = tuple.profile().brackets(i).unwrap_or((0, 0));
            (opened, Some(value), closed)
        };
        Items(tuple.values().iter().enumerate().map(leaf).collect())
    }

    /// Returns the tuple of these parts.
    pub(super) fn tuple(parts: Vec<Items>) -> Result<Items, Error> {
        if parts.iter().any(|part| part.0.is_empty()) {
            return Err(Error::illegal(
                "an empty tuple among {} parts of a tuple",
                [parts.len() as i128],
                "write () only alone; a part of one coordinate is 1",
            ));
        }
        let mut all: Vec<_> = parts.into_iter().flat_map(|part| part.0).collect();
        if let Some(first) = all.first_mut() {
            first.0 += 1;
        }
        if let Some(last) = all.last_mut() {
            last.2 += 1;
        }
        Ok(Items(all))
    }

    /// Returns whether this is a bare integer or `_`.
    pub(super) fn is_leaf(&self) -> bool {
        matches!(self.0[..], [(0, _, 0)])
    }

    fn keeps(&self) -> bool {
        self.0.iter().any(|(_, leaf, _)| leaf.is_none())
    }

    /// Returns the tuple, if no leaf is `_`.
    pub(super) fn integers(&self) -> Result<Option<IntTuple>, Error> {
        if self.keeps() { Ok(None) } else { self.zeroed().map(Some) }
    }

    /// Returns the tuple with 0 for each `_`.
    pub(super) fn zeroed(&self) -> Result<IntTuple, Error> {
        let mut profile = Profile::flat(0)?;
        for &(opened, _, closed) in &self.0 {
            profile.push(opened, closed)?;
        }
        let values: Vec<i64> = self.0.iter().map(|(_, leaf, _)| leaf.unwrap_or(0)).collect();
        IntTuple::new(&values, &profile)
    }

    pub(super) fn slicer(&self) -> Result<Slicer, Error> {
        let kept = self.0.iter().enumerate().filter(|(_, (_, leaf, _))| leaf.is_none());
        let kept: Vec<usize> = kept.map(|(i, _)| i).collect();
        Slicer::new(&self.zeroed()?, &kept)
    }
}

impl Items {
    /// Returns the parts of the tuple; a bare integer or `_` is one part.
    pub(super) fn split(&self) -> Vec<Items> {
        let mut leaves = self.0.clone();
        if !self.is_leaf() {
            // The first and the last bracket enclose the whole tuple.
            leaves.first_mut().into_iter().for_each(|(opened, _, _)| *opened -= 1);
            leaves.last_mut().into_iter().for_each(|(_, _, closed)| *closed -= 1);
        }
        let (mut parts, mut depth): (Vec<Items>, usize) = (Vec::new(), 0);
        for leaf in leaves {
            match parts.last_mut() {
                Some(part) if depth > 0 => part.0.push(leaf),
                Some(_) | None => parts.push(Items(vec![leaf])),
            }
            depth = depth + leaf.0 - leaf.2;
        }
        parts
    }

    /// Returns the parts of a tuple as a tiler, one for each axis; `None` for an extent below 0.
    pub(super) fn parts(&self) -> Option<Vec<TilerPart>> {
        let mut open: Vec<Vec<TilerPart>> = vec![Vec::new()];
        for &(opened, leaf, closed) in &self.0 {
            open.extend((0..opened).map(|_| Vec::new()));
            let part = match leaf {
                None => TilerPart::Keep,
                Some(extent) => TilerPart::Extent(u64::try_from(extent).ok()?),
            };
            open.last_mut()?.push(part);
            for _ in 0..closed {
                let inner = open.pop()?;
                open.last_mut()?.push(TilerPart::Modes(inner));
            }
        }
        // The brackets around the whole tuple are those of the tiler.
        match open.pop()?.pop() {
            Some(TilerPart::Modes(parts)) => Some(parts),
            Some(part) => Some(vec![part]),
            None => Some(Vec::new()),
        }
    }
}

/// A part of a tiler, for one axis.
#[derive(Clone, Debug)]
pub(super) enum TilerPart {
    Layout(Box<Layout>),
    Extent(u64),
    Keep,
    /// A tiler for each mode within the axis.
    Modes(Vec<TilerPart>),
}

impl TilerPart {
    /// Returns the tilers of the modes within the axis, if that is what this is.
    pub(super) fn modes(&self) -> Option<Vec<TilerPart>> {
        match self {
            TilerPart::Modes(parts) => Some(parts.clone()),
            _ => None,
        }
    }

    /// Returns the text of a tiler of these parts.
    pub(super) fn text(parts: &[TilerPart]) -> String {
        let part = |part: &TilerPart| match part {
            TilerPart::Layout(layout) => layout.to_string(),
            TilerPart::Extent(extent) => extent.to_string(),
            TilerPart::Keep => "_".to_owned(),
            TilerPart::Modes(inner) => TilerPart::text(inner),
        };
        format!("<{}>", parts.iter().map(part).collect::<Vec<_>>().join(","))
    }

    /// Returns a tuple with the brackets of these parts, and 1 for each part.
    pub(super) fn brackets(parts: &[TilerPart]) -> Result<IntTuple, Error> {
        let one = |part: &TilerPart| match part {
            TilerPart::Modes(inner) => TilerPart::brackets(inner),
            TilerPart::Layout(_) | TilerPart::Extent(_) | TilerPart::Keep => {
                Ok(IntTuple::integer(1))
            }
        };
        let tuples: Vec<IntTuple> = parts.iter().map(one).collect::<Result<_, _>>()?;
        IntTuple::of(&tuples.iter().collect::<Vec<_>>())
    }

    /// Returns the number of lists of parts, with the nested ones.
    fn lists(parts: &[TilerPart]) -> usize {
        let within = |part: &TilerPart| match part {
            TilerPart::Modes(inner) => TilerPart::lists(inner),
            TilerPart::Layout(_) | TilerPart::Extent(_) | TilerPart::Keep => 0,
        };
        1 + parts.iter().map(within).sum::<usize>()
    }
}

/// Calls `ask` with the tilers of these parts and returns its result.
pub(super) fn with_tilers<T>(parts: &[TilerPart], ask: impl FnOnce(&[Tiler<'_>]) -> T) -> T {
    let lists: Vec<OnceCell<Vec<Tiler<'_>>>> = vec![OnceCell::new(); TilerPart::lists(parts)];
    ask(tilers(parts, &lists, &Cell::new(0)))
}

/// Returns the tilers of these parts. Each list of tilers is stored in a cell of `lists`.
fn tilers<'a>(
    parts: &'a [TilerPart],
    lists: &'a [OnceCell<Vec<Tiler<'a>>>],
    next: &Cell<usize>,
) -> &'a [Tiler<'a>] {
    let own = next.replace(next.get() + 1);
    let tiler = |part: &'a TilerPart| match part {
        TilerPart::Layout(layout) => Tiler::Layout(layout),
        TilerPart::Extent(extent) => Tiler::Extent(*extent),
        TilerPart::Keep => Tiler::Keep,
        TilerPart::Modes(inner) => Tiler::Modes(tilers(inner, lists, next)),
    };
    let list = parts.iter().map(tiler).collect();
    lists[own].get_or_init(|| list)
}

/// Names of the dims of a linear layout, with the sizes that are given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Dims(Vec<(String, Option<u64>)>);

impl Dims {
    /// Reads the text between the brackets, which begins at byte `at` of the expression.
    pub(super) fn parse(text: &str, at: usize) -> Result<Dims, crate::Error> {
        let (mut dims, mut from) = (Vec::new(), at);
        for part in text.split(',') {
            let span = (from, from + part.len());
            from += part.len() + 1;
            if part.trim().is_empty() && from > at + text.len() {
                break;
            }
            dims.push(dim(part, span)?);
        }
        Ok(Dims(dims))
    }

    /// Returns the names.
    pub(super) fn names(&self) -> Vec<&str> {
        self.0.iter().map(|(name, _)| name.as_str()).collect()
    }

    /// Iterates over the names, with the sizes that are given.
    pub(super) fn pairs(&self) -> impl Iterator<Item = (&str, Option<u64>)> {
        self.0.iter().map(|(name, size)| (name.as_str(), *size))
    }

    /// Returns the names and sizes, if all sizes are given.
    pub(super) fn sizes(&self) -> Option<Vec<(&str, u64)>> {
        self.0.iter().map(|(name, size)| Some((name.as_str(), (*size)?))).collect()
    }
}

fn dim(text: &str, span: (usize, usize)) -> Result<(String, Option<u64>), crate::Error> {
    let (name, size) = match text.split_once(':') {
        Some((name, size)) => (name.trim(), Some(size.trim())),
        None => (text.trim(), None),
    };
    let digit = name.starts_with(|c: char| c.is_ascii_digit());
    let letters = !digit && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let size = size.map(|size| size.parse().map_err(|_| size)).transpose();
    match size {
        Ok(size) if letters && !name.is_empty() => Ok((name.to_owned(), size)),
        Ok(_) | Err(_) => Err(crate::Error::parse(
            span,
            "expected the name of a dim, or name and size, such as `row:8`",
        )),
    }
}

impl fmt::Display for Dims {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let one = |(name, size): &(String, Option<u64>)| match size {
            Some(size) => format!("{name}:{size}"),
            None => name.clone(),
        };
        write!(f, "[{}]", self.0.iter().map(one).collect::<Vec<_>>().join(","))
    }
}
