//! Encodings of matrix instructions: who holds the elements of accumulators, and of operands.
//!
//! ```text
//! nvidia_mma   versionMajor (2 or 3), versionMinor, warpsPerCTA, instrShape [, blocks]
//! amd_mfma     version, warpsPerCTA, instrShape (32×32 or 16×16), isTransposed [, blocks]
//! amd_wmma     version (1 or 2), isTranspose, warpsPerCTA [, blocks]
//! dot_op       opIdx, parent: one of these or blocked [, kWidth]
//! ```
//!
//! Law: a tile is a product of factors, each a number of registers or lanes along one dim, the fastest first; the
//! warps follow. An operand has no warps along k: these hold the same.
//! Source: Triton, `LinearLayoutConversions.cpp`; the ISA manuals of the instructions.

use std::fmt;

use tilewright_core::LinearLayout;

use super::{
    maps::{identities, name, shared_out},
    values::{BLOCKS, Bases, blocks, list, more, powers},
};
use crate::{
    error::{Error, Kind},
    literal::Fields,
};

/// An instruction, with the warps that share a block of its tiles.
#[derive(Debug)]
pub(super) struct Mma {
    unit: Unit,
    pub(super) warps: Vec<u64>,
    blocks: Bases,
}

#[derive(Debug)]
enum Unit {
    Nvidia { major: u64, instr: Vec<u64> },
    Mfma { version: u64, instr: Vec<u64>, transposed: bool },
    Wmma { version: u64, transposed: bool },
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
        ],
        _ => &["version", "isTranspose", "warpsPerCTA", "instrShape"],
    };
    let legal = [own, &BLOCKS[..]].concat();
    let mut fields = Fields::read(body, "an encoding of a matrix instruction", &legal, 0)?;
    let warps = powers(&fields.need(&["warpsPerCTA"])?)?;
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
    Ok(Mma { unit, warps, blocks })
}

fn nvidia(fields: &mut Fields<'_>) -> Result<Unit, Error> {
    let version = fields.need(&["versionMajor"])?;
    let major = version.unsigned()?;
    if ![2, 3].contains(&major) {
        let message = "mma.sync is version 2 and wgmma version 3; others are not read";
        return Err(Error::parse(version.span, message));
    }
    fields.take(&["versionMinor"])?;
    let value = fields.need(&["instrShape"])?;
    let instr = value.dims()?;
    if instr.len() < 2 {
        return Err(Error::parse(value.span, "expected the extents m and n of the instruction"));
    }
    Ok(Unit::Nvidia { major, instr })
}

fn mfma(fields: &mut Fields<'_>) -> Result<Unit, Error> {
    let version = match fields.take(&["version"])? {
        Some(version) => version,
        None => fields.need(&["versionMajor"])?,
    };
    fields.take(&["versionMinor"])?;
    let value = fields.need(&["instrShape"])?;
    let instr = value.dims()?;
    if !matches!(instr.as_slice(), [32, 32, ..] | [16, 16, ..]) {
        return Err(Error::parse(value.span, "expected [32, 32] or [16, 16]; others are not read"));
    }
    if let Some(tiles) = fields.take(&["tilesPerWarp"])?
        && tiles.dims()?.iter().any(|&tiles| tiles != 1)
    {
        return Err(Error::parse(tiles.span, "a warp has one tile in each turn here"));
    }
    let transposed = fields.need(&["isTransposed"])?.word()? == "true";
    Ok(Unit::Mfma { version: version.unsigned()?, instr, transposed })
}

fn wmma(fields: &mut Fields<'_>) -> Result<Unit, Error> {
    let value = fields.need(&["version"])?;
    let version = value.unsigned()?;
    if ![1, 2].contains(&version) {
        return Err(Error::parse(value.span, "versions 1 and 2 are read"));
    }
    if let Some(instr) = fields.take(&["instrShape"])?
        && !matches!(instr.dims()?.as_slice(), [16, 16, ..])
    {
        return Err(Error::parse(instr.span, "expected [16, 16]; others are not read"));
    }
    let transposed = match fields.take(&["isTranspose"])? {
        Some(value) => value.word()? == "true",
        None => false,
    };
    Ok(Unit::Wmma { version, transposed })
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
            Unit::Nvidia { major, instr } => {
                // Of wgmma the extents are m, n and k; of mma.sync those of the dims.
                let at = if *major == 3 { 0 } else { instr.len() - 2 };
                nvidia_factors((n, instr[at + 1]), (m, instr[at]), 2)
            }
            Unit::Mfma { instr, transposed, .. } => {
                let (m, n) = if *transposed { (n, m) } else { (m, n) };
                match instr[0] {
                    32 => vec![
                        Factor("register", 4, Some(m)),
                        Factor("lane", 32, Some(n)),
                        Factor("lane", 2, Some(m)),
                        Factor("register", 4, Some(m)),
                    ],
                    _ => vec![
                        Factor("register", 4, Some(m)),
                        Factor("lane", 16, Some(n)),
                        Factor("lane", 4, Some(m)),
                    ],
                }
            }
            Unit::Wmma { version, transposed } => {
                let (m, n) = if *transposed { (n, m) } else { (m, n) };
                let registers = Factor("register", 8, Some(m));
                let (lanes, pair) = (Factor("lane", 16, Some(n)), Factor("lane", 2, Some(m)));
                match version {
                    1 => vec![lanes, pair, registers],
                    _ => vec![registers, lanes, pair],
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
        let unsupported = |message| Err(Error::new(Kind::Unsupported, message));
        if !width.is_power_of_two() {
            return unsupported("an operand of an instruction has a kWidth, a power of two");
        }
        let first = Factor("register", width, Some(k));
        let factors = match &self.unit {
            Unit::Nvidia { major: 3, .. } if operand == 1 => {
                return unsupported("wgmma takes its second operand from shared memory");
            }
            Unit::Nvidia { .. } => {
                let rows = if operand == 0 { 16 } else { 8 };
                nvidia_factors((k, 8 * width), (other, rows), width)
            }
            Unit::Mfma { instr, .. } => {
                let rows = Factor("lane", instr[0], Some(other));
                vec![first, rows, Factor("lane", 64 / instr[0], Some(k))]
            }
            Unit::Wmma { version, .. } => {
                let halves = if *version == 1 { None } else { Some(k) };
                vec![first, Factor("lane", 16, Some(other)), Factor("lane", 2, halves)]
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
        let mut by_warp = row_major(dims.len());
        if matches!(self.unit, Unit::Nvidia { major: 3, .. }) {
            by_warp.swap(0, 1);
        }
        let warps = by_warp.iter().map(|&dim| {
            let size = self.warps.get(dim).copied().unwrap_or(1);
            Factor("warp", size, (Some(dim) != k).then_some(dim))
        });
        let all: Vec<&Factor> = factors.iter().collect();
        for Factor(input, size, dim) in all.into_iter().chain(&warps.collect::<Vec<_>>()) {
            let factor = match dim {
                Some(dim) => LinearLayout::identity(*size, input, &name(*dim))?,
                None => LinearLayout::zeros(*size, input, &name(order[0]))?,
            };
            tile = tile.product(&factor)?;
        }
        shared_out(&tile, &without(&self.blocks, k), dims)
    }
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
            Unit::Nvidia { major, instr } => write!(
                f,
                "#ttg.nvidia_mma<{{versionMajor = {major}, versionMinor = 0, warpsPerCTA = {warps}{more}, instrShape = {}}}>",
                list(instr)
            ),
            Unit::Mfma { version, instr, transposed } => write!(
                f,
                "#ttg.amd_mfma<{{version = {version}, warpsPerCTA = {warps}{more}, instrShape = {}, isTransposed = {transposed}}}>",
                list(instr)
            ),
            Unit::Wmma { version, transposed } => write!(
                f,
                "#ttg.amd_wmma<{{version = {version}, isTranspose = {transposed}, warpsPerCTA = {warps}{more}}}>"
            ),
        }
    }
}
