//! The options of `learn`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::path;

/// The text after the options in the help.
pub(super) const HELP: &str = "\
`make` reads the names, types and extents of MODEL and writes PROBE: a folder
for each load, with values that code the number of each element, and `fresh`,
with random bits. Files beside the tensors of MODEL, such as config.json, are
copied to each. The engine loads each of them in its own way, and its arrays are
dumped to a folder of the same name in DUMPS, as .safetensors or .npz, one file
for each rank, with the number of the rank in its name.

`read` prints where each element of the arrays comes from. The description is
exact: it expands to the map that was seen, and agrees with the dump of `fresh`
bit for bit. It says what the engine does, not what it should do. An array that
all ranks have in one size is one array with the rank as its first axis.

Exit code 1 if an element is not explained, or if a tensor of MODEL is held by
no array and not named by --drop. Then no plan is written, unless --partial.

Examples:
  tilewright learn make llama/ probe/
  tilewright learn read probe/ dumps/ -o learned.toml
  tilewright learn read probe/ dumps/ --drop '*.inv_freq' --json";

#[derive(Args, Debug)]
pub(crate) struct Learn {
    #[command(subcommand)]
    pub(crate) step: LearnStep,
}

/// A step of learning an engine.
#[derive(Debug, Subcommand)]
pub(crate) enum LearnStep {
    /// Write checkpoints with coded values
    Make(LearnMake),
    /// Read what an engine made of them
    Read(LearnRead),
}

#[derive(Args, Debug)]
pub(crate) struct LearnMake {
    /// A file of tensors, an index, or the folder of a checkpoint
    #[arg(value_name = "MODEL", value_parser = path())]
    pub(crate) model: PathBuf,
    /// A new folder
    #[arg(value_name = "PROBE", value_parser = path())]
    pub(crate) probe: PathBuf,
    /// The number that the random bits follow from
    #[arg(long, value_name = "N", default_value = "1")]
    pub(crate) seed: u64,
}

#[derive(Args, Debug)]
pub(crate) struct LearnRead {
    /// The folder that `make` wrote
    #[arg(value_name = "PROBE", value_parser = path())]
    pub(crate) probe: PathBuf,
    /// A folder with a folder of dumps for each load
    #[arg(value_name = "DUMPS", value_parser = path())]
    pub(crate) dumps: PathBuf,
    /// Write the plan to this file, as TOML, or as JSON if its name ends in .json
    #[arg(short = 'o', long = "output", value_name = "PLAN", value_parser = path())]
    pub(crate) plan: Option<PathBuf>,
    /// Tensors that no array needs to hold
    #[arg(long, value_name = "GLOB")]
    pub(crate) drop: Vec<String>,
    /// Write the plan also if elements are not explained or not held
    #[arg(long)]
    pub(crate) partial: bool,
}
