//! The options of `info`.

use std::path::PathBuf;

use clap::Args;

use super::{Array, path};

#[derive(Args, Debug)]
pub(crate) struct Info {
    /// A .safetensors, .gguf, .npy or .npz file, a *.safetensors.index.json, raw:PATH, or an HLO module
    /// (.txt, .hlo, .pb)
    #[arg(value_parser = path())]
    pub(crate) file: PathBuf,
    /// What would a module's arrays take under these tiles: T(8,128), the inner tile by element type;
    /// arrays of one dim get the tile in a row, T(1024), and scalars none; or under a whole layout,
    /// {0,1:T(8,128)(2,1)}, which arrays of another rank are left out of
    #[arg(long, value_name = "TILES")]
    pub(crate) layout: Option<String>,
    #[command(flatten)]
    pub(crate) array: Array,
}
