//! The work of one output, cut into pieces: which tensors are copied, which are read whole, which in
//! parts, in the order of their bytes.

use std::ops::Range;

use tilewright_relayout::{Chunk, Plan};

use crate::{Action, Conversion, Error, Job, container::Section, output::Output, source::Source};

/// The bytes of a piece where memory allows: what is made stays in the processor's cache until it is
/// written.
const PIECE: u64 = 1 << 20;

/// Reads of this length are as good as one long read.
const LONG: u64 = 64 << 10;

/// Pieces of work smaller than this are handed out together.
const BATCH: u64 = PIECE / 4;

/// Budgets smaller than this are not divided: long reads are worth more than work side by side.
const DIVIDED: u64 = 8 << 20;

/// How the budget is shared out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shares {
    /// How many lanes read and move at the same time.
    pub(crate) lanes: usize,
    /// How many pieces a lane may have on their way to the file, that which it fills among them.
    pub(crate) slots: usize,
    /// What a lane may hold, in bytes.
    pub(crate) share: u64,
    /// The bytes of a piece.
    pub(crate) piece: u64,
}

impl Shares {
    /// Of a bound on memory, what an output needs of which is taken.
    pub(crate) fn of(limit: u64) -> Shares {
        let reserved = Output::needs(limit);
        let (lanes, slots) = if limit < DIVIDED { (1, 1) } else { (2, 2) };
        let share = limit.saturating_sub(reserved) / lanes as u64;
        Shares { lanes, slots, share, piece: PIECE.min(share / 8).max(1) }
    }

    /// What a lane holds that reads `src` bytes, with a list of `list`, for pieces of `dst` bytes.
    pub(crate) fn held(&self, src: u64, list: u64, dst: u64) -> u64 {
        src.saturating_add(list).saturating_add(dst.saturating_mul(self.slots as u64))
    }

    /// What moves most of a tensor: the way of its plan, or of the first of the ranges that memory allows.
    pub(crate) fn kernel(&self, plan: &Plan) -> Result<String, tilewright_relayout::Error> {
        let range = self.range_len(plan)?.and_then(|len| plan.ranges(len).next());
        Ok(match range {
            Some(range) => plan.chunk(range)?.kernel_name(),
            None => plan.kernel_name(),
        })
    }

    /// The length of the ranges in which a tensor is converted; `None` where it is read whole.
    fn range_len(&self, plan: &Plan) -> Result<Option<u64>, tilewright_relayout::Error> {
        let Shares { share, piece, .. } = *self;
        let whole = self.held(plan.src_bytes(), 0, piece.min(plan.dst_bytes()));
        if whole <= share && plan.src_bytes() <= piece {
            return Ok(None);
        }
        if plan.list_bytes(piece) == 0
            && let Some(range) = plan.ranges(piece).next()
        {
            let chunk = plan.chunk(range)?;
            if self.needed(&chunk) <= share && reads_on(&chunk) {
                return Ok(Some(piece));
            }
        }
        if whole <= share { Ok(None) } else { self.chunk_len(plan).map(Some) }
    }

    /// What a lane holds that runs this chunk.
    fn needed(&self, chunk: &Chunk) -> u64 {
        let range = chunk.range();
        let len = range.end - range.start;
        self.held(chunk.buffer_len() as u64, chunk.overhead_bytes(), len)
    }

    /// The length of ranges that fit into the share, judged by the first of them.
    fn chunk_len(&self, plan: &Plan) -> Result<u64, tilewright_relayout::Error> {
        let mut len = self.share / (self.slots as u64 + 1);
        // The list of reads is made before its length is known.
        while len > 64 && len.saturating_add(plan.list_bytes(len)) > self.share {
            len /= 2;
        }
        while let Some(range) = plan.ranges(len).next() {
            let chunk = plan.chunk(range)?;
            if len <= 64 || self.needed(&chunk) <= self.share {
                break;
            }
            len /= 2;
        }
        Ok(len)
    }
}

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

/// Whether a chunk reads long stretches, and little that it does not need.
fn reads_on(chunk: &Chunk) -> bool {
    let (range, buffer) = (chunk.range(), chunk.buffer_len() as u64);
    let reads = chunk.reads().count() as u64;
    buffer >= reads.saturating_mul(LONG) && buffer <= 2 * (range.end - range.start)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tilewright_core::TensorLayout;
    use tilewright_relayout::Elements;

    /// What ran is what was named, for every bound on memory: chunks cut the regions of a plan.
    #[test]
    fn a_kernel_is_named_after_the_ranges_that_memory_allows() {
        let rows = TensorLayout::row_major(&[3000, 2000]).unwrap();
        let columns = TensorLayout::col_major(&[3000, 2000]).unwrap();
        let plan = Plan::new(&rows, &columns, Elements::same(16), 0).unwrap();
        let named = |limit| Shares::of(limit).kernel(&plan).unwrap();
        assert_eq!(named(1 << 30), plan.kernel_name());
        let mut seen = Vec::new();
        for limit in (12..24).map(|log| 1 << log) {
            let shares = Shares::of(limit);
            let len = shares.range_len(&plan).unwrap().expect("ranges: 12 MB do not fit");
            let chunk = plan.chunk(plan.ranges(len).next().unwrap()).unwrap();
            assert_eq!(shares.kernel(&plan).unwrap(), chunk.kernel_name(), "{limit}");
            seen.push(chunk.kernel_name());
        }
        assert!(seen.iter().any(|name| *name != plan.kernel_name()), "{seen:?}");
    }
}
