//! The notations a layout can be printed in.

use crate::{Named, dialect, error::Error};

/// A notation, and how a layout is said in it.
#[derive(Clone, Copy, Debug)]
pub struct Notation {
    pub(crate) name: &'static str,
    pub(crate) print: fn(&Named) -> Result<String, Error>,
}

impl Notation {
    /// Its name, which is also its prefix in a SPEC.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The layout in this notation, on one line.
    ///
    /// # Errors
    /// [unsupported](Error::is_unsupported) with the reason why it cannot be said there.
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
