//! The options of `infer`.

use std::path::PathBuf;

use clap::Args;

use super::{Array, path};

#[derive(Args, Debug)]
pub(crate) struct Infer {
    /// The array as it is known: a .npy, .npz, .safetensors or .gguf file, or raw:PATH
    #[arg(long, value_name = "FILE", value_parser = path())]
    pub(crate) original: PathBuf,
    /// The same elements in the layout that is wanted: such a file, or bytes
    #[arg(long, value_name = "FILE", value_parser = path())]
    pub(crate) packed: PathBuf,
    /// The tensor of both, in files of several
    #[arg(long, value_name = "NAME")]
    pub(crate) tensor: Option<String>,
    #[command(flatten)]
    pub(crate) array: Array,
}
