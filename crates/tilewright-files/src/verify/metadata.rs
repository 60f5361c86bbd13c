//! Compares the content of two files apart from their tensors: metadata, and notes about tensors. Verification uses it.

use std::collections::{BTreeMap, BTreeSet};

use tilewright_recipe::RECIPE_KEY;

use crate::{Input, commit::mark, container::Fact};

/// The key and text that resharding adds if no source has the key, for libraries that do not load a file without it.
const ADDED: [&str; 2] = ["format", "pt"];

/// The prefix of metadata keys that concern single tensors.
const OF_TENSORS: &str = "tilewright.";

/// Returns the first difference in the metadata that a conversion copies.
pub(crate) fn difference(out: &Input, against: &Input) -> Option<String> {
    if out.is_array() {
        // A file of one array has no other content.
        return None;
    }
    if files(out) != files(against) {
        return recut(out, against);
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
    let added = added(out);
    let is_added = |fact: &Fact| added.contains(&fact.about) && fact.exact == ADDED[1].as_bytes();
    // How a result was made is not a part of its data.
    let is_recipe = |fact: &Fact| fact.about.contains(RECIPE_KEY);
    let words = |fact: Option<&Fact>| fact.map_or("not there".into(), |fact| fact.said.clone());
    written.keys().chain(original.keys()).find_map(|about| {
        let (is, was) = (written.get(about), original.get(about));
        let differ = is.map(|fact| &fact.exact) != was.map(|fact| &fact.exact);
        let goes = || was.and_then(|was| was.goes_with.as_deref()).is_some_and(&moved);
        let added = |fact: &Fact| is_added(fact) || is_recipe(fact);
        let gone = is.is_none() && goes() || was.is_none() && is.is_some_and(added);
        (differ && !gone).then(|| format!("{about} is {}, was {}", words(is), words(was)))
    })
}

/// Returns the names, in facts, of the key that resharding adds to each file.
fn added(input: &Input) -> BTreeSet<String> {
    let key = |file: String| match &*file {
        "" => ADDED[0].to_owned(),
        file => format!("{file}: {}", ADDED[0]),
    };
    files(input).into_iter().map(|file| format!("metadata {:?}", key(file))).collect()
}

/// Returns the names of the files that hold tensors.
fn files(input: &Input) -> BTreeSet<String> {
    input.opened.files.iter().map(|file| mark::usual(&file.name).into_owned()).collect()
}

/// Returns the first difference if tensors are distributed over other files than in the original: the result must have exactly
/// the metadata that no file of the original contradicts.
fn recut(out: &Input, against: &Input) -> Option<String> {
    let (written, original) = (agreed(out), agreed(against));
    let words = |text: Option<&Option<String>>| match text {
        Some(Some(text)) => format!("{text:?}"),
        Some(None) => "not the same in all files".into(),
        None => "not there".into(),
    };
    written.keys().chain(original.keys()).find_map(|key| {
        let (is, was) = (written.get(key), original.get(key));
        let is_left = is.is_none() && matches!(was, Some(None));
        let is_text = |text: &Option<String>| text.as_deref() == Some(ADDED[1]);
        let is_added = was.is_none() && key == ADDED[0] && is.is_some_and(is_text);
        let differ = is != was && !is_left && !is_added;
        differ.then(|| format!("metadata {key:?} is {}, was {}", words(is), words(was)))
    })
}

/// Returns the metadata of all files; the text is `None` if the files contradict each other.
fn agreed(input: &Input) -> BTreeMap<String, Option<String>> {
    let mut said = BTreeMap::new();
    for (key, text) in input.metadata().filter(|(key, _)| !key.starts_with(OF_TENSORS)) {
        let known = said.entry(key.to_owned()).or_insert_with(|| Some(text.to_owned()));
        if known.as_deref() != Some(text) {
            *known = None;
        }
    }
    said
}
