//! Shapes made of others and of nothing: checked constructors, arrays of Rust's primitive types, dims made static or
//! dynamic, changes of the element type with the dims kept, and shapes on a host, without the properties that only
//! devices use.

use tilewright_core::Error;

use super::dimension_number;
use crate::{ArrayShape, Dim, Layout, PrimitiveType, Shape, TileDim};

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
        let bound = |dim: &Dim| crate::shape_util::extent(*dim).unwrap_or(i64::MAX as u64);
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

/// A type of Rust that corresponds to an element type.
///
/// ```
/// use tilewright_xla::{PrimitiveType, shape_util::Native};
/// assert_eq!(<u16 as Native>::PRIMITIVE, PrimitiveType::U16);
/// ```
pub trait Native {
    /// The element type.
    const PRIMITIVE: PrimitiveType;
}

macro_rules! native {
    ($($rust:ty => $primitive:ident),* $(,)?) => {
        $(impl Native for $rust {
            const PRIMITIVE: PrimitiveType = PrimitiveType::$primitive;
        })*
    };
}

native! {
    bool => Pred,
    i8 => S8,
    i16 => S16,
    i32 => S32,
    i64 => S64,
    u8 => U8,
    u16 => U16,
    u32 => U32,
    u64 => U64,
    f32 => F32,
    f64 => F64,
}

impl ArrayShape {
    /// Creates an array of `T`s in the default layout, and checks it.
    ///
    /// # Errors
    /// Those of [`ArrayShape::validated`].
    ///
    /// ```
    /// use tilewright_xla::{ArrayShape, Dim};
    /// let shape = ArrayShape::of_native::<f32>(&[Dim::Static(2), Dim::Static(3)]).unwrap();
    /// assert_eq!(shape.to_string(), "f32[2,3]{1,0}");
    /// let huge = [Dim::Static(1 << 62)];
    /// assert!(ArrayShape::of_native::<u16>(&huge).unwrap_err().is_overflow());
    /// ```
    #[doc(alias = "MakeShapeWithType")]
    pub fn of_native<T: Native>(dims: &[Dim]) -> Result<ArrayShape, Error> {
        ArrayShape::validated(T::PRIMITIVE, dims)
    }
}

impl ArrayShape {
    /// Returns the array with elements of another type. A packed array of a narrow type stays packed at the new type's
    /// width; any other type has its natural width. XLA keeps the old width for every narrow type.
    ///
    /// # Errors
    /// [unsupported](Error::is_unsupported) for a type that arrays cannot have.
    ///
    /// ```
    /// use tilewright_xla::{ArrayShape, PrimitiveType::*};
    /// let packed = ArrayShape::parse("s4[8]{0:E(4)}").unwrap();
    /// let to = |primitive| packed.with_element_type(primitive).unwrap().to_string();
    /// assert_eq!([to(U4), to(U2), to(U8), to(Pred)], ["u4[8]{0:E(4)}", "u2[8]{0:E(2)}", "u8[8]{0}", "pred[8]{0}"]);
    /// assert!(packed.with_element_type(Token).unwrap_err().is_unsupported());
    /// ```
    #[doc(alias = "ChangeElementType")]
    pub fn with_element_type(&self, to: PrimitiveType) -> Result<ArrayShape, Error> {
        let width = to.bits().ok_or_else(super::no_values)?;
        let old = self.element_type.bits().map(u64::from);
        let size = |said: u64| match (to.is_sub_byte_non_pred(), said) {
            (false, _) | (true, 0) => 0,
            (true, said) if old == Some(width.into()) => said,
            (true, said) if old == Some(said) => width.into(),
            (true, _) => 0,
        };
        let layout = self.layout.clone().map(|layout| {
            let bits = size(layout.element_size_in_bits());
            layout.with_element_size_in_bits(bits)
        });
        Ok(ArrayShape { element_type: to, dims: self.dims.clone(), layout: layout.transpose()? })
    }

    /// Returns the array of the real or imaginary parts.
    ///
    /// # Errors
    /// [unsupported](Error::is_unsupported) for a type that is not complex, where XLA aborts.
    ///
    /// ```
    /// use tilewright_xla::ArrayShape;
    /// let shape = ArrayShape::parse("c64[2,3]{0,1}").unwrap();
    /// assert_eq!(shape.complex_component().unwrap().to_string(), "f32[2,3]{0,1}");
    /// assert!(ArrayShape::parse("f32[2]").unwrap().complex_component().unwrap_err().is_unsupported());
    /// ```
    #[doc(alias = "ComplexComponentShape")]
    pub fn complex_component(&self) -> Result<ArrayShape, Error> {
        let part = self.element_type.complex_component().ok_or_else(|| {
            Error::unsupported(
                "the parts of elements of {} bits that are not complex numbers",
                [self.element_type.bits().unwrap_or(0).into()],
                "only c64 and c128 have parts",
            )
        })?;
        self.with_element_type(part)
    }

    /// Sets the element size of a narrow type to its width (`pack`) or to whole bytes, and that of any other type to its
    /// natural width. An absent layout becomes the default one if a size has to be set. Booleans are never packed.
    ///
    /// # Errors
    /// [unsupported](Error::is_unsupported) for a type that arrays cannot have.
    ///
    /// ```
    /// use tilewright_xla::ArrayShape;
    /// let mut shape = ArrayShape::parse("s4[8]{0}").unwrap();
    /// shape.update_element_size_in_bits(true).unwrap();
    /// assert_eq!(shape.to_string(), "s4[8]{0:E(4)}");
    /// ```
    #[doc(alias = "UpdateElementSizeInBits")]
    pub fn update_element_size_in_bits(&mut self, pack: bool) -> Result<(), Error> {
        let width = self.element_type.bits().ok_or_else(super::no_values)?;
        let bits = if pack && self.element_type.is_sub_byte_non_pred() { width } else { 0 };
        if self.layout.is_some() || bits != 0 {
            self.layout = Some(self.layout_or_default().with_element_size_in_bits(bits.into())?);
        }
        Ok(())
    }

    /// Returns the shape without an element size that equals the natural width of the type: `f32` with `E(32)` becomes
    /// `f32` without.
    ///
    /// ```
    /// use tilewright_xla::ArrayShape;
    /// let shape = ArrayShape::parse("f32[2]{0:E(32)}").unwrap();
    /// assert_eq!(shape.with_natural_element_size_left_out().to_string(), "f32[2]{0}");
    /// ```
    pub fn with_natural_element_size_left_out(mut self) -> ArrayShape {
        let natural = self.element_type.storage_bits().map(u64::from);
        let said = self.layout.as_ref().map(Layout::element_size_in_bits);
        if said.is_some() && said == natural {
            let plain = self.layout.take().map(|layout| layout.with_element_size_in_bits(0));
            self.layout = plain.and_then(Result::ok);
        }
        self
    }
}

impl Shape {
    /// Returns the shape with this element type in every array, by [`ArrayShape::with_element_type`].
    ///
    /// # Errors
    /// [unsupported](Error::is_unsupported) for a type that arrays cannot have.
    ///
    /// ```
    /// use tilewright_xla::{PrimitiveType, Shape};
    /// let shape = Shape::parse("(f32[2]{0}, token[])").unwrap();
    /// let halves = shape.with_element_type(PrimitiveType::Bf16).unwrap();
    /// assert_eq!(halves.to_string(), "(bf16[2]{0}, token[])");
    /// let error = shape.with_element_type(PrimitiveType::Token).unwrap_err();
    /// assert!(error.is_unsupported());
    /// ```
    #[doc(alias = "ChangeElementType")]
    pub fn with_element_type(&self, to: PrimitiveType) -> Result<Shape, Error> {
        self.with_each_array(&|array| array.with_element_type(to))
    }

    /// Returns the shape with another array in place of each.
    pub(crate) fn with_each_array(
        &self,
        change: &dyn Fn(&ArrayShape) -> Result<ArrayShape, Error>,
    ) -> Result<Shape, Error> {
        let (mut changed, mut refused) = (self.clone(), Ok(()));
        changed.for_each_array_mut(&mut |array| match change(array) {
            Ok(other) => *array = other,
            Err(error) => refused = std::mem::replace(&mut refused, Ok(())).and(Err(error)),
        });
        refused.map(|()| changed)
    }

    /// Sets the element size of every array, by [`ArrayShape::update_element_size_in_bits`].
    ///
    /// # Errors
    /// [unsupported](Error::is_unsupported) for an array of a type that arrays cannot have.
    ///
    /// ```
    /// use tilewright_xla::Shape;
    /// let mut shape = Shape::parse("(s4[8]{0}, f32[2]{0})").unwrap();
    /// shape.update_element_size_in_bits(true).unwrap();
    /// assert_eq!(shape.to_string(), "(s4[8]{0:E(4)}, f32[2]{0})");
    /// shape.update_element_size_in_bits(false).unwrap();
    /// assert_eq!(shape.to_string(), "(s4[8]{0}, f32[2]{0})");
    /// ```
    #[doc(alias = "UpdateElementSizeInBits")]
    pub fn update_element_size_in_bits(&mut self, pack: bool) -> Result<(), Error> {
        let mut result = Ok(());
        self.for_each_array_mut(&mut |array| {
            result = array.update_element_size_in_bits(pack).and(result.clone());
        });
        result
    }
}

impl ArrayShape {
    /// Returns whether a host can hold such arrays: without tiles, alignment, element size, memory space, metadata prefix,
    /// and without splits, which XLA does not check.
    ///
    /// ```
    /// use tilewright_xla::ArrayShape;
    /// let host = |text: &str| ArrayShape::parse(text).unwrap().is_host_shape();
    /// assert!(host("s4[8,4]{0,1}") && host("s4[8]"));
    /// assert!(!host("s4[8]{0:E(4)}") && !host("f32[8]{0:SC(0:3)}"));
    /// ```
    #[doc(alias = "DeviceShapeIsHostShape")]
    pub fn is_host_shape(&self) -> bool {
        self.layout.as_ref().is_none_or(|layout| Some(layout) == plain(layout).as_ref())
    }

    /// Returns the array as a host holds it: only the order of the dims is kept of the layout.
    ///
    /// ```
    /// use tilewright_xla::ArrayShape;
    /// let shape = ArrayShape::parse("s4[8,4]{0,1:T(2,2)L(64)E(4)S(1)SC(0:2)M(8)}").unwrap();
    /// assert_eq!(shape.to_host_shape().to_string(), "s4[8,4]{0,1}");
    /// ```
    #[doc(alias = "DeviceShapeToHostShape")]
    pub fn to_host_shape(&self) -> ArrayShape {
        ArrayShape { layout: self.layout.as_ref().and_then(plain), ..self.clone() }
    }

    /// Returns how many rows share a word in a 1-D array of three tile levels, as TPUs have for narrow types: the outer
    /// extent of the third tile.
    ///
    /// # Errors
    /// [unsupported](Error::is_unsupported) for any other layout.
    ///
    /// ```
    /// use tilewright_xla::ArrayShape;
    /// let shape = ArrayShape::parse("bf16[1024]{0:T(1024)(128)(2,1)}").unwrap();
    /// assert_eq!(shape.packed_factor_for_1d_interleaved_array(), Ok(2));
    /// let shape = ArrayShape::parse("bf16[1024]{0:T(1024)}").unwrap();
    /// assert!(shape.packed_factor_for_1d_interleaved_array().unwrap_err().is_unsupported());
    /// ```
    #[doc(alias = "PackedFactorFor1DInterleavedArray")]
    pub fn packed_factor_for_1d_interleaved_array(&self) -> Result<u64, Error> {
        let tiles = self.layout.as_ref().map_or(&[][..], Layout::tiles);
        if let ([_], [_, _, third]) = (self.dims.as_slice(), tiles)
            && let Some(TileDim::Size(factor)) = third.dims().first()
        {
            return Ok(*factor);
        }
        Err(Error::unsupported(
            "an array of {} dims and {} tiles does not interleave rows",
            [self.dims.len() as i128, tiles.len() as i128],
            "it has one dim and three tiles, as in T(1024)(128)(2,1)",
        ))
    }
}

/// Returns the layout with the order alone.
fn plain(layout: &Layout) -> Option<Layout> {
    Layout::new(layout.minor_to_major()).ok()
}

impl Shape {
    /// Returns whether a host can hold every array; see [`ArrayShape::is_host_shape`].
    ///
    /// ```
    /// use tilewright_xla::Shape;
    /// let host = |text| Shape::parse(text).unwrap().is_host_shape();
    /// assert!(host("(f32[8,128]{0,1}, token[])"));
    /// // Tiles exist only on the device.
    /// assert!(!host("(f32[8,128]{0,1:T(8,128)}, token[])"));
    /// ```
    #[doc(alias = "DeviceShapeIsHostShape")]
    pub fn is_host_shape(&self) -> bool {
        let mut all = true;
        self.for_each_array(&mut |array| all &= array.is_host_shape());
        all
    }

    /// Returns the shape with every array as a host holds it; see [`ArrayShape::to_host_shape`].
    ///
    /// ```
    /// use tilewright_xla::Shape;
    /// let shape = Shape::parse("(f32[8,4]{0,1:T(2,2)}, token[])").unwrap().to_host_shape();
    /// assert_eq!(shape.to_string(), "(f32[8,4]{0,1}, token[])");
    /// assert!(shape.is_host_shape());
    /// ```
    #[doc(alias = "DeviceShapeToHostShape")]
    pub fn to_host_shape(&self) -> Shape {
        let mut shape = self.clone();
        shape.for_each_array_mut(&mut |array| *array = array.to_host_shape());
        shape
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the width and the kind of numbers of `T` against those of its element type.
    fn agrees<T: Native>(signed: bool, floating: bool) {
        let primitive = T::PRIMITIVE;
        assert_eq!(primitive.storage_bits(), Some(8 * size_of::<T>() as u32), "{primitive}");
        assert_eq!((primitive.is_signed(), primitive.is_floating_point()), (signed, floating));
    }

    #[test]
    fn widths_and_signs_are_those_of_rust() {
        agrees::<bool>(false, false);
        agrees::<u8>(false, false);
        agrees::<u16>(false, false);
        agrees::<u32>(false, false);
        agrees::<u64>(false, false);
        agrees::<i8>(true, false);
        agrees::<i16>(true, false);
        agrees::<i32>(true, false);
        agrees::<i64>(true, false);
        agrees::<f32>(true, true);
        agrees::<f64>(true, true);
        assert_eq!(bool::PRIMITIVE, PrimitiveType::Pred);
    }
}
