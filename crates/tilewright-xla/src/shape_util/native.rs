//! Arrays of Rust's primitive types.

use tilewright_core::Error;

use crate::{ArrayShape, Dim, PrimitiveType};

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
