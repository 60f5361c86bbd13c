//! Writes arrays in the caller's memory to a file. The Python package uses it to save arrays.
//!
//! The arrays are the tensors of an input whose bytes are in memory and not in a file. Everything else is that of a conversion:
//! jobs, workers, notes, the temporary file, verification and the commit. Elements move directly to the pieces that are written;
//! bytes are copied before that only if their order is reversed.
//!
//! | name | stored |
//! |---|---|
//! | the first of an array | yes |
//! | another of the same bytes, layout, type and target, if the format has ties | no: metadata name the first |

use std::{
    collections::{BTreeMap, HashMap},
    path::Path,
};

use tilewright_notation::{ResolvedLayout, Spec};

use crate::{
    Action, Conversion, Error, Input, Job, Report, Request, Tensor, Watch,
    container::{FORMATS, Format, Opened},
    convert::{conversion, request::Choice},
    error,
    layout::{
        element_layout::{ElementLayout, check_width, width_in},
        names, record,
    },
    open::{
        lists::in_files::ListsInFiles,
        place::Place,
        reading::check_bytes,
        tensor::{IN_MEMORY, Piece},
    },
};

/// Arrays in memory that are written to a safetensors, npz, npy or raw file.
///
/// Each gets the layout of the first rule of the request that matches its name, else that of [`Request::to`], else row-major. The
/// file is whole or absent, and an existing one is replaced only with [`Request::force`].
///
/// In a safetensors file an array that is given under several names (the same bytes in the same layout, which get the same
/// layout) is stored once, under the name given first. For each other name the metadata name the first, as `save_model` of
/// safetensors does, and [`Input::tensor`] finds both.
///
/// ```
/// use tilewright_files::{Reading, Request, Writer, open};
/// use tilewright_notation::Spec;
/// let spec = |text: &str| Spec::parse(text).unwrap();
/// let (weight, norm) = (vec![1u8; 40 * 24 * 2], vec![2u8; 24 * 4]);
/// let rows = spec("bf16[40,24] row-major").resolve(None, None).unwrap();
/// let line = spec("f32[24] row-major").resolve(None, None).unwrap();
///
/// let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("out.safetensors");
/// let request = Request::new().to(spec("zN")).rule("*norm*", spec("row-major"));
/// let writer = Writer::new(request).array("w", &rows, &weight).unwrap();
/// let writer = writer.array("norm", &line, &norm).unwrap().array("head", &rows, &weight).unwrap();
/// writer.metadata("format", "pt").write(&path, &()).unwrap();
///
/// let input = open(&path, &Reading::default()).unwrap();
/// assert_eq!(input.tensors().len(), 2);
/// assert_eq!(input.tensor("w").unwrap().layout().to_spec(), "bf16[40,24] zN");
/// assert_eq!(input.tensor("head").unwrap().name(), "w");
/// ```
#[must_use]
#[derive(Clone, Debug)]
pub struct Writer<'a> {
    request: Request,
    arrays: Vec<&'a [u8]>,
    tensors: Vec<Tensor>,
    metadata: BTreeMap<String, String>,
}

impl<'a> Writer<'a> {
    /// Returns a writer without arrays. The request gives layouts, threads, the bound on memory, and whether the result is
    /// verified and may replace a file. Layouts of arrays are given with each of them, so the request must not contain settings
    /// for reading.
    ///
    /// ```
    /// use tilewright_files::{Request, Writer};
    /// let folder = tempfile::tempdir().unwrap();
    /// let path = folder.path().join("empty.safetensors");
    /// Writer::new(Request::new()).write(&path, &()).unwrap();
    /// // An existing file is replaced only with `force`.
    /// let error = Writer::new(Request::new()).write(&path, &()).unwrap_err();
    /// assert_eq!(error.kind(), "exists");
    /// Writer::new(Request::new().force(true)).write(&path, &()).unwrap();
    /// ```
    pub fn new(request: Request) -> Writer<'a> {
        Writer { request, arrays: Vec::new(), tensors: Vec::new(), metadata: BTreeMap::new() }
    }

    /// Adds an array: its name, its layout with the type of its elements, and the bytes of its whole storage.
    ///
    /// # Errors
    /// [usage](Error::is_usage) for a layout without a type, and for a number of bytes other than that of the layout.
    ///
    /// ```
    /// use tilewright_files::{Request, Writer};
    /// use tilewright_notation::Spec;
    /// let layout = Spec::parse("f32[2,3] col-major").unwrap().resolve(None, None).unwrap();
    /// let (all, short) = ([0; 24], [0; 23]);
    /// assert!(Writer::new(Request::new()).array("a", &layout, &all).is_ok());
    /// let error = Writer::new(Request::new()).array("a", &layout, &short).unwrap_err();
    /// assert!(error.is_usage() && error.to_string().contains("tensor \"a\""));
    /// ```
    pub fn array(
        mut self,
        name: impl Into<String>,
        layout: &ResolvedLayout,
        bytes: &'a [u8],
    ) -> Result<Writer<'a>, Error> {
        let (name, len) = (name.into(), bytes.len() as u64);
        let held =
            held(layout, len).map_err(|said| error::usage(format!("tensor {name:?}: {said}")))?;
        let pieces = vec![Piece::whole(0, 0, len, &held)];
        let (file_dtype, storage) = (IN_MEMORY.into(), held.named.storage_shape());
        self.arrays.push(bytes);
        self.tensors.push(Tensor {
            name,
            file_dtype,
            storage,
            file_dims: None,
            held,
            noted: None,
            refusal: None,
            pieces,
            len,
        });
        Ok(self)
    }

    /// Adds a text to the metadata of the file, such as those of another file. Keys that begin with `tilewright.` are ignored:
    /// they describe the arrays of the other file, and are written anew.
    ///
    /// ```
    /// use tilewright_files::{Reading, Request, Writer, open};
    /// let folder = tempfile::tempdir().unwrap();
    /// let path = folder.path().join("empty.safetensors");
    /// let writer = Writer::new(Request::new()).metadata("format", "pt");
    /// writer.metadata("tilewright.layout.a", "f32[2,3] zN").write(&path, &()).unwrap();
    /// let input = open(&path, &Reading::default()).unwrap();
    /// assert!(input.metadata().eq([("format", "pt")]));
    /// ```
    pub fn metadata(mut self, key: impl Into<String>, value: impl Into<String>) -> Writer<'a> {
        let key = key.into();
        if !key.starts_with(record::OWN) {
            self.metadata.insert(key, value.into());
        }
        self
    }

    /// Writes the file: to a temporary one beside `out`, which is synced, verified on request, then renamed. Its format is the
    /// one that `out` names by its ending, or by a prefix (`raw:PATH`).
    ///
    /// # Errors
    /// [usage](Error::is_usage) before anything is written: a layout that does not fit an array, a pattern without a match, a
    /// name that is given twice, a format that cannot hold the arrays or the metadata, an output that exists. [i/o](Error::is_io)
    /// if writing fails or verification finds a difference; [cancelled](Error::is_cancelled) if `watch` cancels.
    ///
    /// ```
    /// use tilewright_files::{Request, Writer};
    /// use tilewright_notation::Spec;
    /// let layout = Spec::parse("f32[2,3] row-major").unwrap().resolve(None, None).unwrap();
    /// let folder = tempfile::tempdir().unwrap();
    /// let path = folder.path().join("a.npy");
    /// let bytes = [7; 24];
    /// let writer = Writer::new(Request::new()).array("a", &layout, &bytes).unwrap();
    /// assert_eq!(writer.write(&path, &()).unwrap().bytes_written(), 128 + 24);
    /// assert!(writer.write(folder.path().join("a.gguf"), &()).unwrap_err().is_usage());
    /// ```
    pub fn write(&self, out: impl AsRef<Path>, watch: &dyn Watch) -> Result<Report, Error> {
        let out = Place::parse(out.as_ref());
        let format = self.format(&out)?;
        let mut request = self.request.clone();
        if request.to.is_none() {
            request = request.to(row_major()?);
        }
        let ties = if format.ties { self.ties(&request)? } else { HashMap::new() };
        let input = self.input(format, &out.path, &ties)?;
        let jobs = |input: &Input, format: &'static Format, request: &Request| {
            let mut jobs = conversion::jobs_of((input, &self.arrays), format, request)?;
            jobs.retain(|job| !ties.contains_key(&job.tensor));
            jobs.into_iter().map(|job| moved(job, input, request)).collect()
        };
        Conversion::of_arrays(&input, &self.arrays, out, request, jobs)?.run(watch)
    }

    /// Returns the format of the file, if it can hold the arrays and the metadata.
    fn format(&self, out: &Place) -> Result<&'static Format, Error> {
        let path = out.path.display();
        if !self.request.reading.is_silent() {
            return Err(error::usage("arrays in memory have their own layout; do not give one"));
        }
        let Some(format) = out.format.filter(|format| format.create.is_some()) else {
            let known = FORMATS.iter().filter(|format| format.create.is_some());
            let known: Vec<&str> = known.map(|format| format.shown).collect();
            let said = format!("{path}: arrays in memory can be saved as {}", known.join(", "));
            return Err(error::usage(said));
        };
        if let Some(name) = names::twice(self.tensors.iter().map(Tensor::name)) {
            return Err(error::usage(format!("tensor {name:?} is given twice")));
        }
        format.check_one(self.tensors.len(), &out.path)?;
        if format.array.is_some() && !self.metadata.is_empty() {
            let shown = format.shown;
            return Err(error::usage(format!("{path}: {shown} cannot store metadata")));
        }
        Ok(format)
    }

    /// Returns the arrays that are stored as one given before, by their numbers.
    fn ties(&self, request: &Request) -> Result<HashMap<usize, usize>, Error> {
        let choice = Choice::new(request, &self.tensors)?;
        let (mut first, mut ties) = (HashMap::new(), HashMap::new());
        for (number, (tensor, bytes)) in self.tensors.iter().zip(&self.arrays).enumerate() {
            if bytes.is_empty() || !record::may_stand(&tensor.name) {
                continue;
            }
            let to = choice.of(&tensor.name).map(Spec::to_string);
            let place = (bytes.as_ptr() as usize, bytes.len());
            let kept = *first.entry((place, tensor.held.named.to_spec(), to)).or_insert(number);
            if kept != number {
                ties.insert(number, kept);
            }
        }
        Ok(ties)
    }

    /// Returns the arrays as an input, with the metadata of the file.
    fn input(
        &self,
        format: &'static Format,
        path: &Path,
        ties: &HashMap<usize, usize>,
    ) -> Result<Input, Error> {
        let mut metadata = self.metadata.clone();
        let name = |number: &usize| self.tensors.get(*number).map_or("", Tensor::name);
        for (dropped, kept) in ties {
            let (dropped, kept) = (name(dropped), name(kept));
            let old = metadata.insert(dropped.into(), kept.into());
            if let Some(old) = old.filter(|old| old != kept) {
                return Err(error::usage(format!(
                    "tensor {dropped:?} is {kept:?} under another name, which the metadata entry {dropped:?} must record; the given entry is {old:?}"
                )));
            }
        }
        let create = format.create.ok_or_else(|| error::usage("the format cannot be created"))?;
        let container = create(metadata.into_iter().collect());
        let (files, tensors) = (Vec::new(), self.tensors.clone());
        let opened = Opened { container, index: None, files, tensors };
        Ok(Input { path: path.into(), opened, aside: None, folder: None, beside: None })
    }
}

/// Returns the stored layout of an array of `len` bytes.
fn held(layout: &ResolvedLayout, len: u64) -> Result<ElementLayout, String> {
    let (Some(dtype), Some(bits)) = (layout.dtype(), width_in(layout)) else {
        return Err(format!("{} has no element type", layout.to_spec()));
    };
    check_width(dtype, bits)?;
    let held = ElementLayout::of(layout, dtype, bits, layout.fill())?;
    let held = held.ordered(layout.byte_order().unwrap_or_default())?;
    check_bytes(&held, len)?;
    Ok(held)
}

/// Returns the job of an array: if no layout is requested for it, or none that fits, it becomes row-major.
fn moved(job: Job, input: &Input, request: &Request) -> Result<Job, Error> {
    if job.is_already_so() || job.action == Action::Convert {
        return Ok(job);
    }
    let tensor = input.tensors().get(job.tensor);
    let tensor = tensor.ok_or_else(|| error::usage(format!("no array {:?}", job.name)))?;
    let ordered = input.container_format().orders;
    Job::new(job.tensor, (&input.path, tensor), &row_major()?, request, (ordered, &ListsInFiles))
}

fn row_major() -> Result<Spec, Error> {
    Spec::parse("row-major").map_err(|error| error::usage(error.message().to_owned()))
}
