//! Counts of compositions, judged by enumeration.

use tilewright_core::Layout;

use crate::algebra_brute::{Brute, affine};

/// The number of pairs, and the numbers of their outcomes.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) pairs: u64,
    pub(crate) accepted: u64,
    pub(crate) refused: u64,
    /// An answer other than the only layout, or a refusal without a true witness.
    pub(crate) wrong: u64,
    /// A refusal although there is a layout.
    pub(crate) needless: u64,
    pub(crate) undecided: u64,
}

impl Counts {
    /// Composes a pair and judges the answer by enumeration. The offsets of B are 0 or more.
    pub(crate) fn judge(&mut self, brute: &mut Brute, a: &Layout, b: &Layout) {
        self.pairs += 1;
        let exists = brute.exists(a, b);
        match a.composition(b) {
            Ok(result) => {
                self.accepted += 1;
                let same = result.modes() == brute.modes && result.offset() == brute.table[0];
                self.wrong += u64::from(!exists || !same || result.swizzle() != a.swizzle());
            }
            Err(error) if error.is_undecided() => self.undecided += 1,
            Err(error) => {
                self.refused += 1;
                self.needless += u64::from(exists);
                let witness = error.witness().and_then(|coord| b.offset_at(coord.as_slice()).ok());
                let told = witness.is_some_and(|x| differs(&error.to_string(), affine(a, x)));
                self.wrong += u64::from(!error.is_no_layout() || !told);
            }
        }
    }
}

/// Returns whether a refusal names this value, and another one from the candidate.
fn differs(text: &str, value: i64) -> bool {
    let Some((_, rest)) = text.split_once(&format!("A(B) is {value}, the only candidate gives "))
    else {
        return false;
    };
    let candidate = rest.split_once(':').and_then(|(number, _)| number.parse::<i64>().ok());
    candidate.is_some_and(|candidate| candidate != value)
}
