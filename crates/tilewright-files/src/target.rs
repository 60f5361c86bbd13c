//! The files a conversion writes: which, with which headers, and whether they may be written.

use std::path::{Path, PathBuf};

use safetensors::Dtype;
use tilewright_core::ByteOrder;

use crate::{
    Action, Error, Input, Job, dtype,
    input::Container,
    job, npy,
    open_safetensors::{self, FILL_KEY, LAYOUT_KEY},
    order,
    place::{Kind, Place},
    safetensors as st, set, temporary,
    tensor::Held,
};

/// One file to write: its header, and the jobs whose bytes follow.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    pub(crate) path: PathBuf,
    pub(crate) header: Vec<u8>,
    /// Numbers of jobs, in the order of their bytes.
    pub(crate) jobs: Vec<usize>,
}

/// The kind of `out`, where this input can become it.
pub(crate) fn kind_of(input: &Input, out: &Place) -> Result<Kind, Error> {
    let from = input.kind();
    let legal = match from {
        Kind::Safetensors => "a .safetensors file",
        Kind::Sharded => "the .safetensors.index.json of a new checkpoint",
        Kind::Npy | Kind::Raw => ".npy or raw:PATH",
    };
    if let (None, Some(end)) = (out.kind, out.path.extension()) {
        let (path, end) = (out.path.display(), end.to_string_lossy());
        let hint = match from {
            Kind::Sharded => "",
            Kind::Safetensors | Kind::Npy | Kind::Raw => {
                "; before a path, raw:, npy: and safetensors: say what it is"
            }
        };
        let from = from.name();
        return Err(Error::usage(format!(
            "{path}: a {from} file becomes {legal}, and this name ends in .{end}{hint}"
        )));
    }
    let kind = out.kind.unwrap_or(from);
    let arrays = |kind| matches!(kind, Kind::Npy | Kind::Raw);
    if kind == from || arrays(kind) && arrays(from) {
        return Ok(kind);
    }
    Err(Error::usage(format!(
        "{}: a {} file becomes {legal}, not {}",
        out.path.display(),
        from.name(),
        kind.name()
    )))
}

/// The files of `jobs`, checked; the last is the one the user named.
pub(crate) fn targets(input: &Input, out: &Place, jobs: &[Job]) -> Result<Vec<Target>, Error> {
    let path = &out.path;
    match kind_of(input, out)? {
        Kind::Safetensors => Ok(vec![safetensors(input, 0, path, jobs)?]),
        Kind::Sharded => sharded(input, path, jobs),
        Kind::Npy => Ok(vec![array(path, npy_header(input, jobs), jobs)]),
        Kind::Raw => Ok(vec![array(path, Vec::new(), jobs)]),
    }
}

fn array(path: &Path, header: Vec<u8>, jobs: &[Job]) -> Target {
    Target { path: path.into(), header, jobs: (0..jobs.len()).collect() }
}

/// The header of the only job's result.
fn npy_header(input: &Input, jobs: &[Job]) -> Vec<u8> {
    let Some(job) = jobs.first() else { return Vec::new() };
    let (descr, fortran, shape) = npy_facts(input, &job.to, job.bytes_out);
    npy::header_bytes(&descr, fortran, &shape)
}

/// What the header of an `.npy` file says of elements made from this input: type, whether the first
/// dim is fastest, shape.
pub(crate) fn npy_facts(input: &Input, to: &Held, len: u64) -> (String, bool, Vec<u64>) {
    let (layout, bits) = (to.layout(), to.bits);
    if to.dtype.storage_bits() != Some(bits) {
        // No NumPy type has this width: the bytes are what they are.
        return ("|u1".into(), false, vec![len]);
    }
    let own = match &input.container {
        Container::Npy(descr) => ordered(&descr.text, to.order),
        _ => npy::default_descr(to.dtype, u64::from(bits / 8)),
    };
    if order::is_row_major(layout) {
        (own, false, layout.extents().to_vec())
    } else if order::is_col_major(layout) {
        (own, true, layout.extents().to_vec())
    } else {
        (own, false, order::storage_shape(layout))
    }
}

/// A type as NumPy writes it, with its elements' bytes in this order.
fn ordered(descr: &str, order: ByteOrder) -> String {
    let mark = if order.is_big() { '>' } else { '<' };
    match descr.strip_prefix(['<', '>']) {
        Some(rest) => format!("{mark}{rest}"),
        None => descr.to_owned(),
    }
}

fn sharded(input: &Input, path: &Path, jobs: &[Job]) -> Result<Vec<Target>, Error> {
    let Container::Sharded(index) = &input.container else { return Ok(Vec::new()) };
    let folder = temporary::folder(path);
    let names = set::usual_names(input);
    let mut targets = Vec::new();
    for (number, name) in names.iter().enumerate() {
        targets.push(safetensors(input, number, &folder.join(name), jobs)?);
    }
    let own = input.shards.iter().map(|shard| shard.name.as_str());
    let renamed = own.zip(names.iter().map(String::as_str)).collect();
    let header = index.text(job::total_bytes(jobs), &renamed).into_bytes();
    targets.push(Target { path: path.into(), header, jobs: Vec::new() });
    Ok(targets)
}

/// How a safetensors file stores the result of a job: element type and shape.
pub(crate) fn stored(input: &Input, job: &Job) -> (Option<Dtype>, Vec<u64>) {
    let untouched = input.tensors.get(job.tensor).filter(|_| job.action != Action::Convert);
    if let Some(tensor) = untouched.filter(|tensor| !changes(job, tensor)) {
        return (None, tensor.storage.clone());
    }
    let (dtype, shape) = open_safetensors::stored(&job.to, job.bytes_out);
    (Some(dtype), shape)
}

/// Whether a job that copies bytes still says something new about them.
fn changes(job: &Job, tensor: &crate::Tensor) -> bool {
    job.to.named.to_spec() != tensor.held.named.to_spec()
}

/// Whether the file itself says all there is to say of a result.
fn says_itself(job: &Job) -> bool {
    job.is_plain() && dtype::is_named(job.to.dtype, job.to.bits) && job.to.ends_with_a_byte()
}

fn safetensors(input: &Input, shard: usize, path: &Path, jobs: &[Job]) -> Result<Target, Error> {
    let mut entries = Vec::new();
    for (number, job) in jobs.iter().enumerate() {
        let Some(tensor) = input.tensors.get(job.tensor) else { continue };
        if tensor.shard == shard {
            let (dtype, shape) = stored(input, job);
            let dtype = match dtype {
                Some(dtype) => dtype,
                None => file_dtype(path, &tensor.file_dtype)?,
            };
            entries.push((number, job, dtype, shape));
        }
    }
    let widths: Vec<(u64, u64)> =
        entries.iter().map(|(_, job, dtype, _)| (dtype.bitsize() as u64, job.bytes_out)).collect();
    let order = st::order_by_alignment(&widths);
    let sorted: Vec<_> = order.iter().filter_map(|&i| entries.get(i)).collect();
    let described: Vec<_> = sorted
        .iter()
        .map(|(_, job, dtype, shape)| (job.name.as_str(), *dtype, shape.as_slice(), job.bytes_out))
        .collect();
    let metadata = metadata(input, shard, &entries);
    let header = st::header_bytes(path, &described, metadata.as_deref())?;
    let jobs = sorted.iter().map(|(number, ..)| *number).collect();
    Ok(Target { path: path.into(), header, jobs })
}

/// The type that a file spelled so.
fn file_dtype(path: &Path, text: &str) -> Result<Dtype, Error> {
    serde_json::from_value(text.into()).map_err(|error| Error::corrupt(path, error))
}

/// The metadata of a file to write, keys sorted: the input's, with what the results are.
fn metadata(
    input: &Input,
    shard: usize,
    entries: &[(usize, &Job, Dtype, Vec<u64>)],
) -> Option<Vec<(String, String)>> {
    let own = input.shards.get(shard).and_then(|shard| shard.metadata.as_ref());
    let mut pairs: std::collections::BTreeMap<String, String> =
        own.into_iter().flatten().cloned().collect();
    for (_, job, ..) in entries {
        let Some(tensor) = input.tensors.get(job.tensor) else { continue };
        if job.action != Action::Convert && !changes(job, tensor) {
            continue;
        }
        let (layout, fill) =
            (format!("{LAYOUT_KEY}{}", job.name), format!("{FILL_KEY}{}", job.name));
        pairs.remove(&layout);
        pairs.remove(&fill);
        if says_itself(job) {
            continue;
        }
        pairs.insert(layout, job.to.named.to_spec());
        if job.to.named.fill().is_promised() {
            pairs.insert(fill, dtype::fill_text(job.to.named.fill()));
        }
    }
    // A file that had no metadata but our notes has none again without them.
    let kept = own.is_some_and(Vec::is_empty) || !pairs.is_empty();
    kept.then(|| pairs.into_iter().collect())
}
