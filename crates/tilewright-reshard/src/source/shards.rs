//! The arrays of a checkpoint in shards as whole arrays, for fingerprints and comparisons of data. The program's `verify`,
//! `same-data` and `fingerprint` open folders of shards with it.
//!
//! Law: the fingerprint of an array in shards is that of the whole array. Copies of a box count once, and a comparison of
//! all copies is part of reading.

use std::{collections::HashMap, path::Path, sync::Arc};

use tilewright_files::{
    Collection,
    inner::{ShardBox, ShardedTensor, of_shards},
};

use crate::{
    Error, Request, Rules,
    plan::array::{Laid, ReshardedArray, Unit},
    source::{
        self, FirstFile,
        checkpoint::{Checkpoint, is_index, listed},
    },
};

/// Opens the arrays of a folder of shards, or of a file next to an index; `None` for a path that holds whole tensors.
///
/// The shards are boxes of torch's distributed checkpoint, or those of files that record their rules, as results of this
/// crate do. A folder of other files without an index is read by `rules`, if any are given.
///
/// # Errors
/// As [`Job::prepare`](crate::Job::prepare).
///
/// ```
/// use tilewright_files::{Collection, Key};
/// use tilewright_reshard::{Job, Request, Rules, shards};
/// let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
/// let folder = tempfile::tempdir().unwrap();
/// let out = folder.path().join("tp2");
/// let rules = Rules::new("tp=2").unwrap().rule("*.weight", "[Shard(0)]").unwrap();
/// Job::prepare(Request::new(path, &out).to(rules)).unwrap().run_all(&()).unwrap();
///
/// let of = |all: Collection| all.fingerprints(&Key::default(), &()).unwrap();
/// let cut = shards(&out, None).unwrap().unwrap();
/// assert_eq!(of(cut), of(Collection::open(path).unwrap()));
/// assert!(shards(path, None).unwrap().is_none());
/// ```
pub fn shards(path: impl AsRef<Path>, rules: Option<&Rules>) -> Result<Option<Collection>, Error> {
    let path = path.as_ref();
    if !path.is_dir() && !is_index(path) {
        return Ok(None);
    }
    let is_of_files = source::is_bare(path)? && listed(path)?.len() > 1;
    let mut first = FirstFile::of(path)?;
    let given = rules.filter(|_| is_of_files);
    let rules = first.rules.take().or_else(|| given.cloned());
    if rules.is_none() && !first.has_places {
        return Ok(None);
    }
    let request = Request { from: rules, ..Request::new(path, "") };
    let checkpoint = source::open(&request, &first)?;
    let mut messages = checkpoint.beside.left.clone();
    messages.extend(checkpoint.assumption(request.from.is_some()));
    collection(path, &checkpoint, messages).map(Some)
}

/// Returns the arrays of a checkpoint.
fn collection(
    path: &Path,
    checkpoint: &Checkpoint,
    messages: Vec<String>,
) -> Result<Collection, Error> {
    let (mut layouts, mut known) = (Vec::new(), HashMap::new());
    for stored in checkpoint.arrays.iter().flat_map(|array| &array.held.stored) {
        if let std::collections::hash_map::Entry::Vacant(entry) =
            known.entry(Arc::as_ptr(&stored.laid))
        {
            entry.insert(layouts.len());
            layouts.push(stored.laid.in_files()?);
        }
    }
    let number = |laid: &Arc<Laid>| known.get(&Arc::as_ptr(laid)).copied().unwrap_or(usize::MAX);
    let arrays = checkpoint.arrays.iter().enumerate();
    let arrays = arrays.map(|(at, array)| tensor(checkpoint, (at, array), &number));
    let files: Vec<_> = checkpoint.files.iter().map(|file| file.path.clone()).collect();
    let arrays = arrays.collect::<Result<_, _>>()?;
    of_shards(path, &files, &layouts, arrays, messages).map_err(Error::of_request)
}

/// Returns an array with its boxes.
fn tensor(
    checkpoint: &Checkpoint,
    (number, array): (usize, &ReshardedArray),
    layout: &dyn Fn(&Arc<Laid>) -> usize,
) -> Result<ShardedTensor, Error> {
    let absent = || Error::new("corrupt", format!("tensor {:?}: a file lacks it", array.name));
    let mut boxes = Vec::new();
    for piece in &array.held.pieces {
        let stored = usize::try_from(piece.source).ok().and_then(|at| array.held.stored.get(at));
        let stored = stored.ok_or_else(absent)?;
        let at = checkpoint.places.at(stored.file, number).ok_or_else(absent)?;
        let (file, layout) = (stored.file, layout(&stored.laid));
        let (mut local, mut start) = (piece.local.clone(), piece.start.clone());
        let mut extents = piece.extents.clone();
        match (array.unit(), &array.packed) {
            (Some(Unit { bytes, .. }), _) => {
                let last = [&mut local, &mut start, &mut extents].map(|at| at.last_mut());
                last.into_iter().flatten().for_each(|at| *at /= bytes);
            }
            // Such an array is whole in every file that has it.
            (None, Some(shape)) => {
                extents.clone_from(shape);
                (local, start) = (vec![0; extents.len()], vec![0; extents.len()]);
            }
            (None, None) => {}
        }
        boxes.push(ShardBox { file, at, layout, local, start, extents });
    }
    let (name, file_dtype) = (array.name.to_string(), array.file_dtype.clone());
    let bits = array.held.stored.first().map_or(array.bits, |stored| stored.laid.own_bits());
    let dims = array.shape().to_vec();
    Ok(ShardedTensor { name, file_dtype, dtype: array.dtype, bits, dims, boxes })
}
