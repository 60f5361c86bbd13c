//! The options of `reshard`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::{How, Simulate, path};

/// The text after the options in the help.
pub(super) const HELP: &str = "\
IN is a file of whole tensors (.safetensors, .gguf, .npz, .npy), an index or a
folder of such files; or a folder of torch's distributed checkpoint in
safetensors (Python's tilewright.reshard also reads *.distcp); or, with
--from-mesh, a folder with one file for each position of a mesh, ordered by the
numbers in their names. Gaps and overlaps between shards are refused, and so are
missing numbers. OUT is a new folder of safetensors outside IN: one file for
each position with --mesh, boxes that torch loads with --as dcp, else whole
tensors. Whole tensors can be one file, OUT.safetensors or OUT.gguf, and files
of positions are GGUF with --format gguf. Quantised blocks need GGUF, and a rule
must not cut them. Metadata and small files are copied as by `convert`; skipped
files are listed.

Files of ranks that `reshard` wrote record their rules. Others need a rule for
every tensor; P() means that each has all of it. Replicas are compared, so a
wrong rule fails instead of losing data. Shards have to cover the extents that a
file states: metadata of files that `reshard` wrote, or config.json of a known
family. Where no file states them, a missing last file makes tensors smaller,
and a note names the extents. --extents FILE states them, as JSON or TOML:
\"model.embed.weight\" = [50257, 64]. --trust-extents takes those of the shards.

SHARDING is [Shard(0), Replicate()], P(\"dp\", \"tp\"), column, row, gate_up,
megatron:qkv(h=32,g=8,d=128), vllm:qkv(…) … If shards do not determine the
extents of the whole tensor, put them first:
'*.qkv.weight=[6144,4096] @ megatron:qkv(h=32,g=8,d=128)'.

OUT.partial-ID keeps finished work: after an interruption, the same command does
the rest. OUT appears when all of it is on disk. For several processes write a
plan, `run` it under torchrun, mpirun or srun, or with --rank and --world, and
`finish` it once.

Examples:
  tilewright reshard llama/ tp8/ --mesh tp=8 --rule '*_proj.weight=[Shard(0)]'
  tilewright reshard tp8/ llama/ --from-mesh tp=8 --from-rule '*=[Shard(0)]'
  tilewright reshard plan dcp/ npu/ --mesh tp=4 --rule 'h*=[S(0)]' --to zN -o p";

#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct Reshard {
    #[command(subcommand)]
    pub(crate) step: Option<StepArgs>,
    #[command(flatten)]
    pub(crate) asked: Option<Alone>,
    /// Print the result of each tensor and write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// A step of a run in several processes.
#[derive(Debug, Subcommand)]
pub(crate) enum StepArgs {
    /// Write a plan for several processes
    Plan(PlanArgs),
    /// Run one process's share of a plan, or what is missing of it
    Run(RunArgs),
    /// Rename the result into place, or list what is missing
    Finish(Finish),
    /// Estimate a run, for a checkpoint or for a model without files
    Simulate(Simulate),
}

/// The source and the result.
#[derive(Args, Debug)]
#[group(args = ["input", "output"])]
pub(crate) struct SourceArgs {
    /// A file of tensors, an index, or the folder of a checkpoint
    #[arg(value_name = "IN", value_parser = path())]
    pub(crate) input: PathBuf,
    /// A new folder, or a new file such as OUT.gguf
    #[arg(value_name = "OUT", value_parser = path())]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) how: How,
    /// Replace OUT if it is a file, or a folder with only files, one of them of tensors
    #[arg(long, help_heading = "The run")]
    pub(crate) force: bool,
    /// Read the result back and compare it with the source
    #[arg(long, help_heading = "The run")]
    pub(crate) verify: bool,
}

/// The options of a run by one process.
#[derive(Args, Debug)]
#[group(args = ["input", "output"])]
pub(crate) struct Alone {
    #[command(flatten)]
    pub(crate) asked: SourceArgs,
    /// Threads, which share the memory limit; 0 means all cores
    #[arg(
        long,
        value_name = "N",
        default_value = "0",
        allow_hyphen_values = true,
        help_heading = "The run"
    )]
    pub(crate) threads: String,
}

#[derive(Args, Debug)]
pub(crate) struct PlanArgs {
    #[command(flatten)]
    pub(crate) asked: SourceArgs,
    /// The file of the plan
    #[arg(short = 'o', long = "output", value_name = "PLAN", value_parser = path())]
    pub(crate) plan: PathBuf,
}

#[derive(Args, Debug)]
pub(crate) struct RunArgs {
    /// The plan
    #[arg(value_name = "PLAN", value_parser = path())]
    pub(crate) plan: PathBuf,
    /// The number of this process, from 0 [default: from torchrun, mpirun or srun, else 0]
    #[arg(long, value_name = "R", requires = "world")]
    pub(crate) rank: Option<u64>,
    /// The number of processes
    #[arg(long, value_name = "W", requires = "rank")]
    pub(crate) world: Option<u64>,
    /// Threads of this process, which share its memory limit; 0 means all cores
    #[arg(long, value_name = "N", default_value = "1", allow_hyphen_values = true)]
    pub(crate) threads: String,
}

#[derive(Args, Debug)]
pub(crate) struct Finish {
    /// The plan
    #[arg(value_name = "PLAN", value_parser = path())]
    pub(crate) plan: PathBuf,
}
