//! What is read: the arrays of a checkpoint, from the headers of its files.
//!
//! | a checkpoint | where its pieces lie |
//! |---|---|
//! | any file of tensors, an index, a folder of one of these | whole tensors, in the layouts that the files note |
//! | a folder of torch's distributed checkpoint in safetensors | `DCP_SHARDING_INFO` says where each begins; the extents are the largest ends |
//! | a folder with a file for each position of a mesh | [`Rules`] say it; files stand in the order of the numbers in their names |

use std::{
    collections::{BTreeSet, HashMap},
    fs,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
};

use tilewright_core::{Dtype, TensorLayout};
use tilewright_files::{Input, Reading, Tensor};
use tilewright_sharded::{Mesh, Piece, Pieces, Sharded};

use crate::{
    Error, Rules,
    array::{Array, Held, Laid, Places, Stored},
    identity::Identity,
    lists::{Common, Entry, Lists, entries, shown},
};

/// Under this key of its metadata a file of a distributed checkpoint says where its tensors begin.
pub(crate) const PLACES: &str = "DCP_SHARDING_INFO";

/// A checkpoint, opened.
#[derive(Debug, Default)]
pub(crate) struct Checkpoint {
    pub(crate) files: Vec<Identity>,
    pub(crate) arrays: Vec<Array>,
    pub(crate) places: Places,
}

/// Opens a checkpoint.
pub(crate) fn open(path: &Path, rules: Option<&Rules>) -> Result<Checkpoint, Error> {
    match rules {
        Some(rules) => ranks(path, rules),
        None if is_distributed(path)? => distributed(path),
        None => whole(path),
    }
}

/// Whether a folder is one of torch's distributed checkpoint.
fn is_distributed(path: &Path) -> Result<bool, Error> {
    if !path.is_dir() {
        return Ok(false);
    }
    let files = listed(path)?;
    let (Some(first), false) = (files.first(), has_index(path)?) else { return Ok(false) };
    let input = tilewright_files::open(first, &Reading::default())?;
    Ok(input.metadata().any(|(key, _)| key == PLACES))
}

fn has_index(folder: &Path) -> Result<bool, Error> {
    Ok(names(folder)?.iter().any(|path| path.to_string_lossy().ends_with(".index.json")))
}

fn names(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let failed = |cause| Error::io(folder, "list", &cause);
    let listed = fs::read_dir(folder).map_err(failed)?;
    listed.map(|entry| Ok(entry.map_err(failed)?.path())).collect()
}

/// The safetensors files of a folder, in the order of the numbers in their names.
fn listed(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let mut files = names(folder)?;
    files
        .retain(|path| path.extension().is_some_and(|end| end.eq_ignore_ascii_case("safetensors")));
    files.sort_by_key(|path| natural(&path.file_name().unwrap_or_default().to_string_lossy()));
    Ok(files)
}

/// A name as texts and the numbers behind them, so that 10 stands behind 9.
fn natural(name: &str) -> Vec<(String, u64)> {
    let mut parts = Vec::new();
    let mut rest = name;
    while !rest.is_empty() {
        let text = rest.find(|c: char| c.is_ascii_digit()).unwrap_or(rest.len());
        let (text, behind) = rest.split_at(text);
        let end = behind.find(|c: char| !c.is_ascii_digit()).unwrap_or(behind.len());
        let (digits, behind) = behind.split_at(end);
        parts.push((text.to_owned(), digits.parse().unwrap_or(u64::MAX)));
        rest = behind;
    }
    parts
}

/// What each file of an input is known by.
pub(crate) fn identities(input: &Input) -> Result<Vec<Identity>, Error> {
    let begin = |file: usize| {
        let pieces = input.tensors().iter().flat_map(Tensor::pieces);
        pieces.filter(|piece| piece.file() == file).map(|piece| piece.at()).min()
    };
    let files = input.files().enumerate();
    let mut known: Vec<Identity> = files
        .map(|(file, path)| Identity::of(path, begin(file).unwrap_or(u64::MAX)))
        .collect::<Result<_, Error>>()?;
    if input.files().all(|path| path != input.path()) {
        known.push(Identity::of(input.path(), u64::MAX)?);
    }
    Ok(known)
}

/// Whole tensors, in the order of the file.
fn whole(path: &Path) -> Result<Checkpoint, Error> {
    let input = tilewright_files::open(path, &Reading::default())?;
    let (mut arrays, mut alike) = (Vec::new(), HashMap::<_, Arc<Held>>::new());
    let mut places = vec![Vec::new(); input.files().count()];
    for (number, entry) in entries(&input, &Mutex::new(Common::default()))?.iter().enumerate() {
        if let Some(places) = places.get_mut(entry.file) {
            places.push((number, entry.at));
        }
        let held = match alike.get(&(Arc::as_ptr(&entry.laid), entry.file)) {
            Some(held) => held.clone(),
            None => {
                let file = (entry.file, vec![0; entry.laid.dims().len()]);
                let held = Arc::new(boxes(&entry.name, entry.laid.dims(), &[(file, entry)], &[])?);
                alike.insert((Arc::as_ptr(&entry.laid), entry.file), held.clone());
                held
            }
        };
        arrays.push(array(entry, entry.laid.dims().to_vec(), held));
    }
    let mut known = Places::default();
    places.into_iter().try_for_each(|places| known.push(places))?;
    Ok(Checkpoint { files: identities(&input)?, arrays, places: known })
}

/// The boxes of a distributed checkpoint.
fn distributed(path: &Path) -> Result<Checkpoint, Error> {
    let lists = Lists::read(&listed(path)?)?;
    let names: Vec<String> = lists.files.iter().map(|file| shown(&file.path)).collect();
    let mut alike = HashMap::<Vec<_>, (Vec<u64>, Arc<Held>)>::new();
    let mut arrays = Vec::new();
    for (name, found) in lists.names() {
        let Some(first) = found.iter().flatten().next() else { continue };
        let one = |entry: &&Entry| (Arc::as_ptr(&entry.laid), entry.start.clone());
        let key: Vec<_> = found.iter().map(|entry| entry.as_ref().map(one)).collect();
        if let Some((extents, held)) = alike.get(&key) {
            arrays.push(array(first, extents.clone(), held.clone()));
            continue;
        }
        let mut whole = vec![0; first.laid.dims().len()];
        let mut parts = Vec::new();
        for (file, list) in lists.of.iter().enumerate() {
            let Some(entry) = found.get(*list).copied().flatten() else { continue };
            let file_name = names.get(file).map_or("", String::as_str);
            same(first, entry).map_err(|error| error.about(file_name))?;
            let start = entry.start.clone().unwrap_or_else(|| vec![0; whole.len()]);
            for ((extent, start), length) in whole.iter_mut().zip(&start).zip(entry.laid.dims()) {
                *extent = (*extent).max(start.saturating_add(*length));
            }
            parts.push(((file, start), entry));
        }
        let held = Arc::new(boxes(&name, &whole, &parts, &names)?);
        arrays.push(array(first, whole.clone(), held.clone()));
        alike.insert(key, (whole, held));
    }
    settled(lists, arrays)
}

/// How an array is held whose local arrays are boxes of it, each with its file and first index.
fn boxes(
    name: &str,
    extents: &[u64],
    found: &[((usize, Vec<u64>), &Entry)],
    names: &[String],
) -> Result<Held, Error> {
    let whole = TensorLayout::row_major(extents);
    whole.map_err(|error| Error::from(error).about(&format!("tensor {name:?}")))?;
    let mut held = Held::default();
    for ((file, start), entry) in found {
        let (start, extents) = (start.clone(), entry.laid.dims().to_vec());
        let (source, local) = (held.stored.len() as u64, vec![0; start.len()]);
        held.pieces.push(Piece { source, start, extents, local });
        held.stored.push(Stored { file: *file, laid: entry.laid.clone() });
    }
    held.settle(name, extents, &|file| names.get(file).cloned().unwrap_or_default())
}

/// A file for each position of a mesh.
fn ranks(path: &Path, rules: &Rules) -> Result<Checkpoint, Error> {
    let (paths, mesh) = (listed(path)?, rules.mesh()?);
    if paths.len() as u64 != mesh.count() {
        let (folder, files, count) = (path.display(), paths.len(), mesh.count());
        let said = format!("{folder} holds {files} files *.safetensors; {mesh} has {count}");
        return Err(Error::mismatch(format!("{said} positions, a file each")));
    }
    let lists = Lists::read(&paths)?;
    let named: Vec<_> = lists.names().collect();
    rules.check(&named.iter().map(|(name, _)| &**name).collect::<Vec<_>>())?;
    let matcher = rules.matcher()?;
    let shown: Vec<String> = paths.iter().map(|path| shown(path)).collect();
    let mut alike = HashMap::<_, (Vec<u64>, Arc<Held>)>::new();
    let mut arrays = Vec::new();
    for (name, found) in &named {
        let Some(first) = found.iter().flatten().next() else { continue };
        let laid: Vec<_> =
            found.iter().map(|entry| entry.map(|entry| Arc::as_ptr(&entry.laid))).collect();
        let key = (matcher.of(name), laid);
        if !alike.contains_key(&key) {
            let held = lists.of.iter().map(|list| found.get(*list).copied().flatten()).collect();
            alike.insert(key.clone(), of_ranks(held, rules, &mesh, &shown)?);
        }
        let Some((extents, held)) = alike.get(&key) else { continue };
        arrays.push(array(first, extents.clone(), held.clone()));
    }
    drop(named);
    settled(lists, arrays)
}

/// How an array is held that positions of a mesh hold, and its extents.
fn of_ranks(
    found: Vec<Option<&Entry>>,
    rules: &Rules,
    mesh: &Mesh,
    files: &[String],
) -> Result<(Vec<u64>, Arc<Held>), Error> {
    let Some(first) = found.iter().flatten().next().copied() else {
        return Err(Error::mismatch("a tensor that no file holds"));
    };
    let (name, dtype) = (&*first.name, first.laid.dtype);
    let dims: Vec<Option<&[u64]>> =
        found.iter().map(|entry| entry.map(|entry| entry.laid.dims())).collect();
    let extents = match rules.extents(name)? {
        Some(extents) => extents,
        None => extents(name, dtype, &dims, rules, mesh)?,
    };
    if !rules.names(name)? {
        let said = format!("tensor {name:?}: no rule says how files hold it");
        return Err(Error::usage(format!("{said}; where each has all of it the rule is P()")));
    }
    let sharded = rules.sharded(name, &extents, Some(dtype))?;
    let (mut held, mut numbers) = (Held::default(), vec![None; found.len()]);
    for ((position, entry), number) in found.iter().enumerate().zip(&mut numbers) {
        let (Some(entry), Some(file)) = (entry, files.get(position)) else { continue };
        same(first, entry).map_err(|error| error.about(file))?;
        let stored = sharded.shard(position as u64)?.stored().to_vec();
        if entry.laid.dims() != stored {
            let said = format!("{file}: tensor {name:?} has {:?}", entry.laid.dims());
            return Err(Error::mismatch(format!(
                "{said}; by its rule that shard of {extents:?} has {stored:?}"
            )));
        }
        *number = Some(held.stored.len() as u64);
        held.stored.push(Stored { file: position, laid: entry.laid.clone() });
    }
    for piece in Pieces::of(&sharded)?.pieces {
        let at = usize::try_from(piece.source).ok();
        if let Some(source) = at.and_then(|at| numbers.get(at).copied().flatten()) {
            held.pieces.push(Piece { source, ..piece });
        }
    }
    let whole = TensorLayout::row_major(&extents);
    whole.map_err(|error| Error::from(error).about(&format!("tensor {name:?}")))?;
    let file = |file: usize| files.get(file).cloned().unwrap_or_default();
    let held = held.settle(name, &extents, &file)?;
    Ok((extents, Arc::new(held)))
}

/// The extents of an array whose shards have these: along each dim the sum over the positions of the axes that cut it.
///
/// Which axes these are is asked of the rule for larger extents that every number of parts divides.
fn extents(
    name: &str,
    dtype: Dtype,
    held: &[Option<&[u64]>],
    rules: &Rules,
    mesh: &Mesh,
) -> Result<Vec<u64>, Error> {
    let rank = held.iter().flatten().next().map_or(0, |dims| dims.len());
    let most = |dim: usize| held.iter().flatten().filter_map(|dims| dims.get(dim)).max();
    let trial: Vec<u64> = (0..rank)
        .map(|dim| most(dim).copied().unwrap_or(0).max(1).saturating_mul(mesh.count()))
        .collect();
    let trial = rules.sharded(name, &trial, Some(dtype)).map_err(|error| {
        let hint = "write the extents of the whole before the rule, as in [37,6] @ RULE";
        Error::new(error.kind(), format!("{error}; {hint}"))
    })?;
    let of = |dim: usize| {
        let axes = cutting(&trial, dim);
        let counts = |position: &(usize, &Option<&[u64]>)| {
            let coord = mesh.coord(position.0 as u64);
            coord.iter().enumerate().all(|(axis, at)| *at == 0 || axes.contains(&axis))
        };
        let parts = held.iter().enumerate().filter(counts);
        let parts = parts.map(|(_, dims)| dims.and_then(|dims| dims.get(dim)).copied());
        parts.fold(0u64, |sum, part| sum.saturating_add(part.unwrap_or(0)))
    };
    Ok((0..rank).map(of).collect())
}

/// The axes of the mesh that cut a dim.
fn cutting(sharded: &Sharded, dim: usize) -> BTreeSet<usize> {
    let splits = sharded.splits().iter().filter(|split| split.dim == dim);
    splits.flat_map(|split| split.parts.iter().map(|part| part.axis)).collect()
}

/// The array of which a file holds this.
fn array(entry: &Entry, extents: Vec<u64>, held: Arc<Held>) -> Array {
    let Laid { file_dtype, dtype, bits, .. } = &*entry.laid;
    let (name, file_dtype) = (entry.name.clone(), file_dtype.clone());
    Array { name, file_dtype, dtype: *dtype, bits: *bits, extents, held }
}

/// An error if a tensor of one file is no part of the array that others hold.
fn same(first: &Entry, entry: &Entry) -> Result<(), Error> {
    let facts = |laid: &Laid| (laid.dtype, laid.bits, laid.dims().len());
    if facts(&first.laid) == facts(&entry.laid) {
        return Ok(());
    }
    let (rank, own) = (first.laid.dims().len(), entry.laid.dims().len());
    let (here, others) = (&entry.laid.file_dtype, &first.laid.file_dtype);
    let said = format!("tensor {:?} is {here} of rank {own}", entry.name);
    Err(Error::mismatch(format!("{said}; files before it say {others} of rank {rank}")))
}

/// The checkpoint of these files, with the places of its arrays, which stand in the order of their names.
fn settled(lists: Lists, arrays: Vec<Array>) -> Result<Checkpoint, Error> {
    let numbers: HashMap<&str, usize> =
        arrays.iter().enumerate().map(|(number, array)| (&*array.name, number)).collect();
    let place = |entry: &Entry| Some((*numbers.get(&*entry.name)?, entry.at));
    let mut places = Places::default();
    for (file, number) in lists.of.iter().enumerate() {
        match lists.of.iter().position(|of| of == number).filter(|first| *first < file) {
            Some(first) => places.again(first),
            None => {
                let list = lists.lists.get(*number).map_or(&[][..], Vec::as_slice);
                places.push(list.iter().filter_map(place).collect())?;
            }
        }
    }
    Ok(Checkpoint { files: lists.files, arrays, places })
}
