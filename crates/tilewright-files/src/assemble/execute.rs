//! Runs an assembly: threads share the tasks of each file, and compare its bytes the same way.

use std::{collections::hash_map::Entry, fs::File};

use tilewright_fingerprint::Fingerprint;
use tilewright_transfer::cores;

use super::{
    assembling::Assembling,
    boxed::boxed,
    exact::Exact,
    hands::{Failed, Hands, Lost, Rooms},
    prints, rows,
    stored::{Places, Stored},
    tasks::{self, Task, What},
    whole::{Way, Whole},
};
use crate::{
    Error, Report, Watch,
    commit::{disk, temporary::Temporary},
    container::{Section, Target},
    layout::held::Held,
    transfer::{
        budget::Budget,
        run::{self, Filling, Means, Written},
    },
    verify::crew::Crew,
};

/// The least memory of each thread; with less in total, fewer threads run.
const LEAST: u64 = 256 << 10;

impl Assembling<'_> {
    /// Writes the result to temporary files, which are synced, verified on request, and renamed. Conditions on the source are
    /// checked before. After an error no file of the result remains.
    ///
    /// # Errors
    /// [i/o](Error::is_io) if reading or writing fails, if a condition on the source is violated, if an element would lose a bit,
    /// or if verification finds a difference; [cancelled](Error::is_cancelled) if `watch` cancels.
    ///
    /// ```
    /// # use tilewright_core::Dtype;
    /// # use tilewright_files::{Assembling, Packaging, Reading, Request, open};
    /// # use tilewright_recipe::{Assembly, Digit, Equal, Made, Origin, Part};
    /// let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
    /// let input = open(path, &Reading::default())?;
    /// let folder = tempfile::tempdir().unwrap();
    /// let out = folder.path().join("none.safetensors");
    /// // The first elements of two tensors are not the same.
    /// let first = |tensor| Origin::Source { tensor, offset: 0 };
    /// let equal = Equal { first: first(0), second: first(1), digits: vec![], why: "the copy".into() };
    /// let assembly = Assembly { equal: vec![equal], ..Assembly::default() };
    /// let job = Assembling::prepare(&input, &assembly, &out, Request::new(), &Packaging::default())?;
    /// let error = job.run(&()).unwrap_err();
    /// assert!(error.is_io() && error.to_string().contains("the copy"));
    /// assert!(!out.exists());
    /// # Ok::<(), tilewright_files::Error>(())
    /// ```
    pub fn run(&self, watch: &dyn Watch) -> Result<Report, Error> {
        self.source.check_sums(watch)?;
        let conversion = self.conversion();
        let means = Means::new(&conversion, watch);
        self.check_equal(&means)?;
        let verified = run::filled(&conversion, &means, &Filled(self))?;
        let read = |whole: &Whole| {
            let pieces = whole.pieces.iter();
            pieces.map(|piece| piece.nest.size().saturating_mul(piece.give.width())).sum::<u64>()
        };
        let bytes_read = self.wholes.iter().map(read).fold(0, u64::saturating_add);
        Ok(Report { bytes_read, bytes_written: means.bytes, verified, peak: means.budget.peak() })
    }

    /// Returns the number of threads.
    pub(crate) fn lanes(&self) -> u64 {
        let request = &self.frame.request;
        let asked = if request.threads == 0 { cores() } else { request.threads } as u64;
        asked.min(request.memory / LEAST).clamp(1, 1024)
    }

    /// Returns the memory of each thread.
    pub(crate) fn rooms(&self) -> Rooms {
        let pieces = || self.wholes.iter().flat_map(|whole| &whole.pieces);
        let by_rows = |whole: &Whole| matches!(whole.way, Way::ByRows(_));
        let by_rows = self.wholes.iter().any(by_rows) || self.taken().any(|take| take.rows);
        let casts = pieces().any(|piece| piece.exact != Exact::Same);
        let width = self.wholes.iter().map(|whole| whole.width);
        let width = width.chain(pieces().map(|piece| piece.give.width())).max();
        Rooms::of(self.frame.request.memory / self.lanes(), (casts, by_rows), width.unwrap_or(1))
    }

    /// Returns the tensors that are read, each with its place; rows of them are made in buffers of `most` bytes.
    pub(crate) fn places(&self, budget: &Budget, most: u64) -> Result<Places<'_>, Error> {
        let mut places = Places::new();
        for take in self.taken() {
            if let Entry::Vacant(entry) = places.entry(take)
                && let Some(tensor) = self.source.tensors().get(take.tensor)
            {
                let rows = self.to_rows.get(&take.tensor).filter(|_| take.rows).cloned();
                entry.insert(Stored::of(self.source, tensor, rows, (budget, most))?);
            }
        }
        Ok(places)
    }

    /// Runs all tasks of a file.
    fn fill(&self, target: &Target, file: &File, means: &Means<'_>) -> Result<(), Error> {
        let failed = |cause| Error::io(&target.path, "write", cause);
        let length = tasks::length(target, &self.wholes);
        disk::extend(file, length).map_err(failed)?;
        let mut at = 0;
        for section in &target.sections {
            if let Section::Bytes(bytes) = section {
                disk::place(file, bytes, at).map_err(failed)?;
            }
            at += match section {
                Section::Tensor(number) => self.wholes.get(*number).map_or(0, Whole::bytes),
                other => other.len(),
            };
        }
        self.each(target, means, &|hands, task, whole| {
            self.write(hands, (task, whole), file)
                .map_err(|failed| self.told(task.made, failed))?
                .map_err(failed)
        })
    }

    /// Calls `work` with every task of a file, from threads with separate buffers.
    fn each(
        &self,
        target: &Target,
        means: &Means<'_>,
        work: &(dyn Fn(&mut Hands<'_, '_>, &Task, &Whole) -> Result<(), Error> + Sync),
    ) -> Result<(), Error> {
        let rooms = self.rooms();
        let places = self.places(&means.budget, rooms.rows)?;
        let crew = Crew::new(means.watch, &means.budget, self.lanes() as usize);
        let placed = tasks::placed(target, &self.wholes);
        let known = |task: &Task| self.wholes.get(task.made);
        let size = |task: &Task| known(task).map_or(0, |whole| task.bytes(whole));
        let all = length_of(&placed, &self.wholes);
        let budget = &means.budget;
        let join = || {
            let mut hands = Hands::new(&places, budget, rooms);
            Ok(move |task: &Task| {
                known(task).map_or(Ok(()), |whole| work(&mut hands, task, whole))?;
                Ok(None::<()>)
            })
        };
        let tasks = tasks::of(placed, &self.wholes);
        crew.first(self.lanes() as usize, tasks, (size, all, all), join).map(drop)
    }

    /// Runs one task; the inner error is that of the written file.
    fn write(
        &self,
        hands: &mut Hands<'_, '_>,
        (task, whole): (&Task, &Whole),
        file: &File,
    ) -> Result<std::io::Result<()>, Failed> {
        match (&task.what, &whole.way) {
            (What::Copy { take, from, to, len }, _) => {
                Ok(hands.copy((*take, *from), (file, task.at + to), *len)?)
            }
            (What::Box(number), Way::Boxes(grid)) => {
                let Some(part) = grid.part(*number, whole.units) else { return Ok(Ok(())) };
                let mut out = boxed(hands, whole, &part)?;
                let written = grid.runs(&part, whole.units).try_for_each(|(at, to, len)| {
                    let bytes = super::hands::part(&mut out, at * whole.width, len * whole.width);
                    let bytes = bytes.map_err(std::io::Error::other)?;
                    disk::place(file, bytes, task.at + to * whole.width)
                });
                hands.back(out);
                Ok(written)
            }
            (What::Range(range), Way::ByRows(by_rows)) => {
                let mut out = hands.range((whole, by_rows), range.clone())?;
                let bytes = super::hands::part(&mut out, 0, range.end - range.start)?;
                let written = disk::place(file, bytes, task.at + range.start);
                hands.back(out);
                Ok(written)
            }
            (What::Box(_) | What::Range(_), _) => Err(stray().into()),
        }
    }

    /// Compares the bytes of one task with the file, and returns the position of the first byte that differs.
    fn compare(
        &self,
        hands: &mut Hands<'_, '_>,
        (task, whole): (&Task, &Whole),
        file: &File,
    ) -> Result<std::io::Result<Option<u64>>, Failed> {
        match (&task.what, &whole.way) {
            (What::Copy { take, from, to, len }, _) => Ok(hands
                .differs((*take, *from), (file, task.at + to), *len)?
                .map(|at| at.map(|at| to + at))),
            (What::Box(number), Way::Boxes(grid)) => {
                let Some(part) = grid.part(*number, whole.units) else { return Ok(Ok(None)) };
                let mut out = boxed(hands, whole, &part)?;
                let mut found = Ok(None);
                for (at, to, len) in grid.runs(&part, whole.units) {
                    let bytes = super::hands::part(&mut out, at * whole.width, len * whole.width)?;
                    found = hands.apart(bytes, (file, task.at + to * whole.width))?;
                    if let Ok(None) = found {
                        continue;
                    }
                    found = found.map(|at| at.map(|at| to * whole.width + at));
                    break;
                }
                hands.back(out);
                Ok(found)
            }
            // `rows::check` compares these.
            (What::Range(_), Way::ByRows(_)) => Ok(Ok(None)),
            (What::Box(_) | What::Range(_), _) => Err(stray().into()),
        }
    }

    /// Reads a file again and compares every byte of its tensors.
    fn compared(&self, target: &Target, file: &File, means: &Means<'_>) -> Result<(), Error> {
        let failed = |cause| Error::io(&target.path, "read it back", cause);
        self.each(target, means, &|hands, task, whole| {
            let found = self.compare(hands, (task, whole), file);
            let found = found.map_err(|failed| self.told(task.made, failed))?.map_err(failed)?;
            found.map_or(Ok(()), |byte| {
                let coord = self
                    .made
                    .tensors()
                    .get(task.made)
                    .map_or(String::new(), |tensor| at(&tensor.held, byte));
                let name = self.made.tensors().get(task.made).map_or("", |tensor| &tensor.name);
                let said = format!(
                    "verification failed: tensor {name:?} is not what it was made of, {coord}"
                );
                Err(Error::corrupt(&target.path, said))
            })
        })
    }

    /// Returns the error of a task.
    fn told(&self, made: usize, failed: Failed) -> Error {
        let lost = match failed {
            Failed::Error(error) => return error,
            Failed::Lost(lost) => lost,
        };
        let Lost { take, unit } = lost;
        let (to, from) = (self.made.tensors().get(made), self.source.tensors().get(take.tensor));
        let (Some(to), Some(from)) = (to, from) else { return Error::usage("no such tensor") };
        let mut bytes = [0; 4];
        let memory = (&Budget::new(self.frame.request.memory), self.rooms().rows);
        let rows = self.to_rows.get(&take.tensor).filter(|_| take.rows).cloned();
        let read = Stored::of(self.source, from, rows, memory).and_then(|stored| {
            stored.read(&mut bytes, unit * 4)?;
            stored.held(&from.held)
        });
        let held = match read {
            Ok(held) => held,
            Err(error) => return error,
        };
        let (name, dtype, place) = (&to.name, to.held.dtype, at(&held, unit * 4));
        let bits = u32::from_le_bytes(bytes);
        let said = format!(
            "tensor {name:?} of {dtype} would lose bits: {:?} of {} has {bits:#010x} {place}, which no {dtype} is",
            from.name, from.held.dtype
        );
        Error::corrupt(&self.source.path, said)
    }
}

/// Returns the error for a task that does not belong to its tensor.
fn stray() -> Error {
    Error::usage("a task of another tensor")
}

impl Task {
    /// Returns the number of bytes of the result that the task writes.
    fn bytes(&self, whole: &Whole) -> u64 {
        match (&self.what, &whole.way) {
            (What::Copy { len, .. }, _) => *len,
            (What::Box(number), Way::Boxes(grid)) => {
                let part = grid.part(*number, whole.units);
                part.map_or(0, |part| part.size().saturating_mul(whole.width)).min(whole.bytes())
            }
            (What::Range(range), _) => range.end - range.start,
            (What::Box(_), _) => 0,
        }
    }
}

/// Returns the number of bytes of tensors.
fn length_of(placed: &[(usize, u64)], wholes: &[Whole]) -> u64 {
    let bytes = placed.iter().filter_map(|(number, _)| Some(wholes.get(*number)?.bytes()));
    bytes.fold(0, u64::saturating_add)
}

/// Returns the place of a byte of a stored tensor as text.
pub(crate) fn at(held: &Held, byte: u64) -> String {
    let layout = held.layout();
    let bits = u64::from(held.bits).max(1);
    let element = byte.saturating_mul(8) / bits;
    match layout.locate(i64::try_from(element).unwrap_or(i64::MAX)) {
        Ok(tilewright_core::Place::Element(coord)) => format!("at {:?}", coord.as_slice()),
        _ => format!("in the padding at byte {byte}"), // open set
    }
}

/// Fills the files of a result.
struct Filled<'a>(&'a Assembling<'a>);

impl Filling for Filled<'_> {
    fn write(
        &self,
        target: &Target,
        temporary: &Temporary,
        means: &Means<'_>,
    ) -> Result<Written, Error> {
        let file = temporary.writer()?;
        self.0.fill(target, &file, means)?;
        disk::sync(&file)
            .map_err(|cause| Error::io(&target.path, "bring it to the disk", cause))?;
        Ok(Written::default())
    }

    fn check(
        &self,
        done: &[Temporary],
        _: &std::collections::BTreeMap<usize, Fingerprint>,
        means: &Means<'_>,
    ) -> Result<Option<u64>, Error> {
        let job = self.0;
        let mut bytes = None;
        if job.frame.request.verify {
            for (target, temporary) in job.frame.targets.iter().zip(done) {
                let file = temporary.reader()?;
                job.compared(target, &file, means)?;
                rows::check(job, target, temporary, means)?;
                prints::check(job, target, &file, means)?;
                let placed = tasks::placed(target, &job.wholes);
                bytes = Some(bytes.unwrap_or(0) + length_of(&placed, &job.wholes));
            }
        }
        job.source.check_unchanged()?;
        Ok(bytes)
    }
}
