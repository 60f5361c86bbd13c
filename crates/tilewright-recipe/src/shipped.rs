//! The recipes that come with the library, by name.

use crate::{error::Errors, recipe::Recipe};

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
