//! Checks of shapes: every array's type, dims, size and layout.
//!
//! Corresponds to XLA's `ValidateShape` and `ValidateLayoutInShape`, without their aborts.

use tilewright_core::Error as Refusal;

use crate::{
    ArrayShape, Dim, Error, PrimitiveType, Shape, ShapeIndex, ShapeKind, shape_error::of_member,
};

impl ArrayShape {
    /// Checks that such an array can exist: its type has values, each dim and the bytes of all elements are below 2⁶³, and
    /// the layout, if there is one, fits ([`crate::Layout::validate`]). Unbounded dims count as 1.
    ///
    /// # Errors
    /// [illegal](Refusal::is_illegal) for a type without values; [overflow](Refusal::is_overflow) for a dim or a size; those
    /// of [`crate::Layout::validate`] for the layout.
    ///
    /// ```
    /// use tilewright_xla::ArrayShape;
    /// assert_eq!(ArrayShape::parse("f32[2,?]{0,1}").unwrap().validate(), Ok(()));
    /// let huge = ArrayShape::parse("f32[4611686018427387904,8]").unwrap();
    /// assert!(huge.validate().unwrap_err().is_overflow());
    /// ```
    pub fn validate(&self) -> Result<(), Refusal> {
        let bytes = element_bytes(self.element_type)?;
        check_size(&self.dims, bytes)?;
        match &self.layout {
            Some(layout) => layout.validate(&self.largest_extents()),
            None => Ok(()),
        }
    }

    /// Returns the extents, with the largest possible one for an unbounded dim.
    fn largest_extents(&self) -> Vec<u64> {
        let extent = |dim: &Dim| match *dim {
            Dim::Static(extent) | Dim::Bounded(extent) => extent,
            Dim::Unbounded => i64::MAX as u64,
        };
        self.dims.iter().map(extent).collect()
    }
}

fn element_bytes(element_type: PrimitiveType) -> Result<u64, Refusal> {
    let bits = element_type.storage_bits().ok_or_else(|| {
        Refusal::illegal(
            "arrays do not hold elements of type number {}",
            [element_type.number().into()],
            "tuples, tokens, opaque values and buffers are not elements",
        )
    })?;
    Ok(u64::from(bits.div_ceil(8)))
}

/// Checks each dim, and the total bytes of the elements.
fn check_size(dims: &[Dim], element_bytes: u64) -> Result<(), Refusal> {
    let (mut bytes, limit) = (u128::from(element_bytes), i64::MAX as u128);
    for (at, dim) in dims.iter().enumerate() {
        let (Dim::Static(extent) | Dim::Bounded(extent)) = *dim else { continue };
        if u128::from(extent) > limit {
            return Err(Refusal::overflow(
                "dim {} of extent {}",
                [at as i128, extent.into()],
                "an extent is at most 2^63 - 1",
            ));
        }
        bytes = (bytes * u128::from(extent)).min(limit + 1);
    }
    let empty = dims.iter().any(|dim| matches!(dim, Dim::Static(0) | Dim::Bounded(0)));
    if bytes > limit && !empty {
        return Err(Refusal::overflow(
            "the elements of {} dims take more than 2^63 - 1 bytes",
            [dims.len() as i128],
            "an array has at most 2^63 - 1 bytes",
        ));
    }
    Ok(())
}

impl Shape {
    /// Checks every array by [`ArrayShape::validate`]. A layout may be absent.
    ///
    /// # Errors
    /// The first invalid array, with its path.
    ///
    /// ```
    /// use tilewright_xla::{Layout, Shape};
    /// let mut shape = Shape::parse("(token[], f32[9])").unwrap();
    /// assert_eq!(shape.validate(), Ok(()));
    /// shape.array_at_mut(&[1]).unwrap().set_layout(Some(Layout::ascending(3)));
    /// let error = shape.validate().unwrap_err();
    /// assert!(error.to_string().contains("contains 3 elements, but shape has 1 dimensions"));
    /// ```
    #[doc(alias = "ValidateShape")]
    #[doc(alias = "ValidateShapeWithOptionalLayout")]
    pub fn validate(&self) -> Result<(), Error> {
        validate(self, &ShapeIndex::default(), false)
    }

    /// Checks like [`Shape::validate`], and that every array has a layout.
    ///
    /// # Errors
    /// The first array that is invalid or lacks a layout, with its path.
    ///
    /// ```
    /// use tilewright_xla::Shape;
    /// let shape = |text: &str| Shape::parse(text).unwrap();
    /// assert_eq!(shape("(f32[2]{0}, token[])").validate_with_layouts(), Ok(()));
    /// let error = shape("(f32[2]{0}, f32[3])").validate_with_layouts().unwrap_err();
    /// assert_eq!((error.case(), error.name()), ("missing-layout", Some("{1}")));
    /// ```
    #[doc(alias = "ValidateLayoutInShape")]
    pub fn validate_with_layouts(&self) -> Result<(), Error> {
        validate(self, &ShapeIndex::default(), true)
    }
}

fn validate(shape: &Shape, index: &ShapeIndex, strict: bool) -> Result<(), Error> {
    match shape.kind() {
        ShapeKind::Array(array) | ShapeKind::Buffer(array) => {
            let refused = |cause| Err(of_member(index, array, cause));
            match array.validate() {
                Err(cause) => refused(Some(cause)),
                Ok(()) if strict && array.layout.is_none() => refused(None),
                Ok(()) => Ok(()),
            }
        }
        ShapeKind::Tuple(shapes) => {
            let mut members = (0u64..).zip(shapes);
            members.try_for_each(|(at, member)| validate(member, &index.child(at), strict))
        }
        ShapeKind::Token | ShapeKind::Opaque => Ok(()),
    }
}
