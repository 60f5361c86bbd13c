//! An Axe layout over threads as a linear map from registers, lanes, warps and blocks to the array.
//!
//! Law: a place holds the element whose shards and some replica add up to it.

use tilewright_core::LinearLayout;
use tilewright_scan::{Iter, Term, TileText};

use crate::{Error, dialect::strided::unsupported};

/// The places of a map, in its order.
const PLACES: [&str; 4] = ["register", "lane", "warp", "block"];

/// The place of a bit of a coordinate on an axis: its kind and its bit.
fn place(axis: &str, bit: usize) -> Option<(usize, usize)> {
    match axis {
        "m" => Some((0, bit)),
        "laneid" => (bit < 5).then_some((1, bit)),
        "warpid" | "wid_in_wg" => Some((2, bit)),
        // Threads count through the lanes of a warp first.
        "tid_in_wg" | "tx" => Some(if bit < 5 { (1, bit) } else { (2, bit - 5) }),
        "bx" | "cbx" => Some((3, bit)),
        _ => None,
    }
}

/// The bases of one kind of place: the coordinate of each bit, once it is known.
type Bases = Vec<Option<Vec<u64>>>;

/// Returns the map of a tile whose iters by dim, fastest first, are these.
pub(super) fn map(tile: &TileText, groups: &[Vec<Iter>]) -> Result<LinearLayout, Error> {
    if let Some(Term { value, axis, span }) = tile.offset.iter().find(|term| term.value != 0) {
        let said = format!("an offset of {value} on {axis}");
        return Err(unsupported(format!("{said}; a linear map has element 0 at place 0")).at(*span));
    }
    let mut bases: [Bases; 4] = Default::default();
    let zero = vec![0; groups.len()];
    for (dim, group) in groups.iter().enumerate() {
        let mut coord = 1;
        for iter in group {
            let mut put = zero.clone();
            for bit in bits(iter)? {
                put[dim] = coord;
                set(&mut bases, iter, bit, put.clone())?;
                coord *= 2;
            }
        }
    }
    for iter in &tile.replica {
        for bit in bits(iter)? {
            set(&mut bases, iter, bit, zero.clone())?;
        }
    }
    linear(bases, groups)
}

/// The bits of a coordinate on the axis that an iter moves.
fn bits(iter: &Iter) -> Result<std::ops::Range<usize>, Error> {
    let stride = u64::try_from(iter.stride).ok().filter(|stride| stride.is_power_of_two());
    let first = match stride {
        _ if iter.extent == 1 => return Ok(0..0),
        Some(stride) if iter.extent.is_power_of_two() => stride.trailing_zeros() as usize,
        Some(_) | None => {
            let Iter { extent, stride, axis, .. } = iter;
            return Err(unsupported(format!(
                "extent {extent} with stride {stride} on {axis}; a linear map needs powers of two"
            )));
        }
    };
    Ok(first..first + iter.extent.trailing_zeros() as usize)
}

fn set(bases: &mut [Bases; 4], iter: &Iter, bit: usize, coord: Vec<u64>) -> Result<(), Error> {
    let axis = &iter.axis;
    let Some((kind, at)) = place(axis, bit) else {
        return Err(unsupported(format!(
            "axis {axis} has no bit {bit} among registers, lanes, warps and blocks"
        )));
    };
    let Some(list) = bases.get_mut(kind) else { return Ok(()) };
    if list.len() <= at {
        list.resize(at + 1, None);
    }
    match list.get_mut(at).and_then(|free| free.replace(coord)) {
        None => Ok(()),
        Some(_) => Err(unsupported(format!("two iters move bit {bit} of axis {axis}"))),
    }
}

/// Makes the map; a bit of a place that nothing moves would be a place without an element.
fn linear(bases: [Bases; 4], groups: &[Vec<Iter>]) -> Result<LinearLayout, Error> {
    let mut lists: Vec<Vec<Vec<u64>>> = Vec::new();
    for (kind, list) in PLACES.iter().zip(bases) {
        let known: Option<Vec<Vec<u64>>> = list.into_iter().collect();
        lists.push(known.ok_or_else(|| unsupported(format!("some {kind} holds no element")))?);
    }
    let slices: Vec<Vec<&[u64]>> =
        lists.iter().map(|list| list.iter().map(Vec::as_slice).collect()).collect();
    let ins: Vec<(&str, &[&[u64]])> =
        PLACES.iter().zip(&slices).map(|(name, list)| (*name, list.as_slice())).collect();
    let names: Vec<String> = (0..groups.len()).map(|dim| format!("dim{dim}")).collect();
    let size = |group: &[Iter]| group.iter().map(|iter| iter.extent).product::<u64>();
    let outs: Vec<(&str, u64)> =
        names.iter().zip(groups).map(|(name, group)| (name.as_str(), size(group))).collect();
    Ok(LinearLayout::new(&ins, &outs)?)
}
