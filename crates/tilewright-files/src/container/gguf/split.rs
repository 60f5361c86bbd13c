//! Models split into several files: `NAME-00001-of-00003.gguf`, each with its number in the metadata.
//!
//! Source: llama.cpp, `llama_split_path` and `tools/gguf-split`: the first part has the metadata of all.

use std::path::PathBuf;

use super::{header::Header, value::KeyValue};
use crate::{Error, error, open::source::Source};

/// Keys in the metadata of a part: its number, counted from 0, the number of parts, and the number of tensors in all parts.
const NUMBER: &str = "split.no";
const COUNT: &str = "split.count";
const TENSORS: &str = "split.tensors.count";

/// Returns whether a key marks a file as a part.
pub(super) fn is_key(key: &str) -> bool {
    matches!(key, NUMBER | COUNT | TENSORS)
}

/// Returns the number of a part and the number of parts; `None` for a whole file.
fn place(header: &Header) -> Option<(u64, u64)> {
    let said = |key| header.get(key).and_then(|value| value.count());
    let count = said(COUNT).filter(|count| *count > 1)?;
    Some((said(NUMBER).unwrap_or(0), count))
}

/// Returns all parts of the model that this file belongs to, in their order.
pub(super) fn parts(
    source: Source,
    header: Header,
    beside: Option<&dyn Fn(&str) -> PathBuf>,
) -> Result<Vec<(Source, Header)>, Error> {
    let Some((number, count)) = place(&header) else { return Ok(vec![(source, header)]) };
    let Some(beside) = beside else {
        let said = format!(
            "part {} of {count} needs the parts beside it, but standard input is not in a folder; give the file's path",
            number.saturating_add(1)
        );
        return Err(error::usage(said));
    };
    let stem = stem(&source, number, count)?;
    let (mut parts, mut own) = (Vec::new(), Some((source, header)));
    for i in 0..count {
        let part = match own.take_if(|_| i == number) {
            Some(own) => own,
            None => {
                let source = Source::open(&beside(&format!("{stem}{}", ending(i, count))))?;
                let header = Header::read(&source)?;
                (source, header)
            }
        };
        check(&part, i, count, parts.first())?;
        parts.push(part);
    }
    check_tensors(&parts)?;
    Ok(parts)
}

/// Returns the ending of the name of part `number` of `count`.
fn ending(number: u64, count: u64) -> String {
    format!("-{:05}-of-{count:05}.gguf", number.saturating_add(1))
}

/// Returns the common beginning of the names of all parts.
fn stem(source: &Source, number: u64, count: u64) -> Result<String, Error> {
    let name = source.path().file_name().and_then(|name| name.to_str());
    let ending = ending(number, count);
    let stem = name.and_then(|name| name.strip_suffix(&ending)).filter(|_| number < count);
    stem.map(str::to_owned).ok_or_else(|| {
        let part = number.saturating_add(1);
        let said =
            format!("it says that it is part {part} of {count}, whose name ends in {ending}");
        error::corrupt(source.path(), said)
    })
}

/// Checks that a part has this number, and that its metadata contain nothing that the first part's do not.
fn check(
    (source, header): &(Source, Header),
    number: u64,
    count: u64,
    first: Option<&(Source, Header)>,
) -> Result<(), Error> {
    let wrong = |said: String| Err(error::corrupt(source.path(), said));
    if place(header) != Some((number, count)) {
        let part = number + 1;
        return wrong(format!(
            "it is read as part {part} of {count}, and its metadata does not say so"
        ));
    }
    let Some((_, first)) = first else { return Ok(()) };
    let known = first.values();
    let other = |pair: &&KeyValue| {
        let key = header.key(pair);
        !is_key(key) && known.get(key) != Some(&header.value(pair))
    };
    match header.pairs.iter().find(other) {
        Some(pair) => {
            let key = header.key(pair);
            wrong(format!("its metadata {key:?} is not that of the first part"))
        }
        None => Ok(()),
    }
}

/// Checks that all parts together have the number of tensors that the first part gives.
fn check_tensors(parts: &[(Source, Header)]) -> Result<(), Error> {
    let Some((source, first)) = parts.first() else { return Ok(()) };
    let has: usize = parts.iter().map(|(_, header)| header.entries.len()).sum();
    match first.get(TENSORS).and_then(|value| value.count()) {
        Some(said) if said != has as u64 => {
            let said = format!("{TENSORS} is {said}, the parts have {has} tensors");
            Err(error::corrupt(source.path(), said))
        }
        _ => Ok(()),
    }
}
