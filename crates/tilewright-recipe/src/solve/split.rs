//! The dims of a tensor, split by a reference: those that it names, and the remaining ones.

use crate::{error::Error, kind, rule::reference::Reference, tensor::Tensor};

/// The dims of a tensor that a reference names, each with the place of its expression, its number and its extent; and the
/// extents of the remaining ones.
pub(crate) struct TensorSplit<'t> {
    pub(crate) dims: Vec<(usize, usize, u64)>,
    pub(crate) rest: &'t [u64],
}

/// None if the rank is another one.
pub(crate) fn split<'t>(reference: &Reference, tensor: &'t Tensor) -> Option<TensorSplit<'t>> {
    let extents = &tensor.extents;
    let numbered = extents.iter().copied().enumerate();
    let Some(rest) = reference.rest() else {
        let dims = numbered.map(|(dim, extent)| (dim, dim, extent)).collect();
        return (extents.len() == reference.dims.len()).then_some(TensorSplit { dims, rest: &[] });
    };
    let behind = reference.dims.len() - 1 - rest;
    let end = extents.len().checked_sub(behind).filter(|end| *end >= rest)?;
    let first = numbered.clone().take(rest).map(|(dim, extent)| (dim, dim, extent));
    let last = numbered.skip(end).map(|(dim, extent)| (dim - end + rest + 1, dim, extent));
    Some(TensorSplit { dims: first.chain(last).collect(), rest: &extents[rest..end] })
}

/// The refusal of the rank.
pub(crate) fn rank(reference: &Reference, tensor: &Tensor) -> Error {
    let (rank, dims) = (tensor.extents.len(), reference.dims.len());
    let dims = match reference.rest() {
        Some(_) => format!("at least {}", dims - 1),
        None => dims.to_string(),
    };
    let says = format!(
        "{:?} has {rank} dims, {}, and `{}` says {dims}",
        tensor.name,
        list(&tensor.extents),
        reference.text
    );
    reference.error(kind::RANK, says)
}

/// `[8,64]`.
pub(crate) fn list(extents: &[u64]) -> String {
    format!("[{}]", extents.iter().map(u64::to_string).collect::<Vec<_>>().join(","))
}
