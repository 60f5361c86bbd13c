//! Axes of a tensor as an expression: products, sums, sizes, primes, padding.
//!
//! ```text
//! dims    := { factor }                        one factor a dimension
//! factor  := axis [":" SIZE] | "…" | "..." | "(" [product {"+" product}] ")"
//! product := { factor }                        `()` is a dimension of 1
//! axis    := ["~"] NAME {"'"}                  `i'` has the size of `i`; `~v` is padding
//! ```
//!
//! A product binds tighter than a sum, and its first factor is the outermost digit. Multiplied out, the expression is a
//! sum of terms, each a list of axes: see [`Expression::terms`].

use std::{collections::BTreeMap, fmt, sync::Arc};

use tilewright_scan::Scanner;

use crate::error::{Error, expression, read};

/// The deepest brackets of an expression.
const DEEPEST: usize = 16;
/// The most axes and brackets of an expression.
const MOST_NODES: usize = 256;
/// The most terms of an expression, multiplied out.
pub(crate) const MOST_TERMS: usize = 1024;

/// Sizes by the names of axes, without primes; those of padding begin with `~`.
pub type Sizes = BTreeMap<String, u64>;

/// An axis: what two tensors share where both name it.
///
/// ```
/// use tilewright_recipe::{Axis, Expression};
/// let expression = Expression::parse("(i + i') (v + ~v)")?;
/// let axes: Vec<&Axis> = expression.axes().collect();
/// assert_eq!((axes[1].to_string(), axes[1].base()), ("i'".into(), "i"));
/// assert!(axes[3].is_padding() && axes[3].base() == "~v");
/// # Ok::<(), tilewright_recipe::Error>(())
/// ```
#[must_use]
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Axis(Arc<str>);

impl Axis {
    pub(crate) fn new(text: &str) -> Axis {
        Axis(text.into())
    }

    /// The name that sizes are given by: without primes.
    ///
    /// ```
    /// use tilewright_recipe::Expression;
    /// assert_eq!(Expression::parse("d''")?.axes().next().unwrap().base(), "d");
    /// # Ok::<(), tilewright_recipe::Error>(())
    /// ```
    pub fn base(&self) -> &str {
        self.0.trim_end_matches('\'')
    }

    /// Returns whether the axis is padding.
    ///
    /// ```
    /// use tilewright_recipe::Expression;
    /// assert!(Expression::parse("~v")?.axes().all(|axis| axis.is_padding()));
    /// # Ok::<(), tilewright_recipe::Error>(())
    /// ```
    pub fn is_padding(&self) -> bool {
        self.0.starts_with('~')
    }
}

impl fmt::Display for Axis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A part of an expression.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Node {
    Axis(Axis),
    /// The remaining dimensions.
    Rest,
    Product(Vec<Node>),
    Sum(Vec<Node>),
}

/// A way through the sums of a part.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Path {
    Leaf,
    All(Vec<Path>),
    One(usize, Box<Path>),
}

/// A part with a term of it: the way there, and the axes on it.
pub(crate) type Branch = (Path, Vec<Axis>);

impl Node {
    /// The number of its terms, at most `usize::MAX`.
    pub(crate) fn count(&self) -> usize {
        match self {
            Node::Axis(_) | Node::Rest => 1,
            Node::Product(parts) => parts.iter().map(Node::count).fold(1, usize::saturating_mul),
            Node::Sum(parts) => parts.iter().map(Node::count).fold(0, usize::saturating_add),
        }
    }

    /// Its terms; the caller has bounded their [count](Node::count).
    pub(crate) fn branches(&self) -> Vec<Branch> {
        match self {
            Node::Axis(axis) => vec![(Path::Leaf, vec![axis.clone()])],
            Node::Rest => vec![(Path::Leaf, vec![rest_axis()])],
            Node::Product(parts) => {
                let all = combinations(parts.iter());
                all.into_iter().map(|(paths, axes)| (Path::All(paths), axes)).collect()
            }
            Node::Sum(parts) => {
                let of = |(at, part): (usize, &Node)| {
                    let one = move |(path, axes)| (Path::One(at, Box::new(path)), axes);
                    part.branches().into_iter().map(one).collect::<Vec<_>>()
                };
                parts.iter().enumerate().flat_map(of).collect()
            }
        }
    }

    /// Its size, at most `u128::MAX`; none while `size` does not know one of its axes.
    pub(crate) fn size(&self, size: &impl Fn(&Axis) -> Option<u64>) -> Option<u128> {
        match self {
            Node::Axis(axis) => size(axis).map(u128::from),
            Node::Rest => None,
            Node::Product(parts) => {
                parts.iter().try_fold(1u128, |all, part| Some(all.saturating_mul(part.size(size)?)))
            }
            Node::Sum(parts) => {
                parts.iter().try_fold(0u128, |all, part| Some(all.saturating_add(part.size(size)?)))
            }
        }
    }

    /// Its axes from left to right; the remaining dimensions are none.
    pub(crate) fn axes(&self) -> Vec<&Axis> {
        match self {
            Node::Axis(axis) => vec![axis],
            Node::Rest => Vec::new(),
            Node::Product(parts) | Node::Sum(parts) => parts.iter().flat_map(Node::axes).collect(),
        }
    }
}

impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let joined = |f: &mut fmt::Formatter<'_>, parts: &[Node], by: &str| {
            for (at, part) in parts.iter().enumerate() {
                write!(f, "{}{part}", if at == 0 { "" } else { by })?;
            }
            Ok(())
        };
        match self {
            Node::Axis(axis) => axis.fmt(f),
            Node::Rest => f.write_str("…"),
            Node::Product(parts) => {
                f.write_str("(")?;
                joined(f, parts, " ")?;
                f.write_str(")")
            }
            Node::Sum(parts) => {
                f.write_str("(")?;
                for (at, part) in parts.iter().enumerate() {
                    f.write_str(if at == 0 { "" } else { " + " })?;
                    match part {
                        Node::Product(factors) if !factors.is_empty() => joined(f, factors, " ")?,
                        Node::Axis(_) | Node::Rest | Node::Product(_) | Node::Sum(_) => {
                            part.fmt(f)?
                        }
                    }
                }
                f.write_str(")")
            }
        }
    }
}

/// The axis that means the remaining dimensions in a term.
pub(crate) fn rest_axis() -> Axis {
    Axis::new("…")
}

/// A choice of a branch for each of the parts, with all axes on the way.
pub(crate) fn combinations<'a>(
    parts: impl Iterator<Item = &'a Node>,
) -> Vec<(Vec<Path>, Vec<Axis>)> {
    let mut all: Vec<(Vec<Path>, Vec<Axis>)> = vec![(Vec::new(), Vec::new())];
    for part in parts {
        let branches = part.branches();
        let longer = |(paths, axes): &(Vec<Path>, Vec<Axis>)| {
            let with = |(path, more): &Branch| {
                ([&paths[..], std::slice::from_ref(path)].concat(), [&axes[..], &more[..]].concat())
            };
            branches.iter().map(with).collect::<Vec<_>>()
        };
        all = all.iter().flat_map(longer).collect();
    }
    all
}

/// The dimensions of a tensor, as products and sums of axes.
///
/// ```
/// use tilewright_recipe::{Expression, Sizes};
/// let fused = Expression::parse("(g (r d + d' + d'')) h")?;
/// let sizes = Sizes::from([("g".into(), 2), ("r".into(), 4), ("d".into(), 8), ("h".into(), 64)]);
/// assert_eq!(fused.extents(&sizes), Some(vec![96, 64]));
/// // Sizes that are missing, or products beyond 64 bits.
/// assert_eq!(fused.extents(&Sizes::new()), None);
///
/// let error = Expression::parse("e (i + i' h").unwrap_err();
/// assert_eq!((error.kind(), error.span()), ("expression", Some((11, 11))));
/// assert!(error.message().starts_with("expected `)`, an axis or `+`, found the end"));
/// # Ok::<(), tilewright_recipe::Error>(())
/// ```
#[must_use]
#[derive(Clone, Debug, PartialEq)]
pub struct Expression {
    pub(crate) dims: Vec<Node>,
    /// The sizes that the text gives.
    pub(crate) sizes: Sizes,
}

impl Expression {
    /// Reads an expression.
    ///
    /// # Errors
    /// A text that the grammar does not allow, with the bytes at fault; two sizes for one axis; more than 16 nested brackets within
    /// one another, 256 axes, or 1024 terms.
    ///
    /// ```
    /// use tilewright_recipe::Expression;
    /// assert_eq!(Expression::parse("e (i  a:2) ... ()")?.to_string(), "e (i a) … ()");
    /// let message = |text| Expression::parse(text).unwrap_err().message().to_string();
    /// assert!(message("h & i").starts_with("expected an axis or `(`, found `&`"));
    /// assert!(message("a:2 a':3").contains("`a` has the size 2 already"));
    /// # Ok::<(), tilewright_recipe::Error>(())
    /// ```
    pub fn parse(text: &str) -> Result<Expression, Error> {
        Expression::within(text, (0, text.len())).map_err(read)
    }

    /// Reads the bytes `span` of a text; errors point into the whole.
    pub(crate) fn within(text: &str, span: (usize, usize)) -> Result<Expression, Error> {
        let mut reader = DimensionReader::new(text, span);
        let mut dims = Vec::new();
        while reader.scanner.peek().is_some() {
            dims.push(reader.factor(0)?);
        }
        let rests = dims.iter().filter(|dim| matches!(dim, Node::Rest)).count();
        let terms = dims.iter().map(Node::count).fold(1, usize::saturating_mul);
        if rests > 1 {
            return Err(expression(
                span,
                "`…` appears twice; the remaining dimensions are one list",
            ));
        }
        if terms > MOST_TERMS {
            let says = format!("more than {MOST_TERMS} terms when multiplied out");
            return Err(expression(span, says));
        }
        Ok(Expression { dims, sizes: reader.sizes })
    }

    /// Its axes from left to right; `…` is none.
    ///
    /// ```
    /// use tilewright_recipe::Expression;
    /// let expression = Expression::parse("(n (d + d')) …")?;
    /// assert_eq!(expression.axes().map(ToString::to_string).collect::<Vec<_>>(), ["n", "d", "d'"]);
    /// # Ok::<(), tilewright_recipe::Error>(())
    /// ```
    pub fn axes(&self) -> impl Iterator<Item = &Axis> {
        self.dims.iter().flat_map(Node::axes)
    }

    /// Multiplies the expression out: the axes of each term, in the order of the text.
    ///
    /// ```
    /// use tilewright_recipe::Expression;
    /// let terms = Expression::parse("(n (d + d')) h")?.terms();
    /// let texts = terms.iter().map(|term| term.iter().map(|axis| axis.to_string()).collect::<Vec<_>>().join(" "));
    /// assert_eq!(texts.collect::<Vec<_>>(), ["n d h", "n d' h"]);
    /// # Ok::<(), tilewright_recipe::Error>(())
    /// ```
    pub fn terms(&self) -> Vec<Vec<Axis>> {
        combinations(self.dims.iter()).into_iter().map(|(_, axes)| axes).collect()
    }

    /// The extents by sizes; none where one is missing, where `…` occurs, or where one does not fit 64 bits.
    ///
    /// ```
    /// use tilewright_recipe::{Expression, Sizes};
    /// let sizes = Sizes::from([("i".into(), 3)]);
    /// assert_eq!(Expression::parse("(i + i') ()")?.extents(&sizes), Some(vec![6, 1]));
    /// assert_eq!(Expression::parse("i …")?.extents(&sizes), None);
    /// # Ok::<(), tilewright_recipe::Error>(())
    /// ```
    pub fn extents(&self, sizes: &Sizes) -> Option<Vec<u64>> {
        let of =
            |axis: &Axis| sizes.get(axis.base()).or_else(|| self.sizes.get(axis.base())).copied();
        self.dims.iter().map(|dim| u64::try_from(dim.size(&of)?).ok()).collect()
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, dim) in self.dims.iter().enumerate() {
            write!(f, "{}{dim}", if at == 0 { "" } else { " " })?;
        }
        Ok(())
    }
}

/// A reader of dimensions and of the numbers in names.
pub(crate) struct DimensionReader<'a> {
    pub(crate) scanner: Scanner<'a, Error>,
    pub(crate) sizes: Sizes,
    nodes: usize,
}

impl<'a> DimensionReader<'a> {
    pub(crate) fn new(text: &'a str, span: (usize, usize)) -> DimensionReader<'a> {
        DimensionReader { scanner: Scanner::within(text, span), sizes: Sizes::new(), nodes: 0 }
    }

    /// A factor, inside of `depth` brackets.
    pub(crate) fn factor(&mut self, depth: usize) -> Result<Node, Error> {
        self.nodes += 1;
        let from = self.scanner.at();
        if self.nodes > MOST_NODES || depth > DEEPEST {
            let says = format!("more than {MOST_NODES} axes, or {DEEPEST} nested brackets");
            return Err(expression((from, from), says));
        }
        if self.scanner.eat("…") || self.scanner.eat("...") {
            return match depth {
                0 => Ok(Node::Rest),
                _ => Err(expression(
                    (from, self.scanner.at()),
                    "`…` is a list of dimensions and cannot be in brackets",
                )),
            };
        }
        if self.scanner.eat("(") { self.brackets(depth + 1) } else { self.axis() }
    }

    /// Reads the text after `(`.
    fn brackets(&mut self, depth: usize) -> Result<Node, Error> {
        let mut terms = vec![self.product(depth)?];
        while self.scanner.eat("+") {
            terms.push(self.product(depth)?);
        }
        if !self.scanner.eat(")") {
            return Err(self.expected("`)`, an axis or `+`"));
        }
        match terms.len() {
            1 => Ok(terms.remove(0)),
            _ => Ok(Node::Sum(terms)),
        }
    }

    /// Reads factors until something else follows; one alone is returned as it is.
    pub(crate) fn product(&mut self, depth: usize) -> Result<Node, Error> {
        let mut factors = Vec::new();
        while self.scanner.peek().is_some_and(begins_factor) {
            factors.push(self.factor(depth)?);
        }
        match factors.len() {
            1 => Ok(factors.remove(0)),
            _ => Ok(Node::Product(factors)),
        }
    }

    fn axis(&mut self) -> Result<Node, Error> {
        let padding = if self.scanner.eat("~") { "~" } else { "" };
        if !self.scanner.peek().is_some_and(|c| c.is_ascii_alphabetic() || c == '_') {
            return Err(self.expected("an axis or `(`"));
        }
        let (word, span) = self.scanner.word("an axis")?;
        let axis = Axis::new(&format!("{padding}{word}{}", self.scanner.take(|c| c == '\'')));
        if self.scanner.rest().starts_with(':') && !self.scanner.rest().starts_with(":0") {
            self.scanner.expect(":")?;
            let size = self.scanner.natural()?;
            let known = *self.sizes.entry(axis.base().into()).or_insert(size);
            if known != size {
                let says = format!("`{}` has the size {known} already, not {size}", axis.base());
                return Err(expression((span.0, self.scanner.at()), says));
            }
        }
        Ok(Node::Axis(axis))
    }

    /// The error of unexpected text here, with a suggestion of what was meant.
    fn expected(&mut self, what: &str) -> Error {
        let meant = match self.scanner.peek() {
            Some('0'..='9') => "a dimension of 1 is `()`, an axis with a size `a:2`",
            Some(':') => "the size of an axis is at least 1 and comes after it, as in `a:2`",
            Some('-' | '*' | '/' | '^') => "recipes move elements and never compute",
            Some(_) | None => return self.scanner.expected(what),
        };
        let fault: Error = self.scanner.expected(what);
        fault.and(meant)
    }
}

fn begins_factor(c: char) -> bool {
    c.is_ascii_alphabetic() || matches!(c, '_' | '(' | '~' | '…' | '.')
}
