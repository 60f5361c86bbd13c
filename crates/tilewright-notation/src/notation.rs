//! A notation: how it is recognised, read and printed. The one value a dialect is to the rest of the
//! crate.

use std::{fmt, sync::Arc};

use crate::{
    Named,
    error::Error,
    reading::{Given, Reading},
};

/// A notation, and how a layout is said in it.
///
/// ```
/// use tilewright_notation::{Spec, notations};
/// let hlo = notations().iter().find(|notation| notation.name() == "hlo").unwrap();
/// let columns = Spec::parse("f32[2,3] col-major").unwrap().resolve(None, None).unwrap();
/// assert_eq!(hlo.print(&columns).unwrap(), "f32[2,3]{0,1}");
/// ```
#[derive(Clone, Copy)]
pub struct Notation {
    pub(crate) name: &'static str,
    /// Other names, as prefixes and for [`notation`].
    pub(crate) aliases: &'static [&'static str],
    /// Whose it is and what it says, in a few words.
    pub(crate) about: &'static str,
    /// Whether a text has its form, decided at a glance: so errors come from the dialect meant.
    pub(crate) claims: fn(&str) -> bool,
    /// Reads a text without spaces around it and without the prefix.
    pub(crate) read: fn(&str) -> Result<Arc<dyn Reading>, Error>,
    /// Its words, for suggestions.
    pub(crate) words: fn() -> Vec<&'static str>,
    pub(crate) print: fn(&Named) -> Result<String, Error>,
}

/// A dialect without words of its own.
pub(crate) fn no_words() -> Vec<&'static str> {
    Vec::new()
}

/// The form of no text: only its prefix names the dialect.
pub(crate) fn only_by_prefix(_: &str) -> bool {
    false
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

    /// Whether this is its name or another name of it, in small letters or capitals.
    pub(crate) fn is_called(&self, name: &str) -> bool {
        let same = |own: &&str| own.eq_ignore_ascii_case(name);
        same(&self.name) || self.aliases.iter().any(|alias| same(alias))
    }

    /// Whose notation it is and what it says of a layout, in a few words.
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
    /// [unsupported](Error::is_unsupported) with the reason why it cannot be said there.
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
    pub fn print(&self, named: &Named) -> Result<String, Error> {
        (self.print)(named).or_else(|refusal| self.kept(named).ok_or(refusal))
    }

    /// The layout's name, where that is a text of this notation and still says the layout.
    fn kept(&self, named: &Named) -> Option<String> {
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
