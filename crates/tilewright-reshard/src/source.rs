//! What is read: the arrays of a checkpoint, from the headers of its files.
//!
//! | a checkpoint | where its pieces lie |
//! |---|---|
//! | any file of tensors, an index, a folder of one of these | whole tensors, in the layouts that the files note |
//! | a folder of torch's distributed checkpoint in safetensors | `DCP_SHARDING_INFO` says where each begins; the extents are the largest ends |
//! | a folder with a file for each position of a mesh | [`Rules`] say it; files stand in the order of the numbers in their names |

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use serde_json::Value;
use tilewright_core::{Dtype, TensorLayout};
use tilewright_files::{Input, Reading, Tensor};
use tilewright_sharded::{Mesh, Piece, Pieces, Sharded};

use crate::{
    Error, Rules,
    array::{Array, Stored},
    identity::Identity,
};

/// Under this key of its metadata a file of a distributed checkpoint says where its tensors begin.
pub(crate) const PLACES: &str = "DCP_SHARDING_INFO";

/// A checkpoint, opened.
#[derive(Debug, Default)]
pub(crate) struct Checkpoint {
    pub(crate) files: Vec<Identity>,
    pub(crate) arrays: Vec<Array>,
}

/// A tensor of one file.
struct Local {
    name: String,
    file_dtype: String,
    dtype: Dtype,
    bits: u32,
    dims: Vec<u64>,
    stored: Stored,
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
fn identities(input: &Input) -> Result<Vec<Identity>, Error> {
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

/// The tensors of an input whose first file has the number `first`.
fn locals(input: &Input, first: usize) -> Result<Vec<Local>, Error> {
    if !input.format().ends_with("safetensors") {
        let (path, format) = (input.path().display(), input.format());
        let said =
            format!("{path} is {format}, and shards are safetensors; convert it to that first");
        return Err(Error::new("unsupported", said));
    }
    input.tensors().iter().map(|tensor| local(tensor, first)).collect()
}

fn local(tensor: &Tensor, first: usize) -> Result<Local, Error> {
    let name = tensor.name();
    let refused = |why: &str| Err(Error::new("unsupported", format!("tensor {name:?}: {why}")));
    if let Some(why) = tensor.refusal() {
        return refused(why);
    }
    let [piece] = tensor.pieces() else {
        return refused("it lies in several places of its file");
    };
    let (named, dtype) = (tensor.layout(), tensor.dtype());
    let layout = named.layout().clone();
    let bits = named.element_bits().unwrap_or(0);
    if bits == 0 || bits % 8 != 0 || named.byte_order().is_some_and(|order| order.is_big()) {
        return refused("its elements are no whole bytes with the lowest first");
    }
    if layout.extents() != tensor.dims() {
        return refused("its elements are blocks, which move together");
    }
    if named.stored_as().is_some() {
        return refused("it is stored as words of another type; convert it first");
    }
    if tilewright_notation::dtype(tensor.file_dtype()).ok() != Some(dtype) {
        return refused("its element type is one that safetensors cannot say; a note says it");
    }
    let stored = Stored { file: first + piece.file(), at: piece.at(), layout };
    let (file_dtype, dims) = (tensor.file_dtype().to_owned(), tensor.dims().to_vec());
    Ok(Local { name: name.to_owned(), file_dtype, dtype, bits, dims, stored })
}

/// Whole tensors, in the order of the file.
fn whole(path: &Path) -> Result<Checkpoint, Error> {
    let input = tilewright_files::open(path, &Reading::default())?;
    let arrays = locals(&input, 0)?.into_iter().map(|local| {
        let zeros = vec![0; local.dims.len()];
        let piece = piece(0, &zeros, &local.dims);
        let mut array = empty(&local, local.dims.clone());
        array.stored.push(local.stored);
        array.pieces.push(piece);
        array
    });
    settled(identities(&input)?, arrays.collect())
}

/// The boxes of a distributed checkpoint.
fn distributed(path: &Path) -> Result<Checkpoint, Error> {
    let (mut files, mut arrays) = (Vec::new(), BTreeMap::<String, Array>::new());
    for path in listed(path)? {
        let input = tilewright_files::open(&path, &Reading::default())?;
        let text = input.metadata().find(|(key, _)| *key == PLACES).map_or("{}", |(_, text)| text);
        let places: Value = serde_json::from_str(text).map_err(|error| {
            Error::new("corrupt", format!("{}: {PLACES}: {error}", path.display()))
        })?;
        for local in locals(&input, files.len())? {
            let start = offsets(&places, &local).map_err(|error| error.about(&shown(&path)))?;
            let array = arrays.entry(local.name.clone());
            let array = array.or_insert_with(|| empty(&local, vec![0; local.dims.len()]));
            same(array, &local).map_err(|error| error.about(&shown(&path)))?;
            for ((extent, start), length) in array.extents.iter_mut().zip(&start).zip(&local.dims) {
                *extent = (*extent).max(start.saturating_add(*length));
            }
            array.pieces.push(piece(array.stored.len(), &start, &local.dims));
            array.stored.push(local.stored);
        }
        files.extend(identities(&input)?);
    }
    settled(files, arrays.into_values().collect())
}

/// Where a tensor of a distributed checkpoint begins; one that is not named is whole.
fn offsets(places: &Value, local: &Local) -> Result<Vec<u64>, Error> {
    let (name, rank) = (&local.name, local.dims.len());
    let Some(place) = places.get(name) else { return Ok(vec![0; rank]) };
    let list = place.get("saved_offsets").and_then(Value::as_array);
    let list: Option<Vec<u64>> = list.and_then(|list| list.iter().map(Value::as_u64).collect());
    list.filter(|list| list.len() == rank).ok_or_else(|| {
        let said = format!("tensor {name:?} of rank {rank}: {PLACES} says {place}");
        Error::new("corrupt", format!("{said}; expected saved_offsets, a number for each dim"))
    })
}

/// A file for each position of a mesh.
fn ranks(path: &Path, rules: &Rules) -> Result<Checkpoint, Error> {
    let (paths, mesh) = (listed(path)?, rules.mesh()?);
    if paths.len() as u64 != mesh.count() {
        let (folder, files, count) = (path.display(), paths.len(), mesh.count());
        let said = format!("{folder} holds {files} files *.safetensors; {mesh} has {count}");
        return Err(Error::mismatch(format!("{said} positions, a file each")));
    }
    let (mut files, mut tensors) = (Vec::new(), BTreeMap::<String, Vec<Option<Local>>>::new());
    for (position, path) in paths.iter().enumerate() {
        let input = tilewright_files::open(path, &Reading::default())?;
        for local in locals(&input, position)? {
            let held = tensors.entry(local.name.clone());
            let held = held.or_insert_with(|| paths.iter().map(|_| None).collect());
            if let Some(place) = held.get_mut(position) {
                *place = Some(local);
            }
        }
        files.extend(identities(&input)?);
    }
    rules.check(&tensors.keys().map(String::as_str).collect::<Vec<_>>())?;
    let shown: Vec<String> = paths.iter().map(|path| shown(path)).collect();
    let arrays = tensors.into_values().map(|held| of_ranks(held, rules, &mesh, &shown));
    settled(files, arrays.collect::<Result<_, Error>>()?)
}

/// One array that positions of a mesh hold.
fn of_ranks(
    mut held: Vec<Option<Local>>,
    rules: &Rules,
    mesh: &Mesh,
    files: &[String],
) -> Result<Array, Error> {
    let Some(first) = held.iter().flatten().next() else {
        return Err(Error::mismatch("a tensor that no file holds"));
    };
    let dims: Vec<Option<&[u64]>> =
        held.iter().map(|local| local.as_ref().map(|local| &*local.dims)).collect();
    let extents = match rules.extents(&first.name)? {
        Some(extents) => extents,
        None => extents(&first.name, first.dtype, &dims, rules, mesh)?,
    };
    if !rules.names(&first.name)? {
        let said = format!("tensor {:?}: no rule says how files hold it", first.name);
        return Err(Error::usage(format!("{said}; where each has all of it the rule is P()")));
    }
    let sharded = rules.sharded(&first.name, &extents, Some(first.dtype))?;
    let mut array = empty(first, extents);
    let mut numbers = vec![None; held.len()];
    for ((position, local), file) in held.iter_mut().enumerate().zip(files) {
        let Some(local) = local.take() else { continue };
        same(&array, &local).map_err(|error| error.about(file))?;
        let stored = sharded.shard(position as u64)?.stored().to_vec();
        if local.dims != stored {
            let (name, dims, whole) = (&array.name, &local.dims, &array.extents);
            let said = format!("{file}: tensor {name:?} has {dims:?}");
            return Err(Error::mismatch(format!(
                "{said}; by its rule that shard of {whole:?} has {stored:?}"
            )));
        }
        if let Some(number) = numbers.get_mut(position) {
            *number = Some(array.stored.len() as u64);
        }
        array.stored.push(local.stored);
    }
    for piece in Pieces::of(&sharded)?.pieces {
        let at = usize::try_from(piece.source).ok();
        if let Some(source) = at.and_then(|at| numbers.get(at).copied().flatten()) {
            array.pieces.push(Piece { source, ..piece });
        }
    }
    Ok(array)
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

/// An array without pieces.
fn empty(local: &Local, extents: Vec<u64>) -> Array {
    Array {
        name: local.name.clone(),
        file_dtype: local.file_dtype.clone(),
        dtype: local.dtype,
        bits: local.bits,
        extents,
        stored: Vec::new(),
        pieces: Vec::new(),
    }
}

fn piece(source: usize, start: &[u64], extents: &[u64]) -> Piece {
    let (start, extents, local) = (start.to_vec(), extents.to_vec(), vec![0; start.len()]);
    Piece { source: source as u64, start, extents, local }
}

/// An error if a tensor of one file is no part of the array that others hold.
fn same(array: &Array, local: &Local) -> Result<(), Error> {
    let (rank, own) = (array.extents.len(), local.dims.len());
    if (array.dtype, array.bits, rank) == (local.dtype, local.bits, own) {
        return Ok(());
    }
    let (here, others) = (&local.file_dtype, &array.file_dtype);
    let said = format!("tensor {:?} is {here} of rank {own}", local.name);
    Err(Error::mismatch(format!("{said}; files before it say {others} of rank {rank}")))
}

/// The checkpoint, every array of which is whole and can be addressed.
fn settled(files: Vec<Identity>, arrays: Vec<Array>) -> Result<Checkpoint, Error> {
    let name = |file: usize| files.get(file).map_or_else(String::new, |file| shown(&file.path));
    let settle = |array: Array| {
        let whole = TensorLayout::row_major(&array.extents);
        whole.map_err(|error| Error::from(error).about(&format!("tensor {:?}", array.name)))?;
        array.settle(&name)
    };
    let arrays = arrays.into_iter().map(settle).collect::<Result<_, Error>>()?;
    Ok(Checkpoint { files, arrays })
}

fn shown(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
