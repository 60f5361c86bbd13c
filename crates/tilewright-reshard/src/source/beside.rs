//! The contents of a checkpoint other than its arrays: metadata and files that are copied to the result, and those that
//! are not. Sources collect it, and results copy it.
//!
//! Metadata and lists of a request have extents of whole tensors. Readers of sources collect them, with the set of arrays whose
//! extents no file states, and results write them.
//!
//! ```text
//! {"model.embed.weight": [50257, 64]}        a list in JSON
//! "model.embed.weight" = [50257, 64]         in TOML; tables are parts of names: [model] embed.weight = [50257, 64]
//! ```

use std::{
    collections::{BTreeMap, HashSet},
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tilewright_files::{
    Fingerprint, Input,
    inner::{Companions, RECIPE_KEY, is_folder},
};

use crate::{Error, source::identity::Identity};

/// The description of a torch checkpoint. It describes the source files, so it is not copied to a result.
const DESCRIPTION: &str = ".metadata";

/// Metadata under keys with these prefixes is about single tensors or about this form of a checkpoint.
const OF_TENSORS: [&str; 2] = ["tilewright.", "DCP_"];

/// The metadata of one file that is not about a tensor.
pub(crate) type Metadata = BTreeMap<String, String>;

/// The contents of a checkpoint other than its arrays.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Beside {
    /// Metadata that no file contradicts.
    pub(crate) metadata: Metadata,
    /// Files that are copied to the result.
    #[serde(with = "crate::request::address::list")]
    pub(crate) companions: Vec<PathBuf>,
    /// The items that are not copied, as sentences without a full stop.
    pub(crate) left: Vec<String>,
    /// The arrays whose extents no file states.
    pub(crate) assumed: ArrayNumbers,
    /// True if a whole tensor may be missing unnoticed: a config states extents, but does not list all tensors.
    #[serde(default)]
    pub(crate) is_open: bool,
    /// The fingerprints of whole arrays that files record, by the numbers of the arrays.
    records: BTreeMap<usize, String>,
}

/// Returns the metadata of a file that is not about a tensor; none of another format, whose keys safetensors do not have.
pub(crate) fn metadata(input: &Input) -> Metadata {
    let own = of_file(input).filter(|_| is_own(input));
    own.map(|(key, text)| (key.to_owned(), text.to_owned())).collect()
}

/// Iterates over the metadata of a file that is not about a tensor.
fn of_file(input: &Input) -> impl Iterator<Item = (&str, &str)> {
    let of_tensors = |key: &str| OF_TENSORS.iter().any(|prefix| key.starts_with(prefix));
    input.metadata().filter(move |(key, _)| !of_tensors(key))
}

/// Returns whether a file has the format of results.
fn is_own(input: &Input) -> bool {
    input.format().ends_with("safetensors")
}

/// Returns a sentence, without a full stop, about the metadata of a file of another format.
pub(crate) fn left_metadata(input: &Input) -> Option<String> {
    let count = of_file(input).filter(|_| !is_own(input)).count();
    let (path, format) = (input.path().display(), input.format());
    let said = || format!("{count} metadata of {path} are not copied: they are those of {format}");
    (count > 0).then(said)
}

/// Returns a sentence, without a full stop, about the recipe that a file records, which fits its own tensors.
pub(crate) fn left_recipe(input: &Input) -> Option<String> {
    let is_there = input.metadata().any(|(key, _)| key == RECIPE_KEY);
    let path = input.path().display();
    is_there.then(|| {
        format!("the recipe that undoes {path} is not copied: undo it before its tensors are cut")
    })
}

impl Beside {
    /// Collects the contents of this folder, or of the folder of this file, from files with this metadata.
    pub(crate) fn of(path: &Path, files: &[Identity], said: &[Metadata]) -> Result<Beside, Error> {
        let mut beside = Beside::default();
        let mut contradicted = HashSet::new();
        for (key, text) in said.iter().flatten() {
            let known = beside.metadata.entry(key.clone()).or_insert_with(|| text.clone());
            if known != text {
                contradicted.insert(key.clone());
            }
        }
        beside.metadata.retain(|key, _| !contradicted.contains(key));
        let mut keys: Vec<String> = contradicted.into_iter().collect();
        keys.sort();
        if !keys.is_empty() {
            let keys = keys.join(", ");
            beside.left.push(format!("metadata that differs between files: {keys}"));
        }
        if is_folder(path)? {
            let own = files.iter().map(|file| &*file.path).collect();
            let companions = Companions::beside(path, &own)?;
            beside.left.extend(companions.warning());
            let goes = |path: &PathBuf| path.file_name().is_some_and(|name| name != DESCRIPTION);
            let (taken, own) = companions.taken.into_iter().partition::<Vec<_>, _>(goes);
            beside.companions = taken;
            let said = "which describes the files that are read";
            beside
                .left
                .extend(own.first().map(|_| format!("not taken along: {DESCRIPTION}, {said}")));
        }
        Ok(beside)
    }

    /// Leaves the metadata where they are: the result has another format, and those of its own model.
    pub(crate) fn leave_metadata(&mut self, format: &str) {
        let keys: Vec<String> = std::mem::take(&mut self.metadata).into_keys().collect();
        let said = || format!("metadata that {format} does not get: {}", keys.join(", "));
        self.left.extend((!keys.is_empty()).then(said));
    }

    /// Leaves other files where they are: the result is a file, and not a folder.
    pub(crate) fn stays(&mut self) {
        let name =
            |path: PathBuf| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let names: Vec<String> = self.companions.drain(..).map(name).collect();
        let said =
            || format!("the result is a file, so these are not copied: {}", names.join(", "));
        self.left.extend((!names.is_empty()).then(said));
    }

    /// Stores the recorded fingerprint of an array.
    pub(crate) fn record(&mut self, array: usize, data: Fingerprint) {
        self.records.insert(array, data.to_string());
    }

    /// Returns the recorded fingerprint of an array.
    pub(crate) fn recorded(&self, array: usize) -> Option<Fingerprint> {
        self.records.get(&array)?.parse().ok()
    }
}

/// The key of metadata under which a file states the extents of the whole tensors of which it holds a part.
pub(crate) const EXTENTS: &str = "tilewright.extents";

/// Extents by the names of tensors.
pub(crate) type NotedExtents = BTreeMap<String, Vec<u64>>;

/// Adds the extents of whole tensors that one more file states.
pub(crate) fn noted(known: &mut NotedExtents, file: &str, text: &str) -> Result<(), Error> {
    let said = |why: String| Error::new("corrupt", format!("{file}: {EXTENTS}: {why}"));
    let own: NotedExtents = serde_json::from_str(text).map_err(|error| said(error.to_string()))?;
    for (name, extents) in own {
        let first = known.entry(name.clone()).or_insert_with(|| extents.clone());
        if *first != extents {
            let why = format!("tensor {name:?} is {extents:?}; earlier files say {first:?}");
            return Err(Error::mismatch(format!("{file}: {EXTENTS}: {why}")));
        }
    }
    Ok(())
}

/// The numbers of some arrays, ascending, as half-open ranges.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct ArrayNumbers(Vec<[usize; 2]>);

impl ArrayNumbers {
    /// Adds a number that is larger than all before.
    pub(crate) fn push(&mut self, number: usize) {
        match self.0.last_mut() {
            Some([_, end]) if *end == number => *end += 1,
            Some(_) | None => self.0.push([number, number + 1]),
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().flat_map(|[first, end]| *first..*end)
    }
}

/// Reads the extents that a text lists.
pub(crate) fn read(text: &str) -> Result<NotedExtents, Error> {
    let value: Value = match text.trim_start().starts_with('{') {
        true => serde_json::from_str(text).map_err(|error| {
            Error::usage(format!("cannot read the JSON list of extents: {error}"))
        })?,
        false => toml::from_str(text).map_err(|error| {
            let said = error.message().lines().next().unwrap_or_default().to_owned();
            Error::usage(format!("cannot read the TOML list of extents: {said}"))
        })?,
    };
    let mut named = NotedExtents::new();
    collect(String::new(), &value, &mut named)?;
    Ok(named)
}

/// Collects the extents of a table, whose name is a prefix of the names in it.
fn collect(name: String, value: &Value, named: &mut NotedExtents) -> Result<(), Error> {
    if let Value::Object(table) = value {
        return table.iter().try_for_each(|(key, value)| {
            let name = if name.is_empty() { key.clone() } else { format!("{name}.{key}") };
            collect(name, value, named)
        });
    }
    let list = value.as_array().and_then(|list| list.iter().map(Value::as_u64).collect());
    let extents: Vec<u64> = list.ok_or_else(|| {
        let legal = "expected a list of extents such as [50257, 64]";
        Error::usage(format!("tensor {name:?}: {legal}"))
    })?;
    match named.insert(name.clone(), extents) {
        None => Ok(()),
        Some(_) => Err(Error::usage(format!("tensor {name:?} is listed twice"))),
    }
}
