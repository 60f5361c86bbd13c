//! The options of `fingerprint` and `same-data`.

use std::path::PathBuf;

use clap::Args;

use super::{ArrayArgs, path};

/// The text after the options in the help of `fingerprint`.
pub(super) const HELP: &str = "\
Prints NAME DTYPE [DIMS] HEX for each tensor, sorted by name, then one line for
all. A fingerprint does not depend on layout, format, padding or number of
files. A folder is read by its index, else every file of tensors in it is read.
--dtype, --dims and --from describe .npy and raw:PATH files, and tensors without
a recorded layout, such as words: --tensor '*qweight' --from GPTQ --dtype u4.
A folder of shards that `reshard` or torch wrote counts as its whole arrays;
--from-mesh and --from-rule describe other folders of shards. Copies count once
and have to be equal. All data is read; recorded fingerprints are not used.
Fingerprints find accidents; if somebody may forge the data, give a private
--key.

Examples:
  tilewright fingerprint model.safetensors
  tilewright fingerprint checkpoint/ --tensor '*.q_proj.weight'
  tilewright fingerprint zn.safetensors --json";

#[derive(Args, Debug)]
pub(crate) struct Fingerprint {
    /// A .safetensors, .gguf, .npy, .npz or .pt file, a *.safetensors.index.json, or a folder of these
    #[arg(value_name = "FILE|DIR", value_parser = path())]
    pub(crate) file: PathBuf,
    /// Print only tensors with matching names; may be repeated
    #[arg(long, value_name = "GLOB")]
    pub(crate) tensor: Vec<String>,
    #[command(flatten)]
    pub(crate) data: Data,
}

/// The shardings of files that do not record them.
#[derive(Args, Debug)]
pub(crate) struct ShardArgs {
    /// The mesh of a folder with one file for each position, if its files do not record it
    #[arg(long, value_name = "AXES", help_heading = "Shards")]
    pub(crate) from_mesh: Option<String>,
    /// The sharding of tensors with matching names in that folder, as for `reshard`
    #[arg(long, value_name = "GLOB=SHARDING", requires = "from_mesh", help_heading = "Shards")]
    pub(crate) from_rule: Vec<String>,
}

/// The options that both commands share.
#[derive(Args, Debug)]
pub(crate) struct Data {
    /// The key, 1 to 32 hexadecimal digits [default: a public key]
    #[arg(long, value_name = "HEX", allow_hyphen_values = true)]
    pub(crate) key: Option<String>,
    /// The layout of a .npy or raw:PATH, else of tensors without a recorded layout
    #[arg(long, value_name = "SPEC", help_heading = "The array")]
    pub(crate) from: Option<String>,
    #[command(flatten)]
    pub(crate) array: ArrayArgs,
    #[command(flatten)]
    pub(crate) shards: ShardArgs,
}

#[derive(Args, Debug)]
pub(crate) struct SameData {
    /// A file or folder, as for `fingerprint`
    #[arg(value_parser = path())]
    pub(crate) a: PathBuf,
    /// The other file or folder
    #[arg(value_parser = path())]
    pub(crate) b: PathBuf,
    /// Compare only tensors with matching names; may be repeated
    #[arg(long, value_name = "GLOB")]
    pub(crate) tensor: Vec<String>,
    #[command(flatten)]
    pub(crate) data: Data,
}
