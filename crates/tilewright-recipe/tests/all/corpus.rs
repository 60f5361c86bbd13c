//! The files of `corpus/recipes`.

use std::{collections::BTreeMap, fs, path::PathBuf};

use safetensors::SafeTensors;
use tilewright_core::Dtype;
use tilewright_recipe::Tensor;

use crate::interpreter::Array;

/// The folder of the corpus.
pub(crate) fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../corpus/recipes")
}

/// The families, by name.
pub(crate) fn families() -> Vec<String> {
    let entries = fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap());
    let folders = entries.filter(|entry| entry.file_type().unwrap().is_dir());
    let mut names: Vec<String> =
        folders.map(|entry| entry.file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// The recipe that the pair was made with.
pub(crate) fn recipe(family: &str) -> String {
    fs::read_to_string(folder().join(family).join("recipe.toml")).unwrap()
}

/// The configuration of the model, where there is one.
pub(crate) fn config(family: &str) -> Option<serde_json::Value> {
    let text = fs::read_to_string(folder().join(family).join("config.json")).ok()?;
    Some(serde_json::from_str(&text).unwrap())
}

/// The tensors of `before` or `after`, by name.
pub(crate) fn arrays(family: &str, which: &str) -> BTreeMap<String, Array> {
    let bytes = fs::read(folder().join(family).join(format!("{which}.safetensors"))).unwrap();
    let file = SafeTensors::deserialize(&bytes).unwrap();
    let array = |(name, view): (String, safetensors::tensor::TensorView<'_>)| {
        let dtype = Dtype::spelled(&format!("{:?}", view.dtype())).unwrap();
        let extents: Vec<u64> = view.shape().iter().map(|extent| *extent as u64).collect();
        (name.clone(), (Tensor::new(name, dtype, extents), view.data().to_vec()))
    };
    file.tensors().into_iter().map(array).collect()
}

/// The heads of arrays.
pub(crate) fn heads(arrays: &[Array]) -> Vec<Tensor> {
    arrays.iter().map(|(head, _)| head.clone()).collect()
}
