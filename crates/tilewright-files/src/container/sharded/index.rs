//! The index `*.safetensors.index.json`, which maps each tensor of a checkpoint to its shard.

use std::{collections::HashMap, path::Path};

use serde_json::{Map, Value};

use crate::{Error, container::safetensors::scan::Pairs, error, open::source::Source};

/// The longest index that is read, in bytes.
const LONGEST: u64 = 100_000_000;

/// A checkpoint's index.
#[derive(Clone, Debug)]
pub(crate) struct Index {
    /// The whole object, so that unknown keys are kept.
    object: Map<String, Value>,
    /// Tensor and shard, in the order of the text.
    pub(crate) map: Vec<(String, String)>,
}

impl Index {
    /// Reads and checks an index, without the shards that it names.
    pub(crate) fn read(source: &Source) -> Result<Index, Error> {
        if source.len() > LONGEST {
            let len = source.len();
            let said = format!("an index of {len} bytes; at most {LONGEST} are read");
            return Err(error::corrupt(source.path(), said));
        }
        Index::parse(&source.head(source.len())?)
            .map_err(|said| error::corrupt(source.path(), said))
    }

    fn parse(bytes: &[u8]) -> Result<Index, String> {
        let wrong = |error: serde_json::Error| format!("not a checkpoint index: {error}");
        let Pairs(pairs) = serde_json::from_slice::<Pairs<Value>>(bytes).map_err(wrong)?;
        let object: Map<String, Value> = pairs.into_iter().collect();
        // A `Value` keeps only the last of two equal keys, so the map is read again, as pairs.
        #[derive(serde::Deserialize)]
        struct Maps {
            weight_map: Pairs<String>,
        }
        let maps: Maps = serde_json::from_slice(bytes).map_err(wrong)?;
        for (tensor, shard) in &maps.weight_map.0 {
            check_shard_name(tensor, shard)?;
        }
        Ok(Index { object, map: maps.weight_map.0 })
    }

    /// Returns the shards' file names, in the order of their first tensor.
    pub(crate) fn shards(&self) -> Vec<&str> {
        let mut seen = std::collections::HashSet::new();
        self.map
            .iter()
            .map(|(_, shard)| shard.as_str())
            .filter(|shard| seen.insert(*shard))
            .collect()
    }

    /// Returns the index of other tensors in other files, with the other keys of this one.
    pub(crate) fn of(&self, map: Vec<(String, String)>) -> Index {
        let mut object = self.object.clone();
        let pairs = map.iter().map(|(name, file)| (name.clone(), Value::from(file.as_str())));
        object.insert("weight_map".into(), Value::Object(pairs.collect()));
        Index { object, map }
    }

    /// Returns the text of the index for tensors of `total` bytes; `names` has the new names of renamed shards.
    pub(crate) fn text(&self, total: u64, names: &HashMap<&str, &str>) -> String {
        let mut object = self.object.clone();
        if let Some(Value::Object(map)) = object.get_mut("weight_map") {
            for shard in map.values_mut() {
                if let Some(name) = shard.as_str().and_then(|shard| names.get(shard)) {
                    *shard = Value::from(*name);
                }
            }
        }
        if let Some(Value::Object(metadata)) = object.get_mut("metadata")
            && let Some(size) = metadata.get_mut("total_size")
        {
            *size = Value::from(total);
        }
        format!("{:#}\n", Value::Object(object))
    }

    /// Returns everything except the tensors' map and their total size, to compare two indices.
    pub(crate) fn rest(&self) -> Map<String, Value> {
        let mut object = self.object.clone();
        object.shift_remove("weight_map");
        if let Some(Value::Object(metadata)) = object.get_mut("metadata") {
            metadata.shift_remove("total_size");
        }
        object
    }
}

/// Checks that a shard is in the folder of its index: its name must be a file name, not a path.
fn check_shard_name(tensor: &str, shard: &str) -> Result<(), String> {
    let plain = Path::new(shard).file_name().is_some_and(|name| name == shard);
    if plain && !shard.contains(['/', '\\', '\0']) {
        return Ok(());
    }
    Err(format!(
        "the index puts tensor {tensor:?} into {shard:?}; a shard must be a file name beside the index"
    ))
}
