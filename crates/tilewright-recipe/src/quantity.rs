//! A size in a recipe: a number, or an expression of the configuration and of other sizes.
//!
//! ```text
//! choice  := sum {"or" sum}                    the first one whose parts are all there
//! sum     := product {("+" | "-") product}
//! product := atom {("*" | "//" | "%") atom}    `//` rounds down
//! atom    := INTEGER | "config" {"." KEY} | WORD | "(" choice ")"
//! ```
//!
//! A KEY of digits is a place in a list. A WORD is another size.

use std::fmt;

use tilewright_scan::Scanner;

use crate::{
    conditions::short,
    error::{Error, Kind},
    expression::Sizes,
};

/// The deepest brackets, and the longest text in bytes.
const DEEPEST: usize = 16;
const LONGEST: usize = 1024;

/// A size, with the text it was read from.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Quantity {
    Number(u64),
    Text { text: String, value: Value },
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Number(u64),
    Config(Vec<String>),
    Size(String),
    First(Vec<Value>),
    Pair(Box<Value>, Operator, Box<Value>),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

/// Why a size has no value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Lack {
    /// Something it needs is not there: a sentence.
    Absent(String),
    /// It is no size: why.
    Wrong(String),
}

impl Quantity {
    /// Reads an expression.
    pub(crate) fn parse(text: &str) -> Result<Quantity, Error> {
        if text.len() > LONGEST {
            return Err(Error::new(Kind::Limit, format!("a size of more than {LONGEST} bytes")));
        }
        let mut scanner: Scanner<'_, Error> = Scanner::new(text);
        let value = choice(&mut scanner, 0).map_err(|error| error.of(Kind::Size))?;
        if scanner.peek().is_some() {
            return Err(scanner
                .expected("`+`, `-`, `*`, `//`, `%`, `or` or the end")
                .of(Kind::Size));
        }
        Ok(Quantity::Text { text: text.to_owned(), value })
    }

    /// Its value.
    pub(crate) fn value(
        &self,
        config: Option<&serde_json::Value>,
        sizes: &Sizes,
    ) -> Result<u64, Lack> {
        match self {
            Quantity::Number(number) => Ok(*number),
            Quantity::Text { value, .. } => value.of(config, sizes),
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

impl Value {
    fn of(&self, config: Option<&serde_json::Value>, sizes: &Sizes) -> Result<u64, Lack> {
        match self {
            Value::Number(number) => Ok(*number),
            Value::Size(name) => sizes
                .get(name)
                .copied()
                .ok_or_else(|| Lack::Absent(format!("the size `{name}` is not known"))),
            Value::Config(path) => configured(config, path),
            Value::First(choices) => {
                let mut lack = Lack::Absent("it has no choices".into());
                for choice in choices {
                    match choice.of(config, sizes) {
                        Err(Lack::Absent(what)) => lack = Lack::Absent(what),
                        decided => return decided,
                    }
                }
                Err(lack)
            }
            Value::Pair(left, operator, right) => {
                let (left, right) = (left.of(config, sizes)?, right.of(config, sizes)?);
                operator.apply(left, right).ok_or_else(|| {
                    Lack::Wrong(format!("{left} {} {right} is no size", operator.text()))
                })
            }
        }
    }
}

impl Operator {
    const fn text(self) -> &'static str {
        match self {
            Operator::Add => "+",
            Operator::Subtract => "-",
            Operator::Multiply => "*",
            Operator::Divide => "//",
            Operator::Remainder => "%",
        }
    }

    fn apply(self, left: u64, right: u64) -> Option<u64> {
        match self {
            Operator::Add => left.checked_add(right),
            Operator::Subtract => left.checked_sub(right),
            Operator::Multiply => left.checked_mul(right),
            Operator::Divide => left.checked_div(right),
            Operator::Remainder => left.checked_rem(right),
        }
    }
}

/// A number of the configuration; null counts as absent.
fn configured(config: Option<&serde_json::Value>, path: &[String]) -> Result<u64, Lack> {
    let config = config.ok_or_else(|| Lack::Absent("there is no configuration".into()))?;
    let value = path.iter().try_fold(config, |at, key| match at.as_array() {
        Some(list) => list.get(key.parse::<usize>().ok()?),
        None => at.get(key),
    });
    let path = path.join(".");
    let value = value.filter(|value| !value.is_null());
    let value = value.ok_or_else(|| Lack::Absent(format!("the configuration has no `{path}`")))?;
    let wrong = || Lack::Wrong(format!("config.{path} is {}, and no size", short(value)));
    value.as_u64().ok_or_else(wrong)
}

type Reading<'a> = Scanner<'a, Error>;

fn choice(scanner: &mut Reading<'_>, depth: usize) -> Result<Value, Error> {
    let mut choices = vec![sum(scanner, depth)?];
    while scanner.eat_word("or") {
        choices.push(sum(scanner, depth)?);
    }
    Ok(if choices.len() == 1 { choices.remove(0) } else { Value::First(choices) })
}

fn sum(scanner: &mut Reading<'_>, depth: usize) -> Result<Value, Error> {
    let operators = [("+", Operator::Add), ("-", Operator::Subtract)];
    chain(scanner, &operators, |scanner| {
        let operators =
            [("*", Operator::Multiply), ("//", Operator::Divide), ("%", Operator::Remainder)];
        chain(scanner, &operators, |scanner| atom(scanner, depth))
    })
}

/// Operands of some operators, from left to right.
fn chain<'a>(
    scanner: &mut Reading<'a>,
    operators: &[(&str, Operator)],
    mut operand: impl FnMut(&mut Reading<'a>) -> Result<Value, Error>,
) -> Result<Value, Error> {
    let mut value = operand(scanner)?;
    while let Some((_, operator)) = operators.iter().find(|(text, _)| scanner.eat(text)) {
        value = Value::Pair(Box::new(value), *operator, Box::new(operand(scanner)?));
    }
    Ok(value)
}

fn atom(scanner: &mut Reading<'_>, depth: usize) -> Result<Value, Error> {
    if depth > DEEPEST {
        return Err(scanner.expected(&format!("at most {DEEPEST} brackets within one another")));
    }
    if scanner.eat("(") {
        let value = choice(scanner, depth + 1)?;
        scanner.expect(")")?;
        return Ok(value);
    }
    match scanner.peek() {
        Some('0'..='9') => scanner.natural().map(Value::Number),
        Some(_) | None => {
            let (word, _) = scanner.word("a number, `config.KEY`, the name of a size or `(`")?;
            if word != "config" {
                return Ok(Value::Size(word.to_owned()));
            }
            let mut path = Vec::new();
            while path.is_empty() || scanner.rest().starts_with('.') {
                scanner.expect(".")?;
                path.push(key(scanner)?);
            }
            Ok(Value::Config(path))
        }
    }
}

fn key(scanner: &mut Reading<'_>) -> Result<String, Error> {
    let key = scanner.take(|c| c.is_ascii_alphanumeric() || c == '_');
    if key.is_empty() {
        return Err(scanner.expected("a key of the configuration"));
    }
    Ok(key.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Result<u64, Lack> {
        let config = serde_json::json!({"n": 32, "g": 8, "none": null, "t": {"w": [7, 9]}, "x": 1.5, "s": "many"});
        Quantity::parse(text).unwrap().value(Some(&config), &Sizes::from([("a".into(), 5)]))
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
        ] {
            assert_eq!(value(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_is_no_size_says_why() {
        for (text, expected) in [
            ("config.x", "config.x is 1.5, and no size"),
            ("config.s or 3", "config.s is \"many\", and no size"),
            ("3 - a", "3 - 5 is no size"),
            ("a // (a - 5)", "5 // 0 is no size"),
            ("9223372036854775807 * 3", "9223372036854775807 * 3 is no size"),
        ] {
            assert_eq!(value(text), Err(Lack::Wrong(expected.into())), "{text}");
        }
        assert_eq!(value("b"), Err(Lack::Absent("the size `b` is not known".into())));
        assert_eq!(
            value("config.t.w.2"),
            Err(Lack::Absent("the configuration has no `t.w.2`".into()))
        );
        let none = Quantity::parse("config.n").unwrap().value(None, &Sizes::new());
        assert_eq!(none, Err(Lack::Absent("there is no configuration".into())));
    }

    #[test]
    fn what_cannot_be_read_points_at_it() {
        for (text, span) in
            [("config", (6, 6)), ("a / b", (2, 3)), ("a b", (2, 3)), ("(a", (2, 2)), ("", (0, 0))]
        {
            let error = Quantity::parse(text).unwrap_err();
            assert_eq!((error.kind(), error.span()), (Kind::Size, Some(span)), "{text}: {error}");
        }
        let deep = "(".repeat(500);
        assert!(Quantity::parse(&deep).unwrap_err().message().contains("at most 16 brackets"));
    }
}
