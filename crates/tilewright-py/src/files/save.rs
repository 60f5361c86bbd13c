//! `save`: writes arrays of other libraries to a file, in any layouts.

use std::path::PathBuf;

use pyo3::{
    exceptions::PyTypeError,
    prelude::*,
    types::{PyDict, PyMapping},
};
use tilewright::{
    Dtype, Fill, Layout, ResolvedLayout, TensorLayout,
    files::{Request, Writer},
    layouts::ByteOrder,
};

use super::{
    convert::{Watcher, given, request},
    open::PyCheckpoint,
};
use crate::{
    arguments::{Integers, TextArgument, ask::Ask, quoted},
    errors::{Raised, about, refused},
    foreign::{Family, Memory},
    moves::{plan, prepare},
};

/// Writes arrays to a file; `reading` has the keywords for the layouts of their storages.
#[pyfunction]
#[pyo3(signature = (tensors, path, job, reading, metadata = None, progress = None, /))]
pub(crate) fn save(
    tensors: &Bound<'_, PyAny>,
    path: PathBuf,
    job: &Bound<'_, PyDict>,
    reading: &Bound<'_, PyDict>,
    metadata: Option<&Bound<'_, PyAny>>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<()> {
    let (py, request, ask) = (tensors.py(), request(job)?, ask(reading)?);
    let watcher = Watcher::new(progress)?;
    let arrays = arrays(tensors, &ask)?;
    let writer = writer(request, &arrays)?;
    let pairs = metadata.map(texts).transpose()?.unwrap_or_default();
    let writer = pairs.into_iter().fold(writer, |writer, (key, text)| writer.metadata(key, text));
    match py.detach(|| writer.write(&path, &watcher)) {
        // The argument is called `overwrite` here, and `force` elsewhere.
        Err(error) if error.kind() == "exists" => {
            let said = format!("{}; overwrite=True replaces it", error.message());
            Err(refused("file-exists", said))
        }
        done => watcher.outcome(done).map(drop),
    }
}

/// An array by its name, accessed in place.
struct SavedArray {
    name: String,
    memory: Memory,
    named: ResolvedLayout,
}

/// Returns the arguments for the layouts of storages.
fn ask(reading: &Bound<'_, PyDict>) -> PyResult<Ask> {
    let (from, dims, dtype) =
        (given(reading, "from_")?, given(reading, "dims")?, given(reading, "dtype")?);
    let dims = dims.map(|dims| dims.extract::<Integers>()).transpose()?;
    Ask::new(from.as_ref(), None, dims, dtype.as_ref(), None, None, None)
}

/// Returns the arrays of a mapping.
fn arrays(tensors: &Bound<'_, PyAny>, ask: &Ask) -> PyResult<Vec<SavedArray>> {
    let tensors = tensors.cast::<PyMapping>().map_err(|_| {
        PyTypeError::new_err("tensors= takes a mapping from names to arrays: {\"w\": w}")
    })?;
    let one = |item: Bound<'_, PyAny>| {
        let (name, array) = item.extract::<(TextArgument, Bound<'_, PyAny>)>()?;
        let name = name.of("tensors")?;
        let memory = Memory::of_any(&array);
        let seen = memory.and_then(|memory| Ok((named(&array, &memory, ask)?, memory)));
        let argument = format!("tensors[{}]", quoted(&name));
        let (named, memory) = seen.map_err(|error| about(&argument, error))?;
        Ok(SavedArray { name, memory, named })
    };
    tensors.items()?.iter().map(one).collect()
}

/// Returns the layout of an array over its bytes, with all known facts of its elements.
fn named(array: &Bound<'_, PyAny>, memory: &Memory, ask: &Ask) -> PyResult<ResolvedLayout> {
    if let Some(pairs) = pairs(memory, array.py())? {
        return Ok(pairs);
    }
    let (side, source) = prepare::read(ask, &memory.facts)?;
    plan::expected(&source, memory, "array")?;
    let Some(dtype) = side.stored().dtype() else {
        let says =
            "layouts have no name for this element type; view the elements as numbers or bytes";
        return Err(refused("dtype", says));
    };
    let odd = (dtype.storage_bits() != Some(side.bits)).then_some(side.bits);
    let (bits, fill) = (odd.or(side.stored().explicit_bits()), side.stored().fill());
    let order = memory.facts.swapped.then_some(ByteOrder::Big);
    Ok(side.stored().clone().with_elements(Some(dtype), bits, fill).with_byte_order(order))
}

/// The name of torch's type for pairs of 4-bit floats.
const PAIRS: &str = "torch.float4_e2m1fn_x2";

/// Returns the layout of a torch tensor whose elements are pairs of 4-bit floats, the first in the lower bits: its last dim
/// counts pairs.
fn pairs(memory: &Memory, py: Python<'_>) -> PyResult<Option<ResolvedLayout>> {
    let own = memory.own_dtype.as_ref().filter(|_| memory.family == Family::Torch);
    let is_pairs = own.map(|own| own.bind(py).str()).transpose()?.is_some_and(|own| own == PAIRS);
    let Some((last, others)) = memory.facts.shape.split_last().filter(|_| is_pairs) else {
        return Ok(None);
    };
    let strides = memory.facts.strides.iter().map(|stride| stride.saturating_mul(2));
    let strides: Vec<i64> = strides.collect();
    let (step, rest) = strides.split_last().unwrap_or((&0, &[]));
    let list = |each: &mut dyn Iterator<Item = String>| each.collect::<Vec<_>>().join("");
    let shape = list(&mut others.iter().map(|extent| format!("{extent},")));
    let stride = list(&mut rest.iter().map(|stride| format!("{stride},")));
    let text = format!("({shape}(2,{last})):({stride}(1,{step}))");
    let layout = Layout::parse(&text).map_err(tilewright::Error::from).raised()?;
    let dims: Vec<u64> = others.iter().copied().chain([last.saturating_mul(2)]).collect();
    let capacity = memory.span() as u64 * 2;
    let layout = TensorLayout::new(&dims, &layout, capacity).raised()?;
    Ok(Some(ResolvedLayout::new("", layout, Some(Dtype::F4e2m1fn), Some(4), Fill::Unspecified)))
}

/// Returns a writer of the arrays.
fn writer(request: Request, arrays: &[SavedArray]) -> PyResult<Writer<'_>> {
    arrays.iter().try_fold(Writer::new(request), |writer, SavedArray { name, memory, named }| {
        writer.array(name.as_str(), named, memory.bytes()?).raised()
    })
}

/// Returns metadata for a file: a mapping of texts, or the metadata of an open checkpoint.
fn texts(metadata: &Bound<'_, PyAny>) -> PyResult<Vec<(String, String)>> {
    if let Ok(checkpoint) = metadata.cast::<PyCheckpoint>() {
        return Ok(checkpoint.get().texts()?.into_iter().collect());
    }
    let pairs = metadata.cast::<PyMapping>().map_err(|_| {
        PyTypeError::new_err("metadata= takes a mapping from str to str, or an open Checkpoint")
    })?;
    let text = |item: Bound<'_, PyAny>| {
        let (key, text) = item.extract::<(TextArgument, TextArgument)>()?;
        Ok((key.of("metadata")?, text.of("metadata")?))
    };
    pairs.items()?.iter().map(text).collect()
}
