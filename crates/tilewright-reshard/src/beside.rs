//! What a checkpoint holds beside its arrays: metadata and files that go along, and what stays.

use std::{
    collections::{BTreeMap, HashSet},
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};
use tilewright_files::{Fingerprint, Input, inner::Companions};

use crate::{Error, identity::Identity, known_extents::Numbers};

/// The description of a checkpoint of torch: it is of the files that are read, and not of a result.
const DESCRIPTION: &str = ".metadata";

/// Under keys that begin so, metadata is about single tensors, or about this form of a checkpoint.
const OF_TENSORS: [&str; 2] = ["tilewright.", "DCP_"];

/// What one file says of no tensor.
pub(crate) type Metadata = BTreeMap<String, String>;

/// What lies beside the arrays of a checkpoint.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Beside {
    /// Metadata that no file contradicts.
    pub(crate) metadata: Metadata,
    /// Files that go along.
    #[serde(with = "crate::address::list")]
    pub(crate) companions: Vec<PathBuf>,
    /// What stays, in words without an end.
    pub(crate) left: Vec<String>,
    /// The arrays whose extents nothing states.
    pub(crate) assumed: Numbers,
    /// Whether a tensor may be missing as a whole: a config states extents, and no list of all tensors.
    #[serde(default)]
    pub(crate) is_open: bool,
    /// The fingerprints that files record of whole arrays, by the numbers of these.
    records: BTreeMap<usize, String>,
}

/// What a file says of no tensor.
pub(crate) fn metadata(input: &Input) -> Metadata {
    let of_tensors = |key: &str| OF_TENSORS.iter().any(|prefix| key.starts_with(prefix));
    let own = input.metadata().filter(|(key, _)| !of_tensors(key));
    own.map(|(key, text)| (key.to_owned(), text.to_owned())).collect()
}

impl Beside {
    /// What lies in this folder, or beside this file, of files that say this.
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
            beside.left.push(format!("metadata of which files say different things: {keys}"));
        }
        if path.is_dir() {
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

    /// Keeps the fingerprint that is recorded of an array.
    pub(crate) fn record(&mut self, array: usize, data: Fingerprint) {
        self.records.insert(array, data.to_string());
    }

    /// The fingerprint that is recorded of an array.
    pub(crate) fn recorded(&self, array: usize) -> Option<Fingerprint> {
        self.records.get(&array)?.parse().ok()
    }
}
