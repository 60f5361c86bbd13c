//! An opened file with all its tensors.
//!
//! In safetensors, no two names may have the same range of bytes. Its `save_model` for torch stores tied tensors once. For each
//! name that it omits, the metadata have that name as a key and the stored name as its text. Such pairs are written and read
//! here. A pair is read as such if its key is not a tensor of the file, and its text is one.

use std::{
    collections::HashMap,
    fs::File,
    path::{Path, PathBuf},
};

use crate::{
    Error, Job, Tensor, Watch,
    container::{self, Fact, Format, Opened, Target},
    convert::budget::zeros,
    error,
    layout::{
        note_file::{Aside, Texts},
        record::may_stand,
    },
    open::{
        place::Place,
        source::{Source, is_standard},
    },
};

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
    pub(crate) opened: Opened,
    /// The note beside the file that is not its own.
    pub(crate) aside: Option<Aside>,
    /// The folder that was opened, if it was one.
    pub(crate) folder: Option<PathBuf>,
    /// A message on the folder's other file of the same model, as a sentence without a full stop.
    pub(crate) beside: Option<String>,
}

impl Input {
    /// Returns the path, without the prefix `raw:`.
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

    /// Returns the name of the format: `safetensors`, `sharded safetensors`, `GGUF`, `npy`, `npz`, `pt`, `sharded pt` or `raw`.
    ///
    /// ```
    /// # use tilewright_files::{Reading, open};
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
    /// # let input = open(path, &Reading::default()).unwrap();
    /// assert_eq!(input.format(), "safetensors");
    /// ```
    pub fn format(&self) -> &'static str {
        self.container_format().name
    }

    /// Returns the tensors, in the order of their bytes.
    ///
    /// ```
    /// # use tilewright_files::{Reading, open};
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_llm_mixed.safetensors");
    /// # let input = open(path, &Reading::default()).unwrap();
    /// assert_eq!(input.tensors()[0].name(), "ids.i64");
    /// ```
    pub fn tensors(&self) -> &[Tensor] {
        &self.opened.tensors
    }

    /// Iterates over the metadata of the file, keys sorted; those of all shards, one after the other.
    ///
    /// ```
    /// # use tilewright_files::{Reading, open};
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_llm_mixed.safetensors");
    /// # let input = open(path, &Reading::default()).unwrap();
    /// assert_eq!(input.metadata().next(), Some(("format", "pt")));
    /// ```
    pub fn metadata(&self) -> impl Iterator<Item = (&str, &str)> {
        self.opened.container.metadata()
    }

    /// Iterates over warnings, as sentences without a full stop: a note of other bytes beside the file, bytes after an array,
    /// entries that are unpacked, another file of the same model beside it.
    ///
    /// ```
    /// # use tilewright_files::{Reading, open};
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
    /// # let input = open(path, &Reading::default()).unwrap();
    /// assert_eq!(input.warnings().count(), 0);
    /// ```
    pub fn warnings(&self) -> impl Iterator<Item = String> {
        let aside = self.aside.iter().map(|aside| aside.said.clone());
        let sources = self.sources().filter_map(Source::warning);
        aside.chain(self.beside.clone()).chain(sources).chain(self.opened.container.warnings())
    }

    /// Returns the bytes of a tensor in the file's layout, if they are at most `most`.
    ///
    /// # Errors
    /// [usage](Error::is_usage) beyond `most`, [i/o](Error::is_io) if the file is shorter than it states.
    ///
    /// ```
    /// # use tilewright_files::{Reading, open};
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_llm_mixed.safetensors");
    /// # let input = open(path, &Reading::default()).unwrap();
    /// let ids = &input.tensors()[0];
    /// assert_eq!(input.bytes(ids, 1 << 20).unwrap().len() as u64, ids.bytes());
    /// assert!(input.bytes(ids, 3).unwrap_err().is_usage());
    /// ```
    pub fn bytes(&self, tensor: &Tensor, most: u64) -> Result<Vec<u8>, Error> {
        let (source, at) = self.place(tensor)?;
        read(source, at, tensor.len, most)
    }

    /// Returns the tensor of a name, which may be one that [stands for another](Input::tied). It searches all tensors; a caller
    /// that looks up many should build a map.
    ///
    /// ```
    /// # use tilewright_files::{Reading, open};
    /// let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
    /// let input = open(path, &Reading::default()).unwrap();
    /// assert_eq!(input.tensor("0.bias").unwrap().dims(), [32]);
    /// assert!(input.tensor("bias").is_none());
    /// ```
    pub fn tensor(&self, name: &str) -> Option<&Tensor> {
        let named = |name: &str| self.tensors().iter().find(|tensor| tensor.name == name);
        let said = || self.pairs().find(|(key, _)| *key == name);
        named(name).or_else(|| named(said()?.1))
    }

    /// Iterates over the names that stand for a tensor of another name, with that tensor: tensors that `save_model` of
    /// safetensors, and [`Writer`](crate::Writer), store once.
    ///
    /// ```
    /// use tilewright_files::{Reading, open};
    /// let header = r#"{"__metadata__":{"head":"a"},"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}"#;
    /// let bytes = [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &[1]].concat();
    /// let folder = tempfile::tempdir().unwrap();
    /// let path = folder.path().join("tied.safetensors");
    /// std::fs::write(&path, bytes).unwrap();
    /// let input = open(&path, &Reading::default()).unwrap();
    /// assert!(input.tied().map(|(name, tensor)| (name, tensor.name())).eq([("head", "a")]));
    /// ```
    pub fn tied(&self) -> impl Iterator<Item = (&str, &Tensor)> {
        let mut pairs = self.pairs().peekable();
        // Most files lack such pairs, and may have many tensors.
        let known: HashMap<&str, &Tensor> = match pairs.peek() {
            Some(_) => self.tensors().iter().map(|tensor| (tensor.name(), tensor)).collect(),
            None => HashMap::new(),
        };
        pairs.filter_map(move |(key, name)| match known.contains_key(key) {
            true => None,
            false => Some((key, *known.get(name)?)),
        })
    }

    /// Iterates over the pairs of metadata that may have such a name.
    fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        let ties = self.container_format().ties;
        self.metadata().filter(move |(key, _)| ties && may_stand(key))
    }

    /// Returns the facts that a result must share with the file, apart from tensors and their layouts.
    pub(crate) fn facts(&self) -> Vec<Fact> {
        self.opened.container.facts(&self.opened)
    }

    /// Returns the note for the result of `jobs` in this format.
    pub(crate) fn note(&self, format: &Format, jobs: &[Job]) -> Option<Texts> {
        let (array, [job]) = (format.array.as_ref()?, jobs) else { return None };
        let tensor = self.tensors().get(job.tensor)?;
        let says = (array.says)(&tensor.file_dtype, &job.to);
        (!says).then(|| container::noted(job))
    }

    /// Returns a message if the file is not the one that its note describes.
    pub(crate) fn changed(&self) -> Option<String> {
        self.aside.as_ref()?.changed(&self.path)
    }

    /// Returns whether the file holds one array, which it does not name.
    pub(crate) fn is_array(&self) -> bool {
        self.container_format().array.is_some()
    }

    /// Returns the name of the one array in a file that names its tensors: the name of the file, without its ending.
    pub(crate) fn array_name(&self) -> String {
        let stem = self.path.file_stem().filter(|_| !is_standard(&self.path));
        stem.map_or_else(|| "array".into(), |stem| stem.to_string_lossy().into_owned())
    }

    /// Plans the files of the results of `jobs` in this format.
    pub(crate) fn plan(
        &self,
        format: &Format,
        path: &Path,
        jobs: &[Job],
    ) -> Result<Vec<Target>, Error> {
        let own = &self.opened.container;
        match format.create {
            Some(create) if own.format() != format => create(vec![]).plan(&self.opened, path, jobs),
            _ => own.plan(&self.opened, path, jobs),
        }
    }

    pub(crate) fn container_format(&self) -> &'static Format {
        self.opened.container.format()
    }

    /// Returns the file that holds a tensor, and the position of its first byte there.
    pub(crate) fn place(&self, tensor: &Tensor) -> Result<(&Source, u64), Error> {
        self.opened.place(&self.path, tensor)
    }

    /// Iterates over all files that are read.
    pub(crate) fn sources(&self) -> impl Iterator<Item = &Source> {
        self.opened.index.iter().chain(self.opened.files.iter().map(|file| &file.source))
    }

    /// Returns whether reads of a tensor are requests to another machine.
    pub(crate) fn is_remote(&self) -> bool {
        self.sources().any(Source::is_remote)
    }

    /// Iterates over the files that hold tensors, in the order of the numbers of [`Piece::file`](crate::Piece::file).
    ///
    /// ```
    /// # use tilewright_files::{Reading, open};
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
    /// # let input = open(path, &Reading::default()).unwrap();
    /// assert_eq!(input.files().count(), 1);
    /// ```
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        self.opened.files.iter().map(|file| file.source.path())
    }

    /// Returns whether one of the files that are read is this open file.
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

    /// Returns whether a path names one of the files that are read.
    pub(crate) fn holds(&self, path: &Path) -> bool {
        self.sources().any(|source| source.is_at(path))
    }

    /// Returns an error if the bytes of tensors do not have the file's checksums.
    #[doc(hidden)]
    pub fn check_sums(&self, watch: &dyn Watch) -> Result<(), Error> {
        self.opened.container.check(&self.opened, watch)
    }

    /// Returns whether the format has checksums of the tensors' bytes, which a run compares before it writes.
    #[doc(hidden)]
    pub fn is_summed(&self) -> bool {
        self.opened.container.is_summed()
    }

    /// Returns an error if one of the files was changed since it was opened.
    pub(crate) fn check_unchanged(&self) -> Result<(), Error> {
        self.sources().try_for_each(Source::check_unchanged)
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> + Clone {
        self.opened.tensors.iter().map(|tensor| tensor.name.as_str())
    }
}

/// Returns all bytes of a file, if they are at most `most`.
///
/// # Errors
/// Those of [`Input::bytes`].
///
/// ```
/// let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("bytes");
/// std::fs::write(&path, [1, 2, 3]).unwrap();
/// assert_eq!(tilewright_files::bytes(&path, 3).unwrap(), [1, 2, 3]);
/// assert!(tilewright_files::bytes(&path, 2).unwrap_err().to_string().contains("3 bytes"));
/// ```
pub fn bytes(path: impl AsRef<Path>, most: u64) -> Result<Vec<u8>, Error> {
    let source = Source::open(&Place::parse(path.as_ref()).path)?;
    read(&source, 0, source.len(), most)
}

fn read(source: &Source, at: u64, len: u64, most: u64) -> Result<Vec<u8>, Error> {
    if len > most || usize::try_from(len).is_err() {
        let path = source.path().display();
        return Err(error::usage(format!("{path}: {len} bytes, at most {most} are read")));
    }
    let mut bytes = zeros(len)?;
    source.read(&mut bytes, at)?;
    Ok(bytes)
}
