//! Reads proto text into messages.
//!
//! ```text
//! message := { field [ ',' | ';' ] }
//! field   := name ':' ( value | '[' [ value { ',' value } ] ']' ) | name [ ':' ] '{' message '}'
//! value   := integer | name of an enum's number | 'true' | 'false' | string | '{' message '}'
//! ```
//!
//! Messages may be in `<` and `>` instead of braces; `#` begins a comment. Messages nest at most [`MAX_LEVEL`] deep.

use tilewright_core::ParseError;

use super::{
    LayoutProto, ProgramShapeProto, ShapeProto, SplitConfigProto, TileProto,
    lexer::{Lexer, ProtoSpan},
    names,
};
use crate::{Shape, shape::too_deep};

/// The largest nesting of messages: that of the deepest legal shape.
const MAX_LEVEL: usize = Shape::MAX_DEPTH + 2;

/// The number of times that a field may occur.
#[derive(PartialEq)]
enum Times {
    Once,
    Often,
}

type ReadField<T> = Result<T, ParseError>;

/// Reads the value of the field `name` into a message.
type Field<M> = fn(&mut Lexer<'_>, &mut M, &str, ProtoSpan, usize) -> ReadField<Times>;

impl LayoutProto {
    /// Reads proto text; `padded_dimension`, as in old documents, means `padded_dimensions`.
    ///
    /// # Errors
    /// A [`ParseError`] with the byte span at fault.
    ///
    /// ```
    /// use tilewright_xla::proto::LayoutProto;
    /// let proto = LayoutProto::parse("minor_to_major: [0,1] tiles { dimensions: [5,3] }").unwrap();
    /// assert_eq!(proto.to_layout().unwrap().to_string(), "{0,1:T(5,3)}");
    /// let error = LayoutProto::parse("minor_to_major: [0,]").unwrap_err();
    /// assert_eq!(error.span(), (19, 20));
    /// ```
    pub fn parse(text: &str) -> Result<LayoutProto, ParseError> {
        whole(text, layout)
    }
}

impl ShapeProto {
    /// Reads proto text.
    ///
    /// # Errors
    /// A [`ParseError`] with the byte span at fault.
    ///
    /// ```
    /// use tilewright_xla::proto::ShapeProto;
    /// let text = "element_type: TUPLE tuple_shapes { element_type: S4 dimensions: 8 }";
    /// let shape = ShapeProto::parse(text).unwrap().to_shape().unwrap();
    /// assert_eq!(shape.to_string(), "(s4[8])");
    /// assert_eq!(ShapeProto::parse("element_type: F33").unwrap_err().span(), (14, 17));
    /// ```
    pub fn parse(text: &str) -> Result<ShapeProto, ParseError> {
        whole(text, shape)
    }
}

impl ProgramShapeProto {
    /// Reads proto text.
    ///
    /// # Errors
    /// A [`ParseError`] with the byte span at fault.
    ///
    /// ```
    /// use tilewright_xla::proto::ProgramShapeProto;
    /// let text = "parameters { element_type: F32 dimensions: 2 } result { element_type: TOKEN }";
    /// let program = ProgramShapeProto::parse(text).unwrap().to_program_shape().unwrap();
    /// assert_eq!(program.to_string(), "((unknown): f32[2]) -> token[]");
    /// let error = ProgramShapeProto::parse("results { }").unwrap_err();
    /// assert_eq!(error.span(), (0, 7));
    /// ```
    pub fn parse(text: &str) -> Result<ProgramShapeProto, ParseError> {
        whole(text, program)
    }
}

fn whole<M: Default>(text: &str, field: Field<M>) -> ReadField<M> {
    fields(&mut Lexer::new(text), field, None, 0)
}

/// Reads fields up to `close`, or the end of the text.
fn fields<M: Default>(
    lexer: &mut Lexer<'_>,
    field: Field<M>,
    close: Option<u8>,
    level: usize,
) -> ReadField<M> {
    let mut message = M::default();
    let mut seen = Vec::new();
    loop {
        if lexer.peek() == close {
            if let Some(close) = close {
                lexer.eat(close);
            }
            return Ok(message);
        }
        let (name, span) = lexer.word();
        if name.is_empty() {
            return Err(lexer.error("expected the name of a field"));
        }
        if seen.contains(&name) {
            return Err(ParseError::new(
                span,
                "a field that may appear only once appears for the second time",
                [],
            ));
        }
        if field(lexer, &mut message, name, span, level)? == Times::Once {
            seen.push(name);
        }
        let _ = lexer.eat(b',') || lexer.eat(b';');
    }
}

fn layout(
    lexer: &mut Lexer<'_>,
    to: &mut LayoutProto,
    name: &str,
    span: ProtoSpan,
    level: usize,
) -> ReadField<Times> {
    match name {
        "minor_to_major" => integers(lexer, &mut to.minor_to_major),
        "padded_dimensions" | "padded_dimension" => integers(lexer, &mut to.padded_dimensions),
        "padding_value" => one_of(lexer, &mut to.padding_value, &names::PADDING_VALUES),
        "format" => one_of(lexer, &mut to.format, &names::FORMATS),
        "max_sparse_elements" => integer(lexer, &mut to.max_sparse_elements),
        "tiles" => messages(lexer, &mut to.tiles, tile, level),
        "element_size_in_bits" => integer(lexer, &mut to.element_size_in_bits),
        "memory_space" => integer(lexer, &mut to.memory_space),
        "dim_level_types" => many(lexer, &mut to.dim_level_types, |lexer| {
            number(lexer, |name| names::number_in(&names::LEVELS, name))
        }),
        "physical_shape" => boxed(lexer, &mut to.physical_shape, shape, level),
        "index_primitive_type" => primitive(lexer, &mut to.index_primitive_type),
        "pointer_primitive_type" => primitive(lexer, &mut to.pointer_primitive_type),
        "dim_unique" => many(lexer, &mut to.dim_unique, boolean),
        "dim_ordered" => many(lexer, &mut to.dim_ordered, boolean),
        "dynamic_shape_metadata_prefix_bytes" => {
            integer(lexer, &mut to.dynamic_shape_metadata_prefix_bytes)
        }
        "tail_padding_alignment_in_elements" => {
            integer(lexer, &mut to.tail_padding_alignment_in_elements)
        }
        "split_configs" => messages(lexer, &mut to.split_configs, split, level),
        _ => Err(ParseError::new(span, "not a field of LayoutProto, such as minor_to_major", [])),
    }
}

fn tile(
    lexer: &mut Lexer<'_>,
    to: &mut TileProto,
    name: &str,
    span: ProtoSpan,
    _: usize,
) -> ReadField<Times> {
    match name {
        "dimensions" => integers(lexer, &mut to.dimensions),
        _ => Err(ParseError::new(span, "not a field of TileProto; it has dimensions", [])),
    }
}

fn split(
    lexer: &mut Lexer<'_>,
    to: &mut SplitConfigProto,
    name: &str,
    span: ProtoSpan,
    _: usize,
) -> ReadField<Times> {
    match name {
        "dimension" => integer(lexer, &mut to.dimension),
        "split_indices" => integers(lexer, &mut to.split_indices),
        _ => {
            let says = "not a field of SplitConfigProto; it has dimension and split_indices";
            Err(ParseError::new(span, says, []))
        }
    }
}

fn shape(
    lexer: &mut Lexer<'_>,
    to: &mut ShapeProto,
    name: &str,
    span: ProtoSpan,
    level: usize,
) -> ReadField<Times> {
    match name {
        "element_type" => primitive(lexer, &mut to.element_type),
        "dimensions" => integers(lexer, &mut to.dimensions),
        "tuple_shapes" => messages(lexer, &mut to.tuple_shapes, shape, level),
        "layout" => boxed(lexer, &mut to.layout, layout, level),
        "is_dynamic_dimension" => many(lexer, &mut to.is_dynamic_dimension, boolean),
        _ => Err(ParseError::new(span, "not a field of ShapeProto, such as element_type", [])),
    }
}

fn program(
    lexer: &mut Lexer<'_>,
    to: &mut ProgramShapeProto,
    name: &str,
    span: ProtoSpan,
    level: usize,
) -> ReadField<Times> {
    match name {
        "parameters" => messages(lexer, &mut to.parameters, shape, level),
        "result" => {
            to.result = Some(nested(lexer, shape, level)?);
            Ok(Times::Once)
        }
        "parameter_names" => {
            many(lexer, &mut to.parameter_names, |lexer| lexer.string().map(str::to_owned))
        }
        _ => {
            let says =
                "not a field of ProgramShapeProto; it has parameters, result, parameter_names";
            Err(ParseError::new(span, says, []))
        }
    }
}

fn colon(lexer: &mut Lexer<'_>) -> ReadField<()> {
    lexer.expect(b':', "expected `:` between a field's name and its value")
}

fn integer(lexer: &mut Lexer<'_>, to: &mut i64) -> ReadField<Times> {
    colon(lexer)?;
    *to = lexer.integer()?;
    Ok(Times::Once)
}

fn integers(lexer: &mut Lexer<'_>, to: &mut Vec<i64>) -> ReadField<Times> {
    many(lexer, to, |lexer| lexer.integer())
}

/// Reads `: value` or `: [value, …]` and appends to the list.
fn many<T>(
    lexer: &mut Lexer<'_>,
    to: &mut Vec<T>,
    read: fn(&mut Lexer<'_>) -> ReadField<T>,
) -> ReadField<Times> {
    colon(lexer)?;
    if !lexer.eat(b'[') {
        to.push(read(lexer)?);
    } else if !lexer.eat(b']') {
        loop {
            to.push(read(lexer)?);
            if !lexer.eat(b',') {
                lexer.expect(b']', "expected `,` or `]`")?;
                break;
            }
        }
    }
    Ok(Times::Often)
}

fn boolean(lexer: &mut Lexer<'_>) -> ReadField<bool> {
    match lexer.word() {
        ("true" | "True" | "t" | "1", _) => Ok(true),
        ("false" | "False" | "f" | "0", _) => Ok(false),
        ("", _) => Err(lexer.error("expected `true` or `false`")),
        (_, span) => Err(ParseError::new(span, "expected `true` or `false`", [])),
    }
}

fn primitive(lexer: &mut Lexer<'_>, to: &mut i32) -> ReadField<Times> {
    colon(lexer)?;
    *to = number(lexer, names::primitive_number)?;
    Ok(Times::Once)
}

fn one_of(lexer: &mut Lexer<'_>, to: &mut i32, names: &'static [&'static str]) -> ReadField<Times> {
    colon(lexer)?;
    *to = number(lexer, |name| names::number_in(names, name))?;
    Ok(Times::Once)
}

/// Reads an enum's number, or its name.
fn number(lexer: &mut Lexer<'_>, named: impl Fn(&str) -> Option<i32>) -> ReadField<i32> {
    if lexer.peek().is_some_and(|b| b == b'-' || b.is_ascii_digit()) {
        let refused = lexer.error("an enum's number is beyond 32 bits");
        return i32::try_from(lexer.integer()?).map_err(|_| refused);
    }
    let (name, span) = lexer.word();
    if name.is_empty() {
        return Err(lexer.error("expected an enum's name or number"));
    }
    named(name).ok_or_else(|| ParseError::new(span, "not a name of this enum", []))
}

/// Reads a message in braces.
fn nested<M: Default>(lexer: &mut Lexer<'_>, field: Field<M>, level: usize) -> ReadField<M> {
    lexer.eat(b':');
    element(lexer, field, level)
}

fn element<M: Default>(lexer: &mut Lexer<'_>, field: Field<M>, level: usize) -> ReadField<M> {
    if level >= MAX_LEVEL {
        let (from, to) = lexer.error("").span();
        return Err(ParseError::refused((from, to), too_deep()));
    }
    if lexer.eat(b'<') {
        return fields(lexer, field, Some(b'>'), level + 1);
    }
    lexer.expect(b'{', "expected a message in braces")?;
    fields(lexer, field, Some(b'}'), level + 1)
}

fn boxed<M: Default>(
    lexer: &mut Lexer<'_>,
    to: &mut Option<Box<M>>,
    field: Field<M>,
    level: usize,
) -> ReadField<Times> {
    *to = Some(Box::new(nested(lexer, field, level)?));
    Ok(Times::Once)
}

/// Reads a message, or `: [message, …]`, and appends to the list.
fn messages<M: Default>(
    lexer: &mut Lexer<'_>,
    to: &mut Vec<M>,
    field: Field<M>,
    level: usize,
) -> ReadField<Times> {
    lexer.eat(b':');
    if !lexer.eat(b'[') {
        to.push(element(lexer, field, level)?);
    } else if !lexer.eat(b']') {
        loop {
            to.push(element(lexer, field, level)?);
            if !lexer.eat(b',') {
                lexer.expect(b']', "expected `,` or `]`")?;
                break;
            }
        }
    }
    Ok(Times::Often)
}
