//! The options of commands on files: `convert`, `verify` (which reads what a conversion wrote), `fingerprint`,
//! `same-data`, `info`, `recipe` and `infer`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::{ArrayArgs, path};

#[derive(Args, Debug)]
#[command(group = clap::ArgGroup::new("by_recipe").args(["recipe", "inverse", "plan"]).multiple(true))]
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
    /// Write what an engine has in memory after it loaded IN: OUT is a folder with a file for each rank, or one file if the plan
    /// names no ranks. `learn read -o PLAN` wrote the plan. With --inverse IN is that folder or file, and OUT the checkpoint
    #[arg(
        long,
        value_name = "PLAN",
        value_parser = path(),
        conflicts_with_all = [
            "recipe", "to", "rule", "tensor", "fill", "store", "skip_unfit", "size", "allow", "metadata", "trust_metadata",
            "max_shard_size"
        ],
        help_heading = "Recipes"
    )]
    pub(crate) plan: Option<PathBuf>,
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
    /// Convert only tensors with matching names, and copy the others; may be repeated. For a result of
    /// one array (.npy, raw:PATH): the tensor that is written
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
    pub(crate) by: ByRecipe,
    #[command(flatten)]
    pub(crate) shards: ShardArgs,
}

/// The recipe of a result that does not record it.
#[derive(Args, Debug)]
#[group(skip)]
pub(crate) struct ByRecipe {
    /// Compare by this recipe, which OUT need not record, such as .npy: a TOML file, or a name of `recipe list`
    #[arg(long, value_name = "R.toml|NAME", requires = "against", help_heading = "Recipes")]
    pub(crate) recipe: Option<String>,
    /// Compare by the inverse of the recipe
    #[arg(long, requires = "recipe", help_heading = "Recipes")]
    pub(crate) inverse: bool,
    /// A size of the recipe, as for the conversion; may be repeated
    #[arg(long, value_name = "AXIS=N", requires = "recipe", help_heading = "Recipes")]
    pub(crate) size: Vec<String>,
    /// A condition of the recipe that may fail, as for the conversion; may be repeated
    #[arg(long, value_name = "NAME", requires = "recipe", help_heading = "Recipes")]
    pub(crate) allow: Vec<String>,
    /// The file that gave the metadata to OUT, as for the conversion
    #[arg(
        long,
        value_name = "FROM",
        value_parser = path(),
        requires = "recipe",
        help_heading = "Recipes"
    )]
    pub(crate) metadata: Option<PathBuf>,
    /// Compare even if config.json names another model
    #[arg(long, requires = "recipe", help_heading = "Recipes")]
    pub(crate) any_config: bool,
}

/// The text after the options in the help of `fingerprint`.
pub(super) const HELP: &str = "\
Prints NAME DTYPE [DIMS] HEX for each tensor, sorted by name, then one line for
all. A fingerprint does not depend on layout, format, padding or number of
files. A folder is read by its index, else every file of tensors in it is read.
--dtype, --dims and --from describe .npy and raw:PATH files, and tensors without
a recorded layout, such as words: --tensor '*qweight' --from GPTQ --dtype u4.
A folder of shards that `reshard` or torch wrote counts as its whole arrays;
--from-mesh and --from-rule describe other folders of shards. Copies count once
and have to be equal. All data is read; recorded fingerprints are not used.
Fingerprints find accidents; if somebody may forge the data, give a private
--key.

Examples:
  tilewright fingerprint model.safetensors
  tilewright fingerprint checkpoint/ --tensor '*.q_proj.weight'
  tilewright fingerprint zn.safetensors --json";

#[derive(Args, Debug)]
pub(crate) struct Fingerprint {
    /// A .safetensors, .gguf, .npy, .npz or .pt file, a *.safetensors.index.json, or a folder of these
    #[arg(value_name = "FILE|DIR", value_parser = path())]
    pub(crate) file: PathBuf,
    /// Print only tensors with matching names; may be repeated
    #[arg(long, value_name = "GLOB")]
    pub(crate) tensor: Vec<String>,
    #[command(flatten)]
    pub(crate) data: Data,
}

/// The shardings of files that do not record them.
#[derive(Args, Debug)]
pub(crate) struct ShardArgs {
    /// The mesh of a folder with one file for each position, if its files do not record it
    #[arg(long, value_name = "AXES", help_heading = "Shards")]
    pub(crate) from_mesh: Option<String>,
    /// The sharding of tensors with matching names in that folder, as for `reshard`
    #[arg(long, value_name = "GLOB=SHARDING", requires = "from_mesh", help_heading = "Shards")]
    pub(crate) from_rule: Vec<String>,
}

/// The options that both commands share.
#[derive(Args, Debug)]
pub(crate) struct Data {
    /// The key, 1 to 32 hexadecimal digits [default: a public key]
    #[arg(long, value_name = "HEX", allow_hyphen_values = true)]
    pub(crate) key: Option<String>,
    /// The layout of a .npy or raw:PATH, else of tensors without a recorded layout
    #[arg(long, value_name = "SPEC", help_heading = "The array")]
    pub(crate) from: Option<String>,
    #[command(flatten)]
    pub(crate) array: ArrayArgs,
    #[command(flatten)]
    pub(crate) shards: ShardArgs,
}

#[derive(Args, Debug)]
pub(crate) struct SameData {
    /// A file or folder, as for `fingerprint`
    #[arg(value_parser = path())]
    pub(crate) a: PathBuf,
    /// The other file or folder
    #[arg(value_parser = path())]
    pub(crate) b: PathBuf,
    /// Compare only tensors with matching names; may be repeated
    #[arg(long, value_name = "GLOB")]
    pub(crate) tensor: Vec<String>,
    #[command(flatten)]
    pub(crate) data: Data,
}

#[derive(Args, Debug)]
pub(crate) struct Info {
    /// A .safetensors, .gguf, .npy, .npz or .pt file, a *.safetensors.index.json, raw:PATH, or an HLO module
    /// (.txt, .hlo, .pb)
    #[arg(value_parser = path())]
    pub(crate) file: PathBuf,
    /// Lay a module's arrays out by these tiles, such as T(8,128), and print their padding. The
    /// inner tile follows from the element type; arrays of one dim get T(1024), scalars none. A
    /// complete layout, {0,1:T(8,128)(2,1)}, skips arrays of another rank
    #[arg(long, value_name = "TILES")]
    pub(crate) layout: Option<String>,
    #[command(flatten)]
    pub(crate) array: ArrayArgs,
}

/// The text after the options in the help.
pub(super) const RECIPE_HELP: &str = "\
A recipe turns the tensors of one checkpoint into those of another: it stacks
experts, fuses and splits parts, permutes rows, changes names. It is a TOML file
of rules, or a name of `recipe list`. Both sides of a rule are the same sum of
terms, so every element is written once and the recipe has an inverse. A recipe
never computes. It states what it requires (T=4 must divide 8 heads), and whether
config.json is kept, changed or not copied. docs/reference/recipes.md describes
the language; `convert IN OUT --recipe R` applies a recipe.

Examples:
  tilewright recipe check mixtral-experts-to-fused --on mixtral/
  tilewright recipe check my.toml --on fused.safetensors --inverse --size n=32
  tilewright recipe guess model.safetensors";

#[derive(Args, Debug)]
pub(crate) struct Recipe {
    #[command(subcommand)]
    pub(crate) ask: AskRecipe,
}

/// A question about recipes.
#[derive(Debug, Subcommand)]
pub(crate) enum AskRecipe {
    /// Check whether a recipe is legal, and with --on whether it fits a checkpoint
    #[command(after_help = "\
Without --on it prints the rules as a table. With --on it prints a line for each
tensor of the result, or every fault with exit code 1. It reads headers only.
Sizes come from --size, the recipe, config.json beside FILE, and the shapes.

Examples:
  tilewright recipe check my.toml
  tilewright recipe check llama-hf-to-megatron --on llama/ --size T=8
  tilewright recipe check my.toml --on fused.safetensors --inverse --json")]
    Check(CheckRecipe),
    /// Print a recipe or its inverse as a file
    #[command(after_help = "\
Examples:
  tilewright recipe show phi3-to-split
  tilewright recipe show gpt-oss-to-split --inverse
  tilewright recipe show mixtral-experts-to-fused > mine.toml")]
    Show(ShowRecipe),
    /// List the recipes that come with the program
    #[command(after_help = "\
Examples:
  tilewright recipe list
  tilewright recipe list --json
  tilewright recipe list | grep -i gguf")]
    List,
    /// Find the shipped recipes that fit a checkpoint, in either direction
    #[command(after_help = "\
config.json comes first: a recipe that it contradicts is not offered. A recipe
fits if it has no fault, or if it needs only sizes. Several may fit; the answer
says what decides, and you choose. Recipes that nearly fit follow, with the
reason why not. Exit code 1 if none fits.

Examples:
  tilewright recipe guess model.safetensors
  tilewright recipe guess mixtral/
  tilewright recipe guess fused.safetensors --json")]
    Guess {
        /// A file of tensors, an index, or the folder of a checkpoint
        #[arg(value_name = "FILE|DIR", value_parser = path())]
        file: PathBuf,
    },
}

#[derive(Args, Debug)]
pub(crate) struct CheckRecipe {
    #[command(flatten)]
    pub(crate) which: ShowRecipe,
    /// A file of tensors, an index, or the folder of a checkpoint; only headers are read
    #[arg(long, value_name = "FILE|DIR", value_parser = path())]
    pub(crate) on: Option<PathBuf>,
    /// The size of an axis; overrides all other sources; may be repeated
    #[arg(long, value_name = "AXIS=N", requires = "on")]
    pub(crate) size: Vec<String>,
    /// Pass over this condition of the recipe; the error names it; may be repeated
    #[arg(long, value_name = "NAME", requires = "on")]
    pub(crate) allow: Vec<String>,
    /// Apply the recipe though config.json is that of a model that it is not for
    #[arg(long, requires = "on")]
    pub(crate) any_config: bool,
}

#[derive(Args, Debug)]
pub(crate) struct ShowRecipe {
    /// A TOML file, or a name of `recipe list`
    #[arg(value_name = "R")]
    pub(crate) recipe: String,
    /// Take the inverse recipe
    #[arg(long)]
    pub(crate) inverse: bool,
}

#[derive(Args, Debug)]
pub(crate) struct Infer {
    /// The known array: a .npy, .npz, .safetensors or .gguf file, or raw:PATH
    #[arg(long, value_name = "FILE", value_parser = path())]
    pub(crate) original: PathBuf,
    /// The same elements in the unknown layout: such a file, or bytes
    #[arg(long, value_name = "FILE", value_parser = path())]
    pub(crate) packed: PathBuf,
    /// The tensor, if files have several
    #[arg(long, value_name = "NAME")]
    pub(crate) tensor: Option<String>,
    #[command(flatten)]
    pub(crate) array: ArrayArgs,
}
