//! The bytes of an element of padding, as words that a thread writes.
//!
//! Law: consecutive words of a pattern are whole elements of padding.

use crate::{
    access::common,
    text::{KernelText, Parameters},
};
use tilewright_relayout::Program;

/// Words of one width that make up an element of padding, or one word that contains several elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FillPattern {
    /// The bytes of a word, a power of two up to 16.
    unit: u64,
    words: u64,
    /// The first 16 bytes; the following ones are zeros.
    low: u128,
}

impl FillPattern {
    /// Returns the padding of a program in words of at most `unit` bytes.
    pub(crate) fn new(program: &Program, unit: u64) -> FillPattern {
        let bits = program.elements().dst_bits;
        let bytes = u64::from(bits / 8).max(1);
        let low = if bits < 128 { program.fill() & ((1 << bits) - 1) } else { program.fill() };
        if !bytes.is_power_of_two() || bytes > unit {
            let unit = common(unit, bytes);
            return FillPattern { unit, words: bytes / unit, low };
        }
        // One word that contains several elements.
        let repeated = (0..128 / bits).fold(0, |all, i| all | low << (i * bits));
        FillPattern { unit, words: 1, low: repeated }
    }

    /// Returns the bytes of a word.
    pub(crate) fn unit(&self) -> u64 {
        self.unit
    }

    pub(crate) fn words(&self) -> u64 {
        self.words
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.unit * self.words
    }

    /// Writes the words as variables.
    pub(crate) fn declare(&self, text: &mut KernelText, numbers: &mut Parameters) {
        let (low, high) = (numbers.add(self.low as u64), numbers.add((self.low >> 64) as u64));
        text.line(&format!("const u64 low = {low};"));
        text.line(&format!("const u64 high = {high};"));
    }

    /// Writes the store of a word, whose number is the iteration `x<word>`, or 0.
    pub(crate) fn store(&self, to: &str, word: Option<usize>, text: &mut KernelText) {
        if self.unit == 16 {
            text.line("u128 value;");
            let none = word.map_or(String::new(), |x| format!("x{x} > 0u ? 0u : "));
            let parts = ["low", "low >> 32", "high", "high >> 32"];
            for (field, part) in ["x", "y", "z", "w"].iter().zip(parts) {
                text.line(&format!("value.{field} = {none}(u32)({part});"));
            }
        } else if let Some(x) = word {
            text.line(&format!("const u32 at = x{x} * {}u;", self.unit));
            text.line("const u64 value = at < 8u ? low >> 8u * at : at < 16u ? high >> 8u * (at - 8u) : 0u;");
        } else {
            text.line("const u64 value = low;");
        }
        let value = if self.unit == 4 { "(u32)value" } else { "value" };
        text.line(&format!("STG{}({to}, {value});", self.unit));
    }
}
