//! The options of `convert`, and of `verify`, which reads what a conversion wrote.

use std::path::PathBuf;

use clap::Args;

use super::{ArrayArgs, ShardArgs, path};

#[derive(Args, Debug)]
#[command(group = clap::ArgGroup::new("by_recipe").args(["recipe", "inverse"]).multiple(true))]
pub(crate) struct Convert {
    /// A .safetensors, .gguf, .npy, .npz or .pt file, a *.safetensors.index.json, a folder, raw:PATH, or - for standard input
    #[arg(value_name = "IN", value_parser = path())]
    pub(crate) input: PathBuf,
    /// The result: a new folder if IN is a folder; - for standard output
    #[arg(value_name = "OUT", value_parser = path())]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) job: JobArgs,
    #[command(flatten)]
    pub(crate) recast: Recast,
    /// Read the result back and compare every element and every padding byte
    #[arg(long, help_heading = "The run")]
    pub(crate) verify: bool,
    /// Print the plan for each tensor and write nothing
    #[arg(long, help_heading = "The run")]
    pub(crate) dry_run: bool,
    /// Replace OUT if it is a file; also copy tensors that are already converted
    #[arg(long, help_heading = "The run")]
    pub(crate) force: bool,
}

/// The other tensors that the result consists of.
#[derive(Args, Debug)]
#[group(skip)]
pub(crate) struct Recast {
    /// Apply this recipe: a TOML file, or a name of `recipe list`
    #[arg(
        long,
        value_name = "R.toml|NAME",
        conflicts_with_all = ["to", "rule", "tensor", "fill", "store", "skip_unfit"],
        help_heading = "Recipes"
    )]
    pub(crate) recipe: Option<String>,
    /// Undo the recipe: that of --recipe, else the one that IN records
    #[arg(
        long,
        conflicts_with_all = ["to", "rule", "tensor", "fill", "store", "skip_unfit"],
        help_heading = "Recipes"
    )]
    pub(crate) inverse: bool,
    /// A size of the recipe, such as n=32; overrides the recipe's; may be repeated
    #[arg(long, value_name = "AXIS=N", requires = "by_recipe", help_heading = "Recipes")]
    pub(crate) size: Vec<String>,
    /// Convert although this condition of the recipe fails; the error names it; may be repeated
    #[arg(long, value_name = "NAME", requires = "by_recipe", help_heading = "Recipes")]
    pub(crate) allow: Vec<String>,
    /// Take the metadata from this file instead of IN; safetensors to .gguf needs a .gguf file
    #[arg(
        long,
        value_name = "FROM",
        value_parser = path(),
        requires = "by_recipe",
        help_heading = "Recipes"
    )]
    pub(crate) metadata: Option<PathBuf>,
    /// Use metadata even if they contradict the tensors or config.json
    #[arg(long, requires = "by_recipe", help_heading = "Recipes")]
    pub(crate) trust_metadata: bool,
    /// Convert even if config.json names another model or quantisation, or zero points beside the weights do
    #[arg(long, help_heading = "The run")]
    pub(crate) any_config: bool,
    /// Most bytes of tensors in each file, such as 5G; a longer tensor gets its own file
    #[arg(long, value_name = "SIZE", requires = "by_recipe", help_heading = "Recipes")]
    pub(crate) max_shard_size: Option<String>,
}

/// The options that `convert` and `verify` share.
#[derive(Args, Debug)]
pub(crate) struct JobArgs {
    /// The layout of the result
    #[arg(long, value_name = "SPEC", help_heading = "Layouts and tensors")]
    pub(crate) to: Option<String>,
    /// The layout of the input, if the file does not record it
    #[arg(long, value_name = "SPEC", help_heading = "Layouts and tensors")]
    pub(crate) from: Option<String>,
    /// Convert only tensors with matching names; may be repeated. Chooses the tensor for .npy or raw:PATH
    #[arg(long, value_name = "GLOB", help_heading = "Layouts and tensors")]
    pub(crate) tensor: Vec<String>,
    /// The layout of tensors with matching names; the first match wins, then --to
    #[arg(long, value_name = "GLOB=SPEC", help_heading = "Layouts and tensors")]
    pub(crate) rule: Vec<String>,
    /// The value of padding: 0, one, lowest, highest, 0xHEX or unknown
    #[arg(
        long,
        value_name = "VALUE",
        allow_hyphen_values = true,
        help_heading = "Layouts and tensors"
    )]
    pub(crate) fill: Option<String>,
    /// Store converted tensors as words of this type, such as s32 for 4-bit elements
    #[arg(long, value_name = "DTYPE", help_heading = "Layouts and tensors")]
    pub(crate) store: Option<String>,
    /// Skip and list tensors that the SPEC does not fit
    #[arg(long, help_heading = "Layouts and tensors")]
    pub(crate) skip_unfit: bool,
    /// Memory limit, such as 512M: buffers, and 6K for each tensor beyond the first 64M of those
    #[arg(
        long,
        value_name = "SIZE",
        default_value = "1G",
        allow_hyphen_values = true,
        help_heading = "The run"
    )]
    pub(crate) memory: String,
    /// Threads; 0 means all cores
    #[arg(
        long,
        value_name = "N",
        default_value = "0",
        allow_hyphen_values = true,
        help_heading = "The run"
    )]
    pub(crate) threads: String,
    #[command(flatten)]
    pub(crate) array: ArrayArgs,
}

#[derive(Args, Debug)]
pub(crate) struct Verify {
    /// The converted file
    #[arg(value_name = "OUT", value_parser = path())]
    pub(crate) output: PathBuf,
    /// The original; without it, data is compared with the fingerprints that OUT records
    #[arg(long, value_name = "IN", value_parser = path())]
    pub(crate) against: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) job: JobArgs,
    #[command(flatten)]
    pub(crate) shards: ShardArgs,
}
