//! Queries and changes of shapes: XLA's `ShapeUtil`, as methods of [`ArrayShape`],
//! [`Shape`] and [`PrimitiveType`].
//!
//! This file has predicates of shapes, and properties of element types: integral, floating, complex, signed, and their precision.
//! Methods that take an existing dim accept negative numbers, which count from the end ([`dimension_number`]). Where
//! XLA aborts, they return an error.
//!
//! Source: `xla/shape_util.h`; the aliases are XLA's names.

mod dims;
mod equality;
mod makers;
mod padding;
mod reshape;
mod sizes;
mod transpose;
mod traversal;

pub use equality::Ignore;
pub use makers::Native;
pub use padding::{Factor, LeastPadding, PaddingAdvice, PaddingCause};
pub use reshape::{
    UnitDims, common_factors, dimensions_unmodified_by_reshape,
    inserted_or_deleted_1_sized_dimensions, reshape_leaves_dimensions_unmodified,
};
pub(crate) use sizes::no_values;
pub use sizes::tuple_index_table_bytes;
pub use transpose::Bitcast;
pub use traversal::for_each_index;

use tilewright_core::Error;

use crate::{
    ArrayShape, Dim,
    PrimitiveType::{self, *},
    Shape, ShapeKind,
};

/// Returns the dim that a number names in an array of `rank` dims: counted from 0, or from −1 at the end.
///
/// # Errors
/// [out of range](Error::is_out_of_range) for a dim that does not exist, where XLA aborts.
///
/// ```
/// use tilewright_xla::shape_util::dimension_number;
/// assert_eq!((dimension_number(-1, 2), dimension_number(1, 2)), (Ok(1), Ok(1)));
/// let error = dimension_number(-3, 2).unwrap_err();
/// assert!(error.is_out_of_range() && error.to_string().contains("dim -3 of an array of 2"));
/// ```
#[doc(alias = "GetDimensionNumber")]
pub fn dimension_number(dim: i64, rank: usize) -> Result<usize, Error> {
    let from_start = if dim < 0 { i128::from(dim) + rank as i128 } else { dim.into() };
    let found = usize::try_from(from_start).ok().filter(|&number| number < rank);
    found.ok_or_else(|| {
        Error::out_of_range(
            "dim {} of an array of {} dims",
            [dim.into(), rank as i128],
            "dims count from 0, or from -1 at the end",
        )
    })
}

/// Returns the dims that several numbers name; each may occur once.
pub(crate) fn dimension_numbers(dims: &[i64], rank: usize) -> Result<Vec<usize>, Error> {
    let (mut seen, mut numbers) = (vec![false; rank], Vec::with_capacity(dims.len()));
    for &dim in dims {
        let number = dimension_number(dim, rank)?;
        match seen.get_mut(number) {
            Some(slot) if !*slot => *slot = true,
            _ => {
                return Err(Error::illegal(
                    "dim {} is named twice in a list of {}",
                    [number as i128, dims.len() as i128],
                    "name each dim at most once",
                ));
            }
        }
        numbers.push(number);
    }
    Ok(numbers)
}

/// Returns the letters of the dims of arrays of rank 1 to 4, the most major first: `x`; `y x`; `z y x`; `p z y x`.
/// `None` for higher ranks.
///
/// ```
/// use tilewright_xla::shape_util::dimension_letters;
/// assert_eq!(dimension_letters(3), Some("zyx"));
/// assert_eq!(dimension_letters(5), None);
/// ```
pub fn dimension_letters(rank: usize) -> Option<&'static str> {
    ["", "x", "yx", "zyx", "pzyx"].get(rank).copied()
}

impl ArrayShape {
    /// Returns the number of dims.
    ///
    /// ```
    /// use tilewright_xla::ArrayShape;
    /// assert_eq!(ArrayShape::parse("f32[<=8,1,?]").unwrap().rank(), 3);
    /// ```
    pub fn rank(&self) -> usize {
        self.dims.len()
    }

    /// Returns a dim; negative numbers count from the end.
    ///
    /// # Errors
    /// [out of range](Error::is_out_of_range) for a dim that does not exist, where XLA aborts.
    ///
    /// ```
    /// use tilewright_xla::{ArrayShape, Dim};
    /// let shape = ArrayShape::parse("f32[2,3]").unwrap();
    /// assert_eq!((shape.dimension(-1), shape.dimension(-2)), (Ok(Dim::Static(3)), Ok(Dim::Static(2))));
    /// assert!(shape.dimension(-3).unwrap_err().is_out_of_range());
    /// ```
    #[doc(alias = "GetDimension")]
    pub fn dimension(&self, dim: i64) -> Result<Dim, Error> {
        let at = dimension_number(dim, self.dims.len())?;
        Ok(self.dims.get(at).copied().unwrap_or(Dim::Unbounded))
    }

    /// Returns whether the rank is 0.
    ///
    /// ```
    /// use tilewright_xla::ArrayShape;
    /// let scalar = |text| ArrayShape::parse(text).unwrap().is_scalar();
    /// assert!(scalar("f32[]") && !scalar("f32[1]"));
    /// ```
    #[doc(alias = "IsScalar")]
    pub fn is_scalar(&self) -> bool {
        self.dims.is_empty()
    }

    /// Returns whether it is a scalar of this type.
    ///
    /// ```
    /// use tilewright_xla::{ArrayShape, PrimitiveType};
    /// let scalar = ArrayShape::parse("pred[]").unwrap();
    /// assert!(scalar.is_scalar_of(PrimitiveType::Pred) && !scalar.is_scalar_of(PrimitiveType::S32));
    /// ```
    #[doc(alias = "IsScalarWithElementType")]
    pub fn is_scalar_of(&self, element_type: PrimitiveType) -> bool {
        self.is_scalar() && self.element_type == element_type
    }

    /// Returns whether every dim is 1, so that there is one element.
    ///
    /// ```
    /// use tilewright_xla::ArrayShape;
    /// let effective = |text: &str| ArrayShape::parse(text).unwrap().is_effective_scalar();
    /// assert!(effective("f32[1,1]") && effective("f32[]") && !effective("f32[1,2]"));
    /// ```
    #[doc(alias = "IsEffectiveScalar")]
    pub fn is_effective_scalar(&self) -> bool {
        self.dims.iter().all(|&dim| extent(dim) == Some(1))
    }

    /// Returns whether some dim is 0, so that the array is empty.
    ///
    /// ```
    /// use tilewright_xla::ArrayShape;
    /// let zero = |text| ArrayShape::parse(text).unwrap().is_zero_element_array();
    /// assert!(zero("f32[2,0,3]") && !zero("f32[]"));
    /// ```
    #[doc(alias = "IsZeroElementArray")]
    pub fn is_zero_element_array(&self) -> bool {
        self.dims.iter().any(|&dim| extent(dim) == Some(0))
    }

    /// Returns whether some dim is 1.
    ///
    /// ```
    /// use tilewright_xla::ArrayShape;
    /// let degenerate = |text| ArrayShape::parse(text).unwrap().has_degenerate_dimensions();
    /// assert!(degenerate("f32[8,1,128]") && !degenerate("f32[8,0]"));
    /// ```
    #[doc(alias = "HasDegenerateDimensions")]
    pub fn has_degenerate_dimensions(&self) -> bool {
        self.dims.iter().any(|&dim| extent(dim) == Some(1))
    }

    /// Returns the number of dims with more than one coordinate, as XLA's documents define it. An unbounded dim counts.
    ///
    /// ```
    /// use tilewright_xla::ArrayShape;
    /// let shape = ArrayShape::parse("f32[0,1,4]").unwrap();
    /// assert_eq!((shape.true_rank(), shape.true_num_dimensions()), (1, 2));
    /// ```
    pub fn true_rank(&self) -> usize {
        self.dims.iter().filter(|&&dim| extent(dim).is_none_or(|extent| extent > 1)).count()
    }

    /// Returns the number of dims that are not 1, as XLA's code counts: empty dims too.
    ///
    /// ```
    /// use tilewright_xla::ArrayShape;
    /// let count = |text| ArrayShape::parse(text).unwrap().true_num_dimensions();
    /// assert_eq!((count("f32[8,1,128]"), count("f32[1,0]")), (2, 1));
    /// ```
    #[doc(alias = "TrueNumDimensions")]
    pub fn true_num_dimensions(&self) -> usize {
        self.dims.iter().filter(|&&dim| extent(dim) != Some(1)).count()
    }

    /// Returns whether every dim is static.
    ///
    /// ```
    /// use tilewright_xla::ArrayShape;
    /// let is_static = |text| ArrayShape::parse(text).unwrap().is_static();
    /// assert!(is_static("f32[8,128]") && !is_static("f32[<=8,128]") && !is_static("f32[?]"));
    /// ```
    pub fn is_static(&self) -> bool {
        self.dims.iter().all(|dim| matches!(dim, Dim::Static(_)))
    }

    /// Returns whether both have the same dims; dynamic flags are ignored.
    ///
    /// ```
    /// use tilewright_xla::ArrayShape;
    /// let shape = |text: &str| ArrayShape::parse(text).unwrap();
    /// assert!(shape("f32[2,<=3]").same_dimensions(&shape("s8[2,3]")));
    /// ```
    #[doc(alias = "SameDimensions")]
    pub fn same_dimensions(&self, other: &ArrayShape) -> bool {
        let extents = |shape: &ArrayShape| -> Vec<Option<u64>> {
            shape.dims.iter().map(|&dim| extent(dim)).collect()
        };
        extents(self) == extents(other)
    }

    /// Returns whether both have the same number of dims.
    ///
    /// ```
    /// use tilewright_xla::ArrayShape;
    /// let shape = |text: &str| ArrayShape::parse(text).unwrap();
    /// assert!(shape("f32[2,3]").same_rank(&shape("s8[9,9]")));
    /// assert!(!shape("f32[2,3]").same_rank(&shape("f32[6]")));
    /// ```
    #[doc(alias = "SameRank")]
    pub fn same_rank(&self, other: &ArrayShape) -> bool {
        self.dims.len() == other.dims.len()
    }

    /// Returns whether both have the same element type.
    ///
    /// ```
    /// use tilewright_xla::ArrayShape;
    /// let shape = |text: &str| ArrayShape::parse(text).unwrap();
    /// assert!(shape("f32[2]").same_element_type(&shape("f32[]")));
    /// assert!(!shape("f32[2]").same_element_type(&shape("bf16[2]")));
    /// ```
    #[doc(alias = "SameElementType")]
    pub fn same_element_type(&self, other: &ArrayShape) -> bool {
        self.element_type == other.element_type
    }

    /// Returns whether both have the same element type, or both any floating-point type.
    ///
    /// ```
    /// use tilewright_xla::ArrayShape;
    /// let shape = |text: &str| ArrayShape::parse(text).unwrap();
    /// let same = |a, b| shape(a).same_element_type_ignoring_fp_precision(&shape(b));
    /// assert!(same("f32[2]", "bf16[2]") && same("s8[2]", "s8[2]"));
    /// assert!(!same("s8[2]", "s16[2]"));
    /// ```
    #[doc(alias = "SameElementTypeIgnoringFpPrecision")]
    pub fn same_element_type_ignoring_fp_precision(&self, other: &ArrayShape) -> bool {
        self.same_element_type(other)
            || self.element_type.is_floating_point() && other.element_type.is_floating_point()
    }

    /// Returns whether a logical dim is the most major one when dims of extent 1 are skipped. Negative numbers count from
    /// the end.
    ///
    /// # Errors
    /// [out of range](Error::is_out_of_range) for a dim that does not exist; [mismatch](Error::is_mismatch) for a layout
    /// of another rank.
    ///
    /// ```
    /// use tilewright_xla::ArrayShape;
    /// let shape = ArrayShape::parse("f32[1,1,16,1,279]{4,0,1,2,3}").unwrap();
    /// assert_eq!(shape.is_effectively_most_major_dimension(2), Ok(true));
    /// let shape = ArrayShape::parse("f32[1,1,16,1,279]{0,1,2,3,4}").unwrap();
    /// assert_eq!(shape.is_effectively_most_major_dimension(2), Ok(false));
    /// assert!(shape.is_effectively_most_major_dimension(5).unwrap_err().is_out_of_range());
    /// ```
    #[doc(alias = "IsEffectivelyMostMajorDimension")]
    pub fn is_effectively_most_major_dimension(&self, dim: i64) -> Result<bool, Error> {
        let at = dimension_number(dim, self.dims.len())?;
        let order = self.checked_layout()?.major_to_minor();
        let numbers = order.into_iter().map(crate::permutation::index);
        let counts = |&other: &usize| {
            other == at || self.dims.get(other).copied().and_then(extent) != Some(1)
        };
        Ok(numbers.into_iter().find(counts) == Some(at))
    }

    /// Returns the layout, or the default one, and checks its rank.
    fn checked_layout(&self) -> Result<crate::Layout, Error> {
        let layout = self.layout_or_default();
        if layout.rank() == self.dims.len() {
            return Ok(layout);
        }
        Err(Error::mismatch(
            "layout minor_to_major field contains {} elements, but shape has {} dimensions",
            [layout.rank() as i128, self.dims.len() as i128],
            "the order names each dim once",
        ))
    }
}

/// Returns the extent or its bound.
pub(crate) fn extent(dim: Dim) -> Option<u64> {
    match dim {
        Dim::Static(extent) | Dim::Bounded(extent) => Some(extent),
        Dim::Unbounded => None,
    }
}

impl Shape {
    /// Returns whether it is an array of rank 0.
    ///
    /// ```
    /// use tilewright_xla::Shape;
    /// let scalar = |text| Shape::parse(text).unwrap().is_scalar();
    /// assert!(scalar("f32[]") && !scalar("(f32[])") && !scalar("token[]"));
    /// ```
    #[doc(alias = "IsScalar")]
    pub fn is_scalar(&self) -> bool {
        self.as_array().is_some_and(ArrayShape::is_scalar)
    }

    /// Returns whether it is an array without elements. A tuple is not, whatever its members.
    ///
    /// ```
    /// use tilewright_xla::Shape;
    /// let zero = |text| Shape::parse(text).unwrap().is_zero_element_array();
    /// assert!(zero("f32[0]") && !zero("(f32[0])") && !zero("()"));
    /// ```
    #[doc(alias = "IsZeroElementArray")]
    pub fn is_zero_element_array(&self) -> bool {
        self.as_array().is_some_and(ArrayShape::is_zero_element_array)
    }

    /// Returns whether it is a tuple with a tuple among its members.
    ///
    /// ```
    /// use tilewright_xla::Shape;
    /// assert!(Shape::parse("(f32[], ())").unwrap().is_nested_tuple());
    /// assert!(!Shape::parse("(f32[])").unwrap().is_nested_tuple());
    /// ```
    #[doc(alias = "IsNestedTuple")]
    pub fn is_nested_tuple(&self) -> bool {
        self.tuple_shapes().is_some_and(|shapes| shapes.iter().any(Shape::is_tuple))
    }

    /// Returns whether it is an array whose element type has this many bits, 1 for booleans; the layout is ignored.
    ///
    /// ```
    /// use tilewright_xla::Shape;
    /// let has = |text, bits| Shape::parse(text).unwrap().element_has_bit_width(bits);
    /// assert!(has("s4[3]{0:E(8)}", 4) && has("pred[]", 1) && has("bf16[0]", 16));
    /// assert!(!has("pred[]", 8) && !has("(s4[3])", 4) && !has("token[]", 0));
    /// ```
    #[doc(alias = "ElementHasBitWidth")]
    pub fn element_has_bit_width(&self, bits: u32) -> bool {
        self.as_array().is_some_and(|array| array.element_type.bits() == Some(bits))
    }

    /// Returns whether this type occurs anywhere in it: as the elements of an array, or as the kind of a part.
    ///
    /// ```
    /// use tilewright_xla::{PrimitiveType, Shape};
    /// let shape = Shape::parse("(f32[2], (s8[3], token[]))").unwrap();
    /// assert!(shape.has_primitive_type(PrimitiveType::S8) && shape.has_primitive_type(PrimitiveType::Token));
    /// assert!(!shape.has_primitive_type(PrimitiveType::U8));
    /// ```
    #[doc(alias = "HasPrimitiveType")]
    pub fn has_primitive_type(&self, primitive: PrimitiveType) -> bool {
        match self.kind() {
            ShapeKind::Array(array) => array.element_type == primitive,
            ShapeKind::Tuple(shapes) => {
                primitive == Tuple || shapes.iter().any(|shape| shape.has_primitive_type(primitive))
            }
            ShapeKind::Token => primitive == Token,
            ShapeKind::Opaque => primitive == Opaque,
            ShapeKind::Buffer(array) => primitive == Buffer || array.element_type == primitive,
        }
    }
}

impl PrimitiveType {
    /// Returns whether it is a type of integers; booleans are not.
    ///
    /// ```
    /// use tilewright_xla::PrimitiveType;
    /// assert!(PrimitiveType::U4.is_integral() && !PrimitiveType::Pred.is_integral());
    /// ```
    #[doc(alias = "ElementIsIntegral")]
    pub fn is_integral(self) -> bool {
        matches!(self, U1 | U2 | U4 | U8 | U16 | U32 | U64) || self.is_signed_integral()
    }

    /// Returns whether it is a type of signed integers.
    ///
    /// ```
    /// use tilewright_xla::PrimitiveType;
    /// assert!(PrimitiveType::S4.is_signed_integral());
    /// assert!(!PrimitiveType::U8.is_signed_integral() && !PrimitiveType::F32.is_signed_integral());
    /// ```
    pub fn is_signed_integral(self) -> bool {
        matches!(self, S1 | S2 | S4 | S8 | S16 | S32 | S64)
    }

    /// Returns whether it is a type of integers of this many bits.
    ///
    /// ```
    /// use tilewright_xla::PrimitiveType;
    /// assert!(PrimitiveType::S8.is_integral_with_bits(8) && PrimitiveType::U8.is_integral_with_bits(8));
    /// assert!(!PrimitiveType::F8e5m2.is_integral_with_bits(8));
    /// ```
    #[doc(alias = "ElementIsIntegralWithBits")]
    pub fn is_integral_with_bits(self, bits: u32) -> bool {
        self.is_integral() && self.bits() == Some(bits)
    }

    /// Returns whether it is a type of floating-point numbers.
    ///
    /// ```
    /// use tilewright_xla::PrimitiveType;
    /// assert!(PrimitiveType::Bf16.is_floating_point() && PrimitiveType::F8e5m2.is_floating_point());
    /// // A complex number consists of two, but is not one.
    /// assert!(!PrimitiveType::C64.is_floating_point());
    /// ```
    #[doc(alias = "ElementIsFloating")]
    pub fn is_floating_point(self) -> bool {
        self.float_range().is_some()
    }

    /// Returns whether it is a type of complex numbers.
    ///
    /// ```
    /// use tilewright_xla::PrimitiveType;
    /// assert!(PrimitiveType::C64.is_complex() && !PrimitiveType::F64.is_complex());
    /// ```
    #[doc(alias = "ElementIsComplex")]
    pub fn is_complex(self) -> bool {
        matches!(self, C64 | C128)
    }

    /// Returns whether it is a type of real numbers with negative values: signed integers and floating-point numbers.
    ///
    /// ```
    /// use tilewright_xla::PrimitiveType;
    /// assert!(PrimitiveType::F32.is_signed() && !PrimitiveType::U8.is_signed());
    /// ```
    #[doc(alias = "ElementIsSigned")]
    pub fn is_signed(self) -> bool {
        self.is_signed_integral() || self.is_floating_point()
    }

    /// Returns whether a value is narrower than a byte, except for booleans.
    ///
    /// ```
    /// use tilewright_xla::PrimitiveType;
    /// assert!(PrimitiveType::F4e2m1fn.is_sub_byte_non_pred() && !PrimitiveType::Pred.is_sub_byte_non_pred());
    /// ```
    #[doc(alias = "IsSubByteNonPredType")]
    pub fn is_sub_byte_non_pred(self) -> bool {
        self != Pred && self.bits().is_some_and(|bits| bits < 8)
    }

    /// Returns the type of a complex number's parts; `None` for other types.
    ///
    /// ```
    /// use tilewright_xla::PrimitiveType;
    /// assert_eq!(PrimitiveType::C64.complex_component(), Some(PrimitiveType::F32));
    /// assert_eq!(PrimitiveType::F32.complex_component(), None);
    /// ```
    #[doc(alias = "ComplexComponentType")]
    pub fn complex_component(self) -> Option<PrimitiveType> {
        match self {
            C64 => Some(F32),
            C128 => Some(F64),
            _ => None,
        }
    }

    /// Returns the type that holds more: complex before real, then the larger range of a float, then its precision, then
    /// the width, then signed.
    ///
    /// ```
    /// use tilewright_xla::PrimitiveType::{Bf16, F16, S8, U8};
    /// assert_eq!(F16.higher_precision(Bf16), Bf16);
    /// assert_eq!((S8.higher_precision(U8), U8.higher_precision(F16)), (S8, F16));
    /// ```
    #[doc(alias = "HigherPrecisionElementType")]
    pub fn higher_precision(self, other: PrimitiveType) -> PrimitiveType {
        if other.precision() > self.precision() { other } else { self }
    }

    /// Returns whether every value of this type converts to `to`, by XLA's rule: both are floating or neither, both are
    /// signed or neither, and `to` holds more.
    ///
    /// ```
    /// use tilewright_xla::PrimitiveType::{F16, F32, S8, U16};
    /// assert!(F16.can_upcast_to(F32) && !F32.can_upcast_to(F16) && !S8.can_upcast_to(U16));
    /// ```
    #[doc(alias = "ElementCanUpcast")]
    pub fn can_upcast_to(self, to: PrimitiveType) -> bool {
        self.is_floating_point() == to.is_floating_point()
            && self.is_signed() == to.is_signed()
            && self.higher_precision(to) == to
    }

    /// Returns the key by which types are compared, most important first.
    fn precision(self) -> (bool, i32, i32, u32, bool) {
        let part = self.complex_component().unwrap_or(self);
        let (range, digits) = part.float_range().unwrap_or((-1, -1));
        let width = part.bits().unwrap_or(0);
        (self.is_complex(), range, digits, width, part.is_signed_integral())
    }

    /// Returns the exponent at which a float overflows, and its binary digits; `None` for other types.
    fn float_range(self) -> Option<(i32, i32)> {
        match self {
            F16 => Some((16, 11)),
            Bf16 => Some((128, 8)),
            F32 => Some((128, 24)),
            F64 => Some((1024, 53)),
            F8e5m2 | F8e5m2fnuz => Some((16, 3)),
            F8e4m3 | F8e4m3fnuz => Some((8, 4)),
            F8e4m3fn => Some((9, 4)),
            F8e4m3b11fnuz => Some((5, 4)),
            F8e3m4 => Some((4, 5)),
            F4e2m1fn => Some((3, 2)),
            F8e8m0fnu => Some((128, 1)),
            _ => None,
        }
    }
}
