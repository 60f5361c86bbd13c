//! oneDNN's tags: `aBcd16b`, `ABcd4b16a4b`, `nChw16c`, `OIhw4i16o4i`.
//!
//! ```text
//! tag   := letter { letter } { size lower }
//! size  := int
//! ```
//!
//! The letters `a b c …` are the logical dims. Their order in front is that of the blocks, outermost
//! first; a capital says that the dim is also blocked; the groups behind are the inner blocks,
//! outermost first. `nchw`, `oihw` and `goihw` (with `d`, or without `h`) are other names of the letters.
//! Every dim is padded to whole blocks. Source: oneDNN, `memory_desc_wrapper::off_v`.
//!
//! | text | array | layout |
//! |---|---|---|
//! | `aBcd16b` | `[2,40,5,7]` | `(2,(16,3),5,7):(1680,(1,560),112,16) valid (2,40,5,7)` |
//! | `nChw16c` | `[2,16,5,7]` | `(2,(16,1),5,7):(560,(1,560),112,16)` |
//! | `OIhw4i16o4i` | `[16,16,1,1]` | `((16,1),(4,4,1),1,1):((4,256),(1,64,256),256,256)` |
//! | `aBcd16c` | | error: is a capital without a block |
//! | `aBcd0b` | | error: expected a block |

use std::{fmt, sync::Arc};

use tilewright_core::{Digit, MAX_MODES, Pattern};

use crate::{
    Named,
    error::{Error, Kind},
    notation::{Notation, no_words},
    reading::{Given, Reading, Resolved},
    scan::Scanner,
};

pub(super) const DIALECT: Notation = Notation {
    name: "onednn",
    aliases: &["dnnl"],
    about: "oneDNN: a tag of dims and inner blocks",
    claims,
    read,
    words: no_words,
    print,
};

/// oneDNN's most dims.
const MAX_RANK: usize = 12;

/// The letters that the logical dims go by, in their order.
const ALPHABETS: &[&str] = &[
    "abcdefghijkl",
    "nc",
    "ncw",
    "nchw",
    "ncdhw",
    "oi",
    "oiw",
    "oihw",
    "oidhw",
    "goiw",
    "goihw",
    "goidhw",
];

/// Letters, then perhaps sizes each with a lower-case letter.
fn claims(text: &str) -> bool {
    let letters = text.trim_start_matches(|c: char| c.is_ascii_alphabetic());
    let head = text.len() - letters.len();
    let groups = letters.is_empty()
        || (letters.starts_with(|c: char| c.is_ascii_digit())
            && letters.ends_with(|c: char| c.is_ascii_lowercase())
            && letters.bytes().all(|b| b.is_ascii_digit() || b.is_ascii_lowercase()));
    let lower = text.get(..head).unwrap_or("").to_ascii_lowercase();
    let capital = text.starts_with(|c: char| c.is_ascii_uppercase());
    groups && alphabet(&lower).is_some() && !(letters.is_empty() && capital)
}

/// The names of the dims whose letters these are.
fn alphabet(letters: &str) -> Option<&'static str> {
    let rank = letters.len();
    if rank == 0 || rank > MAX_RANK {
        return None;
    }
    let names = ALPHABETS.iter().filter_map(|names| match names.len() {
        MAX_RANK => names.get(..rank),
        len => (len == rank).then_some(*names),
    });
    names.into_iter().find(|names| names.chars().all(|name| letters.contains(name)))
}

/// A tag as the pattern it stands for.
#[derive(Debug)]
struct Tag {
    text: String,
    pattern: Pattern,
}

fn read(text: &str) -> Result<Arc<dyn Reading>, Error> {
    let mut scan = Scanner::new(text);
    let head = scan.take(|c| c.is_ascii_alphabetic());
    let end = scan.at();
    let names = alphabet(&head.to_ascii_lowercase()).ok_or_else(|| {
        Error::parse((0, end), "a tag names each dim once, `a` first, as in `aBcd16b` or `nChw16c`")
    })?;
    let blocks = read_blocks(&mut scan, names)?;
    for (at, letter) in head.char_indices() {
        let blocked = blocks
            .iter()
            .any(|(axis, _)| names.chars().nth(*axis) == Some(letter.to_ascii_lowercase()));
        if blocked != letter.is_ascii_uppercase() {
            let message = if blocked {
                "is blocked and written small"
            } else {
                "is a capital without a block"
            };
            return Err(Error::parse((at, at + 1), format!("`{letter}` {message}")));
        }
    }
    let outer = head.chars().filter_map(|c| names.find(c.to_ascii_lowercase()));
    let pattern = pattern(names.len(), &outer.collect::<Vec<_>>(), &blocks)
        .map_err(|error| Error::parse((0, text.len()), error.to_string()))?;
    let text: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    Ok(Arc::new(Tag { text, pattern }))
}

/// The inner blocks, outermost first: which dim, and of which size.
fn read_blocks(scan: &mut Scanner<'_>, names: &str) -> Result<Vec<(usize, u64)>, Error> {
    let mut blocks = Vec::new();
    while scan.peek().is_some() {
        let from = scan.at();
        let size = scan.integer()?;
        let (letter, to) = (scan.take(|c| c.is_ascii_lowercase()), scan.at());
        let axis = if letter.len() == 1 { names.find(letter) } else { None };
        match axis {
            Some(axis) if size > 0 && blocks.len() < MAX_MODES => blocks.push((axis, size)),
            _ => {
                let message = format!("expected a block such as `16b`, of one of the dims {names}");
                return Err(Error::parse((from, to), message));
            }
        }
    }
    Ok(blocks)
}

fn pattern(
    rank: usize,
    outer: &[usize],
    blocks: &[(usize, u64)],
) -> Result<Pattern, tilewright_core::Error> {
    let inside = |blocks: &[(usize, u64)], axis| {
        // At most 32 blocks: a level fits a byte.
        blocks.iter().filter(|(other, _)| *other == axis).count() as u8
    };
    let mut digits: Vec<Digit> =
        outer.iter().map(|&axis| Digit::rest(axis as u8, inside(blocks, axis))).collect();
    for (at, &(axis, size)) in blocks.iter().enumerate() {
        let (_, behind) = blocks.split_at(at + 1);
        digits.push(Digit::fixed(axis as u8, inside(behind, axis), size));
    }
    Pattern::new(rank, &digits)
}

impl fmt::Display for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Reading for Tag {
    fn is_concrete(&self) -> bool {
        false
    }

    fn fits(&self, rank: usize) -> bool {
        rank == self.pattern.rank()
    }

    fn resolve(&self, given: &Given<'_>) -> Result<Resolved, Error> {
        let dims = given.need_dims(self)?;
        let layout =
            self.pattern.layout(dims).map_err(|error| Error::from(error).about(&self.text))?;
        Ok(Resolved::plain(layout, given))
    }
}

/// The layout as a tag.
fn print(named: &Named) -> Result<String, Error> {
    let unsupported = |message: &str| Error::new(Kind::Unsupported, message);
    let pattern = Pattern::of(named.layout())?;
    let rank = pattern.rank();
    if rank == 0 || rank > MAX_RANK {
        return Err(unsupported("a tag has 1 to 12 dims"));
    }
    let (outer, inner) = pattern.digits().split_at(rank);
    let count = |axis: u8| pattern.digits().iter().filter(|digit| digit.axis() == axis).count();
    if outer.iter().any(|digit| usize::from(digit.level()) + 1 != count(digit.axis())) {
        return Err(unsupported("a tag stores the numbers of all blocks outside what is in them"));
    }
    if outer.iter().any(|digit| digit.size().is_some()) {
        return Err(unsupported("a tag pads every dim to whole blocks and no further"));
    }
    if !nested(inner) {
        return Err(unsupported("the blocks of a tag hold the smaller ones of their dim"));
    }
    let letter = |axis: u8| char::from(b'a' + axis);
    let mut text = String::new();
    for digit in outer {
        let name = letter(digit.axis());
        text.push(if count(digit.axis()) > 1 { name.to_ascii_uppercase() } else { name });
    }
    for digit in inner {
        let size = digit.size().ok_or_else(|| unsupported("a block has a size"))?;
        text += &format!("{size}{}", letter(digit.axis()));
    }
    Ok(text)
}

/// Whether the digits of each dim go from the most to the least significant.
fn nested(digits: &[Digit]) -> bool {
    digits.iter().enumerate().all(|(at, digit)| {
        let (before, _) = digits.split_at(at);
        before.iter().all(|other| other.axis() != digit.axis() || other.level() > digit.level())
    })
}
