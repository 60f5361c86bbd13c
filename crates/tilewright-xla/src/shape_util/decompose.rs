//! A bitcast as a free reshape, a free transpose, or a free transpose, reshape and transpose.

use tilewright_core::Error;

use crate::ArrayShape;

/// The decomposition of a bitcast.
///
/// ```
/// use tilewright_xla::{ArrayShape, shape_util::Bitcast};
/// let shape = |text: &str| ArrayShape::parse(text).unwrap();
/// // The same six numbers, row by row.
/// let bitcast = shape("f32[2,3]{1,0}").decompose_bitcast(&shape("f32[6]{0}"));
/// assert_eq!(bitcast, Ok(Bitcast::Reshape));
/// // The same matrix with its dims in the other order.
/// let bitcast = shape("f32[2,3]{1,0}").decompose_bitcast(&shape("f32[3,2]{0,1}"));
/// assert_eq!(bitcast, Ok(Bitcast::Transpose(vec![1, 0])));
/// ```
#[must_use]
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[doc(alias = "BitcastDecomposition")]
pub enum Bitcast {
    /// A reshape.
    Reshape,
    /// A transpose by these dims.
    Transpose(Vec<u64>),
    /// A transpose, a reshape and a transpose, in this order.
    #[doc(alias = "BitcastDecompositionTrt")]
    Trt {
        /// The permutation of the first transpose.
        transpose1_dims: Vec<u64>,
        /// The result of the first transpose.
        transpose1_shape: ArrayShape,
        /// The result of the reshape.
        reshape_shape: ArrayShape,
        /// The permutation of the second transpose.
        transpose2_dims: Vec<u64>,
    },
}

impl ArrayShape {
    /// Decomposes the bitcast of this array to `output`: into a free reshape, otherwise a free transpose, otherwise both.
    ///
    /// # Errors
    /// Those of [`ArrayShape::decompose_bitcast_to_trt`].
    ///
    /// ```
    /// use tilewright_xla::{ArrayShape, shape_util::Bitcast};
    /// let shape = |text: &str| ArrayShape::parse(text).unwrap();
    /// let bitcast = shape("f32[3,7,6,4]{3,2,1,0}").decompose_bitcast(&shape("f32[3,6,4,7]{2,1,3,0}"));
    /// assert_eq!(bitcast, Ok(Bitcast::Transpose(vec![0, 2, 3, 1])));
    /// assert!(shape("f32[3,7]").decompose_bitcast(&shape("f32[3]")).unwrap_err().is_mismatch());
    /// ```
    #[doc(alias = "DecomposeBitcast")]
    pub fn decompose_bitcast(&self, output: &ArrayShape) -> Result<Bitcast, Error> {
        if self.reshape_is_bitcast(output)? {
            return Ok(Bitcast::Reshape);
        }
        match self.deduce_transpose_dimensions_for_bitcast(output)? {
            Some(dims) => Ok(Bitcast::Transpose(dims)),
            None => self.decompose_bitcast_to_trt(output),
        }
    }

    /// Decomposes the bitcast of this array to `output` into a transpose to storage order, a reshape, and a transpose from
    /// storage order: [`Bitcast::Trt`]. Untiled arrays of one type, size and memory always have one.
    ///
    /// # Errors
    /// [mismatch](Error::is_mismatch) for another number of elements; [illegal](Error::is_illegal) if `output` is not the
    /// same bytes; those of [`ArrayShape::reshape_is_bitcast`].
    ///
    /// ```
    /// use tilewright_xla::{ArrayShape, shape_util::Bitcast};
    /// let shape = |text: &str| ArrayShape::parse(text).unwrap();
    /// let bitcast = shape("f32[16,17,3]{2,1,0}").decompose_bitcast_to_trt(&shape("f32[51,16]{0,1}"));
    /// let Ok(Bitcast::Trt { transpose1_dims, reshape_shape, transpose2_dims, .. }) = bitcast else { panic!() };
    /// assert_eq!((transpose1_dims, transpose2_dims), (vec![0, 1, 2], vec![1, 0]));
    /// assert_eq!(reshape_shape, shape("f32[16,51]{1,0}"));
    /// let fewer = shape("f32[2,3]").decompose_bitcast_to_trt(&shape("f32[5]"));
    /// assert!(fewer.unwrap_err().is_mismatch());
    /// ```
    #[doc(alias = "DecomposeBitcastToTrt")]
    pub fn decompose_bitcast_to_trt(&self, output: &ArrayShape) -> Result<Bitcast, Error> {
        let elements = (self.elements()?, output.elements()?);
        if elements.0 != elements.1 {
            return Err(Error::mismatch(
                "a bitcast of {} elements to {}",
                [elements.0.into(), elements.1.into()],
                "a bitcast keeps every element",
            ));
        }
        let transpose1_shape = self.with_descending_layout_and_same_physical_layout()?;
        let reshape_shape = output.with_descending_layout_and_same_physical_layout()?;
        if !transpose1_shape.reshape_is_bitcast(&reshape_shape)? {
            return Err(Error::illegal(
                "arrays of {} and {} dims in storage order are not the same bytes",
                [self.dims.len() as i128, output.dims.len() as i128],
                "a bitcast keeps types, tiles, element sizes and memories",
            ));
        }
        Ok(Bitcast::Trt {
            transpose1_dims: self.checked_layout()?.major_to_minor(),
            transpose1_shape,
            reshape_shape,
            transpose2_dims: output.checked_layout()?.logical_to_physical(),
        })
    }
}
