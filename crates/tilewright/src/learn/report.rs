//! [`Report`]: what was learned, for people.

use std::fmt;

use tilewright_learn::{Error, Held, Learned, LearnedResult, Mismatch, Origin, Unexplained};

use super::array_layout;
use crate::{Dtype, ask::words::printable};

/// The result of learning: each result with its terms, the uses of the elements of the sources, and the faults.
///
/// ```
/// use tilewright::learn::{Learned, Report};
/// let nothing = Learned { sources: vec![], results: vec![] };
/// let report = Report::of(&nothing, &|_| false)?;
/// assert!(report.is_complete());
/// assert_eq!(report.to_string(), "0 arrays from 0 tensors: 0 terms, 0 integers\n");
/// # Ok::<(), tilewright::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Report<'a> {
    learned: &'a Learned,
    held: Vec<Held>,
    lost: Vec<String>,
}

impl<'a> Report<'a> {
    /// Makes the report. Sources that `dropped` names may be lost.
    ///
    /// # Errors
    /// Those of [`Learned::held`].
    ///
    /// ```
    /// use tilewright::{Dtype, learn::{Learned, Report, NamedArray}};
    /// let lost = NamedArray { name: "w".into(), dtype: Dtype::Bf16, extents: vec![2] };
    /// let learned = Learned { sources: vec![lost], results: vec![] };
    /// assert!(!Report::of(&learned, &|_| false)?.is_complete());
    /// assert!(Report::of(&learned, &|name| name == "w")?.is_complete());
    /// # Ok::<(), tilewright::Error>(())
    /// ```
    pub fn of(learned: &'a Learned, dropped: &dyn Fn(&str) -> bool) -> Result<Report<'a>, Error> {
        let lost = learned.lost(dropped)?.into_keys().collect();
        Ok(Report { learned, held: learned.held()?, lost })
    }

    /// Returns whether every result element is explained, and every source element is held or dropped.
    ///
    /// ```
    /// use tilewright::learn::{Learned, Report};
    /// assert!(Report::of(&Learned { sources: vec![], results: vec![] }, &|_| false)?.is_complete());
    /// # Ok::<(), tilewright::Error>(())
    /// ```
    pub fn is_complete(&self) -> bool {
        self.faults().is_empty()
    }

    /// Returns what is at fault: elements that are not explained, and source elements that nothing holds.
    ///
    /// ```
    /// use tilewright::{Dtype, learn::{Learned, Report, NamedArray}};
    /// let lost = NamedArray { name: "w".into(), dtype: Dtype::Bf16, extents: vec![2, 3] };
    /// let learned = Learned { sources: vec![lost], results: vec![] };
    /// let faults = Report::of(&learned, &|_| false)?.faults();
    /// assert_eq!(faults, ["w: 6 of 6 elements are held by no result, the first at [0, 0]"]);
    /// # Ok::<(), tilewright::Error>(())
    /// ```
    pub fn faults(&self) -> Vec<String> {
        let mut faults: Vec<String> = self.learned.results.iter().filter_map(fault).collect();
        for (tensor, held) in self.learned.sources.iter().zip(&self.held) {
            if self.lost.contains(&tensor.name) {
                let all: u64 = tensor.extents.iter().product();
                let first = coordinate(held.first_missing.unwrap_or(0), &tensor.extents);
                faults.push(format!(
                    "{}: {} of {all} elements are held by no result, the first at {first:?}",
                    printable(&tensor.name),
                    held.missing
                ));
            }
        }
        faults
    }
}

/// Returns a sentence about the first element of fresh data that differs from what was learned.
///
/// ```
/// use tilewright::{Dtype, learn::*};
/// let space = Space::new(Sources::numbered([("w".into(), vec![2])])?, 128)?;
/// let w = NamedArray { name: "w".into(), dtype: Dtype::U8, extents: vec![2] };
/// let copied = learn_result(&space, &[Dtype::U8], w.clone(), &mut |load| space.coded(0, load, Dtype::U8))?;
/// let learned = Learned { sources: vec![w], results: vec![copied] };
/// let found = learned.compare(&[vec![1, 2]], &[vec![1, 3]])?.unwrap();
/// let said = "w: 1 elements of fresh data differ, the first at [1]: 0x3, and a move gives 0x2";
/// assert_eq!(differs(&learned, &found), said);
/// # Ok::<(), tilewright::Error>(())
/// ```
pub fn differs(learned: &Learned, found: &Mismatch) -> String {
    let learnt = &learned.results[found.result];
    let [have, want] = [found.found, found.want].map(|bits| value(learnt.unit, bits));
    let (name, count) = (printable(&learnt.tensor.name), found.differing);
    let at = place(learnt, found.place);
    format!(
        "{name}: {count} elements of fresh data differ, the first at {at}: {have}, and a move gives {want}"
    )
}

/// Returns the coordinate of a unit of a result, or its number if units are not the elements.
fn place(learnt: &LearnedResult, place: u64) -> String {
    match learnt.description.size() == learnt.tensor.extents.iter().product::<u64>() {
        true => format!("{:?}", coordinate(place, &learnt.tensor.extents)),
        false => format!("{} {place}", learnt.unit.name()),
    }
}

/// Returns the coordinate of an element by its row-major index.
pub(super) fn coordinate(index: u64, extents: &[u64]) -> Vec<u64> {
    let mut rest = index;
    let digit = |extent: &u64| {
        let x = rest % extent.max(&1);
        rest /= extent.max(&1);
        x
    };
    let mut coordinate: Vec<u64> = extents.iter().rev().map(digit).collect();
    coordinate.reverse();
    coordinate
}

/// Returns what is at fault in a result.
fn fault(learnt: &LearnedResult) -> Option<String> {
    let Unexplained { place, count, seen } = learnt.unexplained.as_ref()?;
    let size = learnt.description.size();
    let at = self::place(learnt, *place);
    let seen: Vec<String> = seen.iter().map(|bits| value(learnt.unit, *bits)).collect();
    Some(format!(
        "{}: {count} of {size} elements are not explained, the first at {at}; its values in each load: {}",
        printable(&learnt.tensor.name),
        seen.join(", ")
    ))
}

/// Returns the value of an element: a number for the usual floats, else its bits.
fn value(dtype: Dtype, bits: u64) -> String {
    match dtype {
        Dtype::F32 => f32::from_bits(bits as u32).to_string(),
        Dtype::Bf16 => f32::from_bits((bits as u32) << 16).to_string(),
        Dtype::F64 => f64::from_bits(bits).to_string(),
        _ => format!("{bits:#x}"),
    }
}

impl fmt::Display for Report<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (mut terms, mut integers) = (0, 0);
        for learnt in &self.learned.results {
            terms += learnt.description.terms().len();
            integers += learnt.description.integers();
            result(f, learnt)?;
        }
        let copies = self.learned.sources.iter().zip(&self.held).filter(|(_, held)| held.most > 1);
        for (tensor, held) in copies {
            let times =
                if held.least == held.most { String::new() } else { format!("{} to ", held.least) };
            writeln!(f, "{} is held {times}{} times", printable(&tensor.name), held.most)?;
        }
        for fault in self.faults() {
            writeln!(f, "{fault}")?;
        }
        let (results, sources) = (self.learned.results.len(), self.learned.sources.len());
        writeln!(f, "{results} arrays from {sources} tensors: {terms} terms, {integers} integers")
    }
}

/// Writes a result: its name, then a line for each term.
fn result(f: &mut fmt::Formatter<'_>, learnt: &LearnedResult) -> fmt::Result {
    let (tensor, description) = (&learnt.tensor, &learnt.description);
    let extents: Vec<String> = tensor.extents.iter().map(u64::to_string).collect();
    write!(f, "{} {}[{}]", printable(&tensor.name), tensor.dtype, extents.join(","))?;
    if let Some(layout) = array_layout(description, Some(learnt.unit)) {
        let names = tilewright_notation::recognise(layout.stored());
        if let Some(found) = names.first() {
            write!(f, " {}", found.name)?;
        }
    }
    writeln!(f)?;
    for term in description.terms() {
        writeln!(f, "    {} @ {}", printable(&description.pattern(term)), term.at)?;
    }
    if description.rest() == Origin::Constant {
        writeln!(f, "    constant elsewhere")?;
    }
    Ok(())
}
