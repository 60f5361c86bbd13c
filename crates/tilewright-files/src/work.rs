//! The work of one output, cut into pieces: which tensors are copied, which are read whole, which in
//! parts, in the order of their bytes.

use std::ops::Range;

use tilewright_relayout::{Chunk, Plan};

use crate::{
    Action, Conversion, Error, Job,
    container::Section,
    shares::{PIECE, Shares},
    source::Source,
};

/// Pieces of work smaller than this are handed out together.
const BATCH: u64 = PIECE / 4;

/// A tensor that is converted.
#[derive(Clone)]
pub(crate) struct Part<'c> {
    pub(crate) source: &'c Source,
    /// Where its bytes begin.
    pub(crate) at: u64,
    pub(crate) job: &'c Job,
    pub(crate) plan: Plan,
}

impl Part<'_> {
    /// The error of moving this tensor.
    pub(crate) fn failed(&self, error: &tilewright_relayout::Error) -> Error {
        let said = format!("tensor {:?}: {error}", self.job.name);
        match error.is_unsupported() {
            // The layouts were accepted before: it is the machine that refuses, threads for instance.
            true => Error::unsupported(self.source.path(), said),
            false => Error::usage(said),
        }
    }

    /// Reverses the bytes of the numbers in `bytes`, which begin at byte `from` of the tensor, where the
    /// result has them in another order.
    pub(crate) fn reverse(&self, bytes: &mut [u8], from: u64) -> Result<(), Error> {
        let unit = self.job.reversed();
        if unit == 1 {
            return Ok(());
        }
        if !from.is_multiple_of(unit as u64) || !bytes.len().is_multiple_of(unit) {
            let said = format!("tensor {:?} is read by parts of its elements", self.job.name);
            return Err(Error::unsupported(self.source.path(), said));
        }
        bytes.chunks_exact_mut(unit).for_each(<[u8]>::reverse);
        Ok(())
    }

    pub(crate) fn chunk(&self, range: Range<u64>) -> Result<Chunk, Error> {
        self.plan.chunk(range).map_err(|error| self.failed(&error))
    }
}

/// What is done next, for the next bytes of the output.
pub(crate) enum Work<'c> {
    /// Bytes that belong to no tensor.
    Bytes(&'c [u8]),
    /// These bytes of the input as they are.
    Copy { source: &'c Source, at: u64, len: u64 },
    /// A tensor that is read whole.
    Whole(Part<'c>),
    /// A range of a tensor, and what it needs.
    Range(Part<'c>, Range<u64>),
}

impl Work<'_> {
    /// The bytes of output.
    fn len(&self) -> u64 {
        match self {
            Work::Bytes(bytes) => bytes.len() as u64,
            Work::Copy { len, .. } => *len,
            Work::Whole(part) => part.plan.dst_bytes(),
            Work::Range(_, range) => range.end - range.start,
        }
    }
}

/// What is left of a destination.
type Ranges = Box<dyn Iterator<Item = Range<u64>> + Send>;

/// The work of one output; each piece has the number of its place.
pub(crate) struct Queue<'c> {
    conversion: &'c Conversion<'c>,
    shares: Shares,
    sections: std::slice::Iter<'c, Section>,
    /// What is left of the tensor begun last.
    ranges: Option<(Part<'c>, Ranges)>,
    /// What was taken and did not fit into the last batch.
    next: Option<Work<'c>>,
    number: u64,
}

impl<'c> Queue<'c> {
    pub(crate) fn new(
        conversion: &'c Conversion<'c>,
        sections: &'c [Section],
        shares: Shares,
    ) -> Self {
        let (sections, ranges, next) = (sections.iter(), None, None);
        Queue { conversion, shares, sections, ranges, next, number: 0 }
    }

    /// The next batch and its number; `None` behind the last, and behind an error.
    pub(crate) fn take(&mut self) -> Option<(u64, Result<Vec<Work<'c>>, Error>)> {
        let batch = self.batch();
        if batch.as_ref().is_ok_and(Vec::is_empty) {
            return None;
        }
        if batch.is_err() {
            (self.sections, self.ranges, self.next) = ([].iter(), None, None);
        }
        self.number += 1;
        Some((self.number - 1, batch))
    }

    /// How many batches were taken.
    pub(crate) fn taken(&self) -> u64 {
        self.number
    }

    fn batch(&mut self) -> Result<Vec<Work<'c>>, Error> {
        let (mut batch, mut len) = (Vec::new(), 0);
        loop {
            let work = match self.next.take() {
                Some(work) => work,
                None => match self.work()? {
                    Some(work) => work,
                    None => return Ok(batch),
                },
            };
            len += work.len();
            if len > BATCH.min(self.shares.piece) && !batch.is_empty() {
                self.next = Some(work);
                return Ok(batch);
            }
            batch.push(work);
        }
    }

    fn work(&mut self) -> Result<Option<Work<'c>>, Error> {
        loop {
            if let Some((part, ranges)) = &mut self.ranges {
                if let Some(range) = ranges.next() {
                    return Ok(Some(Work::Range(part.clone(), range)));
                }
                self.ranges = None;
            }
            let conversion = self.conversion;
            let number = match self.sections.next() {
                None => return Ok(None),
                Some(Section::Bytes(bytes)) => return Ok(Some(Work::Bytes(bytes))),
                Some(Section::Tensor(number)) => *number,
            };
            let Some(job) = conversion.jobs.get(number) else { continue };
            let Some(tensor) = conversion.input.tensors().get(job.tensor) else { continue };
            let (source, at) = conversion.input.place(tensor)?;
            if job.action != Action::Convert {
                return Ok(Some(Work::Copy { source, at, len: job.bytes_in }));
            }
            let part = Part { source, at, job, plan: job.plan()? };
            match self.shares.range_len(&part.plan).map_err(|error| part.failed(&error))? {
                None => return Ok(Some(Work::Whole(part))),
                Some(len) => {
                    let ranges: Ranges = Box::new(part.plan.ranges(len));
                    self.ranges = Some((part, ranges));
                }
            }
        }
    }
}
