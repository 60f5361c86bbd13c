//! A job before it runs: an estimate of its tasks, calls, files and plan, and the shares of workers, which the program's `simulate`
//! prints; and a list of what it does, tensor by tensor, and of what it does not copy.
//!
//! The requests and bytes that tasks need are counted without data by the functions that make the moves. A request
//! is a range of a file; a run splits long ones into parts (`Job::parts`). Copies of boxes count as often as they are
//! compared.

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    ops::Range,
    sync::Arc,
};

use tilewright_core::{Counted, Dtype, TensorLayout};
use tilewright_transfer::{Step, reads, writes};

use crate::{
    Error, Job, Task,
    plan::{
        self,
        array::{Meet, is_replica},
        target::File,
    },
    run::moves::{self, MoveError, about, parts},
    source::{checkpoint::Checkpoint, numbers},
};

/// The number of files that a process may open by default on Linux and macOS.
const DESCRIPTORS: u64 = 256;

/// An estimate of a job.
///
/// ```
/// use tilewright_reshard::{Job, Outlook, Request};
/// let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
/// let job = Job::prepare(Request::new(path, "out")).unwrap();
/// let outlook = Outlook::of(&job, &[2, 100]).unwrap();
/// assert_eq!((outlook.calls.tasks, outlook.inputs, outlook.outputs), (8, 1, 1));
/// assert_eq!((outlook.workers[0].most.tasks, outlook.workers[1].idle), (4, 92));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outlook {
    /// The number of tensors.
    pub tensors: u64,
    /// The reads and writes of all tasks.
    pub calls: Calls,
    /// The maximum over all tasks of each number.
    pub task: Calls,
    /// The number of files of the source.
    pub inputs: u64,
    /// The bytes of the files of the source.
    pub bytes_in: u64,
    /// The number of files of the result.
    pub outputs: u64,
    /// The bytes of the files of the result.
    pub bytes_out: u64,
    /// The bytes of the largest file of the result.
    pub largest: u64,
    /// The bytes of the plan.
    pub plan: u64,
    /// The most bytes of buffers in one process.
    pub memory: u64,
    /// The approximate bytes of journals with entries for all tasks.
    pub journal: u64,
    /// The shares for each number of workers.
    pub workers: Vec<Workers>,
}

/// The shares of a number of workers.
///
/// ```
/// # use tilewright_reshard::{Job, Outlook, Request};
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
/// let job = Job::prepare(Request::new(path, "out")).unwrap();
/// let workers = &Outlook::of(&job, &[3]).unwrap().workers[0];
/// assert_eq!((workers.count, workers.least.tasks, workers.most.tasks), (3, 2, 3));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workers {
    /// The number of workers.
    pub count: u64,
    /// The minimum over all shares of each number.
    pub least: Calls,
    /// The maximum over all shares of each number.
    pub most: Calls,
    /// The number of workers without a task.
    pub idle: u64,
    /// The bytes of plans that all workers together read; each reads one.
    pub plans: u64,
    /// The number of checks of source files before tasks run, by all workers together.
    pub looks: u64,
    /// The number of result files that are opened before tasks run, by all workers together.
    pub opens: u64,
}

impl Outlook {
    /// Estimates a job for these numbers of workers.
    ///
    /// # Errors
    /// As [`Job::calls`].
    ///
    /// ```
    /// # use tilewright_reshard::{Job, Outlook, Request, Tensor};
    /// let tensors: Vec<Tensor> = (0..100).map(|n| Tensor::new(&format!("w{n}"), "BF16", &[64, 64])).collect();
    /// let job = Job::imagine(Request::new("in", "out"), &tensors).unwrap();
    /// assert_eq!(Outlook::of(&job, &[]).unwrap().calls.bytes, 100 * 64 * 64 * 2);
    /// ```
    pub fn of(job: &Job, workers: &[u64]) -> Result<Outlook, Error> {
        let all = job.boxes();
        let (mut calls, mut task) = (Calls::default(), Calls::default());
        let mut shares: Vec<Shares> = workers.iter().map(|count| Shares::new(*count)).collect();
        job.each_calls(0..all, &mut |number, its| {
            calls = calls.and(its);
            task = task.zip(its, u64::max);
            shares.iter_mut().for_each(|shares| shares.add(job, number, its));
        })?;
        let plan = plan::text(job)?.len() as u64;
        let (inputs, outputs) = (job.source.files.len() as u64, job.output.files.len() as u64);
        let looks = job.source.all_files().count() as u64;
        let bytes = |file: &File| file.bytes;
        Ok(Outlook {
            tensors: job.tensors() as u64,
            calls,
            task,
            inputs,
            bytes_in: job.source.files.iter().fold(0, |sum, file| sum.saturating_add(file.bytes)),
            outputs,
            bytes_out: job.written(),
            largest: job.output.files.iter().map(bytes).max().unwrap_or(0),
            plan,
            memory: task.bytes.saturating_add(job.beside_box()),
            journal: (0..all).fold(0, |sum, task| sum + promise(task)),
            workers: shares.into_iter().map(|it| it.end(plan, looks, outputs)).collect(),
        })
    }

    /// Describes the estimates that exceed limits of common systems; empty if none does.
    ///
    /// ```
    /// # use tilewright_reshard::{Job, Outlook, Request, Tensor};
    /// let job = Job::imagine(Request::new("in", "out"), &[Tensor::new("w", "BF16", &[64])]).unwrap();
    /// let outlook = Outlook::of(&job, &[1, 3]).unwrap();
    /// assert_eq!(outlook.limits(), ["3 workers: 2 are idle (tasks: 1); give less memory"]);
    /// ```
    pub fn limits(&self) -> Vec<String> {
        let mut said = Vec::new();
        if self.task.files > DESCRIPTORS {
            let files = self.task.files;
            said.push(format!(
                "a task opens {files} files; systems let a process open {DESCRIPTORS} or more"
            ));
        }
        if self.plan > 50_000_000 {
            said.push(format!("the plan has {} bytes, and every worker reads it", self.plan));
        }
        for workers in &self.workers {
            let (count, idle, tasks) = (workers.count, workers.idle, self.calls.tasks);
            if idle > 0 {
                said.push(format!(
                    "{count} workers: {idle} are idle (tasks: {tasks}); give less memory"
                ));
            } else if workers.most.bytes > workers.least.bytes.saturating_mul(2) {
                let (least, most) = (workers.least.bytes, workers.most.bytes);
                said.push(format!(
                    "{count} workers: shares have {least} to {most} bytes; give less memory"
                ));
            }
        }
        said
    }
}

/// Returns the bytes of a task in a journal: `[task,sum],` with a sum of ten digits.
fn promise(task: u64) -> u64 {
    u64::from(task.checked_ilog10().unwrap_or(0)) + 1 + 14
}

/// The shares of workers while tasks are counted in order.
struct Shares {
    workers: Workers,
    rank: u64,
    held: Calls,
}

impl Shares {
    fn new(count: u64) -> Shares {
        let count = count.max(1);
        let (least, most, zero) = (Calls::default(), Calls::default(), 0);
        let workers =
            Workers { count, least, most, idle: zero, plans: zero, looks: zero, opens: zero };
        Shares { workers, rank: 0, held: Calls::default() }
    }

    /// Adds a task, after closing all shares that end before it.
    fn add(&mut self, job: &Job, number: u64, calls: Calls) {
        while number >= job.share(self.rank, self.workers.count).end
            && self.rank < self.workers.count
        {
            self.close();
        }
        self.held = self.held.and(calls);
    }

    /// Closes the share of a worker.
    fn close(&mut self) {
        let held = std::mem::take(&mut self.held);
        let first = self.rank == 0;
        let workers = &mut self.workers;
        workers.idle += u64::from(held.tasks == 0);
        workers.least = if first { held } else { workers.least.zip(held, u64::min) };
        workers.most = workers.most.zip(held, u64::max);
        self.rank += 1;
    }

    fn end(mut self, plan: u64, looks: u64, outputs: u64) -> Workers {
        while self.rank < self.workers.count {
            self.close();
        }
        let count = self.workers.count;
        Workers {
            plans: count.saturating_mul(plan),
            looks: count.saturating_mul(looks),
            opens: count.saturating_mul(outputs),
            ..self.workers
        }
    }
}

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
    fn each_calls(&self, tasks: Range<u64>, take: &mut dyn FnMut(u64, Calls)) -> Result<(), Error> {
        let tasks = tasks.start..tasks.end.min(self.boxes());
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
            let plan = moves::plan((layout, &meet.local), (size, &meet.within), meet, from.bits)?;
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
            let plan = moves::plan(sides.0, sides.1, &meet, from.bits)
                .map_err(|error| about(error.into()))?;
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

/// The most tensors that a sentence names.
const NAMED: usize = 4;

/// The plan for one tensor.
///
/// ```
/// use tilewright_reshard::{Job, Request, Rules};
/// let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
/// let rules = Rules::new("tp=2").unwrap().rule("*.weight", "[Shard(0)]").unwrap();
/// let job = Job::prepare(Request::new(path, "out").to(rules)).unwrap();
/// let bias = job.planned().unwrap().remove(0);
/// assert_eq!((bias.name.as_str(), bias.pieces, bias.written), ("0.bias", [1, 2], 256));
/// assert_eq!((bias.from, bias.to), (String::new(), String::new()));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Planned {
    /// The name.
    pub name: String,
    /// The element type.
    pub dtype: Dtype,
    /// The extents of the whole tensor.
    pub extents: Vec<u64>,
    /// The bytes of its elements.
    pub bytes: u64,
    /// The bytes of further copies that are read and compared.
    pub compared: u64,
    /// The bytes of its elements in the result, copies included.
    pub written: u64,
    /// The number of boxes in the source and in the result, copies included.
    pub pieces: [usize; 2],
    /// The number of tasks.
    pub tasks: u64,
    /// The rule by which it is read, as it was written; empty if there is none.
    pub from: String,
    /// The rule by which it is written; empty if there is none.
    pub to: String,
}

impl Job {
    /// Returns the plan for each tensor.
    ///
    /// # Errors
    /// `usage` for a pattern that cannot be read.
    ///
    /// ```
    /// # use tilewright_reshard::{Job, Request};
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
    /// let planned = Job::prepare(Request::new(path, "out")).unwrap().planned().unwrap();
    /// assert!(planned.iter().all(|tensor| tensor.bytes == tensor.written && tensor.compared == 0));
    /// ```
    pub fn planned(&self) -> Result<Vec<Planned>, Error> {
        let pairs = self.source.arrays.iter().zip(&self.output.arrays).zip(&self.cuts);
        let planned = pairs.map(|((from, to), cut)| {
            let width = u64::from(from.bits / 8);
            let rule = |rules: &Option<crate::Rules>| match rules {
                Some(rules) => Ok::<_, Error>(rules.said(&from.name)?.to_owned()),
                None => Ok(String::new()),
            };
            Ok(Planned {
                name: from.name.to_string(),
                dtype: from.dtype,
                extents: from.shape().to_vec(),
                bytes: from.bytes(),
                compared: from.held.replicated().saturating_mul(width),
                written: from.bytes().saturating_add(to.held.replicated().saturating_mul(width)),
                pieces: [from.held.pieces.len(), to.held.pieces.len()],
                tasks: cut.count(),
                from: rule(&self.request.from)?,
                to: rule(&self.request.to)?,
            })
        });
        planned.collect()
    }

    /// Returns the bytes of copies that are read and compared with the copy that is moved.
    ///
    /// ```
    /// # use tilewright_reshard::{Job, Request};
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
    /// assert_eq!(Job::prepare(Request::new(path, "out")).unwrap().compared(), 0);
    /// ```
    pub fn compared(&self) -> u64 {
        let arrays = self.source.arrays.iter();
        let bytes =
            arrays.map(|array| array.held.replicated().saturating_mul(u64::from(array.bits / 8)));
        bytes.fold(0, u64::saturating_add)
    }

    /// Returns whether the result is compared with the source before it is visible: by the run of each task, or as a whole by
    /// a run of all tasks.
    ///
    /// ```
    /// # use tilewright_reshard::{Job, Request};
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
    /// assert!(Job::prepare(Request::new(path, "out").verify(true)).unwrap().is_verified());
    /// ```
    pub fn is_verified(&self) -> bool {
        self.request.verified
    }

    /// Returns whether the result is in an object store. A run compares its own parts there, before it sends them.
    ///
    /// ```
    /// # use tilewright_reshard::{Job, Request};
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
    /// assert!(!Job::prepare(Request::new(path, "out")).unwrap().is_in_store());
    /// ```
    pub fn is_in_store(&self) -> bool {
        self.parts_of_files.is_some()
    }

    /// Iterates over remarks about the source and the result, as sentences without a full stop: items that are not
    /// copied, changes to metadata, values of padding that are dropped, and folders of other runs next to the result.
    ///
    /// ```
    /// # use tilewright_reshard::{Job, Request};
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
    /// assert_eq!(Job::prepare(Request::new(path, "out")).unwrap().remarks().count(), 0);
    /// ```
    pub fn remarks(&self) -> impl Iterator<Item = String> {
        let left = self.source.beside.left.iter().cloned();
        let notes = self.output.notes.iter().cloned();
        left.chain(notes).chain(self.dropped()).chain(self.left_by_others())
    }

    /// Iterates over the tensors whose extents no file states, with the extents that their shards imply. If the last
    /// shard of a tensor is missing, these are too small, and nothing shows it.
    ///
    /// ```
    /// # use tilewright_reshard::{Job, Request};
    /// let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/sharded/dcp_hf/ckpt");
    /// let job = Job::prepare(Request::new(folder, "out")).unwrap();
    /// assert!(job.assumed().any(|(name, extents)| name == "even.S0S0" && extents == [16, 12]));
    /// ```
    pub fn assumed(&self) -> impl Iterator<Item = (&str, &[u64])> {
        self.source.assumed()
    }

    /// Describes the assumed extents in a sentence without a full stop, for a person who may know better; `None` if
    /// nothing is assumed, or if the request trusts the shards. [`Remedy::Extents`](tilewright_core::Remedy::Extents)
    /// is the remedy.
    ///
    /// ```
    /// # use tilewright_reshard::{Job, Request};
    /// let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/sharded/dcp_hf/ckpt");
    /// let request = Request::new(folder, "out");
    /// let said = Job::prepare(request.clone()).unwrap().assumption().unwrap();
    /// assert!(said.starts_with("nothing states the extents of 17 tensors, "), "{said}");
    /// assert_eq!(Job::prepare(request.trust_extents(true)).unwrap().assumption(), None);
    /// ```
    pub fn assumption(&self) -> Option<String> {
        if self.request.trusts_extents {
            return None;
        }
        self.source.assumption(self.request.from.is_some())
    }

    /// Iterates over the names of the other files that are copied to the result.
    ///
    /// ```
    /// # use tilewright_reshard::{Job, Request};
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
    /// assert_eq!(Job::prepare(Request::new(path, "out")).unwrap().companions().count(), 0);
    /// ```
    pub fn companions(&self) -> impl Iterator<Item = String> {
        self.source.beside.companions.iter().map(|path| crate::source::lists::shown(path))
    }
}

impl Checkpoint {
    /// Iterates over the arrays whose extents no file states, with their extents.
    fn assumed(&self) -> impl Iterator<Item = (&str, &[u64])> {
        let assumed = self.beside.assumed.iter().filter_map(|number| self.arrays.get(number));
        assumed.map(|array| (&*array.name, array.shape()))
    }

    /// Describes the assumed extents of files, which are those of a mesh if they are `ranked`.
    pub(crate) fn assumption(&self, ranked: bool) -> Option<String> {
        let count = self.assumed().count();
        if count == 0 {
            let said = "config.json states extents, but nothing lists all tensors; if a file is missing, its tensors go unnoticed";
            return self.beside.is_open.then(|| said.to_owned());
        }
        let named =
            self.assumed().take(NAMED).map(|(name, extents)| format!("{name:?} {extents:?}"));
        let mut named: Vec<String> = named.collect();
        named.extend((count > NAMED).then(|| format!("{} more", count - NAMED)));
        let (named, tensors) = (named.join(", "), Counted(count as u64, "tensor"));
        let said = format!(
            "nothing states the extents of {tensors}, so they are taken to end with the last shard"
        );
        let which = match ranked.then(|| self.before_first()).flatten() {
            Some(first) => {
                format!("A first shard file that is missing ({first}), or a last one, makes")
            }
            None => "A last shard file that is missing makes".to_owned(),
        };
        Some(format!("{said}: {named}. {which} them smaller"))
    }

    /// Returns the name of a rank's file before the first, if one may be missing. Torch's files begin at 1.
    fn before_first(&self) -> Option<String> {
        let files: Vec<_> = self.files.iter().map(|file| file.path.clone()).collect();
        numbers::before_first(&files)
    }
}
