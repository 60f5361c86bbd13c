//! A notation that is added from outside of the library: the layouts of TVM.
//!
//! ```text
//! tvm    := [ { DIM } '->' ] { DIM | int block }
//! ```
//!
//! A capital letter is a dim. A small letter after a number is a block of the dim of that letter: `NCHW16c` keeps
//! channels in blocks of 16; the index of the block follows the batch, and the index inside the block is last. If the
//! array has its dims in another order, they precede an arrow. A dim that its block does not divide is padded. Source:
//! TVM, `tir.layout` and `tir.bijective_layout`.
//!
//! `cargo run -p tilewright --example own_dialect`

use std::{fmt, sync::Arc};

use tilewright::{
    Error, ResolvedLayout, Spec,
    ask::{Explanation, Translation},
    layouts::{Digit, Pattern},
    notation::{
        Notation, add_notation,
        dialect::{Given, ParsedSpec},
        notation,
    },
};

/// The dialect: a name, a description, and two functions. Its form is a text of capitals with a block.
const TVM: Notation = Notation::new("tvm", "TVM: the order of the dims and of blocks", read, print)
    .with_form(|text| {
        let first = text.trim_start_matches(|c: char| c.is_ascii_uppercase());
        first.len() < text.len() && first.starts_with(|c: char| c.is_ascii_digit())
    });

/// A text of TVM, parsed.
#[derive(Debug)]
struct Tvm {
    /// The letters of the array's dims.
    dims: Vec<char>,
    /// The stored dims and blocks, outermost first; a block has a size.
    stored: Vec<(char, Option<u64>)>,
}

fn read(text: &str) -> Result<Arc<dyn ParsedSpec>, Error> {
    let behind = text.find("->").map(|at| at + 2);
    let stored = axes(text, behind.unwrap_or(0))?;
    let dims = match behind {
        Some(behind) => text[..behind - 2].chars().collect(),
        None => stored.iter().filter(|axis| axis.1.is_none()).map(|axis| axis.0).collect(),
    };
    let layout = Tvm { dims, stored };
    let _ = layout.pattern()?;
    Ok(Arc::new(layout))
}

/// Reads the dims and blocks of a text from this byte on. An error points at the bytes at fault.
fn axes(text: &str, from: usize) -> Result<Vec<(char, Option<u64>)>, Error> {
    let mut axes = Vec::new();
    let mut digits = String::new();
    for (at, c) in text.char_indices().filter(|(at, _)| *at >= from) {
        let span = (at - digits.len(), at + c.len_utf8());
        let wrong = |message: &str| Error::parse(span, message);
        let axis = match (c, digits.parse().ok()) {
            ('0'..='9', _) => {
                digits.push(c);
                continue;
            }
            ('A'..='Z', None) if digits.is_empty() => (c, None),
            ('a'..='z', Some(size)) if size > 0 => (c, Some(size)),
            _ => {
                return Err(wrong("expected a dim, such as `N`, or a block of one, such as `16c`"));
            }
        };
        if axes.iter().any(|(other, _)| *other == c) {
            return Err(wrong(&format!("`{c}` is stored twice")));
        }
        axes.push(axis);
        digits.clear();
    }
    match digits.is_empty() {
        true => Ok(axes),
        false => Err(Error::parse((text.len(), text.len()), "expected the dim of a block")),
    }
}

impl Tvm {
    /// Returns the layout as digits of the dims. A dim with a block is its quotient, the block its remainder.
    fn pattern(&self) -> Result<Pattern, Error> {
        let is_blocked = |dim: char| {
            self.stored.iter().any(|(c, size)| size.is_some() && c.eq_ignore_ascii_case(&dim))
        };
        let digit = |&(c, size): &(char, Option<u64>)| {
            let axis = self.dims.iter().position(|dim| dim.eq_ignore_ascii_case(&c));
            let axis = axis.ok_or_else(|| {
                Error::mismatch(format!("`{c}` is not part of any dim of `{self}`"))
            })? as u8;
            Ok(match size {
                Some(size) => Digit::fixed(axis, 0, size),
                None => Digit::rest(axis, is_blocked(c).into()),
            })
        };
        let digits: Result<Vec<Digit>, Error> = self.stored.iter().map(digit).collect();
        Ok(Pattern::new(self.dims.len(), &digits?)?)
    }
}

impl fmt::Display for Tvm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let dims = self.stored.iter().filter(|axis| axis.1.is_none()).map(|axis| axis.0);
        if !dims.eq(self.dims.iter().copied()) {
            write!(f, "{}->", self.dims.iter().collect::<String>())?;
        }
        self.stored.iter().try_for_each(|(c, size)| match size {
            Some(size) => write!(f, "{size}{c}"),
            None => write!(f, "{c}"),
        })
    }
}

impl ParsedSpec for Tvm {
    fn is_concrete(&self) -> bool {
        false
    }

    fn fits(&self, rank: usize) -> bool {
        rank == self.dims.len()
    }

    fn resolve(&self, given: &Given<'_>) -> Result<ResolvedLayout, Error> {
        let dims = given.need_dims(self)?;
        if !self.fits(dims.len()) {
            let message =
                format!("`{self}` has {} dims, the array {}", self.dims.len(), dims.len());
            return Err(Error::mismatch(message));
        }
        Ok(ResolvedLayout::of_pattern(&self.pattern()?, dims, given)?)
    }
}

/// Prints the layout with the letters A, B, C … for its dims, or returns the reason why TVM cannot express it.
fn print(named: &ResolvedLayout) -> Result<String, Error> {
    let pattern = Pattern::of(named.layout())?;
    let letter = |axis: u8| char::from(b'A'.saturating_add(axis).min(b'Z'));
    let axis = |digit: &Digit| match (digit.level(), digit.size()) {
        (0 | 1, None) => Ok((letter(digit.axis()), None)),
        (0, Some(size)) => Ok((letter(digit.axis()).to_ascii_lowercase(), Some(size))),
        _ => Err(Error::unsupported("TVM has no nested blocks")),
    };
    let stored: Result<Vec<_>, _> = pattern.digits().iter().map(axis).collect();
    let layout = Tvm { dims: (0..pattern.rank() as u8).map(letter).collect(), stored: stored? };
    match layout.pattern()? == pattern {
        true => Ok(layout.to_string()),
        false => Err(Error::unsupported("TVM splits a dim into whole blocks and the rest")),
    }
}

fn main() -> Result<(), Error> {
    add_notation(TVM)?;

    // A text of TVM is a SPEC like any other, with or without the array before it.
    let named = Spec::parse("f32[1,32,7,7] NCHW16c")?.resolve(None, None)?;
    assert_eq!(named.layout().offset(&[0, 17, 0, 0])?, 16 * 7 * 7 + 1);
    println!("{}", Explanation::of(&named));

    // It is another spelling of the same map. Any layout is printed in it, or refused with the reason.
    let tag = Spec::parse("f32[1,32,7,7] aBcd16b")?.resolve(None, None)?;
    assert!(named.layout().same_function(tag.layout())?);
    let tvm = notation("tvm")?;
    assert_eq!(Translation::of(&tag, tvm)?.text, "ABCD16b");
    let rows = Spec::parse("f32[3,5] col-major")?.resolve(None, None)?;
    assert_eq!(Translation::of(&rows, tvm)?.text, "AB->BA");
    let nested = Spec::parse("bf16[16,256]{1,0:T(8,128)(2,1)}")?.resolve(None, None)?;
    println!("{}", Translation::of(&nested, tvm).unwrap_err());

    // A text that oneDNN reads too is ambiguous, and a prefix selects the notation.
    let error = Spec::parse("OI16i16o").unwrap_err();
    println!("{error}");
    assert!(error.is_ambiguous() && error.to_string().contains("`tvm:OI16i16o`"));
    assert!(Spec::parse("tvm:OI16i16o").is_ok());

    // An error points at the bytes at fault, wherever in the SPEC the text is.
    let error = Spec::parse("f32[1,32,7,7] NCHW16cX16").unwrap_err();
    assert_eq!(error.span(), Some((24, 24)));
    println!("{}", error.render());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example holds; and the law: a printed text is read as the same layout.
    #[test]
    fn it_says_what_is_so() {
        main().unwrap();
        let tvm = notation("tvm").unwrap();
        let texts = ["AB", "AB->BA", "AB4b", "AB->BA2b3a", "AB->A3aB", "AB2a2b", "AB->B2aA"];
        for text in texts {
            for (m, n) in (1..7).flat_map(|m| (1..7).map(move |n| (m, n))) {
                let read = |text: &str| Spec::parse(text)?.resolve(Some(&[m, n]), None);
                let named = read(&format!("tvm:{text}")).unwrap();
                let Ok(said) = tvm.print(&named) else { continue };
                let again = read(&format!("tvm:{said}")).unwrap();
                let same = again.layout().same_function(named.layout());
                assert_eq!(same, Ok(true), "{text} of {m}, {n} is {said}");
            }
        }
    }

    #[test]
    fn what_is_wrong_is_pointed_at() {
        for (text, span) in [("NC16", (4, 4)), ("NC0c", (2, 4)), ("NCN4c", (2, 3)), ("N?", (1, 2))]
        {
            assert_eq!(read(text).unwrap_err().span(), Some(span), "{text}");
        }
        for text in ["NC4k", "NC->N", "C->NC", "NN->N"] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
