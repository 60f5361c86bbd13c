//! Dims of the input's tensors, by patterns of their names: what a size asks of the shapes.

use std::{collections::BTreeMap, fmt};

use crate::{tensor::Tensor, text::globs::matches, value::lack::Lack};

/// A dim of all tensors of these names; without it, how many there are.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Glob {
    pub(crate) names: String,
    pub(crate) dim: Option<u64>,
}

/// The dims that a recipe uses, each with its value or the reason for its lack.
pub(crate) type Dims = BTreeMap<Glob, Result<u64, Lack>>;

/// As a recipe writes it.
impl fmt::Display for Glob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.dim {
            Some(dim) => write!(f, "dim('{}', {dim})", self.names),
            None => write!(f, "count('{}')", self.names),
        }
    }
}

impl Glob {
    /// Its value among these tensors.
    pub(crate) fn of(&self, tensors: &[Tensor]) -> Result<u64, Lack> {
        let named = tensors.iter().filter(|tensor| matches(&self.names, &tensor.name));
        match self.dim {
            Some(dim) => self.common(dim, named),
            None => Ok(named.count() as u64),
        }
    }

    /// The dim that all of the tensors have.
    fn common<'a>(&self, dim: u64, tensors: impl Iterator<Item = &'a Tensor>) -> Result<u64, Lack> {
        let mut found: Option<(&str, u64)> = None;
        for tensor in tensors {
            let extent = usize::try_from(dim).ok().and_then(|dim| tensor.extents.get(dim));
            let lacks = || Lack::Wrong(format!("{:?} has no dim {dim}", tensor.name));
            let extent = *extent.ok_or_else(lacks)?;
            let (name, first) = *found.get_or_insert((&tensor.name, extent));
            if first != extent {
                let other = &tensor.name;
                let says = format!("dim {dim} is {first} in {name:?} and {extent} in {other:?}");
                return Err(Lack::Wrong(says));
            }
        }
        let none = || Lack::Absent(format!("there is no tensor `{}`", self.names));
        found.map(|(_, extent)| extent).ok_or_else(none)
    }
}
