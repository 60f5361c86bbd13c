//! Runs tasks in batches: after each batch it syncs the files, then appends a line to the journal. Threads of one process
//! share tasks and a table of files, which are opened when they are needed; each has its own buffers and journal, as a process has.

pub(crate) mod dropped;
pub(crate) mod handle;
pub(crate) mod lookups;
pub(crate) mod moves;
pub(crate) mod parts;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::OpenOptions,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use crc32fast::Hasher as Crc;
use tilewright_files::{
    Fingerprint, Watch, disk,
    inner::{Readable, is_url},
};
use tilewright_transfer::{Budget, Limits, together};

use crate::{
    Error, Job, Task,
    commit::journal::{Journal, Promise, promises},
    error,
    plan::{
        array::{ReshardedArray, is_replica, size},
        parts::Sent,
        target::Patches,
    },
    run::{
        handle::Handle,
        moves::{BoxBuffer, MoveError, Replica},
    },
    source::{
        identity::{Identity, opened},
        lists::shown,
    },
};

/// A line of the journal covers tasks of about this many times the memory, at most [`MOST`] bytes.
const BATCH: u64 = 8;

/// The bytes of tasks after which a line of the journal is written.
const MOST: u64 = 512 << 20;

impl Job {
    /// Runs those of these tasks that are not done, as the process `who`.
    ///
    /// # Errors
    /// `exists` if the result exists already, `busy` if another job holds its name, `replicas` if copies of one box
    /// differ, `padding` if values other than 0 would be dropped, `corrupt` if the data that were written differ from those that were read, `io`, `changed`, `cancelled`
    /// if `watch` requests it, `usage` for a number without a task.
    ///
    /// ```
    /// # use tilewright_reshard::{Job, Request};
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
    /// let folder = tempfile::tempdir().unwrap();
    /// let job = Job::prepare(Request::new(path, folder.path().join("out"))).unwrap();
    /// assert_eq!(job.run(job.share(0, 2), "rank-0", &()).unwrap(), 4);
    /// assert_eq!(job.run(0..8, "rank-1", &()).unwrap(), 4);
    /// ```
    pub fn run(
        &self,
        tasks: impl IntoIterator<Item = u64>,
        who: &str,
        watch: &dyn Watch,
    ) -> Result<u64, Error> {
        let limits = self.limits(watch, 1);
        let _claim = self.claim(who, false)?;
        self.check_sums(watch)?;
        self.check_padding(&limits)?;
        self.work(tasks, who, &RunState::new(self), &limits).map_err(|error| self.leaving(error))
    }

    /// Returns the limits of a run.
    pub(crate) fn limits<'w>(&self, watch: &'w dyn Watch, threads: usize) -> Limits<'w> {
        Limits::new(watch, self.request.memory, threads.max(1))
    }

    /// Runs tasks in one thread of a process that holds the claim. The limits are those of all its threads.
    pub(crate) fn work(
        &self,
        tasks: impl IntoIterator<Item = u64>,
        who: &str,
        shared: &RunState,
        limits: &Limits<'_>,
    ) -> Result<u64, Error> {
        let tasks: BTreeSet<u64> = tasks.into_iter().collect();
        if let Some(last) = tasks.last().filter(|last| **last >= self.tasks()) {
            let said = format!("task {last} does not exist: task numbers are below");
            return Err(Error::usage(format!("{said} {}", self.tasks())));
        }
        if let Some(parts) = &self.parts_of_files {
            return self.work_parts(parts, (&tasks, who), shared, limits);
        }
        let Some(done) = self.lay_out()? else { return Ok(0) };
        let todo: BTreeSet<u64> = tasks
            .into_iter()
            .filter(|task| !done.contains_key(task) || shared.again.contains(task))
            .collect();
        let bytes = |task: &u64| self.task(*task).map_or(0, |task| self.bytes_of(&task));
        let watch = limits.watch();
        watch.total(todo.iter().map(bytes).fold(0, u64::saturating_add));
        if todo.is_empty() {
            return Ok(0);
        }
        let mut journal = Journal::create(&self.journals(), who)?;
        let mut worker = Worker::new(self, shared, limits)?;
        let (mut batch, mut held) = (Vec::new(), 0);
        for number in &todo {
            if watch.cancelled() {
                return Err(Error::new("cancelled", "cancelled; finished work is kept"));
            }
            let Some(task) = self.task(*number) else { continue };
            batch.push(worker.run(*number, &task)?);
            held += self.bytes_of(&task);
            watch.advance(self.bytes_of(&task));
            if held >= self.request.memory.saturating_mul(BATCH).min(MOST) {
                self.promise(&mut worker, &mut journal, &mut batch)?;
                held = 0;
            }
        }
        self.promise(&mut worker, &mut journal, &mut batch)?;
        self.check_sources()?;
        Ok(todo.len() as u64)
    }

    /// Runs all tasks that are not done, and makes the result visible.
    ///
    /// # Errors
    /// As [`Job::run`] and [`Job::finish`].
    ///
    /// ```
    /// # use tilewright_reshard::{Job, Request};
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
    /// let folder = tempfile::tempdir().unwrap();
    /// let job = Job::prepare(Request::new(path, folder.path().join("out"))).unwrap();
    /// assert_eq!(job.run_all(&()).unwrap(), 8);
    /// assert_eq!(job.run_all(&()).unwrap_err().kind(), "exists");
    /// ```
    pub fn run_all(&self, watch: &(dyn Watch + Sync)) -> Result<u64, Error> {
        self.run_all_threads(1, watch)
    }

    /// Runs all tasks in several threads, which share the request's memory, and makes the result visible. If the request
    /// asks for verification, this run compares all tasks: it begins with those of earlier runs, and repeats those that differ.
    ///
    /// # Errors
    /// As [`Job::run_all`].
    ///
    /// ```
    /// # use tilewright_reshard::{Job, Request};
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
    /// let folder = tempfile::tempdir().unwrap();
    /// let job = Job::prepare(Request::new(path, folder.path().join("out"))).unwrap();
    /// assert_eq!(job.run_all_threads(3, &()).unwrap(), 8);
    /// ```
    pub fn run_all_threads(
        &self,
        threads: usize,
        watch: &(dyn Watch + Sync),
    ) -> Result<u64, Error> {
        let _claim = self.claim("a run of all tasks", true)?;
        self.check_sums(watch)?;
        self.check_padding(&self.limits(watch, 1))?;
        let all = Together::new(watch);
        self.all_run(threads, &all).map_err(|error| self.leaving(error))
    }

    /// Runs all tasks for a caller that holds the claim.
    fn all_run(&self, threads: usize, all: &Together<'_>) -> Result<u64, Error> {
        let (mut compares, mut again) = (None, BTreeSet::new());
        if self.request.verified && self.parts_of_files.is_none() {
            match self.lay_out()? {
                Some(done) => {
                    let earlier: Vec<u64> = done.into_keys().collect();
                    again =
                        self.differing(&self.data(), &earlier, threads, all)?.into_keys().collect();
                }
                // All files are complete, and only the last rename is missing: no task can be repeated.
                None => compares = Some(threads),
            }
        }
        let shared = RunState { again, ..RunState::new(self) };
        let tasks: Vec<u64> = (0..self.tasks()).collect();
        let done = self.work_threads(&tasks, (threads, "all"), &shared, all)?;
        self.complete(compares, all)?;
        Ok(done)
    }

    /// Runs those of these tasks that are not done in several threads, which share the request's memory.
    ///
    /// # Errors
    /// As [`Job::run`]; if one thread fails, the others stop after their current task.
    ///
    /// ```
    /// # use tilewright_reshard::{Job, Request};
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
    /// let folder = tempfile::tempdir().unwrap();
    /// let job = Job::prepare(Request::new(path, folder.path().join("out"))).unwrap();
    /// assert_eq!(job.run_threads(&[7, 0, 3], 2, "one", &()).unwrap(), 3);
    /// assert_eq!(job.missing().unwrap(), [1, 2, 4, 5, 6]);
    /// ```
    pub fn run_threads(
        &self,
        tasks: &[u64],
        threads: usize,
        who: &str,
        watch: &(dyn Watch + Sync),
    ) -> Result<u64, Error> {
        let _claim = self.claim(who, false)?;
        self.check_sums(watch)?;
        self.check_padding(&self.limits(watch, 1))?;
        let (shared, all) = (RunState::new(self), Together::new(watch));
        let done = self.work_threads(tasks, (threads, who), &shared, &all);
        done.map_err(|error| self.leaving(error))
    }

    /// Compares the checksums of an archive, such as `.npz`, before its data are used. All files of a source have one format.
    /// Listed boxes are in plain files, which are without checksums.
    fn check_sums(&self, watch: &dyn Watch) -> Result<(), Error> {
        let Some(first) = self.source.files.first() else { return Ok(()) };
        match opened(&first.path) {
            Ok(first) if first.is_summed() => opened(&self.request.input)?.check_sums(watch),
            Ok(_) | Err(_) => Ok(()),
        }
    }

    /// Runs tasks in several threads of a process that holds the claim.
    fn work_threads(
        &self,
        tasks: &[u64],
        (threads, who): (usize, &str),
        shared: &RunState,
        all: &Together<'_>,
    ) -> Result<u64, Error> {
        self.in_threads(tasks, threads, all, &|tasks, limits| {
            self.work(tasks.iter().copied(), who, shared, limits)
        })
    }

    /// Divides tasks among threads, which share the request's memory, and adds up what they return.
    fn in_threads(
        &self,
        tasks: &[u64],
        threads: usize,
        all: &Together<'_>,
        run: RunShare<'_>,
    ) -> Result<u64, Error> {
        let threads = self.senders(threads).clamp(1, tasks.len().max(1));
        let limits = self.limits(all, threads);
        if threads == 1 {
            return run(tasks, &limits);
        }
        let budget = limits.budget().clone();
        let share = |tasks: &[u64]| {
            let done = run(tasks, &Limits::within(all, budget.clone(), threads));
            all.failed.fetch_or(done.is_err(), Ordering::Relaxed);
            done
        };
        let shares: Vec<&[u64]> = tasks.chunks(tasks.len().div_ceil(threads)).collect();
        let mut ends =
            together(shares.len(), |number| share(shares.get(number).unwrap_or(&&[][..])));
        // The returned error is the one that stopped the other threads.
        let of = |end: &Result<u64, Error>| match end {
            Err(error) if error.kind() != "cancelled" => 0,
            Err(_) => 1,
            Ok(_) => 2,
        };
        ends.sort_by_key(of);
        ends.into_iter().try_fold(0, |sum, end| Ok(sum + end?))
    }

    /// Compares tasks of the files in a folder with the data that were read for them, and returns the errors of those that differ,
    /// whatever the number of threads.
    pub(crate) fn differing(
        &self,
        folder: &Path,
        tasks: &[u64],
        threads: usize,
        all: &Together<'_>,
    ) -> Result<BTreeMap<u64, Error>, Error> {
        let (promises, shared) = (promises(&self.journals())?, RunState::in_folder(self, folder));
        let found = Mutex::new(BTreeMap::new());
        let compare = |tasks: &[u64], limits: &Limits<'_>| {
            let bytes = |task: &u64| self.task(*task).map_or(0, |task| self.bytes_of(&task));
            let watch = limits.watch();
            watch.total(tasks.iter().map(bytes).fold(0, u64::saturating_add));
            let mut worker = Worker::new(self, &shared, limits)?;
            for task in tasks {
                if watch.cancelled() {
                    return Err(Error::new("cancelled", "cancelled; finished work is kept"));
                }
                let compared = match promises.get(task) {
                    Some(promise) => worker.verify(promise),
                    // The journal of a whole result may be removed already.
                    None => worker.verify_again(*task),
                };
                match compared {
                    Err(error) if error.kind() == "corrupt" => {
                        let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
                        found.insert(*task, error);
                    }
                    compared => compared?,
                }
                watch.advance(bytes(task));
            }
            worker.release()?;
            Ok(tasks.len() as u64)
        };
        if !tasks.is_empty() {
            self.in_threads(tasks, threads, all, &compare)?;
        }
        Ok(found.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    /// Syncs the data of a batch, verifies them if requested, and then writes the line of the journal.
    fn promise(
        &self,
        worker: &mut Worker<'_>,
        journal: &mut Journal,
        batch: &mut Vec<Promise>,
    ) -> Result<(), Error> {
        worker.release()?;
        worker.sync()?;
        if self.request.verified {
            batch.iter().try_for_each(|promise| worker.verify(promise))?;
        }
        let failed = |cause| error::io(&self.journals(), "write a journal in", &cause);
        if !batch.is_empty() {
            self.check_local_sources()?;
            journal.promise(batch).map_err(failed)?;
        }
        batch.clear();
        Ok(())
    }

    /// Returns the most bytes of each of the two buffers of a move.
    pub(crate) fn buffers(&self) -> u64 {
        buffers_in(self.request.memory)
    }

    /// Returns the most bytes of a copy that are compared at once.
    pub(crate) fn compared_at_once(&self) -> u64 {
        self.buffers() / 2
    }

    /// Returns the most bytes of all buffers other than the box: two, and four more if copies are compared.
    pub(crate) fn beside_box(&self) -> u64 {
        let replicated =
            |arrays: &[ReshardedArray]| arrays.iter().any(|it| it.held.replicated() > 0);
        // A run or the last step may compare the result before it is visible.
        let compares = replicated(&self.output.arrays) || replicated(&self.source.arrays);
        let compared = if compares { 4 * self.compared_at_once() } else { 0 };
        2 * self.buffers() + compared
    }

    /// Returns the bytes of the box of a task.
    pub(crate) fn bytes_of(&self, task: &Task) -> u64 {
        let bits = self.source.arrays.get(task.array).map_or(0, |array| array.bits);
        size(&task.extents).saturating_mul(u64::from(bits / 8))
    }
}

/// Returns the most bytes of each of the two buffers of a move within this memory.
pub(crate) fn buffers_in(memory: u64) -> u64 {
    (memory / 8).clamp(8 << 10, 8 << 20)
}

/// Runs or compares some tasks in one thread, within limits of its own, and returns their number.
type RunShare<'r> = &'r (dyn Fn(&[u64], &Limits<'_>) -> Result<u64, Error> + Sync);

/// A watch that all threads share: it adds up their bytes, and stops all if one of them fails.
pub(crate) struct Together<'w> {
    watch: &'w (dyn Watch + Sync),
    total: Mutex<u64>,
    failed: AtomicBool,
}

impl<'w> Together<'w> {
    pub(crate) fn new(watch: &'w (dyn Watch + Sync)) -> Together<'w> {
        Together { watch, total: Mutex::new(0), failed: AtomicBool::new(false) }
    }
}

impl Watch for Together<'_> {
    fn total(&self, bytes: u64) {
        // The lock keeps totals in order: a smaller total that arrives later would be exceeded by the progress.
        let mut total = self.total.lock().unwrap_or_else(PoisonError::into_inner);
        *total = total.saturating_add(bytes);
        self.watch.total(*total);
    }

    fn advance(&self, bytes: u64) {
        self.watch.advance(bytes);
    }

    fn cancelled(&self) -> bool {
        self.failed.load(Ordering::Relaxed) || self.watch.cancelled()
    }
}

/// One side of a job.
#[derive(Clone, Copy, PartialEq, Eq)]
enum JobSide {
    Source,
    Result,
}

/// The open files that the threads of a run share.
pub(crate) struct RunState {
    /// Tasks that journals name, and whose results differ from the source.
    again: BTreeSet<u64>,
    reads: FileTable,
    writes: FileTable,
    /// The names of the uploads of a result in a store.
    uploads: Mutex<Option<Arc<Vec<String>>>>,
    /// The bytes of its files that belong to no tensor, without fingerprints.
    patches: Mutex<Option<Arc<Vec<Patches>>>>,
    /// The tasks of a result in a store that were done before this run.
    sent: Mutex<Option<Arc<BTreeMap<u64, Sent>>>>,
}

impl RunState {
    pub(crate) fn new(job: &Job) -> RunState {
        RunState::in_folder(job, &job.data())
    }

    /// Returns the files of a run whose result is in this folder.
    fn in_folder(job: &Job, data: &Path) -> RunState {
        let writes = job.output.files.iter().map(|file| data.join(&file.name)).collect();
        let (reads, writes) = (FileTable::of(&job.source.files), FileTable::new(writes));
        let (again, uploads, patches, sent) = Default::default();
        RunState { again, reads, writes, uploads, patches, sent }
    }

    /// Returns the names of the uploads of a result in a store.
    fn uploads(&self, job: &Job) -> Result<Arc<Vec<String>>, Error> {
        once(&self.uploads, || job.uploads())
    }

    /// Returns the tasks of a result in a store that were done before this run.
    fn sent(&self, job: &Job) -> Result<Arc<BTreeMap<u64, Sent>>, Error> {
        once(&self.sent, || job.sent())
    }

    /// Returns the bytes of files that belong to no tensor, without fingerprints.
    fn patches(&self, job: &Job) -> Result<Arc<Vec<Patches>>, Error> {
        once(&self.patches, || job.output.patches(&|_| None))
    }
}

/// Returns a value that the first thread makes.
fn once<T>(
    known: &Mutex<Option<Arc<T>>>,
    make: impl FnOnce() -> Result<T, Error>,
) -> Result<Arc<T>, Error> {
    let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(value) = &*known {
        return Ok(value.clone());
    }
    Ok(known.insert(Arc::new(make()?)).clone())
}

/// A worker that runs tasks one after another: its buffers, and the files that it has written to.
struct Worker<'j> {
    job: &'j Job,
    shared: &'j RunState,
    limits: &'j Limits<'j>,
    room: BoxBuffer,
    replica: Replica,
    written: BTreeSet<usize>,
}

impl<'j> Worker<'j> {
    fn new(
        job: &'j Job,
        shared: &'j RunState,
        limits: &'j Limits<'j>,
    ) -> Result<Worker<'j>, Error> {
        let (room, replica) = rooms(job, limits.budget())?;
        Ok(Worker { job, shared, limits, room, replica, written: BTreeSet::new() })
    }

    /// Takes the memory of a task if threads share it; the buffers of the previous task are returned first.
    fn share(&mut self, task: &Task) -> Result<(), Error> {
        if self.limits.threads() > 1 {
            let part = self.job.parts(task).map(|part| self.job.bytes_of(&part)).max();
            let needed = part.unwrap_or(0).saturating_add(self.job.beside_box());
            self.release()?;
            (self.room, self.replica) = rooms(self.job, &self.limits.budget().share(needed))?;
        }
        Ok(())
    }

    /// Releases the memory of the last task, so that other threads can take it.
    fn release(&mut self) -> Result<(), Error> {
        if self.limits.threads() > 1 {
            (self.room, self.replica) = rooms(self.job, &Budget::new(0))?;
        }
        Ok(())
    }

    /// Syncs the written files to the disk.
    fn sync(&mut self) -> Result<(), Error> {
        self.shared.writes.sync(&mut self.written)
    }

    /// Runs a task part by part, and returns its journal entry, which holds once the data are on the disk.
    fn run(&mut self, number: u64, task: &Task) -> Result<Promise, Error> {
        self.share(task)?;
        let (mut sum, mut data) =
            (Crc::new(), self.job.sums(task.array).then(Fingerprint::default));
        for part in self.job.parts(task) {
            self.gather(JobSide::Source, &part)?;
            let to = self.job.output.arrays.get(task.array);
            let to = to.ok_or_else(|| absent(&task.tensor))?;
            self.scatter(to, &part)?;
            sum.update(self.room.bytes());
            if let Some(data) = &mut data {
                *data += self.fingerprint(&part)?;
            }
        }
        Ok(Promise { task: number, sum: sum.finalize(), data })
    }

    /// Returns the fingerprint of the box, which is that of this task.
    fn fingerprint(&self, task: &Task) -> Result<Fingerprint, Error> {
        let array = self.job.output.arrays.get(task.array).ok_or_else(|| absent(&task.tensor))?;
        let place = (&*task.start, &*task.extents);
        let own = moves::of_box(place, (array.dtype, array.bits), self.room.bytes());
        own.map_err(|error| error.about(&format!("tensor {:?}", task.tensor)))
    }

    /// Writes the box to every file with a piece that intersects it.
    fn scatter(&mut self, to: &ReshardedArray, task: &Task) -> Result<(), Error> {
        for (stored, meet) in to.held.meets(&task.start, &task.extents) {
            let at = self.job.output.places.at(stored.file, task.array);
            let at = at.ok_or_else(|| absent(&task.tensor))?;
            let (file, path) = self.shared.writes.open(stored.file)?;
            self.written.insert(stored.file);
            let step = disk::step("write of a piece").map_err(MoveError::Place);
            let written =
                step.and_then(|()| self.room.write(&file, (&stored.laid.layout, at), &meet));
            written.map_err(|failed| failure(failed, "write", path, &task.tensor))?;
        }
        Ok(())
    }

    /// Returns an error if the result differs from the data that were read.
    fn verify(&mut self, promise: &Promise) -> Result<(), Error> {
        let Some(task) = self.job.task(promise.task) else { return Ok(()) };
        if self.sum(JobSide::Result, &task)? == promise.sum {
            return Ok(());
        }
        let (tensor, start, extents) = (&task.tensor, &task.start, &task.extents);
        let said = format!("tensor {tensor:?} from {start:?} on {extents:?}");
        Err(Error::new("corrupt", format!("{said}: the result differs from the source")))
    }

    /// Returns an error if the result of a task differs from its source, which is read once more.
    fn verify_again(&mut self, number: u64) -> Result<(), Error> {
        let Some(task) = self.job.task(number) else { return Ok(()) };
        let sum = self.sum(JobSide::Source, &task)?;
        self.verify(&Promise { task: number, sum, data: None })
    }

    /// Returns the sum of the box of a task on one side.
    fn sum(&mut self, side: JobSide, task: &Task) -> Result<u32, Error> {
        self.share(task)?;
        let mut sum = Crc::new();
        for part in self.job.parts(task) {
            self.gather(side, &part)?;
            sum.update(self.room.bytes());
        }
        Ok(sum.finalize())
    }

    /// Reads the box of a task from one side. Further copies of a piece are compared with the first.
    fn gather(&mut self, side: JobSide, task: &Task) -> Result<(), Error> {
        let Worker { job, shared, room, replica, .. } = self;
        let (arrays, places, files) = match side {
            JobSide::Source => (&job.source.arrays, &job.source.places, &shared.reads),
            JobSide::Result => (&job.output.arrays, &job.output.places, &shared.writes),
        };
        let array = arrays.get(task.array).ok_or_else(|| absent(&task.tensor))?;
        let begun = room.begin(&task.extents, array.bits, job.bytes_of(task));
        begun.map_err(|failed| moves::about(failed, &array.name))?;
        let mut first = None;
        for (piece, stored, meet) in array.held.met(&task.start, &task.extents) {
            let at = places.at(stored.file, task.array).ok_or_else(|| absent(&task.tensor))?;
            let from = (&stored.laid.layout, at);
            let (file, path) = files.open(stored.file)?;
            let failed = |failed| failure(failed, "read", path, &array.name);
            let other = match first {
                Some((known, other)) if is_replica(known, piece) => other,
                _ => {
                    room.read(&file, from, &meet).map_err(failed)?;
                    first = Some((piece, stored.file));
                    continue;
                }
            };
            if let Some(index) = replica.difference(room, &file, from, &meet).map_err(failed)? {
                let index = index.iter().zip(&task.start).map(|(at, from)| at + from).collect();
                let names = [files.name(other), files.name(stored.file)];
                return Err(differ(side, task, index, names));
            }
        }
        let stored = array.held.stored.first();
        room.reverse(stored.map_or(1, |stored| stored.laid.reversed()));
        Ok(())
    }
}

/// Returns the error for a job from a plan that names a file for a tensor without an offset in it.
fn absent(tensor: &str) -> Error {
    Error::new("corrupt", format!("tensor {tensor:?}: it is missing in a file of the job"))
}

/// Returns the error for two files with different elements in copies of one box.
fn differ(side: JobSide, task: &Task, index: Vec<u64>, files: [String; 2]) -> Error {
    let [first, second] = files;
    let said = format!("tensor {:?}: {first} and {second} hold the same box", task.tensor);
    let said = format!("{said}, but they differ, first at {index:?}");
    match side {
        JobSide::Source => {
            let why = "the rule that makes them replicas is wrong, or a file is damaged";
            Error::new("replicas", format!("{said}; {why}"))
        }
        JobSide::Result => {
            Error::new("corrupt", format!("{said}; both were written from the same box"))
        }
    }
}

/// Makes a box, and the buffers for the comparison of copies.
fn rooms(job: &Job, budget: &Budget) -> Result<(BoxBuffer, Replica), Error> {
    Ok((BoxBuffer::new(budget, job.buffers())?, Replica::new(budget, job.compared_at_once())?))
}

/// Returns the error of a move that reads or writes a file.
fn failure(failed: MoveError, doing: &str, path: &Path, tensor: &str) -> Error {
    match failed {
        // A store reports its own error.
        MoveError::Place(cause) => match cause.downcast::<Error>() {
            Ok(error) => error,
            Err(cause) => error::io(path, doing, &cause),
        },
        other @ (MoveError::Program(_) | MoveError::Memory(_) | MoveError::Outside { .. }) => {
            moves::about(other, tensor)
        }
    }
}

/// The most files of a table that are open at a time.
const OPEN: usize = 256;

/// The files of one side, by their numbers. Reads and writes are positional, so threads share a file.
pub(crate) struct FileTable {
    paths: Vec<PathBuf>,
    /// The files as they were when the job was made; none for files that are written.
    known: Vec<Identity>,
    open: Mutex<BTreeMap<usize, Arc<Handle>>>,
}

impl FileTable {
    /// Returns the table of files that are written.
    pub(crate) fn new(paths: Vec<PathBuf>) -> FileTable {
        FileTable { paths, known: Vec::new(), open: Mutex::default() }
    }

    /// Returns the table of files that are read; each is compared with what is known of it whenever it is opened.
    pub(crate) fn of(known: &[Identity]) -> FileTable {
        let paths = known.iter().map(|file| file.path.clone()).collect();
        FileTable { known: known.to_vec(), ..FileTable::new(paths) }
    }

    /// Returns the name of a file, without its folder.
    pub(crate) fn name(&self, number: usize) -> String {
        self.paths.get(number).map_or_else(String::new, |path| shown(path))
    }

    /// Returns a file, and opens it if necessary. If too many are open, the table drops another one, which closes after
    /// its last use.
    pub(crate) fn open(&self, number: usize) -> Result<(Arc<Handle>, &Path), Error> {
        let path = self.paths.get(number).ok_or_else(|| Error::new("io", "no such file"))?;
        let mut open = self.open.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some(file) = open.get(&number) {
            return Ok((file.clone(), path));
        }
        if open.len() >= OPEN {
            open.pop_first();
        }
        let file = Arc::new(match is_url(path) {
            true => Handle::Object(Readable::open(path)?),
            false => {
                let written = self.known.is_empty();
                let file = OpenOptions::new().read(true).write(written).open(path);
                Handle::File(file.map_err(|cause| error::io(path, "open", &cause))?)
            }
        });
        self.known.get(number).map_or(Ok(()), |known| known.check_open(&file))?;
        open.insert(number, file.clone());
        Ok((file, path))
    }

    /// Syncs these files to the disk. This includes writes through other handles, even closed ones.
    pub(crate) fn sync(&self, numbers: &mut BTreeSet<usize>) -> Result<(), Error> {
        for number in std::mem::take(numbers) {
            let (file, path) = self.open(number)?;
            if let Handle::File(file) = &*file {
                disk::sync_data(file).map_err(|cause| error::io(path, "sync", &cause))?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Outlook, Request, Rules};

    /// Buffers stay within the memory, for all sides and layouts, also with the least that is accepted.
    #[test]
    fn memory_is_bounded() {
        let folder = tilewright_testing::folder();
        let (rows, columns) = (tilewright_testing::cases(1531u64, 1021), 700u64);
        let header = format!(
            "{{\"w\":{{\"dtype\":\"BF16\",\"shape\":[{rows},{columns}],\"data_offsets\":[0,{}]}}}}",
            rows * columns * 2
        );
        let length = (header.len() as u64).to_le_bytes();
        let data = vec![7; (rows * columns * 2) as usize];
        let input = folder.path().join("in.safetensors");
        std::fs::write(&input, [&length[..], header.as_bytes(), &data].concat()).unwrap();
        let sides = [
            ("tp=8", "[Shard(1)]", None),
            ("tp=3", "[_StridedShard(0, sf=2)]", Some("zN")),
            ("tp=2", "[Shard(0)]", Some("col-major")),
            ("one=1", "P()", Some("col-major")),
            ("dp=2,tp=2", "[Shard(0), Replicate()]", Some("col-major")),
        ];
        for (number, (mesh, rule, layout)) in sides.into_iter().enumerate() {
            for memory in [64 << 10, 200 << 10, 1 << 20, 3 << 20] {
                let out = folder.path().join(format!("{number}-{memory}"));
                let rules = Rules::new(mesh).unwrap().rule("*", rule).unwrap();
                let request = Request::new(&input, &out).to(rules).memory(memory).verify(true);
                let request = match layout {
                    Some(spec) => request.layout(spec),
                    None => request,
                };
                let job = Job::prepare(request).unwrap();
                job.lay_out().unwrap();
                let (shared, limits) = (RunState::new(&job), job.limits(&(), 1));
                let mut worker = Worker::new(&job, &shared, &limits).unwrap();
                for task in 0..job.tasks() {
                    let promise = worker.run(task, &job.task(task).unwrap()).unwrap();
                    worker.verify(&promise).unwrap();
                }
                let held = limits.budget().peak();
                let said = Outlook::of(&job, &[]).unwrap().memory;
                assert!(held <= said && said <= memory, "{held} and {said} of {memory}: {mesh}");
                assert!(
                    held <= memory && held >= memory / 4,
                    "{held} of {memory}: {mesh} {layout:?}"
                );
            }
        }
    }

    /// Records totals, with a pause in which another thread could overtake.
    struct Seen(Mutex<Vec<u64>>);

    impl Watch for Seen {
        fn total(&self, bytes: u64) {
            std::thread::yield_now();
            self.0.lock().unwrap().push(bytes);
        }
    }

    #[test]
    fn totals_are_said_in_their_order() {
        let seen = Seen(Mutex::new(Vec::new()));
        let together = Together::new(&seen);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| (0..200).for_each(|_| together.total(3)));
            }
        });
        let expected: Vec<u64> = (1..=1600).map(|n| 3 * n).collect();
        assert_eq!(*seen.0.lock().unwrap(), expected);
    }

    /// Three hundred files are written in turns, and 256 of them are open.
    #[test]
    fn few_files_are_open() {
        let folder = tilewright_testing::folder();
        let paths: Vec<PathBuf> = (0..300).map(|n| folder.path().join(n.to_string())).collect();
        paths.iter().for_each(|path| std::fs::write(path, [0; 2]).unwrap());
        let (table, mut written) = (FileTable::new(paths.clone()), BTreeSet::new());
        for turn in 0..2u8 {
            for number in 0..paths.len() {
                let (file, _) = table.open(number).unwrap();
                file.write(&[number as u8], turn.into()).unwrap();
                written.insert(number);
                assert!(table.open.lock().unwrap().len() <= OPEN);
            }
        }
        table.sync(&mut written).unwrap();
        assert!(written.is_empty());
        for (number, path) in paths.iter().enumerate() {
            assert_eq!(std::fs::read(path).unwrap(), [number as u8; 2]);
        }
        assert!(table.open(300).is_err() && table.name(7) == "7");
    }

    /// A source that was replaced is found when it is opened again.
    #[test]
    fn files_are_compared_when_they_are_opened() {
        let folder = tilewright_testing::folder();
        let path = folder.path().join("a");
        std::fs::write(&path, [1; 4]).unwrap();
        let known = [Identity::of(&path, 0).unwrap()];
        assert!(FileTable::of(&known).open(0).is_ok());
        std::fs::write(&path, [2; 5]).unwrap();
        let table = FileTable::of(&known);
        let error = table.open(0).unwrap_err();
        assert_eq!(error.kind(), "changed", "{error}");
        assert!(table.open.lock().unwrap().is_empty());
    }
}
