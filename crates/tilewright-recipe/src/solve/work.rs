//! An instance of a rule at work: the values of axes in names, the tensors they name, and terms within these.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    error::Error,
    kind,
    rule::expression::Axis,
    rule::name::Number,
    rule::reference::Reference,
    rule::{Placed, Rule, SideTerms},
    solve::{
        digits::{Extents, TermAxes, axes_on},
        equations::Solved,
    },
    tensor::Tensor,
};

/// Values of axes.
pub(crate) type Values = BTreeMap<Axis, u64>;

/// An instance with its rule and the tensors of the source.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Work<'a> {
    pub(crate) rule: &'a Rule,
    pub(crate) solved: &'a Solved,
    pub(crate) tensors: &'a [Tensor],
}

/// A term in a tensor: which one, and the axes in it.
#[derive(Clone, Debug)]
pub(crate) struct Seat {
    pub(crate) tensor: usize,
    pub(crate) digits: TermAxes,
}

impl<'a> Work<'a> {
    pub(crate) fn extents(&self) -> Extents<'a> {
        Extents { sizes: &self.solved.sizes, rest: &self.solved.rest }
    }

    /// The axes of a term that occur in names, without those that number instances.
    pub(crate) fn named(&self, side: &SideTerms, placed: &Placed) -> BTreeSet<Axis> {
        let numbers = side.references[placed.reference].numbers().zip(&placed.term.name);
        let axes = numbers.flat_map(|(number, path)| axes_on(&number.node, path));
        axes.filter(|axis| !self.solved.instance.keys.contains_key(axis)).collect()
    }

    /// Returns true if the rule drops a term of its source.
    pub(crate) fn drops(&self, from: &Placed) -> bool {
        from.term.axes.iter().any(|axis| self.rule.drop.contains(&axis.to_string()))
    }

    fn size(&self, axis: &Axis) -> u64 {
        self.solved.sizes.get(axis.base()).copied().unwrap_or(0)
    }

    /// The number of combinations of the values of axes, at most `u64::MAX`.
    pub(crate) fn combinations(&self, axes: &BTreeSet<Axis>) -> u64 {
        axes.iter().map(|axis| self.size(axis)).fold(1, u64::saturating_mul)
    }

    /// All values of some axes, the last one fastest, with those of the axes that number instances.
    pub(crate) fn values(&self, axes: &BTreeSet<Axis>) -> impl Iterator<Item = Values> + use<'a> {
        let sizes: Vec<(Axis, u64)> =
            axes.iter().map(|axis| (axis.clone(), self.size(axis))).collect();
        let keys = &self.solved.instance.keys;
        (0..self.combinations(axes)).map(move |mut at| {
            let mut values = keys.clone();
            for (axis, size) in sizes.iter().rev() {
                values.insert(axis.clone(), at % size);
                at /= size;
            }
            values
        })
    }

    /// The numbers of a name at values of its axes.
    pub(crate) fn numbers(
        &self,
        reference: &Reference,
        placed: &Placed,
        values: &Values,
    ) -> Vec<u64> {
        let number =
            |(number, path): (&Number, _)| self.extents().number(&number.node, path, values);
        reference.numbers().zip(&placed.term.name).map(number).collect()
    }

    /// The name of a tensor.
    pub(crate) fn name(&self, reference: &Reference, numbers: &[u64]) -> Result<String, Error> {
        let name = reference.name.write(&self.solved.instance.texts, numbers, &self.solved.sizes);
        name.ok_or_else(|| {
            let says =
                format!("`{}` counts from an unknown size, or beyond 64 bits", reference.text);
            reference.error(kind::UNSOLVED, says)
        })
    }

    /// The tensor of the source that holds a term at values of the axes in names, and the term in it.
    pub(crate) fn seat(&self, placed: &Placed, values: &Values) -> Result<Seat, Error> {
        let reference = &self.rule.from.references[placed.reference];
        let numbers = self.numbers(reference, placed, values);
        let Some(tensor) = self.solved.instance.found[placed.reference].get(&numbers) else {
            let name = self.name(reference, &numbers)?;
            return Err(reference.error(kind::MISSING, format!("{name:?} is missing")));
        };
        Ok(Seat {
            tensor: *tensor,
            digits: self.extents().digits(&reference.dims, &placed.term.dims),
        })
    }
}

impl Seat {
    /// The element at these values, and at digits of 0 of all other axes.
    pub(crate) fn offset(&self, values: &Values) -> u64 {
        offset(&self.digits, values)
    }
}

/// The element of a term at these values, and at digits of 0 of all other axes.
pub(crate) fn offset(digits: &TermAxes, values: &Values) -> u64 {
    let steps = digits
        .leaves
        .iter()
        .map(|(axis, _, stride)| values.get(axis).map_or(0, |value| value.saturating_mul(*stride)));
    steps.fold(digits.offset, u64::saturating_add)
}
