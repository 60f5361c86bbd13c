//! The inverses that the laws allow, by trying everything.

use tilewright_core::SEARCH_BITS;

use super::{Facts, facts::ascending};

/// Returns the size of the longest table of indices that is a layout and has the offsets 0, 1, 2, …: each table is
/// extended by every index of the next offset, as often as possible. For an injective layout, that is the run of offsets,
/// which is an upper bound.
pub(crate) fn longest(facts: &Facts) -> u64 {
    let offsets = &facts.table;
    let at = |offset: usize| (0..offsets.len()).filter(move |&i| offsets[i] == offset as i64);
    let mut tables: Vec<Vec<i64>> = at(0).map(|zero| vec![zero as i64]).collect();
    let mut best = 0;
    while let Some(table) = tables.pop() {
        best = best.max(table.len());
        if best as u64 == facts.run_from(0) {
            break;
        }
        for next in at(table.len()) {
            let (step, mut longer) = (next as i64 - table[0], table.clone());
            for times in 1.. {
                let more: Vec<i64> = table.iter().map(|index| index + times * step).collect();
                let right = |(i, index): (usize, &i64)| {
                    let offset = usize::try_from(*index).ok().and_then(|index| offsets.get(index));
                    offset == Some(&((longer.len() + i) as i64))
                };
                if !more.iter().enumerate().all(right) {
                    break;
                }
                longer.extend(more);
                tables.push(longer.clone());
            }
        }
    }
    best as u64
}

/// Returns whether the law of the left inverse allows one: by a chain of divisors, or by digits of the offsets; `None`
/// beyond the bound of the library.
pub(crate) fn left_exists(facts: &Facts) -> Option<bool> {
    let modes = ascending(facts.layout.modes());
    let divides = |pair: &[(u64, u64)]| {
        let ((low, extent), (high, _)) = (pair[0], pair[1]);
        low * extent <= high && high.is_multiple_of(low)
    };
    if !facts.apart || modes.windows(2).all(divides) {
        return Some(facts.apart);
    }
    let span = facts.high - facts.low + 1;
    (span <= SEARCH_BITS as i64).then(|| digits(facts, &[1], &Equations::default(), span))
}

/// Returns whether digits of the offsets that begin at these cuts, and continue by primes, give the index: a chain with
/// more cuts expresses everything that one with fewer does.
fn digits(facts: &Facts, cuts: &[i64], below: &Equations, span: i64) -> bool {
    let (last, origin) = (cuts[cuts.len() - 1], facts.index(facts.low).unwrap_or(0) as i64);
    let row = |x: i64| -> Vec<i64> {
        let ends = cuts.iter().skip(1).copied().chain([i64::MAX]);
        cuts.iter().zip(ends).map(|(cut, end)| x % end / cut).collect()
    };
    let mut equations = below.clone();
    equations.more();
    let mut end = last;
    loop {
        let fits = (end..(end + last).min(span)).all(|x| match facts.index(x + facts.low) {
            Some(index) => equations.add(&row(x), index as i64 - origin),
            None => true,
        });
        end += last;
        if !fits {
            return false;
        }
        if end >= span {
            return true;
        }
        let ratio = end / last;
        let is_prime = (2..ratio).all(|q| ratio % q != 0);
        if is_prime && digits(facts, &[cuts, &[end]].concat(), &equations, span) {
            return true;
        }
    }
}

/// Linear equations over the integers, kept solved: the unknowns are `basis` times `solved`, which has one entry for
/// each determined unknown.
#[derive(Clone, Default)]
struct Equations {
    /// The columns of a matrix of determinant ±1.
    basis: Vec<Vec<i64>>,
    solved: Vec<i64>,
}

impl Equations {
    /// Adds an unknown.
    fn more(&mut self) {
        for column in &mut self.basis {
            column.push(0);
        }
        let mut column = vec![0; self.basis.len() + 1];
        column[self.basis.len()] = 1;
        self.basis.push(column);
    }

    /// Adds an equation; returns whether a solution is left.
    fn add(&mut self, row: &[i64], value: i64) -> bool {
        let dot = |column: &Vec<i64>| row.iter().zip(column).map(|(a, b)| a * b).sum::<i64>();
        let mut all: Vec<i64> = self.basis.iter().map(dot).collect();
        let known = self.solved.len();
        let rest = value - self.solved.iter().zip(&all).map(|(a, b)| a * b).sum::<i64>();
        // Euclid's algorithm on the undetermined columns.
        for other in known + 1..all.len() {
            while all[other] != 0 {
                let quotient = all[known] / all[other];
                let (first, second) = (self.basis[known].clone(), self.basis[other].clone());
                self.basis[other] =
                    first.iter().zip(&second).map(|(a, b)| a - quotient * b).collect();
                self.basis[known] = second;
                (all[known], all[other]) = (all[other], all[known] % all[other]);
            }
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
