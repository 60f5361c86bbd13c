//! The options of `convert`, and of `verify`, which reads what a conversion wrote.

use std::path::PathBuf;

use clap::Args;

use super::{Array, path};

#[derive(Args, Debug)]
#[command(group = clap::ArgGroup::new("by_recipe").args(["recipe", "inverse"]).multiple(true))]
pub(crate) struct Convert {
    /// A .safetensors, .gguf, .npy or .npz file, a *.safetensors.index.json, a folder, raw:PATH, or - for standard input
    #[arg(value_name = "IN", value_parser = path())]
    pub(crate) input: PathBuf,
    /// Where the result goes: a new folder for a folder; - for standard output
    #[arg(value_name = "OUT", value_parser = path())]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) job: Job,
    #[command(flatten)]
    pub(crate) recast: Recast,
    /// Read the result back and compare every element and every padding byte
    #[arg(long, help_heading = "The run")]
    pub(crate) verify: bool,
    /// Print the plan for each tensor and write nothing
    #[arg(long, help_heading = "The run")]
    pub(crate) dry_run: bool,
    /// Replace OUT if it exists, but never a folder; and copy what is converted already
    #[arg(long, help_heading = "The run")]
    pub(crate) force: bool,
}

/// The other tensors that the result consists of.
#[derive(Args, Debug)]
#[group(skip)]
pub(crate) struct Recast {
    /// Put the tensors of the result together by this recipe, a file or the name of one that is shipped
    #[arg(
        long,
        value_name = "R.toml|NAME",
        conflicts_with_all = ["to", "rule", "tensor", "from", "fill", "store", "skip_unfit"],
        help_heading = "Recipes"
    )]
    pub(crate) recipe: Option<String>,
    /// Undo the recipe; without --recipe the one that IN records
    #[arg(
        long,
        conflicts_with_all = ["to", "rule", "tensor", "from", "fill", "store", "skip_unfit"],
        help_heading = "Recipes"
    )]
    pub(crate) inverse: bool,
    /// A size that does not follow, such as n=32; may be repeated, and comes before those of the recipe
    #[arg(long, value_name = "AXIS=N", requires = "by_recipe", help_heading = "Recipes")]
    pub(crate) size: Vec<String>,
    /// The file whose metadata the result gets; IN without it. A .gguf result of safetensors needs a .gguf file
    #[arg(
        long,
        value_name = "FROM",
        value_parser = path(),
        requires = "by_recipe",
        help_heading = "Recipes"
    )]
    pub(crate) metadata: Option<PathBuf>,
    /// Write the metadata of FROM as they are, though they contradict the tensors
    #[arg(long, requires = "metadata", help_heading = "Recipes")]
    pub(crate) trust_metadata: bool,
    /// Apply the recipe though config.json is that of a model that it is not for
    #[arg(long, requires = "by_recipe", help_heading = "Recipes")]
    pub(crate) any_config: bool,
    /// The most bytes of tensors in a file of several, such as 5G; a longer tensor has its own
    #[arg(long, value_name = "SIZE", requires = "by_recipe", help_heading = "Recipes")]
    pub(crate) max_shard_size: Option<String>,
}

/// What a conversion is told, and `verify` again.
#[derive(Args, Debug)]
pub(crate) struct Job {
    /// The layout of the result
    #[arg(long, value_name = "SPEC", help_heading = "Layouts and tensors")]
    pub(crate) to: Option<String>,
    /// The layout of the input, where the file does not say it
    #[arg(long, value_name = "SPEC", help_heading = "Layouts and tensors")]
    pub(crate) from: Option<String>,
    /// Convert only tensors whose name matches; may be repeated. An array in .npy or raw:PATH takes one
    #[arg(long, value_name = "GLOB", help_heading = "Layouts and tensors")]
    pub(crate) tensor: Vec<String>,
    /// A layout for the tensors whose name matches; the first rule that matches wins, then --to
    #[arg(long, value_name = "GLOB=SPEC", help_heading = "Layouts and tensors")]
    pub(crate) rule: Vec<String>,
    /// What padding holds: 0, one, lowest, highest, 0xHEX or unknown
    #[arg(
        long,
        value_name = "VALUE",
        allow_hyphen_values = true,
        help_heading = "Layouts and tensors"
    )]
    pub(crate) fill: Option<String>,
    /// Store what is converted as words of this type: elements of 4 bits --store s32
    #[arg(long, value_name = "DTYPE", help_heading = "Layouts and tensors")]
    pub(crate) store: Option<String>,
    /// Leave tensors as they are that a SPEC does not fit, and list them
    #[arg(long, help_heading = "Layouts and tensors")]
    pub(crate) skip_unfit: bool,
    /// The most memory, such as 512M: buffers, and 6K a tensor beyond the first 64M of those
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
    pub(crate) array: Array,
}

#[derive(Args, Debug)]
pub(crate) struct Verify {
    /// The converted file
    #[arg(value_name = "OUT", value_parser = path())]
    pub(crate) output: PathBuf,
    /// The file it was made from; without it the data are compared with the fingerprints that OUT records
    #[arg(long, value_name = "IN", value_parser = path())]
    pub(crate) against: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) job: Job,
}
