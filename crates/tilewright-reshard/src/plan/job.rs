//! [`Job`]: a request with its sources opened, split into tasks.
//!
//! Before it plans, a job compares the heads of fused tensors that rules state with those of the `config.json` next to the input.
//! A rule with other heads may fit the rows of a tensor, and then cuts through heads.
//!
//! A job over a checkpoint that does not exist has tensors by their names and extents, and the rules of both sides. The program's
//! `simulate` and benchmarks use it.

use std::{
    collections::HashMap,
    ops::Range,
    path::{Path, PathBuf},
    sync::Arc,
};

use serde_json::Value;
use tilewright_core::Remedy;
use tilewright_files::inner::{check_apart, check_scheme, is_url, json, store};
use tilewright_sharded::{Cut, Heads};

use crate::{
    Error, Form, Request,
    plan::{
        Outline,
        array::{LocalArrays, ReshardedArray, shared},
        cut::{Boxes, CutSide},
        parts::FileParts,
        target::{self, Output},
    },
    request::{
        SAFETENSORS,
        model::{self, CONFIG, Elements, Tensor},
    },
    source::{
        self, FirstFile,
        checkpoint::Checkpoint,
        identity::{Identity, hash, identities, opened},
    },
};

/// The most tasks of a job: their numbers and their journal entries are held in memory.
const MOST: u64 = 1 << 28;

/// The version of the meaning of data and journals. A folder that was begun under another version is not resumed.
const PROTOCOL: u32 = 2;

/// The smallest bound of a part in bytes: a part and the data that are read and written for it fit in a cache of 1 MiB.
const LEAST: u64 = 512 << 10;

/// All decisions that are made before data move: sources, output files and tasks.
///
/// ```
/// use tilewright_reshard::{Job, Request, Rules};
/// let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
/// let job = Job::prepare(Request::new(path, "out").to(Rules::new("dp=2").unwrap())).unwrap();
/// assert_eq!((job.tasks(), job.files().count(), job.tensors()), (8, 2, 8));
/// assert_eq!(job.share(1, 3), 2..5);
/// ```
#[must_use]
#[derive(Debug)]
pub struct Job {
    pub(crate) request: Request,
    pub(crate) source: Checkpoint,
    pub(crate) output: Output,
    pub(crate) cuts: Vec<Arc<Boxes>>,
    /// The number of the first task of each array, and at the end the number of all tasks.
    first: Vec<u64>,
    pub(crate) id: String,
    /// The parts of the uploads of a result in a store.
    pub(crate) parts_of_files: Option<FileParts>,
}

/// A box of one array.
///
/// ```
/// # use tilewright_reshard::{Job, Request};
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
/// let job = Job::prepare(Request::new(path, "out")).unwrap();
/// let task = job.task(0).unwrap();
/// assert!(task.start.iter().all(|first| *first == 0));
/// assert!(job.task(job.tasks()).is_none());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// The number of the array.
    pub(crate) array: usize,
    /// The name of the array.
    pub tensor: String,
    /// The first index along each dim.
    pub start: Vec<u64>,
    /// The extents of the box.
    pub extents: Vec<u64>,
}

impl Job {
    /// Reads the headers of the sources, and decides every output file and every task. It writes nothing.
    ///
    /// # Errors
    /// `io`, `corrupt` and `unsupported` for sources that cannot be read; `mismatch` for a hole, an overlap, or shards
    /// that do not follow their rule; `same-file` for a result inside of its source; `limit` for more than 2²⁸ tasks,
    /// or a header beyond the 100,000,000 bytes that the format allows; `usage`, and the kinds of notations, for a
    /// request that does not fit the sources.
    ///
    /// ```
    /// use tilewright_reshard::{Form, Job, Request};
    /// let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
    /// let error = Job::prepare(Request::new(path, "out").form(Form::Dcp)).unwrap_err();
    /// assert_eq!(error.to_string(), "the form dcp needs a mesh, and rules that shard over it");
    /// ```
    pub fn prepare(request: Request) -> Result<Job, Error> {
        request.check_memory()?;
        let paths = [&request.input, &request.output];
        paths.into_iter().chain(&request.metadata).try_for_each(|path| check_scheme(path))?;
        if is_url(&request.output) {
            store::check_writable(&request.output)?;
        }
        check_apart(&request.input, &request.output)?;
        let job = Job::survey(request)?;
        job.check_part_memory()?;
        Ok(job)
    }

    /// Makes a job that is only queried, and never run: its result is not written, so its path may be inside of the
    /// source.
    ///
    /// # Errors
    /// As [`Job::prepare`], except `same-file`.
    ///
    /// ```
    /// use tilewright_reshard::{Job, Request};
    /// let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/sharded/dcp_hf/ckpt");
    /// let inside = Request::new(folder, format!("{folder}/out"));
    /// assert!(Job::survey(inside.clone()).unwrap().bytes() > 0);
    /// assert_eq!(Job::prepare(inside).unwrap_err().kind(), "same-file");
    /// ```
    pub fn survey(mut request: Request) -> Result<Job, Error> {
        let mut first = FirstFile::default();
        if request.from.is_none() && source::is_bare(&request.input)? {
            first = FirstFile::of(&request.input)?;
            request.from = first.rules.take();
        }
        request.settle();
        let source = source::open(&request, &first)?;
        check(&request, &source.arrays)?;
        Job::of_source(request, source)
    }

    /// Makes the job of a request that is settled and of its source.
    pub(crate) fn of_source(request: Request, mut source: Checkpoint) -> Result<Job, Error> {
        if let Some(path) = request.metadata.first() {
            let model = opened(path)?;
            source.models = identities(&model)?;
        }
        if request.is_file {
            source.beside.stays();
        }
        let ending = request.ending();
        if ending != SAFETENSORS {
            source.beside.leave_metadata(&ending);
        }
        Job::assemble(request, source)
    }

    /// Makes the job of a request whose sources are open.
    pub(crate) fn assemble(request: Request, source: Checkpoint) -> Result<Job, Error> {
        request.check_memory()?;
        let first = source
            .files
            .first()
            .map(|file| &*file.path)
            .filter(|path| is_url(path) || path.exists());
        let output = target::output(&request, &source.arrays, &source.beside.metadata, first)?;
        let cuts = cuts(&source, &output, request.memory / 2);
        let mut first = vec![0u64];
        for cut in &cuts {
            first.push(first.last().copied().unwrap_or(0).saturating_add(cut.count()));
        }
        check_count(first.last().copied().unwrap_or(0), request.memory)?;
        let id = id(&request, &source)?;
        let job = Job { request, source, output, cuts, first, id, parts_of_files: None };
        job.with_parts()
    }

    /// Divides the files of a result in a store into parts.
    fn with_parts(mut self) -> Result<Job, Error> {
        if is_url(&self.request.output) {
            let summed = self.cuts.iter().enumerate().filter(|(array, _)| self.sums(*array));
            let summed = summed.map(|(array, cut)| (array, cut.count()));
            self.parts_of_files = Some(FileParts::of(&self.request, &self.output, summed)?);
        }
        Ok(self)
    }

    /// Returns the name of the job. It changes with the request and with the sources.
    ///
    /// ```
    /// # use tilewright_reshard::{Form, Job, Request};
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
    /// let id = |memory| Job::prepare(Request::new(path, "out").memory(memory)).unwrap().id().to_owned();
    /// assert!(id(1 << 20) == id(1 << 20) && id(1 << 20) != id(1 << 21));
    /// ```
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the number of tasks.
    ///
    /// ```
    /// # use tilewright_reshard::{Job, Request};
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
    /// assert_eq!(Job::prepare(Request::new(path, "out")).unwrap().tasks(), 8);
    /// ```
    pub fn tasks(&self) -> u64 {
        self.parts_of_files.as_ref().map_or_else(|| self.boxes(), FileParts::tasks)
    }

    /// Returns the number of boxes of all arrays: the tasks, unless the result is in a store.
    pub(crate) fn boxes(&self) -> u64 {
        self.first.last().copied().unwrap_or(0)
    }

    /// Returns a box of an array by its number.
    pub(crate) fn box_of(&self, array: usize, number: u64) -> Option<Task> {
        self.task(self.first.get(array)?.checked_add(number)?)
    }

    /// Returns a task by its number.
    ///
    /// ```
    /// # use tilewright_reshard::{Job, Request};
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
    /// let job = Job::prepare(Request::new(path, "out")).unwrap();
    /// assert_eq!(job.task(7), job.task(7));
    /// ```
    pub fn task(&self, number: u64) -> Option<Task> {
        let (array, within) = self.place(number)?;
        let (cut, of) = (self.cuts.get(array)?, self.source.arrays.get(array)?);
        let (start, extents) = cut.at(within);
        Some(Task { array, tensor: of.name.to_string(), start, extents })
    }

    /// Returns the array of a task, and the number of its box.
    pub(crate) fn place(&self, number: u64) -> Option<(usize, u64)> {
        let array = self.first.partition_point(|first| *first <= number).checked_sub(1)?;
        (array < self.cuts.len()).then_some((array, number - self.first.get(array)?))
    }

    /// Returns the parts of a task, as tasks: they partition its box.
    ///
    /// Between the read and the write of a large box, its bytes would leave every cache. So a box is moved in parts of at
    /// most [`LEAST`] bytes if both sides keep long calls. If they do not, as between rows and columns, the bound is
    /// doubled until they do, up to the whole box. Parts are a function of the plan and the task alone, so a later
    /// verification reads the parts that were written.
    pub(crate) fn parts(&self, task: &Task) -> impl Iterator<Item = Task> {
        let held = [&self.source.arrays, &self.output.arrays].map(|all| all.get(task.array));
        let (place, bits) = ((&*task.start, &*task.extents), held[0].map_or(8, |array| array.bits));
        let least = self.request.part.unwrap_or(LEAST);
        let cut = match held {
            [Some(from), Some(to)] if self.bytes_of(task) > least => {
                let sides = [from, to].map(|array| CutSide::new(&array.held, &array.extents));
                Boxes::of_box(place, u64::from(bits / 8), least, &sides)
            }
            _ => Boxes::of_box(place, u64::from(bits / 8), u64::MAX, &[]),
        };
        let (array, tensor) = (task.array, task.tensor.clone());
        (0..cut.count()).map(move |number| {
            let (start, extents) = cut.at(number);
            Task { array, tensor: tensor.clone(), start, extents }
        })
    }

    /// Returns the tasks of one of several processes: consecutive numbers, divided as evenly as possible.
    ///
    /// ```
    /// # use tilewright_reshard::{Job, Request};
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
    /// let job = Job::prepare(Request::new(path, "out")).unwrap();
    /// assert_eq!((0..3).map(|rank| job.share(rank, 3)).collect::<Vec<_>>(), [0..2, 2..5, 5..8]);
    /// ```
    pub fn share(&self, rank: u64, world: u64) -> Range<u64> {
        let world = u128::from(world.max(1));
        let edge = |rank: u64| (u128::from(self.tasks()) * u128::from(rank) / world) as u64;
        edge(rank).min(self.tasks())..edge(rank.saturating_add(1)).min(self.tasks())
    }

    /// Returns the number of tensors.
    ///
    /// ```
    /// # use tilewright_reshard::{Job, Request};
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
    /// assert_eq!(Job::prepare(Request::new(path, "out")).unwrap().tensors(), 8);
    /// ```
    pub fn tensors(&self) -> usize {
        self.source.arrays.len()
    }

    /// Returns the number of bytes of all tensors, each counted once.
    ///
    /// ```
    /// # use tilewright_reshard::{Job, Request};
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
    /// assert!(Job::prepare(Request::new(path, "out")).unwrap().bytes() > 1000);
    /// ```
    pub fn bytes(&self) -> u64 {
        self.source.arrays.iter().fold(0, |sum, array| sum.saturating_add(array.bytes()))
    }

    /// Iterates over the names of the files of the result.
    ///
    /// ```
    /// # use tilewright_reshard::{Job, Request};
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
    /// let job = Job::prepare(Request::new(path, "out")).unwrap();
    /// assert_eq!(job.files().collect::<Vec<_>>(), ["model.safetensors"]);
    /// ```
    pub fn files(&self) -> impl Iterator<Item = &str> {
        let index = self.output.index.iter().map(|(name, _)| name.as_str());
        self.output.files.iter().map(|file| file.name.as_str()).chain(index)
    }

    /// Returns the number of bytes of the files of the result.
    ///
    /// ```
    /// # use tilewright_reshard::{Job, Request};
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
    /// let job = Job::prepare(Request::new(path, "out")).unwrap();
    /// assert!(job.written() > job.bytes());
    /// ```
    pub fn written(&self) -> u64 {
        self.output.files.iter().fold(0, |sum, file| sum.saturating_add(file.bytes))
    }

    /// Returns the form of the result.
    ///
    /// ```
    /// # use tilewright_reshard::{Form, Job, Request};
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
    /// assert_eq!(Job::prepare(Request::new(path, "out")).unwrap().form(), Form::Hf);
    /// ```
    pub fn form(&self) -> Form {
        self.request.asked_form()
    }

    /// Returns the path of the result.
    ///
    /// ```
    /// # use tilewright_reshard::{Job, Request};
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
    /// assert!(Job::prepare(Request::new(path, "out")).unwrap().output().ends_with("out"));
    /// ```
    pub fn output(&self) -> &Path {
        &self.request.output
    }
}

/// Returns an error for more tasks than a job may have.
fn check_count(tasks: u64, memory: u64) -> Result<(), Error> {
    if tasks <= MOST {
        return Ok(());
    }
    let said = format!("{tasks} tasks for {memory} bytes of memory, each with a box of half of it");
    Err(Error::new("limit", format!("{said}: at most {MOST} are possible; give more memory")))
}

/// Returns the cut of each array; arrays with equal pieces on both sides share one.
fn cuts(source: &Checkpoint, output: &Output, most: u64) -> Vec<Arc<Boxes>> {
    let mut alike = HashMap::new();
    let pairs = source.arrays.iter().zip(&output.arrays);
    let cut = |(from, to): (&ReshardedArray, &ReshardedArray)| {
        let key = (Arc::as_ptr(&from.held), Arc::as_ptr(&to.held), from.bits);
        let made = || {
            let arrays = if from.bytes() <= most { &[][..] } else { &[from, to] };
            let sides = arrays.iter().map(|array| CutSide::new(&array.held, &from.extents));
            let sides: Vec<CutSide> = sides.collect();
            Arc::new(Boxes::new(&from.extents, u64::from(from.bits / 8), most, &sides))
        };
        alike.entry(key).or_insert_with(made).clone()
    };
    pairs.map(cut).collect()
}

/// Returns a hash of everything that determines the result: the request, the files, the bytes of each array, and the
/// other contents.
fn id(request: &Request, source: &Checkpoint) -> Result<String, Error> {
    // `force` decides which folder may be replaced at the end. It does not change the data.
    let request = request.clone().force(false);
    let outline = Outline::of(&source.arrays, &source.places).sum()?;
    let version = (env!("CARGO_PKG_VERSION"), PROTOCOL);
    let files = source.all_files().collect::<Vec<_>>();
    let decides = (version, request, files, outline, &source.beside);
    let text = serde_json::to_string(&decides);
    let text = text.map_err(|error| Error::usage(format!("a path that is not text: {error}")))?;
    Ok(hash(text.as_bytes()).chars().take(16).collect())
}

/// Makes the array of a described tensor.
fn array(tensor: &Tensor) -> Result<ReshardedArray, Error> {
    let elements = Elements::of(&tensor.dtype)
        .map_err(|error| error.about(&format!("tensor {:?}", tensor.name)))?;
    let own = elements.dtype.safetensors_name().unwrap_or(&tensor.dtype);
    let laid = elements.laid(own, &tensor.extents)?;
    Ok(ReshardedArray::of(
        tensor.name.as_str().into(),
        &laid,
        tensor.extents.clone(),
        Arc::default(),
    ))
}

impl Job {
    /// Makes the job of a request whose input does not exist, but would hold these tensors by the request's rules. It
    /// answers every question, but cannot be run.
    ///
    /// # Errors
    /// As [`Job::prepare`], without those of files.
    ///
    /// ```
    /// use tilewright_reshard::{Job, Request, Rules, Tensor};
    /// let tensor = Tensor::new("w", "BF16", &[4096, 8192]);
    /// let rules = |mesh, rule| Rules::new(mesh).unwrap().rule("*", rule).unwrap();
    /// let request = Request::new("in", "out").from(rules("dp=4", "[Shard(0)]")).to(rules("tp=8", "[Shard(1)]"));
    /// let job = Job::imagine(request, &[tensor]).unwrap();
    /// let calls = job.calls(0..job.tasks()).unwrap();
    /// // One task reads four files in one piece each, and writes eight files with whole local rows.
    /// assert_eq!((calls.reads, calls.writes, calls.read_bytes), (4, 8, 64 << 20));
    /// ```
    pub fn imagine(request: Request, tensors: &[Tensor]) -> Result<Job, Error> {
        let arrays = tensors.iter().map(array).collect::<Result<Vec<_>, Error>>()?;
        let source = Request { to: request.from.clone(), ..Request::new("", "") };
        let source = match &source.to {
            Some(_) => source.form(Form::Ranks),
            // Files of whole tensors have about this length, as on the Hugging Face hub.
            None => source.shard_size(5 << 30),
        };
        let held = target::output(&source, &arrays, &std::collections::BTreeMap::new(), None)?;
        let mut alike = HashMap::new();
        let settled = |array: ReshardedArray| {
            let key = Arc::as_ptr(&array.held);
            let settle = || {
                let held = LocalArrays::clone(&array.held);
                Ok(Arc::new(held.settle(&array.name, &array.extents, &|_| String::new())?))
            };
            let held = shared(&mut alike, key, settle)?;
            Ok(ReshardedArray { held, ..array })
        };
        // The pieces stay alive while their addresses are keys.
        let kept = held.arrays.clone();
        let arrays = held.arrays.into_iter().map(settled).collect::<Result<_, Error>>()?;
        drop(kept);
        let file = |file: target::File| Identity {
            path: PathBuf::from(file.name),
            bytes: file.bytes,
            changed: 0,
            header: String::new(),
        };
        let files = held.files.into_iter().map(file).collect();
        let mut checkpoint =
            Checkpoint { files, arrays, places: held.places, ..Checkpoint::default() };
        checkpoint.trust(&request);
        Job::assemble(request, checkpoint)
    }
}

/// The key of the number of query heads.
const QUERIES: &str = "num_attention_heads";

/// Returns an error if a rule of the request states other heads than the configuration, unless the request trusts its
/// own extents.
pub(crate) fn check(request: &Request, arrays: &[ReshardedArray]) -> Result<(), Error> {
    if request.trusts_extents {
        return Ok(());
    }
    // A text that is not JSON states nothing.
    let Ok(config) = json(&model::config(&request.input)?) else {
        return Ok(());
    };
    for rules in [&request.from, &request.to].into_iter().flatten() {
        for array in rules.firsts(arrays)? {
            // Errors of a rule are reported when the shards are made.
            let sharded = rules.sharded(&array.name, array.shape(), Some(array.dtype));
            let Ok(sharded) = sharded else { continue };
            for split in sharded.splits() {
                let Cut::Heads(heads) = &split.cut else { continue };
                let Some(said) = contradiction(heads, &config) else { continue };
                let (name, rule) = (&array.name, rules.said(&array.name)?);
                let said = format!("tensor {name:?}, rule {rule}: {said}");
                return Err(Error::new("extents", said).with(&[Remedy::Heads]));
            }
        }
    }
    Ok(())
}

/// Returns the contradiction between these heads and a configuration. Sections of the configuration are compared too,
/// and one that agrees is enough: a model with several parts has different heads in each.
fn contradiction(heads: &Heads, config: &Value) -> Option<String> {
    let sections = config.as_object().into_iter().flat_map(|root| root.values());
    let all = std::iter::once(config).chain(sections);
    let mut all = all.filter(|part| part.get(QUERIES).is_some()).map(|part| against(heads, part));
    let first = all.next()?;
    (!first.is_empty() && all.all(|other| !other.is_empty())).then(|| first.join("; "))
}

/// Returns the numbers of one section that differ from those of the heads.
fn against(heads: &Heads, section: &Value) -> Vec<String> {
    let number = |key: &str| section.get(key).and_then(Value::as_u64);
    let queries = number(QUERIES);
    // In some families, a model without this number has one key for each query.
    let groups = || queries.filter(|_| model::is_known(section));
    let rows = || number("hidden_size")?.checked_div(queries?);
    let derived = format!("hidden_size / {QUERIES}");
    let head_dim = if number("head_dim").is_some() { "head_dim" } else { &derived };
    let all = [
        ("h", heads.queries, QUERIES, queries),
        ("g", heads.groups, "num_key_value_heads", number("num_key_value_heads").or_else(groups)),
        ("d", heads.rows, head_dim, number("head_dim").or_else(rows)),
    ];
    let against = all.into_iter().filter_map(|(own, is, key, said)| {
        let said = said.filter(|said| *said != is)?;
        Some(format!("{own} is {is}, and by {CONFIG} {key} is {said}"))
    });
    against.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Rules, Tensor};

    /// Returns the tasks and parts of a matrix of 64 MiB, and the bytes of the largest part.
    fn parts(mesh: &str, rule: &str, layout: Option<&str>) -> (u64, usize, u64) {
        let rules = Rules::new(mesh).unwrap().rule("*", rule).unwrap();
        let request = Request::new("in", "out").to(rules).memory(64 << 20);
        let request = match layout {
            Some(spec) => request.layout(spec),
            None => request,
        };
        let job = Job::imagine(request, &[Tensor::new("w", "BF16", &[8192, 4096])]).unwrap();
        let all: Vec<Task> = (0..job.tasks())
            .flat_map(|n| job.parts(&job.task(n).unwrap()).collect::<Vec<_>>())
            .collect();
        let bytes = all.iter().map(|part| job.bytes_of(part));
        assert_eq!(bytes.clone().sum::<u64>(), 64 << 20);
        (job.tasks(), all.len(), bytes.max().unwrap())
    }

    /// With a lower bound a small box has several parts, and a plan keeps the bound.
    #[test]
    fn the_bound_of_parts_is_part_of_the_plan() {
        let rules = Rules::new("tp=2").unwrap().rule("*", "[Shard(1)]").unwrap();
        let tensor = [Tensor::new("w", "BF16", &[31, 31])];
        let of = |request: Request| {
            let job = Job::imagine(request, &tensor).unwrap();
            assert_eq!(job.tasks(), 1);
            let parts = job.parts(&job.task(0).unwrap()).count();
            (parts, job.id().to_owned(), String::from_utf8(job.plan().unwrap()).unwrap())
        };
        let request = Request::new("in", "out").to(rules);
        let (one, id, plan) = of(request.clone());
        let (several, other, with) = of(request.part(64));
        assert!(one == 1 && several > 4 && id != other, "{several}");
        assert!(with.contains("\"part\":64") && !plan.contains("\"part\""));
    }

    #[test]
    fn parts_are_small_where_calls_stay_long() {
        assert_eq!(parts("tp=8", "[Shard(0)]", None), (2, 128, LEAST));
        assert_eq!(parts("tp=8", "[Shard(1)]", None), (2, 64, 2 * LEAST));
        // A call that is one of 128 would write little for a small part.
        assert_eq!(parts("tp=128", "[Shard(1)]", None), (2, 4, 16 << 20));
        // A transpose has short calls in every part.
        assert_eq!(parts("tp=1", "[Shard(0)]", Some("col-major")), (2, 2, 32 << 20));
    }
}
