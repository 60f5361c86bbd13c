//! The heads of fused tensors as rules state them, compared with those of the `config.json` beside the input.
//!
//! A rule with other heads may fit the rows of a tensor, and then cuts through heads.

use std::fs;

use serde_json::Value;
use tilewright_core::Remedy;
use tilewright_sharded::{Cut, Heads};

use crate::{Error, Request, array::Array, extents::CONFIG, model};

/// An error where a rule of the request states other heads than the configuration, unless the request trusts itself.
pub(crate) fn check(request: &Request, arrays: &[Array]) -> Result<(), Error> {
    let input = &request.input;
    let folder = if input.is_dir() { Some(input.as_path()) } else { input.parent() };
    let text = folder.and_then(|folder| fs::read_to_string(folder.join(CONFIG)).ok());
    let config = text.and_then(|text| serde_json::from_str::<Value>(&text).ok());
    let Some(config) = config.filter(|_| !request.trusts_extents) else { return Ok(()) };
    for rules in [&request.from, &request.to].into_iter().flatten() {
        for array in rules.firsts(arrays)? {
            // What a rule refuses is told where the shards are made.
            let Ok(sharded) = rules.of_array(array) else { continue };
            for split in sharded.splits() {
                let Cut::Heads(heads) = &split.cut else { continue };
                let Some(said) = contradiction(heads, &config) else { continue };
                let (name, rule) = (&array.name, rules.said(&array.name)?);
                let said = format!("tensor {name:?}, rule {rule}: {said}");
                return Err(Error::new("extents", said).with(Remedy::Heads));
            }
        }
    }
    Ok(())
}

/// What a configuration says of heads against these.
fn contradiction(heads: &Heads, config: &Value) -> Option<String> {
    let number = |key: &str| config.get(key).and_then(Value::as_u64);
    let queries = number("num_attention_heads");
    // In some families a model without this number has one key.
    let alike = || queries.filter(|_| model::is_known(config));
    let width = || number("hidden_size")?.checked_div(queries?);
    let all = [
        ("h", heads.queries, "num_attention_heads", queries),
        ("g", heads.groups, "num_key_value_heads", number("num_key_value_heads").or_else(alike)),
        ("d", heads.rows, "head_dim", number("head_dim").or_else(width)),
    ];
    let against = all.into_iter().filter_map(|(own, is, key, said)| {
        let said = said.filter(|said| *said != is)?;
        Some(format!("{own} is {is}, and by {CONFIG} {key} is {said}"))
    });
    let against: Vec<String> = against.collect();
    (!against.is_empty()).then(|| against.join("; "))
}
