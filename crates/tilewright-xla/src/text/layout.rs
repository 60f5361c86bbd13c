//! `{1,0:T(8,128)(2,1)L(4)E(4)S(1)SC(0:3)M(8)}`.

use tilewright_core::{Error, ParseError};

use super::{
    cursor::{Cursor, Span},
    element::element_type,
    prefix, whole,
};
use crate::{
    ArrayShape, Layout, PrimitiveType, Split, Tile, TileDim, layout::misplaced,
    shape::too_many_dims, tile::check_dim,
};

impl Layout {
    /// Reads a layout such as `{0,1:T(8,128)(2,1)}`; white space and comments may stand between
    /// tokens. `D(…)`, the sparse leftover that XLA ignores, is dropped; `P(…)` is
    /// refused, because no dense array has it.
    ///
    /// # Errors
    /// Where and why the text is no layout.
    ///
    /// ```
    /// use tilewright_xla::Layout;
    /// assert_eq!(Layout::parse("{ 0, 1 : T(5, 3) }").unwrap().to_string(), "{0,1:T(5,3)}");
    /// let text = "{0,1:T(5,0)}";
    /// let error = Layout::parse(text).unwrap_err();
    /// assert_eq!(error.span(), (9, 10));
    /// ```
    pub fn parse(text: &str) -> Result<Layout, ParseError> {
        whole(text, layout)
    }

    /// Reads a layout from the start of a text, and how many bytes it took.
    ///
    /// # Errors
    /// As [`Layout::parse`].
    ///
    /// ```
    /// use tilewright_xla::Layout;
    /// let text = "{1,0:T(8,128)} add(a, b)";
    /// let (layout, taken) = Layout::parse_prefix(text).unwrap();
    /// assert_eq!((layout.rank(), &text[taken..]), (2, " add(a, b)"));
    /// assert!(Layout::parse_prefix("{1,0 add(a, b)").is_err());
    /// ```
    pub fn parse_prefix(text: &str) -> Result<(Layout, usize), ParseError> {
        prefix(text, layout)
    }
}

impl std::str::FromStr for Layout {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Layout, ParseError> {
        Layout::parse(text)
    }
}

/// The properties, in the order in which they must come.
const ORDER: [&str; 10] = ["D", "T", "L", "#", "*", "E", "S", "SC", "P", "M"];

/// Reads a layout.
pub(crate) fn layout(cursor: &mut Cursor<'_>) -> Result<Layout, ParseError> {
    cursor.expect("{", "expected a layout such as `{1,0}`")?;
    let mut layout = Layout::untiled(minor_to_major(cursor)?);
    if cursor.eat(":") {
        layout = properties(cursor, layout)?;
        cursor
            .expect("}", "expected a property (T, L, #, *, E, S, SC, M, in this order) or `}`")?;
    } else {
        cursor.expect("}", "expected `,`, `:` or `}`")?;
    }
    Ok(layout)
}

/// Reads the properties of a layout alone, as `T(8,128)`: those of a layout of no dims.
#[cfg(feature = "proto")]
pub(crate) fn layout_properties(cursor: &mut Cursor<'_>) -> Result<Layout, ParseError> {
    if cursor.peek().is_none() {
        return Err(ParseError::new(
            cursor.next_span(),
            "expected tiles such as `T(8,128)`, or a layout such as `{1,0:T(8,128)}`",
            [],
        ));
    }
    properties(cursor, Layout::descending(0))
}

fn minor_to_major(cursor: &mut Cursor<'_>) -> Result<Vec<u64>, ParseError> {
    let mut order = Vec::new();
    if matches!(cursor.peek(), Some(b'}' | b':')) {
        return Ok(order);
    }
    let mut again = *cursor;
    loop {
        if order.len() == ArrayShape::MAX_RANK {
            let span = cursor.next_span();
            return Err(ParseError::refused(span, too_many_dims(order.len() + 1)));
        }
        order.push(entry(cursor)?.0);
        if !cursor.eat(",") {
            break;
        }
    }
    // What stands behind the numbers is at fault before the numbers are.
    if !matches!(cursor.peek(), Some(b'}' | b':')) {
        return Err(cursor.error("expected `,`, `:` or `}`"));
    }
    let Some((at, error)) = misplaced(&order) else { return Ok(order) };
    for _ in 0..at {
        entry(&mut again)?;
        again.eat(",");
    }
    Err(ParseError::refused(again.next_span(), error))
}

fn entry(cursor: &mut Cursor<'_>) -> Result<(u64, Span), ParseError> {
    cursor.integer("expected the number of a dim, `:` or `}`")
}

fn properties(cursor: &mut Cursor<'_>, mut layout: Layout) -> Result<Layout, ParseError> {
    let mut next = 0;
    while let Some((name, span)) = property_name(cursor) {
        let Some(place) = ORDER.iter().position(|&known| known == name) else {
            return Err(ParseError::new(
                span,
                "no property of a layout; expected T, L, #, *, E, S, SC or M",
                [],
            ));
        };
        if place < next {
            let message = "a property out of order; each comes once: D, T, L, #, *, E, S, SC, M";
            return Err(ParseError::new(span, message, []));
        }
        next = place + 1;
        layout = property(cursor, layout, name, span)?;
    }
    Ok(layout)
}

fn property_name<'a>(cursor: &mut Cursor<'a>) -> Option<(&'a str, Span)> {
    let span = cursor.next_span();
    for sign in ["#", "*"] {
        if cursor.eat(sign) {
            return Some((sign, span));
        }
    }
    let (name, span) = cursor.letters();
    (!name.is_empty()).then_some((name, span))
}

fn property(
    cursor: &mut Cursor<'_>,
    layout: Layout,
    name: &str,
    span: Span,
) -> Result<Layout, ParseError> {
    match name {
        "D" => level_types(cursor).map(|()| layout),
        "T" => Ok(layout.tiled(groups(cursor, tile)?)),
        "L" => number(cursor, layout, Layout::with_tail_padding_alignment),
        "E" => number(cursor, layout, Layout::with_element_size_in_bits),
        "S" => number(cursor, layout, Layout::with_memory_space),
        "SC" => Ok(layout.with_splits(&groups(cursor, split)?)),
        "M" => number(cursor, layout, Layout::with_dynamic_metadata_prefix_bytes),
        "#" => type_of(cursor, layout, Layout::with_index_type),
        "*" => type_of(cursor, layout, Layout::with_pointer_type),
        _ => Err(ParseError::new(
            span,
            "a physical shape, which only sparse arrays have; a layout here is dense",
            [],
        )),
    }
}

/// `(u32)`, given to a setter.
fn type_of(
    cursor: &mut Cursor<'_>,
    layout: Layout,
    set: fn(Layout, Option<PrimitiveType>) -> Result<Layout, Error>,
) -> Result<Layout, ParseError> {
    cursor.expect("(", "expected `(`")?;
    let span = cursor.next_span();
    let element = element_type(cursor)?;
    cursor.expect(")", "expected `)`")?;
    set(layout, Some(element)).map_err(|error| ParseError::refused(span, error))
}

/// `(INT)`, given to a setter.
fn number(
    cursor: &mut Cursor<'_>,
    layout: Layout,
    set: fn(Layout, u64) -> Result<Layout, Error>,
) -> Result<Layout, ParseError> {
    cursor.expect("(", "expected `(`")?;
    let (value, span) = cursor.integer("expected an integer")?;
    cursor.expect(")", "expected `)`")?;
    set(layout, value).map_err(|error| ParseError::refused(span, error))
}

/// One group in brackets, and any that follow.
fn groups<T>(
    cursor: &mut Cursor<'_>,
    read: fn(&mut Cursor<'_>) -> Result<T, ParseError>,
) -> Result<Vec<T>, ParseError> {
    let mut all = vec![read(cursor)?];
    while cursor.peek() == Some(b'(') {
        all.push(read(cursor)?);
    }
    Ok(all)
}

fn tile(cursor: &mut Cursor<'_>) -> Result<Tile, ParseError> {
    let (from, _) = cursor.next_span();
    cursor.expect("(", "expected a tile such as `(8,128)`")?;
    if cursor.eat(")") {
        return Err(ParseError::new(
            (from, cursor.at()),
            "a tile without dims; give one at least",
            [],
        ));
    }
    let mut dims = Vec::new();
    let mut last;
    loop {
        let dim;
        (dim, last) = tile_dim(cursor)?;
        check_dim(dims.len(), dim).map_err(|error| ParseError::refused(last, error))?;
        dims.push(dim);
        if !cursor.eat(",") {
            break;
        }
    }
    cursor.expect(")", "expected `,` or `)`")?;
    Tile::of(dims).map_err(|error| ParseError::refused(last, error))
}

fn tile_dim(cursor: &mut Cursor<'_>) -> Result<(TileDim, Span), ParseError> {
    let span = cursor.next_span();
    if cursor.eat("*") {
        return Ok((TileDim::Combine, span));
    }
    let (size, span) = cursor.integer("expected the extent of a tile, or `*`")?;
    Ok((TileDim::Size(size), span))
}

fn split(cursor: &mut Cursor<'_>) -> Result<Split, ParseError> {
    cursor.expect("(", "expected a split such as `(0:3)`")?;
    let (dimension, _) = cursor.integer("expected the number of a physical dim")?;
    cursor.expect(":", "expected `:`")?;
    let mut indices = Vec::new();
    loop {
        indices.push(cursor.integer("expected a split index")?.0);
        if !cursor.eat(",") {
            break;
        }
    }
    cursor.expect(")", "expected `,` or `)`")?;
    Ok(Split { dimension, indices })
}

/// `(D,C+,S~)`: read and forgotten.
fn level_types(cursor: &mut Cursor<'_>) -> Result<(), ParseError> {
    cursor.expect("(", "expected `(`")?;
    loop {
        let (level, span) = cursor.letters();
        if !["D", "C", "S", "H"].contains(&level) {
            let span = if level.is_empty() { cursor.next_span() } else { span };
            return Err(ParseError::new(span, "expected a dim level type: D, C, S or H", []));
        }
        cursor.eat("+");
        cursor.eat("~");
        if !cursor.eat(",") {
            return cursor.expect(")", "expected `,` or `)`");
        }
    }
}
