//! Proto text: its reader and its printer.
//!
//! ```text
//! message := { field [ ',' | ';' ] }
//! field   := name ':' ( value | '[' [ value { ',' value } ] ']' ) | name [ ':' ] '{' message '}'
//! value   := integer | name of an enum's number | 'true' | 'false' | string | '{' message '}'
//! ```
//!
//! Messages may be in `<` and `>` instead of braces; `#` begins a comment. Messages nest at most [`MAX_LEVEL`] deep.
//! They are printed on one line: fields by name, without those of default value, in the order of XLA's documents.

use std::fmt;

use tilewright_core::ParseError;

use super::{LayoutProto, ProgramShapeProto, ShapeProto, SplitConfigProto, TileProto};
use crate::{
    PrimitiveType, Shape,
    shape::too_deep,
    text::{Cursor, Span, TextKind},
};

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
type Field<M> = fn(&mut Cursor<'_>, &mut M, &str, Span, usize) -> ReadField<Times>;

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
    fields(&mut Cursor::new(text).of(TextKind::Proto), field, None, 0)
}

/// Reads fields up to `close`, or the end of the text.
fn fields<M: Default>(
    text: &mut Cursor<'_>,
    field: Field<M>,
    close: Option<&str>,
    level: usize,
) -> ReadField<M> {
    let mut message = M::default();
    let mut seen = Vec::new();
    loop {
        let is_read = match close {
            Some(close) => text.eat(close),
            None => text.peek().is_none(),
        };
        if is_read {
            return Ok(message);
        }
        let (name, span) = text.word();
        if name.is_empty() {
            return Err(text.error("expected the name of a field"));
        }
        if seen.contains(&name) {
            return Err(ParseError::new(
                span,
                "a field that may appear only once appears for the second time",
                [],
            ));
        }
        if field(text, &mut message, name, span, level)? == Times::Once {
            seen.push(name);
        }
        let _ = text.eat(",") || text.eat(";");
    }
}

fn layout(
    text: &mut Cursor<'_>,
    to: &mut LayoutProto,
    name: &str,
    span: Span,
    level: usize,
) -> ReadField<Times> {
    match name {
        "minor_to_major" => integers(text, &mut to.minor_to_major),
        "padded_dimensions" | "padded_dimension" => integers(text, &mut to.padded_dimensions),
        "padding_value" => one_of(text, &mut to.padding_value, &PADDING_VALUES),
        "format" => one_of(text, &mut to.format, &FORMATS),
        "max_sparse_elements" => integer(text, &mut to.max_sparse_elements),
        "tiles" => messages(text, &mut to.tiles, tile, level),
        "element_size_in_bits" => integer(text, &mut to.element_size_in_bits),
        "memory_space" => integer(text, &mut to.memory_space),
        "dim_level_types" => many(text, &mut to.dim_level_types, |text| {
            number(text, |name| number_in(&LEVELS, name))
        }),
        "physical_shape" => boxed(text, &mut to.physical_shape, shape, level),
        "index_primitive_type" => primitive(text, &mut to.index_primitive_type),
        "pointer_primitive_type" => primitive(text, &mut to.pointer_primitive_type),
        "dim_unique" => many(text, &mut to.dim_unique, boolean),
        "dim_ordered" => many(text, &mut to.dim_ordered, boolean),
        "dynamic_shape_metadata_prefix_bytes" => {
            integer(text, &mut to.dynamic_shape_metadata_prefix_bytes)
        }
        "tail_padding_alignment_in_elements" => {
            integer(text, &mut to.tail_padding_alignment_in_elements)
        }
        "split_configs" => messages(text, &mut to.split_configs, split, level),
        _ => Err(ParseError::new(span, "not a field of LayoutProto, such as minor_to_major", [])),
    }
}

fn tile(
    text: &mut Cursor<'_>,
    to: &mut TileProto,
    name: &str,
    span: Span,
    _: usize,
) -> ReadField<Times> {
    match name {
        "dimensions" => integers(text, &mut to.dimensions),
        _ => Err(ParseError::new(span, "not a field of TileProto; it has dimensions", [])),
    }
}

fn split(
    text: &mut Cursor<'_>,
    to: &mut SplitConfigProto,
    name: &str,
    span: Span,
    _: usize,
) -> ReadField<Times> {
    match name {
        "dimension" => integer(text, &mut to.dimension),
        "split_indices" => integers(text, &mut to.split_indices),
        _ => {
            let says = "not a field of SplitConfigProto; it has dimension and split_indices";
            Err(ParseError::new(span, says, []))
        }
    }
}

fn shape(
    text: &mut Cursor<'_>,
    to: &mut ShapeProto,
    name: &str,
    span: Span,
    level: usize,
) -> ReadField<Times> {
    match name {
        "element_type" => primitive(text, &mut to.element_type),
        "dimensions" => integers(text, &mut to.dimensions),
        "tuple_shapes" => messages(text, &mut to.tuple_shapes, shape, level),
        "layout" => boxed(text, &mut to.layout, layout, level),
        "is_dynamic_dimension" => many(text, &mut to.is_dynamic_dimension, boolean),
        _ => Err(ParseError::new(span, "not a field of ShapeProto, such as element_type", [])),
    }
}

fn program(
    text: &mut Cursor<'_>,
    to: &mut ProgramShapeProto,
    name: &str,
    span: Span,
    level: usize,
) -> ReadField<Times> {
    match name {
        "parameters" => messages(text, &mut to.parameters, shape, level),
        "result" => {
            to.result = Some(nested(text, shape, level)?);
            Ok(Times::Once)
        }
        "parameter_names" => {
            many(text, &mut to.parameter_names, |text| string(text).map(str::to_owned))
        }
        _ => {
            let says =
                "not a field of ProgramShapeProto; it has parameters, result, parameter_names";
            Err(ParseError::new(span, says, []))
        }
    }
}

fn colon(text: &mut Cursor<'_>) -> ReadField<()> {
    text.expect(":", "expected `:` between a field's name and its value")
}

fn integer(text: &mut Cursor<'_>, to: &mut i64) -> ReadField<Times> {
    colon(text)?;
    *to = signed(text)?;
    Ok(Times::Once)
}

fn integers(text: &mut Cursor<'_>, to: &mut Vec<i64>) -> ReadField<Times> {
    many(text, to, signed)
}

/// Reads `: value` or `: [value, …]` and appends to the list.
fn many<T>(
    text: &mut Cursor<'_>,
    to: &mut Vec<T>,
    read: fn(&mut Cursor<'_>) -> ReadField<T>,
) -> ReadField<Times> {
    colon(text)?;
    if !text.eat("[") {
        to.push(read(text)?);
    } else if !text.eat("]") {
        loop {
            to.push(read(text)?);
            if !text.eat(",") {
                text.expect("]", "expected `,` or `]`")?;
                break;
            }
        }
    }
    Ok(Times::Often)
}

fn boolean(text: &mut Cursor<'_>) -> ReadField<bool> {
    match text.word() {
        ("true" | "True" | "t" | "1", _) => Ok(true),
        ("false" | "False" | "f" | "0", _) => Ok(false),
        ("", _) => Err(text.error("expected `true` or `false`")),
        (_, span) => Err(ParseError::new(span, "expected `true` or `false`", [])),
    }
}

fn primitive(text: &mut Cursor<'_>, to: &mut i32) -> ReadField<Times> {
    colon(text)?;
    *to = number(text, primitive_number)?;
    Ok(Times::Once)
}

fn one_of(text: &mut Cursor<'_>, to: &mut i32, names: &'static [&'static str]) -> ReadField<Times> {
    colon(text)?;
    *to = number(text, |name| number_in(names, name))?;
    Ok(Times::Once)
}

/// Reads an enum's number, or its name.
fn number(text: &mut Cursor<'_>, named: impl Fn(&str) -> Option<i32>) -> ReadField<i32> {
    if text.peek().is_some_and(|b| b == b'-' || b.is_ascii_digit()) {
        let refused = text.error("an enum's number is beyond 32 bits");
        return i32::try_from(signed(text)?).map_err(|_| refused);
    }
    let (name, span) = text.word();
    if name.is_empty() {
        return Err(text.error("expected an enum's name or number"));
    }
    named(name).ok_or_else(|| ParseError::new(span, "not a name of this enum", []))
}

/// Reads a message in braces.
fn nested<M: Default>(text: &mut Cursor<'_>, field: Field<M>, level: usize) -> ReadField<M> {
    text.eat(":");
    element(text, field, level)
}

fn element<M: Default>(text: &mut Cursor<'_>, field: Field<M>, level: usize) -> ReadField<M> {
    if level >= MAX_LEVEL {
        let (from, to) = text.error("").span();
        return Err(ParseError::refused((from, to), too_deep()));
    }
    if text.eat("<") {
        return fields(text, field, Some(">"), level + 1);
    }
    text.expect("{", "expected a message in braces")?;
    fields(text, field, Some("}"), level + 1)
}

fn boxed<M: Default>(
    text: &mut Cursor<'_>,
    to: &mut Option<Box<M>>,
    field: Field<M>,
    level: usize,
) -> ReadField<Times> {
    *to = Some(Box::new(nested(text, field, level)?));
    Ok(Times::Once)
}

/// Reads a message, or `: [message, …]`, and appends to the list.
fn messages<M: Default>(
    text: &mut Cursor<'_>,
    to: &mut Vec<M>,
    field: Field<M>,
    level: usize,
) -> ReadField<Times> {
    text.eat(":");
    if !text.eat("[") {
        to.push(element(text, field, level)?);
    } else if !text.eat("]") {
        loop {
            to.push(element(text, field, level)?);
            if !text.eat(",") {
                text.expect("]", "expected `,` or `]`")?;
                break;
            }
        }
    }
    Ok(Times::Often)
}

/// Reads an integer with an optional `-`: decimal, octal after `0` or hexadecimal after `0x`.
fn signed(text: &mut Cursor<'_>) -> ReadField<i64> {
    let negative = text.eat("-");
    if !text.peek().is_some_and(|b| b.is_ascii_digit()) {
        return Err(text.error("expected an integer"));
    }
    let (digits, span) = text.word();
    let (digits, radix) = match digits.strip_prefix("0x").or(digits.strip_prefix("0X")) {
        Some(hex) => (hex, 16),
        None if digits.len() > 1 && digits.starts_with('0') => (digits, 8),
        None => (digits, 10),
    };
    let value = i128::from_str_radix(digits, radix).ok();
    let value = value.and_then(|value| i64::try_from(if negative { -value } else { value }).ok());
    value.ok_or_else(|| ParseError::new(span, "the integer does not fit 64 bits", []))
}

/// Reads a string without escapes.
fn string<'a>(text: &mut Cursor<'a>) -> ReadField<&'a str> {
    let refused = text.error("expected a string without escapes, on one line");
    let Some(quote) = ["\"", "'"].into_iter().find(|quote| text.eat(quote)) else {
        return Err(text.error("expected a string"));
    };
    text.until(quote).filter(|value| !value.contains(['\\', '\n'])).ok_or(refused)
}

impl LayoutProto {
    /// Returns the message as proto text, which [`LayoutProto::parse`] reads back.
    ///
    /// ```
    /// use tilewright_xla::Layout;
    /// let proto = Layout::parse("{1,0:T(8,128)(2,1)E(4)}").unwrap().to_proto().unwrap();
    /// assert_eq!(
    ///     proto.text().to_string(),
    ///     "minor_to_major: [1,0] tiles { dimensions: [8,128] } tiles { dimensions: [2,1] } \
    ///      element_size_in_bits: 4 tail_padding_alignment_in_elements: 1"
    /// );
    /// ```
    pub fn text(&self) -> impl fmt::Display + '_ {
        ProtoText(self)
    }
}

impl ShapeProto {
    /// Returns the message as proto text, which [`ShapeProto::parse`] reads back.
    ///
    /// ```
    /// use tilewright_xla::Shape;
    /// let proto = Shape::parse("(f32[2,<=3], token[])").unwrap().to_proto().unwrap();
    /// assert_eq!(
    ///     proto.text().to_string(),
    ///     "element_type: TUPLE tuple_shapes { element_type: F32 dimensions: [2,3] \
    ///      is_dynamic_dimension: [false,true] } tuple_shapes { element_type: TOKEN }"
    /// );
    /// ```
    pub fn text(&self) -> impl fmt::Display + '_ {
        ProtoText(self)
    }
}

impl ProgramShapeProto {
    /// Returns the message as proto text, which [`ProgramShapeProto::parse`] reads back if names are free of quotes,
    /// backslashes and line ends.
    ///
    /// ```
    /// use tilewright_xla::{ProgramShape, proto::ProgramShapeProto};
    /// let proto = ProgramShape::parse("(x: f32[2]) -> token[]").unwrap().to_proto().unwrap();
    /// let text = proto.text().to_string();
    /// assert!(text.contains("result { element_type: TOKEN }"));
    /// assert_eq!(ProgramShapeProto::parse(&text).unwrap(), proto);
    /// ```
    pub fn text(&self) -> impl fmt::Display + '_ {
        ProtoText(self)
    }
}

/// A message that prints its fields.
trait Message {
    fn print(&self, out: &mut FieldWriter<'_, '_>) -> fmt::Result;
}

struct ProtoText<'a, M>(&'a M);

impl<M: Message> fmt::Display for ProtoText<'_, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.print(&mut FieldWriter { f, first: true })
    }
}

/// A writer of fields, one after the other.
struct FieldWriter<'a, 'b> {
    f: &'a mut fmt::Formatter<'b>,
    first: bool,
}

impl FieldWriter<'_, '_> {
    fn name(&mut self, name: &str) -> fmt::Result {
        let space = if self.first { "" } else { " " };
        self.first = false;
        write!(self.f, "{space}{name}")
    }

    fn value(&mut self, name: &str, value: impl fmt::Display) -> fmt::Result {
        self.name(name)?;
        write!(self.f, ": {value}")
    }

    fn integer(&mut self, name: &str, value: i64) -> fmt::Result {
        if value == 0 { Ok(()) } else { self.value(name, value) }
    }

    /// Writes an enum's number by its name, if it has one.
    fn number(&mut self, name: &str, number: i32, named: Option<String>) -> fmt::Result {
        match named {
            _ if number == 0 => Ok(()),
            Some(named) => self.value(name, named),
            None => self.value(name, number),
        }
    }

    fn list<T: fmt::Display>(&mut self, name: &str, items: &[T]) -> fmt::Result {
        if items.is_empty() {
            return Ok(());
        }
        self.name(name)?;
        self.f.write_str(": [")?;
        crate::layout::write_list(self.f, items)?;
        self.f.write_str("]")
    }

    fn message(&mut self, name: &str, message: &impl Message) -> fmt::Result {
        self.name(name)?;
        self.f.write_str(" {")?;
        message.print(self)?;
        self.f.write_str(" }")
    }

    fn messages(&mut self, name: &str, messages: &[impl Message]) -> fmt::Result {
        messages.iter().try_for_each(|message| self.message(name, message))
    }
}

impl Message for LayoutProto {
    fn print(&self, out: &mut FieldWriter<'_, '_>) -> fmt::Result {
        out.list("minor_to_major", &self.minor_to_major)?;
        out.list("padded_dimensions", &self.padded_dimensions)?;
        let padding = listed(&PADDING_VALUES, self.padding_value);
        out.number("padding_value", self.padding_value, padding)?;
        out.number("format", self.format, listed(&FORMATS, self.format))?;
        out.integer("max_sparse_elements", self.max_sparse_elements)?;
        out.messages("tiles", &self.tiles)?;
        out.integer("element_size_in_bits", self.element_size_in_bits)?;
        out.integer("memory_space", self.memory_space)?;
        let level = |&number: &i32| listed(&LEVELS, number).unwrap_or_else(|| number.to_string());
        out.list("dim_level_types", &self.dim_level_types.iter().map(level).collect::<Vec<_>>())?;
        if let Some(shape) = &self.physical_shape {
            out.message("physical_shape", shape.as_ref())?;
        }
        let (index, pointer) = (self.index_primitive_type, self.pointer_primitive_type);
        out.number("index_primitive_type", index, primitive_name(index))?;
        out.number("pointer_primitive_type", pointer, primitive_name(pointer))?;
        out.list("dim_unique", &self.dim_unique)?;
        out.list("dim_ordered", &self.dim_ordered)?;
        let bytes = self.dynamic_shape_metadata_prefix_bytes;
        out.integer("dynamic_shape_metadata_prefix_bytes", bytes)?;
        let alignment = self.tail_padding_alignment_in_elements;
        out.integer("tail_padding_alignment_in_elements", alignment)?;
        out.messages("split_configs", &self.split_configs)
    }
}

impl Message for TileProto {
    fn print(&self, out: &mut FieldWriter<'_, '_>) -> fmt::Result {
        out.list("dimensions", &self.dimensions)
    }
}

impl Message for SplitConfigProto {
    fn print(&self, out: &mut FieldWriter<'_, '_>) -> fmt::Result {
        out.integer("dimension", self.dimension)?;
        out.list("split_indices", &self.split_indices)
    }
}

impl Message for ShapeProto {
    fn print(&self, out: &mut FieldWriter<'_, '_>) -> fmt::Result {
        let primitive = primitive_name(self.element_type);
        out.number("element_type", self.element_type, primitive)?;
        out.list("dimensions", &self.dimensions)?;
        out.messages("tuple_shapes", &self.tuple_shapes)?;
        if let Some(layout) = &self.layout {
            out.message("layout", layout.as_ref())?;
        }
        out.list("is_dynamic_dimension", &self.is_dynamic_dimension)
    }
}

impl Message for ProgramShapeProto {
    fn print(&self, out: &mut FieldWriter<'_, '_>) -> fmt::Result {
        out.messages("parameters", &self.parameters)?;
        if let Some(result) = &self.result {
            out.message("result", result)?;
        }
        let quoted = |name: &String| format!("\"{name}\"");
        out.list("parameter_names", &self.parameter_names.iter().map(quoted).collect::<Vec<_>>())
    }
}

/// `PaddingValue`, removed in 2018.
pub(super) const PADDING_VALUES: [&str; 6] =
    ["INVALID_PAD", "ZERO_PAD", "ONE_PAD", "LOWEST_PAD", "HIGHEST_PAD", "UNKNOWN_PAD"];

/// `Format`, removed in 2018.
pub(super) const FORMATS: [&str; 3] = ["INVALID_FORMAT", "DENSE", "SPARSE"];

/// `DimLevelType`.
pub(super) const LEVELS: [&str; 4] =
    ["DIM_DENSE", "DIM_COMPRESSED", "DIM_SINGLETON", "DIM_LOOSE_COMPRESSED"];

/// Returns the name of an element type: that of HLO text in capitals, with one exception.
pub(super) fn primitive_name(number: i32) -> Option<String> {
    let primitive = PrimitiveType::from_number(number)?;
    Some(match primitive {
        PrimitiveType::Opaque => "OPAQUE_TYPE".into(),
        _ => primitive.name().to_ascii_uppercase(), // open set
    })
}

/// Returns the number of an element type by its name.
pub(super) fn primitive_number(name: &str) -> Option<i32> {
    let named = |number: &i32| primitive_name(*number).as_deref() == Some(name);
    PrimitiveType::all().map(PrimitiveType::number).find(named)
}

/// Returns the name at a number of a list.
pub(super) fn listed(names: &[&str], number: i32) -> Option<String> {
    usize::try_from(number).ok().and_then(|at| names.get(at)).map(|&name| name.into())
}

/// Returns the number of a name in a list.
pub(super) fn number_in(names: &[&str], name: &str) -> Option<i32> {
    names.iter().position(|&known| known == name).map(|at| at as i32)
}
