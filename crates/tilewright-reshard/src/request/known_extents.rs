//! Extents of whole tensors in the metadata of files and in lists of a request, and the set of arrays whose extents no
//! file states. Readers of sources collect them, and results write them.
//!
//! ```text
//! {"model.embed.weight": [50257, 64]}        a list in JSON
//! "model.embed.weight" = [50257, 64]         in TOML; tables are parts of names: [model] embed.weight = [50257, 64]
//! ```

use std::collections::BTreeMap;

use serde_json::Value;

use crate::Error;

/// The key of metadata under which a file states the extents of the whole tensors of which it holds a part.
pub(crate) const EXTENTS: &str = "tilewright.extents";

/// Extents by the names of tensors.
pub(crate) type Named = BTreeMap<String, Vec<u64>>;

/// Adds the extents of whole tensors that one more file states.
pub(crate) fn noted(known: &mut Named, file: &str, text: &str) -> Result<(), Error> {
    let said = |why: String| Error::new("corrupt", format!("{file}: {EXTENTS}: {why}"));
    let own: Named = serde_json::from_str(text).map_err(|error| said(error.to_string()))?;
    for (name, extents) in own {
        let first = known.entry(name.clone()).or_insert_with(|| extents.clone());
        if *first != extents {
            let why = format!("tensor {name:?} is {extents:?}; earlier files say {first:?}");
            return Err(Error::mismatch(format!("{file}: {EXTENTS}: {why}")));
        }
    }
    Ok(())
}

/// The numbers of some arrays, ascending, as half-open ranges.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct ArrayNumbers(Vec<[usize; 2]>);

impl ArrayNumbers {
    /// Adds a number that is larger than all before.
    pub(crate) fn push(&mut self, number: usize) {
        match self.0.last_mut() {
            Some([_, end]) if *end == number => *end += 1,
            Some(_) | None => self.0.push([number, number + 1]),
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().flat_map(|[first, end]| *first..*end)
    }
}

/// Reads the extents that a text lists.
pub(crate) fn read(text: &str) -> Result<Named, Error> {
    let value: Value = match text.trim_start().starts_with('{') {
        true => serde_json::from_str(text).map_err(|error| {
            Error::usage(format!("cannot read the JSON list of extents: {error}"))
        })?,
        false => toml::from_str(text).map_err(|error| {
            let said = error.message().lines().next().unwrap_or_default().to_owned();
            Error::usage(format!("cannot read the TOML list of extents: {said}"))
        })?,
    };
    let mut named = Named::new();
    collect(String::new(), &value, &mut named)?;
    Ok(named)
}

/// Collects the extents of a table, whose name is a prefix of the names in it.
fn collect(name: String, value: &Value, named: &mut Named) -> Result<(), Error> {
    if let Value::Object(table) = value {
        return table.iter().try_for_each(|(key, value)| {
            let name = if name.is_empty() { key.clone() } else { format!("{name}.{key}") };
            collect(name, value, named)
        });
    }
    let list = value.as_array().and_then(|list| list.iter().map(Value::as_u64).collect());
    let extents: Vec<u64> = list.ok_or_else(|| {
        let legal = "expected a list of extents such as [50257, 64]";
        Error::usage(format!("tensor {name:?}: {legal}"))
    })?;
    match named.insert(name.clone(), extents) {
        None => Ok(()),
        Some(_) => Err(Error::usage(format!("tensor {name:?} is listed twice"))),
    }
}
