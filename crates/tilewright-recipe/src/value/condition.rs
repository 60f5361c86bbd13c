//! A condition of a recipe: what must hold of sizes, of shapes and of the configuration.
//!
//! ```text
//! condition := clause {"and" clause}
//! clause    := ["not"] sum [test]           without a test: it is there, and is neither false, 0 nor empty
//! test      := ("==" | "!=" | "<=" | "<" | ">=" | ">" | "divides") sum
//!            | "in" "[" LITERAL {"," LITERAL} "]"
//! ```
//!
//! A `sum` is that of [quantities](crate::value::quantity). An unknown value decides nothing: a condition that wants a size that
//! nobody gives, or names `config` where `config.json` is missing, neither holds nor fails. An expression without a value because
//! it is wrong, as a quotient with a remainder or a text that is compared with `<`, is an error.
//!
//! A [`Requirement`] is a condition on the input or the result, with a direction and a message. A [`Note`] is a sentence about
//! the result.

use std::{cmp::Ordering, fmt};

use serde_json::Value as Json;
use tilewright_scan::Scanner;

use crate::{
    config::short,
    error::{Error, InFile, TextPlace},
    kind,
    tensor::Lack,
    value::quantity::{QuantityReading, QuantityValue, Scope, literal, sum},
};

/// The longest condition in bytes, and the most values of a list.
const LONGEST: usize = 1024;
const MOST: usize = 256;

/// A condition, with the text it was read from.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Condition {
    pub(crate) text: String,
    /// Its place in the file of the recipe.
    pub(crate) place: TextPlace,
    clauses: Vec<Clause>,
}

#[derive(Clone, Debug, PartialEq)]
struct Clause {
    negated: bool,
    left: QuantityValue,
    test: Test,
}

#[derive(Clone, Debug, PartialEq)]
enum Test {
    IsSet,
    Compare(Comparison, QuantityValue),
    In(Vec<Json>),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Comparison {
    Equal,
    Unequal,
    AtMost,
    Below,
    AtLeast,
    Above,
    Divides,
}

/// A longer operator precedes its prefix.
const COMPARISONS: [(&str, Comparison); 6] = [
    ("==", Comparison::Equal),
    ("!=", Comparison::Unequal),
    ("<=", Comparison::AtMost),
    ("<", Comparison::Below),
    (">=", Comparison::AtLeast),
    (">", Comparison::Above),
];

impl Condition {
    /// Reads the condition at `place`; errors point into the file.
    pub(crate) fn parse(text: &str, place: &TextPlace) -> Result<Condition, Error> {
        Condition::read(text, place).map_err(|error| error.within(text, place))
    }

    fn read(text: &str, place: &TextPlace) -> Result<Condition, Error> {
        if text.len() > LONGEST {
            let says = format!("a condition has more than {LONGEST} bytes");
            return Err(Error::new(kind::LIMIT, says));
        }
        let mut scanner: QuantityReading<'_> = Scanner::new(text);
        let clauses = clauses(&mut scanner).map_err(|error| error.of_kind(kind::REQUIRE))?;
        if scanner.peek().is_some() {
            return Err(scanner
                .expected("`==`, `!=`, `<`, `<=`, `>`, `>=`, `divides`, `in`, `and` or the end")
                .of_kind(kind::REQUIRE));
        }
        Ok(Condition { text: text.to_owned(), place: place.clone(), clauses })
    }

    /// Returns what it requires of the configuration, with numbers in place of everything else; `None` if that is nothing.
    pub(crate) fn settled(&self, scope: Scope<'_>) -> Option<Condition> {
        let of_config = |clause: &&Clause| clause.values().iter().any(|value| value.is_of_config());
        let clauses = self.clauses.iter().filter(of_config);
        let texts: Vec<String> =
            clauses.filter_map(|clause| Some(clause.settled(scope)?.to_string())).collect();
        Condition::parse(&texts.join(" and "), &self.place).ok()
    }

    /// Returns the condition that an expression has the value which it has now, as far as the configuration decides it.
    pub(crate) fn kept(value: &QuantityValue, scope: Scope<'_>) -> Option<Condition> {
        let settled = value.settled(scope).filter(|_| value.is_of_config())?;
        let text = format!("{settled} == {}", value.of(scope).ok()?);
        Condition::parse(&text, &TextPlace::default()).ok()
    }

    /// Returns true if a part of it is a key of the configuration.
    pub(crate) fn is_of_config(&self) -> bool {
        self.values().any(QuantityValue::is_of_config)
    }

    /// Returns true if it holds. Clauses are evaluated from left to right, up to the first that fails.
    pub(crate) fn holds(&self, scope: Scope<'_>) -> Result<bool, Lack> {
        let mut lack = None;
        for clause in &self.clauses {
            match clause.holds(scope) {
                Ok(false) => return Ok(false),
                Ok(true) => {}
                Err(wrong @ Lack::Wrong(_)) => return Err(wrong),
                Err(unknown) => lack = Some(unknown),
            }
        }
        lack.map_or(Ok(true), Err)
    }

    /// Returns true if it is known to hold, and an error if it cannot be evaluated.
    pub(crate) fn is_met(&self, scope: Scope<'_>) -> Result<bool, Error> {
        Ok(self.known(scope)? == Some(true))
    }

    /// Returns if it holds, `None` where that is unknown, and an error if it cannot be evaluated.
    pub(crate) fn known(&self, scope: Scope<'_>) -> Result<Option<bool>, Error> {
        match self.holds(scope) {
            Ok(holds) => Ok(Some(holds)),
            Err(Lack::Absent(_) | Lack::Later(_)) => Ok(None),
            Err(Lack::Wrong(why)) => {
                let says = format!("the condition `{}` cannot be decided: {why}", self.text);
                Err(Error::new(kind::REQUIRE, says))
            }
        }
    }

    /// Returns the reason why it fails: the clause with the values in it.
    pub(crate) fn fault(&self, scope: Scope<'_>) -> String {
        let failed = self.clauses.iter().find(|clause| clause.holds(scope) == Ok(false));
        failed.map_or_else(|| format!("`{}` does not hold", self.text), |one| one.fault(scope))
    }

    /// The values of its parts, for a message that others write.
    pub(crate) fn said(&self, scope: Scope<'_>) -> String {
        let mut all: Vec<String> = Vec::new();
        for part in self.values().flat_map(QuantityValue::parts) {
            let said = part.said(scope);
            if !all.contains(&said) {
                all.push(said);
            }
        }
        all.join(", ")
    }

    /// `A divides B`: the name of the size A, and B.
    pub(crate) fn divisors(&self) -> impl Iterator<Item = (&str, &QuantityValue)> {
        self.clauses.iter().filter_map(|clause| match (&clause.left, &clause.test) {
            (QuantityValue::Size(name), Test::Compare(Comparison::Divides, right)) => {
                Some((name.as_str(), right))
            }
            _ => None,
        })
    }

    /// All its values.
    pub(crate) fn values(&self) -> impl Iterator<Item = &QuantityValue> {
        self.clauses.iter().flat_map(|clause| {
            let right = match &clause.test {
                Test::Compare(_, right) => Some(right),
                Test::IsSet | Test::In(_) => None,
            };
            std::iter::once(&clause.left).chain(right)
        })
    }
}

impl Clause {
    /// Returns the clause with numbers in place of all but the configuration.
    fn settled(&self, scope: Scope<'_>) -> Option<Clause> {
        let test = match &self.test {
            Test::Compare(comparison, right) => Test::Compare(*comparison, right.settled(scope)?),
            Test::IsSet | Test::In(_) => self.test.clone(),
        };
        Some(Clause { negated: self.negated, left: self.left.settled(scope)?, test })
    }

    fn holds(&self, scope: Scope<'_>) -> Result<bool, Lack> {
        let is_config = |part: &&QuantityValue| matches!(part, QuantityValue::Config(_));
        if scope.config.is_none()
            && self.values().iter().flat_map(|v| v.parts()).any(|p| is_config(&p))
        {
            return Err(Lack::Absent("there is no configuration".into()));
        }
        let left = self.left.json(scope);
        let holds = match &self.test {
            Test::IsSet => match left {
                Ok(left) => is_set(&left),
                Err(Lack::Absent(_)) => false,
                Err(lack) => return Err(lack),
            },
            Test::In(list) => {
                let left = left?;
                list.iter().any(|one| equal(&left, one))
            }
            Test::Compare(comparison, right) => {
                let (left, right) = (left?, right.json(scope)?);
                comparison.holds(&left, &right).ok_or_else(|| self.unordered(scope))?
            }
        };
        Ok(holds != self.negated)
    }

    /// Returns the error for a comparison of values that are not numbers.
    fn unordered(&self, scope: Scope<'_>) -> Lack {
        let said: Vec<String> = self.values().iter().map(|value| value.said(scope)).collect();
        Lack::Wrong(format!("`{self}` compares numbers: {}", said.join(", ")))
    }

    fn values(&self) -> Vec<&QuantityValue> {
        match &self.test {
            Test::Compare(_, right) => vec![&self.left, right],
            Test::IsSet | Test::In(_) => vec![&self.left],
        }
    }

    fn fault(&self, scope: Scope<'_>) -> String {
        if let (Test::Compare(Comparison::Divides, right), false) = (&self.test, self.negated) {
            let value = |value: &QuantityValue| {
                value.json(scope).map(|json| short(&json)).unwrap_or_default()
            };
            let named = |one: &QuantityValue| match one {
                QuantityValue::Number(number) => number.to_string(),
                one => format!("{one}={}", value(one)),
            };
            return format!("{} does not divide {}", named(&self.left), named(right));
        }
        let said: Vec<String> = self.values().iter().map(|value| value.said(scope)).collect();
        let said: Vec<&str> =
            said.iter().map(String::as_str).filter(|said| !said.is_empty()).collect();
        format!("`{self}` does not hold: {}", said.join(", "))
    }
}

impl Comparison {
    const fn text(self) -> &'static str {
        match self {
            Comparison::Equal => "==",
            Comparison::Unequal => "!=",
            Comparison::AtMost => "<=",
            Comparison::Below => "<",
            Comparison::AtLeast => ">=",
            Comparison::Above => ">",
            Comparison::Divides => "divides",
        }
    }

    /// `None` where the two cannot be ordered.
    fn holds(self, left: &Json, right: &Json) -> Option<bool> {
        let order = || order(left, right);
        match self {
            Comparison::Equal => Some(equal(left, right)),
            Comparison::Unequal => Some(!equal(left, right)),
            Comparison::AtMost => order().map(Ordering::is_le),
            Comparison::Below => order().map(Ordering::is_lt),
            Comparison::AtLeast => order().map(Ordering::is_ge),
            Comparison::Above => order().map(Ordering::is_gt),
            Comparison::Divides => {
                let (left, right) = (left.as_u64()?, right.as_u64()?);
                Some(right.checked_rem(left) == Some(0))
            }
        }
    }
}

fn is_set(value: &Json) -> bool {
    match value {
        Json::Null => false,
        Json::Bool(truth) => *truth,
        Json::Number(number) => number.as_f64() != Some(0.0),
        Json::String(text) => !text.is_empty(),
        Json::Array(list) => !list.is_empty(),
        Json::Object(table) => !table.is_empty(),
    }
}

fn equal(left: &Json, right: &Json) -> bool {
    left == right || order(left, right) == Some(Ordering::Equal)
}

/// The order of two numbers.
fn order(left: &Json, right: &Json) -> Option<Ordering> {
    match (left.as_u64(), right.as_u64()) {
        (Some(left), Some(right)) => Some(left.cmp(&right)),
        _ => left.as_f64()?.partial_cmp(&right.as_f64()?),
    }
}

/// As it was written.
impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Display for Clause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", if self.negated { "not " } else { "" }, self.left)?;
        match &self.test {
            Test::IsSet => Ok(()),
            Test::Compare(comparison, right) => write!(f, " {} {right}", comparison.text()),
            Test::In(list) => {
                let list: Vec<String> = list
                    .iter()
                    .map(|one| QuantityValue::Literal(one.clone()).to_string())
                    .collect();
                write!(f, " in [{}]", list.join(", "))
            }
        }
    }
}

fn clauses(scanner: &mut QuantityReading<'_>) -> Result<Vec<Clause>, Error> {
    let mut all = vec![clause(scanner)?];
    while scanner.eat_word("and") {
        all.push(clause(scanner)?);
    }
    Ok(all)
}

fn clause(scanner: &mut QuantityReading<'_>) -> Result<Clause, Error> {
    let negated = scanner.eat_word("not");
    let left = sum(scanner, 0)?;
    let test = if let Some((_, comparison)) = COMPARISONS.iter().find(|(text, _)| scanner.eat(text))
    {
        Test::Compare(*comparison, sum(scanner, 0)?)
    } else if scanner.eat_word("divides") {
        Test::Compare(Comparison::Divides, sum(scanner, 0)?)
    } else if scanner.eat_word("in") {
        Test::In(scanner.list(("[", "]"), MOST, literal)?)
    } else {
        Test::IsSet
    };
    Ok(Clause { negated, left, test })
}

/// The name by which a person allows that the configuration of a result contradicts the recipe that undoes it.
const CONFIG: &str = "config";

/// The direction that something holds for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Direction {
    #[default]
    Both,
    Forth,
    Back,
}

/// Something that must hold, else the recipe refuses the input.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Requirement {
    pub(crate) way: Direction,
    /// The name by which a person [allows](crate::Recipe::allowing) that it does not hold.
    pub(crate) allow: Option<String>,
    /// The condition of the requirement: where it fails or is unknown, nothing is required.
    pub(crate) when: Option<Condition>,
    pub(crate) must: Must,
    /// The text of the error besides the values.
    pub(crate) say: Option<String>,
}

/// The content of a requirement.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Must {
    That(Condition),
    /// The result has a tensor of these names.
    Tensor(String),
}

/// A sentence about the result, for the one who asked for it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Note {
    pub(crate) way: Direction,
    pub(crate) when: Option<Condition>,
    pub(crate) say: String,
}

impl Direction {
    pub(crate) const fn text(self) -> &'static str {
        match self {
            Direction::Both => "both",
            Direction::Forth => "forth",
            Direction::Back => "back",
        }
    }

    pub(crate) fn spelled(text: &str) -> Option<Direction> {
        [Direction::Both, Direction::Forth, Direction::Back]
            .into_iter()
            .find(|way| way.text() == text)
    }

    /// Seen from the recipe that undoes this one.
    #[must_use]
    pub(crate) const fn inverse(self) -> Direction {
        match self {
            Direction::Both => Direction::Both,
            Direction::Forth => Direction::Back,
            Direction::Back => Direction::Forth,
        }
    }

    /// Returns whether it concerns a recipe that is carried out.
    pub(crate) const fn is_now(self) -> bool {
        matches!(self, Direction::Both | Direction::Forth)
    }
}

impl Requirement {
    /// Returns the requirement of a condition on the configuration of a result.
    pub(crate) fn of_config(that: Condition) -> Requirement {
        let (must, allow) = (Must::That(that), Some(CONFIG.to_owned()));
        Requirement { way: Direction::Both, allow, when: None, must, say: None }
    }

    /// Returns whether both state the same conditions, in the same words, and one name allows both.
    pub(crate) fn says_as(&self, other: &Requirement) -> bool {
        let others = other.conditions().map(|condition| &condition.text);
        (self.when.is_some(), &self.allow) == (other.when.is_some(), &other.allow)
            && self.conditions().map(|condition| &condition.text).eq(others)
    }

    /// The conditions that it has.
    pub(crate) fn conditions(&self) -> impl Iterator<Item = &Condition> {
        let that = match &self.must {
            Must::That(condition) => Some(condition),
            Must::Tensor(_) => None,
        };
        self.when.iter().chain(that)
    }

    /// Returns what it requires of the configuration of a result, to undo what made the result; `None` if that is nothing. The
    /// tensors of the result are known.
    pub(crate) fn settled(&self, scope: Scope<'_>) -> Option<Requirement> {
        let Must::That(that) = &self.must else { return None };
        let when = match &self.when {
            Some(when) if when.is_of_config() => Some(when.settled(scope)?),
            Some(when) if when.is_met(scope) != Ok(true) => return None,
            _ => None,
        };
        let must = Must::That(that.settled(scope).filter(|_| self.way != Direction::Forth)?);
        let allow = Some(self.allow.as_deref().unwrap_or(CONFIG).to_owned());
        Some(Requirement { way: Direction::Both, when, must, allow, say: self.say.clone() })
    }

    pub(crate) fn inverse(&self) -> Requirement {
        Requirement { way: self.way.inverse(), ..self.clone() }
    }
}

impl Note {
    pub(crate) fn inverse(&self) -> Note {
        Note { way: self.way.inverse(), ..self.clone() }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::{rule::expression::Sizes, tensor::Dims};

    fn known(text: &str, config: Option<&Json>) -> Result<Option<bool>, Error> {
        let sizes = Sizes::from([("T".into(), 4), ("g".into(), 2), ("n".into(), 8)]);
        let later = BTreeSet::from(["l".to_owned()]);
        let scope = Scope { config, dims: &Dims::new(), sizes: &sizes, later: &later };
        Condition::read(text, &TextPlace::default()).unwrap().known(scope)
    }

    #[test]
    fn conditions_hold_fail_or_are_unknown() {
        let config = serde_json::json!({
            "t": "llama", "on": true, "off": false, "none": null, "x": 1.0, "s": {"t": "llama3"}, "l": [], "n": 8
        });
        for (text, expected) in [
            ("T divides g", Some(false)),
            ("g divides T", Some(true)),
            ("T divides m", None),
            ("n == config.n", Some(true)),
            ("n * g == 17", Some(false)),
            ("config.t == 'llama'", Some(true)),
            ("config.t in ['gemma', \"llama\"]", Some(true)),
            ("config.t in ['gemma']", Some(false)),
            ("config.u in ['gemma']", None),
            ("config.x == 1", Some(true)),
            ("config.n > 8", Some(false)),
            ("config.n >= 8 and config.on", Some(true)),
            ("config.on", Some(true)),
            ("config.off", Some(false)),
            ("not config.off", Some(true)),
            ("config.none", Some(false)),
            ("not config.none", Some(true)),
            ("config.l", Some(false)),
            ("(config.s.rope_type or config.s.t) == 'llama3'", Some(true)),
            ("(config.missing or false) == false", Some(true)),
            ("0 divides g", Some(false)),
            ("(l or 4) == 5", None),
            ("(m or 4) == 5", Some(false)),
            ("T == 5 and config.t < 3", Some(false)),
        ] {
            assert_eq!(known(text, Some(&config)), Ok(expected), "{text}");
            // Clauses of the configuration are unknown, those before them are not.
            let without =
                expected.filter(|_| !text.contains("config") || text.starts_with("T == 5"));
            assert_eq!(known(text, None), Ok(without), "{text}");
        }
    }

    #[test]
    fn what_is_wrong_is_an_error_and_not_unknown() {
        let config =
            serde_json::json!({"t": "llama", "x": 1.5, "n": 7, "big": 18446744073709551615u64});
        for (text, says) in [
            ("config.n // g == 3", "7 // 2 leaves a remainder of 1"),
            ("config.t < 3", "`config.t < 3` compares numbers: config.t = \"llama\""),
            ("g divides config.t", "compares numbers"),
            ("g divides config.x", "compares numbers"),
            ("config.t * 2 == 4", "config.t is \"llama\", which is not a size"),
            ("not config.x + 1", "config.x is 1.5, which is not a size"),
            ("g - T == 0", "2 - 4 is not a size"),
            ("config.big * 2 == 0", "is not a size"),
            ("(config.n // g or 3) == 3", "leaves a remainder"),
            ("T == 4 and config.t > 1", "compares numbers"),
            ("config.missing == 1 and config.t > 1", "compares numbers"),
        ] {
            let error = known(text, Some(&config)).unwrap_err();
            assert_eq!(error.kind(), kind::REQUIRE);
            let begins = format!("the condition `{text}` cannot be decided: ");
            assert!(
                error.message().starts_with(&begins) && error.message().contains(says),
                "{error}"
            );
        }
    }

    #[test]
    fn what_fails_says_its_values() {
        let config = serde_json::json!({"t": "falcon", "g": 2});
        let fault = |text: &str| {
            let sizes = Sizes::from([("T".into(), 4)]);
            let (dims, later) = (Dims::new(), BTreeSet::new());
            let scope = Scope { config: Some(&config), dims: &dims, sizes: &sizes, later: &later };
            Condition::read(text, &TextPlace::default()).unwrap().fault(scope)
        };
        assert_eq!(fault("T divides config.g"), "T=4 does not divide config.g=2");
        let says = "`config.t in ['llama']` does not hold: config.t = \"falcon\"";
        assert_eq!(fault("T == 4 and config.t in ['llama']"), says);
        assert_eq!(
            fault("T + 1 == config.g"),
            "`T + 1 == config.g` does not hold: T = 4, config.g = 2"
        );
    }

    #[test]
    fn what_cannot_be_read_points_at_it() {
        for (text, span) in
            [("T divide g", (2, 3)), ("T ==", (4, 4)), ("T in 3", (5, 6)), ("", (0, 0))]
        {
            let error = Condition::read(text, &TextPlace::default()).unwrap_err();
            assert_eq!(
                (error.kind(), error.span()),
                (kind::REQUIRE, Some(span)),
                "{text}: {error}"
            );
        }
    }
}
