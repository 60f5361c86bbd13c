//! `f32[<=8,128]{1,0:T(8,128)}`.

use tilewright_core::ParseError;

use super::{cursor::Cursor, element::element_type, layout::layout, prefix, whole};
use crate::{ArrayShape, Dim, Layout, shape::too_many_dims};

impl ArrayShape {
    /// Reads an array's shape; white space and comments may stand between tokens.
    ///
    /// # Errors
    /// Where and why the text is no array shape. A layout must name each dim once, a size stays below
    /// 2⁶³.
    ///
    /// ```
    /// use tilewright_xla::ArrayShape;
    /// let text = "f32[10]{0,1}";
    /// let error = ArrayShape::parse(text).unwrap_err();
    /// assert_eq!(
    ///     error.render(text).to_string(),
    ///     "the shape has 1 dims, the layout's minor_to_major 2\n  f32[10]{0,1}\n         ^^^^^"
    /// );
    /// ```
    pub fn parse(text: &str) -> Result<ArrayShape, ParseError> {
        whole(text, array)
    }

    /// Reads an array's shape from the start of a text, and how many bytes it took. As in XLA, a `{`
    /// begins a layout only if an integer, `:` or `}` follows.
    ///
    /// # Errors
    /// As [`ArrayShape::parse`].
    ///
    /// ```
    /// use tilewright_xla::ArrayShape;
    /// // An instruction: the shape, then its opcode.
    /// let text = "f32[2,3]{0,1} transpose(x)";
    /// let (shape, taken) = ArrayShape::parse_prefix(text).unwrap();
    /// assert_eq!((shape.to_string().as_str(), &text[taken..]), ("f32[2,3]{0,1}", " transpose(x)"));
    /// // Not a layout: the shape ends before the brace.
    /// assert_eq!(ArrayShape::parse_prefix("f32[2]{x}").unwrap().1, 6);
    /// assert!(ArrayShape::parse_prefix("f32[2").is_err());
    /// ```
    pub fn parse_prefix(text: &str) -> Result<(ArrayShape, usize), ParseError> {
        prefix(text, array_prefix)
    }
}

impl std::str::FromStr for ArrayShape {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<ArrayShape, ParseError> {
        ArrayShape::parse(text)
    }
}

/// Reads an array's shape.
pub(super) fn array(cursor: &mut Cursor<'_>) -> Result<ArrayShape, ParseError> {
    read(cursor, |cursor| cursor.peek() == Some(b'{'))
}

/// Reads an array's shape; a `{` begins its layout only where one can follow.
pub(super) fn array_prefix(cursor: &mut Cursor<'_>) -> Result<ArrayShape, ParseError> {
    read(cursor, |cursor| {
        let mut ahead = *cursor;
        ahead.eat("{") && matches!(ahead.peek(), Some(b'0'..=b'9' | b':' | b'}'))
    })
}

fn read(
    cursor: &mut Cursor<'_>,
    has_layout: fn(&mut Cursor<'_>) -> bool,
) -> Result<ArrayShape, ParseError> {
    let element_type = element_type(cursor)?;
    let dims = dims(cursor)?;
    let layout = if has_layout(cursor) { Some(layout_of(cursor, dims.len())?) } else { None };
    Ok(ArrayShape { element_type, dims, layout })
}

fn dims(cursor: &mut Cursor<'_>) -> Result<Vec<Dim>, ParseError> {
    cursor.expect("[", "expected `[`")?;
    let mut dims = Vec::new();
    if cursor.eat("]") {
        return Ok(dims);
    }
    loop {
        if dims.len() == ArrayShape::MAX_RANK {
            let span = cursor.next_span();
            return Err(ParseError::refused(span, too_many_dims(dims.len() + 1)));
        }
        dims.push(dim(cursor)?);
        if !cursor.eat(",") {
            cursor.expect("]", "expected `,` or `]`")?;
            return Ok(dims);
        }
    }
}

fn dim(cursor: &mut Cursor<'_>) -> Result<Dim, ParseError> {
    if cursor.eat("?") {
        return Ok(Dim::Unbounded);
    }
    if cursor.eat("<=") {
        return Ok(Dim::Bounded(cursor.integer("expected the bound of a dim")?.0));
    }
    Ok(Dim::Static(
        cursor.integer("expected the extent of a dim: an integer, `<=` and one, or `?`")?.0,
    ))
}

fn layout_of(cursor: &mut Cursor<'_>, rank: usize) -> Result<Layout, ParseError> {
    let (from, _) = cursor.next_span();
    let layout = layout(cursor)?;
    if layout.rank() == rank {
        return Ok(layout);
    }
    Err(ParseError::new(
        (from, cursor.at()),
        "the shape has {} dims, the layout's minor_to_major {}",
        [rank as i128, layout.rank() as i128],
    ))
}
