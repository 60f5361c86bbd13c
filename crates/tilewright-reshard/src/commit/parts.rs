//! A result in an object store: the uploads of its files, the journal of what was sent, and the requests that make it visible.
//!
//! ```text
//! OUT.partial-ID/uploads      the names of the uploads of all files, which the first process begins
//! OUT.partial-ID/journal/…    one object for some tasks that the store has: names and checksums of their parts, or sums
//! OUT.partial-ID/finishing    exists while objects become visible
//! finish                      all tasks done, sources unchanged: headers; then the files appear, small files, the index last
//! ```
//!
//! Law: no file of the result is visible before all tasks are done. A run that ends while objects become visible is continued by
//! the same command.
//!
//! Processes of one job agree by one conditional write: whoever writes `uploads` first decides the names of all uploads. A store
//! without conditional writes needs one process that begins first.

use std::{
    collections::BTreeMap,
    hash::{BuildHasher, Hasher, RandomState},
    path::{Path, PathBuf},
    sync::Arc,
};

use serde::{Deserialize, Serialize};
use tilewright_files::{
    Watch,
    inner::{is_url, store, store::StoredPart},
};

use crate::{
    Error, Job,
    commit::NAMED,
    error,
    plan::parts::{FileParts, Sent, StoreTask},
    run::{RunState, parts::Sender},
    source::lists::shown,
};

/// A task in a journal.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum SentLine {
    Part(u64, StoredPart),
    Late(u64),
    Sum(u64, String),
}

impl SentLine {
    fn of((task, sent): (&u64, &Sent)) -> SentLine {
        match sent {
            Sent::Part(part) => SentLine::Part(*task, part.clone()),
            Sent::Late | Sent::Twice(_) => SentLine::Late(*task),
            Sent::Sum(data) => SentLine::Sum(*task, data.to_string()),
        }
    }

    fn read(self) -> Option<(u64, Sent)> {
        Some(match self {
            SentLine::Part(task, part) => (task, Sent::Part(part)),
            SentLine::Late(task) => (task, Sent::Late),
            SentLine::Sum(task, data) => (task, Sent::Sum(data.parse().ok()?)),
        })
    }
}

/// The content of the object that exists while a result becomes visible: the uploads of its files, and their parts.
#[derive(Serialize, Deserialize)]
struct Finishing {
    uploads: Vec<String>,
    parts: Vec<Vec<StoredPart>>,
}

impl Finishing {
    /// Returns whether it is about all files of a job.
    fn is_of(&self, job: &Job, parts: &FileParts) -> bool {
        let files = job.output.files.len();
        let mut lengths = self.parts.iter().enumerate().map(|(file, own)| {
            let range = parts.of_file(file);
            own.len() as u64 == range.end - range.start
        });
        self.uploads.len() == files && self.parts.len() == files && lengths.all(|is| is)
    }
}

/// Returns what is known of a task that two journals name; `None` if its results differ.
fn merged(one: &Sent, other: &Sent) -> Option<Sent> {
    match (one, other) {
        _ if one == other => Some(one.clone()),
        (Sent::Part(one), Sent::Part(other)) if (one.sum, one.len) == (other.sum, other.len) => {
            Some(Sent::Twice(one.sum))
        }
        (Sent::Twice(sum), Sent::Part(part)) if *sum == part.sum => Some(Sent::Twice(*sum)),
        _ => None,
    }
}

/// Returns the folder beside a result in a store; of a whole bucket, one inside of it.
pub(crate) fn partial(output: &Path, id: &str) -> PathBuf {
    let text = output.to_string_lossy();
    let text = text.trim_end_matches('/');
    let is_root = text.split_once("://").is_none_or(|(_, rest)| !rest.contains('/'));
    PathBuf::from(format!("{text}{}.partial-{id}", if is_root { "/" } else { "" }))
}

impl Job {
    /// Returns the path of a file of the result.
    pub(crate) fn path_of(&self, file: usize) -> PathBuf {
        let (output, file) = (&self.request.output, self.output.files.get(file));
        match file.filter(|_| !self.request.is_file) {
            Some(file) => output.join(&file.name),
            None => output.clone(),
        }
    }

    fn uploads_path(&self) -> PathBuf {
        self.partial().join("uploads")
    }

    /// Returns the error of a name in a store that is not free.
    pub(crate) fn check_free_object(&self) -> Result<(), Error> {
        let output = &self.request.output;
        if self.is_finishing()? {
            return Ok(());
        }
        let taken = match self.request.is_file {
            true => store::exists(output)?,
            false => store::list(output)?.iter().any(|path| !self.is_partial(path)),
        };
        let said = format!("{} exists already", output.display());
        match (taken, self.request.force, self.request.is_file) {
            (false, ..) | (true, true, true) => Ok(()),
            (true, true, false) => {
                let why = "a folder of objects is not replaced; name another one";
                Err(Error::new("exists", format!("{said}; {why}")))
            }
            _ => Err(Error::new("exists", said).of_case(error::TAKEN)),
        }
    }

    /// Returns whether a listed path is the folder of this job, which is in the result if that is a whole bucket.
    fn is_partial(&self, path: &Path) -> bool {
        path.to_string_lossy().trim_end_matches('/') == self.partial().to_string_lossy()
    }

    /// Returns the path of the object that exists while the result becomes visible.
    fn marker(&self) -> PathBuf {
        self.partial().join("finishing")
    }

    /// Returns whether all tasks are done, and objects have begun to appear.
    pub(crate) fn is_finishing(&self) -> Result<bool, Error> {
        store::exists(&self.marker())
    }

    /// Returns the names of the uploads of all files, which are begun unless another process has done so.
    pub(crate) fn uploads(&self) -> Result<Vec<String>, Error> {
        let path = self.uploads_path();
        if let Some(bytes) = store::small(&path)? {
            return self.read_uploads(&bytes);
        }
        let mut begun = Vec::new();
        let all = (0..self.output.files.len()).try_for_each(|file| {
            begun.push(store::begin(&self.path_of(file))?);
            Ok(())
        });
        if let Err(error) = all {
            return Err(self.given_up(&begun, error));
        }
        let text = serde_json::to_vec(&begun).map_err(|error| Error::usage(error.to_string()))?;
        match store::put(&path, &text, false) {
            Ok(()) => Ok(begun),
            Err(error) => self.settle_uploads(&begun, error),
        }
    }

    /// Returns the uploads of another process that was first, or an error with what is left. Uploads that the store may list,
    /// because the answer to the write is unknown, are kept, and the next run finds them.
    fn settle_uploads(&self, begun: &[String], error: Error) -> Result<Vec<String>, Error> {
        let listed = store::small(&self.uploads_path());
        let listed = listed.and_then(|bytes| bytes.map(|it| self.read_uploads(&it)).transpose());
        let is_unknown = error.io_kind() == Some(std::io::ErrorKind::TimedOut);
        match listed {
            Ok(Some(listed)) if listed == begun => Ok(listed),
            Ok(Some(listed)) => match &*self.abort(begun) {
                [] => Ok(listed),
                left => Err(left.iter().fold(error, |error, left| error.and(left))),
            },
            _ if is_unknown => Err(self.keeping(begun, error)),
            _ => Err(self.given_up(begun, error)),
        }
    }

    /// Aborts uploads after an error; returns it with those that the store keeps.
    fn given_up(&self, begun: &[String], error: Error) -> Error {
        self.abort(begun).iter().fold(error, |error, left| error.and(left))
    }

    /// Returns an error with the uploads that are kept.
    fn keeping(&self, begun: &[String], error: Error) -> Error {
        let named = |(file, upload)| format!("{upload} of {}", self.path_of(file).display());
        let named: Vec<String> = begun.iter().enumerate().map(named).collect();
        let path = self.uploads_path();
        let said = format!("unless {} lists them, abort the uploads", path.display());
        error.and(&format!("{said} {}", named.join(", ")))
    }

    fn read_uploads(&self, bytes: &[u8]) -> Result<Vec<String>, Error> {
        let names: Option<Vec<String>> = serde_json::from_slice(bytes).ok();
        names.filter(|names| names.len() == self.output.files.len()).ok_or_else(|| {
            let (path, partial) = (self.uploads_path(), self.partial());
            let said = format!("{} does not list the uploads of this job", path.display());
            Error::new("corrupt", format!("{said}; remove {}", partial.display()))
        })
    }

    /// Aborts uploads; returns messages on those that the store keeps.
    fn abort(&self, uploads: &[String]) -> Vec<String> {
        let each = uploads.iter().enumerate();
        let aborted = each.map(|(file, upload)| store::abort(&self.path_of(file), upload));
        aborted.filter_map(Result::err).map(|error| error.message().to_owned()).collect()
    }

    /// Returns the tasks that the journals name.
    pub(crate) fn sent(&self) -> Result<BTreeMap<u64, Sent>, Error> {
        let mut sent = BTreeMap::new();
        for path in store::list(&self.journals())? {
            let bytes = store::small(&path)?.unwrap_or_default();
            let wrong = || Error::new("corrupt", format!("{} is not a journal", path.display()));
            let lines: Vec<SentLine> = serde_json::from_slice(&bytes).map_err(|_| wrong())?;
            for line in lines {
                let (task, own) = line.read().ok_or_else(wrong)?;
                let known = sent.entry(task).or_insert(own.clone());
                *known = merged(known, &own).ok_or_else(|| {
                    let said = "was sent twice with different results: a source changed";
                    error::changed(&path, &format!("task {task} {said}"))
                })?;
            }
        }
        Ok(sent)
    }

    /// Writes an object of the journal with these tasks.
    pub(crate) fn promise_sent(&self, who: &str, tasks: &BTreeMap<u64, Sent>) -> Result<(), Error> {
        if tasks.is_empty() {
            return Ok(());
        }
        let lines: Vec<SentLine> = tasks.iter().map(SentLine::of).collect();
        let text = serde_json::to_vec(&lines).map_err(|error| Error::usage(error.to_string()))?;
        let number = RandomState::new().build_hasher().finish();
        store::put(&self.journals().join(format!("{who}-{number:016x}")), &text, false)
    }

    /// Makes a result in a store visible if all tasks are done, or continues to do so.
    pub(crate) fn complete_uploads(
        &self,
        parts: &FileParts,
        watch: &dyn Watch,
    ) -> Result<(), Error> {
        if let Some(bytes) = store::small(&self.marker())? {
            let wrong = || Error::new("corrupt", format!("{} is damaged", self.marker().display()));
            let finishing: Option<Finishing> = serde_json::from_slice(&bytes).ok();
            let finishing = finishing.filter(|it| it.is_of(self, parts)).ok_or_else(wrong)?;
            return self.appear(&finishing);
        }
        self.check_free()?;
        let mut sent = self.sent()?;
        self.check_all_sent(parts, &sent)?;
        self.check_sources()?;
        let uploads = Arc::new(self.uploads()?);
        let sums = self.checked_sums(self.sums_sent(parts, &sent))?;
        let (shared, limits) = (RunState::new(self), self.limits(watch, 1));
        let mut sender = Sender::new(self, (&shared, &limits), uploads.clone())?;
        sender.complete_heads(&sums)?;
        let at_end = |own: &Sent| matches!(own, Sent::Late | Sent::Twice(_));
        for (number, own) in sent.iter_mut().filter(|(_, own)| at_end(own)) {
            if watch.cancelled() {
                return Err(Error::new("cancelled", "cancelled; finished work is kept"));
            }
            if let Some(task) = parts.task(&self.output, *number) {
                let again = sender.run(&task)?;
                *own = match (&*own, &again) {
                    (Sent::Twice(_), Sent::Part(_)) => merged(own, &again).and(Some(again)),
                    _ => Some(again),
                }
                .ok_or_else(|| {
                    let said = format!("task {number} has another result now: a source changed");
                    error::changed(&self.journals(), &said)
                })?;
            }
        }
        let finishing =
            Finishing { uploads: uploads.to_vec(), parts: self.part_names(parts, &sent)? };
        let text = serde_json::to_vec(&finishing);
        let text = text.map_err(|error| Error::usage(error.to_string()))?;
        store::put(&self.marker(), &text, false)?;
        self.appear(&finishing)
    }

    /// Makes files, small files and the index visible, in this order. Objects that an earlier run made visible are known by their
    /// bytes; others are replaced only by request.
    fn appear(&self, finishing: &Finishing) -> Result<(), Error> {
        let all = finishing.uploads.iter().zip(&finishing.parts);
        for (number, (upload, parts)) in all.enumerate() {
            store::complete(&self.path_of(number), upload, parts, self.request.force)?;
        }
        for path in &self.source.beside.companions {
            let bytes = small_of(path)?;
            self.put_once(&self.request.output.join(shown(path)), &bytes)?;
        }
        if let Some((name, text)) = &self.output.index {
            self.put_once(&self.request.output.join(name), text.as_bytes())?;
        }
        // The result is visible; remains that cannot be removed now are removed when the same command runs again.
        let _ = self.sweep_objects();
        Ok(())
    }

    /// Writes a small object, unless it has these bytes already.
    fn put_once(&self, path: &Path, bytes: &[u8]) -> Result<(), Error> {
        match store::put(path, bytes, self.request.force) {
            Err(error) if error.kind() == "exists" => match store::small(path)? {
                Some(own) if own == bytes => Ok(()),
                _ => Err(error),
            },
            done => done,
        }
    }

    /// Returns the parts of each file.
    fn part_names(
        &self,
        parts: &FileParts,
        sent: &BTreeMap<u64, Sent>,
    ) -> Result<Vec<Vec<StoredPart>>, Error> {
        let name = |task: u64| match sent.get(&task) {
            Some(Sent::Part(part)) => Ok(part.clone()),
            _ => Err(Error::new("incomplete", format!("task {task} has no part"))),
        };
        let of = |file: usize| parts.of_file(file).map(name).collect::<Result<Vec<_>, _>>();
        (0..self.output.files.len()).map(of).collect()
    }

    fn check_all_sent(&self, parts: &FileParts, sent: &BTreeMap<u64, Sent>) -> Result<(), Error> {
        let mut missing = (0..parts.tasks()).filter(|task| !sent.contains_key(task)).peekable();
        let Some(first) = missing.peek().copied() else { return Ok(()) };
        let task = match parts.task(&self.output, first) {
            Some(StoreTask::Part(file, number, _)) => {
                format!(", part {number} of {}", self.path_of(file).display())
            }
            _ => String::new(),
        };
        let (count, all) = (missing.count(), parts.tasks());
        let verb = if count == 1 { "is" } else { "are" };
        let said =
            format!("{count} of {all} tasks {verb} missing; the first is task {first}{task}");
        Err(Error::new("incomplete", said))
    }

    /// Removes the objects of a finished run; the one that says so is last.
    fn sweep_objects(&self) -> Result<(), Error> {
        for path in store::list(&self.journals())? {
            store::remove(&path)?;
        }
        store::remove(&self.uploads_path())?;
        store::remove(&self.marker())
    }

    /// Returns sentences about the folders of other runs for this result; `own` is the folder of this run.
    pub(crate) fn left_objects(&self, own: &str) -> Vec<String> {
        let (Some(prefix), Some((parent, _))) = (own.strip_suffix(&*self.id), own.rsplit_once('/'))
        else {
            return Vec::new();
        };
        // The run itself reports a store that does not answer.
        let listed = store::list(Path::new(parent)).unwrap_or_default();
        let listed = listed.iter().map(|path| path.to_string_lossy());
        let is_other = |path: &str| {
            let id = path.strip_prefix(prefix);
            path != own && id.is_some_and(|id| id.len() == self.id.len())
        };
        let names = listed.map(|path| path.trim_end_matches('/').to_owned());
        let found = names.filter(|path| is_other(path)).take(NAMED);
        let said = "belongs to a run with another request, such as another memory, or source; unless that run continues, abort the uploads that";
        found.map(|path| format!("{path} {said} {path}/uploads lists, and remove it")).collect()
    }

    /// Returns the error of a run in a store, with the objects that it leaves.
    pub(crate) fn leaving_object(&self, error: Error) -> Error {
        let partial = self.partial().display().to_string();
        if error.to_string().contains(&partial) {
            return error;
        }
        let next = match error.kind() {
            "io" | "cancelled" => "run the same command to continue",
            "incomplete" => "run the missing tasks and finish again",
            _ => return error,
        };
        error.and(&format!(
            "{partial} holds the finished work: {next}, or remove it and abort the uploads that {partial}/uploads lists"
        ))
    }
}

/// Returns the bytes of a small file, wherever it is.
fn small_of(path: &Path) -> Result<Vec<u8>, Error> {
    if is_url(path) {
        let missing = || Error::new("changed", format!("{} is gone", path.display()));
        return store::small(path)?.ok_or_else(missing);
    }
    std::fs::read(path).map_err(|cause| error::io(path, "read", &cause))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A part that was sent twice may have two names, but it has one checksum.
    #[test]
    fn parts_are_compared_by_their_checksums() {
        let part = |name: &str, sum, len| Sent::Part(StoredPart { name: name.into(), sum, len });
        let (one, twice) = (part("a", 7, 3), Sent::Twice(7));
        assert_eq!(merged(&one, &one), Some(one.clone()));
        assert_eq!(merged(&one, &part("b", 7, 3)), Some(twice.clone()));
        assert_eq!(merged(&twice, &part("c", 7, 3)), Some(twice.clone()));
        for other in [part("a", 8, 3), part("b", 8, 3), part("b", 7, 4), Sent::Late] {
            assert_eq!(merged(&one, &other), None);
        }
        assert_eq!(merged(&twice, &part("c", 8, 3)), None);
    }
}
