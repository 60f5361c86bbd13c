//! The padding of the first years, fields 2 and 3 of `LayoutProto`.

use tilewright_core::Error;

use super::{LayoutProto, ProtoError, layout_read::naturals};
use crate::{Padded, PaddingValue};

impl LayoutProto {
    /// The padding, if the message has widths. A `padding_value` without widths promises nothing.
    pub(super) fn padding(&self) -> Result<Option<Padded>, ProtoError> {
        let value = PaddingValue::from_number(self.padding_value).ok_or_else(|| {
            ProtoError::new(
                "padding_value",
                Error::illegal(
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
            return Err(ProtoError::new(
                "padded_dimensions",
                Error::mismatch(
                    "layout has {} padded dimensions, but minor_to_major {}",
                    [widths.len() as i128, self.minor_to_major.len() as i128],
                    "they name the padded width of every dim",
                ),
            ));
        }
        Ok(Some(Padded { widths, fill: value.into() }))
    }

    /// The same message with this padding.
    ///
    /// # Errors
    /// [unsupported](Error::is_unsupported) for a fill of given bits, which no `padding_value` is;
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
    /// assert_eq!(error.field(), "padding_value");
    /// ```
    pub fn with_padding(mut self, padded: &Padded) -> Result<LayoutProto, ProtoError> {
        let value = PaddingValue::try_from(padded.fill)
            .map_err(|error| ProtoError::new("padding_value", error))?;
        self.padding_value = value.number();
        if self.tail_padding_alignment_in_elements == 1 {
            // Those who read this field do not know that one; 0 means 1.
            self.tail_padding_alignment_in_elements = 0;
        }
        self.padded_dimensions = super::layout_write::signed("padded_dimensions", &padded.widths)?;
        Ok(self)
    }
}
