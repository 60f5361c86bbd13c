//! Reads headers: bounded, checked against the file's length, in a stable order.

use safetensors::Dtype;

use super::scan::{Info, Scan};
use crate::{Error, convert::budget::zeros, error, open::source::Source};

/// The longest header the format allows, in bytes.
pub(super) const LONGEST: u64 = 100_000_000;

/// One tensor as the header describes it.
#[derive(Clone, Debug)]
pub(crate) struct SafetensorsEntry {
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
    /// The tensors in the order of their bytes; tensors without bytes keep the order of the text.
    pub(crate) entries: Vec<SafetensorsEntry>,
    /// The metadata, keys sorted; `None` if the header has none.
    pub(crate) metadata: Option<Vec<(String, String)>>,
}

impl Header {
    /// Reads and validates the header of a file.
    pub(crate) fn read(source: &Source) -> Result<Header, Error> {
        let wrong = |said: String| error::corrupt(source.path(), said);
        if source.len() < 8 {
            let len = source.len();
            return Err(wrong(format!(
                "the file is cut off: {len} bytes are too few for a safetensors file, which starts with 8 bytes of length"
            )));
        }
        let mut prefix = [0; 8];
        source.read(&mut prefix, 0)?;
        let (len, rest) = (u64::from_le_bytes(prefix), source.len() - 8);
        if len > rest && len <= LONGEST {
            return Err(wrong(format!(
                "the file is cut off, or is not a safetensors file: a safetensors header of {len} bytes, of which the file has {rest}"
            )));
        }
        if len > LONGEST {
            return Err(wrong(format!(
                "a safetensors header of {len} bytes, where the file has {rest} bytes after its first 8 and the format allows {LONGEST}"
            )));
        }
        let mut text = zeros(len)?;
        source.read(&mut text, 8)?;
        let text = String::from_utf8(text)
            .map_err(|error| wrong(format!("the safetensors header is not UTF-8: {error}")))?;
        Header::parse(&text, rest - len, 8 + len).map_err(wrong)
    }

    /// Parses the header in `text`, of tensors that fill `data` bytes, the first of which is byte `start` of the file.
    pub(crate) fn parse(text: &str, data: u64, start: u64) -> Result<Header, String> {
        let wrong = |error: serde_json::Error| format!("safetensors header: {error}");
        let Scan { mut tensors, metadata } = serde_json::from_str(text).map_err(wrong)?;
        // The sort is stable: tensors without bytes keep the order of the text.
        tensors.sort_by_key(|(_, info)| info.offsets);
        let (mut entries, mut end) = (Vec::<SafetensorsEntry>::with_capacity(tensors.len()), 0);
        for (name, info) in tensors {
            check_place(&name, &info, end, entries.last())?;
            check_length(&name, &info)?;
            let (from, to) = info.offsets;
            let (dtype, shape, at) = (info.dtype, info.shape, start.saturating_add(from));
            entries.push(SafetensorsEntry { name, dtype, shape, at, len: to - from });
            end = to;
        }
        if end != data {
            let cut = if end > data { "the file is cut off: " } else { "" };
            return Err(format!(
                "{cut}the tensors of the header fill {end} bytes, but the file has {data} behind it"
            ));
        }
        let metadata = metadata.map(|mut pairs| {
            pairs.sort();
            pairs
        });
        Ok(Header { entries, metadata })
    }
}

/// Checks that a tensor begins where the one before it ends.
fn check_place(
    name: &str,
    info: &Info,
    end: u64,
    before: Option<&SafetensorsEntry>,
) -> Result<(), String> {
    let (from, to) = info.offsets;
    if to < from {
        return Err(format!("tensor {name:?} ends at byte {to}, before it begins at byte {from}"));
    }
    if from == end {
        return Ok(());
    }
    Err(match before {
        Some(before) if from < end => {
            let other = &before.name;
            format!("tensor {name:?} begins at byte {from}, within {other:?}, which ends at {end}")
        }
        Some(before) => {
            let other = &before.name;
            format!("tensor {name:?} begins at byte {from}, {other:?} before it ends at {end}")
        }
        None => format!("tensor {name:?} is the first and begins at byte {from} instead of 0"),
    })
}

/// Checks that the elements fill the bytes.
fn check_length(name: &str, info: &Info) -> Result<(), String> {
    let ((from, to), bits) = (info.offsets, info.dtype.bitsize() as u64);
    let said = |length: &str| {
        let (dtype, shape, len) = (info.dtype, &info.shape, to - from);
        format!(
            "tensor {name:?}: {shape:?} elements of {dtype:?} take {length}, data_offsets [{from}, {to}] hold {len} bytes"
        )
    };
    match bits_of(&info.shape, bits) {
        None => Err(said("more than 2^63 bits")),
        Some(bits) if bits % 8 != 0 => Err(said(&format!("{bits} bits, not whole bytes"))),
        Some(bits) if bits / 8 != to - from => Err(said(&format!("{} bytes", bits / 8))),
        Some(_) => Ok(()),
    }
}

/// Returns the number of bits of a shape; `None` beyond 2⁶³ − 1.
fn bits_of(shape: &[u64], width: u64) -> Option<u64> {
    if shape.contains(&0) {
        return Some(0);
    }
    let bits = shape.iter().try_fold(width, |bits, extent| bits.checked_mul(*extent))?;
    (bits <= i64::MAX as u64).then_some(bits)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use proptest::prelude::*;

    use super::*;

    fn read(bytes: &[u8]) -> Result<Header, Error> {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(bytes).unwrap();
        Header::read(&Source::open(file.path()).unwrap())
    }

    /// Generates JSON that is almost a header.
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

    /// Generates headers of well-formed entries, most of which have wrong numbers.
    fn described() -> impl Strategy<Value = String> {
        let entry = (
            proptest::sample::select(vec!["a", "b", "c"]),
            proptest::sample::select(vec!["U8", "F32", "F4", "F6_E2M3", "I7"]),
            proptest::collection::vec(0u64..4, 0..3),
            (0u64..9, 0u64..9),
        );
        let entry = entry.prop_map(|(name, dtype, shape, (from, to))| {
            format!(
                r#""{name}":{{"dtype":"{dtype}","shape":{shape:?},"data_offsets":[{from},{to}]}}"#
            )
        });
        proptest::collection::vec(entry, 0..3).prop_map(|entries| entries.join(","))
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

    /// The reference's reader accepts the same headers, except for empty tensors whose other extents overflow: they hold no
    /// bytes, and we accept them.
    #[test]
    fn an_empty_tensor_may_have_any_extents() {
        let big = 1u64 << 62;
        let text =
            format!(r#"{{"a":{{"dtype":"F32","shape":[{big},{big},0],"data_offsets":[0,0]}}}}"#);
        assert_eq!(Header::parse(&text, 0, 8).unwrap().entries[0].shape, [big, big, 0]);
        assert!(serde_json::from_str::<safetensors::tensor::Metadata>(&text).is_err());
    }

    #[test]
    fn offsets_at_the_end_of_the_integers_are_refused() {
        let max = u64::MAX;
        let text = format!(
            r#"{{"a":{{"dtype":"U8","shape":[{max}],"data_offsets":[0,{max}]}},"b":{{"dtype":"U8","shape":[1],"data_offsets":[{max},{max}]}}}}"#
        );
        let said = Header::parse(&text, max, max).unwrap_err();
        assert!(said.contains("\"a\"") && said.contains("2^63"), "{said}");
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_header_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..100)) {
            let _ = read(&bytes);
        }

        #[test]
        fn any_json_is_a_header_or_an_error(text in prop_oneof![nearly(), described()], data in 0u64..9) {
            let text = format!("{{{text}}}");
            // The reference accepts a repeated name; otherwise it never accepts more than we do.
            let reference = serde_json::from_str::<safetensors::tensor::Metadata>(&text)
                .is_ok_and(|metadata| metadata.data_len() as u64 == data);
            let ours = Header::parse(&text, data, 8);
            prop_assert!(reference || ours.is_err());
            prop_assert!(!reference || ours.is_ok() || ours.unwrap_err().contains("twice"));
            if let Ok(header) = Header::parse(&text, data, 8 + text.len() as u64) {
                prop_assert_eq!(header.entries.iter().map(|entry| entry.len).sum::<u64>(), data);
            }
        }
    }
}
