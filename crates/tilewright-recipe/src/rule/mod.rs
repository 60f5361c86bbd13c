//! A rule: some tensors become others. Law: its two sides are the same sum of terms, each once.
//!
//! A side is a list of [`Reference`]s: `NAME : AXES`, or a name alone for the whole tensor, whatever its rank.

pub(crate) mod expression;
pub(crate) mod name;
pub(crate) mod unequal;

use std::collections::{BTreeMap, BTreeSet};

use tilewright_core::{Dtype, Fill};

use crate::{
    error::{Error, InFile, TextPlace},
    kind,
    rule::{
        expression::{Axis, Expression, MOST_TERMS, Node, Path, Sizes, combinations},
        name::{Name, Number},
        unequal::Unequal,
    },
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
        all.extend(unequal::fault(self));
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
