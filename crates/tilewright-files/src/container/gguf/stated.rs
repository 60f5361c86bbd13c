//! Metadata compared with a `config.json`: a table of keys, each with its paths in the configuration.
//!
//! Law: a value that only one side states is not compared, unless readers of GGUF have a default for the missing key.
//!
//! Source: llama.cpp, `convert_hf_to_gguf.py`, `set_gguf_parameters`, and `src/llama-model.cpp`, `load_hparams`.

use serde_json::{Map, Value as Json};
use tilewright_recipe::config_value;

use super::{header::Header, value::Value};

/// The value that readers use for a missing key.
#[derive(Clone, Copy)]
enum Absent {
    Unknown,
    Number(f64),
    /// The value of another key.
    Key(&'static str),
    /// The length of a head by `embedding_length` and `attention.head_count`.
    Share,
}

/// The models for which a row is compared.
#[derive(Clone, Copy, PartialEq)]
enum Where {
    Everywhere,
    /// Attention with separate heads of query, key and value; not latent attention.
    PlainHeads,
    /// Architectures that rotate whole heads.
    WholeHeads,
    /// Rotary frequencies that are not scaled, or are scaled in a way that `SCALINGS` lists.
    Rotary,
    /// Frequencies that a factor scales.
    Scaled,
}

/// A key without the name of the architecture, its paths in a configuration, and the models for which it is compared.
type Row = (&'static str, &'static [&'static str], Absent, Where);

const HEADS: &str = "attention.head_count";
const HEAD: &str = "attention.key_length";

const ROWS: &[Row] = &[
    ("embedding_length", &["hidden_size"], Absent::Unknown, Where::Everywhere),
    (HEADS, &["num_attention_heads"], Absent::Unknown, Where::Everywhere),
    ("attention.head_count_kv", &["num_key_value_heads"], Absent::Key(HEADS), Where::PlainHeads),
    (HEAD, &["head_dim"], Absent::Share, Where::PlainHeads),
    ("rope.dimension_count", &["head_dim"], Absent::Key(HEAD), Where::WholeHeads),
    (
        "rope.freq_base",
        &["rope_theta", "rope_parameters.rope_theta"],
        Absent::Number(10000.0),
        Where::Rotary,
    ),
    (
        "rope.scaling.factor",
        &["rope_scaling.factor", "rope_parameters.factor"],
        Absent::Number(1.0),
        Where::Scaled,
    ),
    ("attention.layer_norm_rms_epsilon", &["rms_norm_eps"], Absent::Unknown, Where::Everywhere),
    (
        "attention.layer_norm_epsilon",
        &["layer_norm_eps", "layer_norm_epsilon", "norm_epsilon"],
        Absent::Unknown,
        Where::Everywhere,
    ),
];

/// The number of first rows whose sizes a configuration gets from metadata.
const SIZES: usize = 4;

/// The types of rotary scaling in a configuration, and in metadata. In GGUF, the factors of Llama 3.1 are a tensor.
const SCALINGS: &[(&str, &str)] =
    &[("default", "none"), ("linear", "linear"), ("llama3", "none"), ("yarn", "yarn")];

/// The paths of the type of rotary scaling in a configuration.
const TYPES: &[&str] = &[
    "rope_scaling.rope_type",
    "rope_scaling.type",
    "rope_parameters.rope_type",
    "rope_parameters.type",
];

/// Families by `model_type`, and their architectures.
const FAMILIES: &[(&str, &str)] = &[
    ("deepseek_v2", "deepseek2"),
    ("deepseek_v3", "deepseek2"),
    ("ernie4_5", "ernie4_5"),
    ("ernie4_5_moe", "ernie4_5-moe"),
    ("glm4", "glm4"),
    ("glm4_moe", "glm4moe"),
    ("gpt_oss", "gpt-oss"),
    ("granite", "granite"),
    ("granitemoe", "granitemoe"),
    ("hunyuan_v1_dense", "hunyuan-dense"),
    ("llama", "llama"),
    ("mistral", "llama"),
    ("mixtral", "llama"),
    ("olmo2", "olmo2"),
    ("qwen2", "qwen2"),
    ("qwen2_moe", "qwen2moe"),
    ("qwen3", "qwen3"),
    ("qwen3_moe", "qwen3moe"),
    ("smollm3", "smollm3"),
    ("starcoder2", "starcoder2"),
];

/// Architectures that rotate a part of each head.
const PARTLY: [&str; 3] = ["deepseek2", "glm4", "glm4moe"];

/// Architectures whose keys and values are computed from a latent vector.
const LATENT: [&str; 1] = ["deepseek2"];

/// Returns true for the architecture of a known family.
pub(super) fn is_known(architecture: &str) -> bool {
    FAMILIES.iter().any(|(_, known)| *known == architecture)
}

/// The metadata of a header, to be compared with a configuration.
struct Stated<'a> {
    header: &'a Header,
    architecture: &'a str,
    config: &'a Json,
}

/// Returns all contradictions between metadata and a configuration, as sentences without a full stop.
pub(super) fn contradictions(header: &Header, config: &Json) -> Vec<String> {
    let architecture = header.get("general.architecture").and_then(|value| value.string());
    let Some(architecture) = architecture.filter(|name| is_known(name)) else { return Vec::new() };
    let stated = Stated { header, architecture, config };
    let rows = ROWS.iter().filter_map(|row| stated.row(*row));
    stated.family().into_iter().chain(stated.scaling()).chain(rows).collect()
}

/// Returns the sizes of a model in the metadata, under the keys of a configuration.
pub(super) fn sizes(header: &Header) -> Map<String, Json> {
    let architecture = header.get("general.architecture").and_then(|value| value.string());
    let Some(architecture) = architecture.filter(|name| is_known(name)) else { return Map::new() };
    let stated = Stated { header, architecture, config: &Json::Null };
    let said = ROWS[..SIZES].iter().filter(|(.., place)| stated.compares(*place));
    let pairs = said.filter_map(|(key, paths, ..)| {
        Some(((*paths.first()?).to_owned(), stated.own(key)?.count()?.into()))
    });
    pairs.collect()
}

impl<'a> Stated<'a> {
    /// Returns the value of a key; the name of the architecture is put before it.
    fn own(&self, key: &str) -> Option<Value<'a>> {
        self.header.get(&format!("{}.{key}", self.architecture))
    }

    /// Returns the first of these paths that the configuration has, and its value.
    fn states(&self, paths: &[&'static str]) -> Option<(&'static str, &'a Json)> {
        let tables = [Some(self.config), self.config.get("text_config")];
        let found = |path: &&'static str| {
            Some((*path, tables.iter().flatten().find_map(|table| config_value(table, path))?))
        };
        paths.iter().find_map(found)
    }

    fn family(&self) -> Option<String> {
        let (_, model_type) = self.states(&["model_type"])?;
        let (_, wanted) = FAMILIES.iter().find(|(known, _)| model_type.as_str() == Some(*known))?;
        let own = self.architecture;
        (own != *wanted).then(|| {
            format!("`general.architecture` is {own:?}, and config.json has `model_type` {model_type}, which is {wanted:?}")
        })
    }

    /// Returns the type of rotary scaling of the configuration, as metadata name it; `None` if it is unknown.
    fn scaled(&self) -> Option<&'static str> {
        let Some((_, stated)) = self.states(TYPES) else { return Some("none") };
        let known = SCALINGS.iter().find(|(name, _)| stated.as_str() == Some(*name));
        known.map(|(_, scaling)| *scaling)
    }

    fn scaling(&self) -> Option<String> {
        // A model's configuration that names no type does not scale.
        let (path, stated) = self.states(TYPES).or_else(|| self.states(&["model_type"]))?;
        let wanted = self.scaled()?;
        let own = self.own("rope.scaling.type").and_then(|value| value.string()).unwrap_or("none");
        (own != wanted).then(|| {
            let key = format!("{}.rope.scaling.type", self.architecture);
            match TYPES.contains(&path) {
                true => format!("`{key}` is {own:?}, and config.json has `{path}` {stated}"),
                false => {
                    format!("`{key}` is {own:?}, and config.json scales no rotary frequencies")
                }
            }
        })
    }

    fn compares(&self, place: Where) -> bool {
        match place {
            Where::Everywhere => true,
            Where::PlainHeads => !LATENT.contains(&self.architecture),
            Where::WholeHeads => {
                let partly = ["partial_rotary_factor", "rope_parameters.partial_rotary_factor"];
                !PARTLY.contains(&self.architecture) && self.states(&partly).is_none()
            }
            Where::Rotary => self.scaled().is_some(),
            Where::Scaled => self.scaled().is_some_and(|scaling| scaling != "none"),
        }
    }

    fn row(&self, (key, paths, absent, place): Row) -> Option<String> {
        let (path, stated) = self.states(paths).filter(|_| self.compares(place))?;
        let wanted = stated.as_f64()?;
        let is = self.numbers(key, absent).into_iter().find(|is| !same(*is, wanted))?;
        let is = match self.own(key) {
            Some(_) => format!("is {is}"),
            None => format!("is missing, which means {is}"),
        };
        let key = format!("{}.{key}", self.architecture);
        Some(format!("`{key}` {is}, and `{path}` of config.json or of the recipe is {stated}"))
    }

    /// Returns the numbers of a key: one, or one for each block; for a missing key, the value that readers use.
    fn numbers(&self, key: &str, absent: Absent) -> Vec<f64> {
        let first = |key| self.own(key)?.reals().first().copied();
        match (self.own(key), absent) {
            (Some(value), _) => value.reals(),
            (None, Absent::Unknown) => Vec::new(),
            (None, Absent::Number(number)) => vec![number],
            (None, Absent::Key(other)) => {
                let row = ROWS.iter().find(|(key, ..)| *key == other);
                self.numbers(other, row.map_or(Absent::Unknown, |(_, _, absent, _)| *absent))
            }
            (None, Absent::Share) => {
                let heads = first(HEADS).filter(|heads| *heads > 0.0);
                let share = |heads: f64| Some((first("embedding_length")? / heads).floor());
                heads.and_then(share).into_iter().collect()
            }
        }
    }
}

/// Returns true for numbers that are equal in float32, the type of the metadata.
fn same(one: f64, other: f64) -> bool {
    (one - other).abs() <= 1e-6 * one.abs().max(other.abs())
}
