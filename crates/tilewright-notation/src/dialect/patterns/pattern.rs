//! Patterns: the digits of each axis, and their order in memory.
//!
//! ```text
//! pattern := [ rest ] { axis } '->' [ rest ] { '|' | [ '-' ] name }
//! rest    := '…' | '...'              any leading dims, stored outermost, row-major
//! axis    := digit | '(' digit { digit } ')'
//! digit   := name [ ':' size ]        without a size: the rest of the axis, rounded up
//! size    := int | 'C0'               C0: 32 bytes of elements
//! name    := letter { letter | int | '_' }
//! ```
//!
//! Inside parentheses the **most significant** digit is **first**, as in einops. Only here the order differs from the
//! core's modes, which begin with the fastest digit. After the arrow, digits are listed outermost first. At most one
//! digit of an axis lacks a size.
//!
//! A digit after `-` is stored backwards. Bars split the order into the dims of an array of words:
//! `(k1 k0:8) n -> k1 | n k0 as s32` is stored as words `[K/8, N]`. Without `as` they have no effect.
//!
//! | text | array | layout |
//! |---|---|---|
//! | `(m1 m0:16) (n1 n0:16) -> n1 m1 m0 n0` | `[32,48]` | `((16,2),(16,3)):((16,256),(1,512))` |
//! | `(m1 m0:16) (n1 n0:C0) -> n1 m1 m0 n0` | `s8[32,48]` | `((16,2),(32,2)):((32,512),(1,1024)) valid (32,48)` |
//! | `… m n -> … n m` | `[2,3,4]` | `(2,3,4):(12,1,3)` |
//! | `(k1 k0:2) -> k1 -k0` | `[8]` | `((2,4)):((-1,2))+1` |
//! | `(k1 k0:8) n -> k1 \| n k0` | `[16,3]` | `((8,2),3):((1,24),8)` |
//! | `(m1 m0) n -> n m1 m0` | | error: both take the rest |
//! | `(m1 m0:16) n -> n m1` | | error: `m0` is missing in the storage order |

use std::{fmt, sync::Arc};

use tilewright_core::{Digit, Pattern};

use super::{
    canonical::simplified,
    order,
    template::{Size, Template, WrittenDigit},
};
use crate::{
    Error, ResolvedLayout, catalogue,
    notation::Notation,
    parsed_spec::{Given, ParsedSpec},
};

pub(in crate::dialect) const DIALECT: Notation =
    Notation::new("pattern", "the digits of each dim, and their order in storage", read, print)
        .with_form(claims);

fn claims(text: &str) -> bool {
    // Maps of MLIR and einops have arrows too.
    if text.contains(['<', '=', '\'', '"']) {
        return false;
    }
    // Two words that differ are an order of dims with a mistake.
    if order::claims(text) && text.split_once("->").is_some_and(|(a, b)| a.trim() != b.trim()) {
        return false;
    }
    let in_brackets = text.strip_prefix('(').map_or("", str::trim_start);
    let axis = in_brackets.starts_with(|c: char| c.is_ascii_alphabetic()) && !text.contains('[');
    axis || text.contains("->") || text.starts_with('…') || text.starts_with("...")
}

/// A pattern written inline.
#[derive(Debug)]
struct Inline(Template);

fn read(text: &str) -> Result<Arc<dyn ParsedSpec>, Error> {
    let template = Template::read(text)?;
    for digit in template.digits() {
        if let Size::Constant(name) = &digit.size
            && name != catalogue::C0.name
        {
            return Err(Error::parse(
                digit.span,
                format!("`{name}` is not a size; write an integer, or C0 for 32 bytes of elements"),
            ));
        }
    }
    Ok(Arc::new(Inline(template)))
}

impl fmt::Display for Inline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Without digits the arrow is alone, and no space may follow it.
        f.write_str(self.0.to_string().trim())
    }
}

impl Inline {
    /// The size of a digit, for the elements of an array.
    fn size(&self, digit: &WrittenDigit, given: &Given<'_>) -> Result<Option<u64>, Error> {
        match &digit.size {
            Size::Rest => Ok(None),
            Size::Fixed(size) => Ok(Some(*size)),
            Size::Constant(name) => {
                let dtype = given.need_dtype(self, name)?;
                catalogue::C0.units_for(None, dtype).map(Some)
            }
        }
    }
}

impl ParsedSpec for Inline {
    fn is_concrete(&self) -> bool {
        false
    }

    fn fits(&self, rank: usize) -> bool {
        self.0.rank_fits(rank)
    }

    fn resolve(&self, given: &Given<'_>) -> Result<ResolvedLayout, Error> {
        let dims = given.need_dims(self)?;
        self.0.check_rank(self, dims.len())?;
        self.0.resolve(dims, given, &|digit| self.size(digit, given))
    }

    fn dims_of_words(&self, given: &Given<'_>, shape: &[u64], per: u64) -> Vec<Vec<u64>> {
        let found = self.0.dims_of_words(shape, per, &|digit| self.size(digit, given));
        found.into_iter().collect()
    }
}

/// Letters for the axes of an array, by rank.
fn letters(rank: usize) -> Vec<String> {
    let usual = match rank {
        1 => "n",
        2 => "mn",
        3 => "bmn",
        4 => "nchw",
        5 => "ncdhw",
        _ => "abcdefghijklmnopqrstuvwxyz",
    };
    let further = (0..rank).map(|i| format!("x{i}_"));
    let mut names: Vec<String> = usual.chars().map(String::from).collect();
    if names.len() < rank {
        names.clear();
        names.extend(further);
    }
    names.truncate(rank);
    names
}

/// The text of a pattern, with letters for its axes.
pub(crate) fn spell(pattern: &Pattern) -> String {
    let (axes, order) = words(pattern);
    format!("{} -> {}", axes.join(" "), order.join(" ")).trim().to_owned()
}

/// The axes of a pattern and its digits in the order of storage, with letters for the axes.
pub(in crate::dialect) fn words(pattern: &Pattern) -> (Vec<String>, Vec<String>) {
    let names = letters(pattern.rank());
    let count = |axis: u8| pattern.digits().iter().filter(|digit| digit.axis() == axis).count();
    let name = |digit: &Digit| {
        let letter = names.get(usize::from(digit.axis())).map_or("", String::as_str);
        if count(digit.axis()) == 1 {
            letter.trim_end_matches('_').to_owned()
        } else {
            format!("{letter}{}", digit.level())
        }
    };
    let mut axes: Vec<String> = Vec::new();
    for axis in 0..pattern.rank() {
        let mut digits: Vec<&Digit> =
            pattern.digits().iter().filter(|digit| usize::from(digit.axis()) == axis).collect();
        tilewright_core::sort_short(&mut digits, |digit| std::cmp::Reverse(digit.level()));
        let texts: Vec<String> = digits
            .iter()
            .map(|digit| match digit.size() {
                Some(size) => format!("{}:{size}", name(digit)),
                None => name(digit),
            })
            .collect();
        axes.push(if texts.len() == 1 { texts.concat() } else { format!("({})", texts.join(" ")) });
    }
    (axes, pattern.digits().iter().map(name).collect())
}

/// The layout as a pattern.
fn print(named: &ResolvedLayout) -> Result<String, Error> {
    match Pattern::of(named.layout()) {
        Ok(pattern) => Ok(spell(&pattern)),
        // Digits that go on from one another are one.
        Err(refusal) => match Pattern::of(&simplified(named.layout())?) {
            Ok(pattern) => Ok(spell(&pattern)),
            Err(_) => Err(refusal.into()),
        },
    }
}
