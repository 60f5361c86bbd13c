//! An instance of a rule at work: the values of axes in names, the tensors they name, and terms within these.
//!
//! A term in a tensor is the element at digits of 0, and a stride for each of its axes.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    assembly::Digit,
    error::Error,
    kind,
    rule::{
        Placed, Reference, Rule, SideTerms,
        expression::{Axis, Node, Path, Sizes},
        name::Number,
    },
    solve::equations::Solved,
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

/// The axes of a term within a tensor, outermost first, in row-major order.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct TermAxes {
    pub(crate) offset: u64,
    /// Axis, size and stride in elements.
    pub(crate) leaves: Vec<(Axis, u64, u64)>,
}

/// Sizes of axes, and the remaining dimensions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extents<'a> {
    pub(crate) sizes: &'a Sizes,
    pub(crate) rest: &'a [u64],
}

impl Extents<'_> {
    /// The size of a part; at most `u64::MAX`.
    pub(crate) fn size(&self, node: &Node) -> u64 {
        let size = node.size(&|axis| self.sizes.get(axis.base()).copied()).unwrap_or(0);
        u64::try_from(size).unwrap_or(u64::MAX)
    }

    /// The extents of a tensor.
    pub(crate) fn of(&self, dims: &[Node]) -> Vec<u64> {
        let of = |dim: &Node| match dim {
            Node::Rest => self.rest.to_vec(),
            Node::Axis(_) | Node::Product(_) | Node::Sum(_) => vec![self.size(dim)],
        };
        dims.iter().flat_map(of).collect()
    }

    /// A term of a tensor with these dims, whose elements the caller has counted: strides cannot overflow.
    pub(crate) fn digits(&self, dims: &[Node], paths: &[Path]) -> TermAxes {
        let mut digits = TermAxes::default();
        let mut stride = 1u64;
        for (dim, path) in dims.iter().zip(paths).rev() {
            if let Node::Rest = dim {
                for (at, extent) in self.rest.iter().enumerate().rev() {
                    digits.leaves.push((Axis::new(&format!("…{at}")), *extent, stride));
                    stride = stride.saturating_mul(*extent);
                }
                continue;
            }
            self.part(dim, path, stride, &mut digits);
            stride = stride.saturating_mul(self.size(dim));
        }
        digits.leaves.reverse();
        digits
    }

    /// Adds the axes on the path through a part, innermost first.
    fn part(&self, node: &Node, path: &Path, stride: u64, digits: &mut TermAxes) {
        match (node, path) {
            (Node::Axis(axis), _) => digits.leaves.push((axis.clone(), self.size(node), stride)),
            (Node::Product(parts), Path::All(paths)) => {
                let mut stride = stride;
                for (part, path) in parts.iter().zip(paths).rev() {
                    self.part(part, path, stride, digits);
                    stride = stride.saturating_mul(self.size(part));
                }
            }
            (Node::Sum(parts), Path::One(at, path)) => {
                let before =
                    parts.iter().take(*at).map(|part| self.size(part)).fold(0, u64::saturating_add);
                digits.offset = digits.offset.saturating_add(before.saturating_mul(stride));
                if let Some(part) = parts.get(*at) {
                    self.part(part, path, stride, digits);
                }
            }
            (Node::Rest | Node::Product(_) | Node::Sum(_), _) => {}
        }
    }

    /// The number that axes with these values have in a name.
    pub(crate) fn number(&self, node: &Node, path: &Path, values: &BTreeMap<Axis, u64>) -> u64 {
        match (node, path) {
            (Node::Axis(axis), _) => values.get(axis).copied().unwrap_or(0),
            (Node::Product(parts), Path::All(paths)) => {
                parts.iter().zip(paths).fold(0u64, |all, (part, path)| {
                    all.saturating_mul(self.size(part))
                        .saturating_add(self.number(part, path, values))
                })
            }
            (Node::Sum(parts), Path::One(at, path)) => {
                let before =
                    parts.iter().take(*at).map(|part| self.size(part)).fold(0, u64::saturating_add);
                let inside = parts.get(*at).map_or(0, |part| self.number(part, path, values));
                before.saturating_add(inside)
            }
            (Node::Rest | Node::Product(_) | Node::Sum(_), _) => 0,
        }
    }
}

/// The axes on a path through a part.
fn axes_on(node: &Node, path: &Path) -> Vec<Axis> {
    match (node, path) {
        (Node::Axis(axis), _) => vec![axis.clone()],
        (Node::Product(parts), Path::All(paths)) => {
            parts.iter().zip(paths).flat_map(|(part, path)| axes_on(part, path)).collect()
        }
        (Node::Sum(parts), Path::One(at, path)) => {
            parts.get(*at).map_or_else(Vec::new, |part| axes_on(part, path))
        }
        (Node::Rest | Node::Product(_) | Node::Sum(_), _) => Vec::new(),
    }
}

/// Leaves out digits of extent 1 and merges neighbours that are one run on both sides.
pub(crate) fn merged(digits: Vec<Digit>) -> Vec<Digit> {
    let mut all: Vec<Digit> = Vec::new();
    for digit in digits.into_iter().filter(|digit| digit.extent != 1) {
        let joins = |outer: &Digit| {
            let times = |stride: u64| stride.checked_mul(digit.extent);
            times(digit.source) == Some(outer.source) && times(digit.made) == Some(outer.made)
        };
        match all.last_mut() {
            Some(outer) if joins(outer) => {
                *outer = Digit { extent: outer.extent.saturating_mul(digit.extent), ..digit };
            }
            Some(_) | None => all.push(digit),
        }
    }
    all
}
