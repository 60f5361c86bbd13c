//! The recipes that come with the library, by name, and which of them fit a checkpoint.

use crate::{
    error::{Errors, Kind},
    expression::Sizes,
    recipe::Recipe,
    tensor::Tensor,
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
    /// The name it is asked for by.
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
    "bloom-qkv-to-split",
    "chatglm-to-split",
    "ernie4.5-vl-moe-to-hf",
    "falcon-7b-qkv-to-split",
    "falcon-qkv-to-split",
    "gpt-neox-qkv-to-split",
    "gpt-oss-to-split",
    "gpt2-conv1d-to-linear",
    "internlm2-to-llama",
    "llama-hf-to-gguf",
    "llama-hf-to-megatron",
    "llama-original-to-hf",
    "mixtral-experts-to-fused",
    "mixtral-hf-to-gguf",
    "moe-experts-to-fused",
    "nomic-bert-to-hf",
    "olmo-hybrid-to-hf",
    "phi3-to-split",
    "qwen-hf-to-gguf",
    "qwen2-vl-patch-to-linear",
    "qwen3-moe-hf-to-gguf",
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

/// A recipe that fits a checkpoint; see [`guess`].
///
/// ```
/// use tilewright_core::Dtype;
/// use tilewright_recipe::{Guess, Tensor, guess};
/// let tensors = [Tensor::new("visual.patch_embed.proj.linear.weight", Dtype::F32, [32, 96])];
/// let found: Vec<Guess> = guess(&tensors, None);
/// assert_eq!((found[0].name, found[0].inverse), ("qwen2-vl-patch-to-linear", true));
/// assert!(found[0].open.as_ref().unwrap().to_string().contains("the size of `c`"));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Guess {
    /// The name of the recipe.
    pub name: &'static str,
    /// Whether it is its inverse that fits.
    pub inverse: bool,
    /// What must be given before it can be solved: sizes and element types that do not follow.
    pub open: Option<Errors>,
}

/// The shipped recipes that fit these tensors, in either direction: those that are solved without a fault, and those for
/// which only sizes or element types must be given. Which one is meant is for people to say: several may fit.
///
/// ```
/// use serde_json::json;
/// use tilewright_core::Dtype;
/// use tilewright_recipe::{Tensor, guess};
/// let tensors = [Tensor::new("visual.patch_embed.proj.weight", Dtype::F32, [32, 3, 2, 4, 4])];
/// let found = guess(&tensors, None);
/// assert_eq!((found.len(), found[0].name, found[0].inverse), (1, "qwen2-vl-patch-to-linear", false));
/// assert!(found[0].open.is_none());
/// // A configuration that says otherwise does not fit.
/// assert!(guess(&tensors, Some(&json!({"vision_config": {"patch_size": 14}}))).is_empty());
/// ```
pub fn guess(tensors: &[Tensor], config: Option<&serde_json::Value>) -> Vec<Guess> {
    let both = SHIPPED.iter().flat_map(|shipped| [(shipped, false), (shipped, true)]);
    both.filter_map(|(shipped, inverse)| {
        let recipe = shipped.recipe().ok()?;
        let recipe = if inverse { recipe.inverse() } else { recipe };
        let open = recipe.solve(tensors, config, &Sizes::new()).err();
        let fits = |errors: &Errors| errors.iter().all(|error| error.kind() == Kind::Unsolved);
        open.as_ref().is_none_or(fits).then_some(Guess { name: shipped.name, inverse, open })
    })
    .collect()
}
