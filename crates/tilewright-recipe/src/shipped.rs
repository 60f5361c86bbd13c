//! The recipes that come with the library, by name, and which of them fit a checkpoint.
//!
//! [`guess`] asks the configuration first, then names and extents, and says why the others do not fit.

use std::sync::OnceLock;

use serde_json::Value;

use crate::{
    config,
    error::Errors,
    kind,
    recipe::Recipe,
    rule::expression::Sizes,
    tensor::Tensor,
    value::models::{Condition, Contradiction},
};

/// A recipe that comes with the library: a file as users write them.
///
/// ```
/// let shipped = tilewright_recipe::shipped();
/// let mixtral = shipped.iter().find(|one| one.name == "mixtral-experts-to-fused").unwrap();
/// assert!(mixtral.recipe()?.title().unwrap().starts_with("Mixtral"));
/// # Ok::<(), tilewright_recipe::Errors>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shipped {
    /// The name by which users select it.
    pub name: &'static str,
    /// The file.
    pub text: &'static str,
}

impl Shipped {
    /// The recipe.
    ///
    /// # Errors
    /// None: each one is tested.
    ///
    /// ```
    /// for shipped in tilewright_recipe::shipped() {
    ///     let recipe = shipped.recipe()?;
    ///     assert!(recipe.title().is_some() && recipe.source().is_some(), "{}", shipped.name);
    /// }
    /// # Ok::<(), tilewright_recipe::Errors>(())
    /// ```
    pub fn recipe(&self) -> Result<Recipe, Errors> {
        Recipe::parse(self.text)
    }
}

macro_rules! shipped {
    ($($name:literal,)*) => {
        &[$(Shipped { name: $name, text: include_str!(concat!("../recipes/", $name, ".toml")) },)*]
    };
}

const SHIPPED: &[Shipped] = shipped![
    "bloom-hf-to-gguf",
    "bloom-qkv-to-split",
    "chatglm-to-split",
    "cohere-hf-to-gguf",
    "deepseek-hf-to-gguf",
    "dots1-hf-to-gguf",
    "ernie4.5-hf-to-gguf",
    "ernie4.5-moe-hf-to-gguf",
    "ernie4.5-vl-moe-to-hf",
    "exaone4-hf-to-gguf",
    "falcon-7b-qkv-to-split",
    "falcon-hf-to-gguf",
    "falcon-qkv-to-split",
    "glm4-hf-to-gguf",
    "glm4-moe-hf-to-gguf",
    "gpt-neox-hf-to-gguf",
    "gpt-neox-qkv-to-split",
    "gpt-oss-hf-to-gguf",
    "gpt-oss-to-split",
    "gpt2-conv1d-to-linear",
    "gpt2-hf-to-gguf",
    "granite-moe-hf-to-gguf",
    "hunyuan-hf-to-gguf",
    "internlm2-to-llama",
    "lfm2-hf-to-gguf",
    "llama-hf-to-gguf",
    "llama-hf-to-megatron",
    "llama-original-to-hf",
    "mixtral-experts-to-fused",
    "mixtral-hf-to-gguf",
    "moe-experts-to-fused",
    "moe-experts-to-mlx",
    "nomic-bert-to-hf",
    "olmo-hf-to-gguf",
    "olmo-hybrid-to-hf",
    "olmo2-hf-to-gguf",
    "olmoe-hf-to-gguf",
    "phi-hf-to-gguf",
    "phi3-hf-to-gguf",
    "phi3-to-split",
    "qwen-hf-to-gguf",
    "qwen-hf-to-megatron",
    "qwen2-moe-hf-to-gguf",
    "qwen2-vl-patch-to-linear",
    "qwen3-moe-hf-to-gguf",
    "seed-oss-hf-to-gguf",
    "stablelm-hf-to-gguf",
    "starcoder-hf-to-gguf",
    "starcoder2-hf-to-gguf",
    "step3p7-vision-to-hf",
];

/// The recipes that come with the library, by name.
///
/// ```
/// let names: Vec<&str> = tilewright_recipe::shipped().iter().map(|one| one.name).collect();
/// assert!(names.is_sorted() && names.contains(&"llama-original-to-hf"));
/// ```
pub fn shipped() -> &'static [Shipped] {
    SHIPPED
}

/// The most recipes that are listed with the reasons why they do not fit.
const NEAR: usize = 6;

/// Keys of a configuration that name its model.
const MODEL: [&str; 3] = ["model_type", "architectures", "general.architecture"];

/// A shipped recipe for a checkpoint, in one direction; see [`guess`].
///
/// ```
/// use tilewright_core::Dtype;
/// use tilewright_recipe::{Tensor, guess};
/// let tensors = [Tensor::new("visual.patch_embed.linear_proj.weight", Dtype::F32, [32, 96])];
/// let found = guess(&tensors, None).fits;
/// assert_eq!((found[0].name, found[0].inverse), ("qwen2-vl-patch-to-linear", true));
/// assert!(found[0].open.as_ref().unwrap().to_string().contains("the size of `c`"));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Guess {
    /// The name of the recipe.
    pub name: &'static str,
    /// True if it is the inverse of that recipe.
    pub inverse: bool,
    /// The names of the first tensors that it makes, as a pattern.
    pub makes: String,
    /// Conditions on the model whose keys the configuration has.
    pub known: Vec<Condition>,
    /// Conditions on the model whose keys the configuration lacks.
    pub unsettled: Vec<Condition>,
    /// Values of the configuration that contradict the recipe.
    pub against: Vec<Contradiction>,
    /// The sizes that must be given before it can be solved, or, of a recipe that does not fit, all its faults.
    pub open: Option<Errors>,
}

/// The shipped recipes for a checkpoint; see [`guess`].
///
/// ```
/// let guessed = tilewright_recipe::guess(&[], Some(&serde_json::json!({"model_type": "gpt2"})));
/// assert_eq!(guessed.model, [("model_type".to_owned(), "gpt2".into())]);
/// assert!(guessed.fits.is_empty());
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Guessed {
    /// Facts of the model in the configuration: keys with their values.
    pub model: Vec<(String, Value)>,
    /// Those that fit.
    pub fits: Vec<Guess>,
    /// Those that nearly fit: for this configuration, for such tensors, or for most of them.
    pub near: Vec<Guess>,
    /// The number of others, each direction counted.
    pub others: usize,
}

/// The shipped recipes for these tensors, in either direction. A recipe fits if the configuration does not contradict it, and if it
/// is solved without a fault, or if only sizes and element types must be given. Several may fit: which one is meant is for
/// people to say.
///
/// ```
/// use serde_json::json;
/// use tilewright_core::Dtype;
/// use tilewright_recipe::{Tensor, guess};
/// let tensors = [Tensor::new("visual.patch_embed.proj.weight", Dtype::F32, [32, 3, 2, 4, 4])];
/// let found = guess(&tensors, None).fits;
/// assert_eq!((found.len(), found[0].name, found[0].inverse), (1, "qwen2-vl-patch-to-linear", false));
/// assert!(found[0].open.is_none());
/// // A configuration that says otherwise does not fit.
/// let config = json!({"vision_config": {"patch_size": 14}});
/// assert!(guess(&tensors, Some(&config)).fits.is_empty());
/// let other = guess(&tensors, Some(&json!({"model_type": "llava"})));
/// assert!(other.fits.is_empty() && other.near[0].against[0].key == "model_type");
/// ```
pub fn guess(tensors: &[Tensor], config: Option<&Value>) -> Guessed {
    let mut guessed = Guessed { model: model(config), ..Guessed::default() };
    let mut near = Vec::new();
    for (shipped, inverse, recipe) in both_ways() {
        let guess = guessed_of((shipped, *inverse), recipe, tensors, config);
        match guess.distance(recipe, tensors.len()) {
            Some(0) => guessed.fits.push(guess),
            Some(distance) => near.push((distance, guess)),
            None => guessed.others += 1,
        }
    }
    // The other direction of what fits is for its result.
    let fits = |name: &str| guessed.fits.iter().any(|guess| guess.name == name);
    near.retain(|(_, guess)| !fits(guess.name));
    // Those of the fewest faults first, and of these those that the configuration does not contradict.
    near.sort_by_key(|(distance, guess)| (*distance, guess.against.len()));
    guessed.others += near.len().saturating_sub(NEAR);
    guessed.near = near.into_iter().take(NEAR).map(|(_, guess)| guess).collect();
    guessed
}

/// Returns the shipped recipes and their inverses, which are marked. They are parsed once, because that takes most of the time.
fn both_ways() -> &'static [(&'static Shipped, bool, Recipe)] {
    static ALL: OnceLock<Vec<(&Shipped, bool, Recipe)>> = OnceLock::new();
    ALL.get_or_init(|| {
        let parsed = shipped().iter().filter_map(|one| Some((one, one.recipe().ok()?)));
        let both = |(one, forth): (&'static Shipped, Recipe)| {
            let back = forth.inverse();
            [(one, false, forth), (one, true, back)]
        };
        parsed.flat_map(both).collect()
    })
}

/// Returns the facts that a configuration states of its model.
fn model(config: Option<&Value>) -> Vec<(String, Value)> {
    let said = |key: &str| Some((key.to_owned(), config::value(config?, key)?.clone()));
    MODEL.into_iter().filter_map(said).collect()
}

fn guessed_of(
    (shipped, inverse): (&Shipped, bool),
    recipe: &Recipe,
    tensors: &[Tensor],
    config: Option<&Value>,
) -> Guess {
    let [known, unsettled] = recipe.serves.split(config);
    let against = config.map(|config| recipe.contradictions(config)).unwrap_or_default();
    let any = recipe.clone().for_any_config();
    let open = any.solve(tensors, config, &Sizes::new()).err();
    let first = recipe.rules.first().and_then(|rule| rule.to.references.first());
    let makes = first.map_or("", |first| first.text.split(" : ").next().unwrap_or(""));
    Guess { name: shipped.name, inverse, makes: makes.to_owned(), known, unsettled, against, open }
}

impl Guess {
    /// Returns the distance from a fit, in faults; `None` where the recipe has little to do with the tensors.
    fn distance(&self, recipe: &Recipe, tensors: usize) -> Option<usize> {
        let of = |kind: &'static str| {
            let errors = self.open.iter().flat_map(Errors::iter);
            errors.filter(|error| error.kind() == kind).count()
        };
        let faults = self.open.iter().flat_map(Errors::iter).count();
        let faults = faults - of(kind::UNSOLVED);
        if faults == 0 {
            return Some(self.against.len());
        }
        let named = self.against.is_empty()
            && self.known.iter().any(|one| MODEL.contains(&one.key.as_str()));
        let required = recipe.rules.iter().filter(|rule| !rule.optional).count();
        let most = of(kind::UNMATCHED) * 2 <= required && of(kind::UNCLAIMED) * 2 <= tensors;
        (named || most && required > 0 && tensors > 0).then_some(faults + self.against.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names that a recipe takes in every layer, without axes.
    fn sources(recipe: &Recipe) -> Vec<String> {
        let references = recipe.rules.iter().flat_map(|rule| &rule.from.references);
        let names = references.map(|one| one.text.split(" : ").next().unwrap_or("").to_owned());
        names.filter(|name| name.contains('{')).collect()
    }

    /// Of two recipes for the same names, a configuration excludes one, or their results have other names: an answer can always
    /// say how to decide.
    #[test]
    fn any_two_recipes_are_told_apart_by_the_configuration_or_by_their_results() {
        let mut all = Vec::new();
        for (shipped, inverse) in shipped().iter().flat_map(|one| [(one, false), (one, true)]) {
            let recipe = shipped.recipe().unwrap();
            let recipe = if inverse { recipe.inverse() } else { recipe };
            let guess = guessed_of((shipped, inverse), &recipe, &[], None);
            all.push((sources(&recipe), guess));
        }
        let (mut by_config, mut by_names) = (0, 0);
        for (at, (ours, a)) in all.iter().enumerate() {
            for (theirs, b) in &all[at + 1..] {
                if !ours.iter().any(|name| theirs.contains(name)) {
                    continue;
                }
                let apart = a.unsettled.iter().any(|one| {
                    let other = b.unsettled.iter().find(|other| other.key == one.key);
                    other
                        .is_some_and(|other| !one.values.iter().any(|it| other.values.contains(it)))
                });
                by_config += usize::from(apart);
                by_names += usize::from(a.makes != b.makes);
                assert!(apart || a.makes != b.makes, "{} and {}: {}", a.name, b.name, a.makes);
            }
        }
        assert!(by_config > 100 && by_names > 100, "{by_config} {by_names}");
    }
}
