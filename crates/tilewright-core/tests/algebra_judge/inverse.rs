//! What the laws of the inverses allow, by trying everything.

use tilewright_core::SEARCH_BITS;

use super::{Facts, facts::ascending};

/// The size of the longest chain of modes whose offsets are 0, 1, 2, …: each begins where the one before
/// ends.
pub(crate) fn longest_chain(facts: &Facts) -> u64 {
    fn from(end: u64, modes: &mut Vec<(u64, u64)>) -> u64 {
        let mut best = 1;
        for i in 0..modes.len() {
            if modes[i].0 == end {
                let (stride, extent) = modes.remove(i);
                best = best.max(extent * from(stride * extent, modes));
                modes.insert(i, (stride, extent));
            }
        }
        best
    }
    from(1, &mut ascending(facts.layout.modes()))
}

/// Whether the law of the left inverse gives one: by a chain of divisors, or by one cut of the offsets.
pub(crate) fn left_exists(facts: &Facts) -> bool {
    let modes = ascending(facts.layout.modes());
    let divides = |pair: &[(u64, u64)]| {
        let ((low, extent), (high, _)) = (pair[0], pair[1]);
        low * extent <= high && high.is_multiple_of(low)
    };
    facts.apart && (modes.windows(2).all(divides) || one_cut(facts))
}

/// Whether some `(P, M):(a, b)` sends every offset to its index, within the budget of the library.
fn one_cut(facts: &Facts) -> bool {
    let span = facts.high - facts.low + 1;
    if span.max(facts.table.len() as i64) > SEARCH_BITS as i64 {
        return false;
    }
    let origin = facts.index(facts.low).unwrap_or(0) as i64;
    (2..span).any(|cut| {
        let mut equations = Equations::default();
        facts.set.iter().all(|&x| {
            let (offset, index) = (x - facts.low, facts.index(x).unwrap_or(0) as i64);
            equations.add([offset % cut, offset / cut], index - origin)
        })
    })
}

/// Linear equations for two whole numbers, kept solved: the unknowns are `basis` times `solved`, which has
/// one entry for each unknown that is determined.
struct Equations {
    /// The columns of a matrix of determinant ±1.
    basis: [[i64; 2]; 2],
    solved: Vec<i64>,
}

impl Default for Equations {
    fn default() -> Equations {
        Equations { basis: [[1, 0], [0, 1]], solved: vec![] }
    }
}

impl Equations {
    /// One more equation; whether there is still a solution.
    fn add(&mut self, row: [i64; 2], value: i64) -> bool {
        let mut all = self.basis.map(|column| row[0] * column[0] + row[1] * column[1]);
        let known = self.solved.len();
        let rest = value - self.solved.iter().zip(all).map(|(a, b)| a * b).sum::<i64>();
        // Euclid on the columns, as long as both are undetermined.
        while known == 0 && all[1] != 0 {
            let quotient = all[0] / all[1];
            let [first, second] = self.basis;
            let less = [first[0] - quotient * second[0], first[1] - quotient * second[1]];
            all = [all[1], all[0] % all[1]];
            self.basis = [second, less];
        }
        match all.get(known) {
            None | Some(0) => rest == 0,
            Some(divisor) => {
                self.solved.push(rest / divisor);
                rest % divisor == 0
            }
        }
    }
}
