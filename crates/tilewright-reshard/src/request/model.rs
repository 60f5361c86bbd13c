//! A tensor by its name, element type and extents, and [`Model`]: the tensors of a transformer, computed from its numbers, under the
//! names of the Hugging Face hub.
//!
//! Estimates use models without files, and the check of extents uses known families. Imagined jobs and lists of boxes use tensors
//! alone.

pub(crate) use tilewright_files::inner::CONFIG;

use std::path::Path;

use serde::Deserialize;
use tilewright_core::{Dtype, TensorLayout};
use tilewright_files::inner::{file_in, is_folder, json};

use crate::{
    Error,
    plan::array::{Laid, size},
};

/// A tensor of a checkpoint that need not exist.
///
/// ```
/// use tilewright_reshard::Tensor;
/// assert_eq!(Tensor::new("w", "BF16", &[4096, 8192]).bytes(), 64 << 20);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tensor {
    /// Its name.
    pub name: String,
    /// Its element type, as safetensors spells it.
    pub dtype: String,
    /// Its extents.
    pub extents: Vec<u64>,
}

impl Tensor {
    /// Makes a tensor of this name, element type and extents.
    ///
    /// ```
    /// # use tilewright_reshard::Tensor;
    /// assert_eq!(Tensor::new("norm", "F32", &[64]).name, "norm");
    /// ```
    pub fn new(name: &str, dtype: &str, extents: &[u64]) -> Tensor {
        Tensor { name: name.to_owned(), dtype: dtype.to_owned(), extents: extents.to_vec() }
    }

    /// Returns the bytes of its elements; 0 for an unknown element type.
    ///
    /// ```
    /// # use tilewright_reshard::Tensor;
    /// assert_eq!(Tensor::new("norm", "F32", &[64]).bytes(), 256);
    /// ```
    pub fn bytes(&self) -> u64 {
        let bits = Elements::of(&self.dtype).map_or(0, |elements| elements.bits);
        size(&self.extents).saturating_mul(u64::from(bits / 8))
    }
}

/// An element type of whole bytes, and its width.
pub(crate) struct Elements {
    pub(crate) dtype: Dtype,
    pub(crate) bits: u32,
}

impl Elements {
    pub(crate) fn of(name: &str) -> Result<Elements, Error> {
        let dtype = tilewright_notation::dtype(name).map_err(Error::without_span)?;
        // A Boolean is stored in a byte; other types narrower than a byte are packed.
        let is_whole = |bits: &u32| bits.is_multiple_of(8);
        let bits = match dtype {
            Dtype::Pred => dtype.storage_bits(),
            _ => dtype.bits(),
        };
        let bits = bits.filter(is_whole).filter(|bits| *bits > 0);
        let none = || Error::new("unsupported", format!("elements of {name} are not whole bytes"));
        Ok(Elements { dtype, bits: bits.ok_or_else(none)? })
    }

    /// Makes a row-major local array of such elements.
    pub(crate) fn laid(&self, file_dtype: &str, shape: &[u64]) -> Result<Laid, Error> {
        let layout = TensorLayout::row_major(shape)?;
        let (file_dtype, shape, spec) = (file_dtype.to_owned(), shape.to_vec(), None);
        let (dtype, bits, packed) = (self.dtype, self.bits, false);
        Ok(Laid { file_dtype, dtype, bits, layout, shape, spec, packed, big: false })
    }
}

/// The numbers of a model similar to Llama, as `config.json` names them, optionally with experts as in Mixtral and
/// DeepSeek.
///
/// ```
/// use tilewright_reshard::Model;
/// let model = Model::near(405e9);
/// assert_eq!((model.num_hidden_layers, model.tensors("BF16").len()), (126, 126 * 9 + 3));
/// let bytes: u64 = model.tensors("BF16").iter().map(|tensor| tensor.bytes()).sum();
/// assert_eq!(bytes / 1_000_000_000, 811);
/// ```
#[must_use]
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Model {
    /// The width of the model.
    pub hidden_size: u64,
    /// The width within a feed-forward layer.
    pub intermediate_size: u64,
    /// The number of layers.
    pub num_hidden_layers: u64,
    /// The number of query heads.
    pub num_attention_heads: u64,
    /// The number of key and value heads; by default that of query heads.
    pub num_key_value_heads: Option<u64>,
    /// The width of a head; by default the width of the model divided by its heads.
    pub head_dim: Option<u64>,
    /// The number of words.
    pub vocab_size: u64,
    /// True if the last layer is the embedding.
    #[serde(default)]
    pub tie_word_embeddings: bool,
    /// The number of experts of a layer; by default none.
    #[serde(alias = "n_routed_experts", alias = "num_experts")]
    pub num_local_experts: Option<u64>,
    /// The width within an expert; by default that of a feed-forward layer.
    pub moe_intermediate_size: Option<u64>,
}

/// The number of parameters, width, inner width, layers and heads of the models of Llama 3. All have 8 heads of keys
/// and 128256 words.
const LLAMA: [(f64, [u64; 4]); 5] = [
    (1.5e9, [2048, 8192, 16, 32]),
    (3.6e9, [3072, 8192, 28, 24]),
    (8e9, [4096, 14336, 32, 32]),
    (70.6e9, [8192, 28672, 80, 64]),
    (405.8e9, [16384, 53248, 126, 128]),
];

/// The last layer, which has its own tensor unless it is the embedding.
const LAST: &str = "lm_head.weight";

/// The most tensors of a model.
const MOST: u64 = 1 << 22;

/// The families whose tensors have the names and extents of [`Model::tensors`], as far as they have tensors of these
/// names. The flag is true if each model has all of them, except the last layer, which may be the embedding.
const FAMILIES: [(&str, bool); 12] = [
    ("llama", true),
    ("mistral", true),
    ("qwen2", true),
    ("qwen3", true),
    ("smollm3", true),
    ("granite", true),
    ("gemma", false),
    ("gemma2", false),
    ("olmo2", false),
    ("mixtral", false),
    ("qwen2_moe", false),
    ("qwen3_moe", false),
];

/// Returns the text of the config in the folder of a checkpoint, or in the folder of its one file; empty if there is
/// none. A text in another encoding than UTF-8 states nothing.
pub(crate) fn config(checkpoint: &Path) -> Result<String, Error> {
    let folder = if is_folder(checkpoint)? { Some(checkpoint) } else { checkpoint.parent() };
    let found = file_in(folder.unwrap_or(checkpoint), CONFIG)?;
    Ok(found.and_then(|(_, bytes)| String::from_utf8(bytes).ok()).unwrap_or_default())
}

/// Returns true for the configuration of a known family.
pub(crate) fn is_known(config: &serde_json::Value) -> bool {
    FAMILIES.iter().any(|(name, _)| config.get("model_type").is_some_and(|own| own == name))
}

/// The tensors of a model of a known family.
pub(crate) struct ModelTensors {
    pub(crate) tensors: Vec<Tensor>,
    /// The names of the tensors that every such model has.
    pub(crate) needed: Vec<String>,
    /// True if a model of the family has no other weights, so `needed` is the complete list.
    pub(crate) is_complete: bool,
}

impl Model {
    /// Returns the tensors of a `config.json` of a known family.
    pub(crate) fn known(text: &str) -> Option<ModelTensors> {
        #[derive(Deserialize)]
        struct Config {
            model_type: String,
            quantization_config: Option<serde_json::Value>,
            tie_word_embeddings: Option<bool>,
        }
        let config: Config = serde_json::from_value(json(text).ok()?).ok()?;
        let (_, is_complete) = FAMILIES.into_iter().find(|(name, _)| *name == config.model_type)?;
        // Quantised weights have other names and extents.
        if config.quantization_config.is_some() {
            return None;
        }
        let tensors = Model::of_config(text).ok()?.tensors("BF16");
        // If the config does not mention tying, the output layer may be the embedding.
        let is_untied = config.tie_word_embeddings == Some(false);
        let is_needed = |tensor: &&Tensor| is_complete && (is_untied || tensor.name != LAST);
        let needed = tensors.iter().filter(is_needed).map(|tensor| tensor.name.clone()).collect();
        Some(ModelTensors { tensors, needed, is_complete })
    }

    /// Returns the model of Llama 3 with the nearest number of parameters, with the number of layers adapted to it.
    ///
    /// ```
    /// # use tilewright_reshard::Model;
    /// assert_eq!(Model::near(70e9).hidden_size, 8192);
    /// assert_eq!(Model::near(1e12).num_hidden_layers, 312);
    /// ```
    pub fn near(parameters: f64) -> Model {
        let far = |of: &(f64, [u64; 4])| (of.0.ln() - parameters.max(1.0).ln()).abs();
        let by = |a: &&(f64, [u64; 4]), b: &&(f64, [u64; 4])| far(a).total_cmp(&far(b));
        let (_, [hidden_size, intermediate_size, _, heads]) =
            LLAMA.iter().min_by(by).copied().unwrap_or(LLAMA[2]);
        let mut model = Model {
            hidden_size,
            intermediate_size,
            num_hidden_layers: 1,
            num_attention_heads: heads,
            num_key_value_heads: Some(8),
            head_dim: None,
            vocab_size: 128_256,
            tie_word_embeddings: false,
            num_local_experts: None,
            moe_intermediate_size: None,
        };
        let words = 2.0 * (hidden_size * model.vocab_size) as f64;
        let layer = model.layer().map(|(_, dims)| dims.iter().product::<u64>()).sum::<u64>() as f64;
        model.num_hidden_layers = ((parameters - words) / layer).round().clamp(1.0, 1e5) as u64;
        model
    }

    /// Reads the model of a `config.json`.
    ///
    /// # Errors
    /// `corrupt` for a text without these numbers; `limit` for more than 2²² tensors or numbers that multiply beyond 63
    /// bits.
    ///
    /// ```
    /// use tilewright_reshard::Model;
    /// let text = r#"{"hidden_size": 64, "intermediate_size": 256, "num_hidden_layers": 2, "num_attention_heads": 4,
    ///     "vocab_size": 1000, "num_local_experts": 8}"#;
    /// assert_eq!(Model::of_config(text).unwrap().tensors("BF16").len(), 2 * (6 + 1 + 8 * 3) + 3);
    /// assert_eq!(Model::of_config("{}").unwrap_err().kind(), "corrupt");
    /// ```
    pub fn of_config(text: &str) -> Result<Model, Error> {
        let read = serde_json::from_str(text)
            .or_else(|fault| json(text).and_then(serde_json::from_value).map_err(|_| fault));
        let model: Model = read.map_err(|error| {
            Error::new("corrupt", format!("not the config.json of a model: {error}"))
        })?;
        let numbers = [
            model.hidden_size,
            model.intermediate_size,
            model.num_attention_heads,
            model.vocab_size,
            model.num_key_value_heads.unwrap_or(1),
            model.head_dim.unwrap_or(1),
            model.moe_intermediate_size.unwrap_or(1),
        ];
        let experts = model.num_local_experts.unwrap_or(1).saturating_mul(3).saturating_add(10);
        let tensors = model.num_hidden_layers.saturating_mul(experts);
        if tensors > MOST || numbers.iter().any(|number| *number > 1 << 20 || *number == 0) {
            let said = format!("{tensors} tensors; legal are {MOST}, and sizes from 1 to 2^20");
            return Err(Error::new("limit", said));
        }
        Ok(model)
    }

    /// Returns the tensors, with one element type.
    ///
    /// ```
    /// # use tilewright_reshard::Model;
    /// let tensors = Model::near(8e9).tensors("BF16");
    /// assert_eq!(tensors[1].name, "model.layers.0.self_attn.q_proj.weight");
    /// assert_eq!(tensors[1].extents, [4096, 4096]);
    /// ```
    pub fn tensors(&self, dtype: &str) -> Vec<Tensor> {
        let words = [self.vocab_size, self.hidden_size];
        let mut tensors = vec![Tensor::new("model.embed_tokens.weight", dtype, &words)];
        for layer in 0..self.num_hidden_layers {
            let named = |(name, dims): (String, Vec<u64>)| {
                Tensor::new(&format!("model.layers.{layer}.{name}.weight"), dtype, &dims)
            };
            tensors.extend(self.layer().map(named));
        }
        tensors.push(Tensor::new("model.norm.weight", dtype, &[self.hidden_size]));
        if !self.tie_word_embeddings {
            tensors.push(Tensor::new(LAST, dtype, &words));
        }
        tensors
    }

    /// Iterates over the names and extents of one layer.
    fn layer(&self) -> impl Iterator<Item = (String, Vec<u64>)> {
        let (hidden, heads) = (self.hidden_size, self.num_attention_heads);
        let head = self.head_dim.unwrap_or(hidden / heads.max(1));
        let (queries, keys) = (heads * head, self.num_key_value_heads.unwrap_or(heads) * head);
        let named = |name: &str, dims: &[u64]| (name.to_owned(), dims.to_vec());
        let mut layer = vec![
            named("self_attn.q_proj", &[queries, hidden]),
            named("self_attn.k_proj", &[keys, hidden]),
            named("self_attn.v_proj", &[keys, hidden]),
            named("self_attn.o_proj", &[hidden, queries]),
            named("input_layernorm", &[hidden]),
            named("post_attention_layernorm", &[hidden]),
        ];
        let mut feed = |place: &str, width: u64| {
            for (name, dims) in
                [("gate", [width, hidden]), ("up", [width, hidden]), ("down", [hidden, width])]
            {
                layer.push((format!("{place}.{name}_proj"), dims.to_vec()));
            }
        };
        match self.num_local_experts {
            None => feed("mlp", self.intermediate_size),
            Some(experts) => {
                let width = self.moe_intermediate_size.unwrap_or(self.intermediate_size);
                (0..experts).for_each(|n| feed(&format!("mlp.experts.{n}"), width));
                layer.push(named("mlp.gate", &[experts, hidden]));
            }
        }
        layer.into_iter()
    }

    /// Makes a number of equal tensors, in rows of 16384 elements, which together have at least this many bytes.
    ///
    /// # Errors
    /// `limit` for more than 2²² tensors or none, `usage` for an unknown element type.
    ///
    /// ```
    /// # use tilewright_reshard::Model;
    /// let tensors = Model::even(10_000_000_000_000, 5000, "BF16").unwrap();
    /// assert_eq!((tensors.len(), &*tensors[0].extents), (5000, &[61056, 16384][..]));
    /// ```
    pub fn even(bytes: u64, count: u64, dtype: &str) -> Result<Vec<Tensor>, Error> {
        if count == 0 || count > MOST {
            return Err(Error::new("limit", format!("{count} tensors; legal are 1 to {MOST}")));
        }
        let row = Tensor::new("row", dtype, &[16384]).bytes();
        if row == 0 {
            return Err(Error::usage(format!("{dtype:?} is not an element type of whole bytes")));
        }
        // 128 devices have equal numbers of rows.
        let rows = bytes.div_ceil(count).div_ceil(row).max(1).next_multiple_of(128);
        let tensor = |n| Tensor::new(&format!("layers.{n}.weight"), dtype, &[rows, 16384]);
        Ok((0..count).map(tensor).collect())
    }
}
