//! The notations a layout can be printed in.

use crate::{Named, dialect, error::Error};

/// A notation, and how a layout is said in it.
///
/// ```
/// use tilewright_notation::{Spec, notations};
/// let hlo = notations().iter().find(|notation| notation.name() == "hlo").unwrap();
/// let columns = Spec::parse("f32[2,3] col-major").unwrap().resolve(None, None).unwrap();
/// assert_eq!(hlo.print(&columns).unwrap(), "f32[2,3]{0,1}");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Notation {
    pub(crate) name: &'static str,
    pub(crate) print: fn(&Named) -> Result<String, Error>,
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
        (self.print)(named)
    }
}

/// Every notation a layout can be printed in.
///
/// ```
/// use tilewright_notation::{Spec, notations};
/// let named = Spec::parse("f32[3,5]{1,0:T(2,2)}").unwrap().resolve(None, None).unwrap();
/// let said: Vec<String> = notations()
///     .iter()
///     .map(|notation| match notation.print(&named) {
///         Ok(text) => format!("{}: {text}", notation.name()),
///         Err(_) => format!("{} cannot say it", notation.name()),
///     })
///     .collect();
/// assert_eq!(said, [
///     "cute: ((2,2),(2,3)):((2,12),(1,4)) valid (3,5)",
///     "hlo: f32[3,5]{1,0:T(2,2)}",
///     "pattern: (m1 m0:2) (n1 n0:2) -> m1 n1 m0 n0",
///     "numpy cannot say it",
///     "onednn: AB2a2b",
/// ]);
/// ```
pub fn notations() -> &'static [Notation] {
    dialect::NOTATIONS
}
