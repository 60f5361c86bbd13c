//! The dialects, tried in turn. A dialect is one file: its grammar, what it reads, what it prints.
//!
//! A text without a prefix goes to every dialect that claims its form. If one of them reads it, that
//! is its meaning; if several do, the text is ambiguous.
//!
//! A crate outside [adds](crate::add_notation) a [`Notation`] made of two functions: one reads a text
//! as a [`ParsedSpec`], which gives the layout for a [`Given`] array; one prints a layout, or refuses. The example
//! `own_dialect` of the crate `tilewright` is a whole one.
//!
//! This file also holds the list of the notations of this process: the built-in ones, and those that users added.
//! Texts of layouts are read in many places: arguments, expressions, metadata of files, answers. So what is added is
//! added for the whole process, as formats are, and stays as long as it.

mod arrays {
    //! Dialects of libraries of arrays: one stride a dim, or an order of dims.

    pub(super) mod arrow;
    pub(super) mod dlpack;
    pub(super) mod gguf;
    pub(super) mod halide;
    pub(super) mod mdspan;
    pub(super) mod numpy;
    pub(super) mod safetensors;
    pub(super) mod strided;
    pub(super) mod torch;
}
#[cfg(feature = "axe")]
mod axe;
mod compilers {
    //! Dialects of compilers and of the libraries of kernels that they call.

    pub(super) mod hlo;
    pub(super) mod jax;
    pub(super) mod linear;
    pub(super) mod mlir;
    pub(super) mod onednn;
    pub(super) mod triton;
}
mod cute;
mod cutlass;
mod patterns {
    //! Dialects of digits: patterns, named formats, orders of dims, and the canonical form that they print from.

    pub(super) mod canonical;
    pub(super) mod einops;
    pub(super) mod format;
    pub(super) mod order;
    pub(super) mod pack;
    pub(super) mod pattern;
    pub(super) mod template;
}
mod shape;

use std::sync::{Arc, PoisonError, RwLock};

use crate::{
    Error, catalogue,
    literal::{did_you_mean, distance},
    notation::Notation,
};
pub use crate::{
    ResolvedLayout,
    parsed_spec::{Given, ParsedSpec},
};
pub(crate) use cute::spell as spell_cute;
#[cfg(feature = "formats")]
pub(crate) use patterns::format::parts_of;
pub(crate) use patterns::{format::units, pattern::spell as spell_pattern};
pub(crate) use shape::{spell as spell_shape, with_width};

/// The notations that a text is read by.
pub(crate) type All = &'static [Notation];

/// Every dialect. A new one is a file and a line here.
pub(crate) static DIALECTS: All = &[
    cute::DIALECT,
    cutlass::DIALECT,
    compilers::hlo::DIALECT,
    patterns::order::DIALECT,
    patterns::pattern::DIALECT,
    patterns::format::DIALECT,
    arrays::numpy::DIALECT,
    arrays::torch::DIALECT,
    compilers::jax::DIALECT,
    arrays::dlpack::DIALECT,
    arrays::arrow::DIALECT,
    arrays::safetensors::DIALECT,
    arrays::gguf::DIALECT,
    compilers::onednn::DIALECT,
    compilers::mlir::DIALECT,
    patterns::pack::DIALECT,
    arrays::mdspan::DIALECT,
    arrays::halide::DIALECT,
    patterns::einops::DIALECT,
    compilers::triton::DIALECT,
    compilers::linear::DIALECT,
    shape::DIALECT,
    #[cfg(feature = "axe")]
    axe::DIALECT,
];

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
    pub(crate) reading: Arc<dyn ParsedSpec>,
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
fn spelled(dialect: &Notation, reading: &dyn ParsedSpec, all: All) -> String {
    let text = reading.to_string();
    let recognised = prefix(&text, all).is_none()
        && (dialect.claims)(&text)
        && by_form(&text, all)
            .is_ok_and(|(other, again)| other.name == dialect.name && again.to_string() == text);
    if recognised { text } else { format!("{}:{text}", dialect.name) }
}

type Attempt = (&'static Notation, Result<Arc<dyn ParsedSpec>, Error>);

/// Reads a text by its form.
fn by_form(text: &str, all: All) -> Result<(&'static Notation, Arc<dyn ParsedSpec>), Error> {
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

/// The most notations of users in one process.
const MOST: usize = 100;

/// Every notation, the built-in ones first.
static ALL: RwLock<&[Notation]> = RwLock::new(DIALECTS);

/// Every notation that is read and printed, those that were [added](add_notation) last.
///
/// ```
/// use tilewright_notation::{Spec, notations};
/// let named = Spec::parse("f32[3,5]{1,0:T(2,2)}").unwrap().resolve(None, None).unwrap();
/// let said = |name| {
///     let notation = notations().iter().find(|notation| notation.name() == name).unwrap();
///     notation.print(&named).unwrap_or_else(|_| "cannot express it".to_owned())
/// };
/// assert_eq!(said("cute"), "((2,2),(2,3)):((2,12),(1,4)) valid (3,5)");
/// assert_eq!(said("hlo"), "f32[3,5]{1,0:T(2,2)}");
/// assert_eq!(said("pattern"), "(m1 m0:2) (n1 n0:2) -> m1 n1 m0 n0");
/// assert_eq!(said("numpy"), "cannot express it");
/// assert_eq!(said("onednn"), "AB2a2b");
/// ```
pub fn notations() -> &'static [Notation] {
    *ALL.read().unwrap_or_else(PoisonError::into_inner)
}

/// Adds a notation to those of this process: every text of a layout that is read from then on may be written in it,
/// and every layout is printed in it where all notations are listed.
///
/// Its texts mean nothing elsewhere: [`ResolvedLayout::to_spec`](crate::ResolvedLayout::to_spec) expresses such a layout in another notation.
///
/// # Errors
/// [parse](Error::is_parse) for a name that is none, or is taken; [limit](Error::is_limit) beyond 100 notations.
///
/// ```
/// use std::{fmt, sync::Arc};
/// use tilewright_core::TensorLayout;
/// use tilewright_notation::dialect::{Given, ParsedSpec, ResolvedLayout};
/// use tilewright_notation::{Error, Notation, Spec, add_notation};
///
/// /// `fortran:(2,3)`, the first dim fastest.
/// #[derive(Debug)]
/// struct Dims(Vec<u64>);
///
/// impl fmt::Display for Dims {
///     fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
///         let dims: Vec<String> = self.0.iter().map(u64::to_string).collect();
///         write!(f, "({})", dims.join(","))
///     }
/// }
///
/// impl ParsedSpec for Dims {
///     fn is_concrete(&self) -> bool {
///         true
///     }
///     fn fits(&self, rank: usize) -> bool {
///         rank == self.0.len()
///     }
///     fn resolve(&self, given: &Given<'_>) -> Result<ResolvedLayout, Error> {
///         given.agree_dims(self, &self.0)?;
///         Ok(ResolvedLayout::plain(TensorLayout::col_major(&self.0)?, given))
///     }
/// }
///
/// fn read(text: &str) -> Result<Arc<dyn ParsedSpec>, Error> {
///     let wrong = || Error::parse((0, text.len()), "expected dims in parentheses");
///     let inside = text.strip_prefix('(').and_then(|text| text.strip_suffix(')'));
///     let dims = inside.ok_or_else(wrong)?.split(',').map(|dim| dim.parse().map_err(|_| wrong()));
///     Ok(Arc::new(Dims(dims.collect::<Result<_, _>>()?)))
/// }
///
/// let about = "Fortran: dims, the first one fastest";
/// add_notation(Notation::new("fortran", about, read, |_| Err(Error::unsupported("no words")))).unwrap();
///
/// let named = Spec::parse("fortran:(2,3)").unwrap().resolve(None, None).unwrap();
/// assert_eq!(named.layout().layout().to_string(), "(2,3):(1,2)");
/// assert_eq!((named.name(), named.to_spec().as_str()), ("fortran:(2,3)", "[2,3] (2,3):(1,2)"));
/// // The prefix is taken now.
/// let again = Notation::new("fortran", about, read, |_| Err(Error::unsupported("no words")));
/// assert!(add_notation(again).unwrap_err().to_string().contains("`fortran` is a notation already"));
/// ```
pub fn add_notation(notation: Notation) -> Result<&'static Notation, Error> {
    let mut all = ALL.write().unwrap_or_else(PoisonError::into_inner);
    if all.len() - DIALECTS.len() >= MOST {
        let message = format!("another notation; at most {MOST} are kept");
        return Err(Error::limit(message));
    }
    for name in std::iter::once(&notation.name).chain(notation.aliases) {
        check_name(name, &all).map_err(|said| Error::parse((0, name.len()), said).in_text(name))?;
    }
    let longer = [*all, &[Notation { own: true, ..notation }]].concat();
    *all = Box::leak(longer.into_boxed_slice());
    all.last().ok_or_else(|| Error::limit("no notation is kept"))
}

/// A prefix that no text begins with yet.
fn check_name(name: &str, all: &[Notation]) -> Result<(), String> {
    let legal = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
    if !name.starts_with(|c: char| c.is_ascii_alphabetic()) || !name.chars().all(legal) {
        return Err(format!(
            "`{name}` is not a name: a letter, then letters, digits, `_`, `-` and `.`"
        ));
    }
    if all.iter().any(|other| other.is_called(name)) {
        return Err(format!("`{name}` is a notation already"));
    }
    let numbers = |format: &str| format.split_once(':').is_some_and(|(vendor, _)| vendor == name);
    let mut formats = catalogue().flat_map(|format| format.aliases.iter().chain([&format.name]));
    match formats.find(|format| numbers(format)) {
        Some(format) => Err(format!("`{name}` begins the name of the format `{format}`")),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    //! Tests of every dialect: the examples in its header are true, and what it prints reads back.

    use std::{fs, path::PathBuf};

    use super::*;
    use crate::{ResolvedLayout, Spec};

    /// One line of a header's table: a text, the array it is resolved for, and the layout it gives, or
    /// words of the error.
    struct Example {
        text: String,
        array: String,
        layout: String,
    }

    /// The examples in the header of a dialect's file.
    fn examples(dialect: &str) -> Vec<Example> {
        let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src/dialect");
        let folders = ["", "arrays", "compilers", "patterns"];
        let mut paths = folders.iter().map(|name| folder.join(name).join(format!("{dialect}.rs")));
        let path = paths.find(|path| path.exists());
        let path = path.unwrap_or_else(|| panic!("no file for `{dialect}`"));
        let file = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let header = file.lines().map_while(|line| line.strip_prefix("//!"));
        header
            .filter_map(|line| line.trim().strip_prefix('|')?.strip_suffix('|'))
            .skip(2)
            .map(row)
            .collect()
    }

    fn row(line: &str) -> Example {
        // A bar inside backticks is escaped, as Markdown asks.
        let line = line.replace("\\|", "\u{1}");
        let cells: Vec<String> =
            line.split('|').map(|cell| cell.trim().replace('\u{1}', "|")).collect();
        let [text, array, layout] = &cells[..] else { panic!("three cells: {line}") };
        let bare = |cell: &str| cell.trim_matches('`').to_owned();
        let layout = if layout.starts_with("error:") { layout.clone() } else { bare(layout) };
        Example { text: bare(text), array: bare(array), layout }
    }

    fn resolve(text: &str, array: &str) -> Result<ResolvedLayout, Error> {
        if array.is_empty() {
            return Spec::parse(text)?.resolve(None, None);
        }
        let array =
            Spec::parse(&format!("{array} row-major")).unwrap().resolve(None, None).unwrap();
        Spec::parse(text)?.resolve(Some(array.layout().extents()), array.dtype())
    }

    #[test]
    fn the_examples_of_every_header_are_true() {
        for dialect in DIALECTS {
            let examples = examples(dialect.name);
            let (errors, layouts): (Vec<_>, Vec<_>) =
                examples.iter().partition(|example| example.layout.starts_with("error:"));
            assert!(layouts.len() >= 2 && !errors.is_empty(), "{}: too few examples", dialect.name);
            for Example { text, array, layout } in &examples {
                match (resolve(text, array), layout.strip_prefix("error: ")) {
                    (Ok(named), None) => assert_eq!(spell_cute(named.layout()), *layout, "{text}"),
                    (Err(error), Some(words)) => {
                        assert!(error.to_string().contains(words), "{text}: {error}");
                    }
                    (Ok(named), Some(_)) => {
                        panic!("{text} reads as {}", spell_cute(named.layout()))
                    }
                    (Err(error), None) => panic!("{}", error.render()),
                }
            }
        }
    }

    #[test]
    fn every_example_is_read_by_its_own_dialect_and_prints_as_the_same_map() {
        for dialect in DIALECTS {
            for Example { text, array, layout } in examples(dialect.name) {
                if layout.starts_with("error:") {
                    continue;
                }
                let named = resolve(&text, &array).unwrap();
                let said = match dialect.print(&named) {
                    Ok(said) => said,
                    Err(error) => panic!("{text} is not printed as {}: {error}", dialect.name),
                };
                let again = read(&said, DIALECTS).unwrap_or_else(|e| panic!("{said}: {e}")).reading;
                let extents = named.layout().extents();
                let given = Given::new(Some(extents), named.dtype());
                let again = again.resolve(&given).unwrap_or_else(|e| panic!("{said}: {e}")).layout;
                assert_eq!(again.capacity(), named.layout().capacity(), "{said}");
                assert_eq!(again.same_function(named.layout()), Ok(true), "{text} as {said}");
            }
        }
    }

    #[test]
    fn names_and_files_are_one() {
        let names: Vec<&str> = DIALECTS.iter().map(|dialect| dialect.name).collect();
        for (at, dialect) in DIALECTS.iter().enumerate() {
            assert!(!names[..at].contains(&dialect.name), "{} twice", dialect.name);
            assert!(!dialect.about.is_empty());
        }
    }

    /// A text with one character left out, or replaced by one of two bytes, and what is left of it when it ends early.
    fn near(text: &str) -> Vec<String> {
        let edits = text.char_indices().flat_map(|(at, c)| {
            let (head, tail) = (&text[..at], &text[at + c.len_utf8()..]);
            [head.to_owned(), format!("{head}{tail}"), format!("{head}é{tail}")]
        });
        edits.collect()
    }

    #[test]
    fn what_is_nearly_an_example_is_read_or_pointed_at() {
        let mut refused = 0;
        for dialect in DIALECTS {
            for Example { text, array, .. } in examples(dialect.name) {
                for text in near(&text).into_iter().step_by(tilewright_testing::cases(1, 9)) {
                    let error = match Spec::parse(&text) {
                        Ok(spec) => {
                            // A text that was read prints as a text that is read as the same layout.
                            let canonical = spec.to_string();
                            let again = Spec::parse(&canonical)
                                .unwrap_or_else(|e| panic!("{}", e.render()));
                            assert_eq!(again.to_string(), canonical, "{text}");
                            let _ = resolve(&text, &array);
                            continue;
                        }
                        Err(error) => error,
                    };
                    let (from, to) = error.span().unwrap_or((0, 0));
                    assert!(from <= to && to <= text.len(), "{text}: {error}");
                    assert!(
                        text.is_char_boundary(from) && text.is_char_boundary(to),
                        "{text}: {error}"
                    );
                    assert!(error.render().contains(&error.to_string()), "{text}");
                    refused += 1;
                }
            }
        }
        assert!(refused > tilewright_testing::cases(3000, 750), "{refused}");
    }

    #[test]
    fn a_prefix_decides_and_changes_no_meaning() {
        for dialect in DIALECTS {
            for Example { text, array, layout } in examples(dialect.name) {
                let bare = text.split_once(':').map_or(text.as_str(), |(name, rest)| {
                    if dialect.is_called(name.trim_end()) { rest } else { &text }
                });
                for name in [dialect.name].iter().chain(dialect.aliases) {
                    let prefixed = resolve(&format!("{name}:{bare}"), &array);
                    match prefixed {
                        Ok(named) => {
                            assert_eq!(spell_cute(named.layout()), layout, "{name}:{bare}")
                        }
                        Err(error) => {
                            assert!(layout.starts_with("error:"), "{name}:{bare}: {error}")
                        }
                    }
                }
            }
        }
    }
}
