//! Reading a header: bounded, checked against the file's length, in a stable order.

use safetensors::{Dtype, tensor::Metadata};

use super::scan::Scan;
use crate::{Error, source::Source};

/// The longest header the format allows, in bytes.
const LONGEST: u64 = 100_000_000;

/// One tensor as the header describes it.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) name: String,
    pub(crate) dtype: Dtype,
    pub(crate) shape: Vec<u64>,
    /// The first byte in the file.
    pub(crate) at: u64,
    /// The length in bytes.
    pub(crate) len: u64,
}

/// A valid header.
#[derive(Clone, Debug)]
pub(crate) struct Header {
    /// The tensors in the order of their bytes; those without bytes as they stand in the text.
    pub(crate) entries: Vec<Entry>,
    /// The metadata, keys sorted; `None` where the header has none.
    pub(crate) metadata: Option<Vec<(String, String)>>,
}

impl Header {
    /// Reads and validates the header of a file.
    pub(crate) fn read(source: &Source) -> Result<Header, Error> {
        let wrong = |said: String| Error::corrupt(source.path(), said);
        if source.len() < 8 {
            let len = source.len();
            return Err(wrong(format!(
                "{len} bytes are too few for a safetensors file, which starts with 8 bytes of length"
            )));
        }
        let mut prefix = [0; 8];
        source.read(&mut prefix, 0)?;
        let (len, rest) = (u64::from_le_bytes(prefix), source.len() - 8);
        if len > rest || len > LONGEST {
            return Err(wrong(format!(
                "a safetensors header of {len} bytes, where the file has {rest} bytes behind its first 8 and the format allows {LONGEST}"
            )));
        }
        let mut text = vec![0; len as usize];
        source.read(&mut text, 8)?;
        let text = String::from_utf8(text)
            .map_err(|error| wrong(format!("the safetensors header is not UTF-8: {error}")))?;
        Header::parse(&text, rest - len, 8 + len).map_err(wrong)
    }

    /// The header in `text`, of tensors that fill `data` bytes from byte `start` of the file on.
    fn parse(text: &str, data: u64, start: u64) -> Result<Header, String> {
        let scan: Scan =
            serde_json::from_str(text).map_err(|error| format!("safetensors header: {error}"))?;
        let valid: Metadata =
            serde_json::from_str(text).map_err(|error| format!("safetensors header: {error}"))?;
        let described = valid.data_len() as u64;
        if described != data {
            return Err(format!(
                "the tensors of the header fill {described} bytes, the file has {data} behind it"
            ));
        }
        let entries = in_order(&scan.names, &valid, start)?;
        let metadata = scan.metadata.map(|mut pairs| {
            pairs.sort();
            pairs
        });
        Ok(Header { entries, metadata })
    }
}

/// The tensors by their first and last byte; where these agree, in the order of the text.
fn in_order(names: &[String], valid: &Metadata, start: u64) -> Result<Vec<Entry>, String> {
    let tensors = valid.tensors();
    let mut entries = Vec::with_capacity(names.len());
    for name in names {
        let info = tensors.get(name).ok_or_else(|| format!("tensor {name:?} is not described"))?;
        let (from, to) = info.data_offsets;
        entries.push(Entry {
            name: name.clone(),
            dtype: info.dtype,
            shape: info.shape.iter().map(|&extent| extent as u64).collect(),
            at: start + from as u64,
            len: (to - from) as u64,
        });
    }
    entries.sort_by_key(|entry| (entry.at, entry.len));
    Ok(entries)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::io::Write;

    fn read(bytes: &[u8]) -> Result<Header, Error> {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(bytes).unwrap();
        Header::read(&Source::open(file.path()).unwrap())
    }

    /// JSON that is nearly a header.
    fn nearly() -> impl Strategy<Value = String> {
        let pieces = [
            "{",
            "}",
            "[",
            "]",
            ",",
            ":",
            "\"a\"",
            "\"b\"",
            "\"dtype\"",
            "\"shape\"",
            "\"F32\"",
            "\"U8\"",
            "\"data_offsets\"",
            "[0,4]",
            "[4]",
            "[1]",
            "0",
            "-1",
            "1e9",
            "18446744073709551615",
            "null",
            "\"__metadata__\"",
            "{\"a\":\"b\"}",
            "\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4]",
        ];
        proptest::collection::vec(proptest::sample::select(pieces.to_vec()), 0..30)
            .prop_map(|pieces| pieces.concat())
    }

    #[test]
    fn tensors_without_bytes_keep_the_order_of_the_text() {
        let entry =
            |name: &str| format!(r#""{name}":{{"dtype":"F32","shape":[0],"data_offsets":[0,0]}}"#);
        let names = ["z", "b", "q", "a", "k"];
        let text = format!("{{{}}}", names.map(entry).join(","));
        let header = Header::parse(&text, 0, 8).unwrap();
        let read: Vec<_> = header.entries.iter().map(|entry| entry.name.as_str()).collect();
        assert_eq!(read, names);
        assert_eq!(header.metadata, None);
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_header_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..100)) {
            let _ = read(&bytes);
        }

        #[test]
        fn any_json_is_a_header_or_an_error(text in nearly(), data in 0u64..9) {
            let text = format!("{{{text}}}");
            if let Ok(header) = Header::parse(&text, data, 8 + text.len() as u64) {
                prop_assert_eq!(header.entries.iter().map(|entry| entry.len).sum::<u64>(), data);
            }
        }
    }
}
