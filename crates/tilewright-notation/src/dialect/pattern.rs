//! Patterns: how each axis splits into digits and in which order they are stored.
//!
//! ```text
//! pattern := [ rest ] { axis } '->' [ rest ] { name }
//! rest    := '…' | '...'              any leading dims, stored outermost, row-major
//! axis    := digit | '(' digit { digit } ')'
//! digit   := name [ ':' size ]        without a size: the rest of the axis, rounded up
//! size    := int | 'C0'               C0: 32 bytes of elements
//! name    := letter { letter | int | '_' }
//! ```
//!
//! Inside parentheses digits go **most significant first**, as in einops. This is the one place where
//! the order differs from the core's modes, which begin with the digit that varies fastest. Behind the
//! arrow digits go outermost first. At most one digit of an axis is without a size.
//!
//! | text | array | layout |
//! |---|---|---|
//! | `(m1 m0:16) (n1 n0:16) -> n1 m1 m0 n0` | `[32,48]` | `((16,2),(16,3)):((16,256),(1,512))` |
//! | `(m1 m0:16) (n1 n0:C0) -> n1 m1 m0 n0` | `s8[32,48]` | `((16,2),(32,2)):((32,512),(1,1024)) valid (32,48)` |
//! | `… m n -> … n m` | `[2,3,4]` | `(2,3,4):(12,1,3)` |
//! | `(m1 m0) n -> n m1 m0` | | error: both take the rest |
//! | `(m1 m0:16) n -> n m1` | | error: `m0` is stored nowhere |

use std::{fmt, sync::Arc};

use tilewright_core::{Digit, MAX_MODES, Pattern};

use super::{canonical::simplified, order, rank};
use crate::{
    Named, catalogue,
    error::Error,
    nearest::did_you_mean,
    notation::{Notation, no_words},
    reading::{Given, Reading, Resolved},
    scan::Scanner,
};

pub(super) const DIALECT: Notation = Notation {
    name: "pattern",
    aliases: &[],
    about: "how each dim splits into digits, and their order in storage",
    claims,
    read,
    words: no_words,
    print,
};

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

/// The size of a digit, as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Size {
    Rest,
    Fixed(u64),
    /// A constant that depends on the element or is a parameter.
    Constant(String),
}

/// One digit, as written.
#[derive(Clone, Debug)]
pub(super) struct Written {
    pub(super) name: String,
    pub(super) size: Size,
    /// The bytes of the whole digit.
    span: (usize, usize),
}

#[derive(Debug)]
struct Axis {
    /// Most significant first.
    digits: Vec<Written>,
    grouped: bool,
}

/// A pattern whose sizes may be constants.
#[derive(Debug)]
pub(super) struct Template {
    batched: bool,
    axes: Vec<Axis>,
    /// Axis and position within it of each digit, outermost in storage first.
    order: Vec<(usize, usize)>,
}

fn eat_rest(scan: &mut Scanner<'_>) -> bool {
    scan.eat("…") || scan.eat("...")
}

impl Template {
    pub(super) fn read(text: &str) -> Result<Template, Error> {
        let mut scan = Scanner::new(text);
        if !text.contains("->") {
            let message =
                "expected `->` and the digits in storage order, found the end of the text";
            return Err(Error::parse((text.len(), text.len()), message));
        }
        let mut template =
            Template { batched: eat_rest(&mut scan), axes: Vec::new(), order: Vec::new() };
        while !scan.eat("->") {
            if scan.peek().is_none() {
                return Err(scan.expected("an axis or `->`"));
            }
            let axis = template.read_axis(&mut scan)?;
            template.axes.push(axis);
        }
        template.read_order(&mut scan)?;
        Ok(template)
    }

    /// Every digit, in the order written.
    pub(super) fn digits(&self) -> impl Iterator<Item = &Written> {
        self.axes.iter().flat_map(|axis| &axis.digits)
    }

    pub(super) fn rank_fits(&self, rank: usize) -> bool {
        let own = self.axes.len();
        rank == own || (self.batched && rank > own && rank <= MAX_MODES)
    }

    /// The letter of each axis.
    pub(super) fn letters(&self) -> Vec<&str> {
        let first = self.axes.iter().filter_map(|axis| axis.digits.first());
        first.map(|digit| rank::letter(&digit.name)).collect()
    }

    /// Refuses an array of another rank.
    pub(super) fn check_rank(&self, what: &dyn fmt::Display, rank: usize) -> Result<(), Error> {
        if self.rank_fits(rank) || rank > MAX_MODES {
            return Ok(());
        }
        Err(rank::misfit(what, &self.letters(), self.batched, rank))
    }

    fn read_axis(&self, scan: &mut Scanner<'_>) -> Result<Axis, Error> {
        let mut axis = Axis { digits: Vec::new(), grouped: scan.eat("(") };
        loop {
            let digit = read_digit(scan)?;
            self.check(&axis, &digit)?;
            axis.digits.push(digit);
            if !axis.grouped || scan.eat(")") {
                return Ok(axis);
            }
        }
    }

    /// Refuses a digit that the pattern cannot take.
    fn check(&self, axis: &Axis, digit: &Written) -> Result<(), Error> {
        let name = &digit.name;
        if self.digits().chain(&axis.digits).any(|other| other.name == *name) {
            return Err(Error::parse(
                digit.span,
                format!("`{name}` is the name of two digits; name each one differently"),
            ));
        }
        let rest = axis.digits.iter().find(|other| other.size == Size::Rest);
        if let (Some(other), Size::Rest) = (rest, &digit.size) {
            return Err(Error::parse(
                digit.span,
                format!(
                    "`{}` and `{name}` both take the rest of the axis; give one a size, as in `{name}:16`",
                    other.name
                ),
            ));
        }
        if self.digits().count() + axis.digits.len() == MAX_MODES {
            return Err(Error::parse(digit.span, "a pattern has at most 32 digits"));
        }
        Ok(())
    }

    fn read_order(&mut self, scan: &mut Scanner<'_>) -> Result<(), Error> {
        scan.skip();
        let from = scan.at();
        if eat_rest(scan) && !self.batched {
            return Err(Error::parse(
                (from, scan.at()),
                "leading dims are stored, but the axes have none; begin the pattern with `…` too",
            ));
        }
        while scan.peek().is_some() {
            let (name, span) = scan.name("the name of a digit")?;
            let at = self.find(name).ok_or_else(|| self.unknown(name, span))?;
            if self.order.contains(&at) {
                return Err(Error::parse(span, format!("`{name}` is stored twice")));
            }
            self.order.push(at);
        }
        let stored = |name: &str| self.find(name).is_some_and(|at| self.order.contains(&at));
        match self.digits().find(|digit| !stored(&digit.name)) {
            Some(digit) => Err(Error::parse(
                (scan.at(), scan.at()),
                format!("`{}` is stored nowhere; name every digit behind `->`", digit.name),
            )),
            None => Ok(()),
        }
    }

    fn find(&self, name: &str) -> Option<(usize, usize)> {
        self.axes.iter().enumerate().find_map(|(a, axis)| {
            Some((a, axis.digits.iter().position(|digit| digit.name == name)?))
        })
    }

    fn unknown(&self, name: &str, span: (usize, usize)) -> Error {
        let names: Vec<&str> = self.digits().map(|digit| digit.name.as_str()).collect();
        let nearest = did_you_mean(name, names.iter().copied());
        let list = names.join(" ");
        Error::parse(span, format!("no digit is called `{name}`; there are {list}{nearest}"))
    }

    /// The pattern with sizes for its constants; `None` leaves a digit the rest of its axis.
    pub(super) fn pattern(
        &self,
        size_of: &dyn Fn(&Written) -> Result<Option<u64>, Error>,
    ) -> Result<Pattern, Error> {
        let mut digits = Vec::new();
        for &(a, position) in &self.order {
            let Some((axis, digit)) =
                self.axes.get(a).and_then(|axis| Some((axis, axis.digits.get(position)?)))
            else {
                continue;
            };
            // At most 32 of each: both fit a byte.
            let (a, level) = (a as u8, (axis.digits.len() - 1 - position) as u8);
            digits.push(match size_of(digit)? {
                Some(size) => Digit::fixed(a, level, size),
                None => Digit::rest(a, level),
            });
        }
        let pattern = Pattern::new(self.axes.len(), &digits)?;
        Ok(if self.batched { pattern.batched() } else { pattern })
    }
}

fn read_digit(scan: &mut Scanner<'_>) -> Result<Written, Error> {
    let (name, (from, _)) = scan.name("an axis or a digit, such as `m` or `m0:16`")?;
    let size = if scan.eat(":") { read_size(scan)? } else { Size::Rest };
    Ok(Written { name: name.to_owned(), size, span: (from, scan.at()) })
}

fn read_size(scan: &mut Scanner<'_>) -> Result<Size, Error> {
    if scan.peek().is_some_and(|c| c.is_ascii_uppercase()) {
        return Ok(Size::Constant(scan.name("a size")?.0.to_owned()));
    }
    let from = scan.at();
    match scan.integer()? {
        0 => Err(Error::parse((from, scan.at()), "a digit has a size of 1 or more")),
        size => Ok(Size::Fixed(size)),
    }
}

impl fmt::Display for Written {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.size {
            Size::Rest => f.write_str(&self.name),
            Size::Fixed(size) => write!(f, "{}:{size}", self.name),
            Size::Constant(size) => write!(f, "{}:{size}", self.name),
        }
    }
}

impl fmt::Display for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rest = if self.batched { "… " } else { "" };
        f.write_str(rest)?;
        for axis in &self.axes {
            let digits: Vec<String> = axis.digits.iter().map(Written::to_string).collect();
            let digits = digits.join(" ");
            if axis.grouped { write!(f, "({digits}) ")? } else { write!(f, "{digits} ")? }
        }
        write!(f, "-> {rest}")?;
        let stored = self.order.iter().filter_map(|&(a, p)| self.axes.get(a)?.digits.get(p));
        let names: Vec<&str> = stored.map(|digit| digit.name.as_str()).collect();
        f.write_str(&names.join(" "))
    }
}

/// A pattern written inline.
#[derive(Debug)]
struct Inline(Template);

fn read(text: &str) -> Result<Arc<dyn Reading>, Error> {
    let template = Template::read(text)?;
    for digit in template.digits() {
        if let Size::Constant(name) = &digit.size
            && name != catalogue::C0.name
        {
            return Err(Error::parse(
                digit.span,
                format!("`{name}` is no size; write an integer or C0, 32 bytes of elements"),
            ));
        }
    }
    Ok(Arc::new(Inline(template)))
}

impl fmt::Display for Inline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Without digits the arrow stands alone, and no space may follow it.
        f.write_str(self.0.to_string().trim())
    }
}

impl Reading for Inline {
    fn is_concrete(&self) -> bool {
        false
    }

    fn fits(&self, rank: usize) -> bool {
        self.0.rank_fits(rank)
    }

    fn resolve(&self, given: &Given<'_>) -> Result<Resolved, Error> {
        let dims = given.need_dims(self)?;
        self.0.check_rank(self, dims.len())?;
        let pattern = self.0.pattern(&|digit| match &digit.size {
            Size::Rest => Ok(None),
            Size::Fixed(size) => Ok(Some(*size)),
            Size::Constant(name) => {
                let dtype = given.need_dtype(self, name)?;
                catalogue::C0.units_for(None, dtype).map(Some)
            }
        })?;
        Ok(Resolved::plain(pattern.layout(dims)?, given))
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
pub(super) fn spell(pattern: &Pattern) -> String {
    let names = letters(pattern.rank());
    let count = |axis: u8| pattern.digits().iter().filter(|digit| digit.axis() == axis).count();
    let name = |digit: &Digit| {
        let letter = names.get(usize::from(digit.axis())).map_or("", String::as_str);
        if count(digit.axis()) == 1 {
            letter.to_owned()
        } else {
            format!("{letter}{}", digit.level())
        }
    };
    let mut axes: Vec<String> = Vec::new();
    for axis in 0..pattern.rank() {
        let mut digits: Vec<&Digit> =
            pattern.digits().iter().filter(|digit| usize::from(digit.axis()) == axis).collect();
        digits.sort_by_key(|digit| std::cmp::Reverse(digit.level()));
        let texts: Vec<String> = digits
            .iter()
            .map(|digit| match digit.size() {
                Some(size) => format!("{}:{size}", name(digit)),
                None => name(digit),
            })
            .collect();
        axes.push(if texts.len() == 1 { texts.concat() } else { format!("({})", texts.join(" ")) });
    }
    let order: Vec<String> = pattern.digits().iter().map(name).collect();
    format!("{} -> {}", axes.join(" "), order.join(" ")).trim().to_owned()
}

/// The layout as a pattern.
fn print(named: &Named) -> Result<String, Error> {
    match Pattern::of(named.layout()) {
        Ok(pattern) => Ok(spell(&pattern)),
        // Digits that go on from one another are one.
        Err(refusal) => match Pattern::of(&simplified(named.layout())?) {
            Ok(pattern) => Ok(spell(&pattern)),
            Err(_) => Err(refusal.into()),
        },
    }
}
