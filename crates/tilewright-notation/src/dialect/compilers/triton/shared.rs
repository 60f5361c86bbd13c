//! Memories of tensor cores: shared memory as Hopper reads it, `nvmma_shared`, and tensor memory of Blackwell.
//!
//! ```text
//! nvmma_shared   swizzlingByteWidth (0, 32, 64 or 128), transposed, elementBitWidth [, fp4Padded] [, blocks]
//! ```
//!
//! Tiles of eight rows of `swizzlingByteWidth` bytes, in which units of 16 bytes are xored with the row; tiles along
//! the rows first. The rows of batches are counted through all dims but the contiguous one, which is the last, or the
//! first if transposed. Boxes have at most 256 elements of a dim; an array of more is many boxes. Of fp4 that is
//! padded, eight bytes of elements are followed by eight of padding. Source: Triton, `getCoreMatrixLinearLayout`; CUDA,
//! "Tensor map swizzle modes".
//!
//! Shared memory with padding: `#ttg.padded_shared<[512:+16] {order = [1, 0], shape = [16, 32]}>`.
//!
//! ```text
//! padded := '[' int ':' '+' int { ',' int ':' '+' int } ']' '{' fields '}'
//! fields := order [, shape] | offset [, block]: lists of bases; each block has memory of its own
//! ```
//!
//! Behind each interval of elements, a number more is left free: offset x becomes x + Σ ⌊x / interval⌋ · padding. So
//! the bits of the offset are strides with gaps: bit b of the plain offset is worth 2^b and the padding of the
//! intervals that it counts. Bases of several bits are xors below a sum, which no strides can express. Source: Triton,
//! `PaddedSharedEncodingAttr`.

use std::fmt;

use tilewright_core::{Layout, LinearDim, LinearLayout, Mode, TensorLayout};

use super::{
    mma::{block_map, build, identities, name, per_block, shared_out, transposed},
    values::{BLOCKS, Bases, bases, blocks, flag, list, lists, more, order, power, same_rank},
};
use crate::{
    Error,
    literal::{LiteralFields, Scanner, of_map},
};

#[derive(Debug)]
pub(super) struct Nvmma {
    width: u64,
    transposed: bool,
    pub(super) bits: u64,
    pub(super) padded: bool,
    blocks: Bases,
}

/// The rows of a tile.
const ROWS: u64 = 8;

/// The most elements of a dim in a box that the copy engine moves at once.
const BOX: u64 = 256;

pub(super) fn read(body: &str) -> Result<Nvmma, Error> {
    let own = ["swizzlingByteWidth", "transposed", "elementBitWidth", "fp4Padded", "rank"];
    let legal = [&own[..], &BLOCKS[..]].concat();
    let mut fields = LiteralFields::read(body, "an encoding of tensor cores' memory", &legal, 0)?;
    let (width, bits) = (fields.need(&[own[0]])?, fields.need(&[own[2]])?);
    let (transposed, padded) = (flag(fields.take(&[own[1]])?)?, flag(fields.take(&[own[3]])?)?);
    fields.take(&[own[4]])?;
    if ![0, 32, 64, 128].contains(&width.unsigned()?) {
        return Err(Error::parse(width.span, "expected 0, 32, 64 or 128 bytes"));
    }
    if ![8, 16, 32, 64].contains(&bits.unsigned()?) {
        return Err(Error::parse(bits.span, "expected elements of 8, 16, 32 or 64 bits"));
    }
    let blocks = blocks(&mut fields, None)?;
    let (width, bits) = (width.unsigned()?, bits.unsigned()?);
    Ok(Nvmma { width, transposed, bits, padded, blocks })
}

impl Nvmma {
    /// The rank that the blocks give.
    pub(super) fn rank(&self) -> Option<usize> {
        self.blocks.first().map(Vec::len)
    }

    /// The map of a tensor of these extents.
    pub(super) fn map(&self, dims: &[u64]) -> Result<LinearLayout, Error> {
        let rank = dims.len();
        let part = per_block(&block_map(&self.blocks, dims)?, dims);
        let unsupported = |message: String| Err(Error::unsupported(message));
        let least = if self.width == 0 { 1 } else { 2 };
        if rank < least || (self.transposed && rank == 1) {
            return unsupported(format!("nvmma_shared of {rank} dims; it has {least} at least"));
        }
        // The contiguous dim, and the others with the fastest first.
        let (column, rows): (usize, Vec<usize>) = match self.transposed {
            true => (0, (1..rank).rev().collect()),
            false => (rank - 1, (0..rank - 1).rev().collect()),
        };
        if self.width == 0 && self.transposed && rank > 2 {
            let message = "nvmma_shared of batches, transposed and without a swizzle: Triton gives several offsets to an element; set swizzlingByteWidth to 32, 64 or 128";
            return unsupported(message.to_owned());
        }
        let extent = |dim: usize| part[dim].min(BOX);
        let columns = if self.width == 0 { extent(column) } else { self.columns() };
        let mut outer: Vec<(usize, u64)> = Vec::new();
        for &dim in &rows {
            outer.extend((0..extent(dim).trailing_zeros()).map(|bit| (dim, 1 << bit)));
        }
        if self.transposed {
            // Triton starts with bit number `others` of this list and wraps around.
            let others = rows.iter().skip(1).map(|&dim| extent(dim).trailing_zeros()).sum::<u32>();
            outer.rotate_left(others as usize);
        }
        let few = if self.transposed { extent(rows[0]) < ROWS } else { outer.len() < 3 };
        if self.width > 0 && (few || part[column] < columns) {
            return unsupported(format!(
                "an array of {} rows of {}; a tile of nvmma_shared is {ROWS} rows of {columns}",
                if self.transposed { extent(rows[0]) } else { 1 << outer.len() },
                part[column]
            ));
        }
        let at = |dim: usize, to: u64, of_column: u64| {
            let mut image = vec![0; rank];
            image[dim] = to;
            image[column] += of_column;
            image
        };
        let mut bases: Bases =
            self.column_bits(columns).map(|of_column| at(column, 0, of_column)).collect();
        let mixed = |row: usize| if row < 3 { self.mixed(1 << row) } else { 0 };
        bases.extend(outer.iter().enumerate().map(|(row, &(dim, to))| at(dim, to, mixed(row))));
        let size = |dim: usize| if dim == column { columns } else { extent(dim) };
        let outs: Vec<(String, u64)> = (0..rank).map(|dim| (name(dim), size(dim))).collect();
        let tile = build(&[("offset", &bases)], &outs)?;
        // Boxes follow one another along the first dim, then the second; without a swizzle along the last first.
        let mut order: Vec<String> = (0..rank).map(name).collect();
        if self.width == 0 {
            order.reverse();
        }
        shared_out(&transposed(&tile, &order)?, &self.blocks, dims)
    }

    /// The elements of a row of a tile.
    fn columns(&self) -> u64 {
        8 * self.width / self.bits / if self.padded { 2 } else { 1 }
    }

    /// The column of each power of two below the places of a row.
    fn column_bits(&self, columns: u64) -> impl Iterator<Item = u64> {
        let places = if self.width > 0 && self.padded { 2 * columns } else { columns };
        (0..places.trailing_zeros()).map(|bit| self.packed(1 << bit))
    }

    /// The column of a place: of sixteen places the last eight are padding, if there is padding.
    fn packed(&self, place: u64) -> u64 {
        if self.width > 0 && self.padded { place / 16 * 8 + place % 8 } else { place }
    }

    /// The column that row `row` of a tile is xored with.
    fn mixed(&self, row: u64) -> u64 {
        if self.width == 0 {
            return 0;
        }
        let (vec, per_phase, max_phase) = (128 / self.bits, 128 / self.width, self.width / 16);
        self.packed(vec * (row / per_phase % max_phase))
    }
}

impl fmt::Display for Nvmma {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Nvmma { width, transposed, bits, padded, blocks } = self;
        let padded = if *padded { ", fp4Padded = true" } else { "" };
        write!(
            f,
            "#ttg.nvmma_shared<{{swizzlingByteWidth = {width}, transposed = {transposed}, elementBitWidth = {bits}{padded}{}}}>",
            more(blocks)
        )
    }
}

#[derive(Debug)]
pub(super) struct Padded {
    /// An interval, and what is left free behind it.
    gaps: Vec<(u64, u64)>,
    plain: UnpaddedOffsets,
}

/// The offsets before padding.
#[derive(Debug)]
enum UnpaddedOffsets {
    Order { order: Vec<usize>, shape: Option<Vec<u64>> },
    Bases { offset: Bases, block: Bases },
}

/// Reads the text between the angles.
pub(super) fn read_of_padded(body: &str) -> Result<Padded, Error> {
    let mut scan = Scanner::new(body);
    scan.expect("[")?;
    let mut gaps: Vec<(u64, u64)> = Vec::new();
    while gaps.is_empty() || scan.eat(",") {
        scan.skip();
        let from = scan.at();
        let interval = scan.integer()?;
        scan.expect(":")?;
        scan.expect("+")?;
        let padding = scan.integer()?;
        let fits = interval.is_power_of_two() && padding.is_power_of_two();
        if !fits || interval.max(padding) > 1 << 40 || gaps.iter().any(|gap| gap.0 == interval) {
            let message = "expected intervals and padding of powers of two, each interval once";
            return Err(Error::parse((from, scan.at()), message));
        }
        gaps.push((interval, padding));
    }
    scan.expect("]")?;
    scan.skip();
    let at = scan.at();
    let plain = fields(scan.rest()).map_err(|error| error.shifted(at))?;
    Ok(Padded { gaps, plain })
}

fn fields(body: &str) -> Result<UnpaddedOffsets, Error> {
    let body = body.trim_end();
    let legal = ["order", "shape", "offset", "block"];
    let mut fields = LiteralFields::read(body, "a padded encoding", &legal, 0)?;
    if let Some(value) = fields.take(&["offset"])? {
        let offset = bases(&value)?;
        let block = fields.take(&["block"])?.map_or(Ok(Vec::new()), |value| bases(&value))?;
        same_rank(offset.iter().chain(&block), body)?;
        return Ok(UnpaddedOffsets::Bases { offset, block });
    }
    let order = order(&fields.need(&["order"])?)?;
    let shape = fields.take(&["shape"])?;
    let extents = shape.as_ref().map(|value| value.dims()).transpose()?;
    match (shape, &extents) {
        (Some(value), Some(extents)) if extents.len() != order.len() => {
            Err(Error::parse(value.span, format!("expected {} extents", order.len())))
        }
        _ => Ok(UnpaddedOffsets::Order { order, shape: extents }),
    }
}

impl Padded {
    pub(super) fn rank(&self) -> Option<usize> {
        match &self.plain {
            UnpaddedOffsets::Order { order, .. } => Some(order.len()),
            UnpaddedOffsets::Bases { offset, block } => {
                offset.iter().chain(block).next().map(Vec::len)
            }
        }
    }

    /// The map from plain offsets to coordinates.
    pub(super) fn map(&self, dims: &[u64]) -> Result<LinearLayout, Error> {
        match &self.plain {
            UnpaddedOffsets::Order { shape: Some(shape), .. } if shape != dims => {
                Err(Error::mismatch(format!("`{self}` is of an array of {}", list(shape))))
            }
            UnpaddedOffsets::Order { order, .. } => identities("offset", dims, order),
            UnpaddedOffsets::Bases { offset, block } => {
                let outs: Vec<(String, u64)> =
                    dims.iter().enumerate().map(|(i, &extent)| (name(i), extent)).collect();
                build(&[("offset", offset), ("block", block)], &outs)
            }
        }
    }

    /// Returns the layout of an array of these extents in memory.
    pub(super) fn stored(&self, dims: &[u64]) -> Result<TensorLayout, Error> {
        let places = self.map(dims)?.inverse().map_err(of_map)?;
        let blocks = places.outs().get(1).map_or(1, LinearDim::size);
        let size: u64 = dims.iter().product::<u64>() / blocks;
        let capacity = self.padded(size)? - self.behind(size);
        let (mut modes, mut counts) = (Vec::new(), Vec::new());
        for dim in 0..dims.len() {
            let from = modes.len();
            for basis in (0..).map_while(|bit| places.basis(&name(dim), bit)) {
                let (offset, block) = match *basis.as_slice() {
                    [offset, block] => (offset, block),
                    [offset, ..] => (offset, 0),
                    [] => (0, 0),
                };
                if !(offset + block).is_power_of_two() || offset.min(block) > 0 {
                    return Err(Error::unsupported(format!(
                        "padding after a swizzle: an element's plain offset has the bits {offset:#b} of block {block}, and a sum with padding is not an xor of them"
                    )));
                }
                let stride = match offset {
                    0 => block.checked_mul(capacity).filter(|stride| *stride <= 1 << 62),
                    _ => Some(self.padded(offset)?),
                };
                modes.push(Mode::new(2, stride.ok_or_else(too_large)? as i64));
            }
            if modes.len() == from {
                modes.push(Mode::new(1, 0));
            }
            counts.push(modes.len() - from);
        }
        let layout = joined(&modes, &counts)?;
        let capacity = capacity.checked_mul(blocks).ok_or_else(too_large)?;
        Ok(TensorLayout::new(dims, &layout, capacity)?)
    }

    /// The offset with its padding, of a power of two.
    fn padded(&self, offset: u64) -> Result<u64, Error> {
        let each =
            self.gaps.iter().map(|(interval, padding)| (offset / interval).checked_mul(*padding));
        let sum = each.chain([Some(offset)]).try_fold(0u64, |all, one| all.checked_add(one?));
        sum.filter(|sum| i64::try_from(*sum).is_ok()).ok_or_else(too_large)
    }

    /// The padding behind the last element.
    fn behind(&self, size: u64) -> u64 {
        let last = self.gaps.iter().filter(|(interval, _)| size.is_multiple_of(*interval));
        last.map(|(_, padding)| padding).sum()
    }
}

fn too_large() -> Error {
    Error::overflow("padding beyond 2^63 - 1 elements".to_owned())
}

/// The layout of these bits, neighbours that are one stride joined.
fn joined(bits: &[Mode], counts: &[usize]) -> Result<Layout, Error> {
    let (mut modes, mut all, mut at) = (Vec::<Mode>::new(), Vec::new(), 0);
    for &count in counts {
        let from = modes.len();
        for &bit in &bits[at..at + count] {
            match modes[from..].last().copied() {
                Some(last) if last.stride() * last.extent() as i64 == bit.stride() => {
                    let top = modes.len() - 1;
                    modes[top] = Mode::new(last.extent() * bit.extent(), last.stride());
                }
                _ => modes.push(bit),
            }
        }
        at += count;
        all.push(modes.len() - from);
    }
    Ok(Layout::nested(&modes, &all)?)
}

impl fmt::Display for Padded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let gaps: Vec<String> =
            self.gaps.iter().map(|(interval, padding)| format!("{interval}:+{padding}")).collect();
        write!(f, "#ttg.padded_shared<{} ", list(&gaps))?;
        match &self.plain {
            UnpaddedOffsets::Order { order, shape } => {
                let shape =
                    shape.as_ref().map_or(String::new(), |s| format!(", shape = {}", list(s)));
                write!(f, "{{order = {}{shape}}}>", list(order))
            }
            UnpaddedOffsets::Bases { offset, block } => {
                write!(f, "{{offset = {}, block = {}}}>", lists(offset), lists(block))
            }
        }
    }
}

// Tensor memory of Blackwell: `#ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>`.
//
// ```text
// tensor_memory_encoding          blockM (64 or 128), blockN, colStride [, CGALayout] [, twoCTAs] [, fp4Padded]
// tensor_memory_scales_encoding   [CGALayout]
// ```
//
// A place is a row, which is one of 128 lanes, and a column, in units of elements. Of 64 rows, rows 16 to 31 go to
// lanes 32 to 47 and so on; the lanes between them hold the next block of the array, if there is one. `colStride`
// columns belong to an element, which is in the first; of fp4 that is padded it is two. Scales are in columns of 32
// rows, which all four groups of 32 lanes hold.
//
// Law: as the layout of an array, columns are the fastest, then lanes, then blocks; an element is at the first of the
// places that hold it. Source: Triton, `tensorMemoryToLinearLayout`, `tensorMemoryScalesToLinearLayout`.

#[derive(Debug)]
pub(super) struct TensorMemory {
    what: What,
    blocks: Bases,
}

#[derive(Debug)]
enum What {
    Matrix {
        rows: u64,
        columns: u64,
        stride: u64,
        /// Two blocks share an instruction.
        pair: bool,
        padded: bool,
    },
    Scales,
}

/// Reads the fields of a matrix.
pub(super) fn read_tensor_memory(body: &str) -> Result<TensorMemory, Error> {
    let own = ["blockM", "blockN", "colStride", "twoCTAs", "fp4Padded"];
    let legal = [&own[..], &BLOCKS[..]].concat();
    let mut fields = LiteralFields::read(body, "an encoding of tensor memory", &legal, 0)?;
    let value = fields.need(&[own[0]])?;
    let rows = value.unsigned()?;
    if ![64, 128].contains(&rows) {
        return Err(Error::parse(value.span, "expected 64 or 128 rows"));
    }
    let columns = power(&fields.need(&[own[1]])?)?;
    let stride = power(&fields.need(&[own[2]])?)?;
    let pair = flag(fields.take(&[own[3]])?)?;
    let padded = flag(fields.take(&[own[4]])?)?;
    let blocks = blocks(&mut fields, Some(2))?;
    Ok(TensorMemory { what: What::Matrix { rows, columns, stride, pair, padded }, blocks })
}

/// Reads the fields of scales, of which there may be none.
pub(super) fn read_scales(body: &str) -> Result<TensorMemory, Error> {
    let body = if body.trim().is_empty() { "{}" } else { body };
    let mut fields = LiteralFields::read(body, "an encoding of scales", &BLOCKS, 0)?;
    Ok(TensorMemory { what: What::Scales, blocks: blocks(&mut fields, Some(2))? })
}

/// The images of 1, 2, 4 … below `size`, in rows or columns.
fn bits(size: u64, image: impl Fn(u64) -> Vec<u64>) -> Bases {
    (0..size.trailing_zeros()).map(|bit| image(1 << bit)).collect()
}

impl TensorMemory {
    /// The map of an array of these extents, of two dims.
    pub(super) fn map(&self, dims: &[u64]) -> Result<LinearLayout, Error> {
        let part = per_block(&block_map(&self.blocks, dims)?, dims);
        let &[height, width] = part.as_slice() else {
            return Err(Error::unsupported("tensor memory holds matrices"));
        };
        let (row, column) = (|at| vec![at, 0], |at| vec![0, at]);
        let (lanes, columns, tile) = match &self.what {
            What::Scales => {
                let mut lanes = bits(32, row);
                lanes.extend([vec![0, 0], vec![0, 0]]);
                let mut columns = bits(4, column);
                columns.push(vec![32, 0]);
                (lanes, columns, [64, 4])
            }
            What::Matrix { rows, .. } if height < *rows => {
                let message = format!("a block of {height} rows; blockM is {rows}");
                return Err(Error::unsupported(message));
            }
            What::Matrix { rows, columns, stride, pair, padded } => {
                let n = (*columns).min(width);
                let unused = stride.trailing_zeros() as usize + usize::from(*padded);
                let mut of_columns = vec![vec![0, 0]; unused];
                if *rows == 128 {
                    of_columns.extend(bits(n, column));
                    (bits(128, row), of_columns, [128, n])
                } else if *pair {
                    let mut lanes = bits(64, row);
                    lanes.push(column(n / 2));
                    of_columns.extend(bits(n / 2, column));
                    (lanes, of_columns, [64, n])
                } else {
                    of_columns.extend(bits(n, column));
                    let (between, tile) = match (height > 64, width > n) {
                        (true, _) => (row(64), [128, n]),
                        (false, true) => (column(n), [64, 2 * n]),
                        (false, false) => (vec![0, 0], [64, n]),
                    };
                    let mut lanes = bits(64, row);
                    lanes.insert(4, between);
                    (lanes, of_columns, tile)
                }
            }
        };
        let outs = [(name(0), tile[0]), (name(1), tile[1])];
        let tile = build(&[("col", &columns), ("row", &lanes)], &outs)?;
        shared_out(&tile, &self.blocks, dims)
    }
}

impl fmt::Display for TensorMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let blocks = more(&self.blocks);
        match &self.what {
            What::Scales => {
                let blocks = blocks.trim_start_matches(", ");
                write!(f, "#ttng.tensor_memory_scales_encoding<{blocks}>")
            }
            What::Matrix { rows, columns, stride, pair, padded } => {
                let pair = if *pair { ", twoCTAs = true" } else { "" };
                let padded = if *padded { ", fp4Padded = true" } else { "" };
                write!(
                    f,
                    "#ttng.tensor_memory_encoding<blockM = {rows}, blockN = {columns}, colStride = {stride}{blocks}{pair}{padded}>"
                )
            }
        }
    }
}
