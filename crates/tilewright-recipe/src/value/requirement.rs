//! Requirements of a recipe on its input and its result, and notes about the result.

use crate::value::{condition::Condition, quantity::Scope};

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
