//! The options of `banks`.

use std::path::PathBuf;

use clap::Args;

use super::{ArrayArgs, layout, path};

/// The text after the options in the help.
pub(super) const HELP: &str = "\
TV gives the elements that each thread accesses. It is one of

  row, column          threads along the rows, or down the columns
  ldmatrix.x4.trans    also .x1, .x2 and stmatrix; rows of 16 bytes
  #ttg.blocked<{…}>    a distributed layout of Triton's
  MMA_M16N8K16_16BIT_A a fragment of a matrix unit; any other SPEC that stores
                       thread after thread: SPEC threads 32
  ((4,8),2):((32,1),8) threads and values to cells, the first dim fastest
                       … over (16,8) is a tile that repeats over the array

with read or write before it. A turn takes one cycle for each different word of
one bank; threads that access the same word share it. The machine decides how an
access splits into turns: nvidia (32x4), cdna3, cdna4 (64x4).

--fix tries every swizzle Sw<B,M,S> by bits B, span |S|, lowest bit M, and every
padding of rows, for all accesses together. It prints why smaller ones fail.

Exit code 1 if there are conflicts.

Examples:
  tilewright banks 'f32[32,32] row-major' --access 'write row' \\
    --access column --fix
  tilewright banks 'f16[64,64] Sw<3,3,3> o (64,64):(64,1)' --access ldmatrix.x4
  tilewright banks 'f16[64,32] row-major' --access row --vector 16 --banks cdna3";

#[derive(Args, Debug)]
pub(crate) struct Banks {
    /// The layout in shared memory
    #[arg(allow_hyphen_values = true, value_parser = layout)]
    pub(crate) spec: String,
    #[command(flatten)]
    pub(crate) array: ArrayArgs,
    /// The elements of each thread; may be repeated, then all are counted and fixed together
    #[arg(long, value_name = "TV", required = true, allow_hyphen_values = true)]
    pub(crate) access: Vec<String>,
    /// Bytes that a thread accesses at once [default: one element for row and column, else the
    /// longest contiguous run]
    #[arg(long, value_name = "BYTES")]
    pub(crate) vector: Option<u64>,
    /// The machine: nvidia, cdna3, cdna4, or banks x bytes
    #[arg(long, value_name = "BANKS", default_value = "32x4")]
    pub(crate) banks: String,
    /// Find the smallest swizzle and the smallest padding that remove all conflicts
    #[arg(long)]
    pub(crate) fix: bool,
    /// Print complete lists: every word, every smaller candidate
    #[arg(long)]
    pub(crate) all: bool,
    /// Draw the banks of the elements after the report
    #[arg(long, help_heading = "Pictures")]
    pub(crate) draw: bool,
    /// Draw them as SVG into FILE
    #[arg(long, value_name = "FILE", value_parser = path(), help_heading = "Pictures")]
    pub(crate) svg: Option<PathBuf>,
    /// Replace files that exist
    #[arg(long, help_heading = "Pictures")]
    pub(crate) force: bool,
}
