//! A file opened for reading, with every tensor it holds.

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
    /// What was found beside the file and left aside.
    pub(crate) aside: Option<Aside>,
    /// The folder that was opened, where it was one.
    pub(crate) folder: Option<PathBuf>,
    /// The folder's other file of the same model, as a sentence without an end.
    pub(crate) beside: Option<String>,
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

    /// What kind of file it is: `safetensors`, `sharded safetensors`, `GGUF`, `npy`, `npz` or `raw`.
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

    /// The tensors, in the order of their bytes.
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

    /// The metadata of the file, keys sorted; those of all shards, one after the other.
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

    /// What is not as one may expect, in sentences without an end: a note of other bytes beside the file,
    /// bytes behind an array, entries that are unpacked, another file of the same model beside it.
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

    /// What a result must say as the file does, beside tensors and their layouts.
    pub(crate) fn facts(&self) -> Vec<Fact> {
        self.opened.container.facts(&self.opened)
    }

    /// What is to be noted beside results of `jobs` in this format.
    pub(crate) fn note(&self, format: &Format, jobs: &[Job]) -> Option<Texts> {
        let (array, [job]) = (format.array.as_ref()?, jobs) else { return None };
        let tensor = self.tensors().get(job.tensor)?;
        let says = (array.says)(&tensor.file_dtype, &job.to);
        (!says).then(|| container::noted(job))
    }

    /// That the file is not the one that its note is of, where that is so.
    pub(crate) fn changed(&self) -> Option<String> {
        self.aside.as_ref()?.changed(&self.path)
    }

    /// Whether the file holds one array, which it does not name.
    pub(crate) fn is_array(&self) -> bool {
        self.container_format().array.is_some()
    }

    /// The name of its one array in a file that names its tensors: that of the file, without its ending.
    pub(crate) fn array_name(&self) -> String {
        let stem = self.path.file_stem().filter(|_| !is_standard(&self.path));
        stem.map_or_else(|| "array".into(), |stem| stem.to_string_lossy().into_owned())
    }

    /// The files that results of `jobs` become in this format.
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

    /// The file that holds a tensor, and where its bytes begin there.
    pub(crate) fn place(&self, tensor: &Tensor) -> Result<(&Source, u64), Error> {
        self.opened.place(&self.path, tensor)
    }

    /// Every file that is read.
    pub(crate) fn sources(&self) -> impl Iterator<Item = &Source> {
        self.opened.index.iter().chain(self.opened.files.iter().map(|file| &file.source))
    }

    /// The files that hold tensors, as [`Piece::file`](crate::Piece::file) counts them.
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

    /// An error if the bytes of tensors are not those that the file's checksums were made of.
    pub(crate) fn check_sums(&self, watch: &dyn Watch) -> Result<(), Error> {
        self.opened.container.check(&self.opened, watch)
    }

    /// An error if one of the files is not as it was when it was opened.
    pub(crate) fn check_unchanged(&self) -> Result<(), Error> {
        self.sources().try_for_each(Source::check_unchanged)
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> + Clone {
        self.opened.tensors.iter().map(|tensor| tensor.name.as_str())
    }
}
