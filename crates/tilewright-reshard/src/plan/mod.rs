//! A plan: a job as a file, for processes that share a file system. It stores the arrays of a checkpoint as an outline, equal values
//! once, from which the name of the job is computed, too.
//!
//! It contains the request, the identities of the sources, and the outline of their arrays. A process that reads it
//! opens no header: it checks the length and the time of each source. The hash of each header is part of the name of
//! the plan.
//!
//! ```text
//! laid     local arrays: element type, extents, SPEC if they are not row-major
//! held     pieces of an array: its extents, the files with their local arrays, the boxes in them
//! arrays   names, each with the number of its pieces
//! columns  offsets of arrays in a file, relative to the first; files with equal ones share a column
//! files    the offset of the first array in each file, and the number of its column
//! ```
//!
//! Therefore a plan grows with the number of tensors plus the number of files, not with their product, and its readers
//! open no header. The arrays that are read are checked as headers are: boxes are within their arrays and cover the
//! whole.

pub(crate) mod array;
pub(crate) mod cut;
pub(crate) mod job;
pub(crate) mod parts;
pub(crate) mod target;

use std::{collections::HashMap, fs, path::Path, sync::Arc};

use serde::{Deserialize, Serialize};
use tilewright_core::TensorLayout;
use tilewright_files::inner::{check_local, write_new};
use tilewright_notation::Spec;
use tilewright_sharded::Piece;

use crate::{
    Error, Job, Request, error,
    plan::array::{Laid, LocalArrays, LocalOffsets, ReshardedArray, StoredArray},
    source::{
        beside::Beside,
        checkpoint::Checkpoint,
        identity::{Identity, hash},
        lists,
    },
};

/// The contents of the file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Plan {
    version: u32,
    id: String,
    tasks: u64,
    request: Request,
    sources: Vec<Identity>,
    /// The files whose metadata the result gets.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    models: Vec<Identity>,
    /// The hash of the whole text with this field empty.
    sum: String,
    outline: Outline,
    beside: Beside,
}

/// The version that is written, and the only one that is read.
const VERSION: u32 = 3;

impl Job {
    /// Writes the plan to a new file, which appears complete.
    ///
    /// # Errors
    /// `exists`, `io`.
    ///
    /// ```
    /// # use tilewright_reshard::{Job, Request};
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
    /// let folder = tempfile::tempdir().unwrap();
    /// let (out, plan) = (folder.path().join("out"), folder.path().join("plan"));
    /// let job = Job::prepare(Request::new(path, out)).unwrap();
    /// job.write_plan(&plan).unwrap();
    /// assert_eq!(Job::of_plan(&plan).unwrap().id(), job.id());
    /// ```
    pub fn write_plan(&self, path: &Path) -> Result<(), Error> {
        check_local(path, "a plan")?;
        let bytes = self.plan().map_err(|error| error.about(&path.display().to_string()))?;
        write_new(path, &bytes).map_err(|error| match error.kind() {
            "exists" => Error::new(
                "exists",
                format!("{} exists; a plan is never overwritten", path.display()),
            ),
            _ => error,
        })
    }

    /// Returns the plan as the bytes of its file, for processes that receive it in a message.
    ///
    /// # Errors
    /// `usage` for a path that is not text.
    ///
    /// ```
    /// # use tilewright_reshard::{Job, Request};
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
    /// let job = Job::prepare(Request::new(path, "out")).unwrap();
    /// assert_eq!(Job::of_bytes(&job.plan().unwrap()).unwrap().id(), job.id());
    /// ```
    pub fn plan(&self) -> Result<Vec<u8>, Error> {
        Ok((text(self)? + "\n").into_bytes())
    }

    /// Reads the job of a plan.
    ///
    /// # Errors
    /// As [`Job::prepare`]; `corrupt` for a file that is not a plan; `changed` for a source that was changed.
    ///
    /// ```
    /// # use tilewright_reshard::Job;
    /// let folder = tempfile::tempdir().unwrap();
    /// let plan = folder.path().join("plan");
    /// std::fs::write(&plan, "{}").unwrap();
    /// assert_eq!(Job::of_plan(&plan).unwrap_err().kind(), "corrupt");
    /// ```
    pub fn of_plan(path: &Path) -> Result<Job, Error> {
        check_local(path, "a plan")?;
        let bytes = fs::read(path).map_err(|cause| error::io(path, "read", &cause))?;
        Plan::read(&bytes, &path.display().to_string())?.job()
    }

    /// Reads the job of a plan's [bytes](Job::plan).
    ///
    /// # Errors
    /// As [`Job::of_plan`].
    ///
    /// ```
    /// # use tilewright_reshard::Job;
    /// let error = Job::of_bytes(b"{}").unwrap_err();
    /// assert!(error.to_string().starts_with("this is not a plan: missing field"), "{error}");
    /// ```
    pub fn of_bytes(bytes: &[u8]) -> Result<Job, Error> {
        Plan::read(bytes, "this")?.job()
    }
}

impl Plan {
    fn text(&self) -> Result<String, Error> {
        serde_json::to_string(self).map_err(|error| Error::usage(error.to_string()))
    }

    /// Reads a plan from bytes, which messages call `name`.
    fn read(bytes: &[u8], name: &str) -> Result<Plan, Error> {
        let wrong = |said: String| Error::new("corrupt", format!("{name} is not a plan: {said}"));
        let mut plan: Plan =
            serde_json::from_slice(bytes).map_err(|error| wrong(error.to_string()))?;
        if plan.version != VERSION {
            let version = plan.version;
            return Err(wrong(format!("it has version {version}; {VERSION} is read")));
        }
        let sum = std::mem::take(&mut plan.sum);
        match hash(plan.text()?.as_bytes()) == sum {
            true => Ok(plan),
            false => Err(wrong("it was changed after it was written".to_owned())),
        }
    }

    /// Makes its job, if the sources are unchanged.
    fn job(self) -> Result<Job, Error> {
        let mut known = self.sources.iter().chain(&self.models);
        known.try_for_each(|source| source.check("the plan was made"))?;
        let (files, models) = (self.sources, self.models);
        let read = self.outline.arrays(files.len());
        let (arrays, places) = read.map_err(|error| {
            Error::new("corrupt", format!("plan {} is not valid: {error}", self.id))
        })?;
        let checkpoint = Checkpoint { files, models, arrays, places, beside: self.beside };
        let job = Job::assemble(self.request, checkpoint)?;
        match job.id == self.id && job.tasks() == self.tasks {
            true => Ok(job),
            false => {
                let said = "it was made by another version, or changed";
                Err(Error::new("changed", format!("plan {}: {said}", self.id)))
            }
        }
    }
}

/// Returns the plan of a job as text.
pub(crate) fn text(job: &Job) -> Result<String, Error> {
    let outline = Outline::of(&job.source.arrays, &job.source.places);
    let plan = Plan {
        version: VERSION,
        id: job.id.clone(),
        tasks: job.tasks(),
        request: job.request.clone(),
        sources: job.source.files.clone(),
        models: job.source.models.clone(),
        sum: String::new(),
        outline,
        beside: job.source.beside.clone(),
    };
    let sum = hash(plan.text()?.as_bytes());
    Plan { sum, ..plan }.text()
}

/// The arrays, with equal values stored once.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Outline {
    laid: Vec<LaidText>,
    held: Vec<HeldText>,
    arrays: Vec<(String, usize)>,
    columns: Vec<Vec<(u32, u64)>>,
    files: Vec<(u64, usize)>,
}

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct LaidText {
    dtype: String,
    /// The width of an element in bits: a byte for BOOL, whose values need one bit.
    bits: u32,
    dims: Vec<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    spec: Option<String>,
    /// The shape of elements narrower than a byte, of which `dims` counts the bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    packed: Option<Vec<u64>>,
    /// True for big-endian elements.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    big: bool,
}

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct HeldText {
    extents: Vec<u64>,
    /// The numbers of files and of local arrays.
    stored: Vec<(usize, usize)>,
    /// For each box: an index into `stored`, the first index, the extents, and the first index in the local array.
    pieces: Vec<Vec<u64>>,
    /// Boxes that repeat these and are not read, in the same form.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    copies: Vec<Vec<u64>>,
}

/// The numbers of values by their address, in the order in which they were first seen.
struct AddressNumbers<T>(HashMap<*const T, usize>);

impl<T> AddressNumbers<T> {
    /// Returns the number of a value, and whether it is new.
    fn of(&mut self, value: &Arc<T>) -> (usize, bool) {
        let next = self.0.len();
        let number = *self.0.entry(Arc::as_ptr(value)).or_insert(next);
        (number, number == next)
    }
}

impl Outline {
    /// Makes the outline of these arrays.
    pub(crate) fn of(arrays: &[ReshardedArray], places: &LocalOffsets) -> Outline {
        let mut outline = Outline::default();
        let (mut laid, mut held) = (AddressNumbers(HashMap::new()), AddressNumbers(HashMap::new()));
        for array in arrays {
            let (number, is_new) = held.of(&array.held);
            if is_new {
                let text = outline.held(array, &mut laid);
                outline.held.push(text);
            }
            outline.arrays.push((array.name.to_string(), number));
        }
        let mut columns = AddressNumbers(HashMap::new());
        for (base, column) in places.files() {
            let (number, is_new) = columns.of(column);
            if is_new {
                outline.columns.push(column.iter().collect());
            }
            outline.files.push((*base, number));
        }
        outline
    }

    /// Returns the hash of the whole outline.
    pub(crate) fn sum(&self) -> Result<String, Error> {
        let text = serde_json::to_string(self);
        text.map(|text| hash(text.as_bytes())).map_err(|error| Error::usage(error.to_string()))
    }

    fn held(&mut self, array: &ReshardedArray, numbers: &mut AddressNumbers<Laid>) -> HeldText {
        let mut stored = Vec::new();
        for local in &array.held.stored {
            let (number, is_new) = numbers.of(&local.laid);
            if is_new {
                let Laid { file_dtype, bits, spec, .. } = &*local.laid;
                let (dims, spec) = (local.laid.dims().to_vec(), spec.clone());
                let dtype = file_dtype.clone();
                let (packed, big) = (local.laid.packed(), local.laid.big);
                self.laid.push(LaidText { dtype, bits: *bits, dims, spec, packed, big });
            }
            stored.push((local.file, number));
        }
        let piece = |piece: &Piece| {
            let numbers = piece.start.iter().chain(&piece.extents).chain(&piece.local);
            std::iter::once(&piece.source).chain(numbers).copied().collect()
        };
        let pieces = array.held.pieces.iter().map(piece).collect();
        let copies = array.held.copies.iter().map(piece).collect();
        HeldText { extents: array.extents.clone(), stored, pieces, copies }
    }

    /// Returns the arrays, after checks against this number of files.
    pub(crate) fn arrays(self, files: usize) -> Result<(Vec<ReshardedArray>, LocalOffsets), Error> {
        let laid = self.laid.into_iter().map(|text| Ok(Arc::new(text.laid()?)));
        let laid: Vec<Arc<Laid>> = laid.collect::<Result<_, Error>>()?;
        let held = self.held.into_iter().map(|text| text.held(&laid, files));
        let held: Vec<(Vec<u64>, Arc<LocalArrays>)> = held.collect::<Result<_, Error>>()?;
        let array = |(name, number): (String, usize)| {
            let (extents, held) = held.get(number).ok_or_else(wrong)?;
            let laid = &held.stored.first().ok_or_else(wrong)?.laid;
            Ok(ReshardedArray::of(name.into(), laid, extents.clone(), held.clone()))
        };
        let arrays = self.arrays.into_iter().map(array).collect::<Result<_, Error>>()?;
        let (mut places, mut first) = (LocalOffsets::default(), HashMap::new());
        for (file, (base, number)) in self.files.iter().enumerate() {
            let known = *first.entry((base, number)).or_insert(file);
            if known < file {
                places.again(known);
                continue;
            }
            let column = self.columns.get(*number).ok_or_else(wrong)?;
            let place = |(array, at): &(u32, u64)| Some((*array as usize, at.checked_add(*base)?));
            let column = column.iter().map(place).collect::<Option<Vec<_>>>();
            places.push(column.ok_or_else(wrong)?)?;
        }
        Ok((arrays, places))
    }
}

impl LaidText {
    fn laid(self) -> Result<Laid, Error> {
        let LaidText { dtype: file_dtype, bits, dims, spec, packed, big } = self;
        let dtype = tilewright_notation::dtype(&file_dtype).map_err(Error::without_span)?;
        let plain = TensorLayout::row_major(&dims)?;
        let (layout, shape) = match &spec {
            None => (plain, dims),
            Some(text) => {
                let named = Spec::parse(text).and_then(|it| it.resolve(Some(&dims), Some(dtype)));
                let named = named.map_err(Error::without_span)?;
                (named.layout().clone(), named.storage_shape())
            }
        };
        let is_packed = packed.is_some();
        let shape = packed.unwrap_or(shape);
        let size = layout.extents().iter().try_fold(1u64, |size, n| size.checked_mul(*n));
        let fits = !is_packed || lists::bytes(&shape, dtype) == size;
        match bits > 0 && bits % 8 == 0 && bits <= 128 && fits {
            true => {
                Ok(Laid { file_dtype, dtype, bits, layout, shape, spec, packed: is_packed, big })
            }
            false => Err(wrong()),
        }
    }
}

impl HeldText {
    fn held(self, laid: &[Arc<Laid>], files: usize) -> Result<(Vec<u64>, Arc<LocalArrays>), Error> {
        let rank = self.extents.len();
        let _ = TensorLayout::row_major(&self.extents)?;
        let stored = |(file, number): (usize, usize)| {
            let laid = laid.get(number).filter(|laid| laid.dims().len() == rank);
            let laid = laid.filter(|_| file < files).ok_or_else(wrong)?;
            Ok(StoredArray { file, laid: laid.clone() })
        };
        let stored = self.stored.into_iter().map(stored).collect::<Result<Vec<_>, Error>>()?;
        let elements = |laid: &Laid| (laid.dtype, laid.bits);
        let mut pairs = stored.windows(2);
        if pairs.any(|pair| elements(&pair[0].laid) != elements(&pair[1].laid)) {
            return Err(wrong());
        }
        let piece = |numbers: Vec<u64>| {
            let part = |nth: usize| numbers.get(1 + nth * rank..1 + (nth + 1) * rank);
            let (start, extents, local) = (part(0)?, part(1)?, part(2)?);
            let source = *numbers.first()?;
            let dims = stored.get(usize::try_from(source).ok()?)?.laid.dims();
            let fits = |((local, size), dim): ((&u64, &u64), &u64)| {
                local.checked_add(*size).is_some_and(|end| end <= *dim)
            };
            let is_within = local.iter().zip(extents).zip(dims).all(fits);
            let [start, extents, local] = [start, extents, local].map(<[u64]>::to_vec);
            is_within.then_some(Piece { source, start, extents, local })
        };
        let read = |boxes: Vec<Vec<u64>>| boxes.into_iter().map(piece).collect::<Option<Vec<_>>>();
        let pieces = read(self.pieces).ok_or_else(wrong)?;
        let copies = read(self.copies).ok_or_else(wrong)?;
        let held = LocalArrays { pieces, copies, stored };
        let held = held.settle("of a plan", &self.extents, &|_| String::new())?;
        Ok((self.extents, Arc::new(held)))
    }
}

fn wrong() -> Error {
    Error::new("corrupt", "it holds numbers that do not fit each other")
}
