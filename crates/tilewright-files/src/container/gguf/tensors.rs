//! Tensors of GGUF files: row-major, or in the layout that the metadata record for them.

use std::{collections::HashMap, path::Path};

use tilewright_core::{Dtype, Fill, TensorLayout};
use tilewright_notation::ResolvedLayout;

use super::{
    MARK,
    header::{GgufEntry, MOST_DIMS},
    types,
};
use crate::{
    Error, Tensor,
    container::metadata_notes::{self, LAYOUT_KEY, Note, Noted},
    error,
    layout::{
        element_layout::{self, ElementLayout},
        order,
        record::Recorded,
    },
    open::tensor::Piece,
};

/// Returns a tensor of the file of this number, whose metadata have these strings.
pub(super) fn tensor(
    path: &Path,
    entry: &GgufEntry,
    file: usize,
    known: &HashMap<&str, &str>,
) -> Result<Tensor, Error> {
    let marked = entry.name.strip_prefix(MARK);
    let name = marked.unwrap_or(&entry.name);
    let storage: Vec<u64> = entry.dims.iter().rev().copied().collect();
    let contradiction =
        |said: String| error::contradiction(path, format!("tensor {name:?}: {said}"));
    let mut noted = None;
    let (held, refusal) = match (marked, metadata_notes::of(known, name)) {
        (Some(_), Some(note)) => {
            let Noted { held, data } =
                of_note(&note, entry, &storage, name).map_err(contradiction)?;
            noted = Some(Recorded { data });
            (held, None)
        }
        (None, None) => match plain(entry.dtype, &storage) {
            Ok(held) => (held, None),
            Err(refusal) => refused(path, entry, refusal)?,
        },
        (Some(_), None) => {
            let said =
                "its name marks a tensor that is not row-major, but no metadata keeps its layout";
            refused(path, entry, said.into())?
        }
        (None, Some(_)) => {
            let said = format!(
                "the metadata records a layout of it, but its name does not begin with {MARK:?}; convert the original again, or remove the key {:?}",
                format!("{LAYOUT_KEY}{name}")
            );
            return Err(contradiction(said));
        }
    };
    // A tensor without a layout keeps its whole name.
    let name = if refusal.is_some() { &entry.name } else { name };
    Ok(Tensor {
        name: name.into(),
        file_dtype: entry.type_name.into(),
        storage,
        file_dims: Some(entry.dims.clone()),
        refusal,
        pieces: vec![Piece::whole(file, entry.at, entry.len, &held)],
        held,
        noted,
        len: entry.len,
    })
}

/// Returns a tensor that is kept as bytes, with the reason why a layout is not defined for it.
fn refused(
    path: &Path,
    entry: &GgufEntry,
    refusal: String,
) -> Result<(ElementLayout, Option<String>), Error> {
    let held = ElementLayout::bytes_alone(entry.len)
        .ok_or_else(|| error::unsupported(path, format!("tensor {:?}: {refusal}", entry.name)))?;
    Ok((held, Some(refusal)))
}

/// Returns a row-major array.
fn plain(dtype: Dtype, dims: &[u64]) -> Result<ElementLayout, String> {
    let layout = TensorLayout::row_major(dims).map_err(|error| error.to_string())?;
    let named = ResolvedLayout::new("row-major", layout, Some(dtype), None, Fill::Unspecified);
    let bits = element_layout::width(dtype)
        .ok_or_else(|| format!("the width of {dtype} elements is unknown"))?;
    ElementLayout::of(&named, dtype, bits, Fill::Unspecified)
}

/// Returns the layout that is noted for a tensor.
fn of_note(
    note: &Note<'_>,
    entry: &GgufEntry,
    storage: &[u64],
    name: &str,
) -> Result<Noted, String> {
    let is_stored = |held: &ElementLayout| {
        let (number, shape) = stored(held, entry.len);
        let earlier = order::earlier_shape(held.named.layout());
        let legal = shape == storage || stored_as(held, entry.len, earlier).1 == storage;
        if types::named(entry.type_name) == Some(number) && legal {
            return Ok(());
        }
        let name = types::of(number).map_or("?", |(name, _)| name);
        Err(format!("is stored as {name} {shape:?}, the file has {} {storage:?}", entry.type_name))
    };
    note.read(entry.len, None, is_stored).map_err(|said| {
        let key = format!("{LAYOUT_KEY}{name}");
        format!("the metadata {key:?}{said}; convert the original again")
    })
}

/// Returns the number of the type and the shape, outermost first, under which elements of a layout are stored in `len` bytes.
pub(super) fn stored(held: &ElementLayout, len: u64) -> (u32, Vec<u64>) {
    if let Some(words) = held.named.stored_as() {
        let number = types::number(words.dtype()).filter(|_| words.shape().len() <= MOST_DIMS);
        return match number {
            Some(number) => (number, words.shape().to_vec()),
            None => (types::BYTES, vec![len]),
        };
    }
    stored_as(held, len, held.named.storage_shape())
}

/// Returns the type number and the shape of a storage of this shape, or of its bytes if the file cannot have this shape.
fn stored_as(held: &ElementLayout, len: u64, shape: Vec<u64>) -> (u32, Vec<u64>) {
    let own =
        types::number(held.dtype).filter(|_| element_layout::width(held.dtype) == Some(held.bits));
    let carrier = own.or_else(|| (held.bits == 8).then_some(types::BYTES));
    let Some(carrier) = carrier else { return (types::BYTES, vec![len]) };
    let last = shape.last().copied().unwrap_or(1);
    let fits = shape.len() <= MOST_DIMS && last.is_multiple_of(held.together());
    (carrier, if fits { shape } else { vec![held.named.layout().capacity()] })
}

/// Returns whether the file itself describes elements of this layout completely.
pub(super) fn says_itself(held: &ElementLayout) -> bool {
    let own =
        types::number(held.dtype).is_some() && element_layout::width(held.dtype) == Some(held.bits);
    own && held.dims().len() <= MOST_DIMS && held.is_row_major()
}
