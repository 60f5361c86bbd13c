//! Messages as proto text, on one line: fields by name, without those of default value, in the order of XLA's documents.

use std::fmt;

use super::{LayoutProto, ProgramShapeProto, ShapeProto, SplitConfigProto, TileProto, names};

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
        crate::list::write_list(self.f, items)?;
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
        let padding = names::listed(&names::PADDING_VALUES, self.padding_value);
        out.number("padding_value", self.padding_value, padding)?;
        out.number("format", self.format, names::listed(&names::FORMATS, self.format))?;
        out.integer("max_sparse_elements", self.max_sparse_elements)?;
        out.messages("tiles", &self.tiles)?;
        out.integer("element_size_in_bits", self.element_size_in_bits)?;
        out.integer("memory_space", self.memory_space)?;
        let level = |&number: &i32| {
            names::listed(&names::LEVELS, number).unwrap_or_else(|| number.to_string())
        };
        out.list("dim_level_types", &self.dim_level_types.iter().map(level).collect::<Vec<_>>())?;
        if let Some(shape) = &self.physical_shape {
            out.message("physical_shape", shape.as_ref())?;
        }
        let (index, pointer) = (self.index_primitive_type, self.pointer_primitive_type);
        out.number("index_primitive_type", index, names::primitive_name(index))?;
        out.number("pointer_primitive_type", pointer, names::primitive_name(pointer))?;
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
        let primitive = names::primitive_name(self.element_type);
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
