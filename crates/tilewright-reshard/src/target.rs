//! What is written: every output file with its header, and the pieces of every array in them. No data are needed for it.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use serde_json::json;
use tilewright_core::{Fill, TensorLayout};
use tilewright_notation::Spec;
use tilewright_sharded::{Piece, Pieces};

use crate::{
    Error, Form, Request, Rules,
    array::{Array, Held, Laid, Stored},
    beside::Metadata,
    content::{Content, Output, placed},
};

/// Decides every file of a result.
///
/// Each says `metadata`.
pub(crate) fn output(
    request: &Request,
    sources: &[Array],
    metadata: &Metadata,
) -> Result<Output, Error> {
    let (form, spec, metadata) = (request.asked_form(), spec(request)?, metadata.clone());
    match (form, request.shard_size) {
        (_, Some(0)) => {
            return Err(Error::usage("the most bytes of a file are 0; at least 1 is legal"));
        }
        (Form::Dcp | Form::Ranks, Some(_)) => {
            let said = "only files of whole tensors have a most of bytes: those of a mesh are its positions";
            return Err(Error::usage(said));
        }
        _ => {}
    }
    match (form, &request.to) {
        (Form::Hf, Some(_)) => Err(Error::usage("whole tensors are cut over no mesh")),
        (Form::Hf, None) => whole(request, spec.as_ref(), sources, metadata),
        (_, None) => {
            let form = form.name();
            Err(Error::usage(format!("the form {form} takes a mesh, and rules that cut over it")))
        }
        (_, Some(rules)) => {
            rules.check(&sources.iter().map(|array| &*array.name).collect::<Vec<_>>())?;
            cut(form, rules, spec.as_ref(), sources, metadata)
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
fn whole(
    request: &Request,
    spec: Option<&Spec>,
    sources: &[Array],
    metadata: Metadata,
) -> Result<Output, Error> {
    let most = request.shard_size.unwrap_or(u64::MAX);
    let (mut arrays, mut files, mut filled, mut total) = (Vec::new(), vec![Vec::new()], 0u64, 0u64);
    let (mut alike, mut shared) = (HashMap::new(), HashMap::new());
    for (number, source) in sources.iter().enumerate() {
        let key = (&source.file_dtype, source.dtype, &source.extents);
        let laid = match alike.get(&key) {
            Some(laid) => Arc::clone(laid),
            None => {
                alike.entry(key).insert_entry(laid(source, &source.extents, spec)?).get().clone()
            }
        };
        let bytes = laid.bytes().unwrap_or(u64::MAX);
        if filled > 0 && filled.saturating_add(bytes) > most {
            files.push(Vec::new());
            filled = 0;
        }
        (filled, total) = (filled.saturating_add(bytes), total.saturating_add(bytes));
        let file = files.len() - 1;
        let made = || {
            let zeros = vec![0; source.extents.len()];
            let (start, local, extents) = (zeros.clone(), zeros, source.extents.clone());
            let stored = vec![Stored { file, laid: laid.clone() }];
            Arc::new(Held { stored, pieces: vec![Piece { source: 0, start, extents, local }] })
        };
        let held = shared.entry((Arc::as_ptr(&laid), file)).or_insert_with(made).clone();
        arrays.push(Array { held, ..source.clone() });
        if let Some(file) = files.last_mut() {
            file.push((number, 0));
        }
    }
    let count = files.len();
    let name = |file: usize| match count {
        1 => "model.safetensors".to_owned(),
        _ => format!("model-{:05}-of-{count:05}.safetensors", file + 1),
    };
    let file = |array: &Array| array.held.stored.first().map_or(0, |stored| stored.file);
    let map: BTreeMap<&str, String> =
        arrays.iter().map(|array| (&*array.name, name(file(array)))).collect();
    let text = json!({"metadata": {"total_size": total}, "weight_map": map}).to_string();
    let index = (count > 1).then(|| ("model.safetensors.index.json".to_owned(), text));
    let contents = files.into_iter().enumerate();
    let contents = contents.map(|(file, locals)| (vec![file], Content { locals })).collect();
    let names = (0..count).map(name).collect();
    let mut output = placed(names, contents, arrays, (false, metadata))?;
    output.index = index;
    Ok(output)
}

/// The shards of a mesh: a file for each position, or each box once.
fn cut(
    form: Form,
    rules: &Rules,
    spec: Option<&Spec>,
    sources: &[Array],
    metadata: Metadata,
) -> Result<Output, Error> {
    let count = usize::try_from(rules.count()?).map_err(|_| Error::usage("too large a mesh"))?;
    let matcher = rules.matcher()?;
    let (mut alike, mut arrays) = (HashMap::<_, Arc<Held>>::new(), Vec::new());
    for source in sources {
        let key =
            (matcher.of(&source.name), &source.file_dtype, source.dtype, source.extents.clone());
        let held = match alike.get(&key) {
            Some(held) => held.clone(),
            None => {
                let held = match form {
                    Form::Ranks => positions(source, rules, spec)?,
                    _ => boxes(source, rules, count)?,
                };
                alike.entry(key).insert_entry(Arc::new(held)).get().clone()
            }
        };
        arrays.push(Array { held, ..source.clone() });
    }
    if form == Form::Ranks {
        let distinct: Vec<Arc<Held>> = alike.into_values().collect();
        let contents = of_positions(count, &distinct, arrays.len());
        let name = |file: usize| format!("rank_{file:05}-of-{count:05}.safetensors");
        return placed((0..count).map(name).collect(), contents, arrays, (false, metadata));
    }
    let mut files = vec![Vec::new(); count];
    for (number, array) in arrays.iter().enumerate() {
        for (nth, stored) in array.held.stored.iter().enumerate() {
            files.resize(files.len().max(stored.file + 1), Vec::new());
            if let Some(file) = files.get_mut(stored.file) {
                file.push((number, nth));
            }
        }
    }
    let name = |file: usize| format!("shard-{:05}-model-00001-of-00001.safetensors", file + 1);
    let names = (0..files.len()).map(name).collect();
    let contents = files.into_iter().enumerate();
    let contents = contents.map(|(file, locals)| (vec![file], Content { locals })).collect();
    placed(names, contents, arrays, (true, metadata))
}

/// The positions that hold the same, but for the elements.
fn of_positions(count: usize, distinct: &[Arc<Held>], arrays: usize) -> Vec<(Vec<usize>, Content)> {
    let mut alike = BTreeMap::<Vec<usize>, Vec<usize>>::new();
    for position in 0..count {
        let laid = |held: &Arc<Held>| {
            held.stored.get(position).map_or(0, |stored| Arc::as_ptr(&stored.laid) as usize)
        };
        alike.entry(distinct.iter().map(laid).collect()).or_default().push(position);
    }
    let content = |positions: Vec<usize>| {
        let nth = positions.first().copied().unwrap_or(0);
        let locals = (0..arrays).map(|array| (array, nth)).collect();
        (positions, Content { locals })
    };
    alike.into_values().map(content).collect()
}

/// How the positions of a mesh hold an array.
fn positions(source: &Array, rules: &Rules, spec: Option<&Spec>) -> Result<Held, Error> {
    let sharded = rules.sharded(&source.name, &source.extents, Some(source.dtype))?;
    let pieces = Pieces { extents: source.extents.clone(), ..Pieces::of(&sharded)? };
    pieces.cover(&source.name)?;
    let (mut stored, mut alike) = (Vec::new(), HashMap::<Vec<u64>, Arc<Laid>>::new());
    for (file, shard) in sharded.shards().enumerate() {
        let laid = match alike.get(shard.stored()) {
            Some(laid) => laid.clone(),
            None => {
                let laid = laid(source, shard.stored(), spec)?;
                alike.insert(shard.stored().to_vec(), laid.clone());
                laid
            }
        };
        stored.push(Stored { file, laid });
    }
    let mut held = Held { stored, pieces: pieces.pieces };
    held.order();
    Ok(held)
}

/// How files hold the boxes of an array, each once.
fn boxes(source: &Array, rules: &Rules, count: usize) -> Result<Held, Error> {
    let sharded = rules.sharded(&source.name, &source.extents, Some(source.dtype))?;
    let pieces = Pieces { extents: source.extents.clone(), ..Pieces::of(&sharded)? };
    pieces.cover(&source.name)?;
    let mut held = Held::default();
    if source.extents.contains(&0) {
        // No box has elements; one says the extents.
        let laid = laid(source, &source.extents, None)?;
        held.stored.push(Stored { file: 0, laid });
        return Ok(held);
    }
    for (file, piece) in once(pieces.pieces, count) {
        let laid = laid(source, &piece.extents, None)?;
        let (source, local) = (held.stored.len() as u64, vec![0; piece.start.len()]);
        held.stored.push(Stored { file, laid });
        held.pieces.push(Piece { source, local, ..piece });
    }
    Ok(held)
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

/// A local array of these extents.
fn laid(array: &Array, extents: &[u64], spec: Option<&Spec>) -> Result<Arc<Laid>, Error> {
    let about = |error: Error| error.about(&format!("tensor {:?}", array.name));
    let (layout, shape, spec) = layout(array, extents, spec).map_err(about)?;
    let (file_dtype, dtype, bits) = (array.file_dtype.clone(), array.dtype, array.bits);
    let laid = Laid { file_dtype, dtype, bits, layout, shape, spec };
    match laid.bytes() {
        Some(_) => Ok(Arc::new(laid)),
        None => Err(about(Error::new("overflow", "more than 63 bits of bytes"))),
    }
}

/// The layout of a local array, its stored shape, and the SPEC that says it where it is not row-major.
fn layout(
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
