//! The tasks of a result in an object store: parts of the uploads of its files, each made of the source and sent.
//!
//! ```text
//! tasks 0 to p        the parts of the first file, of the second, and so on
//! tasks p to the end  boxes of the arrays whose fingerprints are recorded: they are read and summed
//! ```
//!
//! Law: the parts of a file partition its bytes, and a part depends on the source and the plan alone. So any process makes any part,
//! and a part that is sent twice has the same bytes.
//!
//! Verification makes each part a second time, of another reading of the source, before it is sent; and it looks up elements of the
//! part by the offsets of both layouts, which no plan has: see [`lookups`](super::lookups).
//!
//! A header that records fingerprints is known after all sums. The parts that it is in are made by the process that finishes.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
    sync::Arc,
};

use tilewright_core::Remedy;
use tilewright_files::{Fingerprint, inner::store};
use tilewright_relayout::{Elements, Plan, Program};
use tilewright_transfer::{Budget, Buffer, Limits, Mover, Reservation, in_units, part};

use crate::{
    Error, Job,
    plan::{
        array::{Meet, ReshardedArray, is_replica},
        parts::{FileParts, Sent, StoreTask},
        target::Patches,
    },
    run::{
        JobSide, RunState, Worker, absent, buffers_in, failure,
        lookups::{self, Lookups},
        moves,
    },
};

/// The number of bytes of parts after which an object of the journal is written.
const BATCH: u64 = 64 << 20;

/// The number of threads that make and send parts, if memory allows: each waits for requests most of the time.
pub(crate) const SENDERS: usize = 4;

impl Job {
    /// Returns the number of bytes that a task of a result in a store makes or reads.
    fn bytes_of_store_task(&self, task: &StoreTask) -> u64 {
        match task {
            StoreTask::Part(_, _, range) => range.end - range.start,
            StoreTask::Sum(array, number) => {
                self.box_of(*array, *number).map_or(0, |task| self.bytes_of(&task))
            }
        }
    }

    /// Returns the memory that a thread needs to make and send a part.
    fn part_memory(&self, parts: &FileParts) -> u64 {
        parts.bytes.saturating_add(self.memory_beside(self.request.memory))
    }

    /// Returns the memory of the buffers of a part within this limit, of the pieces in which it is made again, of the list of its
    /// lookups, and of the buffers of a copy.
    fn memory_beside(&self, memory: u64) -> u64 {
        let buffers = buffers_in(memory);
        let copied = self.source.arrays.iter().any(|array| array.held.replicated() > 0);
        let copies = if copied { buffers / 2 } else { 0 };
        let again = again_at_once(buffers) + lookups::bytes(lookups_of_part(buffers));
        let verified = if self.request.verified { again } else { 0 };
        2 * buffers + verified + copies
    }

    /// Returns the least limit within which a part and its buffers fit, above one within which they do not. Larger limits have larger
    /// parts and buffers, so the need is followed until it is met.
    fn least_part_memory(&self) -> u64 {
        let mut least = self.request.memory;
        loop {
            let bytes = FileParts::bytes_in(&self.output, least);
            let needed = bytes.saturating_add(self.memory_beside(least));
            if needed <= least {
                return least;
            }
            least = needed;
        }
    }

    /// Returns an error if a part and its buffers do not fit in memory.
    pub(crate) fn check_part_memory(&self) -> Result<(), Error> {
        let Some(parts) = &self.parts_of_files else { return Ok(()) };
        let (needed, memory) = (self.part_memory(parts), self.request.memory);
        if needed <= memory {
            return Ok(());
        }
        let said =
            format!("a part of an upload needs {needed} bytes of memory, {memory} are allowed");
        let least = Some(self.least_part_memory());
        Err(Error::usage(said).with(&[Remedy::MoreMemory { least }]))
    }

    /// Returns the number of threads that make parts.
    pub(crate) fn senders(&self, threads: usize) -> usize {
        let Some(parts) = &self.parts_of_files else { return threads };
        let most = self.request.memory / self.part_memory(parts).max(1);
        threads.max(SENDERS).min(usize::try_from(most).unwrap_or(usize::MAX)).max(1)
    }

    /// Runs tasks of a result in a store, in one thread of a process.
    pub(crate) fn work_parts(
        &self,
        parts: &FileParts,
        (tasks, who): (&BTreeSet<u64>, &str),
        shared: &RunState,
        limits: &Limits<'_>,
    ) -> Result<u64, Error> {
        if self.is_finishing()? {
            return Ok(0);
        }
        self.check_free()?;
        let uploads = shared.uploads(self)?;
        let done = shared.sent(self)?;
        let todo: Vec<u64> = tasks.iter().copied().filter(|it| !done.contains_key(it)).collect();
        let task = |number: &u64| parts.task(&self.output, *number);
        let bytes = |number: &u64| task(number).map_or(0, |task| self.bytes_of_store_task(&task));
        let watch = limits.watch();
        watch.total(todo.iter().map(bytes).fold(0, u64::saturating_add));
        let mut sender = Sender::new(self, (shared, limits), uploads)?;
        let (mut batch, mut held) = (BTreeMap::new(), 0);
        for number in &todo {
            if watch.cancelled() {
                return Err(Error::new("cancelled", "cancelled; finished work is kept"));
            }
            let Some(task) = task(number) else { continue };
            batch.insert(*number, sender.run(&task)?);
            held += self.bytes_of_store_task(&task);
            watch.advance(self.bytes_of_store_task(&task));
            if held >= BATCH {
                self.check_local_sources()?;
                self.promise_sent(who, &std::mem::take(&mut batch))?;
                held = 0;
            }
        }
        self.check_sources()?;
        self.promise_sent(who, &batch)?;
        Ok(todo.len() as u64)
    }

    /// Returns the fingerprints of the arrays that are summed, by their numbers.
    pub(crate) fn sums_sent(
        &self,
        parts: &FileParts,
        sent: &BTreeMap<u64, Sent>,
    ) -> Vec<Option<Fingerprint>> {
        let mut sums = vec![None; self.source.arrays.len()];
        for (number, sent) in sent {
            let (Some(StoreTask::Sum(array, _)), Sent::Sum(data)) =
                (parts.task(&self.output, *number), sent)
            else {
                continue;
            };
            if let Some(sum) = sums.get_mut(array) {
                *sum = Some(sum.unwrap_or_default() + *data);
            }
        }
        sums
    }
}

/// A thread that makes and sends parts.
pub(crate) struct Sender<'j> {
    job: &'j Job,
    shared: &'j RunState,
    limits: &'j Limits<'j>,
    uploads: Arc<Vec<String>>,
    patches: Arc<Vec<Patches>>,
    /// True if headers are made at the end.
    late: bool,
}

impl<'j> Sender<'j> {
    pub(crate) fn new(
        job: &'j Job,
        (shared, limits): (&'j RunState, &'j Limits<'j>),
        uploads: Arc<Vec<String>>,
    ) -> Result<Sender<'j>, Error> {
        let patches = shared.patches(job)?;
        let late = (0..job.source.arrays.len()).any(|array| job.output.records(array));
        Ok(Sender { job, shared, limits, uploads, patches, late })
    }

    /// Gives headers their fingerprints.
    pub(crate) fn complete_heads(&mut self, sums: &[Option<Fingerprint>]) -> Result<(), Error> {
        let sum = |array: usize| sums.get(array).copied().flatten();
        (self.patches, self.late) = (Arc::new(self.job.output.patches(&sum)?), false);
        Ok(())
    }

    /// Runs a task; returns what the journal keeps of it.
    pub(crate) fn run(&mut self, task: &StoreTask) -> Result<Sent, Error> {
        match task {
            StoreTask::Part(file, _, range) if self.late && self.in_head(*file, range) => {
                Ok(Sent::Late)
            }
            StoreTask::Part(file, number, range) => self.send((*file, *number), range),
            StoreTask::Sum(array, number) => self.sum(*array, *number),
        }
    }

    fn in_head(&self, file: usize, range: &Range<u64>) -> bool {
        let patches = self.patches_of(file);
        patches.iter().any(|(at, bytes)| *at < range.end && at + bytes.len() as u64 > range.start)
    }

    fn patches_of(&self, file: usize) -> &[(u64, Vec<u8>)] {
        self.patches.get(self.job.output.content_of(file)).map_or(&[], Vec::as_slice)
    }

    /// Makes a part and sends it.
    fn send(&mut self, (file, number): (usize, usize), range: &Range<u64>) -> Result<Sent, Error> {
        let (job, budget) = (self.job, self.memory(range.end - range.start)?);
        let (bytes, _held) = self.made(file, range, &budget, None)?;
        if job.request.verified {
            let (path, start, end) = (job.path_of(file), range.start, range.end);
            let about = format!("{}: bytes {start} to {end}", path.display());
            self.again(file, range, &budget, &bytes).map_err(|error| error.about(&about))?;
        }
        let upload = self.uploads.get(file).ok_or_else(|| absent("an upload"))?;
        Ok(Sent::Part(store::send(&job.path_of(file), upload, number, bytes)?))
    }

    /// Returns the memory of a part, its buffers, and its copy for a comparison.
    fn memory(&self, len: u64) -> Result<Budget, Error> {
        let needed = len.saturating_add(self.job.memory_beside(self.job.request.memory));
        Ok(match self.limits.threads() {
            1 => self.limits.budget().clone(),
            _ => self.limits.budget().share(needed),
        })
    }

    /// Returns the bytes of a part of a file.
    fn made(
        &mut self,
        file: usize,
        range: &Range<u64>,
        budget: &Budget,
        lookups: Option<&mut Lookups<'_>>,
    ) -> Result<(Vec<u8>, Reservation), Error> {
        let len = range.end - range.start;
        let refused = |error: &dyn std::fmt::Display| Error::new("memory", error.to_string());
        let held = budget.reserve(len).map_err(|error| refused(&error))?;
        let mut out = tilewright_transfer::zeros(len).map_err(|error| refused(&error))?;
        for (at, bytes) in self.patches_of(file) {
            overlay(&mut out, range.start, bytes, *at);
        }
        let mover = Mover::new(budget, self.job.buffers());
        let mut buffers = PartBuffers { mover, budget, copy: None, lookups };
        for (array, _) in self.job.output.locals_in(file, range) {
            self.local(&mut buffers, (file, *array), range, &mut out)?;
        }
        Ok((out, held))
    }

    /// Returns an error unless a part that is made again has these bytes, and its elements are those of the source. It is made in
    /// pieces, from another reading of the source.
    fn again(
        &mut self,
        file: usize,
        range: &Range<u64>,
        budget: &Budget,
        bytes: &[u8],
    ) -> Result<(), Error> {
        let step = again_at_once(self.job.buffers());
        let most = lookups_of_part(self.job.buffers());
        let list = budget.reserve(lookups::bytes(most));
        let _list = list.map_err(|error| Error::new("memory", error.to_string()))?;
        let mut lookups = Lookups::of(self.job, (file, range), bytes, most)?;
        let mut at = range.start;
        while at < range.end {
            let piece = at..range.end.min(at + step);
            let (own, _held) = self.made(file, &piece, budget, Some(&mut lookups))?;
            let from = (at - range.start) as usize;
            if bytes.get(from..from + own.len()) != Some(&*own) {
                return Err(Error::new("corrupt", "they differ when they are made again"));
            }
            at = piece.end;
        }
        lookups.check(self.job)
    }

    /// Fills the bytes of a local array in a range of a file.
    fn local(
        &self,
        buffers: &mut PartBuffers<'_, '_>,
        (file, array): (usize, usize),
        range: &Range<u64>,
        out: &mut [u8],
    ) -> Result<(), Error> {
        let output = &self.job.output;
        let to = output.arrays.get(array).ok_or_else(|| absent("an array"))?;
        let at = output.places.at(file, array).ok_or_else(|| absent(&to.name))?;
        let nth = to.held.nth(file).ok_or_else(|| absent(&to.name))?;
        let len = to.held.stored.get(nth).and_then(|stored| stored.laid.bytes()).unwrap_or(0);
        let (low, high) = (range.start.max(at), range.end.min(at + len));
        if low >= high {
            return Ok(());
        }
        let own = (low - range.start) as usize..(high - range.start) as usize;
        let own = out.get_mut(own).ok_or_else(|| absent(&to.name))?;
        self.elements(buffers, (array, nth), low - at..high - at, own)
    }

    /// Fills a range of a local array; elements that the range cuts are made whole, beside it.
    fn elements(
        &self,
        buffers: &mut PartBuffers<'_, '_>,
        of: (usize, usize),
        range: Range<u64>,
        out: &mut [u8],
    ) -> Result<(), Error> {
        let bits = self.job.source.arrays.get(of.0).map_or(8, |array| array.bits);
        let mut read = |own: &mut [u8], at: u64| {
            self.whole_elements(buffers, of, &(at..at + own.len() as u64), own)
        };
        in_units(out, range.start, u64::from(bits / 8), &mut read)
    }

    fn whole_elements(
        &self,
        buffers: &mut PartBuffers<'_, '_>,
        (array, nth): (usize, usize),
        range: &Range<u64>,
        out: &mut [u8],
    ) -> Result<(), Error> {
        let (from, to) = (self.job.source.arrays.get(array), self.job.output.arrays.get(array));
        let (from, to) = from.zip(to).ok_or_else(|| absent("an array"))?;
        for piece in to.held.pieces.iter().filter(|piece| piece.source == nth as u64) {
            let mut first = None;
            for (own, stored, meet) in from.held.met(&piece.start, &piece.extents) {
                let is_copy = first.is_some_and(|known| is_replica(known, own));
                first = Some(own);
                let within = meet.within.iter().zip(&piece.local).map(|(at, from)| at + from);
                let meet = Meet { within: within.collect(), ..meet };
                let source = (array, stored.file, &stored.laid.layout);
                self.piece(buffers, (from, to, nth), source, (&meet, is_copy), (range, &mut *out))?;
            }
        }
        let unit = from.held.stored.first().map_or(1, |stored| stored.laid.reversed());
        if unit > 1 {
            out.chunks_exact_mut(unit).for_each(<[u8]>::reverse);
        }
        Ok(())
    }

    /// Fills the elements of a piece of the source that are in a range of a local array, or compares a copy with them.
    fn piece(
        &self,
        buffers: &mut PartBuffers<'_, '_>,
        (from, to, nth): (&ReshardedArray, &ReshardedArray, usize),
        (array, file, layout): (usize, usize, &tilewright_core::TensorLayout),
        (meet, is_copy): (&Meet, bool),
        (range, out): (&Range<u64>, &mut [u8]),
    ) -> Result<(), Error> {
        let stored = to.held.stored.get(nth).ok_or_else(|| absent(&to.name))?;
        let sides = ((layout, &*meet.local), (&stored.laid.layout, &*meet.within));
        let elements = Elements::same(from.bits);
        let program = Program::of_part(sides.0, sides.1, &meet.extents, elements);
        let plan = Plan::of(program.map_err(|error| moves::about(error.into(), &from.name))?);
        let Some(span) = plan.ranges(u64::MAX).next() else { return Ok(()) };
        let within = span.start.max(range.start)..span.end.min(range.end);
        if within.is_empty() {
            return Ok(());
        }
        let at = self.job.source.places.at(file, array).ok_or_else(|| absent(&from.name))?;
        let (handle, path) = self.shared.reads.open(file)?;
        let PartBuffers { mover, budget, copy, lookups } = buffers;
        let mut read = |bytes: &mut [u8], from: u64| {
            handle.read(bytes, at + from)?;
            if let Some(lookups) = lookups.as_deref_mut() {
                lookups.see(file, at + from, bytes);
            }
            Ok(())
        };
        let own = (within.start - range.start) as usize..(within.end - range.start) as usize;
        let own = out.get_mut(own).ok_or_else(|| absent(&to.name))?;
        let failed = |failed| failure(failed, "read", path, &from.name);
        if !is_copy {
            return mover.read_range(&plan, within, own, &mut read).map_err(failed);
        }
        let width = u64::from(from.bits / 8).max(1);
        let most = (self.job.compared_at_once() / width * width).max(width);
        for (number, known) in own.chunks(most as usize).enumerate() {
            let (start, len) = (within.start + number as u64 * most, known.len() as u64);
            let room = budget.grown(copy, len, most).map_err(|error| failed(error.into()))?;
            let room = part(room, 0, len).map_err(failed)?;
            room.copy_from_slice(known);
            mover.read_range(&plan, start..start + len, room, &mut read).map_err(failed)?;
            if room != known {
                return Err(self.differing(&from.name, file));
            }
        }
        Ok(())
    }

    /// Returns the error of a copy of a box that differs from another.
    fn differing(&self, name: &str, file: usize) -> Error {
        let file = self.shared.reads.name(file);
        let said =
            format!("tensor {name:?}: {file} and another file hold the same box, but they differ");
        let why = "the rule that makes them replicas is wrong, or a file is damaged";
        Error::new("replicas", format!("{said}; {why}"))
    }

    /// Returns the fingerprint of a box of the source.
    fn sum(&self, array: usize, number: u64) -> Result<Sent, Error> {
        let task = self.job.box_of(array, number).ok_or_else(|| absent("a box"))?;
        let mut worker = Worker::new(self.job, self.shared, self.limits)?;
        worker.share(&task)?;
        let mut data = Fingerprint::default();
        for part in self.job.parts(&task) {
            worker.gather(JobSide::Source, &part)?;
            data += worker.fingerprint(&part)?;
        }
        Ok(Sent::Sum(data))
    }
}

/// The buffers with which a part is made, and its elements that are looked up.
struct PartBuffers<'b, 'l> {
    mover: Mover,
    budget: &'b Budget,
    /// The bytes of a copy that are compared at once.
    copy: Option<Buffer>,
    lookups: Option<&'b mut Lookups<'l>>,
}

/// Returns the bytes of a part that are made again at once, beside buffers of this size.
fn again_at_once(buffers: u64) -> u64 {
    buffers.next_multiple_of(1 << 16)
}

/// Returns the most elements of a part that are looked up: their list takes at most a quarter of a buffer.
fn lookups_of_part(buffers: u64) -> usize {
    lookups::fitting(buffers / 4)
}

/// Copies the bytes at `at` that are in a range beginning at `start`.
fn overlay(out: &mut [u8], start: u64, bytes: &[u8], at: u64) {
    let skipped = start.saturating_sub(at) as usize;
    let from = at.saturating_sub(start) as usize;
    let Some((room, bytes)) = out.get_mut(from..).zip(bytes.get(skipped..)) else { return };
    let len = room.len().min(bytes.len());
    room[..len].copy_from_slice(&bytes[..len]);
}

#[cfg(test)]
mod tests {
    use super::overlay;

    #[test]
    fn bytes_are_copied_where_ranges_meet() {
        for (start, at) in (0..20u64).flat_map(|start| (0..20u64).map(move |at| (start, at))) {
            let (mut out, bytes) = ([0; 5], [1, 2, 3]);
            overlay(&mut out, start, &bytes, at);
            for (byte, place) in out.iter().zip(start..) {
                let expected = place.checked_sub(at).and_then(|i| bytes.get(i as usize));
                assert_eq!(*byte, expected.copied().unwrap_or(0), "{start} {at}");
            }
        }
    }
}
