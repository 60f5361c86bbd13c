//! einops: `rearrange('(m1 m0) (n1 n0) -> n1 m1 m0 n0', m0=16, n0=16)`.
//!
//! ```text
//! einops := [ 'rearrange' '(' [ name ',' ] ] [ quote ] left '->' right [ quote ] { ',' name '=' int } [ ')' ]
//! left   := { rest | axis | '(' { axis } ')' }
//! right  := { rest | axis | '(' { rest | axis } ')' }
//! rest   := '...' | '…'                 once on each side, or on neither
//! axis   := name | '1'
//! name   := an identifier of Python that neither begins nor ends with '_'
//! ```
//!
//! The left side lists the logical dims, each with its digits in brackets, most significant first. The right side,
//! with or without brackets, is the order of storage, outermost first. Sizes follow; one digit of a dim may lack a
//! size. `...` is all dims that the left side does not name. A rearrangement has no padding: dims must be multiples
//! of their digits. A `pattern` rounds them up instead.
//! Source: einops, `rearrange` and `ParsedExpression`.
//!
//! | text | array | layout |
//! |---|---|---|
//! | `rearrange('(m1 m0) (n1 n0) -> n1 m1 m0 n0', m0=2, n0=3)` | `[4,6]` | `((2,2),(3,2)):((3,6),(1,12))` |
//! | `b (h p1) (w p2) c -> b (h w) (p1 p2 c), p1=2, p2=2` | `[2,4,4,3]` | `(2,(2,2),(2,2),3):(48,(6,24),(3,12),1)` |
//! | `einops:h w -> w h` | `[2,3]` | `(2,3):(1,2)` |
//! | `einops:... h w -> ... w h` | `[2,2,3]` | `(2,2,3):(6,1,2)` |
//! | `einops:h ... w -> w (... h)` | `[2,2,3]` | `(2,2,3):(1,2,4)` |
//! | `rearrange('größe 高さ -> 高さ größe')` | `[2,3]` | `(2,3):(1,2)` |
//! | `rearrange(x, 'a 1 b -> (b a)')` | `[2,1,3]` | `(2,1,3):(1,6,2)` |
//! | `rearrange('(m1 m0) n -> m1 n m0', m0=2)` | `[3,4]` | error: cannot pad |
//! | `einops:b h w -> b w h` | `[2,3]` | error: w is missing |
//! | `rearrange('(m1 m0) n -> m1 n m0')` | | error: both take the rest |
//! | `einops:h w -> w` | | error: `h` is missing on the right side |
//! | `einops:h -> w h` | | error: no digit is called `w` |
//! | `rearrange('h w -> w h', k=2)` | | error: no digit is called `k` |
//! | `einops:h_ w -> w h_` | | error: neither begins nor ends with `_` |
//! | `einops:(h ...) -> h ...` | | error: inside brackets of the left side |
//! | `einops:h ... -> h` | | error: on both sides |
//! | `einops:h 2 -> 2 h` | | error: `2` is a size without a name |

use std::{fmt, sync::Arc};

use tilewright_core::{Digit, MAX_MODES, Pattern};

use super::{canonical::simplified, template};
use crate::{
    Error, ResolvedLayout,
    dialect::arrays::strided::unsupported,
    literal::{Scanner, tuple},
    notation::Notation,
    parsed_spec::{Given, ParsedSpec},
};

pub(in crate::dialect) const DIALECT: Notation =
    Notation::new("einops", "einops: the split of each dim, and the order of storage", read, print)
        .with_form(claims);

fn claims(text: &str) -> bool {
    text.starts_with("rearrange")
        || (text.contains("->")
            && text.contains('=')
            && !text.contains('<')
            && !text.starts_with('{'))
}

#[derive(Debug)]
struct DimDigits<'t> {
    name: &'t str,
    size: Option<u64>,
    span: (usize, usize),
}

/// The left side: the dims that it names, and the number of them before `...`.
#[derive(Debug, Default)]
struct Left<'t> {
    axes: Vec<Vec<DimDigits<'t>>>,
    rest: Option<usize>,
}

/// A place of the order of storage: a digit, by its dim and its position there, or all dims of `...`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OrderEntry {
    Digit(usize, usize),
    Rest,
}

/// A digit of a dim in the order of storage.
#[derive(Clone, Copy, Debug)]
enum StoredDigit {
    Digit { axis: usize, level: usize, size: Option<u64> },
    Rest,
}

/// A rearrangement: the order of its digits, its own text, the text that was read, and the letter of each dim there.
#[derive(Debug)]
struct Rearrangement {
    order: Vec<StoredDigit>,
    /// The number of dims before `...`.
    rest: Option<usize>,
    text: String,
    written: String,
    letters: Vec<String>,
}

fn read(text: &str) -> Result<Arc<dyn ParsedSpec>, Error> {
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
    let mut left = read_left(&mut scan)?;
    scan.expect("->")?;
    let order = read_order(&mut scan, &left)?;
    if let Some(quote) = quote {
        scan.expect(quote)?;
    }
    while scan.eat(",") {
        read_size(&mut scan, &mut left)?;
    }
    if call {
        scan.expect(")")?;
    }
    scan.end("the rearrangement")?;
    let order = stored(&left, &order)?;
    let letter = |axis: &Vec<DimDigits<'_>>| {
        let name = axis.first().map_or("", |digit| digit.name);
        if name.is_empty() { "1".to_owned() } else { template::letter(name).to_owned() }
    };
    let letters: Vec<String> = left.axes.iter().map(letter).collect();
    let (text, written) = (String::new(), text.to_owned());
    let mut read = Rearrangement { order, rest: left.rest, text, written, letters };
    read.text = read.spell()?;
    Ok(Arc::new(read))
}

fn eat_rest(scan: &mut Scanner<'_>) -> bool {
    scan.eat("...") || scan.eat("…")
}

/// A name, or `""` for an axis of one element.
fn read_axis<'t>(scan: &mut Scanner<'t>) -> Result<(&'t str, (usize, usize)), Error> {
    scan.skip();
    let from = scan.at();
    let word = scan.take(|c| c.is_alphanumeric() || c == '_');
    let span = (from, scan.at());
    let refused = |why: &str| Err(Error::parse(span, format!("`{word}` {why}")));
    if word.is_empty() {
        Err(scan.expected("the name of a digit"))
    } else if word.bytes().all(|b| b.is_ascii_digit()) {
        match word.trim_start_matches('0') {
            "1" => Ok(("", span)),
            _ => refused("is a size without a name; only axes of size 1 can be unnamed"),
        }
    } else if word.starts_with('_') || word.ends_with('_') {
        refused("cannot name an axis; in einops a name neither begins nor ends with `_`")
    } else if !is_identifier(word) {
        refused("cannot name an axis; in einops a name is an identifier of Python")
    } else {
        Ok((word, span))
    }
}

/// Returns whether a word begins with a letter and goes on with letters, ASCII digits and `_`. Python's identifiers are these
/// and, very seldom, words with other digits.
fn is_identifier(word: &str) -> bool {
    let is_letter = |c: char| c == '_' || c.is_alphabetic();
    word.starts_with(is_letter) && word.chars().all(|c| is_letter(c) || c.is_ascii_digit())
}

fn read_left<'t>(scan: &mut Scanner<'t>) -> Result<Left<'t>, Error> {
    let mut left = Left::default();
    let mut count = 0;
    while scan.peek().is_some_and(|c| c != '-') {
        if eat_rest(scan) {
            left.take_rest(scan)?;
            continue;
        }
        let mut axis = Vec::new();
        let grouped = scan.eat("(");
        while !(grouped && scan.eat(")")) {
            axis.push(left.read_digit(scan, &axis)?);
            count += 1;
            if count > MAX_MODES {
                return Err(scan.expected("at most 32 digits"));
            }
            if !grouped {
                break;
            }
        }
        if axis.is_empty() {
            axis.push(DimDigits { name: "", size: Some(1), span: (scan.at(), scan.at()) });
        }
        left.axes.push(axis);
        if left.axes.len() > MAX_MODES {
            return Err(scan.expected("at most 32 dims"));
        }
    }
    Ok(left)
}

impl<'t> Left<'t> {
    /// Takes `...`, which was read.
    fn take_rest(&mut self, scan: &Scanner<'_>) -> Result<(), Error> {
        match self.rest.replace(self.axes.len()) {
            None => Ok(()),
            Some(_) => Err(twice(scan)),
        }
    }

    /// A digit of the dim whose first digits are `axis`.
    fn read_digit(
        &self,
        scan: &mut Scanner<'t>,
        axis: &[DimDigits<'t>],
    ) -> Result<DimDigits<'t>, Error> {
        if eat_rest(scan) {
            let message = "`...` inside brackets of the left side; einops reads it there on the right side only";
            return Err(Error::parse((scan.at() - 3, scan.at()), message));
        }
        let (name, span) = read_axis(scan)?;
        let mut all = self.axes.iter().flatten().chain(axis);
        if !name.is_empty() && all.any(|other| other.name == name) {
            return Err(Error::parse(span, format!("`{name}` is named twice")));
        }
        Ok(DimDigits { name, size: name.is_empty().then_some(1), span })
    }

    fn find(&self, name: &str) -> Option<(usize, usize)> {
        self.axes
            .iter()
            .enumerate()
            .find_map(|(a, axis)| Some((a, axis.iter().position(|digit| digit.name == name)?)))
    }

    fn unknown(&self, name: &str, span: (usize, usize)) -> Error {
        let names = self.axes.iter().flatten().map(|digit| digit.name);
        template::unknown(name, names.filter(|name| !name.is_empty()).collect(), span)
    }
}

/// The error of a second `...` on a side; both of its texts have three bytes.
fn twice(scan: &Scanner<'_>) -> Error {
    Error::parse((scan.at() - 3, scan.at()), "`...` is written twice; a side has it once")
}

/// The places in storage order; brackets only give the shape of the result.
fn read_order(scan: &mut Scanner<'_>, left: &Left<'_>) -> Result<Vec<OrderEntry>, Error> {
    let (mut order, mut open) = (Vec::new(), false);
    scan.skip();
    let from = scan.at();
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
            _ => order.extend(read_place(scan, left, &order)?),
        }
    }
    if open {
        return Err(scan.expected("`)`"));
    }
    if left.rest.is_some() != order.contains(&OrderEntry::Rest) {
        let message = "`...` has to be on both sides, or on neither";
        return Err(Error::parse((from, scan.at()), message));
    }
    let is_stored = |digit: &&DimDigits<'_>| {
        let at = left.find(digit.name).map(|(a, p)| OrderEntry::Digit(a, p));
        digit.name.is_empty() || at.is_some_and(|at| order.contains(&at))
    };
    match left.axes.iter().flatten().find(|digit| !is_stored(digit)) {
        None => Ok(order),
        Some(digit) => Err(Error::parse(
            digit.span,
            format!(
                "`{}` is missing on the right side; a rearrangement keeps every element",
                digit.name
            ),
        )),
    }
}

/// The next place of the right side; `None` for an axis of one element, which moves nothing.
fn read_place(
    scan: &mut Scanner<'_>,
    left: &Left<'_>,
    order: &[OrderEntry],
) -> Result<Option<OrderEntry>, Error> {
    if eat_rest(scan) {
        return if order.contains(&OrderEntry::Rest) {
            Err(twice(scan))
        } else {
            Ok(Some(OrderEntry::Rest))
        };
    }
    let (name, span) = read_axis(scan)?;
    if name.is_empty() {
        return Ok(None);
    }
    let (a, p) = left.find(name).ok_or_else(|| left.unknown(name, span))?;
    let place = OrderEntry::Digit(a, p);
    if order.contains(&place) {
        return Err(Error::parse(span, format!("`{name}` is stored twice")));
    }
    Ok(Some(place))
}

fn read_size<'t>(scan: &mut Scanner<'t>, left: &mut Left<'t>) -> Result<(), Error> {
    let (name, span) = read_axis(scan)?;
    if name.is_empty() {
        return Err(Error::parse(span, "expected a size, such as `m0=16`"));
    }
    scan.expect("=")?;
    scan.skip();
    let from = scan.at();
    let size = scan.integer()?;
    let (a, at) = left.find(name).ok_or_else(|| left.unknown(name, span))?;
    let digit = left.axes.get_mut(a).and_then(|axis| axis.get_mut(at));
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

/// The digits in the order of storage, those without a name first or right behind a first `...`.
fn stored(left: &Left<'_>, order: &[OrderEntry]) -> Result<Vec<StoredDigit>, Error> {
    for axis in &left.axes {
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
    let units = left.axes.iter().enumerate().flat_map(|(a, axis)| {
        let unit = |(_, digit): &(usize, &DimDigits<'_>)| digit.name.is_empty();
        axis.iter().enumerate().filter(unit).map(move |(at, _)| OrderEntry::Digit(a, at))
    });
    let first = usize::from(order.first() == Some(&OrderEntry::Rest));
    let (before, after) = order.split_at(first);
    let places = before.iter().copied().chain(units).chain(after.iter().copied());
    let digit = |place| match place {
        OrderEntry::Rest => Some(StoredDigit::Rest),
        OrderEntry::Digit(axis, at) => {
            let digits = left.axes.get(axis)?;
            let (level, size) = (digits.len() - 1 - at, digits.get(at)?.size);
            Some(StoredDigit::Digit { axis, level, size })
        }
    };
    Ok(places.filter_map(digit).collect())
}

/// The words of a pattern in those of einops: its dims, its order of storage, its sizes.
fn spell(pattern: &Pattern) -> (Vec<String>, Vec<String>, String) {
    let (axes, order) = super::pattern::words(pattern);
    let mut sizes = String::new();
    let mut plain = |axis: &String| {
        let words =
            axis.trim_matches(['(', ')']).split(' ').map(|word| match word.split_once(':') {
                Some((name, size)) => {
                    sizes += &format!(", {name}={size}");
                    name
                }
                None => word,
            });
        let words = words.collect::<Vec<_>>().join(" ");
        if axis.starts_with('(') { format!("({words})") } else { words }
    };
    let axes = axes.iter().map(&mut plain).collect();
    (axes, order, sizes)
}

fn joined((axes, order, sizes): (Vec<String>, Vec<String>, String)) -> String {
    let sides = format!("{} -> {}", axes.join(" "), order.join(" "));
    sides.trim().to_owned() + &sizes
}

impl Rearrangement {
    /// Returns whether it takes more dims than it names.
    fn is_open(&self) -> bool {
        self.rest.is_some()
    }

    /// The pattern where `...` is `more` dims.
    fn pattern(&self, more: usize) -> Result<Pattern, Error> {
        let rest = self.rest.unwrap_or(0);
        let moved = |axis: usize| if axis < rest { axis } else { axis + more };
        let mut digits = Vec::new();
        for &stored in &self.order {
            match stored {
                // At most 32 dims and digits: they fit a byte.
                StoredDigit::Rest => {
                    digits.extend((rest..rest + more).map(|a| Digit::rest(a as u8, 0)))
                }
                StoredDigit::Digit { axis, level, size } => {
                    let (axis, level) = (moved(axis) as u8, level as u8);
                    digits.push(match size {
                        Some(size) => Digit::fixed(axis, level, size),
                        None => Digit::rest(axis, level),
                    });
                }
            }
        }
        Ok(Pattern::new(self.letters.len() + more, &digits)?)
    }

    /// The text with letters for its names.
    fn spell(&self) -> Result<String, Error> {
        let (mut axes, mut order, sizes) = spell(&self.pattern(0)?);
        let at = self.order.iter().position(|stored| matches!(stored, StoredDigit::Rest));
        if let (Some(rest), Some(at)) = (self.rest, at) {
            axes.insert(rest, "...".to_owned());
            order.insert(at, "...".to_owned());
        }
        Ok(joined((axes, order, sizes)))
    }
}

impl fmt::Display for Rearrangement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl ParsedSpec for Rearrangement {
    fn is_concrete(&self) -> bool {
        false
    }

    fn fits(&self, rank: usize) -> bool {
        let own = self.letters.len();
        rank == own || (self.is_open() && rank > own && rank <= MAX_MODES)
    }

    fn resolve(&self, given: &Given<'_>) -> Result<ResolvedLayout, Error> {
        let dims = given.need_dims(self)?;
        if !self.fits(dims.len()) && dims.len() <= MAX_MODES {
            let letters: Vec<&str> = self.letters.iter().map(String::as_str).collect();
            let more = if self.is_open() { ", and any more at `...`" } else { "" };
            return Err(template::misfit(&self.written, &letters, more, dims.len()));
        }
        let pattern = self.pattern(dims.len() - self.letters.len())?;
        let resolved = ResolvedLayout::of_pattern(&pattern, dims, given)
            .map_err(|e| Error::from(e).about(&self.written))?;
        if resolved.layout.padding() > 0 {
            let message = format!(
                "`{}` cuts dims {} into pieces that do not fit; a rearrangement cannot pad, but a pattern can",
                self.written,
                tuple(dims)
            );
            return Err(Error::mismatch(message));
        }
        Ok(resolved)
    }
}

/// The layout as a rearrangement.
fn print(named: &ResolvedLayout) -> Result<String, Error> {
    let tensor = simplified(named.layout())?;
    let pattern = Pattern::of(&tensor)?;
    if tensor.capacity() != tensor.size() {
        return Err(unsupported(format!(
            "a rearrangement cannot pad; {} elements of storage hold {}",
            tensor.capacity(),
            tensor.size()
        )));
    }
    Ok(format!("einops:{}", joined(spell(&pattern))))
}
