//! Names that stand for the tensor of another name.
//!
//! In safetensors, no two names may have the same range of bytes. Its `save_model` for torch stores tied tensors once. For each
//! name that it omits, the metadata have that name as a key and the stored name as its text. Such pairs are written and read
//! here. A pair is read as such if its key is not a tensor of the file, and its text is one.

use std::collections::HashMap;

use crate::{Input, Tensor, layout::record::may_stand};

impl Input {
    /// Returns the tensor of a name, which may be one that [stands for another](Input::tied). It searches all tensors; a caller
    /// that looks up many should build a map.
    ///
    /// ```
    /// # use tilewright_files::{Reading, open};
    /// let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
    /// let input = open(path, &Reading::default()).unwrap();
    /// assert_eq!(input.tensor("0.bias").unwrap().dims(), [32]);
    /// assert!(input.tensor("bias").is_none());
    /// ```
    pub fn tensor(&self, name: &str) -> Option<&Tensor> {
        let named = |name: &str| self.tensors().iter().find(|tensor| tensor.name == name);
        let said = || self.pairs().find(|(key, _)| *key == name);
        named(name).or_else(|| named(said()?.1))
    }

    /// Iterates over the names that stand for a tensor of another name, with that tensor: tensors that `save_model` of
    /// safetensors, and [`Writer`](crate::Writer), store once.
    ///
    /// ```
    /// use tilewright_files::{Reading, open};
    /// let header = r#"{"__metadata__":{"head":"a"},"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}"#;
    /// let bytes = [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &[1]].concat();
    /// let folder = tempfile::tempdir().unwrap();
    /// let path = folder.path().join("tied.safetensors");
    /// std::fs::write(&path, bytes).unwrap();
    /// let input = open(&path, &Reading::default()).unwrap();
    /// assert!(input.tied().map(|(name, tensor)| (name, tensor.name())).eq([("head", "a")]));
    /// ```
    pub fn tied(&self) -> impl Iterator<Item = (&str, &Tensor)> {
        let mut pairs = self.pairs().peekable();
        // Most files lack such pairs, and may have many tensors.
        let known: HashMap<&str, &Tensor> = match pairs.peek() {
            Some(_) => self.tensors().iter().map(|tensor| (tensor.name(), tensor)).collect(),
            None => HashMap::new(),
        };
        pairs.filter_map(move |(key, name)| match known.contains_key(key) {
            true => None,
            false => Some((key, *known.get(name)?)),
        })
    }

    /// Iterates over the pairs of metadata that may have such a name.
    fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        let ties = self.container_format().ties;
        self.metadata().filter(move |(key, _)| ties && may_stand(key))
    }
}
