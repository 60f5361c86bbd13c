//! A file opened for reading, with every tensor it holds.

use std::{
    fs::File,
    io::Read,
    path::{Path, PathBuf},
};

use tilewright_core::{ByteOrder, Dtype, Remedy};
use tilewright_notation::Spec;

use crate::{
    Error, Tensor, npy, open_array, open_safetensors,
    place::{self, Kind, Place},
    safetensors::Index,
    source::Source,
};

/// What a file cannot say about itself: raw bytes need a layout, raw elements a type.
///
/// ```
/// use tilewright_files::Reading;
/// use tilewright_notation::{Spec, dtype};
/// let reading = Reading::default().dims(&[100, 100]).dtype(dtype("bf16").unwrap());
/// let reading = reading.from(Spec::parse("zN").unwrap());
/// ```
#[derive(Clone, Debug, Default)]
pub struct Reading {
    pub(crate) from: Option<Spec>,
    pub(crate) dims: Option<Vec<u64>>,
    pub(crate) dtype: Option<Dtype>,
    pub(crate) order: Option<ByteOrder>,
}

impl Reading {
    /// The layout of the elements; row-major where nothing says another.
    ///
    /// ```
    /// # use tilewright_files::{Reading, open};
    /// # use tilewright_notation::{Spec, dtype};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("bytes");
    /// # std::fs::write(&path, [7; 24]).unwrap();
    /// # let raw = format!("raw:{}", path.display());
    /// let reading = Reading::default().from(Spec::parse("f32[2,3]{0,1}").unwrap());
    /// assert_eq!(open(&raw, &reading).unwrap().tensors()[0].dims(), [2, 3]);
    /// // Bytes of another number are not read so.
    /// let reading = Reading::default().from(Spec::parse("f32[2,4]{0,1}").unwrap());
    /// assert!(open(&raw, &reading).unwrap_err().is_usage());
    /// ```
    #[must_use]
    pub fn from(mut self, spec: Spec) -> Reading {
        self.from = Some(spec);
        self
    }

    /// The logical dims, where neither the file nor the layout carries them.
    ///
    /// ```
    /// # use tilewright_files::{Reading, open};
    /// # use tilewright_notation::{Spec, dtype};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("bytes");
    /// # std::fs::write(&path, [7; 24]).unwrap();
    /// # let raw = format!("raw:{}", path.display());
    /// let reading = Reading::default().dims(&[2, 6]).dtype(dtype("bf16").unwrap());
    /// assert_eq!(open(&raw, &reading).unwrap().tensors()[0].dims(), [2, 6]);
    /// ```
    #[must_use]
    pub fn dims(mut self, dims: &[u64]) -> Reading {
        self.dims = Some(dims.to_vec());
        self
    }

    /// The type of the elements, where the file does not say it, or another of the same width.
    ///
    /// ```
    /// use tilewright_core::Remedy;
    /// # use tilewright_files::{Reading, open};
    /// # use tilewright_notation::{Spec, dtype};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("bytes");
    /// # std::fs::write(&path, [7; 24]).unwrap();
    /// # let raw = format!("raw:{}", path.display());
    /// let reading = Reading::default().dims(&[24]);
    /// assert!(open(&raw, &reading).unwrap_err().remedies().contains(&Remedy::Dtype));
    /// assert!(open(&raw, &reading.dtype(dtype("u8").unwrap())).is_ok());
    /// ```
    #[must_use]
    pub fn dtype(mut self, dtype: Dtype) -> Reading {
        self.dtype = Some(dtype);
        self
    }

    /// The order of an element's bytes, instead of what the file says; the lowest first where nothing says it.
    ///
    /// ```
    /// # use tilewright_files::{Conversion, Reading, Request, open_stream};
    /// # use tilewright_notation::{Spec, dtype};
    /// use tilewright_core::ByteOrder;
    /// let reading = Reading::default().dims(&[2]).dtype(dtype("u16").unwrap());
    /// let input = open_stream(&[1, 2, 3, 4][..], "raw:-", &reading.order(ByteOrder::Big)).unwrap();
    /// let request = Request::new().to(Spec::parse("row-major").unwrap());
    /// let mut out = Vec::new();
    /// Conversion::prepare_stream(&input, "raw:-", request).unwrap().run_to(&mut out, &()).unwrap();
    /// assert_eq!(out, [2, 1, 4, 3]);
    /// ```
    #[must_use]
    pub fn order(mut self, order: ByteOrder) -> Reading {
        self.order = Some(order);
        self
    }

    /// An error if dims or a type are said that nothing would ask for: safetensors files say their
    /// own, unless their tensors are read in another layout.
    pub(crate) fn check(&self, kind: Kind) -> Result<(), Error> {
        let own = matches!(kind, Kind::Safetensors | Kind::Sharded);
        if !own || self.from.is_some() || self.is_silent() {
            return Ok(());
        }
        let given = if self.dims.is_some() { "dims are" } else { "an element type is" };
        let said = format!(
            "{given} given, but the tensors of a safetensors file say their dims and types themselves; to be read otherwise, they need a layout too"
        );
        Err(Error::usage(said).with(&[Remedy::Source]))
    }

    /// Whether nothing is said.
    pub(crate) fn is_silent(&self) -> bool {
        self.from.is_none() && self.dims.is_none() && self.dtype.is_none() && self.order.is_none()
    }
}

/// What kind of file an input is, with what its kind keeps beside the tensors.
#[derive(Clone, Debug)]
pub(crate) enum Container {
    Safetensors,
    Sharded(Index),
    Npy(npy::Descr),
    Raw,
}

/// One file that holds tensors.
#[derive(Debug)]
pub(crate) struct Shard {
    /// The file's name in an index; empty where there is no index.
    pub(crate) name: String,
    pub(crate) source: Source,
    pub(crate) metadata: Option<Vec<(String, String)>>,
}

/// An opened file.
///
/// ```
/// # use tilewright_files::{Reading, open};
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
/// # let input = open(path, &Reading::default()).unwrap();
/// assert_eq!((input.format(), input.tensors().len()), ("safetensors", 8));
/// ```
#[derive(Debug)]
pub struct Input {
    pub(crate) path: PathBuf,
    pub(crate) container: Container,
    /// The index of a checkpoint.
    pub(crate) index: Option<Source>,
    pub(crate) shards: Vec<Shard>,
    pub(crate) tensors: Vec<Tensor>,
}

impl Input {
    /// The path, without the prefix `raw:`.
    ///
    /// ```
    /// # use tilewright_files::{Reading, open};
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
    /// # let input = open(path, &Reading::default()).unwrap();
    /// assert!(input.path().ends_with("tiny_cnn_f32.safetensors"));
    /// ```
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What kind of file it is: `safetensors`, `sharded safetensors`, `npy` or `raw`.
    ///
    /// ```
    /// # use tilewright_files::{Reading, open};
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
    /// # let input = open(path, &Reading::default()).unwrap();
    /// assert_eq!(input.format(), "safetensors");
    /// ```
    pub fn format(&self) -> &'static str {
        match self.container {
            Container::Safetensors => "safetensors",
            Container::Sharded(_) => "sharded safetensors",
            Container::Npy(_) => "npy",
            Container::Raw => "raw",
        }
    }

    /// The tensors, in the order of their bytes.
    ///
    /// ```
    /// # use tilewright_files::{Reading, open};
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_llm_mixed.safetensors");
    /// # let input = open(path, &Reading::default()).unwrap();
    /// assert_eq!(input.tensors()[0].name(), "ids.i64");
    /// ```
    pub fn tensors(&self) -> &[Tensor] {
        &self.tensors
    }

    /// The metadata of the file, keys sorted; those of all shards, one after the other.
    ///
    /// ```
    /// # use tilewright_files::{Reading, open};
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_llm_mixed.safetensors");
    /// # let input = open(path, &Reading::default()).unwrap();
    /// assert_eq!(input.metadata().next(), Some(("format", "pt")));
    /// ```
    pub fn metadata(&self) -> impl Iterator<Item = (&str, &str)> {
        let pairs = self.shards.iter().flat_map(|shard| shard.metadata.iter().flatten());
        pairs.map(|(key, value)| (key.as_str(), value.as_str()))
    }

    /// Whether the file holds one array, which it does not name.
    pub(crate) fn is_array(&self) -> bool {
        matches!(self.container, Container::Npy(_) | Container::Raw)
    }

    pub(crate) fn kind(&self) -> Kind {
        match self.container {
            Container::Safetensors => Kind::Safetensors,
            Container::Sharded(_) => Kind::Sharded,
            Container::Npy(_) => Kind::Npy,
            Container::Raw => Kind::Raw,
        }
    }

    /// The file that holds a tensor.
    pub(crate) fn source(&self, tensor: &Tensor) -> Result<&Source, Error> {
        let shard = self.shards.get(tensor.shard);
        let missing = || Error::corrupt(&self.path, format!("no shard holds {:?}", tensor.name));
        shard.map(|shard| &shard.source).ok_or_else(missing)
    }

    /// Every file that is read.
    pub(crate) fn sources(&self) -> impl Iterator<Item = &Source> {
        self.index.iter().chain(self.shards.iter().map(|shard| &shard.source))
    }

    /// Whether one of the files that are read is this open one.
    ///
    /// ```
    /// # use tilewright_files::{Reading, open};
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
    /// # let input = open(path, &Reading::default()).unwrap();
    /// assert!(input.reads(&std::fs::File::open(path).unwrap()));
    /// assert!(!input.reads(&tempfile::tempfile().unwrap()));
    /// ```
    pub fn reads(&self, file: &File) -> bool {
        self.sources().any(|source| source.is(file))
    }

    /// Whether a path names one of the files that are read.
    pub(crate) fn holds(&self, path: &Path) -> bool {
        self.sources().any(|source| source.is_at(path))
    }

    /// An error if one of the files is not as it was when it was opened.
    pub(crate) fn check_unchanged(&self) -> Result<(), Error> {
        self.sources().try_for_each(Source::check_unchanged)
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> + Clone {
        self.tensors.iter().map(|tensor| tensor.name.as_str())
    }
}

/// Opens a file: `raw:PATH`, `npy:PATH` or `safetensors:PATH`, or what its extension names, or else what
/// its first bytes show. Headers are read and checked, tensors are not.
///
/// A file of one array (npy, raw) is read as `reading` says. In safetensors files every tensor says
/// itself what it is, and is opened as that; a conversion may still read some of them otherwise
/// (see [`Request`](crate::Request)), if `reading` says in which layout.
///
/// # Errors
/// [i/o](Error::is_io) for files that are missing, truncated, corrupt or hold what no layout can be
/// given to; [usage](Error::is_usage) where `reading` does not fit the file.
///
/// ```
/// use tilewright_files::{Reading, open};
/// let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
/// let input = open(path, &Reading::default()).unwrap();
/// assert_eq!(input.format(), "safetensors");
/// assert!(input.tensors().iter().all(|tensor| tensor.dtype().name() == "f32"));
/// let error = open(env!("CARGO_MANIFEST_DIR"), &Reading::default()).unwrap_err();
/// assert!(error.is_io() && error.to_string().contains("directory"));
/// ```
pub fn open(path: impl AsRef<Path>, reading: &Reading) -> Result<Input, Error> {
    open_place(&Place::parse(path.as_ref()), reading)
}

/// Opens what a path names.
pub(crate) fn open_place(place: &Place, reading: &Reading) -> Result<Input, Error> {
    let source = Source::open(&place.path)?;
    let kind = match place.kind {
        Some(kind) => kind,
        None => place::by_magic(&place.path, &source.head(64)?, source.len())?,
    };
    open_as(kind, source, reading)
}

/// Opens a regular file that is open already, as standard input may be; `path` says its kind, or does not,
/// as `-` and `raw:-` do.
///
/// # Errors
/// As [`open`]; a checkpoint's index is refused, for it names files beside itself.
///
/// ```
/// use tilewright_files::{Reading, open_file};
/// let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
/// let input = open_file(std::fs::File::open(path)?, "-", &Reading::default()).unwrap();
/// assert_eq!(input.tensors().len(), 8);
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn open_file(file: File, path: impl AsRef<Path>, reading: &Reading) -> Result<Input, Error> {
    open_source(Source::given(file)?, &Place::parse(path.as_ref()), reading)
}

/// Opens what a stream has, all of which is copied to a temporary file first; `path` says its kind, or does
/// not.
///
/// # Errors
/// As [`open_file`].
///
/// ```
/// use tilewright_files::{Reading, open_stream};
/// use tilewright_notation::dtype;
/// let reading = Reading::default().dims(&[2, 3]).dtype(dtype("u8").unwrap());
/// let input = open_stream(&[1, 2, 3, 4, 5, 6][..], "-", &reading).unwrap();
/// assert_eq!((input.format(), input.tensors()[0].dims()), ("raw", &[2, 3][..]));
/// ```
pub fn open_stream(
    stream: impl Read,
    path: impl AsRef<Path>,
    reading: &Reading,
) -> Result<Input, Error> {
    open_source(Source::copied(stream)?, &Place::parse(path.as_ref()), reading)
}

/// What lies in no folder: it is of the kind that its place or its first bytes show, else bytes, where
/// `reading` says which.
fn open_source(source: Source, place: &Place, reading: &Reading) -> Result<Input, Error> {
    let shown = || place::by_magic(source.path(), &source.head(64)?, source.len());
    let kind = match place.kind.map_or_else(shown, Ok) {
        Err(_) | Ok(Kind::Sharded) if place.kind.is_none() && !reading.is_silent() => Kind::Raw,
        kind => kind?,
    };
    if kind == Kind::Sharded {
        let said = "the index of a checkpoint names files beside it, and standard input lies in no folder; name the file";
        return Err(Error::usage(said));
    }
    open_as(kind, source, reading)
}

/// Opens a file as one of this kind.
pub(crate) fn open_as(kind: Kind, source: Source, reading: &Reading) -> Result<Input, Error> {
    reading.check(kind)?;
    match kind {
        Kind::Safetensors => open_safetensors::single(source),
        Kind::Sharded => {
            let folder = crate::temporary::folder(source.path()).to_path_buf();
            open_safetensors::sharded(source, &|shard| folder.join(shard))
        }
        Kind::Npy => open_array::npy(source, reading),
        Kind::Raw => open_array::raw(source, reading),
    }
}
