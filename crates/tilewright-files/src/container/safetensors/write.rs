//! Writes headers: equal tensors always give equal bytes.

use std::path::Path;

use safetensors::Dtype;
use serde_json::{Map, Value, json};

use super::{
    header::{Header, LONGEST},
    scan::METADATA,
};
use crate::{Error, error};

/// Returns the order in which tensors of these element widths (bits) and lengths (bytes) are stored. It is the given order,
/// unless a tensor would then start at a byte that its width does not divide; in that case it is by width, widest first.
pub(crate) fn order_by_alignment(tensors: &[(u64, u64)]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..tensors.len()).collect();
    let mut at = 0u64;
    let aligned = tensors.iter().all(|&(bits, len)| {
        let fits = at.is_multiple_of(bits.div_ceil(8).max(1));
        at = at.wrapping_add(len);
        fits || len == 0
    });
    if !aligned {
        order.sort_by_key(|&i| std::cmp::Reverse(tensors[i].0));
    }
    order
}

/// Returns the header of tensors `(name, dtype, shape, bytes)` stored in this order. It is padded with spaces, so that with its
/// length of 8 bytes before it the tensors start at a multiple of 8.
pub(crate) fn header_text(
    path: &Path,
    tensors: &[(&str, Dtype, &[u64], u64)],
    metadata: Option<&[(String, String)]>,
) -> Result<String, Error> {
    let mut object = Map::new();
    if let Some(pairs) = metadata {
        let pairs = pairs.iter().map(|(key, value)| (key.clone(), Value::from(value.as_str())));
        object.insert(METADATA.into(), Value::Object(pairs.collect()));
    }
    let mut at = 0u64;
    for &(name, dtype, shape, len) in tensors {
        let end = at.checked_add(len).ok_or_else(|| {
            error::usage(format!("{}: the tensors fill more than 2^64 bytes", path.display()))
        })?;
        let entry = json!({"dtype": dtype, "shape": shape, "data_offsets": [at, end]});
        object.insert(name.into(), entry);
        at = end;
    }
    let mut text = Value::Object(object).to_string();
    text.push_str(&" ".repeat(text.len().next_multiple_of(8) - text.len()));
    if text.len() as u64 > LONGEST {
        return Err(error::usage(format!(
            "{}: a header of {} bytes, but the format allows at most {LONGEST}; it contains all entries of the index tables",
            path.display(),
            text.len()
        )));
    }
    check(path, &text, at)?;
    Ok(text)
}

/// Parses the header as a reader will.
fn check(path: &Path, text: &str, data: u64) -> Result<(), Error> {
    match Header::parse(text, data, 0) {
        Ok(_) => Ok(()),
        Err(said) => Err(error::usage(format!(
            "{}: the safetensors format cannot hold this: {said}",
            path.display()
        ))),
    }
}
