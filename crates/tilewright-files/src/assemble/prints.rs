//! Compares the fingerprint of each piece, over its own digits, in the source and in the result. Verification of an assembly uses
//! it.
//!
//! Law: both are equal, because source and result share the digits. The code that moves elements is not used, and neither side is
//! reordered for it.

use std::fs::File;

use super::{
    assembling::Assembling,
    exact::Exact,
    nest::Nest,
    pieces::Give,
    rows,
    stored::Take,
    sums::{self, FROM, TO},
    tasks,
    whole::Whole,
};
use crate::{
    Error, container::Target, open::origin::Made, transfer::run::Means, verify::crew::Crew,
};

/// The largest number of bytes of a buffer.
const MOST: u64 = 8 << 20;

/// One piece, and the position of its tensor in the result.
struct Sum<'a> {
    made: usize,
    at: u64,
    take: Take,
    width: u64,
    whole: &'a Whole,
    nest: &'a Nest,
}

/// Returns an error if a piece of the result has another fingerprint than its source.
pub(crate) fn check(
    job: &Assembling<'_>,
    target: &Target,
    file: &File,
    means: &Means<'_>,
) -> Result<(), Error> {
    let places = job.places(&means.budget, job.rooms().rows)?;
    let room = (means.budget.limit() / job.lanes() / 4).clamp(64, MOST);
    let sums = tasks::placed(target, &job.wholes).into_iter().flat_map(|(made, at)| {
        let whole = job.wholes.get(made).into_iter();
        whole.flat_map(move |whole| {
            whole.pieces.iter().filter_map(move |piece| match piece.give {
                Give::Tensor(take, width) if piece.exact == Exact::Same => {
                    Some(Sum { made, at, take, width, whole, nest: &piece.nest })
                }
                Give::Tensor(..) | Give::Fill(_) => None,
            })
        })
    });
    let budget = &means.budget;
    let join = || {
        let mut buffer = budget.buffer(room)?;
        let places = &places;
        Ok(move |sum: &Sum<'_>| {
            let name = job.made.tensors().get(sum.made).map_or("", |tensor| &tensor.name);
            let own = places.get(&sum.take);
            let own = own.ok_or_else(|| Error::usage("a tensor without a place"))?;
            let read = |bytes: &mut [u8], at: u64| own.read(bytes, at);
            let was = sums::of((sum.nest, sum.width), FROM, &mut buffer, &read)?;
            // `rows::check` has compared the storage with these rows.
            let rows = rows::of(job, sum.whole, places, budget);
            let read = |bytes: &mut [u8], at: u64| match &rows {
                Some(rows) => rows.read(bytes, at),
                None => {
                    let read = tilewright_transfer::read_at(file, bytes, sum.at + at);
                    read.map_err(|cause| Error::io(&target.path, "read it back", cause))
                }
            };
            let is = sums::of((sum.nest, sum.width), TO, &mut buffer, &read)?;
            Ok((was != is).then(|| format!("tensor {name:?} has a part with fingerprint {is}, and {was} is that of its source")))
        })
    };
    let lanes = job.lanes() as usize;
    let crew = Crew::new(means.watch, &means.budget, lanes);
    match crew.first(lanes, sums, (|_: &Sum<'_>| 0, 1, 0), join)? {
        None => Ok(()),
        Some(said) => Err(Error::corrupt(&target.path, format!("verification failed: {said}"))),
    }
}
