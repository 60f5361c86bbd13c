//! The options of `infer`.

use std::path::PathBuf;

use clap::Args;

use super::{ArrayArgs, path};

#[derive(Args, Debug)]
pub(crate) struct Infer {
    /// The known array: a .npy, .npz, .safetensors or .gguf file, or raw:PATH
    #[arg(long, value_name = "FILE", value_parser = path())]
    pub(crate) original: PathBuf,
    /// The same elements in the unknown layout: such a file, or bytes
    #[arg(long, value_name = "FILE", value_parser = path())]
    pub(crate) packed: PathBuf,
    /// The tensor, if files have several
    #[arg(long, value_name = "NAME")]
    pub(crate) tensor: Option<String>,
    #[command(flatten)]
    pub(crate) array: ArrayArgs,
}
