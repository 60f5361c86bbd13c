//! Lookup in one direction of an index table, for arithmetic progressions of numbers.

use std::sync::Arc;
use tilewright_table::Table;

/// A number as a linear function of the input that is walked: its first value, and its growth per step.
pub(crate) type Progression = (u64, u64);

/// The entry of an index table for a number that has none.
const NOTHING: u32 = u32::MAX;

/// A direction of a table.
#[derive(Clone, Debug)]
pub(crate) enum TableDirection {
    /// From a place to the index stored there.
    Indices(Arc<Table>),
    /// From an index to its place.
    Places(Arc<Table>),
}

impl TableDirection {
    pub(crate) fn entries(&self) -> &[u32] {
        match self {
            TableDirection::Indices(table) => table.list(),
            TableDirection::Places(table) => table.places(),
        }
    }

    /// Looks up a progression of numbers and returns the progression of the entries. Shortens `len` to the first number
    /// where the entries stop growing evenly. Returns `None` for `len` numbers without an entry.
    pub(crate) fn look(&self, (at, growth): Progression, len: &mut u64) -> Option<Progression> {
        let entries = self.entries();
        let entry = |value: u64| {
            let at = at.checked_add(value.checked_mul(growth)?)?;
            entries.get(usize::try_from(at).ok()?).copied().filter(|entry| *entry != NOTHING)
        };
        let first = entry(0);
        if growth == 0 {
            return first.map(|first| (first.into(), 0));
        }
        let step = match (first, entry(1)) {
            // The run ends at the end of the list.
            (Some(first), Some(second)) => {
                u64::from(second).checked_sub(first.into()).filter(|step| *step > 0)
            }
            (Some(_), None) => None,
            (None, _) => {
                *len = (1..*len).find(|value| entry(*value).is_some()).unwrap_or(*len);
                return None;
            }
        };
        let first = u64::from(first?);
        let Some(step) = step else {
            *len = 1;
            return Some((first, 0));
        };
        let goes_on = |value: &u64| {
            entry(*value).is_some_and(|entry| u64::from(entry) == first + value * step)
        };
        *len = (2..*len).find(|value| !goes_on(value)).unwrap_or(*len);
        Some((first, step))
    }
}
