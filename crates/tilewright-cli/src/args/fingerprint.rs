//! The options of `fingerprint` and `same-data`.

use std::path::PathBuf;

use clap::Args;

use super::{Array, path};

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
