//! A term in a tensor: the element at digits of 0, and a stride for each of its axes.

use std::collections::BTreeMap;

use crate::{
    assembly::Digit,
    rule::expression::{Axis, Node, Path, Sizes},
};

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
pub(crate) fn axes_on(node: &Node, path: &Path) -> Vec<Axis> {
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
