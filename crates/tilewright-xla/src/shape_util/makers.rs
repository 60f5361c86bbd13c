//! Checked constructors of shapes, and dims made static or dynamic.

use tilewright_core::Error;

use super::dimension_number;
use crate::{ArrayShape, Dim, Layout, PrimitiveType, Shape};

impl ArrayShape {
    /// Creates a scalar.
    ///
    /// # Errors
    /// Those of [`ArrayShape::validated`].
    ///
    /// ```
    /// use tilewright_xla::{ArrayShape, PrimitiveType};
    /// assert_eq!(ArrayShape::scalar(PrimitiveType::F32).unwrap().to_string(), "f32[]");
    /// ```
    #[doc(alias = "MakeScalarShape")]
    pub fn scalar(element_type: PrimitiveType) -> Result<ArrayShape, Error> {
        ArrayShape::validated(element_type, &[])
    }

    /// Creates an array of these dims in the default layout, and checks it.
    ///
    /// # Errors
    /// [unsupported](Error::is_unsupported) for a type that arrays cannot have, where XLA aborts;
    /// [overflow](Error::is_overflow) if the product of the static and bounded dims exceeds 2⁶³ − 1 elements or bytes.
    ///
    /// ```
    /// use tilewright_xla::{ArrayShape, Dim, PrimitiveType};
    /// let shape = ArrayShape::validated(PrimitiveType::F32, &[Dim::Bounded(8), Dim::Static(3)]).unwrap();
    /// assert_eq!(shape.to_string(), "f32[<=8,3]{1,0}");
    /// let huge = [Dim::Static(1 << 62), Dim::Static(4)];
    /// assert!(ArrayShape::validated(PrimitiveType::U8, &huge).unwrap_err().is_overflow());
    /// assert!(ArrayShape::validated(PrimitiveType::Token, &[]).unwrap_err().is_unsupported());
    /// ```
    #[doc(alias = "MakeValidatedShape")]
    pub fn validated(element_type: PrimitiveType, dims: &[Dim]) -> Result<ArrayShape, Error> {
        ArrayShape::with_layout(element_type, dims, &Layout::descending(dims.len()))
    }

    /// Creates an array of these dims in this layout, and checks it. An element size that equals the natural width of the
    /// type is dropped.
    ///
    /// # Errors
    /// Those of [`ArrayShape::validated`] and [`Layout::validate`].
    ///
    /// ```
    /// use tilewright_xla::{ArrayShape, Dim, Layout, PrimitiveType};
    /// let layout = Layout::parse("{0,1:T(2,2)E(32)}").unwrap();
    /// let dims = [Dim::Static(3), Dim::Static(5)];
    /// let shape = ArrayShape::with_layout(PrimitiveType::F32, &dims, &layout).unwrap();
    /// assert_eq!(shape.to_string(), "f32[3,5]{0,1:T(2,2)}");
    /// assert!(ArrayShape::with_layout(PrimitiveType::F32, &dims[..1], &layout).unwrap_err().is_mismatch());
    /// ```
    #[doc(alias = "MakeShapeWithDenseLayout")]
    #[doc(alias = "MakeValidatedShapeWithDenseLayout")]
    #[doc(alias = "MakeShapeWithDescendingLayout")]
    pub fn with_layout(
        element_type: PrimitiveType,
        dims: &[Dim],
        layout: &Layout,
    ) -> Result<ArrayShape, Error> {
        let bits = element_type.storage_bits().ok_or_else(super::no_values)?;
        let shape = ArrayShape { element_type, dims: dims.to_vec(), layout: Some(layout.clone()) };
        let elements = shape.static_extent_product()?;
        if u128::from(elements) * u128::from(bits / 8) > i64::MAX as u128 {
            return Err(Error::overflow(
                "{} elements of {} bytes",
                [elements.into(), (bits / 8).into()],
                "an array has at most 2^63 - 1 bytes",
            ));
        }
        let bound = |dim: &Dim| super::predicates::extent(*dim).unwrap_or(i64::MAX as u64);
        layout.validate(&dims.iter().map(bound).collect::<Vec<_>>())?;
        Ok(shape.with_natural_element_size_left_out())
    }

    /// Returns the array with every bounded dim made static at its bound, and without a metadata prefix, which only dynamic
    /// dims need. An absent layout stays absent.
    ///
    /// # Errors
    /// [unsupported](Error::is_unsupported) for an unbounded dim, which XLA makes a static dim of −2⁶³.
    ///
    /// ```
    /// use tilewright_xla::ArrayShape;
    /// let shape = ArrayShape::parse("f32[<=23,44]{1,0:M(16)}").unwrap();
    /// assert_eq!(shape.to_static().unwrap().to_string(), "f32[23,44]{1,0}");
    /// assert!(ArrayShape::parse("f32[?,784]").unwrap().to_static().unwrap_err().is_unsupported());
    /// ```
    #[doc(alias = "MakeStaticShape")]
    #[doc(alias = "MakeShapeWithStaticDimensions")]
    pub fn to_static(&self) -> Result<ArrayShape, Error> {
        let dims = self.extents()?.into_iter().map(Dim::Static).collect();
        let layout = self.layout.clone();
        let layout =
            layout.map(|layout| layout.with_dynamic_metadata_prefix_bytes(0)).transpose()?;
        Ok(ArrayShape { element_type: self.element_type, dims, layout })
    }

    /// Makes a dim dynamic, with its extent as the bound, or static. Negative numbers count from the end.
    ///
    /// # Errors
    /// [out of range](Error::is_out_of_range) for a dim that does not exist; [unsupported](Error::is_unsupported) if an
    /// unbounded dim is to become static.
    ///
    /// ```
    /// use tilewright_xla::ArrayShape;
    /// let mut shape = ArrayShape::parse("f32[<=23,44,<=55]").unwrap();
    /// shape.update_dynamic_dimension(2, false).unwrap();
    /// assert_eq!(shape.to_string(), "f32[<=23,44,55]");
    /// assert!(shape.update_dynamic_dimension(3, true).unwrap_err().is_out_of_range());
    /// let mut unbounded = ArrayShape::parse("f32[?]").unwrap();
    /// assert!(unbounded.update_dynamic_dimension(0, false).unwrap_err().is_unsupported());
    /// ```
    #[doc(alias = "UpdateDynamicDimension")]
    #[doc(alias = "set_dynamic_dimension")]
    pub fn update_dynamic_dimension(&mut self, dim: i64, dynamic: bool) -> Result<(), Error> {
        let at = dimension_number(dim, self.dims.len())?;
        let Some(slot) = self.dims.get_mut(at) else { return Ok(()) };
        *slot = match (*slot, dynamic) {
            (Dim::Unbounded, true) => Dim::Unbounded,
            (Dim::Static(extent) | Dim::Bounded(extent), true) => Dim::Bounded(extent),
            (Dim::Static(extent) | Dim::Bounded(extent), false) => Dim::Static(extent),
            (Dim::Unbounded, false) => {
                return Err(Error::unsupported(
                    "dim {} has no bound to use as its extent",
                    [at as i128],
                    "give it an extent first",
                ));
            }
        };
        Ok(())
    }

    /// Makes dims dynamic that are dynamic in another shape of the same rank, and the others static.
    ///
    /// # Errors
    /// [mismatch](Error::is_mismatch) for another rank; those of [`ArrayShape::update_dynamic_dimension`]. Nothing is
    /// changed then.
    ///
    /// ```
    /// use tilewright_xla::ArrayShape;
    /// let mut shape = ArrayShape::parse("f32[2,<=3]").unwrap();
    /// shape.copy_dynamic_dimensions_from(&ArrayShape::parse("f32[<=7,7]").unwrap()).unwrap();
    /// assert_eq!(shape.to_string(), "f32[<=2,3]");
    /// let other = ArrayShape::parse("f32[<=7]").unwrap();
    /// assert!(shape.copy_dynamic_dimensions_from(&other).unwrap_err().is_mismatch());
    /// ```
    #[doc(alias = "CopyDynamicDimensions")]
    pub fn copy_dynamic_dimensions_from(&mut self, source: &ArrayShape) -> Result<(), Error> {
        if !self.same_rank(source) {
            return Err(Error::mismatch(
                "ranks differ: {} and {}",
                [source.dims.len() as i128, self.dims.len() as i128],
                "dynamic dims can only be copied between arrays of equal rank",
            ));
        }
        let mut changed = self.clone();
        for (at, dim) in source.dims.iter().enumerate() {
            changed.update_dynamic_dimension(at as i64, !matches!(dim, Dim::Static(_)))?;
        }
        *self = changed;
        Ok(())
    }
}

impl Shape {
    /// Returns the shape with every array made static, by [`ArrayShape::to_static`].
    ///
    /// # Errors
    /// [unsupported](Error::is_unsupported) for an unbounded dim.
    ///
    /// ```
    /// use tilewright_xla::Shape;
    /// let shape = Shape::parse("(f32[<=2], token[])").unwrap();
    /// assert_eq!(shape.to_static().unwrap().to_string(), "(f32[2], token[])");
    /// assert!(Shape::parse("f32[?]").unwrap().to_static().unwrap_err().is_unsupported());
    /// ```
    #[doc(alias = "MakeStaticShape")]
    pub fn to_static(&self) -> Result<Shape, Error> {
        let (mut shape, mut result) = (self.clone(), Ok(()));
        shape.for_each_array_mut(&mut |array| match array.to_static() {
            Ok(fixed) => *array = fixed,
            Err(error) => result = Err(error),
        });
        result.map(|()| shape)
    }
}
