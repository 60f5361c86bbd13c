//! The options of `reshard`, `reshard simulate` and `shards`, and those for the shards of both sides.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::path;

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
    /// Read every part back before OUT appears, and compare it with the source
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
    /// Compare every part of the result with the source once more before that
    #[arg(long)]
    pub(crate) verify: bool,
}

/// The shardings of both sides.
#[derive(Args, Debug)]
pub(crate) struct How {
    /// The mesh of the input, with one *.safetensors for each position
    #[arg(long, value_name = "AXES", help_heading = "The input")]
    pub(crate) from_mesh: Option<String>,
    /// The sharding of input tensors with matching names; the first match wins; each tensor needs
    /// one
    #[arg(long, value_name = "GLOB=SHARDING", requires = "from_mesh", help_heading = "The input")]
    pub(crate) from_rule: Vec<String>,
    /// The whole extents of tensors: a FILE of names with extents in JSON or TOML, or those of matching
    /// names, such as 'embed.weight=[50257,64]'; missing parts are refused
    #[arg(long, value_name = "FILE|GLOB=DIMS", help_heading = "The input")]
    pub(crate) extents: Vec<String>,
    /// Take the extents that the shards imply, whatever files state
    #[arg(long, help_heading = "The input")]
    pub(crate) trust_extents: bool,
    /// Read one replica of each box and do not compare the others
    #[arg(long, help_heading = "The input")]
    pub(crate) trust_replicas: bool,
    /// Drop the rows that a rule calls padding even if they have values other than 0, such as -0.0
    #[arg(long, help_heading = "The input")]
    pub(crate) drop_padding: bool,
    /// The mesh of the result, such as dp=2,tp=4
    #[arg(long, value_name = "AXES", help_heading = "The result")]
    pub(crate) mesh: Option<String>,
    /// The sharding of tensors with matching names; the first match wins, others stay whole
    #[arg(long, value_name = "GLOB=SHARDING", requires = "mesh", help_heading = "The result")]
    pub(crate) rule: Vec<String>,
    /// The layout of each shard; shards whose rank it does not fit are row-major
    #[arg(long, value_name = "SPEC", help_heading = "The result")]
    pub(crate) to: Option<String>,
    /// The files: hf (whole tensors), dcp (torch's distributed checkpoint), ranks (one for each position)
    #[arg(long = "as", value_name = "FORM", value_parser = ["hf", "dcp", "ranks"], help_heading = "The result")]
    pub(crate) form: Option<String>,
    /// The format of files in a folder: safetensors or gguf [default: safetensors]
    #[arg(long, value_name = "FORMAT", value_parser = ["safetensors", "gguf"], help_heading = "The result")]
    pub(crate) format: Option<String>,
    /// The file whose metadata a GGUF result gets [default: IN, if it is GGUF]
    #[arg(long, value_name = "FROM", value_parser = path(), help_heading = "The result")]
    pub(crate) metadata: Option<PathBuf>,
    /// Use metadata even if they contradict the tensors
    #[arg(long, help_heading = "The result")]
    pub(crate) trust_metadata: bool,
    /// Most bytes of tensors in each file of hf, such as 5G
    #[arg(long, value_name = "SIZE", help_heading = "The result")]
    pub(crate) max_shard_size: Option<String>,
    /// Memory limit for buffers [default: 256M]
    #[arg(long, value_name = "SIZE", help_heading = "The run")]
    pub(crate) memory: Option<String>,
}

/// The text after the options in the help.
const SIMULATE_HELP: &str = "\
Prints the planner's numbers: the tasks of a run, the ranges of files that they
read and write, the files and the plan that it writes. It reads no data. Without
IN, --params, --config or --bytes give the tensors. A model has the names of the
Hugging Face hub, such as
model.layers.0.self_attn.q_proj.weight and model.layers.0.mlp.down_proj.weight.
It estimates no times, because these depend on disks and networks.

Examples:
  tilewright reshard simulate --params 405e9 --from-mesh dp=128
    --from-rule '*=[Shard(0)]' --mesh tp=64 --rule '*{o,down}_proj*=[Shard(1)]'
    --rule '*_proj*=[Shard(0)]' --workers 16,64
  tilewright reshard simulate --bytes 10T --tensors 5000 --from-mesh dp=128
    --from-rule '*=[Shard(0)]' --mesh tp=64 --rule '*=[Shard(1)]' --workers 1000";

#[derive(Args, Debug)]
#[command(after_help = SIMULATE_HELP)]
pub(crate) struct Simulate {
    /// An existing checkpoint
    #[arg(value_name = "IN", value_parser = path(), conflicts_with_all = ["params", "config", "bytes"])]
    pub(crate) input: Option<PathBuf>,
    /// The model of Llama 3 with about this many parameters, such as 405e9
    #[arg(long, value_name = "N", help_heading = "The tensors", conflicts_with_all = ["config", "bytes"])]
    pub(crate) params: Option<f64>,
    /// The model of a config.json
    #[arg(long, value_name = "FILE", value_parser = path(), help_heading = "The tensors", conflicts_with = "bytes")]
    pub(crate) config: Option<PathBuf>,
    /// The bytes of all tensors together, for --tensors equal ones
    #[arg(long, value_name = "SIZE", requires = "tensors", help_heading = "The tensors")]
    pub(crate) bytes: Option<String>,
    /// The number of equal tensors
    #[arg(long, value_name = "N", requires = "bytes", help_heading = "The tensors")]
    pub(crate) tensors: Option<u64>,
    /// The element type of a model without files, as safetensors spells it
    #[arg(long, value_name = "DTYPE", default_value = "BF16", help_heading = "The tensors")]
    pub(crate) dtype: String,
    #[command(flatten)]
    pub(crate) how: How,
    /// Numbers of workers to compare, such as 100,1000
    #[arg(long, value_name = "N,…", value_delimiter = ',', help_heading = "The run")]
    pub(crate) workers: Vec<u64>,
}

/// The text after the options in the help.
pub(super) const SHARDS_HELP: &str = "\
SPEC is ARRAY @ SHARDING, such as f32[8,6] @ mesh(dp=2,tp=2) P(\"dp\",\"tp\").
SHARDING is one of

  mesh(2,4) [Shard(0), _StridedShard(0, sf=2)]     torch; add order(1,0) for
                                                   the order of cuts
  mesh(x=2,y=4) P(\"x\", None, (\"y\",))             JAX
  {devices=[2,1,4]<=[8] last_tile_dim_replicate}   HLO
  sdy <mesh<[\"x\"=2]>, [{\"x\"}, {}]>               Shardy
  mesh(tp=4) column                                Megatron and vLLM: also row,
                                                   replicated, gate_up
  mesh(tp=4) megatron:qkv(h=8,g=2,d=64)            vLLM: vllm:qkv(…), which is
                                                   another order of rows
  mesh(tp=4) megatron:vocab(pad=128)               vLLM: vllm:vocab(pad=64)

mesh(2,4; 0,2,4,6,1,3,5,7) lists the devices in order. Add / LAYOUT for the
layout of each shard. A line has the device, its position in the mesh, and for
each dim the indices that it holds, in local order. With -, each line of stdin
is a SPEC and each line of stdout its answer, a JSON object; an error among them
sets the exit code to 1.

Examples:
  tilewright shards 'f32[37] @ mesh(2,2) [Shard(0), Shard(0)]'
  tilewright shards 'bf16[96,64] @ mesh(tp=2) megatron:qkv(h=8,g=2,d=8)' --json
  tilewright shards - < shardings.txt";

#[derive(Args, Debug)]
pub(crate) struct Shards {
    /// The array in shards, or - to read one from every line of stdin
    #[arg(allow_hyphen_values = true)]
    pub(crate) spec: String,
}
