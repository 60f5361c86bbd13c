//! The work of one output, cut into pieces: which tensors are copied, which are read whole, which in
//! ranges or tiles, in the order of their bytes. Before a tensor of which a fingerprint is recorded, its data are
//! summed, window by window of the source.

use std::{iter, ops::Range};

use tilewright_fingerprint::{Fingerprint, Key, Window};
use tilewright_relayout::{Plan, Tile};

use crate::{
    Action, Conversion, Error, Job,
    container::Section,
    layout::record,
    open::origin::Origin,
    transfer::shares::{PIECE, Parts, Shares},
};

/// Pieces of work smaller than this are handed out together.
const BATCH: u64 = PIECE / 4;

/// A tensor that is converted.
#[derive(Clone)]
pub(crate) struct Part<'c> {
    pub(crate) source: Origin<'c>,
    /// Where its bytes begin.
    pub(crate) at: u64,
    pub(crate) job: &'c Job,
    pub(crate) plan: Plan,
}

impl<'c> Part<'c> {
    /// The error of moving this tensor.
    pub(crate) fn failed(&self, error: &tilewright_relayout::Error) -> Error {
        let said = format!("tensor {:?}: {error}", self.job.name);
        match error.is_unsupported() {
            // The layouts were accepted before: it is the machine that refuses, threads for instance.
            true => Error::unsupported(self.source.path(), said),
            false => Error::usage(said),
        }
    }

    /// The bytes of the whole tensor, where they are in memory and are moved from there.
    pub(crate) fn lent(&self) -> Option<&'c [u8]> {
        self.source.in_memory().filter(|_| self.job.reversed() == 1)
    }

    /// Reverses the bytes of the numbers in `bytes`, which begin at byte `from` of the tensor, where the
    /// result has them in another order.
    pub(crate) fn reverse(&self, bytes: &mut [u8], from: u64) -> Result<(), Error> {
        self.source.reverse(&self.job.name, bytes, (from, self.job.reversed()))
    }

    /// The element that padding holds, as its bytes.
    pub(crate) fn fill(&self) -> Vec<u8> {
        let mut element = self.job.fill.to_le_bytes().to_vec();
        element.resize((self.job.to.bits / 8).max(1) as usize, 0);
        element
    }

    /// All that is to be done for the tensor.
    fn work(&self, parts: Parts) -> Left<'c> {
        let part = self.clone();
        match parts {
            Parts::Whole => Box::new(iter::once(Work::Whole(part))),
            Parts::Ranges(len) => {
                Box::new(part.plan.ranges(len).map(move |range| Work::Range(part.clone(), range)))
            }
            Parts::Tiles(tiles) => {
                let room = iter::once(Work::Room(part.clone()));
                let tiles = tiles.map(move |tile| Work::Tile(part.clone(), tile));
                Box::new(room.chain(tiles).chain(iter::once(Work::Placed)))
            }
        }
    }
}

/// What a pass over the sections of an output does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pass {
    /// It sums the data of which fingerprints are recorded, and writes them.
    Both,
    /// It sums alone, before a header that is written to a stream.
    Sum,
    /// It writes what was summed.
    Write,
}

/// A window of a tensor's data, to be summed.
pub(crate) struct Summed<'c> {
    pub(crate) number: usize,
    job: &'c Job,
    source: Origin<'c>,
    at: u64,
    window: Window,
}

impl Summed<'_> {
    /// The bytes of the window.
    pub(crate) fn len(&self) -> u64 {
        let range = self.window.bytes();
        range.end - range.start
    }

    /// The sum of the bytes in memory, if the tensor's are.
    pub(crate) fn in_memory(&self) -> Result<Option<Fingerprint>, Error> {
        if self.source.in_memory().is_none() {
            return Ok(None);
        }
        let at = self.at.saturating_add(self.window.bytes().start);
        let bytes = self.source.part(at, self.len())?;
        Ok(Some(self.window.fingerprint(bytes)))
    }

    /// The sum of the bytes, read into a buffer.
    pub(crate) fn through(&self, buffer: &mut [u8]) -> Result<Fingerprint, Error> {
        let Range { start, end } = self.window.bytes();
        if end > self.job.bytes_in {
            let (name, len) = (&self.job.name, self.job.bytes_in);
            let said = format!("tensor {name:?}: byte {end} of {len}");
            return Err(Error::corrupt(self.source.path(), said));
        }
        self.source.read(buffer, self.at.saturating_add(start))?;
        Ok(self.window.fingerprint(buffer))
    }
}

/// The windows of a tensor, which fit into a share of the memory.
fn summed<'c>(
    number: usize,
    job: &'c Job,
    source: Origin<'c>,
    at: u64,
    share: u64,
) -> Result<Left<'c>, Error> {
    let (source, rows, (at, _)) = source.in_rows(&job.from, (at, job.bytes_in))?;
    let windows = record::windows(rows, PIECE.min(share), &Key::default());
    let windows = windows.map_err(|error| {
        Error::unsupported(source.path(), format!("tensor {:?}: {error}", job.name))
    })?;
    Ok(Box::new(windows.map(move |window| Work::Sum(Summed { number, job, source, at, window }))))
}

/// What is done next, for the next bytes of the output.
pub(crate) enum Work<'c> {
    /// These bytes of the source are summed.
    Sum(Summed<'c>),
    /// What belongs to no tensor.
    Section(&'c Section),
    /// These bytes of the input as they are.
    Copy { source: Origin<'c>, at: u64, len: u64 },
    /// A tensor that is read whole.
    Whole(Part<'c>),
    /// A range of a tensor, and what it needs.
    Range(Part<'c>, Range<u64>),
    /// Room for a tensor whose tiles follow.
    Room(Part<'c>),
    /// A tile of the tensor that there is room for.
    Tile(Part<'c>, Tile),
    /// There are no more tiles.
    Placed,
}

impl Work<'_> {
    /// The bytes of output.
    fn len(&self) -> u64 {
        match self {
            Work::Section(section) => section.len(),
            Work::Copy { len, .. } => *len,
            Work::Whole(part) => part.plan.dst_bytes(),
            Work::Range(_, range) => range.end - range.start,
            Work::Tile(_, tile) => tile.dst_len() as u64,
            Work::Sum(summed) => summed.len(),
            Work::Room(_) | Work::Placed => 0,
        }
    }
}

/// What is left of a tensor.
type Left<'c> = Box<dyn Iterator<Item = Work<'c>> + Send + 'c>;

/// The work of one output; each piece has the number of its place.
pub(crate) struct Queue<'c> {
    conversion: &'c Conversion<'c>,
    shares: Shares,
    sections: std::slice::Iter<'c, Section>,
    /// What is left of the tensor begun last.
    left: Left<'c>,
    /// Whether tensors may be written in any order.
    placed: bool,
    pass: Pass,
    /// Whether the data of the next section's tensor were summed.
    summed: bool,
    /// What was taken and did not fit into the last batch.
    next: Option<Work<'c>>,
    number: u64,
}

impl<'c> Queue<'c> {
    pub(crate) fn new(
        conversion: &'c Conversion<'c>,
        sections: &'c [Section],
        shares: Shares,
        (placed, pass): (bool, Pass),
    ) -> Self {
        let (sections, left, next) = (sections.iter(), Box::new(iter::empty()), None);
        let summed = false;
        Queue { conversion, shares, sections, left, placed, pass, summed, next, number: 0 }
    }

    /// Whether the data of a job are summed in this pass.
    fn sums(&self, job: &Job) -> bool {
        job.record.is_read() && self.pass != Pass::Write
    }

    /// The next batch and its number; `None` behind the last, and behind an error.
    pub(crate) fn take(&mut self) -> Option<(u64, Result<Vec<Work<'c>>, Error>)> {
        let batch = self.batch();
        if batch.as_ref().is_ok_and(Vec::is_empty) {
            return None;
        }
        if batch.is_err() {
            (self.sections, self.left, self.next) = ([].iter(), Box::new(iter::empty()), None);
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

    /// The job of a number, and where its tensor begins.
    fn placed_job(&self, number: usize) -> Result<Option<(&'c Job, Origin<'c>, u64)>, Error> {
        let conversion = self.conversion;
        let Some(job) = conversion.jobs.get(number) else { return Ok(None) };
        let place = conversion.place(job.tensor)?;
        Ok(place.map(|(source, at)| (job, source, at)))
    }

    /// A tensor that is copied, and those that follow it in the input and in the result.
    fn copy(&mut self, source: Origin<'c>, at: u64, mut len: u64) -> Result<Work<'c>, Error> {
        while let Some(Section::Tensor(next)) = self.sections.as_slice().first()
            && let Some((job, other, from)) = self.placed_job(*next)?
            && job.action != Action::Convert
            && !self.sums(job)
            && source.is_file_of(&other)
            && at.checked_add(len) == Some(from)
        {
            self.sections.next();
            len = len.saturating_add(job.bytes_in);
        }
        Ok(Work::Copy { source, at, len })
    }

    fn work(&mut self) -> Result<Option<Work<'c>>, Error> {
        loop {
            if let Some(work) = self.left.next() {
                return Ok(Some(work));
            }
            let section = self.sections.as_slice().first();
            if let Some(Section::Tensor(number)) = section
                && !std::mem::replace(&mut self.summed, true)
                && let Some((job, source, at)) = self.placed_job(*number)?
                && self.sums(job)
            {
                self.left = summed(*number, job, source, at, self.shares.share)?;
                continue;
            }
            self.summed = false;
            let number = match self.sections.next() {
                None => return Ok(None),
                Some(_) if self.pass == Pass::Sum => continue,
                Some(Section::Tensor(number)) => *number,
                Some(section) => return Ok(Some(Work::Section(section))),
            };
            let Some((job, source, at)) = self.placed_job(number)? else { continue };
            if job.action != Action::Convert {
                return self.copy(source, at, job.bytes_in).map(Some);
            }
            let part = Part { source, at, job, plan: job.plan()? };
            let parts = match part.lent() {
                Some(_) => Ok(Parts::Whole),
                None => self.shares.parts(&part.plan, self.placed),
            };
            self.left = part.work(parts.map_err(|error| part.failed(&error))?);
        }
    }
}
