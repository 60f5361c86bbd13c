//! Prepares the assembly of a result by a recipe: every decision is made before a byte is written.

use std::{collections::HashSet, path::Path};

use tilewright_recipe::{Assembly, Recipe, Sizes};

use crate::{
    Action, Conversion, Error, Input, Request, Tensor,
    assemble::{
        making::Making,
        packaging::{self, Messages, Packaging},
        pieces::{Give, made, whole::Whole},
        recorded::{self, equal::Equality},
    },
    commit::destination,
    convert::{budget, conversion, request::check_memory},
    error,
    open::check_reading,
};

/// The tensors of a result that a recipe assembles from those of a source; [`prepare`](Assembling::prepare) makes it, and
/// [`run`](Assembling::run) writes it.
///
/// ```
/// use tilewright_core::Dtype;
/// use tilewright_files::{Assembling, Packaging, Reading, Request, open};
/// use tilewright_recipe::{Assembly, Digit, Made, Origin, Part};
/// let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
/// let input = open(path, &Reading::default())?;
/// let number = input.tensors().iter().position(|tensor| tensor.name() == "3.weight").unwrap();
/// let &[rows, columns] = input.tensors()[number].dims() else { panic!() };
/// // The transposed weight, alone.
/// let digits = vec![
///     Digit { extent: columns, source: 1, made: rows },
///     Digit { extent: rows, source: columns, made: 1 },
/// ];
/// let part = Part { origin: Origin::Source { tensor: number, offset: 0 }, offset: 0, digits };
/// let (name, extents) = ("turned".into(), vec![columns, rows]);
/// let made = Made { name, dtype: Dtype::F32, extents, layout: None, parts: vec![part] };
/// let assembly = Assembly { made: vec![made], ..Assembly::default() };
/// let folder = tempfile::tempdir().unwrap();
/// let out = folder.path().join("turned.safetensors");
/// let request = Request::new().verify(true);
/// let job = Assembling::prepare(&input, &assembly, &out, request, &Packaging::default())?;
/// job.run(&())?;
/// assert_eq!(open(&out, &Reading::default())?.tensors()[0].dims(), [columns, rows]);
///
/// // A part that reaches beyond its source is refused before a byte is read.
/// let mut wrong = assembly.clone();
/// wrong.made[0].parts[0].origin = Origin::Source { tensor: number, offset: 1 };
/// let beyond = folder.path().join("beyond.safetensors");
/// let error = Assembling::prepare(&input, &wrong, &beyond, Request::new(), &Packaging::default());
/// assert!(error.unwrap_err().to_string().contains("tensor \"turned\" reaches element"));
/// # Ok::<(), tilewright_files::Error>(())
/// ```
#[must_use]
#[derive(Debug)]
pub struct Assembling<'a> {
    pub(crate) source: &'a Input,
    pub(crate) assembly: Assembly,
    /// The result, as an input that holds its tensors.
    pub(crate) made: Input,
    pub(crate) frame: packaging::Frame,
    pub(crate) wholes: Vec<Whole>,
    pub(crate) equal: Vec<Equality>,
    pub(crate) rows: Vec<Row>,
    /// Messages about the recipe, the configuration and the metadata.
    messages: Messages,
}

/// The description of one tensor of a result, as `--dry-run` shows it.
///
/// ```
/// # use tilewright_files::{Assembling, Packaging, Reading, Request, open};
/// # use tilewright_recipe::{Assembly, Made, Origin, Part};
/// # use tilewright_core::Dtype;
/// let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
/// let input = open(path, &Reading::default())?;
/// let part = Part { origin: Origin::Fill(7), offset: 0, digits: Vec::new() };
/// let made = Made { name: "seven".into(), dtype: Dtype::U8, extents: vec![], layout: None, parts: vec![part] };
/// let assembly = Assembly { made: vec![made], ..Assembly::default() };
/// let folder = tempfile::tempdir().unwrap();
/// let out = folder.path().join("seven.safetensors");
/// let job = Assembling::prepare(&input, &assembly, &out, Request::new(), &Packaging::default())?;
/// let row = &job.rows()[0];
/// assert_eq!((row.name.as_str(), row.spec.as_str(), row.bytes), ("seven", "u8[] row-major", 1));
/// assert!(row.sources.is_empty());
/// # Ok::<(), tilewright_files::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Its name.
    pub name: String,
    /// Its layout: a SPEC with its dims and its element type.
    pub spec: String,
    /// The names of the tensors from which it is assembled, in the order of their elements in it.
    pub sources: Vec<String>,
    /// Its number of bytes in the result.
    pub bytes: u64,
    /// `copy` if bytes are copied in long runs, `relayout` if elements are moved to their places in memory.
    pub how: &'static str,
}

impl<'a> Assembling<'a> {
    /// Makes all decisions, and writes nothing. The tensors of `assembly`, whose sources are numbers of [`Input::tensors`],
    /// followed by those of [`Input::tied`], become a file of the format that `out` names, else of that of the input; a folder
    /// becomes a folder.
    ///
    /// The request's memory, threads, verification and permission to overwrite are used.
    ///
    /// # Errors
    /// [usage](Error::is_usage) for an assembly whose parts do not give each element of a tensor, reach beyond their tensors or
    /// change values, for layouts that do not fit, and for an invalid destination; [i/o](Error::is_io) if files cannot be read.
    ///
    /// ```
    /// use tilewright_files::{Assembling, Packaging, Reading, Request, open};
    /// use tilewright_recipe::Assembly;
    /// let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
    /// let input = open(path, &Reading::default())?;
    /// let (assembly, packaging) = (Assembly::default(), Packaging::default());
    /// let error = Assembling::prepare(&input, &assembly, path, Request::new(), &packaging).unwrap_err();
    /// assert_eq!(error.kind(), "same-file");
    /// # Ok::<(), tilewright_files::Error>(())
    /// ```
    pub fn prepare(
        input: &'a Input,
        assembly: &Assembly,
        out: impl AsRef<Path>,
        request: Request,
        packaging: &Packaging<'_>,
    ) -> Result<Assembling<'a>, Error> {
        Assembling::prepared(input, assembly, (out.as_ref(), false), request, packaging)
    }

    /// Makes the decisions for a result that is written in order to a stream, by [`run_to`](Assembling::run_to). `out` may name
    /// its format; `-` does not.
    ///
    /// # Errors
    /// As [`prepare`](Assembling::prepare); [usage](Error::is_usage) for a result of several files, and for one that is to be
    /// verified.
    ///
    /// ```
    /// use tilewright_files::{Assembling, Packaging, Reading, Request, open};
    /// use tilewright_recipe::Assembly;
    /// let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
    /// let input = open(path, &Reading::default())?;
    /// let prepared = |request| {
    ///     Assembling::prepare_stream(&input, &Assembly::default(), "npz:-", request, &Packaging::default())
    /// };
    /// let mut out = Vec::new();
    /// prepared(Request::new())?.run_to(&mut out, &())?;
    /// assert!(out.starts_with(b"PK"));
    /// assert!(prepared(Request::new().verify(true)).unwrap_err().is_usage());
    /// # Ok::<(), tilewright_files::Error>(())
    /// ```
    pub fn prepare_stream(
        input: &'a Input,
        assembly: &Assembly,
        out: impl AsRef<Path>,
        request: Request,
        packaging: &Packaging<'_>,
    ) -> Result<Assembling<'a>, Error> {
        Assembling::prepared(input, assembly, (out.as_ref(), true), request, packaging)
    }

    fn prepared(
        input: &'a Input,
        assembly: &Assembly,
        out: (&Path, bool),
        mut request: Request,
        packaging: &Packaging<'_>,
    ) -> Result<Assembling<'a>, Error> {
        check_memory(request.memory)?;
        let sets = input.tensors().len().saturating_add(assembly.made.len());
        request.memory =
            budget::beside(request.memory, input.tensors().len(), sets.saturating_mul(2))?;
        check_reading(input.container_format(), &request.reading)?;
        if !input.is_array() && !request.reading.is_silent() {
            let (path, shown) = (input.path.display(), input.container_format().shown);
            return Err(error::usage(format!(
                "{path}: a recipe reads the tensors of a {shown} file as the file states them; a layout, dims and an element type apply only to a file of one array"
            )));
        }
        let (place, folder) = packaging::placed(input, out, &request)?;
        let format = place.format.unwrap_or(input.container_format());
        let known = made::known(input, assembly);
        let made = assembly.made.iter().map(|made| made::made(made, &known, format.orders));
        let (tensors, wholes): (Vec<_>, Vec<_>) =
            made.collect::<Result<Vec<_>, Error>>()?.into_iter().unzip();
        let equal = assembly.equal.iter().map(|equal| Equality::of(equal, &known));
        let equal = equal.collect::<Result<Vec<_>, Error>>()?;
        let (made, mut frame) = packaging::framed(
            input,
            tensors,
            (place, folder, out),
            (request, packaging, assembly),
        )?;
        let config = &assembly.config;
        let mut messages = match &mut frame.folder {
            Some(folder) => packaging::configure(input, &mut folder.companions, config)?,
            None => Messages {
                cautions: packaging::unconfigured(input, config)?.into_iter().collect(),
                ..Messages::default()
            },
        };
        messages.cautions.splice(0..0, assembly.notes.iter().cloned());
        messages.cautions.extend(packaging::misplaced(frame.format, assembly));
        messages.cautions.extend(packaging::unrecorded(&frame, assembly));
        messages.cautions.extend(unkept(input, &frame, assembly));
        messages.cautions.extend(made.opened.container.cautions());
        let names = made.tensors().iter().map(|tensor| tensor.name.as_str());
        messages.cautions.extend(frame.format.too_long(names));
        let each = made.tensors().iter().zip(&wholes);
        let rows = each.map(|(tensor, whole)| row(input, tensor, whole)).collect();
        let (source, assembly) = (input, assembly.clone());
        Ok(Assembling { source, assembly, made, frame, wholes, equal, rows, messages })
    }

    /// Checks that each tensor of an assembly can be made, as [`prepare`](Assembling::prepare) does.
    ///
    /// # Errors
    /// [usage](Error::is_usage) for the first that cannot.
    ///
    /// ```
    /// # use tilewright_core::Dtype;
    /// # use tilewright_files::{Assembling, Reading, open};
    /// # use tilewright_recipe::{Assembly, Made, Origin, Part};
    /// let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
    /// let input = open(path, &Reading::default())?;
    /// let part = Part { origin: Origin::Fill(7), offset: 0, digits: Vec::new() };
    /// let layout = Some("zN".to_owned());
    /// let made = Made { name: "seven".into(), dtype: Dtype::U8, extents: vec![], layout, parts: vec![part] };
    /// let assembly = Assembly { made: vec![made], ..Assembly::default() };
    /// assert!(Assembling::check(&input, &assembly).unwrap_err().to_string().contains("rank 0"));
    /// # Ok::<(), tilewright_files::Error>(())
    /// ```
    pub fn check(input: &Input, assembly: &Assembly) -> Result<(), Error> {
        let known = made::known(input, assembly);
        assembly.made.iter().try_for_each(|made| made::made(made, &known, true).map(drop))
    }

    /// Returns the descriptions of the tensors of the result, in the order of the assembly.
    ///
    /// ```
    /// # use tilewright_files::{Assembling, Packaging, Reading, Request, open};
    /// # use tilewright_recipe::Assembly;
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
    /// # let input = open(path, &Reading::default())?;
    /// let folder = tempfile::tempdir().unwrap();
    /// let out = folder.path().join("nothing.safetensors");
    /// let packaging = Packaging::default();
    /// let job = Assembling::prepare(&input, &Assembly::default(), &out, Request::new(), &packaging)?;
    /// assert!(job.rows().is_empty());
    /// # Ok::<(), tilewright_files::Error>(())
    /// ```
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// Iterates over warnings that a user may not expect, as sentences without a full stop.
    ///
    /// ```
    /// # use tilewright_files::{Assembling, Packaging, Reading, Request, open};
    /// # use tilewright_recipe::Assembly;
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
    /// # let input = open(path, &Reading::default())?;
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let out = folder.path().join("nothing.safetensors");
    /// # let packaging = Packaging::default();
    /// let job = Assembling::prepare(&input, &Assembly::default(), &out, Request::new(), &packaging)?;
    /// assert_eq!(job.warnings().count(), 0);
    /// # Ok::<(), tilewright_files::Error>(())
    /// ```
    pub fn warnings(&self) -> impl Iterator<Item = String> {
        let folder = self.frame.folder.as_ref();
        let left = folder.and_then(|folder| folder.companions.warning());
        let changed = self.made.opened.container.warnings();
        let noted = self.frame.streamed && self.frame.note.is_some();
        let jobs = if noted { packaging::jobs(self.made.tensors()) } else { Vec::new() };
        let lost = jobs.first().and_then(conversion::unnoted);
        let link = destination::replaced_link(&self.frame.out);
        let own = self.source.warnings().chain(lost).chain(left).chain(changed).chain(link);
        own.chain(self.messages.notes.iter().cloned())
    }

    /// Returns warnings about the result: the notes of the recipe, checks that were not made, and missing files. Each is a
    /// sentence without its full stop.
    ///
    /// ```
    /// # use tilewright_files::{Assembling, Packaging, Reading, Request, open};
    /// # use tilewright_recipe::Assembly;
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
    /// # let input = open(path, &Reading::default())?;
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let out = folder.path().join("nothing.safetensors");
    /// let assembly = Assembly { notes: vec!["heads are not checked".into()], ..Assembly::default() };
    /// let job = Assembling::prepare(&input, &assembly, &out, Request::new(), &Packaging::default())?;
    /// assert!(job.cautions().eq(["heads are not checked"]));
    /// # Ok::<(), tilewright_files::Error>(())
    /// ```
    pub fn cautions(&self) -> impl Iterator<Item = &str> {
        self.messages.cautions.iter().map(String::as_str)
    }

    /// Iterates over the names of the files that are copied if a folder becomes a folder.
    ///
    /// ```
    /// # use tilewright_files::{Assembling, Packaging, Reading, Request, open};
    /// # use tilewright_recipe::Assembly;
    /// let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
    /// let folder = tempfile::tempdir().unwrap();
    /// std::fs::copy(path, folder.path().join("model.safetensors")).unwrap();
    /// std::fs::write(folder.path().join("config.json"), "{}").unwrap();
    /// let input = open(folder.path(), &Reading::default())?;
    /// let out = tempfile::tempdir().unwrap();
    /// let (request, packaging) = (Request::new(), Packaging::default());
    /// let job = Assembling::prepare(&input, &Assembly::default(), out.path(), request, &packaging)?;
    /// assert!(job.companions().eq(["config.json"]));
    /// # Ok::<(), tilewright_files::Error>(())
    /// ```
    pub fn companions(&self) -> impl Iterator<Item = String> {
        let taken = self.frame.folder.iter().flat_map(|folder| &folder.companions.taken);
        let names = taken.filter_map(|path| path.file_name());
        names.map(|name| name.to_string_lossy().into_owned())
    }

    /// Returns the conversion that has these files, within `memory` bytes: each tensor of the result in its layout there, made by
    /// these plans.
    pub(crate) fn conversion<'c>(&'c self, memory: u64, made: &'c [Making<'c>]) -> Conversion<'c> {
        let frame = &self.frame;
        let mut jobs = packaging::jobs(self.made.tensors());
        for (job, made) in jobs.iter_mut().zip(made).filter(|(_, made)| !made.is_alone()) {
            (job.action, job.fill) = (Action::Convert, made.fill);
        }
        let mut request = frame.request.clone();
        request.memory = memory;
        Conversion {
            input: &self.made,
            source: self.source,
            out: frame.out.clone(),
            streamed: frame.streamed,
            format: frame.format,
            request,
            jobs,
            targets: frame.targets.clone(),
            note: frame.note.clone(),
            arrays: &[],
            made,
            recipe: Some(&self.assembly),
            folder: frame.folder.clone(),
        }
    }
}

fn row(source: &Input, tensor: &Tensor, whole: &Whole) -> Row {
    let numbers = whole.pieces.iter().filter_map(|piece| match piece.give {
        Give::Tensor(take, _) => Some(take.tensor),
        Give::Fill(_) => None,
    });
    let mut seen = HashSet::new();
    let names = numbers.filter(|number| seen.insert(*number));
    let names = names.filter_map(|number| Some(source.tensors().get(number)?.name.clone()));
    let how = if whole.is_runs() { "copy" } else { "relayout" };
    let (name, spec) = (tensor.name.clone(), tensor.held.spec());
    Row { name, spec, sources: names.collect(), bytes: tensor.len, how }
}

/// Returns a warning if the input records a recipe that the result does not record: a recipe that does not undo it.
fn unkept(input: &Input, frame: &packaging::Frame, assembly: &Assembly) -> Option<String> {
    let text = recorded::text(input).filter(|_| frame.format.array.is_none())?;
    let back = Recipe::parse(text);
    let back = back.and_then(|it| it.solve(&input.recipe_tensors(), None, &Sizes::new()));
    if back.is_ok_and(|back| back.made == assembly.made) {
        return None;
    }
    let path = input.path.display();
    Some(format!(
        "the recipe that {path} records is not recorded in the result, which is undone to this file and compared with it: keep it"
    ))
}
