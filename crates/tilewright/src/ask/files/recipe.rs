//! Answers about recipes: the rules of one, whether it fits a checkpoint, the shipped ones, and those of them that fit
//! a checkpoint: why each fits, how to decide between them, and why others nearly fit.

use std::{collections::BTreeSet, fmt};

use serde_json::{Value, json};
use tilewright_recipe::{
    Assembly, Condition, ConfigJson, Errors, Guess, Guessed, Made, Origin, Recipe, Shipped, Tensor,
};

use crate::ask::{
    Answer,
    words::{counted, printable},
};

/// The number of names that a line lists.
const NAMED: usize = 3;

/// Legal recipe, as a table of its rules.
///
/// ```
/// use tilewright::{ask::{Answer, RecipeShown}, recipe::Recipe};
/// let recipe = Recipe::parse("[[map]]\nfrom = 'w : i o'\nto = 'w : o i'")?;
/// let shown = RecipeShown(&recipe);
/// assert_eq!(shown.to_string(), "w : i o  ->  w : o i\nlegal: 1 rule\n");
/// assert_eq!(shown.to_json()["rules"], 1);
/// # Ok::<(), tilewright::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct RecipeShown<'a>(pub &'a Recipe);

impl fmt::Display for RecipeShown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for line in self.0.to_string().lines() {
            writeln!(f, "{}", printable(line))?;
        }
        writeln!(f, "legal: {}", counted(self.0.rules() as u128, "rule"))
    }
}

impl Answer for RecipeShown<'_> {
    fn to_json(&self) -> Value {
        let recipe = self.0;
        json!({
            "title": recipe.title(),
            "source": recipe.source(),
            "rules": recipe.rules(),
            "toml": recipe.to_toml(),
        })
    }
}

/// Fit of a recipe to a checkpoint: the sources of each tensor of the result, or every fault.
///
/// ```
/// use tilewright::{ask::{Answer, RecipeFit}, recipe::{Recipe, Sizes, Tensor}, Dtype};
/// let recipe = Recipe::parse("[[map]]\nfrom = 'x.{e} : i'\nto = 'x : e i'")?;
/// let tensors = [Tensor::new("x.0", Dtype::F16, [4]), Tensor::new("x.1", Dtype::F16, [4])];
/// let fit = RecipeFit { tensors: &tensors, solved: recipe.solve(&tensors, None, &Sizes::new()) };
/// assert_eq!(fit.to_string(), "x f16 [2,4] of x.0, x.1\nfits: 2 tensors become 1\n");
/// let fit = RecipeFit { tensors: &tensors[1..], solved: recipe.solve(&tensors[1..], None, &Sizes::new()) };
/// assert!(fit.is_no() && fit.to_string().starts_with("line 2: \"x.0\" is missing"));
/// assert_eq!(fit.to_json()["faults"][0]["kind"], "missing");
/// # Ok::<(), tilewright::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct RecipeFit<'a> {
    /// The tensors of the checkpoint.
    pub tensors: &'a [Tensor],
    /// The result of the recipe, or its faults.
    pub solved: Result<Assembly, Errors>,
}

impl RecipeFit<'_> {
    /// Returns the sources of a tensor in the order of its parts.
    fn sources(&self, made: &Made) -> Vec<&str> {
        let mut seen = BTreeSet::new();
        let tensor = |origin: Origin| match origin {
            Origin::Source { tensor, .. } => Some(tensor),
            Origin::Fill(_) => None,
        };
        let all = made.parts.iter().filter_map(|part| tensor(part.origin));
        let names =
            all.filter(|tensor| seen.insert(*tensor)).filter_map(|tensor| self.tensors.get(tensor));
        names.map(|tensor| tensor.name.as_str()).collect()
    }

    /// Returns the tensors that are neither in the result nor compared.
    fn left(&self, assembly: &Assembly) -> Vec<&str> {
        let parts = assembly.made.iter().flat_map(|made| &made.parts).map(|part| part.origin);
        let equal = assembly.equal.iter().flat_map(|equal| [equal.first, equal.second]);
        let tensor = |origin: Origin| match origin {
            Origin::Source { tensor, .. } => Some(tensor),
            Origin::Fill(_) => None,
        };
        let used: BTreeSet<usize> = parts.chain(equal).filter_map(tensor).collect();
        let left = self
            .tensors
            .iter()
            .enumerate()
            .filter(|(at, tensor)| !used.contains(at) && tensor.elements() != Some(0));
        left.map(|(_, tensor)| tensor.name.as_str()).collect()
    }

    fn line(&self, made: &Made) -> String {
        let sources = self.sources(made);
        let named: Vec<_> = sources.iter().take(NAMED).map(|name| printable(name)).collect();
        let more = match sources.len().saturating_sub(NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let layout = made.layout.as_ref().map(|layout| format!(" {layout}")).unwrap_or_default();
        let dims: Vec<String> = made.extents.iter().map(u64::to_string).collect();
        let (name, dtype, dims) = (printable(&made.name), made.dtype, dims.join(","));
        let of = if named.is_empty() { "nothing".to_owned() } else { named.join(", ") };
        format!("{name} {dtype} [{dims}]{layout} of {of}{more}")
    }
}

/// A line for each tensor of the result, then the sums; or a line for each fault.
impl fmt::Display for RecipeFit<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let assembly = match &self.solved {
            Ok(assembly) => assembly,
            Err(errors) => {
                return errors
                    .to_string()
                    .lines()
                    .try_for_each(|line| writeln!(f, "{}", printable(line)));
            }
        };
        for made in &assembly.made {
            writeln!(f, "{}", self.line(made))?;
        }
        let left = self.left(assembly);
        if !left.is_empty() {
            let names: Vec<_> = left.iter().map(|name| printable(name)).collect();
            writeln!(f, "not in the result: {}", names.join(", "))?;
        }
        let (from, to) = (counted(self.tensors.len() as u128, "tensor"), assembly.made.len());
        let compared = match assembly.equal.len() {
            0 => String::new(),
            more => format!("; {} must hold", counted(more as u128, "comparison")),
        };
        let becomes = if self.tensors.len() == 1 { "becomes" } else { "become" };
        writeln!(f, "fits: {from} {becomes} {to}{compared}")
    }
}

impl Answer for RecipeFit<'_> {
    fn to_json(&self) -> Value {
        let made = |made: &Made| {
            json!({
                "name": made.name,
                "dtype": made.dtype.name(),
                "dims": made.extents,
                "layout": made.layout,
                "sources": self.sources(made),
            })
        };
        match &self.solved {
            Ok(assembly) => json!({
                "fits": true,
                "tensors": assembly.made.iter().map(made).collect::<Vec<_>>(),
                "left": self.left(assembly),
                "equal": assembly.equal.iter().map(|equal| &equal.why).collect::<Vec<_>>(),
                "back": assembly.metadata.iter().map(|(_, text)| text).next(),
                "config": config(&assembly.config),
                "notes": assembly.notes,
            }),
            Err(errors) => json!({ "fits": false, "faults": faults(errors) }),
        }
    }

    fn notes(&self) -> Vec<String> {
        self.solved.as_ref().map(|assembly| assembly.notes.clone()).unwrap_or_default()
    }

    fn is_no(&self) -> bool {
        self.solved.is_err()
    }
}

/// Returns the change of `config.json`; null if the recipe does not state one.
fn config(config: &ConfigJson) -> Value {
    match config {
        ConfigJson::Keep => json!("kept"),
        ConfigJson::Change(change) => json!({ "set": change.set, "remove": change.remove }),
        ConfigJson::Leave(why) => json!({ "not_copied": why }),
        _ => Value::Null,
    }
}

pub(in crate::ask) fn faults(errors: &Errors) -> Vec<Value> {
    let fault = |error: &tilewright_recipe::Error| {
        json!({
            "kind": error.kind(),
            "message": error.message(),
            "line": error.line(),
            "span": error.span().map(|(from, to)| [from, to]),
            "allow": error.name(),
        })
    };
    errors.iter().map(fault).collect()
}

/// The recipes that come with the library.
///
/// ```
/// use tilewright::ask::{Answer, Recipes};
/// let text = Recipes.to_string();
/// assert!(text.lines().any(|line| line.starts_with("mixtral-experts-to-fused  ")));
/// assert_eq!(Recipes.to_json()["recipes"][0]["name"], "bloom-hf-to-gguf");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Recipes;

/// Returns the names and titles of the shipped recipes.
pub(in crate::ask) fn titled() -> Vec<(&'static Shipped, String, String)> {
    let facts = |shipped: &'static Shipped| {
        let recipe = shipped.recipe().unwrap_or_default();
        (shipped, recipe.title().unwrap_or("").to_owned(), recipe.source().unwrap_or("").to_owned())
    };
    tilewright_recipe::shipped().iter().map(facts).collect()
}

/// A line for each recipe.
impl fmt::Display for Recipes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = titled();
        let width = all.iter().map(|(shipped, ..)| shipped.name.len()).max().unwrap_or(0);
        all.iter()
            .try_for_each(|(shipped, title, _)| writeln!(f, "{:width$}  {title}", shipped.name))
    }
}

impl Answer for Recipes {
    fn to_json(&self) -> Value {
        let one = |(shipped, title, source): &(&Shipped, String, String)| json!({ "name": shipped.name, "title": title, "source": source });
        json!({ "recipes": titled().iter().map(one).collect::<Vec<_>>() })
    }
}

/// Shipped recipes that fit a checkpoint.
///
/// ```
/// use tilewright::{ask::{Answer, Guesses}, recipe::{Tensor, guess}, Dtype};
/// let tensors = [Tensor::new("visual.patch_embed.proj.weight", Dtype::F32, [32, 3, 2, 4, 4])];
/// let guesses = Guesses(guess(&tensors, None));
/// assert!(guesses.to_string().starts_with("qwen2-vl-patch-to-linear  Qwen2-VL: "));
/// // What the configuration contradicts is not offered, and the answer says why.
/// let other = serde_json::json!({"model_type": "llava"});
/// let guesses = Guesses(guess(&tensors, Some(&other)));
/// assert!(guesses.is_no() && guesses.to_string().contains("not qwen2-vl-patch-to-linear: `model_type` is \"llava\""));
/// ```
#[derive(Clone, Debug)]
pub struct Guesses(pub Guessed);

impl Guesses {
    /// Returns how to decide between several recipes that fit.
    fn decision(&self) -> Option<String> {
        let fits = &self.0.fits;
        if fits.len() < 2 {
            return None;
        }
        let keys: BTreeSet<&str> =
            fits.iter().flat_map(|one| &one.unsettled).map(|one| one.key.as_str()).collect();
        let apart = keys.into_iter().find_map(|key| told_apart(fits, key));
        Some(apart.unwrap_or_else(|| {
            let makes = |one: &Guess| format!("{} makes {}", spelled(one), one.makes);
            let all: Vec<String> = fits.iter().map(makes).collect();
            format!("choose by the names that the result must have: {}", all.join("; "))
        }))
    }
}

/// Returns how a key that the configuration lacks tells recipes apart, if two of them accept no common value of it. Recipes that
/// a value leaves together are told apart by what they make.
fn told_apart(fits: &[Guess], key: &str) -> Option<String> {
    let of = |guess: &Guess| guess.unsettled.iter().find(|one| one.key == key).cloned();
    let all: Vec<(&Guess, Option<Condition>)> =
        fits.iter().map(|guess| (guess, of(guess))).collect();
    let common = |a: &Option<Condition>, b: &Option<Condition>| match (a, b) {
        (Some(a), Some(b)) => a.values.iter().any(|one| b.values.contains(one)),
        _ => true, // without a condition, every value is accepted
    };
    let apart = all.iter().any(|(_, a)| all.iter().any(|(_, b)| !common(a, b)));
    let one = |(at, (guess, condition)): (usize, &(&Guess, Option<Condition>))| {
        let mut others = all.iter().enumerate().filter(|(other, _)| *other != at);
        let together = others.any(|(_, (_, other))| common(condition, other));
        let makes = if together { format!(", and makes {}", guess.makes) } else { String::new() };
        match condition {
            Some(condition) => format!("{} is for {condition}{makes}", spelled(guess)),
            None => format!("{} is for any{makes}", spelled(guess)),
        }
    };
    let said: Vec<String> = all.iter().enumerate().map(one).collect();
    apart.then(|| {
        format!(
            "the tensors alone do not decide, and no configuration gives `{key}`: {}",
            said.join("; ")
        )
    })
}

/// Returns the name of a recipe with its direction.
fn spelled(guess: &Guess) -> String {
    format!("{}{}", guess.name, if guess.inverse { " (inverse)" } else { "" })
}

/// Returns why a recipe fits: the keys of the configuration that agree, and what the caller must give.
fn why(guess: &Guess) -> String {
    let known: Vec<String> = guess.known.iter().map(|one| format!("`{}`", one.key)).collect();
    let config = match (known.is_empty(), guess.unsettled.first()) {
        (false, _) => format!("the tensors and {} fit", known.join(", ")),
        (true, Some(open)) => {
            format!("the tensors fit; it is for {open}, which no configuration gives")
        }
        (true, None) => "the tensors fit".to_owned(),
    };
    // The message of the first instance holds for all of them.
    match &guess.open {
        Some(errors) => format!("{config}, but {}", errors.first().message()),
        None => config,
    }
}

/// Returns the first reason why a recipe does not fit, and the number of reasons.
fn why_not(guess: &Guess) -> String {
    let faults = guess.open.iter().flat_map(Errors::iter);
    let faults = faults.filter(|error| error.kind() != tilewright_recipe::kind::UNSOLVED);
    let said = guess.against.iter().map(ToString::to_string);
    // The rest of this message is advice for authors of recipes.
    let short = |error: &tilewright_recipe::Error| match error.kind() {
        tilewright_recipe::kind::UNMATCHED => {
            error.message().split("; ").next().unwrap_or_default().to_owned()
        }
        _ => error.message().to_owned(), // open set
    };
    let mut all = said.chain(faults.map(short));
    let first = all.next().unwrap_or_default();
    match all.count() {
        0 => first,
        more => format!("{first} (the first of {})", counted(more as u128 + 1, "fault")),
    }
}

/// A line for each recipe that fits, with the reason; how to decide; then the recipes that nearly fit, with the reasons.
impl fmt::Display for Guesses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Guessed { fits, near, others, .. } = &self.0;
        let titles = titled();
        let width = fits.iter().map(|guess| spelled(guess).len()).max().unwrap_or(0);
        for guess in fits {
            let own = titles.iter().find(|(shipped, ..)| shipped.name == guess.name);
            let title = own.map_or("", |(_, title, _)| title);
            writeln!(f, "{:width$}  {title}", spelled(guess))?;
            writeln!(f, "    {}", printable(&why(guess)))?;
        }
        if fits.is_empty() {
            writeln!(f, "no shipped recipe fits")?;
        }
        if let Some(said) = self.decision() {
            writeln!(f, "{}", printable(&said))?;
        }
        for guess in near {
            writeln!(f, "not {}: {}", spelled(guess), printable(&why_not(guess)))?;
        }
        match (fits.is_empty() && near.is_empty(), *others) {
            (true, others) if others > 0 => writeln!(
                f,
                "the tensors have other names than those of all {others} recipes, counting each direction"
            ),
            _ => Ok(()),
        }
    }
}

impl Answer for Guesses {
    fn to_json(&self) -> Value {
        let fits = |guess: &Guess| {
            json!({
                "name": guess.name,
                "inverse": guess.inverse,
                "open": guess.open.as_ref().map(faults),
                "why": why(guess),
                "makes": guess.makes,
            })
        };
        let against = |guess: &Guess| -> Vec<Value> {
            let one = |it: &tilewright_recipe::Contradiction| json!({ "key": it.key, "is": it.is, "wanted": it.wanted });
            guess.against.iter().map(one).collect()
        };
        let near = |guess: &Guess| {
            json!({
                "name": guess.name,
                "inverse": guess.inverse,
                "why": why_not(guess),
                "against": against(guess),
                "faults": guess.open.as_ref().map(faults).unwrap_or_default(),
            })
        };
        let model: serde_json::Map<String, Value> = self.0.model.iter().cloned().collect();
        json!({
            "recipes": self.0.fits.iter().map(fits).collect::<Vec<_>>(),
            "near": self.0.near.iter().map(near).collect::<Vec<_>>(),
            "others": self.0.others,
            "model": model,
            "decide": self.decision(),
        })
    }

    fn is_no(&self) -> bool {
        self.0.fits.is_empty()
    }
}
