//! Expressions over integers, the known facts of their values (a range, and a number that divides them), and functions of
//! integers made of them. Constructors return the reduced form: numbers are computed, powers of two become shifts and
//! masks, and operations that [`OffsetFacts`] make unnecessary are omitted.
//!
//! Law: a reduced expression has the value of the operation for all values that the facts allow
//! (`reduced_expressions_have_the_same_value`).
//!
//! Quotients, remainders, masks and shifts are taken of natural numbers only.

use std::{collections::HashMap, rc::Rc};

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

// Functions of integers: arguments, results, the tests before them, and names for common subexpressions.

/// A condition that must hold if there is a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Test {
    Below(Expr, Expr),
    AtLeast(Expr, Expr),
    Zero(Expr),
}

impl Test {
    /// Returns whether the facts exclude that it fails.
    pub(crate) fn always(&self) -> bool {
        match self {
            Test::Below(a, Expr::Int(n)) => a.facts().is_below(*n),
            Test::Below(..) => false,
            Test::AtLeast(a, b) => {
                a.facts().low.zip(b.facts().high).is_some_and(|(low, high)| low >= high)
            }
            Test::Zero(a) => *a.plain() == Expr::Int(0),
        }
    }

    pub(crate) fn operands(&self) -> Vec<&Expr> {
        match self {
            Test::Below(a, b) | Test::AtLeast(a, b) => vec![a, b],
            Test::Zero(a) => vec![a],
        }
    }
}

/// An offset function or an inverse, ready to be printed.
///
/// ```
/// use tilewright_core::TensorLayout;
/// use tilewright_emit::{Digits, Language, Style};
/// let rows = Digits::of(&TensorLayout::row_major(&[3, 5]).unwrap())?;
/// assert_eq!(rows.offset()?.operations(), 2);
/// let style = Style { name: Some("at".into()), ..Style::default() };
/// assert!(rows.coord()?.print(Language::C, &style)?.contains("int at(uint64_t o, uint64_t c[2])"));
/// # Ok::<(), tilewright_emit::Error>(())
/// ```
#[must_use]
#[derive(Clone, Debug)]
pub struct Function {
    pub(crate) name: &'static str,
    pub(crate) arguments: Vec<String>,
    pub(crate) results: Vec<Expr>,
    pub(crate) tests: Vec<Test>,
    /// True if it returns a coordinate, or that there is none.
    pub(crate) inverse: bool,
}

impl Function {
    pub(crate) fn new(
        name: &'static str,
        arguments: Vec<String>,
        results: Vec<Expr>,
        tests: Vec<Test>,
    ) -> Function {
        Function { name, arguments, results, tests, inverse: name == "coord" }
    }

    /// Returns the names of its arguments in order.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// let rows = tilewright_emit::Digits::of(&TensorLayout::row_major(&[3, 5]).unwrap())?;
    /// assert_eq!(rows.offset()?.arguments(), ["i0", "i1"]);
    /// # Ok::<(), tilewright_emit::Error>(())
    /// ```
    pub fn arguments(&self) -> &[String] {
        &self.arguments
    }

    /// Returns the number of operations of one call, tests included.
    ///
    /// ```
    /// use tilewright_core::{Layout, TensorLayout};
    /// use tilewright_emit::Digits;
    /// // Three tiles in a row are one digit: two products and a sum.
    /// let layout = TensorLayout::of(&Layout::parse("((2,3),5):((6,12),1)").unwrap());
    /// assert_eq!(Digits::of(&layout)?.offset()?.operations(), 2);
    /// # Ok::<(), tilewright_emit::Error>(())
    /// ```
    pub fn operations(&self) -> usize {
        let mut uses = Uses::default();
        self.roots().for_each(|root| uses.add(root));
        uses.order.len() + self.tests.len()
    }

    fn roots(&self) -> impl Iterator<Item = &Expr> {
        self.tests.iter().flat_map(Test::operands).chain(&self.results)
    }

    /// Returns whether no operation has a negative value for coordinates and offsets of the layout.
    pub(crate) fn is_natural(&self) -> bool {
        self.values().all(|facts| facts.is_natural())
    }

    /// Iterates over the facts of every argument, number and operation that it uses.
    fn values(&self) -> impl Iterator<Item = OffsetFacts> {
        let facts = |expr: &Expr| expr.plain().facts();
        let parts = move |expr: Expr| match operands(&expr) {
            Some((_, a, b)) => vec![facts(a), facts(b), facts(&expr)],
            None => vec![facts(&expr)],
        };
        self.all().into_iter().flat_map(parts).chain(self.roots().map(facts))
    }

    /// Returns a value beyond integers of 32 bits, if one is known.
    pub(crate) fn beyond_32_bits(&self) -> Option<i128> {
        let most = if self.is_natural() { i128::from(u32::MAX) } else { i128::from(i32::MAX) };
        let highest = self.values().filter_map(|facts| facts.high).max();
        highest.filter(|high| *high > most)
    }

    /// Returns the expressions that are used several times, each before its uses.
    pub(crate) fn shared(&self) -> Vec<Expr> {
        let mut uses = Uses::default();
        self.roots().for_each(|root| uses.add(root));
        let several = |expr: &Expr| uses.count.get(expr).is_some_and(|count| *count > 1);
        uses.order.iter().filter(|expr| several(expr)).cloned().collect()
    }

    /// Returns all operations, each before its uses.
    pub(crate) fn all(&self) -> Vec<Expr> {
        let mut uses = Uses::default();
        self.roots().for_each(|root| uses.add(root));
        uses.order
    }

    /// Returns whether an argument is used.
    pub(crate) fn uses(&self, argument: &str) -> bool {
        let is_it = |expr: &Expr| matches!(expr.plain(), Expr::Var(var) if *var.name == *argument);
        let within =
            |expr: &Expr| matches!(expr, Expr::Op(_, parts) if is_it(&parts.0) || is_it(&parts.1));
        self.all().iter().any(within) || self.roots().any(is_it)
    }
}

/// Operations, each with the number of times that it is an operand or a result.
#[derive(Default)]
struct Uses {
    count: HashMap<Expr, usize>,
    /// The operations, operands first.
    order: Vec<Expr>,
}

impl Uses {
    fn add(&mut self, expr: &Expr) {
        let expr = expr.plain();
        let Expr::Op(_, parts) = expr else { return };
        let count = self.count.entry(expr.clone()).or_default();
        *count += 1;
        if *count == 1 {
            self.add(&parts.0);
            self.add(&parts.1);
            self.order.push(expr.clone());
        }
    }
}

/// Returns the operands of an operation.
pub(crate) fn operands(expr: &Expr) -> Option<(Op, &Expr, &Expr)> {
    match expr.plain() {
        Expr::Op(op, parts) => Some((*op, &parts.0, &parts.1)),
        _ => None,
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
