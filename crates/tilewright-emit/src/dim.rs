//! The extent of a dim: a number, or a name with known facts, such as `N % 16 == 0`, which a caller assumes.

use std::{rc::Rc, str::FromStr};

use crate::{
    Error,
    expr::{Expr, OffsetFacts, Var},
};

/// The extent of a dim.
///
/// ```
/// use tilewright_emit::Dim;
/// assert_eq!(Dim::Known(128).to_string(), "128");
/// assert_eq!(Dim::named("N").to_string(), "N");
/// ```
#[must_use]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Dim {
    /// A number.
    Known(u64),
    /// A name, and a number that divides the extent.
    Named {
        /// The name: a word of letters, digits and underscores.
        name: Rc<str>,
        /// A number that divides the extent; 1 if none is known.
        multiple: u64,
    },
}

impl Dim {
    /// Returns a name without known facts.
    ///
    /// ```
    /// use tilewright_emit::Dim;
    /// assert!(matches!(Dim::named("N"), Dim::Named { multiple: 1, .. }));
    /// ```
    pub fn named(name: &str) -> Dim {
        Dim::Named { name: name.into(), multiple: 1 }
    }

    /// Returns the extent as an expression; a named extent is at least 1.
    pub(crate) fn expr(&self) -> Expr {
        match self {
            Dim::Known(extent) => Expr::Int(i64::try_from(*extent).unwrap_or(i64::MAX)),
            Dim::Named { name, multiple } => {
                let multiple = i128::from(*multiple).max(1);
                let facts = OffsetFacts { low: Some(multiple), high: None, multiple };
                Expr::Var(Var { name: name.clone(), facts })
            }
        }
    }

    /// Returns the known facts of a coordinate along it.
    pub(crate) fn coordinate(&self) -> OffsetFacts {
        match self {
            Dim::Known(extent) => OffsetFacts::up_to(Some(i128::from(*extent) - 1)),
            Dim::Named { .. } => OffsetFacts::up_to(None),
        }
    }
}

impl std::fmt::Display for Dim {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Dim::Known(extent) => extent.fmt(f),
            Dim::Named { name, .. } => f.write_str(name),
        }
    }
}

/// A number that divides a named extent.
///
/// ```
/// use tilewright_emit::{Assumption, Dim};
/// let known: Assumption = "N % 16 == 0".parse()?;
/// let dims = known.apply(vec![Dim::named("M"), Dim::named("N")])?;
/// assert!(matches!(dims[1], Dim::Named { multiple: 16, .. }));
///
/// let error = known.apply(vec![Dim::named("K")]).unwrap_err();
/// assert!(error.to_string().ends_with("no extent has the name N; there is K"), "{error}");
/// # Ok::<(), tilewright_emit::Error>(())
/// ```
#[must_use]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assumption {
    name: String,
    multiple: u64,
}

impl FromStr for Assumption {
    type Err = Error;

    fn from_str(text: &str) -> Result<Assumption, Error> {
        let wrong = || {
            Error::usage(format!(
                "assumption {text:?}: expected 'N % 16 == 0', one fact with a number from 1 on"
            ))
        };
        let (left, right) = text.split_once("==").ok_or_else(wrong)?;
        let (name, multiple) = left.split_once('%').ok_or_else(wrong)?;
        let multiple: u64 = multiple.trim().parse().map_err(|_| wrong())?;
        if right.trim() != "0" || multiple == 0 || multiple > i64::MAX as u64 {
            return Err(wrong());
        }
        Ok(Assumption { name: name.trim().to_owned(), multiple })
    }
}

impl Assumption {
    /// Returns the dims with this fact added to the named one.
    ///
    /// # Errors
    /// `usage` if no dim has the name.
    ///
    /// ```
    /// use tilewright_emit::{Assumption, Dim};
    /// let both = ["N % 4 == 0", "N % 6 == 0"].map(|text| text.parse::<Assumption>().unwrap());
    /// let dims = both.iter().try_fold(vec![Dim::named("N")], |dims, known| known.apply(dims))?;
    /// assert!(matches!(dims[0], Dim::Named { multiple: 12, .. }));
    /// # Ok::<(), tilewright_emit::Error>(())
    /// ```
    pub fn apply(&self, mut dims: Vec<Dim>) -> Result<Vec<Dim>, Error> {
        let mut names = Vec::new();
        let mut found = false;
        for dim in &mut dims {
            let Dim::Named { name, multiple } = dim else { continue };
            names.push(name.to_string());
            if **name == *self.name {
                found = true;
                *multiple = lcm(*multiple, self.multiple).ok_or_else(|| {
                    Error::usage(format!(
                        "assumptions of {name}: their least common multiple has more than 63 bits"
                    ))
                })?;
            }
        }
        match found {
            true => Ok(dims),
            false => {
                let names = match names.is_empty() {
                    true => "every extent is a number".to_owned(),
                    false => format!("there is {}", names.join(", ")),
                };
                let said = format!("assumption of {}", self.name);
                Err(Error::usage(format!("{said}: no extent has the name {}; {names}", self.name)))
            }
        }
    }
}

fn lcm(a: u64, b: u64) -> Option<u64> {
    (a / tilewright_core::gcd(a, b).max(1)).checked_mul(b).filter(|all| *all <= i64::MAX as u64)
}
