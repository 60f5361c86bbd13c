//! The kinds of faults of recipes, as words of [`Error::kind`](crate::Error::kind). Kinds may be added.
//!
//! ```
//! use tilewright_recipe::{Recipe, kind};
//! let errors = Recipe::parse("[[map]]\nfrom = 'a : h h'\nto = 'b : h h'").unwrap_err();
//! assert_eq!((errors.first().kind(), kind::TERMS), ("terms", "terms"));
//! ```

/// The text is no TOML.
pub const TOML: &str = "toml";
/// A key that recipes do not have, or a value of another type than the key's.
pub const KEY: &str = "key";
/// A rule wants numbers computed.
pub const ARITHMETIC: &str = "arithmetic";
/// Axes that cannot be read.
pub const EXPRESSION: &str = "expression";
/// A pattern of names that cannot be read, or that reads a name in two ways.
pub const NAME: &str = "name";
/// The two sides of a rule are not the same sum of terms.
pub const TERMS: &str = "terms";
/// A size that cannot be read, that the configuration lacks, or two sizes of one axis.
pub const SIZE: &str = "size";
/// A condition of the recipe that cannot be read, or that does not hold.
pub const REQUIRE: &str = "require";
/// A rule, or a reference of it, that takes no tensor.
pub const UNMATCHED: &str = "unmatched";
/// A number in names that is left out.
pub const MISSING: &str = "missing";
/// A tensor that several rules take.
pub const CLAIMED: &str = "claimed";
/// A tensor that no rule takes.
pub const UNCLAIMED: &str = "unclaimed";
/// A name that several tensors of the result would have.
pub const TWICE: &str = "twice";
/// A tensor with another number of dimensions than its rule gives.
pub const RANK: &str = "rank";
/// Extents that are not the size of their expression, or do not divide.
pub const EXTENT: &str = "extent";
/// An axis whose size does not follow.
pub const UNSOLVED: &str = "unsolved";
/// An axis that has another size elsewhere.
pub const VARYING: &str = "varying";
/// Element types that differ, or that cannot be widened exactly.
pub const DTYPE: &str = "dtype";
/// A second name of a tensor that is not there.
pub const TIE: &str = "tie";
/// The tensors that the recipe was to be solved for are not a list of tensors.
pub const INPUT: &str = "input";
/// A configuration of a model that the recipe is not for.
pub const CONFIG: &str = "config";
/// More than a recipe may hold or make.
pub const LIMIT: &str = "limit";

/// The kinds of faults of single tensors.
const OF_TENSORS: &[&str] =
    &[CLAIMED, UNCLAIMED, TWICE, RANK, EXTENT, VARYING, DTYPE, TIE, MISSING];

/// Returns whether faults of the kind are those of tensors.
pub(crate) fn is_of_tensors(kind: &str) -> bool {
    OF_TENSORS.contains(&kind)
}
