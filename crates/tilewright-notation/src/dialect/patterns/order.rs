//! Orders: dense layouts by the order of their dims.
//!
//! ```text
//! order := 'row-major' | 'row_major' | 'C'            any rank; `C` and `F` as in NumPy
//!        | 'col-major' | 'col_major' | 'column-major' | 'column_major' | 'F'
//!        | [ 'torch.' ] ( 'channels_last' | 'channels_last_3d' )      NHWC, NDHWC
//!        | a permutation of NCHW or NCDHW             stored order; the logical one is NCHW, NCDHW
//!        | letters '->' letters                       logical order, stored order
//! ```
//!
//! Stored orders are listed outermost first. XLA's `{0,2,1}` is a layout of the HLO dialect.
//!
//! | text | array | layout |
//! |---|---|---|
//! | `row-major` | `[2,3]` | `(2,3):(3,1)` |
//! | `F` | `[2,3]` | `(2,3):(1,2)` |
//! | `channels_last` | `[2,3,4,5]` | `(2,3,4,5):(60,1,15,3)` |
//! | `HWCN` | `[2,3,4,5]` | `(2,3,4,5):(1,2,30,6)` |
//! | `ABC->CAB` | `[2,3,4]` | `(2,3,4):(3,1,6)` |
//! | `NHWC` | `[2,3]` | error: the 4 dims N C H W, the array has 2: H and W are missing |
//! | `AAB->BAA` | | error: `A` is named twice |
//! | `ABC->CAD` | | error: in one of them only |
//! | `row-mayor` | | error: did you mean `row-major`? |

use std::{fmt, sync::Arc};

use tilewright_core::{MAX_MODES, Pattern, TensorLayout};

use super::{canonical, template};
use crate::{
    Error, ResolvedLayout,
    literal::Scanner,
    notation::Notation,
    parsed_spec::{Given, ParsedSpec},
};

pub(in crate::dialect) const DIALECT: Notation =
    Notation::new("order", "the order of the dims of a dense array", read, print)
        .with_form(claims)
        .with_words(words);

/// Words with the SPEC that they mean.
const WORDS: &[(&str, &str)] = &[
    ("row-major", "row-major"),
    ("row_major", "row-major"),
    ("col-major", "col-major"),
    ("col_major", "col-major"),
    ("column-major", "col-major"),
    ("column_major", "col-major"),
    ("C", "row-major"),
    ("F", "col-major"),
    ("channels_last", "NHWC"),
    ("channels_last_3d", "NDHWC"),
    ("torch.channels_last", "NHWC"),
    ("torch.channels_last_3d", "NDHWC"),
];

/// Names for the dims of any other array.
const LETTERS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdef";

/// The logical orders that a bare stored order is a permutation of.
const LOGICAL: &[&str] = &["NCHW", "NCDHW"];

fn words() -> Vec<&'static str> {
    let orders = ["NCHW", "NHWC", "NCDHW", "NDHWC", "HWCN"];
    WORDS.iter().map(|(word, _)| *word).chain(orders).collect()
}

fn is_letters(text: &str) -> bool {
    text.len() > 1 && text.bytes().all(|b| b.is_ascii_alphabetic())
}

pub(in crate::dialect) fn claims(text: &str) -> bool {
    let arrow =
        text.split_once("->").is_some_and(|(a, b)| is_letters(a.trim()) && is_letters(b.trim()));
    arrow || WORDS.iter().any(|(word, _)| *word == text) || logical_of(text).is_some()
}

/// The logical order that a stored order permutes.
fn logical_of(stored: &str) -> Option<&'static str> {
    LOGICAL.iter().copied().find(|logical| {
        logical.len() == stored.len() && logical.chars().all(|letter| stored.contains(letter))
    })
}

#[derive(Debug)]
enum DialectOrder {
    RowMajor,
    ColMajor,
    Letters { logical: String, stored: String, minor_to_major: Vec<u64> },
}

fn read(text: &str) -> Result<Arc<dyn ParsedSpec>, Error> {
    Ok(Arc::new(parse(text)?))
}

fn parse(text: &str) -> Result<DialectOrder, Error> {
    let meaning = |(word, meaning): &&(&str, &'static str)| (*word == text).then_some(*meaning);
    let meant = WORDS.iter().find_map(|entry| meaning(&entry)).unwrap_or(text);
    match meant {
        "row-major" => return Ok(DialectOrder::RowMajor),
        "col-major" => return Ok(DialectOrder::ColMajor),
        _ => {}
    }
    let mut scan = Scanner::new(meant);
    let (first, span) = scan.name("an order of dims, such as `row-major` or `NHWC`")?;
    if scan.eat("->") {
        let (stored, stored_span) = scan.name("the stored order of the dims")?;
        scan.end("the order")?;
        return permutation((first, span), (stored, stored_span));
    }
    scan.end("the order")?;
    match logical_of(first) {
        Some(logical) => permutation((logical, span), (first, span)),
        None => Err(Error::parse(
            span,
            format!(
                "`{first}` is not an order of NCHW or NCDHW; write both orders, as in `NCHW->{first}`"
            ),
        )),
    }
}

type Spanned<'a> = (&'a str, (usize, usize));

/// The order that stores the dims named `logical` as `stored`.
fn permutation(
    (logical, logical_span): Spanned<'_>,
    (stored, stored_span): Spanned<'_>,
) -> Result<DialectOrder, Error> {
    for (text, (from, to)) in [(logical, logical_span), (stored, stored_span)] {
        if !text.bytes().all(|b| b.is_ascii_alphabetic()) || text.len() > MAX_MODES {
            return Err(Error::parse((from, to), "an order is one letter per dim, at most 32"));
        }
        if let Some((at, c)) = text.char_indices().find(|&(at, c)| text[..at].contains(c)) {
            return Err(Error::parse((from + at, from + at + 1), format!("`{c}` is named twice")));
        }
    }
    let missing = logical.chars().find(|&c| !stored.contains(c));
    let surplus = stored.chars().find(|&c| !logical.contains(c));
    if let Some(c) = missing.or(surplus) {
        return Err(Error::parse(
            stored_span,
            format!("`{stored}` is not an order of `{logical}`: `{c}` is in one of them only"),
        ));
    }
    let place = |c: char| logical.find(c).map(|at| at as u64);
    Ok(DialectOrder::Letters {
        logical: logical.to_owned(),
        stored: stored.to_owned(),
        minor_to_major: stored.chars().rev().filter_map(place).collect(),
    })
}

impl fmt::Display for DialectOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DialectOrder::RowMajor => f.write_str("row-major"),
            DialectOrder::ColMajor => f.write_str("col-major"),
            DialectOrder::Letters { logical, stored, .. } => {
                if LOGICAL.contains(&logical.as_str()) {
                    f.write_str(stored)
                } else {
                    write!(f, "{logical}->{stored}")
                }
            }
        }
    }
}

impl ParsedSpec for DialectOrder {
    fn is_concrete(&self) -> bool {
        false
    }

    fn fits(&self, rank: usize) -> bool {
        match self {
            DialectOrder::RowMajor | DialectOrder::ColMajor => rank <= MAX_MODES,
            DialectOrder::Letters { logical, .. } => rank == logical.len(),
        }
    }

    fn resolve(&self, given: &Given<'_>) -> Result<ResolvedLayout, Error> {
        let dims = given.need_dims(self)?;
        let all = dims.iter().copied();
        let (layout, stored): (_, Vec<u64>) = match self {
            DialectOrder::RowMajor => (TensorLayout::row_major(dims)?, all.collect()),
            DialectOrder::ColMajor => (TensorLayout::col_major(dims)?, all.rev().collect()),
            DialectOrder::Letters { logical, minor_to_major, .. } => {
                if dims.len() != logical.len() {
                    let letters: Vec<&str> = logical.split("").filter(|c| !c.is_empty()).collect();
                    return Err(template::misfit(self, &letters, "", dims.len()));
                }
                let stored = minor_to_major.iter().rev();
                let stored = stored.filter_map(|dim| dims.get(*dim as usize).copied());
                (TensorLayout::ordered(dims, minor_to_major)?, stored.collect())
            }
        };
        Ok(ResolvedLayout::plain(layout, given).with_storage(&stored))
    }
}

/// The dims in stored order, outermost first.
fn print(named: &ResolvedLayout) -> Result<String, Error> {
    let tensor = named.layout();
    let dims = tensor.extents();
    let pattern = Pattern::of(&canonical::simplified(tensor)?)?;
    let stored: Vec<usize> =
        pattern.digits().iter().map(|digit| usize::from(digit.axis())).collect();
    let unsupported = |message: String| Err(Error::unsupported(message));
    if let Some(axis) =
        (0..dims.len()).find(|axis| stored.iter().filter(|a| *a == axis).count() > 1)
    {
        return unsupported(format!(
            "dim {axis} is cut into digits, but an order cannot split a dim"
        ));
    }
    if let Some(digit) = pattern.digits().iter().find(|digit| digit.size().is_some()) {
        return unsupported(format!(
            "dim {} is padded, but an order cannot express padding",
            digit.axis()
        ));
    }
    if stored.iter().copied().eq(0..dims.len()) {
        return Ok("row-major".to_owned());
    }
    if stored.iter().rev().copied().eq(0..dims.len()) {
        return Ok("col-major".to_owned());
    }
    let logical = LOGICAL.iter().find(|logical| logical.len() == dims.len());
    let (names, known) = match logical {
        Some(names) => (*names, true),
        None => (LETTERS, false),
    };
    let stored: String = stored.iter().filter_map(|&axis| names.chars().nth(axis)).collect();
    let names = names.get(..dims.len()).unwrap_or(names);
    Ok(if known { stored } else { format!("{names}->{stored}") })
}
