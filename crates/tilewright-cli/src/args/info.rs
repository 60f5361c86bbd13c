//! The options of `info`.

use std::path::PathBuf;

use clap::Args;

use super::{ArrayArgs, path};

#[derive(Args, Debug)]
pub(crate) struct Info {
    /// A .safetensors, .gguf, .npy, .npz or .pt file, a *.safetensors.index.json, raw:PATH, or an HLO module
    /// (.txt, .hlo, .pb)
    #[arg(value_parser = path())]
    pub(crate) file: PathBuf,
    /// Lay a module's arrays out by these tiles, such as T(8,128), and print their padding. The
    /// inner tile follows from the element type; arrays of one dim get T(1024), scalars none. A
    /// complete layout, {0,1:T(8,128)(2,1)}, skips arrays of another rank
    #[arg(long, value_name = "TILES")]
    pub(crate) layout: Option<String>,
    #[command(flatten)]
    pub(crate) array: ArrayArgs,
}
