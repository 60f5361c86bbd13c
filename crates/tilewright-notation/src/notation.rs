//! A notation: the functions that recognise, read and print it. A dialect is this one value to the rest of the
//! crate.

use std::{fmt, sync::Arc};

use crate::{
    Error, ResolvedLayout,
    parsed_spec::{Given, ParsedSpec},
};

/// A notation: it reads layouts from text and prints them.
///
/// ```
/// use tilewright_notation::{Spec, notations};
/// let hlo = notations().iter().find(|notation| notation.name() == "hlo").unwrap();
/// let columns = Spec::parse("f32[2,3] col-major").unwrap().resolve(None, None).unwrap();
/// assert_eq!(hlo.print(&columns).unwrap(), "f32[2,3]{0,1}");
/// ```
#[must_use]
#[derive(Clone, Copy)]
pub struct Notation {
    pub(crate) name: &'static str,
    /// Other names, as prefixes and for [`notation`](crate::notation).
    pub(crate) aliases: &'static [&'static str],
    /// The library it comes from and its content, in a few words.
    pub(crate) about: &'static str,
    /// Returns whether a text looks like this notation, without parsing it, so that errors come from the dialect meant.
    pub(crate) claims: fn(&str) -> bool,
    /// Reads a text, given without surrounding spaces and without the prefix.
    pub(crate) read: ReadFn,
    /// Reads a text that has the text of another notation in it, which is one of those given.
    pub(crate) among: Option<ReadAmong>,
    /// Its words, for suggestions.
    pub(crate) words: fn() -> Vec<&'static str>,
    pub(crate) print: Print,
    /// True if a user added it, so that its texts mean nothing elsewhere.
    pub(crate) own: bool,
}

type ReadFn = fn(&str) -> Result<Arc<dyn ParsedSpec>, Error>;
type ReadAmong = fn(&str, &'static [Notation]) -> Result<Arc<dyn ParsedSpec>, Error>;
type Print = fn(&ResolvedLayout) -> Result<String, Error>;

/// The parts of a dialect; [`dialect`](crate::dialect) has an example of one.
impl Notation {
    /// Makes a notation whose texts have its name as a prefix.
    ///
    /// `about` describes in a few words its origin and the facts that it states. `read` is given a text without the prefix
    /// and without spaces around it; the span of its error counts in that text. `print` gives a text that `read` reads
    /// as the same layout, or the reason why there is none; the text may have the prefix.
    ///
    /// ```
    /// use tilewright_notation::{Error, Notation};
    /// let none = Notation::new(
    ///     "none",
    ///     "no layout at all",
    ///     |text| Err(Error::parse((0, text.len()), "nothing is read")),
    ///     |_| Err(Error::unsupported("nothing is said")),
    /// );
    /// assert_eq!((none.name(), none.about()), ("none", "no layout at all"));
    /// ```
    pub const fn new(
        name: &'static str,
        about: &'static str,
        read: ReadFn,
        print: Print,
    ) -> Notation {
        let words: fn() -> Vec<&'static str> = Vec::new;
        let claims: fn(&str) -> bool = |_| false;
        let (own, among, aliases): (_, _, &[&str]) = (false, None, &[]);
        Notation { name, aliases, about, claims, read, among, words, print, own }
    }

    /// Adds other names, each of them a prefix too.
    ///
    /// ```
    /// use tilewright_notation::{Error, Notation, add_notation, notation};
    /// let read = |text: &str| Err(Error::parse((0, text.len()), "nothing is read"));
    /// let none = Notation::new("none", "no layout", read, |_| Err(Error::unsupported("nothing")));
    /// add_notation(none.with_aliases(&["nothing"])).unwrap();
    /// assert_eq!(notation("nothing").unwrap().name(), "none");
    /// ```
    pub const fn with_aliases(mut self, aliases: &'static [&'static str]) -> Notation {
        self.aliases = aliases;
        self
    }

    /// Adds a form: texts for which `claims` holds are read without the prefix too. It is asked about every text and
    /// looks at a few characters. A text that several notations claim and read is
    /// [ambiguous](Error::is_ambiguous), so a form is as narrow as it can be.
    ///
    /// ```
    /// use tilewright_notation::{Error, Notation, Spec, add_notation};
    /// let read = |text: &str| Err(Error::parse((0, text.len()), "nothing is read"));
    /// let none = Notation::new("none", "no layout", read, |_| Err(Error::unsupported("nothing")));
    /// add_notation(none.with_form(|text| text.starts_with("~"))).unwrap();
    /// assert_eq!(Spec::parse("~zN").unwrap_err().to_string(), "nothing is read");
    /// ```
    pub const fn with_form(mut self, claims: fn(&str) -> bool) -> Notation {
        self.claims = claims;
        self
    }

    /// Adds a reader for texts that contain a text of any of the given notations.
    pub(crate) const fn with_inner(mut self, among: ReadAmong) -> Notation {
        self.among = Some(among);
        self
    }

    /// Adds words that it reads, for `did you mean`.
    ///
    /// ```
    /// use tilewright_notation::{Error, Notation, Spec, add_notation};
    /// let read = |text: &str| Err(Error::parse((0, text.len()), "nothing is read"));
    /// let none = Notation::new("none", "no layout", read, |_| Err(Error::unsupported("nothing")));
    /// add_notation(none.with_words(|| vec!["nowhere-at-all"])).unwrap();
    /// let error = Spec::parse("nowhere-at-al").unwrap_err();
    /// assert!(error.to_string().contains("did you mean `nowhere-at-all`?"));
    /// ```
    pub const fn with_words(mut self, words: fn() -> Vec<&'static str>) -> Notation {
        self.words = words;
        self
    }
}

impl Notation {
    /// Its name, which is also its prefix in a SPEC.
    ///
    /// ```
    /// use tilewright_notation::{Spec, notations};
    /// for notation in notations() {
    ///     let text = format!("{}:no such layout", notation.name());
    ///     // The prefix is known: the error is that notation's.
    ///     assert!(Spec::parse(&text).unwrap_err().span().is_some_and(|(from, _)| from > 0), "{text}");
    /// }
    /// ```
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Returns whether this is its name or another name of it, in small letters or capitals.
    pub(crate) fn is_called(&self, name: &str) -> bool {
        let same = |own: &&str| own.eq_ignore_ascii_case(name);
        same(&self.name) || self.aliases.iter().any(same)
    }

    /// The library that the notation comes from and the facts of a layout that it states, in a few words.
    ///
    /// ```
    /// use tilewright_notation::notations;
    /// let numpy = notations().iter().find(|notation| notation.name() == "numpy").unwrap();
    /// assert!(numpy.about().contains("bytes"));
    /// ```
    pub fn about(&self) -> &'static str {
        self.about
    }

    /// The layout in this notation, on one line.
    ///
    /// # Errors
    /// [unsupported](Error::is_unsupported) with the reason why it cannot be expressed there.
    ///
    /// ```
    /// use tilewright_notation::{Spec, notations};
    /// let print = |name| notations().iter().find(|notation| notation.name() == name).unwrap();
    /// let zn = Spec::parse("f16[32,32] zN").unwrap().resolve(None, None).unwrap();
    /// assert_eq!(print("onednn").print(&zn).unwrap(), "BA16a16b");
    /// assert_eq!(print("pattern").print(&zn).unwrap(), "(m1 m0:16) (n1 n0:16) -> n1 m1 m0 n0");
    /// let error = print("numpy").print(&zn).unwrap_err();
    /// assert!(error.is_unsupported());
    /// ```
    pub fn print(&self, named: &ResolvedLayout) -> Result<String, Error> {
        if let Some(words) = named.stored_as() {
            let plain = self.print(&named.clone().without_words())?;
            return Ok(format!("{plain} as {words}"));
        }
        (self.print)(named).or_else(|refusal| self.kept(named).ok_or(refusal))
    }

    /// Reads a text by this notation, and the parts of it that are in other notations by `all`.
    pub(crate) fn read_among(
        &self,
        text: &str,
        all: &'static [Notation],
    ) -> Result<Arc<dyn ParsedSpec>, Error> {
        match self.among {
            Some(read) => read(text, all),
            None => (self.read)(text),
        }
    }

    /// The layout's name, where that is a text of this notation and still describes the layout.
    fn kept(&self, named: &ResolvedLayout) -> Option<String> {
        let name = named.name();
        let prefixed = name.split_once(':').filter(|(prefix, _)| self.is_called(prefix));
        let body = match prefixed {
            Some((_, body)) => body.trim(),
            None if (self.claims)(name) => name,
            None => return None,
        };
        let given = Given { dims: Some(named.layout().extents()), dtype: named.dtype() };
        let again = (self.read)(body).ok()?.resolve(&given).ok()?;
        let same = again.layout == *named.layout() && again.bits == named.explicit_bits();
        same.then(|| name.to_owned())
    }
}

impl fmt::Debug for Notation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Notation({})", self.name)
    }
}
