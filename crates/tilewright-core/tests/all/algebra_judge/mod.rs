//! The laws of the algebra's operations, judged by enumeration: tables and sets of offsets, without the theory.
//!
//! An answer is wrong if the table breaks the operation's law, or if the law has none; a refusal is needless if the law
//! has an answer.

mod facts;
mod inverse;
mod one;
mod two;

use std::{collections::BTreeMap, fmt};

use tilewright_core::Error;

pub(crate) use facts::Facts;
pub(crate) use one::one;
pub(crate) use two::Pairs;

/// The numbers of outcomes of one operation.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) cases: u64,
    pub(crate) answered: u64,
    pub(crate) refused: u64,
    pub(crate) wrong: u64,
    pub(crate) needless: u64,
    pub(crate) undecided: u64,
    /// The first case that counts against the operation.
    first: Option<String>,
}

/// A tally for every operation.
#[derive(Clone, Debug, Default)]
pub(crate) struct Report(pub(crate) BTreeMap<&'static str, Tally>);

impl Report {
    /// Judges one answer: `defined` is what the law requires, `right` whether an answer obeys it.
    pub(crate) fn judge<T: fmt::Debug>(
        &mut self,
        operation: &'static str,
        case: &dyn fmt::Debug,
        answer: Result<T, Error>,
        defined: bool,
        right: impl FnOnce(&T) -> bool,
    ) {
        let tally = self.0.entry(operation).or_default();
        tally.cases += 1;
        let faulty = match &answer {
            Ok(value) => {
                tally.answered += 1;
                let wrong = !defined || !right(value);
                tally.wrong += u64::from(wrong);
                wrong
            }
            Err(error) if error.is_undecided() => {
                tally.undecided += 1;
                true
            }
            Err(_) => {
                tally.refused += 1;
                tally.needless += u64::from(defined);
                defined
            }
        };
        if faulty && tally.first.is_none() {
            tally.first = Some(format!("{case:?}: {answer:?}"));
        }
    }

    /// Judges an answer that always exists.
    pub(crate) fn total(&mut self, operation: &'static str, case: &dyn fmt::Debug, right: bool) {
        self.judge(operation, case, Ok(()), true, |()| right);
    }

    pub(crate) fn add(&mut self, other: Report) {
        for (operation, more) in other.0 {
            let tally = self.0.entry(operation).or_default();
            tally.cases += more.cases;
            tally.answered += more.answered;
            tally.refused += more.refused;
            tally.wrong += more.wrong;
            tally.needless += more.needless;
            tally.undecided += more.undecided;
            tally.first = tally.first.take().or(more.first);
        }
    }

    /// Returns whether nothing is wrong, needlessly refused or undecided.
    pub(crate) fn clean(&self) -> bool {
        self.0.values().all(|tally| (tally.wrong, tally.needless, tally.undecided) == (0, 0, 0))
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "| operation | cases | answered | refused | wrong | needlessly refused | undecided |"
        )?;
        writeln!(f, "|---|---|---|---|---|---|---|")?;
        for (operation, tally) in &self.0 {
            let Tally { cases, answered, refused, wrong, needless, undecided, first } = tally;
            writeln!(
                f,
                "| {operation} | {cases} | {answered} | {refused} | {wrong} | {needless} | {undecided} |"
            )?;
            if let Some(first) = first {
                writeln!(f, "  first: {first}")?;
            }
        }
        Ok(())
    }
}
