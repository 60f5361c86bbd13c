//! Reads headers: bounded, checked against the file's length.

use std::{
    collections::{HashMap, HashSet},
    ops::Range,
};

use tilewright_core::Dtype;

use super::{
    reader::Reader,
    types,
    value::{self, KeyValue, Value},
};
use crate::{Error, error, open::source::Source};

/// The first bytes of every file.
pub(super) const MAGIC: &[u8] = b"GGUF";

/// The largest number of pairs, and of tensors, that is read.
const MOST: u64 = 1 << 20;

/// The largest number of dims of a tensor: `GGML_MAX_DIMS`.
pub(super) const MOST_DIMS: usize = 4;

/// The key of the alignment, and its default.
pub(super) const ALIGNMENT: (&str, u64) = ("general.alignment", 32);

/// One tensor as the header describes it.
#[derive(Clone, Debug)]
pub(super) struct GgufEntry {
    /// The name in the file.
    pub(super) name: String,
    /// The dims in the order of the file, fastest first.
    pub(super) dims: Vec<u64>,
    pub(super) type_name: &'static str,
    pub(super) dtype: Dtype,
    /// The first byte in the file.
    pub(super) at: u64,
    /// The length in bytes.
    pub(super) len: u64,
}

/// A valid header.
#[derive(Clone, Debug, Default)]
pub(super) struct Header {
    /// The bytes of the file before the first tensor, without padding.
    head: Vec<u8>,
    pub(super) version: u32,
    pub(super) pairs: Vec<KeyValue>,
    /// The tensors in the order of their bytes.
    pub(super) entries: Vec<GgufEntry>,
    pub(super) alignment: u64,
    /// True if padding follows the last tensor, or the header if there are no tensors.
    pub(super) is_padded: bool,
}

impl Header {
    /// Reads and validates the header of a file.
    pub(super) fn read(source: &Source) -> Result<Header, Error> {
        let path = source.path();
        let wrong = |said: String| error::corrupt(path, said);
        let mut reader = Reader::new(source);
        let magic = reader.take(4, "the magic")?;
        if reader.bytes(&magic) != MAGIC {
            return Err(wrong("not a GGUF file: it does not start with `GGUF`".into()));
        }
        let version = version(source, reader.u32("the version")?)?;
        let tensors = reader.count(24, "the count of tensors")?;
        let pairs = reader.count(13, "the count of metadata")?;
        if let Some(many) = [tensors, pairs].into_iter().find(|count| *count > MOST) {
            let said = format!("a GGUF header of {many} entries; at most {MOST} are read");
            return Err(error::unsupported(path, said));
        }
        let pairs = read_pairs(&mut reader, pairs, &wrong)?;
        let mut entries = Vec::new();
        for _ in 0..tensors {
            entries.push(entry(&mut reader, source)?);
        }
        let end = reader.at();
        let mut header = Header { head: reader.into_head(), version, pairs, ..Header::default() };
        header.alignment = header.own_alignment().map_err(wrong)?;
        let (entries, last) =
            placed(entries, end, header.alignment, source.len()).map_err(wrong)?;
        header.entries = entries;
        header.is_padded = last.checked_next_multiple_of(header.alignment) == Some(source.len());
        Ok(header)
    }

    /// Returns the header of a file of other tensors: the pairs whose keys are kept, and these texts.
    pub(super) fn renewed(
        &self,
        stays: &dyn Fn(&str) -> bool,
        texts: &[(String, String)],
    ) -> Header {
        let kept = self.pairs.iter().filter(|pair| stays(self.key(pair)));
        let mut header =
            Header { pairs: kept.cloned().collect(), entries: Vec::new(), ..self.clone() };
        for (key, text) in texts {
            let start = header.head.len();
            value::string(&mut header.head, key);
            let behind = header.head.len();
            header.head.extend_from_slice(&value::STRING.to_le_bytes());
            let from = header.head.len();
            value::string(&mut header.head, text);
            let end = header.head.len();
            // A key follows its length.
            let key = start + 8..behind;
            header.pairs.push(KeyValue {
                key,
                kind: value::STRING,
                value: from..end,
                whole: start..end,
            });
        }
        header
    }

    /// Returns the header with another number under a key that it has.
    pub(super) fn with_number(mut self, name: &str, number: u32) -> Header {
        let Some(at) = self.pairs.iter().position(|pair| self.key(pair) == name) else {
            return self;
        };
        let start = self.head.len();
        value::string(&mut self.head, name);
        let key = start + 8..self.head.len();
        self.head.extend_from_slice(&value::U32.to_le_bytes());
        let from = self.head.len();
        self.head.extend_from_slice(&number.to_le_bytes());
        let end = self.head.len();
        if let Some(pair) = self.pairs.get_mut(at) {
            *pair = KeyValue { key, kind: value::U32, value: from..end, whole: start..end };
        }
        self
    }

    pub(super) fn bytes(&self, range: &Range<usize>) -> &[u8] {
        self.head.get(range.clone()).unwrap_or_default()
    }

    pub(super) fn key(&self, pair: &KeyValue) -> &str {
        std::str::from_utf8(self.bytes(&pair.key)).unwrap_or_default()
    }

    pub(super) fn value(&self, pair: &KeyValue) -> Value<'_> {
        Value { kind: pair.kind, bytes: self.bytes(&pair.value) }
    }

    pub(super) fn get(&self, key: &str) -> Option<Value<'_>> {
        self.pairs.iter().find(|pair| self.key(pair) == key).map(|pair| self.value(pair))
    }

    /// All values of the metadata by key.
    pub(super) fn values(&self) -> HashMap<&str, Value<'_>> {
        self.pairs.iter().map(|pair| (self.key(pair), self.value(pair))).collect()
    }

    /// Returns the metadata that are texts, whole numbers or truth values, as JSON.
    pub(super) fn config(&self) -> serde_json::Map<String, serde_json::Value> {
        let json = |pair| Some((self.key(pair).to_owned(), self.value(pair).json()?));
        self.pairs.iter().filter_map(json).collect()
    }

    /// Returns the strings of the metadata by key.
    pub(super) fn strings(&self) -> HashMap<&str, &str> {
        let string = |pair| Some((self.key(pair), self.value(pair).string()?));
        self.pairs.iter().filter_map(string).collect()
    }

    fn own_alignment(&self) -> Result<u64, String> {
        let (key, default) = ALIGNMENT;
        let Some(value) = self.get(key) else { return Ok(default) };
        match (value.kind, value.unsigned()) {
            (value::U32, Some(alignment)) if alignment.is_power_of_two() => Ok(alignment),
            _ => Err(format!(
                "GGUF header: {key} is {}; it must be a power of two, as u32",
                value.text()
            )),
        }
    }
}

fn version(source: &Source, version: u32) -> Result<u32, Error> {
    match version {
        2 | 3 => Ok(version),
        _ if matches!(version.swap_bytes(), 2 | 3) => {
            let said = "a big-endian GGUF file; only little-endian files are read";
            Err(error::unsupported(source.path(), said))
        }
        _ => {
            let said = format!("GGUF version {version}; known are 2 and 3");
            Err(error::unsupported(source.path(), said))
        }
    }
}

fn read_pairs(
    reader: &mut Reader<'_>,
    count: u64,
    wrong: &dyn Fn(String) -> Error,
) -> Result<Vec<KeyValue>, Error> {
    let (mut pairs, mut seen) = (Vec::new(), HashSet::new());
    for _ in 0..count {
        let start = reader.at() as usize;
        let key = reader.text("a key")?;
        let name = String::from_utf8_lossy(reader.bytes(&key)).into_owned();
        let what = format!("{name:?}");
        let kind = reader.u32(&what)?;
        let from = reader.at() as usize;
        value::skip(reader, kind, 0, &what, wrong)?;
        let end = reader.at() as usize;
        if !seen.insert(name) {
            return Err(wrong(format!("GGUF header: the key {what} occurs twice")));
        }
        pairs.push(KeyValue { key, kind, value: from..end, whole: start..end });
    }
    Ok(pairs)
}

/// Reads an entry; its position is relative to the end of the header.
fn entry(reader: &mut Reader<'_>, source: &Source) -> Result<GgufEntry, Error> {
    let name = reader.text("the name of a tensor")?;
    let name = String::from_utf8_lossy(reader.bytes(&name)).into_owned();
    let what = format!("tensor {name:?}");
    let rank = reader.u32(&what)?;
    let wrong = |said: String| error::corrupt(source.path(), format!("{what}: {said}"));
    if rank as usize > MOST_DIMS {
        return Err(wrong(format!("{rank} dims; a tensor of GGUF has at most {MOST_DIMS}")));
    }
    let dims: Vec<u64> = (0..rank).map(|_| reader.u64(&what)).collect::<Result<_, _>>()?;
    let number = reader.u32(&what)?;
    let at = reader.u64(&what)?;
    let (type_name, dtype) = types::of(number).ok_or_else(|| {
        let said = format!("{what}: its type is {number}, whose length is unknown");
        error::unsupported(source.path(), said)
    })?;
    let logical: Vec<u64> = dims.iter().rev().copied().collect();
    let len = dtype.packed_bytes(&logical).map_err(|error| wrong(error.to_string()))?;
    Ok(GgufEntry { name, dims, type_name, dtype, at, len })
}

/// Returns the entries in the order of their bytes, and the end of the last one; `end` is the end of the header. As the format
/// demands, each entry must follow the one before it and its padding.
fn placed(
    mut entries: Vec<GgufEntry>,
    end: u64,
    alignment: u64,
    file: u64,
) -> Result<(Vec<GgufEntry>, u64), String> {
    let padded = |at: u64| at.checked_next_multiple_of(alignment);
    let start = padded(end).ok_or("the header ends beyond 2^64 bytes")?;
    // The sort is stable: entries without bytes keep their order.
    entries.sort_by_key(|entry| entry.at);
    let mut next = Some(0);
    let mut last = end;
    for entry in &mut entries {
        let (name, at, len) = (&entry.name, entry.at, entry.len);
        if next != Some(at) {
            let expected = next.map_or("no byte".into(), |next| format!("byte {next}"));
            return Err(format!(
                "tensor {name:?} begins at byte {at} of the data, expected {expected}: tensors are contiguous, at multiples of {alignment}"
            ));
        }
        let to = start.checked_add(at).and_then(|at| at.checked_add(len)).filter(|to| *to <= file);
        let Some(to) = to else {
            return Err(format!(
                "the file is cut off: tensor {name:?} has {len} bytes from byte {at} of the data on, which begin at byte {start}, and the file has {file}"
            ));
        };
        (next, last, entry.at) = (at.checked_add(len).and_then(padded), to, start + at);
    }
    if file > padded(last).unwrap_or(u64::MAX) {
        return Err(format!("the tensors end at byte {last}, and the file has {file} bytes"));
    }
    Ok((entries, last))
}
