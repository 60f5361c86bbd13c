//! The folder in which a result is written, and the one rename that makes it visible. Runs create and finish results
//! with it.
//!
//! ```text
//! OUT.partial-ID/data      every output file at its full length; its header is written last
//! OUT.partial-ID/journal   the tasks that are on the disk
//! OUT.partial-ID/whole     the folder `data` once all of it is on the disk: the result before its last rename
//! OUT.partial-ID/old       the folder that had the name before, under `force`
//! finish                   all tasks done, sources unchanged: headers, index, companions, sync; compare all tasks if asked;
//!                          rename data to whole; rename OUT to old; rename whole to OUT, sync; remove OUT.partial-ID
//! ```
//!
//! A result that is a file is the only one in `whole`, and the rename of that file over OUT makes it visible.
//!
//! Processes that run tasks share the claim on OUT's name; a process that finishes holds it alone. A run that was refused
//! or interrupted leaves `OUT.partial-ID`, which its error names.
//!
//! Fingerprints that the source records are compared with the data that were read, and results record theirs. They are
//! sums over the elements of an array by their coordinates, so those of the boxes of tasks add up to that of the whole.
//! Only whole arrays have one: a local array counts its coordinates from its own first element.

pub mod journal;
pub(crate) mod parts;

use std::{
    collections::BTreeMap,
    fs::{self, OpenOptions},
    io,
    path::{Path, PathBuf},
};

use tilewright_files::{
    Fingerprint, Watch, disk,
    inner::{
        Busy, Claim, Claimant, Companions, check_space, is_empty_folder, is_url, remove_filled,
    },
};

use crate::{
    Error, Job, error,
    plan::target::{FORMATS, File},
    run::Together,
    source::lists::shown,
};

/// The most folders of other runs that are named.
const NAMED: usize = 4;

impl Job {
    /// Returns the folder in which the result is written.
    pub(crate) fn partial(&self) -> PathBuf {
        if self.parts_of_files.is_some() {
            return parts::partial(&self.request.output, &self.id);
        }
        let mut name = self.request.output.file_name().unwrap_or_default().to_owned();
        name.push(format!(".partial-{}", self.id));
        self.request.output.with_file_name(name)
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.partial().join("data")
    }

    pub(crate) fn journals(&self) -> PathBuf {
        self.partial().join("journal")
    }

    /// Returns the path of the finished result before its last rename.
    fn whole(&self) -> PathBuf {
        let folder = self.whole_folder();
        self.request.file_name().map_or(folder.clone(), |name| folder.join(name))
    }

    fn whole_folder(&self) -> PathBuf {
        self.partial().join("whole")
    }

    /// Claims the name of the result, shared with other processes that run tasks of this job, or alone.
    pub(crate) fn claim(&self, who: &str, alone: bool) -> Result<Option<Claim>, Error> {
        // In a store the processes of a job share its uploads, and a name that is taken is found at the end.
        if self.parts_of_files.is_some() {
            return Ok(None);
        }
        let output = &self.request.output;
        let parent = self.parent();
        fs::create_dir_all(parent).map_err(|cause| error::io(parent, "create", &cause))?;
        let claimant = Claimant { work: &self.id, who, alone };
        let claim = Claim::of(output, claimant, &|| self.sweep_finished());
        claim.map(Some).map_err(|busy| match busy {
            Busy::Held(other) => {
                let said = format!("{}: another run works on it: {other}", output.display());
                Error::new("busy", said)
            }
            Busy::Failed(error) => error,
        })
    }

    /// Creates every output file at its length, and returns the tasks that were done before; `None` if all files are
    /// already complete. Any process that shares the claim may do so at any time.
    pub(crate) fn lay_out(&self) -> Result<Option<BTreeMap<u64, u32>>, Error> {
        self.check_free()?;
        if self.whole().exists() {
            return Ok(None);
        }
        // A journal is written after the files that it is about. Other processes may write to journals from here on.
        let done = journal::done(&self.journals())?;
        if !done.is_empty() {
            self.check_promised()?;
            return Ok(Some(done));
        }
        self.check_space()?;
        for folder in [self.partial(), self.data(), self.journals()] {
            match disk::create_folder(&folder) {
                Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists => {}
                made => made.map_err(|cause| error::io(&folder, "create", &cause))?,
            }
        }
        let data = self.data();
        let mode = self.source.files.first().and_then(|file| mode(&file.path));
        for file in &self.output.files {
            let path = data.join(&file.name);
            let made = lay(&path, file.bytes, mode.unwrap_or(0o666));
            made.map_err(|cause| error::io(&path, "create", &cause))?;
        }
        [&*data, &*self.partial(), self.parent()].iter().try_for_each(|it| sync_folder(it))?;
        Ok(Some(done))
    }

    /// Returns an error if the disk is too full for the result. A run checks this before it writes. The remains of an
    /// earlier run of the same job are already counted.
    ///
    /// # Errors
    /// `io`, with the size of the result and the free bytes.
    ///
    /// ```
    /// # use tilewright_reshard::{Job, Request};
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
    /// assert!(Job::prepare(Request::new(path, "out")).unwrap().check_space().is_ok());
    /// ```
    pub fn check_space(&self) -> Result<(), Error> {
        if self.parts_of_files.is_some() {
            return Ok(());
        }
        match fs::symlink_metadata(self.partial()) {
            Ok(_) => Ok(()),
            Err(_) => Ok(check_space(&self.request.output, self.written())?),
        }
    }

    /// Returns an error unless every file exists at its length. Files exist before a journal names a task, so a file
    /// that is missing later is lost, and is not created again.
    fn check_promised(&self) -> Result<(), Error> {
        for file in &self.output.files {
            let path = self.data().join(&file.name);
            let length = fs::metadata(&path).ok().map(|facts| facts.len());
            if length != Some(file.bytes) {
                let found = length.map_or("is missing".to_owned(), |it| format!("has {it} bytes"));
                let partial = self.partial().display().to_string();
                let said = format!("{} {found} of {}", shown(&path), file.bytes);
                let said = format!("{said}, but a journal records data in it");
                let said = format!("{said}; remove {partial}, and run all tasks again");
                return Err(Error::new("corrupt", said));
            }
        }
        Ok(())
    }

    fn parent(&self) -> &Path {
        let parent = self.request.output.parent().filter(|path| !path.as_os_str().is_empty());
        parent.unwrap_or(Path::new("."))
    }

    /// Returns an error unless the name of the result is free, an empty folder, or a folder that may be replaced. A run
    /// checks this first.
    ///
    /// # Errors
    /// `exists`; `same-file` if the source is inside of the folder that would be replaced.
    ///
    /// ```
    /// # use tilewright_reshard::{Job, Request};
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
    /// let out = tempfile::tempdir().unwrap();
    /// let job = Job::prepare(Request::new(path, out.path())).unwrap();
    /// assert!(job.check_free().is_ok());
    /// std::fs::write(out.path().join("a"), "").unwrap();
    /// assert_eq!(job.check_free().unwrap_err().kind(), "exists");
    /// ```
    pub fn check_free(&self) -> Result<(), Error> {
        let path = &self.request.output;
        if self.parts_of_files.is_some() {
            return self.check_free_object();
        }
        if self.request.is_file && path.is_dir() {
            let said = "is a folder, and the result is a file by the ending of its name";
            return Err(Error::new("exists", format!("{} {said}; name another", path.display())));
        }
        if fs::symlink_metadata(path).is_err() || is_empty_folder(path) {
            return Ok(());
        }
        if !self.request.force {
            return Err(self.taken());
        }
        if let Some(source) = self.source.all_files().find(|file| lies_in(&file.path, path)) {
            let (path, source) = (path.display(), source.path.display());
            let said = format!("{path} holds the source {source}, so it is not replaced");
            return Err(Error::new("same-file", said));
        }
        let said = match self.request.is_file {
            true if path.is_file() => return Ok(()),
            true => "is not a regular file, so it is not replaced",
            false if is_checkpoint(path) => return Ok(()),
            false => {
                "does not hold only a checkpoint: only a folder of files is replaced, at least one of them a file of tensors"
            }
        };
        Err(Error::new("exists", format!("{} {said}", path.display())))
    }

    /// Returns the error of a path that has the name of the result: the finished result of this job, or another one.
    fn taken(&self) -> Error {
        let said = format!("{} exists already", self.request.output.display());
        match self.is_finished() {
            true => Error::new("exists", format!("{said}, with all files of this result"))
                .and("nothing is left to do if this run made them")
                .of_case(error::FINISHED),
            false => Error::new("exists", said).of_case(error::TAKEN),
        }
    }

    /// Returns whether the result has all of its files at their lengths, and nothing is left of the run.
    fn is_finished(&self) -> bool {
        let is_whole = |file: &File| {
            let output = &self.request.output;
            let path = if self.request.is_file { output.clone() } else { output.join(&file.name) };
            let facts = fs::metadata(path);
            facts.is_ok_and(|facts| facts.len() == file.bytes)
        };
        fs::symlink_metadata(self.partial()).is_err() && self.output.files.iter().all(is_whole)
    }

    /// Returns the tasks that no journal names, in order.
    ///
    /// # Errors
    /// `io`, and `changed` if one task has two different results.
    ///
    /// ```
    /// # use tilewright_reshard::{Job, Request};
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
    /// let folder = tempfile::tempdir().unwrap();
    /// let job = Job::prepare(Request::new(path, folder.path().join("out"))).unwrap();
    /// job.run(0..5, "first", &()).unwrap();
    /// assert_eq!(job.missing().unwrap(), [5, 6, 7]);
    /// ```
    pub fn missing(&self) -> Result<Vec<u64>, Error> {
        if self.parts_of_files.is_some() {
            let sent = self.sent()?;
            return Ok((0..self.tasks()).filter(|task| !sent.contains_key(task)).collect());
        }
        if self.whole().exists() {
            return Ok(Vec::new());
        }
        let done = journal::done(&self.journals())?;
        Ok((0..self.tasks()).filter(|task| !done.contains_key(task)).collect())
    }

    /// Makes the result visible if all tasks are done.
    ///
    /// # Errors
    /// `incomplete` with the missing tasks, `changed` for a source that was changed, `corrupt` for a source whose data
    /// differ from its recorded fingerprint, `busy` while tasks are running, `exists`, `io`.
    ///
    /// ```
    /// # use tilewright_reshard::{Job, Request};
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
    /// let folder = tempfile::tempdir().unwrap();
    /// let job = Job::prepare(Request::new(path, folder.path().join("out"))).unwrap();
    /// job.run(0..7, "first", &()).unwrap();
    /// let error = job.finish().unwrap_err();
    /// assert!(error.to_string().starts_with("1 of 8 tasks is missing; the first is task 7, "), "{error}");
    /// job.run(7..8, "second", &()).unwrap();
    /// job.finish().unwrap();
    /// assert!(folder.path().join("out/model.safetensors").exists());
    /// ```
    pub fn finish(&self) -> Result<(), Error> {
        let _claim = self.claim("finish", true)?;
        self.complete(None, &Together::new(&())).map_err(|error| self.leaving(error))
    }

    /// Compares every task with the data that were read for it, in several threads, and makes the result visible.
    ///
    /// # Errors
    /// As [`Job::finish`], and `corrupt` for a task whose result differs; `usage` for a result in a store, whose parts cannot
    /// be read before they are visible.
    ///
    /// ```
    /// # use tilewright_reshard::{Job, Request};
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
    /// let folder = tempfile::tempdir().unwrap();
    /// let job = Job::prepare(Request::new(path, folder.path().join("out"))).unwrap();
    /// job.run(0..8, "first", &()).unwrap();
    /// let partial = folder.path().join(format!("out.partial-{}", job.id()));
    /// let file = partial.join("data/model.safetensors");
    /// let mut bytes = std::fs::read(&file).unwrap();
    /// *bytes.last_mut().unwrap() ^= 1;
    /// std::fs::write(&file, bytes).unwrap();
    /// assert_eq!(job.finish_verified(2, &()).unwrap_err().kind(), "corrupt");
    /// ```
    pub fn finish_verified(&self, threads: usize, watch: &(dyn Watch + Sync)) -> Result<(), Error> {
        if self.parts_of_files.is_some() {
            let said = "the parts of a result in a store cannot be read before it is visible";
            let next = "finish it, and compare its data with those of the source";
            return Err(Error::usage(format!("{said}; {next}")));
        }
        let _claim = self.claim("finish", true)?;
        let done = self.complete(Some(threads), &Together::new(watch));
        done.map_err(|error| self.leaving(error))
    }

    /// Finishes the job for a caller that holds the claim, and compares all tasks in these threads before that, if given.
    pub(crate) fn complete(
        &self,
        compares: Option<usize>,
        watch: &Together<'_>,
    ) -> Result<(), Error> {
        if let Some(parts) = &self.parts_of_files {
            return self.complete_uploads(parts, watch);
        }
        let (whole, output) = (self.whole(), &self.request.output);
        self.check_free()?;
        // Work that is damaged is not to be continued. If no task is done, the files need not exist yet.
        if !whole.exists() && !journal::done(&self.journals())?.is_empty() {
            self.check_promised()?;
        }
        self.check_complete()?;
        let is_whole = whole.exists();
        if !is_whole {
            self.fill(watch)?;
        }
        if let Some(threads) = compares {
            let folder = if is_whole { self.whole_folder() } else { self.data() };
            let tasks: Vec<u64> = (0..self.tasks()).collect();
            let first = self.differing(&folder, &tasks, threads, watch)?.into_values().next();
            first.map_or(Ok(()), Err)?;
        }
        if watch.cancelled() {
            return Err(Error::new("cancelled", "cancelled; finished work is kept"));
        }
        if !is_whole {
            // Syncing takes long, and the name may have been taken meanwhile.
            self.check_free()?;
            rename(&self.data(), &self.whole_folder())?;
            sync_folder(&self.partial())?;
        }
        if self.request.is_file {
            return self.replace(&whole);
        }
        let old = self.partial().join("old");
        remove_filled(&old);
        if is_empty_folder(output) {
            let removed = disk::remove_folder(output);
            removed.map_err(|cause| error::io(output, "remove", &cause))?;
        } else if self.request.force && output.exists() {
            rename(output, &old)?;
        }
        self.named(disk::rename_folder(&whole, output))?;
        sync_folder(self.parent())?;
        // The result is visible; remains that cannot be removed now are removed by the next run.
        self.sweep();
        Ok(())
    }

    /// Renames the only file of the result into place.
    fn replace(&self, whole: &Path) -> Result<(), Error> {
        let output = &self.request.output;
        self.named(match self.request.force {
            true => disk::rename_folder(whole, output),
            false => disk::rename_new(whole, output),
        })?;
        sync_folder(self.parent())?;
        self.sweep();
        Ok(())
    }

    /// Returns the error of a result that did not get its name: another one may have taken it meanwhile.
    fn named(&self, renamed: io::Result<()>) -> Result<(), Error> {
        use io::ErrorKind::{AlreadyExists, DirectoryNotEmpty, NotADirectory};
        renamed.map_err(|cause| match cause.kind() {
            AlreadyExists | DirectoryNotEmpty | NotADirectory => {
                let said = format!("{} exists already", self.request.output.display());
                Error::new("exists", said).of_case(error::TAKEN)
            }
            _ => error::io(&self.request.output, "rename the result to", &cause),
        })
    }

    /// Writes headers, index and companions, and syncs all files to the disk.
    fn fill(&self, watch: &dyn Watch) -> Result<(), Error> {
        self.check_sources()?;
        self.lay_out()?;
        let (data, sums) = (self.data(), self.fingerprints()?);
        let sum = |array: usize| sums.get(array).copied().flatten();
        self.output.heads(&sum, &mut |file, patches| {
            let path = data.join(&file.name);
            let opened = OpenOptions::new().write(true).open(&path);
            let written = opened.and_then(|opened| {
                patches.iter().try_for_each(|(at, bytes)| disk::place(&opened, bytes, *at))
            });
            written.map_err(|cause| error::io(&path, "write", &cause))
        })?;
        if let Some((name, text)) = &self.output.index {
            write(&data.join(name), text.as_bytes())?;
        }
        let companions = &self.source.beside.companions;
        let stale = companions.iter().map(|path| data.join(shown(path)));
        stale.filter(|path| path.exists()).try_for_each(|path| {
            disk::remove(&path).map_err(|cause| error::io(&path, "remove", &cause))
        })?;
        Companions::these(companions.clone()).copy_to(&data, watch)?;
        self.files().try_for_each(|name| sync(&data.join(name)))?;
        sync_folder(&data)
    }

    /// Removes the remains of a run that ended just after its last rename: the result exists, and no data remain. At
    /// any other time another process may be creating files, so this runs only while no other process holds the name.
    fn sweep_finished(&self) {
        let is_there = |folder: &Path| fs::symlink_metadata(folder).is_ok();
        let output = &self.request.output;
        let is_finished = is_there(output) && !is_empty_folder(output);
        if is_finished && !is_there(&self.data()) && !is_there(&self.whole()) {
            self.sweep();
        }
    }

    /// Removes the remains of a finished run.
    fn sweep(&self) {
        let old = self.partial().join("old");
        for folder in [old, self.whole_folder(), self.journals(), self.partial()] {
            remove_filled(&folder);
        }
    }

    /// Returns an error if a source was changed since the job was made.
    pub(crate) fn check_sources(&self) -> Result<(), Error> {
        self.source.all_files().try_for_each(|file| file.check("it was opened"))
    }

    /// Returns an error if a file of the source on this system was changed. Readers of objects compare versions by themselves.
    pub(crate) fn check_local_sources(&self) -> Result<(), Error> {
        let mut local = self.source.all_files().filter(|file| !is_url(&file.path));
        local.try_for_each(|file| file.check("it was opened"))
    }

    fn check_complete(&self) -> Result<(), Error> {
        let missing = self.missing()?;
        let Some(first) = missing.first() else { return Ok(()) };
        let task = self.task(*first).map_or_else(String::new, |task| {
            format!(", tensor {:?} from {:?} on {:?}", task.tensor, task.start, task.extents)
        });
        let (count, all) = (missing.len(), self.tasks());
        let verb = if count == 1 { "is" } else { "are" };
        let said =
            format!("{count} of {all} tasks {verb} missing; the first is task {first}{task}");
        Err(Error::new("incomplete", said))
    }

    /// Returns the error of a run that cannot resume by itself, with the folder that it leaves.
    pub(crate) fn leaving(&self, error: Error) -> Error {
        if self.parts_of_files.is_some() {
            return self.leaving_object(error);
        }
        let partial = self.partial().display().to_string();
        let is_named = error.to_string().contains(&partial);
        if is_named || fs::symlink_metadata(&partial).is_err() {
            return error;
        }
        let said = match error.kind() {
            "io" | "cancelled" => {
                "holds the finished work: run the same command to continue, or remove it"
            }
            "incomplete" => {
                "holds the finished work: run the missing tasks and finish again, or remove it"
            }
            "exists" => {
                "holds the finished work: free the name and run the same command, or remove it"
            }
            _ => "is left over from this run; remove it",
        };
        error.and(&format!("{partial} {said}"))
    }

    /// Returns sentences, without a full stop, about folders that other runs for the same result have left.
    pub(crate) fn left_by_others(&self) -> Vec<String> {
        let own = self.partial();
        if self.parts_of_files.is_some() {
            return self.left_objects(&own.to_string_lossy());
        }
        let (Some(parent), Some(name)) = (own.parent(), own.file_name()) else { return Vec::new() };
        let name = name.to_string_lossy();
        let Some(prefix) = name.strip_suffix(&*self.id) else { return Vec::new() };
        let listed = fs::read_dir(parent).into_iter().flatten().flatten();
        let is_other = |path: &PathBuf| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let id = name.strip_prefix(prefix);
            *path != own && id.is_some_and(|id| id.len() == self.id.len()) && path.is_dir()
        };
        let mut found: Vec<PathBuf> =
            listed.map(|entry| entry.path()).filter(is_other).take(NAMED).collect();
        found.sort();
        let said =
            "belongs to a run with another request or source; remove it unless that run continues";
        found.iter().map(|path| format!("{} {said}", path.display())).collect()
    }

    /// Returns whether the data of an array are summed while they are read.
    pub(crate) fn sums(&self, array: usize) -> bool {
        self.output.records(array) || self.source.beside.recorded(array).is_some()
    }

    /// Returns the fingerprint of every array that is summed, from the journal entries of all tasks.
    ///
    /// # Errors
    /// `corrupt` if a source records another one.
    pub(crate) fn fingerprints(&self) -> Result<Vec<Option<Fingerprint>>, Error> {
        let arrays = self.source.arrays.len();
        let mut sums = vec![None; arrays];
        if !(0..arrays).any(|array| self.sums(array)) {
            return Ok(sums);
        }
        for (number, promise) in journal::promises(&self.journals())? {
            let Some((task, data)) = self.task(number).zip(promise.data) else { continue };
            if let Some(sum) = sums.get_mut(task.array) {
                *sum = Some(sum.unwrap_or_default() + data);
            }
        }
        self.checked_sums(sums)
    }

    /// Returns these fingerprints, or an error if a source records another one.
    pub(crate) fn checked_sums(
        &self,
        sums: Vec<Option<Fingerprint>>,
    ) -> Result<Vec<Option<Fingerprint>>, Error> {
        for (number, array) in self.source.arrays.iter().enumerate() {
            let is = sums.get(number).copied().flatten().unwrap_or_default();
            if let Some(was) = self.source.beside.recorded(number).filter(|was| *was != is) {
                let said = format!("tensor {:?} has data with fingerprint {is}", array.name);
                let said = format!("{said}, but its file records {was}: it is damaged");
                return Err(Error::new("corrupt", said));
            }
        }
        Ok(sums)
    }
}

/// Creates a file of this length, or sets the length of an existing one.
fn lay(path: &Path, bytes: u64, mode: u32) -> io::Result<()> {
    let file = match disk::create(path, mode) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            OpenOptions::new().write(true).open(path)?
        }
        made => made?,
    };
    match file.metadata()?.len() == bytes {
        true => Ok(()),
        false => disk::extend(&file, bytes),
    }
}

/// Returns whether a folder contains only files, at least one of them of tensors.
fn is_checkpoint(folder: &Path) -> bool {
    let Ok(listed) = fs::read_dir(folder) else { return false };
    let paths: Vec<PathBuf> = listed.filter_map(|entry| Some(entry.ok()?.path())).collect();
    let is_file = |path: &PathBuf| fs::symlink_metadata(path).is_ok_and(|facts| !facts.is_dir());
    let is_folder = fs::symlink_metadata(folder).is_ok_and(|facts| facts.is_dir());
    let is_one = |path: &PathBuf| {
        let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase());
        ending.is_some_and(|ending| FORMATS.contains(&&*ending))
    };
    is_folder && paths.iter().all(is_file) && paths.iter().any(is_one)
}

/// Returns whether a file is inside of a folder, after links are followed.
fn lies_in(file: &Path, folder: &Path) -> bool {
    let (file, folder) = (fs::canonicalize(file), fs::canonicalize(folder));
    matches!((file, folder), (Ok(file), Ok(folder)) if file.starts_with(&folder))
}

/// Returns the permissions of a result: those of a source, if the system knows them, so nobody may read more than
/// there.
#[cfg(unix)]
fn mode(path: &Path) -> Option<u32> {
    use std::os::unix::fs::PermissionsExt;
    Some(fs::metadata(path).ok()?.permissions().mode() & 0o777 | 0o600)
}

#[cfg(not(unix))]
fn mode(_: &Path) -> Option<u32> {
    None
}

/// Writes a small file anew.
fn write(path: &Path, text: &[u8]) -> Result<(), Error> {
    let removed = fs::symlink_metadata(path).map_or(Ok(()), |_| disk::remove(path));
    let written = removed.and_then(|()| disk::create(path, 0o666));
    let written = written.and_then(|file| disk::write(&file, text));
    written.map_err(|cause| error::io(path, "write", &cause))
}

fn rename(from: &Path, to: &Path) -> Result<(), Error> {
    disk::rename_folder(from, to).map_err(|cause| error::io(to, "rename a folder to", &cause))
}

fn sync(path: &Path) -> Result<(), Error> {
    let file = OpenOptions::new().write(true).open(path);
    file.and_then(|file| disk::sync(&file)).map_err(|cause| error::io(path, "sync", &cause))
}

/// Syncs the names of a folder to the disk, where the system can.
fn sync_folder(path: &Path) -> Result<(), Error> {
    disk::sync_folder(path).map_err(|cause| error::io(path, "sync", &cause))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Request;

    /// A name that is taken while the result is written is not replaced, and the result waits for another name.
    #[test]
    fn a_name_that_is_taken_meanwhile_is_left_alone() {
        let path =
            concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
        let folder = tilewright_testing::folder();
        for (name, inner) in [("out.safetensors", None), ("out", Some("out/model.safetensors"))] {
            let output = folder.path().join(name);
            let job = Job::prepare(Request::new(path, &output)).unwrap();
            job.run(0..job.tasks(), "all", &()).unwrap();
            job.fill(&()).unwrap();
            rename(&job.data(), &job.whole_folder()).unwrap();
            let place = match inner {
                None => {
                    fs::write(&output, "another").unwrap();
                    assert_eq!(job.replace(&job.whole()).unwrap_err().kind(), "exists");
                    output.clone()
                }
                Some(_) => {
                    fs::create_dir(&output).unwrap();
                    fs::write(output.join("own"), "another").unwrap();
                    let named = job.named(disk::rename_folder(&job.whole(), &output));
                    assert_eq!(named.unwrap_err().kind(), "exists");
                    output.join("own")
                }
            };
            assert_eq!(fs::read(&place).unwrap(), b"another");
            assert_eq!(job.finish().unwrap_err().kind(), "exists");
            fs::remove_file(&place).unwrap();
            job.finish().unwrap();
            let made = inner.map_or(output, |inner| folder.path().join(inner));
            assert!(fs::metadata(made).unwrap().len() > 7);
        }
    }

    fn name_of(job: &Job) -> &str {
        job.files().next().unwrap()
    }

    /// Returns the data of a file with all tensors of a job.
    fn tail(file: &Path, job: &Job) -> Vec<u8> {
        let bytes = fs::read(file).unwrap();
        bytes[bytes.len() - job.bytes() as usize..].to_vec()
    }

    /// Of two tasks that differ, the first is reported, whatever the number of threads.
    #[test]
    fn the_first_task_that_differs_is_reported() {
        let path =
            concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
        for threads in [1, 2, 3, 8] {
            let folder = tilewright_testing::folder();
            let job = Job::prepare(Request::new(path, folder.path().join("out"))).unwrap();
            job.run(0..8, "first", &()).unwrap();
            let file = job.data().join(name_of(&job));
            let mut text = fs::read(&file).unwrap();
            let at = text.len() - job.bytes() as usize;
            text[at..].iter_mut().for_each(|byte| *byte ^= 1);
            fs::write(&file, text).unwrap();
            let error = job.finish_verified(threads, &()).unwrap_err();
            let first = format!("tensor {:?}", job.task(0).unwrap().tensor);
            assert!(error.message().starts_with(&first), "{error}");
        }
    }

    /// A bit that changes after its task is found, whichever run wrote the task, also in a result before its last rename.
    #[test]
    fn tasks_of_earlier_runs_are_compared() {
        let path =
            concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
        for (name, threads) in [("out.safetensors", 1), ("out", 2)] {
            for state in ["resumed", "finished", "whole"] {
                let folder = tilewright_testing::folder();
                let output = folder.path().join(name);
                let job = Job::prepare(Request::new(path, &output).verify(true)).unwrap();
                let before = if state == "resumed" { 7 } else { 8 };
                job.run(0..before, "first", &()).unwrap();
                let mut data = job.data();
                if state == "whole" {
                    job.fill(&()).unwrap();
                    rename(&data, &job.whole_folder()).unwrap();
                    data = job.whole_folder();
                }
                // The last task may be the missing one, so the bit is in the first.
                let file = data.join(name_of(&job));
                let bytes = fs::metadata(&file).unwrap().len() as usize;
                let at = bytes - job.bytes() as usize;
                let flip = || {
                    let mut text = fs::read(&file).unwrap();
                    text[at] ^= 1;
                    fs::write(&file, text).unwrap();
                };
                flip();
                if state == "resumed" {
                    // The run that continues repeats the task, besides the missing one.
                    assert_eq!(job.run_all_threads(threads, &()).unwrap(), 2);
                    let file =
                        if job.request.is_file { output } else { output.join(name_of(&job)) };
                    let again = folder.path().join("again.safetensors");
                    Job::prepare(Request::new(path, &again)).unwrap().run_all(&()).unwrap();
                    assert!(fs::read(file).unwrap()[at..].ends_with(&tail(&again, &job)));
                    continue;
                }
                let error = match state {
                    "finished" => job.finish_verified(threads, &()).unwrap_err(),
                    _ => job.run_all_threads(threads, &()).unwrap_err(),
                };
                let said = "the result differs from the source";
                assert!(error.kind() == "corrupt" && error.message().contains(said), "{error}");
                assert!(!output.exists(), "{name} {state}");
                flip();
                if state == "whole" {
                    // Without the journal, the source is read again.
                    fs::remove_dir_all(job.journals()).unwrap();
                    flip();
                    let error = job.run_all_threads(threads, &()).unwrap_err();
                    assert!(error.message().contains(said), "{error}");
                    flip();
                }
                job.run_all_threads(threads, &()).unwrap();
                assert!(output.exists(), "{name} {state}");
            }
        }
    }
}
