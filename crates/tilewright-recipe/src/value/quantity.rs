//! A size in a recipe: a number, or an expression of the configuration, of the shapes and of other sizes.
//!
//! ```text
//! choice  := sum {"or" sum}                    the first one whose parts are all there
//! sum     := product {("+" | "-") product}
//! product := atom {("*" | "//" | "%") atom}    `//` is exact: a remainder is an error
//! atom    := INTEGER | "config" {"." KEY} | WORD | "(" choice ")" | TEXT | "true" | "false"
//!          | ("floor" | "ceil") "(" sum "," sum ")"    a quotient, rounded on purpose
//!          | "dim" "(" GLOB "," INTEGER ")"            a dim of the source's tensors of these names
//!          | "count" "(" GLOB ")"                      how many of the source's tensors have these names
//! ```
//!
//! A KEY of digits is a place in a list. A WORD is another size; a choice waits for a size that may still become known, so that
//! the order of computing sizes decides nothing. TEXT and GLOB are in quotes. Texts and truth values serve
//! [conditions](crate::value::condition) and are not sizes.
//!
//! Operators of sizes. Law: a result is exact, or there is none.

use std::{collections::BTreeSet, fmt};

use serde_json::Value as Json;
use tilewright_scan::Scanner;

use crate::{
    config::{self, short},
    error::{Error, InFile, TextPlace},
    kind,
    rule::expression::Sizes,
    tensor::{Dims, Glob, Lack},
};

/// The deepest brackets, and the longest text in bytes.
const DEEPEST: usize = 16;
const LONGEST: usize = 1024;

/// A size, with the text it was read from.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Quantity {
    Number(u64),
    Text { text: String, place: TextPlace, value: QuantityValue },
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum QuantityValue {
    Number(u64),
    /// A text or a truth value.
    Literal(Json),
    /// A path into the configuration.
    Config(String),
    Size(String),
    Dim(Glob),
    First(Vec<QuantityValue>),
    Pair(Box<QuantityValue>, Operator, Box<QuantityValue>),
}

/// The values that expressions are computed from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scope<'a> {
    pub(crate) config: Option<&'a Json>,
    pub(crate) dims: &'a Dims,
    pub(crate) sizes: &'a Sizes,
    /// Sizes that are not known yet and may become known: an `or` waits for them.
    pub(crate) later: &'a BTreeSet<String>,
}

impl Scope<'_> {
    fn size(&self, name: &str) -> Result<u64, Lack> {
        let says = || format!("the size `{name}` is not known");
        match self.sizes.get(name) {
            Some(size) => Ok(*size),
            None if self.later.contains(name) => Err(Lack::Later(says())),
            None => Err(Lack::Absent(says())),
        }
    }
}

impl Quantity {
    /// Reads the expression at `place`; errors point into the file.
    pub(crate) fn parse(text: &str, place: &TextPlace) -> Result<Quantity, Error> {
        Quantity::read(text, place).map_err(|error| error.within(text, place))
    }

    fn read(text: &str, place: &TextPlace) -> Result<Quantity, Error> {
        if text.len() > LONGEST {
            return Err(Error::new(kind::LIMIT, format!("a size has more than {LONGEST} bytes")));
        }
        let mut scanner: Scanner<'_, Error> = Scanner::new(text);
        let value = choice(&mut scanner, 0).map_err(|error| error.of_kind(kind::SIZE))?;
        if scanner.peek().is_some() {
            return Err(scanner
                .expected("`+`, `-`, `*`, `//`, `%`, `or` or the end")
                .of_kind(kind::SIZE));
        }
        Ok(Quantity::Text { text: text.to_owned(), place: place.clone(), value })
    }

    /// Its value.
    pub(crate) fn value(&self, scope: Scope<'_>) -> Result<u64, Lack> {
        match self {
            Quantity::Number(number) => Ok(*number),
            Quantity::Text { value, .. } => value.of(scope),
        }
    }

    /// Returns the choice that its value is taken from.
    pub(crate) fn taken(&self, scope: Scope<'_>) -> String {
        match self {
            Quantity::Number(number) => number.to_string(),
            Quantity::Text { value, .. } => value.taken(scope).to_string(),
        }
    }

    /// Returns the place of an expression in the file.
    pub(crate) fn place(&self) -> Option<&TextPlace> {
        match self {
            Quantity::Number(_) => None,
            Quantity::Text { place, .. } => Some(place),
        }
    }

    /// The expression; none of a number.
    pub(crate) fn expression(&self) -> Option<&QuantityValue> {
        match self {
            Quantity::Number(_) => None,
            Quantity::Text { value, .. } => Some(value),
        }
    }

    /// Returns true if the expression consists of other sizes.
    pub(crate) fn is_of_sizes(&self) -> bool {
        let parts = self.expression().map(QuantityValue::parts).unwrap_or_default();
        !parts.is_empty() && parts.iter().all(|part| matches!(part, QuantityValue::Size(_)))
    }

    /// The key of the configuration that comes before all else.
    pub(crate) fn key(&self) -> Option<String> {
        match self.expression()? {
            QuantityValue::Config(path) => Some(path.clone()),
            QuantityValue::First(choices) => match choices.first()? {
                QuantityValue::Config(path) => Some(path.clone()),
                _ => None,
            },
            _ => None,
        }
    }

    /// As it was written.
    pub(crate) fn text(&self) -> String {
        match self {
            Quantity::Number(number) => number.to_string(),
            Quantity::Text { text, .. } => text.clone(),
        }
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text())
    }
}

impl QuantityValue {
    pub(crate) fn of(&self, scope: Scope<'_>) -> Result<u64, Lack> {
        match self {
            QuantityValue::Number(number) => Ok(*number),
            QuantityValue::Literal(literal) => Err(Lack::Wrong(format!("{literal} is not a size"))),
            QuantityValue::Size(name) => scope.size(name),
            QuantityValue::Config(path) => number(configured(scope.config, path)?, path),
            QuantityValue::Dim(glob) => match scope.dims.get(glob) {
                Some(found) => found.clone(),
                None => Err(Lack::Absent(format!("{glob} is not known"))),
            },
            QuantityValue::First(choices) => first(choices, |choice| choice.of(scope)),
            QuantityValue::Pair(left, operator, right) => {
                let pair = both(left.of(scope), right.of(scope))?;
                operator.apply(pair).ok_or_else(|| Lack::Wrong(self.refused(pair, scope)))
            }
        }
    }

    /// Its value where it may be a text, a truth value or a list.
    pub(crate) fn json(&self, scope: Scope<'_>) -> Result<Json, Lack> {
        match self {
            QuantityValue::Literal(literal) => Ok(literal.clone()),
            QuantityValue::Config(path) => configured(scope.config, path).cloned(),
            QuantityValue::First(choices) => first(choices, |choice| choice.json(scope)),
            QuantityValue::Number(_)
            | QuantityValue::Size(_)
            | QuantityValue::Dim(_)
            | QuantityValue::Pair(..) => self.of(scope).map(Json::from),
        }
    }

    /// Returns true if a part of it is a key of the configuration.
    pub(crate) fn is_of_config(&self) -> bool {
        self.parts().iter().any(|part| matches!(part, QuantityValue::Config(_)))
    }

    /// Returns the expression with numbers in place of all parts but those of the configuration; `None` if a part has no value.
    /// A choice keeps the alternatives that have one.
    pub(crate) fn settled(&self, scope: Scope<'_>) -> Option<QuantityValue> {
        if matches!(self, QuantityValue::Config(_) | QuantityValue::Literal(_)) {
            return Some(self.clone());
        }
        if !self.is_of_config() {
            return self.of(scope).ok().map(QuantityValue::Number);
        }
        match self {
            QuantityValue::First(choices) => {
                let all: Vec<QuantityValue> =
                    choices.iter().filter_map(|choice| choice.settled(scope)).collect();
                (!all.is_empty()).then_some(QuantityValue::First(all))
            }
            QuantityValue::Pair(left, operator, right) => {
                let [left, right] = [left, right].map(|part| part.settled(scope).map(Box::new));
                Some(QuantityValue::Pair(left?, *operator, right?))
            }
            QuantityValue::Number(_)
            | QuantityValue::Literal(_)
            | QuantityValue::Config(_)
            | QuantityValue::Size(_)
            | QuantityValue::Dim(_) => Some(self.clone()),
        }
    }

    /// Returns the reason why the operator of a pair gives no size, with the two numbers and where they are from.
    fn refused(&self, (left, right): (u64, u64), scope: Scope<'_>) -> String {
        let QuantityValue::Pair(_, operator, _) = self else { return String::new() };
        let from = self.said(scope);
        let from = if from.is_empty() { from } else { format!(" ({from})") };
        let text = operator.text();
        match (operator, left.checked_rem(right)) {
            (Operator::Divide, Some(rest)) => format!(
                "{left} // {right} leaves a remainder of {rest}{from}; where rounding is meant, write `floor(a, b)` or `ceil(a, b)`"
            ),
            _ => format!("{left} {text} {right} is not a size{from}"),
        }
    }

    /// The values of its parts: `a = 2, config.b = 4`.
    pub(crate) fn said(&self, scope: Scope<'_>) -> String {
        let mut parts: Vec<String> = Vec::new();
        for part in self.parts() {
            let value = part.json(scope);
            let said = value.map_or_else(|_| "absent".into(), |value| short(&value));
            let said = format!("{part} = {said}");
            if !parts.contains(&said) {
                parts.push(said);
            }
        }
        parts.join(", ")
    }

    /// Its parts that are not written out: sizes, dims, and keys of the configuration.
    pub(crate) fn parts(&self) -> Vec<&QuantityValue> {
        match self {
            QuantityValue::Number(_) | QuantityValue::Literal(_) => Vec::new(),
            QuantityValue::Config(_) | QuantityValue::Size(_) | QuantityValue::Dim(_) => vec![self],
            QuantityValue::First(choices) => {
                choices.iter().flat_map(QuantityValue::parts).collect()
            }
            QuantityValue::Pair(left, _, right) => [left.parts(), right.parts()].concat(),
        }
    }

    /// The choice that its value is from.
    fn taken(&self, scope: Scope<'_>) -> &QuantityValue {
        match self {
            QuantityValue::First(choices) => {
                let taken =
                    choices.iter().find(|one| !matches!(one.json(scope), Err(Lack::Absent(_))));
                taken.map_or(self, |taken| taken.taken(scope))
            }
            _ => self,
        }
    }
}

/// Two operands; what is absent makes the other one needless.
fn both(left: Result<u64, Lack>, right: Result<u64, Lack>) -> Result<(u64, u64), Lack> {
    match (left, right) {
        (Err(Lack::Later(_)), Err(lack @ Lack::Absent(_))) => Err(lack),
        (left, right) => Ok((left?, right?)),
    }
}

/// The value of the first choice whose parts are all there.
fn first<T>(
    choices: &[QuantityValue],
    of: impl Fn(&QuantityValue) -> Result<T, Lack>,
) -> Result<T, Lack> {
    let mut lack = Lack::Absent("it lacks choices".into());
    for choice in choices {
        match of(choice) {
            Err(Lack::Absent(what)) => lack = Lack::Absent(what),
            decided => return decided,
        }
    }
    Err(lack)
}

/// As a recipe writes it.
impl fmt::Display for QuantityValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            QuantityValue::Number(number) => write!(f, "{number}"),
            QuantityValue::Literal(Json::String(text)) => write!(f, "'{text}'"),
            QuantityValue::Literal(literal) => write!(f, "{literal}"),
            QuantityValue::Config(path) => write!(f, "config.{path}"),
            QuantityValue::Size(name) => f.write_str(name),
            QuantityValue::Dim(glob) => write!(f, "{glob}"),
            QuantityValue::First(choices) => {
                let choices: Vec<String> = choices.iter().map(ToString::to_string).collect();
                write!(f, "({})", choices.join(" or "))
            }
            QuantityValue::Pair(left, operator @ (Operator::Floor | Operator::Ceil), right) => {
                write!(f, "{}({left}, {right})", operator.text())
            }
            QuantityValue::Pair(left, operator, right) => {
                inner(left, f)?;
                write!(f, " {} ", operator.text())?;
                inner(right, f)
            }
        }
    }
}

/// An operand, in brackets where it has operators of its own.
fn inner(value: &QuantityValue, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match value {
        QuantityValue::Pair(_, Operator::Floor | Operator::Ceil, _) => write!(f, "{value}"),
        QuantityValue::Pair(..) => write!(f, "({value})"),
        _ => write!(f, "{value}"),
    }
}

/// Returns the value of the configuration at a path.
fn configured<'a>(config: Option<&'a Json>, path: &str) -> Result<&'a Json, Lack> {
    let config = config.ok_or_else(|| Lack::Absent("there is no configuration".into()))?;
    let none = || Lack::Absent(format!("the configuration lacks `{path}`"));
    config::value(config, path).ok_or_else(none)
}

fn number(value: &Json, path: &str) -> Result<u64, Lack> {
    let wrong = || Lack::Wrong(format!("config.{path} is {}, which is not a size", short(value)));
    value.as_u64().ok_or_else(wrong)
}

pub(crate) type QuantityReading<'a> = Scanner<'a, Error>;

fn choice(scanner: &mut QuantityReading<'_>, depth: usize) -> Result<QuantityValue, Error> {
    let mut choices = vec![sum(scanner, depth)?];
    while scanner.eat_word("or") {
        choices.push(sum(scanner, depth)?);
    }
    Ok(if choices.len() == 1 { choices.remove(0) } else { QuantityValue::First(choices) })
}

pub(crate) fn sum(scanner: &mut QuantityReading<'_>, depth: usize) -> Result<QuantityValue, Error> {
    let operators = [("+", Operator::Add), ("-", Operator::Subtract)];
    chain(scanner, &operators, |scanner| {
        let operators =
            [("*", Operator::Multiply), ("//", Operator::Divide), ("%", Operator::Remainder)];
        chain(scanner, &operators, |scanner| atom(scanner, depth))
    })
}

/// Operands of some operators, from left to right.
fn chain<'a>(
    scanner: &mut QuantityReading<'a>,
    operators: &[(&str, Operator)],
    mut operand: impl FnMut(&mut QuantityReading<'a>) -> Result<QuantityValue, Error>,
) -> Result<QuantityValue, Error> {
    let mut value = operand(scanner)?;
    while let Some((_, operator)) = operators.iter().find(|(text, _)| scanner.eat(text)) {
        value = QuantityValue::Pair(Box::new(value), *operator, Box::new(operand(scanner)?));
    }
    Ok(value)
}

fn atom(scanner: &mut QuantityReading<'_>, depth: usize) -> Result<QuantityValue, Error> {
    if depth > DEEPEST {
        return Err(scanner.expected(&format!("at most {DEEPEST} nested brackets")));
    }
    if scanner.eat("(") {
        let value = choice(scanner, depth + 1)?;
        scanner.expect(")")?;
        return Ok(value);
    }
    match scanner.peek() {
        Some('0'..='9') => scanner.natural().map(QuantityValue::Number),
        Some('\'' | '"') => literal(scanner).map(QuantityValue::Literal),
        Some(_) | None => {
            let (word, _) = scanner.word("a number, `config.KEY`, the name of a size or `(`")?;
            named(scanner, word, depth)
        }
    }
}

/// Reads the value that begins with a word.
fn named(
    scanner: &mut QuantityReading<'_>,
    word: &str,
    depth: usize,
) -> Result<QuantityValue, Error> {
    let rounded = match word {
        "floor" => Some(Operator::Floor),
        "ceil" => Some(Operator::Ceil),
        _ => None,
    };
    match (word, rounded) {
        ("true" | "false", _) => Ok(QuantityValue::Literal(Json::Bool(word == "true"))),
        (_, Some(operator)) if scanner.eat("(") => {
            let left = sum(scanner, depth + 1)?;
            scanner.expect(",")?;
            let right = sum(scanner, depth + 1)?;
            scanner.expect(")")?;
            Ok(QuantityValue::Pair(Box::new(left), operator, Box::new(right)))
        }
        ("dim", _) if scanner.eat("(") => {
            let (names, _) = scanner.quoted()?;
            scanner.expect(",")?;
            let dim = scanner.natural()?;
            scanner.expect(")")?;
            Ok(QuantityValue::Dim(Glob { names: names.to_owned(), dim: Some(dim) }))
        }
        ("count", _) if scanner.eat("(") => {
            let (names, _) = scanner.quoted()?;
            scanner.expect(")")?;
            Ok(QuantityValue::Dim(Glob { names: names.to_owned(), dim: None }))
        }
        ("config", _) => {
            let mut path = Vec::new();
            while path.is_empty() || scanner.rest().starts_with('.') {
                scanner.expect(".")?;
                path.push(key(scanner)?);
            }
            Ok(QuantityValue::Config(path.join(".")))
        }
        _ => Ok(QuantityValue::Size(word.to_owned())),
    }
}

/// A text in quotes, a truth value or a number.
pub(crate) fn literal(scanner: &mut QuantityReading<'_>) -> Result<Json, Error> {
    match scanner.peek() {
        Some('\'' | '"') => scanner.quoted().map(|(text, _)| Json::from(text)),
        Some('0'..='9') => scanner.natural().map(Json::from),
        Some(_) | None if scanner.eat_word("true") => Ok(Json::Bool(true)),
        Some(_) | None if scanner.eat_word("false") => Ok(Json::Bool(false)),
        Some(_) | None => Err(scanner.expected("a text in quotes, a number, `true` or `false`")),
    }
}

fn key(scanner: &mut QuantityReading<'_>) -> Result<String, Error> {
    let key = scanner.take(|c| c.is_ascii_alphanumeric() || c == '_');
    if key.is_empty() {
        return Err(scanner.expected("a key of the configuration"));
    }
    Ok(key.to_owned())
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    Floor,
    Ceil,
}

impl Operator {
    pub(crate) const fn text(self) -> &'static str {
        match self {
            Operator::Add => "+",
            Operator::Subtract => "-",
            Operator::Multiply => "*",
            Operator::Divide => "//",
            Operator::Remainder => "%",
            Operator::Floor => "floor",
            Operator::Ceil => "ceil",
        }
    }

    pub(crate) fn apply(self, (left, right): (u64, u64)) -> Option<u64> {
        match self {
            Operator::Add => left.checked_add(right),
            Operator::Subtract => left.checked_sub(right),
            Operator::Multiply => left.checked_mul(right),
            Operator::Divide => left.checked_div(right).filter(|_| left % right == 0),
            Operator::Remainder => left.checked_rem(right),
            Operator::Floor => left.checked_div(right),
            Operator::Ceil => (right != 0).then(|| left.div_ceil(right)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensor::Tensor;

    fn value(text: &str) -> Result<u64, Lack> {
        let config = serde_json::json!({"n": 32, "g": 8, "none": null, "t": {"w": [7, 9]}, "x": 1.5, "s": "many"});
        let sizes = Sizes::from([("a".into(), 5)]);
        let tensors = [Tensor::new("l.0.k", tilewright_core::Dtype::F32, [6, 4])];
        let quantity = Quantity::read(text, &TextPlace::default()).unwrap();
        let globs = quantity.expression().into_iter().flat_map(QuantityValue::parts);
        let dims = globs.filter_map(|part| match part {
            QuantityValue::Dim(glob) => Some((glob.clone(), glob.of(&tensors))),
            _ => None,
        });
        quantity.value(Scope {
            config: Some(&config),
            dims: &dims.collect(),
            sizes: &sizes,
            later: &BTreeSet::new(),
        })
    }

    #[test]
    fn sizes_are_computed_from_left_to_right() {
        for (text, expected) in [
            ("12", 12),
            ("config.n // config.g", 4),
            ("config.n - config.g - 4", 20),
            ("2 + 3 * a", 17),
            ("(2 + 3) * a % 7", 4),
            ("config.t.w.1", 9),
            ("config.none or config.missing or config.g", 8),
            ("(config.t.h or 3) * 2", 6),
            ("floor(config.n, a) + ceil(config.n, a)", 13),
            ("dim('l.*.k', 0) // 3", 2),
            ("dim('m', 0) or dim('l.*.k', 1)", 4),
        ] {
            assert_eq!(value(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_is_no_size_says_why() {
        for (text, expected) in [
            ("config.x", "config.x is 1.5, which is not a size"),
            ("config.s or 3", "config.s is \"many\", which is not a size"),
            ("3 - a", "3 - 5 is not a size (a = 5)"),
            ("a // (a - 5)", "5 // 0 is not a size (a = 5)"),
            (
                "config.n // a",
                "32 // 5 leaves a remainder of 2 (config.n = 32, a = 5); where rounding is meant, write `floor(a, b)` or `ceil(a, b)`",
            ),
            ("floor(a, 0)", "5 floor 0 is not a size (a = 5)"),
            ("'x'", "\"x\" is not a size"),
            ("9223372036854775807 * 3", "9223372036854775807 * 3 is not a size"),
        ] {
            assert_eq!(value(text), Err(Lack::Wrong(expected.into())), "{text}");
        }
        assert_eq!(value("b"), Err(Lack::Absent("the size `b` is not known".into())));
        assert_eq!(
            value("config.t.w.2"),
            Err(Lack::Absent("the configuration lacks `t.w.2`".into()))
        );
        let scope = Scope {
            config: None,
            dims: &Dims::new(),
            sizes: &Sizes::new(),
            later: &BTreeSet::new(),
        };
        let none = Quantity::read("config.n", &TextPlace::default()).unwrap().value(scope);
        assert_eq!(none, Err(Lack::Absent("there is no configuration".into())));
    }

    #[test]
    fn what_cannot_be_read_points_at_it() {
        for (text, span) in
            [("config", (6, 6)), ("a / b", (2, 3)), ("a b", (2, 3)), ("(a", (2, 2)), ("", (0, 0))]
        {
            let error = Quantity::read(text, &TextPlace::default()).unwrap_err();
            assert_eq!((error.kind(), error.span()), (kind::SIZE, Some(span)), "{text}: {error}");
        }
        let deep = "(".repeat(500);
        assert!(
            Quantity::read(&deep, &TextPlace::default())
                .unwrap_err()
                .message()
                .contains("at most 16 nested brackets")
        );
    }
}
