//! HLO modules: their computations, and the name, opcode and shape of each instruction.
//!
//! A module is read from its text or from the bytes of its proto; both give the same values. Everything else in a
//! module (literals, attributes, metadata, backend configurations) is skipped. Names are those of the module, without
//! the `%` of the text.
//!
//! A large module has many instructions and few shapes, so both readers share equal shapes. An error of a text has its
//! line and column.
//!
//! Source: `xla/service/hlo.proto`; fields that are not read here are skipped.
//!
//! Counts the messages in a module's bytes before any of them is created.
//!
//! An empty message takes two bytes of a proto and about a hundred in memory. Counting first refuses a hostile file
//! before it fills the memory.

mod buffers;
mod text;

pub use buffers::{Buffer, Buffers, Tiling, Unsized};

use std::{collections::HashSet, sync::Arc};

use tilewright_core::{Error as Refusal, ParseError};

use crate::{
    Error, Parameter, ProgramShape, Shape,
    proto::{ShapeProto, decode, each, inside, of_field},
    text::{Cursor, TextKind},
};

/// A module: its name and its computations.
///
/// Source: XLA's `xla/hlo/parser/hlo_parser.cc` and `xla/service/hlo.proto`.
///
/// ```
/// use tilewright_xla::HloModule;
/// let text = "HloModule m\n\
///     ENTRY %main (x: f32[2,3]) -> f32[3,2] {\n\
///       %x = f32[2,3]{1,0} parameter(0)\n\
///       ROOT %t = f32[3,2]{0,1} transpose(%x), dimensions={1,0}, metadata={op_name=\"a{b\"}\n\
///     }\n";
/// let module = HloModule::parse(text).unwrap();
/// let entry = module.entry().unwrap();
/// assert_eq!((module.name.as_str(), entry.name.as_str()), ("m", "main"));
/// assert_eq!(entry.instructions[1].opcode, "transpose");
/// assert_eq!(entry.instructions[1].shape.as_ref().unwrap().to_string(), "f32[3,2]{0,1}");
/// assert_eq!(entry.program_shape().unwrap().to_string(), "(x: f32[2,3]{1,0}) -> f32[3,2]{0,1}");
/// ```
#[must_use]
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HloModule {
    /// The name of the module.
    pub name: String,
    /// The computations, in the order of the text or the proto.
    pub computations: Vec<HloComputation>,
}

/// A computation of an [`HloModule`].
///
/// ```
/// use tilewright_xla::{HloComputation, HloModule};
/// let text = "HloModule m\nENTRY e {\n  x = f32[2] parameter(0)\n  ROOT y = f32[2] add(x, x)\n}\n";
/// let module = HloModule::parse(text).unwrap();
/// let HloComputation { name, entry, instructions, root, .. } = &module.computations[0];
/// assert_eq!((name.as_str(), *entry, instructions.len(), *root), ("e", true, 2, Some(1)));
/// ```
#[must_use]
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HloComputation {
    /// The name of the computation.
    pub name: String,
    /// Set if this is the entry computation of the module.
    pub entry: bool,
    /// The instructions, in the order of the text or the proto.
    pub instructions: Vec<HloInstruction>,
    /// The index of the root in `instructions`, if one is marked.
    pub root: Option<usize>,
}

/// An instruction of an [`HloComputation`].
///
/// ```
/// use tilewright_xla::HloModule;
/// let text = "HloModule m\nENTRY e {\n  ROOT %x = f32[2]{0} parameter(0)\n}\n";
/// let module = HloModule::parse(text).unwrap();
/// let x = &module.entry().unwrap().instructions[0];
/// assert_eq!((x.name.as_str(), x.opcode.as_str(), x.parameter), ("x", "parameter", Some(0)));
/// assert_eq!(x.shape.as_ref().unwrap().to_string(), "f32[2]{0}");
/// ```
#[must_use]
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HloInstruction {
    /// The name of the instruction.
    pub name: String,
    /// The opcode: `add`, `fusion`, `parameter`.
    pub opcode: String,
    /// The shape of the result; instructions of equal shapes share one. `None` if the text leaves it to be inferred.
    pub shape: Option<Arc<Shape>>,
    /// The number of the parameter, if the instruction is one.
    pub parameter: Option<u64>,
}

impl HloModule {
    /// Returns the entry computation: the one marked `ENTRY`, otherwise in a text the last one.
    ///
    /// ```
    /// use tilewright_xla::HloModule;
    /// let text = "HloModule m\nf {\n  ROOT x = f32[] parameter(0)\n}\n\
    ///     ENTRY e {\n  ROOT y = f32[] constant(1)\n}\n";
    /// assert_eq!(HloModule::parse(text).unwrap().entry().unwrap().name, "e");
    /// ```
    pub fn entry(&self) -> Option<&HloComputation> {
        self.computations.iter().find(|computation| computation.entry)
    }

    /// Returns the computation with this name.
    ///
    /// ```
    /// use tilewright_xla::HloModule;
    /// let text = "HloModule m\nf {\n  ROOT x = f32[] parameter(0)\n}\n\
    ///     ENTRY e {\n  ROOT y = f32[] constant(1)\n}\n";
    /// let module = HloModule::parse(text).unwrap();
    /// assert!(!module.computation("f").unwrap().entry);
    /// assert!(module.computation("g").is_none());
    /// ```
    pub fn computation(&self, name: &str) -> Option<&HloComputation> {
        self.computations.iter().find(|computation| computation.name == name)
    }
}

impl HloComputation {
    /// Returns the instructions that are parameters, in the order of their numbers.
    ///
    /// ```
    /// use tilewright_xla::HloModule;
    /// let text = "HloModule m\nENTRY e {\n  b = s8[] parameter(1)\n  a = f32[] parameter(0)\n\
    ///     ROOT c = f32[] copy(a)\n}\n";
    /// let module = HloModule::parse(text).unwrap();
    /// let names: Vec<&str> =
    ///     module.entry().unwrap().parameters().iter().map(|one| one.name.as_str()).collect();
    /// assert_eq!(names, ["a", "b"]);
    /// ```
    pub fn parameters(&self) -> Vec<&HloInstruction> {
        let mut parameters: Vec<_> =
            self.instructions.iter().filter(|one| one.parameter.is_some()).collect();
        parameters.sort_by_key(|one| one.parameter);
        parameters
    }

    /// Returns the shape of the result: that of the root, or of the last instruction if no root is marked.
    ///
    /// ```
    /// use tilewright_xla::HloModule;
    /// let text = "HloModule m\nENTRY e {\n  x = f32[2,3]{1,0} parameter(0)\n\
    ///     ROOT y = f32[3,2]{0,1} bitcast(x)\n}\n";
    /// let module = HloModule::parse(text).unwrap();
    /// assert_eq!(module.entry().unwrap().result().unwrap().to_string(), "f32[3,2]{0,1}");
    /// ```
    pub fn result(&self) -> Option<&Shape> {
        self.root_instruction()?.shape.as_deref()
    }

    /// Returns the shapes of the parameters and the result, with their layouts; `None` for a computation without
    /// instructions, or if the text omits one of these shapes.
    ///
    /// ```
    /// use tilewright_xla::HloModule;
    /// let text = "HloModule m\nENTRY e {\n  x = f32[2]{0} parameter(0)\n  ROOT y = s8[] constant(1)\n}\n";
    /// let module = HloModule::parse(text).unwrap();
    /// let program = module.entry().unwrap().program_shape().unwrap();
    /// assert_eq!(program.to_string(), "(x: f32[2]{0}) -> s8[]");
    /// ```
    pub fn program_shape(&self) -> Option<ProgramShape> {
        let parameter = |one: &HloInstruction| {
            let shape = Shape::clone(one.shape.as_ref()?);
            Some(Parameter { name: one.name.clone(), shape })
        };
        Some(ProgramShape {
            parameters: self.parameters().into_iter().map(parameter).collect::<Option<_>>()?,
            result: self.result()?.clone(),
        })
    }

    /// Returns the instruction with this name.
    ///
    /// ```
    /// use tilewright_xla::HloModule;
    /// let text = "HloModule m\nENTRY e {\n  x = f32[2] parameter(0)\n  ROOT y = f32[2] add(x, x)\n}\n";
    /// let module = HloModule::parse(text).unwrap();
    /// let entry = module.entry().unwrap();
    /// assert_eq!(entry.instruction("y").unwrap().opcode, "add");
    /// assert!(entry.instruction("%y").is_none());
    /// ```
    pub fn instruction(&self, name: &str) -> Option<&HloInstruction> {
        self.instructions.iter().find(|instruction| instruction.name == name)
    }
}

/// The largest number of bytes of a line that an error shows on either side of the fault.
const AROUND: usize = 60;

/// Returns the error of a module's text. Its message has line and column, and shows the line at fault; its
/// [cause](Error::cause) is the error of the parser.
fn in_module(text: &str, error: ParseError) -> Error {
    let (from, to) = error.span();
    let before = text.get(..from).unwrap_or(text);
    // Lines end with `\n`, `\r\n` or `\r` alone.
    let start = before.rfind(['\n', '\r']).map_or(0, |end| end + 1);
    let pairs = before.matches("\r\n").count();
    let line = 1 + before.bytes().filter(|b| matches!(b, b'\n' | b'\r')).count() - pairs;
    let column = 1 + text.get(start..from).map_or(0, |part| part.chars().count());
    let (shown, carets) = shown(text, start, (from, to));
    let message = format!("line {line}, column {column}: {error}\n  {shown}\n  {carets}");
    Error::from(error).of_kind("parse").on_line(line).with_message(message)
}

/// Returns the part of a line around the fault, without control characters, and the carets below it.
fn shown(text: &str, start: usize, (from, to): (usize, usize)) -> (String, String) {
    let rest = text.get(from..).and_then(|rest| rest.find(['\n', '\r']));
    let end = rest.map_or(text.len(), |at| from + at);
    let left = boundary(text, from.saturating_sub(AROUND).max(start));
    let right = boundary(text, from.saturating_add(AROUND).min(end));
    let count = |from: usize, to: usize| text.get(from..to).map_or(0, |part| part.chars().count());
    let (from, to) = (count(left, from), count(left, to.clamp(from, right.max(from))));
    let shown = text.get(left..right).unwrap_or("").replace(char::is_control, " ");
    (shown, " ".repeat(from) + &"^".repeat((to - from.min(to)).max(1)))
}

/// Returns the first position from `at` on that is between two characters.
fn boundary(text: &str, at: usize) -> usize {
    (at..text.len()).find(|&at| text.is_char_boundary(at)).unwrap_or(text.len())
}

/// The shapes seen so far.
#[derive(Default)]
struct Shapes(HashSet<Arc<Shape>>);

impl Shapes {
    /// Returns the shape, or an equal one seen before.
    fn share(&mut self, shape: Shape) -> Arc<Shape> {
        if let Some(known) = self.0.get(&shape) {
            return Arc::clone(known);
        }
        let shape = Arc::new(shape);
        self.0.insert(Arc::clone(&shape));
        shape
    }
}

/// Shares the shapes of computations that are already read.
fn share(computations: &mut [HloComputation]) {
    let mut shapes: HashSet<Arc<Shape>> = HashSet::new();
    for one in computations.iter_mut().flat_map(|computation| &mut computation.instructions) {
        let Some(shape) = &mut one.shape else { continue };
        match shapes.get(shape) {
            Some(known) => *shape = Arc::clone(known),
            None => {
                shapes.insert(Arc::clone(shape));
            }
        }
    }
}

impl HloModule {
    /// Returns whether bytes begin like the text of a module: with `HloModule` or `ENTRY`, after white space and comments. The
    /// beginning of a file suffices.
    ///
    /// ```
    /// use tilewright_xla::HloModule;
    /// assert!(HloModule::begins_as_text(b"\n// a dump\nHloModule m, is_scheduled=true"));
    /// assert!(!HloModule::begins_as_text(b"\x0a\x01m") && !HloModule::begins_as_text(b"HloModules"));
    /// ```
    pub fn begins_as_text(bytes: &[u8]) -> bool {
        let text = String::from_utf8_lossy(bytes);
        Cursor::new(&text)
            .of(TextKind::Module)
            .label("")
            .is_ok_and(|name| matches!(name, "HloModule" | "ENTRY"))
    }

    /// Reads a module from its text or its proto. Bytes that begin with `HloModule`, or whose only control characters are
    /// white space, are text; others are a proto. Bytes of a text that are not UTF-8, as in metadata, are read as U+FFFD.
    ///
    /// # Errors
    /// Those of [`HloModule::parse`] or [`HloModule::from_proto_bytes`].
    ///
    /// ```
    /// use tilewright_xla::HloModule;
    /// assert_eq!(HloModule::from_bytes(b"HloModule m").unwrap().name, "m");
    /// assert_eq!(HloModule::from_bytes(b"\x0a\x01m\x1a\x00").unwrap().name, "m");
    /// let error = HloModule::from_bytes(b"hello\n").unwrap_err();
    /// assert!(error.to_string().starts_with("as HLO text: line 1, column 1: expected `HloModule`"));
    /// let error = HloModule::from_bytes(b"\x0a\x05m").unwrap_err();
    /// assert!(error.to_string().starts_with("as the bytes of an HloModuleProto: "));
    /// ```
    pub fn from_bytes(bytes: &[u8]) -> Result<HloModule, Error> {
        let control = |byte: &u8| byte.is_ascii_control() && !byte.is_ascii_whitespace();
        if HloModule::begins_as_text(bytes) || !bytes.iter().any(control) {
            let read = HloModule::parse(&String::from_utf8_lossy(bytes));
            read.map_err(|error| error.about("as HLO text"))
        } else {
            let read = HloModule::from_proto_bytes(bytes);
            read.map_err(|error| error.about("as the bytes of an HloModuleProto"))
        }
    }
}

/// The largest number of messages in a module's proto: an instruction has about four, and each takes at most a few
/// hundred bytes.
const MAX_MESSAGES: usize = 1 << 22;

/// `xla.HloProto`, the format of XLA's dumps: a module and its buffers, which are skipped here.
#[derive(Clone, PartialEq, prost::Message)]
struct DumpProto {
    #[prost(message, optional, tag = "1")]
    module: Option<ModuleProto>,
}

/// `xla.HloModuleProto`.
#[derive(Clone, PartialEq, prost::Message)]
struct ModuleProto {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(string, tag = "2")]
    entry_computation_name: String,
    #[prost(message, repeated, tag = "3")]
    computations: Vec<ComputationProto>,
    #[prost(int64, tag = "6")]
    entry_computation_id: i64,
}

/// `xla.HloComputationProto`.
#[derive(Clone, PartialEq, prost::Message)]
struct ComputationProto {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(message, repeated, tag = "2")]
    instructions: Vec<InstructionProto>,
    #[prost(int64, tag = "5")]
    id: i64,
    #[prost(int64, tag = "6")]
    root_id: i64,
}

/// `xla.HloInstructionProto`.
#[derive(Clone, PartialEq, prost::Message)]
struct InstructionProto {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(string, tag = "2")]
    opcode: String,
    #[prost(message, optional, tag = "3")]
    shape: Option<ShapeProto>,
    #[prost(int64, tag = "9")]
    parameter_number: i64,
    #[prost(int64, tag = "35")]
    id: i64,
}

impl HloModule {
    /// Reads the bytes of an `HloModuleProto`, or of an `HloProto` that holds one.
    ///
    /// # Errors
    /// Bytes that are not a proto, or one of more than 2²² messages. Otherwise the error names the field at fault, such as
    /// `computations[0].instructions[3].shape.layout`: an instruction without a shape, a negative parameter number, and the
    /// errors of [`ShapeProto::to_shape`].
    ///
    /// ```
    /// use tilewright_xla::HloModule;
    /// // Field 1, the name; field 3, a computation whose field 1 is its name.
    /// let bytes = [b"\x0a\x01m", b"\x1a\x05\x0a\x03top".as_slice()].concat();
    /// let module = HloModule::from_proto_bytes(&bytes).unwrap();
    /// assert_eq!((module.name.as_str(), module.computations[0].name.as_str()), ("m", "top"));
    /// assert!(HloModule::from_proto_bytes(b"\x0a").unwrap_err().is_parse());
    /// ```
    pub fn from_proto_bytes(bytes: &[u8]) -> Result<HloModule, Error> {
        check(bytes, MAX_MESSAGES)?;
        let proto = match decode::<DumpProto>(bytes) {
            // The name of a plain module does not decode as a module with computations.
            Ok(DumpProto { module: Some(module) }) if !module.computations.is_empty() => module,
            _ => decode::<ModuleProto>(bytes)?,
        };
        let mut computations = each("computations", &proto.computations, computation)?;
        share(&mut computations);
        if let Some(entry) = entry(&proto).and_then(|at| computations.get_mut(at)) {
            entry.entry = true;
        }
        Ok(HloModule { name: proto.name, computations })
    }
}

/// Returns the computation with the id of the entry, or with its name if ids are not unique.
fn entry(proto: &ModuleProto) -> Option<usize> {
    let place = |is: &dyn Fn(&ComputationProto) -> bool| {
        let mut places = (0..).zip(&proto.computations).filter(|(_, one)| is(one));
        match (places.next(), places.next()) {
            (Some((at, _)), None) => Some(at),
            _ => None,
        }
    };
    let named = |one: &ComputationProto| one.name == proto.entry_computation_name;
    place(&|one| one.id == proto.entry_computation_id).or_else(|| place(&named))
}

fn computation(proto: &ComputationProto) -> Result<HloComputation, Error> {
    Ok(HloComputation {
        name: proto.name.clone(),
        entry: false,
        instructions: each("instructions", &proto.instructions, instruction)?,
        root: proto.instructions.iter().position(|one| one.id == proto.root_id),
    })
}

fn instruction(proto: &InstructionProto) -> Result<HloInstruction, Error> {
    let shape = proto.shape.as_ref().ok_or_else(|| {
        of_field("shape", Refusal::illegal("an instruction without a shape", [], ""))
    })?;
    Ok(HloInstruction {
        name: proto.name.clone(),
        opcode: proto.opcode.clone(),
        shape: Some(Arc::new(shape.to_shape().map_err(|error| inside(error, "shape"))?)),
        parameter: parameter(proto)?,
    })
}

fn parameter(proto: &InstructionProto) -> Result<Option<u64>, Error> {
    if proto.opcode != "parameter" {
        return Ok(None);
    }
    u64::try_from(proto.parameter_number).map(Some).map_err(|_| {
        let cause = Refusal::illegal(
            "parameter number {} is negative",
            [proto.parameter_number.into()],
            "parameters count from 0",
        );
        of_field("parameter_number", cause)
    })
}

/// The kind of a message, as far as it contains messages that are read.
#[derive(Clone, Copy)]
enum MessageKind {
    /// A module, or a dump that holds one.
    Top,
    Module,
    Computation,
    Instruction,
    Shape,
    Layout,
    Leaf,
}

impl MessageKind {
    /// Returns the kind of the message in the field of this number, if it is read.
    fn child(self, field: u64) -> Option<MessageKind> {
        match (self, field) {
            (MessageKind::Top, 1) => Some(MessageKind::Module),
            (MessageKind::Top | MessageKind::Module, 3) => Some(MessageKind::Computation),
            (MessageKind::Computation, 2) => Some(MessageKind::Instruction),
            (MessageKind::Instruction, 3) | (MessageKind::Shape, 4) | (MessageKind::Layout, 10) => {
                Some(MessageKind::Shape)
            }
            (MessageKind::Shape, 5) => Some(MessageKind::Layout),
            (MessageKind::Layout, 6 | 17) => Some(MessageKind::Leaf),
            _ => None,
        }
    }
}

/// Refuses bytes of more than `most` messages. Bytes that are not a proto are left to the decoder.
fn check(bytes: &[u8], most: usize) -> Result<(), Error> {
    let (mut open, mut count) = (vec![(bytes, MessageKind::Top)], 0);
    while let Some((mut rest, kind)) = open.pop() {
        while let Some((field, inside)) = next_field(&mut rest) {
            if let (Some(child), Some(inside)) = (kind.child(field), inside) {
                count += 1;
                if count > most {
                    let legal = "dump the module in parts";
                    let error =
                        Refusal::limit("a module has more than {} messages", [most as i128], legal);
                    return Err(of_field("", error));
                }
                open.push((inside, child));
            }
        }
    }
    Ok(())
}

/// Returns the number of the next field, and its bytes if it has a length; `None` at the end, or if this is not a
/// proto.
fn next_field<'a>(rest: &mut &'a [u8]) -> Option<(u64, Option<&'a [u8]>)> {
    let key = prost::encoding::decode_varint(rest).ok()?;
    let len = match key & 7 {
        0 => return prost::encoding::decode_varint(rest).ok().map(|_| (key >> 3, None)),
        1 => 8,
        2 => usize::try_from(prost::encoding::decode_varint(rest).ok()?).ok()?,
        5 => 4,
        _ => return None,
    };
    let (inside, after) = rest.split_at_checked(len)?;
    *rest = after;
    Some((key >> 3, (key & 7 == 2).then_some(inside)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::HloModule;

    #[test]
    fn equal_shapes_are_one() {
        let text = "HloModule m\nf {\n  x = f32[2] parameter(0)\n}\n\
            ENTRY e {\n  y = f32[2] parameter(0)\n  ROOT z = f32[2]{0} copy(y)\n}\n";
        let read = HloModule::parse(text).unwrap();
        let shape = |module: &HloModule, computation: usize, at: usize| {
            Arc::clone(module.computations[computation].instructions[at].shape.as_ref().unwrap())
        };
        assert!(Arc::ptr_eq(&shape(&read, 0, 0), &shape(&read, 1, 0)));
        // An absent layout differs from the default layout.
        assert_ne!(shape(&read, 1, 0), shape(&read, 1, 1));

        let mut copied = read.clone();
        for one in copied.computations.iter_mut().flat_map(|one| &mut one.instructions) {
            one.shape = one.shape.as_deref().cloned().map(Arc::new);
        }
        assert!(!Arc::ptr_eq(&shape(&copied, 0, 0), &shape(&copied, 1, 0)));
        share(&mut copied.computations);
        assert!(Arc::ptr_eq(&shape(&copied, 0, 0), &shape(&copied, 1, 0)));
        assert_eq!(copied, read);
    }

    #[test]
    fn messages_are_counted_where_they_are_read() {
        // A computation with an instruction whose shape is a tuple of two, the first with a layout.
        let module = b"\x1a\x0c\x12\x0a\x1a\x08\x22\x02\x2a\x00\x22\x00\x08\x00";
        assert_eq!(check(module, 6), Ok(()));
        let error = check(module, 5).unwrap_err();
        assert!(
            error.cause::<tilewright_core::Error>().unwrap().is_limit()
                && error.to_string().contains("more than 5")
        );
        // Wrapped, it is one message more; a field that is not read is not counted.
        let dump = [b"\x0a\x0e", module.as_slice()].concat();
        assert_eq!((check(&dump, 7), check(&dump, 6).is_err()), (Ok(()), true));
        assert_eq!(check(b"\x22\x04\x1a\x00\x1a\x00", 0), Ok(()));
        for no_proto in [&b"\x1a"[..], b"\x1a\x05ab", b"\xff", b"\x1b\x1a\x00", b"\x09\x00"] {
            assert_eq!(check(no_proto, 0), Ok(()));
        }
    }
}
