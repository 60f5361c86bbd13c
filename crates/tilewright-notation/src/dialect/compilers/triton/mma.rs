//! Encodings of matrix instructions: the lanes and registers that hold accumulators and operands.
//!
//! ```text
//! nvidia_mma   versionMajor (2 or 3), versionMinor, warpsPerCTA, instrShape [, blocks]
//! amd_mfma     version, warpsPerCTA, instrShape (32×32, 16×16, 64×4 or 4×64), isTransposed [, blocks]
//!              [, tilesPerWarp] [, elementBitWidth (32 or 64)]
//! amd_wmma     version (1, 2 or 3), isTranspose, ctaLayout | warpsPerCTA [, blocks] [, instrShape]
//! ctaLayout    '{' [register, a list of bases ,] warp, a list of bases '}', in units of instructions
//! dot_op       opIdx, parent: one of these or blocked [, kWidth]
//! ```
//!
//! Law: a tile is a product of factors, each a number of registers or lanes along one dim, the fastest first; the
//! warps follow. No warp of an operand splits k: warps along k hold the same elements.
//! Source: Triton, `LinearLayoutConversions.cpp`; the ISA manuals of the instructions.
//!
//! Parts of maps from places to coordinates, for a tensor of given extents.
//!
//! Law: each coordinate is reached; the map of a tensor larger than a tile repeats the tile, more registers (or
//! offsets) first in the order of the dims; that of a smaller one sends the bits that reach furthest to 0.

use std::fmt;

use tilewright_core::LinearLayout;

use super::values::{BLOCKS, Bases, bases, blocks, list, lists, more, powers};
use crate::{
    Error,
    literal::{Literal, LiteralFields},
};

/// An instruction, with the warps that share a block of its tiles.
#[derive(Debug)]
pub(super) struct Mma {
    unit: MmaUnit,
    pub(super) warps: Vec<u64>,
    /// The bases of registers and warps, in units of instructions, where the text has these and not numbers of warps.
    shares: Option<[Bases; 2]>,
    /// The neighbouring instructions of a warp along each dim; empty where there is one.
    tiles: Vec<u64>,
    blocks: Bases,
}

#[derive(Debug)]
enum MmaUnit {
    Nvidia { major: u64, instr: Vec<u64> },
    Mfma { version: u64, instr: Vec<u64>, transposed: bool, bits: u64 },
    Wmma { version: u64, transposed: bool, instr: Vec<u64> },
}

/// A number of registers or lanes along a dim; along none, they hold the same.
struct Factor(&'static str, u64, Option<usize>);

pub(super) fn read(kind: &str, body: &str) -> Result<Mma, Error> {
    let own: &[&str] = match kind {
        "nvidia_mma" => &["versionMajor", "versionMinor", "warpsPerCTA", "instrShape"],
        "amd_mfma" => &[
            "version",
            "versionMajor",
            "versionMinor",
            "warpsPerCTA",
            "instrShape",
            "isTransposed",
            "tilesPerWarp",
            "elementBitWidth",
        ],
        _ => &["version", "isTranspose", "isTransposed", "warpsPerCTA", "ctaLayout", "instrShape"],
    };
    let legal = [own, &BLOCKS[..]].concat();
    let mut fields = LiteralFields::read(body, "an encoding of a matrix instruction", &legal, 0)?;
    let shares = fields.take(&["ctaLayout"])?.map(|value| shares(&value)).transpose()?;
    let warps = match &shares {
        Some([register, warp]) => {
            let rank = register.iter().chain(warp).next().map_or(2, Vec::len);
            vec![1; rank]
        }
        None => powers(&fields.need(&["warpsPerCTA"])?)?,
    };
    let tiles = match fields.take(&["tilesPerWarp"])? {
        Some(value) => tiles(&value, warps.len())?,
        None => Vec::new(),
    };
    let unit = match kind {
        "nvidia_mma" => nvidia(&mut fields)?,
        "amd_mfma" => mfma(&mut fields)?,
        _ => wmma(&mut fields)?,
    };
    if warps.len() < 2 {
        let message = "an instruction multiplies matrices: warps along 2 dims at least";
        return Err(Error::parse((0, body.len()), message));
    }
    let blocks = blocks(&mut fields, Some(warps.len()))?;
    Ok(Mma { unit, warps, shares, tiles, blocks })
}

/// `{register = […], warp = […]}`.
fn shares(value: &Literal<'_>) -> Result<[Bases; 2], Error> {
    let mut fields = value.fields("a layout of instructions", &["register", "warp"])?;
    let [register, warp] = ["register", "warp"]
        .map(|name| fields.take(&[name])?.map_or(Ok(Bases::new()), |value| bases(&value)));
    let (register, warp) = (register?, warp?);
    let mut all = register.iter().chain(&warp);
    let rank = all.next().map_or(2, Vec::len);
    if all.any(|basis| basis.len() != rank) {
        return Err(Error::parse(value.span, "bases of different numbers of dims"));
    }
    Ok([register, warp])
}

/// Returns the instructions of a warp along each dim; empty where there is one.
fn tiles(value: &Literal<'_>, rank: usize) -> Result<Vec<u64>, Error> {
    let tiles = powers(value)?;
    if tiles.len() != rank {
        return Err(Error::parse(value.span, format!("expected one per dim, {rank}")));
    }
    Ok(if tiles.iter().all(|&tiles| tiles == 1) { Vec::new() } else { tiles })
}

fn nvidia(fields: &mut LiteralFields<'_>) -> Result<MmaUnit, Error> {
    let version = fields.need(&["versionMajor"])?;
    let major = version.unsigned()?;
    if ![2, 3].contains(&major) {
        let message = "mma.sync is version 2 and wgmma version 3; others are not supported";
        return Err(Error::parse(version.span, message));
    }
    fields.take(&["versionMinor"])?;
    let value = fields.need(&["instrShape"])?;
    let instr = value.dims()?;
    if instr.len() < 2 {
        return Err(Error::parse(value.span, "expected the extents m and n of the instruction"));
    }
    Ok(MmaUnit::Nvidia { major, instr })
}

fn mfma(fields: &mut LiteralFields<'_>) -> Result<MmaUnit, Error> {
    let version = match fields.take(&["version"])? {
        Some(version) => version,
        None => fields.need(&["versionMajor"])?,
    };
    fields.take(&["versionMinor"])?;
    let value = fields.need(&["instrShape"])?;
    let instr = value.dims()?;
    let transposed = fields.need(&["isTransposed"])?.word()? == "true";
    let bits = match fields.take(&["elementBitWidth"])? {
        Some(bits) => bits.unsigned()?,
        None => 32,
    };
    let known = match instr.as_slice() {
        [32, 32, ..] => bits == 32,
        [16, 16, ..] => [32, 64].contains(&bits),
        [64, 4, ..] => transposed && bits == 32,
        [4, 64, ..] => !transposed && bits == 32,
        _ => false,
    };
    if !known {
        let message = "expected [16, 16] of 32 or 64 bits, [32, 32], [64, 4] transposed, or [4, 64] not transposed";
        return Err(Error::parse(value.span, message));
    }
    Ok(MmaUnit::Mfma { version: version.unsigned()?, instr, transposed, bits })
}

fn wmma(fields: &mut LiteralFields<'_>) -> Result<MmaUnit, Error> {
    let value = fields.need(&["version"])?;
    let version = value.unsigned()?;
    if ![1, 2, 3].contains(&version) {
        return Err(Error::parse(value.span, "versions 1, 2 and 3 are supported"));
    }
    let instr = match fields.take(&["instrShape"])? {
        Some(instr) => {
            let shape = instr.dims()?;
            let known = match shape.as_slice() {
                [16, 16] => true,
                [16, 16, k] => k.is_power_of_two(),
                [32, 16, 128] => version == 3,
                _ => false,
            };
            if !known {
                let message =
                    "expected [16, 16, k], or [32, 16, 128] of version 3; others are not supported";
                return Err(Error::parse(instr.span, message));
            }
            shape
        }
        None => vec![16, 16, 16],
    };
    let transposed = match fields.take(&["isTranspose", "isTransposed"])? {
        Some(value) => value.word()? == "true",
        None => false,
    };
    Ok(MmaUnit::Wmma { version, transposed, instr })
}

/// The dims of an array of this rank, the last first.
fn row_major(rank: usize) -> Vec<usize> {
    (0..rank).rev().collect()
}

/// The position of k in an operand, and of the other dim of its matrices.
fn dims_of_operand(operand: u64, rank: usize) -> (usize, usize) {
    if operand == 0 { (rank - 1, rank - 2) } else { (rank - 2, rank - 1) }
}

impl Mma {
    /// The map of an accumulator of these extents.
    pub(super) fn map(&self, dims: &[u64]) -> Result<LinearLayout, Error> {
        let (m, n) = (dims.len() - 2, dims.len() - 1);
        let factors = match &self.unit {
            MmaUnit::Nvidia { major, instr } => {
                // Of wgmma the extents are m, n and k; of mma.sync those of the dims.
                let at = if *major == 3 { 0 } else { instr.len() - 2 };
                nvidia_factors((n, instr[at + 1]), (m, instr[at]), 2)
            }
            MmaUnit::Mfma { instr, transposed, bits, .. } => {
                let (m, n) = if *transposed { (n, m) } else { (m, n) };
                let registers = Factor("register", 4, Some(m));
                match instr[0] {
                    32 => vec![
                        registers,
                        Factor("lane", 32, Some(n)),
                        Factor("lane", 2, Some(m)),
                        Factor("register", 4, Some(m)),
                    ],
                    16 if *bits == 64 => {
                        vec![Factor("lane", 16, Some(n)), Factor("lane", 4, Some(m)), registers]
                    }
                    16 => vec![registers, Factor("lane", 16, Some(n)), Factor("lane", 4, Some(m))],
                    _ => vec![registers, Factor("lane", 64, Some(n))],
                }
            }
            MmaUnit::Wmma { version, transposed, instr } => {
                let (m, n) = if *transposed { (n, m) } else { (m, n) };
                let registers = Factor("register", 8, Some(m));
                let (lanes, pair) = (Factor("lane", 16, Some(n)), Factor("lane", 2, Some(m)));
                match version {
                    1 => vec![lanes, pair, registers],
                    _ => vec![registers, lanes, pair, Factor("register", instr[0] / 16, Some(m))],
                }
            }
        };
        self.shared(&row_major(dims.len()), &factors, None, dims)
    }

    /// The map of an operand of these extents, of which a lane has `width` neighbours along k.
    pub(super) fn operand(
        &self,
        operand: u64,
        width: u64,
        dims: &[u64],
    ) -> Result<LinearLayout, Error> {
        let (k, other) = dims_of_operand(operand, dims.len());
        let unsupported = |message| Err(Error::unsupported(message));
        if !width.is_power_of_two() {
            return unsupported("an operand of an instruction has a kWidth, a power of two");
        }
        let first = Factor("register", width, Some(k));
        let factors = match &self.unit {
            MmaUnit::Nvidia { major: 3, .. } if operand == 1 => {
                return unsupported("wgmma takes its second operand from shared memory");
            }
            MmaUnit::Nvidia { .. } => {
                let rows = if operand == 0 { 16 } else { 8 };
                nvidia_factors((k, 8 * width), (other, rows), width)
            }
            MmaUnit::Mfma { instr, .. } => {
                let rows = instr[operand as usize];
                vec![first, Factor("lane", rows, Some(other)), Factor("lane", 64 / rows, Some(k))]
            }
            MmaUnit::Wmma { version: 1, .. } => {
                vec![first, Factor("lane", 16, Some(other)), Factor("lane", 2, None)]
            }
            MmaUnit::Wmma { transposed, instr, .. } => {
                let along = instr.get(2).copied().unwrap_or(16) / (2 * width);
                // Of 32×16, the operand with the 32 rows has two tiles of 16.
                let tiles = if operand == u64::from(*transposed) { instr[0] / 16 } else { 1 };
                vec![
                    first,
                    Factor("lane", 16, Some(other)),
                    Factor("lane", 2, Some(k)),
                    Factor("register", along.max(1), Some(k)),
                    Factor("register", tiles, Some(other)),
                ]
            }
        };
        let mut order = vec![k, other];
        order.extend((0..dims.len() - 2).rev());
        self.shared(&order, &factors, Some(k), dims)
    }

    /// The tile of these factors in all warps, of which those along `k` hold the same, over the whole array, which is
    /// repeated in `order`.
    fn shared(
        &self,
        order: &[usize],
        factors: &[Factor],
        k: Option<usize>,
        dims: &[u64],
    ) -> Result<LinearLayout, Error> {
        let mut tile = identities("register", &vec![1; dims.len()], order)?;
        for factor in factors {
            tile = tile.product(&factor.map(order)?)?;
        }
        if let Some(shares) = &self.shares {
            let shares = shared_by(shares, k, dims.len())?;
            let tile = tile.product(&transposed(&shares, &order_of(&tile))?)?;
            return shared_out(&tile, &without(&self.blocks, k), dims);
        }
        let mut by_warp = row_major(dims.len());
        if matches!(self.unit, MmaUnit::Nvidia { major: 3, .. }) {
            by_warp.swap(0, 1);
        }
        let blocks = without(&self.blocks, k);
        let part = per_block(&block_map(&blocks, dims)?, dims);
        if let Some(k) = k.filter(|_| !self.tiles.is_empty()) {
            tile = filled(&tile, k, &part)?;
        }
        for dim in by_warp {
            let size = self.warps.get(dim).copied().unwrap_or(1);
            let own = (Some(dim) != k).then_some(dim);
            if let (Some(&tiles), Some(dim)) = (self.tiles.get(dim), own) {
                tile = tile.product(&Factor("register", tiles, Some(dim)).map(order)?)?;
            }
            tile = tile.product(&Factor("warp", size, own).map(order)?)?;
            if !self.tiles.is_empty() && own.is_some() {
                tile = filled(&tile, dim, &part)?;
            }
        }
        shared_out(&tile, &blocks, dims)
    }
}

impl Factor {
    fn map(&self, order: &[usize]) -> Result<LinearLayout, Error> {
        let Factor(input, size, dim) = self;
        Ok(match dim {
            Some(dim) => LinearLayout::identity(*size, input, &name(*dim))?,
            None => LinearLayout::zeros(*size, input, &name(order[0]))?,
        })
    }
}

/// Returns the tile with registers added along a dim until they reach its extent.
fn filled(tile: &LinearLayout, dim: usize, dims: &[u64]) -> Result<LinearLayout, Error> {
    let own = tile.outs().iter().find(|out| out.name() == name(dim));
    let times = (dims[dim] / own.map_or(1, |out| out.size())).max(1);
    Ok(tile.product(&LinearLayout::identity(times, "register", &name(dim))?)?)
}

/// The map of registers and warps in units of instructions. Of an operand, warps along `k` hold the same, and
/// registers along it are left out.
fn shared_by(shares: &[Bases; 2], k: Option<usize>, rank: usize) -> Result<LinearLayout, Error> {
    let [mut register, warp] = shares.each_ref().map(|bases| without(bases, k));
    register.retain(|basis| basis.iter().any(|&entry| entry != 0));
    let ins = [("register", &register), ("warp", &warp)];
    spanning(&ins, &names(rank))
}

/// The tile of `mma`: pairs of `width` in four lanes along the inner dim, eight lanes along the outer one.
fn nvidia_factors(
    (inner, columns): (usize, u64),
    (outer, rows): (usize, u64),
    width: u64,
) -> Vec<Factor> {
    vec![
        Factor("register", width, Some(inner)),
        Factor("lane", 4, Some(inner)),
        Factor("lane", 8, Some(outer)),
        Factor("register", (rows / 8).max(1), Some(outer)),
        Factor("register", (columns / (4 * width)).max(1), Some(inner)),
    ]
}

/// Blocks of a tensor that all have the whole dim `k`.
fn without(blocks: &Bases, k: Option<usize>) -> Bases {
    let mut all = blocks.clone();
    for basis in &mut all {
        if let Some(entry) = k.and_then(|k| basis.get_mut(k)) {
            *entry = 0;
        }
    }
    all
}

/// The operand of a product by blocked registers: each thread has all of k.
pub(super) fn blocked_operand(
    [size, threads, warps]: [&[u64]; 3],
    order: &[usize],
    blocks: &Bases,
    operand: u64,
    dims: &[u64],
) -> Result<LinearLayout, Error> {
    let (k, _) = dims_of_operand(operand, dims.len());
    let mut registers = size.to_vec();
    registers[k] = dims[k];
    let mut tile = identities("register", &registers, order)?;
    for (input, sizes) in [("lane", threads), ("warp", warps)] {
        for &dim in order {
            let part = match dim == k {
                true => LinearLayout::zeros(sizes[dim], input, &name(dim))?,
                false => LinearLayout::identity(sizes[dim], input, &name(dim))?,
            };
            tile = tile.product(&part)?;
        }
    }
    shared_out(&tile, &without(blocks, Some(k)), dims)
}

impl fmt::Display for Mma {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (warps, more) = (list(&self.warps), more(&self.blocks));
        match &self.unit {
            MmaUnit::Nvidia { major, instr } => write!(
                f,
                "#ttg.nvidia_mma<{{versionMajor = {major}, versionMinor = 0, warpsPerCTA = {warps}{more}, instrShape = {}}}>",
                list(instr)
            ),
            MmaUnit::Mfma { version, instr, transposed, bits } => {
                write!(
                    f,
                    "#ttg.amd_mfma<{{version = {version}, warpsPerCTA = {warps}{more}, instrShape = {}, isTransposed = {transposed}",
                    list(instr)
                )?;
                if !self.tiles.is_empty() {
                    write!(f, ", tilesPerWarp = {}", list(&self.tiles))?;
                }
                if *bits != 32 {
                    write!(f, ", elementBitWidth = {bits}")?;
                }
                f.write_str("}>")
            }
            MmaUnit::Wmma { version, transposed, instr } => {
                write!(f, "#ttg.amd_wmma<{{version = {version}, isTranspose = {transposed}, ")?;
                match &self.shares {
                    None => write!(f, "warpsPerCTA = {warps}")?,
                    Some([register, warp]) if register.is_empty() => {
                        write!(f, "ctaLayout = {{warp = {}}}", lists(warp))?;
                    }
                    Some([register, warp]) => {
                        let (register, warp) = (lists(register), lists(warp));
                        write!(f, "ctaLayout = {{register = {register}, warp = {warp}}}")?;
                    }
                }
                f.write_str(&more)?;
                if instr.as_slice() != [16, 16, 16] {
                    write!(f, ", instrShape = {}", list(instr))?;
                }
                f.write_str("}>")
            }
        }
    }
}

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
