//! Shared memory as the tensor cores of Hopper read it: `nvmma_shared`.
//!
//! ```text
//! nvmma_shared   swizzlingByteWidth (0, 32, 64 or 128), transposed, elementBitWidth [, fp4Padded] [, blocks]
//! ```
//!
//! Tiles of eight rows of `swizzlingByteWidth` bytes, in which units of 16 bytes are xored with the row; tiles along
//! the rows first. The rows of batches are counted through all dims but the contiguous one, which is the last, or the
//! first if transposed. Boxes have at most 256 elements of a dim; an array of more is many boxes. Of fp4 that is padded, eight bytes of elements are followed by eight of padding.
//! Source: Triton, `getCoreMatrixLinearLayout`; CUDA, "Tensor map swizzle modes".

use std::fmt;

use tilewright_core::LinearLayout;

use super::{
    maps::{block_map, build, name, per_block, shared_out, transposed},
    values::{BLOCKS, Bases, blocks, flag, more},
};
use crate::{Error, literal::LiteralFields};

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
