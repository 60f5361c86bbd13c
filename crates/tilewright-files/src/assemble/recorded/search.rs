//! Searches the elements that differ of two arrays that share digits. The comparison by a recorded recipe and the conditions on the
//! source use it.
//!
//! Law: the element that is found is the first in row-major order of the first array, for any number of threads.

use std::path::Path;

use tilewright_core::{Dtype, Fill, TensorLayout};
use tilewright_recipe::Digit;
use tilewright_transfer::{Limits, Quiet};

use crate::{
    Error, Input, Tensor,
    assemble::pieces::exact::Exact,
    error,
    layout::element_layout::ElementLayout,
    open::origin::Origin,
    verify::{
        compare::{self, Pair, Unequal},
        patch::{FileSide, comparing},
        view::{Selection, View, Views},
    },
};

/// The number of views that are compared together.
const TOGETHER: usize = 64;

/// The elements with which others are compared.
pub(crate) struct PartSide<'a> {
    pub(crate) side: FileSide<'a>,
    /// The row-major index of the first element; `None` for a constant, which every element equals.
    offset: Option<u64>,
    exact: Exact,
}

impl<'a> PartSide<'a> {
    /// Returns elements of a tensor from a row-major index on, as elements of this type, rounded if allowed.
    pub(crate) fn of(
        (input, tensor): (&'a Input, &'a Tensor),
        offset: u64,
        (dtype, rounds): (Dtype, bool),
    ) -> Result<PartSide<'a>, Error> {
        let (name, own) = (&tensor.name, tensor.dtype());
        let wrong =
            |said: String| error::unsupported(&input.path, format!("tensor {name:?}{said}"));
        if let Some(refusal) = &tensor.refusal {
            return Err(wrong(format!(": {refusal}")));
        }
        let exact = Exact::of(own, dtype).ok_or_else(|| {
            wrong(format!(" has elements of {own}, which are not compared with those of {dtype}"))
        })?;
        let exact = if rounds { exact.rounded() } else { exact };
        let side = compare::side((input, None), tensor, &tensor.held, Fill::Unspecified)?;
        compare::check(&side)?;
        Ok(PartSide { side, offset: Some(offset), exact })
    }
}

/// A value of one element.
pub(crate) struct Constant {
    bytes: Vec<u8>,
    held: ElementLayout,
}

impl Constant {
    /// Returns the element with these bits of the type of an array.
    pub(crate) fn new(bits: u64, held: &ElementLayout) -> Result<Constant, Error> {
        let mut bytes = bits.to_le_bytes().to_vec();
        bytes.resize(held.bits.div_ceil(8) as usize, 0);
        let layout = TensorLayout::row_major(&[]).map_err(comparing)?;
        let held = ElementLayout::new("constant", layout, held.dtype, held.bits, Fill::Unspecified);
        Ok(Constant { bytes, held })
    }

    /// Returns the side on which all elements are this one.
    pub(crate) fn side<'c>(
        &'c self,
        (path, name): (&'c Path, &'c str),
    ) -> Result<PartSide<'c>, Error> {
        let bytes = (Origin::Memory(&self.bytes, path), 0, self.bytes.len() as u64);
        let side = compare::side_at(bytes, name, &self.held, (0, false))?;
        Ok(PartSide { side, offset: None, exact: Exact::Same })
    }
}

/// A search for the first element of an array that differs.
pub(crate) struct Search<'l> {
    /// The row-major index of the first one that was found.
    pub(crate) first: Option<(u64, Unequal)>,
    /// The number of bytes that the watcher was told of.
    pub(crate) told: u64,
    /// True if no element of the array may be compared twice.
    once: bool,
    limits: &'l Limits<'l>,
}

impl<'l> Search<'l> {
    pub(crate) fn new(limits: &'l Limits<'l>, once: bool) -> Search<'l> {
        Search { first: None, told: 0, once, limits }
    }

    /// Compares elements of an array from a row-major index on with others; the outer error describes digits that do not fit. A
    /// digit steps by `made` in the array.
    pub(crate) fn part(
        &mut self,
        (to, offset): (&FileSide<'_>, u64),
        from: &PartSide<'_>,
        digits: &[Digit],
    ) -> Result<Result<(), Error>, String> {
        let (unit, own) = (to.held.together(), from.side.held.together());
        let size = to.held.layout().size().saturating_mul(unit);
        let others = from.side.held.layout().size().saturating_mul(own);
        let mut chosen = match from.offset {
            Some(first) => Selection::new([offset, first], digits, [size, others])?,
            None => {
                let still = digits.iter().map(|digit| Digit { source: 0, ..*digit });
                Selection::new([offset, 0], &still.collect::<Vec<_>>(), [size, 1])?
            }
        };
        if !chosen.sort() && self.once {
            return Err("has a part with digits that overlap".into());
        }
        let whole = chosen.in_blocks(unit).filter(|_| own == unit || from.offset.is_none());
        let whole = whole.ok_or_else(|| {
            let together = unit.max(own);
            format!("takes apart {together} elements that are stored together")
        })?;
        Ok(self.chosen(whole, (to, from)))
    }

    fn chosen(
        &mut self,
        chosen: Selection,
        (to, from): (&FileSide<'_>, &PartSide<'_>),
    ) -> Result<(), Error> {
        let arrays = [to.held.layout(), from.side.held.layout()];
        let mut views = Views::new(arrays, [to.scattered, from.side.scattered], chosen);
        loop {
            let views: Vec<View> = views.by_ref().take(TOGETHER).collect::<Result<_, Error>>()?;
            if views.is_empty() {
                return Ok(());
            }
            self.views(&views, (to, from))?;
        }
    }

    /// Compares the elements of some views.
    fn views(
        &mut self,
        views: &[View],
        (to, from): (&FileSide<'_>, &PartSide<'_>),
    ) -> Result<(), Error> {
        let held = views.iter().map(|view| {
            let [a, b] = &view.layouts;
            Ok([over(to.held, a)?, over(from.side.held, b)?])
        });
        let held = held.collect::<Result<Vec<_>, Error>>()?;
        let pairs = views.iter().zip(&held).map(|(view, [a, b])| {
            let [x, y] = &view.scattered;
            let to = FileSide { held: a, scattered: x, ..*to };
            let from_side = FileSide { held: b, scattered: y, ..from.side };
            Pair::new(to, from_side, from.exact)
        });
        let pairs: Vec<Pair<'_>> = pairs.collect();
        let bytes = pairs.iter().map(Pair::bytes).fold(0, u64::saturating_add);
        let mut left: Vec<(&Pair<'_>, &View)> = pairs.iter().zip(views).collect();
        let (unit, quiet) = (to.held.together(), Quiet(self.limits.watch()));
        let again = self.limits.quiet(&quiet);
        let mut limits = self.limits;
        loop {
            let first = self.first.as_ref().map_or(u64::MAX, |(index, _)| *index);
            left.retain(|(_, view)| view.chosen.first[0] * unit < first);
            let own: Vec<&Pair<'_>> = left.iter().map(|(pair, _)| *pair).collect();
            let Some(found) = compare::unequal_element(&own, bytes, limits)? else { break };
            let (pair, view) = left.remove(found.pair);
            let found = compare::least(pair, found, limits)?;
            let index = view.chosen.index(&found.coord) * unit;
            if index < first {
                self.first = Some((index, found));
            }
            // Later passes over these bytes report no progress.
            limits = &again;
        }
        self.told = self.told.saturating_add(bytes);
        Ok(())
    }
}

/// Returns the elements of a tensor in the layout of a view.
fn over(held: &ElementLayout, layout: &TensorLayout) -> Result<ElementLayout, Error> {
    let name = held.named.name();
    let own = ElementLayout::new(name, layout.clone(), held.dtype, held.bits, Fill::Unspecified);
    own.ordered(held.order).map_err(error::usage)
}
