//! Cuts the work of one output into pieces: tensors that are copied or read whole, and ranges or tiles of others, in the order of
//! their bytes. Before a tensor whose fingerprint is recorded, its data are summed, window by window of the source. Workers take
//! the pieces.

use std::{iter, ops::Range, sync::Arc};

use tilewright_fingerprint::{Fingerprint, Key, Window};
use tilewright_relayout::{Plan, Tile};

use crate::{
    Action, Conversion, Error, Job,
    container::Section,
    convert::{
        budget::Budget,
        kept::{Kept, Pending},
        shares::{PIECE, Parts, Shares},
    },
    error,
    layout::record,
    open::origin::Origin,
};

/// Pieces of work smaller than this are taken together.
const BATCH: u64 = PIECE / 4;

/// A tensor that is converted.
#[derive(Clone)]
pub(crate) struct ConvertedTensor<'c> {
    pub(crate) source: Origin<'c>,
    /// The position of its first byte.
    pub(crate) at: u64,
    pub(crate) job: &'c Job,
    pub(crate) plan: Plan,
    /// Its bytes that were read before, if it is remote.
    pub(crate) kept: Option<Arc<Kept>>,
}

impl<'c> ConvertedTensor<'c> {
    /// Returns the error of moving this tensor.
    pub(crate) fn failed(&self, error: &Error) -> Error {
        let said = format!("tensor {:?}: {error}", self.job.name);
        match error.is_unsupported() {
            // The layouts were accepted before, so the machine refuses, for example to start threads.
            true => error::unsupported(self.source.path(), said),
            false => error::usage(said),
        }
    }

    /// Returns the bytes of the whole tensor, if they are in memory and are moved from there.
    pub(crate) fn lent(&self) -> Option<&'c [u8]> {
        self.source.in_memory().filter(|_| self.job.reversed() == 1)
    }

    /// Reverses the bytes of the numbers in `bytes`, which begin at byte `from` of the tensor, if the result has another byte
    /// order.
    pub(crate) fn reverse(&self, bytes: &mut [u8], from: u64) -> Result<(), Error> {
        self.source.reverse(&self.job.name, bytes, (from, self.job.reversed()))
    }

    /// Returns the bytes of an element of padding.
    pub(crate) fn fill(&self) -> Vec<u8> {
        let mut element = self.job.fill.to_le_bytes().to_vec();
        element.resize((self.job.to.bits / 8).max(1) as usize, 0);
        element
    }

    /// Iterates over all work for the tensor.
    fn work(&self, parts: Parts) -> Left<'c> {
        let part = self.clone();
        match parts {
            Parts::Whole => Box::new(iter::once(Work::Whole(part))),
            Parts::Ranges(len) => {
                Box::new(part.plan.ranges(len).map(move |range| Work::Range(part.clone(), range)))
            }
            Parts::Groups(groups) => {
                Box::new(groups.into_iter().map(move |range| Work::Range(part.clone(), range)))
            }
            Parts::Tiles(tiles) => {
                let room = iter::once(Work::Room(part.clone()));
                let tiles = tiles.map(move |tile| Work::Tile(part.clone(), tile));
                Box::new(room.chain(tiles).chain(iter::once(Work::Placed)))
            }
        }
    }
}

/// A pass over the sections of an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pass {
    /// Sums the data whose fingerprints are recorded, and writes them.
    Both,
    /// Only sums, before a header that is written to a stream.
    Sum,
    /// Only writes, after summing.
    Write,
}

/// A window of a tensor's data that is summed.
pub(crate) struct Summed<'c> {
    pub(crate) number: usize,
    job: &'c Job,
    source: Origin<'c>,
    at: u64,
    window: Window,
    pending: Option<Pending>,
}

impl Summed<'_> {
    /// Returns the number of bytes of the window.
    pub(crate) fn len(&self) -> u64 {
        let range = self.window.bytes();
        range.end - range.start
    }

    /// Returns the sum of the bytes, if the tensor is in memory.
    pub(crate) fn in_memory(&self) -> Result<Option<Fingerprint>, Error> {
        if self.source.in_memory().is_none() {
            return Ok(None);
        }
        let at = self.at.saturating_add(self.window.bytes().start);
        let bytes = self.source.part(at, self.len())?;
        Ok(Some(self.window.fingerprint(bytes)))
    }

    /// Returns the sum of the bytes, which are kept if they are moved afterwards and there is memory for them.
    pub(crate) fn keeping(&self) -> Result<Option<Fingerprint>, Error> {
        let Some(kept) = self.pending.as_ref().map(Pending::kept) else { return Ok(None) };
        let Some(mut buffer) = kept.buffer(self.len()) else { return Ok(None) };
        let sum = self.through(&mut buffer)?;
        kept.keep(self.at.saturating_add(self.window.bytes().start), buffer);
        Ok(Some(sum))
    }

    /// Returns the sum of the bytes, read into a buffer.
    pub(crate) fn through(&self, buffer: &mut [u8]) -> Result<Fingerprint, Error> {
        let Range { start, end } = self.window.bytes();
        if end > self.job.bytes_in {
            let (name, len) = (&self.job.name, self.job.bytes_in);
            let said = format!("tensor {name:?}: byte {end} of {len}");
            return Err(error::corrupt(self.source.path(), said));
        }
        self.source.read(buffer, self.at.saturating_add(start))?;
        Ok(self.window.fingerprint(buffer))
    }
}

/// Iterates over the windows of a tensor, which fit into a share of the memory.
fn summed<'c>(
    (number, job): (usize, &'c Job),
    (source, at): (Origin<'c>, u64),
    longest: u64,
    kept: Option<Arc<Kept>>,
) -> Result<Left<'c>, Error> {
    // Rows of index tables are read in another order than they are stored.
    let kept = kept.filter(|_| job.from.tables().is_none());
    let (source, rows, (at, _)) = source.in_rows(&job.from, (at, job.bytes_in))?;
    let windows = record::windows(rows, longest, &Key::default());
    let windows = windows.map_err(|error| {
        error::unsupported(source.path(), format!("tensor {:?}: {error}", job.name))
    })?;
    Ok(Box::new(windows.map(move |window| {
        let pending = kept.as_ref().map(Pending::of);
        Work::Sum(Summed { number, job, source, at, window, pending })
    })))
}

/// The work for the next bytes of the output.
pub(crate) enum Work<'c> {
    /// Sums these bytes of the source.
    Sum(Summed<'c>),
    /// Writes a section that does not belong to a tensor.
    Section(&'c Section),
    /// Copies these bytes of the input unchanged.
    Copy { source: Origin<'c>, at: u64, len: u64, kept: Option<Arc<Kept>> },
    /// Converts a tensor that is read whole.
    Whole(ConvertedTensor<'c>),
    /// Converts a range of a tensor from the bytes that it needs.
    Range(ConvertedTensor<'c>, Range<u64>),
    /// Makes room for a tensor whose tiles follow.
    Room(ConvertedTensor<'c>),
    /// Converts a tile of the tensor that has room.
    Tile(ConvertedTensor<'c>, Tile),
    /// Ends the tiles of a tensor.
    Placed,
}

impl Work<'_> {
    /// Returns the number of bytes of output.
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

/// The remaining work of a tensor.
type Left<'c> = Box<dyn Iterator<Item = Work<'c>> + Send + 'c>;

/// Returns the copy of many bytes in pieces, which workers take.
fn pieces<'c>(
    (source, kept): (Origin<'c>, Option<Arc<Kept>>),
    (at, len): (u64, u64),
    piece: u64,
) -> Left<'c> {
    let starts = (0..len.div_ceil(piece)).map(move |number| number * piece);
    Box::new(starts.map(move |from| Work::Copy {
        source,
        at: at.saturating_add(from),
        len: piece.min(len - from),
        kept: kept.clone(),
    }))
}

/// The work of one output, in numbered batches.
pub(crate) struct Queue<'c> {
    conversion: &'c Conversion<'c>,
    shares: Shares,
    sections: std::slice::Iter<'c, Section>,
    /// The remaining work of the last tensor.
    left: Left<'c>,
    /// True if tensors may be written in any order.
    placed: bool,
    pass: Pass,
    /// True if the data of the next section's tensor were summed.
    summed: bool,
    /// The memory for bytes of a remote source that are read before they are moved.
    keeping: Option<Budget>,
    /// The bytes of the next section's tensor that were read to be summed.
    kept: Option<Arc<Kept>>,
    /// Work that did not fit into the last batch.
    next: Option<Work<'c>>,
    number: u64,
}

impl<'c> Queue<'c> {
    pub(crate) fn new(
        conversion: &'c Conversion<'c>,
        sections: &'c [Section],
        (shares, keeping): (Shares, Option<Budget>),
        (placed, pass): (bool, Pass),
    ) -> Self {
        let (sections, left) = (sections.iter(), Box::new(iter::empty()));
        Queue {
            conversion,
            shares,
            sections,
            left,
            placed,
            pass,
            summed: false,
            keeping,
            kept: None,
            next: None,
            number: 0,
        }
    }

    /// Returns whether the data of a job are summed in this pass.
    fn sums(&self, job: &Job) -> bool {
        job.record.is_read() && self.pass != Pass::Write
    }

    /// Returns the next batch and its number; `None` after the last, and after an error.
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

    /// Returns the number of batches that were taken.
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

    /// Returns the job of a number, the source of its tensor, and the position of its first byte.
    fn placed_job(&self, number: usize) -> Result<Option<(&'c Job, Origin<'c>, u64)>, Error> {
        let conversion = self.conversion;
        let Some(job) = conversion.jobs.get(number) else { return Ok(None) };
        let place = conversion.place(job.tensor)?;
        Ok(place.map(|(source, at)| (job, source, at)))
    }

    /// Returns the copy of a tensor, together with those that follow it in the input and in the result.
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
        Ok(Work::Copy { source, at, len, kept: self.kept.take() })
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
                self.kept = self.keeping.clone().map(|budget| Arc::new(Kept::new(budget)));
                let longest = self.shares.window();
                self.left = summed((*number, job), (source, at), longest, self.kept.clone())?;
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
                let copy = self.copy(source, at, job.bytes_in)?;
                match copy {
                    Work::Copy { source, at, len, kept } if self.shares.is_remote => {
                        self.left = pieces((source, kept), (at, len), self.shares.piece);
                        continue;
                    }
                    copy => return Ok(Some(copy)),
                }
            }
            if let Some(making) = self.conversion.made.get(job.tensor).filter(|made| made.copied) {
                let (is_remote, piece) = (self.shares.is_remote, self.shares.piece);
                self.left = Box::new(making.runs().flat_map(move |(source, at, len)| {
                    let piece = if is_remote { piece } else { len };
                    pieces((source, None), (at, len), piece)
                }));
                continue;
            }
            let plan = self.conversion.plan(job)?;
            let part = ConvertedTensor { source, at, job, plan, kept: self.kept.take() };
            let parts = match part.lent() {
                Some(_) => Ok(Parts::Whole),
                None => self.shares.parts(&part.plan, self.placed),
            };
            self.left = part.work(parts.map_err(|error| part.failed(&error))?);
        }
    }
}
