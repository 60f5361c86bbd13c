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
//!
//! The messages have the fields and numbers of `xla_data.proto`. The [name](Error::name) of an error is the field, such as `tuple_shapes[1].layout.tiles[0].dimensions[2]`. Its
//! [cause](Error::cause) is the refusal by core. An error of the kind `parse` is one of bytes that are not a proto: cut
//! short, of other types, or more than 100 messages deep.

mod layout;
mod text;

use std::fmt;

use prost::Message as _;
use tilewright_core::Error as Refusal;

use crate::{Error, Layout, ProgramShape, Shape};
pub(crate) use layout::each;

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

/// The value of `*` in a tile, and of an unbounded dim.
const MINIMUM: i64 = i64::MIN;

/// `xla.TileProto`.
///
/// ```
/// use tilewright_xla::proto::{LayoutProto, TileProto};
/// let tiles = vec![TileProto { dimensions: vec![8, i64::MIN, 128] }];
/// let proto = LayoutProto { minor_to_major: vec![2, 1, 0], tiles, ..LayoutProto::default() };
/// assert_eq!(proto.to_layout().unwrap().to_string(), "{2,1,0:T(8,*,128)}");
/// ```
#[must_use]
#[derive(Clone, PartialEq, prost::Message)]
pub struct TileProto {
    /// The extents, major to minor; −2⁶³ is `*`.
    #[prost(int64, repeated, tag = "1")]
    pub dimensions: Vec<i64>,
}

/// `xla.SplitConfigProto`.
///
/// ```
/// use tilewright_xla::proto::{LayoutProto, SplitConfigProto};
/// let split_configs = vec![SplitConfigProto { dimension: 0, split_indices: vec![4] }];
/// let proto = LayoutProto { minor_to_major: vec![1, 0], split_configs, ..LayoutProto::default() };
/// assert_eq!(proto.to_layout().unwrap().to_string(), "{1,0:SC(0:4)}");
/// ```
#[must_use]
#[derive(Clone, PartialEq, prost::Message)]
pub struct SplitConfigProto {
    /// The physical dim, counted from the most major.
    #[prost(int64, tag = "1")]
    pub dimension: i64,
    /// The indices at which a new piece begins.
    #[prost(int64, repeated, tag = "2")]
    pub split_indices: Vec<i64>,
}

/// `xla.LayoutProto`, with the fields that were removed in 2018.
///
/// ```
/// use tilewright_xla::{Layout, proto::LayoutProto};
/// let proto = LayoutProto { minor_to_major: vec![0, 1], memory_space: 5, ..LayoutProto::default() };
/// assert_eq!(proto.to_layout().unwrap(), Layout::parse("{0,1:S(5)}").unwrap());
/// let twice = LayoutProto { minor_to_major: vec![0, 0], ..LayoutProto::default() };
/// assert_eq!(twice.to_layout().unwrap_err().name().unwrap(), "minor_to_major");
/// ```
#[must_use]
#[derive(Clone, PartialEq, prost::Message)]
pub struct LayoutProto {
    /// The dims, fastest-varying first.
    #[prost(int64, repeated, tag = "1")]
    pub minor_to_major: Vec<i64>,
    /// Removed: the width in memory of each logical dim.
    #[prost(int64, repeated, tag = "2")]
    pub padded_dimensions: Vec<i64>,
    /// Removed: the value of the padding, `PaddingValue`.
    #[prost(int32, tag = "3")]
    pub padding_value: i32,
    /// Removed: `Format`; 1 is dense, 2 sparse.
    #[prost(int32, tag = "4")]
    pub format: i32,
    /// Removed: for sparse arrays.
    #[prost(int64, tag = "5")]
    pub max_sparse_elements: i64,
    /// The tiles, the outermost first.
    #[prost(message, repeated, tag = "6")]
    pub tiles: Vec<TileProto>,
    /// The bits of one stored element; 0 for the type's default.
    #[prost(int64, tag = "7")]
    pub element_size_in_bits: i64,
    /// The memory space.
    #[prost(int64, tag = "8")]
    pub memory_space: i64,
    /// For sparse arrays, ignored: `DimLevelType`.
    #[prost(int32, repeated, tag = "9")]
    pub dim_level_types: Vec<i32>,
    /// For sparse arrays: their shape in memory.
    #[prost(message, optional, boxed, tag = "10")]
    pub physical_shape: Option<Box<ShapeProto>>,
    /// The type of indices, `PrimitiveType`; 0 for none.
    #[prost(int32, tag = "11")]
    pub index_primitive_type: i32,
    /// The type of pointers, `PrimitiveType`; 0 for none.
    #[prost(int32, tag = "12")]
    pub pointer_primitive_type: i32,
    /// For sparse arrays, ignored.
    #[prost(bool, repeated, tag = "13")]
    pub dim_unique: Vec<bool>,
    /// For sparse arrays, ignored.
    #[prost(bool, repeated, tag = "14")]
    pub dim_ordered: Vec<bool>,
    /// The bytes before the data that hold the actual sizes of dynamic dims.
    #[prost(int64, tag = "15")]
    pub dynamic_shape_metadata_prefix_bytes: i64,
    /// The number of elements of which the storage is a multiple; 0 means 1.
    #[prost(int64, tag = "16")]
    pub tail_padding_alignment_in_elements: i64,
    /// The splits of physical dims over memories.
    #[prost(message, repeated, tag = "17")]
    pub split_configs: Vec<SplitConfigProto>,
}

/// `xla.ShapeProto`.
///
/// ```
/// use tilewright_xla::{PrimitiveType, proto::ShapeProto};
/// let proto = ShapeProto {
///     element_type: PrimitiveType::F32.number(),
///     dimensions: vec![2, i64::MIN],
///     is_dynamic_dimension: vec![false, true],
///     ..ShapeProto::default()
/// };
/// assert_eq!(proto.to_shape().unwrap().to_string(), "f32[2,?]");
/// ```
#[must_use]
#[derive(Clone, PartialEq, prost::Message)]
pub struct ShapeProto {
    /// `PrimitiveType`: the element type of an array, or the kind of any other shape.
    #[prost(int32, tag = "2")]
    pub element_type: i32,
    /// The extents of an array; the bound of a dynamic dim, −2⁶³ for an unbounded one.
    #[prost(int64, repeated, tag = "3")]
    pub dimensions: Vec<i64>,
    /// The members of a tuple, or the one array of a buffer.
    #[prost(message, repeated, tag = "4")]
    pub tuple_shapes: Vec<ShapeProto>,
    /// The layout of an array.
    #[prost(message, optional, boxed, tag = "5")]
    pub layout: Option<Box<LayoutProto>>,
    /// The dynamic flag of each dim; empty if no dim is dynamic.
    #[prost(bool, repeated, tag = "6")]
    pub is_dynamic_dimension: Vec<bool>,
}

/// `xla.ProgramShapeProto`.
///
/// ```
/// use tilewright_xla::{ProgramShape, proto::ProgramShapeProto};
/// let program = ProgramShape::parse("(x: f32[2]) -> token[]").unwrap();
/// let proto: ProgramShapeProto = program.to_proto().unwrap();
/// assert_eq!((proto.parameters.len(), proto.parameter_names), (1, vec!["x".to_owned()]));
/// ```
#[must_use]
#[derive(Clone, PartialEq, prost::Message)]
pub struct ProgramShapeProto {
    /// The parameters' shapes.
    #[prost(message, repeated, tag = "1")]
    pub parameters: Vec<ShapeProto>,
    /// The result's shape.
    #[prost(message, optional, tag = "2")]
    pub result: Option<ShapeProto>,
    /// The parameters' names.
    #[prost(string, repeated, tag = "3")]
    pub parameter_names: Vec<String>,
}

/// Returns the error of a field whose value is refused; an empty name is the whole message.
pub(crate) fn of_field(field: impl Into<String>, cause: Refusal) -> Error {
    let (field, error) = (field.into(), Error::from(cause));
    if field.is_empty() { error } else { error.about(&field).named(field) }
}

/// Returns the error of a message that is the field `outer` of another.
pub(crate) fn inside(error: Error, outer: impl fmt::Display) -> Error {
    match error.name() {
        None => error.about(&outer.to_string()).named(outer.to_string()),
        Some(inner) => {
            let name = format!("{outer}.{inner}");
            error.prefixed(&format!("{outer}.")).named(name)
        }
    }
}

/// The largest number of characters shown from either end of a decoder's message, which lists every level.
const MAX_SAYS: usize = 80;

/// Reads a message.
pub(crate) fn decode<M: prost::Message + Default>(bytes: &[u8]) -> Result<M, Error> {
    M::decode(bytes).map_err(|error| {
        let says = shortened(&error.to_string());
        Error::new("parse", format!("the bytes are not a valid proto: {says}"))
    })
}

/// Returns the text without its middle, if it is long.
fn shortened(text: &str) -> String {
    let last = text.chars().count().saturating_sub(MAX_SAYS);
    if last <= MAX_SAYS {
        return text.to_owned();
    }
    text.chars().take(MAX_SAYS).chain(['…']).chain(text.chars().skip(last)).collect()
}
