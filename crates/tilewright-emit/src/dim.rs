//! The extent of a dim: a number, or a name with known facts.

use std::rc::Rc;

use crate::{
    expr::{Expr, Var},
    facts::OffsetFacts,
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
