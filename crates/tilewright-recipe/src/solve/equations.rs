//! The sizes of the axes of an instance: every dim of every source is an equation, and every number in names.
//!
//! [`split`] divides the dims of a tensor into those that a reference names and the remaining ones. An equation with one
//! unknown gives it; then the others know more. A size is a sum of products without minus, so it grows with each of its
//! axes, and the unknown is found by halving.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    error::{Error, Faults, InFile},
    kind,
    recipe::Recipe,
    rule::{
        Reference, Rule,
        expression::{Axis, Node, Sizes},
    },
    solve::{
        claims::Instance,
        given::{self, Given, Outside},
    },
    tensor::{Lack, Tensor},
};

/// An instance of a rule whose sizes are known.
#[derive(Clone, Debug)]
pub(crate) struct Solved {
    pub(crate) instance: Instance,
    pub(crate) sizes: Sizes,
    /// The extents of the remaining dimensions.
    pub(crate) rest: Vec<u64>,
}

/// `size(node) = total`, and the words for the total.
struct Equation<'a> {
    node: &'a Node,
    total: u64,
    reference: &'a Reference,
    total_is: String,
}

/// The input of the equations of an instance.
struct Unsolved<'a> {
    recipe: &'a Recipe,
    rule: &'a Rule,
    given: &'a Given,
    outside: Outside<'a>,
    sizes: Sizes,
    equations: Vec<Equation<'a>>,
}

/// The sizes of an instance; `None` where there are faults.
pub(crate) fn solve(
    (recipe, given, outside): (&Recipe, &Given, Outside<'_>),
    instance: Instance,
    tensors: &[Tensor],
    faults: &mut Faults,
) -> Option<Solved> {
    let rule = &recipe.rules[instance.rule];
    let mut sizes = given.sizes.clone();
    sizes.extend(instance.keys.keys().map(|key| (key.base().to_owned(), 1)));
    let mut unsolved = Unsolved { recipe, rule, given, outside, sizes, equations: Vec::new() };
    let rest = unsolved.gather(&instance, tensors, faults)?;
    let sizes = unsolved.run(faults)?;
    Some(Solved { instance, sizes, rest })
}

impl<'a> Unsolved<'a> {
    /// Writes down the equations, and finds the remaining dimensions.
    fn gather(
        &mut self,
        instance: &Instance,
        tensors: &[Tensor],
        faults: &mut Faults,
    ) -> Option<Vec<u64>> {
        let mut rest: Option<(Vec<u64>, String)> = None;
        let mut whole = true;
        for (reference, found) in self.rule.from.references.iter().zip(&instance.found) {
            if found.is_empty() {
                faults.push(absent(reference, instance));
                whole = false;
                continue;
            }
            whole &= self.numbers(reference, (instance, found), faults);
            let mut seen = BTreeSet::new();
            for tensor in found.values().map(|place| &tensors[*place]) {
                let Some(TensorSplit { dims, rest: remaining }) = split(reference, tensor) else {
                    faults.push(rank(reference, tensor));
                    whole = false;
                    continue;
                };
                for (node, dim, extent) in dims {
                    if seen.insert((dim, extent)) {
                        let total_is = format!("dim {dim} of {:?} is {extent}", tensor.name);
                        let node = &reference.dims[node];
                        self.equations.push(Equation { node, total: extent, reference, total_is });
                    }
                }
                if reference.rest().is_some() {
                    let (first, name) =
                        rest.get_or_insert_with(|| (remaining.to_vec(), tensor.name.clone()));
                    if first != remaining {
                        let says = format!(
                            "`…` is {} in {:?}, and {} in {name:?}",
                            list(remaining),
                            tensor.name,
                            list(first)
                        );
                        faults.push(reference.error(kind::EXTENT, says));
                        whole = false;
                    }
                }
            }
        }
        whole.then(|| rest.map(|(rest, _)| rest).unwrap_or_default())
    }

    /// The equations of the numbers in names, which must be 0, 1, … without holes.
    fn numbers(
        &mut self,
        reference: &'a Reference,
        (instance, found): (&Instance, &BTreeMap<Vec<u64>, usize>),
        faults: &mut Faults,
    ) -> bool {
        let mut grid = 1u128;
        for (at, number) in reference.numbers().enumerate() {
            if matches!(&number.node, Node::Axis(axis) if instance.keys.contains_key(axis)) {
                continue;
            }
            let values: BTreeSet<u64> = found.keys().map(|numbers| numbers[at]).collect();
            let count = values.len() as u64;
            let known = number.node.size(&|axis| self.sizes.get(axis.base()).copied());
            let hole = (0..)
                .zip(&values)
                .find_map(|(expected, value)| (expected != *value).then_some(expected));
            if let Some(hole) =
                hole.or_else(|| known.filter(|known| u128::from(count) < *known).map(|_| count))
            {
                let mut numbers = found.keys().next().cloned().unwrap_or_default();
                numbers[at] = hole;
                faults.push(self.missing(reference, (instance, &numbers), (&number.node, &values)));
                return false;
            }
            grid = grid.saturating_mul(u128::from(count));
            let total_is = format!(
                "the names of `{}` number {count} of `{}`{}",
                reference.text,
                number.node,
                said(instance)
            );
            self.equations.push(Equation { node: &number.node, total: count, reference, total_is });
        }
        if grid != found.len() as u128 {
            let says = format!(
                "`{}` has {} tensors{}, and not all {grid} combinations of its numbers",
                reference.text,
                found.len(),
                said(instance)
            );
            faults.push(reference.error(kind::MISSING, says));
        }
        grid == found.len() as u128
    }

    fn missing(
        &self,
        reference: &Reference,
        (instance, numbers): (&Instance, &[u64]),
        (node, values): (&Node, &BTreeSet<u64>),
    ) -> Error {
        let name = reference.name.write(&instance.texts, numbers, &self.sizes).unwrap_or_default();
        let there: Vec<String> = values.iter().take(8).map(u64::to_string).collect();
        let more = if values.len() > 8 { ", …" } else { "" };
        let says = format!(
            "{name:?} is missing: of `{node}` only these numbers exist: {}{more}",
            there.join(", ")
        );
        reference.error(kind::MISSING, says)
    }

    /// Solves the equations.
    fn run(mut self, faults: &mut Faults) -> Option<Sizes> {
        loop {
            let mut learned = false;
            for at in 0..self.equations.len() {
                match self.step(at) {
                    Ok(step) => learned |= step,
                    Err(error) => {
                        faults.push(error);
                        return None;
                    }
                }
            }
            match if learned { Ok(true) } else { self.define() } {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => {
                    faults.push(error);
                    return None;
                }
            }
        }
        let mut whole = true;
        for equation in &self.equations {
            if let Some(error) = self.broken(equation) {
                faults.push(error);
                whole = false;
            }
        }
        for (axis, error) in self.open() {
            faults.unsolved(&axis, error);
            whole = false;
        }
        whole.then_some(self.sizes)
    }

    /// The unknown of an equation that has one alone, learned.
    fn step(&mut self, at: usize) -> Result<bool, Error> {
        let equation = &self.equations[at];
        let unknown: BTreeSet<&str> = equation
            .node
            .axes()
            .into_iter()
            .map(Axis::base)
            .filter(|axis| !self.sizes.contains_key(*axis))
            .collect();
        let (Some(axis), 1) = (unknown.first().copied(), unknown.len()) else { return Ok(false) };
        let size = |value: u64| {
            equation.node.size(&|one: &Axis| {
                if one.base() == axis { Some(value) } else { self.sizes.get(one.base()).copied() }
            })
        };
        let total = u128::from(equation.total);
        if size(0) == size(1) {
            return Ok(false);
        }
        let (mut low, mut high) = (0, equation.total);
        while low < high {
            let middle = low + (high - low) / 2;
            if size(middle) < Some(total) { low = middle + 1 } else { high = middle }
        }
        if size(low) != Some(total) {
            let known = self.known(equation.node);
            let says = format!(
                "{}, and no size of `{axis}` makes `{}` that{known}",
                equation.total_is, equation.node
            );
            return Err(equation.reference.error(kind::EXTENT, says));
        }
        let axis = axis.to_owned();
        self.sizes.insert(axis, low);
        Ok(true)
    }

    /// Sizes that the recipe gives in terms of others, and sizes of padding. A choice waits for what the rule may still tell,
    /// as long as anything follows without it.
    ///
    /// The error is that the shapes give another size than the recipe.
    fn define(&mut self) -> Result<bool, Error> {
        let axes = self.rule.references().flat_map(Reference::axes).map(Axis::base);
        let lacks = self.given.lacks.keys().map(String::as_str);
        let later = axes.chain(lacks).map(str::to_owned).collect();
        Ok(self.named(&later)? || self.pad()? || self.named(&BTreeSet::new())?)
    }

    /// Sizes that the recipe gives in terms of others and that wait for none of these.
    fn named(&mut self, later: &BTreeSet<String>) -> Result<bool, Error> {
        let mut found = Vec::new();
        for (name, (quantity, _)) in &self.given.lacks {
            let value = match quantity.value(self.outside.scope(&self.sizes, later)) {
                Ok(value) => value,
                Err(Lack::Absent(_) | Lack::Later(_)) => continue,
                Err(Lack::Wrong(why)) => {
                    return Err(given::wrong(name, quantity, &why).on(&self.rule.place));
                }
            };
            match self.sizes.get(name) {
                Some(known) if *known != value => {
                    let says =
                        format!("`{name}` is {known} by the shapes, but {quantity} is {value}");
                    return Err(self.rule.error(kind::EXTENT, says));
                }
                Some(_) => {}
                None => found.push((name.clone(), value)),
            }
        }
        let learned = !found.is_empty();
        self.sizes.extend(found);
        Ok(learned)
    }

    /// Sizes of padding that follow from what is filled up.
    fn pad(&mut self) -> Result<bool, Error> {
        let mut learned = false;
        let axes: BTreeSet<String> = self
            .rule
            .references()
            .flat_map(Reference::axes)
            .map(|axis| axis.base().to_owned())
            .collect();
        for (name, (filled, multiple)) in &self.recipe.pad_to {
            let padding = format!("~{name}");
            let (true, Some(&size)) = (axes.contains(&padding), self.sizes.get(filled)) else {
                continue;
            };
            let Ok(multiple) = multiple.value(self.outside.scope(&self.sizes, &BTreeSet::new()))
            else {
                continue;
            };
            let width = match multiple {
                0 => {
                    return Err(self.rule.error(
                        kind::SIZE,
                        format!("`pad_to` fills `{filled}` up to a multiple of 0"),
                    ));
                }
                _ => (multiple - size % multiple) % multiple,
            };
            let known = *self.sizes.entry(padding.clone()).or_insert_with(|| {
                learned = true;
                width
            });
            if known != width {
                let says = format!(
                    "`{padding}` is {known}, and {width} fill {size} of `{filled}` up to a multiple of {multiple}"
                );
                return Err(self.rule.error(kind::EXTENT, says));
            }
        }
        Ok(learned)
    }

    /// An equation that does not hold.
    fn broken(&self, equation: &Equation<'_>) -> Option<Error> {
        let size = equation.node.size(&|axis| self.sizes.get(axis.base()).copied())?;
        if size == u128::from(equation.total) {
            return None;
        }
        let (is, node) = (&equation.total_is, equation.node);
        let says = match node {
            Node::Axis(axis) => format!("{is}, and `{axis}` is {size}{}", self.source(axis.base())),
            Node::Rest | Node::Product(_) | Node::Sum(_) => {
                format!("{is}, and `{node}` is {size}{}", self.known(node))
            }
        };
        Some(equation.reference.error(kind::EXTENT, says))
    }

    /// Describes the origin of a size.
    fn source(&self, axis: &str) -> String {
        match self.given.from.get(axis).map(String::as_str) {
            Some("given") => " as given".to_owned(),
            Some(from) if self.given.sizes.contains_key(axis) => format!(" by {from}"),
            Some(_) | None => " elsewhere in the rule".to_owned(),
        }
    }

    /// `, with a = 5 (config.a), b = 2`.
    fn known(&self, node: &Node) -> String {
        let axes: BTreeSet<&str> = node.axes().into_iter().map(Axis::base).collect();
        let known: Vec<String> = axes
            .into_iter()
            .filter_map(|axis| {
                let size = self.sizes.get(axis)?;
                let from = self.given.from.get(axis).filter(|from| **from != size.to_string());
                let from = from.map(|from| format!(" ({from})")).unwrap_or_default();
                Some(format!("{axis} = {size}{from}"))
            })
            .collect();
        if known.is_empty() { String::new() } else { format!(", with {}", known.join(", ")) }
    }

    /// Axes whose sizes do not follow: a fault for all instances, which have the same unknowns mostly.
    fn open(&self) -> Vec<(String, Error)> {
        let mut seen = BTreeSet::new();
        let mut errors = Vec::new();
        for reference in self.rule.references() {
            let unknown =
                reference.axes().map(Axis::base).filter(|axis| !self.sizes.contains_key(*axis));
            for axis in unknown.filter(|axis| seen.insert(*axis)) {
                let why = self.given.why(axis).map(|why| format!(" ({why})")).unwrap_or_default();
                let says = format!(
                    "the size of `{axis}` in `{}` does not follow from the shapes; give it{why}",
                    reference.text
                );
                errors.push((axis.to_owned(), reference.error(kind::UNSOLVED, says)));
            }
        }
        errors
    }
}

fn absent(reference: &Reference, instance: &Instance) -> Error {
    let says = format!(
        "no tensor matches `{}`{}, but other tensors of the rule exist",
        reference.text,
        said(instance)
    );
    reference.error(kind::MISSING, says)
}

/// ` for L = 1, p = "model"`, or nothing.
pub(crate) fn said(instance: &Instance) -> String {
    let keys = instance.keys.iter().map(|(axis, value)| format!("{axis} = {value}"));
    let texts = instance.texts.iter().map(|(name, text)| format!("{name} = {text:?}"));
    let all: Vec<String> = keys.chain(texts).collect();
    if all.is_empty() { String::new() } else { format!(" for {}", all.join(", ")) }
}

/// The dims of a tensor that a reference names, each with the place of its expression, its number and its extent; and the
/// extents of the remaining ones.
pub(crate) struct TensorSplit<'t> {
    pub(crate) dims: Vec<(usize, usize, u64)>,
    pub(crate) rest: &'t [u64],
}

/// None if the rank is another one.
pub(crate) fn split<'t>(reference: &Reference, tensor: &'t Tensor) -> Option<TensorSplit<'t>> {
    let extents = &tensor.extents;
    let numbered = extents.iter().copied().enumerate();
    let Some(rest) = reference.rest() else {
        let dims = numbered.map(|(dim, extent)| (dim, dim, extent)).collect();
        return (extents.len() == reference.dims.len()).then_some(TensorSplit { dims, rest: &[] });
    };
    let behind = reference.dims.len() - 1 - rest;
    let end = extents.len().checked_sub(behind).filter(|end| *end >= rest)?;
    let first = numbered.clone().take(rest).map(|(dim, extent)| (dim, dim, extent));
    let last = numbered.skip(end).map(|(dim, extent)| (dim - end + rest + 1, dim, extent));
    Some(TensorSplit { dims: first.chain(last).collect(), rest: &extents[rest..end] })
}

/// The refusal of the rank.
pub(crate) fn rank(reference: &Reference, tensor: &Tensor) -> Error {
    let (rank, dims) = (tensor.extents.len(), reference.dims.len());
    let dims = match reference.rest() {
        Some(_) => format!("at least {}", dims - 1),
        None => dims.to_string(),
    };
    let says = format!(
        "{:?} has {rank} dims, {}, and `{}` says {dims}",
        tensor.name,
        list(&tensor.extents),
        reference.text
    );
    reference.error(kind::RANK, says)
}

/// `[8,64]`.
pub(crate) fn list(extents: &[u64]) -> String {
    format!("[{}]", extents.iter().map(u64::to_string).collect::<Vec<_>>().join(","))
}
