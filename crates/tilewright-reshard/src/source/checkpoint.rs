//! A checkpoint, opened: its files, its arrays, and their offsets. Also functions that all readers share.

use std::{
    collections::HashMap,
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use tilewright_files::inner::{is_url, list_folder};

use crate::{
    Error, Request, error,
    plan::array::{Laid, LocalOffsets, ReshardedArray},
    source::{
        beside::Beside,
        identity::Identity,
        lists::{ListedTensor, Lists, shown},
        numbers::natural,
    },
};

/// A checkpoint, opened.
#[derive(Debug, Default)]
pub(crate) struct Checkpoint {
    pub(crate) files: Vec<Identity>,
    /// Other files that must not change: those whose metadata the result gets.
    pub(crate) models: Vec<Identity>,
    pub(crate) arrays: Vec<ReshardedArray>,
    pub(crate) places: LocalOffsets,
    pub(crate) beside: Beside,
}

impl Checkpoint {
    /// Iterates over all files that must not change.
    pub(crate) fn all_files(&self) -> impl Iterator<Item = &Identity> {
        self.files.iter().chain(&self.models)
    }

    /// Drops all copies of a box but one, if the request says so.
    pub(crate) fn trust(&mut self, request: &Request) {
        if !request.trusts_replicas {
            return;
        }
        // The pieces stay alive while their addresses are keys.
        let kept: Vec<_> = self.arrays.iter().map(|array| array.held.clone()).collect();
        let mut alike = HashMap::new();
        for (array, held) in self.arrays.iter_mut().zip(&kept) {
            let first = || Arc::new(held.without_replicas());
            array.held = alike.entry(Arc::as_ptr(held)).or_insert_with(first).clone();
        }
    }
}

/// Returns the paths in a folder.
fn names(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    if is_url(folder) {
        return list_folder(folder).map_err(Error::of_request);
    }
    let failed = |cause| error::io(folder, "list", &cause);
    let listed = fs::read_dir(folder).map_err(failed)?;
    listed.map(|entry| Ok(entry.map_err(failed)?.path())).collect()
}

/// Returns whether a folder has an index.
pub(crate) fn has_index(folder: &Path) -> Result<bool, Error> {
    Ok(names(folder)?.iter().any(|path| is_index(path)))
}

/// Returns whether a path is that of an index.
pub(crate) fn is_index(path: &Path) -> bool {
    path.to_string_lossy().ends_with(".index.json")
}

/// Returns the safetensors files of a folder, or the GGUF files if there are none, in the order of the numbers in their
/// names.
pub(crate) fn listed(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let names = names(folder)?;
    let of = |ending: &str| {
        let is_one =
            |path: &&PathBuf| path.extension().is_some_and(|end| end.eq_ignore_ascii_case(ending));
        names.iter().filter(is_one).cloned().collect::<Vec<_>>()
    };
    let found = ["safetensors", "gguf"].map(of).into_iter().find(|files| !files.is_empty());
    let mut files = found.unwrap_or_default();
    files.sort_by_key(|path| natural(&shown(path)));
    Ok(files)
}

/// Returns an error if a tensor of one file cannot be a piece of the array that other files hold.
pub(crate) fn same(first: &ListedTensor, entry: &ListedTensor) -> Result<(), Error> {
    let whole = |laid: &Laid| laid.packed().filter(|_| laid.unit().is_none());
    let facts = |laid: &Laid| (laid.dtype, (laid.bits, laid.big), laid.dims().len(), whole(laid));
    if facts(&first.laid) == facts(&entry.laid) {
        return Ok(());
    }
    let (rank, own) = (first.laid.dims().len(), entry.laid.dims().len());
    let (here, others) = (&entry.laid.file_dtype, &first.laid.file_dtype);
    let said = format!("tensor {:?} is {here} of rank {own}", entry.name);
    Err(Error::mismatch(format!("{said}; earlier files say {others} of rank {rank}")))
}

/// Makes the checkpoint of these files, with the offsets of its arrays, which are sorted by name.
pub(crate) fn settled(
    path: &Path,
    lists: Lists,
    arrays: Vec<ReshardedArray>,
) -> Result<Checkpoint, Error> {
    let numbers: HashMap<&str, usize> =
        arrays.iter().enumerate().map(|(number, array)| (&*array.name, number)).collect();
    let place = |entry: &ListedTensor| Some((*numbers.get(&*entry.name)?, entry.at));
    let mut places = LocalOffsets::default();
    for (file, number) in lists.of.iter().enumerate() {
        match lists.of.iter().position(|of| of == number).filter(|first| *first < file) {
            Some(first) => places.again(first),
            None => {
                let list = lists.lists.get(*number).map_or(&[][..], Vec::as_slice);
                places.push(list.iter().filter_map(place).collect())?;
            }
        }
    }
    let beside = Beside::of(path, &lists.files, &lists.metadata)?;
    Ok(Checkpoint { files: lists.files, models: Vec::new(), arrays, places, beside })
}
