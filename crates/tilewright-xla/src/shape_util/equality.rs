//! Comparison of shapes: equal, compatible, of the same structure.

use crate::{ArrayShape, Dim, Ignore, Shape, ShapeKind};

impl ArrayShape {
    /// Returns whether both are written alike, apart from the ignored properties.
    ///
    /// ```
    /// use tilewright_xla::{ArrayShape, Ignore};
    /// let (a, b) = (ArrayShape::parse("f32[4,3]{1,0}").unwrap(), ArrayShape::parse("bf16[4,3]{1,0}").unwrap());
    /// assert!(!a.equal(&b, Ignore::NOTHING));
    /// assert!(a.equal(&b, Ignore { fp_precision: true, ..Ignore::NOTHING }));
    /// ```
    #[doc(alias = "Equal")]
    pub fn equal(&self, other: &ArrayShape, ignore: Ignore) -> bool {
        let types = ignore.element_type
            || self.same_element_type(other)
            || ignore.fp_precision && self.same_element_type_ignoring_fp_precision(other);
        let layouts = ignore.layout
            || match (&self.layout, &other.layout) {
                (Some(a), Some(b)) => a.equal(b, ignore),
                (a, b) => a.is_none() == b.is_none(),
            };
        types && layouts && self.same_rank(other) && dims_equal(&self.dims, &other.dims, ignore)
    }

    /// Returns whether both have the same type and dims; layouts and dynamic flags are ignored.
    ///
    /// ```
    /// use tilewright_xla::ArrayShape;
    /// let shape = |text: &str| ArrayShape::parse(text).unwrap();
    /// assert!(shape("f32[23,44]{1,0}").compatible(&shape("f32[<=23,44]{0,1}")));
    /// assert!(!shape("f32[23,44]").compatible(&shape("f32[23,45]")));
    /// ```
    #[doc(alias = "Compatible")]
    pub fn compatible(&self, other: &ArrayShape) -> bool {
        self.equal(other, Ignore::LAYOUT_AND_DYNAMIC)
    }

    /// Returns whether values of this shape fit where `bounded` is expected: the ranks are equal, and no dim exceeds its
    /// bound. The element types are not compared.
    ///
    /// ```
    /// use tilewright_xla::ArrayShape;
    /// let shape = |text: &str| ArrayShape::parse(text).unwrap();
    /// assert!(shape("f32[2,3]").dynamic_compatible(&shape("f32[<=4,3]")));
    /// assert!(!shape("f32[5,3]").dynamic_compatible(&shape("f32[<=4,3]")));
    /// ```
    #[doc(alias = "DynamicArrayShapeIsCompatible")]
    pub fn dynamic_compatible(&self, bounded: &ArrayShape) -> bool {
        let below = |(&dim, &bound): (&Dim, &Dim)| match (dim, bound) {
            (_, Dim::Unbounded) => true,
            (Dim::Unbounded, _) => false,
            (
                Dim::Static(extent) | Dim::Bounded(extent),
                Dim::Static(bound) | Dim::Bounded(bound),
            ) => extent <= bound,
        };
        self.same_rank(bounded) && self.dims.iter().zip(&bounded.dims).all(below)
    }
}

/// Returns whether dims of one rank are equal.
fn dims_equal(a: &[Dim], b: &[Dim], ignore: Ignore) -> bool {
    let extent = super::predicates::extent;
    let equal = |(&a, &b): (&Dim, &Dim)| {
        let dynamic = ignore.dynamic || std::mem::discriminant(&a) == std::mem::discriminant(&b);
        let free = ignore.dynamic && (extent(a).is_none() || extent(b).is_none());
        dynamic && (ignore.dimensions || free || extent(a) == extent(b))
    };
    a.iter().zip(b).all(equal)
}

impl Shape {
    /// Returns whether both are written alike, apart from the ignored properties.
    ///
    /// ```
    /// use tilewright_xla::{Ignore, Shape};
    /// let shape = |text: &str| Shape::parse(text).unwrap();
    /// let (a, b) = (shape("(f32[2]{0}, b(s8[3]))"), shape("(f32[2]{0}, s8[3])"));
    /// assert!(!a.equal(&b, Ignore::NOTHING));
    /// assert!(a.equal(&b, Ignore { buffer: true, ..Ignore::NOTHING }));
    /// ```
    #[doc(alias = "Equal")]
    #[doc(alias = "EqualIgnoringElementType")]
    #[doc(alias = "EqualIgnoringFpPrecision")]
    pub fn equal(&self, other: &Shape, ignore: Ignore) -> bool {
        use ShapeKind::{Array, Buffer, Opaque, Token, Tuple};
        match (self.kind(), other.kind()) {
            (Array(a), Array(b)) | (Buffer(a), Buffer(b)) => a.equal(b, ignore),
            (Array(a), Buffer(b)) | (Buffer(a), Array(b)) => ignore.buffer && a.equal(b, ignore),
            (Tuple(a), Tuple(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.equal(b, ignore))
            }
            (Token, Token) | (Opaque, Opaque) => true,
            (Array(_) | Buffer(_) | Tuple(_) | Token | Opaque, _) => false,
        }
    }

    /// Returns whether both have the same structure, types and dims; layouts and dynamic flags are ignored.
    ///
    /// ```
    /// use tilewright_xla::Shape;
    /// let shape = |text: &str| Shape::parse(text).unwrap();
    /// assert!(shape("(f32[2]{0})").compatible(&shape("(f32[<=2])")));
    /// assert!(!shape("token[]").compatible(&shape("f32[]")));
    /// ```
    #[doc(alias = "Compatible")]
    pub fn compatible(&self, other: &Shape) -> bool {
        self.equal(other, Ignore::LAYOUT_AND_DYNAMIC)
    }

    /// Compares like [`Shape::compatible`], and ignores the element types.
    ///
    /// ```
    /// use tilewright_xla::Shape;
    /// let shape = |text: &str| Shape::parse(text).unwrap();
    /// assert!(shape("(f32[2]{0})").compatible_ignoring_element_type(&shape("(s8[2])")));
    /// assert!(!shape("(f32[2])").compatible_ignoring_element_type(&shape("(f32[3])")));
    /// ```
    #[doc(alias = "CompatibleIgnoringElementType")]
    pub fn compatible_ignoring_element_type(&self, other: &Shape) -> bool {
        self.equal(other, Ignore { element_type: true, ..Ignore::LAYOUT_AND_DYNAMIC })
    }

    /// Compares like [`Shape::compatible`], and ignores differences between floating-point types.
    ///
    /// ```
    /// use tilewright_xla::Shape;
    /// let shape = |text: &str| Shape::parse(text).unwrap();
    /// assert!(shape("(f32[2])").compatible_ignoring_fp_precision(&shape("(bf16[2])")));
    /// assert!(!shape("(f32[2])").compatible_ignoring_fp_precision(&shape("(s32[2])")));
    /// ```
    #[doc(alias = "CompatibleIgnoringFpPrecision")]
    pub fn compatible_ignoring_fp_precision(&self, other: &Shape) -> bool {
        self.equal(other, Ignore { fp_precision: true, ..Ignore::LAYOUT_AND_DYNAMIC })
    }

    /// Returns whether both are of one kind (array, tuple, token, opaque or buffer), and so are the members of tuples;
    /// types and dims are ignored.
    ///
    /// ```
    /// use tilewright_xla::Shape;
    /// let shape = |text: &str| Shape::parse(text).unwrap();
    /// assert!(shape("(f32[2], token[])").compatible_kind(&shape("(f32[3,4], token[])")));
    /// assert!(!shape("(f32[2])").compatible_kind(&shape("(token[])")));
    /// ```
    #[doc(alias = "CompatibleKind")]
    pub fn compatible_kind(&self, other: &Shape) -> bool {
        use ShapeKind::{Array, Buffer, Opaque, Token, Tuple};
        match (self.kind(), other.kind()) {
            (Tuple(a), Tuple(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.compatible_kind(b))
            }
            (Array(_), Array(_)) | (Buffer(_), Buffer(_)) => true,
            (Token, Token) | (Opaque, Opaque) => true,
            (Array(_) | Buffer(_) | Tuple(_) | Token | Opaque, _) => false,
        }
    }

    /// Returns whether the tuples of both have the same structure; anything that is not a tuple is ignored.
    ///
    /// ```
    /// use tilewright_xla::Shape;
    /// let shape = |text: &str| Shape::parse(text).unwrap();
    /// assert!(shape("(f32[2], token[])").equal_structure(&shape("(s8[], f32[9])")));
    /// assert!(!shape("(f32[2])").equal_structure(&shape("f32[2]")));
    /// ```
    #[doc(alias = "EqualStructure")]
    pub fn equal_structure(&self, other: &Shape) -> bool {
        match (self.tuple_shapes(), other.tuple_shapes()) {
            (Some(a), Some(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.equal_structure(b))
            }
            (a, b) => a.is_none() == b.is_none(),
        }
    }

    /// Compares each pair of arrays of shapes of one structure, by [`ArrayShape::dynamic_compatible`].
    ///
    /// ```
    /// use tilewright_xla::Shape;
    /// let shape = |text: &str| Shape::parse(text).unwrap();
    /// // The result of an execution, against the shape that the program promised.
    /// assert!(shape("(f32[5], token[])").dynamic_compatible(&shape("(f32[<=8], token[])")));
    /// assert!(!shape("(f32[9], token[])").dynamic_compatible(&shape("(f32[<=8], token[])")));
    /// ```
    #[doc(alias = "DynamicShapeIsCompatible")]
    pub fn dynamic_compatible(&self, bounded: &Shape) -> bool {
        use ShapeKind::{Array, Buffer, Opaque, Token, Tuple};
        match (self.kind(), bounded.kind()) {
            (Array(a), Array(b)) | (Buffer(a), Buffer(b)) => a.dynamic_compatible(b),
            (Tuple(a), Tuple(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.dynamic_compatible(b))
            }
            (Token, Token) | (Opaque, Opaque) => true,
            (Array(_) | Buffer(_) | Tuple(_) | Token | Opaque, _) => false,
        }
    }
}
