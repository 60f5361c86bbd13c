//! The rows of a tensor that is made by rows, and the comparison of its storage with them.
//!
//! No plan is asked: each element is looked for where the layout says.

use std::{
    path::Path,
    sync::{Mutex, PoisonError},
};

use super::{
    assembling::Assembling,
    by_rows::ByRows,
    hands::Hands,
    stored::{Places, in_rows},
    tasks,
    whole::{Way, Whole},
};
use crate::{
    Difference, Error,
    commit::temporary::Temporary,
    container::Target,
    open::{
        origin::{Made, Origin},
        source::Source,
    },
    transfer::{budget::Budget, job, run::Means},
    verify::{
        compare,
        crew::{Crew, go_on},
        patch::Side,
    },
};

/// The rows of a tensor, made where they are read.
pub(crate) struct Rows<'r, 'b, 'c> {
    hands: Mutex<Hands<'b, 'c>>,
    of: (&'r Whole, &'r ByRows),
    /// The input, for messages.
    path: &'r Path,
}

impl Made for Rows<'_, '_, '_> {
    fn read(&self, bytes: &mut [u8], at: u64) -> Result<(), Error> {
        let mut hands = self.hands.lock().unwrap_or_else(PoisonError::into_inner);
        hands.rows(self.of, bytes, at).map_err(|failed| failed.told())
    }

    fn path(&self) -> &Path {
        self.path
    }
}

/// Returns the rows of a tensor that is made by rows.
pub(crate) fn of<'r, 'b, 'c>(
    job: &'r Assembling<'_>,
    whole: &'r Whole,
    places: &'c Places<'c>,
    budget: &'b Budget,
) -> Option<Rows<'r, 'b, 'c>> {
    let Way::ByRows(by_rows) = &whole.way else { return None };
    let hands = Mutex::new(Hands::new(places, budget, job.rooms().half()));
    Some(Rows { hands, of: (whole, by_rows), path: &job.source.path })
}

/// Compares the elements and the padding of each tensor that is made by rows with its rows.
pub(crate) fn check(
    job: &Assembling<'_>,
    target: &Target,
    temporary: &Temporary,
    means: &Means<'_>,
) -> Result<(), Error> {
    let wrong = |said: String| Error::corrupt(&target.path, format!("verification failed: {said}"));
    let source = Source::of(temporary.reader()?, &target.path)?;
    // Half of the memory for what is read, half for rows.
    let budget = Budget::new(means.budget.limit() / 2);
    let crew = Crew::new(&(), &budget, job.frame.request.threads);
    for (number, begin) in tasks::placed(target, &job.wholes) {
        let (whole, tensor) = (job.wholes.get(number), job.made.tensors().get(number));
        let Some((whole, tensor)) = whole.zip(tensor) else { continue };
        let Way::ByRows(by_rows) = &whole.way else { continue };
        go_on(means.watch)?;
        let (places, name) = (job.places()?, tensor.name.as_str());
        let Some(rows) = of(job, whole, &places, &means.budget) else { continue };
        let (held, own) = (&by_rows.held, in_rows(&by_rows.held).map_err(Error::usage)?);
        let fill = job::stored_fill(name, held)?;
        let promised = held.named.fill().is_promised();
        let (origin, stored, (at, len)) =
            Origin::File(&source).in_rows(held, (begin, by_rows.bytes))?;
        let to = Side { name, source: origin, at, len, held: stored, fill, promised };
        let len = whole.units.saturating_mul(whole.width);
        let source_of = Origin::Made(&rows);
        let from =
            Side { name, source: source_of, at: 0, len, held: &own, fill: 0, promised: false };
        let unfilled = || held.tables().map(|tables| tables.unfilled((&source, begin), fill));
        let found = match compare::tensors(&to, &from, crew)? {
            None => unfilled().transpose()?.flatten().map(|(offset, is)| Difference::Padding {
                tensor: name.to_owned(),
                offset,
                is,
                expected: fill,
            }),
            found => found,
        };
        if let Some(found) = found {
            return Err(wrong(found.to_string()));
        }
    }
    Ok(())
}
