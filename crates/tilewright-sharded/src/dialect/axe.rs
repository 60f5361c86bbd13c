//! Axe layouts of TVM's TIRx, whose axes apart from `m` are those of a mesh.
//!
//! ```text
//! rule = ["T."] "TileLayout" "(" sum ")" | sum           as `TileText` reads it
//! ```
//!
//! The iters of `S` split the row-major index of the array, the last fastest. One on an axis of the mesh says which
//! devices hold an index; those on `m` count a shard's elements, row-major. Devices along an iter of `R` hold the same.
//! Iters cover every axis. A text without a mesh has the axes that it names, in order; one with another order of a
//! shard's elements is refused.
//!
//! Source: apache-tvm 0.27, `tvm.tirx.layout`; Hou et al., "Axe", 2026.

use tilewright_scan::{Iter, MEMORY, Term, TileText};

use super::{Dialect, RuleContext, axes::find};
use crate::{
    Error,
    mesh::{Mesh, Scanner, comma},
    nested::Of,
    sharded::Sharded,
    split::{AxisPart, Cut, Split, check_apart},
};

pub(super) const DIALECT: Dialect = Dialect {
    name: "axe",
    title: "TileLayout of TVM's TIRx",
    claims: |text| {
        ["T.TileLayout", "TileLayout", "T.S[", "S["].iter().any(|head| text.starts_with(head))
    },
    read,
    say,
};

fn read(scanner: &mut Scanner<'_>, mut asked: RuleContext<'_>) -> Result<Sharded, Error> {
    let tile = TileText::read(scanner)?;
    check_digits(&tile)?;
    let mesh = match asked.mesh.take() {
        Some(mesh) => mesh,
        None => mesh_of(&tile)?,
    };
    check_cover(&tile, &mesh)?;
    let groups = groups(&tile, asked.extents)?;
    check_local(&groups)?;
    let mut splits = Vec::new();
    for (dim, group) in groups.iter().enumerate() {
        let mut factor = 1;
        for iter in group {
            if iter.axis == MEMORY {
                factor *= iter.extent;
            } else {
                let cut = if factor == 1 { Cut::Chunk } else { Cut::Strided { factor } };
                splits.push(Split { dim, parts: vec![part(iter, &mesh)?], cut });
            }
        }
    }
    Sharded::new(asked.extents, asked.dtype, mesh, splits)
}

/// Returns the part of an axis that an iter moves.
fn part(iter: &Iter, mesh: &Mesh) -> Result<AxisPart, Error> {
    let axis = find(mesh, &iter.axis, iter.span)?;
    let size = mesh.sizes().get(axis).copied().unwrap_or(1);
    let taken =
        stride_of(iter).checked_mul(iter.extent).filter(|taken| *taken > 0 && size % taken == 0);
    let Some(taken) = taken else {
        let Iter { extent, stride, axis, span } = iter;
        let said = format!(
            "extent {extent} with stride {stride} does not split the {size} devices of axis `{axis}`"
        );
        return Err(Error::illegal(said).at(*span));
    };
    Ok(if taken == size && iter.stride == 1 {
        AxisPart::whole(axis)
    } else {
        AxisPart { axis, part: Some((size / taken, iter.extent)) }
    })
}

/// Returns an error for what a sharding cannot have: strides below 0, offsets, and copies in one device's memory.
fn check_digits(tile: &TileText) -> Result<(), Error> {
    if let Some(iter) = tile.shard.iter().chain(&tile.replica).find(|iter| iter.stride < 0) {
        let said = format!("a stride of {}; devices and elements count upwards", iter.stride);
        return Err(Error::unsupported(said).at(iter.span));
    }
    if let Some(Term { value, axis, span }) = tile.offset.iter().find(|term| term.value != 0) {
        let said = format!("an offset of {value} on axis `{axis}`; a sharding begins at device 0");
        return Err(Error::unsupported(format!("{said} and element 0")).at(*span));
    }
    let copies = |iter: &&Iter| iter.axis == MEMORY && iter.extent > 1;
    if let Some(Iter { extent, span, .. }) = tile.replica.iter().find(copies) {
        let said = format!("each device holds every element {extent} times");
        let legal = "replicas of a sharding are on axes of the mesh";
        return Err(Error::unsupported(format!("{said}; {legal}")).at(*span));
    }
    Ok(())
}

/// Returns a stride, which is 0 or more.
fn stride_of(iter: &Iter) -> u64 {
    u64::try_from(iter.stride).unwrap_or(0)
}

fn on_axes(tile: &TileText) -> impl Iterator<Item = &Iter> {
    tile.shard.iter().chain(&tile.replica).filter(|iter| iter.axis != MEMORY)
}

/// Returns the mesh of the axes that the iters name, in order.
fn mesh_of(tile: &TileText) -> Result<Mesh, Error> {
    let mut axes: Vec<(&str, u64)> = Vec::new();
    for iter in on_axes(tile) {
        let reach = (iter.extent - 1).saturating_mul(stride_of(iter));
        match axes.iter_mut().find(|(name, _)| *name == iter.axis) {
            Some((_, size)) => *size = size.saturating_add(reach),
            None => axes.push((&iter.axis, reach.saturating_add(1))),
        }
    }
    if axes.is_empty() {
        let said = "no iter names an axis of devices, as in `S[(2, 4):(1 @ x, 1)]`";
        return Err(Error::mismatch(said));
    }
    Mesh::named(&axes)
}

/// Checks that the iters on each axis of the mesh count its devices once.
fn check_cover(tile: &TileText, mesh: &Mesh) -> Result<(), Error> {
    let parts = on_axes(tile).filter(|iter| iter.extent > 1).map(|iter| part(iter, mesh));
    let parts: Vec<AxisPart> = parts.collect::<Result<_, _>>()?;
    check_apart(&parts, mesh)?;
    for (axis, size) in mesh.sizes().iter().enumerate() {
        let name = mesh.name(axis);
        let own = on_axes(tile).filter(|iter| iter.axis == name);
        let count = own.fold(1u64, |all, iter| all.saturating_mul(iter.extent));
        if count != *size {
            let said = format!("iters reach {count} of the {size} devices of axis `{name}`");
            return Err(Error::mismatch(format!("{said}; replicate over the others by `R[…]`")));
        }
    }
    Ok(())
}

/// Returns the iters of each dim, the last fastest.
fn groups(tile: &TileText, extents: &[u64]) -> Result<Vec<Vec<Iter>>, Error> {
    tile.groups(extents).ok_or_else(|| {
        let (own, dims) = (comma(tile.extents()), comma(extents));
        Error::mismatch(format!("iters of ({own}) do not split the dims [{dims}]"))
    })
}

/// Checks that the iters of a device's memory count its elements row-major.
fn check_local(groups: &[Vec<Iter>]) -> Result<(), Error> {
    let mut stride = 1i64;
    let local = groups.iter().flatten().filter(|iter| iter.axis == MEMORY);
    for iter in local.collect::<Vec<_>>().into_iter().rev() {
        if iter.stride != stride {
            let said =
                format!("the shards are not row-major: stride {} instead of {stride}", iter.stride);
            let legal =
                "give the strides of row-major shards, and the layout of each shard after ` / `";
            return Err(Error::unsupported(format!("{said}; {legal}")).at(iter.span));
        }
        stride = stride.saturating_mul(i64::try_from(iter.extent).unwrap_or(i64::MAX));
    }
    Ok(())
}

fn say(sharded: &Sharded) -> Result<Vec<String>, Error> {
    let (mesh, no) =
        (sharded.mesh(), |why: String| Error::unsupported(format!("axe cannot express it: {why}")));
    if !mesh.is_named() || mesh.is_any() {
        return Err(no("its axes have names, and those of this mesh have none".into()));
    }
    if sharded.extents().contains(&0) {
        return Err(no("an extent of 0".into()));
    }
    let dims = sharded.digits().map_err(|error| no(error.to_string()))?;
    let iter = |extent, stride: u64, axis: &str| {
        let stride = i64::try_from(stride).map_err(|_| no("a stride exceeds 63 bits".into()));
        stride.map(|stride| Iter::new(extent, stride, axis))
    };
    let (mut shard, mut used, mut after) = (Vec::new(), Vec::new(), 1u64);
    for digits in dims.iter().rev() {
        let mut local = 1u64;
        for digit in digits.iter().filter(|digit| digit.size > 1) {
            shard.push(match digit.of {
                Of::Local { weight } => {
                    local = local.saturating_mul(digit.size);
                    iter(digit.size, weight.saturating_mul(after), MEMORY)?
                }
                Of::Axis { axis, weight } => {
                    used.push((axis, weight, digit.size));
                    iter(digit.size, weight, &mesh.name(axis))?
                }
            });
        }
        after = after.saturating_mul(local);
    }
    shard.reverse();
    if shard.is_empty() {
        shard.push(Iter::new(1, 1, MEMORY));
    }
    let replica = unused(mesh, used).into_iter();
    let replica = replica.map(|(extent, stride, axis)| iter(extent, stride, &mesh.name(axis)));
    let tile = TileText { shard, replica: replica.collect::<Result<_, _>>()?, offset: Vec::new() };
    Ok(vec![format!("{mesh} T.TileLayout({tile})")])
}

/// Returns extent, stride and axis of the devices with the same data: those that no iter moves.
fn unused(mesh: &Mesh, mut used: Vec<(usize, u64, u64)>) -> Vec<(u64, u64, usize)> {
    used.sort_unstable();
    let mut rest = Vec::new();
    for (axis, size) in mesh.sizes().iter().enumerate() {
        let mut below = 1;
        let own =
            used.iter().filter(|(own, ..)| *own == axis).map(|(_, weight, size)| (*weight, *size));
        for (weight, count) in own.chain([(*size, 1)]) {
            if weight > below {
                rest.push((weight / below, below, axis));
            }
            below = weight.saturating_mul(count);
        }
    }
    rest
}
