//! The options of commands on layouts: `show`, `emit` and `banks`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{ArrayArgs, layout, path};

#[derive(Args, Debug)]
pub(crate) struct Show {
    /// The layout
    #[arg(allow_hyphen_values = true, value_parser = layout)]
    pub(crate) spec: String,
    /// Another layout of the same array, drawn beside it
    #[arg(allow_hyphen_values = true, value_parser = layout)]
    pub(crate) other: Option<String>,
    #[command(flatten)]
    pub(crate) array: ArrayArgs,
    /// Name the elements a, b, c … in the padded array
    #[arg(long, conflicts_with = "numbers", help_heading = "In the cells")]
    pub(crate) names: bool,
    /// Print memory order on one line instead of a grid
    #[arg(long, help_heading = "In the cells")]
    pub(crate) memory: bool,
    /// Number the elements in row-major order
    #[arg(long, help_heading = "In the cells")]
    pub(crate) numbers: bool,
    /// Draw borders around tiles instead of cells
    #[arg(long, conflicts_with = "memory", help_heading = "In the cells")]
    pub(crate) tiles: bool,
    /// Draw it as SVG into FILE, or - for stdout
    #[arg(long, value_name = "FILE", value_parser = path(), help_heading = "Into files")]
    pub(crate) svg: Option<PathBuf>,
    /// Draw it as an interactive page
    #[arg(long, value_name = "FILE", value_parser = path(), help_heading = "Into files")]
    pub(crate) html: Option<PathBuf>,
    /// Draw it as a tikzpicture
    #[arg(long, value_name = "FILE", value_parser = path(), help_heading = "Into files")]
    pub(crate) tikz: Option<PathBuf>,
    /// Replace files that exist
    #[arg(long, help_heading = "Into files")]
    pub(crate) force: bool,
    /// Draw which of N threads holds each element, if threads store their values one after another
    #[arg(long, value_name = "N", conflicts_with_all = ["other", "memory", "names", "numbers"], help_heading = "Other pictures")]
    pub(crate) threads: Option<u64>,
    /// Values that a thread holds of a tile [default: the array is one tile]
    #[arg(long, value_name = "N", requires = "threads", help_heading = "Other pictures")]
    pub(crate) values: Option<u64>,
    /// Draw which thread holds each cell of a tile, for a layout from (thread, value) to cells
    #[arg(long, value_name = "M,N", conflicts_with_all = ["other", "memory", "names", "numbers", "threads"], help_heading = "Other pictures")]
    pub(crate) tile: Option<String>,
    /// Draw the banks of shared memory and the conflicts of threads that read N elements at once
    #[arg(long, value_name = "N", conflicts_with_all = ["other", "memory", "names", "numbers", "threads", "tile"], help_heading = "Other pictures")]
    pub(crate) banks: Option<u64>,
    /// Draw which devices hold each element of a sharded array, ARRAY @ SHARDING
    #[arg(long, conflicts_with_all = ["other", "memory", "names", "numbers", "tiles", "threads", "tile", "banks"], help_heading = "Other pictures")]
    pub(crate) devices: bool,
    /// Colours: auto (on a terminal, unless NO_COLOR is set), always, or never
    #[arg(
        long,
        value_name = "WHEN",
        value_enum,
        default_value = "auto",
        hide_possible_values = true
    )]
    pub(crate) color: Colour,
}

/// The choice of colours in text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Colour {
    /// On a terminal, unless NO_COLOR says otherwise
    Auto,
    /// Into files and pipes, too
    Always,
    /// Not at all
    Never,
}

/// The text after the options in the help.
pub(super) const HELP: &str = "\
The function takes a coordinate i0, i1 … and returns the offset of its element,
in elements. With --inverse it takes an offset and returns the coordinate, or
that the offset is padding or a gap. Powers of two become shifts and masks, and
tests that cannot fail are omitted.

--dims M,N names extents, at most 6, that become arguments; 8,N names one;
symbolic names all: N0, N1 … . --assume states a divisor of an extent, which
saves rounding and tests. 32 bits may not hold the values of named extents.

With a second SPEC and --to cuda or hip it prints kernels that move an array
from the first layout to the second, and a function that launches them on a
stream. They were checked and measured on an NVIDIA H100; on other devices, and
as HIP, they are experimental. Texts with different --name fit in one file.

Examples:
  tilewright emit zN --dims M,N --dtype f16 --assume 'N % 16 == 0' --to cuda
  tilewright emit 'f32[3,5]{1,0:T(2,2)}' --to python --inverse
  tilewright emit row-major zN --dims 4096,4096 --dtype bf16 --to cuda";

#[derive(Args, Debug)]
pub(crate) struct Emit {
    /// The layout
    #[arg(allow_hyphen_values = true)]
    pub(crate) spec: String,
    /// The layout to move to, for kernels
    #[arg(allow_hyphen_values = true)]
    pub(crate) target: Option<String>,
    /// The language: c, cuda, rust, python, triton, mlir; for kernels cuda, hip
    #[arg(long, value_name = "LANGUAGE")]
    pub(crate) to: String,
    /// Print the inverse: the coordinate at an offset
    #[arg(long)]
    pub(crate) inverse: bool,
    /// A fact about a named extent, such as 'N % 16 == 0'; may be repeated
    #[arg(long, value_name = "FACT")]
    pub(crate) assume: Vec<String>,
    /// The name of the function [default: offset, coord or tw_relayout]
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// The width of integers, if the language has widths [default: 64]
    #[arg(long, value_name = "BITS", value_parser = ["32", "64"])]
    pub(crate) bits: Option<String>,
    /// The logical dims, numbers or names, such as 100,N; or symbolic
    #[arg(long, value_name = "N,N,…", allow_hyphen_values = true, help_heading = "The array")]
    pub(crate) dims: Option<String>,
    /// The element type, such as f16, bf16, s8, f8e4m3fn
    #[arg(long, value_name = "TYPE", allow_hyphen_values = true, help_heading = "The array")]
    pub(crate) dtype: Option<String>,
}

/// The text after the options in the help.
pub(super) const BANKS_HELP: &str = "\
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
