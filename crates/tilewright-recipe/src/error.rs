//! Errors of a recipe, or of tensors that it does not fit: all faults at once, each of a [kind](crate::kind).

use std::{
    collections::{BTreeSet, HashMap},
    fmt,
};

use tilewright_core::Remedy;
pub use tilewright_error::Error;
use tilewright_scan::{Alike, Pattern, thousands};

pub mod kind {
    //! The kinds of faults of recipes, as words of [`Error::kind`](crate::Error::kind). Kinds may be added.
    //!
    //! ```
    //! use tilewright_recipe::{Recipe, kind};
    //! let errors = Recipe::parse("[[map]]\nfrom = 'a : h h'\nto = 'b : h h'").unwrap_err();
    //! assert_eq!((errors.first().kind(), kind::TERMS), ("terms", "terms"));
    //! ```

    /// The text is no TOML.
    pub const TOML: &str = "toml";
    /// A key that recipes do not have, or a value of another type than the key's.
    pub const KEY: &str = "key";
    /// A rule wants numbers computed.
    pub const ARITHMETIC: &str = "arithmetic";
    /// Axes that cannot be read.
    pub const EXPRESSION: &str = "expression";
    /// A pattern of names that cannot be read, or that reads a name in two ways.
    pub const NAME: &str = "name";
    /// The two sides of a rule are not the same sum of terms.
    pub const TERMS: &str = "terms";
    /// A size that cannot be read, that the configuration lacks, or two sizes of one axis.
    pub const SIZE: &str = "size";
    /// A condition of the recipe that cannot be read, or that does not hold.
    pub const REQUIRE: &str = "require";
    /// A rule, or a reference of it, that takes no tensor.
    pub const UNMATCHED: &str = "unmatched";
    /// A number in names that is left out.
    pub const MISSING: &str = "missing";
    /// A tensor that several rules take.
    pub const CLAIMED: &str = "claimed";
    /// A tensor that no rule takes.
    pub const UNCLAIMED: &str = "unclaimed";
    /// A name that several tensors of the result would have.
    pub const TWICE: &str = "twice";
    /// A tensor with another number of dimensions than its rule gives.
    pub const RANK: &str = "rank";
    /// Extents that are not the size of their expression, or do not divide.
    pub const EXTENT: &str = "extent";
    /// An axis whose size does not follow.
    pub const UNSOLVED: &str = "unsolved";
    /// An axis that has another size elsewhere.
    pub const VARYING: &str = "varying";
    /// Element types that differ, or that cannot be widened exactly.
    pub const DTYPE: &str = "dtype";
    /// A second name of a tensor that is not there.
    pub const TIE: &str = "tie";
    /// The tensors that the recipe was to be solved for are not a list of tensors.
    pub const INPUT: &str = "input";
    /// A configuration of a model that the recipe is not for.
    pub const CONFIG: &str = "config";
    /// More than a recipe may hold or make.
    pub const LIMIT: &str = "limit";

    /// The kinds of faults of single tensors.
    const OF_TENSORS: &[&str] =
        &[CLAIMED, UNCLAIMED, TWICE, RANK, EXTENT, VARYING, DTYPE, TIE, MISSING];

    /// Returns whether faults of the kind are those of tensors.
    pub(crate) fn is_of_tensors(kind: &str) -> bool {
        OF_TENSORS.contains(&kind)
    }
}

/// The most patterns of faults that are reported; faults of further patterns are counted.
pub(crate) const MOST_FAULTS: usize = 1000;

/// The place of a text in the file of a recipe.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(crate) struct TextPlace {
    /// Counted from 1.
    pub(crate) line: usize,
    /// The bytes of the text in the file.
    pub(crate) span: (usize, usize),
    /// True if the file holds the text as it is, so that bytes of one are bytes of the other.
    pub(crate) plain: bool,
}

/// Returns the error of axes that cannot be read.
pub(crate) fn expression(span: (usize, usize), message: impl Into<String>) -> Error {
    Error::new(kind::EXPRESSION, message).at(span)
}

/// Returns the error with the kind of this crate for a text that the cursor refuses.
pub(crate) fn read(error: Error) -> Error {
    if error.is_parse() { error.of_kind(kind::EXPRESSION) } else { error }
}

/// Errors of a text that is a part of the file of a recipe.
pub(crate) trait InFile {
    /// Adds `text`, which is at `place` of the file, to the error. Its span counts in the file from here on.
    fn within(self, text: &str, place: &TextPlace) -> Error;

    /// Sets the place in the file; an error without a span covers all of `place`.
    fn on(self, place: &TextPlace) -> Error;

    /// Adds the name by which a person may allow the condition to fail, if it has one.
    fn allowed_by(self, name: Option<&str>) -> Error;
}

impl InFile for Error {
    fn within(self, text: &str, place: &TextPlace) -> Error {
        let Some((from, to)) = self.span() else { return self.on(place) };
        let span = match place.plain {
            true => (place.span.0 + from, place.span.0 + to),
            false => place.span,
        };
        self.in_text(text).at(span).on(place)
    }

    fn on(self, place: &TextPlace) -> Error {
        self.on_line(place.line).or_at(place.span)
    }

    fn allowed_by(self, name: Option<&str>) -> Error {
        match name {
            Some(name) => self.and(&format!("to convert anyway, allow `{name}`")).named(name),
            None => self,
        }
    }
}

/// All faults that were found, at least one.
///
/// ```
/// use tilewright_recipe::{Recipe, kind};
/// let errors = Recipe::parse("op = 'add'\n[[map]]\nfrom = 'a : i'\nto = 'b : j'").unwrap_err();
/// let kinds: Vec<&str> = errors.iter().map(|error| error.kind()).collect();
/// assert_eq!(kinds, [kind::ARITHMETIC, kind::TERMS]);
/// assert_eq!(errors.to_string().lines().count(), 2);
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Errors {
    all: Vec<Error>,
    /// The number of faults that are left out.
    more: usize,
}

impl Errors {
    /// The first fault.
    ///
    /// ```
    /// let errors = tilewright_recipe::Recipe::parse("pass = 1").unwrap_err();
    /// assert!(errors.first().message().contains("`pass`"));
    /// ```
    pub fn first(&self) -> &Error {
        &self.all[0]
    }

    /// All faults, in the order in which they were found.
    ///
    /// ```
    /// let errors = tilewright_recipe::Recipe::parse("pass = 1\ndrop = 2").unwrap_err();
    /// assert_eq!(errors.iter().count(), 2);
    /// ```
    pub fn iter(&self) -> impl Iterator<Item = &Error> {
        self.all.iter()
    }
}

/// A fault a line, or a line with a text and a caret.
impl fmt::Display for Errors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, error) in self.all.iter().enumerate() {
            f.write_str(if at == 0 { "" } else { "\n" })?;
            if let Some(line) = error.line() {
                write!(f, "line {line}: ")?;
            }
            f.write_str(&error.render())?;
        }
        match self.more {
            0 => Ok(()),
            more => write!(f, "\n… and {more} more"),
        }
    }
}

tilewright_core::debug_as_display!(Errors);

impl std::error::Error for Errors {}

impl From<Error> for Errors {
    fn from(error: Error) -> Errors {
        Errors { all: vec![read(error)], more: 0 }
    }
}

/// The faults as one error of tensors that do not fit a recipe.
impl From<Errors> for Error {
    fn from(errors: Errors) -> Error {
        let any = |is: fn(&Error) -> bool| errors.iter().any(is);
        // A remedy that the caller must vouch for is offered only if there are no other faults.
        let config = errors.iter().all(|error| error.kind() == kind::CONFIG);
        let remedies = [
            (config, Remedy::AnyConfig),
            (any(|error| error.kind() == kind::UNSOLVED), Remedy::Sizes),
            (any(|error| error.name().is_some()), Remedy::Allow),
        ];
        let remedies: Vec<Remedy> =
            remedies.into_iter().filter_map(|(helps, remedy)| helps.then_some(remedy)).collect();
        Error::mismatch(errors.to_string()).with(&remedies).with_source(errors)
    }
}

/// A collector of faults, which are reported together. Those that differ in their numbers alone are reported as one,
/// where they are more than a few.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    groups: Vec<FaultGroup>,
    /// The group of a pattern.
    by_pattern: HashMap<FaultKey, usize>,
    found: usize,
    more: usize,
    /// The axes that are reported as unsolved.
    unsolved: BTreeSet<String>,
}

/// The most faults of one pattern that are reported one by one.
const FEW: usize = 3;

/// The common part of the faults of one group: kind, line and pattern.
type FaultKey = (&'static str, Option<usize>, Pattern);

/// Faults of one pattern.
#[derive(Debug)]
struct FaultGroup {
    key: FaultKey,
    /// The first of them, each with how many faults were found before it.
    first: Vec<(usize, Error)>,
    alike: Alike,
}

impl FaultGroup {
    /// The faults one by one, or as one with their number.
    fn told(self) -> Vec<(usize, Error)> {
        let FaultGroup { mut first, alike, .. } = self;
        if alike.count() <= FEW {
            return first;
        }
        first.truncate(1);
        let number = thousands(alike.count());
        for (_, error) in &mut first {
            let noun = if kind::is_of_tensors(error.kind()) { "tensors" } else { "faults" };
            let of = if alike.is_all() { "" } else { "of these, " };
            *error = error.clone().with_message(format!("{alike} ({of}{number} {noun})"));
        }
        first
    }
}

impl Faults {
    pub(crate) fn push(&mut self, error: Error) {
        let error = read(error);
        let (pattern, _) = Pattern::of(error.message());
        let key = (error.kind(), error.line(), pattern);
        let found = self.found;
        let group = match self.by_pattern.get(&key) {
            Some(at) => &mut self.groups[*at],
            None if self.groups.len() == MOST_FAULTS => {
                self.more += 1;
                return;
            }
            None => {
                self.by_pattern.insert(key.clone(), self.groups.len());
                let alike = Alike::of(error.message());
                self.groups.push(FaultGroup { key, first: Vec::new(), alike });
                &mut self.groups[self.by_pattern.len() - 1]
            }
        };
        group.alike.add(error.message());
        if group.first.len() <= FEW && !group.first.iter().any(|(_, other)| *other == error) {
            group.first.push((found, error));
            self.found += 1;
        }
    }

    /// Adds the fault of an axis whose size does not follow, once for all rules that have it.
    pub(crate) fn unsolved(&mut self, axis: &str, error: Error) {
        if self.unsolved.insert(axis.to_owned()) {
            self.push(error);
        }
    }

    /// The value, or nothing and its fault among these.
    pub(crate) fn take<T>(&mut self, result: Result<T, Error>) -> Option<T> {
        result.map_err(|error| self.push(error)).ok()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// Says these faults in the place of those of a kind.
    pub(crate) fn replace(&mut self, kind: &str, by: Vec<Error>) {
        self.groups.retain(|group| group.key.0 != kind);
        let keys = self.groups.iter().map(|group| group.key.clone());
        self.by_pattern = keys.zip(0..).collect();
        by.into_iter().for_each(|error| self.push(error));
    }

    /// Returns whether there are faults, all of this kind.
    pub(crate) fn are_all(&self, kind: &str) -> bool {
        !self.groups.is_empty() && self.groups.iter().all(|group| group.key.0 == kind)
    }

    /// Returns the value, or the faults if there are any.
    pub(crate) fn or<T>(self, value: T) -> Result<T, Errors> {
        if self.groups.is_empty() {
            return Ok(value);
        }
        let mut all: Vec<(usize, Error)> =
            self.groups.into_iter().flat_map(FaultGroup::told).collect();
        all.sort_by_key(|(found, _)| *found);
        Err(Errors { all: all.into_iter().map(|(_, error)| error).collect(), more: self.more })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unclaimed(name: &str) -> Error {
        Error::new(kind::UNCLAIMED, format!("{name:?} is taken by no rule"))
    }

    #[test]
    fn faults_alike_are_told_as_one() {
        let mut faults = Faults::default();
        for (layer, expert) in (0..61).flat_map(|layer| (0..256).map(move |expert| (layer, expert)))
        {
            faults.push(unclaimed(&format!("layers.{layer}.experts.{expert}.scale")));
            faults.push(unclaimed(&format!("layers.{layer}.norm")));
        }
        faults.push(Error::new(kind::TOML, "no TOML"));
        let text = faults.or(()).unwrap_err().to_string();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(
            lines,
            [
                "\"layers.{0..60}.experts.{0..255}.scale\" is taken by no rule (15,616 tensors)",
                "\"layers.{0..60}.norm\" is taken by no rule (61 tensors)",
                "no TOML"
            ]
        );
    }

    #[test]
    fn a_few_are_told_one_by_one_and_too_many_patterns_are_counted() {
        let mut faults = Faults::default();
        for name in ["a.0", "b", "a.1", "a.0"] {
            faults.push(unclaimed(name));
        }
        let told: Vec<String> = faults.or(()).unwrap_err().iter().map(Error::to_string).collect();
        assert_eq!(told.len(), 3);
        assert!(told[2].starts_with("\"a.1\""), "{told:?}");
        let mut faults = Faults::default();
        let letters = |mut number: usize| {
            let mut name = String::new();
            while number > 0 {
                name.push(char::from(b'a' + (number % 26) as u8));
                number /= 26;
            }
            name
        };
        (1..=MOST_FAULTS + 7).for_each(|number| faults.push(unclaimed(&letters(number))));
        let errors = faults.or(()).unwrap_err();
        assert!(
            errors.iter().count() == MOST_FAULTS && errors.to_string().ends_with("… and 7 more")
        );
    }
}
