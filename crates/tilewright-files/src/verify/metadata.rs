//! Compares what two files hold beside their tensors: metadata, and notes about tensors.

use std::collections::{BTreeMap, BTreeSet};

use crate::{Input, commit::mark, container::Fact};

/// What resharding adds where no source has it, for libraries that load no file without it: a key and its text.
const ADDED: [&str; 2] = ["format", "pt"];

/// Metadata under keys that begin so are of single tensors.
const OF_TENSORS: &str = "tilewright.";

/// The first difference in what a conversion passes through beside tensors.
pub(crate) fn difference(out: &Input, against: &Input) -> Option<String> {
    if out.is_array() {
        // A file of one array says nothing else.
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
    let words = |fact: Option<&Fact>| fact.map_or("not there".into(), |fact| fact.said.clone());
    written.keys().chain(original.keys()).find_map(|about| {
        let (is, was) = (written.get(about), original.get(about));
        let differ = is.map(|fact| &fact.exact) != was.map(|fact| &fact.exact);
        let goes = || was.and_then(|was| was.goes_with.as_deref()).is_some_and(&moved);
        let gone = is.is_none() && goes() || was.is_none() && is.is_some_and(is_added);
        (differ && !gone).then(|| format!("{about} is {}, was {}", words(is), words(was)))
    })
}

/// What facts call the key that resharding adds, of each file.
fn added(input: &Input) -> BTreeSet<String> {
    let key = |file: String| match &*file {
        "" => ADDED[0].to_owned(),
        file => format!("{file}: {}", ADDED[0]),
    };
    files(input).into_iter().map(|file| format!("metadata {:?}", key(file))).collect()
}

/// The names of the files that hold tensors.
fn files(input: &Input) -> BTreeSet<String> {
    input.opened.files.iter().map(|file| mark::usual(&file.name).into_owned()).collect()
}

/// The first difference where tensors lie in other files than in the original: what no file of the original contradicts
/// is in the result, and nothing else.
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

/// What the files say beside their tensors; no text where they contradict each other.
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
