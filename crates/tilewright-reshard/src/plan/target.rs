//! Decides what is written: every output file with its header, and the pieces of every array in them. It needs no data.
//! A job makes its tasks from it, and the commit its files.
//!
//! The layout of a local array is the requested SPEC, if it fits, or row-major. The format of the files is safetensors, with the
//! data at a multiple of 4 KiB, or another format that plans its own files.

use std::{
    collections::{BTreeMap, HashMap},
    ops::Range,
    path::{Path, PathBuf},
    sync::Arc,
};

use serde_json::json;
use tilewright_core::{Fill, TensorLayout};
use tilewright_files::{
    Fingerprint, Input, has_ending,
    inner::{
        DATA_KEY, LAYOUT_KEY, Models, PlannedFile, PlannedTensor, ShardLayout, planned,
        safetensors_header,
    },
};
use tilewright_notation::{ResolvedLayout, Spec};
use tilewright_sharded::Piece;

use crate::{
    Error, Form, Request, Rules,
    plan::array::{Laid, LocalArrays, LocalOffsets, ReshardedArray, StoredArray, shared},
    request::SAFETENSORS,
    run::moves::is_summed,
    source::{
        beside::{EXTENTS, Metadata},
        identity::opened,
        lists::{PLACES, RULES},
    },
};

/// A file that is written.
#[derive(Clone, Debug)]
pub(crate) struct File {
    pub(crate) name: String,
    pub(crate) bytes: u64,
    /// The number of its content.
    content: usize,
}

/// The content of files that differ only in their elements: arrays, each with one of its local arrays.
#[derive(Clone, Debug, Default)]
struct Content {
    locals: Vec<(usize, usize)>,
    /// True if the offsets of these arrays ascend.
    ascends: bool,
}

impl Content {
    fn of(locals: Vec<(usize, usize)>) -> Content {
        Content { locals, ascends: false }
    }
}

/// The files, and the arrays in them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Output {
    pub(crate) files: Vec<File>,
    pub(crate) arrays: Vec<ReshardedArray>,
    pub(crate) places: LocalOffsets,
    /// The index of the files: its name and text.
    pub(crate) index: Option<(String, String)>,
    /// Notes about the metadata of files, each once, as sentences without a full stop.
    pub(crate) notes: Vec<String>,
    contents: Vec<Content>,
    /// The format of the files.
    format: Arc<ResultFormat>,
    /// True if files state the offsets of their boxes.
    boxes: bool,
    /// The metadata of every file that is not about a tensor.
    metadata: Metadata,
    /// True if files contain whole arrays.
    wholes: bool,
}

/// Decides every file of a result.
///
/// Each file has the metadata `metadata`. `source` is the first file of the source, if it exists.
pub(crate) fn output(
    request: &Request,
    sources: &[ReshardedArray],
    metadata: &Metadata,
    source: Option<&Path>,
) -> Result<Output, Error> {
    let (form, spec, metadata) = (request.asked_form(), spec(request)?, metadata.clone());
    let format = Arc::new(ResultFormat::of(request, source)?);
    format.check(sources)?;
    match (form, request.shard_size) {
        (_, Some(0)) => {
            return Err(Error::usage("the maximum size of a file is 0 bytes; give at least 1"));
        }
        (Form::Dcp | Form::Ranks, Some(_)) => {
            let said = "only files of whole tensors have a maximum size: a mesh has one file for each position";
            return Err(Error::usage(said));
        }
        _ => {}
    }
    match (form, &request.to) {
        (Form::Hf, Some(_)) => Err(Error::usage("whole tensors are not sharded over a mesh")),
        (Form::Hf, None) => whole(request, spec.as_ref(), sources, (format, metadata)),
        (_, None) => {
            let form = form.name();
            Err(Error::usage(format!("the form {form} needs a mesh, and rules that shard over it")))
        }
        (_, Some(rules)) => {
            rules.check(&sources.iter().map(|array| &*array.name).collect::<Vec<_>>())?;
            cut(form, rules, spec.as_ref(), sources, (format, metadata))
        }
    }
}

/// Plans whole tensors, one after another, in files of a bounded length.
fn whole(
    request: &Request,
    spec: Option<&Spec>,
    sources: &[ReshardedArray],
    (format, metadata): (Arc<ResultFormat>, Metadata),
) -> Result<Output, Error> {
    let most = request.shard_size.unwrap_or(u64::MAX);
    let (mut arrays, mut files, mut filled, mut total) = (Vec::new(), vec![Vec::new()], 0u64, 0u64);
    let (mut alike, mut same) = (HashMap::new(), HashMap::new());
    for (number, source) in sources.iter().enumerate() {
        let key = (&source.file_dtype, source.dtype, (&source.extents, &source.packed));
        let laid = shared(&mut alike, key, || laid(source, &source.extents, spec))?;
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
            let stored = vec![StoredArray { file, laid: laid.clone() }];
            let pieces = vec![Piece { source: 0, start, extents, local }];
            Ok(Arc::new(LocalArrays { stored, pieces, copies: Vec::new() }))
        };
        let held = shared(&mut same, (Arc::as_ptr(&laid), file), made)?;
        arrays.push(ReshardedArray { held, ..source.clone() });
        if let Some(file) = files.last_mut() {
            file.push((number, 0));
        }
    }
    let count = files.len();
    let name = |file: usize| match count {
        1 => request.file_name().unwrap_or_else(|| format!("model.{}", format.ending)),
        _ => format!("model-{:05}-of-{count:05}.safetensors", file + 1),
    };
    let file = |array: &ReshardedArray| array.held.stored.first().map_or(0, |stored| stored.file);
    let map: BTreeMap<&str, String> =
        arrays.iter().map(|array| (&*array.name, name(file(array)))).collect();
    let text = json!({"metadata": {"total_size": total}, "weight_map": map}).to_string();
    let index = (count > 1).then(|| ("model.safetensors.index.json".to_owned(), text));
    let contents = files.into_iter().enumerate();
    let contents = contents.map(|(file, locals)| (vec![file], Content::of(locals))).collect();
    let names = (0..count).map(name).collect();
    Ok(Output { index, ..placed(names, contents, arrays, (false, format.clone(), metadata))? })
}

/// Plans the shards of a mesh: a file for each position, or each box once.
fn cut(
    form: Form,
    rules: &Rules,
    spec: Option<&Spec>,
    sources: &[ReshardedArray],
    (format, mut metadata): (Arc<ResultFormat>, Metadata),
) -> Result<Output, Error> {
    let count = usize::try_from(rules.count()?).map_err(|_| Error::usage("too large a mesh"))?;
    let matcher = rules.matcher()?;
    let (mut alike, mut arrays) = (HashMap::<_, Arc<LocalArrays>>::new(), Vec::new());
    for source in sources {
        let extents = (&source.extents, &source.packed);
        let key = (matcher.of(&source.name), &source.file_dtype, source.dtype, extents);
        let made = || match form {
            Form::Ranks => positions(source, rules, spec).map(Arc::new),
            _ => boxes(source, rules, count).map(Arc::new),
        };
        let held = shared(&mut alike, key, made)?;
        arrays.push(ReshardedArray { held, ..source.clone() });
    }
    if form == Form::Ranks {
        metadata.insert(RULES.to_owned(), rules.record(sources)?);
        let distinct: Vec<Arc<LocalArrays>> = alike.into_values().collect();
        let contents = of_positions(count, &distinct, arrays.len());
        let name = |file: usize| format!("rank_{file:05}-of-{count:05}.{}", format.ending);
        let names = (0..count).map(name).collect();
        return placed(names, contents, arrays, (false, format.clone(), metadata));
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
    let contents = contents.map(|(file, locals)| (vec![file], Content::of(locals))).collect();
    placed(names, contents, arrays, (true, format, metadata))
}

/// Groups the positions whose files differ only in their elements.
fn of_positions(
    count: usize,
    distinct: &[Arc<LocalArrays>],
    arrays: usize,
) -> Vec<(Vec<usize>, Content)> {
    let mut alike = BTreeMap::<Vec<usize>, Vec<usize>>::new();
    for position in 0..count {
        let laid = |held: &Arc<LocalArrays>| {
            held.stored.get(position).map_or(0, |stored| Arc::as_ptr(&stored.laid) as usize)
        };
        alike.entry(distinct.iter().map(laid).collect()).or_default().push(position);
    }
    let content = |positions: Vec<usize>| {
        let nth = positions.first().copied().unwrap_or(0);
        (positions, Content::of((0..arrays).map(|array| (array, nth)).collect()))
    };
    alike.into_values().map(content).collect()
}

/// Returns the pieces of an array at the positions of a mesh.
fn positions(
    source: &ReshardedArray,
    rules: &Rules,
    spec: Option<&Spec>,
) -> Result<LocalArrays, Error> {
    let placed = rules.of_array(source)?;
    placed.check(&source.name, &source.extents)?;
    let (mut stored, mut alike) = (Vec::new(), HashMap::<&[u64], Arc<Laid>>::new());
    for (file, extents) in placed.stored.iter().enumerate() {
        let laid = shared(&mut alike, extents.as_slice(), || laid(source, extents, spec))?;
        stored.push(StoredArray { file, laid });
    }
    let mut held = LocalArrays { stored, pieces: placed.pieces, copies: Vec::new() };
    held.order();
    Ok(held)
}

/// Returns the pieces of an array in files that hold each box once.
fn boxes(source: &ReshardedArray, rules: &Rules, count: usize) -> Result<LocalArrays, Error> {
    let placed = rules.of_array(source)?;
    placed.check(&source.name, &source.extents)?;
    let mut held = LocalArrays::default();
    if source.extents.contains(&0) {
        // No box of an array without elements exists; one local array states the extents.
        let laid = laid(source, &source.extents, None)?;
        held.stored.push(StoredArray { file: 0, laid });
        return Ok(held);
    }
    for (file, piece) in once(placed.pieces, count) {
        let laid = laid(source, &piece.extents, None)?;
        let (source, local) = (held.stored.len() as u64, vec![0; piece.start.len()]);
        held.stored.push(StoredArray { file, laid });
        held.pieces.push(Piece { source, local, ..piece });
    }
    Ok(held)
}

/// Returns each box once, with its file. A file names an array once: further boxes of a position go to further files.
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

/// Assigns an offset to every local array: in each file the widest elements first, then by name. Each content has its
/// files.
fn placed(
    names: Vec<String>,
    contents: Vec<(Vec<usize>, Content)>,
    arrays: Vec<ReshardedArray>,
    (boxes, format, metadata): (bool, Arc<ResultFormat>, Metadata),
) -> Result<Output, Error> {
    let wholes = arrays.iter().all(|array| array.held.stored.len() == 1) && !boxes;
    let mut output = Output { arrays, boxes, format, metadata, wholes, ..Output::default() };
    let mut of = vec![(0, 0, Vec::new()); names.len()];
    for (number, (files, mut content)) in contents.into_iter().enumerate() {
        let order = |(array, _): &(usize, usize)| {
            let array = output.arrays.get(*array);
            array.map(|array| (std::cmp::Reverse(array.bits), array.name.clone()))
        };
        if output.format.is_sorted() {
            content.locals.sort_by_cached_key(order);
        }
        let PlannedFile { places, bytes, notes, .. } =
            output.header(&content, &|_| Some(Fingerprint::default()))?;
        let new: Vec<_> = notes.into_iter().filter(|note| !output.notes.contains(note)).collect();
        output.notes.extend(new);
        content.ascends = places.is_sorted();
        let mut places: Vec<(usize, u64)> =
            content.locals.iter().map(|(array, _)| *array).zip(places).collect();
        for file in files {
            if let Some(of) = of.get_mut(file) {
                // The first file of a content has its offsets, and the others copy them.
                *of = (number, bytes, std::mem::take(&mut places));
            }
        }
        output.contents.push(content);
    }
    for (file, (name, (content, bytes, places))) in names.into_iter().zip(of).enumerate() {
        output.files.push(File { name, bytes, content });
        let alike = output.files.iter().position(|file| file.content == content);
        match alike.filter(|first| *first < file) {
            Some(first) => output.places.again(first),
            None => output.places.push(places)?,
        }
    }
    Ok(output)
}

/// Bytes of a file that belong to no tensor, with their positions.
pub(crate) type Patches = Vec<(u64, Vec<u8>)>;

/// A callback that takes the bytes of a file that belong to no tensor, with their positions.
type Each<'e> = &'e mut dyn FnMut(&File, &[(u64, Vec<u8>)]) -> Result<(), Error>;

impl Output {
    /// Returns whether the fingerprint of an array is recorded, with its layout, as in converted files.
    pub(crate) fn records(&self, array: usize) -> bool {
        let of = self.arrays.get(array).filter(|_| self.wholes);
        let noted = of.and_then(|array| Some((array, array.held.stored.first()?)));
        noted.is_some_and(|(array, stored)| {
            stored.laid.spec.is_some() && is_summed(array.dtype, array.bits)
        })
    }

    /// Returns the number of the content of a file.
    pub(crate) fn content_of(&self, file: usize) -> usize {
        self.files.get(file).map_or(usize::MAX, |file| file.content)
    }

    /// Returns the arrays in a range of a file; all arrays of the file if their offsets do not ascend.
    pub(crate) fn locals_in(&self, file: usize, range: &Range<u64>) -> &[(usize, usize)] {
        let Some(content) = self.contents.get(self.content_of(file)) else { return &[] };
        if !content.ascends {
            return &content.locals;
        }
        let begin = |array: usize| self.places.at(file, array).unwrap_or(u64::MAX);
        let end = |&(array, nth): &(usize, usize)| {
            let stored = self.arrays.get(array).and_then(|of| of.held.stored.get(nth));
            let bytes = stored.and_then(|stored| stored.laid.bytes()).unwrap_or(0);
            begin(array).saturating_add(bytes)
        };
        let first = content.locals.partition_point(|local| end(local) <= range.start);
        let (_, rest) = content.locals.split_at(first);
        rest.split_at(rest.partition_point(|(array, _)| begin(*array) < range.end)).0
    }

    /// Returns the bytes that belong to no tensor of the files with each content.
    pub(crate) fn patches(
        &self,
        data: &dyn Fn(usize) -> Option<Fingerprint>,
    ) -> Result<Vec<Patches>, Error> {
        let all = self.contents.iter().map(|content| Ok(self.header(content, data)?.patches));
        all.collect()
    }

    /// Calls `each` with the bytes of every file that belong to no tensor; files with equal content are consecutive.
    ///
    /// `data` returns the fingerprint to record for an array; the length of a header does not depend on its value.
    pub(crate) fn heads(
        &self,
        data: &dyn Fn(usize) -> Option<Fingerprint>,
        each: Each<'_>,
    ) -> Result<(), Error> {
        for (number, content) in self.contents.iter().enumerate() {
            let planned = self.header(content, data)?;
            let mut files = self.files.iter().filter(|file| file.content == number);
            files.try_for_each(|file| each(file, &planned.patches))?;
        }
        Ok(())
    }

    /// Returns the bytes of a file that belong to no tensor, the offset of each local array, and the length of the file.
    fn header(
        &self,
        content: &Content,
        data: &dyn Fn(usize) -> Option<Fingerprint>,
    ) -> Result<PlannedFile, Error> {
        let local = |(array, nth): &(usize, usize)| {
            let of = self.arrays.get(*array)?;
            Some((of, of.held.stored.get(*nth)?, *nth))
        };
        let locals = || content.locals.iter().filter_map(local);
        let entries: Vec<HeaderEntry<'_>> = (content.locals.iter().zip(locals()))
            .map(|((number, _), (array, stored, _))| HeaderEntry {
                data: self.records(*number).then(|| data(*number).unwrap_or_default()),
                name: &array.name,
                laid: &stored.laid,
            })
            .collect();
        let begin = |(array, _, nth): (&ReshardedArray, &StoredArray, usize)| {
            let piece = array.held.pieces.iter().find(|piece| piece.source == nth as u64);
            let piece = piece.filter(|_| array.packed.is_none());
            let zeros = || vec![0; array.shape().len()];
            let start = piece.map_or_else(zeros, |piece| piece.start.clone());
            (array.name.to_string(), json!({ "saved_offsets": start }))
        };
        let places: serde_json::Map<_, _> = locals().filter(|_| self.boxes).map(begin).collect();
        let mut metadata: Vec<(String, String)> = self.metadata.clone().into_iter().collect();
        // For tensors that are split, a file states the extents of the whole.
        let is_part = |array: &ReshardedArray| {
            array.held.stored.iter().any(|it| it.laid.dims() != array.extents)
        };
        let parts = locals().map(|(array, ..)| array).filter(|array| is_part(array));
        let wholes: BTreeMap<&str, &[u64]> =
            parts.map(|array| (&*array.name, array.shape())).collect();
        if !wholes.is_empty() {
            metadata.push((EXTENTS.into(), json!(wholes).to_string()));
        }
        if !places.is_empty() {
            let text = serde_json::Value::from(places).to_string();
            metadata.extend([("DCP_VERSION".into(), "1.0".into()), (PLACES.into(), text)]);
        }
        self.format.header(&entries, metadata)
    }
}

/// Returns the layout that is requested for all shards.
pub(crate) fn spec(request: &Request) -> Result<Option<Spec>, Error> {
    let Some(text) = &request.layout else { return Ok(None) };
    if request.asked_form() == Form::Dcp {
        return Err(Error::usage("torch's distributed checkpoint holds only row-major boxes"));
    }
    let spec = Spec::parse(text).map_err(Error::without_span)?;
    Ok(Some(spec))
}

impl Laid {
    /// Returns the layout of the elements in the terms of files.
    pub(crate) fn in_files(&self) -> Result<ShardLayout, Error> {
        let (dtype, bits) = (self.dtype, self.own_bits());
        if self.big {
            let said = "shards with big-endian elements are not compared; reshard them to whole tensors first";
            return Err(Error::new("unsupported", said));
        }
        let named = match &self.spec {
            Some(text) => {
                let spec =
                    Spec::parse(text).and_then(|it| it.resolve(Some(self.dims()), Some(dtype)));
                spec.map_err(Error::without_span)?
            }
            None => {
                let plain = TensorLayout::row_major(&self.shape)?;
                ResolvedLayout::new("row-major", plain, Some(dtype), None, Fill::Unspecified)
            }
        };
        Ok(ShardLayout { named, dtype, bits })
    }
}

/// Makes a local array of these extents.
pub(crate) fn laid(
    array: &ReshardedArray,
    extents: &[u64],
    spec: Option<&Spec>,
) -> Result<Arc<Laid>, Error> {
    let about = |error: Error| error.about(&format!("tensor {:?}", array.name));
    let plain = |shape: &Vec<u64>| {
        let own = array.unit().map_or_else(|| shape.clone(), |unit| unit.in_elements(extents));
        Ok((TensorLayout::row_major(extents)?, own, None))
    };
    let laid = array.packed.as_ref().map_or_else(|| layout(array, extents, spec), plain);
    let (layout, shape, spec) = laid.map_err(about)?;
    let (file_dtype, dtype, bits) = (array.file_dtype.clone(), array.dtype, array.bits);
    let packed = array.packed.is_some();
    let laid = Laid { file_dtype, dtype, bits, layout, shape, spec, packed, big: false };
    match laid.bytes() {
        Some(_) => Ok(Arc::new(laid)),
        None => Err(about(Error::new("overflow", "it exceeds 2^63 - 1 bytes"))),
    }
}

/// Returns the layout of a local array, its stored shape, and its SPEC if it is not row-major.
fn layout(
    array: &ReshardedArray,
    extents: &[u64],
    spec: Option<&Spec>,
) -> Result<(TensorLayout, Vec<u64>, Option<String>), Error> {
    let plain = TensorLayout::row_major(extents)?;
    let spec = spec.filter(|spec| spec.fits(extents.len()) && !extents.contains(&0));
    let Some(spec) = spec else { return Ok((plain, extents.to_vec(), None)) };
    let named = spec.resolve(Some(extents), Some(array.dtype));
    let named = named.map_err(Error::without_span)?;
    let is_same = named.dtype() == Some(array.dtype) && named.element_bits() == Some(array.bits);
    if !is_same || named.byte_order().is_some_and(|order| order.is_big()) {
        let said = format!("{} has a different element type from {}", named.to_spec(), array.dtype);
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

/// The offset of the data is a multiple of this.
const PAGE: usize = 4096;

/// A tensor of an output file.
#[derive(Clone, Debug)]
pub(crate) struct HeaderEntry<'a> {
    pub(crate) name: &'a str,
    pub(crate) laid: &'a Laid,
    /// The fingerprint of the data, if it is recorded.
    pub(crate) data: Option<Fingerprint>,
}

/// The formats of files in a folder.
pub(crate) const FORMATS: [&str; 2] = [SAFETENSORS, "gguf"];

/// The format of the files of a result.
#[derive(Debug, Default)]
pub(crate) struct ResultFormat {
    /// The ending of their names.
    pub(crate) ending: String,
    /// A file of the result, for messages.
    path: PathBuf,
    /// The file whose metadata the request takes.
    given: Option<Input>,
    /// The first file of the source.
    source: Option<Input>,
    /// True if metadata are not compared with the tensors: files hold parts of them, or the request trusts the metadata.
    trusted: bool,
}

impl ResultFormat {
    /// Returns the format that a request asks for.
    pub(crate) fn of(request: &Request, source: Option<&Path>) -> Result<ResultFormat, Error> {
        let ending = request.ending();
        check(request, &ending)?;
        if ending == SAFETENSORS {
            return Ok(ResultFormat { ending, ..ResultFormat::default() });
        }
        let given = request.metadata.first().map(|path| opened(path)).transpose()?;
        let source = source.filter(|_| given.is_none()).map(opened).transpose()?;
        let path = match request.is_file {
            true => request.output.clone(),
            false => request.output.join(format!("model.{ending}")),
        };
        let trusted = request.to.is_some() || request.trusts_metadata;
        Ok(ResultFormat { ending, path, given, source, trusted })
    }

    /// Returns whether files have the widest elements first, so that all are aligned; another format aligns them itself.
    fn is_sorted(&self) -> bool {
        self.ending == SAFETENSORS
    }

    /// Returns an error for elements that the format cannot name.
    pub(crate) fn check(&self, arrays: &[ReshardedArray]) -> Result<(), Error> {
        if self.ending != SAFETENSORS {
            return Ok(());
        }
        let is_named = |array: &&ReshardedArray| {
            let own = array.dtype.safetensors_name();
            own.is_some_and(|own| own == array.file_dtype)
        };
        let Some(array) = arrays.iter().find(|array| !is_named(array)) else { return Ok(()) };
        let (name, dtype) = (&array.name, array.dtype.name());
        let said = match array.dtype.block() {
            Some(_) => {
                format!("its elements are blocks of {dtype}, which safetensors does not store")
            }
            None => format!(
                "its elements are {dtype}, which safetensors cannot name; only a note records them"
            ),
        };
        let out = "write GGUF: end the name of the result with .gguf, or choose the format gguf for a folder";
        Err(Error::new("unsupported", format!("tensor {name:?}: {said}; {out}")))
    }

    /// Plans a file of these tensors.
    pub(crate) fn header(
        &self,
        entries: &[HeaderEntry<'_>],
        metadata: Vec<(String, String)>,
    ) -> Result<PlannedFile, Error> {
        if self.ending == SAFETENSORS || self.ending.is_empty() {
            return safetensors(entries, metadata);
        }
        let tensor = |entry: &HeaderEntry<'_>| {
            let (name, layout, data) = (entry.name.to_owned(), entry.laid.in_files()?, entry.data);
            Ok::<_, Error>(PlannedTensor { name, layout, data })
        };
        let tensors = entries.iter().map(tensor).collect::<Result<Vec<_>, _>>()?;
        let (given, source) = (self.given.as_ref(), self.source.as_ref());
        let models = Models { given, source, trusted: self.trusted };
        planned(&self.path, &tensors, &metadata, models).map_err(Error::of_request)
    }
}

/// Plans a safetensors file, whose metadata have the layouts and fingerprints of tensors, as in converted files.
fn safetensors(
    entries: &[HeaderEntry<'_>],
    metadata: Vec<(String, String)>,
) -> Result<PlannedFile, Error> {
    let mut metadata: BTreeMap<_, _> = metadata.into_iter().collect();
    metadata.entry("format".into()).or_insert("pt".into());
    for HeaderEntry { name, laid, data } in entries {
        let data = data.map(|data| (format!("{DATA_KEY}{name}"), data.to_string()));
        let spec = laid.spec.clone().map(|spec| (format!("{LAYOUT_KEY}{name}"), spec));
        metadata.extend(spec.into_iter().chain(data));
    }
    let tensors = entries.iter().map(|HeaderEntry { name, laid, .. }| {
        (*name, &laid.file_dtype, &laid.shape[..], laid.bytes().unwrap_or(u64::MAX))
    });
    let header = safetensors_header(tensors, Some(&metadata), PAGE)?;
    let mut head = (header.text.len() as u64).to_le_bytes().to_vec();
    head.extend_from_slice(header.text.as_bytes());
    let (patches, places, bytes) = (vec![(0, head)], header.places, header.bytes);
    Ok(PlannedFile { patches, places, bytes, notes: Vec::new() })
}

/// Returns an error for a format that does not fit the form of a result.
fn check(request: &Request, ending: &str) -> Result<(), Error> {
    let (form, out) = (request.asked_form(), request.output.display());
    if let Some(format) = request.format.as_ref().filter(|format| !FORMATS.contains(&&***format)) {
        let known = FORMATS.join(" or ");
        return Err(Error::usage(format!("files of shards have the format {known}, not {format}")));
    }
    if request.is_file && request.format.is_some() {
        let said = "is a file, and the ending of its name gives its format; do not choose another";
        return Err(Error::usage(format!("{out} {said}")));
    }
    if has_ending(&request.output) && !request.is_file {
        let said = "is the name of a file, and shards are files in a folder; name a folder, and choose the format of its files";
        return Err(Error::usage(format!("{out} {said}")));
    }
    if request.is_file && request.shard_size.is_some() {
        return Err(Error::usage(format!(
            "{out} is one file, and a maximum size splits results into several; name a folder"
        )));
    }
    let is_other = ending != SAFETENSORS;
    if is_other && form == Form::Dcp {
        return Err(Error::usage(format!(
            "files of torch's distributed checkpoint are safetensors, not {ending}"
        )));
    }
    if is_other && request.shard_size.is_some() {
        return Err(Error::usage(format!(
            "{ending} files of a bounded size are not written; write one file"
        )));
    }
    if !is_other && (request.trusts_metadata || !request.metadata.is_empty()) {
        return Err(Error::usage(
            "safetensors keep the metadata of the source; options about metadata are for GGUF",
        ));
    }
    Ok(())
}
