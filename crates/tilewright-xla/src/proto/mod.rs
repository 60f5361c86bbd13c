//! XLA's protos of shapes and layouts: bytes and proto text.
//!
//! Source: `xla_data.proto`. The fields that were removed from it in 2018 (`padded_dimensions`, `padding_value`,
//! `format`, `max_sparse_elements`) are included, with their old numbers.
//!
//! | from | to | by |
//! |---|---|---|
//! | bytes | [`Shape`], [`Layout`], [`ProgramShape`] | [`Shape::from_proto_bytes`] and the like |
//! | these | bytes | [`Shape::to_proto_bytes`] and the like |
//! | a message | a value | [`ShapeProto::to_shape`], [`LayoutProto::to_layout`], … |
//! | a value | a message | [`Shape::to_proto`], [`Layout::to_proto`], … |
//! | proto text | a message | [`ShapeProto::parse`], [`LayoutProto::parse`] |
//! | a message | proto text | its `text` |
//!
//! Messages are plain data with any contents; the conversion to a value checks them. They implement [`prost::Message`].
//! Reading bytes takes memory linear in their number (at most some 200 times, for hostile ones), and at most 100
//! messages deep; a shape of more than [`ArrayShape::MAX_RANK`](crate::ArrayShape::MAX_RANK) dims is refused.
//!
//! A layout of the original proto may pad each dim. [`Layout`] cannot express that: [`LayoutProto::to_layout`] refuses
//! it, and [`LayoutProto::to_padded_layout`] returns the [`Padded`](crate::Padded) together with the layout.
//!
//! ```
//! use tilewright_xla::{Shape, proto::LayoutProto};
//! let shape = Shape::parse("(s4[64,128]{1,0:T(8,*,128)E(4)}, token[])").unwrap();
//! let bytes = shape.to_proto_bytes().unwrap();
//! assert_eq!(Shape::from_proto_bytes(&bytes).unwrap(), shape);
//!
//! let old = "minor_to_major: [0,1] padded_dimensions: [3,5] padding_value: ZERO_PAD";
//! let (layout, padded) = LayoutProto::parse(old).unwrap().to_padded_layout().unwrap();
//! assert_eq!(layout.to_string(), "{0,1}");
//! assert_eq!(padded.unwrap().to_string(), "pad(3,5)fill(0)");
//! ```

mod layout;
mod messages;
mod shape;
mod text;

use prost::Message as _;

use crate::{Error, Layout, ProgramShape, Shape};

pub(crate) use layout::each;
pub use messages::{LayoutProto, ProgramShapeProto, ShapeProto, SplitConfigProto, TileProto};
pub(crate) use messages::{decode, inside, of_field};

impl Shape {
    /// Reads the bytes of a `ShapeProto`.
    ///
    /// # Errors
    /// Bytes that are not a proto; those of [`ShapeProto::to_shape`].
    ///
    /// ```
    /// use tilewright_xla::Shape;
    /// // Field 2, the element type, is 11 (F32); field 3, the dims, holds 2 and 3.
    /// let shape = Shape::from_proto_bytes(&[0x10, 11, 0x1a, 2, 2, 3]).unwrap();
    /// assert_eq!(shape.to_string(), "f32[2,3]");
    /// let error = Shape::from_proto_bytes(&[0x10, 99]).unwrap_err();
    /// assert_eq!(error.to_string(), "element_type: no element type has the number 99; they are 1 to 34");
    /// ```
    pub fn from_proto_bytes(bytes: &[u8]) -> Result<Shape, Error> {
        decode::<ShapeProto>(bytes)?.to_shape()
    }

    /// Returns the bytes of the `ShapeProto`.
    ///
    /// # Errors
    /// Those of [`Shape::to_proto`].
    ///
    /// ```
    /// use tilewright_xla::Shape;
    /// // Field 2, the element type, is 11; field 3 packs the dims; field 6 has the flags, none dynamic.
    /// let shape = Shape::parse("f32[2,3]").unwrap();
    /// assert_eq!(shape.to_proto_bytes().unwrap(), [0x10, 11, 0x1a, 2, 2, 3, 0x32, 2, 0, 0]);
    /// ```
    pub fn to_proto_bytes(&self) -> Result<Vec<u8>, Error> {
        Ok(self.to_proto()?.encode_to_vec())
    }
}

impl Layout {
    /// Reads the bytes of a `LayoutProto`.
    ///
    /// # Errors
    /// Bytes that are not a proto; those of [`LayoutProto::to_layout`].
    ///
    /// ```
    /// use tilewright_xla::Layout;
    /// // Field 1 packs minor_to_major.
    /// assert_eq!(Layout::from_proto_bytes(&[0x0a, 2, 0, 1]).unwrap().to_string(), "{0,1}");
    /// assert!(Layout::from_proto_bytes(&[0x0a, 2, 0]).unwrap_err().is_parse());
    /// assert_eq!(Layout::from_proto_bytes(&[0x0a, 2, 0, 0]).unwrap_err().name().unwrap(), "minor_to_major");
    /// ```
    pub fn from_proto_bytes(bytes: &[u8]) -> Result<Layout, Error> {
        decode::<LayoutProto>(bytes)?.to_layout()
    }

    /// Returns the bytes of the `LayoutProto`.
    ///
    /// # Errors
    /// Those of [`Layout::to_proto`].
    ///
    /// ```
    /// use tilewright_xla::Layout;
    /// let layout = Layout::parse("{1,0:T(8,128)(2,1)L(4)E(16)S(1)}").unwrap();
    /// let bytes = layout.to_proto_bytes().unwrap();
    /// assert_eq!(Layout::from_proto_bytes(&bytes).unwrap(), layout);
    /// ```
    pub fn to_proto_bytes(&self) -> Result<Vec<u8>, Error> {
        Ok(self.to_proto()?.encode_to_vec())
    }
}

impl ProgramShape {
    /// Reads the bytes of a `ProgramShapeProto`.
    ///
    /// # Errors
    /// Bytes that are not a proto; those of [`ProgramShapeProto::to_program_shape`].
    ///
    /// ```
    /// use tilewright_xla::ProgramShape;
    /// // A result, field 2, of 2 bytes: element type 17, a token.
    /// let program = ProgramShape::from_proto_bytes(&[0x12, 2, 0x10, 17]).unwrap();
    /// assert_eq!(program.to_string(), "() -> token[]");
    /// assert_eq!(ProgramShape::from_proto_bytes(&[]).unwrap_err().name().unwrap(), "result");
    /// ```
    pub fn from_proto_bytes(bytes: &[u8]) -> Result<ProgramShape, Error> {
        decode::<ProgramShapeProto>(bytes)?.to_program_shape()
    }

    /// Returns the bytes of the `ProgramShapeProto`.
    ///
    /// # Errors
    /// Those of [`Shape::to_proto`].
    ///
    /// ```
    /// use tilewright_xla::ProgramShape;
    /// let program = ProgramShape::parse("(x: (f32[2]{0}, token[])) -> f32[2]{0}").unwrap();
    /// let bytes = program.to_proto_bytes().unwrap();
    /// assert_eq!(ProgramShape::from_proto_bytes(&bytes).unwrap(), program);
    /// ```
    pub fn to_proto_bytes(&self) -> Result<Vec<u8>, Error> {
        Ok(self.to_proto()?.encode_to_vec())
    }
}
