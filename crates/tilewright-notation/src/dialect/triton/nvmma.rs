//! Shared memory as the tensor cores of Hopper read it: `nvmma_shared`.
//!
//! ```text
//! nvmma_shared   swizzlingByteWidth (0, 32, 64 or 128), transposed, elementBitWidth [, fp4Padded] [, blocks]
//! ```
//!
//! Tiles of eight rows of `swizzlingByteWidth` bytes, in which units of 16 bytes are xored with the row; tiles along
//! the rows first. Of fp4 that is padded, eight bytes of elements are followed by eight of padding.
//! Source: Triton, `getCoreMatrixLinearLayout`; CUDA, "Tensor map swizzle modes".

use std::fmt;

use tilewright_core::LinearLayout;

use super::{
    maps::{build, identities, name, shared_out},
    values::{BLOCKS, Bases, blocks, more},
};
use crate::{
    error::{Error, Kind},
    literal::{Fields, Value},
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
    let mut fields = Fields::read(body, "an encoding of tensor cores' memory", &legal, 0)?;
    let (width, bits) = (fields.need(&[own[0]])?, fields.need(&[own[2]])?);
    let flag = |value: Option<Value<'_>>| -> Result<bool, Error> {
        Ok(value.map(|value| value.word().map(|word| word == "true")).transpose()? == Some(true))
    };
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
    /// The rank that the blocks say.
    pub(super) fn rank(&self) -> Option<usize> {
        self.blocks.first().map(Vec::len)
    }

    /// The map of a tensor of these extents, of two dims or more.
    pub(super) fn map(&self, dims: &[u64]) -> Result<LinearLayout, Error> {
        let rank = dims.len();
        let unsupported = |message: String| Err(Error::new(Kind::Unsupported, message));
        if rank < 2 || (self.transposed && rank > 2) {
            return unsupported(format!(
                "nvmma_shared of {rank} dims; matrices are read, and batches of those not transposed"
            ));
        }
        // The dims with the fastest first, and the one that is contiguous.
        let (column, rows): (usize, Vec<usize>) = match self.transposed {
            true => (0, vec![1]),
            false => (rank - 1, (0..rank - 1).rev().collect()),
        };
        let large = rank > 2 && rows.iter().any(|&dim| dims[dim] > BOX);
        if large || (self.width == 0 && dims.iter().any(|&extent| extent > BOX)) {
            return unsupported(format!("nvmma_shared in boxes: an extent beyond {BOX} here"));
        }
        if self.width == 0 {
            let order: Vec<usize> = [column].into_iter().chain(rows).collect();
            let tile = identities("offset", dims, &order)?;
            return shared_out(&tile, &self.blocks, dims);
        }
        let columns = self.columns();
        if dims[rows[0]] < ROWS || dims[column] < columns {
            return unsupported(format!(
                "an array of {} rows of {}; a tile of nvmma_shared is {ROWS} rows of {columns}",
                dims[rows[0]], dims[column]
            ));
        }
        let order: Vec<usize> = rows.iter().copied().chain([column]).collect();
        let outs = [(name(rows[0]), ROWS), (name(column), columns)];
        let tile = build(&[("offset", &self.tile())], &outs)?;
        let rest = identities("offset", &vec![1; rank], &order)?;
        let tile = tile.product(&rest)?;
        let names: Vec<String> = order.iter().map(|&dim| name(dim)).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        shared_out(&tile.transpose_outs(&names)?, &self.blocks, dims)
    }

    /// The elements of a row of a tile.
    fn columns(&self) -> u64 {
        8 * self.width / self.bits / if self.padded { 2 } else { 1 }
    }

    /// The bases of a tile: row and column of 1, 2, 4 …
    fn tile(&self) -> Bases {
        let vec = 128 / self.bits;
        let (per_phase, max_phase) = (128 / self.width, self.width / 16);
        let packed = |column: u64| match self.padded {
            // Of sixteen places the last eight are padding.
            true => column / 16 * 8 + column % 8,
            false => column,
        };
        let bits = |extent: u64| (0..extent.trailing_zeros()).map(|bit| 1u64 << bit);
        let mut bases: Bases =
            bits(8 * self.width / self.bits).map(|column| vec![0, packed(column)]).collect();
        bases.extend(bits(ROWS).map(|row| vec![row, packed(vec * (row / per_phase % max_phase))]));
        bases
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
