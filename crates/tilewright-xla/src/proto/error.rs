//! [`ProtoError`]: the error of a conversion between protos and values.

use std::fmt;

use tilewright_core::Error;

/// The error of a proto that is not a legal value, or of a value that no proto can hold, with the field at fault.
///
/// ```
/// use tilewright_xla::proto::LayoutProto;
/// let proto = LayoutProto::parse("minor_to_major: 0 tiles { dimensions: [2,-5] }").unwrap();
/// let error = proto.to_layout().unwrap_err();
/// assert_eq!(error.field(), "tiles[0].dimensions[1]");
/// assert!(error.cause().unwrap().is_illegal());
/// assert_eq!(
///     error.to_string(),
///     "tiles[0].dimensions[1]: -5 is negative; an extent is 1 or more; -2^63 means `*`"
/// );
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct ProtoError {
    field: String,
    cause: Cause,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Cause {
    /// Boxed, so that a `Result` stays small.
    Refused(Box<Error>),
    Bytes(String),
}

impl ProtoError {
    pub(crate) fn new(field: impl Into<String>, cause: Error) -> ProtoError {
        ProtoError { field: field.into(), cause: Cause::Refused(Box::new(cause)) }
    }

    /// Returns the error of a message that is the field `outer` of another.
    pub(crate) fn within(mut self, outer: impl fmt::Display) -> ProtoError {
        self.field = if self.field.is_empty() {
            outer.to_string()
        } else {
            format!("{outer}.{}", self.field)
        };
        self
    }

    /// Returns the field at fault, such as `tuple_shapes[1].layout.tiles[0].dimensions[2]`; empty if the bytes are not a
    /// proto, or if the whole message is at fault.
    ///
    /// ```
    /// use tilewright_xla::proto::ShapeProto;
    /// let text = "element_type: TUPLE tuple_shapes { element_type: F32 dimensions: [2,-3] }";
    /// let error = ShapeProto::parse(text).unwrap().to_shape().unwrap_err();
    /// assert_eq!(error.field(), "tuple_shapes[0].dimensions[1]");
    /// ```
    pub fn field(&self) -> &str {
        &self.field
    }

    /// Returns what is wrong with the field; `None` if the bytes are not a proto.
    ///
    /// ```
    /// use tilewright_xla::{Layout, proto::LayoutProto};
    /// let error = LayoutProto::parse("minor_to_major: [0,0]").unwrap().to_layout().unwrap_err();
    /// assert!(error.cause().unwrap().is_illegal());
    /// // Cut short: no field has a value yet.
    /// assert!(Layout::from_proto_bytes(&[0x0a, 9, 0]).unwrap_err().cause().is_none());
    /// ```
    pub fn cause(&self) -> Option<&Error> {
        match &self.cause {
            Cause::Refused(cause) => Some(cause),
            Cause::Bytes(_) => None,
        }
    }

    /// Returns whether the bytes are not a proto: cut short, of other types, or more than 100 messages deep.
    ///
    /// ```
    /// use tilewright_xla::Shape;
    /// // Field 2 is a number, and the bytes end before it.
    /// assert!(Shape::from_proto_bytes(&[0x10]).unwrap_err().is_decode());
    /// // The bytes are a proto, of an unknown element type.
    /// assert!(!Shape::from_proto_bytes(&[0x10, 99]).unwrap_err().is_decode());
    /// ```
    pub fn is_decode(&self) -> bool {
        matches!(self.cause, Cause::Bytes(_))
    }
}

impl fmt::Display for ProtoError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.field.is_empty() {
            write!(f, "{}: ", self.field)?;
        }
        match &self.cause {
            Cause::Refused(cause) => cause.fmt(f),
            Cause::Bytes(says) => write!(f, "the bytes are not a valid proto: {says}"),
        }
    }
}

tilewright_core::debug_as_display!(ProtoError);

impl std::error::Error for ProtoError {}

/// The kind is that of the refused field, or `parse` if the bytes are not a proto.
impl From<ProtoError> for tilewright_error::Error {
    fn from(error: ProtoError) -> tilewright_error::Error {
        let kind = error.cause().map_or("parse", Error::kind);
        tilewright_error::Error::new(kind, error.to_string()).with_source(error)
    }
}

/// The largest number of characters shown from either end of a decoder's message, which lists every level.
const MAX_SAYS: usize = 80;

/// Reads a message.
pub(crate) fn decode<M: prost::Message + Default>(bytes: &[u8]) -> Result<M, ProtoError> {
    M::decode(bytes).map_err(|error| {
        let says = shortened(&error.to_string());
        ProtoError { field: String::new(), cause: Cause::Bytes(says) }
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
