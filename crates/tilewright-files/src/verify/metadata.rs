//! Compares the content of two files apart from their tensors: metadata, and notes about tensors. Verification uses it.
//!
//! Law: a copied entry that is missing, changed or added is wrong. Entries that say nothing about the data are free: the files that
//! an index names, `format` as resharding adds it, and the record of a recipe.

use std::collections::{BTreeMap, BTreeSet};

use tilewright_recipe::RECIPE_KEY;

use crate::{Input, commit::mark, container::Fact};

/// The key and text that resharding adds if no source has the key, for libraries that do not load a file without it.
const ADDED: [&str; 2] = ["format", "pt"];

/// The prefix of metadata keys that concern single tensors.
const OF_TENSORS: &str = "tilewright.";

/// The differences between the metadata of two files.
#[derive(Debug, Default)]
pub(crate) struct Metadata {
    /// The first entry that the result lost, changed or added.
    pub(crate) wrong: Option<String>,
    /// Entries that differ and say nothing about the data, each as a sentence: conversions and resharding may change them.
    pub(crate) free: Vec<String>,
}

/// Compares the metadata that a conversion copies.
pub(crate) fn compared(out: &Input, against: &Input) -> Metadata {
    if out.is_array() {
        // A file of one array has no other content.
        return Metadata::default();
    }
    if files(out) != files(against) {
        return texts(&agreed(out.metadata()), &agreed(against.metadata()));
    }
    let said = |input: &Input| -> BTreeMap<String, Fact> {
        input.facts().into_iter().map(|fact| (fact.about.clone(), fact)).collect()
    };
    let (written, original) = (said(out), said(against));
    let spec = |input: &Input, name: &str| {
        let mut tensors = input.tensors().iter();
        Some(tensors.find(|tensor| tensor.name == name)?.held.spec())
    };
    let moved = |name: &str| spec(out, name) != spec(against, name);
    let words = |fact: Option<&Fact>| fact.map_or("not there".into(), |fact| fact.said.clone());
    let is_added = |fact: &Fact| fact.exact == ADDED[1].as_bytes();
    let (mut found, mut placed) = (Metadata::default(), 0u64);
    let lost = original.keys().filter(|about| !written.contains_key(*about));
    for about in written.keys().chain(lost) {
        let (is, was) = (written.get(about), original.get(about));
        if is.map(|fact| &fact.exact) == was.map(|fact| &fact.exact) {
            continue;
        }
        let goes = || was.and_then(|was| was.goes_with.as_deref()).is_some_and(&moved);
        if is.is_none() && goes() {
            continue;
        }
        let entry = format!("{about} is {}, was {}", words(is), words(was));
        let key = is.or(was).and_then(|fact| fact.key.as_deref());
        match key {
            None if is.or(was).is_some_and(|fact| fact.is_place) => placed += 1,
            _ if key == Some(RECIPE_KEY) => found.free.push(recipe(is.is_some(), was.is_some())),
            _ if key == Some(ADDED[0]) && was.is_none() && is.is_some_and(is_added) => {
                found.free.push(entry);
            }
            _ => found.wrong = found.wrong.or(Some(entry)),
        }
    }
    if placed > 0 {
        let tensors = if placed == 1 { "1 tensor".into() } else { format!("{placed} tensors") };
        found.free.push(format!("the index names other files for {tensors}"));
    }
    found.free.dedup();
    found
}

/// Compares the metadata of a recipe's result with those that its conversion writes; how it was made is compared by the recipe.
pub(crate) fn of_recipe(out: &Input, expected: &[(String, String)]) -> Metadata {
    let expected = expected.iter().map(|(key, text)| (key.as_str(), text.as_str()));
    texts(&agreed(out.metadata()), &agreed(expected))
}

/// Returns a sentence about the record of a recipe, which only one side has or both have with different texts.
fn recipe(is: bool, was: bool) -> String {
    match (is, was) {
        (false, _) => "the recipe that the original records is not recorded",
        (true, false) => "a recipe is recorded, and the original records none",
        (true, true) => "another recipe is recorded than in the original",
    }
    .to_owned()
}

/// Returns the names of the files that hold tensors.
fn files(input: &Input) -> BTreeSet<String> {
    input.opened.files.iter().map(|file| mark::usual(&file.name).into_owned()).collect()
}

/// Metadata by their keys; the text is `None` if files contradict each other.
type Texts = BTreeMap<String, Option<String>>;

/// Compares the texts of a result with those that no file of the original contradicts.
fn texts(written: &Texts, original: &Texts) -> Metadata {
    let words = |text: Option<&Option<String>>| match text {
        Some(Some(text)) => format!("{text:?}"),
        Some(None) => "not the same in all files".into(),
        None => "not there".into(),
    };
    let mut found = Metadata::default();
    let lost = original.keys().filter(|key| !written.contains_key(*key));
    for key in written.keys().chain(lost) {
        let (is, was) = (written.get(key), original.get(key));
        let is_left = is.is_none() && matches!(was, Some(None));
        if is == was || is_left {
            continue;
        }
        let entry = format!("metadata {key:?} is {}, was {}", words(is), words(was));
        let is_text = |text: &Option<String>| text.as_deref() == Some(ADDED[1]);
        match key == ADDED[0] && was.is_none() && is.is_some_and(is_text) {
            true => found.free.push(entry),
            false => found.wrong = found.wrong.or(Some(entry)),
        }
    }
    found
}

/// Returns metadata that do not concern single tensors, of all files.
fn agreed<'a>(metadata: impl Iterator<Item = (&'a str, &'a str)>) -> Texts {
    let mut said = Texts::new();
    for (key, text) in metadata.filter(|(key, _)| !key.starts_with(OF_TENSORS)) {
        let known = said.entry(key.to_owned()).or_insert_with(|| Some(text.to_owned()));
        if known.as_deref() != Some(text) {
            *known = None;
        }
    }
    said
}
