//! The options of `reshard simulate`.

use std::path::PathBuf;

use clap::Args;

use super::{How, path};

/// What the help says behind the options.
const HELP: &str = "\
The numbers are those of the planner: the tasks that a run would have, the ranges
of files that each reads and writes, the files and the plan it would write. No
data are read, and without IN there is no checkpoint: the tensors are those of
--params, --config or --bytes. A model has the names of the Hugging Face hub,
such as
model.layers.0.self_attn.q_proj.weight and model.layers.0.mlp.down_proj.weight.
No times are said, for these depend on disks and networks.

Examples:
  tilewright reshard simulate --params 405e9 --from-mesh dp=128
    --from-rule '*=[Shard(0)]' --mesh tp=64 --rule '*{o,down}_proj*=[Shard(1)]'
    --rule '*_proj*=[Shard(0)]' --workers 16,64
  tilewright reshard simulate --bytes 10T --tensors 5000 --from-mesh dp=128
    --from-rule '*=[Shard(0)]' --mesh tp=64 --rule '*=[Shard(1)]' --workers 1000";

#[derive(Args, Debug)]
#[command(after_help = HELP)]
pub(crate) struct Simulate {
    /// A checkpoint that is there
    #[arg(value_name = "IN", value_parser = path(), conflicts_with_all = ["params", "config", "bytes"])]
    pub(crate) input: Option<PathBuf>,
    /// The model of Llama 3 with about this many parameters, such as 405e9
    #[arg(long, value_name = "N", help_heading = "The tensors", conflicts_with_all = ["config", "bytes"])]
    pub(crate) params: Option<f64>,
    /// The model of a config.json
    #[arg(long, value_name = "FILE", value_parser = path(), help_heading = "The tensors", conflicts_with = "bytes")]
    pub(crate) config: Option<PathBuf>,
    /// Equal tensors of these bytes together, with --tensors
    #[arg(long, value_name = "SIZE", requires = "tensors", help_heading = "The tensors")]
    pub(crate) bytes: Option<String>,
    /// How many equal tensors
    #[arg(long, value_name = "N", requires = "bytes", help_heading = "The tensors")]
    pub(crate) tensors: Option<u64>,
    /// The element type of tensors that are not there, as safetensors spells it
    #[arg(long, value_name = "DTYPE", default_value = "BF16", help_heading = "The tensors")]
    pub(crate) dtype: String,
    #[command(flatten)]
    pub(crate) how: How,
    /// Numbers of workers that share the tasks, such as 100,1000
    #[arg(long, value_name = "N,…", value_delimiter = ',', help_heading = "The run")]
    pub(crate) workers: Vec<u64>,
}
