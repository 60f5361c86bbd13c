//! Prepares a conversion: every decision is made before a byte is written.

use std::{
    collections::HashSet,
    path::{Path, PathBuf},
};

use tilewright_core::Remedy;
use tilewright_notation::Lists;
use tilewright_recipe::Assembly;
use tilewright_relayout::Plan;

use crate::{
    Action, Error, FileLists, Input, Job, Request,
    assemble::making::Making,
    commit::{destination, journal, lock, new_folder::NewFolder, upload},
    container::{self, Format, NEWER, Section, Target},
    convert::{
        budget,
        request::{self, Choice, check_memory},
    },
    error,
    layout::{
        dtype,
        note_file::{self, Texts},
        quantisation,
        record::Record,
        row_table::{self, Tables},
    },
    open::{check_reading, folder::Companions, origin::Origin, place::Place, remote},
};

/// A checked conversion of one file, ready to run.
///
/// ```
/// use tilewright_files::{Action, Conversion, Reading, Request, open};
/// use tilewright_notation::Spec;
/// let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_llm_mixed.safetensors");
/// let input = open(path, &Reading::default()).unwrap();
/// let folder = tempfile::tempdir().unwrap();
/// let out = folder.path().join("zn.safetensors");
/// let request = Request::new().rule("*_proj.weight", Spec::parse("zN").unwrap()).verify(true);
/// let conversion = Conversion::prepare(&input, &out, request).unwrap();
/// let job = conversion.jobs().iter().find(|job| job.name().contains("k_proj")).unwrap();
/// assert_eq!((job.bytes_in(), job.bytes_out(), job.action()), (20_000, 26_624, &Action::Convert));
/// conversion.run(&()).unwrap();
///
/// // A second run does not replace the result.
/// let again = Request::new().rule("*_proj.weight", Spec::parse("zN").unwrap());
/// let error = Conversion::prepare(&input, &out, again).unwrap_err();
/// assert!(error.is_usage() && error.kind() == "exists");
/// ```
#[must_use]
#[derive(Debug)]
pub struct Conversion<'a> {
    pub(crate) input: &'a Input,
    /// The input whose files are read: that of a recipe, if plans make the tensors.
    pub(crate) source: &'a Input,
    pub(crate) out: PathBuf,
    /// True if the result goes to a stream.
    pub(crate) streamed: bool,
    pub(crate) format: &'static Format,
    pub(crate) request: Request,
    pub(crate) jobs: Vec<Job>,
    pub(crate) targets: Vec<Target>,
    /// The note beside the result, if its format cannot describe the layout of its array.
    pub(crate) note: Option<Texts>,
    /// The bytes of the tensors by their numbers, if these are arrays in memory.
    pub(crate) arrays: &'a [&'a [u8]],
    /// The tensors by their numbers, if plans make them of others.
    pub(crate) made: &'a [Making<'a>],
    /// The recipe that states these tensors, by which they are compared.
    #[cfg_attr(
        not(feature = "remote"),
        expect(dead_code, reason = "results in stores are compared before they are sent")
    )]
    pub(crate) recipe: Option<&'a Assembly>,
    /// The folder that the result becomes, if the input is a folder.
    pub(crate) folder: Option<NewFolder>,
}

impl<'a> Conversion<'a> {
    /// Decides for each tensor whether it is converted, and checks that the result may be written to `out` (`raw:PATH` for bytes
    /// without a header; the new index for a sharded checkpoint). An input that was opened by its folder becomes a folder, into
    /// which the files beside the tensors are copied unless they contain weights: at most 1,000 files of at most 64 MiB. A folder
    /// at `out` must be empty.
    ///
    /// Nothing is written, but files that a killed run to the same checkpoint has left are removed. A link at `out` would be
    /// replaced by a file; a device, or a link to the open file of a process, is refused.
    ///
    /// # Errors
    /// [usage](Error::is_usage) for a layout that does not fit a tensor, a pattern without a match, an output that exists, is the
    /// input or is not a regular file; [i/o](Error::is_io) for an output that cannot be written.
    ///
    /// ```
    /// use tilewright_files::{Conversion, Reading, Request, open};
    /// use tilewright_notation::Spec;
    /// let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_llm_mixed.safetensors");
    /// let input = open(path, &Reading::default()).unwrap();
    /// let zn = || Request::new().to(Spec::parse("zN").unwrap());
    /// let out = std::env::temp_dir().join("tilewright-not-written.safetensors");
    /// assert!(Conversion::prepare(&input, &out, zn().skip_unfit(true)).is_ok());
    ///
    /// let error = Conversion::prepare(&input, &out, zn()).unwrap_err();
    /// assert!(error.is_usage() && error.to_string().contains("rank 1"));
    /// let error = Conversion::prepare(&input, path, zn().skip_unfit(true)).unwrap_err();
    /// assert_eq!(error.kind(), "same-file");
    /// ```
    pub fn prepare(
        input: &'a Input,
        out: impl AsRef<Path>,
        request: Request,
    ) -> Result<Conversion<'a>, Error> {
        if let Some(folder) = &input.folder {
            let folder = NewFolder::new(out.as_ref(), Companions::of(folder, input)?)?;
            return Conversion::of_folder(input, folder, request);
        }
        let out = Place::parse(out.as_ref());
        destination::check_name(&out.path)?;
        let swept = |format: &Format, out: &Place, _: &Request| swept(input, format, &out.path);
        Conversion::decided(input, out, request, swept, checked_jobs)?.allowed()
    }

    /// Prepares the conversion of a folder, whose checkpoint keeps its name unless its format is only read.
    fn of_folder(
        input: &'a Input,
        folder: NewFolder,
        request: Request,
    ) -> Result<Conversion<'a>, Error> {
        let (own, name) = (input.container_format(), input.path.file_name().unwrap_or_default());
        let (name, format) = match input.opened.container.can_become(own) {
            true => (name, own),
            false => (NEWER.0.as_ref(), NEWER.1),
        };
        let out = Place { path: folder.path.join(name), format: Some(format) };
        let may_go = |_: &'static Format, _: &Place, _: &Request| Ok(());
        let conversion = Conversion::decided(input, out, request, may_go, checked_jobs)?;
        Conversion { folder: Some(folder), ..conversion }.ordered().map(Conversion::settled)
    }

    /// Prepares the conversion of arrays in memory, whose bytes are `arrays`; `jobs` makes the job of each.
    pub(crate) fn of_arrays(
        input: &'a Input,
        arrays: &'a [&'a [u8]],
        out: Place,
        request: Request,
        jobs: impl FnOnce(&Input, &'static Format, &Request) -> Result<Vec<Job>, Error>,
    ) -> Result<Conversion<'a>, Error> {
        let swept = |format: &Format, out: &Place, _: &Request| match format.array {
            Some(_) if !remote::is_url(&out.path) => lock::sweep(&out.path),
            _ => Ok(()),
        };
        let conversion = Conversion::decided(input, out, request, swept, jobs)?.allowed()?;
        Ok(Conversion { arrays, ..conversion })
    }

    /// Returns the conversion if its files may be written.
    fn allowed(self) -> Result<Conversion<'a>, Error> {
        destination::check(self.input, &self.targets, self.request.force)?;
        if self.keeps_note() {
            note_file::check_free(&self.out)?;
        }
        self.ordered().map(Conversion::settled)
    }

    /// Returns the conversion with the kernels of a result that is written in order, if that is one in an object store.
    fn ordered(mut self) -> Result<Conversion<'a>, Error> {
        if self.is_upload() {
            let memory = self.left()?;
            self.jobs.iter_mut().try_for_each(|job| job.in_order(memory))?;
        }
        Ok(self)
    }

    /// Returns the memory for moving data.
    pub(crate) fn left(&self) -> Result<u64, Error> {
        match self.is_upload() {
            true => {
                upload::left(&self.targets, &self.jobs, (self.request.memory, self.request.verify))
            }
            false => Ok(self.request.memory),
        }
    }

    /// Returns whether the result goes to an object store.
    pub(crate) fn is_upload(&self) -> bool {
        remote::is_url(&self.out)
    }

    /// Returns whether a note is written beside the result.
    pub(crate) fn keeps_note(&self) -> bool {
        self.note.is_some() && !self.streamed && !self.is_upload()
    }

    /// Makes the job of every tensor of a result that is written in order to a stream, by [`run_to`](Conversion::run_to). `out`
    /// may name its format; `-` and `raw:-` do not.
    ///
    /// # Errors
    /// [usage](Error::is_usage) as [`prepare`](Conversion::prepare), and for a checkpoint of several files or a result that is to
    /// be verified.
    ///
    /// ```
    /// use tilewright_files::{Conversion, Reading, Request, open_stream};
    /// use tilewright_notation::{Spec, dtype};
    /// let reading = Reading::default().dims(&[2, 3]).dtype(dtype("u8").unwrap());
    /// let input = open_stream(&[1, 2, 3, 4, 5, 6][..], "-", &reading).unwrap();
    /// let request = Request::new().to(Spec::parse("col-major").unwrap());
    /// let conversion = Conversion::prepare_stream(&input, "-", request.clone()).unwrap();
    /// let mut out = Vec::new();
    /// conversion.run_to(&mut out, &()).unwrap();
    /// assert_eq!(out, [1, 4, 2, 5, 3, 6]);
    /// assert!(Conversion::prepare_stream(&input, "-", request.verify(true)).unwrap_err().is_usage());
    /// ```
    pub fn prepare_stream(
        input: &'a Input,
        out: impl AsRef<Path>,
        request: Request,
    ) -> Result<Conversion<'a>, Error> {
        let out = Place::parse(out.as_ref());
        let to_stream = |format: &Format, _: &Place, request: &Request| {
            destination::check_stream(format, request)
        };
        let mut conversion = Conversion::decided(input, out, request, to_stream, checked_jobs)?;
        let memory = conversion.request.memory;
        conversion.jobs.iter_mut().try_for_each(|job| job.in_order(memory))?;
        Ok(Conversion { streamed: true, ..conversion }.settled())
    }

    /// Returns the conversion without sums of data that are neither written nor compared.
    fn settled(mut self) -> Conversion<'a> {
        let placed = |section: &Section| match section {
            Section::Data(number) => Some(*number),
            _ => None,
        };
        let sections = self.targets.iter().flat_map(|target| &target.sections);
        let placed: HashSet<usize> = sections.filter_map(placed).collect();
        let noted = self.keeps_note();
        for (number, job) in self.jobs.iter_mut().enumerate() {
            if job.record == Record::Summed && !noted && !placed.contains(&number) {
                job.record = Record::None;
            }
        }
        self
    }

    /// Prepares a conversion: `may_go` checks the destination, `jobs` makes the jobs of the tensors.
    fn decided(
        input: &'a Input,
        out: Place,
        mut request: Request,
        may_go: impl FnOnce(&'static Format, &Place, &Request) -> Result<(), Error>,
        jobs: impl FnOnce(&Input, &'static Format, &Request) -> Result<Vec<Job>, Error>,
    ) -> Result<Conversion<'a>, Error> {
        check_memory(request.memory)?;
        request = request.spelled()?;
        // Those of the input and of the result; verification reads both again.
        let sets = if request.verify { 4 } else { 2 };
        request.memory = {
            let tensors = input.tensors().len();
            budget::beside(request.memory, tensors, tensors.saturating_mul(sets))?
        };
        check_reading(input.container_format(), &request.reading)?;
        let format = destination::format_of(input, &out)?;
        may_go(format, &out, &request)?;
        let jobs = jobs(input, format, &request)?;
        check_new(input, format, &jobs, request.force)?;
        let targets = input.plan(format, &out.path, &jobs)?;
        let note = input.note(format, &jobs);
        let (out, streamed) = (out.path, false);
        Ok(Conversion {
            input,
            source: input,
            out,
            streamed,
            format,
            request,
            jobs,
            targets,
            note,
            arrays: &[],
            made: &[],
            recipe: None,
            folder: None,
        })
    }

    /// Returns the plan that moves the elements of a job, from the source that [`place`](Conversion::place) returns.
    pub(crate) fn plan(&self, job: &Job) -> Result<Plan, Error> {
        self.made.get(job.tensor).map_or_else(|| job.plan(), |made| Ok(made.plan.clone()))
    }

    /// Returns the source of the bytes of the tensor of this number, and the position of the first.
    pub(crate) fn place(&self, tensor: usize) -> Result<Option<(Origin<'a>, u64)>, Error> {
        if let Some(made) = self.made.get(tensor) {
            return Ok(Some(made.origin()));
        }
        if let Some(bytes) = self.arrays.get(tensor) {
            return Ok(Some((Origin::Memory(bytes, &self.input.path), 0)));
        }
        let Some(tensor) = self.input.tensors().get(tensor) else { return Ok(None) };
        self.input.place(tensor).map(|(source, at)| Some((Origin::File(source), at)))
    }

    /// Returns the job of each tensor, in the order of the input.
    ///
    /// ```
    /// # use tilewright_files::{Conversion, Reading, Request, open};
    /// # use tilewright_notation::Spec;
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_llm_mixed.safetensors");
    /// # let input = open(path, &Reading::default()).unwrap();
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let out = folder.path().join("zn.safetensors");
    /// # let request = Request::new().rule("*.k_proj.weight", Spec::parse("zN").unwrap());
    /// # let conversion = Conversion::prepare(&input, &out, request.verify(true)).unwrap();
    /// assert_eq!(conversion.jobs().len(), input.tensors().len());
    /// ```
    pub fn jobs(&self) -> &[Job] {
        &self.jobs
    }

    /// Returns whether the result goes to a stream.
    ///
    /// ```
    /// # use tilewright_files::{Conversion, Reading, Request, open};
    /// # use tilewright_notation::Spec;
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_llm_mixed.safetensors");
    /// # let input = open(path, &Reading::default()).unwrap();
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let out = folder.path().join("zn.safetensors");
    /// # let request = Request::new().rule("*.k_proj.weight", Spec::parse("zN").unwrap());
    /// # let conversion = Conversion::prepare(&input, &out, request.verify(true)).unwrap();
    /// assert!(!conversion.is_streamed());
    /// ```
    pub fn is_streamed(&self) -> bool {
        self.streamed
    }

    /// Returns the formats of the input and of the result.
    ///
    /// ```
    /// # use tilewright_files::{Conversion, Reading, Request, open};
    /// # use tilewright_notation::Spec;
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_llm_mixed.safetensors");
    /// # let input = open(path, &Reading::default()).unwrap();
    /// # let folder = tempfile::tempdir().unwrap();
    /// let out = folder.path().join("k.npy");
    /// let request = Request::new().to(Spec::parse("zN").unwrap()).only("*layers.0*.k_proj.weight");
    /// let conversion = Conversion::prepare(&input, &out, request).unwrap();
    /// assert_eq!(conversion.formats(), ("safetensors", "npy"));
    /// ```
    pub fn formats(&self) -> (&'static str, &'static str) {
        (self.input.format(), self.format.name)
    }

    /// Iterates over warnings about lost or skipped information, as sentences without a full stop.
    ///
    /// ```
    /// use tilewright_files::{Conversion, Reading, Request, open_stream};
    /// use tilewright_notation::{Spec, dtype};
    /// let reading = Reading::default().dims(&[2, 3]).dtype(dtype("u8").unwrap());
    /// let input = open_stream(&[1, 2, 3, 4, 5, 6][..], "-", &reading).unwrap();
    /// let request = Request::new().to(Spec::parse("col-major").unwrap());
    /// let conversion = Conversion::prepare_stream(&input, "-", request).unwrap();
    /// let said: Vec<String> = conversion.warnings().collect();
    /// assert!(said[0].ends_with("its layout is `u8[2,3] col-major`"));
    /// ```
    pub fn warnings(&self) -> impl Iterator<Item = String> {
        let noted = self.note.is_some() && !self.keeps_note();
        let lost = self.jobs.first().filter(|_| noted).and_then(unnoted);
        let left = match self.format.array.is_some() && !self.input.is_array() {
            true => self.input.facts().len(),
            false => 0,
        };
        let left = (left > 0).then(|| {
            let shown = self.format.shown;
            format!("{shown} cannot store metadata: the metadata of the file is skipped ({left})")
        });
        let stays = self.folder.as_ref().and_then(|folder| folder.companions.warning());
        let trusted = self.request.any_config || !self.arrays.is_empty();
        let copied = self.folder.is_some();
        let remark = (!trusted).then(|| quantisation::remark(self.input, &self.jobs, copied));
        let own = lost.into_iter().chain(left).chain(self.strays()).chain(self.retyped());
        let long = self.format.too_long(self.jobs.iter().map(Job::name));
        let link = destination::replaced_link(&self.out);
        let own = own.chain(stays).chain(remark.flatten()).chain(long).chain(link);
        self.input.warnings().chain(own)
    }

    /// Returns the file in which the layout of the result is noted, if the result's own header cannot describe it. Readers of
    /// the result need it. Bytes without a header need a description anyway, so none is named for them.
    ///
    /// ```
    /// use tilewright_files::{Conversion, Reading, Request, open};
    /// use tilewright_notation::Spec;
    /// let input = open(concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_conv.npy"), &Reading::default()).unwrap();
    /// let folder = tempfile::tempdir().unwrap();
    /// let request = Request::new().to(Spec::parse("NC1HWC0").unwrap());
    /// let conversion = Conversion::prepare(&input, folder.path().join("a.npy"), request).unwrap();
    /// assert_eq!(conversion.layout_file(), Some(folder.path().join("a.npy.tilewright.json")));
    /// ```
    pub fn layout_file(&self) -> Option<PathBuf> {
        let is_noted = self.note.is_some() && !self.streamed && *self.format != container::RAW;
        is_noted.then(|| note_file::path_of(&self.out))
    }

    /// Returns warnings about padding or data that the input describes of a tensor whose layout it does not note, if the result
    /// notes one.
    fn strays(&self) -> Vec<String> {
        if self.input.container_format() != self.format {
            return Vec::new();
        }
        let facts = self.input.facts().into_iter();
        let facts = facts.filter_map(|fact| Some((fact.goes_with?, fact.about)));
        let mut stray = facts.peekable();
        if stray.peek().is_none() {
            return Vec::new();
        }
        let tensors = self.input.tensors();
        let anew = |job: &&Job| tensors.get(job.tensor).is_some_and(|own| job.says_anew(own));
        let moved: HashSet<&str> = self.jobs.iter().filter(anew).map(Job::name).collect();
        let said = |(_, about): (String, String)| {
            format!("{about} is left out: its tensor has no recorded layout")
        };
        stray.filter(|(name, _)| moved.contains(name.as_str())).map(said).collect()
    }

    /// Returns warnings about elements that are read as another type than the file states.
    fn retyped(&self) -> impl Iterator<Item = String> {
        let of = |job: &Job| {
            let tensor = self.input.tensors().get(job.tensor)?;
            let own = dtype::stated_type(&tensor.file_dtype).filter(|_| tensor.noted.is_none())?;
            let (name, read) = (&tensor.name, job.from.dtype);
            let other = own != read && own.storage_bits() == read.storage_bits();
            other.then(|| {
                format!(
                    "tensor {name:?}: its elements are {own} in the file, and are read as {read}"
                )
            })
        };
        self.jobs.iter().filter_map(of)
    }

    /// Returns the path of the result.
    ///
    /// ```
    /// # use tilewright_files::{Conversion, Reading, Request, open};
    /// # use tilewright_notation::Spec;
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_llm_mixed.safetensors");
    /// # let input = open(path, &Reading::default()).unwrap();
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let out = folder.path().join("zn.safetensors");
    /// # let request = Request::new().rule("*.k_proj.weight", Spec::parse("zN").unwrap());
    /// # let conversion = Conversion::prepare(&input, &out, request.verify(true)).unwrap();
    /// assert_eq!(conversion.out(), out);
    /// ```
    pub fn out(&self) -> &Path {
        self.folder.as_ref().map_or(&self.out, |folder| &folder.out)
    }

    /// Iterates over the files that are copied unchanged if a folder is converted: those beside its tensors that hold no weights.
    ///
    /// ```
    /// use tilewright_files::{Conversion, Reading, Request, open};
    /// use tilewright_notation::Spec;
    /// let folder = tempfile::tempdir().unwrap();
    /// let model = folder.path().join("model");
    /// std::fs::create_dir(&model).unwrap();
    /// let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
    /// std::fs::copy(path, model.join("model.safetensors")).unwrap();
    /// std::fs::write(model.join("config.json"), "{}").unwrap();
    ///
    /// let input = open(&model, &Reading::default()).unwrap();
    /// let out = folder.path().join("columns");
    /// let request = Request::new().to(Spec::parse("col-major").unwrap());
    /// let conversion = Conversion::prepare(&input, &out, request).unwrap();
    /// assert!(conversion.companions().eq([model.join("config.json")]));
    /// conversion.run(&()).unwrap();
    /// assert_eq!(std::fs::read(out.join("config.json")).unwrap(), b"{}");
    /// assert_eq!(open(&out, &Reading::default()).unwrap().tensors().len(), 8);
    /// ```
    pub fn companions(&self) -> impl Iterator<Item = &Path> {
        self.folder.iter().flat_map(|folder| folder.companions.taken.iter().map(PathBuf::as_path))
    }
}

/// Removes what killed runs have left beside a result of this format.
pub(crate) fn swept(input: &Input, format: &Format, out: &Path) -> Result<(), Error> {
    if remote::is_url(out) {
        return Ok(());
    }
    if format.several {
        destination::check_folder(out)?;
    }
    if format.several || format.array.is_some() {
        lock::sweep(out)?;
    }
    if format.several { journal::recover(out, &|path| input.holds(path)) } else { Ok(()) }
}

/// Returns a warning that a stream does not record the layout of its one array, unless that is row-major.
pub(crate) fn unnoted(job: &Job) -> Option<String> {
    let said = || {
        let spec = job.to.spec();
        format!("no note can be written beside the result: its layout is `{spec}`")
    };
    (!job.is_plain()).then(said)
}

/// Returns an error if the result would equal the input: then it was converted before.
fn check_new(input: &Input, format: &Format, jobs: &[Job], force: bool) -> Result<(), Error> {
    let of = |job: &Job| input.tensors().get(job.tensor);
    let anew = |job: &Job| of(job).is_none_or(|tensor| job.says_anew(tensor));
    if force || input.container_format() != format || jobs.iter().any(anew) {
        return Ok(());
    }
    let noted = |job: &Job| of(job).is_some_and(|tensor| tensor.noted.is_some());
    let mut so = jobs.iter().filter(|job| job.already_so && noted(job));
    let Some(first) = so.next() else { return Ok(()) };
    let (path, spec) = (input.path.display(), first.to.spec());
    let more = match so.count() {
        0 => String::new(),
        1 => ", and so does 1 other, as requested".to_owned(),
        more => format!(", and so do {more} others, as requested"),
    };
    let name = &first.name;
    let said = format!(
        "{path} is converted already: tensor {name:?} has layout `{spec}` in its note{more}"
    );
    Err(error::converted(said))
}

/// Returns the name that the single array of an input gets in a result of this format, if it gets one.
pub(crate) fn array_name(input: &Input, format: &Format) -> Option<String> {
    (input.is_array() && format.array.is_none()).then(|| input.array_name())
}

/// Returns the number of the single tensor of an input that a result of this format holds; `None` if it holds all.
pub(crate) fn the_one(
    input: &Input,
    format: &Format,
    request: &Request,
) -> Result<Option<usize>, Error> {
    if input.is_array() || format.array.is_none() {
        return Ok(None);
    }
    let only = request::only(request, input.tensors())?;
    let all = input.tensors().iter().enumerate();
    let meant = all.filter(|(_, tensor)| request::is_meant(&only, &tensor.name));
    let meant: Vec<(usize, &str)> =
        meant.map(|(number, tensor)| (number, tensor.name.as_str())).collect();
    let (path, shown) = (input.path.display(), format.shown);
    match meant.as_slice() {
        [(one, _)] => Ok(Some(*one)),
        [(_, first), (_, second), ..] => {
            let all = meant.len();
            let said = format!(
                "{path}: {shown} holds one tensor, but {all} are selected, such as {first:?} and {second:?}"
            );
            Err(error::usage(said).with(&[Remedy::Name]))
        }
        [] => Err(error::usage(format!("{path} holds no tensor, {shown} holds one"))),
    }
}

/// Returns the jobs of a request for every tensor of an input that becomes a file of this format.
pub(crate) fn jobs(
    input: &Input,
    format: &'static Format,
    request: &Request,
) -> Result<Vec<Job>, Error> {
    jobs_of((input, &[]), format, request)
}

/// Returns the jobs of a request, after comparing their formats with the quantisation that the files state.
fn checked_jobs(
    input: &Input,
    format: &'static Format,
    request: &Request,
) -> Result<Vec<Job>, Error> {
    let mut jobs = jobs(input, format, request)?;
    quantisation::check(input, request, &mut jobs)?;
    Ok(jobs)
}

/// Returns the jobs of a request for an input whose tensors may be in memory.
pub(crate) fn jobs_of(
    (input, arrays): (&Input, &[&[u8]]),
    format: &'static Format,
    request: &Request,
) -> Result<Vec<Job>, Error> {
    let choice = Choice::new(request, input.tensors())?;
    // Both formats state a byte order, else the lowest byte is first.
    let ordered = format.orders && input.container_format().orders;
    let (all, only) = (input.tensors().iter().enumerate(), the_one(input, format, request)?);
    let name = array_name(input, format);
    let (mut jobs, tables) = (Vec::new(), Tables::of_arrays(input, arrays));
    for (number, tensor) in all.filter(|(number, _)| only.is_none_or(|only| only == *number)) {
        let mut job = match choice.of(&tensor.name) {
            // A layout applies to a tensor that is not an array only if the tensor is named.
            Some(_) if tensor.is_other() && request.only.is_empty() => {
                let why = tensor.refusal.clone().unwrap_or_default();
                Job::copy(number, tensor, Action::Skip(why))
            }
            Some(spec) => {
                let lists = FileLists::of(input).beside(&tensor.name);
                let asked = (ordered, &lists as &dyn Lists);
                let job = Job::new(number, (&input.path, tensor), spec, request, asked)?;
                match tables.permuted(tensor, &job.from, &job.to)? {
                    Some(why) if request.skip_unfit => Job::copy(number, tensor, Action::Skip(why)),
                    Some(why) => return Err(row_table::refused(why)),
                    None => job,
                }
            }
            None => Job::copy(number, tensor, Action::Copy),
        };
        if let Some(name) = &name {
            job.name.clone_from(name);
        }
        if job.to.order.is_big() && !format.orders {
            return Err(error::usage(format!(
                "tensor {:?}: its elements are big-endian, which {} does not store; convert it to a little-endian layout",
                tensor.name, format.shown
            )));
        }
        jobs.push(job);
    }
    Ok(jobs)
}
