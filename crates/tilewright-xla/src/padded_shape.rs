//! The shape of an array with the padding of the original proto, as one value.
//!
//! Law: the offset of an element is its offset in an array whose dims are the widths; `padded[i] ≥ dims[i]`.

use std::fmt;

use tilewright_core::{Error, Fill, ParseError, TensorLayout};

use crate::{ArrayShape, Dim, Layout, Padded, PaddingValue, PrimitiveType};

/// The shape of an array whose dims are padded to widths, and the value of the padding:
/// `f32[2,3]{0,1}pad(3,5)fill(0)`.
///
/// The constructors check it: its dims are static, its storage takes fewer than 2⁶³ bytes, and its rank is at most that
/// of a [`TensorLayout`].
///
/// Source: XLA's `xla_data.proto` until 2018, `Layout` with `padded_dimensions` and `padding_value`.
///
/// ```
/// use tilewright_xla::{ArrayShape, PaddedShape, PaddingValue};
/// let shape = ArrayShape::parse("f32[2,3]{0,1}").unwrap();
/// let padded = PaddedShape::new(&shape, &[3, 5], PaddingValue::Zero).unwrap();
/// assert_eq!(padded.to_string(), "f32[2,3]{0,1}pad(3,5)fill(0)");
/// assert_eq!((padded.capacity(), padded.tensor().offset(&[1, 2])), (15, Ok(7)));
/// // A width is the padded size of a dim.
/// assert!(PaddedShape::new(&shape, &[1, 5], PaddingValue::Zero).unwrap_err().is_illegal());
/// ```
#[doc(alias = "padded_dimensions")]
#[doc(alias = "padding_value")]
#[must_use]
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PaddedShape {
    element_type: PrimitiveType,
    extents: Vec<u64>,
    layout: Layout,
    padded: Padded,
    tensor: TensorLayout,
    bytes: u64,
}

impl PaddedShape {
    /// Creates the array `shape` with each dim padded to a width.
    ///
    /// # Errors
    /// Those of [`PaddedShape::with_padding`].
    ///
    /// ```
    /// use tilewright_xla::{ArrayShape, PaddedShape, PaddingValue};
    /// let shape = ArrayShape::parse("f32[2,3]").unwrap();
    /// let padded = PaddedShape::new(&shape, &[3, 5], PaddingValue::Lowest).unwrap();
    /// assert_eq!(padded.padding_value(), Some(PaddingValue::Lowest));
    /// assert!(PaddedShape::new(&shape, &[3], PaddingValue::Zero).unwrap_err().is_mismatch());
    /// ```
    pub fn new(
        shape: &ArrayShape,
        widths: &[u64],
        value: PaddingValue,
    ) -> Result<PaddedShape, Error> {
        PaddedShape::with_padding(shape, Padded::new(widths, value.into()))
    }

    /// Creates the array `shape` with this padding, whose fill may be a pattern of bits.
    ///
    /// # Errors
    /// [unsupported](Error::is_unsupported) for dims that are not static; [overflow](Error::is_overflow) beyond 2⁶³ − 1
    /// bytes; those of [`ArrayShape::validate`] and [`Padded::lower`].
    ///
    /// ```
    /// use tilewright_core::Fill;
    /// use tilewright_xla::{ArrayShape, Padded, PaddedShape};
    /// let (shape, pad) = (ArrayShape::parse("bf16[2,3]").unwrap(), Padded::parse("pad(2,4)fill(0x7fc0)").unwrap());
    /// let padded = PaddedShape::with_padding(&shape, pad).unwrap();
    /// assert_eq!((padded.fill(), padded.padding_value()), (Fill::Bits(0x7fc0), None));
    /// ```
    pub fn with_padding(shape: &ArrayShape, padded: Padded) -> Result<PaddedShape, Error> {
        shape.validate()?;
        let (extents, layout) = (shape.extents()?, shape.layout_or_default());
        if let Some(dim) = shape.dims.iter().position(|dim| !matches!(dim, Dim::Static(_))) {
            let why = "only static dims are padded to widths";
            return Err(Error::unsupported("dim {} is dynamic", [dim as i128], why));
        }
        let tensor = padded.lower(&extents, &layout)?;
        let bytes = layout.bytes(&padded.widths, shape.element_type)?;
        Ok(PaddedShape { element_type: shape.element_type, extents, layout, padded, tensor, bytes })
    }

    /// Reads `f32[2,3]{0,1}pad(3,5)fill(0)`, with optional white space between the parts.
    ///
    /// # Errors
    /// A [`ParseError`] with the byte span at fault.
    ///
    /// ```
    /// use tilewright_xla::PaddedShape;
    /// assert_eq!(PaddedShape::parse("f32[2,3] pad(3,5)").unwrap().to_string(), "f32[2,3]{1,0}pad(3,5)");
    /// assert_eq!(PaddedShape::parse("f32[2,3]").unwrap_err().span(), (8, 8));
    /// ```
    pub fn parse(text: &str) -> Result<PaddedShape, ParseError> {
        let (shape, end) = ArrayShape::parse_prefix(text)?;
        let padded = Padded::parse(text.get(end..).unwrap_or(""));
        let padded = padded.map_err(|error| error.shifted(end))?;
        PaddedShape::with_padding(&shape, padded)
            .map_err(|error| ParseError::refused((0, text.len()), error))
    }

    /// Returns the type of an element.
    ///
    /// ```
    /// use tilewright_xla::{PaddedShape, PrimitiveType};
    /// let padded = PaddedShape::parse("s8[2,3]pad(3,5)").unwrap();
    /// assert_eq!(padded.element_type(), PrimitiveType::S8);
    /// ```
    pub fn element_type(&self) -> PrimitiveType {
        self.element_type
    }

    /// Returns the extents of the array, without padding.
    ///
    /// ```
    /// use tilewright_xla::PaddedShape;
    /// assert_eq!(PaddedShape::parse("s8[2,3]pad(3,5)").unwrap().extents(), [2, 3]);
    /// ```
    pub fn extents(&self) -> &[u64] {
        &self.extents
    }

    /// Returns the width to which each dim is padded.
    ///
    /// ```
    /// use tilewright_xla::PaddedShape;
    /// assert_eq!(PaddedShape::parse("s8[2,3]pad(3,5)").unwrap().widths(), [3, 5]);
    /// ```
    #[doc(alias = "PaddedDimensions")]
    pub fn widths(&self) -> &[u64] {
        &self.padded.widths
    }

    /// Returns the layout, which gives the order of the dims.
    ///
    /// ```
    /// use tilewright_xla::PaddedShape;
    /// let padded = PaddedShape::parse("s8[2,3]{0,1}pad(3,5)").unwrap();
    /// assert!(padded.layout().is_dim0_minor());
    /// ```
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Returns the widths and the fill.
    #[cfg(feature = "proto")]
    pub(crate) fn padding(&self) -> &Padded {
        &self.padded
    }

    /// Returns the fill of the padding.
    ///
    /// ```
    /// use tilewright_core::Fill;
    /// use tilewright_xla::PaddedShape;
    /// assert_eq!(PaddedShape::parse("s8[2,3]pad(3,5)fill(one)").unwrap().fill(), Fill::One);
    /// ```
    pub fn fill(&self) -> Fill {
        self.padded.fill
    }

    /// Returns the fill of the padding as the proto's enum; `None` for a pattern of bits, which the proto lacks.
    ///
    /// ```
    /// use tilewright_xla::{PaddedShape, PaddingValue};
    /// let value = |text| PaddedShape::parse(text).unwrap().padding_value();
    /// assert_eq!(value("s8[2,3]pad(3,5)fill(one)"), Some(PaddingValue::One));
    /// assert_eq!(value("s8[2,3]pad(3,5)"), Some(PaddingValue::Invalid));
    /// assert_eq!(value("s8[2,3]pad(3,5)fill(0x7)"), None);
    /// ```
    #[doc(alias = "GetPaddingValue")]
    pub fn padding_value(&self) -> Option<PaddingValue> {
        PaddingValue::try_from(self.padded.fill).ok()
    }

    /// Returns the length of the storage in elements, padding included.
    ///
    /// ```
    /// use tilewright_xla::PaddedShape;
    /// assert_eq!(PaddedShape::parse("s8[2,3]pad(3,5)").unwrap().capacity(), 15);
    /// ```
    pub fn capacity(&self) -> u64 {
        self.tensor.capacity()
    }

    /// Returns the size of the storage in bytes, padding included.
    ///
    /// ```
    /// use tilewright_xla::PaddedShape;
    /// let padded = PaddedShape::parse("f32[10,20]{0,1}pad(15,21)").unwrap();
    /// assert_eq!(padded.bytes(), 15 * 21 * 4);
    /// ```
    #[doc(alias = "ByteSizeOf")]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns whether a width exceeds its extent.
    ///
    /// ```
    /// use tilewright_xla::PaddedShape;
    /// let is_padded = |text| PaddedShape::parse(text).unwrap().is_padded();
    /// assert!(is_padded("f32[2,3,4]pad(2,14,42)") && !is_padded("f32[2,3,4]pad(2,3,4)"));
    /// ```
    #[doc(alias = "IsPadded")]
    pub fn is_padded(&self) -> bool {
        self.padded.is_padded(&self.extents)
    }

    /// Returns the map from coordinates to offsets.
    ///
    /// ```
    /// use tilewright_core::Place;
    /// use tilewright_xla::PaddedShape;
    /// let padded = PaddedShape::parse("s8[2,3]{0,1}pad(3,5)").unwrap();
    /// assert_eq!(padded.tensor().offset(&[1, 2]), Ok(7));
    /// assert_eq!(padded.tensor().locate(8), Ok(Place::Padding));
    /// ```
    pub fn tensor(&self) -> &TensorLayout {
        &self.tensor
    }
}

impl fmt::Display for PaddedShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (layout, dims) = (Some(self.layout.clone()), &self.extents);
        let shape = ArrayShape { layout, ..ArrayShape::new(self.element_type, dims) };
        write!(f, "{shape}{}", self.padded)
    }
}

impl std::str::FromStr for PaddedShape {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<PaddedShape, ParseError> {
        PaddedShape::parse(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index_util::Indexer;
    use tilewright_core::Place;

    #[test]
    fn every_place_is_that_of_the_lowered_layout() {
        for order in ["{2,1,0}", "{0,1,2}", "{1,2,0}", "{0,2,1}"] {
            for dims in [[2, 3, 4], [1, 1, 1], [3, 1, 2], [0, 2, 2]] {
                for extra in [[0, 0, 0], [1, 2, 0], [3, 0, 5]] {
                    let widths: Vec<u64> = (0..3).map(|i| dims[i] + extra[i]).collect();
                    let layout = Some(Layout::parse(order).unwrap());
                    let shape = ArrayShape { layout, ..ArrayShape::new(PrimitiveType::F32, &dims) };
                    let padded = PaddedShape::new(&shape, &widths, PaddingValue::One).unwrap();
                    assert_eq!(PaddedShape::parse(&padded.to_string()).unwrap(), padded);
                    let (indexer, tensor) = (Indexer::of_padded(&padded), padded.tensor());
                    assert_eq!(indexer.capacity(), widths.iter().product::<u64>());
                    for offset in 0..=tensor.capacity() as i64 {
                        let same = match tensor.locate(offset).unwrap() {
                            Place::Element(coord) => Place::Element(coord.as_slice().to_vec()),
                            Place::Padding => Place::Padding,
                            Place::OutOfRange => Place::OutOfRange,
                        };
                        assert_eq!(indexer.locate(offset as u64), same, "{padded} at {offset}");
                    }
                    for (coord, offset) in tensor.in_order() {
                        assert_eq!(indexer.offset(coord.as_slice()), Ok(offset as u64));
                    }
                }
            }
        }
    }

    #[test]
    fn shapes_that_no_array_has_are_refused() {
        let refused = |text| PaddedShape::parse(text).unwrap_err();
        let token = ArrayShape::new(PrimitiveType::Token, &[2]);
        assert!(PaddedShape::new(&token, &[3], PaddingValue::Zero).unwrap_err().is_illegal());
        assert!(refused("f32[<=2,3]pad(3,5)").cause().unwrap().is_unsupported());
        assert!(refused("f32[?]pad(3)").cause().unwrap().is_unsupported());
        assert!(refused("f32[2,3]{1,0:T(2,2)}pad(3,5)").cause().unwrap().is_unsupported());
        assert!(refused("f32[2]pad(1)").cause().unwrap().is_illegal());
        assert_eq!(refused("f32[2]pad(x)").span(), (10, 11));
    }
}
