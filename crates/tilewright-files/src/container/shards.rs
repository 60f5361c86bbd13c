//! Arrays in shards, as the tensors of one input: each tensor is boxes of arrays in several files, and boxes may be copies of
//! each other. The crate that knows shards makes such an input; fingerprints and comparisons of data read it.
//!
//! Law: the boxes of a tensor cover it, and equal boxes are adjacent in its list.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
};

use tilewright_core::{Dtype, Fill, TensorLayout};
use tilewright_notation::ResolvedLayout;

use super::{
    format::{Container, Format, LocalBox, Member, Opened},
    target::Target,
};
use crate::{
    Collection, Error, Input, Job, Tensor, error,
    layout::element_layout::ElementLayout,
    open::{source::Source, tensor::Piece},
};

const FORMAT: Format = Format {
    name: "shards",
    shown: "a folder of shards",
    becomes: "whole tensors, by resharding",
    prefix: None,
    ending: None,
    recognises: |_, _| false,
    several: true,
    splits: false,
    orders: false,
    ties: false,
    longest_name: None,
    open: |opening| Err(refused(opening.source.path())),
    create: None,
    alone: false,
    array: None,
    describes: None,
};

/// The layout of a local array: its name, element type, and the width of an element or of a block in bits.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub struct ShardLayout {
    /// The layout of the elements.
    pub named: ResolvedLayout,
    /// The element type.
    pub dtype: Dtype,
    /// The width of an element, or of a block of elements.
    pub bits: u32,
}

/// A box of an array in a file.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub struct ShardBox {
    /// The number of the file.
    pub file: usize,
    /// The first byte of the local array.
    pub at: u64,
    /// The number of the layout of the local array.
    pub layout: usize,
    /// The first index of the box in the local array, in units of its layout.
    pub local: Vec<u64>,
    /// The first index of the box in the whole array.
    pub start: Vec<u64>,
    /// The extents of the box.
    pub extents: Vec<u64>,
}

/// An array in shards.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub struct ShardedTensor {
    /// The name.
    pub name: String,
    /// The element type as files spell it.
    pub file_dtype: String,
    /// The element type.
    pub dtype: Dtype,
    /// The width of an element, or of a block of elements.
    pub bits: u32,
    /// The extents of the whole array.
    pub dims: Vec<u64>,
    /// The boxes; equal ones are adjacent.
    pub boxes: Vec<ShardBox>,
}

#[derive(Debug)]
struct Shards {
    /// The places of the pieces of each tensor.
    boxes: HashMap<String, Vec<LocalBox>>,
}

impl Container for Shards {
    fn format(&self) -> &'static Format {
        &FORMAT
    }

    fn plan(&self, _: &Opened, path: &Path, _: &[Job]) -> Result<Vec<Target>, Error> {
        Err(refused(path))
    }

    fn is_sharded(&self) -> bool {
        true
    }

    fn boxes(&self, tensor: &str) -> Option<&[LocalBox]> {
        self.boxes.get(tensor).map(Vec::as_slice)
    }
}

fn refused(path: &Path) -> Error {
    error::unsupported(path, "shards are not written here; reshard them to whole tensors first")
}

/// Makes a collection of arrays in shards at `path`, with these messages about it.
#[doc(hidden)]
pub fn collection(
    path: &Path,
    files: &[PathBuf],
    layouts: &[ShardLayout],
    arrays: Vec<ShardedTensor>,
    messages: Vec<String>,
) -> Result<Collection, Error> {
    let wrong = |said: String| error::unsupported(path, said);
    let held = |it: &ShardLayout| ElementLayout::of(&it.named, it.dtype, it.bits, it.named.fill());
    let layouts = layouts.iter().map(held).collect::<Result<Vec<_>, _>>().map_err(wrong)?;
    let member = |path: &PathBuf| Source::open(path).map(Member::alone);
    let files = files.iter().map(member).collect::<Result<Vec<_>, _>>()?;
    let (mut tensors, mut boxes) = (Vec::new(), HashMap::new());
    for array in arrays {
        let (tensor, own) = tensor(array, &layouts, &files).map_err(wrong)?;
        boxes.insert(tensor.name.clone(), own);
        tensors.push(tensor);
    }
    let opened = Opened { container: Box::new(Shards { boxes }), index: None, files, tensors };
    let input = Input { path: path.into(), opened, aside: None, folder: None, beside: None };
    Ok(Collection::of_input(input, messages))
}

/// Returns a tensor, and the places of its pieces.
fn tensor(
    array: ShardedTensor,
    layouts: &[ElementLayout],
    files: &[Member],
) -> Result<(Tensor, Vec<LocalBox>), String> {
    let ShardedTensor { name, file_dtype, dtype, bits, dims, boxes } = array;
    let about = |said: String| format!("tensor {name:?}: {said}");
    let layout = TensorLayout::row_major(&dims).map_err(|error| about(error.to_string()))?;
    let named = ResolvedLayout::new("row-major", layout, Some(dtype), None, Fill::Unspecified);
    let held = ElementLayout::of(&named, dtype, bits, Fill::Unspecified).map_err(about)?;
    let (mut pieces, mut places, mut len) = (Vec::<Piece>::new(), Vec::new(), 0u64);
    for ShardBox { file, at, layout, local, start, extents } in boxes {
        let held = layouts.get(layout).filter(|_| file < files.len());
        let held = held.ok_or_else(|| about(format!("no file {file} or layout {layout}")))?;
        let bytes = held.bytes().ok_or_else(|| about("a shard exceeds 2^63 bytes".into()))?;
        let counted = extents.iter().fold(u64::from(bits), |size, n| size.saturating_mul(*n)) / 8;
        let is_copy = pieces.last().is_some_and(|it| it.origin == start && it.dims == extents);
        len = len.saturating_add(if is_copy { 0 } else { counted });
        pieces.push(Piece { file, at, len: bytes, origin: start, dims: extents });
        places.push(LocalBox { held: held.clone(), local: local.into() });
    }
    let (file_dims, noted, refusal) = (None, None, None);
    let storage = dims;
    let tensor = Tensor { name, file_dtype, storage, file_dims, held, noted, refusal, pieces, len };
    Ok((tensor, places))
}
