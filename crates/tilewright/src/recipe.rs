//! Recipes: everything of `tilewright-recipe`, and functions that find a recipe by name, apply it to an opened file, and
//! undo it.
//!
//! ```
//! use tilewright::{files::{Assembling, Packaging, Reading, Request, open}, recipe::{self, Sizes}};
//! let pair = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/recipes/mixtral");
//! let input = open(format!("{pair}/before.safetensors"), &Reading::default())?;
//! let recipe = recipe::find(&format!("{pair}/recipe.toml"))?;
//! let assembly = recipe::solved(&recipe, &input, &Sizes::new())?;
//! let folder = tempfile::tempdir()?;
//! let out = folder.path().join("fused.safetensors");
//! Assembling::prepare(&input, &assembly, &out, Request::new(), &Packaging::default())?.run(&())?;
//! // The result says how it becomes what it was.
//! let fused = open(&out, &Reading::default())?;
//! assert!(recipe::solved(&recipe::recorded(&fused)?, &fused, &Sizes::new()).is_ok());
//! # Ok::<(), tilewright::Error>(())
//! ```

use std::{fs, io::Read as _, path::Path};

use tilewright_core::Remedy;
use tilewright_files::Input;
use tilewright_notation::Spec;
use tilewright_scan::did_you_mean;

pub use tilewright_recipe::*;

/// The name of the recipe that the Python package generates.
const GENERATED: &str = "transformers";

/// The longest recipe that is read, in bytes.
const LONGEST: u64 = 4 << 20;

/// Returns the recipe of this name: a file, if the name is a path or ends in `.toml`, else one that is
/// [shipped].
///
/// # Errors
/// [i/o](Error::is_io) if the file cannot be read; [mismatch](Error::is_mismatch), with all faults, if it is not a recipe;
/// [usage](Error::is_usage) if there is neither a file nor a recipe of this name.
///
/// ```
/// use tilewright::recipe;
/// let shipped = &recipe::shipped()[0];
/// assert_eq!(recipe::find(shipped.name)?, shipped.recipe()?);
/// let error = recipe::find("no/such/recipe.toml").unwrap_err();
/// assert!(error.is_io() && error.message().starts_with("no/such/recipe.toml: "));
/// let error = recipe::find("llama-original-to-fh").unwrap_err();
/// assert!(error.to_string().ends_with("did you mean `llama-original-to-hf`?"));
/// let error = recipe::find("mixtral").unwrap_err();
/// assert!(error.to_string().contains("did you mean `mixtral-experts-to-fused`?"));
/// let error = recipe::find("transformers").unwrap_err();
/// assert!(error.to_string().ends_with("pip install tilewright transformers torch"));
/// let error = recipe::find("bread").unwrap_err();
/// assert!(error.to_string().ends_with("a shipped recipe"));
/// # Ok::<(), tilewright::Error>(())
/// ```
pub fn find(name: &str) -> Result<Recipe, Error> {
    let about = |error: Error| error.prefixed(&format!("{name}: "));
    if let Some(shipped) = shipped().iter().find(|one| one.name == name) {
        return shipped.recipe().map_err(|errors| about(errors.into()));
    }
    if name.contains("://") && !Path::new(name).exists() {
        let said =
            "a recipe is the name of a shipped one, or a file of this machine; download it first";
        // A URL may have a password or a signature.
        let scheme = name.split("://").next().unwrap_or_default();
        return Err(Error::usage(format!("{scheme}://…: {said}")).in_field("recipe"));
    }
    let is_path = name.ends_with(".toml") || name.contains(std::path::is_separator);
    if !is_path && !Path::new(name).exists() {
        return Err(unknown(name));
    }
    let mut text = String::new();
    let read =
        fs::File::open(name).and_then(|file| file.take(LONGEST + 1).read_to_string(&mut text));
    read.map_err(|cause| about(cause.into()))?;
    if text.len() as u64 > LONGEST {
        let said = format!("{name}: a recipe has more than {LONGEST} bytes");
        return Err(Error::usage(said).in_field("recipe"));
    }
    let recipe = Recipe::parse(&text).map_err(|errors| about(errors.into()))?;
    for layout in recipe.layouts() {
        let parsed = Spec::parse(layout).map(drop);
        parsed.map_err(|error| about(unfit(&format!("layout {layout:?}"), error)))?;
    }
    Ok(recipe)
}

/// Returns the error of a layout that does not parse, prefixed with its name.
fn unfit(what: &str, error: Error) -> Error {
    error.prefixed(&format!("{what}: "))
}

/// Returns the error for a name that no recipe has.
fn unknown(name: &str) -> Error {
    if name == GENERATED {
        let said = "the recipe `transformers` is generated from the installed transformers, which the Python package does: \
                    pip install tilewright transformers torch";
        return Error::usage(said).in_field("recipe");
    }
    let near = did_you_mean(name, shipped().iter().map(|one| one.name));
    Error::usage(format!("{name:?} is neither a file nor a shipped recipe{near}"))
        .in_field("recipe")
}

/// Returns the recipe that an input records: it undoes the one that made the input.
///
/// # Errors
/// [usage](Error::is_usage) if the input records none; [mismatch](Error::is_mismatch) if the record is not a recipe.
///
/// ```
/// use tilewright::{files::{Reading, open}, recipe};
/// let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
/// let error = recipe::recorded(&open(path, &Reading::default())?).unwrap_err();
/// assert!(error.to_string().ends_with("records no recipe; name the one to undo"));
/// # Ok::<(), tilewright::Error>(())
/// ```
pub fn recorded(input: &Input) -> Result<Recipe, Error> {
    let path = input.path().display();
    let text = input.metadata().find(|(key, _)| *key == RECIPE_KEY).map(|(_, text)| text);
    let none = || {
        Error::usage(format!("{path} records no recipe; name the one to undo")).in_field("recipe")
    };
    let recipe = Recipe::parse(text.ok_or_else(none)?).map_err(Error::from);
    recipe.map_err(|error| error.prefixed(&format!("{path}: metadata {RECIPE_KEY:?}: ")))
}

/// Applies a recipe to an input, with the configuration file beside the input. `sizes` take precedence.
///
/// # Errors
/// [mismatch](Error::is_mismatch), with all faults, if the recipe does not fit. If its inverse fits,
/// [`Remedy::OtherDirection`] is one of the remedies.
///
/// ```
/// use tilewright::{files::{Reading, open}, recipe::{self, Recipe, Sizes}};
/// let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
/// let input = open(path, &Reading::default())?;
/// let recipe = Recipe::parse("[[map]]\nfrom = '3.weight'\nto = 'head'")?;
/// let error = recipe::solved(&recipe, &input, &Sizes::new()).unwrap_err();
/// assert!(error.is_mismatch() && error.to_string().contains(".bias"));
/// # Ok::<(), tilewright::Error>(())
/// ```
pub fn solved(recipe: &Recipe, input: &Input, sizes: &Sizes) -> Result<Assembly, Error> {
    let (tensors, config) = (input.recipe_tensors(), input.config()?);
    recipe.solve(&tensors, config.as_ref(), sizes).map_err(|errors| {
        let error = Error::from(errors);
        match fits(&recipe.inverse(), (&tensors, config.as_ref()), sizes) {
            true => error.with_remedy(Remedy::OtherDirection),
            false => error,
        }
    })
}

/// Returns whether a recipe fits tensors and a configuration, up to sizes that the caller must give.
///
/// ```
/// use tilewright::{Dtype, recipe::fits, recipe::{Recipe, Sizes, Tensor}};
/// let recipe = Recipe::parse("[[map]]\nfrom = 'w : i o'\nto = 'v : o i'")?;
/// let made = [Tensor::new("v", Dtype::F32, [4, 3])];
/// assert!(!fits(&recipe, (&made, None), &Sizes::new()));
/// assert!(fits(&recipe.inverse(), (&made, None), &Sizes::new()));
/// # Ok::<(), tilewright::Error>(())
/// ```
pub fn fits(
    recipe: &Recipe,
    (tensors, config): (&[Tensor], Option<&serde_json::Value>),
    sizes: &Sizes,
) -> bool {
    match recipe.solve(tensors, config, sizes) {
        Ok(_) => true,
        Err(errors) => errors.iter().all(|error| error.kind() == kind::UNSOLVED),
    }
}

/// Returns a recipe without the conditions of these names, which the caller vouches for.
///
/// # Errors
/// [usage](Error::is_usage) for a name that no condition of the recipe has.
///
/// ```
/// use tilewright::recipe::{self, Recipe};
/// let recipe = Recipe::parse("require = [{ that = '1 == 2', allow = 'odd' }]")?;
/// assert!(recipe::allowing(recipe.clone(), &["odd"]).is_ok());
/// assert!(recipe::allowing(recipe, &["even"]).unwrap_err().is_usage());
/// # Ok::<(), tilewright::Error>(())
/// ```
pub fn allowing<T: AsRef<str>>(recipe: Recipe, names: &[T]) -> Result<Recipe, Error> {
    let allowed = recipe.allowing(names.iter().map(AsRef::as_ref));
    allowed.map_err(|errors| Error::usage(errors.to_string()).in_field("allow"))
}

/// Reads a size as a person writes it: `n=32`.
///
/// # Errors
/// [usage](Error::is_usage) for anything else.
///
/// ```
/// use tilewright::recipe;
/// assert_eq!(recipe::size("n=32")?, ("n".to_owned(), 32));
/// assert!(recipe::size("n").unwrap_err().to_string().contains("such as n=32"));
/// # Ok::<(), tilewright::Error>(())
/// ```
pub fn size(text: &str) -> Result<(String, u64), Error> {
    let pair = text.split_once('=');
    let pair = pair.and_then(|(axis, number)| Some((axis.trim(), number.trim().parse().ok()?)));
    match pair.filter(|(axis, _)| !axis.is_empty()) {
        Some((axis, number)) => Ok((axis.to_owned(), number)),
        None => {
            Err(Error::usage(format!("{text:?}: expected AXIS=N, such as n=32")).in_field("size"))
        }
    }
}
