//! Changes of the element type, with the dims kept.

use tilewright_core::Error;

use crate::{ArrayShape, Layout, PrimitiveType, Shape};

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
