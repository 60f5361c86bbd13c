//! oneDNN's tags: `aBcd16b`, `ABcd4b16a4b`, `nChw16c`, `OIhw4i16o4i`.
//!
//! ```text
//! tag   := [ 'dnnl_' | … 'format_tag::' ] letter { letter } { size small }
//! size  := int
//! ```
//!
//! The letters `a b c …` are the logical dims. The first letters give the order of the blocks, outermost first. A
//! capital marks a blocked dim. The groups of size and letter are the inner blocks, outermost first, and may repeat
//! a dim. `nchw`, `oihw`, `goihw` (with `d`, or without `h`), `tnc`, `ldnc`,
//! `ldigo`, `ldio` and `ldgo` are other names of the letters, in their logical order.
//! Every dim is padded to whole blocks. Memory of an opaque kind is refused.
//! Source: oneDNN, `memory_desc_wrapper::off_v`, `dnnl_format_tag_t`, `dnnl_types.h`.
//!
//! | text | array | layout |
//! |---|---|---|
//! | `aBcd16b` | `[2,40,5,7]` | `(2,(16,3),5,7):(1680,(1,560),112,16) valid (2,40,5,7)` |
//! | `nChw16c` | `[2,16,5,7]` | `(2,(16,1),5,7):(560,(1,560),112,16)` |
//! | `OIhw4i16o4i` | `[16,16,1,1]` | `((16,1),(4,4,1),1,1):((4,256),(1,64,256),256,256)` |
//! | `ldgoi` | `[2,3,4,5,6]` | `(2,3,4,5,6):(360,120,1,24,4)` |
//! | `dnnl::memory::format_tag::hwigo` | `[2,3,4,5,6]` | `(2,3,4,5,6):(3,1,6,144,24)` |
//! | `aBcd2b3a4b` | | error: `a` has blocks but is lower case |
//! | `aBcd16c` | | error: is a capital without a block |
//! | `aBcd0b` | | error: a block of 1 or more |
//! | `aBcd16B` | | error: write the letter of a block in lower case |
//! | `nChw16k` | | error: did you mean `nChw16c`? |
//! | `aBd16b` | | error: of the dims abcd, `c` must be named too |
//! | `onednn:abcb` | | error: `b` is named twice |
//! | `aBcd16b` | `[2,16,5]` | error: there is none for `d` |
//! | `aBcd99999999999999999999b` | | error: does not fit 64 bits |
//! | `aBcd9000000000000000000b9b` | `[2,2,2,2]` | error: 9 |
//! | `wino_wei_aaOio` | | error: `wino` is an opaque kind |

use std::{fmt, sync::Arc};

use tilewright_core::{Digit, MAX_MODES, Pattern};

use crate::{
    Error, ResolvedLayout,
    dialect::{arrays::strided::unsupported, patterns::canonical::Blocked},
    literal::{Scanner, did_you_mean},
    notation::Notation,
    parsed_spec::{Given, ParsedSpec},
};

pub(in crate::dialect) const DIALECT: Notation =
    Notation::new("onednn", "oneDNN: a tag of dims and inner blocks", read, print)
        .with_aliases(&["dnnl"])
        .with_form(claims)
        .with_words(words);

/// oneDNN's most dims.
const MAX_RANK: usize = 12;

fn words() -> Vec<&'static str> {
    TAGS.to_vec()
}

/// Returns the byte offset of the tag in a text such as `dnnl::memory::format_tag::nchw` or `dnnl_nchw`.
fn tag_start(text: &str) -> usize {
    let qualified = text.rfind("format_tag::").map(|at| at + "format_tag::".len());
    let macroed = text.starts_with("dnnl_").then_some("dnnl_".len());
    qualified.or(macroed).unwrap_or(0)
}

fn opaque(tag: &str) -> Option<(&'static str, &'static str)> {
    let begins = |name: &str| {
        tag.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
    };
    OPAQUE.iter().copied().find(|(name, _)| begins(name))
}

/// Letters, then perhaps sizes each with a lower-case letter; or the name of an opaque kind.
fn claims(text: &str) -> bool {
    let tag = text.get(tag_start(text)..).unwrap_or("");
    if tag.len() < text.len() || opaque(tag).is_some() {
        return true;
    }
    let groups = text.trim_start_matches(|c: char| c.is_ascii_alphabetic());
    let letters = text.get(..text.len() - groups.len()).unwrap_or("").to_ascii_lowercase();
    let blocked = groups.starts_with(|c: char| c.is_ascii_digit())
        && groups.ends_with(|c: char| c.is_ascii_alphabetic())
        && groups.bytes().all(|b| b.is_ascii_alphanumeric());
    let capital = text.starts_with(|c: char| c.is_ascii_uppercase());
    let plain = alphabet(&letters).is_some() && !capital;
    let dims = text.len() > 1 && text.bytes().all(|b| (b'a'..=b'l').contains(&b));
    (blocked && !letters.is_empty()) || (groups.is_empty() && (plain || dims))
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

/// A tag and the pattern that it means.
#[derive(Debug)]
struct Tag {
    text: String,
    /// The letters of the logical dims.
    names: &'static str,
    pattern: Pattern,
}

fn read(text: &str) -> Result<Arc<dyn ParsedSpec>, Error> {
    let start = tag_start(text);
    let tag = text.get(start..).unwrap_or("");
    if let Some((name, what)) = opaque(tag) {
        let message = format!(
            "`{name}` is an opaque kind of memory, {what}; oneDNN does not document its layout"
        );
        return Err(Error::parse((start, text.len()), message));
    }
    read_tag(tag).map_err(|error| error.shifted(start))
}

fn read_tag(text: &str) -> Result<Arc<dyn ParsedSpec>, Error> {
    let mut scan = Scanner::new(text);
    let head = scan.take(|c| c.is_ascii_alphabetic());
    let names = alphabet(&head.to_ascii_lowercase()).ok_or_else(|| no_alphabet(text, head))?;
    let blocks = read_blocks(&mut scan, text, names)?;
    for (at, letter) in head.char_indices() {
        let lower = letter.to_ascii_lowercase();
        let blocked = blocks.iter().any(|(axis, _)| names.chars().nth(*axis) == Some(lower));
        if blocked != letter.is_ascii_uppercase() {
            let message = if blocked {
                format!(
                    "`{letter}` has blocks but is lower case; write a dim with blocks as a capital"
                )
            } else {
                format!("`{letter}` is a capital without a block, such as `16{lower}` at the end")
            };
            return Err(Error::parse((at, at + 1), message));
        }
    }
    let outer = head.chars().filter_map(|c| names.find(c.to_ascii_lowercase()));
    let pattern = pattern(names.len(), &outer.collect::<Vec<_>>(), &blocks)
        .map_err(|error| Error::parse((0, text.len()), error.to_string()))?;
    let text: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    Ok(Arc::new(Tag { text, names, pattern }))
}

/// The error for letters that cannot name dims: one twice, too many, or some left out.
fn no_alphabet(text: &str, head: &str) -> Error {
    let lower = head.to_ascii_lowercase();
    let nearest = did_you_mean(text, TAGS.iter().copied());
    for (at, letter) in lower.char_indices() {
        if lower.get(..at).is_some_and(|before| before.contains(letter)) {
            let message = format!("`{letter}` is named twice; a tag names each dim once{nearest}");
            return Error::parse((at, at + 1), message);
        }
    }
    if head.is_empty() {
        return Error::parse(
            (0, text.chars().next().map_or(0, char::len_utf8)),
            "expected the letters of the dims, as in `aBcd16b`",
        );
    }
    let span = (0, head.len());
    if head.len() > MAX_RANK {
        return Error::parse(span, format!("{} dims; a tag has at most 12", head.len()));
    }
    // Of the alphabets that know all these letters, the one with the fewest others.
    let known = ALPHABETS.iter().filter(|names| lower.chars().all(|c| names.contains(c)));
    let last = |names: &str| lower.chars().filter_map(|c| names.find(c)).max().unwrap_or(0);
    let whole = known.map(|names| match names.len() {
        MAX_RANK => names.get(..=last(names)).unwrap_or(names),
        _ => names,
    });
    let rule = "a tag names each dim once, `a` first, as in `aBcd16b` or `nChw16c`";
    match whole.min_by_key(|names| names.len()) {
        Some(names) => {
            let missing: Vec<String> =
                names.chars().filter(|c| !lower.contains(*c)).map(|c| format!("`{c}`")).collect();
            let missing = missing.join(" and ");
            let message =
                format!("of the dims {names}, {missing} must be named too; {rule}{nearest}");
            Error::parse(span, message)
        }
        None => Error::parse(span, format!("no dims are called `{head}`; {rule}{nearest}")),
    }
}

/// The inner blocks, outermost first: which dim, and of which size.
fn read_blocks(
    scan: &mut Scanner<'_>,
    text: &str,
    names: &str,
) -> Result<Vec<(usize, u64)>, Error> {
    let mut blocks = Vec::new();
    while scan.peek().is_some() {
        let from = scan.at();
        let size = scan.integer()?;
        let (letter, to) = (scan.take(|c| c.is_ascii_alphabetic()), scan.at());
        let axis = if letter.len() == 1 { names.find(letter) } else { None };
        let expected = match axis {
            Some(_) if size == 0 => "expected a block of 1 or more".to_owned(),
            Some(axis) if blocks.len() < MAX_MODES => {
                blocks.push((axis, size));
                continue;
            }
            Some(_) => "a tag has at most 32 blocks and dims".to_owned(),
            None if letter.len() == 1 && names.contains(&letter.to_ascii_lowercase()) => {
                "write the letter of a block in lower case".to_owned()
            }
            None => {
                let nearest = did_you_mean(text, TAGS.iter().copied());
                format!("expected a block such as `16b`, of one of the dims {names}{nearest}")
            }
        };
        return Err(Error::parse((from, to), expected));
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

impl ParsedSpec for Tag {
    fn is_concrete(&self) -> bool {
        false
    }

    fn fits(&self, rank: usize) -> bool {
        rank == self.pattern.rank()
    }

    fn resolve(&self, given: &Given<'_>) -> Result<ResolvedLayout, Error> {
        let dims = given.need_dims(self)?;
        if dims.len() != self.names.len() {
            return Err(self.wrong_rank(dims.len()));
        }
        ResolvedLayout::of_pattern(&self.pattern, dims, given)
            .map_err(|error| Error::from(error).about(&self.text))
    }
}

impl Tag {
    /// The error that names the letters without a dim, or the dims without a letter.
    fn wrong_rank(&self, rank: usize) -> Error {
        let own = self.names.len();
        let surplus = self.names.get(rank..).filter(|letters| !letters.is_empty());
        let lack = match surplus {
            Some(letters) => {
                let letters: Vec<String> = letters.chars().map(|c| format!("`{c}`")).collect();
                format!("there is none for {}", letters.join(", "))
            }
            None => {
                let more = ALPHABETS.first().and_then(|names| names.get(own..rank));
                let more = more.filter(|_| self.names.starts_with('a'));
                let letters = more.unwrap_or("").chars().map(|c| format!("`{c}`"));
                let letters: Vec<String> = letters.collect();
                match letters.is_empty() {
                    true => format!("no letter names the last {}", rank - own),
                    false => format!("{} is missing", letters.join(", ")),
                }
            }
        };
        Error::mismatch(format!(
            "`{self}` is a tag of the {own} dims {}, the array has {rank}: {lack}",
            self.names
        ))
    }
}

/// The layout as a tag.
fn print(named: &ResolvedLayout) -> Result<String, Error> {
    let rank = named.layout().rank();
    if rank == 0 || rank > MAX_RANK {
        return Err(unsupported("a tag has 1 to 12 dims"));
    }
    let blocked = Blocked::of(named.layout(), "oneDNN")?;
    if !blocked.nested() {
        return Err(unsupported("the blocks of a tag hold the smaller blocks of their dim"));
    }
    let letter = |axis: u8| char::from(b'a' + axis);
    let mut text = String::new();
    for &axis in &blocked.outer {
        let name = letter(axis);
        let tiled = blocked.tiles(axis).next().is_some();
        text.push(if tiled { name.to_ascii_uppercase() } else { name });
    }
    for digit in &blocked.inner {
        text += &format!("{}{}", digit.size, letter(digit.axis));
    }
    Ok(text)
}

/// The letters that the logical dims go by, in their order: of images, of filters, of groups of them, of
/// recurrent networks.
pub(in crate::dialect) const ALPHABETS: &[&str] = &[
    "abcdefghijkl",
    "x",
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
    "tn",
    "tnc",
    "ldnc",
    "ldio",
    "ldgo",
    "ldigo",
];

/// Tags with names of their own in oneDNN's headers, for suggestions.
#[rustfmt::skip]
pub(in crate::dialect) const TAGS: &[&str] = &[
    "abcd", "acdb", "aBcd8b", "aBcd16b", "ABcd16b16a", "nchw", "nhwc", "chwn", "ncw", "nwc", "ncdhw", "ndhwc",
    "oihw", "hwio", "ohwi", "ihwo", "iohw", "oidhw", "dhwio", "odhwi", "goihw", "gohwi", "hwigo", "giohw",
    "goidhw", "dhwigo", "ldigo", "ldgoi", "ldgo", "ldio", "ldoi", "ldnc", "tnc", "ntc",
    "nCw8c", "nCw16c", "nChw4c", "nChw8c", "nChw16c", "nCdhw8c", "nCdhw16c", "NChw16n16c", "NChw32n32c",
    "OIhw8i8o", "OIhw16i16o", "OIhw4i16o4i", "OIhw8i16o2i", "Ohwi16o", "Oihw16o", "OIdhw16i16o", "IOhw16i16o",
    "gOIhw8i8o", "gOIhw16i16o", "gOIhw4i16o4i", "Goihw8g", "Goihw16g", "gOihw16o", "ldgOi32o", "ldOI32o4i",
];

/// Kinds of memory that no tag describes, by the prefix of their names, with a description.
pub(in crate::dialect) const OPAQUE: &[(&str, &str)] = &[
    ("wino", "filters transformed for Winograd's algorithm"),
    ("rnn_packed", "weights packed for one processor's matrix product"),
    ("ldigo_p", "weights packed for one processor's matrix product"),
    ("ldgoi_p", "weights packed for one processor's matrix product"),
    ("ldio_p", "weights packed for one processor's matrix product"),
    ("cublaslt_blocked", "an order that cuBLASLt chooses"),
    ("zen_packed", "weights packed by ZenDNN"),
    ("sparse", "storage of only the nonzero values"),
    ("csr", "storage of only the nonzero values"),
    ("coo", "storage of only the nonzero values"),
    ("packed", "values packed for one processor"),
    ("opaque", "a layout that the library chooses"),
    ("any", "left to the library"),
    ("undef", "not said"),
];
