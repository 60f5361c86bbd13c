//! The solution of a recipe: every tensor of the result as parts of tensors of the source.

use std::collections::{BTreeMap, BTreeSet};

use tilewright_core::Dtype;

use crate::{config::ConfigJson, value::models::Conditions};

/// The tensors of a result, where each of their elements comes from, and what must hold for the recipe to apply.
///
/// Sources are numbers of the list of tensors that the recipe was solved for. All offsets and strides count elements
/// of a tensor in row-major order, whatever its layout in the file.
///
/// ```
/// use tilewright_recipe::Assembly;
/// assert!(Assembly::default().made.is_empty());
/// ```
#[must_use]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Assembly {
    /// The tensors of the result, by name.
    pub made: Vec<Made>,
    /// Elements that must be equal in the sources before the result may be renamed to its place.
    pub equal: Vec<Equal>,
    /// The tensors of the source whose elements are rounded from f32 to bf16, by their places in the list.
    pub rounded: BTreeSet<usize>,
    /// The tensors of the source that the result does not have, or only in part, by their places in the list.
    pub dropped: BTreeSet<usize>,
    /// The configurations that the result may have: metadata of another file must not contradict them.
    pub result: Conditions,
    /// The sizes that were found, by the keys of the configuration that give them.
    pub solved: BTreeMap<String, u64>,
    /// Entries of metadata that the result gets besides those of the source.
    pub metadata: Vec<(String, String)>,
    /// The changes to `config.json`.
    pub config: ConfigJson,
    /// Sentences about the result for the user: facts that are not checked, and facts that readers of the result must know.
    pub notes: Vec<String>,
}

/// One tensor of the result. Law: its parts partition its elements. [`Recipe::solve`](crate::Recipe::solve) makes only such
/// parts. Who makes parts by hand answers for it: what moves them checks that they stay
/// within both tensors, and that the sum of their sizes is the size of this one, and not that no two of them overlap.
///
/// ```
/// use tilewright_core::Dtype;
/// use tilewright_recipe::{Digit, Made, Origin, Part};
/// // [2,3] of f16, the transposed first source of [3,2].
/// let digits = vec![Digit { extent: 2, source: 1, made: 3 }, Digit { extent: 3, source: 2, made: 1 }];
/// let part = Part { origin: Origin::Source { tensor: 0, offset: 0 }, offset: 0, digits };
/// let made = Made { name: "w".into(), dtype: Dtype::F16, extents: vec![2, 3], layout: None, parts: vec![part] };
/// assert_eq!(made.parts[0].elements(), 6);
/// ```
#[must_use]
#[derive(Clone, Debug, PartialEq)]
pub struct Made {
    /// Its name, unique in the result.
    pub name: String,
    /// Its element type; wider than that of its sources where the recipe widens exactly.
    pub dtype: Dtype,
    /// Its extents.
    pub extents: Vec<u64>,
    /// The SPEC of its layout; row-major without.
    pub layout: Option<String>,
    /// The parts of the source that its elements come from.
    pub parts: Vec<Part>,
}

/// Elements of a tensor of the result that come from one place.
///
/// ```
/// use tilewright_recipe::{Origin, Part};
/// // One element, by no digits at all.
/// let part = Part { origin: Origin::Fill(0), offset: 5, digits: Vec::new() };
/// assert_eq!(part.elements(), 1);
/// ```
#[must_use]
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// The source of the elements.
    pub origin: Origin,
    /// The element of the result at digits of 0.
    pub offset: u64,
    /// The digits that the two sides share, outermost of the result first.
    pub digits: Vec<Digit>,
}

/// The source of elements of the result.
///
/// ```
/// use tilewright_recipe::Origin;
/// assert_ne!(Origin::Fill(0), Origin::Source { tensor: 0, offset: 0 });
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Origin {
    /// A tensor of the source.
    Source {
        /// Its place in the list of tensors.
        tensor: usize,
        /// Its element at digits of 0.
        offset: u64,
    },
    /// The bits of one element, repeated; the strides of the source are 0.
    Fill(u64),
}

/// A digit that the two sides of a part share.
///
/// ```
/// use tilewright_recipe::Digit;
/// // Copies: four elements of the result from one of the source.
/// assert_eq!(Digit { extent: 4, source: 0, made: 1 }.extent, 4);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Digit {
    /// The number of its values.
    pub extent: u64,
    /// Its stride in the source, in elements; 0 for copies and fill.
    pub source: u64,
    /// Its stride in the result, in elements.
    pub made: u64,
}

/// Two sets of elements of the source that must be equal bit for bit, or one that must be a fill.
///
/// In its digits, `source` is the stride in `first` and `made` the stride in `second`.
///
/// ```
/// use tilewright_recipe::{Digit, Equal, Origin};
/// // The last 8 of 72 rows of 64 elements must be padding.
/// let first = Origin::Source { tensor: 3, offset: 64 * 64 };
/// let digits = vec![Digit { extent: 8 * 64, source: 1, made: 0 }];
/// let equal = Equal { first, second: Origin::Fill(0), digits, why: "the padding of axis ~v".into() };
/// assert_eq!(equal.digits[0].extent, 512);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Equal {
    /// The elements, in a tensor.
    pub first: Origin,
    /// The elements or the fill that they must equal.
    pub second: Origin,
    /// The digits that both are walked by.
    pub digits: Vec<Digit>,
    /// A description of the elements, for the error.
    pub why: String,
}

impl Part {
    /// The number of its elements.
    ///
    /// ```
    /// use tilewright_recipe::{Digit, Origin, Part};
    /// let digits = vec![Digit { extent: 4, source: 0, made: 2 }, Digit { extent: 2, source: 0, made: 1 }];
    /// assert_eq!(Part { origin: Origin::Fill(0), offset: 0, digits }.elements(), 8);
    /// ```
    pub fn elements(&self) -> u64 {
        self.digits.iter().map(|digit| digit.extent).product()
    }
}
