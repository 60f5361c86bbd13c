//! A user's own formats, from TOML: a table a format.
//!
//! ```toml
//! [[format]]
//! name = "mine"
//! aliases = ["MINE"]                                  # may be left out, as all that follows the pattern
//! pattern = "(m1 m0:8) (n1 n0:C0) -> n1 m1 m0 n0"
//! constants = { C0 = { 8 = 32, 16 = 16 } }            # by the bits of an element
//! source = "our kernel, pack.cu"
//! example = "f16[20,40] mine"
//! ```
//!
//! A constant that has no table is given where the format is used, `mine[C0=4]`. Bars in the pattern, `-> n1 | m1 m0
//! n0`, give the dims of the array of words that holds packed elements, `mine as s32`.

use std::{
    collections::{BTreeMap, HashSet},
    sync::{Mutex, PoisonError},
};

use serde::Deserialize;
use tilewright_core::Dtype;
use toml::Spanned;

use crate::{
    Error, Spec,
    catalogue::{self, Constant, Format, Units, catalogue},
    dialect,
};

/// The longest text of formats, in bytes.
const MOST_TEXT: usize = 1 << 20;
/// The most formats of users in one process.
const MOST_FORMATS: usize = 1000;

/// The lock of `add_formats`, held from the check of the names on.
static ADDING: Mutex<()> = Mutex::new(());

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FormatsFile {
    #[serde(default)]
    format: Vec<FormatRow>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FormatRow {
    name: Spanned<String>,
    #[serde(default)]
    aliases: Vec<Spanned<String>>,
    pattern: Spanned<String>,
    #[serde(default)]
    constants: BTreeMap<Spanned<String>, BTreeMap<String, u64>>,
    source: Option<String>,
    example: Option<Spanned<String>>,
}

/// Adds the formats of a TOML text to the catalogue of this process, and gives their names. If one is wrong,
/// none is added.
///
/// # Errors
/// [parse](Error::is_parse) with the line, for text that is no TOML, a name that is taken, a pattern or an example
/// that is none; [limit](Error::is_limit) beyond 1 MiB or 1000 formats.
///
/// ```
/// use tilewright_notation::{Spec, add_formats};
/// let names = add_formats("[[format]]\nname = 'panels'\npattern = '(m1 m0:8) n -> m1 n m0'").unwrap();
/// assert_eq!(names, ["panels"]);
/// let panels = Spec::parse("panels").unwrap().resolve(Some(&[16, 3]), None).unwrap();
/// assert_eq!(panels.layout().layout().to_string(), "((8,2),3):((1,24),8)");
///
/// let error = add_formats("[[format]]\nname = 'zN'\npattern = 'm n -> m n'").unwrap_err();
/// assert!(error.to_string().starts_with("line 2: `zN` is a layout already"));
/// ```
pub fn add_formats(text: &str) -> Result<Vec<&'static str>, Error> {
    if text.len() > MOST_TEXT {
        let message = format!("{} bytes of formats; at most {MOST_TEXT} are read", text.len());
        return Err(Error::limit(message));
    }
    let file: FormatsFile = toml::from_str(text).map_err(|error| {
        let span = error.span().unwrap_or(0..0);
        wrong(text, (span.start, span.end), error.message())
    })?;
    let _adding = ADDING.lock().unwrap_or_else(PoisonError::into_inner);
    let (before, more) = (catalogue::formats().len(), file.format.len());
    if before + more > MOST_FORMATS {
        let message = format!("{more} formats beside {before}; at most {MOST_FORMATS} are kept");
        return Err(Error::limit(message));
    }
    let known = catalogue().flat_map(|format| format.aliases.iter().chain([&format.name]));
    let known = known.copied().chain(catalogue::with_tables::names());
    let mut taken: HashSet<String> = known.map(str::to_owned).collect();
    let mut added: Vec<Format> = Vec::new();
    let mut examples = Vec::new();
    for row in file.format {
        examples.push(span(row.example.as_ref().unwrap_or(&row.name)));
        added.push(row.format(text, &mut taken)?);
    }
    let added: Vec<&'static Format> =
        added.into_iter().map(|format| &*Box::leak(Box::new(format))).collect();
    catalogue::keep(&added);
    let wrong_example = added.iter().zip(examples).find_map(|(format, at)| {
        let why = example_of(format).err()?;
        Some(wrong(text, at, format!("the example `{}`: {why}", format.example)))
    });
    match wrong_example {
        None => Ok(added.iter().map(|format| format.name).collect()),
        Some(error) => {
            catalogue::leave(before);
            Err(error)
        }
    }
}

/// Checks that the example of a format is a layout in it.
fn example_of(format: &Format) -> Result<(), String> {
    let named = Spec::parse(format.example).and_then(|spec| spec.resolve(None, None));
    let named = named.map_err(|error| error.message().to_owned())?;
    match named.name().contains(format.name) {
        true => Ok(()),
        false => Err(format!("it is not a layout in {}", format.name)),
    }
}

/// Makes an error whose message begins with the line.
fn wrong(text: &str, span: (usize, usize), message: impl std::fmt::Display) -> Error {
    let line = text.get(..span.0).unwrap_or(text).matches('\n').count() + 1;
    Error::parse(span, format!("line {line}: {message}")).in_line(text)
}

fn span<T>(value: &Spanned<T>) -> (usize, usize) {
    (value.span().start, value.span().end)
}

fn keep(text: String) -> &'static str {
    Box::leak(text.into_boxed_str())
}

impl FormatRow {
    /// The format, whose names are then taken.
    fn format(self, text: &str, taken: &mut HashSet<String>) -> Result<Format, Error> {
        for name in std::iter::once(&self.name).chain(&self.aliases) {
            check_name(name.as_ref(), taken).map_err(|said| wrong(text, span(name), said))?;
            taken.insert(name.as_ref().clone());
        }
        let at = span(&self.pattern);
        let (dims, needed) = dialect::parts_of(self.pattern.as_ref())
            .map_err(|error| wrong(text, at, format!("pattern: {}", error.message())))?;
        let mut constants = Vec::new();
        for (name, units) in &self.constants {
            if !needed.contains(name.as_ref()) {
                let said = format!("the pattern lacks the constant {}", name.as_ref());
                return Err(wrong(text, span(name), said));
            }
            let units = by_bits(units).map_err(|said| wrong(text, span(name), said))?;
            constants.push((name.as_ref().clone(), units));
        }
        let named = |name: &String| constants.iter().any(|(other, _)| other == name);
        let given: Vec<String> = needed.into_iter().filter(|name| !named(name)).collect();
        let example = example(self.name.as_ref(), &dims, &constants, &given);
        let all = constants.into_iter().chain(given.into_iter().map(|name| (name, Vec::new())));
        let kept = |(name, units): (String, Vec<Units>)| {
            &*Box::leak(Box::new(Constant { name: keep(name), units: units.leak(), presets: &[] }))
        };
        let constants: Vec<&'static Constant> = all.map(kept).collect();
        let aliases: Vec<&'static str> =
            self.aliases.into_iter().map(|alias| keep(alias.into_inner())).collect();
        Ok(Format {
            name: keep(self.name.into_inner()),
            aliases: aliases.leak(),
            pattern: keep(self.pattern.into_inner()),
            widths: &[],
            constants: constants.leak(),
            source: keep(self.source.unwrap_or_else(|| "your own".to_owned())),
            example: keep(self.example.map_or(example, Spanned::into_inner)),
            leading: false,
            dims: &[],
            quantised: None,
            flat: false,
            threads: None,
        })
    }
}

/// A name that no notation reads yet.
fn check_name(name: &str, taken: &HashSet<String>) -> Result<(), String> {
    let legal = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
    if !name.starts_with(|c: char| c.is_ascii_alphabetic()) || !name.chars().all(legal) {
        return Err(format!(
            "`{name}` is not a name: a letter, then letters, digits, `_`, `-` and `.`"
        ));
    }
    if taken.contains(name) || dialect::is_read(name, dialect::notations()) {
        return Err(format!("`{name}` is a layout already"));
    }
    Ok(())
}

fn by_bits(units: &BTreeMap<String, u64>) -> Result<Vec<Units>, String> {
    units
        .iter()
        .map(|(bits, units)| match bits.parse() {
            Ok(bits) if *units > 0 && dtype_of(bits).is_some() => Ok(Units { bits, units: *units }),
            Ok(bits) if *units > 0 && bits > 0 => {
                Err(format!("`{bits} = {units}`: no element type has {bits} bits"))
            }
            _ => {
                Err(format!("`{bits} = {units}`: expected bits of an element = a size, 1 or more"))
            }
        })
        .collect()
}

/// A type of this width, one that computes if there is one.
fn dtype_of(bits: u32) -> Option<Dtype> {
    let usual = [Dtype::S8, Dtype::F16, Dtype::F32, Dtype::F64];
    let all = usual.into_iter().chain(Dtype::all());
    all.into_iter().find(|dtype| dtype.packed_bits() == Some(bits))
}

/// A small array in the format: of a type that all constants know, sizes given where there is none.
fn example(
    name: &str,
    dims: &[u64],
    constants: &[(String, Vec<Units>)],
    given: &[String],
) -> String {
    let knows =
        |bits: u32| constants.iter().all(|(_, table)| table.iter().any(|units| units.bits == bits));
    let bits = constants.first().map_or(Some(16), |(_, table)| {
        table.iter().map(|units| units.bits).find(|bits| knows(*bits))
    });
    let unknown = constants.iter().map(|(name, _)| name).filter(|_| bits.is_none());
    let sizes: Vec<String> = unknown.chain(given).map(|name| format!("{name}=4")).collect();
    let sizes = if sizes.is_empty() { String::new() } else { format!("[{}]", sizes.join(",")) };
    let dtype = bits.and_then(dtype_of).unwrap_or(Dtype::F16);
    let dims: Vec<String> = dims.iter().map(u64::to_string).collect();
    format!("{dtype}[{}] {name}{sizes}", dims.join(","))
}
