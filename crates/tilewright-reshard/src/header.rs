//! The header of an output file: safetensors, with the data at a multiple of 4 KiB. The plan of a result uses it to
//! compute offsets, and the commit writes it.

use serde::{Serialize, Serializer as _, ser::SerializeMap as _};
use serde_json::{Map, Value};

use tilewright_files::Fingerprint;

use crate::{Error, array::Laid};

/// The key in a header that is not a tensor.
const METADATA: &str = "__metadata__";

/// The prefix of a key of metadata; with the name of a tensor after it, it holds the tensor's layout, as in converted
/// files.
const LAYOUT_KEY: &str = "tilewright.layout.";

/// The prefix of a key of metadata; with the name of a tensor after it, it holds the fingerprint of the tensor's data.
const DATA_KEY: &str = "tilewright.data.";

/// The offset of the data is a multiple of this.
const PAGE: usize = 4096;

/// The longest header that the format allows, in bytes.
const LONGEST: u64 = 100_000_000;

/// A tensor of an output file.
#[derive(Clone, Debug)]
pub(crate) struct HeaderEntry<'a> {
    pub(crate) name: &'a str,
    pub(crate) laid: &'a Laid,
    /// The fingerprint of the data, if it is recorded.
    pub(crate) data: Option<Fingerprint>,
}

/// The entry of a tensor in a header.
#[derive(Serialize)]
struct TensorEntry<'a> {
    dtype: &'a str,
    shape: &'a [u64],
    data_offsets: [u64; 2],
}

/// Returns the bytes before the data, the offset of each tensor in the file, and the length of the file.
///
/// The text is written entry by entry: as a value in memory it would need ten times its length.
///
/// # Errors
/// `limit` for a header that readers refuse; `unsupported` for the name that the format reserves for metadata.
pub(crate) fn header(
    entries: &[HeaderEntry<'_>],
    metadata: &[(String, String)],
) -> Result<(Vec<u8>, Vec<u64>, u64), Error> {
    let failed = |error: serde_json::Error| Error::usage(error.to_string());
    let (mut places, mut at, mut text) = (Vec::new(), 0u64, vec![0; 8]);
    let mut to = serde_json::Serializer::new(&mut text);
    let mut map = to.serialize_map(None).map_err(failed)?;
    map.serialize_entry(METADATA, &said(entries, metadata)).map_err(failed)?;
    for HeaderEntry { name, laid, .. } in entries {
        if *name == METADATA {
            let said =
                format!("tensor {METADATA:?}: safetensors keep their metadata under this name");
            return Err(Error::new("unsupported", said));
        }
        let end = laid.bytes().and_then(|bytes| at.checked_add(bytes));
        let end = end.filter(|end| *end <= i64::MAX as u64);
        let end =
            end.ok_or_else(|| Error::new("overflow", "the file would exceed 2^63 - 1 bytes"))?;
        let entry =
            TensorEntry { dtype: &laid.file_dtype, shape: &laid.shape, data_offsets: [at, end] };
        map.serialize_entry(name, &entry).map_err(failed)?;
        places.push(at);
        at = end;
    }
    map.end().map_err(failed)?;
    text.resize(text.len().next_multiple_of(PAGE), b' ');
    let (base, length) = (text.len() as u64, text.len() as u64 - 8);
    check_length(length, entries.len())?;
    text.iter_mut().zip(length.to_le_bytes()).for_each(|(byte, count)| *byte = count);
    Ok((text, places.iter().map(|place| base + place).collect(), base + at))
}

/// Returns an error for a header that readers refuse.
fn check_length(bytes: u64, tensors: usize) -> Result<(), Error> {
    if bytes <= LONGEST {
        return Ok(());
    }
    let said = format!(
        "the header of an output file has {bytes} bytes for this number of tensors: {tensors}"
    );
    let legal = format!("{said}; the format allows {LONGEST}");
    let less = "put fewer tensors in a file, or write row-major shards, which record no layout";
    Err(Error::new("limit", format!("{legal}; {less}")))
}

/// Returns the metadata of a header: that of the checkpoint, and the layouts and fingerprints of tensors.
fn said(entries: &[HeaderEntry<'_>], metadata: &[(String, String)]) -> Map<String, Value> {
    let mut said = Map::new();
    said.insert("format".into(), "pt".into());
    said.extend(metadata.iter().map(|(key, text)| (key.clone(), Value::from(text.as_str()))));
    let noted = |prefix: &str, entry: &HeaderEntry<'_>, text: Option<&str>| {
        Some((format!("{prefix}{}", entry.name), Value::from(text?)))
    };
    said.extend(
        entries.iter().filter_map(|entry| noted(LAYOUT_KEY, entry, entry.laid.spec.as_deref())),
    );
    let data = entries.iter().map(|entry| (entry, entry.data.map(|data| data.to_string())));
    said.extend(data.filter_map(|(entry, data)| noted(DATA_KEY, entry, data.as_deref())));
    said
}

#[cfg(test)]
mod tests {
    use tilewright_core::{Dtype, TensorLayout};

    use super::*;

    #[test]
    fn a_header_has_at_most_the_bytes_that_readers_take() {
        assert_eq!(check_length(LONGEST, 1), Ok(()));
        let error = check_length(LONGEST + 1, 1).unwrap_err();
        assert!(
            error.kind() == "limit" && error.to_string().contains("the format allows 100000000")
        );
        // Headers of that length take seconds.
        if !tilewright_testing::cases(true, false) {
            return;
        }
        let name = "n".repeat(LONGEST as usize - 2 * PAGE);
        let header = |name: &str| {
            let (file_dtype, dtype, shape) = ("U8".into(), Dtype::U8, vec![1]);
            let layout = TensorLayout::row_major(&shape).unwrap();
            let (bits, spec, packed, big) = (8, None, false, false);
            let laid = &Laid { file_dtype, dtype, bits, layout, shape, spec, packed, big };
            let entry = HeaderEntry { name, laid, data: None };
            header(&[entry], &[]).map(|(head, ..)| head.len())
        };
        assert!(header(&name).unwrap() <= LONGEST as usize + 8);
        let error = header(&(name + &"n".repeat(2 * PAGE))).unwrap_err();
        let said = "the header of an output file has 100";
        assert!(error.kind() == "limit" && error.to_string().starts_with(said), "{error}");
        assert!(
            error.to_string().contains("the format allows 100000000; put fewer tensors"),
            "{error}"
        );
    }
}
