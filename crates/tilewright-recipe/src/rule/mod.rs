//! A rule: some tensors become others. Law: its two sides are the same sum of terms, each once.
//!
//! A side is a list of [`Reference`]s: `NAME : AXES`, or a name alone for the whole tensor, whatever its rank.

pub(crate) mod expression;
pub(crate) mod name;

use std::collections::{BTreeMap, BTreeSet};

use tilewright_core::{Dtype, Fill};

use crate::{
    error::{Error, InFile, TextPlace},
    kind,
    rule::{
        expression::{Axis, Expression, MOST_TERMS, Node, Path, Sizes, combinations},
        name::{Name, NamePiece, Number, Offset},
    },
    tensor::Tensor,
    value::quantity::Quantity,
};

/// The longest text of a reference, in bytes.
const LONGEST: usize = 4096;

/// `NAME : AXES`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Reference {
    pub(crate) text: String,
    pub(crate) place: TextPlace,
    pub(crate) name: Name,
    pub(crate) dims: Vec<Node>,
    /// The sizes that the text gives.
    pub(crate) sizes: Sizes,
}

/// A term of a reference: a choice through the sums of its name and of its dims, and the axes met.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Term {
    /// A path a number of the name.
    pub(crate) name: Vec<Path>,
    /// A path a dim.
    pub(crate) dims: Vec<Path>,
    pub(crate) axes: Vec<Axis>,
}

impl Reference {
    /// Reads a reference; errors point into the file by `place`.
    pub(crate) fn parse(text: &str, place: &TextPlace) -> Result<Reference, Error> {
        Reference::read(text, place).map_err(|error| error.within(text, place))
    }

    fn read(text: &str, place: &TextPlace) -> Result<Reference, Error> {
        if text.len() > LONGEST {
            return Err(Error::new(
                kind::LIMIT,
                format!("a reference has more than {LONGEST} bytes"),
            ));
        }
        let cut = colon(text);
        let name = Name::within(text, (0, cut.unwrap_or(text.len())))?;
        let (dims, axes) = match cut {
            Some(cut) => {
                let expression = Expression::within(text, (cut + 2, text.len()))?;
                (expression.dims, expression.sizes)
            }
            None => (vec![Node::Rest], Sizes::new()),
        };
        let mut sizes = name.sizes.clone();
        for (axis, size) in axes {
            let known = *sizes.entry(axis.clone()).or_insert(size);
            if known != size {
                return Err(Error::new(
                    kind::SIZE,
                    format!("`{axis}` has the size {known} in the name, and {size} behind it"),
                ));
            }
        }
        let reference =
            Reference { text: text.to_owned(), place: place.clone(), name, dims, sizes };
        let count = reference.nodes().map(Node::count).fold(1, usize::saturating_mul);
        match count > MOST_TERMS {
            true => Err(Error::new(
                kind::LIMIT,
                format!("more than {MOST_TERMS} terms when multiplied out"),
            )),
            false => Ok(reference),
        }
    }

    /// The text after the name: ` : ` and the axes, or nothing.
    pub(crate) fn axes_text(&self) -> &str {
        colon(&self.text).map_or("", |cut| &self.text[cut..])
    }

    /// Its numbers and its dims.
    fn nodes(&self) -> impl Iterator<Item = &Node> {
        self.numbers().map(|number| &number.node).chain(&self.dims)
    }

    /// The numbers of its name.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = &Number> {
        self.name.numbers()
    }

    /// Its axes: those in the name, then those of the dims.
    pub(crate) fn axes(&self) -> impl Iterator<Item = &Axis> {
        self.nodes().flat_map(Node::axes)
    }

    /// Returns the place of the remaining dimensions among its dims.
    pub(crate) fn rest(&self) -> Option<usize> {
        self.dims.iter().position(|dim| matches!(dim, Node::Rest))
    }

    /// Its terms, one a choice through all sums.
    pub(crate) fn terms(&self) -> Vec<Term> {
        let numbers = self.numbers().count();
        let term = |(mut paths, axes): (Vec<Path>, Vec<Axis>)| {
            let dims = paths.split_off(numbers);
            Term { name: paths, dims, axes }
        };
        combinations(self.nodes()).into_iter().map(term).collect()
    }

    /// An error about the whole of it.
    pub(crate) fn error(&self, kind: &'static str, message: impl Into<String>) -> Error {
        Error::new(kind, message).on(&self.place)
    }
}

/// The byte of the ` : ` behind the name, outside of its fields.
fn colon(text: &str) -> Option<usize> {
    let mut depth = 0usize;
    text.char_indices().find_map(|(at, c)| {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        let behind = text[at..].strip_prefix(" :");
        let found =
            depth == 0 && behind.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '));
        found.then_some(at)
    })
}

/// A rule of a recipe.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Rule {
    pub(crate) place: TextPlace,
    pub(crate) from: SideTerms,
    pub(crate) to: SideTerms,
    /// True if it may take nothing.
    pub(crate) optional: bool,
    /// True if some layers may lack its tensors.
    pub(crate) some: bool,
    /// True if it takes what no other rule takes and `pass` does not name.
    pub(crate) rest: bool,
    /// Axes that one side alone has: repeated there, or equal there.
    pub(crate) copies: BTreeSet<String>,
    /// Axes in names that may have another size in each instance.
    pub(crate) varying: BTreeSet<String>,
    /// Axes of parts of the source that the result does not get.
    pub(crate) drop: BTreeSet<String>,
    /// Axes of parts that the recipe which this one undoes has dropped: they hold the fill.
    pub(crate) lost: BTreeSet<String>,
    /// True if f32 is rounded to bf16, or was.
    pub(crate) round: bool,
    /// Axes whose sizes differ with a number in names.
    pub(crate) unequal: BTreeMap<String, Unequal>,
    /// The content of padding.
    pub(crate) fill: Fill,
    pub(crate) sizes: BTreeMap<String, Quantity>,
}

/// The tensors of one side.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct SideTerms {
    pub(crate) references: Vec<Reference>,
    /// The SPEC of each reference's layout: none, one for all, or one each.
    pub(crate) layout: Vec<String>,
    /// The element type, where the rule states it.
    pub(crate) dtype: Option<Dtype>,
}

/// A term, and the reference that has it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Placed {
    pub(crate) reference: usize,
    pub(crate) term: Term,
}

/// A term on the two sides; padding is on one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TermPair {
    pub(crate) from: Option<Placed>,
    pub(crate) to: Option<Placed>,
}

/// The terms of a side by their axes, without those of copies.
type Terms = BTreeMap<BTreeSet<Axis>, Placed>;

impl Rule {
    /// The rule that undoes this one.
    pub(crate) fn inverse(&self) -> Rule {
        Rule {
            from: self.to.clone(),
            to: self.from.clone(),
            drop: self.lost.clone(),
            lost: self.drop.clone(),
            ..self.clone()
        }
    }

    /// The references of both sides.
    pub(crate) fn references(&self) -> impl Iterator<Item = &Reference> {
        self.from.references.iter().chain(&self.to.references)
    }

    /// The error that the whole rule is wrong.
    pub(crate) fn error(&self, kind: &'static str, message: impl Into<String>) -> Error {
        Error::new(kind, message).on(&self.place)
    }

    pub(crate) fn is_copy(&self, axis: &Axis) -> bool {
        self.copies.contains(&axis.to_string())
    }

    /// The axes that are alone in the name of every reference: they number the instances of the rule.
    pub(crate) fn keys(&self) -> BTreeSet<Axis> {
        let alone = |reference: &Reference| -> BTreeSet<Axis> {
            let axis = |node: &Node| match node {
                Node::Axis(axis) => Some(axis.clone()),
                Node::Rest | Node::Product(_) | Node::Sum(_) => None,
            };
            reference.numbers().filter_map(|number| axis(&number.node)).collect()
        };
        let mut all = self.references().map(alone);
        let first = all.next().unwrap_or_default();
        all.fold(first, |keys, more| keys.intersection(&more).cloned().collect())
    }

    /// The axes in names that are not keys, by the names of their sizes.
    pub(crate) fn counted(&self) -> BTreeSet<String> {
        let keys = self.keys();
        let numbers = self.references().flat_map(Reference::numbers);
        let axes = numbers.flat_map(|number| number.node.axes());
        axes.filter(|axis| !keys.contains(axis)).map(|axis| axis.base().to_owned()).collect()
    }

    /// The sizes that the texts of its references give.
    pub(crate) fn stated(&self) -> Result<Sizes, Error> {
        let mut sizes = Sizes::new();
        for reference in self.references() {
            for (axis, size) in &reference.sizes {
                let known = *sizes.entry(axis.clone()).or_insert(*size);
                if known != *size {
                    let says = format!("`{axis}` has the size {known} already, not {size}");
                    return Err(reference.error(kind::SIZE, says));
                }
            }
        }
        Ok(sizes)
    }

    /// The terms of the two sides, matched by their axes.
    ///
    /// The error names the axis that occurs twice in a term, the term that occurs twice on a side, or the terms that
    /// one side lacks.
    pub(crate) fn pairs(&self) -> Result<Vec<TermPair>, Error> {
        let (mut from, to) = (self.terms(&self.from)?, self.terms(&self.to)?);
        let alone =
            |some: &Terms, others: &Terms, (side, gone): (&str, &BTreeSet<String>), other| {
                let meant = |key: &BTreeSet<Axis>| {
                    key.iter().any(|axis| axis.is_padding() || gone.contains(&axis.to_string()))
                };
                let keys = some.keys().filter(|key| !others.contains_key(*key) && !meant(key));
                let texts: Vec<String> =
                    keys.map(|key| format!("`{}`", say(key).replace(' ', "·"))).collect();
                match texts.len() {
                    0 => None,
                    1 => Some(format!("the {side}'s term {} has no {other}", texts[0])),
                    _ => Some(format!("the {side}'s terms {} have no {other}", texts.join(", "))),
                }
            };
        let sides = [
            alone(&to, &from, ("destination", &self.lost), "source"),
            alone(&from, &to, ("source", &self.drop), "destination"),
        ];
        let faults: Vec<String> = sides.into_iter().flatten().collect();
        if !faults.is_empty() {
            return Err(self.error(kind::TERMS, faults.join("; ")));
        }
        let mut pairs: Vec<TermPair> = Vec::new();
        for (key, placed) in to {
            pairs.push(TermPair { from: from.remove(&key), to: Some(placed) });
        }
        pairs.extend(from.into_values().map(|placed| TermPair { from: Some(placed), to: None }));
        Ok(pairs)
    }

    fn terms(&self, side: &SideTerms) -> Result<Terms, Error> {
        let mut terms = Terms::new();
        for (at, reference) in side.references.iter().enumerate() {
            for term in reference.terms() {
                let all: BTreeSet<Axis> = term.axes.iter().cloned().collect();
                if all.len() < term.axes.len() {
                    return Err(twice_in_term(reference, &term));
                }
                let key: BTreeSet<Axis> =
                    all.into_iter().filter(|axis| !self.is_copy(axis)).collect();
                let text = say(&key);
                if terms.insert(key, Placed { reference: at, term }).is_some() {
                    let axis = reference.dims.iter().flat_map(Node::axes).next();
                    let axis = axis.map_or_else(|| "i".into(), ToString::to_string);
                    let says = format!(
                        "the term `{text}` appears twice on one side; give a second part of equal size other axes, such as `{axis}'`"
                    );
                    return Err(reference.error(kind::TERMS, says));
                }
            }
        }
        Ok(terms)
    }

    /// Returns the faults of the rule besides those of its terms.
    pub(crate) fn faults(&self, pairs: &[TermPair]) -> Vec<Error> {
        let mut all = Vec::new();
        all.extend(self.stated().err());
        all.extend(self.texts_differ());
        all.extend(self.unfed(pairs));
        all.extend(self.unknown_axes());
        all.extend(self.shared_size());
        all.extend(self.widened());
        all.extend(self.dropped());
        all.extend(fault(self));
        for side in [&self.from, &self.to] {
            let (layouts, references) = (side.layout.len(), side.references.len());
            if layouts > 1 && layouts != references {
                let says = format!(
                    "{layouts} layouts for {references} tensors; give one for each, or one for all"
                );
                all.push(self.error(kind::KEY, says));
            }
        }
        all
    }

    /// Texts that some references lack.
    fn texts_differ(&self) -> Option<Error> {
        let mut all = self.references();
        let first = all.next()?.name.texts();
        let other = all.find(|reference| reference.name.texts() != first)?;
        let theirs = other.name.texts();
        let text = first.symmetric_difference(&theirs).next()?;
        Some(other.error(
            kind::NAME,
            format!("the text `{{{text}:…}}` is missing in some names of the rule"),
        ))
    }

    /// A reference of which only padding is known.
    fn unfed(&self, pairs: &[TermPair]) -> Option<Error> {
        let moved = |pair: &&TermPair| pair.from.is_some() && pair.to.is_some();
        let fed = |of: fn(&TermPair) -> &Option<Placed>| -> BTreeSet<usize> {
            pairs
                .iter()
                .filter(moved)
                .filter_map(|pair| of(pair).as_ref())
                .map(|placed| placed.reference)
                .collect()
        };
        let (from, to) = (fed(|pair| &pair.from), fed(|pair| &pair.to));
        let of = |side: &SideTerms, fed: &BTreeSet<usize>| {
            side.references
                .iter()
                .enumerate()
                .find(|(at, _)| !fed.contains(at))
                .map(|(_, reference)| reference.clone())
        };
        let reference = of(&self.from, &from).or_else(|| of(&self.to, &to))?;
        Some(reference.error(kind::TERMS, format!("`{}` holds only padding", reference.text)))
    }

    /// Axes of copies that both sides have or none, and axes that vary but occur in no name.
    fn unknown_axes(&self) -> Option<Error> {
        let has = |side: &SideTerms, axis: &str| {
            side.references.iter().flat_map(Reference::axes).any(|one| one.to_string() == axis)
        };
        let copied = |axis: &&String| has(&self.from, axis) == has(&self.to, axis);
        if let Some(axis) = self.copies.iter().find(copied) {
            let says = format!("`copies` names the axis `{axis}`, which must be on one side only");
            return Some(self.error(kind::TERMS, says));
        }
        let counted = self.counted();
        let axis = self.varying.iter().find(|axis| !counted.contains(*axis))?;
        Some(self.error(
            kind::TERMS,
            format!(
                "`varying` names the axis `{axis}`, which no name contains, or which numbers the instances"
            ),
        ))
    }

    /// An axis that has the size of one that numbers instances, and so none.
    fn shared_size(&self) -> Option<Error> {
        let keys = self.keys();
        let same = |axis: &&Axis| {
            !keys.contains(*axis) && keys.iter().any(|key| key.base() == axis.base())
        };
        let axis = self.references().flat_map(Reference::axes).find(same)?;
        let says = format!(
            "`{axis}` would have the size of `{}`, which numbers the instances of the rule",
            axis.base()
        );
        Some(self.error(kind::TERMS, says))
    }

    /// A part that is dropped and that both sides have, or the other side alone.
    fn dropped(&self) -> Option<Error> {
        let has = |side: &SideTerms, axis: &str| {
            side.references.iter().flat_map(Reference::axes).any(|one| one.to_string() == axis)
        };
        let sides = [
            ("drop", &self.drop, &self.from, &self.to),
            ("lost", &self.lost, &self.to, &self.from),
        ];
        sides.into_iter().find_map(|(key, axes, own, other)| {
            let axis = axes.iter().find(|axis| !has(own, axis) || has(other, axis))?;
            let side = if key == "drop" { "from" } else { "to" };
            let says = format!("`{key}` names the axis `{axis}`, which must be in `{side}` only");
            Some(self.error(kind::TERMS, says))
        })
    }

    /// A change of the element type that is not exact.
    fn widened(&self) -> Option<Error> {
        let exact = |dtype: Dtype| matches!(dtype, Dtype::F32 | Dtype::Bf16 | Dtype::F16);
        let legal = match (self.from.dtype, self.to.dtype) {
            (None, None) => true,
            (None, Some(to)) => to == Dtype::F32,
            (Some(from), None) => from == Dtype::F32,
            (Some(from), Some(to)) => {
                exact(from) && exact(to) && (from == to || from == Dtype::F32 || to == Dtype::F32)
            }
        };
        let says = "recipes move elements and never compute; `dtype = \"f32\"` widens bf16 and f16 exactly, and is undone by `from_dtype = \"f32\"`";
        let rounds = matches!(
            (self.from.dtype, self.to.dtype),
            (Some(Dtype::F32), Some(Dtype::Bf16)) | (Some(Dtype::Bf16), Some(Dtype::F32))
        );
        if self.round && !rounds {
            let says = "`round = true` is for `from_dtype = \"f32\"` with `dtype = \"bf16\"`";
            return Some(self.error(kind::KEY, says));
        }
        (!legal).then(|| self.error(kind::ARITHMETIC, says))
    }
}

fn twice_in_term(reference: &Reference, term: &Term) -> Error {
    let mut seen = BTreeSet::new();
    let twice = term
        .axes
        .iter()
        .find(|axis| !seen.insert(*axis))
        .map_or_else(String::new, ToString::to_string);
    let text = term.axes.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
    let says = match twice.as_str() {
        "…" => "`…` appears twice in a term".to_owned(),
        _ => format!(
            "the axis `{twice}` appears twice in the term `{text}`; call another axis of equal size `{twice}'`"
        ),
    };
    reference.error(kind::TERMS, says)
}

/// Axes as people write a term.
fn say(axes: &BTreeSet<Axis>) -> String {
    if axes.is_empty() {
        return "()".to_owned();
    }
    axes.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}

// Pieces of unequal extents: an axis whose size differs with a number in names.
//
// `t.{s} : n d` becomes `t : (s n) d` with `unequal = { n = "s" }`: the pieces come one after the other, the piece `s` with
// `n_s` rows. When the recipe is solved, the rule is written out, with an axis `n_0`, `n_1`, … for each piece.
//
// Law: the rule written out is the rule that a person would write by hand, piece by piece.

/// The sizes of an axis that differ with a number.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Unequal {
    /// The axis that numbers the pieces.
    pub(crate) by: String,
    /// The sizes, where they are stated; those of separate pieces follow from the shapes.
    pub(crate) sizes: Vec<u64>,
}

/// The name of the axis of one piece.
pub(crate) fn of_piece(axis: &str, number: usize) -> String {
    format!("{axis}_{number}")
}

/// Returns what is wrong with the unequal axes of a rule.
pub(crate) fn fault(rule: &Rule) -> Option<Error> {
    let axes: BTreeSet<String> =
        rule.references().flat_map(Reference::axes).map(ToString::to_string).collect();
    for (axis, unequal) in &rule.unequal {
        let by = &unequal.by;
        let says = if unequal.sizes.len() > MOST_TERMS {
            format!("`unequal` lists more than {MOST_TERMS} pieces")
        } else if !axes.contains(axis) || !axes.contains(by) || axis == by {
            format!("`unequal` names `{axis}` and `{by}`, which must be two axes of the rule")
        } else if rule.unequal.values().any(|other| other.by == *axis) {
            format!("`{axis}` is unequal and numbers pieces; one axis cannot do both")
        } else if rule.keys().contains(&Axis::new(by)) {
            format!(
                "`{by}` numbers the instances of the rule, where sizes may differ without `unequal`"
            )
        } else if let Some(other) = axes.iter().find(|other| is_taken(axis, by, other)) {
            format!("the axis `{other}` cannot be in a rule with the unequal axis `{axis}`")
        } else if let Some(reference) = rule.references().find(|it| !reads(it, axis, by)) {
            let says = format!(
                "`{axis}` is unequal by `{by}`: each name has `{{{by}}}` and `{axis}` is a separate dim, or the dims have `({by} {axis})`"
            );
            return Some(reference.error(kind::TERMS, says));
        } else {
            continue;
        };
        return Some(rule.error(kind::TERMS, says));
    }
    None
}

/// Returns true if an axis is another form of an unequal one, or has the name of a piece.
fn is_taken(axis: &str, by: &str, other: &str) -> bool {
    let base = other.trim_end_matches('\'');
    let piece = other.strip_prefix(axis).and_then(|rest| rest.strip_prefix('_'));
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit());
    (other != base && (base == axis || base == by)) || piece.is_some_and(is_number)
}

/// Returns true if a reference has neither axis, or the number in its name and the axis once in its dims, or `(s n)` in its
/// dims.
fn reads(reference: &Reference, axis: &str, by: &str) -> bool {
    let count = |nodes: &mut dyn Iterator<Item = &Node>, one: &str| {
        nodes.flat_map(Node::axes).filter(|it| it.to_string() == one).count()
    };
    let names = || reference.numbers().map(|number| &number.node);
    let named = names().filter(|node| is(node, by)).count();
    let in_dims = |one: &str| count(&mut reference.dims.iter(), one);
    let pairs: usize = reference.dims.iter().map(|dim| runs(dim, by, axis)).sum();
    match (count(&mut names(), by), count(&mut names(), axis), in_dims(by), in_dims(axis)) {
        (0, 0, 0, 0) => true,
        (1, 0, 0, 1) => named == 1,
        (0, 0, 1, 1) => pairs == 1,
        _ => false,
    }
}

fn is(node: &Node, axis: &str) -> bool {
    matches!(node, Node::Axis(own) if own.to_string() == axis)
}

/// The number of products in a node with one axis right before another.
fn runs(node: &Node, first: &str, second: &str) -> usize {
    match node {
        Node::Axis(_) | Node::Rest => 0,
        Node::Sum(parts) => parts.iter().map(|part| runs(part, first, second)).sum(),
        Node::Product(parts) => {
            let here = parts.windows(2).filter(|pair| is(&pair[0], first) && is(&pair[1], second));
            here.count() + parts.iter().map(|part| runs(part, first, second)).sum::<usize>()
        }
    }
}

/// Returns the rule with the pieces of its unequal axes written out, for these tensors.
///
/// # Errors
/// Sizes that neither the names nor the rule state, and more pieces than a rule may have.
pub(crate) fn written_out(rule: &Rule, tensors: &[Tensor], sizes: &Sizes) -> Result<Rule, Error> {
    let mut rule = rule.clone();
    for (axis, unequal) in rule.unequal.clone() {
        let stated = unequal.sizes.len();
        let count = match stated {
            0 => counted(&rule, &unequal.by, tensors, sizes),
            _ => Some(stated),
        };
        let Some(count) = count else {
            let says = format!(
                "the sizes of the pieces of `{axis}` cannot be derived; state them: unequal = {{ {axis} = {{ by = \"{}\", sizes = [...] }} }}",
                unequal.by
            );
            return Err(rule.error(kind::UNSOLVED, says));
        };
        if count > MOST_TERMS {
            let says = format!("`{axis}` has more than {MOST_TERMS} pieces");
            return Err(rule.error(kind::LIMIT, says));
        }
        let pieces = Pieces { axis: &axis, by: &unequal.by, count };
        (rule.from, rule.to) = (pieces.side(&rule.from)?, pieces.side(&rule.to)?);
        rule.varying.remove(&unequal.by);
        let numbered = unequal.sizes.iter().enumerate();
        let stated = numbered.map(|(at, size)| (of_piece(&axis, at), Quantity::Number(*size)));
        rule.sizes.extend(stated);
    }
    Ok(rule)
}

/// The number of pieces by the names of the tensors; none if the source does not have the pieces apart.
fn counted(rule: &Rule, by: &str, tensors: &[Tensor], sizes: &Sizes) -> Option<usize> {
    let mut last = None;
    for reference in &rule.from.references {
        let Some(at) = reference.numbers().position(|number| is(&number.node, by)) else {
            continue;
        };
        last = last.or(Some(0));
        for tensor in tensors {
            if let Ok(Some(read)) = reference.name.read(&tensor.name, sizes) {
                last = last.max(read.numbers.get(at).copied());
            }
        }
    }
    usize::try_from(last?).ok()?.checked_add(1)
}

/// Pieces that are written out.
struct Pieces<'a> {
    axis: &'a str,
    by: &'a str,
    count: usize,
}

impl Pieces<'_> {
    fn side(&self, side: &SideTerms) -> Result<SideTerms, Error> {
        let mut references = Vec::new();
        let mut layout = Vec::new();
        for (at, reference) in side.references.iter().enumerate() {
            let named = reference.numbers().any(|number| is(&number.node, self.by));
            let out = if named { self.named(reference) } else { vec![self.joined(reference)] };
            if side.layout.len() > 1 {
                layout.extend(std::iter::repeat_n(&side.layout[at], out.len()).cloned());
            }
            references.extend(out);
        }
        let layout = if side.layout.len() > 1 { layout } else { side.layout.clone() };
        let terms = |it: &Reference| it.dims.iter().map(Node::count).fold(1, usize::saturating_mul);
        if let Some(many) = references.iter().find(|it| terms(it) > MOST_TERMS) {
            let says = format!("more than {MOST_TERMS} terms when its pieces are written out");
            return Err(many.error(kind::LIMIT, says));
        }
        Ok(SideTerms { references, layout, ..side.clone() })
    }

    /// A reference to each piece.
    fn named(&self, reference: &Reference) -> Vec<Reference> {
        let one = |at: usize| {
            let mut own = reference.clone();
            for piece in &mut own.name.pieces {
                if let NamePiece::Number(number) = piece
                    && is(&number.node, self.by)
                    && let Offset::By(_) = number.offset
                {
                    let text = number.written(at as u64, &Sizes::new()).unwrap_or_default();
                    *piece = NamePiece::Literal(text);
                }
            }
            let replaced = |node: &mut Node| *node = Node::Axis(self.piece(at));
            own.dims.iter_mut().for_each(|dim| visit(dim, &|node| is(node, self.axis), &replaced));
            own
        };
        (0..self.count).map(one).collect()
    }

    /// The reference to the tensor that has all pieces.
    fn joined(&self, reference: &Reference) -> Reference {
        let mut own = reference.clone();
        let is_pair = |node: &Node| match node {
            Node::Product(parts) => {
                parts.windows(2).any(|pair| is(&pair[0], self.by) && is(&pair[1], self.axis))
            }
            Node::Axis(_) | Node::Rest | Node::Sum(_) => false,
        };
        let join = |node: &mut Node| {
            let Node::Product(parts) = node else { return };
            let pieces = (0..self.count).map(|at| Node::Axis(self.piece(at)));
            let Some(at) = parts.iter().position(|part| is(part, self.by)) else { return };
            parts.splice(at..at + 2, [Node::Sum(pieces.collect())]);
            if let [one] = &mut parts[..] {
                *node = one.clone();
            }
        };
        own.dims.iter_mut().for_each(|dim| visit(dim, &is_pair, &join));
        own
    }

    fn piece(&self, number: usize) -> Axis {
        Axis::new(&of_piece(self.axis, number))
    }
}

/// Changes the nodes that are meant; the depth of a node is bounded.
fn visit(node: &mut Node, meant: &dyn Fn(&Node) -> bool, change: &dyn Fn(&mut Node)) {
    if meant(node) {
        return change(node);
    }
    if let Node::Product(parts) | Node::Sum(parts) = node {
        parts.iter_mut().for_each(|part| visit(part, meant, change));
    }
}
