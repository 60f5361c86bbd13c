//! The options that say how both sides of `reshard` are cut.

use clap::Args;

/// How both sides are cut.
#[derive(Args, Debug)]
pub(crate) struct How {
    /// The mesh of the input, a file *.safetensors for each position
    #[arg(long, value_name = "AXES", help_heading = "The input")]
    pub(crate) from_mesh: Option<String>,
    /// How the input's tensors of a matching name are cut; the first rule that matches wins, and each
    /// needs one
    #[arg(long, value_name = "GLOB=SHARDING", requires = "from_mesh", help_heading = "The input")]
    pub(crate) from_rule: Vec<String>,
    /// The extents of the whole tensors of a matching name, such as 'embed.weight=[50257,64]': boxes that
    /// leave a part of them out are refused
    #[arg(long, value_name = "GLOB=DIMS", help_heading = "The input")]
    pub(crate) extents: Vec<String>,
    /// Read one of several copies of a box, and compare no other with it
    #[arg(long, help_heading = "The input")]
    pub(crate) trust_replicas: bool,
    /// The mesh of the result, such as dp=2,tp=4
    #[arg(long, value_name = "AXES", help_heading = "The result")]
    pub(crate) mesh: Option<String>,
    /// How tensors of a matching name are cut; the first rule that matches wins, others are whole
    #[arg(long, value_name = "GLOB=SHARDING", requires = "mesh", help_heading = "The result")]
    pub(crate) rule: Vec<String>,
    /// The layout of each shard; shards of a rank that it does not fit are row-major
    #[arg(long, value_name = "SPEC", help_heading = "The result")]
    pub(crate) to: Option<String>,
    /// The files: hf, whole tensors; dcp, for torch's distributed checkpoint; ranks, one a position
    #[arg(long = "as", value_name = "FORM", value_parser = ["hf", "dcp", "ranks"], help_heading = "The result")]
    pub(crate) form: Option<String>,
    /// The most bytes of tensors in a file of hf, such as 5G
    #[arg(long, value_name = "SIZE", help_heading = "The result")]
    pub(crate) max_shard_size: Option<String>,
    /// The most memory for buffers; 256M without it
    #[arg(long, value_name = "SIZE", help_heading = "The run")]
    pub(crate) memory: Option<String>,
}
