//! Permutation of logical dims, and dims made the slowest.
//!
//! Law: permuting dims moves no byte; the element `index` of the result is the element `permute_inverse(index, p)` of the
//! array.

use tilewright_core::Error;

use crate::{ArrayShape, Shape, permutation};

impl ArrayShape {
    /// Returns the array whose dim `i` is dim `permutation[i]` of this one, with every element at its old offset:
    /// `dims' = p ∘ dims`, `minor_to_major' = p⁻¹ ∘ minor_to_major`. Tiles and splits are physical and are kept. An absent
    /// layout is the row-major one.
    ///
    /// XLA's `ReorderLogicalDimensions` is equal; older versions of it were so for involutions only.
    ///
    /// # Errors
    /// [mismatch](Error::is_mismatch) for another number of entries than dims; [illegal](Error::is_illegal) for a list
    /// that is not a permutation.
    ///
    /// ```
    /// use tilewright_xla::ArrayShape;
    /// let shape = ArrayShape::parse("f32[2,3,4]{2,1,0}").unwrap();
    /// assert_eq!(shape.permute_dimensions(&[1, 2, 0]).unwrap().to_string(), "f32[3,4,2]{1,0,2}");
    /// assert!(shape.permute_dimensions(&[0, 0, 1]).unwrap_err().is_illegal());
    /// ```
    #[doc(alias = "PermuteDimensions")]
    #[doc(alias = "ReorderLogicalDimensions")]
    pub fn permute_dimensions(&self, permutation: &[u64]) -> Result<ArrayShape, Error> {
        let layout = self.checked_layout()?.permuted(permutation)?;
        Ok(ArrayShape {
            element_type: self.element_type,
            dims: permutation::permute(&self.dims, permutation)?,
            layout: Some(layout),
        })
    }

    /// Returns the array with its dims in storage order, slowest first, so that the layout is row-major and no byte moves.
    /// Tiles, element size, alignment, memory space and splits are kept.
    ///
    /// # Errors
    /// [mismatch](Error::is_mismatch) for a layout of another rank.
    ///
    /// ```
    /// use tilewright_xla::ArrayShape;
    /// let shape = ArrayShape::parse("f32[8,100,60,3]{3,0,2,1:T(8,128)}").unwrap();
    /// let same = shape.with_descending_layout_and_same_physical_layout().unwrap();
    /// assert_eq!(same.to_string(), "f32[100,60,8,3]{3,2,1,0:T(8,128)}");
    /// ```
    #[doc(alias = "MakeShapeWithDescendingLayoutAndSamePhysicalLayout")]
    pub fn with_descending_layout_and_same_physical_layout(&self) -> Result<ArrayShape, Error> {
        self.permute_dimensions(&self.checked_layout()?.major_to_minor())
    }

    /// Returns the array stored with a logical dim as the slowest; the order of the others, the tiles and all other
    /// properties are kept. This moves elements. Negative numbers count from the end.
    ///
    /// # Errors
    /// [out of range](Error::is_out_of_range) for a dim that does not exist.
    ///
    /// ```
    /// use tilewright_xla::ArrayShape;
    /// let shape = ArrayShape::parse("s4[2,3,4]{0,2,1:T(2,2)E(4)}").unwrap();
    /// assert_eq!(shape.with_dim_major(0).unwrap().to_string(), "s4[2,3,4]{2,1,0:T(2,2)E(4)}");
    /// assert!(shape.with_dim_major(3).unwrap_err().is_out_of_range());
    /// ```
    #[doc(alias = "MoveDimToMajor")]
    pub fn with_dim_major(&self, dim: i64) -> Result<ArrayShape, Error> {
        let layout = Some(self.checked_layout()?.with_dim_major(dim)?);
        Ok(ArrayShape { layout, ..self.clone() })
    }
}

impl Shape {
    /// Returns the shape with this dim of every array as its slowest, by [`ArrayShape::with_dim_major`].
    ///
    /// # Errors
    /// [out of range](Error::is_out_of_range) if some array lacks this dim.
    ///
    /// ```
    /// use tilewright_xla::Shape;
    /// let shape = Shape::parse("(f32[2,3]{1,0:T(2,2)}, token[])").unwrap();
    /// assert_eq!(shape.with_dim_major(1).unwrap().to_string(), "(f32[2,3]{0,1:T(2,2)}, token[])");
    /// assert!(shape.with_dim_major(2).unwrap_err().is_out_of_range());
    /// ```
    #[doc(alias = "MoveDimToMajor")]
    pub fn with_dim_major(&self, dim: i64) -> Result<Shape, Error> {
        self.with_each_array(&|array| array.with_dim_major(dim))
    }
}
