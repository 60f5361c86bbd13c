//! einops: `rearrange('(m1 m0) (n1 n0) -> n1 m1 m0 n0', m0=16, n0=16)`.
//!
//! ```text
//! einops := [ 'rearrange' '(' [ name ',' ] ] [ quote ] side '->' side [ quote ] { ',' name '=' int } [ ')' ]
//! side   := [ '...' ] { axis }
//! axis   := name | '1' | '(' { name | '1' } ')'
//! ```
//!
//! The left side lists the logical dims, each with its digits in brackets, most significant first. The right side,
//! with or without brackets, is the order of storage, outermost first. Sizes follow; one digit of a dim may lack a
//! size. A rearrangement has no padding: dims must be multiples of their digits. A `pattern` rounds them up instead.
//! Source: einops, `rearrange`.
//!
//! | text | array | layout |
//! |---|---|---|
//! | `rearrange('(m1 m0) (n1 n0) -> n1 m1 m0 n0', m0=2, n0=3)` | `[4,6]` | `((2,2),(3,2)):((3,6),(1,12))` |
//! | `b (h p1) (w p2) c -> b (h w) (p1 p2 c), p1=2, p2=2` | `[2,4,4,3]` | `(2,(2,2),(2,2),3):(48,(6,24),(3,12),1)` |
//! | `einops:h w -> w h` | `[2,3]` | `(2,3):(1,2)` |
//! | `einops:... h w -> ... w h` | `[2,2,3]` | `(2,2,3):(6,1,2)` |
//! | `rearrange(x, 'a 1 b -> (b a)')` | `[2,1,3]` | `(2,1,3):(1,6,2)` |
//! | `rearrange('(m1 m0) n -> m1 n m0', m0=2)` | `[3,4]` | error: pads nothing |
//! | `einops:b h w -> b w h` | `[2,3]` | error: w is missing |
//! | `rearrange('(m1 m0) n -> m1 n m0')` | | error: both take the rest |
//! | `einops:h w -> w` | | error: `h` is stored nowhere |
//! | `einops:h -> w h` | | error: no digit is called `w` |
//! | `rearrange('h w -> w h', k=2)` | | error: no digit is called `k` |

use std::{fmt, sync::Arc};

use tilewright_core::{Digit, MAX_MODES, Pattern};

use super::{canonical::simplified, rank, strided::unsupported, template};
use crate::{
    Named,
    error::{Error, Kind},
    notation::Notation,
    reading::{Given, Reading, Resolved},
    scan::{Scanner, tuple},
};

pub(super) const DIALECT: Notation =
    Notation::new("einops", "einops: how each dim splits, and the order of storage", read, print)
        .with_form(claims);

fn claims(text: &str) -> bool {
    text.starts_with("rearrange")
        || (text.contains("->")
            && text.contains('=')
            && !text.contains('<')
            && !text.starts_with('{'))
}

#[derive(Debug)]
struct Digits<'t> {
    name: &'t str,
    size: Option<u64>,
    span: (usize, usize),
}

/// A rearrangement: the pattern it is, its own text, the text that was read, and the letter of each dim there.
#[derive(Debug)]
struct Rearrangement {
    pattern: Pattern,
    text: String,
    written: String,
    letters: Vec<String>,
}

fn read(text: &str) -> Result<Arc<dyn Reading>, Error> {
    let mut scan = Scanner::new(text);
    let call = scan.eat("rearrange");
    if call {
        scan.expect("(")?;
        if scan.peek().is_some_and(|c| c.is_ascii_alphabetic()) {
            scan.name("the array")?;
            scan.expect(",")?;
        }
    }
    let quote = ["'", "\""].into_iter().find(|quote| scan.eat(quote));
    let batched = scan.eat("...") || scan.eat("…");
    let mut axes = read_axes(&mut scan)?;
    scan.expect("->")?;
    scan.skip();
    let from = scan.at();
    if (scan.eat("...") || scan.eat("…")) != batched {
        return Err(Error::parse(
            (from, from),
            "`...` has to be at the beginning of both sides, or of neither",
        ));
    }
    let order = read_order(&mut scan, &axes)?;
    if let Some(quote) = quote {
        scan.expect(quote)?;
    }
    while scan.eat(",") {
        read_size(&mut scan, &mut axes)?;
    }
    if call {
        scan.expect(")")?;
    }
    scan.end("the rearrangement")?;
    let pattern = pattern(&axes, &order)?;
    let pattern = if batched { pattern.batched() } else { pattern };
    let (text, written) = (spell(&pattern), text.to_owned());
    let letter = |axis: &Vec<Digits<'_>>| {
        let name = axis.first().map_or("", |digit| digit.name);
        if name.is_empty() { "1".to_owned() } else { rank::letter(name).to_owned() }
    };
    let letters = axes.iter().map(letter).collect();
    Ok(Arc::new(Rearrangement { pattern, text, written, letters }))
}

type Axes<'t> = Vec<Vec<Digits<'t>>>;

fn read_axes<'t>(scan: &mut Scanner<'t>) -> Result<Axes<'t>, Error> {
    let mut axes: Axes<'t> = Vec::new();
    let mut count = 0;
    while scan.peek().is_some_and(|c| c != '-') {
        let mut axis = Vec::new();
        let grouped = scan.eat("(");
        loop {
            if grouped && scan.eat(")") {
                break;
            }
            if scan.eat("1") {
                axis.push(Digits { name: "", size: Some(1), span: (scan.at() - 1, scan.at()) });
            } else {
                let (name, span) = scan.name("the name of a digit")?;
                let mut all = axes.iter().flatten().chain(&axis);
                if all.any(|other| other.name == name) {
                    return Err(Error::parse(span, format!("`{name}` is named twice")));
                }
                axis.push(Digits { name, size: None, span });
            }
            count += 1;
            if count > MAX_MODES {
                return Err(scan.expected("at most 32 digits"));
            }
            if !grouped {
                break;
            }
        }
        if axis.is_empty() {
            axis.push(Digits { name: "", size: Some(1), span: (scan.at(), scan.at()) });
        }
        axes.push(axis);
        if axes.len() > MAX_MODES {
            return Err(scan.expected("at most 32 dims"));
        }
    }
    Ok(axes)
}

fn find(axes: &Axes<'_>, name: &str) -> Option<(usize, usize)> {
    axes.iter()
        .enumerate()
        .find_map(|(a, axis)| Some((a, axis.iter().position(|digit| digit.name == name)?)))
}

fn unknown(axes: &Axes<'_>, name: &str, span: (usize, usize)) -> Error {
    let names = axes.iter().flatten().map(|digit| digit.name).filter(|name| !name.is_empty());
    template::unknown(name, names.collect(), span)
}

/// The digits in storage order; brackets only say how the result is shaped.
fn read_order(scan: &mut Scanner<'_>, axes: &Axes<'_>) -> Result<Vec<(usize, usize)>, Error> {
    let (mut order, mut open) = (Vec::new(), false);
    while let Some(c) = scan.peek().filter(|c| !",'\"".contains(*c)) {
        match (c, open) {
            ('(', false) => {
                scan.advance(1);
                open = true;
            }
            (')', true) => {
                scan.advance(1);
                open = false;
            }
            (')', false) => break,
            ('1', _) => scan.advance(1),
            _ => {
                let (name, span) = scan.name("the name of a digit")?;
                let at = find(axes, name).ok_or_else(|| unknown(axes, name, span))?;
                if order.contains(&at) {
                    return Err(Error::parse(span, format!("`{name}` is stored twice")));
                }
                order.push(at);
            }
        }
    }
    if open {
        return Err(scan.expected("`)`"));
    }
    let stored = |digit: &&Digits<'_>| {
        digit.name.is_empty() || find(axes, digit.name).is_some_and(|at| order.contains(&at))
    };
    match axes.iter().flatten().find(|digit| !stored(digit)) {
        None => Ok(order),
        Some(digit) => Err(Error::parse(
            digit.span,
            format!("`{}` is stored nowhere; a rearrangement keeps every element", digit.name),
        )),
    }
}

fn read_size<'t>(scan: &mut Scanner<'t>, axes: &mut Axes<'t>) -> Result<(), Error> {
    let (name, span) = scan.name("a size, such as `m0=16`")?;
    scan.expect("=")?;
    scan.skip();
    let from = scan.at();
    let size = scan.integer()?;
    let (a, at) = find(axes, name).ok_or_else(|| unknown(axes, name, span))?;
    let digit = axes.get_mut(a).and_then(|axis| axis.get_mut(at));
    match digit {
        Some(digit) if digit.size.is_none() && size > 0 => {
            digit.size = Some(size);
            Ok(())
        }
        Some(_) if size == 0 => {
            Err(Error::parse((from, scan.at()), "a digit has a size of 1 or more"))
        }
        Some(_) | None => Err(Error::parse(span, format!("`{name}` is given twice"))),
    }
}

fn pattern(axes: &Axes<'_>, order: &[(usize, usize)]) -> Result<Pattern, Error> {
    for axis in axes {
        let mut rest = axis.iter().filter(|digit| digit.size.is_none());
        if let (Some(first), Some(second)) = (rest.next(), rest.next()) {
            let (first, name) = (first.name, second.name);
            return Err(Error::parse(
                second.span,
                format!(
                    "`{first}` and `{name}` both take the rest of the dim; give one a size, as in `{name}=16`"
                ),
            ));
        }
    }
    // Places of one element move nothing, wherever they are stored: outermost.
    let units = axes.iter().enumerate().flat_map(|(a, axis)| {
        let unit = |(_, digit): &(usize, &Digits<'_>)| digit.name.is_empty();
        axis.iter().enumerate().filter(unit).map(move |(at, _)| (a, at))
    });
    let digits = units.chain(order.iter().copied()).filter_map(|(a, at)| {
        let axis = axes.get(a)?;
        // At most 32 dims and digits: they fit a byte.
        let (dim, level) = (a as u8, (axis.len() - 1 - at) as u8);
        Some(match axis.get(at)?.size {
            Some(size) => Digit::fixed(dim, level, size),
            None => Digit::rest(dim, level),
        })
    });
    Ok(Pattern::new(axes.len(), &digits.collect::<Vec<_>>())?)
}

/// A pattern in the words of einops.
fn spell(pattern: &Pattern) -> String {
    let text = super::pattern::spell(pattern);
    let (mut plain, mut sizes) = (String::new(), String::new());
    for word in text.split_inclusive([' ', '(', ')']) {
        let end = word.len() - word.trim_end_matches([' ', '(', ')']).len();
        let (word, end) = word.split_at(word.len() - end);
        match word.split_once(':') {
            Some((name, size)) => {
                plain += name;
                sizes += &format!(", {name}={size}");
            }
            None => plain += word,
        }
        plain += end;
    }
    if pattern.is_batched() {
        plain = format!("... {}", plain.replace("->", "-> ..."));
    }
    plain + &sizes
}

impl fmt::Display for Rearrangement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Reading for Rearrangement {
    fn is_concrete(&self) -> bool {
        false
    }

    fn fits(&self, rank: usize) -> bool {
        let own = self.pattern.rank();
        rank == own || (self.pattern.is_batched() && rank > own && rank <= MAX_MODES)
    }

    fn resolve(&self, given: &Given<'_>) -> Result<Resolved, Error> {
        let dims = given.need_dims(self)?;
        if !self.fits(dims.len()) && dims.len() <= MAX_MODES {
            let letters: Vec<&str> = self.letters.iter().map(String::as_str).collect();
            let batched = self.pattern.is_batched();
            return Err(rank::misfit(&self.written, &letters, batched, dims.len()));
        }
        let resolved = Resolved::of_pattern(&self.pattern, dims, given)
            .map_err(|e| Error::from(e).about(&self.written))?;
        if resolved.layout.padding() > 0 {
            let message = format!(
                "`{}` cuts dims {} into pieces that do not fit; a rearrangement pads nothing, a pattern does",
                self.written,
                tuple(dims)
            );
            return Err(Error::new(Kind::Mismatch, message));
        }
        Ok(resolved)
    }
}

/// The layout as a rearrangement.
fn print(named: &Named) -> Result<String, Error> {
    let tensor = simplified(named.layout())?;
    let pattern = Pattern::of(&tensor)?;
    if tensor.capacity() != tensor.size() {
        return Err(unsupported(format!(
            "a rearrangement pads nothing; {} elements of storage hold {}",
            tensor.capacity(),
            tensor.size()
        )));
    }
    Ok(format!("einops:{}", spell(&pattern)))
}
