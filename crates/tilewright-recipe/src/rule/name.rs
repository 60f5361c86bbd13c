//! Names of tensors as patterns, text with numbers and words in it, and renames by two of them.
//!
//! ```text
//! name   := { text | "{" field "}" }
//! field  := WORD ":" ("name" | "*")            a part without dots, or any text, at least one character
//!         | [FACTOR] product ["+" offset] [":0" WIDTH]  a number, made of the digits of the product or sum
//! offset := INTEGER | WORD                     a number, or a size
//! ```
//!
//! `{2L}` and `{2L+1}` are the even and the odd numbers.
//!
//! Numbers are decimal without leading zeros, or with zeros up to the width. A name that is read is printed as the same text,
//! and a name that a pattern reads in two ways is refused.
//!
//! A recipe applies its renames to every tensor, one after the other, before the rules or after them. A rename matches a whole
//! name, and the texts and numbers of its fields stay.
//!
//! Law: the renames of the inverse, in the opposite order, restore every name. A list of names for which that does not hold
//! is refused, and so are two tensors that get one name.
//!
//! ```text
//! blocks.{L}.{x:*}  ->  layers.{L}.{x:*}        blocks.3.norm0.weight  ->  layers.3.norm0.weight
//! {p:*}.norm0.weight  ->  {p:*}.norm1.weight                           ->  layers.3.norm1.weight
//! ```

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::{self, Write as _},
};

use crate::{
    error::{Error, Faults, TextPlace, expression},
    kind,
    rule::{
        Reference,
        expression::{Axis, DimensionReader, Node, Sizes},
    },
    tensor::LONGEST_NAME,
};

/// The most fields and texts of a name.
const MOST_PIECES: usize = 64;

/// A name with fields.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Name {
    pub(crate) pieces: Vec<NamePiece>,
    /// The sizes that the text gives.
    pub(crate) sizes: Sizes,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum NamePiece {
    Literal(String),
    /// Text by a name; without dots where `dots` is false.
    Text {
        name: String,
        dots: bool,
    },
    Number(Number),
}

/// A number in a name.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Number {
    /// The number is this many times the digits, plus the offset.
    pub(crate) factor: u64,
    /// The digits it is made of.
    pub(crate) node: Node,
    pub(crate) offset: Offset,
    /// The least number of figures.
    pub(crate) width: usize,
}

/// The first value of a number in a name.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Offset {
    By(u64),
    Size(String),
}

/// The values in a name: its texts by name, its numbers without their offsets.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct NameValues {
    pub(crate) texts: BTreeMap<String, String>,
    pub(crate) numbers: Vec<u64>,
}

impl Offset {
    /// Its value, where it is known.
    pub(crate) fn value(&self, sizes: &Sizes) -> Option<u64> {
        match self {
            Offset::By(by) => Some(*by),
            Offset::Size(name) => sizes.get(name).copied(),
        }
    }
}

impl Number {
    /// Its text at these digits; none where the offset is unknown or a number has more than 64 bits.
    pub(crate) fn written(&self, digits: u64, sizes: &Sizes) -> Option<String> {
        let value = digits.checked_mul(self.factor)?.checked_add(self.offset.value(sizes)?)?;
        Some(format!("{value:0width$}", width = self.width))
    }

    /// The digits of a number in a name; an offset that no size gives counts as 0.
    fn digits(&self, value: u64, sizes: &Sizes) -> Option<u64> {
        let above = value.checked_sub(self.offset.value(sizes).unwrap_or(0))?;
        above.is_multiple_of(self.factor).then(|| above / self.factor)
    }
}

impl Name {
    /// Reads the bytes `span` of a text.
    pub(crate) fn within(text: &str, (from, to): (usize, usize)) -> Result<Name, Error> {
        let mut name = Name { pieces: Vec::new(), sizes: Sizes::new() };
        let mut at = from;
        while at < to {
            let rest = &text[at..to];
            let end = rest.find(['{', '}']).map_or(to, |end| at + end);
            if end > at {
                name.literal(text, (at, end))?;
                at = end;
                continue;
            }
            let close = rest.find('}').filter(|_| rest.starts_with('{'));
            let close = close.ok_or_else(|| {
                expression((at, at + 1), "a `{` without `}`, or `}` without `{`")
                    .of_kind(kind::NAME)
            })?;
            name.field(text, (at + 1, at + close))?;
            at += close + 1;
        }
        if name.pieces.len() > MOST_PIECES {
            let says = format!("more than {MOST_PIECES} fields and texts in a name");
            return Err(expression((from, to), says).of_kind(kind::NAME));
        }
        if name.pieces.is_empty() {
            return Err(expression((from, to), "a name is missing").of_kind(kind::NAME));
        }
        Ok(name)
    }

    fn literal(&mut self, text: &str, (from, to): (usize, usize)) -> Result<(), Error> {
        if let Some(blank) = text[from..to].find(char::is_whitespace) {
            let says = "a name cannot contain a blank; axes come after ` : `";
            return Err(expression((from + blank, from + blank + 1), says).of_kind(kind::NAME));
        }
        self.pieces.push(NamePiece::Literal(text[from..to].to_owned()));
        Ok(())
    }

    /// Reads the text between `{` and `}`.
    fn field(&mut self, text: &str, span: (usize, usize)) -> Result<(), Error> {
        let named = |error: Error| error.of_kind(kind::NAME);
        if let Some((name, rest)) = text[span.0..span.1].split_once(':')
            && let "name" | "*" = rest.trim()
        {
            let mut reader = DimensionReader::new(text, (span.0, span.0 + name.len()));
            let (name, _) = reader.scanner.word("a name").map_err(named)?;
            reader.scanner.end("the name").map_err(named)?;
            if self.texts().contains(name) {
                let says = format!("`{{{name}:…}}` appears twice in one name");
                return Err(expression(span, says).of_kind(kind::NAME));
            }
            self.pieces.push(NamePiece::Text { name: name.to_owned(), dots: rest.trim() == "*" });
            return Ok(());
        }
        let mut reader = DimensionReader::new(text, span);
        let factor = factor(&mut reader).map_err(named)?;
        let node = reader.product(0).map_err(named)?;
        if let Node::Product(parts) = &node
            && parts.is_empty()
        {
            return Err(named(
                reader
                    .scanner
                    .expected("an axis, as in `{L}`, or a name, as in `{x:name}` or `{x:*}`"),
            ));
        }
        let offset = offset(&mut reader).map_err(named)?;
        let width = width(&mut reader).map_err(named)?;
        reader
            .scanner
            .end("the number; `{x:name}` and `{x:*}` are texts, `{L:02}` has a width")
            .map_err(named)?;
        for (axis, size) in reader.sizes {
            if *self.sizes.entry(axis.clone()).or_insert(size) != size {
                return Err(expression(span, format!("`{axis}` has two sizes")).of_kind(kind::NAME));
            }
        }
        self.pieces.push(NamePiece::Number(Number { factor, node, offset, width }));
        Ok(())
    }

    /// The text of the name with these texts and numbers in the place of their fields; none where a text has a bracket or
    /// a blank, which no name can contain.
    pub(crate) fn fixed(
        &self,
        texts: &BTreeMap<String, String>,
        keys: &BTreeMap<Axis, u64>,
        sizes: &Sizes,
    ) -> Option<String> {
        let mut all = String::new();
        for piece in &self.pieces {
            match piece {
                NamePiece::Literal(literal) => all.push_str(literal),
                NamePiece::Text { name, .. } => {
                    let text = texts.get(name)?;
                    all.push_str(Some(text).filter(|text| {
                        !text.contains(|c: char| matches!(c, '{' | '}') || c.is_whitespace())
                    })?);
                }
                NamePiece::Number(number) => match &number.node {
                    Node::Axis(axis) if keys.contains_key(axis) => {
                        all.push_str(&number.written(keys[axis], sizes)?);
                    }
                    Node::Axis(_) | Node::Rest | Node::Product(_) | Node::Sum(_) => {
                        write!(all, "{{{number}}}").ok()?;
                    }
                },
            }
        }
        Some(all)
    }

    /// The names of its texts.
    pub(crate) fn texts(&self) -> BTreeSet<&str> {
        let mut names = BTreeSet::new();
        for piece in &self.pieces {
            if let NamePiece::Text { name, .. } = piece {
                names.insert(name.as_str());
            }
        }
        names
    }

    /// Its numbers from left to right.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = &Number> {
        self.pieces.iter().filter_map(|piece| match piece {
            NamePiece::Number(number) => Some(number),
            NamePiece::Literal(_) | NamePiece::Text { .. } => None,
        })
    }

    /// Reads the name of a tensor by this pattern; returns `None` if it is another name. Offsets that no size gives
    /// count as 0; a number below its offset is another name.
    ///
    /// The error is that the name can be read in two ways.
    pub(crate) fn read(&self, name: &str, sizes: &Sizes) -> Result<Option<NameValues>, ()> {
        let ends = |piece: Option<&NamePiece>, holds: &dyn Fn(&str) -> bool| match piece {
            Some(NamePiece::Literal(text)) => holds(text),
            Some(NamePiece::Text { .. } | NamePiece::Number(_)) | None => true,
        };
        let begins = ends(self.pieces.first(), &|text| name.starts_with(text));
        if !begins || !ends(self.pieces.last(), &|text| name.ends_with(text)) {
            return Ok(None);
        }
        let mut search =
            NameSearch { name, sizes, dead: BTreeSet::new(), cuts: Vec::new(), found: Vec::new() };
        search.from(&self.pieces, 0);
        match search.found.len() {
            0 => Ok(None),
            1 => Ok(search.found.pop()),
            _ => Err(()),
        }
    }

    /// The name with these texts and numbers; none where an offset is unknown or a number beyond 64 bits.
    pub(crate) fn write(
        &self,
        texts: &BTreeMap<String, String>,
        numbers: &[u64],
        sizes: &Sizes,
    ) -> Option<String> {
        let mut numbers = numbers.iter();
        let mut text = String::new();
        for piece in &self.pieces {
            match piece {
                NamePiece::Literal(literal) => text.push_str(literal),
                NamePiece::Text { name, .. } => text.push_str(texts.get(name)?),
                NamePiece::Number(number) => {
                    text.push_str(&number.written(*numbers.next()?, sizes)?);
                }
            }
        }
        Some(text)
    }
}

/// The text between its brackets.
impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.factor != 1 {
            write!(f, "{}", self.factor)?;
        }
        write!(f, "{}", self.node)?;
        match &self.offset {
            Offset::By(0) => {}
            Offset::By(by) => write!(f, "+{by}")?,
            Offset::Size(size) => write!(f, "+{size}")?,
        }
        if self.width > 0 { write!(f, ":0{}", self.width) } else { Ok(()) }
    }
}

fn factor(reader: &mut DimensionReader<'_>) -> Result<u64, Error> {
    if !matches!(reader.scanner.peek(), Some('0'..='9')) {
        return Ok(1);
    }
    let from = reader.scanner.at();
    let factor = reader.scanner.natural()?;
    let says = "a number in a name is at least 1 times its axis, as in `{2L}`";
    if factor > 0 { Ok(factor) } else { Err(expression((from, reader.scanner.at()), says)) }
}

fn offset(reader: &mut DimensionReader<'_>) -> Result<Offset, Error> {
    if !reader.scanner.eat("+") {
        return Ok(Offset::By(0));
    }
    match reader.scanner.peek() {
        Some('0'..='9') => Ok(Offset::By(reader.scanner.natural()?)),
        Some(_) | None => {
            Ok(Offset::Size(reader.scanner.word("a number, or a size by its name")?.0.to_owned()))
        }
    }
}

fn width(reader: &mut DimensionReader<'_>) -> Result<usize, Error> {
    if !reader.scanner.eat(":0") {
        return Ok(0);
    }
    let from = reader.scanner.at();
    let width = reader.scanner.natural()?;
    match width {
        1..=19 => Ok(width as usize),
        _ => Err(expression((from, reader.scanner.at()), "a width has 1 to 19 digits")),
    }
}

/// Ways to read a name: at most two, for two are too many.
struct NameSearch<'a> {
    name: &'a str,
    sizes: &'a Sizes,
    /// Pieces left and bytes read from where nothing is found.
    dead: BTreeSet<(usize, usize)>,
    /// The fields read so far.
    cuts: Vec<NameField<'a>>,
    found: Vec<NameValues>,
}

#[derive(Clone, Copy)]
enum NameField<'a> {
    Text(&'a str, &'a str),
    Number(u64),
}

impl<'a> NameSearch<'a> {
    /// Reads the rest of the name, from byte `at`, by the pieces; their number is bounded, and so is the depth.
    fn from(&mut self, pieces: &'a [NamePiece], at: usize) {
        let Some((piece, rest)) = pieces.split_first() else {
            if at == self.name.len() {
                self.keep();
            }
            return;
        };
        if self.found.len() > 1 || self.dead.contains(&(pieces.len(), at)) {
            return;
        }
        let before = self.found.len();
        let behind = self.name.get(at..).unwrap_or("");
        match piece {
            NamePiece::Literal(text) if behind.starts_with(text.as_str()) => {
                self.from(rest, at + text.len())
            }
            NamePiece::Literal(_) => {}
            NamePiece::Text { name, dots } => self.text((name, *dots), rest, (at, behind)),
            NamePiece::Number(number) => self.number(number, rest, (at, behind)),
        }
        if self.found.len() == before {
            self.dead.insert((pieces.len(), at));
        }
    }

    fn text(
        &mut self,
        (name, dots): (&'a str, bool),
        rest: &'a [NamePiece],
        (at, behind): (usize, &'a str),
    ) {
        let longest = if dots { behind.len() } else { behind.find('.').unwrap_or(behind.len()) };
        let ends = behind.char_indices().map(|(end, c)| end + c.len_utf8());
        // A text that the name ends with has one end.
        let only = rest.is_empty().then_some(longest);
        for end in ends.filter(|end| *end <= longest && only.is_none_or(|only| only == *end)) {
            self.with(NameField::Text(name, &behind[..end]), rest, at + end);
        }
    }

    fn number(&mut self, number: &Number, rest: &'a [NamePiece], (at, behind): (usize, &'a str)) {
        let figures = behind.bytes().take_while(u8::is_ascii_digit).count().min(20);
        for end in 1..=figures {
            let text = &behind[..end];
            let padded =
                text.len() == number.width || (text.len() > number.width && !text.starts_with('0'));
            let plain = text == "0" || !text.starts_with('0');
            let value =
                text.parse::<u64>().ok().filter(|_| if number.width > 0 { padded } else { plain });
            if let Some(digits) = value.and_then(|value| number.digits(value, self.sizes)) {
                self.with(NameField::Number(digits), rest, at + end);
            }
        }
    }

    fn with(&mut self, field: NameField<'a>, rest: &'a [NamePiece], at: usize) {
        self.cuts.push(field);
        self.from(rest, at);
        self.cuts.pop();
    }

    fn keep(&mut self) {
        let mut read = NameValues { texts: BTreeMap::new(), numbers: Vec::new() };
        for field in &self.cuts {
            match field {
                NameField::Number(value) => read.numbers.push(*value),
                NameField::Text(name, text) => {
                    read.texts.insert((*name).to_owned(), (*text).to_owned());
                }
            }
        }
        self.found.push(read);
    }
}

/// A change of names.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Rename {
    pub(crate) place: TextPlace,
    pub(crate) from: Reference,
    pub(crate) to: Reference,
    /// True if it may match no name.
    pub(crate) optional: bool,
    /// True if it applies to the result, after the rules.
    pub(crate) after: bool,
}

/// The fields of a name: texts and numbers.
type NameFields = (BTreeMap<String, String>, BTreeMap<Axis, u64>);

impl Rename {
    /// Returns the rename that undoes this one.
    pub(crate) fn inverse(&self) -> Rename {
        Rename { from: self.to.clone(), to: self.from.clone(), after: !self.after, ..self.clone() }
    }

    /// Returns what is wrong with it: fields that one side lacks, or that are not texts and single numbers.
    pub(crate) fn fault(&self) -> Option<Error> {
        let sides = [&self.from, &self.to];
        if let Some(side) = sides.into_iter().find(|side| !side.axes_text().is_empty()) {
            let says = "a rename has names and no axes; `[[map]]` moves elements";
            return Some(side.error(kind::NAME, says));
        }
        let single = |side: &Reference| {
            side.numbers().all(|number| {
                matches!((&number.node, &number.offset), (Node::Axis(_), Offset::By(_)))
            })
        };
        if let Some(side) = sides.into_iter().find(|side| !single(side)) {
            let says = "a number in a rename is a single axis, such as `{L}`, `{L+1}` or `{2L+1}`";
            return Some(side.error(kind::NAME, says));
        }
        let fields = |side: &Reference| -> BTreeSet<String> {
            let axes = side.axes().map(ToString::to_string);
            axes.chain(side.name.texts().into_iter().map(|text| format!("{text}:"))).collect()
        };
        let (from, to) = (fields(&self.from), fields(&self.to));
        let field = from.symmetric_difference(&to).next()?;
        let field =
            field.strip_suffix(':').map_or_else(|| field.clone(), |text| format!("{text}:…"));
        Some(self.to.error(kind::NAME, format!("the field `{{{field}}}` is in one name only")))
    }

    /// Returns the new name; none if the pattern does not match.
    fn apply(&self, name: &str) -> Result<Option<String>, Error> {
        let none = Sizes::new();
        let Ok(read) = self.from.name.read(name, &none) else {
            let says = format!("{name:?} can be read in two ways by `{}`", self.from.text);
            return Err(self.from.error(kind::NAME, says));
        };
        let Some((texts, axes)) =
            read.and_then(|read| fields(&self.from, read.texts, &read.numbers))
        else {
            return Ok(None);
        };
        let numbers: Vec<u64> = self.to.axes().filter_map(|axis| axes.get(axis)).copied().collect();
        let beyond = || {
            let says = format!("{name:?} would get a number of more than 64 bits");
            self.to.error(kind::NAME, says)
        };
        let new = self.to.name.write(&texts, &numbers, &none).ok_or_else(beyond)?;
        if new.len() > LONGEST_NAME {
            let says = format!("a rename makes a name of more than {LONGEST_NAME} bytes");
            return Err(self.to.error(kind::LIMIT, says));
        }
        Ok(Some(new))
    }
}

/// The fields; none if one axis would have two values.
fn fields(
    reference: &Reference,
    texts: BTreeMap<String, String>,
    numbers: &[u64],
) -> Option<NameFields> {
    let mut axes = BTreeMap::new();
    for (axis, value) in reference.axes().zip(numbers) {
        if *axes.entry(axis.clone()).or_insert(*value) != *value {
            return None;
        }
    }
    Some((texts, axes))
}

/// Returns the names after the renames of one stage, in their order.
///
/// Faults: renames that match nothing, two tensors with one name, and names that the inverse would not restore.
pub(crate) fn rename_all<'a>(
    renames: &[Rename],
    after: bool,
    names: impl Iterator<Item = &'a str> + Clone,
    faults: &mut Faults,
) -> Vec<String> {
    let chain: Vec<&Rename> = renames.iter().filter(|rename| rename.after == after).collect();
    let mut used = vec![false; chain.len()];
    let mut one = |name: &str| faults.take(chained(&chain, name, &mut used));
    let all: Vec<String> =
        names.clone().map(|name| one(name).unwrap_or_else(|| name.to_owned())).collect();
    let idle = chain.iter().zip(used).filter(|(rename, used)| !used && !rename.optional);
    idle.for_each(|(rename, _)| {
        let says = format!(
            "no name matches `{}`; if it may match nothing, add `optional = true`",
            rename.from.text
        );
        faults.push(rename.from.error(kind::UNMATCHED, says));
    });
    if !chain.is_empty() {
        let mut seen: BTreeMap<&str, &str> = BTreeMap::new();
        for (name, new) in names.zip(&all) {
            match seen.insert(new, name) {
                Some(other) => faults.push(Error::new(
                    kind::TWICE,
                    format!("{other:?} and {name:?} would both be called {new:?} by the renames"),
                )),
                None => not_restored(&chain, name, new).into_iter().for_each(|it| faults.push(it)),
            }
        }
    }
    all
}

/// The error that the inverse would not restore a name.
fn not_restored(chain: &[&Rename], name: &str, new: &str) -> Option<Error> {
    let back: Vec<Rename> = chain.iter().rev().map(|rename| rename.inverse()).collect();
    let back: Vec<&Rename> = back.iter().collect();
    let old = match chained(&back, new, &mut vec![false; back.len()]) {
        Ok(old) if old == name => return None,
        Ok(old) => old,
        Err(error) => return Some(error),
    };
    let says = format!(
        "{name:?} is called {new:?} by the renames, and the inverse would call it {old:?}; write a rename that matches fewer names"
    );
    Some(Error::new(kind::NAME, says))
}

/// A name after all renames of a chain.
fn chained(chain: &[&Rename], name: &str, used: &mut [bool]) -> Result<String, Error> {
    let mut name = name.to_owned();
    for (rename, used) in chain.iter().zip(used) {
        if let Some(new) = rename.apply(&name)? {
            (name, *used) = (new, true);
        }
    }
    Ok(name)
}
