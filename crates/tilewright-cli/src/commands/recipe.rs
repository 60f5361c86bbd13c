//! `recipe`: prints a recipe, checks whether it fits a checkpoint, and lists the shipped recipes.

use tilewright::{
    Remedy,
    ask::{Guesses, RecipeFit, RecipeShown, Recipes},
    files::{Assembling, Reading},
    recast as facade,
    recipe::{Recipe, guess},
};

use super::recast;
use crate::{
    args::{self, AskRecipe, CheckRecipe, ShowRecipe},
    exit::ExitCode,
    failure::Failure,
    output::Output,
    remedy::option,
    streams,
};

pub(super) fn run(args: &args::Recipe, out: &mut Output) -> Result<ExitCode, Failure> {
    match &args.ask {
        AskRecipe::Check(args) => check(args, out),
        AskRecipe::Show(args) => show(args, out),
        AskRecipe::List => Ok(out.say(&Recipes)?),
        AskRecipe::Guess { file } => {
            let input = streams::open(file, &Reading::default())?;
            Ok(out.say(&Guesses(guess(&input.recipe_tensors(), input.config()?.as_ref())))?)
        }
    }
}

fn check(args: &CheckRecipe, out: &mut Output) -> Result<ExitCode, Failure> {
    let recipe = facade::allowing(read(&args.which)?, &args.allow)?;
    let recipe = if args.any_config { recipe.for_any_config() } else { recipe };
    let sizes = recast::sizes(&args.size)?;
    let Some(on) = &args.on else { return Ok(out.say(&RecipeShown(&recipe))?) };
    let input = streams::open(on, &Reading::default())?;
    let (tensors, config) = (input.recipe_tensors(), input.config()?);
    let solved = recipe.solve(&tensors, config.as_ref(), &sizes);
    let other = || facade::fits(&recipe.inverse(), (&tensors, config.as_ref()), &sizes);
    if solved.is_err() && other() {
        out.remark(&option(Remedy::OtherDirection));
    }
    solved.iter().try_for_each(|assembly| Assembling::check(&input, assembly))?;
    Ok(out.say(&RecipeFit { tensors: &tensors, solved })?)
}

fn show(args: &ShowRecipe, out: &mut Output) -> Result<ExitCode, Failure> {
    let recipe = read(args)?;
    let text = recipe.to_toml();
    out.answer(&text, serde_json::json!({ "toml": text }))?;
    Ok(ExitCode::SUCCESS)
}

fn read(args: &ShowRecipe) -> Result<Recipe, Failure> {
    let recipe = recast::named(&args.recipe)?;
    Ok(if args.inverse { recipe.inverse() } else { recipe })
}
