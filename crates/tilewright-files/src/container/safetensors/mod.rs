//! safetensors: an 8-byte little-endian length, a JSON header of that length, the tensors' bytes.
//!
//! Format: <https://github.com/huggingface/safetensors>. The header is read in one pass of our own, which names the tensor at
//! fault and refuses a repeated name, which the reference accepts without an error. The tests compare it with the `safetensors`
//! crate, which also defines the element types.

mod header;
mod plan;
pub(super) mod scan;
mod tensors;
pub(crate) mod write;

use std::{
    collections::{BTreeMap, HashSet},
    path::Path,
};

pub(super) use plan::target;
pub(super) use tensors::file;

use super::{
    format::{Beside, Container, Fact, Format, Opened, Opening},
    metadata_notes::{self, Role},
    target::Target,
};
use crate::{Error, Job, commit::mark};

pub(crate) const FORMAT: Format = Format {
    name: "safetensors",
    shown: ".safetensors",
    becomes: "a .safetensors file",
    prefix: Some("safetensors:"),
    ending: Some(".safetensors"),
    recognises,
    several: false,
    splits: false,
    orders: false,
    ties: true,
    longest_name: None,
    open,
    create: Some(|pairs| Box::new(Safetensors { metadata: (!pairs.is_empty()).then_some(pairs) })),
    alone: true,
    array: None,
    describes: None,
};

/// The key under which a file of torch's distributed checkpoint records where each of its tensors begins in the whole array.
pub(crate) const BOXES: &str = "DCP_SHARDING_INFO";

/// Returns whether the first 8 bytes are a length within the file, and an object follows.
fn recognises(head: &[u8], len: u64) -> bool {
    match *head {
        [a, b, c, d, e, f, g, h, b'{', ..] => u64::from_le_bytes([a, b, c, d, e, f, g, h]) <= len,
        _ => false,
    }
}

/// The metadata of a file, keys sorted; `None` if its header has none.
pub(super) type Metadata = Option<Vec<(String, String)>>;

#[derive(Debug)]
struct Safetensors {
    metadata: Metadata,
}

impl Container for Safetensors {
    fn format(&self) -> &'static Format {
        &FORMAT
    }

    fn plan(&self, input: &Opened, path: &Path, jobs: &[Job]) -> Result<Vec<Target>, Error> {
        Ok(vec![target(input, &self.metadata, None, path, jobs)?])
    }

    fn renewed(
        &self,
        opened: &Opened,
        beside: &Beside<'_>,
    ) -> Result<Option<Box<dyn Container>>, Error> {
        let metadata = renewed(&self.metadata, opened, beside.pairs);
        Ok(Some(Box::new(Safetensors { metadata })))
    }

    fn metadata(&self) -> Box<dyn Iterator<Item = (&str, &str)> + '_> {
        Box::new(pairs(&self.metadata))
    }

    fn facts(&self, opened: &Opened) -> Vec<Fact> {
        facts(opened, 0, &self.metadata).collect()
    }

    fn warnings(&self) -> Vec<String> {
        let said = format!(
            "its tensors are boxes of possibly larger arrays, as {BOXES} says; reshard the folder of all files to get whole arrays"
        );
        let is_part = pairs(&self.metadata).any(|(key, _)| key == BOXES);
        is_part.then_some(said).into_iter().collect()
    }
}

fn open(opening: Opening<'_>) -> Result<Opened, Error> {
    let (member, metadata, tensors) = file(opening.source, String::new(), 0)?;
    let container = Box::new(Safetensors { metadata });
    Ok(Opened { container, index: None, files: vec![member], tensors })
}

/// Iterates over metadata as pairs of texts.
pub(super) fn pairs(metadata: &Metadata) -> impl Iterator<Item = (&str, &str)> {
    metadata.iter().flatten().map(|(key, value)| (key.as_str(), value.as_str()))
}

/// Iterates over the metadata of a file except notes of its tensors. Keys have the file's name, without its mark, before them.
pub(super) fn facts(
    opened: &Opened,
    number: usize,
    metadata: &Metadata,
) -> impl Iterator<Item = Fact> {
    let own: HashSet<&str> = opened.tensors_of(number).map(|tensor| tensor.name.as_str()).collect();
    let name = opened.files.get(number).map_or("", |file| file.name.as_str());
    let place = move |key: &str| match mark::usual(name).as_ref() {
        "" => key.to_owned(),
        name => format!("{name}: {key}"),
    };
    let known: HashSet<&str> = pairs(metadata).map(|(key, _)| key).collect();
    let roles = pairs(metadata).map(move |pair| (pair, Role::of(pair.0, &own, &known)));
    roles.filter(|(_, role)| *role != Role::Note).map(move |((key, value), role)| Fact {
        about: format!("metadata {:?}", place(key)),
        exact: value.as_bytes().to_vec(),
        said: format!("{value:?}"),
        goes_with: role.goes_with(key),
        key: Some(key.to_owned()),
        is_place: false,
    })
}

/// Returns metadata with the notes of some tensors. A file that had nothing but notes has no metadata without them.
fn noted(own: &Metadata, jobs: &[(&Job, bool)]) -> Option<BTreeMap<String, String>> {
    let mut pairs: BTreeMap<String, String> = own.iter().flatten().cloned().collect();
    for (job, says_itself) in jobs {
        for key in metadata_notes::keys(&job.name) {
            pairs.remove(&key);
        }
        if !says_itself {
            pairs.extend(metadata_notes::of_job(job));
        }
    }
    let kept = own.as_ref().is_some_and(Vec::is_empty) || !pairs.is_empty();
    kept.then_some(pairs)
}

/// Returns the metadata of a file of other tensors, with these pairs added.
pub(super) fn renewed(own: &Metadata, opened: &Opened, new: &[(String, String)]) -> Metadata {
    let pairs = metadata_notes::renewed(pairs(own), opened, new);
    (own.is_some() || !pairs.is_empty()).then_some(pairs)
}
