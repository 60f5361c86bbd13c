//! The options of `emit`.

use clap::Args;

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
