//! [`predict`]: the plan at other sizes, from plans at several sizes. It is a prediction until one load confirms it.
//!
//! Each number of the plans is fitted by the shortest formula in the named sizes: a number, or a number times at most four sizes,
//! each of them a factor or a divisor, or such a product rounded up to a block. Places follow one another, so their formulas may
//! also have one factor of the result itself: the elements of its first terms, or the product of its last extents. New sizes are
//! refused where formulas of equal length give different numbers, and where no plan was learned in their regime.
//! The regime of some sizes consists of those below the number of ranks `tp`, and of those that `tp` divides. Engines have others,
//! such as the machine's instructions: learn and predict on one machine with one configuration.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use tilewright_learn::{
    Constants, Description, Error, Learned, LearnedResult, MapDigit, MapSource, MapTerm, Mismatch,
    NamedArray, Origin, Sources, TermAxis,
};

/// Sizes by their names, such as `hidden` and `tp`, the number of ranks.
pub type NamedSizes = BTreeMap<String, u64>;

/// The name of the number of ranks.
pub(super) const RANKS: &str = "tp";
/// The most sizes in a formula.
const LONGEST: usize = 4;
/// The blocks to which products are rounded up.
const BLOCKS: [u64; 4] = [16, 32, 64, 128];

/// A plan at sizes that it was not learned at.
///
/// ```
/// use tilewright::learn::{Learned, Predicted};
/// let predicted = Predicted { plan: Learned { sources: vec![], results: vec![] }, ..Predicted::default() };
/// assert_eq!(predicted.to_json()["predicted"], true);
/// ```
#[must_use]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Predicted {
    /// The plan, not yet confirmed.
    pub plan: Learned,
    /// The formulas of its numbers, each once.
    pub formulas: Vec<String>,
    /// The sizes of the plan.
    pub sizes: NamedSizes,
}

impl Predicted {
    /// Returns the plan as JSON, marked as predicted. [`from_json`](super::from_json) refuses it.
    ///
    /// ```
    /// use tilewright::learn::{Learned, Predicted, from_json};
    /// let predicted = Predicted { plan: Learned { sources: vec![], results: vec![] }, ..Predicted::default() };
    /// assert!(from_json(&predicted.to_json()).unwrap_err().to_string().contains("predicted"));
    /// ```
    pub fn to_json(&self) -> Value {
        let mut value = self.learned_json();
        value["predicted"] = true.into();
        value["formulas"] = self.formulas.clone().into();
        value
    }

    /// Returns the plan as JSON with its sizes, as [`sized_plan`] reads it: what it is once a load [confirmed](Self::confirmed) it.
    ///
    /// ```
    /// use tilewright::learn::{NamedSizes, Predicted};
    /// let predicted = Predicted { sizes: NamedSizes::from([("n".into(), 3)]), ..Predicted::default() };
    /// assert_eq!(predicted.learned_json()["sizes"]["n"], 3);
    /// assert!(predicted.learned_json()["predicted"].is_null());
    /// ```
    pub fn learned_json(&self) -> Value {
        let mut value = super::to_json(&self.plan);
        if !self.sizes.is_empty() {
            value["sizes"] = serde_json::json!(self.sizes);
        }
        value
    }

    /// Reads a predicted plan in TOML or JSON.
    ///
    /// # Errors
    /// Those of [`from_bytes`](super::from_bytes); [unsupported](Error::is_unsupported) for a plan that is not predicted.
    ///
    /// ```
    /// use tilewright::learn::Predicted;
    /// let error = Predicted::from_bytes(b"tilewright_plan = 1").unwrap_err();
    /// assert_eq!(error.to_string(), "the plan is not a predicted one; there is nothing to confirm");
    /// ```
    pub fn from_bytes(bytes: &[u8]) -> Result<Predicted, Error> {
        let mut value = super::plan::value(bytes)?;
        let table = value.as_object_mut();
        let marks = table.map(|table| (table.remove("predicted"), table.remove("formulas")));
        let Some((Some(Value::Bool(true)), formulas)) = marks else {
            return Err(unsupported(
                "the plan is not a predicted one; there is nothing to confirm",
            ));
        };
        let text = |formula: &Value| formula.as_str().map(str::to_owned);
        let formulas = formulas.as_ref().and_then(Value::as_array).into_iter().flatten();
        let formulas = formulas.filter_map(text).collect();
        let (sizes, plan) = sized(&value)?;
        Ok(Predicted { plan, formulas, sizes })
    }

    /// Returns the plan, if results of one load of these sources agree with it; else the first difference.
    ///
    /// # Errors
    /// Those of [`Learned::compare`].
    ///
    /// ```
    /// use tilewright::learn::{Learned, Predicted};
    /// let predicted = Predicted { plan: Learned { sources: vec![], results: vec![] }, ..Predicted::default() };
    /// assert!(predicted.confirmed(&[], &[])?.is_ok());
    /// # Ok::<(), tilewright::Error>(())
    /// ```
    pub fn confirmed(
        self,
        sources: &[Vec<u8>],
        results: &[Vec<u8>],
    ) -> Result<Result<Learned, Mismatch>, Error> {
        Ok(match self.plan.compare(sources, results)? {
            None => Ok(self.plan),
            Some(found) => Err(found),
        })
    }
}

/// Predicts the plan at sizes from plans at others. `sources` are the tensors of the checkpoint at the new sizes, in the order of the
/// plans.
///
/// # Errors
/// [unsupported](Error::is_unsupported) for fewer than three plans, plans of different forms, sizes in a new regime, numbers without a
/// formula, and numbers with several formulas that differ at the new sizes.
///
/// ```
/// use tilewright::{Dtype, learn::*};
/// // A loader that transposes, learned at three sizes.
/// let at = |n: u64, k: u64| {
///     let w = NamedArray { name: "w".into(), dtype: Dtype::U8, extents: vec![n, k] };
///     let sources = Sources::numbered([("w".into(), vec![n, k])]).unwrap();
///     let ids: Vec<i64> = (0..n * k).map(|p| 1 + (p % n * k + p / n) as i64).collect();
///     let result = NamedArray { name: "t".into(), dtype: Dtype::U8, extents: vec![k, n] };
///     let description = describe(&ids, &sources).unwrap();
///     let constants = Constants::default();
///     let result = LearnedResult { tensor: result, unit: Dtype::U8, description, constants, unexplained: None };
///     let sizes = NamedSizes::from([("n".into(), n), ("k".into(), k)]);
///     (sizes, Learned { sources: vec![w], results: vec![result] })
/// };
/// let known = [at(3, 5), at(7, 5), at(3, 11)];
/// let (sizes, want) = at(13, 17);
/// assert_eq!(predict(&known, &sizes, &want.sources)?.plan, want);
/// // Two plans could mean anything.
/// assert!(predict(&known[..2], &sizes, &want.sources).unwrap_err().is_unsupported());
/// # Ok::<(), tilewright::Error>(())
/// ```
pub fn predict(
    known: &[(NamedSizes, Learned)],
    sizes: &NamedSizes,
    sources: &[NamedArray],
) -> Result<Predicted, Error> {
    let [(first, model), ..] = known else {
        return Err(unsupported("give plans at several sizes to predict from"));
    };
    if known.len() < 3 {
        return Err(unsupported("a prediction needs plans at three sizes or more"));
    }
    if known.iter().any(|(own, _)| !own.keys().eq(first.keys())) || !sizes.keys().eq(first.keys()) {
        return Err(unsupported("the plans and the prediction need the same names of sizes"));
    }
    in_regime(known, sizes)?;
    varied(known, sizes)?;
    let names: Vec<&str> = sources.iter().map(|source| source.name.as_str()).collect();
    same_tensors(known, &names)?;
    let is_ordered =
        |plan: &Learned| plan.sources.iter().map(|s| &*s.name).eq(names.iter().copied());
    if known.iter().any(|(_, plan)| !is_ordered(plan)) {
        return Err(Error::mismatch("the plans list their tensors in different orders"));
    }
    for (own, new) in known.iter().flat_map(|(_, plan)| plan.sources.iter().zip(sources)) {
        if own.dtype != new.dtype {
            return Err(Error::mismatch(format!(
                "{} is {} in the checkpoint, and {} in a plan; predict from plans of its type",
                new.name, new.dtype, own.dtype
            )));
        }
    }
    let flat = known.iter().map(|(_, plan)| flat(plan)).collect::<Result<Vec<_>, Error>>()?;
    same_results(known)?;
    for (place, learnt) in model.results.iter().enumerate() {
        let other = flat.iter().position(|all| all[place].1 != flat[0][place].1);
        if let Some(other) = other {
            return Err(Error::unsupported(format!(
                "{} has another form in plan {} than in plan 1: other terms or constants move it; learn all plans in one regime",
                learnt.tensor.name,
                other + 1
            )));
        }
    }
    let (mut fit, mut results) = (Fit::new(known, sizes), Vec::new());
    let numbered = Sources::numbered(sources.iter().map(|s| (s.name.clone(), s.extents.clone())))?;
    for (place, learnt) in model.results.iter().enumerate() {
        let known: Vec<&Numbers> = flat.iter().map(|all| &all[place].0).collect();
        let name = &learnt.tensor.name;
        let found = fit.result(&known).map_err(|error| error.about(name))?;
        results.push(found.result(learnt, &numbered)?);
    }
    let plan = Learned { sources: sources.to_vec(), results };
    let formulas = fit.formulas.into_iter().collect();
    Ok(Predicted { plan, formulas, sizes: sizes.clone() })
}

/// The most names in an error.
const NAMED: usize = 3;

/// Lists the first names of those that only the first set has; `None` if there are none.
fn only<'a>(names: &[&'a str], others: &[&'a str]) -> Option<String> {
    let others: BTreeSet<&str> = others.iter().copied().collect();
    let own: Vec<&str> = names.iter().copied().filter(|name| !others.contains(name)).collect();
    let shown = own.get(..NAMED.min(own.len()))?.join(", ");
    match own.len() {
        0 => None,
        count if count > NAMED => Some(format!("{shown} and {} more", count - NAMED)),
        _ => Some(shown),
    }
}

/// Checks that each plan reads the tensors of the checkpoint, which have these names, and no others.
///
/// # Errors
/// [mismatch](Error::is_mismatch), with the tensors that one side has alone.
pub(super) fn same_tensors(known: &[(NamedSizes, Learned)], names: &[&str]) -> Result<(), Error> {
    for (number, (_, plan)) in known.iter().enumerate() {
        let own: Vec<&str> = plan.sources.iter().map(|source| source.name.as_str()).collect();
        let number = number + 1;
        let said = match (only(&own, names), only(names, &own)) {
            (None, None) => continue,
            (Some(lost), None) => format!("plan {number} reads {lost}, which the checkpoint lacks"),
            (None, Some(more)) => {
                format!("the checkpoint has {more}, which plan {number} does not read")
            }
            (Some(lost), Some(more)) => {
                format!("plan {number} reads {lost}, and the checkpoint has {more} instead")
            }
        };
        let next = "a prediction needs plans of the same tensors; learn them with the number of layers of the checkpoint";
        return Err(Error::mismatch(format!("{said}; {next}")));
    }
    Ok(())
}

/// Checks that all plans have the same results in the same order.
fn same_results(known: &[(NamedSizes, Learned)]) -> Result<(), Error> {
    let names = |plan: &'_ Learned| -> Vec<String> {
        plan.results.iter().map(|learnt| learnt.tensor.name.clone()).collect()
    };
    let Some((_, first)) = known.first() else { return Ok(()) };
    let first = names(first);
    for (number, (_, plan)) in known.iter().enumerate() {
        let own = names(plan);
        if own == first {
            continue;
        }
        let [a, b] = [&first, &own].map(|all| all.iter().map(String::as_str).collect::<Vec<_>>());
        let said = match (only(&a, &b), only(&b, &a)) {
            (Some(lost), _) => format!("plan {} lacks the result {lost} of plan 1", number + 1),
            (None, Some(more)) => {
                format!("plan {} has the result {more}, and plan 1 has not", number + 1)
            }
            (None, None) => {
                format!("plan {} has its results in another order than plan 1", number + 1)
            }
        };
        return Err(Error::unsupported(format!("{said}; learn all plans in one regime")));
    }
    Ok(())
}

/// Reads a plan in TOML or JSON with the sizes at which it was learned; none if it names none.
///
/// # Errors
/// Those of [`from_bytes`](super::from_bytes), and [corrupt](Error::is_corrupt) for a size that is not a natural number.
///
/// ```
/// let error = tilewright::learn::sized_plan(b"tilewright_plan = 1\nsizes = { n = -1 }").unwrap_err();
/// assert_eq!(error.to_string(), "the size n is not a natural number");
/// assert!(error.is_corrupt());
/// ```
pub fn sized_plan(bytes: &[u8]) -> Result<(NamedSizes, Learned), Error> {
    sized(&super::plan::value(bytes)?)
}

/// Reads the sizes of a plan, and the plan.
fn sized(value: &Value) -> Result<(NamedSizes, Learned), Error> {
    let sizes = match &value["sizes"] {
        Value::Object(sizes) => Some(sizes),
        Value::Null => None,
        _ => return Err(Error::new("corrupt", "the sizes of the plan are not a table")),
    };
    let one = |(name, size): (&String, &Value)| {
        let size = size.as_u64().filter(|size| *size < 1 << 56);
        let said = || Error::new("corrupt", format!("the size {name} is not a natural number"));
        Ok((name.clone(), size.ok_or_else(said)?))
    };
    let sizes = sizes.into_iter().flatten().map(one).collect::<Result<_, Error>>()?;
    Ok((sizes, super::from_json(value)?))
}

fn unsupported(said: &str) -> Error {
    Error::unsupported(said)
}

/// Refuses sizes that differ from those of all plans in what decides how engines load.
fn in_regime(known: &[(NamedSizes, Learned)], sizes: &NamedSizes) -> Result<(), Error> {
    let ranks = |sizes: &NamedSizes| sizes.get(RANKS).copied().unwrap_or(1).max(1);
    for name in sizes.keys().filter(|name| *name != RANKS) {
        let class = |sizes: &NamedSizes| {
            let (size, ranks) = (sizes[name], ranks(sizes));
            (size < ranks, size % ranks == 0)
        };
        let own = class(sizes);
        if !known.iter().any(|(other, _)| class(other) == own) {
            let (size, ranks) = (sizes[name], ranks(sizes));
            return Err(Error::unsupported(format!(
                "{name}={size} at {ranks} ranks is a new regime: no plan has {name} {} the number of ranks; learn one there",
                if own.0 {
                    "below"
                } else if own.1 {
                    "as a multiple of"
                } else {
                    "that is no multiple of"
                }
            )));
        }
    }
    if !known.iter().any(|(other, _)| (ranks(other) > 1) == (ranks(sizes) > 1)) {
        return Err(unsupported("no plan has several ranks; learn one"));
    }
    Ok(())
}

/// Refuses a new value of a size that has one value in all plans: its numbers cannot be told from constants.
fn varied(known: &[(NamedSizes, Learned)], sizes: &NamedSizes) -> Result<(), Error> {
    for (name, size) in sizes {
        let values: BTreeSet<u64> = known.iter().map(|(own, _)| own[name]).collect();
        if let (1, Some(only)) = (values.len(), values.first().filter(|only| *only != size)) {
            return Err(Error::unsupported(format!(
                "{name}={size}, and {name} is {only} in every plan; learn one at another {name}"
            )));
        }
    }
    Ok(())
}

/// The numbers of a term: addresses in a family are members and elements apart.
#[derive(Clone, Debug)]
struct TermNumbers {
    offset: [i64; 2],
    at: i64,
    axes: Vec<AxisNumbers>,
}

#[derive(Clone, Debug)]
struct AxisNumbers {
    first: i64,
    count: i64,
    /// Extent, members and elements of the source, and the step in the result.
    digits: Vec<[i64; 4]>,
}

/// The numbers of a result.
#[derive(Clone, Debug)]
struct Numbers {
    extents: Vec<i64>,
    size: i64,
    terms: Vec<TermNumbers>,
    /// The lengths of the runs of constants, and whether they are what no term has.
    runs: Vec<i64>,
    is_rest: bool,
}

/// Returns the numbers of each result of a plan, and what else it consists of.
fn flat(plan: &Learned) -> Result<Vec<(Numbers, String)>, Error> {
    let one = |learnt: &LearnedResult| {
        let mut form = String::new();
        Ok((Numbers::of(learnt, &mut form)?, form))
    };
    plan.results.iter().map(one).collect()
}

/// Returns the distance of the members of the family of an origin.
fn stride(origin: Origin, sources: &Sources) -> i64 {
    match origin {
        Origin::Source(place) => MapSource::size(&sources.list()[place]) + 1,
        Origin::Zero | Origin::Constant | Origin::Computed => 1,
    }
}

impl Numbers {
    fn of(learnt: &LearnedResult, form: &mut String) -> Result<Numbers, Error> {
        let (name, description) = (&learnt.tensor.name, &learnt.description);
        if learnt.unexplained.is_some() {
            return Err(Error::unsupported(format!("{name} has unexplained elements")));
        }
        let bits: Vec<u64> = learnt.constants.runs().iter().map(|run| run.0).collect();
        *form += &format!("{name} {} {:?} {bits:?}", learnt.unit, description.rest());
        let mut terms = Vec::new();
        for term in description.terms() {
            let stride = stride(term.origin, description.sources());
            let apart = |address: i64| [address / stride, address % stride];
            *form += &format!(" {:?} {:?}", term.origin, term.xor);
            let mut axes = Vec::new();
            for axis in &term.axes {
                let TermAxis::Digits { first, count, digits } = axis else {
                    let said = "has an index table, which other sizes do not determine";
                    return Err(Error::unsupported(format!("{name} {said}")));
                };
                *form += &format!(" {}", digits.len());
                let digit = |digit: &MapDigit| {
                    let [members, elements] = apart(digit.source);
                    [digit.extent as i64, members, elements, digit.result]
                };
                let digits = digits.iter().map(digit).collect();
                axes.push(AxisNumbers { first: *first as i64, count: *count as i64, digits });
            }
            terms.push(TermNumbers { offset: apart(term.offset), at: term.at, axes });
        }
        let extents = learnt.tensor.extents.iter().map(|extent| *extent as i64).collect();
        let runs = learnt.constants.runs().iter().map(|run| run.1 as i64).collect();
        let is_rest = description.rest() == Origin::Constant;
        Ok(Numbers { extents, size: description.size() as i64, terms, runs, is_rest })
    }

    /// Returns the numbers that follow from the sizes alone: counts, and the steps in the sources.
    fn counts(&mut self) -> Vec<&mut i64> {
        let mut all: Vec<&mut i64> = Vec::new();
        for axis in self.terms.iter_mut().flat_map(|term| &mut term.axes) {
            all.extend([&mut axis.first, &mut axis.count]);
            all.extend(axis.digits.iter_mut().flat_map(|digit| &mut digit[..3]));
        }
        all.extend(&mut self.runs);
        all
    }

    fn extents(&mut self) -> Vec<&mut i64> {
        self.extents.iter_mut().collect()
    }

    /// Returns the numbers that follow from those before: places, steps in the result, and sizes.
    fn places(&mut self) -> Vec<&mut i64> {
        let mut all = vec![&mut self.size];
        for term in &mut self.terms {
            all.extend(term.offset.iter_mut().chain([&mut term.at]));
            let digits = term.axes.iter_mut().flat_map(|axis| &mut axis.digits);
            all.extend(digits.map(|digit| &mut digit[3]));
        }
        all
    }

    /// Returns the sums of elements of the first terms.
    fn sums(&self) -> Vec<(String, i64)> {
        let of = |term: &TermNumbers| {
            term.axes.iter().fold(1i64, |all, axis| all.saturating_mul(axis.count))
        };
        let constants = self.runs.iter().copied().fold(0, i64::saturating_add);
        let all = self.terms.iter().map(of).chain(self.is_rest.then_some(constants));
        let mut sum = 0i64;
        let one = |(k, elements): (usize, i64)| {
            sum = sum.saturating_add(elements);
            (format!("elements(terms[..{}])", k + 1), sum)
        };
        all.enumerate().map(one).collect()
    }

    /// Returns the products of the last extents.
    fn products(&self) -> Vec<(String, i64)> {
        let product = |k: usize| {
            self.extents[k..].iter().fold(1i64, |all, extent| all.saturating_mul(*extent))
        };
        (0..self.extents.len()).map(|k| (format!("size(extents[{k}..])"), product(k))).collect()
    }

    /// Returns the result of the form of `model` with these numbers.
    fn result(&self, model: &LearnedResult, sources: &Sources) -> Result<LearnedResult, Error> {
        let name = &model.tensor.name;
        let natural = |number: &i64| {
            let said = || Error::unsupported(format!("{name}: a formula gives a negative size"));
            u64::try_from(*number).map_err(|_| said())
        };
        let mut terms = Vec::new();
        for (term, own) in model.description.terms().iter().zip(&self.terms) {
            let stride = stride(term.origin, sources);
            let address = |[members, elements]: [i64; 2]| {
                let address = members.checked_mul(stride).and_then(|all| all.checked_add(elements));
                address.ok_or_else(|| Error::overflow(format!("{name}: an address")))
            };
            let mut axes = Vec::new();
            for axis in &own.axes {
                let digit = |[extent, members, elements, result]: &[i64; 4]| {
                    let source = address([*members, *elements])?;
                    Ok(MapDigit { extent: natural(extent)?, source, result: *result })
                };
                let digits = axis.digits.iter().map(digit).collect::<Result<_, Error>>()?;
                let (first, count) = (natural(&axis.first)?, natural(&axis.count)?);
                axes.push(TermAxis::Digits { first, count, digits });
            }
            let offset = address(own.offset)?;
            terms.push(MapTerm { offset, at: own.at, axes, ..term.clone() });
        }
        let (size, rest) = (natural(&self.size)?, model.description.rest());
        let description = Description::of(size, sources.clone(), terms, rest)?;
        let mut constants = Constants::default();
        for (run, count) in model.constants.runs().iter().zip(&self.runs) {
            constants.extend(run.0, natural(count)?);
        }
        let extents = self.extents.iter().map(natural).collect::<Result<_, Error>>()?;
        let (tensor, unit) = (NamedArray { extents, ..model.tensor.clone() }, model.unit);
        Ok(LearnedResult { tensor, unit, description, constants, unexplained: None })
    }
}

/// Plans at known sizes, and the sizes of the prediction as the last.
struct Fit<'a> {
    columns: Vec<&'a NamedSizes>,
    /// The products of 0, 1, 2 and more sizes.
    products: Vec<Vec<Product<'a>>>,
    formulas: BTreeSet<String>,
}

/// A product of sizes: each is a factor (1) or a divisor (-1).
type Monomial<'a> = Vec<(&'a str, i8)>;

/// A product with its value in each column, as numerator and denominator.
type Product<'a> = (Monomial<'a>, Vec<(i128, i128)>);

/// A number of a result itself, such as the elements of its first terms: its name, and its value in all columns.
type Local = (String, Vec<i64>);

impl<'a> Fit<'a> {
    fn new(known: &'a [(NamedSizes, Learned)], sizes: &'a NamedSizes) -> Fit<'a> {
        let columns: Vec<&NamedSizes> = known.iter().map(|one| &one.0).chain([sizes]).collect();
        // Sizes that do not vary are constants. The ranks divide also what is rounded up.
        let differs = |name: &str| columns.iter().any(|column| column[name] != sizes[name]);
        let varies = |name: &&str| *name == RANKS || differs(name);
        let names: Vec<&str> = sizes.keys().map(String::as_str).filter(varies).collect();
        let valued = |monomial: Monomial<'a>| {
            let values = columns.iter().map(|column| value_of(&monomial, column));
            let values = values.collect::<Option<Vec<_>>>()?;
            Some((monomial, values))
        };
        let of = |length: usize| monomials(&names, length).into_iter().filter_map(valued).collect();
        let products = (0..=LONGEST).map(of).collect();
        Fit { columns, products, formulas: BTreeSet::new() }
    }

    /// Returns the numbers of a result at the new sizes.
    fn result(&mut self, known: &[&Numbers]) -> Result<Numbers, Error> {
        let mut all: Vec<Numbers> = known.iter().map(|one| (*one).clone()).collect();
        let mut found = all[0].clone();
        self.phase(&mut all, &mut found, Numbers::counts, &[])?;
        let sums = locals(&all, &found, Numbers::sums);
        self.phase(&mut all, &mut found, Numbers::extents, &sums)?;
        let both = [sums, locals(&all, &found, Numbers::products)].concat();
        self.phase(&mut all, &mut found, Numbers::places, &both)?;
        Ok(found)
    }

    /// Replaces some of the numbers of a result by those at the new sizes.
    fn phase(
        &mut self,
        known: &mut [Numbers],
        found: &mut Numbers,
        of: fn(&mut Numbers) -> Vec<&mut i64>,
        locals: &[Local],
    ) -> Result<(), Error> {
        let known: Vec<Vec<i64>> = known
            .iter_mut()
            .map(|one| of(one).into_iter().map(|number| *number).collect())
            .collect();
        for (k, number) in of(found).into_iter().enumerate() {
            let values: Vec<i64> = known.iter().map(|one| one[k]).collect();
            *number = self.number(&values, locals)?;
        }
        Ok(())
    }

    /// Returns the number at the new sizes, by the shortest formulas of its values at the known ones.
    fn number(&mut self, values: &[i64], locals: &[Local]) -> Result<i64, Error> {
        if values.iter().all(|value| *value == values[0]) {
            return Ok(values[0]);
        }
        for length in 1..=LONGEST {
            let mut found = BTreeMap::<i64, String>::new();
            for (monomial, sizes) in &self.products[length] {
                for block in [1].into_iter().chain(BLOCKS) {
                    if let Some((value, factor)) = fitted(values, sizes, None, block) {
                        let text = || format!("{factor}{}", written(monomial, block));
                        found.entry(value).or_insert_with(text);
                    }
                }
            }
            for (local, (monomial, sizes)) in locals
                .iter()
                .flat_map(|local| self.products[length - 1].iter().map(move |m| (local, m)))
            {
                if let Some((value, factor)) = fitted(values, sizes, Some(&local.1), 1) {
                    let text =
                        || format!("{factor}{}", [&*local.0, &written(monomial, 1)].join(" "));
                    found.entry(value).or_insert_with(text);
                }
            }
            let mut found = found.into_iter();
            match (found.next(), found.next()) {
                (None, _) => {}
                (Some((value, text)), None) => {
                    self.formulas.insert(text.trim_end().to_owned());
                    return Ok(value);
                }
                (Some(first), Some(second)) => {
                    let texts = [first, second].map(|(value, text)| format!("{text} = {value}"));
                    return Err(Error::unsupported(format!(
                        "the numbers {values:?} have formulas that differ at these sizes: {}; learn one more size",
                        texts.join(", ")
                    )));
                }
            }
        }
        let count = self.columns.len() - 1;
        Err(Error::unsupported(format!(
            "no product of sizes gives the numbers {values:?} of the {count} plans; learn at the size itself"
        )))
    }
}

/// Returns numbers of a result itself, with their values in the plans and in the prediction.
fn locals(
    known: &[Numbers],
    found: &Numbers,
    of: fn(&Numbers) -> Vec<(String, i64)>,
) -> Vec<Local> {
    let columns: Vec<Vec<(String, i64)>> = known.iter().chain([found]).map(of).collect();
    let local = |(k, (name, _)): (usize, &(String, i64))| {
        (name.clone(), columns.iter().map(|column| column[k].1).collect())
    };
    columns[0].iter().enumerate().map(local).collect()
}

/// Returns a product at some sizes, as numerator and denominator.
fn value_of(monomial: &Monomial<'_>, sizes: &NamedSizes) -> Option<(i128, i128)> {
    let (mut over, mut under) = (1i128, 1i128);
    for (name, power) in monomial {
        let size = i128::from(*sizes.get(*name)?);
        match power {
            1 => over = over.checked_mul(size)?,
            _ => under = under.checked_mul(size)?,
        }
    }
    (under != 0).then_some((over, under))
}

/// Returns the value in the last column of a product times a number, rounded up to a block, if it has the known values in the others;
/// and the factor as text.
fn fitted(
    values: &[i64],
    sizes: &[(i128, i128)],
    local: Option<&Vec<i64>>,
    block: u64,
) -> Option<(i64, String)> {
    let at = |column: usize| -> Option<(i128, i128)> {
        let (over, under) = sizes[column];
        let local = local.map_or(1, |local| i128::from(local[column]));
        Some((over.checked_mul(local)?, under))
    };
    // The factor is that of the first plan; with a block it is 1.
    let (over, under) = at(0)?;
    let (mut c, mut d) = (i128::from(values[0]).checked_mul(under)?, over);
    if block > 1 {
        (c, d) = (1, 1);
    }
    let divisor = gcd(c.unsigned_abs(), d.unsigned_abs()).max(1) as i128;
    (c, d) = (c / divisor, d / divisor);
    let block = i128::from(block);
    let value = |column: usize| -> Option<i128> {
        let (over, under) = at(column)?;
        let (over, under) = (over.checked_mul(c)?, under.checked_mul(d)?);
        match block {
            1 => (under != 0 && over % under == 0).then(|| over / under),
            _ => {
                let whole = over / under.max(1) + i128::from(over % under.max(1) != 0);
                Some((whole + block - 1) / block * block)
            }
        }
    };
    let mut pairs = values.iter().enumerate();
    if !pairs.all(|(column, own)| value(column) == Some(i128::from(*own))) {
        return None;
    }
    Some((i64::try_from(value(values.len())?).ok()?, scaled(c, d)))
}

fn gcd(a: u128, b: u128) -> u128 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Returns the factor of a formula as text.
fn scaled(c: i128, d: i128) -> String {
    match (c, d) {
        (1, 1) => String::new(),
        (_, 1) => format!("{c} "),
        (_, _) => format!("{c}/{d} "),
    }
}

fn written(monomial: &Monomial<'_>, block: u64) -> String {
    let one = |(k, (name, power)): (usize, &(&str, i8))| match (k, power) {
        (0, 1) => (*name).to_owned(),
        (0, _) => format!("1 / {name}"),
        (_, 1) => format!(" {name}"),
        (_, _) => format!(" / {name}"),
    };
    let text: String = monomial.iter().enumerate().map(one).collect();
    if block == 1 { text } else { format!("up({text}, {block})") }
}

/// Returns all products of this many sizes, each used once or twice, factors first.
fn monomials<'a>(names: &[&'a str], length: usize) -> Vec<Monomial<'a>> {
    let letters: Vec<(&str, i8)> =
        [1, -1].iter().flat_map(|power| names.iter().map(|name| (*name, *power))).collect();
    let mut all: Vec<(usize, Monomial<'_>)> = vec![(0, Vec::new())];
    for _ in 0..length {
        let longer = |(from, monomial): &(usize, Monomial<'a>)| {
            let cancels = |letter: &(&str, i8)| monomial.contains(&(letter.0, -letter.1));
            let next = |(k, letter): (usize, &(&'a str, i8))| {
                let twice = monomial.iter().filter(|own| *own == letter).count() < 2;
                (twice && !cancels(letter)).then(|| (k, [&monomial[..], &[*letter]].concat()))
            };
            letters.iter().enumerate().skip(*from).filter_map(next).collect::<Vec<_>>()
        };
        all = all.iter().flat_map(longer).collect();
    }
    all.into_iter().map(|(_, monomial)| monomial).collect()
}
