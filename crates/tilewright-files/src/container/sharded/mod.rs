//! A checkpoint of several safetensors files, opened by the index that names them.

mod index;

use std::{
    collections::{HashMap, HashSet},
    path::Path,
};

pub(crate) use index::Index;

use super::{
    format::{Beside, Container, Fact, Format, Member, Opened, Opening},
    safetensors::{self, Metadata},
    target::{Section, Target},
};
use crate::{
    Error, Job, Tensor,
    commit::{mark, temporary},
    convert::job::total_bytes,
    error,
    layout::names,
    open::source::Source,
};

pub(crate) const FORMAT: Format = Format {
    name: "sharded safetensors",
    shown: ".safetensors.index.json",
    becomes: "the .safetensors.index.json of a new checkpoint",
    prefix: None,
    ending: Some(".index.json"),
    recognises: |head, _| head.trim_ascii_start().starts_with(b"{"),
    several: true,
    splits: false,
    orders: false,
    ties: true,
    longest_name: None,
    open,
    create: None,
    alone: false,
    array: None,
    describes: None,
};

#[derive(Debug)]
struct Sharded {
    index: Index,
    /// The metadata of each file.
    metadata: Vec<Metadata>,
}

impl Container for Sharded {
    fn format(&self) -> &'static Format {
        &FORMAT
    }

    fn plan(&self, input: &Opened, path: &Path, jobs: &[Job]) -> Result<Vec<Target>, Error> {
        let folder = temporary::folder(path);
        let names = mark::usual_names(input.files.iter().map(|file| file.name.as_str()));
        let mut targets = Vec::new();
        for (number, (name, metadata)) in names.iter().zip(&self.metadata).enumerate() {
            targets.push(safetensors::target(
                input,
                metadata,
                Some(number),
                &folder.join(name),
                jobs,
            )?);
        }
        let own = input.files.iter().map(|file| file.name.as_str());
        let renamed = own.zip(names.iter().map(String::as_str)).collect();
        let text = self.index.text(total_bytes(jobs), &renamed);
        targets
            .push(Target { path: path.into(), sections: vec![Section::Bytes(text.into_bytes())] });
        Ok(targets)
    }

    fn renewed(
        &self,
        opened: &Opened,
        beside: &Beside<'_>,
    ) -> Result<Option<Box<dyn Container>>, Error> {
        let place = |tensor: &Tensor| {
            let file = beside.files.get(tensor.file().unwrap_or(0))?;
            Some((tensor.name.clone(), file.clone()))
        };
        let Some(map) = beside.tensors.iter().map(place).collect::<Option<Vec<_>>>() else {
            return Ok(None);
        };
        // All files get the metadata of the first.
        let said = self.metadata.first().cloned().flatten();
        let metadata = safetensors::renewed(&said, opened, beside.pairs);
        let metadata = vec![metadata; beside.files.len()];
        Ok(Some(Box::new(Sharded { index: self.index.of(map), metadata })))
    }

    fn metadata(&self) -> Box<dyn Iterator<Item = (&str, &str)> + '_> {
        Box::new(self.metadata.iter().flat_map(safetensors::pairs))
    }

    fn facts(&self, opened: &Opened) -> Vec<Fact> {
        let rest = serde_json::Value::Object(self.index.rest()).to_string();
        let index = Fact {
            about: "the index apart from its weight map".into(),
            exact: rest.clone().into_bytes(),
            said: names::clipped(&rest).into_owned(),
            goes_with: None,
            key: None,
            is_place: false,
        };
        // A mark in the name of a file is new each time and has no meaning.
        let place = |(tensor, file): &(String, String)| Fact {
            about: format!("the file that the index names for {tensor:?}"),
            exact: mark::usual(file).as_bytes().to_vec(),
            said: format!("{:?}", mark::usual(file)),
            goes_with: None,
            key: None,
            is_place: true,
        };
        let own = (0..).zip(&self.metadata);
        let own = own.flat_map(|(number, metadata)| safetensors::facts(opened, number, metadata));
        [index].into_iter().chain(self.index.map.iter().map(place)).chain(own).collect()
    }

    fn index(&self, total: u64, names: &HashMap<&str, &str>) -> Option<String> {
        Some(self.index.text(total, names))
    }
}

fn open(opening: Opening<'_>) -> Result<Opened, Error> {
    let mut metadata = Vec::new();
    let listed = Listed::open(opening, &mut |source, name, number| {
        let (member, said, own) = safetensors::file(source, name, number)?;
        metadata.push(said);
        Ok((member, own))
    })?;
    let container = Box::new(Sharded { index: listed.index.clone(), metadata });
    Ok(listed.opened(container))
}

/// The files that an index names, and their tensors.
pub(crate) struct Listed {
    index: Index,
    source: Source,
    files: Vec<Member>,
    tensors: Vec<Tensor>,
}

/// Opens a shard of this name and number.
type OpenShard<'a> = dyn FnMut(Source, String, usize) -> Result<(Member, Vec<Tensor>), Error> + 'a;

impl Listed {
    /// Opens an index, and the files that it names.
    pub(crate) fn open(opening: Opening<'_>, shard: &mut OpenShard<'_>) -> Result<Listed, Error> {
        let Opening { source, beside, .. } = opening;
        let Some(beside) = beside else {
            let said = "the index of a checkpoint names files beside it, but standard input is not in a folder; give the file's path";
            return Err(error::usage(said));
        };
        let path = source.path().to_path_buf();
        let index = Index::read(&source)?;
        let (mut files, mut tensors) = (Vec::new(), Vec::new());
        for (number, name) in index.shards().into_iter().enumerate() {
            let (member, own) = shard(Source::open(&beside(name))?, name.into(), number)?;
            check_shard(&path, &index, name, &own)?;
            files.push(member);
            tensors.extend(own);
        }
        check_index(&path, &index, &tensors)?;
        Ok(Listed { index, source, files, tensors })
    }

    /// Returns the input with its container.
    pub(crate) fn opened(self, container: Box<dyn Container>) -> Opened {
        let Listed { source, files, tensors, .. } = self;
        Opened { container, index: Some(source), files, tensors }
    }
}

/// Checks that the index maps every tensor of a shard to this shard.
fn check_shard(path: &Path, index: &Index, holder: &str, own: &[Tensor]) -> Result<(), Error> {
    let map: HashMap<&str, &str> =
        index.map.iter().map(|(tensor, shard)| (tensor.as_str(), shard.as_str())).collect();
    for tensor in own {
        let name = &tensor.name;
        match map.get(name.as_str()) {
            Some(shard) if *shard == holder => {}
            Some(other) => {
                let said =
                    format!("the index puts tensor {name:?} into {other:?}, {holder:?} holds it");
                return Err(error::corrupt(path, said));
            }
            None => {
                let near = names::near(name, map.keys().copied());
                let said = format!(
                    "{holder:?} holds tensor {name:?}, which the index does not name{near}"
                );
                return Err(error::corrupt(path, said));
            }
        }
    }
    Ok(())
}

/// Checks that every tensor of the index exists.
fn check_index(path: &Path, index: &Index, tensors: &[Tensor]) -> Result<(), Error> {
    let held: HashSet<&str> = tensors.iter().map(|tensor| tensor.name.as_str()).collect();
    match index.map.iter().find(|(name, _)| !held.contains(name.as_str())) {
        None => Ok(()),
        Some((name, shard)) => {
            let near = names::near(name, held.iter().copied());
            let said = format!(
                "the index puts tensor {name:?} into {shard:?}, which does not hold it{near}"
            );
            Err(error::corrupt(path, said))
        }
    }
}
