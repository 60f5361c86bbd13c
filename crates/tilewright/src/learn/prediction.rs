//! Predicted plans of checkpoints in files: the sizes are those of `config.json`, and one load confirms the plan.

use std::{collections::HashMap, path::Path};

use serde_json::Value;
use tilewright_files::Input;
use tilewright_learn::{Error, Learned, Mismatch, NamedArray};

use super::{
    Probe,
    assembly::sources,
    probe::{LONGEST, MOST, results},
    sizes::{NamedSizes, Predicted, RANKS, predict, same_tensors},
};

/// Predicts the plan for a checkpoint, of which only names, types and extents are read. Sizes that some plan does not name are left
/// out.
///
/// # Errors
/// Those of [`predict`]; [mismatch](Error::is_mismatch) if the checkpoint has other tensors than the plans.
///
/// ```
/// use tilewright::{files::{Reading, open}, learn::predict_for};
/// let model = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
/// let error = predict_for(&open(model, &Reading::default())?, &Default::default(), &[]).unwrap_err();
/// assert!(error.is_unsupported());
/// # Ok::<(), tilewright::Error>(())
/// ```
pub fn predict_for(
    model: &Input,
    sizes: &NamedSizes,
    known: &[(NamedSizes, Learned)],
) -> Result<Predicted, Error> {
    let is_common = |name: &&String| known.iter().all(|(own, _)| own.contains_key(*name));
    let common: Vec<&String> = sizes.keys().filter(is_common).collect();
    if common.is_empty() && !known.is_empty() {
        let said =
            "no size is named by the model and all plans; give sizes, or folders with config.json";
        return Err(Error::unsupported(said));
    }
    let of = |own: &NamedSizes| -> NamedSizes {
        common.iter().map(|name| ((*name).clone(), own[*name])).collect()
    };
    let known: Vec<_> = known.iter().map(|(own, plan)| (of(own), plan.clone())).collect();
    let tensors = in_order(model, &known)?;
    predict(&known, &of(sizes), &tensors)
}

/// Returns the tensors of a checkpoint in the order of the plans'.
fn in_order(model: &Input, known: &[(NamedSizes, Learned)]) -> Result<Vec<NamedArray>, Error> {
    let tensors = Probe::of(model, 0)?.tensors;
    let names: Vec<&str> = tensors.iter().map(|tensor| tensor.name.as_str()).collect();
    let path = model.path().display().to_string();
    same_tensors(known, &names).map_err(|error| error.about(&path))?;
    let mut all: HashMap<String, NamedArray> =
        tensors.into_iter().map(|one| (one.name.clone(), one)).collect();
    let order = known.first().map_or(&[][..], |(_, plan)| &plan.sources[..]);
    Ok(order.iter().filter_map(|source| all.remove(&source.name)).collect())
}

/// Returns a predicted plan as a learned one, if the dump of one load agrees with it; else the first difference. `model` is the
/// checkpoint that was loaded, and `dump` a folder with a file for each rank. Elements of equal values, such as zeros, are not told
/// apart: a checkpoint of random values confirms the most.
///
/// # Errors
/// Those of reading; [mismatch](Error::is_mismatch) if the checkpoint has not the tensors of the plan at their sizes, or if the dump
/// has other arrays than the plan.
///
/// ```
/// use tilewright::{files::{Reading, open}, learn::{Learned, Predicted, confirm}};
/// let model = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
/// let predicted = Predicted { plan: Learned { sources: vec![], results: vec![] }, ..Predicted::default() };
/// let nowhere = std::path::Path::new("nowhere");
/// assert!(confirm(predicted, &open(model, &Reading::default())?, nowhere).unwrap_err().is_mismatch());
/// # Ok::<(), tilewright::Error>(())
/// ```
pub fn confirm(
    predicted: Predicted,
    model: &Input,
    dump: &Path,
) -> Result<Result<Learned, Mismatch>, Error> {
    let tensors: Vec<_> = model.tensors().iter().chain(model.tied().map(|tied| tied.1)).collect();
    let places = sources(&predicted.plan, model)?;
    let bytes = places.iter().map(|place| model.bytes(tensors[*place], MOST));
    let bytes = bytes.collect::<Result<Vec<_>, Error>>()?;
    let found = results(&predicted.plan, dump)?;
    predicted.confirmed(&bytes, &found)
}

/// Returns the sizes that `config.json` of a checkpoint's folder names, and the number of ranks as `tp`; `None` if there is no such
/// file.
///
/// # Errors
/// Those of reading; [corrupt](Error::is_corrupt) if the file is not JSON; [unsupported](Error::is_unsupported) for a URL.
///
/// ```
/// let folder = tempfile::tempdir().unwrap();
/// std::fs::write(folder.path().join("config.json"), r#"{"hidden_size": 64, "dtype": "bfloat16"}"#).unwrap();
/// let sizes = tilewright::learn::config_sizes(folder.path(), 2)?.unwrap();
/// assert!(sizes.into_iter().eq([("hidden_size".to_owned(), 64), ("tp".to_owned(), 2)]));
/// let url = std::path::Path::new("https://example.org/model.safetensors");
/// assert!(tilewright::learn::config_sizes(url, 2).unwrap_err().is_unsupported());
/// # Ok::<(), tilewright::Error>(())
/// ```
pub fn config_sizes(model: &Path, ranks: u64) -> Result<Option<NamedSizes>, Error> {
    if model.to_string_lossy().contains("://") && !model.exists() {
        let said = "the sizes are in config.json of a folder on this machine; name such a folder";
        return Err(Error::unsupported(format!("{}: {said}", model.display())));
    }
    let folder = if model.is_file() { model.parent() } else { Some(model) };
    let path = folder.unwrap_or(model).join("config.json");
    if !path.is_file() {
        return Ok(None);
    }
    let config: Value = serde_json::from_slice(&tilewright_files::bytes(&path, LONGEST)?)
        .map_err(|error| Error::new("corrupt", format!("{}: {error}", path.display())))?;
    let entries = config.as_object().into_iter().flatten();
    let size = |(name, value): (&String, &Value)| {
        let size = value.as_u64().filter(|size| *size < 1 << 56)?;
        Some((name.clone(), size))
    };
    Ok(Some(entries.filter_map(size).chain([(RANKS.to_owned(), ranks)]).collect()))
}
