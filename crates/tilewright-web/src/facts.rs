//! What a layout means, and what a picture of it needs.

use serde_json::{Value, json};
use tilewright::{Explanation, Named, TensorLayout, json::explanation};

/// The fields of `explain --json`; also `lines` (the explanation's sentences, titled), `padded` (the
/// extent of each dim with its padding), `cuts` (the sizes of tiles of each dim, inner first), `modes`
/// (every mode of the storage as `[extent, stride]`) and `low` (the lowest offset).
pub(crate) fn view(named: &Named) -> Value {
    let explained = Explanation::of(named);
    let mut facts = explanation(&explained);
    let layout = named.layout();
    let dims = 0..layout.rank();
    facts["lines"] = json!(lines(&explained));
    facts["padded"] = json!(dims.clone().map(|dim| padded(layout, dim)).collect::<Vec<_>>());
    facts["cuts"] = json!(dims.map(|dim| cuts(layout, dim)).collect::<Vec<_>>());
    let modes = layout.layout().modes().iter().map(|mode| (mode.extent(), mode.stride()));
    facts["modes"] = json!(modes.collect::<Vec<_>>());
    facts["low"] = json!(layout.layout().bounds().map_or(0, |(low, _)| low.min(0)));
    facts
}

/// The sentences of the explanation with their titles, as far as they are not about notations.
fn lines(explanation: &Explanation) -> Vec<(String, String)> {
    let text = explanation.to_string();
    // The name stands first, a line for each notation last.
    let sentences = text.lines().count().saturating_sub(1 + explanation.notations.len());
    let line = |line: &str| {
        let line = line.strip_prefix("  ")?;
        let (title, text) = line.split_at_checked(16).unwrap_or((line, ""));
        Some((title.trim_end().to_owned(), text.trim().to_owned()))
    };
    text.lines().skip(1).take(sentences).filter_map(line).collect()
}

/// The extent of a dim, padding included where the dim is an axis of its own.
fn padded(layout: &TensorLayout, dim: usize) -> u64 {
    let own = layout.extents()[dim];
    layout.layout().axis_size(dim).filter(|_| layout.is_strided()).unwrap_or(own)
}

/// The sizes of the tiles of a dim, inner first; none where steps mix the dims.
fn cuts(layout: &TensorLayout, dim: usize) -> Vec<u64> {
    let modes = layout.layout().axis(dim).filter(|_| layout.is_strided()).unwrap_or(&[]);
    let extents = modes.iter().map(|mode| mode.extent()).filter(|&extent| extent != 1);
    let mut sizes: Vec<u64> = extents
        .scan(1u64, |size, extent| {
            *size = size.saturating_mul(extent);
            Some(*size)
        })
        .collect();
    sizes.pop();
    sizes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::{Array, resolve};

    fn facts(text: &str) -> Value {
        view(&resolve("spec", text, Array { dims: &Value::Null, dtype: "" }).unwrap())
    }

    #[test]
    fn what_a_picture_needs() {
        let facts = facts("f32[3,5]{1,0:T(2,2)}");
        assert_eq!((&facts["padded"], &facts["cuts"]), (&json!([4, 6]), &json!([[2], [2]])));
        assert_eq!(facts["lines"][0], json!(["dims", "[3, 5]"]));
        let nested = self::facts("((4,2,3),5):((1,8,16),48)");
        assert_eq!(nested["cuts"], json!([[4, 8], []]));
        assert_eq!(self::facts("4:-2")["low"], -6);
    }

    #[test]
    fn the_sentences_end_where_the_notations_begin() {
        for text in ["f32[3,5]{1,0:T(2,2)}", "f32[]", "f32[12,6]{1,0:T(3,4)(2,1)}", "(2,0):(1,2)"] {
            let facts = facts(text);
            let last = facts["lines"].as_array().unwrap().last().unwrap();
            assert!(["order", "least padding"].contains(&last[0].as_str().unwrap()), "{last}");
        }
    }
}
