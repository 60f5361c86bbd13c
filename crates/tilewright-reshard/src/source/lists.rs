//! The tensors that files contain. Files with equal headers share one list, and several threads read headers. All
//! readers of sources use them.

use std::{
    collections::{HashMap, HashSet},
    fs::File,
    io::Read as _,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
};

use serde_json::Value;
use tilewright_core::{Dtype, TensorLayout};
use tilewright_files::{Input, Tensor, inner::is_url};
use tilewright_transfer::{Pieces, cores, together};

use crate::{
    Error,
    plan::array::{Laid, Unit},
    source::{
        beside::{EXTENTS, Metadata, NotedExtents, metadata, noted},
        identity::{Identity, identities, opened},
    },
};

/// The key of metadata under which a file of a distributed checkpoint states the offsets of its tensors in the whole
/// arrays.
pub(crate) const PLACES: &str = "DCP_SHARDING_INFO";

/// The key of metadata under which a file of a mesh records its mesh and its rules.
pub(crate) const RULES: &str = "tilewright.rules";

/// The longest header, in bytes, that is compared with that of the previous file.
const LONGEST: u64 = 256 << 20;

/// The most threads that read headers.
const THREADS: usize = 8;

/// A tensor of one file.
#[derive(Clone, Debug)]
pub(crate) struct ListedTensor {
    pub(crate) name: Arc<str>,
    pub(crate) laid: Arc<Laid>,
    /// Its first byte, and the number of its file among those of the input.
    pub(crate) at: u64,
    pub(crate) file: usize,
    /// The offset in the whole array, if its file states it.
    pub(crate) start: Option<Vec<u64>>,
}

/// Values that the tensors of many files share, stored once.
#[derive(Default)]
pub(crate) struct Common {
    laid: HashMap<(String, Vec<u64>), Vec<Arc<Laid>>>,
    names: HashSet<Arc<str>>,
}

impl Common {
    fn name(&mut self, name: &str) -> Arc<str> {
        let name = self.names.get(name).cloned().unwrap_or_else(|| name.into());
        self.names.insert(name.clone());
        name
    }

    /// Returns the local array of a tensor.
    fn laid(&mut self, tensor: &Tensor) -> Result<Arc<Laid>, Error> {
        let (file_dtype, dims) = (tensor.file_dtype().to_owned(), tensor.dims().to_vec());
        let known = self.laid.entry((file_dtype, dims)).or_default();
        let (layout, dtype) = (tensor.layout().layout(), tensor.dtype());
        let big = tensor.layout().byte_order().is_some_and(|order| order.is_big());
        let is_same = |laid: &&Arc<Laid>| {
            let is_packed = laid.packed && laid.own_bits() == tensor.bits();
            let is_laid = is_packed || laid.layout == *layout;
            is_laid && laid.dtype == dtype && laid.big == big
        };
        if let Some(laid) = known.iter().find(is_same) {
            return Ok(laid.clone());
        }
        let laid = Arc::new(made(tensor)?);
        known.push(laid.clone());
        Ok(laid)
    }
}

/// The files of a folder with their tensors: each file has the number of its list.
pub(crate) struct Lists {
    pub(crate) files: Vec<Identity>,
    pub(crate) of: Vec<usize>,
    /// The tensors of each list, by name.
    pub(crate) lists: Vec<Vec<ListedTensor>>,
    /// The metadata of the files of each list that is not about a tensor.
    pub(crate) metadata: Vec<Metadata>,
    /// The extents of whole tensors that the files state.
    pub(crate) extents: NotedExtents,
    /// The rules that the files of each list record.
    pub(crate) rules: Vec<Option<String>>,
}

impl Lists {
    /// Reads the headers of these files.
    pub(crate) fn read(paths: &[PathBuf]) -> Result<Lists, Error> {
        let (mut of, mut first, mut last) = (Vec::new(), Vec::new(), Vec::new());
        for (number, path) in paths.iter().enumerate() {
            let head = head(path);
            let is_new = head.is_empty() || head != last;
            if is_new {
                first.push(number);
                last = head;
            }
            of.push(first.len() - 1);
        }
        let (mut lists, mut known, mut metadata) = (Vec::new(), Vec::new(), Vec::new());
        let (mut extents, mut rules) = (NotedExtents::new(), Vec::new());
        for read in parsed(paths, &first) {
            let Parsed { entries, identity, said, extents: text, rules: own } = read?;
            rules.push(own);
            if let Some(text) = text {
                noted(&mut extents, &shown(&identity.path), &text)?;
            }
            lists.push(entries);
            known.push(identity);
            metadata.push(said);
        }
        let identity = |(path, list): (&PathBuf, &usize)| match known.get(*list) {
            Some(known) if known.path != *path => Identity::like(path, known),
            Some(known) => Ok(known.clone()),
            None => Err(Error::new("io", "a file without a list")),
        };
        let files = paths.iter().zip(&of).map(identity).collect::<Result<_, Error>>()?;
        Ok(Lists { files, of, lists, metadata, extents, rules })
    }

    /// Iterates over every name in order, with the tensor of this name in each list.
    pub(crate) fn names(&self) -> impl Iterator<Item = (Arc<str>, Vec<Option<&ListedTensor>>)> {
        let mut rest: Vec<&[ListedTensor]> = self.lists.iter().map(Vec::as_slice).collect();
        std::iter::from_fn(move || {
            let heads = rest.iter().filter_map(|list| list.first());
            let name = heads.map(|entry| &entry.name).min()?.clone();
            let found = rest.iter_mut().map(|list| {
                let (entry, behind) = list.split_first().filter(|(entry, _)| entry.name == name)?;
                *list = behind;
                Some(entry)
            });
            let found = found.collect();
            Some((name, found))
        })
    }
}

/// Returns the length of a file and the bytes before its tensors, in one list of bytes; empty if they are unknown.
fn head(path: &Path) -> Vec<u8> {
    // Each look at an object is a request.
    if is_url(path) {
        return Vec::new();
    }
    let read = || -> std::io::Result<Vec<u8>> {
        let mut file = File::open(path)?;
        let length = file.metadata()?.len();
        let mut head = length.to_le_bytes().to_vec();
        let mut count = [0; 8];
        file.read_exact(&mut count)?;
        let count = u64::from_le_bytes(count);
        if count > length.min(LONGEST) {
            return Ok(Vec::new());
        }
        file.take(count).read_to_end(&mut head)?;
        Ok(head)
    };
    read().unwrap_or_default()
}

/// The contents of the header of a file.
struct Parsed {
    entries: Vec<ListedTensor>,
    identity: Identity,
    /// The metadata that is not about a tensor.
    said: Metadata,
    /// The extents of whole tensors.
    extents: Option<String>,
    /// The rules of a folder of shards.
    rules: Option<String>,
}

/// Reads the lists of the files of these numbers, in their order.
fn parsed(paths: &[PathBuf], numbers: &[usize]) -> Vec<Result<Parsed, Error>> {
    let common = Mutex::new(Common::default());
    let paths = Pieces::new(numbers.iter().filter_map(|number| paths.get(*number)));
    let threads = cores().min(numbers.len()).min(THREADS);
    let done = together(threads.max(1), |_| {
        let own = std::iter::from_fn(|| paths.take());
        own.map(|(place, path)| (place, list(path, &common))).collect::<Vec<_>>()
    });
    let mut done: Vec<_> = done.into_iter().flatten().collect();
    done.sort_by_key(|(place, _)| *place);
    done.into_iter().map(|(_, list)| list).collect()
}

/// Reads the tensors of one file, by name.
fn list(path: &Path, common: &Mutex<Common>) -> Result<Parsed, Error> {
    let input = opened(path)?;
    let said = |name| input.metadata().find(|(key, _)| *key == name).map(|(_, text)| text);
    let (extents, rules) = (said(EXTENTS).map(str::to_owned), said(RULES).map(str::to_owned));
    let places: Option<Value> = said(PLACES)
        .map(serde_json::from_str)
        .transpose()
        .map_err(|error| Error::new("corrupt", format!("{}: {PLACES}: {error}", path.display())))?;
    let mut entries = entries(&input, common)?;
    if let Some(places) = places {
        for entry in &mut entries {
            let start = offsets(&places, entry);
            entry.start = start.map_err(|error| error.about(&shown(path)))?;
        }
    }
    entries.sort_by(|a, b| a.name.cmp(&b.name));
    let mut identities = identities(&input)?;
    let (identity, said) = (identities.swap_remove(0), metadata(&input));
    Ok(Parsed { entries, identity, said, extents, rules })
}

/// Returns the tensors of an input, in its order.
pub(crate) fn entries(input: &Input, common: &Mutex<Common>) -> Result<Vec<ListedTensor>, Error> {
    // Deflated arrays were unpacked to a file without a name, which other processes cannot open.
    let paths: HashSet<&Path> = input.files().collect();
    if paths.len() < input.files().count() {
        let path = input.path().display();
        let said = format!("{path}: its arrays are deflated; convert it first, which stores them");
        return Err(Error::new("unsupported", said));
    }
    let one = |tensor: &Tensor| {
        check(tensor)?;
        let [piece] = tensor.pieces() else {
            return refused(tensor.name(), "it is stored in several places of its file");
        };
        let mut common = common.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let (name, laid) = (common.name(tensor.name()), common.laid(tensor)?);
        Ok(ListedTensor { name, laid, at: piece.at(), file: piece.file(), start: None })
    };
    input.tensors().iter().map(one).collect()
}

fn refused<T>(name: &str, why: &str) -> Result<T, Error> {
    Err(Error::new("unsupported", format!("tensor {name:?}: {why}")))
}

/// Returns an error for a tensor whose elements cannot be split.
fn check(tensor: &Tensor) -> Result<(), Error> {
    let (name, named) = (tensor.name(), tensor.layout());
    if let Some(why) = tensor.refusal() {
        return refused(name, why);
    }
    if tensor.array_layout().has_tables() {
        return refused(name, "its storage order has index tables; convert it to row-major first");
    }
    let bits = named.element_bits().unwrap_or(0);
    if bits % 8 != 0 {
        // A tensor that is copied whole need not be split.
        return match is_packed(tensor)? {
            true => Ok(()),
            false => refused(name, &uncut(bits)),
        };
    }
    if tensor.dtype().block().is_some() {
        let is_plain = *named.layout() == TensorLayout::row_major(tensor.dims())?;
        return match is_plain && bytes(tensor.dims(), tensor.dtype()).is_some() {
            true => Ok(()),
            false => refused(name, "its blocks are not row-major; convert it to row-major first"),
        };
    }
    if bits == 0 || named.layout().extents() != tensor.dims() {
        return refused(name, "its elements are stored in blocks or words; convert it first");
    }
    if named.stored_as().is_some() {
        return refused(name, "it is stored as words of another type; convert it first");
    }
    Ok(())
}

/// Returns the reason why elements of this width cannot be split.
pub(crate) fn uncut(bits: u32) -> String {
    format!(
        "its elements have {bits} bits, but shards begin at whole bytes; keep the tensor whole, or unpack it first"
    )
}

/// Returns whether elements narrower than a byte are stored row-major and packed, without padding. A file whose format
/// lacks the element type has them as a list of bytes, and notes the array.
fn is_packed(tensor: &Tensor) -> Result<bool, Error> {
    let named = tensor.layout();
    let bits = tensor.dtype().bits();
    let is_plain = *named.layout() == TensorLayout::row_major(tensor.dims())?;
    let Some(bytes) = bytes(tensor.dims(), tensor.dtype()) else { return Ok(false) };
    let is_own = [tensor.dims(), &[bytes]].contains(&tensor.storage());
    Ok(is_plain && is_own && named.stored_as().is_none() && bits == named.element_bits())
}

/// Returns the number of bytes of packed elements or of blocks; `None` if it is not a whole number.
pub(crate) fn bytes(shape: &[u64], dtype: Dtype) -> Option<u64> {
    in_bytes(shape, dtype)?.iter().try_fold(1u64, |size, own| size.checked_mul(*own))
}

/// Returns the extents of packed elements or of blocks in bytes: of blocks along the last dim, of packed elements together.
fn in_bytes(shape: &[u64], dtype: Dtype) -> Option<Vec<u64>> {
    if let Some(unit) = Unit::of(dtype) {
        return unit.in_bytes(shape);
    }
    let size = shape.iter().try_fold(1u64, |size, own| size.checked_mul(*own))?;
    let bits = size.checked_mul(dtype.bits()?.into())?;
    bits.is_multiple_of(8).then(|| vec![bits / 8])
}

fn made(tensor: &Tensor) -> Result<Laid, Error> {
    let (named, dtype) = (tensor.layout(), tensor.dtype());
    let own = dtype.safetensors_name().filter(|_| dtype.packed_bits() == named.element_bits());
    let file_dtype = own.unwrap_or(dtype.name()).to_owned();
    let (mut layout, mut bits) = (named.layout().clone(), named.element_bits().unwrap_or(0));
    let packed = dtype.block().is_some() || bits % 8 != 0;
    let big = !packed && named.byte_order().is_some_and(|order| order.is_big());
    let is_plain = packed || layout == TensorLayout::row_major(tensor.dims())?;
    let spec = (!is_plain).then(|| named.to_spec());
    let shape = if is_plain { tensor.dims() } else { tensor.storage() }.to_vec();
    if packed {
        // Such elements move as bytes.
        let extents = in_bytes(&shape, dtype).unwrap_or_else(|| vec![0]);
        (layout, bits) = (TensorLayout::row_major(&extents)?, 8);
    }
    Ok(Laid { file_dtype, dtype, bits, layout, shape, spec, packed, big })
}

/// Returns the offset of a tensor of a distributed checkpoint in its array; a tensor without an entry is refused.
fn offsets(places: &Value, entry: &ListedTensor) -> Result<Option<Vec<u64>>, Error> {
    let (name, rank) =
        (&entry.name, entry.laid.packed().map_or(entry.laid.dims().len(), |it| it.len()));
    let Some(place) = places.get(&**name) else {
        let said = format!("tensor {name:?}: {PLACES} does not name it");
        return Err(Error::new("corrupt", said));
    };
    let list = place.get("saved_offsets").and_then(Value::as_array);
    let list: Option<Vec<u64>> = list.and_then(|list| list.iter().map(Value::as_u64).collect());
    let list = list.filter(|list| list.len() == rank);
    if let Some(list) = list.as_ref().filter(|_| entry.laid.packed) {
        return match list.iter().all(|first| *first == 0) {
            true => Ok(Some(vec![0])),
            false => refused(name, &uncut(entry.laid.dtype.bits().unwrap_or(0))),
        };
    }
    list.map(Some).ok_or_else(|| {
        let said = format!("tensor {name:?} of rank {rank}: {PLACES} says {place}");
        Error::new("corrupt", format!("{said}; expected saved_offsets with a number for each dim"))
    })
}

/// Returns the name of a file without its folder.
pub(crate) fn shown(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
