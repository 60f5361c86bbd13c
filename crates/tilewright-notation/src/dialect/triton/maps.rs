//! Parts of maps from places to coordinates, for a tensor of given extents.
//!
//! Law: each coordinate is reached; the map of a tensor larger than a tile repeats the tile, more registers (or
//! offsets) first in the order of the dims; that of a smaller one sends the bits that reach furthest to 0.

use tilewright_core::LinearLayout;

use super::values::Bases;
use crate::Error;

pub(super) fn name(dim: usize) -> String {
    format!("dim{dim}")
}

pub(super) fn names(rank: usize) -> Vec<String> {
    (0..rank).map(name).collect()
}

/// The map with these bases, one integer per output dim.
pub(super) fn build(ins: &[(&str, &Bases)], outs: &[(String, u64)]) -> Result<LinearLayout, Error> {
    let slices: Vec<Vec<&[u64]>> =
        ins.iter().map(|(_, bases)| bases.iter().map(Vec::as_slice).collect()).collect();
    let ins: Vec<(&str, &[&[u64]])> =
        ins.iter().zip(&slices).map(|((name, _), slices)| (*name, slices.as_slice())).collect();
    let outs: Vec<(&str, u64)> = outs.iter().map(|(name, size)| (name.as_str(), *size)).collect();
    Ok(LinearLayout::new(&ins, &outs)?)
}

/// The map with these bases into output dims as large as the bases ask for.
pub(super) fn spanning(ins: &[(&str, &Bases)], names: &[String]) -> Result<LinearLayout, Error> {
    let reach = |dim: usize| {
        let all = ins.iter().flat_map(|(_, bases)| bases.iter());
        let bits = all.filter_map(|basis| basis.get(dim)).fold(0u64, |all, x| all | x);
        bits.checked_add(1).and_then(u64::checked_next_power_of_two).unwrap_or(u64::MAX)
    };
    let outs: Vec<(String, u64)> =
        names.iter().enumerate().map(|(i, name)| (name.clone(), reach(i))).collect();
    build(ins, &outs)
}

/// `sizes` coordinates of each dim from one input dim, the first of `order` fastest.
pub(super) fn identities(
    input: &str,
    sizes: &[u64],
    order: &[usize],
) -> Result<LinearLayout, Error> {
    let mut all = LinearLayout::EMPTY;
    for &dim in order {
        let size = sizes.get(dim).copied().unwrap_or(1);
        all = all.product(&LinearLayout::identity(size, input, &name(dim))?)?;
    }
    Ok(all)
}

/// The bases of an input dim.
fn bases_of(map: &LinearLayout, input: &str) -> Bases {
    (0..).map_while(|bit| map.basis(input, bit)).map(|basis| basis.as_slice().to_vec()).collect()
}

pub(super) fn order_of(map: &LinearLayout) -> Vec<String> {
    map.outs().iter().map(|dim| dim.name().to_owned()).collect()
}

pub(super) fn transposed(map: &LinearLayout, names: &[String]) -> Result<LinearLayout, Error> {
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    Ok(map.transpose_outs(&names)?)
}

/// The extent of a named dim.
fn extent(dims: &[u64], name: &str) -> u64 {
    let dim = name.strip_prefix("dim").and_then(|digits| digits.parse::<usize>().ok());
    dim.and_then(|dim| dims.get(dim)).copied().unwrap_or(1)
}

/// Returns the map of blocks to parts of the tensor, cut to its extents.
pub(super) fn block_map(blocks: &Bases, dims: &[u64]) -> Result<LinearLayout, Error> {
    let map = spanning(&[("block", blocks)], &names(dims.len()))?;
    clipped(&map, dims, false)
}

/// The extents of the part of one block.
pub(super) fn per_block(blocks: &LinearLayout, dims: &[u64]) -> Vec<u64> {
    let parts = blocks.outs().iter().map(tilewright_core::LinearDim::size);
    dims.iter().zip(parts).map(|(extent, parts)| (extent / parts).max(1)).collect()
}

/// The tile of one block, made as large as its part of the tensor, in every block.
pub(super) fn shared_out(
    tile: &LinearLayout,
    blocks: &Bases,
    dims: &[u64],
) -> Result<LinearLayout, Error> {
    let blocks = block_map(blocks, dims)?;
    let part = per_block(&blocks, dims);
    let tile = clipped(&repeated(tile, &part)?, &part, false)?;
    let all = tile.product(&transposed(&blocks, &order_of(&tile))?)?;
    transposed(&all, &names(dims.len()))
}

/// The map repeated along its first input dim until it reaches all of the extents, dim by dim in their order.
fn repeated(map: &LinearLayout, dims: &[u64]) -> Result<LinearLayout, Error> {
    let Some(first) = map.ins().first().map(|dim| dim.name().to_owned()) else {
        return Ok(map.clone());
    };
    let mut all = map.clone();
    for out in map.outs() {
        let times = (extent(dims, out.name()) / out.size()).max(1);
        all = all.product(&LinearLayout::identity(times, &first, out.name())?)?;
    }
    Ok(all)
}

/// The map into no more than the extents: in each dim the bits that reach furthest are sent to 0, those of
/// registers left out if `drop_registers`.
fn clipped(map: &LinearLayout, dims: &[u64], drop_registers: bool) -> Result<LinearLayout, Error> {
    let mut ins: Vec<(String, Bases)> =
        map.ins().iter().map(|dim| (dim.name().to_owned(), bases_of(map, dim.name()))).collect();
    let mut dropped = Vec::new();
    for (at, out) in map.outs().iter().enumerate() {
        let wanted = extent(dims, out.name());
        for (input, bases) in &mut ins {
            for (bit, basis) in bases.iter_mut().enumerate() {
                if basis[at] < wanted {
                    continue;
                }
                if !basis[at].is_power_of_two() {
                    return Err(Error::unsupported(format!(
                        "bit {bit} of `{input}` goes to {} in {}, beyond its extent {wanted}; only a power of two can be cut off",
                        basis[at],
                        out.name()
                    )));
                }
                if drop_registers && input == "register" {
                    dropped.push(bit);
                } else {
                    basis[at] = 0;
                }
            }
        }
    }
    for (_, bases) in ins.iter_mut().filter(|(input, _)| input == "register") {
        let mut bit = 0;
        bases.retain(|_| {
            bit += 1;
            !dropped.contains(&(bit - 1))
        });
    }
    let ins: Vec<(&str, &Bases)> = ins.iter().map(|(name, bases)| (name.as_str(), bases)).collect();
    let outs: Vec<(String, u64)> = map
        .outs()
        .iter()
        .map(|dim| (dim.name().to_owned(), dim.size().min(extent(dims, dim.name()))))
        .collect();
    build(&ins, &outs)
}

/// Bases in their order; dims that registers move fastest are repeated first.
pub(super) fn linear(all: &[Bases; 4], dims: &[u64]) -> Result<LinearLayout, Error> {
    let standard = names(dims.len());
    let [register, lane, warp, block] = all;
    let ins = [("register", register), ("lane", lane), ("warp", warp), ("block", block)];
    let map = spanning(&ins, &standard)?;
    let mut order: Vec<usize> = Vec::new();
    let moved = register.iter().filter_map(|basis| basis.iter().position(|&x| x != 0));
    for dim in moved.chain((0..dims.len()).rev()) {
        if !order.contains(&dim) {
            order.push(dim);
        }
    }
    let order: Vec<String> = order.into_iter().map(name).collect();
    let map = repeated(&transposed(&map, &order)?, dims)?;
    let map = transposed(&clipped(&map, dims, true)?, &standard)?;
    if map.is_surjective() {
        return Ok(map);
    }
    let message = "not an encoding of a tensor: no thread holds some of the coordinates";
    Err(Error::unsupported(message))
}

/// Memory, the first of `order` fastest, in which the columns of row r are xored with
/// `vec · (r / per_phase mod max_phase)`; rotating, with the next digit of r xored in.
pub(super) fn swizzled(
    [vec, per_phase, max_phase]: [u64; 3],
    rotating: bool,
    order: &[usize],
    dims: &[u64],
) -> Result<LinearLayout, Error> {
    let (&[column, row, ..], &[..]) = (order, dims) else {
        return identities("offset", dims, order);
    };
    let (columns, rows) = (dims[column], dims[row]);
    let bits = |extent: u64| (0..extent.trailing_zeros()).map(|bit| 1u64 << bit);
    let digit = |r: u64| r / per_phase % max_phase;
    let block = |r: u64| if rotating { digit(r / max_phase) } else { 0 };
    let phase = |r: u64| u128::from(vec) * u128::from(digit(r) ^ block(r));
    let mut bases: Bases = bits(columns).map(|c| vec![c, 0]).collect();
    // Below the number of columns.
    bases.extend(bits(rows).map(|r| vec![(phase(r) % u128::from(columns)) as u64, r]));
    let outs = [(name(column), columns), (name(row), rows)];
    let plane = build(&[("offset", &bases)], &outs)?;
    let rest = identities("offset", dims, order.get(2..).unwrap_or(&[]))?;
    Ok(plane.product(&rest)?)
}
