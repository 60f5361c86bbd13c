//! The rows of a tensor that is made by rows, and the comparison of its storage with them. Verification of an assembly uses them.
//!
//! Plans are not used: each element is looked up by the layout. Only index tables are read through a plan, as in all comparisons.

use std::{
    collections::HashSet,
    path::Path,
    sync::{Mutex, PoisonError},
};

use super::{
    assembling::Assembling,
    by_rows::ByRows,
    hands::{Failed, Hands, Rooms},
    stored::{Places, Take, in_rows},
    tasks,
    whole::{Way, Whole},
};
use crate::{
    Error,
    commit::temporary::Temporary,
    container::Target,
    open::{
        origin::{Made, Origin},
        source::Source,
    },
    transfer::{budget::Budget, job, run::Means},
    verify::{
        compare::{self, side_at, unfilled_at},
        crew::{Crew, Quiet},
    },
};

/// The rows of a tensor, computed when they are read.
pub(crate) struct Rows<'r, 'b, 'c> {
    /// The buffers of threads that read no rows at the moment.
    idle: Mutex<Vec<Hands<'b, 'c>>>,
    make: (&'c Places<'c>, &'b Budget, Rooms),
    of: (&'r Whole, &'r ByRows),
    /// The input, for messages.
    path: &'r Path,
}

impl Made for Rows<'_, '_, '_> {
    fn read(&self, bytes: &mut [u8], at: u64) -> Result<(), Error> {
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let (places, budget, rooms) = self.make;
        let own = idle().pop();
        let mut hands = own.unwrap_or_else(|| Hands::new(places, budget, rooms));
        hands.rows(self.of, bytes, at).map_err(Failed::told)?;
        idle().push(hands);
        Ok(())
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
    let make = (places, budget, job.rooms().half());
    Some(Rows { idle: Mutex::default(), make, of: (whole, by_rows), path: &job.source.path })
}

/// Compares rows with storage: the rows read from the tensors of the input, and the rows from which the tensors of a file are
/// made, with their padding.
pub(crate) fn check(
    job: &Assembling<'_>,
    target: &Target,
    temporary: &Temporary,
    means: &Means<'_>,
) -> Result<(), Error> {
    let by_rows = |(number, begin)| match job.wholes.get(number)? {
        whole @ Whole { way: Way::ByRows(by_rows), .. } => Some((number, begin, whole, by_rows)),
        Whole { .. } => None,
    };
    let placed = tasks::placed(target, &job.wholes);
    let whole = |(number, _): &(usize, u64)| job.wholes.get(*number);
    let taken: HashSet<Take> = placed.iter().filter_map(whole).flat_map(Whole::taken).collect();
    // Half of the memory is for reads, half for rows.
    let budget = Budget::new(means.budget.limit() / 2);
    let quiet = Quiet(means.watch);
    let crew = Crew::new(&quiet, &budget, job.lanes() as usize);
    let places = job.places(&means.budget, job.rooms().half().rows)?;
    for (take, stored) in places.iter().filter(|(take, _)| take.rows && taken.contains(take)) {
        let Some(tensor) = job.source.tensors().get(take.tensor) else { continue };
        if let Some(found) = stored.misread((job.source, tensor), crew)? {
            return Err(Error::corrupt(&job.source.path, format!("its rows are wrong: {found}")));
        }
    }
    let source = Source::of(temporary.reader()?, &target.path)?;
    for (number, begin, whole, by_rows) in placed.into_iter().filter_map(by_rows) {
        let name = job.made.tensors().get(number).map_or("", |tensor| tensor.name.as_str());
        let Some(rows) = of(job, whole, &places, &means.budget) else { continue };
        let (held, own) = (&by_rows.held, in_rows(&by_rows.held).map_err(Error::usage)?);
        let fill = job::stored_fill(name, held)?;
        let promise = (fill, held.named.fill().is_promised());
        let to = side_at((Origin::File(&source), begin, by_rows.bytes), name, held, promise)?;
        let len = whole.units.saturating_mul(whole.width);
        let from = side_at((Origin::Made(&rows), 0, len), name, &own, (0, false))?;
        let found = match (compare::tensors(&to, &from, crew)?, held.tables()) {
            (None, Some(tables)) => unfilled_at((&source, begin), (name, tables), fill)?,
            (found, _) => found,
        };
        if let Some(found) = found {
            let said = format!("verification failed: {found}");
            return Err(Error::corrupt(&target.path, said));
        }
    }
    Ok(())
}
