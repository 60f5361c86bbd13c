//! An opened file with all its tensors.

use std::{
    fs::File,
    path::{Path, PathBuf},
};

use crate::{
    Error, Job, Tensor, Watch,
    container::{self, Fact, Format, Opened, Target},
    layout::note::{Aside, Texts},
    open::source::{Source, is_standard},
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

    /// Returns the name of the format: `safetensors`, `sharded safetensors`, `GGUF`, `npy`, `npz` or `raw`.
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
        aside.chain(self.beside.clone()).chain(self.opened.container.warnings())
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
    pub(crate) fn check_sums(&self, watch: &dyn Watch) -> Result<(), Error> {
        self.opened.container.check(&self.opened, watch)
    }

    /// Returns an error if one of the files was changed since it was opened.
    pub(crate) fn check_unchanged(&self) -> Result<(), Error> {
        self.sources().try_for_each(Source::check_unchanged)
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> + Clone {
        self.opened.tensors.iter().map(|tensor| tensor.name.as_str())
    }
}
