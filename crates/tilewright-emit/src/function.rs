//! Functions of integers: arguments, results, the tests before them, and names for common subexpressions.

use std::collections::HashMap;

use crate::expr::{Expr, OffsetFacts, Op};

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
