//! The options of `learn`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::path;

/// The text after the options in the help.
pub(super) const HELP: &str = "\
An engine is learned in three steps:

1. `make` writes the folder PROBE. It has folders load0, load1 and so on, and
   `fresh`. Each is a checkpoint like MODEL, with config.json and other files
   beside it. Values of load0, load1 … code the number of each element; those of
   `fresh` are random bits.
2. You load each of them with the engine, and write the arrays that it has in
   memory to DUMPS, in a folder of the same name: DUMPS/load0/rank0.safetensors,
   DUMPS/load0/rank1.safetensors, … one .safetensors or .npz for each rank.
   For vLLM: python -m tilewright.vllm PROBE DUMPS --tensor-parallel-size 2
3. `read` prints where each element of the arrays comes from, and writes the
   plan, by which `convert --plan` makes the files of all ranks.

How to read what `read` prints:

  rank{T}/qkv bf16[2,96,64]            all ranks have qkv, bf16[96,64] each
      q : (n n0:32) k -> n n0 k @ 0    q is cut in rows for the ranks, 32 each,
                                       and begins at element 0
  norm is held 2 times                 two places have each element of norm
  fresh data agree                     the arrays of `fresh` are as described,
                                       in every bit

It says what the engine does, not what it should do. Exit code 1 if an element
is not explained (computed, or never written), if fresh data differ, or if a
tensor of MODEL is held by no array and not named by --drop. Then no plan is
written, unless --partial.

`predict` makes the plan for MODEL, a checkpoint of other sizes, from plans at
three sizes or more. Sizes are the numbers of config.json, and tp, the number of
ranks. `convert` refuses the result until `confirm` compared it with one load.

Examples:
  tilewright learn make llama/ probe/
  tilewright learn read probe/ dumps/ --drop '*.inv_freq' -o plan.toml
  tilewright learn predict big/ a.toml b.toml c.toml --ranks 2 -o predicted.toml";

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
    /// Read what an engine made of them, and write the plan
    Read(LearnRead),
    /// Make the plan for a checkpoint of other sizes from plans at several sizes
    Predict(LearnPredict),
    /// Compare a predicted plan with one load
    Confirm(LearnConfirm),
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
    /// Write the plan also if elements are not explained or not held; `convert` refuses the arrays that have such elements
    #[arg(long)]
    pub(crate) partial: bool,
    /// Replace the file of the plan
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Args, Debug)]
pub(crate) struct LearnPredict {
    /// The folder of a checkpoint with config.json; only names, types and extents are read
    #[arg(value_name = "MODEL", value_parser = path())]
    pub(crate) model: PathBuf,
    /// Plans of `learn read`, of probes with config.json
    #[arg(value_name = "PLAN", value_parser = path(), required = true)]
    pub(crate) plans: Vec<PathBuf>,
    /// The number of ranks
    #[arg(long, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u64).range(1..=1 << 16))]
    pub(crate) ranks: u64,
    /// Write the predicted plan to this file, as TOML, or as JSON if its name ends in .json
    #[arg(short = 'o', long = "output", value_name = "PREDICTED", value_parser = path())]
    pub(crate) output: PathBuf,
    /// Replace the file of the plan
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Args, Debug)]
pub(crate) struct LearnConfirm {
    /// The file that `predict` wrote
    #[arg(value_name = "PREDICTED", value_parser = path())]
    pub(crate) predicted: PathBuf,
    /// The checkpoint that the engine loaded
    #[arg(value_name = "MODEL", value_parser = path())]
    pub(crate) model: PathBuf,
    /// A folder with a file for each rank: the arrays that the engine had then
    #[arg(value_name = "DUMP", value_parser = path())]
    pub(crate) dump: PathBuf,
    /// Write the plan to this file, as TOML, or as JSON if its name ends in .json
    #[arg(short = 'o', long = "output", value_name = "PLAN", value_parser = path())]
    pub(crate) output: PathBuf,
    /// Replace the file of the plan
    #[arg(long)]
    pub(crate) force: bool,
}
