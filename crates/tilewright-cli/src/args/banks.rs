//! The options of `banks`.

use std::path::PathBuf;

use clap::Args;

use super::{Array, layout, path};

/// What its help says behind the options.
pub(super) const HELP: &str = "\
TV says which thread takes which elements, one of

  row, column          threads along the rows, or down the columns
  ldmatrix.x4.trans    also .x1, .x2 and stmatrix; rows of 16 bytes
  #ttg.blocked<{…}>    what spreads an array over threads
  MMA_M16N8K16_16BIT_A what the threads of a matrix unit hold; any other SPEC
                       whose places are thread after thread: SPEC threads 32
  ((4,8),2):((32,1),8) threads and values to cells, the first dim fastest
                       … over (16,8) is a tile that repeats over the array

with read or write before it. A turn takes a cycle for each different word that
is wanted of one bank; threads that want the same word share it. How an access
is split into turns goes by the maker: nvidia (32x4), cdna3, cdna4 (64x4).

--fix tries every swizzle Sw<B,M,S> by bits B, span |S|, lowest bit M, and every
padding of rows, for all accesses together, and says why each smaller one fails.

Exit code 1 where there are conflicts.

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
    pub(crate) array: Array,
    /// Which thread takes which elements; several are counted each, and fixed together
    #[arg(long, value_name = "TV", required = true, allow_hyphen_values = true)]
    pub(crate) access: Vec<String>,
    /// The bytes that a thread takes at once; else an element of rows and columns, and of other
    /// accesses the most that lie together
    #[arg(long, value_name = "BYTES")]
    pub(crate) vector: Option<u64>,
    /// The machine: nvidia, cdna3, cdna4, or the number of banks and their bytes
    #[arg(long, value_name = "BANKS", default_value = "32x4")]
    pub(crate) banks: String,
    /// Find the least swizzle, and the least padding, that remove the conflicts of all accesses
    #[arg(long)]
    pub(crate) fix: bool,
    /// Print whole lists: every word, every smaller candidate
    #[arg(long)]
    pub(crate) all: bool,
    /// Draw the banks of the elements behind the report
    #[arg(long, help_heading = "Pictures")]
    pub(crate) draw: bool,
    /// Draw them as SVG into FILE
    #[arg(long, value_name = "FILE", value_parser = path(), help_heading = "Pictures")]
    pub(crate) svg: Option<PathBuf>,
    /// Replace files that exist
    #[arg(long, help_heading = "Pictures")]
    pub(crate) force: bool,
}
