//! The options of `fingerprint` and `same-data`.

use std::path::PathBuf;

use clap::Args;

use super::{Array, path};

/// What the help of `fingerprint` says behind the options.
pub(super) const HELP: &str = "\
A line a tensor, NAME DTYPE [DIMS] HEX, sorted by name, then one for all. It is
the same in every layout, format and number of files, and padding never counts.
A folder is read by its index of shards, or else every file of tensors in it.
--dtype, --dims and --from are for .npy and raw:PATH that do not say them; of
other files they say how tensors lie that no note says it of, words for example:
--tensor '*qweight' --from GPTQ --dtype u4. What a file records is not believed:
all data are read. It finds accidents; for data that somebody may forge take a
--key of your own.

Examples:
  tilewright fingerprint model.safetensors
  tilewright fingerprint checkpoint/ --tensor '*.q_proj.weight'
  tilewright fingerprint zn.safetensors --json";

#[derive(Args, Debug)]
pub(crate) struct Fingerprint {
    /// A .safetensors, .gguf, .npy or .npz file, a *.safetensors.index.json, or a folder of such
    #[arg(value_name = "FILE|DIR", value_parser = path())]
    pub(crate) file: PathBuf,
    /// Only tensors whose name matches; may be repeated
    #[arg(long, value_name = "GLOB")]
    pub(crate) tensor: Vec<String>,
    #[command(flatten)]
    pub(crate) data: Data,
}

/// What both commands are told of the data.
#[derive(Args, Debug)]
pub(crate) struct Data {
    /// The key, 1 to 32 hexadecimal digits; else the one that everybody has
    #[arg(long, value_name = "HEX", allow_hyphen_values = true)]
    pub(crate) key: Option<String>,
    /// The layout of a .npy or raw:PATH that does not say it; without such, of tensors that have no note
    #[arg(long, value_name = "SPEC", help_heading = "The array")]
    pub(crate) from: Option<String>,
    #[command(flatten)]
    pub(crate) array: Array,
}

#[derive(Args, Debug)]
pub(crate) struct SameData {
    /// A file or a folder, as `fingerprint` reads
    #[arg(value_parser = path())]
    pub(crate) a: PathBuf,
    /// The other
    #[arg(value_parser = path())]
    pub(crate) b: PathBuf,
    /// Only tensors whose name matches, of both; may be repeated
    #[arg(long, value_name = "GLOB")]
    pub(crate) tensor: Vec<String>,
    #[command(flatten)]
    pub(crate) data: Data,
}
