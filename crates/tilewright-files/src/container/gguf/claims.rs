//! Compares metadata with tensors, when a file gets the metadata of another.
//!
//! Law: a key is compared with every tensor that a reader would create from it. The error has the key, its value, and the tensor
//! that differs. A missing key is not compared.
//!
//! Source: llama.cpp, `src/llama-model.cpp`, `load_hparams` and `load_tensors`.

use std::collections::{BTreeMap, HashMap};

use super::{
    header::Header,
    models::{self, Model},
    stated,
    value::Value,
};
use crate::{Tensor, layout::names};

/// Kinds of files that do not hold a model.
const PARTS: [&str; 4] = ["adapter", "imatrix", "mmproj", "projector"];

/// The keys that readers need for every model, without the name of the architecture before them.
const NEEDED: [&str; 4] = ["block_count", "embedding_length", "context_length", HEADS];

const HEADS: &str = "attention.head_count";
const SHARED: &str = "attention.head_count_kv";
const KEY: &str = "attention.key_length";
const VALUE: &str = "attention.value_length";
const LATENT_KEY: &str = "attention.key_length_mla";

/// The dim of a tensor that a key gives.
#[derive(Clone, Copy)]
enum Dim {
    First,
    Last,
}

/// A key without the name of the architecture, and the tensors that have this dim; `*` is the number of a block.
const DIMS: &[(&str, &str, Dim)] = &[
    ("embedding_length", "token_embd.weight", Dim::Last),
    ("embedding_length", "blk.*.attn_norm.weight", Dim::Last),
    ("embedding_length", "blk.*.ffn_down.weight", Dim::First),
    ("vocab_size", "token_embd.weight", Dim::First),
    ("vocab_size", "output.weight", Dim::First),
    ("feed_forward_length", "blk.*.ffn_down.weight", Dim::Last),
    ("expert_feed_forward_length", "blk.*.ffn_down_exps.weight", Dim::Last),
    ("expert_shared_feed_forward_length", "blk.*.ffn_down_shexp.weight", Dim::Last),
    ("expert_count", "blk.*.ffn_down_exps.weight", Dim::First),
    ("expert_count", "blk.*.ffn_gate_inp.weight", Dim::First),
    ("attention.q_lora_rank", "blk.*.attn_q_a.weight", Dim::First),
    ("attention.kv_lora_rank", "blk.*.attn_kv_a_norm.weight", Dim::Last),
];

/// Architectures whose attention does not have separate heads of query, key and value: products of heads are not compared.
const OTHER_HEADS: [&str; 5] = ["minicpm3", "plm", "qwen35", "qwen35moe", "qwen3next"];

/// The metadata of a header, to be compared with the tensors of another file.
pub(super) struct Claims<'a> {
    values: HashMap<&'a str, Value<'a>>,
    architecture: &'a str,
    tensors: HashMap<&'a str, &'a Tensor>,
    /// The names of the tensors of each block, without `blk.N.`.
    blocks: BTreeMap<u64, Vec<&'a str>>,
    others: Vec<&'a str>,
}

impl<'a> Claims<'a> {
    pub(super) fn of(header: &'a Header, tensors: &'a [Tensor]) -> Claims<'a> {
        let values = header.values();
        let architecture = values.get("general.architecture").and_then(Value::string).unwrap_or("");
        let by_name = tensors.iter().map(|tensor| (tensor.name.as_str(), tensor)).collect();
        let mut claims = Claims {
            values,
            architecture,
            tensors: by_name,
            blocks: BTreeMap::new(),
            others: Vec::new(),
        };
        for tensor in tensors {
            match in_block(&tensor.name) {
                Some((number, name)) => claims.blocks.entry(number).or_default().push(name),
                None => claims.others.push(&tensor.name),
            }
        }
        claims
    }

    /// Returns all contradictions, as sentences without a full stop.
    ///
    /// Heads are compared only if `heads` is true: if another number is wrong, the head lengths derived from it would be reported
    /// too.
    pub(super) fn contradictions(&self, heads: bool) -> Vec<String> {
        if self.tensors.is_empty() {
            return Vec::new();
        }
        if let Some(part) = self.part() {
            return self.whole(&part).into_iter().collect();
        }
        let model = models::model(self.architecture);
        let mut found: Vec<String> =
            model.and_then(|model| self.unlike(model)).into_iter().collect();
        found.extend(self.block_count());
        found.extend(self.missing());
        found.extend(self.tokens());
        found.extend(self.token_ids());
        found.extend(DIMS.iter().filter_map(|dim| self.dim(*dim)));
        found.extend(self.experts());
        found.extend(heads.then(|| self.heads()).flatten());
        found
    }

    /// Returns what was not compared, as a sentence without a full stop.
    pub(super) fn unknown(&self) -> Option<String> {
        if self.tensors.is_empty() {
            return None;
        }
        if let Some(part) = self.part() {
            return Some(format!("{part}: its metadata are not compared with the tensors"));
        }
        let name = self.architecture;
        models::model(name).is_none().then(|| format!(
            "the names of the tensors are not compared with the architecture {name:?}, which is unknown"
        ))
    }

    /// Returns the contradiction if a key that readers need is missing, or is not a number above 0.
    fn missing(&self) -> Option<String> {
        let name = self.architecture;
        let lacks = |key: &str| format!("the metadata lack `{key}`, which readers of GGUF need");
        if name.is_empty() {
            return Some(lacks("general.architecture"));
        }
        if models::model(name).is_none() && !stated::is_known(name) {
            return None;
        }
        NEEDED.iter().find_map(|key| {
            let full = format!("{name}.{key}");
            let Some(value) = self.value(key) else { return Some(lacks(&full)) };
            // In a list with a number for each block, some may be 0.
            let mut counts = (0..value.length().unwrap_or(1)).map(|block| value.count_at(block));
            let is_count = counts.any(|count| count.is_some_and(|count| count > 0));
            (!is_count).then(|| {
                let text = names::clipped(&value.text()).into_owned();
                format!("`{full}` is {text}, and readers of GGUF need a number above 0")
            })
        })
    }

    /// Returns the metadata that mark the file as a part of a model, such as an adapter.
    fn part(&self) -> Option<String> {
        let kind = self.values.get("general.type").and_then(Value::string);
        match kind.filter(|kind| PARTS.contains(kind)) {
            Some(kind) => Some(format!("`general.type` is {kind:?}")),
            None => {
                (self.architecture == "clip").then(|| "`general.architecture` is \"clip\"".into())
            }
        }
    }

    /// Returns the contradiction if a file that is marked as a part holds tensors of a whole model.
    fn whole(&self, part: &str) -> Option<String> {
        let of_models = ["token_embd.weight", "blk.0.attn_norm.weight", "output_norm.weight"];
        let found = of_models.into_iter().find(|name| self.tensors.contains_key(name))?;
        Some(format!("{part}, and {found:?} is a tensor of a whole model"))
    }

    /// Returns the contradiction if the tensors are not those of the architecture.
    fn unlike(&self, model: &Model) -> Option<String> {
        let key = format!("`general.architecture` is {:?}", model.name);
        if let Some(name) = self.others.iter().find(|name| !model.knows(name)) {
            return Some(format!("{key}, which lacks the tensor {name:?}"));
        }
        if self.blocks.is_empty() {
            return Some(format!(
                "{key}, and no tensor is part of a block, as \"blk.0.attn_norm.weight\" is"
            ));
        }
        // Blocks that predict further tokens do not have the tensors of the other blocks.
        let full = self
            .blocks
            .iter()
            .filter(|(_, names)| !names.iter().any(|it| it.starts_with("nextn.")));
        for (number, names) in full {
            let lack = model.lacks(&|name| names.contains(&name));
            if let Some(name) = lack {
                return Some(format!(
                    "{key}, and there is no tensor \"blk.{number}.{name}\", which it needs"
                ));
            }
            if let Some(name) = names.iter().find(|name| !model.knows(name)) {
                return Some(format!("{key}, which lacks the tensor \"blk.{number}.{name}\""));
            }
        }
        None
    }

    fn value(&self, key: &str) -> Option<&Value<'a>> {
        self.values.get(format!("{}.{key}", self.architecture).as_str())
    }

    /// Returns the number under a key for a block.
    fn number(&self, key: &str, block: u64) -> Option<u64> {
        self.value(key)?.count_at(block)
    }

    /// Returns the contradiction of a key as a sentence.
    fn said(&self, key: &str, number: u64, tensors: impl std::fmt::Display) -> Option<String> {
        Some(format!("`{}.{key}` is {number}, and {tensors}", self.architecture))
    }

    fn block_count(&self) -> Option<String> {
        let (number, last) = (self.number("block_count", 0)?, self.blocks.keys().next_back());
        let count = last.map_or(0, |last| last.saturating_add(1));
        if let Some(hole) = (0..count.min(number)).find(|block| !self.blocks.contains_key(block)) {
            return self.said(
                "block_count",
                number,
                format!("there is no tensor of \"blk.{hole}\""),
            );
        }
        // The blocks that predict further tokens may be missing.
        let further = self.number("nextn_predict_layers", 0).unwrap_or(0);
        let enough = count <= number && count.saturating_add(further) >= number;
        let encodes = last.is_none() && models::model(self.architecture).is_none();
        if enough || encodes {
            return None;
        }
        let blocks = match count {
            0 => "none of the tensors is in a block".to_owned(),
            1 => "the tensors have 1 block, blk.0".to_owned(),
            _ => format!("the tensors have {count} blocks, blk.0 to blk.{}", count - 1),
        };
        self.said("block_count", number, blocks)
    }

    /// Returns the tensors that match a pattern, each with the number of its block.
    fn matching(&self, pattern: &str) -> Vec<(u64, &'a Tensor)> {
        match pattern.strip_prefix("blk.*.") {
            None => self.tensors.get(pattern).map(|tensor| (0, *tensor)).into_iter().collect(),
            Some(suffix) => {
                let named = |block: &u64| {
                    Some((*block, *self.tensors.get(format!("blk.{block}.{suffix}").as_str())?))
                };
                self.blocks.keys().filter_map(named).collect()
            }
        }
    }

    fn dim(&self, (key, pattern, which): (&str, &str, Dim)) -> Option<String> {
        self.matching(pattern).into_iter().find_map(|(block, tensor)| {
            let number = self.number(key, block)?;
            let is = match which {
                Dim::First => tensor.dims().first(),
                Dim::Last => tensor.dims().last(),
            };
            (is != Some(&number)).then(|| self.said(key, number, shown(tensor)))?
        })
    }

    /// Compares the length of the list of tokens.
    fn tokens(&self) -> Option<String> {
        let key = "tokenizer.ggml.tokens";
        let count = self.values.get(key)?.length()?;
        let (_, table) = self.matching("token_embd.weight").into_iter().next()?;
        let wrong = table.dims().first() != Some(&count);
        wrong.then(|| format!("`{key}` has {count} tokens, and {}", shown(table)))
    }

    /// Finds the id of a special token that is not in the list of tokens.
    fn token_ids(&self) -> Option<String> {
        let count = self.values.get("tokenizer.ggml.tokens")?.length()?;
        let ids = self.values.iter().filter_map(|(key, value)| {
            let is_id = key.starts_with("tokenizer.ggml.") && key.ends_with("_token_id");
            Some((*key, value.count().filter(|id| is_id && *id >= count)?))
        });
        let (key, id) = ids.min()?;
        Some(format!("`{key}` is {id}, and `tokenizer.ggml.tokens` has {count} tokens, from 0"))
    }

    /// Compares whether the metadata and the tensors have experts.
    fn experts(&self) -> Option<String> {
        let stacked = self.matching("blk.*.ffn_down_exps.weight");
        match (self.number("expert_count", 0).unwrap_or(0), stacked.first()) {
            (0, Some((_, tensor))) => {
                let key = format!("{}.expert_count", self.architecture);
                Some(format!("`{key}` is 0 or missing, and {}", shown(tensor)))
            }
            (count, None) if count > 0 && models::model(self.architecture).is_some() => {
                let one = self.matching("blk.*.ffn_down.weight");
                let said =
                    one.first().map_or("no tensor holds experts".to_owned(), |(_, tensor)| {
                        format!("no tensor holds experts: {}", shown(tensor))
                    });
                self.said("expert_count", count, said)
            }
            _ => None,
        }
    }

    /// Compares the products of heads and their lengths.
    fn heads(&self) -> Option<String> {
        if OTHER_HEADS.contains(&self.architecture) {
            return None;
        }
        self.blocks.keys().find_map(|block| {
            let latent =
                self.tensors.contains_key(format!("blk.{block}.attn_kv_a_mqa.weight").as_str());
            if latent { self.latent_heads(*block) } else { self.plain_heads(*block) }
        })
    }

    fn plain_heads(&self, block: u64) -> Option<String> {
        let heads = self.number(HEADS, block)?;
        let shared = self.number(SHARED, block).unwrap_or(heads);
        let own = || Some(self.number("embedding_length", 0)?.checked_div(heads).unwrap_or(0));
        let [key, value] = [KEY, VALUE].map(|it| self.number(it, block).or_else(own));
        let (key, value) = (key?, value?);
        let [queries, keys, values] =
            [heads.saturating_mul(key), shared.saturating_mul(key), shared.saturating_mul(value)];
        let all = queries.saturating_add(keys).saturating_add(values);
        let (query, of_keys) = ([(HEADS, heads), (KEY, key)], [(SHARED, shared), (KEY, key)]);
        let rows = [
            ("attn_q.weight", Dim::First, queries, &query[..]),
            ("attn_k.weight", Dim::First, keys, &of_keys),
            ("attn_v.weight", Dim::First, values, &[(SHARED, shared), (VALUE, value)]),
            ("attn_qkv.weight", Dim::First, all, &[(HEADS, heads), (SHARED, shared), (KEY, key)]),
            (
                "attn_output.weight",
                Dim::Last,
                heads.saturating_mul(value),
                &[(HEADS, heads), (VALUE, value)],
            ),
        ];
        rows.into_iter().find_map(|(name, which, wanted, factors)| {
            self.product((block, name, which), wanted, factors)
        })
    }

    /// Compares the heads of latent attention.
    fn latent_heads(&self, block: u64) -> Option<String> {
        let heads = self.number(HEADS, block)?;
        let long = self.number(LATENT_KEY, block).map(|key| (LATENT_KEY, key));
        let (name, key) = long.or_else(|| Some((KEY, self.number(KEY, block)?)))?;
        let low = "attn_q_b.weight";
        let has_low = self.tensors.contains_key(format!("blk.{block}.{low}").as_str());
        let tensor = if has_low { low } else { "attn_q.weight" };
        let wanted = heads.saturating_mul(key);
        self.product((block, tensor, Dim::First), wanted, &[(HEADS, heads), (name, key)])
    }

    /// Compares a dim that is the number of heads times their length; `factors` are the keys of these numbers.
    fn product(
        &self,
        (block, name, which): (u64, &str, Dim),
        wanted: u64,
        factors: &[(&str, u64)],
    ) -> Option<String> {
        let tensor = self.tensors.get(format!("blk.{block}.{name}").as_str())?;
        let is = match which {
            Dim::First => tensor.dims().first(),
            Dim::Last => tensor.dims().last(),
        };
        let said = |(key, number): &(&str, u64)| {
            let means = if self.value(key).is_some() { "is" } else { "is missing, which means" };
            format!("`{}.{key}` {means} {number}", self.architecture)
        };
        let factors: Vec<String> = factors.iter().map(said).collect();
        let (factors, tensor) = (factors.join(" and "), shown(tensor));
        (is != Some(&wanted)).then(|| format!("{factors}, which make {wanted}, and {tensor}"))
    }
}

/// Returns a tensor with its dims as text.
fn shown(tensor: &Tensor) -> String {
    format!("{:?} is {:?}", tensor.name, tensor.dims())
}

/// Returns the block of a tensor, and its name within it.
fn in_block(name: &str) -> Option<(u64, &str)> {
    let (number, name) = name.strip_prefix("blk.")?.split_once('.')?;
    Some((number.parse().ok()?, name))
}
