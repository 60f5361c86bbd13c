//! Values of a TOML file with their places: what keys may hold, and what is refused.

use std::{borrow::Cow, collections::BTreeMap};

use tilewright_scan::did_you_mean;
use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

use crate::{
    config,
    error::{Error, Faults, InFile, TextPlace},
    kind,
};

/// The longest file, in bytes.
const LONGEST: usize = 4 << 20;

/// Words of operations that change values.
const ARITHMETIC: [&str; 24] = [
    "op",
    "ops",
    "operation",
    "add",
    "sub",
    "subtract",
    "mul",
    "multiply",
    "scale",
    "div",
    "cast",
    "convert",
    "quantize",
    "quantise",
    "dequantize",
    "dequantise",
    "exp",
    "log",
    "neg",
    "mean",
    "sum",
    "merge",
    "round",
    "function",
];

/// A value with its place.
pub(crate) type TomlValue<'a> = Spanned<DeValue<'a>>;

/// A file that is read, and what is wrong with it so far.
#[derive(Debug)]
pub(crate) struct File<'a> {
    text: &'a str,
    /// The byte offset at which each line begins.
    lines: Vec<usize>,
    pub(crate) faults: Faults,
}

/// A table whose keys are known.
#[derive(Debug)]
pub(crate) struct TomlTable<'a, 't> {
    entries: BTreeMap<&'t str, (&'t TomlValue<'a>, TextPlace)>,
    pub(crate) place: TextPlace,
}

impl<'a> File<'a> {
    /// The outermost table.
    pub(crate) fn open(text: &'a str) -> Result<(File<'a>, Spanned<DeTable<'a>>), Error> {
        if text.len() > LONGEST {
            return Err(Error::new(kind::LIMIT, format!("a recipe has more than {LONGEST} bytes")));
        }
        let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let lines = std::iter::once(0).chain(ends.map(|(at, _)| at + 1)).collect();
        let file = File { text, lines, faults: Faults::default() };
        match DeTable::parse(text) {
            Ok(table) => Ok((file, table)),
            Err(error) => {
                let span = error.span().map_or((0, 0), |span| (span.start, span.end));
                let line = file.line(span.0);
                let start = text[..span.0.min(text.len())].rfind('\n').map_or(0, |at| at + 1);
                let row = text[start..].lines().next().unwrap_or("");
                let place = TextPlace { line, span: (start, start + row.len()), plain: true };
                let within = (
                    span.0 - start,
                    span.1.saturating_sub(start).min(row.len()).max(span.0 - start),
                );
                Err(Error::new(kind::TOML, error.message()).at(within).within(row, &place))
            }
        }
    }

    /// The line of a byte, from 1.
    fn line(&self, at: usize) -> usize {
        self.lines.partition_point(|start| *start <= at).max(1)
    }

    /// Returns the place of a value.
    fn place(&self, span: std::ops::Range<usize>) -> TextPlace {
        TextPlace { line: self.line(span.start), span: (span.start, span.end), plain: false }
    }

    /// The entries of a table; keys that are not among `known` are refused.
    pub(crate) fn table<'v, 't>(
        &mut self,
        table: &'t DeTable<'v>,
        place: TextPlace,
        known: &[&'static str],
    ) -> TomlTable<'v, 't> {
        let mut entries = BTreeMap::new();
        for (key, value) in table {
            let (name, place) = (key.get_ref().as_ref(), self.place(key.span()));
            match known.contains(&name) {
                true => _ = entries.insert(name, (value, place)),
                false => self.faults.push(unknown(name, known).on(&place)),
            }
        }
        TomlTable { entries, place }
    }

    /// Adds the fault of a value that is not a `what`.
    fn refuse(&mut self, key: &str, value: &TomlValue<'_>, what: &str) {
        let says = format!("`{key}` is {what}, and not {}", article(value.get_ref().type_str()));
        let place = self.place(value.span());
        self.faults.push(Error::new(kind::KEY, says).on(&place));
    }

    /// A text with its place.
    pub(crate) fn text(
        &mut self,
        key: &str,
        value: &TomlValue<'_>,
        what: &str,
    ) -> Option<(String, TextPlace)> {
        let Some(text) = value.get_ref().as_str() else {
            self.refuse(key, value, what);
            return None;
        };
        let mut place = self.place(value.span());
        let (from, to) = place.span;
        let inside = self.text.get(from + 1..to.saturating_sub(1));
        if inside == Some(text) {
            place = TextPlace { span: (from + 1, to - 1), plain: true, ..place };
        }
        Some((text.to_owned(), place))
    }

    /// A text, or a list of texts.
    pub(crate) fn texts(&mut self, key: &str, value: &TomlValue<'_>) -> Vec<(String, TextPlace)> {
        let what = "a text, or a list of texts";
        match value.get_ref().as_array() {
            Some(list) => list.iter().filter_map(|one| self.text(key, one, what)).collect(),
            None => self.text(key, value, what).into_iter().collect(),
        }
    }

    /// Texts, integers and truth values, in a list or one alone.
    pub(crate) fn scalars(&mut self, key: &str, value: &TomlValue<'_>) -> Vec<serde_json::Value> {
        let what = "a text, a whole number, true or false, or a list of these";
        let mut all = Vec::new();
        let listed = value.get_ref().as_array();
        let values: Vec<&TomlValue<'_>> = match listed {
            Some(list) => list.iter().collect(),
            None => vec![value],
        };
        for one in values {
            let integer =
                |it: &toml::de::DeInteger<'_>| i64::from_str_radix(it.as_str(), it.radix()).ok();
            let read = match one.get_ref() {
                DeValue::String(text) => Some(serde_json::Value::from(text.as_ref())),
                DeValue::Boolean(truth) => Some(serde_json::Value::from(*truth)),
                DeValue::Integer(number) => integer(number).map(serde_json::Value::from),
                DeValue::Float(_)
                | DeValue::Datetime(_)
                | DeValue::Array(_)
                | DeValue::Table(_) => None,
            };
            match read {
                Some(value) => all.push(value),
                None => self.refuse(key, one, what),
            }
        }
        all
    }

    /// Refuses a key that is a path into a configuration and has an empty part.
    pub(crate) fn path(&mut self, key: &str, value: &TomlValue<'_>) {
        let place = self.place(value.span());
        self.faults.take(config::check(key).map_err(|error| error.on(&place)));
    }

    /// A list of pairs of texts.
    pub(crate) fn pairs(&mut self, key: &str, value: &TomlValue<'_>) -> Vec<[String; 2]> {
        let what = "a list of pairs of names, as in [[\"a\", \"b\"]]";
        let Some(list) = value.get_ref().as_array() else {
            self.refuse(key, value, what);
            return Vec::new();
        };
        let mut pairs = Vec::new();
        for one in list.iter() {
            let texts: Vec<&str> = one
                .get_ref()
                .as_array()
                .into_iter()
                .flat_map(|pair| pair.iter())
                .filter_map(|text| text.get_ref().as_str())
                .collect();
            match (one.get_ref().as_array().map(|pair| pair.len()), &texts[..]) {
                (Some(2), [first, second]) => {
                    pairs.push([(*first).to_owned(), (*second).to_owned()])
                }
                _ => self.refuse(key, one, what),
            }
        }
        pairs
    }

    pub(crate) fn truth(&mut self, key: &str, value: &TomlValue<'_>) -> bool {
        value.get_ref().as_bool().unwrap_or_else(|| {
            self.refuse(key, value, "true or false");
            false
        })
    }

    /// An integer from 0 on, or a text.
    pub(crate) fn number_or_text(
        &mut self,
        key: &str,
        value: &TomlValue<'_>,
    ) -> Option<Result<u64, (String, TextPlace)>> {
        let what = "a number from 0 on, or an expression as a text";
        let Some(integer) = value.get_ref().as_integer() else {
            return self.text(key, value, what).map(Err);
        };
        let number = u64::from_str_radix(integer.as_str(), integer.radix())
            .ok()
            .filter(|number| *number <= i64::MAX as u64);
        match number {
            Some(number) => Some(Ok(number)),
            None => {
                let place = self.place(value.span());
                let says = format!("`{key}` is {what}, and not {}", integer.as_str());
                self.faults.push(Error::new(kind::KEY, says).on(&place));
                None
            }
        }
    }

    /// The entries of a table whose keys are free.
    pub(crate) fn free<'v, 't>(
        &mut self,
        key: &str,
        value: &'t TomlValue<'v>,
    ) -> Vec<(&'t str, &'t TomlValue<'v>)> {
        let Some(table) = value.get_ref().as_table() else {
            self.refuse(key, value, "a table");
            return Vec::new();
        };
        table.iter().map(|(key, value)| (key.get_ref().as_ref(), value)).collect()
    }

    /// The entries of a list.
    pub(crate) fn values<'v, 't>(
        &mut self,
        key: &str,
        value: &'t TomlValue<'v>,
    ) -> Vec<&'t TomlValue<'v>> {
        match value.get_ref().as_array() {
            Some(list) => list.iter().collect(),
            None => {
                self.refuse(key, value, "a list");
                Vec::new()
            }
        }
    }

    /// A table whose keys are known.
    pub(crate) fn inner<'v, 't>(
        &mut self,
        key: &str,
        value: &'t TomlValue<'v>,
        (what, known): (&str, &[&'static str]),
    ) -> Option<TomlTable<'v, 't>> {
        let Some(table) = value.get_ref().as_table() else {
            self.refuse(key, value, what);
            return None;
        };
        let place = self.place(value.span());
        Some(self.table(table, place, known))
    }

    /// The tables of a list, with their places.
    pub(crate) fn tables<'v, 't>(
        &mut self,
        key: &str,
        value: &'t TomlValue<'v>,
    ) -> Vec<(&'t DeTable<'v>, TextPlace)> {
        let what = format!("a list of tables, each below `[[{key}]]`");
        let Some(list) = value.get_ref().as_array() else {
            self.refuse(key, value, &what);
            return Vec::new();
        };
        let mut tables = Vec::new();
        for one in list.iter() {
            match one.get_ref().as_table() {
                Some(table) => tables.push((table, self.place(one.span()))),
                None => self.refuse(key, one, &what),
            }
        }
        tables
    }

    /// The two parts of a list of two.
    pub(crate) fn two<'v, 't>(
        &mut self,
        key: &str,
        value: &'t TomlValue<'v>,
        what: &str,
    ) -> Option<[&'t TomlValue<'v>; 2]> {
        let parts: Vec<&TomlValue<'v>> =
            value.get_ref().as_array().into_iter().flat_map(|list| list.iter()).collect();
        match parts[..] {
            [first, second] => Some([first, second]),
            _ => {
                self.refuse(key, value, what);
                None
            }
        }
    }
}

impl<'a, 't> TomlTable<'a, 't> {
    pub(crate) fn get(&self, key: &str) -> Option<&'t TomlValue<'a>> {
        self.entries.get(key).map(|(value, _)| *value)
    }
}

/// The refusal of a key.
fn unknown(name: &str, known: &[&'static str]) -> Error {
    if ARITHMETIC.contains(&name) {
        let says = format!("`{name}` is refused: recipes move elements and never compute");
        return Error::new(kind::ARITHMETIC, says);
    }
    let near = did_you_mean(name, known.iter().copied());
    let near = if near.is_empty() { format!("; there are {}", known.join(", ")) } else { near };
    Error::new(kind::KEY, format!("no key `{name}`{near}"))
}

fn article(kind: &str) -> Cow<'_, str> {
    match kind.starts_with(['a', 'i', 'o']) {
        true => format!("an {kind}").into(),
        false => format!("a {kind}").into(),
    }
}
