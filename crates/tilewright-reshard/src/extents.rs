//! The extents of an array whose shards are known, by its rule.

use std::collections::BTreeSet;

use tilewright_core::Dtype;
use tilewright_sharded::{Mesh, Sharded};

use crate::{Error, Rules};

/// The extents of an array whose shards have these: along each dim the sum over the positions of the axes that cut it.
///
/// Which axes these are is asked of the rule for larger extents that every number of parts divides.
pub(crate) fn extents(
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
