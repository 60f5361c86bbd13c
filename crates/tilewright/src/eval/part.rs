//! The part of a tiler for one axis.

use std::cell::{Cell, OnceCell};

use tilewright_core::{Error, IntTuple, Layout, Tiler};

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
