//! Reads shapes: `(f32[2]{0}, (token[], s4[8]), b(f32[8]))`.
//!
//! The members of tuples are read recursively, at most [`Shape::MAX_DEPTH`] deep.

use tilewright_core::ParseError;

use super::{
    cursor::Cursor,
    layout::{array, array_prefix},
    prefix, whole,
};
use crate::{ArrayShape, Shape, shape::too_deep};

impl Shape {
    /// Reads a shape, with optional white space and comments between tokens. A tiled one takes 0.40 µs, an untiled one
    /// 0.21 µs (bench `shapes`, medians on an x86-64 machine).
    ///
    /// # Errors
    /// A [`ParseError`] with the byte span at fault; for arrays, those of [`ArrayShape::parse`].
    ///
    /// ```
    /// use tilewright_xla::Shape;
    /// let text = "(f32[2], token[2])";
    /// let error = Shape::parse(text).unwrap_err();
    /// assert_eq!(
    ///     error.render(text).to_string(),
    ///     "a token has no dims; write `token[]`\n  (f32[2], token[2])\n                 ^"
    /// );
    /// ```
    pub fn parse(text: &str) -> Result<Shape, ParseError> {
        whole(text, shape)
    }

    /// Reads a shape from the start of a text; returns it and the number of bytes read; see
    /// [`ArrayShape::parse_prefix`].
    ///
    /// # Errors
    /// Those of [`Shape::parse`].
    ///
    /// ```
    /// use tilewright_xla::Shape;
    /// let text = "(f32[2], token[]) tuple(a, b)";
    /// let (shape, taken) = Shape::parse_prefix(text).unwrap();
    /// assert_eq!((shape.tuple_shapes().unwrap().len(), &text[taken..]), (2, " tuple(a, b)"));
    /// assert!(Shape::parse_prefix("(f32[2], ").is_err());
    /// ```
    pub fn parse_prefix(text: &str) -> Result<(Shape, usize), ParseError> {
        prefix(text, shape_prefix)
    }
}

impl std::str::FromStr for Shape {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Shape, ParseError> {
        Shape::parse(text)
    }
}

/// A reader of arrays: of one inside a text, or of one at its start.
type ReadArray = fn(&mut Cursor<'_>) -> Result<ArrayShape, ParseError>;

/// Reads a shape.
pub(super) fn shape(cursor: &mut Cursor<'_>) -> Result<Shape, ParseError> {
    at_depth(cursor, array, 0)
}

/// Reads a shape; a `{` begins an array's layout only if one can follow.
pub(crate) fn shape_prefix(cursor: &mut Cursor<'_>) -> Result<Shape, ParseError> {
    at_depth(cursor, array_prefix, 0)
}

fn at_depth(cursor: &mut Cursor<'_>, read: ReadArray, depth: usize) -> Result<Shape, ParseError> {
    match cursor.peek() {
        Some(b'(') if depth >= Shape::MAX_DEPTH => {
            Err(ParseError::refused(cursor.next_span(), too_deep()))
        }
        Some(b'(') => tuple(cursor, depth + 1),
        // Some element types begin with these letters too.
        Some(b't' | b'o' | b'b') => keyword(cursor, read),
        _ => read(cursor).map(Shape::array),
    }
}

fn keyword(cursor: &mut Cursor<'_>, read: ReadArray) -> Result<Shape, ParseError> {
    match cursor.spanned(cursor.next_span()) {
        "token" => dimless(cursor, "token", "a token has no dims; write `token[]`")
            .map(|()| Shape::token()),
        "opaque" => dimless(cursor, "opaque", "an opaque shape has no dims; write `opaque[]`")
            .map(|()| Shape::opaque()),
        "b" => buffer(cursor),
        _ => read(cursor).map(Shape::array),
    }
}

fn tuple(cursor: &mut Cursor<'_>, depth: usize) -> Result<Shape, ParseError> {
    let (from, _) = cursor.next_span();
    cursor.expect("(", "expected `(`")?;
    let mut shapes = Vec::new();
    if cursor.eat(")") {
        return Ok(Shape::nil());
    }
    loop {
        shapes.push(at_depth(cursor, array, depth)?);
        if !cursor.eat(",") {
            break;
        }
    }
    cursor.expect(")", "expected `,` or `)` after a member of a tuple")?;
    Shape::tuple(shapes).map_err(|error| ParseError::refused((from, cursor.at()), error))
}

/// Reads `token[]` or `opaque[]`.
fn dimless(cursor: &mut Cursor<'_>, name: &str, message: &'static str) -> Result<(), ParseError> {
    cursor.eat(name);
    cursor.expect("[", "expected `[]`")?;
    cursor.expect("]", message)
}

fn buffer(cursor: &mut Cursor<'_>) -> Result<Shape, ParseError> {
    cursor.eat("b");
    cursor.expect("(", "expected `(` and the array that the buffer refers to")?;
    if cursor.peek() == Some(b')') {
        return Err(cursor.error("expected the array that the buffer refers to, such as `f32[2]`"));
    }
    let array = array(cursor)?;
    cursor.expect(")", "expected `)` at the end of a buffer: it refers to one array")?;
    Ok(Shape::buffer(array))
}
