//! Extents of whole tensors in the metadata of files, and the set of arrays whose extents no file states. Readers of
//! sources collect them, and results write them.

use std::collections::BTreeMap;

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
