//! The options of `emit`.

use clap::Args;

/// What its help says behind the options.
pub(super) const HELP: &str = "\
The function takes a coordinate, i0, i1 …, and gives the offset of its element,
counted in elements. --inverse takes an offset of the storage and gives the
coordinate there, or that there is none: padding or a gap. Powers of two are
shifts and masks, digits that never carry have no remainder, and tests that
cannot fail are left out.

--dims M,N names extents that the function takes as arguments, at most 6 of
them, 8,N some, and symbolic all of a SPEC that fits one rank alone: N0, N1 … .
--assume says what divides one; tiles that divide an extent need no rounding,
and no test. Whether 32 bits hold the values of named extents is not known.

With a second SPEC, and --to cuda or hip, the kernels that move an array from
the first layout to the second, with a function that launches them on a stream.
Texts of different --name stand in one file.

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
    /// The language: c, cuda, rust, python, triton, mlir; of kernels cuda, hip
    #[arg(long, value_name = "LANGUAGE")]
    pub(crate) to: String,
    /// The coordinate at an offset, in place of the offset of a coordinate
    #[arg(long)]
    pub(crate) inverse: bool,
    /// What is known of a named extent, such as 'N % 16 == 0'; several may be given
    #[arg(long, value_name = "FACT")]
    pub(crate) assume: Vec<String>,
    /// The name of the function; offset, coord or tw_relayout without it
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// The width of integers, 32 or 64 (64 without it), where the language has widths
    #[arg(long, value_name = "BITS", value_parser = ["32", "64"])]
    pub(crate) bits: Option<String>,
    /// The logical dims, numbers or names, such as 100,N; or symbolic
    #[arg(long, value_name = "N,N,…", allow_hyphen_values = true, help_heading = "The array")]
    pub(crate) dims: Option<String>,
    /// The element type, such as f16, bf16, s8, f8e4m3fn
    #[arg(long, value_name = "TYPE", allow_hyphen_values = true, help_heading = "The array")]
    pub(crate) dtype: Option<String>,
}
