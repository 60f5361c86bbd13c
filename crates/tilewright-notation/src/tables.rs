//! Index tables in the text of a SPEC, between the array and the layout of what is stored.
//!
//! ```text
//! tabled := [array] table {table} spec
//! table  := 'table(' dim {',' dim} ';' list ')'
//! dim    := int ['/' int] ['%' int]              a dim, its blocks of this length, those of each group of so many blocks
//! list   := entry {',' entry} | '..' | 'parts' int {',' int} | '@' path | 'tensor' name
//! entry  := int | int '..' int | '-'             an index, indices from one to below another, a hole
//! ```
//!
//! Place i of what is stored holds index `list[i]` of the array. `..` lists all indices in order, which makes one dim
//! of several. `parts 3,1,1` takes group after group of 3, 1 and 1 indices from an array of three parts: the rows of
//! fused queries, keys and values of grouped heads. A path or a name with `)` in it is quoted. The meaning of a path or
//! a name is up to the [`Lists`] of the caller that resolves the SPEC.
//!
//! Law: the canonical text is read as the same tables.

use std::{
    fmt,
    sync::{Arc, OnceLock},
};

use tilewright_core::MAX_MODES;
use tilewright_table::{Block, MAX_ENTRIES, TABLES, Table};

use crate::{
    Error,
    literal::{Scanner, comma, outside},
};

/// The array before a table is not longer, in bytes.
const MAX_HEAD: usize = 4 << 10;

/// The word that begins a table.
const WORD: &str = "table";

/// A table as it is written.
#[derive(Debug)]
pub(crate) struct WrittenTable {
    /// The dims with their blocks.
    pub(crate) dims: Vec<Block>,
    pub(crate) list: EntrySource,
    /// Its place in the text.
    pub(crate) span: (usize, usize),
    /// The table of an inline list and the number of indices that it was made for.
    known: OnceLock<(u64, Arc<Table>)>,
}

/// The source of the entries of a table.
#[derive(Debug)]
pub(crate) enum EntrySource {
    Entries(Vec<ListEntry>),
    /// The lengths of the groups of each part.
    Parts(Vec<u64>),
    File(String),
    Tensor(String),
}

/// An entry of a list: the indices from one to below another, or a hole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ListEntry {
    Indices(u64, u64),
    Hole,
}

/// A text with tables, taken apart.
pub(crate) struct Parts<'a> {
    pub(crate) array: &'a str,
    pub(crate) tables: Vec<WrittenTable>,
    /// The layout of what is stored, and where it begins.
    pub(crate) rest: (&'a str, usize),
}

/// Takes a text apart, if it contains a table outside brackets and quotes.
pub(crate) fn split(text: &str) -> Option<Result<Parts<'_>, Error>> {
    if !TABLES {
        return None;
    }
    let from = begin(text)?;
    let read = || {
        let mut scan = Scanner::within(text, (from, text.len()));
        let mut tables = Vec::new();
        while scan.peek().is_some() && is_table(scan.rest()) {
            if tables.len() == MAX_MODES {
                return Err(scan.expected("a layout after 32 index tables"));
            }
            tables.push(WrittenTable::read(&mut scan)?);
        }
        scan.skip();
        let at = scan.at();
        let rest = text.get(at..).unwrap_or_default().trim_end();
        if rest.is_empty() {
            let said = "the layout after the index table is missing; write it, as in `table(0; 1,0) row-major`";
            return Err(Error::parse((from, text.len()), said));
        }
        Ok(Parts { array: text.get(..from).unwrap_or_default().trim(), tables, rest: (rest, at) })
    };
    Some(read())
}

/// Adds the entries of a table to those of the tables before it. All tables of a text have at most [`MAX_ENTRIES`] together:
/// each is listed, and a text of a few bytes can ask for many.
pub(crate) fn add_entries(all: &mut u64, count: u64) -> Result<(), Error> {
    *all = all.saturating_add(count);
    if *all <= MAX_ENTRIES {
        return Ok(());
    }
    let said = format!("the index tables of a text have at most {MAX_ENTRIES} entries");
    Err(Error::limit(format!("{said}; with this one they have {all}")))
}

/// An error with the text it is about, where that is short enough to be read.
pub(crate) fn shown(error: Error, text: &str) -> Error {
    if text.len() <= MAX_HEAD { error.in_text(text) } else { error }
}

/// Returns whether the first part of a text contains a table, where the array ends.
pub(crate) fn begins(text: &str) -> bool {
    let end = (0..=MAX_HEAD.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
    begin(text.get(..end.unwrap_or(0)).unwrap_or_default()).is_some()
}

/// Returns the byte offset of the first table of a text.
fn begin(text: &str) -> Option<usize> {
    let is_first = |&(at, before, c): &(usize, Option<char>, char)| {
        c == 't' && !before.is_some_and(is_name) && is_table(text.get(at..).unwrap_or_default())
    };
    outside(text).find(is_first).map(|(at, ..)| at)
}

fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || "_.:-".contains(c)
}

fn is_table(text: &str) -> bool {
    text.strip_prefix(WORD).is_some_and(|rest| rest.trim_start().starts_with('('))
}

impl WrittenTable {
    fn read(scan: &mut Scanner<'_>) -> Result<WrittenTable, Error> {
        scan.skip();
        let from = scan.at();
        scan.expect(WORD)?;
        scan.expect("(")?;
        let mut dims = vec![dim(scan)?];
        while scan.eat(",") {
            if dims.len() == MAX_MODES {
                return Err(scan.expected("`;` after 32 dims"));
            }
            dims.push(dim(scan)?);
        }
        if !scan.eat(";") {
            return Err(scan.expected("`,` and another dim, or `;` and the list"));
        }
        let list = EntrySource::read(scan)?;
        scan.expect(")")?;
        Ok(WrittenTable { dims, list, span: (from, scan.at()), known: OnceLock::new() })
    }

    /// The table of this number of indices.
    pub(crate) fn table(&self, count: u64, lists: &dyn Lists) -> Result<Arc<Table>, Error> {
        if let Some((_, known)) = self.known.get().filter(|(of, _)| *of == count) {
            return Ok(Arc::clone(known));
        }
        let table = match &self.list {
            EntrySource::Entries(entries) => {
                Table::new(count, entries.iter().flat_map(ListEntry::all))?
            }
            EntrySource::Parts(lengths) => of_parts(count, lengths, &self.dims)?,
            EntrySource::File(path) => {
                let numbers = lists.file(path)?;
                of_numbers(count, &numbers)
                    .map_err(|error| error.about(&listed(&format!("{path:?}"), &numbers, count)))?
            }
            EntrySource::Tensor(name) => {
                let numbers = lists.tensor(name)?;
                let what = format!("tensor {name:?}");
                of_groups(count, &numbers)
                    .map_err(|error| error.about(&listed(&what, &numbers, count)))?
            }
        };
        let table = Arc::new(table);
        if self.is_inline() {
            // Another thread may have been first, with the same.
            let _ = self.known.set((count, Arc::clone(&table)));
        }
        Ok(table)
    }
}

fn dim(scan: &mut Scanner<'_>) -> Result<Block, Error> {
    let dim = usize::try_from(scan.integer()?).unwrap_or(usize::MAX);
    let by = if scan.eat("/") { scan.integer()? } else { 1 };
    Ok(if scan.eat("%") { (dim, by, scan.integer()?).into() } else { (dim, by).into() })
}

impl WrittenTable {
    /// Returns whether the text has the whole list.
    pub(crate) fn is_inline(&self) -> bool {
        matches!(self.list, EntrySource::Entries(_) | EntrySource::Parts(_))
    }

    /// The entries of an inline list, of an array of `all` elements where the text does not bound them.
    pub(crate) fn entries(&self, all: u64) -> u64 {
        match &self.list {
            EntrySource::Entries(entries) => {
                entries.iter().map(ListEntry::len).fold(0, u64::saturating_add)
            }
            EntrySource::Parts(_) => all,
            EntrySource::File(_) | EntrySource::Tensor(_) => 0,
        }
    }
}

impl EntrySource {
    fn read(scan: &mut Scanner<'_>) -> Result<EntrySource, Error> {
        if scan.eat("@") {
            return name(scan, "the path of a list of numbers").map(EntrySource::File);
        }
        if scan.eat_word("tensor") {
            return name(scan, "the name of a tensor").map(EntrySource::Tensor);
        }
        if scan.eat("..") {
            return Ok(EntrySource::Parts(vec![1]));
        }
        if scan.eat_word("parts") {
            return lengths(scan).map(EntrySource::Parts);
        }
        let (mut entries, mut count) = (Vec::new(), 0u64);
        loop {
            let (entry, span) = entry(scan)?;
            count = count.saturating_add(entry.len());
            if count > MAX_ENTRIES {
                let said = format!("an index table has at most {MAX_ENTRIES} entries");
                return Err(Error::limit(said).at(span));
            }
            entries.push(entry);
            if !scan.eat(",") {
                return Ok(EntrySource::Entries(entries));
            }
        }
    }
}

/// The lengths of the groups of parts.
fn lengths(scan: &mut Scanner<'_>) -> Result<Vec<u64>, Error> {
    let mut lengths = Vec::new();
    loop {
        scan.skip();
        let from = scan.at();
        let length = scan.integer()?;
        if length == 0 || length > MAX_ENTRIES || lengths.len() == MAX_MODES {
            let said = format!("a table has at most 32 parts, with groups of 1 to {MAX_ENTRIES}");
            return Err(Error::parse((from, scan.at()), said));
        }
        lengths.push(length);
        if !scan.eat(",") {
            return Ok(lengths);
        }
    }
}

/// A name in quotes, or up to the bracket.
fn name(scan: &mut Scanner<'_>, what: &str) -> Result<String, Error> {
    let found = match scan.peek() {
        Some('"' | '\'') => scan.quoted()?.0,
        _ => scan.take(|c| c != ')').trim_end(),
    };
    if found.is_empty() { Err(scan.expected(what)) } else { Ok(found.to_owned()) }
}

fn entry(scan: &mut Scanner<'_>) -> Result<(ListEntry, (usize, usize)), Error> {
    scan.skip();
    let from = scan.at();
    if scan.eat("-") {
        return Ok((ListEntry::Hole, (from, scan.at())));
    }
    let first = match scan.peek() {
        Some(c) if c.is_ascii_digit() => scan.integer()?,
        _ => {
            let said = "an index, a range such as `0..8`, `-` for a hole, or `..` for all in order";
            return Err(scan.expected(said));
        }
    };
    let end = if scan.eat("..") { scan.integer()? } else { first.saturating_add(1) };
    let span = (from, scan.at());
    if end <= first {
        let said = format!(
            "the range {first}..{end} is empty; a range excludes its end, so the end must be larger than the start"
        );
        return Err(Error::parse(span, said));
    }
    Ok((ListEntry::Indices(first, end), span))
}

impl ListEntry {
    fn len(&self) -> u64 {
        match self {
            ListEntry::Indices(from, to) => to - from,
            ListEntry::Hole => 1,
        }
    }

    fn all(&self) -> impl Iterator<Item = Option<u64>> + use<> {
        let (indices, hole) = match *self {
            ListEntry::Indices(from, to) => (from..to, None),
            ListEntry::Hole => (0..0, Some(None)),
        };
        indices.map(Some).chain(hole)
    }
}

/// The table of `count` indices in parts, which takes a group of each part in turn.
fn of_parts(count: u64, lengths: &[u64], dims: &[Block]) -> Result<Table, Error> {
    let whole: u64 = lengths.iter().sum();
    if !count.is_multiple_of(whole) {
        let parts = comma(lengths);
        let said = match dims {
            [Block { dim, by, of: None, .. }] if *by > 1 => {
                let rows = whole.saturating_mul(*by);
                let own = count.saturating_mul(*by);
                format!(
                    "parts {parts} in blocks of {by} need a multiple of {rows} indices, and dim {dim} has {own}"
                )
            }
            _ => format!("parts {parts} need a multiple of {whole} indices, and there are {count}"),
        };
        return Err(Error::mismatch(said));
    }
    let groups = count / whole;
    let begins = lengths.iter().scan(0, |begin, length| {
        *begin += length * groups;
        Some((*begin - length * groups, *length))
    });
    let group = |group: u64| {
        begins.clone().flat_map(move |(begin, length)| {
            (0..length).map(move |at| Some(begin + group * length + at))
        })
    };
    Ok(Table::new(count, (0..groups).flat_map(group))?)
}

/// A list of numbers as a table; those below 0 are holes.
fn of_numbers(count: u64, numbers: &[i64]) -> Result<Table, Error> {
    Ok(Table::new(count, numbers.iter().map(|number| u64::try_from(*number).ok()))?)
}

/// The numbers of a tensor as a table: a list, or for each index its group, as in the `g_idx` of GPTQ. A list never has an
/// index twice; groups have two indices and more each, all of them equally many but for the last.
fn of_groups(count: u64, numbers: &[i64]) -> Result<Table, Error> {
    let is_each = numbers.len() as u64 == count;
    let groups: Option<Vec<u64>> =
        numbers.iter().map(|number| u64::try_from(*number).ok()).collect();
    match groups.filter(|groups| is_each && are_groups(groups)) {
        Some(groups) => Ok(Table::sorting(&groups)?),
        None => of_numbers(count, numbers),
    }
}

/// A list, for messages.
fn listed(what: &str, numbers: &[i64], count: u64) -> String {
    format!("{what} lists {} numbers for {count} indices", numbers.len())
}

fn are_groups(groups: &[u64]) -> bool {
    let most = groups.iter().max().copied().unwrap_or(0);
    if most >= groups.len() as u64 {
        return false;
    }
    let mut counts = vec![0u64; most as usize + 1];
    for group in groups {
        if let Some(count) = counts.get_mut(*group as usize) {
            *count += 1;
        }
    }
    let first = counts.first().copied().unwrap_or(0);
    let Some((last, others)) = counts.split_last() else { return false };
    first > 1 && others.iter().all(|count| *count == first) && (1..=first).contains(last)
}

impl fmt::Display for WrittenTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{WORD}(")?;
        for (at, block) in self.dims.iter().enumerate() {
            let comma = if at > 0 { "," } else { "" };
            write!(f, "{comma}{block}")?;
        }
        f.write_str("; ")?;
        let quoted = |name: &str| {
            let plain =
                !name.contains(')') && !name.starts_with(['"', '\'']) && name == name.trim();
            match (plain, name.contains('"')) {
                (true, _) => name.to_owned(),
                (false, false) => format!("\"{name}\""),
                (false, true) => format!("'{name}'"),
            }
        };
        match &self.list {
            EntrySource::Entries(entries) => {
                for (at, entry) in entries.iter().enumerate() {
                    let comma = if at > 0 { "," } else { "" };
                    match entry {
                        ListEntry::Hole => write!(f, "{comma}-")?,
                        ListEntry::Indices(from, to) if to - from == 1 => {
                            write!(f, "{comma}{from}")?
                        }
                        ListEntry::Indices(from, to) => write!(f, "{comma}{from}..{to}")?,
                    }
                }
            }
            EntrySource::Parts(lengths) if lengths[..] == [1] => f.write_str("..")?,
            EntrySource::Parts(lengths) => write!(f, "parts {}", comma(lengths))?,
            EntrySource::File(path) => write!(f, "@{}", quoted(path))?,
            EntrySource::Tensor(name) => write!(f, "tensor {}", quoted(name))?,
        }
        f.write_str(")")
    }
}

/// A source of the lists that a SPEC names.
///
/// Numbers below 0 are holes. `()` is a source without lists: each is an error that says so.
///
/// ```
/// use tilewright_notation::{Error, Lists, Spec};
/// struct Own;
/// impl Lists for Own {
///     fn file(&self, path: &str) -> Result<Vec<i64>, Error> {
///         Err(Error::unsupported(format!("{path}: no files here")))
///     }
///     fn tensor(&self, _: &str) -> Result<Vec<i64>, Error> {
///         Ok(vec![2, -1, 0, 1])
///     }
/// }
/// let spec = Spec::parse("f16[3,8] table(0; tensor order) row-major").unwrap();
/// let tabled = spec.array_layout(None, None, &Own).unwrap();
/// assert_eq!(tabled.to_spec(), "f16[3,8] table(0; 2,-,0,1) row-major");
/// assert!(spec.array_layout(None, None, &()).unwrap_err().is_unsupported());
/// ```
pub trait Lists {
    /// The numbers of a file.
    ///
    /// # Errors
    /// Why there are none.
    fn file(&self, path: &str) -> Result<Vec<i64>, Error>;
    /// The numbers of a tensor of the same file.
    ///
    /// # Errors
    /// Why there are none.
    fn tensor(&self, name: &str) -> Result<Vec<i64>, Error>;
}

impl Lists for () {
    fn file(&self, path: &str) -> Result<Vec<i64>, Error> {
        let said = format!(
            "the index table of the file {path:?} is not read here; write its entries, as `table(0; 2,0,1)`"
        );
        Err(Error::unsupported(said))
    }

    fn tensor(&self, name: &str) -> Result<Vec<i64>, Error> {
        let said = format!(
            "the index table of tensor {name:?} is known only where a file of tensors is read; write its entries, as `table(0; 2,0,1)`"
        );
        Err(Error::unsupported(said))
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_ENTRIES, add_entries};

    #[test]
    fn the_entries_of_all_tables_are_bounded() {
        let mut all = 0;
        assert!(add_entries(&mut all, MAX_ENTRIES / 2).is_ok());
        assert!(add_entries(&mut all, MAX_ENTRIES / 2).is_ok());
        let said = "at most 16777216 entries; with this one they have 16777217";
        assert!(add_entries(&mut all, 1).unwrap_err().to_string().contains(said));
        assert!(add_entries(&mut all, u64::MAX).is_err());
    }
}
