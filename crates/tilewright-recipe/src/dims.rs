//! Dims of the input's tensors, by patterns of their names: what a size asks of the shapes.

use std::{collections::BTreeMap, fmt};

use crate::{globs::matches, tensor::Tensor};

/// A dim of all tensors of these names.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Glob {
    pub(crate) names: String,
    pub(crate) dim: u64,
}

/// The dims that a recipe asks for, or why one is unknown.
pub(crate) type Dims = BTreeMap<Glob, Result<u64, String>>;

/// As a recipe writes it.
impl fmt::Display for Glob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "dim('{}', {})", self.names, self.dim)
    }
}

impl Glob {
    /// The dim that all tensors of these names have.
    pub(crate) fn of(&self, tensors: &[Tensor]) -> Result<u64, String> {
        let mut found: Option<(&str, u64)> = None;
        for tensor in tensors.iter().filter(|tensor| matches(&self.names, &tensor.name)) {
            let extent = usize::try_from(self.dim).ok().and_then(|dim| tensor.extents.get(dim));
            let extent =
                *extent.ok_or_else(|| format!("{:?} has no dim {}", tensor.name, self.dim))?;
            let (name, first) = *found.get_or_insert((&tensor.name, extent));
            if first != extent {
                return Err(format!(
                    "dim {} is {first} in {name:?} and {extent} in {:?}",
                    self.dim, tensor.name
                ));
            }
        }
        let none = || format!("there is no tensor `{}`", self.names);
        found.map(|(_, extent)| extent).ok_or_else(none)
    }
}
