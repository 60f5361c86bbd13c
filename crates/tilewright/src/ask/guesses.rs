//! Answer about the shipped recipes that fit a checkpoint: why each fits, how to decide between them, and why others nearly fit.

use std::{collections::BTreeSet, fmt};

use serde_json::{Value, json};
use tilewright_recipe::{Condition, Guess, Guessed};

use super::{
    Answer,
    recipe::{faults, titled},
    words::{counted, printable},
};

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
    let faults = guess.open.iter().flat_map(tilewright_recipe::Errors::iter);
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
