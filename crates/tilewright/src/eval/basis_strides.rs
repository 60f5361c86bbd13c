//! Strides that name bases, as values of expressions.

use std::fmt;

use tilewright_core::{BasisLayout, IntTuple};

/// Strides that name bases, such as `(1@0,1@1)`, as the text that core reads behind a shape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Strides(String);

impl Strides {
    /// Returns the strides of a text: one stride such as `1@0`, or a tuple.
    pub(super) fn new(text: String) -> Strides {
        Strides(text)
    }

    /// Returns the strides of a map.
    pub(super) fn of(map: &BasisLayout) -> Strides {
        let text = map.to_string();
        Strides(text.split_once(':').map_or("", |(_, strides)| strides).to_owned())
    }

    /// Returns the sum of two strides.
    pub(super) fn plus(&self, other: &Strides) -> Strides {
        Strides(format!("{self}+{other}"))
    }

    /// Returns a single stride times an integer.
    pub(super) fn times(&self, by: i64) -> Option<Strides> {
        let (value, path) = self.0.split_once('@').filter(|_| !self.0.contains(['+', '(']))?;
        Some(Strides(format!("{}@{path}", value.parse::<i64>().ok()?.checked_mul(by)?)))
    }

    /// Returns the map of a shape with these strides, or core's message of why there is none.
    pub(super) fn over(&self, shape: &IntTuple) -> Result<BasisLayout, String> {
        BasisLayout::parse(&format!("{shape}:{self}")).map_err(|error| error.to_string())
    }
}

impl fmt::Display for Strides {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
