//! Compares the heads of fused tensors that rules state with those of the `config.json` next to the input. A job does
//! so before it plans.
//!
//! A rule with other heads may fit the rows of a tensor, and then cuts through heads.

use serde_json::Value;
use tilewright_core::Remedy;
use tilewright_files::inner::json;
use tilewright_sharded::{Cut, Heads};

use crate::{
    Error, Request,
    plan::array::ReshardedArray,
    request::model::{self, CONFIG},
};

/// The key of the number of query heads.
const QUERIES: &str = "num_attention_heads";

/// Returns an error if a rule of the request states other heads than the configuration, unless the request trusts its
/// own extents.
pub(crate) fn check(request: &Request, arrays: &[ReshardedArray]) -> Result<(), Error> {
    if request.trusts_extents {
        return Ok(());
    }
    // A text that is not JSON states nothing.
    let Ok(config) = json(&model::config(&request.input)?) else {
        return Ok(());
    };
    for rules in [&request.from, &request.to].into_iter().flatten() {
        for array in rules.firsts(arrays)? {
            // Errors of a rule are reported when the shards are made.
            let sharded = rules.sharded(&array.name, array.shape(), Some(array.dtype));
            let Ok(sharded) = sharded else { continue };
            for split in sharded.splits() {
                let Cut::Heads(heads) = &split.cut else { continue };
                let Some(said) = contradiction(heads, &config) else { continue };
                let (name, rule) = (&array.name, rules.said(&array.name)?);
                let said = format!("tensor {name:?}, rule {rule}: {said}");
                return Err(Error::new("extents", said).with(&[Remedy::Heads]));
            }
        }
    }
    Ok(())
}

/// Returns the contradiction between these heads and a configuration. Sections of the configuration are compared too,
/// and one that agrees is enough: a model with several parts has different heads in each.
fn contradiction(heads: &Heads, config: &Value) -> Option<String> {
    let sections = config.as_object().into_iter().flat_map(|root| root.values());
    let all = std::iter::once(config).chain(sections);
    let mut all = all.filter(|part| part.get(QUERIES).is_some()).map(|part| against(heads, part));
    let first = all.next()?;
    (!first.is_empty() && all.all(|other| !other.is_empty())).then(|| first.join("; "))
}

/// Returns the numbers of one section that differ from those of the heads.
fn against(heads: &Heads, section: &Value) -> Vec<String> {
    let number = |key: &str| section.get(key).and_then(Value::as_u64);
    let queries = number(QUERIES);
    // In some families, a model without this number has one key for each query.
    let groups = || queries.filter(|_| model::is_known(section));
    let rows = || number("hidden_size")?.checked_div(queries?);
    let derived = format!("hidden_size / {QUERIES}");
    let head_dim = if number("head_dim").is_some() { "head_dim" } else { &derived };
    let all = [
        ("h", heads.queries, QUERIES, queries),
        ("g", heads.groups, "num_key_value_heads", number("num_key_value_heads").or_else(groups)),
        ("d", heads.rows, head_dim, number("head_dim").or_else(rows)),
    ];
    let against = all.into_iter().filter_map(|(own, is, key, said)| {
        let said = said.filter(|said| *said != is)?;
        Some(format!("{own} is {is}, and by {CONFIG} {key} is {said}"))
    });
    against.collect()
}
