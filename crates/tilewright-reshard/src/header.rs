//! The header of an output file: safetensors, with the data at a multiple of 4 KiB.

use serde_json::{Map, Value, json};

use crate::Error;

/// The name in a header that is no tensor.
const METADATA: &str = "__metadata__";

/// Under this prefix and its name, metadata keeps the layout of a tensor, as converted files do.
const LAYOUT_KEY: &str = "tilewright.layout.";

/// Under this prefix and its name, metadata keeps the fingerprint of its data.
const DATA_KEY: &str = "tilewright.data.";

/// The data begin at a multiple of this.
const PAGE: usize = 4096;

/// A tensor of an output file.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) name: String,
    pub(crate) file_dtype: String,
    pub(crate) shape: Vec<u64>,
    pub(crate) bytes: u64,
    /// The layout, where it is not row-major.
    pub(crate) spec: Option<String>,
    /// The fingerprint of the data, where it is recorded.
    pub(crate) data: Option<String>,
}

/// The bytes before the data, and where each tensor begins in the file.
pub(crate) fn header(
    entries: &[Entry],
    metadata: &[(String, String)],
) -> Result<(Vec<u8>, Vec<u64>, u64), Error> {
    let mut said = Map::new();
    let noted = |entry: &Entry| {
        let spec = entry.spec.clone()?;
        Some((format!("{LAYOUT_KEY}{}", entry.name), Value::from(spec)))
    };
    said.insert("format".into(), "pt".into());
    said.extend(metadata.iter().map(|(key, text)| (key.clone(), Value::from(text.as_str()))));
    said.extend(entries.iter().filter_map(noted));
    let recorded = |entry: &Entry| {
        let data = entry.data.clone()?;
        Some((format!("{DATA_KEY}{}", entry.name), Value::from(data)))
    };
    said.extend(entries.iter().filter_map(recorded));
    let (mut map, mut places, mut at) = (Map::new(), Vec::new(), 0u64);
    map.insert(METADATA.into(), said.into());
    for entry in entries {
        if entry.name == METADATA {
            let said =
                format!("tensor {METADATA:?}: safetensors keep their metadata under this name");
            return Err(Error::new("unsupported", said));
        }
        let end = at.checked_add(entry.bytes).filter(|end| *end <= i64::MAX as u64);
        let end = end.ok_or_else(|| Error::new("overflow", "a file beyond 63 bits of bytes"))?;
        let value = json!({
            "dtype": entry.file_dtype, "shape": entry.shape, "data_offsets": [at, end],
        });
        map.insert(entry.name.clone(), value);
        places.push(at);
        at = end;
    }
    let mut text = Value::from(map).to_string().into_bytes();
    text.resize((8 + text.len()).next_multiple_of(PAGE) - 8, b' ');
    let mut head = (text.len() as u64).to_le_bytes().to_vec();
    head.append(&mut text);
    let base = head.len() as u64;
    Ok((head, places.iter().map(|place| base + place).collect(), base + at))
}
