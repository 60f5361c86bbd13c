//! The tensors of a file or of a folder of files, by name.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use tilewright_core::Remedy;

use crate::{
    Error, FileLists, Input, Reading, Tensor, Watch, container,
    convert::job::read_as,
    error,
    open::{
        check_reading, folder, foreign,
        globs::Pattern,
        open_as,
        place::{self, Place},
        remote,
        source::Source,
    },
};

/// All tensors of a file, or of the files of a folder.
///
/// The files of a folder are those that its only index of shards names; without an index, all files in it whose names end as
/// those of a format of tensors. If such a file holds one array without a name, the array gets the name of the file, without the
/// ending.
///
/// ```
/// use tilewright_files::Collection;
/// let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
/// let tensors = Collection::open(path).unwrap();
/// assert_eq!(tensors.names().next(), Some("0.bias"));
/// ```
#[derive(Debug)]
pub struct Collection {
    inputs: Vec<Input>,
    /// The number of the file and of its tensor, by name.
    tensors: BTreeMap<String, (usize, usize)>,
    /// Messages about skipped files, as sentences without a full stop.
    passed: Vec<String>,
}

impl Collection {
    /// Opens a file or a folder.
    ///
    /// # Errors
    /// Those of [`open`](crate::open); [i/o](Error::is_io) for a folder without tensors or with a broken link, or if two files
    /// have a tensor of the same name.
    ///
    /// ```
    /// use tilewright_files::Collection;
    /// let folder = tempfile::tempdir().unwrap();
    /// let error = Collection::open(folder.path()).unwrap_err();
    /// assert!(error.is_io() && error.to_string().contains("no file of tensors"));
    /// ```
    pub fn open(path: impl AsRef<Path>) -> Result<Collection, Error> {
        Collection::open_as(path, &Reading::default())
    }

    /// Opens a file or a folder like [`open`](Collection::open). Files of one array, which may not record its layout, are read by
    /// `reading`.
    ///
    /// # Errors
    /// Those of [`open`](Collection::open).
    ///
    /// ```
    /// use tilewright_files::{Collection, Reading};
    /// use tilewright_notation::dtype;
    /// let folder = tempfile::tempdir().unwrap();
    /// std::fs::write(folder.path().join("x"), [1, 2, 3, 4, 5, 6]).unwrap();
    /// let raw = format!("raw:{}", folder.path().join("x").display());
    /// let reading = Reading::default().dims(&[2, 3]).dtype(dtype("u8").unwrap());
    /// assert_eq!(Collection::open_as(&raw, &reading).unwrap().arrays(), 1);
    /// assert!(Collection::open(&raw).unwrap_err().is_usage());
    /// ```
    pub fn open_as(path: impl AsRef<Path>, reading: &Reading) -> Result<Collection, Error> {
        let path = path.as_ref();
        let mut all = Collection { inputs: vec![], tensors: BTreeMap::new(), passed: vec![] };
        if !place::is_folder(path)? {
            all.add(&Place::parse(path), None, reading)?;
            return Ok(all);
        }
        let listed = folder::names(path)?;
        for file in files(path, &listed)? {
            let stem = file.file_stem().map(|stem| stem.to_string_lossy().into_owned());
            all.add(&Place::parse(&file), stem, reading)?;
        }
        all.passed = all.passed(path, &listed);
        Ok(all)
    }

    /// Opens two files or folders. If one of them cannot be read without `reading`, it is read by it, and one that states its
    /// array is not; else both are read by it, like [`open_as`](Collection::open_as). A file is opened a second time only if
    /// the reading applies to it.
    ///
    /// # Errors
    /// Those of [`open`](Collection::open).
    ///
    /// ```
    /// use tilewright_files::{Collection, Reading};
    /// use tilewright_notation::dtype;
    /// let folder = tempfile::tempdir().unwrap();
    /// std::fs::write(folder.path().join("x"), [1, 2, 3, 4, 5, 6]).unwrap();
    /// let raw = format!("raw:{}", folder.path().join("x").display());
    /// let named = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
    /// let reading = Reading::default().dims(&[2, 3]).dtype(dtype("u8").unwrap());
    /// assert!(Collection::open_both(&raw, named, &reading).is_ok());
    /// assert!(Collection::open_both(&raw, named, &Reading::default()).unwrap_err().is_usage());
    /// ```
    pub fn open_both(
        a: impl AsRef<Path>,
        b: impl AsRef<Path>,
        reading: &Reading,
    ) -> Result<(Collection, Collection), Error> {
        let paths = [a.as_ref(), b.as_ref()];
        let stated = paths.map(Collection::open);
        let lacks = |one: &Result<Collection, Error>| one.as_ref().is_err_and(Error::is_usage);
        let some_lack = stated.iter().any(lacks);
        // Only files of one array depend on the caller's reading.
        let depends = |one: &Result<Collection, Error>| match one {
            Ok(one) => !some_lack && !reading.is_silent() && one.arrays() > 0,
            Err(_) => lacks(one) && !reading.is_silent(),
        };
        let read = |path, one| if depends(&one) { Collection::open_as(path, reading) } else { one };
        let [one, other] = stated;
        Ok((read(paths[0], one)?, read(paths[1], other)?))
    }

    /// Reads the tensors of files that name them by `reading`, as [`Conversion`](crate::Conversion) does: those whose layout is
    /// not noted.
    ///
    /// # Errors
    /// [usage](Error::is_usage) for a tensor that cannot be read by `reading`; select others with [`only`](Collection::only)
    /// before.
    ///
    /// ```
    /// use tilewright_files::{Collection, Reading};
    /// use tilewright_notation::{Spec, dtype};
    /// let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_llm_mixed.safetensors");
    /// let ids = Collection::open(path).unwrap().only(&["ids.i64"]).unwrap();
    /// let reading = Reading::default().from(Spec::parse("row-major as s64").unwrap()).dtype(dtype("u8").unwrap());
    /// assert_eq!(ids.read_as(&reading).unwrap().names().count(), 1);
    ///
    /// let error = Collection::open(path).unwrap().read_as(&reading).unwrap_err();
    /// assert!(error.is_usage() && error.to_string().contains("tensor"));
    /// ```
    pub fn read_as(mut self, reading: &Reading) -> Result<Collection, Error> {
        if self.is_sharded() && !reading.is_silent() {
            let said = "tensors in shards are read in the layouts that their files state; reshard them first";
            return Err(error::usage(said));
        }
        for (file, at) in self.tensors.values() {
            let Some(input) = self.inputs.get_mut(*file).filter(|input| !input.is_array()) else {
                continue;
            };
            check_reading(input.container_format(), reading)?;
            let Some(tensor) = input.opened.tensors.get(*at) else { continue };
            if tensor.noted.is_none() && !reading.is_silent() {
                let lists = FileLists::of(input).beside(&tensor.name);
                let held = read_as(tensor, reading, &lists)
                    .map_err(|unfit| unfit.alone(&input.path).with(&[Remedy::LeaveOut]))?;
                if let Some(tensor) = input.opened.tensors.get_mut(*at) {
                    tensor.held = held;
                }
            }
        }
        Ok(self)
    }

    fn add(&mut self, place: &Place, stem: Option<String>, reading: &Reading) -> Result<(), Error> {
        let source = Source::open(&place.path)?;
        let format = place.format.map_or_else(|| container::recognised(&source), Ok)?;
        let silent = Reading::default();
        let reading = if format.array.is_some() { reading } else { &silent };
        let input = open_as(format, source, reading, &())?;
        let at = self.inputs.len();
        for (i, tensor) in input.tensors().iter().enumerate() {
            let own = stem.clone().filter(|_| input.is_array());
            let name = own.unwrap_or_else(|| tensor.name.clone());
            if let Some((other, _)) = self.tensors.insert(name.clone(), (at, i)) {
                let other = self.inputs.get(other).map_or(input.path(), Input::path).display();
                let hint = "if each file holds a part of it, reshard the folder to whole tensors";
                let said = format!("tensor {name:?} is also in {other}; {hint}");
                return Err(error::corrupt(input.path(), said));
            }
        }
        self.inputs.push(input);
        Ok(())
    }

    /// Keeps only the tensors whose names match one of the patterns; an empty list keeps all.
    ///
    /// # Errors
    /// [usage](Error::is_usage) for an invalid pattern, or one that does not match any name.
    ///
    /// ```
    /// use tilewright_files::Collection;
    /// let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
    /// let tensors = Collection::open(path).unwrap().only(&["*.bias"]).unwrap();
    /// assert!(tensors.names().all(|name| name.ends_with(".bias")));
    /// let all = Collection::open(path).unwrap();
    /// assert!(all.only(&["nothing*"]).unwrap_err().is_usage());
    /// ```
    pub fn only(mut self, globs: &[impl AsRef<str>]) -> Result<Collection, Error> {
        let compiled = globs.iter().map(|glob| Pattern::matching(glob.as_ref(), self.names()));
        let patterns = compiled.collect::<Result<Vec<Pattern>, Error>>()?;
        self.keep(&patterns);
        Ok(self)
    }

    /// Keeps only the tensors of two collections whose names match one of the patterns; each pattern must match a name of either.
    ///
    /// # Errors
    /// [usage](Error::is_usage) for an invalid pattern, or one that does not match any tensor.
    ///
    /// ```
    /// # use tilewright_files::Collection;
    /// let path = |name| format!("{}/../../corpus/data/{name}.safetensors", env!("CARGO_MANIFEST_DIR"));
    /// let open = |name| Collection::open(path(name)).unwrap();
    /// let (a, b) = open("tiny_cnn_f32").only_of(open("tiny_llm_mixed"), &["*.bias"]).unwrap();
    /// assert!(a.names().count() > 0 && b.names().count() == 0);
    /// ```
    pub fn only_of(
        mut self,
        mut other: Collection,
        globs: &[impl AsRef<str>],
    ) -> Result<(Collection, Collection), Error> {
        let patterns = {
            let names = self.names().chain(other.names());
            let compiled = globs.iter().map(|glob| Pattern::matching(glob.as_ref(), names.clone()));
            compiled.collect::<Result<Vec<Pattern>, Error>>()?
        };
        self.keep(&patterns);
        other.keep(&patterns);
        Ok((self, other))
    }

    fn keep(&mut self, patterns: &[Pattern]) {
        if !patterns.is_empty() {
            self.tensors.retain(|name, _| patterns.iter().any(|pattern| pattern.matches(name)));
        }
    }

    /// Iterates over messages on the parts of a folder that are not read: folders in it, and files of tensors that its index does
    /// not name.
    ///
    /// ```
    /// # use tilewright_files::Collection;
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
    /// assert_eq!(Collection::open(path).unwrap().warnings().count(), 0);
    /// ```
    pub fn warnings(&self) -> impl Iterator<Item = String> {
        self.passed.iter().cloned().chain(self.inputs.iter().flat_map(Input::warnings))
    }

    /// Returns the number of files that hold one array without a name.
    ///
    /// ```
    /// # use tilewright_files::Collection;
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
    /// assert_eq!(Collection::open(path).unwrap().arrays(), 0);
    /// ```
    pub fn arrays(&self) -> usize {
        self.inputs.iter().filter(|input| input.is_array()).count()
    }

    /// Iterates over the names, sorted.
    ///
    /// ```
    /// # use tilewright_files::Collection;
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
    /// assert_eq!(Collection::open(path).unwrap().names().count(), 8);
    /// ```
    pub fn names(&self) -> impl Iterator<Item = &str> + Clone {
        self.tensors.keys().map(String::as_str)
    }

    /// Returns the tensor of a name, and the file that holds it.
    pub(crate) fn get(&self, name: &str) -> Option<(&Input, &Tensor)> {
        let (file, tensor) = self.tensors.get(name)?;
        let input = self.inputs.get(*file)?;
        Some((input, input.tensors().get(*tensor)?))
    }

    /// Makes a collection of the tensors of one input, with messages about it.
    pub(crate) fn of_input(input: Input, passed: Vec<String>) -> Collection {
        let names = input.names().map(str::to_owned).enumerate();
        let tensors = names.map(|(number, name)| (name, (0, number))).collect();
        Collection { inputs: vec![input], tensors, passed }
    }

    /// Returns the only file, or the only checkpoint of several; none if its tensors are in shards.
    pub(crate) fn alone(&self) -> Option<&Input> {
        match &self.inputs[..] {
            [input] if !self.is_sharded() => Some(input),
            _ => None,
        }
    }

    /// Returns whether its tensors are in shards.
    ///
    /// ```
    /// # use tilewright_files::Collection;
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
    /// assert!(!Collection::open(path).unwrap().is_sharded());
    /// ```
    pub fn is_sharded(&self) -> bool {
        self.inputs.iter().any(|input| input.opened.container.is_sharded())
    }

    /// Returns the name of the only tensor, and whether its file does not name it.
    pub(crate) fn only_name(&self) -> Option<(&str, bool)> {
        let mut all = self.tensors.iter();
        let (Some((name, (file, _))), None) = (all.next(), all.next()) else { return None };
        Some((name, self.inputs.get(*file).is_some_and(Input::is_array)))
    }

    fn passed(&self, folder: &Path, listed: &[PathBuf]) -> Vec<String> {
        let folders: Vec<&PathBuf> =
            listed.iter().filter(|path| remote::is_listed_folder(path)).collect();
        let is_read = |path: &Path| self.inputs.iter().any(|input| input.holds(path));
        let files = listed.iter().filter(|path| !remote::is_listed_folder(path));
        let files = files.filter(|path| container::by_ending(path).is_some() && !is_read(path));
        let said = |what: &str, paths: &[&PathBuf]| {
            let names: Vec<_> = paths.iter().filter_map(|path| path.file_name()).collect();
            let shown: Vec<_> = names.iter().take(3).map(|name| name.to_string_lossy()).collect();
            let more = if names.len() > 3 { ", …" } else { "" };
            let (folder, count, shown) = (folder.display(), names.len(), shown.join(", "));
            (count > 0).then(|| format!("{folder}: {what} ({count}: {shown}{more})"))
        };
        let files: Vec<&PathBuf> = files.collect();
        let folders = said("subfolders are not read", &folders);
        folders
            .into_iter()
            .chain(said(
                "files of tensors that its index does not name, which are not read",
                &files,
            ))
            .collect()
    }

    /// Returns the number of bytes of all tensors.
    pub(crate) fn bytes(&self) -> u64 {
        self.names().filter_map(|name| Some(self.get(name)?.1.len)).fold(0, u64::saturating_add)
    }

    /// Returns an error if a file contradicts its checksums, or was changed since it was opened.
    pub(crate) fn check(&self, watch: &dyn Watch) -> Result<(), Error> {
        self.inputs.iter().try_for_each(|input| {
            input.check_sums(watch)?;
            input.check_unchanged()
        })
    }
}

/// Returns the files of tensors among the paths in a folder.
fn files(folder: &Path, listed: &[PathBuf]) -> Result<Vec<PathBuf>, Error> {
    let mut paths = listed.to_vec();
    paths.retain(|path| !remote::is_listed_folder(path) && folder::of_tensors(path).is_some());
    // The content of a broken link or a pipe is unknown, so the folder is refused.
    if let Some(other) = paths.iter().find(|path| !remote::is_url(path) && !path.is_file()) {
        return Err(error::unsupported(
            other,
            "its name is that of a file of tensors, but it is not a regular file",
        ));
    }
    let indices: Vec<&PathBuf> = paths.iter().filter(|path| is_index(path)).collect();
    match indices[..] {
        [] if paths.is_empty() => {
            if let Some(older) = foreign::older(folder) {
                return Ok(vec![older]);
            }
            foreign::check_folder(folder)?;
            let said = "it contains no file of tensors, and subfolders are not read";
            Err(error::unsupported(folder, said))
        }
        [] => Ok(paths),
        [index] => Ok(vec![index.clone()]),
        [one, other, ..] => {
            let said = format!("{} and {} are indices; name one", one.display(), other.display());
            Err(error::unsupported(folder, said))
        }
    }
}

/// Returns whether a file is an index that names the files of the tensors.
fn is_index(path: &Path) -> bool {
    folder::of_tensors(path).is_some_and(|format| format.several)
}
