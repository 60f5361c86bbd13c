//! An estimate of a job before it runs: its tasks, calls, files and plan, and the shares of workers. The program's
//! `simulate` prints it.

pub(crate) mod calls;
pub(crate) mod listing;

use crate::{
    Calls, Error, Job,
    plan::{self, target::File},
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
        let all = job.tasks();
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
