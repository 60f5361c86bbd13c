//! The options for the shards of both sides of `reshard`.

use std::path::PathBuf;

use clap::Args;

use super::path;

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
