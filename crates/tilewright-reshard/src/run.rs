//! Tasks run: a batch of them, then a sync of the files, then a line of the journal.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::{File, OpenOptions},
    path::PathBuf,
};

use tilewright_files::Watch;

use crate::{
    Error, Job, Task,
    journal::{self, Journal, crc},
    moves::{Failed, Room},
};

/// A line of the journal promises about this many times the memory, at most [`MOST`] bytes.
const BATCH: u64 = 8;

/// The bytes of tasks after which a line of the journal is due.
const MOST: u64 = 512 << 20;

/// The most files that are open on either side.
const OPEN: usize = 256;

impl Job {
    /// Runs what is missing of these tasks, as the process `who`.
    ///
    /// # Errors
    /// `exists` where the result is there already, `io`, `changed`, `cancelled` where `watch` says so.
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
        self.lay_out()?;
        let done = journal::done(&self.journals())?;
        let todo: BTreeSet<u64> =
            tasks.into_iter().filter(|task| !done.contains_key(task)).collect();
        let bytes = |task: &u64| self.task(*task).map_or(0, |task| self.bytes_of(&task));
        watch.total(todo.iter().map(bytes).fold(0, u64::saturating_add));
        if todo.is_empty() {
            return Ok(0);
        }
        let mut journal = Journal::create(&self.journals(), who)?;
        let mut hands = Hands::new(self)?;
        let (mut batch, mut held) = (Vec::new(), 0);
        for number in &todo {
            if watch.cancelled() {
                return Err(Error::new("cancelled", "cancelled; what is done is kept"));
            }
            let Some(task) = self.task(*number) else { continue };
            batch.push((*number, hands.run(&task)?));
            held += self.bytes_of(&task);
            watch.advance(self.bytes_of(&task));
            if held >= self.request.memory.saturating_mul(BATCH).min(MOST) {
                self.promise(&mut hands, &mut journal, &mut batch)?;
                held = 0;
            }
        }
        self.promise(&mut hands, &mut journal, &mut batch)?;
        self.check_sources()?;
        Ok(todo.len() as u64)
    }

    /// Runs all that is missing, and makes the result visible.
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
    pub fn run_all(&self, watch: &dyn Watch) -> Result<u64, Error> {
        let done = self.run(0..self.tasks(), "all", watch)?;
        self.finish()?;
        Ok(done)
    }

    /// Syncs the data of a batch, and then writes its line.
    fn promise(
        &self,
        hands: &mut Hands<'_>,
        journal: &mut Journal,
        batch: &mut Vec<(u64, u32)>,
    ) -> Result<(), Error> {
        hands.writes.sync()?;
        let failed = |cause| Error::io(&self.journals(), "write a journal in", &cause);
        if !batch.is_empty() {
            journal.promise(batch).map_err(failed)?;
        }
        batch.clear();
        Ok(())
    }

    /// The most bytes of each of two buffers beside the box.
    pub(crate) fn buffers(&self) -> usize {
        (self.request.memory / 8).clamp(8 << 10, 8 << 20) as usize
    }

    /// The bytes of the box of a task.
    pub(crate) fn bytes_of(&self, task: &Task) -> u64 {
        let bits = self.source.arrays.get(task.array).map_or(0, |array| array.bits);
        task.extents.iter().fold(u64::from(bits / 8), |size, n| size.saturating_mul(*n))
    }
}

/// What runs tasks one after another: buffers and open files.
struct Hands<'j> {
    job: &'j Job,
    room: Room,
    reads: Files,
    writes: Files,
}

impl Hands<'_> {
    fn new(job: &Job) -> Result<Hands<'_>, Error> {
        let reads = job.source.files.iter().map(|file| file.path.clone()).collect();
        let data = job.data();
        let writes = job.output.files.iter().map(|file| data.join(&file.name)).collect();
        let (reads, writes) = (Files::new(reads, false), Files::new(writes, true));
        Ok(Hands { job, room: Room::new(job.buffers())?, reads, writes })
    }

    /// Runs a task, and gives the sum of its box.
    fn run(&mut self, task: &Task) -> Result<u32, Error> {
        let absent = || Error::new("io", "a task of another job");
        let from = self.job.source.arrays.get(task.array).ok_or_else(absent)?;
        let to = self.job.output.arrays.get(task.array).ok_or_else(absent)?;
        let bytes = usize::try_from(self.job.bytes_of(task)).map_err(|_| absent())?;
        self.room.begin(&task.extents, from.bits, bytes)?;
        for (stored, meet) in from.held.meets(&task.start, &task.extents) {
            let at = self.job.source.places.at(stored.file, task.array).ok_or_else(absent)?;
            let (file, path) = self.reads.open(stored.file)?;
            let read = self.room.read(file, (&stored.laid.layout, at), &meet);
            read.map_err(|failed| failure(failed, "read", path, &from.name))?;
        }
        for (stored, meet) in to.held.meets(&task.start, &task.extents) {
            let at = self.job.output.places.at(stored.file, task.array).ok_or_else(absent)?;
            let (file, path) = self.writes.open(stored.file)?;
            let written = self.room.write(file, (&stored.laid.layout, at), &meet);
            written.map_err(|failed| failure(failed, "write", path, &from.name))?;
        }
        Ok(crc(&self.room.bytes))
    }
}

fn failure(failed: Failed, doing: &str, path: &std::path::Path, tensor: &str) -> Error {
    match failed {
        Failed::File(cause) => Error::io(path, doing, &cause),
        other @ Failed::Program(_) => other.about(tensor),
    }
}

/// Files that are opened when they are needed.
struct Files {
    paths: Vec<PathBuf>,
    open: BTreeMap<usize, File>,
    written: bool,
}

impl Files {
    fn new(paths: Vec<PathBuf>, written: bool) -> Files {
        Files { paths, open: BTreeMap::new(), written }
    }

    fn open(&mut self, number: usize) -> Result<(&File, &std::path::Path), Error> {
        if self.open.len() >= OPEN && !self.open.contains_key(&number) {
            self.sync()?;
        }
        let path = self.paths.get(number).ok_or_else(|| Error::new("io", "no such file"))?;
        if let std::collections::btree_map::Entry::Vacant(place) = self.open.entry(number) {
            let file = OpenOptions::new().read(!self.written).write(self.written).open(path);
            place.insert(file.map_err(|cause| Error::io(path, "open", &cause))?);
        }
        let file = self.open.get(&number).ok_or_else(|| Error::new("io", "no such file"))?;
        Ok((file, path))
    }

    /// Brings what was written to the disk, and closes all files.
    fn sync(&mut self) -> Result<(), Error> {
        for (number, file) in std::mem::take(&mut self.open) {
            if self.written {
                let path = self.paths.get(number).map_or(std::path::Path::new(""), |path| path);
                file.sync_data().map_err(|cause| Error::io(path, "sync", &cause))?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Request, Rules};

    /// Buffers stay within the memory, whatever the sides and layouts; below 64 KiB nothing is asked.
    #[test]
    fn memory_is_bounded() {
        let folder = tempfile::tempdir().unwrap();
        let (rows, columns) = (1531u64, 700u64);
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
        ];
        for (number, (mesh, rule, layout)) in sides.into_iter().enumerate() {
            for memory in [64 << 10, 200 << 10, 1 << 20, 3 << 20] {
                let out = folder.path().join(format!("{number}-{memory}"));
                let rules = Rules::new(mesh).unwrap().rule("*", rule).unwrap();
                let request = Request::new(&input, &out).to(rules).memory(memory);
                let request = match layout {
                    Some(spec) => request.layout(spec),
                    None => request,
                };
                let job = Job::prepare(request).unwrap();
                job.lay_out().unwrap();
                let mut hands = Hands::new(&job).unwrap();
                for task in 0..job.tasks() {
                    hands.run(&job.task(task).unwrap()).unwrap();
                }
                let held = hands.room.held() as u64;
                assert!(
                    held <= memory && held >= memory / 4,
                    "{held} of {memory}: {mesh} {layout:?}"
                );
            }
        }
    }
}
