//! The known facts of the value of an expression: its range, and a number that divides it.

/// Bounds and a divisor. `None` means that there is no bound; a divisor of 0 means that the value is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct OffsetFacts {
    pub(crate) low: Option<i128>,
    pub(crate) high: Option<i128>,
    pub(crate) multiple: i128,
}

/// The bound of the facts that are tracked: larger numbers are unknown.
const MOST: i128 = 1 << 100;

impl OffsetFacts {
    /// Returns the facts of one number.
    pub(crate) fn of(number: i64) -> OffsetFacts {
        let number = i128::from(number);
        OffsetFacts { low: Some(number), high: Some(number), multiple: number.abs() }
    }

    /// Returns the facts of numbers from 0 to `high`.
    pub(crate) fn up_to(high: Option<i128>) -> OffsetFacts {
        OffsetFacts { low: Some(0), high: high.filter(|high| *high < MOST), multiple: 1 }
    }

    #[cfg(test)]
    pub(crate) fn with_multiple(self, multiple: i128) -> OffsetFacts {
        OffsetFacts { multiple, ..self }
    }

    /// Returns whether the value is never negative.
    pub(crate) fn is_natural(self) -> bool {
        self.low.is_some_and(|low| low >= 0)
    }

    /// Returns whether the value is below a number.
    pub(crate) fn is_below(self, number: i64) -> bool {
        self.is_natural() && self.high.is_some_and(|high| high < i128::from(number))
    }

    /// Returns whether a number divides the value.
    pub(crate) fn divides(self, number: i64) -> bool {
        number != 0 && self.multiple % i128::from(number) == 0
    }

    /// Returns the largest power of two that is known to divide the value.
    fn power(self) -> i128 {
        if self.multiple == 0 { 1 << 62 } else { 1 << self.multiple.trailing_zeros().min(62) }
    }

    fn bounded(low: Option<i128>, high: Option<i128>, multiple: i128) -> OffsetFacts {
        let near = |bound: Option<i128>| bound.filter(|bound| bound.abs() < MOST);
        let multiple = if multiple.abs() < MOST { multiple } else { 1 };
        OffsetFacts { low: near(low), high: near(high), multiple }
    }

    pub(crate) fn add(self, other: OffsetFacts) -> OffsetFacts {
        let sum = |a: Option<i128>, b: Option<i128>| a.zip(b).map(|(a, b)| a + b);
        let multiple = gcd(self.multiple, other.multiple);
        OffsetFacts::bounded(sum(self.low, other.low), sum(self.high, other.high), multiple)
    }

    pub(crate) fn sub(self, other: OffsetFacts) -> OffsetFacts {
        let less = |bound: Option<i128>| bound.map(|bound| -bound);
        self.add(OffsetFacts {
            low: less(other.high),
            high: less(other.low),
            multiple: other.multiple,
        })
    }

    pub(crate) fn mul(self, other: OffsetFacts) -> OffsetFacts {
        let multiple = self.multiple.checked_mul(other.multiple).unwrap_or(1);
        if !(self.is_natural() && other.is_natural()) {
            return OffsetFacts::bounded(None, None, multiple);
        }
        let product =
            |a: Option<i128>, b: Option<i128>| a.zip(b).and_then(|(a, b)| a.checked_mul(b));
        OffsetFacts::bounded(product(self.low, other.low), product(self.high, other.high), multiple)
    }

    /// Returns the facts of a quotient of natural numbers, rounded down.
    pub(crate) fn div(self, other: OffsetFacts) -> OffsetFacts {
        let quotient = |a: Option<i128>, b: Option<i128>| a.zip(b).map(|(a, b)| a / b.max(1));
        let low = quotient(self.low, other.high).or(Some(0));
        let high = quotient(self.high, other.low.map(|low| low.max(1)).or(Some(1)));
        let exact = match (other.low, other.high) {
            (Some(low), Some(high)) if low == high && low > 0 && self.multiple % low == 0 => {
                self.multiple / low
            }
            _ => 1,
        };
        OffsetFacts::bounded(low, high, exact)
    }

    /// Returns the facts of a remainder of natural numbers.
    pub(crate) fn rem(self, other: OffsetFacts) -> OffsetFacts {
        let below = other.high.map(|high| high - 1);
        let high = [self.high, below].into_iter().flatten().min();
        OffsetFacts::bounded(Some(0), high, gcd(self.multiple, other.multiple))
    }

    /// Returns the facts of the bits of a natural number that a mask keeps. A negative mask keeps all high bits.
    pub(crate) fn and(self, mask: i64) -> OffsetFacts {
        let own = 1i128 << mask.trailing_zeros().min(62);
        let most = if mask >= 0 { Some(i128::from(mask)) } else { None };
        let high = [self.high, most].into_iter().flatten().min();
        OffsetFacts::bounded(Some(0), high, own.max(self.power()))
    }

    /// Returns the facts of an exclusive or of natural numbers.
    pub(crate) fn xor(self, other: OffsetFacts) -> OffsetFacts {
        let bits = |high: i128| (high as u128 + 1).next_power_of_two() as i128 - 1;
        let high = self.high.zip(other.high).map(|(a, b)| bits(a.max(b)));
        OffsetFacts::bounded(Some(0), high, self.power().min(other.power()))
    }
}

fn gcd(a: i128, b: i128) -> i128 {
    let (mut a, mut b) = (a.abs(), b.abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every fact holds for every value that the facts of the operands allow.
    #[test]
    fn facts_hold_of_all_values() {
        let holds = |facts: OffsetFacts, value: i128| {
            facts.low.is_none_or(|low| value >= low)
                && facts.high.is_none_or(|high| value <= high)
                && (facts.multiple == 0 && value == 0
                    || facts.multiple != 0 && value % facts.multiple == 0)
        };
        let all: Vec<(OffsetFacts, Vec<i128>)> = (0..7i128)
            .flat_map(|low| (1..5i128).map(move |step| (low * step, step)))
            .map(|(low, step)| {
                let values: Vec<i128> = (0..4).map(|turn| low + turn * step).collect();
                let high = values.last().copied();
                (OffsetFacts { low: Some(low), high, multiple: step }, values)
            })
            .collect();
        for (a, xs) in &all {
            for (b, ys) in &all {
                for (x, y) in xs.iter().flat_map(|x| ys.iter().map(move |y| (*x, *y))) {
                    assert!(holds(a.add(*b), x + y) && holds(a.sub(*b), x - y));
                    assert!(holds(a.mul(*b), x * y) && holds(a.xor(*b), x ^ y));
                    if y > 0 {
                        assert!(holds(a.div(*b), x / y), "{a:?} {b:?} {x} {y}");
                        assert!(holds(a.rem(*b), x % y), "{a:?} {b:?} {x} {y}");
                    }
                    for mask in [y as i64, -(1 << (y % 5))] {
                        assert!(
                            mask == 0 || holds(a.and(mask), x & i128::from(mask)),
                            "{a:?} {mask} {x}"
                        );
                    }
                }
            }
        }
    }
}
