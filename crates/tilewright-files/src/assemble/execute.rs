//! Runs an assembly: a conversion whose tensors plans make of the input, and a comparison by the recipe that verifies it.

use std::{collections::hash_map::Entry, io::Write, panic::AssertUnwindSafe};

use tilewright_relayout::{Plan, Program, Region};
use tilewright_transfer::Limits;

use crate::{
    Conversion, Error, Report, Watch,
    assemble::{
        assembling::Assembling,
        making::Making,
        pieces::{
            Give,
            whole::{Whole, number_of},
        },
        recorded::{Remade, equal},
        stored::{
            Places, Stored, Take, in_rows,
            moved::{Moved, Narrow, Rooms},
        },
    },
    commit::temporary::Temporary,
    convert::{
        job::{self, unplanned},
        output, run,
        shares::Shares,
    },
    error,
    layout::element_layout::ElementLayout,
    open::origin::Made as _,
    verify,
};

/// Writes the files of a conversion whose tensors are planned, and returns the number of compared bytes.
type WriteFiles<'w> = &'w mut dyn FnMut(&Conversion<'_>, &Limits<'_>) -> Result<Option<u64>, Error>;

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
        if self.frame.streamed {
            return Err(error::usage("the result goes to a stream; call run_to"));
        }
        self.made(watch, &mut |conversion, limits| {
            let check = |done: &[Temporary], _: &_| self.compared((conversion, done), limits);
            run::written(conversion, limits, &output::plain, &check)
        })
    }

    /// Writes the result of [`prepare_stream`](Assembling::prepare_stream), in order. After an error a part of it is written.
    ///
    /// # Errors
    /// As [`run`](Assembling::run); [usage](Error::is_usage) if the result goes to files.
    ///
    /// ```
    /// # use tilewright_files::{Assembling, Packaging, Reading, Request, open};
    /// # use tilewright_recipe::Assembly;
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
    /// # let input = open(path, &Reading::default())?;
    /// let (request, packaging) = (Request::new(), Packaging::default());
    /// let job = Assembling::prepare_stream(&input, &Assembly::default(), "-", request, &packaging)?;
    /// let mut out = Vec::new();
    /// assert_eq!(job.run_to(&mut out, &())?.bytes_written(), out.len() as u64);
    /// assert!(job.run(&()).unwrap_err().is_usage());
    /// # Ok::<(), tilewright_files::Error>(())
    /// ```
    pub fn run_to(&self, out: &mut dyn Write, watch: &dyn Watch) -> Result<Report, Error> {
        if !self.frame.streamed {
            return Err(error::usage("the result goes to a file; call run"));
        }
        self.made(watch, &mut |conversion, limits| {
            run::streamed(conversion, out, limits)?;
            self.source.check_unchanged().map(|()| None)
        })
    }

    /// Checks the conditions on the source, plans the tensors, and writes them by `write`, which returns the number of compared
    /// bytes.
    fn made(&self, watch: &dyn Watch, write: WriteFiles<'_>) -> Result<Report, Error> {
        self.source.check_sums(watch)?;
        let (rooms, memory) = self.rooms();
        let places = self.places(&rooms)?;
        let made = self.makings(&places, &rooms)?;
        let conversion = self.conversion(memory, &made);
        // Too little memory for uploads is an error before anything is written.
        conversion.left()?;
        let limits = &run::limits(&conversion, watch);
        equal::check(&self.equal, self.source, limits)?;
        let verified = write(&conversion, limits)?;
        let read = |whole: &Whole| {
            let pieces = whole.pieces.iter();
            pieces.map(|piece| piece.nest.size().saturating_mul(piece.give.width())).sum::<u64>()
        };
        let bytes_read = self.wholes.iter().map(read).fold(0, u64::saturating_add);
        let peak = limits.budget().peak().saturating_add(rooms.peak());
        Ok(Report { bytes_read, bytes_written: run::bytes_written(&conversion), verified, peak })
    }

    /// Iterates over the tensors that are read.
    fn taken(&self) -> impl Iterator<Item = Take> {
        self.wholes.iter().flat_map(Whole::taken)
    }

    /// Returns the rooms for bytes that are made, which get half of the memory if there are any, and the memory of the conversion.
    fn rooms(&self) -> (Rooms, u64) {
        let (memory, threads) = (self.frame.request.memory, self.frame.request.threads);
        let is_made = |whole: &Whole| whole.layout.is_some() || whole.narrow().is_some();
        let made = self.wholes.iter().any(is_made) || self.taken().any(|take| take.rows);
        let own = if made { memory / 2 } else { 0 };
        let left = memory - own;
        let threads = Limits::new(&(), left, threads).members(u64::MAX);
        // The pipeline has its own workers.
        let threads =
            threads.max(Shares::of_source(left, self.source.is_remote().then_some([0])).workers);
        (Rooms::new(Limits::new(&(), own, threads).budget(), threads), left)
    }

    /// Returns the tensors that are read, each with its place.
    fn places<'c>(&'c self, rooms: &'c Rooms) -> Result<Places<'c>, Error> {
        let mut places = Places::new();
        for take in self.taken() {
            if let Entry::Vacant(entry) = places.entry(take)
                && let Some(tensor) = self.source.tensors().get(take.tensor)
            {
                entry.insert(Stored::of(self.source, tensor, take.rows, rooms)?);
            }
        }
        Ok(places)
    }

    /// Returns the plan and the source of each tensor of the result.
    fn makings<'c>(
        &'c self,
        places: &'c Places<'c>,
        rooms: &'c Rooms,
    ) -> Result<Vec<Making<'c>>, Error> {
        let each = self.made.tensors().iter().zip(&self.wholes);
        each.map(|(tensor, whole)| {
            let name = tensor.name.as_str();
            let (plan, joined) = whole.planned((name, &self.source.path), places)?;
            let narrow = whole.narrow().map(|exact| {
                let lost = move |unit| self.lost((name, &tensor.held), (whole, unit), places);
                Narrow { exact, lost: AssertUnwindSafe(Box::new(lost)) }
            });
            if narrow.is_none() && whole.layout.is_none() {
                let copied = whole.is_runs();
                return Ok(Making::new(plan, Box::new(joined), (copied, number_of(&whole.fill))));
            }
            let from = Box::new(joined);
            let (program, unit, fill) = match &whole.layout {
                Some(held) => {
                    let (rows, fill) =
                        (in_rows(held).map_err(error::usage)?, job::stored_fill(name, held)?);
                    (job::program(name, &rows, held, fill)?, job::reversed(&rows, held), fill)
                }
                None => {
                    let same = unchanged((whole.units, whole.width));
                    (same.map_err(|error| unplanned(name, &error))?, 1, 0)
                }
            };
            let source = Box::new(Moved { name, plan, from, unit, narrow, rooms });
            Ok(Making::new(Plan::of(program), source, (false, fill)))
        })
        .collect()
    }

    /// Compares the files of a result with the source by the recipe, and returns the number of compared bytes.
    fn compared(
        &self,
        (conversion, done): (&Conversion<'_>, &[Temporary]),
        limits: &Limits<'_>,
    ) -> Result<u64, Error> {
        let wrong =
            |said: String| error::corrupt(&self.frame.out, format!("verification failed: {said}"));
        let mut out = verify::opened_again(conversion, done, limits.watch())?.map_err(wrong)?;
        if let (true, [array], [made]) =
            (out.is_array(), &mut out.opened.tensors[..], self.made.tensors())
        {
            array.name.clone_from(&made.name);
        }
        out.check_sums(limits.watch())?;
        let remade = Remade::new(&out, self.source, &self.assembly);
        match remade.difference(&|_, _| true, limits)? {
            Some(found) => Err(wrong(found.to_string())),
            None => Ok(out.tensors().iter().map(|tensor| tensor.len).sum()),
        }
    }

    /// Returns the error of a unit of a tensor that would lose a bit.
    fn lost(
        &self,
        (name, held): (&str, &ElementLayout),
        (whole, unit): (&Whole, u64),
        places: &Places<'_>,
    ) -> Error {
        let found = whole.pieces.iter().find_map(|piece| match piece.give {
            Give::Tensor(take, _) => Some((take, piece.nest.source_at(unit)?)),
            Give::Fill(_) => None,
        });
        let found = found.and_then(|(take, unit)| {
            Some((unit, places.get(&take)?, self.source.tensors().get(take.tensor)?))
        });
        let Some((unit, stored, from)) = found else { return error::usage("no such element") };
        let mut bytes = [0; 4];
        let read = stored.read(&mut bytes, unit * 4).and_then(|()| stored.held(&from.held));
        let own = match read {
            Ok(own) => own,
            Err(error) => return error,
        };
        let place = own.coord_at(unit * 4).map_or_else(
            || format!("in the padding at byte {}", unit * 4),
            |coord| format!("at {coord:?}"),
        );
        let (dtype, bits) = (held.dtype, u32::from_le_bytes(bytes));
        let said = format!(
            "tensor {name:?} of {dtype} would lose bits: {:?} of {} has {bits:#010x} {place}, which no {dtype} is",
            from.name, from.held.dtype
        );
        error::corrupt(&self.source.path, said)
    }
}

/// Returns the program that moves this number of units unchanged.
fn unchanged((units, width): (u64, u64)) -> Result<Program, Error> {
    let len = units.saturating_mul(width);
    let run = Region { packed: false, src: 0, dst: 0, run: len, loops: Vec::new() };
    let regions = if len > 0 { vec![run] } else { Vec::new() };
    let bits = u32::try_from(width.saturating_mul(8)).unwrap_or(u32::MAX);
    Program::of_regions(regions, (len, len), bits, 0)
}
