//! The tensors of a result, made of parts, from the instances of rules at work.
//!
//! The element type of a tensor is that of its sources, or one that holds the same values exactly.

use std::collections::{BTreeMap, BTreeSet};

use tilewright_core::{Dtype, Fill};

use crate::{
    assembly::{Digit, Equal, Made, Origin, Part},
    error::{Error, InFile},
    kind,
    rule::{
        Placed, Reference, Rule, SideTerms, TermPair,
        expression::{Axis, Node, Path, Sizes},
        name::Number,
    },
    solve::equations::{Solved, said},
    tensor::{Tensor, elements},
};

/// The most parts of a result, tensors of it and comparisons among them.
const MOST_PARTS: u64 = 1 << 23;

/// The tensors made so far, and the instances that made them.
#[derive(Debug, Default)]
pub(crate) struct Built {
    made: BTreeMap<String, Building>,
    equal: Vec<Equal>,
    parts: u64,
    instances: usize,
}

/// A tensor of the result on its way.
#[derive(Debug)]
struct Building {
    made: Made,
    /// The element type of its sources.
    source: Dtype,
    /// A description of what makes it, for errors.
    by: String,
    /// The instance, the reference and the numbers of its name.
    key: (usize, usize, Vec<u64>),
}

impl Built {
    /// Adds what an instance makes.
    pub(crate) fn instance(
        &mut self,
        work: Work<'_>,
        pairs: &[TermPair],
        config: Option<&serde_json::Value>,
    ) -> Result<(), Error> {
        self.instances += 1;
        check_one_type(work)?;
        let mut dtypes = BTreeMap::new();
        for pair in pairs {
            if let TermPair { from: Some(from), to: Some(to) } = pair {
                self.moved(work, (from, to), config, &mut dtypes)?;
            }
        }
        for pair in pairs {
            match pair {
                TermPair { from: None, to: Some(to) } => self.filled(work, to, &dtypes)?,
                TermPair { from: Some(from), to: None } if !work.drops(from) => {
                    self.padding(work, from)?
                }
                TermPair { .. } => {}
            }
        }
        Ok(())
    }

    /// Adds a tensor as a whole: one that is passed through, or one under a second name.
    pub(crate) fn whole(&mut self, made: Made, by: &str) -> Result<(), Error> {
        if let Some(entry) = self.made.get(&made.name) {
            return Err(twice(&made.name, &entry.by, by));
        }
        let entry =
            Building { source: made.dtype, by: by.to_owned(), key: (0, 0, Vec::new()), made };
        self.made.insert(entry.made.name.clone(), entry);
        Ok(())
    }

    /// The tensor of the result with this name.
    pub(crate) fn get(&self, name: &str) -> Option<&Made> {
        self.made.get(name).map(|entry| &entry.made)
    }

    /// Adds what must be equal.
    pub(crate) fn equal(&mut self, equal: Equal) {
        self.equal.push(equal);
    }

    /// All tensors of the result, by name, and what must be equal.
    pub(crate) fn finish(self) -> (Vec<Made>, Vec<Equal>) {
        (self.made.into_values().map(|entry| entry.made).collect(), self.equal)
    }

    fn count(&mut self, work: Work<'_>, more: u64) -> Result<(), Error> {
        self.parts = self.parts.saturating_add(more);
        match self.parts > MOST_PARTS {
            true => Err(work.rule.error(
                kind::LIMIT,
                format!("more than {MOST_PARTS} parts{}", said(&work.solved.instance)),
            )),
            false => Ok(()),
        }
    }

    /// A term that both sides have.
    fn moved(
        &mut self,
        work: Work<'_>,
        (from, to): (&Placed, &Placed),
        config: Option<&serde_json::Value>,
        dtypes: &mut BTreeMap<usize, Dtype>,
    ) -> Result<(), Error> {
        // Of copies in the source the first one is taken.
        let is_copied = |axis: &Axis| work.rule.is_copy(axis) && !to.term.axes.contains(axis);
        let named = work.named(&work.rule.from, from);
        let (copied, mut looped): (BTreeSet<Axis>, BTreeSet<Axis>) =
            named.into_iter().partition(is_copied);
        looped.extend(work.named(&work.rule.to, to));
        self.count(work, work.combinations(&looped))?;
        for mut values in work.values(&looped) {
            values.extend(copied.iter().map(|axis| (axis.clone(), 0)));
            let seat = work.seat(from, &values)?;
            let source = work.tensors[seat.tensor].dtype;
            let dtype = element_type(work.rule, &work.tensors[seat.tensor], config)?;
            dtypes.insert(to.reference, dtype);
            let part = Part {
                origin: Origin::Source { tensor: seat.tensor, offset: seat.offset(&values) },
                ..part(work, to, Some(&seat), &values)
            };
            self.push(work, (to, &values), (Some(source), dtype), part)?;
            if from.term.axes.iter().any(is_copied) {
                self.copies(work, from, (&values, &copied), (&seat, &is_copied))?;
            }
        }
        Ok(())
    }

    /// Copies in the source must be equal to the first one.
    fn copies(
        &mut self,
        work: Work<'_>,
        from: &Placed,
        (values, copied): (&Values, &BTreeSet<Axis>),
        (first, is_copied): (&Seat, &dyn Fn(&Axis) -> bool),
    ) -> Result<(), Error> {
        self.count(work, work.combinations(copied))?;
        let axes: Vec<String> =
            from.term.axes.iter().filter(|axis| is_copied(axis)).map(ToString::to_string).collect();
        for others in work.values(copied) {
            let other = work.seat(
                from,
                &values.iter().chain(&others).map(|(axis, value)| (axis.clone(), *value)).collect(),
            )?;
            let digit = |(axis, extent, stride): &(Axis, u64, u64)| Digit {
                extent: *extent,
                source: if is_copied(axis) { 0 } else { *stride },
                made: *stride,
            };
            let free = first.digits.leaves.iter().filter(|(axis, ..)| !values.contains_key(axis));
            let digits = merged(free.map(digit).collect());
            let origin =
                |seat: &Seat| Origin::Source { tensor: seat.tensor, offset: seat.offset(values) };
            if other.tensor == first.tensor && digits.iter().all(|digit| digit.source == digit.made)
            {
                continue;
            }
            let [one, two] = [first, &other].map(|seat| &work.tensors[seat.tensor]);
            if one.dtype != two.dtype {
                let says = format!(
                    "{:?} is {}, and its copy {:?} {}",
                    one.name,
                    one.dtype.name(),
                    two.name,
                    two.dtype.name()
                );
                return Err(work.rule.error(kind::DTYPE, says));
            }
            let why = format!("the copies by axis {} of {:?}", axes.join(" "), two.name);
            self.equal(Equal { first: origin(first), second: origin(&other), digits, why });
        }
        Ok(())
    }

    /// A term that the result alone has.
    fn filled(
        &mut self,
        work: Work<'_>,
        to: &Placed,
        dtypes: &BTreeMap<usize, Dtype>,
    ) -> Result<(), Error> {
        let looped = work.named(&work.rule.to, to);
        self.count(work, work.combinations(&looped))?;
        let reference = &work.rule.to.references[to.reference];
        let Some(dtype) = dtypes.get(&to.reference).copied() else { return Ok(()) };
        let bits = fill_bits(work.rule.fill, dtype, reference)?;
        for values in work.values(&looped) {
            let part = Part { origin: Origin::Fill(bits), ..part(work, to, None, &values) };
            self.push(work, (to, &values), (None, dtype), part)?;
        }
        Ok(())
    }

    /// A term that the source alone has: it must be the fill.
    fn padding(&mut self, work: Work<'_>, from: &Placed) -> Result<(), Error> {
        let looped = work.named(&work.rule.from, from);
        self.count(work, work.combinations(&looped))?;
        let reference = &work.rule.from.references[from.reference];
        let axes: Vec<String> = from
            .term
            .axes
            .iter()
            .filter(|axis| axis.is_padding())
            .map(ToString::to_string)
            .collect();
        for values in work.values(&looped) {
            let seat = work.seat(from, &values)?;
            let tensor = &work.tensors[seat.tensor];
            let digit = |(_, extent, stride): &(Axis, u64, u64)| Digit {
                extent: *extent,
                source: *stride,
                made: 0,
            };
            let digits = merged(seat.digits.leaves.iter().map(digit).collect());
            let second = Origin::Fill(fill_bits(work.rule.fill, tensor.dtype, reference)?);
            let first = Origin::Source { tensor: seat.tensor, offset: seat.offset(&values) };
            if digits.iter().all(|digit| digit.extent > 0) {
                let why = format!("the padding of axis {} in {:?}", axes.join(" "), tensor.name);
                self.equal(Equal { first, second, digits, why });
            }
        }
        Ok(())
    }

    /// Adds a part to its tensor, which the first part makes.
    fn push(
        &mut self,
        work: Work<'_>,
        (to, values): (&Placed, &Values),
        (source, dtype): (Option<Dtype>, Dtype),
        part: Part,
    ) -> Result<(), Error> {
        let reference = &work.rule.to.references[to.reference];
        let numbers = work.numbers(reference, to, values);
        let name = work.name(reference, &numbers)?;
        let key = (self.instances, to.reference, numbers);
        let entry = match self.made.entry(name) {
            std::collections::btree_map::Entry::Occupied(entry) => entry.into_mut(),
            std::collections::btree_map::Entry::Vacant(vacant) => {
                let made = room(work, (vacant.key(), dtype), (reference, to.reference))?;
                vacant.insert(Building {
                    made,
                    source: source.unwrap_or(dtype),
                    by: reference.text.clone(),
                    key: key.clone(),
                })
            }
        };
        if entry.key != key {
            return Err(twice(&entry.made.name, &entry.by, &reference.text).on(&reference.place));
        }
        if let Some(source) = source
            && source != entry.source
        {
            let says = format!(
                "{:?} would be made of {} and of {}",
                entry.made.name,
                entry.source.name(),
                source.name()
            );
            return Err(reference.error(kind::DTYPE, says));
        }
        if part.digits.iter().all(|digit| digit.extent > 0) {
            entry.made.parts.push(part);
        }
        Ok(())
    }
}

/// A part of the result without its origin.
fn part(work: Work<'_>, to: &Placed, seat: Option<&Seat>, values: &Values) -> Part {
    let reference = &work.rule.to.references[to.reference];
    let digits = work.extents().digits(&reference.dims, &to.term.dims);
    let sources: BTreeMap<&Axis, u64> = seat
        .into_iter()
        .flat_map(|seat| &seat.digits.leaves)
        .map(|(axis, _, stride)| (axis, *stride))
        .collect();
    let free = digits.leaves.iter().filter(|(axis, ..)| !values.contains_key(axis));
    let shared = free.map(|(axis, extent, made)| Digit {
        extent: *extent,
        source: sources.get(axis).copied().unwrap_or(0),
        made: *made,
    });
    Part {
        origin: Origin::Fill(0),
        offset: offset(&digits, values),
        digits: merged(shared.collect()),
    }
}

/// The layout of a result for which a rule states none.
const ROWS: &str = "row-major";

/// A tensor of the result without parts.
fn room(
    work: Work<'_>,
    (name, dtype): (&str, Dtype),
    (reference, at): (&Reference, usize),
) -> Result<Made, Error> {
    let extents = work.extents().of(&reference.dims);
    if elements(&extents).is_none() {
        return Err(
            reference.error(kind::LIMIT, format!("{name:?} would have more than 2^63 elements"))
        );
    }
    let layouts = &work.rule.to.layout;
    let layout = layouts.get(at).or_else(|| layouts.first().filter(|_| layouts.len() == 1));
    // A rule that only states the layout of its sources gives it up: that is what the inverse of a layout does.
    let rows = || (!work.rule.from.layout.is_empty()).then(|| ROWS.to_owned());
    let layout = layout.cloned().or_else(rows);
    Ok(Made { name: name.to_owned(), dtype, extents, layout, parts: Vec::new() })
}

fn fill_bits(fill: Fill, dtype: Dtype, reference: &Reference) -> Result<u64, Error> {
    let bits = dtype.fill_bits(fill).map_err(|error| {
        reference.error(kind::DTYPE, format!("the fill {fill} of {}: {error}", dtype.name()))
    })?;
    u64::try_from(bits).map_err(|_| {
        reference.error(
            kind::DTYPE,
            format!("the fill {fill} of {} has more than 64 bits", dtype.name()),
        )
    })
}

fn twice(name: &str, first: &str, second: &str) -> Error {
    Error::new(kind::TWICE, format!("{name:?} would be made twice: by `{first}` and by `{second}`"))
}

/// Tensors that a rule widens have one type: the way back narrows all of them to it.
fn check_one_type(work: Work<'_>) -> Result<(), Error> {
    let found = work.solved.instance.found.iter().flat_map(BTreeMap::values);
    let mut tensors = found.map(|place| &work.tensors[*place]);
    let (Some(_), Some(first)) = (work.rule.to.dtype, tensors.next()) else { return Ok(()) };
    let Some(other) = tensors.find(|it| it.dtype != first.dtype) else { return Ok(()) };
    let (one, two) = (first.dtype.name(), other.dtype.name());
    let says = format!(
        "{:?} is {one} and {:?} {two}; a rule with `dtype` widens tensors of one type, so that the inverse knows it",
        first.name, other.name
    );
    Err(work.rule.error(kind::DTYPE, says))
}

/// The element type element_type what a rule makes of a tensor.
pub(crate) fn element_type(
    rule: &Rule,
    tensor: &Tensor,
    config: Option<&serde_json::Value>,
) -> Result<Dtype, Error> {
    let source = tensor.dtype;
    if let Some(from) = rule.from.dtype
        && from != source
    {
        let says =
            format!("{:?} is {}, but the rule says `{}`", tensor.name, source.name(), from.name());
        return Err(rule.error(kind::DTYPE, says));
    }
    match (rule.from.dtype, rule.to.dtype) {
        (None, None) => Ok(source),
        (_, Some(to)) => match (source, to) {
            (Dtype::F32 | Dtype::Bf16 | Dtype::F16, Dtype::F32) => Ok(to),
            (source, to) if source == to || rule.from.dtype.is_some() => Ok(to),
            (source, to) => {
                let says = format!(
                    "{:?} is {}, which cannot be widened exactly to {}; recipes move elements and never compute",
                    tensor.name,
                    source.name(),
                    to.name()
                );
                Err(rule.error(kind::DTYPE, says))
            }
        },
        (Some(_), None) => before(config).ok_or_else(|| {
            let says = format!(
                "the recipe narrows tensors that are {} here, but their original element type is unknown: state it as `dtype` in config.json, such as {{\"dtype\": \"bfloat16\"}}, or as `dtype` of the rules",
                source.name()
            );
            Error::new(kind::UNSOLVED, says)
        }),
    }
}

/// The element type that the configuration names.
fn before(config: Option<&serde_json::Value>) -> Option<Dtype> {
    let config = config?;
    let parts = [Some(config), config.get("text_config")];
    let named = parts
        .into_iter()
        .flatten()
        .find_map(|part| part.get("dtype").or_else(|| part.get("torch_dtype"))?.as_str());
    let dtype = Dtype::spelled(named?.trim_start_matches("torch."))?;
    matches!(dtype, Dtype::F32 | Dtype::Bf16 | Dtype::F16).then_some(dtype)
}

// An instance of a rule at work: the values of axes in names, the tensors they name, and terms within these.
//
// A term in a tensor is the element at digits of 0, and a stride for each of its axes.

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
