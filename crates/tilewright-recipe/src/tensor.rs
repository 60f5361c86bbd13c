//! A tensor as recipes see it: a name, an element type and extents.

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
