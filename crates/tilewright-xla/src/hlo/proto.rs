//! Reads a module from the bytes of its `HloModuleProto`.
//!
//! Source: `xla/service/hlo.proto`; fields that are not read here are skipped.
//!
//! Counts the messages in a module's bytes before any of them is created.
//!
//! An empty message takes two bytes of a proto and about a hundred in memory. Counting first refuses a hostile file
//! before it fills the memory.

use std::sync::Arc;

use tilewright_core::Error as Refusal;

use super::{HloComputation, HloInstruction, HloModule};
use crate::{
    Error, hlo,
    proto::{ShapeProto, decode, each, inside, of_field},
};

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
        hlo::share(&mut computations);
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
pub(super) fn check(bytes: &[u8], most: usize) -> Result<(), Error> {
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
