//! Expressions over integers. Constructors return the reduced form: numbers are computed, powers of two become shifts
//! and masks, and operations that [`OffsetFacts`] make unnecessary are omitted.
//!
//! Law: a reduced expression has the value of the operation for all values that the facts allow
//! (`reduced_expressions_have_the_same_value`).
//!
//! Quotients, remainders, masks and shifts are taken of natural numbers only.

use std::rc::Rc;

use crate::facts::OffsetFacts;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Op {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    Shl,
    Shr,
    And,
    Xor,
}

/// A name, and the known facts of its value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Var {
    pub(crate) name: Rc<str>,
    pub(crate) facts: OffsetFacts,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Expr {
    Int(i64),
    Var(Var),
    Op(Op, Rc<(Expr, Expr)>),
    /// An expression with facts that are known after a test.
    Known(Rc<(Expr, OffsetFacts)>),
}

impl Expr {
    pub(crate) fn var(name: &str, facts: OffsetFacts) -> Expr {
        Expr::Var(Var { name: name.into(), facts })
    }

    fn op(op: Op, a: Expr, b: Expr) -> Expr {
        Expr::Op(op, Rc::new((a, b)))
    }

    /// Returns the operands, if this is that operation.
    fn parts(&self, op: Op) -> Option<&(Expr, Expr)> {
        match self {
            Expr::Op(own, parts) if *own == op => Some(parts),
            _ => None,
        }
    }

    /// Returns the first operand and the number, if this is that operation with a number as its second operand.
    fn by_number(&self, op: Op) -> Option<(&Expr, i64)> {
        match self.parts(op)? {
            (a, Expr::Int(n)) => Some((a, *n)),
            _ => None,
        }
    }

    /// Returns the expression with these known facts.
    pub(crate) fn known(self, facts: OffsetFacts) -> Expr {
        Expr::Known(Rc::new((self, facts)))
    }

    /// Returns the expression without the facts added by [`Expr::known`].
    pub(crate) fn plain(&self) -> &Expr {
        match self {
            Expr::Known(known) => known.0.plain(),
            other => other,
        }
    }

    pub(crate) fn facts(&self) -> OffsetFacts {
        let (op, a, b) = match self {
            Expr::Int(number) => return OffsetFacts::of(*number),
            Expr::Var(var) => return var.facts,
            Expr::Known(known) => return known.1,
            Expr::Op(op, parts) => (op, &parts.0, &parts.1),
        };
        let power = || match b {
            Expr::Int(bits) => OffsetFacts::of(1 << (*bits).clamp(0, 62)),
            _ => OffsetFacts { low: Some(1), high: None, multiple: 1 },
        };
        match (op, b) {
            (Op::Add, _) => a.facts().add(b.facts()),
            (Op::Sub, _) => a.facts().sub(b.facts()),
            (Op::Mul, _) => a.facts().mul(b.facts()),
            (Op::Div, _) => a.facts().div(b.facts()),
            (Op::Rem, _) => a.facts().rem(b.facts()),
            (Op::Shl, _) => a.facts().mul(power()),
            (Op::Shr, _) => a.facts().div(power()),
            (Op::And, Expr::Int(mask)) => a.facts().and(*mask),
            (Op::And, _) => OffsetFacts::up_to(a.facts().high),
            (Op::Xor, _) => a.facts().xor(b.facts()),
        }
    }

    pub(crate) fn add(self, other: Expr) -> Expr {
        match (self, other) {
            (Expr::Int(a), Expr::Int(b)) => Expr::Int(a.wrapping_add(b)),
            (Expr::Int(0), x) | (x, Expr::Int(0)) => x,
            (Expr::Int(a), x) => x.add(Expr::Int(a)),
            (x, Expr::Int(b)) if b < 0 && b > i64::MIN => x.sub(Expr::Int(-b)),
            (a, b) => Expr::op(Op::Add, a, b),
        }
    }

    pub(crate) fn sub(self, other: Expr) -> Expr {
        match (self, other) {
            (Expr::Int(a), Expr::Int(b)) => Expr::Int(a.wrapping_sub(b)),
            (x, Expr::Int(0)) => x,
            (x, Expr::Int(b)) if b < 0 && b > i64::MIN => x.add(Expr::Int(-b)),
            (a, b) if a == b => Expr::Int(0),
            (a, b) => Expr::op(Op::Sub, a, b),
        }
    }

    pub(crate) fn mul(self, other: Expr) -> Expr {
        match (self, other) {
            (Expr::Int(a), Expr::Int(b)) => Expr::Int(a.wrapping_mul(b)),
            (Expr::Int(n), x) => x.mul(Expr::Int(n)),
            (_, Expr::Int(0)) => Expr::Int(0),
            (x, Expr::Int(1)) => x,
            (x, Expr::Int(n)) => x.times(n),
            (a, b) => Expr::op(Op::Mul, a, b),
        }
    }

    /// Multiplies by a number that is neither 0 nor 1.
    fn times(self, n: i64) -> Expr {
        if let Some((x, m)) = self.by_number(Op::Mul)
            && let Some(product) = m.checked_mul(n)
        {
            return x.clone().mul(Expr::Int(product));
        }
        if n < 2 || !(n as u64).is_power_of_two() {
            return Expr::op(Op::Mul, self, Expr::Int(n));
        }
        let bits = i64::from(n.trailing_zeros());
        if let Some((x, up)) = self.by_number(Op::Shl)
            && up + bits < 63
        {
            return Expr::op(Op::Shl, x.clone(), Expr::Int(up + bits));
        }
        match self.by_number(Op::Shr) {
            // A shift down and up by the same distance clears the low bits.
            Some((x, down)) if down == bits => x.clone().and(-(1 << bits)),
            _ => Expr::op(Op::Shl, self, Expr::Int(bits)),
        }
    }

    /// Returns the quotient, rounded down.
    pub(crate) fn div(self, other: Expr) -> Expr {
        match (self, other) {
            (Expr::Int(a), Expr::Int(b)) if b > 0 => Expr::Int(a / b),
            (x, Expr::Int(1)) => x,
            (x, Expr::Int(n)) if x.facts().is_below(n) => Expr::Int(0),
            (x, Expr::Int(n)) => x.over(n),
            (a, b) if a == b => Expr::Int(1),
            (a, b) => Expr::op(Op::Div, a, b),
        }
    }

    /// Divides by a number above 1.
    fn over(self, n: i64) -> Expr {
        if let Some((x, m)) = self.by_number(Op::Mul)
            && m % n == 0
        {
            return x.clone().mul(Expr::Int(m / n));
        }
        if let Some((x, m)) = self.by_number(Op::Div)
            && let Some(product) = m.checked_mul(n)
        {
            return x.clone().div(Expr::Int(product));
        }
        if !(n as u64).is_power_of_two() {
            return Expr::op(Op::Div, self, Expr::Int(n));
        }
        let bits = i64::from(n.trailing_zeros());
        if let Some((x, up)) = self.by_number(Op::Shl)
            && up >= bits
        {
            return x.clone().mul(Expr::Int(1 << (up - bits)));
        }
        if let Some((x, down)) = self.by_number(Op::Shr)
            && down + bits < 63
        {
            return Expr::op(Op::Shr, x.clone(), Expr::Int(down + bits));
        }
        Expr::op(Op::Shr, self, Expr::Int(bits))
    }

    /// Returns the remainder.
    pub(crate) fn rem(self, other: Expr) -> Expr {
        match (self, other) {
            (Expr::Int(a), Expr::Int(b)) if b > 0 => Expr::Int(a % b),
            (_, Expr::Int(1)) => Expr::Int(0),
            (x, Expr::Int(n)) if x.facts().divides(n) => Expr::Int(0),
            (x, Expr::Int(n)) if x.facts().is_below(n) => x,
            (x, Expr::Int(n)) => x.modulo(n),
            (a, b) if a == b => Expr::Int(0),
            (a, b) => Expr::op(Op::Rem, a, b),
        }
    }

    /// Returns the remainder by a number above 1.
    fn modulo(self, n: i64) -> Expr {
        if let Some((x, m)) = self.by_number(Op::Rem)
            && m % n == 0
        {
            return x.clone().rem(Expr::Int(n));
        }
        match (n as u64).is_power_of_two() {
            true => self.and(n - 1),
            false => Expr::op(Op::Rem, self, Expr::Int(n)),
        }
    }

    /// Returns the bits that a mask keeps; a negative mask keeps all high bits.
    pub(crate) fn and(self, mask: i64) -> Expr {
        if let Expr::Int(a) = self {
            return Expr::Int(a & mask);
        }
        if let Some((x, own)) = self.by_number(Op::And) {
            return x.clone().and(own & mask);
        }
        let facts = self.facts();
        let none = mask == 0
            || mask > 0
                && mask < i64::MAX
                && facts.divides((mask as u64 + 1).next_power_of_two() as i64);
        let low = mask & mask.wrapping_add(1) == 0;
        let all = mask < 0
            && mask > i64::MIN
            && mask.trailing_zeros() + mask.leading_ones() == 64
            && facts.divides(-mask)
            || mask > 0 && low && mask < i64::MAX && facts.is_below(mask + 1);
        match (none, all) {
            (true, _) => Expr::Int(0),
            (_, true) => self,
            _ => Expr::op(Op::And, self, Expr::Int(mask)),
        }
    }

    /// Returns the bits shifted up by a number, or down by a negative one.
    pub(crate) fn shifted(self, by: i32) -> Expr {
        let power = Expr::Int(1 << by.unsigned_abs().min(62));
        if by < 0 { self.div(power) } else { self.mul(power) }
    }

    pub(crate) fn xor(self, other: Expr) -> Expr {
        match (self, other) {
            (Expr::Int(a), Expr::Int(b)) => Expr::Int(a ^ b),
            (Expr::Int(0), x) | (x, Expr::Int(0)) => x,
            (a, b) => Expr::op(Op::Xor, a, b),
        }
    }

    /// Returns the value for these values of the names; `None` if a name has no value, or beyond 64 bits.
    #[cfg(test)]
    pub(crate) fn value(&self, of: &dyn Fn(&str) -> Option<i64>) -> Option<i64> {
        let (op, parts) = match self {
            Expr::Int(number) => return Some(*number),
            Expr::Var(var) => return of(&var.name),
            Expr::Known(known) => return known.0.value(of),
            Expr::Op(op, parts) => (op, parts),
        };
        let (a, b) = (parts.0.value(of)?, parts.1.value(of)?);
        match op {
            Op::Add => a.checked_add(b),
            Op::Sub => a.checked_sub(b),
            Op::Mul => a.checked_mul(b),
            Op::Div => a.checked_div(b),
            Op::Rem => a.checked_rem(b),
            Op::Shl => a.checked_shl(u32::try_from(b).ok()?),
            Op::Shr => a.checked_shr(u32::try_from(b).ok()?),
            Op::And => Some(a & b),
            Op::Xor => Some(a ^ b),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(op: Op, a: i64, b: i64) -> i64 {
        match op {
            Op::Add => a + b,
            Op::Sub => a - b,
            Op::Mul => a * b,
            Op::Div => a / b,
            Op::Rem => a % b,
            _ => a & b,
        }
    }

    /// Two operations with every pair of numbers, for values with every range and divisor.
    #[test]
    fn reduced_expressions_have_the_same_value() {
        let ops = [Op::Add, Op::Mul, Op::Div, Op::Rem, Op::And];
        let make = |op: Op, x: Expr, n: i64| match op {
            Op::Add => x.add(Expr::Int(n)),
            Op::Mul => x.mul(Expr::Int(n)),
            Op::Div => x.div(Expr::Int(n)),
            Op::Rem => x.rem(Expr::Int(n)),
            _ => x.and(n),
        };
        let numbers: Vec<i64> = (1..18).chain([24, 31, 32, 64]).collect();
        for (high, multiple) in [(40, 1), (7, 1), (96, 8), (90, 6), (15, 1), (64, 16)] {
            let facts = OffsetFacts::up_to(Some(high)).with_multiple(multiple);
            let values: Vec<i64> = (0..=high as i64).filter(|x| x % multiple as i64 == 0).collect();
            for (first, n) in ops.iter().flat_map(|op| numbers.iter().map(move |n| (*op, *n))) {
                for (second, m) in ops.iter().flat_map(|op| numbers.iter().map(move |n| (*op, *n)))
                {
                    let made = make(second, make(first, Expr::var("x", facts), n), m);
                    for x in &values {
                        let expected = plain(second, plain(first, *x, n), m);
                        let found = made.value(&|_| Some(*x));
                        assert_eq!(
                            found,
                            Some(expected),
                            "{first:?} {n} {second:?} {m} of {x}: {made:?}"
                        );
                        let facts = made.facts();
                        assert!(facts.low.is_none_or(|low| low <= expected.into()));
                        assert!(facts.high.is_none_or(|high| high >= expected.into()));
                    }
                }
            }
        }
    }

    #[test]
    fn powers_of_two_are_shifts_and_masks() {
        let x = || Expr::var("x", OffsetFacts::up_to(None));
        let by = |op, n| Expr::op(op, x(), Expr::Int(n));
        assert_eq!(x().mul(Expr::Int(8)), by(Op::Shl, 3));
        assert_eq!(x().div(Expr::Int(4)).div(Expr::Int(4)), by(Op::Shr, 4));
        assert_eq!(x().rem(Expr::Int(64)).rem(Expr::Int(16)), by(Op::And, 15));
        assert_eq!(x().div(Expr::Int(16)).mul(Expr::Int(16)), by(Op::And, -16));
        assert_eq!(x().mul(Expr::Int(6)).div(Expr::Int(3)), by(Op::Shl, 1));
        let even = Expr::var("x", OffsetFacts::up_to(None).with_multiple(16));
        assert_eq!(even.clone().rem(Expr::Int(8)), Expr::Int(0));
        assert_eq!(even.clone().div(Expr::Int(16)).mul(Expr::Int(16)), even);
    }
}
