//! Sentences of messages: [`Counted`], a number with its noun, for the messages of all crates; and sentences composed in constants,
//! where formatting is unavailable, for `expect_const!`.
//!
//! Law: the text of a [`ConstText`] equals that of `Display` (tested on the errors of all kinds), up to its capacity.

use core::fmt;

/// The capacity of a [`ConstText`], in bytes: a coordinate of 32 integers, four numbers and two sentences.
const ROOM: usize = 1280;

/// A text under construction in a `const fn`. Parts that do not fit are omitted.
pub(crate) struct ConstText {
    bytes: [u8; ROOM],
    len: usize,
}

impl ConstText {
    pub(crate) const fn new() -> ConstText {
        ConstText { bytes: [0; ROOM], len: 0 }
    }

    /// Appends `part`, cut to the whole characters that fit.
    pub(crate) const fn push(&mut self, part: &str) {
        self.push_bytes(part.as_bytes(), 0, part.len());
    }

    /// Appends `bytes[from..to]`, which begin and end between two characters.
    const fn push_bytes(&mut self, bytes: &[u8], from: usize, to: usize) {
        let (mut i, start) = (from, self.len);
        while i < to && self.len < ROOM {
            self.bytes[self.len] = bytes[i];
            self.len += 1;
            i += 1;
        }
        // A character that would be cut in two is omitted.
        while i < to && bytes[i] & 0xC0 == 0x80 && self.len > start {
            i -= 1;
            self.len -= 1;
        }
    }

    pub(crate) const fn number(&mut self, number: i128) {
        let (mut digits, mut at, mut rest) = ([0u8; 40], 40, number.unsigned_abs());
        while rest > 0 || at == 40 {
            at -= 1;
            digits[at] = b'0' + (rest % 10) as u8;
            rest /= 10;
        }
        if number < 0 {
            self.push("-");
        }
        self.push_bytes(&digits, at, 40);
    }

    /// Appends `message` with each `{}` replaced by the next number.
    pub(crate) const fn fill(&mut self, message: &str, numbers: &[i128]) {
        let (bytes, mut from, mut i, mut next) = (message.as_bytes(), 0, 0, 0);
        while i + 1 < bytes.len() {
            if bytes[i] == b'{' && bytes[i + 1] == b'}' && next < numbers.len() {
                self.push_bytes(bytes, from, i);
                self.number(numbers[next]);
                next += 1;
                from = i + 2;
                i += 1;
            }
            i += 1;
        }
        self.push_bytes(bytes, from, bytes.len());
    }

    /// Appends `(a,b,c)`.
    pub(crate) const fn tuple(&mut self, values: &[u64]) {
        let mut i = 0;
        self.push("(");
        while i < values.len() {
            self.push(if i == 0 { "" } else { "," });
            self.number(values[i] as i128);
            i += 1;
        }
        self.push(")");
    }

    pub(crate) const fn as_str(&self) -> &str {
        match core::str::from_utf8(self.bytes.split_at(self.len).0) {
            Ok(text) => text,
            // Only whole characters are pushed.
            Err(_) => "",
        }
    }
}

/// A number with its noun, in the plural unless the number is 1.
///
/// ```
/// use tilewright_core::Counted;
/// let text = |number, noun| Counted(number, noun).to_string();
/// assert_eq!([text(1, "tensor"), text(0, "tensor")], ["1 tensor", "0 tensors"]);
/// assert_eq!([text(2, "axis"), text(2, "copy"), text(2, "index")], ["2 axes", "2 copies", "2 indices"]);
/// ```
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counted<'a>(
    /// The number.
    pub u64,
    /// The noun in the singular.
    pub &'a str,
);

/// Endings of nouns and their plurals; any other noun takes an `s`.
const ENDS: [(&str, &str); 7] = [
    ("axis", "axes"),
    ("index", "indices"),
    ("ay", "ays"),
    ("ey", "eys"),
    ("y", "ies"),
    ("ch", "ches"),
    ("ss", "sses"),
];

impl fmt::Display for Counted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Counted(number, noun) = *self;
        if number == 1 {
            return write!(f, "1 {noun}");
        }
        let end =
            |(one, many): &(&str, &'static str)| noun.strip_suffix(one).map(|stem| (stem, *many));
        let (stem, end) = ENDS.iter().find_map(end).unwrap_or((noun, "s"));
        write!(f, "{number} {stem}{end}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_holes() {
        let mut text = ConstText::new();
        text.fill("{} of {} and {", &[i128::MIN, 0]);
        text.fill("{}{}|{}", &[-7, u64::MAX as i128]);
        assert_eq!(
            text.as_str(),
            "-170141183460469231731687303715884105728 of 0 and {-718446744073709551615|{}"
        );
    }

    #[test]
    fn a_full_text_ends_with_a_whole_character() {
        for room in 0..4 {
            let mut text = ConstText::new();
            text.push(&"x".repeat(ROOM - room));
            text.push("é→");
            let tail = ["", "", "é", "é"][room];
            assert!(
                text.as_str().ends_with(tail) && text.as_str().len() == ROOM - room + tail.len()
            );
        }
    }
}
