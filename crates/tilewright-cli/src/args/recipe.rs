//! The options of `recipe`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::path;

/// What the help says behind the options.
pub(super) const HELP: &str = "\
A recipe says how the tensors of one checkpoint become those of another: experts
stacked, parts fused and split, rows permuted, names changed. It is a TOML file
of rules, or the name of one that comes with the program (`recipe list`). Both
sides of a rule must be the same sum of terms, so it has an inverse, and every
element is written once; no number is ever computed. The language is described
in docs/reference/recipes.md; `convert IN OUT --recipe R` carries one out.

Examples:
  tilewright recipe check mixtral-experts-to-fused --on mixtral/
  tilewright recipe check my.toml --on fused.safetensors --inverse --size n=32
  tilewright recipe guess model.safetensors";

#[derive(Args, Debug)]
pub(crate) struct Recipe {
    #[command(subcommand)]
    pub(crate) ask: AskRecipe,
}

/// What is asked of recipes.
#[derive(Debug, Subcommand)]
pub(crate) enum AskRecipe {
    /// Whether a recipe is legal, and with --on whether it fits a checkpoint
    #[command(after_help = "\
Without --on the rules as a table. With --on a line for each tensor that it would
make, or every fault, and then the exit code is 1. Nothing but headers is read.
Sizes come from --size, from the recipe, from config.json beside FILE, and from
the shapes.

Examples:
  tilewright recipe check my.toml
  tilewright recipe check llama-hf-to-megatron --on llama/ --size T=8
  tilewright recipe check my.toml --on fused.safetensors --inverse --json")]
    Check(CheckRecipe),
    /// Print a recipe as a file, or the one that undoes it
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
    /// Name the recipes of the program that fit a checkpoint, in either direction
    #[command(after_help = "\
A recipe fits if it is solved without a fault, or if only sizes must be given.
Several may fit, and nothing is chosen: which one is meant is for you to say. If
none fits the exit code is 1.

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
    /// A file of tensors, an index, or the folder of a checkpoint, whose headers are read
    #[arg(long, value_name = "FILE|DIR", value_parser = path())]
    pub(crate) on: Option<PathBuf>,
    /// The size of an axis, before all that is known of it; may be repeated
    #[arg(long, value_name = "AXIS=N", requires = "on")]
    pub(crate) size: Vec<String>,
}

#[derive(Args, Debug)]
pub(crate) struct ShowRecipe {
    /// A TOML file, or a name of `recipe list`
    #[arg(value_name = "R")]
    pub(crate) recipe: String,
    /// The recipe that undoes it
    #[arg(long)]
    pub(crate) inverse: bool,
}
