//! Reads layouts, arrays, shapes and the shapes of programs, which may contain each other.
//!
//! | what | text |
//! |---|---|
//! | layout | `{1,0:T(8,128)(2,1)L(4)E(4)S(1)SC(0:3)M(8)}` |
//! | array | `f32[<=8,128]{1,0:T(8,128)}` |
//! | shape | `(f32[2]{0}, (token[], s4[8]), b(f32[8]))` |
//! | program | `(x: f32[2], (unknown): token[]) -> f32[7]` |
//!
//! The members of tuples are read recursively, at most [`Shape::MAX_DEPTH`] deep.

use tilewright_core::{Error, ParseError};

use super::{prefix, whole};
use crate::{
    ArrayShape, Dim, Layout, Parameter, PrimitiveType, ProgramShape, Shape, Split, Tile, TileDim,
    layout::{check_dim, misplaced},
    shape::{too_deep, too_many_dims},
    text::{Cursor, Span},
};

impl Layout {
    /// Reads a layout such as `{0,1:T(8,128)(2,1)}`, with optional white space and comments between tokens. `D(…)`, a
    /// remnant of sparse arrays that XLA ignores, is dropped. `P(…)` is kept here, and refused in the layout of an array,
    /// because a dense array has none.
    ///
    /// # Errors
    /// A [`ParseError`] with the byte span at fault.
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

    /// Reads a layout from the start of a text; returns it and the number of bytes read.
    ///
    /// # Errors
    /// Those of [`Layout::parse`].
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

/// The arrays that a layout may belong to.
#[derive(Clone, Copy)]
enum Arrays {
    Any,
    Dense,
}

/// Reads a layout.
pub(crate) fn layout(cursor: &mut Cursor<'_>) -> Result<Layout, ParseError> {
    read_layout(cursor, Arrays::Any)
}

fn read_layout(cursor: &mut Cursor<'_>, of: Arrays) -> Result<Layout, ParseError> {
    cursor.expect("{", "expected a layout such as `{1,0}`")?;
    let mut layout = Layout::untiled(minor_to_major(cursor)?);
    if cursor.eat(":") {
        layout = properties(cursor, layout, of)?;
        cursor
            .expect("}", "expected a property (T, L, #, *, E, S, SC, M, in this order) or `}`")?;
    } else {
        cursor.expect("}", "expected `,`, `:` or `}`")?;
    }
    Ok(layout)
}

/// Reads the properties of a layout alone, as `T(8,128)`: those of a layout of rank 0.
#[cfg(feature = "proto")]
pub(crate) fn layout_properties(cursor: &mut Cursor<'_>) -> Result<Layout, ParseError> {
    if cursor.peek().is_none() {
        return Err(ParseError::new(
            cursor.next_span(),
            "expected tiles such as `T(8,128)`, or a layout such as `{1,0:T(8,128)}`",
            [],
        ));
    }
    properties(cursor, Layout::descending(0), Arrays::Dense)
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
    // An error after the numbers is reported before one of the numbers.
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

fn properties(
    cursor: &mut Cursor<'_>,
    mut layout: Layout,
    of: Arrays,
) -> Result<Layout, ParseError> {
    let mut next = 0;
    while let Some((name, span)) = property_name(cursor) {
        let Some(place) = ORDER.iter().position(|&known| known == name) else {
            return Err(ParseError::new(
                span,
                "not a property of a layout; expected T, L, #, *, E, S, SC or M",
                [],
            ));
        };
        if place < next {
            let message = "the property is out of order; each comes once, in this order: D, T, L, #, *, E, S, SC, M";
            return Err(ParseError::new(span, message, []));
        }
        next = place + 1;
        layout = match (name, of) {
            ("P", Arrays::Any) => physical_shape(cursor, layout)?,
            _ => property(cursor, layout, name, span)?,
        };
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
            "a physical shape, which only sparse arrays have; only dense layouts are supported",
            [],
        )),
    }
}

/// Reads `(s32[10]{0})`; its layout cannot have a physical shape itself.
fn physical_shape(cursor: &mut Cursor<'_>, layout: Layout) -> Result<Layout, ParseError> {
    cursor.expect("(", "expected `(`")?;
    let shape = array(cursor)?;
    cursor.expect(")", "expected `)`")?;
    Ok(layout.with_physical_shape(Some(shape)))
}

/// Reads `(u32)` and passes it to a setter.
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

/// Reads `(INT)` and passes it to a setter.
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

/// Reads one group in brackets, and any that follow.
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
            "a tile has no dims; give one at least",
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

/// Reads `(D,C+,S~)` and drops it.
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

impl ArrayShape {
    /// Reads the shape of an array, with optional white space and comments between tokens.
    ///
    /// # Errors
    /// A [`ParseError`] with the byte span at fault. A layout must name each dim once, and a size must be below 2⁶³.
    ///
    /// ```
    /// use tilewright_xla::ArrayShape;
    /// let text = "f32[10]{0,1}";
    /// let error = ArrayShape::parse(text).unwrap_err();
    /// assert_eq!(
    ///     error.render(text).to_string(),
    ///     "the shape has 1 dims, but the layout's minor_to_major has 2\n  f32[10]{0,1}\n         ^^^^^"
    /// );
    /// ```
    pub fn parse(text: &str) -> Result<ArrayShape, ParseError> {
        whole(text, array)
    }

    /// Reads the shape of an array from the start of a text; returns it and the number of bytes read. As in XLA, a `{`
    /// begins a layout only if an integer, `:` or `}` follows.
    ///
    /// # Errors
    /// Those of [`ArrayShape::parse`].
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

/// Reads the shape of an array.
pub(super) fn array(cursor: &mut Cursor<'_>) -> Result<ArrayShape, ParseError> {
    read_array(cursor, |cursor| cursor.peek() == Some(b'{'))
}

/// Reads the shape of an array; a `{` begins its layout only if one can follow.
pub(super) fn array_prefix(cursor: &mut Cursor<'_>) -> Result<ArrayShape, ParseError> {
    read_array(cursor, |cursor| {
        let mut ahead = *cursor;
        ahead.eat("{") && matches!(ahead.peek(), Some(b'0'..=b'9' | b':' | b'}'))
    })
}

fn read_array(
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
    let layout = read_layout(cursor, Arrays::Dense)?;
    if layout.rank() == rank {
        return Ok(layout);
    }
    Err(ParseError::new(
        (from, cursor.at()),
        "the shape has {} dims, but the layout's minor_to_major has {}",
        [rank as i128, layout.rank() as i128],
    ))
}

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

impl ProgramShape {
    /// Reads the shape of a program, with optional white space and comments between tokens.
    ///
    /// # Errors
    /// A [`ParseError`] with the byte span at fault.
    ///
    /// ```
    /// use tilewright_xla::ProgramShape;
    /// assert_eq!(ProgramShape::parse("() -> ()").unwrap().to_string(), "() -> ()");
    /// let text = "(x f32[2]) -> f32[2]";
    /// let error = ProgramShape::parse(text).unwrap_err();
    /// assert_eq!(error.span(), (3, 6));
    /// ```
    pub fn parse(text: &str) -> Result<ProgramShape, ParseError> {
        whole(text, program)
    }
}

impl std::str::FromStr for ProgramShape {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<ProgramShape, ParseError> {
        ProgramShape::parse(text)
    }
}

/// The text in place of a parameter's missing name.
const UNKNOWN: &str = "unknown";

/// Reads the shape of a program.
fn program(cursor: &mut Cursor<'_>) -> Result<ProgramShape, ParseError> {
    let parameters = parameters(cursor)?;
    cursor.expect("->", "expected `->` and the shape of the result")?;
    Ok(ProgramShape { parameters, result: shape(cursor)? })
}

fn parameters(cursor: &mut Cursor<'_>) -> Result<Vec<Parameter>, ParseError> {
    cursor.expect("(", "expected `(` and the parameters")?;
    let mut parameters = Vec::new();
    if cursor.eat(")") {
        return Ok(parameters);
    }
    loop {
        let name = parameter_name(cursor)?;
        cursor.expect(":", "expected `:` between a parameter's name and its shape")?;
        parameters.push(Parameter { name, shape: shape(cursor)? });
        if !cursor.eat(",") {
            cursor.expect(")", "expected `,` or `)` after a parameter")?;
            return Ok(parameters);
        }
    }
}

fn parameter_name(cursor: &mut Cursor<'_>) -> Result<String, ParseError> {
    if cursor.eat("(") {
        let (word, span) = cursor.word();
        if word != UNKNOWN {
            return Err(ParseError::new(span, "expected `(unknown)` or a parameter's name", []));
        }
        cursor.expect(")", "expected `)`")?;
        return Ok(String::new());
    }
    match cursor.name() {
        ("", _) => Err(cursor.error("expected a parameter's name, or `(unknown)`")),
        (name, _) => Ok(name.to_owned()),
    }
}
