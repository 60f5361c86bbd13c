//! A tensor as recipes see it: a name, an element type and extents.
//!
//! A size may ask for a dim of the input's tensors by a pattern of their names, in which `*` is any text and everything else
//! itself. [`Lack`] is the reason that a size is missing.

use std::{collections::BTreeMap, fmt};

use tilewright_core::Dtype;

/// The longest name of a tensor, in bytes: patterns try many ways to read one.
pub(crate) const LONGEST_NAME: usize = 1024;

/// A tensor of the checkpoint that a recipe is solved for.
///
/// ```
/// use tilewright_core::Dtype;
/// use tilewright_recipe::Tensor;
/// let tensor = Tensor::new("lm_head.weight", Dtype::Bf16, [64, 32]);
/// assert_eq!((tensor.extents.len(), tensor.elements()), (2, Some(2048)));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tensor {
    /// Its name.
    pub name: String,
    /// Its element type.
    pub dtype: Dtype,
    /// Its extents.
    pub extents: Vec<u64>,
}

impl Tensor {
    /// A tensor.
    ///
    /// ```
    /// use tilewright_core::Dtype;
    /// use tilewright_recipe::Tensor;
    /// assert_eq!(Tensor::new("scale", Dtype::F32, []).elements(), Some(1));
    /// ```
    pub fn new(name: impl Into<String>, dtype: Dtype, extents: impl Into<Vec<u64>>) -> Tensor {
        Tensor { name: name.into(), dtype, extents: extents.into() }
    }

    /// The number of its elements; none beyond 63 bits.
    ///
    /// ```
    /// use tilewright_core::Dtype;
    /// use tilewright_recipe::Tensor;
    /// assert_eq!(Tensor::new("w", Dtype::F32, [1 << 40, 1 << 40]).elements(), None);
    /// ```
    pub fn elements(&self) -> Option<u64> {
        elements(&self.extents)
    }
}

/// The product of extents, where the product of those that are not 0 fits 63 bits: then all strides do.
pub(crate) fn elements(extents: &[u64]) -> Option<u64> {
    let times = |all: u64, extent: &u64| {
        all.checked_mul((*extent).max(1)).filter(|all| *all <= i64::MAX as u64)
    };
    let all = extents.iter().try_fold(1, times)?;
    Some(if extents.contains(&0) { 0 } else { all })
}

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

/// Returns whether one of the patterns matches the name.
pub(crate) fn matches_any(patterns: &[String], name: &str) -> bool {
    patterns.iter().any(|pattern| matches(pattern, name))
}

/// Returns whether the pattern matches the name: its parts occur in their order, the first and the last one at the ends.
pub(crate) fn matches(pattern: &str, name: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return pattern == name };
    let (middle, last) = rest.rsplit_once('*').unwrap_or(("", rest));
    let Some(name) = name.strip_prefix(first).and_then(|name| name.strip_suffix(last)) else {
        return false;
    };
    let mut left = name;
    middle.split('*').all(|part| match left.find(part) {
        Some(at) => {
            left = &left[at + part.len()..];
            true
        }
        None => false,
    })
}

/// The reason that a size is missing.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Lack {
    /// Something it needs is not there: a sentence.
    Absent(String),
    /// A size that it needs is not known yet.
    Later(String),
    /// The expression fails, for this reason.
    Wrong(String),
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By definition: a star takes nothing, or one character and goes on.
    fn naive(pattern: &[u8], name: &[u8]) -> bool {
        match (pattern.split_first(), name.split_first()) {
            (None, None) => true,
            (Some((b'*', rest)), _) => {
                naive(rest, name) || (!name.is_empty() && naive(pattern, &name[1..]))
            }
            (Some((a, rest)), Some((b, name))) => a == b && naive(rest, name),
            (None, Some(_)) | (Some(_), None) => false,
        }
    }

    fn texts(letters: &[u8], most: usize) -> Vec<String> {
        let mut all = vec![String::new()];
        let mut last = all.clone();
        for _ in 0..most {
            last = last
                .iter()
                .flat_map(|text| letters.iter().map(move |c| format!("{text}{}", *c as char)))
                .collect();
            all.extend(last.clone());
        }
        all
    }

    #[test]
    fn all_short_patterns_match_as_defined() {
        let names = texts(b"ab", 5);
        for pattern in texts(b"ab*", 5) {
            for name in &names {
                assert_eq!(
                    matches(&pattern, name),
                    naive(pattern.as_bytes(), name.as_bytes()),
                    "{pattern} {name}"
                );
            }
        }
    }
}
