//! Errors of a recipe, or of tensors that it does not fit: all faults at once, each of a kind.

use std::{
    collections::{BTreeSet, HashMap},
    fmt,
};

use tilewright_core::ParseError;
use tilewright_scan::{Alike, Fault, Pattern, thousands};

/// The most patterns of faults that are reported; faults of further patterns are counted.
pub(crate) const MOST_FAULTS: usize = 1000;

/// The subject of an [`Error`]. Kinds may be added.
///
/// ```
/// use tilewright_recipe::{Kind, Recipe};
/// let errors = Recipe::parse("[[map]]\nfrom = 'a : h h'\nto = 'b : h h'").unwrap_err();
/// assert_eq!((errors.first().kind(), Kind::Terms.name()), (Kind::Terms, "terms"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Kind {
    /// The text is no TOML.
    Toml,
    /// A key that recipes do not have, or a value of another type than the key's.
    Key,
    /// A rule wants numbers computed.
    Arithmetic,
    /// Axes that cannot be read.
    Expression,
    /// A pattern of names that cannot be read, or that reads a name in two ways.
    Name,
    /// The two sides of a rule are not the same sum of terms.
    Terms,
    /// A size that cannot be read, that the configuration lacks, or two sizes of one axis.
    Size,
    /// A condition of the recipe that cannot be read, or that does not hold.
    Require,
    /// A rule, or a reference of it, that takes no tensor.
    Unmatched,
    /// A number in names that is left out.
    Missing,
    /// A tensor that several rules take.
    Claimed,
    /// A tensor that no rule takes.
    Unclaimed,
    /// A name that several tensors of the result would have.
    Twice,
    /// A tensor with another number of dimensions than its rule gives.
    Rank,
    /// Extents that are not the size of their expression, or do not divide.
    Extent,
    /// An axis whose size does not follow.
    Unsolved,
    /// An axis that has another size elsewhere.
    Varying,
    /// Element types that differ, or that cannot be widened exactly.
    Dtype,
    /// A second name of a tensor that is not there.
    Tie,
    /// The tensors that the recipe was to be solved for are not a list of tensors.
    Input,
    /// A configuration of a model that the recipe is not for.
    Config,
    /// More than a recipe may hold or make.
    Limit,
}

impl Kind {
    /// Returns whether such a fault is that of a tensor.
    fn is_of_tensors(self) -> bool {
        matches!(
            self,
            Kind::Claimed
                | Kind::Unclaimed
                | Kind::Twice
                | Kind::Rank
                | Kind::Extent
                | Kind::Varying
                | Kind::Dtype
                | Kind::Tie
                | Kind::Missing
        )
    }

    /// The stable word for it.
    ///
    /// ```
    /// assert_eq!(tilewright_recipe::Kind::Unclaimed.name(), "unclaimed");
    /// ```
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Toml => "toml",
            Kind::Key => "key",
            Kind::Arithmetic => "arithmetic",
            Kind::Expression => "expression",
            Kind::Name => "name",
            Kind::Terms => "terms",
            Kind::Size => "size",
            Kind::Require => "require",
            Kind::Unmatched => "unmatched",
            Kind::Missing => "missing",
            Kind::Claimed => "claimed",
            Kind::Unclaimed => "unclaimed",
            Kind::Twice => "twice",
            Kind::Rank => "rank",
            Kind::Extent => "extent",
            Kind::Unsolved => "unsolved",
            Kind::Varying => "varying",
            Kind::Dtype => "dtype",
            Kind::Tie => "tie",
            Kind::Input => "input",
            Kind::Config => "config",
            Kind::Limit => "limit",
        }
    }
}

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

/// One fault: what is wrong, where, and what would be right.
///
/// ```
/// use tilewright_recipe::Recipe;
/// let errors = Recipe::parse("[[map]]\nfrom = 'a : (i h'\nto = 'b : i h'").unwrap_err();
/// let error = errors.first();
/// assert_eq!((error.kind().name(), error.line()), ("expression", Some(2)));
/// assert!(error.to_string().ends_with("\n  a : (i h\n          ^"));
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Error(Box<ErrorInner>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct ErrorInner {
    kind: Kind,
    message: String,
    /// In the text that was read: an expression, or the file of a recipe.
    span: Option<(usize, usize)>,
    line: Option<usize>,
    /// A text with its bytes at fault, to be shown with a caret.
    shown: Option<(String, (usize, usize))>,
    /// The name of the condition that a person may allow to fail.
    allow: Option<String>,
}

impl Error {
    pub(crate) fn new(kind: Kind, message: impl Into<String>) -> Error {
        Error(Box::new(ErrorInner {
            kind,
            message: message.into(),
            span: None,
            line: None,
            shown: None,
            allow: None,
        }))
    }

    pub(crate) fn expression(span: (usize, usize), message: impl Into<String>) -> Error {
        Error::new(Kind::Expression, message).at(span)
    }

    /// Sets the bytes that the error is about.
    pub(crate) fn at(mut self, span: (usize, usize)) -> Error {
        self.0.span = Some(span);
        self
    }

    /// Sets the kind.
    pub(crate) fn of(mut self, kind: Kind) -> Error {
        self.0.kind = kind;
        self
    }

    /// Adds text to the message.
    pub(crate) fn and(mut self, more: &str) -> Error {
        self.0.message.push_str(more);
        self
    }

    /// Adds the name by which a person may allow the condition to fail, if it has one.
    pub(crate) fn allowed_by(mut self, name: Option<&str>) -> Error {
        if let Some(name) = name {
            self = self.and(&format!("; to convert anyway, allow `{name}`"));
        }
        self.0.allow = name.map(str::to_owned);
        self
    }

    /// Adds `text`, which is at `place` of the file, to the error. Its span counts in the file from here on.
    pub(crate) fn within(mut self, text: &str, place: &TextPlace) -> Error {
        if let Some(span) = self.0.span {
            self.0.shown = Some((text.to_owned(), span));
            self.0.span = Some(match place.plain {
                true => (place.span.0 + span.0, place.span.0 + span.1),
                false => place.span,
            });
        }
        self.on(place)
    }

    /// Sets the place in the file; an error without a span covers all of `place`.
    pub(crate) fn on(mut self, place: &TextPlace) -> Error {
        self.0.line = Some(place.line);
        self.0.span.get_or_insert(place.span);
        self
    }

    /// The kind of the error, by its subject.
    ///
    /// ```
    /// use tilewright_recipe::{Expression, Kind};
    /// assert_eq!(Expression::parse("(").unwrap_err().kind(), Kind::Expression);
    /// ```
    pub fn kind(&self) -> Kind {
        self.0.kind
    }

    /// The message without the place.
    ///
    /// ```
    /// use tilewright_recipe::Expression;
    /// assert!(Expression::parse("1 h").unwrap_err().message().ends_with("an axis with a size `a:2`"));
    /// ```
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The bytes at fault in the text that was read, where one was: an expression, or the file of a recipe.
    ///
    /// ```
    /// use tilewright_recipe::Expression;
    /// assert_eq!(Expression::parse("a ) b").unwrap_err().span(), Some((2, 3)));
    /// ```
    pub fn span(&self) -> Option<(usize, usize)> {
        self.0.span
    }

    /// The name of the condition of a recipe that does not hold, where a person may
    /// [allow](crate::Recipe::allowing) that.
    ///
    /// ```
    /// use tilewright_recipe::{Recipe, Sizes};
    /// let recipe = Recipe::parse("require = [{ tensor = 'head', allow = 'head' }]")?;
    /// let errors = recipe.solve(&[], None, &Sizes::new()).unwrap_err();
    /// assert_eq!(errors.first().allow(), Some("head"));
    /// # Ok::<(), tilewright_recipe::Errors>(())
    /// ```
    pub fn allow(&self) -> Option<&str> {
        self.0.allow.as_deref()
    }

    /// The line in the file of the recipe, from 1.
    ///
    /// ```
    /// use tilewright_recipe::Recipe;
    /// let errors = Recipe::parse("pass = ['*']\nrules = 1").unwrap_err();
    /// assert_eq!(errors.first().line(), Some(2));
    /// ```
    pub fn line(&self) -> Option<usize> {
        self.0.line
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ErrorInner { message, line, shown, .. } = &*self.0;
        if let Some(line) = line {
            write!(f, "line {line}: ")?;
        }
        f.write_str(message)?;
        match shown {
            Some((text, span)) => write!(f, "{}", ParseError::new(*span, "", []).render(text)),
            None => Ok(()),
        }
    }
}

tilewright_core::debug_as_display!(Error);

impl std::error::Error for Error {}

impl From<Fault> for Error {
    fn from(fault: Fault) -> Error {
        Error::expression(fault.span, fault.message)
    }
}

/// All faults that were found, at least one.
///
/// ```
/// use tilewright_recipe::{Kind, Recipe};
/// let errors = Recipe::parse("op = 'add'\n[[map]]\nfrom = 'a : i'\nto = 'b : j'").unwrap_err();
/// let kinds: Vec<Kind> = errors.iter().map(|error| error.kind()).collect();
/// assert_eq!(kinds, [Kind::Arithmetic, Kind::Terms]);
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
            write!(f, "{}{error}", if at == 0 { "" } else { "\n" })?;
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
        Errors { all: vec![error], more: 0 }
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
type FaultKey = (Kind, Option<usize>, Pattern);

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
            let noun = if error.kind().is_of_tensors() { "tensors" } else { "faults" };
            let of = if alike.is_all() { "" } else { "of these, " };
            error.0.message = format!("{alike} ({of}{number} {noun})");
        }
        first
    }
}

impl Faults {
    pub(crate) fn push(&mut self, error: Error) {
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
    pub(crate) fn replace(&mut self, kind: Kind, by: Vec<Error>) {
        self.groups.retain(|group| group.key.0 != kind);
        let keys = self.groups.iter().map(|group| group.key.clone());
        self.by_pattern = keys.zip(0..).collect();
        by.into_iter().for_each(|error| self.push(error));
    }

    /// Returns whether there are faults, all of this kind.
    pub(crate) fn are_all(&self, kind: Kind) -> bool {
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
        Error::new(Kind::Unclaimed, format!("{name:?} is taken by no rule"))
    }

    #[test]
    fn faults_alike_are_told_as_one() {
        let mut faults = Faults::default();
        for (layer, expert) in (0..61).flat_map(|layer| (0..256).map(move |expert| (layer, expert)))
        {
            faults.push(unclaimed(&format!("layers.{layer}.experts.{expert}.scale")));
            faults.push(unclaimed(&format!("layers.{layer}.norm")));
        }
        faults.push(Error::new(Kind::Toml, "no TOML"));
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
