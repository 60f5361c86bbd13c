//! The part of a tiler for one axis.

use std::cell::{Cell, OnceCell};

use tilewright_core::{Error, IntTuple, Layout, Tiler};

/// Part of a tiler for one axis.
#[derive(Clone, Debug)]
pub(super) enum Part {
    Layout(Box<Layout>),
    Extent(u64),
    Keep,
    /// A tiler for each mode within the axis.
    Modes(Vec<Part>),
}

impl Part {
    /// Returns the tilers of the modes within the axis, if that is what this is.
    pub(super) fn modes(&self) -> Option<Vec<Part>> {
        match self {
            Part::Modes(parts) => Some(parts.clone()),
            _ => None,
        }
    }

    /// Returns the text of a tiler of these parts.
    pub(super) fn text(parts: &[Part]) -> String {
        let part = |part: &Part| match part {
            Part::Layout(layout) => layout.to_string(),
            Part::Extent(extent) => extent.to_string(),
            Part::Keep => "_".to_owned(),
            Part::Modes(inner) => Part::text(inner),
        };
        format!("<{}>", parts.iter().map(part).collect::<Vec<_>>().join(","))
    }

    /// Returns a tuple with the brackets of these parts, and 1 for each part.
    pub(super) fn brackets(parts: &[Part]) -> Result<IntTuple, Error> {
        let one = |part: &Part| match part {
            Part::Modes(inner) => Part::brackets(inner),
            Part::Layout(_) | Part::Extent(_) | Part::Keep => Ok(IntTuple::integer(1)),
        };
        let tuples: Vec<IntTuple> = parts.iter().map(one).collect::<Result<_, _>>()?;
        IntTuple::of(&tuples.iter().collect::<Vec<_>>())
    }

    /// Returns the number of lists of parts, with the nested ones.
    fn lists(parts: &[Part]) -> usize {
        let within = |part: &Part| match part {
            Part::Modes(inner) => Part::lists(inner),
            Part::Layout(_) | Part::Extent(_) | Part::Keep => 0,
        };
        1 + parts.iter().map(within).sum::<usize>()
    }
}

/// Calls `ask` with the tilers of these parts and returns its result.
pub(super) fn with_tilers<T>(parts: &[Part], ask: impl FnOnce(&[Tiler<'_>]) -> T) -> T {
    let lists: Vec<OnceCell<Vec<Tiler<'_>>>> = vec![OnceCell::new(); Part::lists(parts)];
    ask(tilers(parts, &lists, &Cell::new(0)))
}

/// Returns the tilers of these parts. Each list of tilers is stored in a cell of `lists`.
fn tilers<'a>(
    parts: &'a [Part],
    lists: &'a [OnceCell<Vec<Tiler<'a>>>],
    next: &Cell<usize>,
) -> &'a [Tiler<'a>] {
    let own = next.replace(next.get() + 1);
    let tiler = |part: &'a Part| match part {
        Part::Layout(layout) => Tiler::Layout(layout),
        Part::Extent(extent) => Tiler::Extent(*extent),
        Part::Keep => Tiler::Keep,
        Part::Modes(inner) => Tiler::Modes(tilers(inner, lists, next)),
    };
    let list = parts.iter().map(tiler).collect();
    lists[own].get_or_init(|| list)
}
