//! Comparing a result with what it was made from: every element and every padding byte, and all that
//! is said about them.
//!
//! Nothing here asks a relayout plan anything. Offsets come from `TensorLayout::offset` and
//! `TensorLayout::run`, walked in logical order.

use std::{collections::BTreeMap, path::Path};

use tilewright_core::Fill;

use crate::{
    Conversion, Error, Input, Reading, Request, Tensor, Watch,
    budget::Budget,
    compare::{self, Side},
    dtype,
    input::{Container, Shard, open_place},
    job, names, open, open_array, open_as, open_safetensors,
    open_safetensors::{FILL_KEY, LAYOUT_KEY},
    place::{Kind, Place},
    request::check_memory,
    source::Source,
    target::Target,
    temporary::Temporary,
};

/// The answer of a verification.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Everything agrees, in this many bytes of the result.
    Same {
        /// The bytes of tensors compared, padding included.
        bytes: u64,
    },
    /// The first difference: which tensor, where, and both values.
    Differs(String),
}

/// Compares a finished file with the one it was made from: names, element types, logical dims, every
/// element, every padding byte (against what the result promises, else zero; where nothing moved,
/// against the original), and the metadata.
///
/// Of the request, [`Request::from`], [`Request::dims`] and [`Request::dtype`] say how the original is
/// read, [`Request::memory`] bounds buffers, and [`Request::fill`] is what padding must hold.
/// [`Request::to`] is the layout of a result that cannot say it itself (npy and raw).
///
/// # Errors
/// [i/o](Error::is_io) if a file cannot be read or is corrupt; [usage](Error::is_usage) where the
/// request does not fit; [cancelled](Error::is_cancelled) if `watch` says so.
///
/// ```
/// use tilewright_files::{Request, Verdict, verify};
/// let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
/// let verdict = verify(path, path, &Request::new(), &()).unwrap();
/// assert!(matches!(verdict, Verdict::Same { bytes: 1.. }));
///
/// let other = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_llm_mixed.safetensors");
/// let Verdict::Differs(said) = verify(other, path, &Request::new(), &()).unwrap() else { panic!() };
/// assert!(said.contains("is missing"));
/// ```
pub fn verify(
    out: impl AsRef<Path>,
    against: impl AsRef<Path>,
    request: &Request,
    watch: &dyn Watch,
) -> Result<Verdict, Error> {
    check_memory(request.memory)?;
    let against = open(against, &request.reading)?;
    let out = open_result(&Place::parse(out.as_ref()), &against, request)?;
    let against = reread_as_asked(against, &out, &request.reading)?;
    watch.total(out.tensors.iter().map(|tensor| tensor.len).sum());
    let pairs = match paired(&out, &against) {
        Ok(pairs) => pairs,
        Err(said) => return Ok(Verdict::Differs(said)),
    };
    compared(&out, &against, &pairs, request.fill, watch, &Budget::new(request.memory))
}

/// Opens a result: as what it says it is, or, where it cannot say it, as what was asked for.
fn open_result(place: &Place, against: &Input, request: &Request) -> Result<Input, Error> {
    let original = match (&against.container, against.tensors.first()) {
        (Container::Npy(_) | Container::Raw, Some(tensor)) => tensor,
        _ => return open_place(place, &Reading::default()),
    };
    let Some(spec) = &request.to else {
        return open_place(place, &Reading::default().dtype(original.held.dtype));
    };
    let held =
        job::target(&original.name, &original.held, spec, request.fill)?.map_err(Error::usage)?;
    let source = Source::open(&place.path)?;
    match place.kind.unwrap_or(against.kind()) {
        Kind::Npy => open_array::known_npy(source, held),
        Kind::Raw => open_array::known_raw(source, held),
        kind => open_as(kind, source, &Reading::default()),
    }
}

/// The original, its tensors read as asked where the result says otherwise of them than the original.
fn reread_as_asked(mut against: Input, out: &Input, reading: &Reading) -> Result<Input, Error> {
    let written: BTreeMap<&str, &Tensor> =
        out.tensors.iter().map(|tensor| (tensor.name.as_str(), tensor)).collect();
    for tensor in &mut against.tensors {
        let differs = |out: &&Tensor| different_facts(out, tensor).is_some();
        if written.get(tensor.name.as_str()).is_some_and(differs) {
            tensor.held = open_array::reread(&tensor.held, &tensor.name, tensor.len, reading)
                .map_err(Error::usage)?;
        }
    }
    Ok(against)
}

/// The tensors of both files by name, checked to be the same set.
fn paired<'a>(out: &'a Input, against: &'a Input) -> Result<Vec<(&'a Tensor, &'a Tensor)>, String> {
    let index = |input: &'a Input| -> BTreeMap<&'a str, &'a Tensor> {
        input.tensors.iter().map(|tensor| (tensor.name.as_str(), tensor)).collect()
    };
    let (written, original) = (index(out), index(against));
    let missing = |name: &str, from: &Input, near: String| {
        Err(format!("tensor {name:?} is missing from {}{near}", from.path.display()))
    };
    if let Some(name) = original.keys().find(|name| !written.contains_key(*name)) {
        return missing(name, out, names::near(name, out.names()));
    }
    if let Some(name) = written.keys().find(|name| !original.contains_key(*name)) {
        return missing(name, against, names::near(name, against.names()));
    }
    let pair = |tensor: &'a Tensor| Some((tensor, *original.get(tensor.name.as_str())?));
    Ok(out.tensors.iter().filter_map(pair).collect())
}

fn compared(
    out: &Input,
    against: &Input,
    pairs: &[(&Tensor, &Tensor)],
    fill: Option<Fill>,
    watch: &dyn Watch,
    budget: &Budget,
) -> Result<Verdict, Error> {
    if let Some(said) = different_metadata(out, against) {
        return Ok(Verdict::Differs(said));
    }
    let mut bytes = 0;
    for (written, original) in pairs {
        if let Some(said) = different_facts(written, original) {
            return Ok(Verdict::Differs(format!("tensor {:?}: {said}", written.name)));
        }
        let fill = fill.unwrap_or(written.fill());
        let (to, from) = (side(out, written, fill)?, side(against, original, original.fill())?);
        let found = compare::tensors(&to, &from, watch, budget)?;
        if let Some(said) = found {
            return Ok(Verdict::Differs(format!("tensor {:?} {said}", written.name)));
        }
        bytes += written.len;
    }
    Ok(Verdict::Same { bytes })
}

fn side<'a>(input: &'a Input, tensor: &'a Tensor, fill: Fill) -> Result<Side<'a>, Error> {
    let held = &tensor.held;
    let fill =
        dtype::fill_pattern(held.dtype, held.bits, fill, held.big_endian).map_err(|error| {
            Error::corrupt(&input.path, format!("tensor {:?}: {error}", tensor.name))
        })?;
    Ok(Side { source: input.source(tensor)?, at: tensor.at, len: tensor.len, held, fill })
}

/// What the files say of a tensor, apart from its layout.
fn different_facts(out: &Tensor, against: &Tensor) -> Option<String> {
    if out.held.dtype != against.held.dtype {
        return Some(format!("elements are {}, were {}", out.held.dtype, against.held.dtype));
    }
    if out.dims() != against.dims() {
        return Some(format!(
            "logical dims are {:?}, were {:?}; a file that cannot say its dims needs --from",
            out.dims(),
            against.dims()
        ));
    }
    None
}

/// The metadata that a conversion passes through.
fn different_metadata(out: &Input, against: &Input) -> Option<String> {
    if let (Container::Sharded(written), Container::Sharded(original)) =
        (&out.container, &against.container)
    {
        if written.rest() != original.rest() {
            return Some("the indices differ beside their weight maps".into());
        }
        if let Some(moved) = written.map.iter().find(|entry| !original.map.contains(entry)) {
            return Some(format!(
                "the index puts {:?} into {:?}, the original does not",
                moved.0, moved.1
            ));
        }
    }
    let merged = |input: &Input| -> BTreeMap<String, String> {
        input.shards.iter().flat_map(kept).collect()
    };
    let (written, original) = (merged(out), merged(against));
    for key in written.keys().chain(original.keys()) {
        let (is, was) = (written.get(key), original.get(key));
        if is != was {
            return Some(format!("metadata {key:?} is {is:?}, was {was:?}"));
        }
    }
    None
}

/// The metadata of a shard but for what this crate notes of its tensors, under the shard's name.
fn kept(shard: &Shard) -> impl Iterator<Item = (String, String)> {
    let noted = |key: &str| key.starts_with(LAYOUT_KEY) || key.starts_with(FILL_KEY);
    let pairs = shard.metadata.iter().flatten().filter(move |(key, _)| !noted(key));
    pairs.map(|(key, value)| (format!("{}:{key}", shard.name), value.clone()))
}

/// Reads back what a conversion has written, before it gets its name; a difference is an error.
pub(crate) fn written(
    conversion: &Conversion<'_>,
    done: &[Temporary],
    watch: &dyn Watch,
    budget: &Budget,
) -> Result<u64, Error> {
    let against = reread(conversion);
    let out = reopened(conversion, done)?;
    let wrong =
        |said: String| Error::corrupt(&conversion.out, format!("verification failed: {said}"));
    let mut pairs = paired(&out, conversion.input).map_err(wrong)?;
    for (_, original) in &mut pairs {
        if let Some(tensor) = against.get(original.name.as_str()) {
            *original = tensor;
        }
    }
    match compared(&out, conversion.input, &pairs, None, watch, budget)? {
        Verdict::Same { bytes } => Ok(bytes),
        Verdict::Differs(said) => Err(wrong(said)),
    }
}

/// The input's tensors as the conversion read them.
fn reread<'a>(conversion: &'a Conversion<'_>) -> BTreeMap<&'a str, Tensor> {
    let tensors = &conversion.input.tensors;
    let jobs = conversion.jobs.iter();
    jobs.filter_map(|job| {
        let tensor = tensors.get(job.tensor)?;
        Some((job.name.as_str(), Tensor { held: job.from.clone(), ..tensor.clone() }))
    })
    .collect()
}

/// The written files, opened where they are now.
fn reopened(conversion: &Conversion<'_>, done: &[Temporary]) -> Result<Input, Error> {
    let last = done.last().map_or(conversion.out.as_path(), Temporary::path);
    let source = Source::open(last)?;
    let locate = |shard: &str| {
        let named = |target: &Target| target.path.file_name().is_some_and(|name| name == shard);
        let file = conversion.targets.iter().position(named).and_then(|at| done.get(at));
        file.map_or_else(|| shard.into(), |file| file.path().into())
    };
    match (conversion.kind, conversion.jobs.first()) {
        (Kind::Sharded, _) => open_safetensors::sharded(source, &locate),
        (Kind::Npy, Some(job)) => open_array::known_npy(source, job.to.clone()),
        (Kind::Raw, Some(job)) => open_array::known_raw(source, job.to.clone()),
        (kind, _) => open_as(kind, source, &Reading::default()),
    }
}
