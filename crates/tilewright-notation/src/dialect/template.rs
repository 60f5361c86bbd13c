//! A pattern whose sizes may be constants: read by the dialect of patterns and by that of named formats.

use std::fmt;

use tilewright_core::{Digit, MAX_MODES, Pattern};

use super::{backwards, cuts::Cuts, rank};
use crate::{
    Error,
    reading::{Given, Resolved},
    scan::{Scanner, did_you_mean},
};

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
pub(super) struct WrittenDigit {
    pub(super) name: String,
    pub(super) size: Size,
    /// The bytes of the whole digit.
    pub(super) span: (usize, usize),
}

#[derive(Debug)]
struct TemplateAxis {
    /// Most significant first.
    digits: Vec<WrittenDigit>,
    grouped: bool,
}

/// A pattern whose sizes may be constants.
#[derive(Debug)]
pub(super) struct Template {
    batched: bool,
    axes: Vec<TemplateAxis>,
    /// Axis and position within it of each digit, outermost in storage first.
    order: Vec<(usize, usize)>,
    /// Which of the order are stored backwards.
    backwards: Vec<usize>,
    /// The places where bars cut the order into dims of an array of words.
    cuts: Cuts,
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
        let batched = eat_rest(&mut scan);
        let (axes, order, backwards) = (Vec::new(), Vec::new(), Vec::new());
        let mut template = Template { batched, axes, order, backwards, cuts: Cuts::default() };
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

    /// Exchanges the last two dims of the array and keeps the storage; `None` where there are not two.
    pub(super) fn transposed(mut self) -> Option<Template> {
        let last = self.axes.len().checked_sub(1)?;
        let before = last.checked_sub(1)?;
        self.axes.swap(before, last);
        for (axis, _) in &mut self.order {
            *axis = match *axis {
                a if a == last => before,
                a if a == before => last,
                a => a,
            };
        }
        Some(self)
    }

    /// Every digit, in the order written.
    pub(super) fn digits(&self) -> impl Iterator<Item = &WrittenDigit> {
        self.axes.iter().flat_map(|axis| &axis.digits)
    }

    pub(super) fn rank_fits(&self, rank: usize) -> bool {
        let own = self.axes.len();
        rank == own || (self.batched && rank > own && rank <= MAX_MODES)
    }

    /// The dims of a small array: 10 each, or fewer where all digits of an axis have sizes.
    pub(super) fn small_dims(&self) -> Vec<u64> {
        let whole = |axis: &TemplateAxis| {
            axis.digits.iter().try_fold(1u64, |whole, digit| match digit.size {
                Size::Rest => None,
                Size::Fixed(size) => Some(whole.saturating_mul(size)),
                Size::Constant(_) => Some(whole),
            })
        };
        self.axes.iter().map(|axis| whole(axis).unwrap_or(10).min(10)).collect()
    }

    /// The size of the digit that is innermost in storage; 1 where it takes the rest.
    pub(super) fn innermost(&self) -> u64 {
        let digit = self.order.last().and_then(|&(a, p)| self.axes.get(a)?.digits.get(p));
        match digit.map(|digit| &digit.size) {
            Some(Size::Fixed(size)) => *size,
            Some(Size::Rest | Size::Constant(_)) | None => 1,
        }
    }

    /// The name of every digit.
    fn names(&self) -> Vec<&str> {
        self.digits().map(|digit| digit.name.as_str()).collect()
    }

    /// The letter of each axis.
    pub(super) fn letters(&self) -> Vec<&str> {
        let first = self.axes.iter().filter_map(|axis| axis.digits.first());
        first.map(|digit| rank::letter(&digit.name)).collect()
    }

    /// The words for the dims that it takes beside its own.
    pub(super) fn more(&self) -> &'static str {
        if self.batched { ", and any before them" } else { "" }
    }

    /// Refuses an array of another rank.
    pub(super) fn check_rank(&self, what: &dyn fmt::Display, rank: usize) -> Result<(), Error> {
        if self.rank_fits(rank) || rank > MAX_MODES {
            return Ok(());
        }
        Err(rank::misfit(what, &self.letters(), self.more(), rank))
    }

    fn read_axis(&self, scan: &mut Scanner<'_>) -> Result<TemplateAxis, Error> {
        let mut axis = TemplateAxis { digits: Vec::new(), grouped: scan.eat("(") };
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
    fn check(&self, axis: &TemplateAxis, digit: &WrittenDigit) -> Result<(), Error> {
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
            if scan.eat("|") {
                self.cuts.0.push(self.order.len());
                continue;
            }
            if scan.eat("-") {
                self.backwards.push(self.order.len());
            }
            let (name, span) = scan.name("the name of a digit")?;
            let at = self.find(name).ok_or_else(|| unknown(name, self.names(), span))?;
            if self.order.contains(&at) {
                return Err(Error::parse(span, format!("`{name}` is stored twice")));
            }
            self.order.push(at);
        }
        let stored = |name: &str| self.find(name).is_some_and(|at| self.order.contains(&at));
        match self.digits().find(|digit| !stored(&digit.name)) {
            Some(digit) => Err(Error::parse(
                (scan.at(), scan.at()),
                format!(
                    "`{}` is missing in the storage order; name every digit after `->`",
                    digit.name
                ),
            )),
            None => Ok(()),
        }
    }

    fn find(&self, name: &str) -> Option<(usize, usize)> {
        self.axes.iter().enumerate().find_map(|(a, axis)| {
            Some((a, axis.digits.iter().position(|digit| digit.name == name)?))
        })
    }

    /// The order of storage, as it is written.
    fn order_words(&self) -> Vec<String> {
        let mut words = Vec::new();
        for (at, &(axis, position)) in self.order.iter().enumerate() {
            words.extend(self.cuts.0.iter().filter(|cut| **cut == at).map(|_| "|".to_owned()));
            let digit = self.axes.get(axis).and_then(|axis| axis.digits.get(position));
            let mark = if self.backwards.contains(&at) { "-" } else { "" };
            words.extend(digit.map(|digit| format!("{mark}{}", digit.name)));
        }
        let last = self.cuts.0.iter().filter(|cut| **cut >= self.order.len());
        words.extend(last.map(|_| "|".to_owned()));
        words
    }

    /// The array of these dims that this pattern stores, sizes given for its constants.
    pub(super) fn resolve(
        &self,
        dims: &[u64],
        given: &Given<'_>,
        size_of: &dyn Fn(&WrittenDigit) -> Result<Option<u64>, Error>,
    ) -> Result<Resolved, Error> {
        let pattern = self.pattern(size_of)?;
        let mut resolved = Resolved::of_pattern(&pattern, dims, given)?;
        if let Some(storage) = &resolved.storage {
            resolved.words_dims = self.cuts.dims(self.order.len(), self.batched, storage);
        }
        for &digit in &self.backwards {
            resolved.layout = backwards::turned(&pattern, &resolved.layout, digit)?;
        }
        Ok(resolved)
    }

    /// The dims of the array whose storage is words of this shape, `per` elements in each, where they follow.
    pub(super) fn dims_of_words(
        &self,
        shape: &[u64],
        per: u64,
        size_of: &dyn Fn(&WrittenDigit) -> Result<Option<u64>, Error>,
    ) -> Option<Vec<u64>> {
        let pattern = self.pattern(size_of).ok()?;
        self.cuts.array(&pattern, shape, per)
    }

    /// The pattern with sizes for its constants; `None` leaves a digit the rest of its axis.
    pub(super) fn pattern(
        &self,
        size_of: &dyn Fn(&WrittenDigit) -> Result<Option<u64>, Error>,
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

/// The error of a name that none of the digits has.
pub(super) fn unknown(name: &str, names: Vec<&str>, span: (usize, usize)) -> Error {
    let nearest = did_you_mean(name, names.iter().copied());
    let list = if names.is_empty() { "none".into() } else { names.join(" ") };
    Error::parse(span, format!("no digit is called `{name}`; there are {list}{nearest}"))
}

fn read_digit(scan: &mut Scanner<'_>) -> Result<WrittenDigit, Error> {
    let (name, (from, _)) = scan.name("an axis or a digit, such as `m` or `m0:16`")?;
    let size = if scan.eat(":") { read_size(scan)? } else { Size::Rest };
    Ok(WrittenDigit { name: name.to_owned(), size, span: (from, scan.at()) })
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

impl fmt::Display for WrittenDigit {
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
            let digits: Vec<String> = axis.digits.iter().map(WrittenDigit::to_string).collect();
            let digits = digits.join(" ");
            if axis.grouped { write!(f, "({digits}) ")? } else { write!(f, "{digits} ")? }
        }
        write!(f, "-> {rest}")?;
        f.write_str(&self.order_words().join(" "))
    }
}
