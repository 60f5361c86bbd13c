//! Tensor memory of Blackwell: `#ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>`.
//!
//! ```text
//! tensor_memory_encoding          blockM (64 or 128), blockN, colStride [, CGALayout] [, twoCTAs] [, fp4Padded]
//! tensor_memory_scales_encoding   [CGALayout]
//! ```
//!
//! A place is a row, which is one of 128 lanes, and a column, in units of elements. Of 64 rows, rows 16 to 31 go to
//! lanes 32 to 47 and so on; the lanes between them hold the next block of the array, if there is one. `colStride`
//! columns belong to an element, which is in the first; of fp4 that is padded it is two. Scales are in columns of 32
//! rows, which all four groups of 32 lanes hold.
//!
//! Law: as the layout of an array, columns are the fastest, then lanes, then blocks; an element is at the first of the
//! places that hold it. Source: Triton, `tensorMemoryToLinearLayout`, `tensorMemoryScalesToLinearLayout`.

use std::fmt;

use tilewright_core::LinearLayout;

use super::{
    mma::{block_map, build, name, per_block, shared_out},
    values::{BLOCKS, Bases, blocks, flag, more, power},
};
use crate::{Error, literal::LiteralFields};

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
pub(super) fn read(body: &str) -> Result<TensorMemory, Error> {
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
