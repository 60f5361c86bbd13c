//! Tensors of safetensors files: row-major, or in the layout that the metadata keeps for them.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
};

use tilewright_core::{Fill, TensorLayout};
use tilewright_notation::Spec;

use crate::{
    Error, Input, Tensor, dtype,
    input::{Container, Shard},
    names,
    safetensors::{Entry, Header, Index},
    source::Source,
    tensor::Held,
};

/// Under this prefix and its name, the metadata keeps the layout of a tensor.
pub(crate) const LAYOUT_KEY: &str = "tilewright.layout.";

/// Under this prefix and its name, the metadata keeps what a tensor's padding is promised to hold.
pub(crate) const FILL_KEY: &str = "tilewright.fill.";

/// Opens one safetensors file.
pub(crate) fn single(source: Source) -> Result<Input, Error> {
    let path = source.path().to_path_buf();
    let (shard, tensors) = shard(source, String::new(), 0)?;
    Ok(Input { path, container: Container::Safetensors, shards: vec![shard], tensors })
}

/// Opens a checkpoint by its index; `locate` finds a shard by its name.
pub(crate) fn sharded(source: Source, locate: &dyn Fn(&str) -> PathBuf) -> Result<Input, Error> {
    let path = source.path().to_path_buf();
    let index = Index::read(&source)?;
    let (mut shards, mut tensors) = (Vec::new(), Vec::new());
    for (number, name) in index.shards().into_iter().enumerate() {
        let (shard, own) = shard(Source::open(&locate(name))?, name.into(), number)?;
        check_shard(&path, &index, &shard, &own)?;
        shards.push(shard);
        tensors.extend(own);
    }
    check_index(&path, &index, &tensors)?;
    Ok(Input { path, container: Container::Sharded(index), shards, tensors })
}

fn shard(source: Source, name: String, number: usize) -> Result<(Shard, Vec<Tensor>), Error> {
    let Header { entries, metadata } = Header::read(&source)?;
    let pairs = metadata.iter().flatten();
    let known: HashMap<&str, &str> =
        pairs.map(|(key, value)| (key.as_str(), value.as_str())).collect();
    let read = |entry| tensor(source.path(), entry, number, &known);
    let tensors = entries.iter().map(read).collect::<Result<_, _>>()?;
    Ok((Shard { name, source, metadata }, tensors))
}

/// Every tensor of a shard is one that the index puts there.
fn check_shard(path: &Path, index: &Index, shard: &Shard, own: &[Tensor]) -> Result<(), Error> {
    let map: HashMap<&str, &str> =
        index.map.iter().map(|(tensor, shard)| (tensor.as_str(), shard.as_str())).collect();
    for tensor in own {
        let (name, holder) = (&tensor.name, &shard.name);
        match map.get(name.as_str()) {
            Some(shard) if shard == holder => {}
            Some(other) => {
                let said =
                    format!("the index puts tensor {name:?} into {other:?}, {holder:?} holds it");
                return Err(Error::corrupt(path, said));
            }
            None => {
                let near = names::near(name, map.keys().copied());
                let said = format!(
                    "{holder:?} holds tensor {name:?}, which the index does not name{near}"
                );
                return Err(Error::corrupt(path, said));
            }
        }
    }
    Ok(())
}

/// Every tensor of the index is there.
fn check_index(path: &Path, index: &Index, tensors: &[Tensor]) -> Result<(), Error> {
    let held: std::collections::HashSet<&str> =
        tensors.iter().map(|tensor| tensor.name.as_str()).collect();
    match index.map.iter().find(|(name, _)| !held.contains(name.as_str())) {
        None => Ok(()),
        Some((name, shard)) => {
            let near = names::near(name, held.iter().copied());
            let said = format!(
                "the index puts tensor {name:?} into {shard:?}, which does not hold it{near}"
            );
            Err(Error::corrupt(path, said))
        }
    }
}

fn tensor(
    path: &Path,
    entry: &Entry,
    shard: usize,
    known: &HashMap<&str, &str>,
) -> Result<Tensor, Error> {
    let name = &entry.name;
    let file_dtype = format!("{:?}", entry.dtype);
    let Some(primitive) = dtype::of_safetensors(entry.dtype) else {
        let said = format!(
            "tensor {name:?} is of type {file_dtype}; 6-bit floats straddle bytes, and no layout is defined for them"
        );
        return Err(Error::unsupported(path, said));
    };
    let held = match known.get(format!("{LAYOUT_KEY}{name}").as_str()) {
        Some(text) => {
            let fill = known.get(format!("{FILL_KEY}{name}").as_str()).copied();
            noted(text, fill, entry.len)
                .map_err(|said| Error::corrupt(path, format!("{LAYOUT_KEY}{name}: {said}")))?
        }
        None => {
            let layout = TensorLayout::row_major(&entry.shape)
                .map_err(|error| Error::unsupported(path, format!("tensor {name:?}: {error}")))?;
            let bits = entry.dtype.bitsize() as u32;
            Held::new("row-major", layout, primitive, bits, Fill::Unspecified)
        }
    };
    let (name, storage) = (name.clone(), entry.shape.clone());
    Ok(Tensor { name, file_dtype, storage, held, shard, at: entry.at, len: entry.len })
}

/// The layout that a file's metadata notes for a tensor of `len` bytes.
fn noted(text: &str, fill: Option<&str>, len: u64) -> Result<Held, String> {
    let named = Spec::parse(text)
        .and_then(|spec| spec.resolve(None, None))
        .map_err(|error| format!("{text:?}: {error}"))?;
    let (Some(dtype), Some(bits)) = (named.dtype(), named.element_bits()) else {
        return Err(format!("{text:?} names no element type; it starts like `bf16[528,200]`"));
    };
    let fill = match fill {
        Some(fill) => dtype::fill_of(fill).ok_or_else(|| {
            format!("a fill of {fill:?}; legal are 0, one, lowest, highest, 0xHEX")
        })?,
        None => named.fill(),
    };
    let held = Held::of(&named, dtype, bits, fill);
    match held.bytes() {
        Some(bytes) if bytes == len => Ok(held),
        _ => {
            let capacity = named.layout().capacity();
            Err(format!(
                "{text:?} stores {capacity} elements of {bits} bits, the file has {len} bytes of them"
            ))
        }
    }
}
