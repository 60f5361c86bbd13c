//! The element type of an array, `f32`.

use tilewright_core::ParseError;

use super::cursor::Cursor;
use crate::PrimitiveType;

/// Reads the type of an array's elements.
pub(super) fn element_type(cursor: &mut Cursor<'_>) -> Result<PrimitiveType, ParseError> {
    if cursor.peek() == Some(b'(') {
        return Err(cursor.error("a tuple, where one array such as `f32[2,3]` is expected"));
    }
    let (name, span) = cursor.word();
    match PrimitiveType::from_name(name) {
        Some(primitive) if primitive.is_array() => Ok(primitive),
        Some(_) => Err(ParseError::new(span, "not a type of an array's elements", [])),
        None if name == "b" && cursor.peek() == Some(b'(') => Err(ParseError::new(
            span,
            "a buffer, where one array such as `f32[2,3]` is expected",
            [],
        )),
        None => {
            let span = if name.is_empty() { cursor.next_span() } else { span };
            let error = ParseError::new(span, "expected an element type such as `f32`", []);
            Err(error.with_nearest(PrimitiveType::nearest(name).unwrap_or("")))
        }
    }
}
