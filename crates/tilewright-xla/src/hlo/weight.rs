//! Counts the messages in a module's bytes before any of them is created. Used by `proto.rs`.
//!
//! An empty message takes two bytes of a proto and about a hundred in memory. Counting first refuses a hostile file
//! before it fills the memory.

use tilewright_core::Error as Refusal;

use crate::{Error, proto::of_field};

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
