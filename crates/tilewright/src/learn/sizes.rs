//! [`predict`]: the plan at other sizes, from plans at several sizes. It is a prediction until one load confirms it.
//!
//! Each number of the plans is fitted by the shortest formula in the named sizes: a number, or a number times at most three sizes,
//! each of them a factor or a divisor, or such a product rounded up to a block. New sizes are refused where
//! formulas of equal length give different numbers, and where no plan was learned in their regime.
//! The regime of some sizes consists of those below the number of ranks `tp`, and of those that `tp` divides. Engines have others,
//! such as the machine's instructions: learn and predict on one machine with one configuration.

use std::collections::{BTreeMap, BTreeSet};

use tilewright_learn::{
    Constants, Description, Error, Learned, LearnedResult, MapDigit, MapSource, MapTerm, Mismatch,
    NamedArray, Origin, Sources, TermAxis,
};

/// Sizes by their names, such as `hidden` and `tp`, the number of ranks.
pub type NamedSizes = BTreeMap<String, u64>;

/// The name of the number of ranks.
const RANKS: &str = "tp";
/// The blocks to which products are rounded up.
const BLOCKS: [u64; 4] = [16, 32, 64, 128];

/// A plan at sizes that it was not learned at.
///
/// ```
/// use tilewright::learn::{Learned, Predicted};
/// let predicted = Predicted { plan: Learned { sources: vec![], results: vec![] }, formulas: vec![] };
/// assert_eq!(predicted.to_json()["predicted"], true);
/// ```
#[must_use]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Predicted {
    /// The plan, not yet confirmed.
    pub plan: Learned,
    /// The formulas of its numbers, each once.
    pub formulas: Vec<String>,
}

impl Predicted {
    /// Returns the plan as JSON, marked as predicted. [`from_json`](super::from_json) refuses it.
    ///
    /// ```
    /// use tilewright::learn::{Learned, Predicted, from_json};
    /// let predicted = Predicted { plan: Learned { sources: vec![], results: vec![] }, formulas: vec![] };
    /// assert!(from_json(&predicted.to_json()).unwrap_err().to_string().contains("predicted"));
    /// ```
    pub fn to_json(&self) -> serde_json::Value {
        let mut value = super::to_json(&self.plan);
        value["predicted"] = true.into();
        value["formulas"] = self.formulas.clone().into();
        value
    }

    /// Returns the plan, if results of one load of these sources agree with it; else the first difference.
    ///
    /// # Errors
    /// Those of [`Learned::compare`].
    ///
    /// ```
    /// use tilewright::learn::{Learned, Predicted};
    /// let predicted = Predicted { plan: Learned { sources: vec![], results: vec![] }, formulas: vec![] };
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
    let mut all = known.iter().map(|(_, plan)| numbers(plan)).collect::<Result<Vec<_>, Error>>()?;
    let shape = all[0].1.clone();
    if all.iter().any(|(_, other)| *other != shape) {
        return Err(unsupported("the plans have different forms; learn them in one regime"));
    }
    let count = all[0].0.len();
    let mut fit = Fit { known, sizes, formulas: BTreeSet::new() };
    let mut found = Vec::with_capacity(count);
    for k in 0..count {
        let values: Vec<i64> = all.iter_mut().map(|(numbers, _)| numbers[k]).collect();
        found.push(fit.number(&values)?);
    }
    let plan = rebuilt(model, sources, &mut found.into_iter())?;
    Ok(Predicted { plan, formulas: fit.formulas.into_iter().collect() })
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

/// The numbers of a plan in order, and what else it consists of.
type Flat = (Vec<i64>, String);

/// Returns the numbers of a plan. Steps over members of a family count members and elements apart.
fn numbers(plan: &Learned) -> Result<Flat, Error> {
    let (mut all, mut form) = (Vec::new(), String::new());
    for learnt in &plan.results {
        if learnt.unexplained.is_some() || !learnt.constants.runs().is_empty() {
            let said = format!("{} has constants or unexplained elements", learnt.tensor.name);
            return Err(Error::unsupported(said));
        }
        all.extend(learnt.tensor.extents.iter().map(|extent| *extent as i64));
        all.push(learnt.description.size() as i64);
        form += &format!("{} {} {:?}", learnt.tensor.name, learnt.unit, learnt.description.rest());
        for term in learnt.description.terms() {
            let stride = match term.origin {
                Origin::Source(place) => learnt.description.sources().list()[place].size() + 1,
                Origin::Zero | Origin::Constant | Origin::Computed => 1,
            };
            form += &format!(" {:?} {:?}", term.origin, term.xor);
            all.extend([term.offset / stride, term.offset % stride, term.at]);
            for axis in &term.axes {
                let TermAxis::Digits { first, count, digits } = axis else {
                    let said = format!(
                        "{} has an index table, which other sizes do not determine",
                        learnt.tensor.name
                    );
                    return Err(Error::unsupported(said));
                };
                form += &format!(" {}", digits.len());
                all.extend([*first as i64, *count as i64]);
                for digit in digits {
                    let (members, elements) = (digit.source / stride, digit.source % stride);
                    all.extend([digit.extent as i64, members, elements, digit.result]);
                }
            }
        }
    }
    Ok((all, form))
}

/// Returns the plan of the form of `model` with these numbers.
fn rebuilt(
    model: &Learned,
    sources: &[NamedArray],
    found: &mut dyn Iterator<Item = i64>,
) -> Result<Learned, Error> {
    let named = |sources: &[NamedArray]| sources.iter().map(|s| s.name.clone()).collect::<Vec<_>>();
    if named(sources) != named(&model.sources) {
        return Err(Error::mismatch("the checkpoint has other tensors than the plans"));
    }
    let numbered = Sources::numbered(sources.iter().map(|s| (s.name.clone(), s.extents.clone())))?;
    let mut next = || found.next().ok_or_else(|| Error::new("internal", "a number is missing"));
    let natural = |number: i64| {
        u64::try_from(number).map_err(|_| unsupported("a formula gives a negative size"))
    };
    let mut results = Vec::new();
    for learnt in &model.results {
        let mut tensor = learnt.tensor.clone();
        for extent in &mut tensor.extents {
            *extent = natural(next()?)?;
        }
        let size = natural(next()?)?;
        let mut terms = Vec::new();
        for term in learnt.description.terms() {
            let stride = match term.origin {
                Origin::Source(place) => MapSource::size(&numbered.list()[place]) + 1,
                Origin::Zero | Origin::Constant | Origin::Computed => 1,
            };
            let mut made = MapTerm { axes: Vec::new(), ..term.clone() };
            made.offset = next()? * stride + next()?;
            made.at = next()?;
            for axis in &term.axes {
                let TermAxis::Digits { digits, .. } = axis else { continue };
                let (first, count) = (natural(next()?)?, natural(next()?)?);
                let mut own = Vec::new();
                for _ in digits {
                    let extent = natural(next()?)?;
                    let source = next()? * stride + next()?;
                    own.push(MapDigit { extent, source, result: next()? });
                }
                made.axes.push(TermAxis::Digits { first, count, digits: own });
            }
            terms.push(made);
        }
        let rest = learnt.description.rest();
        let description = Description::of(size, numbered.clone(), terms, rest)?;
        let (unit, constants) = (learnt.unit, Constants::default());
        results.push(LearnedResult { tensor, unit, description, constants, unexplained: None });
    }
    Ok(Learned { sources: sources.to_vec(), results })
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

/// Plans at known sizes, and the sizes of the prediction.
struct Fit<'a> {
    known: &'a [(NamedSizes, Learned)],
    sizes: &'a NamedSizes,
    formulas: BTreeSet<String>,
}

/// A product of sizes: each is a factor (1) or a divisor (-1).
type Monomial<'a> = Vec<(&'a str, i8)>;

impl Fit<'_> {
    /// Returns the number at the new sizes, by the shortest formulas of its values at the known ones.
    fn number(&mut self, values: &[i64]) -> Result<i64, Error> {
        if values.iter().all(|value| *value == values[0]) {
            return Ok(values[0]);
        }
        let names: Vec<&str> = self.sizes.keys().map(String::as_str).collect();
        for length in 1..=4 {
            let mut found = BTreeMap::<i64, String>::new();
            for monomial in monomials(&names, length) {
                for block in [1].into_iter().chain(BLOCKS) {
                    if let Some((value, text)) = self.fitted(values, &monomial, block) {
                        found.entry(value).or_insert(text);
                    }
                }
            }
            match found.len() {
                0 => continue,
                1 => {
                    let (value, text) = found.into_iter().next().unwrap_or_default();
                    self.formulas.insert(text);
                    return Ok(value);
                }
                _ => {
                    let texts: Vec<String> = found
                        .into_iter()
                        .map(|(value, text)| format!("{text} = {value}"))
                        .collect();
                    return Err(Error::unsupported(format!(
                        "the numbers {values:?} have formulas that differ at these sizes: {}; learn one more size",
                        texts.join(", ")
                    )));
                }
            }
        }
        Err(Error::unsupported(format!("no product of sizes gives the numbers {values:?}")))
    }

    /// Returns the value at the new sizes of a product times a number, rounded up to a block, if it has the known values.
    fn fitted(&self, values: &[i64], monomial: &Monomial<'_>, block: u64) -> Option<(i64, String)> {
        let at = |sizes: &NamedSizes| -> Option<(i128, i128)> {
            let (mut over, mut under) = (1i128, 1i128);
            for (name, power) in monomial {
                let size = i128::from(*sizes.get(*name)?);
                match power {
                    1 => over = over.checked_mul(size)?,
                    _ => under = under.checked_mul(size)?,
                }
            }
            Some((over, under))
        };
        // The factor is that of the first plan; with a block it is 1.
        let (over, under) = at(&self.known[0].0)?;
        let (mut c, mut d) = (i128::from(values[0]).checked_mul(under)?, over);
        if block > 1 {
            (c, d) = (1, 1);
        }
        let divisor = gcd(c.unsigned_abs(), d.unsigned_abs()).max(1) as i128;
        (c, d) = (c / divisor, d / divisor);
        let block = i128::from(block);
        let value = |sizes: &NamedSizes| -> Option<i128> {
            let (over, under) = at(sizes)?;
            let (over, under) = (over.checked_mul(c)?, under.checked_mul(d)?);
            match block {
                1 => (under != 0 && over % under == 0).then(|| over / under),
                _ => Some(
                    (over / under.max(1) + i128::from(over % under.max(1) != 0) + block - 1)
                        / block
                        * block,
                ),
            }
        };
        let mut pairs = self.known.iter().zip(values);
        let fits = pairs.all(|((sizes, _), own)| value(sizes) == Some(i128::from(*own)));
        let text = format!("{}{}", scaled(c, d), written(monomial, block));
        let new = i64::try_from(value(self.sizes)?).ok()?;
        fits.then_some((new, text))
    }
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

fn written(monomial: &Monomial<'_>, block: i128) -> String {
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
