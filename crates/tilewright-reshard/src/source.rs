//! What is read: the arrays of a checkpoint, from the headers of its files.
//!
//! | a checkpoint | where its pieces lie |
//! |---|---|
//! | any file of tensors, an index, a folder of one of these | whole tensors, in the layouts that the files note |
//! | a folder of torch's distributed checkpoint in safetensors | `DCP_SHARDING_INFO` says where each begins; the extents are the largest ends, or what the caller says |
//! | a folder with a file for each position of a mesh | [`Rules`] say it; files stand in the order of the numbers in their names |
//!
//! Equal boxes in several files are replicas: all are kept, and compared when they are read.

use std::{
    collections::{BTreeSet, HashMap},
    fs,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
};

use tilewright_core::{Dtype, TensorLayout};
use tilewright_files::Reading;
use tilewright_sharded::{Mesh, Piece, Pieces, Sharded};

use crate::{
    Error, Request, Rules,
    array::{Array, Held, Laid, Places, Stored},
    beside::{Beside, metadata},
    identity::{Identity, identities},
    lists::{Common, Entry, Lists, PLACES, entries, shown},
    numbers::{self, natural},
    request::Stated,
};

/// A checkpoint, opened.
#[derive(Debug, Default)]
pub(crate) struct Checkpoint {
    pub(crate) files: Vec<Identity>,
    pub(crate) arrays: Vec<Array>,
    pub(crate) places: Places,
    pub(crate) beside: Beside,
}

/// Opens a checkpoint.
pub(crate) fn open(request: &Request) -> Result<Checkpoint, Error> {
    let (path, stated) = (&request.input, request.stated()?);
    let mut checkpoint = match &request.from {
        Some(rules) => ranks(path, rules, &stated)?,
        None if is_distributed(path)? => distributed(path, &stated)?,
        None => whole(path, &stated)?,
    };
    let names: Vec<&str> = checkpoint.arrays.iter().map(|array| &*array.name).collect();
    stated.check(&names)?;
    checkpoint.trust(request);
    Ok(checkpoint)
}

impl Checkpoint {
    /// Forgets all copies but one, where the request says so.
    pub(crate) fn trust(&mut self, request: &Request) {
        if !request.trusts_replicas {
            return;
        }
        // The ways to hold arrays stay alive while their addresses are keys.
        let kept: Vec<_> = self.arrays.iter().map(|array| array.held.clone()).collect();
        let mut alike = HashMap::new();
        for (array, held) in self.arrays.iter_mut().zip(&kept) {
            let first = || Arc::new(held.without_replicas());
            array.held = alike.entry(Arc::as_ptr(held)).or_insert_with(first).clone();
        }
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
    files.sort_by_key(|path| natural(&shown(path)));
    Ok(files)
}

/// Whole tensors, in the order of the file.
fn whole(path: &Path, stated: &Stated<'_>) -> Result<Checkpoint, Error> {
    let input = tilewright_files::open(path, &Reading::default())?;
    let (mut arrays, mut alike) = (Vec::new(), HashMap::<_, Arc<Held>>::new());
    let mut places = vec![Vec::new(); input.files().count()];
    for (number, entry) in entries(&input, &Mutex::new(Common::default()))?.iter().enumerate() {
        if let Some(places) = places.get_mut(entry.file) {
            places.push((number, entry.at));
        }
        let mut extents = entry.laid.dims().to_vec();
        state(&mut extents, &entry.name, stated)?;
        let key = (Arc::as_ptr(&entry.laid), entry.file, extents.clone());
        let held = match alike.get(&key) {
            Some(held) => held.clone(),
            None => {
                let file = (entry.file, vec![0; extents.len()]);
                let held = Arc::new(boxes(&entry.name, &extents, &[(file, entry)], &[])?);
                alike.insert(key, held.clone());
                held
            }
        };
        arrays.push(array(entry, extents, held));
    }
    let mut known = Places::default();
    places.into_iter().try_for_each(|places| known.push(places))?;
    let files = identities(&input)?;
    let mut beside = Beside::of(path, &files, &[metadata(&input)])?;
    for (number, tensor) in input.tensors().iter().enumerate() {
        tensor.recorded().into_iter().for_each(|data| beside.record(number, data));
    }
    Ok(Checkpoint { files, arrays, places: known, beside })
}

/// Takes the extents that the caller says of a tensor.
fn state(extents: &mut Vec<u64>, name: &str, stated: &Stated<'_>) -> Result<(), Error> {
    let Some(said) = stated.of(name) else { return Ok(()) };
    if said.len() != extents.len() {
        let rank = extents.len();
        let said = format!("tensor {name:?} has {rank} dims, and its extents are said to be");
        return Err(Error::mismatch(format!("{said} {:?}", stated.of(name).unwrap_or_default())));
    }
    extents.copy_from_slice(said);
    Ok(())
}

/// The boxes of a distributed checkpoint.
fn distributed(path: &Path, stated: &Stated<'_>) -> Result<Checkpoint, Error> {
    let paths = listed(path)?;
    let lists = Lists::read(&paths)?;
    let names: Vec<String> = lists.files.iter().map(|file| shown(&file.path)).collect();
    let mut alike = HashMap::<_, (Vec<u64>, Arc<Held>)>::new();
    let (mut arrays, mut derived) = (Vec::new(), false);
    for (name, found) in lists.names() {
        derived |= stated.of(&name).is_none();
        let Some(first) = found.iter().flatten().next() else { continue };
        let one = |entry: &&Entry| (Arc::as_ptr(&entry.laid), entry.start.clone());
        let held: Vec<_> = found.iter().map(|entry| entry.as_ref().map(one)).collect();
        let key = (held, stated.of(&name));
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
        state(&mut whole, &name, stated)?;
        let held = Arc::new(boxes(&name, &whole, &parts, &names)?);
        arrays.push(array(first, whole.clone(), held.clone()));
        alike.insert(key, (whole, held));
    }
    // A process that has nothing to write writes no file: that is known where all extents are said.
    if derived {
        check_numbers(path, &paths)?;
    }
    drop(alike);
    let mut checkpoint = settled(path, lists, arrays)?;
    checkpoint.beside.derived = derived;
    Ok(checkpoint)
}

/// An error where the numbers of torch's files, from 1 on, show that one is missing.
fn check_numbers(folder: &Path, paths: &[PathBuf]) -> Result<(), Error> {
    let why = "a process that had nothing to write has no file; then the extents of every tensor have to be said";
    numbers::check(folder, paths, true)
        .map_err(|error| Error::new(error.kind(), format!("{error}; {why}")))?;
    let Some(first) = paths.first() else { return Ok(()) };
    match natural(&shown(first)).first() {
        Some((text, number)) if text == "shard-" && *number > 1 => {
            let (folder, first) = (folder.display(), shown(first));
            let said = format!("the first file of {folder} is {first}, and numbers begin at 1");
            Err(Error::mismatch(format!("{said}; {why}")))
        }
        _ => Ok(()),
    }
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
fn ranks(path: &Path, rules: &Rules, stated: &Stated<'_>) -> Result<Checkpoint, Error> {
    let (paths, mesh) = (listed(path)?, rules.mesh()?);
    numbers::check(path, &paths, false)?;
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
        let key = (matcher.of(name), laid, stated.of(name));
        if !alike.contains_key(&key) {
            let held = lists.of.iter().map(|list| found.get(*list).copied().flatten()).collect();
            alike.insert(key.clone(), of_ranks(held, rules, stated, &mesh, &shown)?);
        }
        let Some((extents, held)) = alike.get(&key) else { continue };
        arrays.push(array(first, extents.clone(), held.clone()));
    }
    drop((named, alike));
    settled(path, lists, arrays)
}

/// How an array is held that positions of a mesh hold, and its extents.
fn of_ranks(
    found: Vec<Option<&Entry>>,
    rules: &Rules,
    stated: &Stated<'_>,
    mesh: &Mesh,
    files: &[String],
) -> Result<(Vec<u64>, Arc<Held>), Error> {
    let Some(first) = found.iter().flatten().next().copied() else {
        return Err(Error::mismatch("a tensor that no file holds"));
    };
    let (name, dtype) = (&*first.name, first.laid.dtype);
    let dims: Vec<Option<&[u64]>> =
        found.iter().map(|entry| entry.map(|entry| entry.laid.dims())).collect();
    let said = stated.of(name).map(<[u64]>::to_vec);
    let extents = match rules.extents(name)?.or(said) {
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
        // The extents are tried ones: what does not fit them may fit those of the whole.
        let hint = "write the extents of the whole before the rule, as in [37,6] @ RULE";
        match error.kind() {
            "mismatch" => Error::new(error.kind(), format!("{error}; {hint}")),
            _ => error,
        }
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
fn settled(path: &Path, lists: Lists, arrays: Vec<Array>) -> Result<Checkpoint, Error> {
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
    let beside = Beside::of(path, &lists.files, &lists.metadata)?;
    Ok(Checkpoint { files: lists.files, arrays, places, beside })
}
