//! The tensors of a file or of a folder of files, by name.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use crate::{
    Error, Input, Reading, Tensor, folder, globs::Pattern, open::open_place, place::Place,
};

/// Every tensor of a file, or of the files of a folder.
///
/// A folder is what its only index of shards names; without one, every file in it that is named as a format of tensors
/// names its files. Where such a file holds one array without a name, that is called as the file is, without the
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
    /// By name: which file, and which of its tensors.
    tensors: BTreeMap<String, (usize, usize)>,
}

impl Collection {
    /// Opens a file or a folder.
    ///
    /// # Errors
    /// As [`open`](crate::open); [i/o](Error::is_io) for a folder without tensors or with a link to none, or where two
    /// files have a tensor of one name.
    ///
    /// ```
    /// use tilewright_files::Collection;
    /// let folder = tempfile::tempdir().unwrap();
    /// let error = Collection::open(folder.path()).unwrap_err();
    /// assert!(error.is_io() && error.to_string().contains("no file of tensors"));
    /// ```
    pub fn open(path: impl AsRef<Path>) -> Result<Collection, Error> {
        let path = path.as_ref();
        let mut all = Collection { inputs: vec![], tensors: BTreeMap::new() };
        if !path.is_dir() {
            all.add(&Place::parse(path), None)?;
            return Ok(all);
        }
        for file in files(path)? {
            let stem = file.file_stem().map(|stem| stem.to_string_lossy().into_owned());
            all.add(&Place::parse(&file), stem)?;
        }
        Ok(all)
    }

    fn add(&mut self, place: &Place, stem: Option<String>) -> Result<(), Error> {
        let input = open_place(place, &Reading::default(), &())?;
        let at = self.inputs.len();
        for (i, tensor) in input.tensors().iter().enumerate() {
            let own = stem.clone().filter(|_| input.is_array());
            let name = own.unwrap_or_else(|| tensor.name.clone());
            if let Some((other, _)) = self.tensors.insert(name.clone(), (at, i)) {
                let other = self.inputs.get(other).map_or(input.path(), Input::path).display();
                let said = format!("tensor {name:?} is also in {other}");
                return Err(Error::corrupt(input.path(), said));
            }
        }
        self.inputs.push(input);
        Ok(())
    }

    /// The tensors whose names match one of the patterns alone; all if there are none.
    ///
    /// # Errors
    /// [usage](Error::is_usage) for a pattern that is none, or that no name matches.
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
        if !patterns.is_empty() {
            self.tensors.retain(|name, _| patterns.iter().any(|pattern| pattern.matches(name)));
        }
        Ok(self)
    }

    /// The names, sorted.
    ///
    /// ```
    /// # use tilewright_files::Collection;
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
    /// assert_eq!(Collection::open(path).unwrap().names().count(), 8);
    /// ```
    pub fn names(&self) -> impl Iterator<Item = &str> + Clone {
        self.tensors.keys().map(String::as_str)
    }

    /// The tensor of a name, and the file that holds it.
    pub(crate) fn get(&self, name: &str) -> Option<(&Input, &Tensor)> {
        let (file, tensor) = self.tensors.get(name)?;
        let input = self.inputs.get(*file)?;
        Some((input, input.tensors().get(*tensor)?))
    }

    /// The bytes of all tensors.
    pub(crate) fn bytes(&self) -> u64 {
        self.names().filter_map(|name| Some(self.get(name)?.1.len)).fold(0, u64::saturating_add)
    }

    /// An error if a file is not as it was when it was opened.
    pub(crate) fn check(&self) -> Result<(), Error> {
        self.inputs.iter().try_for_each(Input::check_unchanged)
    }
}

/// The files of tensors in a folder, sorted.
fn files(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let failed = |cause| Error::io(folder, "list", cause);
    let listed = fs::read_dir(folder).map_err(failed)?;
    let paths = listed.map(|entry| entry.map(|entry| entry.path()));
    let mut paths: Vec<PathBuf> = paths.collect::<Result<_, _>>().map_err(failed)?;
    paths.retain(|path| !path.is_dir() && folder::of_tensors(path).is_some());
    paths.sort();
    // A link to nothing, a pipe: what is in it is not known, so nothing is said of the folder.
    if let Some(other) = paths.iter().find(|path| !path.is_file()) {
        return Err(Error::unsupported(
            other,
            "it is named as a file of tensors and is no file that can be read",
        ));
    }
    let indices: Vec<&PathBuf> = paths.iter().filter(|path| is_index(path)).collect();
    match indices[..] {
        [] if paths.is_empty() => Err(Error::unsupported(
            folder,
            "no file of tensors is in it, and folders in it are not read",
        )),
        [] => Ok(paths),
        [index] => Ok(vec![index.clone()]),
        [one, other, ..] => {
            let said = format!("{} and {} are indices; name one", one.display(), other.display());
            Err(Error::unsupported(folder, said))
        }
    }
}

/// Whether a file says which others hold the tensors.
fn is_index(path: &Path) -> bool {
    folder::of_tensors(path).is_some_and(|format| format.several)
}
