//! What two files say beside their tensors, compared: metadata, and the indices of checkpoints.

use std::{
    borrow::Cow,
    collections::{BTreeMap, HashSet},
};

use crate::{
    Input,
    input::{Container, Shard},
    open_safetensors::{FILL_KEY, LAYOUT_KEY},
    set,
};

/// A tensor, and its shard's name without a mark.
fn unmarked((tensor, shard): &(String, String)) -> (&str, Cow<'_, str>) {
    (tensor, set::usual(shard))
}

/// The first difference in the metadata that a conversion passes through, or in what the indices say.
pub(crate) fn difference(out: &Input, against: &Input) -> Option<String> {
    if let (Container::Sharded(written), Container::Sharded(original)) =
        (&out.container, &against.container)
    {
        if written.rest() != original.rest() {
            return Some("the indices differ beside their weight maps".into());
        }
        // A mark in the name of a shard is new each time, and means nothing.
        let known: HashSet<(&str, Cow<'_, str>)> = original.map.iter().map(unmarked).collect();
        if let Some(moved) = written.map.iter().find(|entry| !known.contains(&unmarked(entry))) {
            return Some(format!(
                "the index puts {:?} into {:?}, the original does not",
                moved.0, moved.1
            ));
        }
    }
    let merged = |input: &Input| -> BTreeMap<String, String> {
        (0..).zip(&input.shards).flat_map(|(number, shard)| kept(input, number, shard)).collect()
    };
    let (written, original) = (merged(out), merged(against));
    for key in written.keys().chain(original.keys()) {
        let (is, was) = (written.get(key), original.get(key));
        if is != was {
            let words = |value: Option<&String>| match value {
                Some(value) => format!("{value:?}"),
                None => "not there".into(),
            };
            return Some(format!("metadata {key:?} is {}, was {}", words(is), words(was)));
        }
    }
    None
}

/// The metadata of a shard but for what this crate notes of its tensors, under the shard's name. A note of
/// a tensor that is not there is none, nor is a fill without a layout.
fn kept(input: &Input, number: usize, shard: &Shard) -> impl Iterator<Item = (String, String)> {
    let own = input.tensors.iter().filter(move |tensor| tensor.shard == number);
    let own: HashSet<&str> = own.map(|tensor| tensor.name.as_str()).collect();
    let keys = || shard.metadata.iter().flatten().map(|(key, _)| key.as_str());
    let noted: HashSet<&str> = keys()
        .filter_map(|key| key.strip_prefix(LAYOUT_KEY))
        .filter(|name| own.contains(name))
        .collect();
    let is_note = move |key: &str| {
        let name = key.strip_prefix(LAYOUT_KEY).or_else(|| key.strip_prefix(FILL_KEY));
        name.is_some_and(|name| noted.contains(name))
    };
    let pairs = shard.metadata.iter().flatten().filter(move |(key, _)| !is_note(key));
    let place = |key: &str| match set::usual(&shard.name).as_ref() {
        "" => key.to_owned(),
        name => format!("{name}: {key}"),
    };
    pairs.map(move |(key, value)| (place(key), value.clone()))
}
