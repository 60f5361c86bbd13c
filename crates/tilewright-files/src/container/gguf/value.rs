//! Values of metadata: their types, their lengths, and their texts. Reading, comparing and planning headers use them.

use std::{fmt::Write as _, ops::Range};

use super::reader::{Reader, number};
use crate::{Error, layout::names};

pub(super) const U16: u32 = 2;
pub(super) const U32: u32 = 4;
pub(super) const I32: u32 = 5;
const F32: u32 = 6;
const BOOL: u32 = 7;
pub(super) const STRING: u32 = 8;
const ARRAY: u32 = 9;
const F64: u32 = 12;

/// The depth to which arrays within arrays are read.
const DEEPEST: u32 = 8;

/// The number of elements of an array that a text lists.
const LISTED: u64 = 8;

/// A key with its value: their ranges in a header.
#[derive(Clone, Debug)]
pub(super) struct KeyValue {
    pub(super) key: Range<usize>,
    pub(super) kind: u32,
    pub(super) value: Range<usize>,
    /// The whole pair, with the key's length and the value's type.
    pub(super) whole: Range<usize>,
}

/// Appends the length of a text, and the text.
pub(super) fn string(bytes: &mut Vec<u8>, text: &str) {
    bytes.extend_from_slice(&(text.len() as u64).to_le_bytes());
    bytes.extend_from_slice(text.as_bytes());
}

/// Returns the number of bytes of a number or truth value of this type.
fn width(kind: u32) -> Option<u64> {
    match kind {
        0 | 1 | 7 => Some(1),
        2 | 3 => Some(2),
        4..=6 => Some(4),
        10..=12 => Some(8),
        _ => None,
    }
}

/// Skips a value of this type within `depth` arrays; `what` is the key in messages.
pub(super) fn skip(
    reader: &mut Reader<'_>,
    kind: u32,
    depth: u32,
    what: &str,
    wrong: &dyn Fn(String) -> Error,
) -> Result<(), Error> {
    match kind {
        STRING => reader.string(what).map(drop),
        ARRAY if depth == DEEPEST => Err(wrong(format!(
            "GGUF header: {what} has arrays nested in more than {DEEPEST} arrays"
        ))),
        ARRAY => {
            let kind = reader.u32(what)?;
            let least = width(kind).unwrap_or(if kind == ARRAY { 12 } else { 8 });
            let count = reader.count(least, &format!("the length of {what}"))?;
            if let Some(width) = width(kind) {
                return reader.take(count.saturating_mul(width), what).map(drop);
            }
            check(kind, what, wrong)?;
            (0..count).try_for_each(|_| skip(reader, kind, depth + 1, what, wrong))
        }
        _ => match width(kind) {
            Some(width) => reader.take(width, what).map(drop),
            None => check(kind, what, wrong),
        },
    }
}

/// Returns an error for an unknown type.
fn check(kind: u32, what: &str, wrong: &dyn Fn(String) -> Error) -> Result<(), Error> {
    match kind {
        0..=12 => Ok(()),
        _ => Err(wrong(format!("GGUF header: {what} has the type {kind}; legal are 0 to 12"))),
    }
}

/// A value of the metadata.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Value<'a> {
    pub(super) kind: u32,
    pub(super) bytes: &'a [u8],
}

impl<'a> Value<'a> {
    /// Returns the value as an unsigned number, if it is one.
    pub(super) fn unsigned(&self) -> Option<u64> {
        matches!(self.kind, 0 | U16 | U32 | 10).then(|| number(self.bytes))
    }

    /// Returns the value as a number that is not negative, of a signed or an unsigned type.
    pub(super) fn count(&self) -> Option<u64> {
        let signed = || match self.kind {
            I32 => u64::try_from(number(self.bytes) as u32 as i32).ok(),
            _ => None,
        };
        self.unsigned().or_else(signed)
    }

    /// Returns the number of block `at`: an element of an array, or one number for all blocks.
    pub(super) fn count_at(&self, at: u64) -> Option<u64> {
        if self.kind != ARRAY {
            return self.count();
        }
        let (kind, count) = (self.array_kind()?, self.length()?);
        let width = width(kind)?;
        let from = usize::try_from(at.checked_mul(width)?.checked_add(12)?).ok()?;
        let bytes = self.bytes.get(from..from.checked_add(width as usize)?);
        let element = |bytes| Value { kind, bytes };
        bytes.filter(|_| at < count).map(element)?.count()
    }

    /// Returns the numbers of an array, or the single number of a value, whole or not.
    pub(super) fn reals(&self) -> Vec<f64> {
        if self.kind != ARRAY {
            return self.real().into_iter().collect();
        }
        let (Some(kind), Some(width)) = (self.array_kind(), self.array_kind().and_then(width))
        else {
            return Vec::new();
        };
        let elements = self.bytes.get(12..).unwrap_or_default().chunks_exact(width as usize);
        elements.filter_map(|bytes| Value { kind, bytes }.real()).collect()
    }

    fn real(&self) -> Option<f64> {
        match self.kind {
            F32 => Some(f32::from_bits(number(self.bytes) as u32).into()),
            F64 => Some(f64::from_bits(number(self.bytes))),
            _ => self.count().map(|count| count as f64),
        }
    }

    /// Returns the number of elements of an array.
    pub(super) fn length(&self) -> Option<u64> {
        self.array_kind().and(self.bytes.get(4..12)).map(number)
    }

    fn array_kind(&self) -> Option<u32> {
        self.bytes.get(..4).filter(|_| self.kind == ARRAY).map(|bytes| number(bytes) as u32)
    }

    /// Returns the text of a string, if the value is one.
    pub(super) fn string(&self) -> Option<&'a str> {
        let text = self.bytes.get(8..).filter(|_| self.kind == STRING)?;
        std::str::from_utf8(text).ok()
    }

    /// Returns a text, a whole number or a truth value as JSON.
    pub(super) fn json(&self) -> Option<serde_json::Value> {
        match self.kind {
            BOOL => Some((number(self.bytes) != 0).into()),
            STRING => self.string().map(Into::into),
            _ => self.count().map(Into::into),
        }
    }

    /// Returns the value as text for people; of a long array only its first elements.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        let mut rest = self.bytes;
        spell(self.kind, 0, &mut rest, &mut Some(&mut text));
        text
    }
}

/// Removes the first `len` bytes and returns them.
fn split<'a>(bytes: &mut &'a [u8], len: u64) -> &'a [u8] {
    let at = usize::try_from(len).unwrap_or(usize::MAX).min(bytes.len());
    let (first, rest) = bytes.split_at(at);
    *bytes = rest;
    first
}

/// Removes the first value of `bytes`, and appends it to `text` if there is one. Arrays deeper than a header may have them are
/// not visited: `skip` has refused them.
fn spell(kind: u32, depth: u32, bytes: &mut &[u8], text: &mut Option<&mut String>) {
    match kind {
        STRING => {
            let len = number(split(bytes, 8));
            let string = split(bytes, len);
            if let Some(text) = text {
                text.push_str(&String::from_utf8_lossy(string));
            }
        }
        ARRAY if depth < DEEPEST => spell_array(depth + 1, bytes, text),
        ARRAY => *bytes = &[],
        _ => {
            let bits = number(split(bytes, width(kind).unwrap_or(0)));
            if let Some(text) = text {
                let _ = write!(text, "{}", Number { kind, bits });
            }
        }
    }
}

/// Removes the first array of `bytes`. Its first elements are appended to `text`, the others are only removed.
fn spell_array(depth: u32, bytes: &mut &[u8], text: &mut Option<&mut String>) {
    let (kind, count) = (number(split(bytes, 4)) as u32, number(split(bytes, 8)));
    if let Some(text) = text {
        text.push('[');
        for i in 0..count.min(LISTED) {
            text.push_str(if i > 0 { ", " } else { "" });
            let mut element = String::new();
            spell(kind, depth, bytes, &mut Some(&mut element));
            match kind {
                STRING => {
                    let _ = write!(text, "{:?}", names::clipped(&element));
                }
                _ => text.push_str(&element),
            }
        }
        if count > LISTED {
            let _ = write!(text, ", … {count} in all");
        }
        text.push(']');
    }
    let rest = if text.is_some() { count.saturating_sub(LISTED) } else { count };
    match width(kind) {
        Some(width) => drop(split(bytes, width.saturating_mul(rest))),
        None => {
            for _ in 0..rest {
                if bytes.is_empty() {
                    break;
                }
                spell(kind, depth, bytes, &mut None);
            }
        }
    }
}

/// A number of some type, printed as that type.
struct Number {
    kind: u32,
    bits: u64,
}

impl std::fmt::Display for Number {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Number { kind, bits } = *self;
        match kind {
            1 => write!(f, "{}", bits as i8),
            3 => write!(f, "{}", bits as i16),
            I32 => write!(f, "{}", bits as i32),
            F32 => write!(f, "{}", f32::from_bits(bits as u32)),
            7 => write!(f, "{}", bits != 0),
            11 => write!(f, "{}", bits as i64),
            F64 => write!(f, "{}", f64::from_bits(bits)),
            _ => write!(f, "{bits}"),
        }
    }
}
