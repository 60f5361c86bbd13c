//! A tensor by its name, element type and extents, and the element types whose elements are whole bytes. Imagined jobs,
//! models and lists of boxes use them.

use tilewright_core::{Dtype, TensorLayout};

use crate::{
    Error,
    plan::array::{Laid, size},
};

/// A tensor of a checkpoint that need not exist.
///
/// ```
/// use tilewright_reshard::Tensor;
/// assert_eq!(Tensor::new("w", "BF16", &[4096, 8192]).bytes(), 64 << 20);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tensor {
    /// Its name.
    pub name: String,
    /// Its element type, as safetensors spells it.
    pub dtype: String,
    /// Its extents.
    pub extents: Vec<u64>,
}

impl Tensor {
    /// Makes a tensor of this name, element type and extents.
    ///
    /// ```
    /// # use tilewright_reshard::Tensor;
    /// assert_eq!(Tensor::new("norm", "F32", &[64]).name, "norm");
    /// ```
    pub fn new(name: &str, dtype: &str, extents: &[u64]) -> Tensor {
        Tensor { name: name.to_owned(), dtype: dtype.to_owned(), extents: extents.to_vec() }
    }

    /// Returns the bytes of its elements; 0 for an unknown element type.
    ///
    /// ```
    /// # use tilewright_reshard::Tensor;
    /// assert_eq!(Tensor::new("norm", "F32", &[64]).bytes(), 256);
    /// ```
    pub fn bytes(&self) -> u64 {
        let bits = Elements::of(&self.dtype).map_or(0, |elements| elements.bits);
        size(&self.extents).saturating_mul(u64::from(bits / 8))
    }
}

/// An element type of whole bytes, and its width.
pub(crate) struct Elements {
    pub(crate) dtype: Dtype,
    pub(crate) bits: u32,
}

impl Elements {
    pub(crate) fn of(name: &str) -> Result<Elements, Error> {
        let dtype = tilewright_notation::dtype(name).map_err(Error::without_span)?;
        // A Boolean is stored in a byte; other types narrower than a byte are packed.
        let is_whole = |bits: &u32| bits.is_multiple_of(8);
        let bits = match dtype {
            Dtype::Pred => dtype.storage_bits(),
            _ => dtype.bits(),
        };
        let bits = bits.filter(is_whole).filter(|bits| *bits > 0);
        let none = || Error::new("unsupported", format!("elements of {name} are not whole bytes"));
        Ok(Elements { dtype, bits: bits.ok_or_else(none)? })
    }

    /// Makes a row-major local array of such elements.
    pub(crate) fn laid(&self, file_dtype: &str, shape: &[u64]) -> Result<Laid, Error> {
        let layout = TensorLayout::row_major(shape)?;
        let (file_dtype, shape, spec) = (file_dtype.to_owned(), shape.to_vec(), None);
        let (dtype, bits, packed) = (self.dtype, self.bits, false);
        Ok(Laid { file_dtype, dtype, bits, layout, shape, spec, packed, big: false })
    }
}
