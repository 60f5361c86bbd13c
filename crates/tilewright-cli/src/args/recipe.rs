//! The options of `recipe`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::path;

/// The text after the options in the help.
pub(super) const HELP: &str = "\
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
