//! [`Counted`]: a number with its noun, for messages. Used by the messages of all crates.

use core::fmt;

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
