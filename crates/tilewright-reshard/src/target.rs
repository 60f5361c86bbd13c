//! What is written: every output file with its header, and the pieces of every array in them. No data are needed for it.

use std::collections::BTreeMap;

use serde_json::json;
use tilewright_core::{Fill, TensorLayout};
use tilewright_notation::Spec;
use tilewright_sharded::{Piece, Pieces};

use crate::{
    Error, Form, Request, Rules,
    array::{Array, Stored},
    header::{Entry, header},
    source::PLACES,
};

/// A file that is written.
#[derive(Clone, Debug)]
pub(crate) struct File {
    pub(crate) name: String,
    /// The bytes before the data.
    pub(crate) head: Vec<u8>,
    pub(crate) bytes: u64,
}

/// The files, and the arrays in them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Output {
    pub(crate) files: Vec<File>,
    pub(crate) arrays: Vec<Array>,
    /// The index beside the files: its name and text.
    pub(crate) index: Option<(String, String)>,
}

/// A local array of a result, before its place is known.
struct Local {
    /// Which array, and which of its stored ones.
    array: usize,
    stored: usize,
    file: usize,
    entry: Entry,
    bits: u32,
    /// Where it begins in the whole array, if a file says so.
    start: Option<Vec<u64>>,
}

/// Decides every file of a result.
pub(crate) fn output(request: &Request, sources: &[Array]) -> Result<Output, Error> {
    let form = request.asked_form();
    let spec = spec(request)?;
    match (form, &request.to) {
        (Form::Hf, Some(_)) => Err(Error::usage("whole tensors are cut over no mesh")),
        (Form::Hf, None) => whole(request, spec.as_ref(), sources),
        (_, None) => {
            let form = form.name();
            Err(Error::usage(format!("the form {form} takes a mesh, and rules that cut over it")))
        }
        (_, Some(rules)) => {
            rules.check(&sources.iter().map(|array| &*array.name).collect::<Vec<_>>())?;
            cut(form, rules, spec.as_ref(), sources)
        }
    }
}

fn spec(request: &Request) -> Result<Option<Spec>, Error> {
    let Some(text) = &request.layout else { return Ok(None) };
    if request.asked_form() == Form::Dcp {
        return Err(Error::usage("torch's distributed checkpoint holds row-major boxes alone"));
    }
    let spec = Spec::parse(text).map_err(|error| Error::new(error.kind(), error.to_string()))?;
    Ok(Some(spec))
}

/// Whole tensors, one after another, in files of a bounded length.
fn whole(request: &Request, spec: Option<&Spec>, sources: &[Array]) -> Result<Output, Error> {
    let most = request.shard_size.unwrap_or(u64::MAX);
    let (mut locals, mut arrays, mut file, mut held) = (Vec::new(), Vec::new(), 0, 0u64);
    for (number, source) in sources.iter().enumerate() {
        let mut array = bare(source);
        let mut local = local(&mut array, number, 0, &source.extents, spec)?;
        if held > 0 && held.saturating_add(local.entry.bytes) > most {
            (file, held) = (file + 1, 0);
        }
        held = held.saturating_add(local.entry.bytes);
        local.file = file;
        let (zeros, extents) = (vec![0; source.extents.len()], source.extents.clone());
        array.pieces.push(Piece { source: 0, start: zeros.clone(), extents, local: zeros });
        locals.push(local);
        arrays.push(array);
    }
    let count = file + 1;
    let name = |file: usize| match count {
        1 => "model.safetensors".to_owned(),
        _ => format!("model-{:05}-of-{count:05}.safetensors", file + 1),
    };
    let total: u64 = locals.iter().map(|local| local.entry.bytes).sum();
    let map: BTreeMap<&str, String> =
        locals.iter().map(|local| (&*local.entry.name, name(local.file))).collect();
    let text = json!({"metadata": {"total_size": total}, "weight_map": map}).to_string();
    let index = (count > 1).then(|| ("model.safetensors.index.json".to_owned(), text));
    let files = (0..count).map(name).collect();
    Ok(Output { index, ..placed(files, locals, arrays)? })
}

/// The shards of a mesh: a file for each position, or each box once.
fn cut(form: Form, rules: &Rules, spec: Option<&Spec>, sources: &[Array]) -> Result<Output, Error> {
    let count = usize::try_from(rules.count()?).map_err(|_| Error::usage("too large a mesh"))?;
    let (mut locals, mut arrays, mut files) = (Vec::new(), Vec::new(), count);
    for (number, source) in sources.iter().enumerate() {
        let sharded = rules.sharded(&source.name, &source.extents, Some(source.dtype))?;
        let pieces = Pieces { extents: source.extents.clone(), ..Pieces::of(&sharded)? };
        pieces.cover(&source.name)?;
        let mut array = bare(source);
        if form == Form::Ranks {
            for (position, shard) in sharded.shards().enumerate() {
                locals.push(local(&mut array, number, position, shard.stored(), spec)?);
            }
            array.pieces = pieces.pieces;
        } else if source.extents.contains(&0) {
            // No box has elements; one says the extents.
            let mut local = local(&mut array, number, 0, &source.extents, None)?;
            local.start = Some(vec![0; source.extents.len()]);
            locals.push(local);
        } else {
            for (file, piece) in once(pieces.pieces, count) {
                let mut local = local(&mut array, number, file, &piece.extents, None)?;
                local.start = Some(piece.start.clone());
                let (source, zeros) = (local.stored as u64, vec![0; piece.start.len()]);
                array.pieces.push(Piece { source, local: zeros, ..piece });
                files = files.max(file + 1);
                locals.push(local);
            }
        }
        arrays.push(array);
    }
    let name = |file: usize| match form {
        Form::Ranks => format!("rank_{file:05}-of-{count:05}.safetensors"),
        _ => format!("shard-{:05}-model-00001-of-00001.safetensors", file + 1),
    };
    placed((0..files).map(name).collect(), locals, arrays)
}

/// Each box once, with its file. A file names an array once: further boxes of a position go to further files.
fn once(pieces: Vec<Piece>, count: usize) -> Vec<(usize, Piece)> {
    let mut seen = BTreeMap::new();
    for piece in pieces {
        seen.entry((piece.start.clone(), piece.extents.clone())).or_insert(piece);
    }
    let mut held = BTreeMap::<u64, usize>::new();
    let file = |piece: Piece| {
        let before = held.entry(piece.source).or_default();
        *before += 1;
        (piece.source as usize + (*before - 1) * count, piece)
    };
    seen.into_values().map(file).collect()
}

/// The same array without pieces.
fn bare(source: &Array) -> Array {
    Array { stored: Vec::new(), pieces: Vec::new(), ..source.clone() }
}

/// Adds a local array of these extents.
fn local(
    array: &mut Array,
    number: usize,
    file: usize,
    extents: &[u64],
    spec: Option<&Spec>,
) -> Result<Local, Error> {
    let about = |error: Error| error.about(&format!("tensor {:?}", array.name));
    let (layout, shape, spec) = laid(array, extents, spec).map_err(about)?;
    let bytes = layout.capacity().checked_mul(u64::from(array.bits / 8));
    let bytes = bytes.ok_or_else(|| about(Error::new("overflow", "more than 63 bits of bytes")))?;
    let (name, file_dtype) = (array.name.clone(), array.file_dtype.clone());
    let stored = array.stored.len();
    array.stored.push(Stored { file, at: 0, layout });
    let entry = Entry { name, file_dtype, shape, bytes, spec };
    Ok(Local { array: number, stored, file, entry, bits: array.bits, start: None })
}

/// The layout of a local array, its stored shape, and the SPEC that says it where it is not row-major.
fn laid(
    array: &Array,
    extents: &[u64],
    spec: Option<&Spec>,
) -> Result<(TensorLayout, Vec<u64>, Option<String>), Error> {
    let plain = TensorLayout::row_major(extents)?;
    let spec = spec.filter(|spec| spec.fits(extents.len()) && !extents.contains(&0));
    let Some(spec) = spec else { return Ok((plain, extents.to_vec(), None)) };
    let named = spec.resolve(Some(extents), Some(array.dtype));
    let named = named.map_err(|error| Error::new(error.kind(), error.to_string()))?;
    let is_same = named.dtype() == Some(array.dtype) && named.element_bits() == Some(array.bits);
    if !is_same || named.byte_order().is_some_and(|order| order.is_big()) {
        let said = format!("{} has other elements than {}", named.to_spec(), array.dtype);
        return Err(Error::new("unsupported", said));
    }
    if named.stored_as().is_some() || !matches!(named.fill(), Fill::Unspecified | Fill::Zero) {
        let said = format!(
            "{}: shards are stored as their elements, and padding holds zeros",
            named.to_spec()
        );
        return Err(Error::new("unsupported", said));
    }
    if *named.layout() == plain {
        return Ok((plain, extents.to_vec(), None));
    }
    Ok((named.layout().clone(), named.storage_shape(), Some(named.to_spec())))
}

/// Gives every local array its place: in each file the widest elements first, then by name.
fn placed(names: Vec<String>, locals: Vec<Local>, mut arrays: Vec<Array>) -> Result<Output, Error> {
    let mut held: Vec<Vec<Local>> = names.iter().map(|_| Vec::new()).collect();
    for local in locals {
        if let Some(file) = held.get_mut(local.file) {
            file.push(local);
        }
    }
    let mut files = Vec::new();
    for (name, mut locals) in names.into_iter().zip(held) {
        locals.sort_by(|a, b| (b.bits, &a.entry.name).cmp(&(a.bits, &b.entry.name)));
        let entries: Vec<Entry> = locals.iter().map(|local| local.entry.clone()).collect();
        let (head, places, bytes) = header(&entries, &metadata(&locals))?;
        for (local, place) in locals.iter().zip(places) {
            let array = arrays.get_mut(local.array);
            if let Some(stored) = array.and_then(|array| array.stored.get_mut(local.stored)) {
                (stored.file, stored.at) = (local.file, place);
            }
        }
        files.push(File { name, head, bytes });
    }
    Ok(Output { files, arrays, index: None })
}

/// What a file says beside its tensors: where its boxes begin, if they are boxes.
fn metadata(locals: &[Local]) -> Vec<(String, String)> {
    let of = |local: &Local| {
        let start = local.start.as_ref()?;
        Some((local.entry.name.clone(), json!({ "saved_offsets": start })))
    };
    let places: serde_json::Map<_, _> = locals.iter().filter_map(of).collect();
    if places.is_empty() {
        return Vec::new();
    }
    let text = serde_json::Value::from(places).to_string();
    vec![("DCP_VERSION".into(), "1.0".into()), (PLACES.into(), text)]
}
