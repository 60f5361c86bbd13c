//! Tensors of safetensors files: row-major, or in the layout that the metadata record for them.

use std::{collections::HashMap, path::Path};

use safetensors::Dtype as FileType;
use tilewright_core::{Fill, TensorLayout};

use super::{
    Metadata,
    header::{Header, SafetensorsEntry},
};
use crate::{
    Error, Tensor,
    container::{
        format::Member,
        metadata_notes::{self, LAYOUT_KEY, Note, Noted},
    },
    error,
    layout::{dtype, element_layout::ElementLayout, order, record::Recorded},
    open::{source::Source, tensor::Piece},
};

/// Opens the file of this number and name.
pub(in crate::container) fn file(
    source: Source,
    name: String,
    number: usize,
) -> Result<(Member, Metadata, Vec<Tensor>), Error> {
    let Header { entries, metadata } = Header::read(&source)?;
    let pairs = metadata.iter().flatten();
    let known: HashMap<&str, &str> =
        pairs.map(|(key, value)| (key.as_str(), value.as_str())).collect();
    let mut plain = Plain::default();
    let read = |entry| tensor(source.path(), entry, number, &known, &mut plain);
    let tensors = entries.iter().map(read).collect::<Result<_, _>>()?;
    Ok((Member { name, source }, metadata, tensors))
}

fn tensor(
    path: &Path,
    entry: &SafetensorsEntry,
    file: usize,
    known: &HashMap<&str, &str>,
    plain: &mut Plain,
) -> Result<Tensor, Error> {
    let mut noted = None;
    let (held, refusal) = match metadata_notes::of(known, &entry.name) {
        Some(note) => {
            let Noted { held, data } = of_note(path, &note, entry)?;
            noted = Some(Recorded { data });
            (held, None)
        }
        None => match plain.of(entry) {
            Ok(held) => (held, None),
            Err(refusal) => {
                let held = ElementLayout::bytes_alone(entry.len).ok_or_else(|| {
                    error::unsupported(path, format!("tensor {:?}: {refusal}", entry.name))
                })?;
                (held, Some(refusal))
            }
        },
    };
    let pieces = vec![Piece::whole(file, entry.at, entry.len, &held)];
    let (name, storage) = (entry.name.clone(), entry.shape.clone());
    let (file_dtype, len) = (format!("{:?}", entry.dtype), entry.len);
    Ok(Tensor { name, file_dtype, storage, file_dims: None, held, noted, refusal, pieces, len })
}

/// Returns the layout that is noted for a tensor.
fn of_note(path: &Path, note: &Note<'_>, entry: &SafetensorsEntry) -> Result<Noted, Error> {
    note.read(entry.len, None, |held| check_storage(held, entry)).map_err(|said| {
        let (name, key) = (&entry.name, format!("{LAYOUT_KEY}{}", entry.name));
        let legal = "convert the original again, or remove the key";
        let said = format!("tensor {name:?}: the metadata {key:?}{said}; {legal}");
        error::contradiction(path, said)
    })
}

/// Layouts of tensors without a note; equal ones share one value.
#[derive(Default)]
struct Plain(HashMap<(String, Vec<u64>), ElementLayout>);

impl Plain {
    fn of(&mut self, entry: &SafetensorsEntry) -> Result<ElementLayout, String> {
        let key = (format!("{:?}", entry.dtype), entry.shape.clone());
        if let Some(held) = self.0.get(&key) {
            return Ok(held.clone());
        }
        let held = plain(entry)?;
        self.0.insert(key, held.clone());
        Ok(held)
    }
}

/// Returns the layout of a tensor without a note, or the reason why it has none.
fn plain(entry: &SafetensorsEntry) -> Result<ElementLayout, String> {
    let file = entry.dtype;
    let Some(dtype) = dtype::of_safetensors(file) else {
        return Err(format!("its type is {file:?}, which is unknown"));
    };
    let bits = file.bitsize() as u32;
    if bits < 8 && !bits.is_power_of_two() {
        return Err(format!(
            "its type is {file:?}; {bits}-bit floats straddle bytes, and no layout is defined for them"
        ));
    }
    let layout = TensorLayout::row_major(&entry.shape).map_err(|error| error.to_string())?;
    Ok(ElementLayout::new("row-major", layout, dtype, bits, Fill::Unspecified))
}

/// Checks that the header has the type and shape under which we store a tensor of this layout.
fn check_storage(held: &ElementLayout, entry: &SafetensorsEntry) -> Result<(), String> {
    let (dtype, shape) = stored(held, entry.len);
    let earlier = || order::earlier_shape(held.named.layout()) == entry.shape;
    if dtype == entry.dtype && (shape == entry.shape || earlier()) {
        return Ok(());
    }
    let (is, storage) = (entry.dtype, &entry.shape);
    Err(format!("is stored as {dtype:?} {shape:?}, the file has {is:?} {storage:?}"))
}

/// Returns the element type and the shape under which elements of a layout are stored in `len` bytes.
pub(super) fn stored(held: &ElementLayout, len: u64) -> (FileType, Vec<u64>) {
    if let Some(words) = held.named.stored_as()
        && let Some(carrier) = dtype::carrier(words.dtype(), words.bits())
    {
        return (carrier, words.shape().to_vec());
    }
    match dtype::carrier(held.dtype, held.bits).filter(|_| held.ends_with_a_byte()) {
        Some(carrier) => (carrier, held.named.storage_shape()),
        None => (FileType::U8, vec![len]),
    }
}
