//! The options of `reshard`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::{How, Simulate, path};

/// What the help says behind the options.
pub(super) const HELP: &str = "\
IN is a .safetensors, an index of such, or the folder of one, of whole tensors;
a folder of torch's distributed checkpoint in safetensors (tilewright.reshard of
Python also reads *.distcp); or, with --from-mesh, a folder with a file for each
position of a mesh, in the order of the numbers in their names. A hole or an
overlap between shards is refused, and a hole in the numbers of the files. OUT
is a new folder outside of IN: with --mesh a file for each position, or the
boxes that torch loads (--as dcp); else whole tensors. Metadata and small files
beside the tensors go along as with `convert`; what does not is named.

Files of ranks need a rule for every tensor, P() where each has all of it. The
copies are compared: if they differ, a rule is wrong, and nothing is written.
Files of torch's checkpoint do not say how large the whole is, so a last file
that is missing makes tensors smaller; --extents says how large they are.

SHARDING is [Shard(0), Replicate()], P(\"dp\", \"tp\"), column, row, gate_up,
qkv(h=32,g=8,d=128) … The extents of a whole tensor that its shards do not say
stand before it: '*.qkv.weight=[6144,4096] @ qkv(h=32,g=8,d=128)'.

What is done is kept in OUT.partial-ID: after an interruption the same command
does the rest. OUT appears when all of it is on the disk. With several processes
write a plan, `run` it under torchrun, mpirun or srun, or with --rank and
--world, and `finish` it once.

Examples:
  tilewright reshard llama/ tp8/ --mesh tp=8 --rule '*_proj.weight=[Shard(0)]'
  tilewright reshard tp8/ llama/ --from-mesh tp=8 --from-rule '*=[Shard(0)]'
  tilewright reshard plan dcp/ npu/ --mesh tp=4 --rule 'h*=[S(0)]' --to zN -o p";

#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct Reshard {
    #[command(subcommand)]
    pub(crate) step: Option<Step>,
    #[command(flatten)]
    pub(crate) asked: Option<Alone>,
    /// Print what would become of each tensor, and write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// A step of a run in several processes.
#[derive(Debug, Subcommand)]
pub(crate) enum Step {
    /// Write what is asked to a plan, which any process runs its share of
    Plan(Plan),
    /// Run the share of one process; again, what is missing of it
    Run(Run),
    /// Make the result visible, or say what is missing
    Finish(Finish),
    /// Say what a run would take, of a checkpoint or of a model that is not there
    Simulate(Simulate),
}

/// What is read, and what it becomes.
#[derive(Args, Debug)]
#[group(args = ["input", "output"])]
pub(crate) struct Asked {
    /// A file of tensors, an index, or the folder of a checkpoint
    #[arg(value_name = "IN", value_parser = path())]
    pub(crate) input: PathBuf,
    /// A new folder
    #[arg(value_name = "OUT", value_parser = path())]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) how: How,
    /// Replace OUT if it is a checkpoint: a folder of files alone, one of them *.safetensors
    #[arg(long, help_heading = "The run")]
    pub(crate) force: bool,
    /// Read back what was written, and compare it with what was read
    #[arg(long, help_heading = "The run")]
    pub(crate) verify: bool,
}

/// What is asked of one process that does all of it.
#[derive(Args, Debug)]
#[group(args = ["input", "output"])]
pub(crate) struct Alone {
    #[command(flatten)]
    pub(crate) asked: Asked,
    /// Threads, which share the memory; 0 means all cores
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
pub(crate) struct Plan {
    #[command(flatten)]
    pub(crate) asked: Asked,
    /// Where the plan goes
    #[arg(short = 'o', long = "output", value_name = "PLAN", value_parser = path())]
    pub(crate) plan: PathBuf,
}

#[derive(Args, Debug)]
pub(crate) struct Run {
    /// The plan
    #[arg(value_name = "PLAN", value_parser = path())]
    pub(crate) plan: PathBuf,
    /// Which process this is, from 0; without it as torchrun, mpirun or srun say, else the only one
    #[arg(long, value_name = "R", requires = "world")]
    pub(crate) rank: Option<u64>,
    /// How many processes there are
    #[arg(long, value_name = "W", requires = "rank")]
    pub(crate) world: Option<u64>,
    /// Threads of this process, which share the memory; 0 means all cores
    #[arg(long, value_name = "N", default_value = "1", allow_hyphen_values = true)]
    pub(crate) threads: String,
}

#[derive(Args, Debug)]
pub(crate) struct Finish {
    /// The plan
    #[arg(value_name = "PLAN", value_parser = path())]
    pub(crate) plan: PathBuf,
}
