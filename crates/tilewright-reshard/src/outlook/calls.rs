//! Counts of the requests and bytes that tasks need, found without data by the functions that make the moves. A request
//! is a range of a file; a run splits long ones into [parts](crate::parts). Copies of boxes count as often as they are
//! compared. `outlook.rs` sums them up for a job.

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    ops::Range,
    sync::Arc,
};

use tilewright_core::TensorLayout;
use tilewright_transfer::{Step, reads, writes};

use crate::{
    Error, Job, Task,
    plan::array::{Meet, is_replica},
    run::{
        moves::{MoveError, about, plan},
        replicas::parts,
    },
};

/// The most distinct tasks that are counted.
const DISTINCT: u64 = 1 << 22;

/// The reads and writes of some tasks.
///
/// ```
/// use tilewright_reshard::{Job, Request};
/// let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
/// let job = Job::prepare(Request::new(path, "out")).unwrap();
/// let calls = job.calls(0..job.tasks()).unwrap();
/// assert_eq!((calls.tasks, calls.reads, calls.writes), (8, 8, 8));
/// assert_eq!((calls.read_bytes, calls.written), (job.bytes(), job.bytes()));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Calls {
    /// The number of tasks.
    pub tasks: u64,
    /// The bytes of their boxes, which they need of the source.
    pub bytes: u64,
    /// The number of ranges of files that are read, each by one or more calls.
    pub reads: u64,
    /// The bytes that these ranges contain: those needed, and gaps that cost less than another call.
    pub read_bytes: u64,
    /// The number of ranges of files that are written.
    pub writes: u64,
    /// The bytes that are written: each element once for every shard that holds it.
    pub written: u64,
    /// The largest number of files that one of the tasks reads and writes.
    pub files: u64,
}

impl Calls {
    /// Returns the sum of two counts.
    ///
    /// ```
    /// use tilewright_reshard::Calls;
    /// let one = Calls { tasks: 1, files: 3, ..Calls::default() };
    /// assert_eq!(one.and(one), Calls { tasks: 2, files: 3, ..Calls::default() });
    /// ```
    #[must_use]
    pub fn and(self, other: Calls) -> Calls {
        let files = self.files.max(other.files);
        Calls { files, ..self.zip(other, u64::saturating_add) }
    }

    /// Combines each number of two counts.
    pub(crate) fn zip(self, other: Calls, f: fn(u64, u64) -> u64) -> Calls {
        Calls {
            tasks: f(self.tasks, other.tasks),
            bytes: f(self.bytes, other.bytes),
            reads: f(self.reads, other.reads),
            read_bytes: f(self.read_bytes, other.read_bytes),
            writes: f(self.writes, other.writes),
            written: f(self.written, other.written),
            files: f(self.files, other.files),
        }
    }
}

impl Job {
    /// Returns the reads and writes of these tasks.
    ///
    /// # Errors
    /// The errors of moves: `unsupported` for layouts that the engine does not handle. `limit` for more than 2²²
    /// distinct tasks.
    ///
    /// ```
    /// use tilewright_reshard::{Job, Request, Rules};
    /// let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
    /// // Both positions hold all elements.
    /// let job = Job::prepare(Request::new(path, "out").to(Rules::new("dp=2").unwrap())).unwrap();
    /// let calls = job.calls(0..job.tasks()).unwrap();
    /// assert_eq!((calls.read_bytes, calls.written), (job.bytes(), 2 * job.bytes()));
    /// ```
    pub fn calls(&self, tasks: Range<u64>) -> Result<Calls, Error> {
        let mut all = Calls::default();
        self.each_calls(tasks, &mut |_, calls| all = all.and(calls))?;
        Ok(all)
    }

    /// Returns the reads and writes of a task part by part, found as a run finds them. Measurements of that use it.
    ///
    /// # Errors
    /// As [`Job::calls`]; `usage` for a number without a task.
    #[doc(hidden)]
    pub fn expand(&self, number: u64) -> Result<Calls, Error> {
        let task = self
            .task(number)
            .ok_or_else(|| Error::usage(format!("task {number} does not exist")))?;
        let mut parts = self.parts(&task);
        parts.try_fold(Calls::default(), |all, part| Ok(all.and(self.calls_of(&part)?)))
    }

    /// Calls a function with the reads and writes of each of these tasks. Arrays with equal pieces on both sides are
    /// counted once.
    ///
    /// # Errors
    /// The errors of moves; `limit` for more distinct tasks than are counted.
    pub(crate) fn each_calls(
        &self,
        tasks: Range<u64>,
        take: &mut dyn FnMut(u64, Calls),
    ) -> Result<(), Error> {
        let tasks = tasks.start..tasks.end.min(self.tasks());
        self.check_count(&tasks)?;
        let mut shared = HashMap::<_, u64>::new();
        self.cuts.iter().for_each(|cut| *shared.entry(Arc::as_ptr(cut)).or_default() += 1);
        let mut known = HashMap::<_, Calls>::new();
        for number in tasks {
            let Some((array, within)) = self.place(number) else { continue };
            let cut = self.cuts.get(array).map_or(std::ptr::null(), Arc::as_ptr);
            if let Some(calls) = known.get(&(cut, within)) {
                take(number, *calls);
                continue;
            }
            let Some(task) = self.task(number) else { continue };
            let calls = self.calls_of(&task)?;
            if shared.get(&cut).is_some_and(|arrays| *arrays > 1) {
                known.insert((cut, within), calls);
            }
            take(number, calls);
        }
        Ok(())
    }

    /// Returns an error for more distinct tasks than are counted.
    fn check_count(&self, tasks: &Range<u64>) -> Result<(), Error> {
        let all = tasks.end.saturating_sub(tasks.start);
        let mut seen = HashSet::new();
        let unlike = self.cuts.iter().filter(|cut| seen.insert(Arc::as_ptr(cut)));
        let distinct = unlike.fold(0u64, |sum, cut| sum.saturating_add(cut.count())).min(all);
        if distinct <= DISTINCT {
            return Ok(());
        }
        let said = format!("{distinct} of {all} tasks differ from each other, too many to count");
        Err(Error::new("limit", format!("{said}: legal are {DISTINCT}; give more memory")))
    }

    fn calls_of(&self, task: &Task) -> Result<Calls, Error> {
        let mut calls = Calls { tasks: 1, bytes: self.bytes_of(task), ..Calls::default() };
        let arrays = (self.source.arrays.get(task.array), self.output.arrays.get(task.array));
        let (Some(from), Some(to)) = arrays else { return Ok(calls) };
        let (size, most) = (TensorLayout::row_major(&task.extents)?, self.buffers());
        let about = |failed: MoveError| about(failed, &from.name);
        let (mut sources, mut results, mut first) = (BTreeSet::new(), BTreeSet::new(), None);
        let mut read = |layout: &TensorLayout, size: &TensorLayout, meet: &Meet, most: u64| {
            let plan = plan((layout, &meet.local), (size, &meet.within), meet, from.bits)?;
            reads(&plan, most, &mut |step| {
                let (count, bytes) = step.calls();
                calls.reads += count;
                calls.read_bytes += bytes;
                Ok::<(), MoveError>(())
            })
        };
        for (piece, stored, meet) in from.held.met(&task.start, &task.extents) {
            sources.insert(stored.file);
            let layout = &stored.laid.layout;
            if !first.replace(piece).is_some_and(|known| is_replica(known, piece)) {
                read(layout, &size, &meet, most).map_err(about)?;
                continue;
            }
            let most = self.compared_at_once();
            for part in parts(&meet, from.bits, most) {
                let size = TensorLayout::row_major(&part.extents)?;
                let part = Meet { within: vec![0; part.extents.len()], ..part };
                read(layout, &size, &part, most).map_err(about)?;
            }
        }
        for (stored, meet) in to.held.meets(&task.start, &task.extents) {
            results.insert(stored.file);
            let sides = ((&size, &*meet.within), (&stored.laid.layout, &*meet.local));
            let plan =
                plan(sides.0, sides.1, &meet, from.bits).map_err(|error| about(error.into()))?;
            let mut take = |step: Step<'_>| {
                let (count, bytes) = step.calls();
                calls.writes += count;
                calls.written += bytes;
                Ok(())
            };
            writes(&plan, most, &mut take).map_err(about)?;
        }
        calls.files = (sources.len() + results.len()) as u64;
        Ok(calls)
    }
}
