//! [`Probe`]: checkpoints with coded values for a loader that is not a function, and the dumps of what it made of them.
//!
//! A probe is a folder. `load0` to `loadN` hold the coded checkpoints, and `fresh` one with random bits. The loader loads each, and
//! its arrays are written to a folder with the same names, one file for each rank. [`Probe::learn`] reads them.

use std::{
    collections::{HashMap, HashSet},
    fs,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};
use tilewright_core::{DtypeKind, Fill, TensorLayout};
use tilewright_files::{Input, Reading, Request, Writer, inner::Companions, open};
use tilewright_learn::{
    Error, Learned, LearnedResult, Mismatch, NamedArray, Sources, Space, learn_result,
};
use tilewright_notation::ResolvedLayout;

use crate::Dtype;

/// The file that describes a probe.
const FILE: &str = "probe.json";
/// The folder of the checkpoint with random bits.
const FRESH: &str = "fresh";
/// The longest description of a probe or a model that is read, in bytes.
pub(super) const LONGEST: u64 = 1 << 30;
/// The most bytes of a tensor.
pub(super) const MOST: u64 = 1 << 40;
/// The share of unexplained elements above which the dumps are those of other loads, in per cent.
const MIXED: u64 = 90;

/// The sources of coded checkpoints.
///
/// ```
/// use tilewright::{files::{Reading, open}, learn::Probe};
/// let model = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
/// let folder = tempfile::tempdir().unwrap();
/// let probe = Probe::of(&open(model, &Reading::default())?, 1)?;
/// probe.write(&folder.path().join("probe"), None, None)?;
/// assert_eq!(Probe::open(&folder.path().join("probe"))?, probe);
/// // A loader that copies: its dumps are the checkpoints.
/// let learned = probe.learn(&folder.path().join("probe"))?;
/// assert_eq!((learned.results.len(), learned.sources.len()), (probe.tensors.len(), probe.tensors.len()));
/// assert_eq!(probe.check(&learned, &folder.path().join("probe"))?, None);
/// # Ok::<(), tilewright::Error>(())
/// ```
#[must_use]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Probe {
    /// The tensors of the checkpoints whose values are coded.
    pub tensors: Vec<NamedArray>,
    /// The tensors of truth values, which cannot code numbers. The checkpoints have them as the model does.
    pub kept: Vec<NamedArray>,
    /// Second names of tensors: the checkpoints have equal values under both.
    pub tied: Vec<(String, String)>,
    /// The number that the random bits follow from.
    pub seed: u64,
}

impl Probe {
    /// Makes the probe for the tensors of a checkpoint, of which only names, types and extents are read.
    ///
    /// # Errors
    /// [unsupported](Error::is_unsupported) for a tensor whose type cannot be coded, such as a block of GGUF. Truth values are
    /// kept.
    ///
    /// ```
    /// use tilewright::{files::{Reading, open}, learn::Probe};
    /// let model = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
    /// assert!(!Probe::of(&open(model, &Reading::default())?, 1)?.tensors.is_empty());
    /// # Ok::<(), tilewright::Error>(())
    /// ```
    pub fn of(input: &Input, seed: u64) -> Result<Probe, Error> {
        let one = |tensor: &tilewright_files::Tensor| NamedArray {
            name: tensor.name().to_owned(),
            dtype: tensor.dtype(),
            extents: tensor.dims().to_vec(),
        };
        let is_kept = |tensor: &NamedArray| tensor.dtype.kind() == DtypeKind::Bool;
        let (kept, tensors) = input.tensors().iter().map(one).partition(is_kept);
        let tied = input.tied().map(|(name, tensor)| (name.to_owned(), tensor.name().to_owned()));
        let probe = Probe { tensors, kept, tied: tied.collect(), seed };
        for tensor in &probe.tensors {
            let _ = tilewright_learn::Code::of(tensor.dtype)
                .map_err(|error| Error::unsupported(format!("tensor {}: {error}", tensor.name)))?;
        }
        Ok(probe)
    }

    /// Returns the space of the sources.
    ///
    /// # Errors
    /// Those of [`Space::of`].
    ///
    /// ```
    /// use tilewright::learn::Probe;
    /// assert_eq!(Probe::default().space()?.loads(), 2);
    /// # Ok::<(), tilewright::Error>(())
    /// ```
    pub fn space(&self) -> Result<Space, Error> {
        let named = self.tensors.iter().map(|tensor| (tensor.name.clone(), tensor.extents.clone()));
        let dtypes: Vec<Dtype> = self.tensors.iter().map(|tensor| tensor.dtype).collect();
        Space::of(Sources::numbered(named)?, &dtypes)
    }

    /// Returns the names of the loads: `load0`, `load1` and so on, and `fresh`.
    ///
    /// ```
    /// use tilewright::learn::Probe;
    /// assert_eq!(Probe::default().loads()?, ["load0", "load1", "fresh"]);
    /// # Ok::<(), tilewright::Error>(())
    /// ```
    pub fn loads(&self) -> Result<Vec<String>, Error> {
        let coded = (0..self.space()?.loads()).map(|load| format!("load{load}"));
        Ok(coded.chain([FRESH.to_owned()]).collect())
    }

    /// Writes the checkpoints to a new folder. `model` has the tensors that are kept. Files beside it in the folder, such as
    /// `config.json` and the tokenizer, are copied to each.
    ///
    /// # Errors
    /// Those of writing; [exists](Error::is_exists) if the folder exists.
    ///
    /// ```
    /// use tilewright::learn::Probe;
    /// let folder = tempfile::tempdir().unwrap();
    /// let error = Probe::default().write(folder.path(), None, None).unwrap_err();
    /// assert!(error.is_exists());
    /// ```
    pub fn write(
        &self,
        folder: &Path,
        model: Option<&Input>,
        beside: Option<&Path>,
    ) -> Result<(), Error> {
        if folder.exists() {
            return Err(Error::new(
                "exists",
                format!("{} exists; name a new folder", folder.display()),
            ));
        }
        let space = self.space()?;
        let kept = self.kept.iter().map(|tensor| kept(tensor, model));
        let kept: Vec<Vec<u8>> = kept.collect::<Result<_, Error>>()?;
        let checkpoint = |name: &str, bytes: Vec<Vec<u8>>| {
            let own = folder.join(name);
            fs::create_dir_all(&own).map_err(|error| about(&own, error))?;
            self.checkpoint(&own, &[bytes, kept.clone()].concat())?;
            if let (Some(beside), Some(input)) = (beside, model) {
                let files: HashSet<&Path> = input.files().collect();
                Companions::beside(beside, &files)?.copy_to(&own, &())?;
            }
            Ok::<(), Error>(())
        };
        for load in 0..space.loads() {
            let coded = self.tensors.iter().enumerate();
            let coded = coded.map(|(place, tensor)| space.coded(place, load, tensor.dtype));
            checkpoint(&format!("load{load}"), coded.collect::<Result<_, Error>>()?)?;
        }
        let fresh =
            Learned { sources: self.tensors.clone(), results: Vec::new() }.fresh(self.seed)?;
        checkpoint(FRESH, fresh)?;
        let of = |tensor: &NamedArray| json!({ "name": tensor.name, "dtype": tensor.dtype.name(), "extents": tensor.extents });
        let all = |tensors: &[NamedArray]| tensors.iter().map(of).collect::<Vec<Value>>();
        let value = json!({
            "tilewright_probe": 1,
            "seed": self.seed,
            "source": all(&self.tensors),
            "kept": all(&self.kept),
            "tied": self.tied,
        });
        let path = folder.join(FILE);
        fs::write(&path, format!("{value:#}\n")).map_err(|error| about(&path, error))
    }

    /// Writes one checkpoint: the tensors that are coded, those that are kept, and both under their second names.
    fn checkpoint(&self, folder: &Path, bytes: &[Vec<u8>]) -> Result<(), Error> {
        let mut writer = Writer::new(Request::new()).metadata("format", "pt");
        for (tensor, bytes) in self.tensors.iter().chain(&self.kept).zip(bytes) {
            let rows = TensorLayout::row_major(&tensor.extents)?;
            let named = ResolvedLayout::new("", rows, Some(tensor.dtype), None, Fill::Unspecified);
            let second = self.tied.iter().filter(|tied| tied.1 == tensor.name).map(|tied| &tied.0);
            for name in [&tensor.name].into_iter().chain(second) {
                writer = writer.array(name, &named, bytes)?;
            }
        }
        writer.write(folder.join("model.safetensors"), &())?;
        Ok(())
    }

    /// Reads `probe.json` of a folder.
    ///
    /// # Errors
    /// Those of reading; [corrupt](Error::is_corrupt) if the file is not a probe's.
    ///
    /// ```
    /// use tilewright::learn::Probe;
    /// assert!(Probe::open(std::path::Path::new("nowhere")).is_err());
    /// ```
    pub fn open(folder: &Path) -> Result<Probe, Error> {
        let path = folder.join(FILE);
        let corrupt = |what: &str| Error::new("corrupt", format!("{}: {what}", path.display()));
        let bytes = tilewright_files::bytes(&path, LONGEST)?;
        let value: Value =
            serde_json::from_slice(&bytes).map_err(|error| corrupt(&error.to_string()))?;
        if value["tilewright_probe"] != 1 {
            return Err(corrupt("it is not the description of a probe of version 1"));
        }
        let seed = value["seed"].as_u64().ok_or_else(|| corrupt("no seed"))?;
        let tensor = |value: &Value| {
            let extents = value["extents"].as_array()?.iter().map(Value::as_u64);
            Some(NamedArray {
                name: value["name"].as_str()?.to_owned(),
                dtype: value["dtype"].as_str().and_then(Dtype::named)?,
                extents: extents.collect::<Option<_>>()?,
            })
        };
        let list = |key: &str| {
            let all = value[key].as_array().ok_or_else(|| corrupt(&format!("no list {key}")))?;
            let all = all.iter().map(tensor).collect::<Option<Vec<NamedArray>>>();
            all.ok_or_else(|| corrupt(&format!("an entry of {key} that is not a tensor")))
        };
        let tied = serde_json::from_value(value["tied"].clone())
            .map_err(|error| corrupt(&format!("tied: {error}")))?;
        Ok(Probe { tensors: list("source")?, kept: list("kept")?, tied, seed })
    }

    /// Learns the loader from its dumps: a folder with a folder for each load, which has one file of tensors for each rank. Ranks
    /// are ordered by the numbers in the names of their files. A result that all ranks have in one size is one result with the
    /// rank as its first axis.
    ///
    /// # Errors
    /// [mismatch](Error::is_mismatch) if a load or a rank is missing, if loads have other tensors, or if nearly nothing is
    /// explained, as for dumps of other loads.
    ///
    /// ```
    /// use tilewright::learn::Probe;
    /// let folder = tempfile::tempdir().unwrap();
    /// let error = Probe::default().learn(folder.path()).unwrap_err();
    /// assert!(error.to_string().contains("load0"));
    /// ```
    pub fn learn(&self, dumps: &Path) -> Result<Learned, Error> {
        let (space, names) = (self.space()?, self.loads()?);
        let loads = names
            .iter()
            .map(|name| Dump::open(&dumps.join(name)))
            .collect::<Result<Vec<Dump>, Error>>()?;
        let (first, others) = loads.split_first().ok_or_else(|| Error::mismatch("no loads"))?;
        for (other, name) in others.iter().zip(&names[1..]) {
            first.same(other, &names[0], name)?;
        }
        let dtypes: Vec<Dtype> = self.tensors.iter().map(|tensor| tensor.dtype).collect();
        let mut results = Vec::new();
        for result in first.results() {
            let read = &mut |load: u32| loads[load as usize].bytes(&result);
            results.push(learn_result(&space, &dtypes, result.tensor(), read)?);
        }
        let learned = Learned { sources: self.tensors.clone(), results };
        mixed(&learned).map_or(Ok(learned), Err)
    }

    /// Returns the first difference between the dump of the random checkpoint and what was learned.
    ///
    /// # Errors
    /// Those of reading; [mismatch](Error::is_mismatch) if tensors of the dump have other sizes.
    ///
    /// ```
    /// use tilewright::learn::{Learned, Probe};
    /// let nothing = Learned { sources: vec![], results: vec![] };
    /// assert!(Probe::default().check(&nothing, std::path::Path::new("nowhere")).is_err());
    /// ```
    pub fn check(&self, learned: &Learned, dumps: &Path) -> Result<Option<Mismatch>, Error> {
        learned.compare(&learned.fresh(self.seed)?, &results(learned, &dumps.join(FRESH))?)
    }

    /// Returns what was learned without the elements that the dump of the random checkpoint contradicts, which are computed.
    ///
    /// # Errors
    /// Those of [`Probe::check`].
    ///
    /// ```
    /// use tilewright::learn::{Learned, Probe};
    /// let nothing = Learned { sources: vec![], results: vec![] };
    /// assert!(Probe::default().without(&nothing, std::path::Path::new("nowhere")).is_err());
    /// ```
    pub fn without(&self, learned: &Learned, dumps: &Path) -> Result<Learned, Error> {
        learned.without(&learned.fresh(self.seed)?, &results(learned, &dumps.join(FRESH))?)
    }
}

/// Returns the error of a file or folder, with its path.
fn about(path: &Path, error: std::io::Error) -> Error {
    Error::from(error).about(&path.display().to_string())
}

/// Returns the bytes of the results in the dump of a load, which has these results and no others.
pub(super) fn results(learned: &Learned, folder: &Path) -> Result<Vec<Vec<u8>>, Error> {
    let dump = Dump::open(folder)?;
    let path = folder.display();
    let mut own: HashMap<String, DumpResult> =
        dump.results().into_iter().map(|result| (result.tensor().name, result)).collect();
    let mut found = Vec::new();
    for LearnedResult { tensor: want, .. } in &learned.results {
        let name = &want.name;
        let lacks = || Error::mismatch(format!("the dump in {path} lacks {name}"));
        let result = own.remove(name).ok_or_else(lacks)?;
        let tensor = result.tensor();
        if tensor != *want {
            return Err(Error::mismatch(format!(
                "{name} is {}{:?} in the dump in {path}, and {}{:?} in the plan",
                tensor.dtype, tensor.extents, want.dtype, want.extents
            )));
        }
        found.push(result);
    }
    if let Some(name) = own.keys().min() {
        return Err(Error::mismatch(format!(
            "the dump in {path} has {name}, which the plan lacks; dump the arrays of the plan"
        )));
    }
    found.iter().map(|result| dump.bytes(result)).collect()
}

/// Returns the bytes of a tensor that is kept.
fn kept(tensor: &NamedArray, model: Option<&Input>) -> Result<Vec<u8>, Error> {
    let name = &tensor.name;
    let lacks =
        || Error::mismatch(format!("{name} has truth values; give the model that has them"));
    let input = model.ok_or_else(lacks)?;
    input.bytes(input.tensor(name).ok_or_else(lacks)?, MOST)
}

/// Returns the error for dumps that are not those of the loads.
fn mixed(learned: &Learned) -> Option<Error> {
    let held = learned.results.iter().filter(|learnt| learnt.description.size() > 0);
    let (mut all, mut not) = (0, 0);
    for learnt in held {
        all += learnt.description.size();
        not += learnt.unexplained.as_ref().map_or(0, |unexplained| unexplained.count);
    }
    (not * 100 > all * MIXED).then(|| {
        Error::mismatch(format!(
            "{not} of {all} elements are not explained; the dumps are of another probe, or their loads are mixed"
        ))
    })
}

/// The files of all ranks of one load.
struct Dump {
    ranks: Vec<Input>,
}

/// One result: a tensor of one rank, or of all.
struct DumpResult {
    name: String,
    dtype: Dtype,
    extents: Vec<u64>,
    rank: Option<usize>,
    ranks: usize,
}

impl DumpResult {
    /// Returns the tensor with the rank in its name, or as its first axis.
    fn tensor(&self) -> NamedArray {
        let (name, extents) = match (self.ranks, self.rank) {
            (1, _) => (self.name.clone(), self.extents.clone()),
            (_, Some(rank)) => (format!("rank{rank}/{}", self.name), self.extents.clone()),
            (ranks, None) => {
                let extents = [ranks as u64].into_iter().chain(self.extents.iter().copied());
                (format!("rank{{T}}/{}", self.name), extents.collect())
            }
        };
        NamedArray { name, dtype: self.dtype, extents }
    }
}

impl Dump {
    /// Opens the files of a folder, ordered by the numbers in their names.
    fn open(folder: &Path) -> Result<Dump, Error> {
        let entries = fs::read_dir(folder).map_err(|error| {
            Error::mismatch(format!(
                "the dump of {} is missing ({error}); each load of the probe needs a folder of its name",
                folder.display()
            ))
        })?;
        let mut paths: Vec<PathBuf> =
            entries.map(|entry| Ok(entry?.path())).collect::<Result<_, Error>>()?;
        paths.retain(|path| {
            path.extension().is_some_and(|ending| ending == "safetensors" || ending == "npz")
        });
        paths.sort_by_key(|path| (rank_of(path), path.clone()));
        if paths.is_empty() {
            return Err(Error::mismatch(format!(
                "{} has no .safetensors and no .npz; dump one file for each rank",
                folder.display()
            )));
        }
        let numbers: Vec<Option<u64>> = paths.iter().map(|path| rank_of(path)).collect();
        if paths.len() > 1 && !numbers.iter().copied().eq((0..paths.len() as u64).map(Some)) {
            let names: Vec<_> = paths.iter().take(4).filter_map(|path| path.file_name()).collect();
            let names: Vec<_> = names.iter().map(|name| name.to_string_lossy()).collect();
            return Err(Error::mismatch(format!(
                "{} has {} files, such as {}, which are not those of ranks 0 to {}; name one file for each rank, such as rank0.safetensors",
                folder.display(),
                paths.len(),
                names.join(", "),
                paths.len() - 1
            )));
        }
        let ranks = paths.iter().map(|path| {
            let input = open(path, &Reading::default())?;
            input.check_sums(&())?;
            Ok(input)
        });
        Ok(Dump { ranks: ranks.collect::<Result<_, Error>>()? })
    }

    /// Checks that another load has the same ranks with the same tensors.
    fn same(&self, other: &Dump, name: &str, of: &str) -> Result<(), Error> {
        let (a, b) = (self.ranks.len(), other.ranks.len());
        if a != b {
            let said = format!(
                "{name} has {a} files and {of} has {b}; each load needs a file for each rank"
            );
            return Err(Error::mismatch(said));
        }
        for (rank, (a, b)) in self.ranks.iter().zip(&other.ranks).enumerate() {
            for tensor in a.tensors() {
                let found = b.tensor(tensor.name());
                let same = |found: &tilewright_files::Tensor| {
                    found.dtype() == tensor.dtype() && found.dims() == tensor.dims()
                };
                let differs = match found {
                    None => "has not",
                    Some(found) if !same(found) => "has it with another shape or type",
                    Some(_) => continue,
                };
                return Err(Error::mismatch(format!(
                    "rank {rank}: {name} has {} and {of} {differs}; all loads give the same tensors",
                    tensor.name()
                )));
            }
            let (own, other) = (a.tensors().len(), b.tensors().len());
            if own != other {
                return Err(Error::mismatch(format!(
                    "rank {rank}: {name} has {own} tensors and {of} has {other}; all loads give the same tensors"
                )));
            }
        }
        Ok(())
    }

    /// Returns the results: tensors that all ranks have in one size together, the others one by one.
    fn results(&self) -> Vec<DumpResult> {
        let (mut results, ranks) = (Vec::new(), self.ranks.len());
        for (rank, input) in self.ranks.iter().enumerate() {
            for tensor in input.tensors() {
                let is_same = |input: &Input| {
                    input.tensor(tensor.name()).is_some_and(|other| {
                        other.dims() == tensor.dims() && other.dtype() == tensor.dtype()
                    })
                };
                let of_all = self.ranks.iter().all(is_same);
                if of_all && rank > 0 {
                    continue;
                }
                results.push(DumpResult {
                    name: tensor.name().to_owned(),
                    dtype: tensor.dtype(),
                    extents: tensor.dims().to_vec(),
                    rank: (!of_all).then_some(rank),
                    ranks,
                });
            }
        }
        results
    }

    /// Returns the bytes of a result, those of all ranks in a row.
    fn bytes(&self, result: &DumpResult) -> Result<Vec<u8>, Error> {
        let mut bytes = Vec::new();
        for (rank, input) in self.ranks.iter().enumerate() {
            if result.rank.is_none_or(|only| only == rank) {
                let tensor = input
                    .tensor(&result.name)
                    .ok_or_else(|| Error::mismatch(format!("rank {rank} lacks {}", result.name)))?;
                bytes.extend(input.bytes(tensor, MOST)?);
            }
        }
        Ok(bytes)
    }
}

/// Returns the rank in the name of a file: the number after its last `rank`, or its only number.
fn rank_of(path: &Path) -> Option<u64> {
    let name = path.file_stem()?.to_string_lossy().to_lowercase();
    if let Some((_, rest)) = name.rsplit_once("rank") {
        let rest = rest.trim_start_matches(['_', '-', '.']);
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        return rest.get(..digits)?.parse().ok();
    }
    let mut numbers = name.split(|c: char| !c.is_ascii_digit()).filter(|number| !number.is_empty());
    let (only, None) = (numbers.next()?, numbers.next()) else { return None };
    only.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_read_from_names() {
        for (name, rank) in [
            ("rank0.safetensors", Some(0)),
            ("host0_rank12.npz", Some(12)),
            ("Rank_3.npz", Some(3)),
            ("7.safetensors", Some(7)),
            ("host1_3.npz", None),
            ("model.npz", None),
            ("rank.npz", None),
        ] {
            assert_eq!(rank_of(Path::new(name)), rank, "{name}");
        }
    }
}
