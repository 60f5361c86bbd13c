//! Parts of messages: [`Remedy`], a change of a request that avoids an error; [`Counted`], a number with its noun; and
//! [`ConstText`], a sentence composed in a constant for `expect_const!`. Errors of all crates use them.
//!
//! Law: the text of a [`ConstText`] equals that of `Display` up to its capacity.

use core::fmt;

/// A change of the request with which it succeeds.
///
/// The library returns the remedy as a value, and each program words it by its own options.
/// `Display` writes a generic clause. The enum is non-exhaustive: remedies may be added.
///
/// ```
/// use tilewright_core::Remedy;
/// let spelled = |remedy: Remedy| match remedy {
///     Remedy::Overwrite => "press O to overwrite it".to_string(),
///     other => other.to_string(),
/// };
/// assert_eq!(spelled(Remedy::Overwrite), "press O to overwrite it");
/// assert_eq!(spelled(Remedy::MoreMemory { least: Some(4096) }), "allow at least 4096 bytes of memory");
/// ```
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Remedy {
    /// Allow the output to replace an existing file.
    Overwrite,
    /// Allow more memory for buffers.
    MoreMemory {
        /// The least number of bytes that suffices, if it is known.
        least: Option<u64>,
    },
    /// Allow less memory for buffers, since the system does not have it.
    LessMemory,
    /// Give the dims of the array.
    Dims,
    /// Give the element type.
    Dtype,
    /// Give dims and element type.
    DimsAndDtype,
    /// Give the layout of the source.
    Source,
    /// Give the layout of the result.
    Target,
    /// Give no layout of the result.
    NoTarget,
    /// Give a layout for some of the tensors.
    Rule,
    /// Give this tensor a different layout from the others.
    OtherLayout,
    /// Leave out this tensor.
    LeaveOut,
    /// Skip the tensors that the layout does not fit.
    SkipUnfit,
    /// Name a file for the output instead of a stream.
    File,
    /// Skip reading the result back.
    Unverified,
    /// Name the one tensor that is meant.
    Name,
    /// Allow copying what is converted already.
    Again,
    /// Name the file from which the result was made.
    Original,
    /// Give a file with the metadata of the result.
    Metadata,
    /// Write the metadata of another file unchanged.
    TrustMetadata,
    /// Apply the recipe in the other direction, which fits.
    OtherDirection,
    /// Apply the recipe whatever the configuration says.
    AnyConfig,
    /// Give sizes of axes.
    Sizes,
    /// Allow a condition of a recipe to fail, by the name in its message.
    Allow,
    /// Give the extents of whole tensors, or accept those that their shards imply.
    Extents,
    /// Accept the number of heads that a rule states.
    Heads,
    /// Give the mesh in which each position has a file.
    FromMesh,
    /// Reshard to whole tensors.
    Reshard,
}

impl Remedy {
    /// One remedy of each kind, with and without numbers.
    ///
    /// ```
    /// use tilewright_core::Remedy;
    /// // A client checks that it words every one of them.
    /// assert!(Remedy::ALL.iter().all(|remedy| !remedy.to_string().is_empty()));
    /// ```
    pub const ALL: &[Remedy] = &[
        Remedy::Overwrite,
        Remedy::MoreMemory { least: None },
        Remedy::MoreMemory { least: Some(4096) },
        Remedy::LessMemory,
        Remedy::Dims,
        Remedy::Dtype,
        Remedy::DimsAndDtype,
        Remedy::Source,
        Remedy::Target,
        Remedy::NoTarget,
        Remedy::Rule,
        Remedy::OtherLayout,
        Remedy::LeaveOut,
        Remedy::SkipUnfit,
        Remedy::File,
        Remedy::Unverified,
        Remedy::Name,
        Remedy::Again,
        Remedy::Original,
        Remedy::Metadata,
        Remedy::TrustMetadata,
        Remedy::OtherDirection,
        Remedy::AnyConfig,
        Remedy::Sizes,
        Remedy::Allow,
        Remedy::Extents,
        Remedy::Heads,
        Remedy::FromMesh,
        Remedy::Reshard,
    ];
}

impl fmt::Display for Remedy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Remedy::Overwrite => "allow it to be overwritten",
            Remedy::MoreMemory { least: None } => "allow more memory",
            Remedy::MoreMemory { least: Some(least) } => {
                return write!(f, "allow at least {least} bytes of memory");
            }
            Remedy::LessMemory => "allow less memory",
            Remedy::Dims => "give the dims of the array",
            Remedy::Dtype => "give the element type",
            Remedy::DimsAndDtype => "give dims and element type",
            Remedy::Source => "give the layout of the source",
            Remedy::Target => "give the layout of the result",
            Remedy::NoTarget => "give no layout of the result",
            Remedy::Rule => "give a layout for some of the tensors",
            Remedy::OtherLayout => "give it another layout",
            Remedy::LeaveOut => "leave it out",
            Remedy::SkipUnfit => "skip tensors that do not fit",
            Remedy::File => "name a file",
            Remedy::Unverified => "turn off verification",
            Remedy::Name => "name one tensor",
            Remedy::Again => "allow a copy of it",
            Remedy::Original => "name the original file",
            Remedy::Metadata => "give a file with metadata",
            Remedy::OtherDirection => "apply the inverse of the recipe, which fits",
            Remedy::TrustMetadata => "allow metadata that contradict the tensors",
            Remedy::AnyConfig => "allow a configuration of another model",
            Remedy::Sizes => "give the sizes, or a config.json beside the input",
            Remedy::Allow => "allow the condition to fail, by its name",
            Remedy::Extents => "give the extents of whole tensors, or accept those of their shards",
            Remedy::Heads => "accept the heads of the rule",
            Remedy::FromMesh => "give the mesh with one file per position",
            Remedy::Reshard => "reshard it to whole tensors",
        })
    }
}

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
    use std::string::ToString;

    #[test]
    fn each_remedy_says_something_else() {
        for (i, remedy) in Remedy::ALL.iter().enumerate() {
            let text = remedy.to_string();
            assert!(text.starts_with(|c: char| c.is_ascii_lowercase()), "{text}");
            assert!(Remedy::ALL[..i].iter().all(|other| other.to_string() != text), "{text}");
        }
    }

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
