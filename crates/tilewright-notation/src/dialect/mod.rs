//! The dialects, tried in turn. A dialect is one file: its grammar, what it reads, what it prints.
//!
//! A text without a prefix goes to every dialect that claims its form. If one of them reads it, that
//! is its meaning; if several do, the text is ambiguous.
//!
//! A crate outside [adds](crate::add_notation) a [`Notation`] made of two functions: one reads a text
//! as a [`Reading`], which gives the layout for a [`Given`] array; one prints a layout, or refuses. The example
//! `own_dialect` of the crate `tilewright` is a whole one.

mod affine;
mod array;
mod arrow;
#[cfg(feature = "axe")]
mod axe;
mod backwards;
mod blocked;
mod canonical;
mod cute;
mod cutlass;
mod cuts;
mod dlpack;
mod einops;
mod format;
mod gguf;
mod halide;
mod hlo;
mod jax;
mod leading;
mod linear;
mod mdspan;
mod mlir;
mod mlir_types;
mod numpy;
mod onednn;
mod onednn_names;
mod order;
mod own;
mod pack;
mod pattern;
mod rank;
mod safetensors;
mod shape;
mod strided;
mod template;
mod torch;
mod triton;
mod units;

use std::sync::Arc;

use crate::{
    Error,
    notation::Notation,
    scan::{did_you_mean, distance},
};

pub use crate::reading::{Given, Reading, Resolved};
pub use own::{add_notation, notations};

/// The notations that a text is read by.
pub(crate) type All = &'static [Notation];

/// Every dialect. A new one is a file and a line here.
pub(crate) static DIALECTS: All = &[
    cute::DIALECT,
    cutlass::DIALECT,
    hlo::DIALECT,
    order::DIALECT,
    pattern::DIALECT,
    format::DIALECT,
    numpy::DIALECT,
    torch::DIALECT,
    jax::DIALECT,
    dlpack::DIALECT,
    arrow::DIALECT,
    safetensors::DIALECT,
    gguf::DIALECT,
    onednn::DIALECT,
    mlir::DIALECT,
    pack::DIALECT,
    mdspan::DIALECT,
    halide::DIALECT,
    einops::DIALECT,
    triton::DIALECT,
    linear::DIALECT,
    shape::DIALECT,
    #[cfg(feature = "axe")]
    axe::DIALECT,
];

pub(crate) use cute::spell as spell_cute;
#[cfg(feature = "formats")]
pub(crate) use format::parts_of;
pub(crate) use format::{letters_of, units};
pub(crate) use pattern::spell as spell_pattern;
pub(crate) use shape::{spell as spell_shape, with_width};

/// The notation of this name.
///
/// # Errors
/// [parse](Error::is_parse) with the nearest name.
///
/// ```
/// use tilewright_notation::{Spec, notation};
/// let named = Spec::parse("f16[32,32] zN").unwrap().resolve(None, None).unwrap();
/// assert_eq!(notation("onednn").unwrap().print(&named).unwrap(), "BA16a16b");
/// assert_eq!(notation("xla").unwrap().name(), "hlo");
/// assert_eq!(notation("CUTE").unwrap().name(), "cute");
/// let error = notation("onedn").unwrap_err();
/// assert!(error.to_string().contains("did you mean `onednn`?"));
/// ```
pub fn notation(name: &str) -> Result<&'static Notation, Error> {
    let (name, all) = (name.trim(), notations());
    named(all, name).ok_or_else(|| unnamed(name, all))
}

/// The error of a name that no notation of these has.
fn unnamed(name: &str, all: All) -> Error {
    let names: Vec<&str> = all.iter().map(|notation| notation.name).collect();
    let others = all.iter().flat_map(|notation| notation.aliases).copied();
    let nearest = did_you_mean(name, names.iter().copied().chain(others));
    let list = names.join(", ");
    let layout = but_a_layout(name, all);
    let message = format!("no notation is called `{name}`{layout}; there are {list}{nearest}");
    Error::parse((0, name.len()), message).in_text(name)
}

/// The notation of this name among some.
fn named(all: All, name: &str) -> Option<&'static Notation> {
    all.iter().find(|notation| notation.is_called(name))
}

/// Describes a name that is not a notation's but is a layout.
fn but_a_layout(name: &str, all: All) -> &'static str {
    if is_read(name, all) {
        ", which is a layout, and a notation is a way to write any layout"
    } else {
        ""
    }
}

/// The dialect a text names by prefix, and where its own text starts.
fn prefix(text: &str, all: All) -> Option<(&'static Notation, usize)> {
    let (name, rest) = text.split_once(':')?;
    // The names of C++ have two colons.
    if rest.starts_with(':') {
        return None;
    }
    let dialect = named(all, name.trim_end())?;
    Some((dialect, text.len() - rest.trim_start().len()))
}

/// A text as its dialect read it.
#[derive(Clone, Debug)]
pub(crate) struct ReadText {
    pub(crate) reading: Arc<dyn Reading>,
    /// The canonical text.
    pub(crate) text: String,
    /// True if the text is the same layout for readers without the user's own formats and notations.
    pub(crate) everywhere: bool,
}

/// Reads a text without spaces around it by some notations: the same from the first question to the last, whatever is
/// added meanwhile.
pub(crate) fn read(text: &str, all: All) -> Result<ReadText, Error> {
    let (dialect, reading) = match prefix(text, all) {
        Some((dialect, at)) => {
            let body = text.get(at..).unwrap_or("");
            (dialect, dialect.read_among(body, all).map_err(|error| error.shifted(at))?)
        }
        None => by_form(text, all)?,
    };
    let everywhere = !dialect.own && reading.is_known_everywhere();
    Ok(ReadText { text: spelled(dialect, reading.as_ref(), all), reading, everywhere })
}

/// Returns whether one of some notations reads a text that has no prefix, without an error message.
pub(crate) fn is_read(text: &str, all: All) -> bool {
    all.iter().any(|dialect| (dialect.claims)(text) && dialect.read_among(text, all).is_ok())
}

/// The text of a reading: with its prefix only where it would not be recognised without.
fn spelled(dialect: &Notation, reading: &dyn Reading, all: All) -> String {
    let text = reading.to_string();
    let recognised = prefix(&text, all).is_none()
        && (dialect.claims)(&text)
        && by_form(&text, all)
            .is_ok_and(|(other, again)| other.name == dialect.name && again.to_string() == text);
    if recognised { text } else { format!("{}:{text}", dialect.name) }
}

type Attempt = (&'static Notation, Result<Arc<dyn Reading>, Error>);

/// Reads a text by its form.
fn by_form(text: &str, all: All) -> Result<(&'static Notation, Arc<dyn Reading>), Error> {
    let attempts: Vec<Attempt> = all
        .iter()
        .filter(|dialect| (dialect.claims)(text))
        .map(|dialect| (dialect, dialect.read_among(text, all)))
        .collect();
    let readings: Vec<&str> =
        attempts.iter().filter(|(_, result)| result.is_ok()).map(|(d, _)| d.name).collect();
    if readings.len() > 1 {
        return Err(ambiguous(text, &readings));
    }
    let mut furthest: Option<(&Notation, Error)> = None;
    for (dialect, result) in attempts {
        match result {
            Ok(reading) => return Ok((dialect, reading)),
            Err(error) if furthest.as_ref().is_none_or(|(_, f)| f.span() < error.span()) => {
                furthest = Some((dialect, error));
            }
            Err(_) => {}
        }
    }
    Err(match furthest {
        Some((dialect, error)) if !is_nearer_elsewhere(text, dialect, all) => error,
        _ => unknown(text, all),
    })
}

/// Returns whether a word of another dialect is nearer to a text than those of the one that claimed it: `NC1HWC` looks
/// like a tag but is not one.
fn is_nearer_elsewhere(text: &str, dialect: &Notation, all: All) -> bool {
    let own = (dialect.words)();
    if own.is_empty() {
        return false;
    }
    match (distance(text, all_words(all)), distance(text, own)) {
        (Some(best), Some(own)) => best < own,
        (best, None) => best.is_some(),
        (None, Some(_)) => false,
    }
}

/// The words of every dialect.
fn all_words(all: All) -> Vec<&'static str> {
    all.iter().flat_map(|dialect| (dialect.words)()).collect()
}

fn ambiguous(text: &str, readings: &[&str]) -> Error {
    let list: Vec<String> = readings.iter().map(|name| format!("`{name}:{text}`")).collect();
    Error::new(
        "ambiguous",
        format!(
            "`{text}` has {} readings: {}; write the one you mean",
            list.len(),
            list.join(", ")
        ),
    )
}

/// The error for a text of no known form.
fn unknown(text: &str, all: All) -> Error {
    if text.is_empty() {
        return Error::parse((0, 0), "expected a layout, found the end of the text");
    }
    let len = text.find(|c: char| c == '[' || c == ':' || c.is_whitespace()).unwrap_or(text.len());
    let word = text.get(..len).unwrap_or(text);
    let is_name =
        |word: &str| word.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-.".contains(&b));
    if text[len..].starts_with(':') && !word.is_empty() && is_name(word) {
        return unnamed(word.trim(), all);
    }
    if let Some(notation) = named(all, text) {
        let message = format!(
            "`{text}` is a notation, a way to write layouts ({}), not a layout; after `{}:` comes a layout",
            notation.about, notation.name
        );
        return Error::parse((0, text.len()), message);
    }
    if text.starts_with(['{', '[', '(']) {
        let message = "no notation reads this as a layout; add a prefix that names the notation, such as `numpy:`, `dlpack:` or `safetensors:`";
        return Error::parse((0, len.max(1)), message);
    }
    let words = all_words(all);
    Error::parse(
        (0, len.max(1)),
        format!("no notation reads this as a layout{}", suggestion(text, word, &words)),
    )
}

/// The nearest word to the whole text, or else to its first word.
fn suggestion(text: &str, word: &str, words: &[&str]) -> String {
    let whole = did_you_mean(text, words.iter().copied());
    if whole.is_empty() { did_you_mean(word, words.iter().copied()) } else { whole }
}

#[cfg(test)]
mod tests;
