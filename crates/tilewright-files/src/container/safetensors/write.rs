//! Writes headers: equal tensors always give equal bytes.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer as _, ser::SerializeMap as _};

use super::{header::LONGEST, scan::METADATA};
use crate::Error;

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

/// The header of a file, and the places that it gives to tensors.
#[doc(hidden)]
#[derive(Debug)]
pub struct SafetensorsHeader {
    /// The text, with spaces at its end; 8 bytes with its length precede it in the file.
    pub text: String,
    /// The first byte of each tensor in the file.
    pub places: Vec<u64>,
    /// The length of the file.
    pub bytes: u64,
}

/// The entry of a tensor.
#[derive(Serialize)]
struct TensorEntry<'a, D> {
    dtype: D,
    shape: &'a [u64],
    data_offsets: [u64; 2],
}

/// Returns the header of tensors `(name, dtype, shape, bytes)` that are stored in this order. They start at a multiple of `unit`
/// bytes.
///
/// The text is written entry by entry: as a value in memory it would need ten times its length.
#[doc(hidden)]
pub fn header<'a, D: Serialize>(
    tensors: impl IntoIterator<Item = (&'a str, D, &'a [u64], u64)>,
    metadata: Option<&BTreeMap<String, String>>,
    unit: usize,
) -> Result<SafetensorsHeader, Error> {
    let failed = |cause: serde_json::Error| Error::usage(cause.to_string());
    let (mut places, mut at, mut text) = (Vec::new(), 0u64, Vec::new());
    let mut to = serde_json::Serializer::new(&mut text);
    let mut map = to.serialize_map(None).map_err(failed)?;
    if let Some(pairs) = metadata {
        map.serialize_entry(METADATA, pairs).map_err(failed)?;
    }
    for (name, dtype, shape, len) in tensors {
        if name == METADATA {
            let said =
                format!("tensor {METADATA:?}: safetensors keep their metadata under this name");
            return Err(Error::unsupported(said));
        }
        let end = at.checked_add(len).filter(|end| *end <= i64::MAX as u64);
        let end = end.ok_or_else(|| Error::overflow("the file would exceed 2^63 - 1 bytes"))?;
        let entry = TensorEntry { dtype, shape, data_offsets: [at, end] };
        map.serialize_entry(name, &entry).map_err(failed)?;
        places.push(at);
        at = end;
    }
    map.end().map_err(failed)?;
    let start = (8 + text.len()).next_multiple_of(unit);
    text.resize(start - 8, b' ');
    check_length(text.len() as u64, places.len())?;
    let text = String::from_utf8(text).map_err(|cause| Error::usage(cause.to_string()))?;
    let start = start as u64;
    places.iter_mut().for_each(|place| *place += start);
    Ok(SafetensorsHeader { text, places, bytes: start + at })
}

/// Returns an error for a header that readers refuse.
fn check_length(bytes: u64, tensors: usize) -> Result<(), Error> {
    if bytes <= LONGEST {
        return Ok(());
    }
    let said = format!(
        "the header of an output file has {bytes} bytes for this number of tensors: {tensors}"
    );
    let less = "put fewer tensors in a file, or write row-major tensors, which record no layout";
    Err(Error::limit(format!("{said}; the format allows {LONGEST}; {less}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_has_at_most_the_bytes_that_readers_take() {
        assert_eq!(check_length(LONGEST, 1), Ok(()));
        let error = check_length(LONGEST + 1, 1).unwrap_err();
        assert!(error.is_limit() && error.to_string().contains("the format allows 100000000"));
        // Headers of that length take seconds.
        if !tilewright_testing::cases(true, false) {
            return;
        }
        let name = "n".repeat(LONGEST as usize - 8192);
        let header = |name: &str| header([(name, "U8", &[1][..], 1)], None, 4096);
        assert!(header(&name).unwrap().text.len() <= LONGEST as usize);
        let error = header(&(name + &"n".repeat(8192))).unwrap_err();
        assert!(error.to_string().contains("the format allows 100000000; put fewer"), "{error}");
    }
}
