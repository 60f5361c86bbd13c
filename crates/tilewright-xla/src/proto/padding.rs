//! The padding of the original proto, fields 2 and 3 of `LayoutProto`.

use tilewright_core::Error as Refusal;

use super::{Error, LayoutProto, ShapeProto, inside, layout_read::naturals, of_field};
use crate::{ArrayShape, Padded, PaddedShape, PaddingValue, Shape};

impl LayoutProto {
    /// Returns the padding, if the message has widths. A `padding_value` without widths promises nothing.
    pub(super) fn padding(&self) -> Result<Option<Padded>, Error> {
        let value = PaddingValue::from_number(self.padding_value).ok_or_else(|| {
            of_field(
                "padding_value",
                Refusal::illegal(
                    "no padding value has the number {}",
                    [self.padding_value.into()],
                    "they are 0 to 5",
                ),
            )
        })?;
        if self.padded_dimensions.is_empty() {
            return Ok(None);
        }
        let widths = naturals("padded_dimensions", &self.padded_dimensions)?;
        if widths.len() != self.minor_to_major.len() {
            return Err(of_field(
                "padded_dimensions",
                Refusal::mismatch(
                    "layout has {} padded dimensions, but minor_to_major {}",
                    [widths.len() as i128, self.minor_to_major.len() as i128],
                    "they name the padded width of every dim",
                ),
            ));
        }
        Ok(Some(Padded { widths, fill: value.into() }))
    }

    /// Returns the message with this padding.
    ///
    /// # Errors
    /// [unsupported](Error::is_unsupported) for a fill of given bits, which no `padding_value` expresses;
    /// [illegal](Error::is_illegal) for a width of 2⁶³ or more.
    ///
    /// ```
    /// use tilewright_xla::{Layout, Padded};
    /// let padded = Padded::parse("pad(3,5)fill(0)").unwrap();
    /// let proto = Layout::ascending(2).to_proto().unwrap().with_padding(&padded).unwrap();
    /// assert_eq!(
    ///     proto.text().to_string(),
    ///     "minor_to_major: [0,1] padded_dimensions: [3,5] padding_value: ZERO_PAD"
    /// );
    /// let bits = Padded::parse("pad(3,5)fill(0x7f)").unwrap();
    /// let error = Layout::ascending(2).to_proto().unwrap().with_padding(&bits).unwrap_err();
    /// assert_eq!(error.name().unwrap(), "padding_value");
    /// ```
    pub fn with_padding(mut self, padded: &Padded) -> Result<LayoutProto, Error> {
        let value = PaddingValue::try_from(padded.fill)
            .map_err(|error| of_field("padding_value", error))?;
        self.padding_value = value.number();
        if self.tail_padding_alignment_in_elements == 1 {
            // Readers of `padded_dimensions` do not know this newer field; 0 means 1.
            self.tail_padding_alignment_in_elements = 0;
        }
        self.padded_dimensions = super::layout_write::signed("padded_dimensions", &padded.widths)?;
        Ok(self)
    }
}

impl PaddedShape {
    /// Returns the shape as XLA's original message, with the widths and the padding value in its layout.
    ///
    /// # Errors
    /// Those of [`Shape::to_proto`] and [`LayoutProto::with_padding`]: a fill of given bits is
    /// [unsupported](Error::is_unsupported).
    ///
    /// ```
    /// use tilewright_xla::PaddedShape;
    /// let padded = PaddedShape::parse("f32[2,3]{0,1}pad(3,5)fill(lowest)").unwrap();
    /// let proto = padded.to_proto().unwrap();
    /// assert_eq!(proto.layout.as_ref().unwrap().padded_dimensions, [3, 5]);
    /// assert_eq!(PaddedShape::from_proto(&proto).unwrap(), padded);
    /// ```
    pub fn to_proto(&self) -> Result<ShapeProto, Error> {
        let mut array = ArrayShape::new(self.element_type(), self.extents());
        array.set_layout(Some(self.layout().clone()));
        let mut proto = Shape::array(array).to_proto()?;
        let layout = proto.layout.take().unwrap_or_default().with_padding(self.padding());
        proto.layout = Some(Box::new(layout.map_err(|error| inside(error, "layout"))?));
        Ok(proto)
    }

    /// Creates the shape that XLA's original message describes.
    ///
    /// # Errors
    /// Those of [`ShapeProto::to_padded_shape`] and [`PaddedShape::with_padding`]; [mismatch](Error::is_mismatch) for a
    /// message of a tuple or without widths.
    ///
    /// ```
    /// use tilewright_xla::{PaddedShape, proto::ShapeProto};
    /// let text = "element_type: F32 dimensions: [2,3] layout { minor_to_major: [0,1] padded_dimensions: [3,5] }";
    /// let padded = PaddedShape::from_proto(&ShapeProto::parse(text).unwrap()).unwrap();
    /// assert_eq!(padded.to_string(), "f32[2,3]{0,1}pad(3,5)");
    /// let plain = ShapeProto::parse("element_type: F32 dimensions: [2,3]").unwrap();
    /// assert_eq!(PaddedShape::from_proto(&plain).unwrap_err().name().unwrap(), "layout.padded_dimensions");
    /// ```
    pub fn from_proto(proto: &ShapeProto) -> Result<PaddedShape, Error> {
        let (shape, padding) = proto.to_padded_shape()?;
        let refused = |field, what, hint| of_field(field, Refusal::mismatch(what, [], hint));
        let Some(array) = shape.as_array() else {
            let hint = "use `to_padded_shape` for the arrays of a tuple";
            return Err(refused("element_type", "the message does not describe an array", hint));
        };
        let Some((_, padded)) = padding.into_iter().next() else {
            let hint = "use `to_shape` for a shape without padding";
            return Err(refused("layout.padded_dimensions", "the message lacks widths", hint));
        };
        PaddedShape::with_padding(array, padded).map_err(|error| of_field("", error))
    }
}
