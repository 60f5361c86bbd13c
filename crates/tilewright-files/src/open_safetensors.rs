//! Tensors of safetensors files: row-major, or in the layout that the metadata keeps for them.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
};

use safetensors::Dtype as FileType;
use tilewright_core::{ByteOrder, Fill, TensorLayout};
use tilewright_notation::{Named, Spec};

use crate::{
    Error, Input, Tensor, dtype,
    input::{Container, Shard},
    names, order,
    safetensors::{Entry, Header, Index},
    source::Source,
    tensor::{Held, bytes_of, check_width},
};

/// Under this prefix and its name, the metadata keeps the layout of a tensor.
pub(crate) const LAYOUT_KEY: &str = "tilewright.layout.";

/// Under this prefix and its name, the metadata keeps what a tensor's padding is promised to hold.
pub(crate) const FILL_KEY: &str = "tilewright.fill.";

/// Opens one safetensors file.
pub(crate) fn single(source: Source) -> Result<Input, Error> {
    let path = source.path().to_path_buf();
    let (shard, tensors) = shard(source, String::new(), 0)?;
    Ok(Input { path, container: Container::Safetensors, index: None, shards: vec![shard], tensors })
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
    Ok(Input { path, container: Container::Sharded(index), index: Some(source), shards, tensors })
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
    let noted = |prefix: &str| known.get(format!("{prefix}{}", entry.name).as_str()).copied();
    let (held, refusal) = match noted(LAYOUT_KEY) {
        Some(text) => {
            let said = |said| {
                let (name, key) = (&entry.name, format!("{LAYOUT_KEY}{}", entry.name));
                let legal = "convert the original again, or remove the key";
                let said = format!("tensor {name:?}: the metadata {key:?}{said}; {legal}");
                Error::contradiction(path, said)
            };
            (of_note(text, noted(FILL_KEY), entry).map_err(said)?, None)
        }
        None => match plain(entry) {
            Ok(held) => (held, None),
            Err(refusal) => {
                let held = Held::bytes_alone(entry.len).ok_or_else(|| {
                    Error::unsupported(path, format!("tensor {:?}: {refusal}", entry.name))
                })?;
                (held, Some(refusal))
            }
        },
    };
    let (name, storage) = (entry.name.clone(), entry.shape.clone());
    let (file_dtype, at, len) = (format!("{:?}", entry.dtype), entry.at, entry.len);
    Ok(Tensor { name, file_dtype, storage, held, refusal, shard, at, len })
}

/// The layout of a tensor of which nothing is noted, or why none can be given to it.
fn plain(entry: &Entry) -> Result<Held, String> {
    let file = entry.dtype;
    let Some(dtype) = dtype::of_safetensors(file) else {
        return Err(format!("its type is {file:?}, which is not known here"));
    };
    let bits = file.bitsize() as u32;
    if bits < 8 && !bits.is_power_of_two() {
        return Err(format!(
            "its type is {file:?}; {bits}-bit floats straddle bytes, and no layout is defined for them"
        ));
    }
    let layout = TensorLayout::row_major(&entry.shape).map_err(|error| error.to_string())?;
    Ok(Held::new("row-major", layout, dtype, bits, Fill::Unspecified))
}

/// The layout that a file's metadata notes for a tensor, if it can be that of this tensor.
fn of_note(note: &str, fill: Option<&str>, entry: &Entry) -> Result<Held, String> {
    let text = names::clipped(note);
    let spec = Spec::parse(note).map_err(|error| format!(" is {text:?}: {error}"))?;
    let named = spec.resolve(None, None).map_err(|error| format!(" is {text:?}: {error}"))?;
    let named = as_written(&spec, named, entry.len);
    let (Some(dtype), Some(bits)) = (named.dtype(), named.element_bits()) else {
        return Err(format!(
            " is {text:?}, without an element type; it starts like `bf16[528,200]`"
        ));
    };
    let fill = match fill {
        Some(fill) => dtype::fill_of(fill).ok_or_else(|| {
            format!(" has a fill of {fill:?}; legal are 0, one, lowest, highest, 0xHEX")
        })?,
        None => named.fill(),
    };
    if named.fill() != Fill::Unspecified && named.fill() != fill {
        let noted = dtype::fill_text(fill);
        return Err(format!(" is {text:?}, and {FILL_KEY:?} notes a fill of {noted}"));
    }
    check_width(dtype, bits).map_err(|said| format!(" is {text:?}, which says {said}"))?;
    let held = Held::of(&named, dtype, bits, fill);
    dtype.stored_fill(fill, bits, ByteOrder::Little).map_err(|error| {
        format!(" is {text:?}, with a fill of {}: {error}", dtype::fill_text(fill))
    })?;
    check_bytes(&held, entry.len).map_err(|said| format!(" is {text:?}, which {said}"))?;
    check_map(&held).map_err(|said| format!(" is {text:?}, which {said}"))?;
    check_storage(&held, entry).map_err(|said| format!(" is {text:?}, which {said}"))?;
    Ok(held)
}

/// The layout of a note that leaves the width of packed elements to its format's name, as notes did before
/// names implied it: where the tensor has the length of elements in whole bytes, they are in whole bytes.
fn as_written(spec: &Spec, named: Named, len: u64) -> Named {
    let implied = spec.packed_by_name(None, None);
    let whole = named.dtype().and_then(|dtype| dtype.storage_bits());
    let (Some(bits), Some(whole)) = (implied, whole) else { return named };
    let takes = |bits| bytes_of(named.layout().capacity(), bits) == Some(len);
    if takes(bits) || !takes(whole) {
        return named;
    }
    let (name, layout) = (named.name().to_owned(), named.layout().clone());
    Named::new(name, layout, named.dtype(), Some(whole), named.fill())
}

fn check_bytes(held: &Held, len: u64) -> Result<(), String> {
    if held.bytes() == Some(len) {
        return Ok(());
    }
    let (capacity, bits) = (held.layout().capacity(), held.bits);
    Err(format!("stores {capacity} elements of {bits} bits, the file has {len} bytes of them"))
}

/// Every element has a place of its own in the bytes: else a small file would grow without bound when it is converted.
fn check_map(held: &Held) -> Result<(), String> {
    let layout = held.layout();
    if let Some((low, _)) = layout.layout().bounds()
        && low < 0
    {
        return Err(format!("reaches down to offset {low}, before its bytes begin"));
    }
    let crowded = layout.size() > layout.capacity();
    // Where it is not decided, at least the elements are not more than the places.
    if crowded || layout.injective().is_ok_and(|injective| !injective) {
        return Err("puts two elements in one place, as no conversion does".into());
    }
    Ok(())
}

/// The header stores a tensor of this layout as we store it.
fn check_storage(held: &Held, entry: &Entry) -> Result<(), String> {
    let (dtype, shape) = stored(held, entry.len);
    if dtype == entry.dtype && shape == entry.shape {
        return Ok(());
    }
    let (is, storage) = (entry.dtype, &entry.shape);
    Err(format!("is stored as {dtype:?} {shape:?}, the file has {is:?} {storage:?}"))
}

/// The element type and the shape under which elements of a layout are stored in `len` bytes.
pub(crate) fn stored(held: &Held, len: u64) -> (FileType, Vec<u64>) {
    match dtype::carrier(held.dtype, held.bits).filter(|_| held.ends_with_a_byte()) {
        Some(carrier) if order::is_row_major(held.layout()) => {
            (carrier, held.layout().extents().to_vec())
        }
        Some(carrier) => (carrier, order::storage_shape(held.layout())),
        None => (FileType::U8, vec![len]),
    }
}
