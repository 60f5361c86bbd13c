//! Opens the source: it reads the arrays of a checkpoint from the headers of its files. A job begins with it.
//!
//! | a checkpoint | its pieces |
//! |---|---|
//! | a file of any format, an index, a folder of one of these | whole tensors, in the layouts that the files note |
//! | a folder of torch's distributed checkpoint in safetensors | `DCP_SHARDING_INFO` states the offset of each; the extents are the largest ends, or those that the caller states |
//! | a folder with a file for each position of a mesh | boxes by rules (`ranks.rs`) |
//!
//! Equal boxes in several files are replicas: all are kept, and compared when they are read.
//!
//! [`shards`] gives the arrays as whole arrays, for fingerprints and comparisons of data. The program's `verify`, `same-data` and
//! `fingerprint` open folders of shards with it. Law: the fingerprint of an array in shards is that of the whole array. Copies
//! of a box count once, and a comparison of all copies is part of reading.

pub(crate) mod beside;
pub(crate) mod boxes;
pub(crate) mod checkpoint;
pub(crate) mod identity;
pub(crate) mod lists;
pub(crate) mod numbers;
pub(crate) mod ranks;

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
};

use tilewright_core::TensorLayout;
use tilewright_files::{
    Collection, Input,
    inner::{ShardBox, ShardedTensor, is_folder, of_shards},
};
use tilewright_sharded::Piece;

use crate::{
    Error, Request, Rules,
    plan::array::{Laid, LocalArrays, LocalOffsets, ReshardedArray, StoredArray, Unit, shared},
    request::extents::Stated,
    source::{
        beside::{ArrayNumbers, Beside, left_metadata, left_recipe, metadata},
        checkpoint::{Checkpoint, has_index, is_index, listed, same, settled},
        identity::{identities, opened},
        lists::{Common, ListedTensor, Lists, PLACES, RULES, entries, shown},
        numbers::natural,
        ranks::ranks,
    },
};

/// Opens a checkpoint, with what its first file states.
pub(crate) fn open(request: &Request, first: &FirstFile) -> Result<Checkpoint, Error> {
    let (path, stated) = (&request.input, request.stated()?);
    let mut checkpoint = match &request.from {
        Some(rules) => ranks(path, rules, stated)?,
        None if first.has_places && is_bare(path)? => distributed(path, stated)?,
        None => whole(path, stated, &request.ending())?,
    };
    checkpoint.trust(request);
    Ok(checkpoint)
}

/// The statements of the first file at a path.
#[derive(Default)]
pub(crate) struct FirstFile {
    /// The rules that the files of a folder record.
    pub(crate) rules: Option<Rules>,
    /// True if its tensors are boxes of arrays.
    has_places: bool,
}

impl FirstFile {
    /// Reads the first file of a folder, or of those next to an index.
    pub(crate) fn of(path: &Path) -> Result<FirstFile, Error> {
        let files = parts(path)?;
        let Some(first) = files.first() else { return Ok(FirstFile::default()) };
        let input = opened(first)?;
        let text = input.metadata().find(|(key, _)| *key == RULES).map(|(_, text)| text);
        let read = |text| Rules::of_record(text).map_err(|error| error.about(&shown(first)));
        let rules = if is_bare(path)? { text.map(read).transpose()? } else { None };
        Ok(FirstFile { rules, has_places: says_places(&input) })
    }
}

/// Returns whether a path is a folder without an index.
pub(crate) fn is_bare(path: &Path) -> Result<bool, Error> {
    Ok(is_folder(path)? && !has_index(path)?)
}

/// Returns whether the files state that their tensors are boxes of arrays.
fn says_places(input: &Input) -> bool {
    input.metadata().any(|(key, _)| key == PLACES)
}

/// Returns the files of a folder, those next to an index, or the one file.
fn parts(path: &Path) -> Result<Vec<PathBuf>, Error> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    match (is_folder(path)?, is_index(path)) {
        (true, _) => listed(path),
        (false, true) => listed(folder.unwrap_or(Path::new("."))),
        (false, false) => Ok(vec![path.to_owned()]),
    }
}

/// Opens whole tensors, in the order of the file, for a result with this ending.
fn whole(path: &Path, stated: Stated<'_>, ending: &str) -> Result<Checkpoint, Error> {
    let input = opened(path)?;
    // An index names each tensor once, and other files may hold more of it.
    if says_places(&input) {
        return distributed(path, stated);
    }
    let (mut arrays, mut alike) = (Vec::new(), HashMap::<_, Arc<LocalArrays>>::new());
    let mut places = vec![Vec::new(); input.files().count()];
    for (number, entry) in entries(&input, &Mutex::new(Common::default()))?.iter().enumerate() {
        if let Some(places) = places.get_mut(entry.file) {
            places.push((number, entry.at));
        }
        let mut extents = entry.laid.dims().to_vec();
        state(&mut extents, entry, &stated)?;
        let key = (Arc::as_ptr(&entry.laid), entry.file, extents.clone());
        let held = shared(&mut alike, key, || {
            let file = (entry.file, vec![0; extents.len()]);
            Ok(Arc::new(boxes(&entry.name, &extents, &[(file, entry)], &[])?))
        })?;
        arrays.push(ReshardedArray::of(entry.name.clone(), &entry.laid, extents, held));
    }
    let mut known = LocalOffsets::default();
    places.into_iter().try_for_each(|places| known.push(places))?;
    let files = identities(&input)?;
    let mut beside = Beside::of(path, &files, &[metadata(&input)])?;
    let left = left_metadata(&input).filter(|_| !input.format().eq_ignore_ascii_case(ending));
    beside.left.splice(0..0, input.warnings().chain(left).chain(left_recipe(&input)));
    for (number, tensor) in input.tensors().iter().enumerate() {
        // Fingerprints are sums over elements; arrays that are handled as bytes have none.
        let is_packed = arrays.get(number).is_some_and(|array| array.packed.is_some());
        let recorded = tensor.recorded().filter(|_| !is_packed);
        recorded.into_iter().for_each(|data| beside.record(number, data));
    }
    let names: Vec<&str> = arrays.iter().map(|array| &*array.name).collect();
    stated.check(&names)?;
    Ok(Checkpoint { files, models: Vec::new(), arrays, places: known, beside })
}

/// Applies the stated extents of a tensor. For elements narrower than a byte, which are not split, they are only
/// checked.
fn state(extents: &mut [u64], entry: &ListedTensor, stated: &Stated<'_>) -> Result<(), Error> {
    let name = &*entry.name;
    let Some(said) = stated.of(name) else { return Ok(()) };
    let wrong = |has: String| {
        let said = format!("tensor {name:?} has {has}, but its stated extents are {said:?}");
        Err(stated.blame(name, Error::mismatch(said)))
    };
    match entry.laid.packed() {
        Some(shape) if shape == said => Ok(()),
        Some(shape) => wrong(format!("extents {shape:?}")),
        None if said.len() != extents.len() => wrong(format!("{} dims", extents.len())),
        None => {
            extents.copy_from_slice(said);
            Ok(())
        }
    }
}

/// Opens the boxes of a distributed checkpoint.
fn distributed(path: &Path, stated: Stated<'_>) -> Result<Checkpoint, Error> {
    let paths = parts(path)?;
    let mut lists = Lists::read(&paths)?;
    let stated = stated.with_files(path, std::mem::take(&mut lists.extents))?;
    let names: Vec<String> = lists.files.iter().map(|file| shown(&file.path)).collect();
    let mut alike = HashMap::<_, (Vec<u64>, Arc<LocalArrays>)>::new();
    let (mut arrays, mut assumed, mut is_open) = (Vec::new(), ArrayNumbers::default(), false);
    for (name, found) in lists.names() {
        let Some(first) = found.iter().flatten().next() else { continue };
        // A tensor without dims has one element.
        if stated.of(&name).is_none() && !first.laid.dims().is_empty() {
            assumed.push(arrays.len());
        }
        is_open |= stated.is_open(&name);
        let one = |entry: &&ListedTensor| (Arc::as_ptr(&entry.laid), entry.start.clone());
        let held: Vec<_> = found.iter().map(|entry| entry.as_ref().map(one)).collect();
        let key = (held, stated.of(&name));
        let (extents, held) = shared(&mut alike, key, || {
            let mut whole = vec![0; first.laid.dims().len()];
            let mut parts = Vec::new();
            for (file, list) in lists.of.iter().enumerate() {
                let Some(entry) = found.get(*list).copied().flatten() else { continue };
                let file_name = names.get(file).map_or("", String::as_str);
                same(first, entry).map_err(|error| error.about(file_name))?;
                let start = entry.start.clone().unwrap_or_else(|| vec![0; whole.len()]);
                let ends = start.iter().zip(entry.laid.dims());
                for (extent, (start, length)) in whole.iter_mut().zip(ends) {
                    *extent = (*extent).max(start.saturating_add(*length));
                }
                parts.push(((file, start), entry));
            }
            state(&mut whole, first, &stated)?;
            let held = boxes(&name, &whole, &parts, &names);
            let held = held.map_err(|error| stated.blame(&name, error))?;
            Ok((whole, Arc::new(held)))
        })?;
        arrays.push(ReshardedArray::of(first.name.clone(), &first.laid, extents, held));
    }
    // A process without data writes no file. If all extents are stated, its absence is not an error.
    if is_open || assumed.iter().next().is_some() {
        check_numbers(path, &paths)?;
    }
    stated.check(&arrays.iter().map(|array| &*array.name).collect::<Vec<_>>())?;
    drop(alike);
    let mut checkpoint = settled(path, lists, arrays)?;
    checkpoint.beside.assumed = assumed;
    checkpoint.beside.is_open = is_open;
    Ok(checkpoint)
}

/// Returns an error if the numbers of torch's files, from 1 on, show that one is missing.
fn check_numbers(folder: &Path, paths: &[PathBuf]) -> Result<(), Error> {
    let why = "if the process of that number wrote nothing, give the extents of every tensor";
    numbers::check(folder, paths, true)
        .map_err(|error| Error::new(error.kind(), format!("{error}; {why}")))?;
    let Some(first) = paths.first() else { return Ok(()) };
    match natural(&shown(first)).first() {
        Some((text, number)) if text == "shard-" && *number > 1 => {
            let (folder, first) = (folder.display(), shown(first));
            let said = format!("the first file of {folder} is {first}, but numbers begin at 1");
            Err(Error::mismatch(format!("{said}; {why}")))
        }
        _ => Ok(()),
    }
}

/// Returns the pieces of an array whose local arrays are boxes of it, each with its file and first index.
fn boxes(
    name: &str,
    extents: &[u64],
    found: &[((usize, Vec<u64>), &ListedTensor)],
    names: &[String],
) -> Result<LocalArrays, Error> {
    let whole = TensorLayout::row_major(extents);
    let _ = whole.map_err(|error| Error::from(error).about(&format!("tensor {name:?}")))?;
    let mut held = LocalArrays::default();
    for ((file, start), entry) in found {
        let (start, extents) = (start.clone(), entry.laid.dims().to_vec());
        let (source, local) = (held.stored.len() as u64, vec![0; start.len()]);
        held.pieces.push(Piece { source, start, extents, local });
        held.stored.push(StoredArray { file: *file, laid: entry.laid.clone() });
    }
    held.settle(name, extents, &|file| names.get(file).cloned().unwrap_or_default())
}

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
    if !is_folder(path)? && !is_index(path) {
        return Ok(None);
    }
    let is_of_files = is_bare(path)? && listed(path)?.len() > 1;
    let mut first = FirstFile::of(path)?;
    let given = rules.filter(|_| is_of_files);
    let rules = first.rules.take().or_else(|| given.cloned());
    if rules.is_none() && !first.has_places {
        return Ok(None);
    }
    let request = Request { from: rules, ..Request::new(path, "") };
    let checkpoint = open(&request, &first)?;
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
