//! The options of `reshard simulate`.

use std::path::PathBuf;

use clap::Args;

use super::{How, path};

/// The text after the options in the help.
const HELP: &str = "\
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
#[command(after_help = HELP)]
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
